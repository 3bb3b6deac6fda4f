"""Runs what the documentation shows, so that it cannot go stale.

Of README*.md, CONTRIBUTING.md and docs/**/*.md:

- every ```console fence: each `$ tare ...` and `$ ./run ...` line is run by bash in a folder that looks like the repository,
  all fences of a page in the same one. It must exit 0, or N where the fence says `(exit N)` on its opening line or on a line
  of its own after the command. If lines follow the command, they must be its output (stdout, then stderr); a line `...`
  stands for any lines, and `...` within a line for any text of that line; where a line has it, runs of blanks are alike, so
  that figures that age are left out and columns may still stand in line. Commands of other programs are not run, and counted.
  TARE_UPDATE_GOLDEN=1 fills in anew what is shown without any `...`: read it before it is committed.
- every ```toml fence whose first line is `# examples/...` must be that file.

Standard library only.
"""

import argparse
import difflib
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from sandbox import ROOT, Sandbox, mask  # noqa: E402

_EXIT = re.compile(r"\(exit (\d+)\)")
_RUN = re.compile(r"^(?:[A-Z_][A-Z0-9_]*=\S* )*(?:tare|\./run)(?: |$)")


class Fence:
    def __init__(self, info, line):
        self.info, self.line, self.lines = info, line, []


class Example:
    def __init__(self, command, line, code):
        self.command, self.line, self.code = command, line, code
        self.output, self.output_line = [], 0

    @property
    def is_abridged(self):
        return any("..." in line for line in self.output)


def fences(text):
    """The fenced blocks of a Markdown text. An unclosed one is an error."""
    found, open_fence, mark, indent = [], None, "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if open_fence is None:
            match = re.match(r"^(\s*)(```+|~~~+)\s*(.*)$", line)
            if match:
                indent, mark = match[1], match[2]
                open_fence = Fence(match[3].strip(), number)
        elif line.strip().startswith(mark) and line.strip().strip(mark[0]) == "":
            found.append(open_fence)
            open_fence = None
        else:
            open_fence.lines.append(line[len(indent):] if line.startswith(indent) else line)
    if open_fence is not None:
        raise ValueError(f"line {open_fence.line}: a fence that is never closed")
    return found


def examples(fence):
    """The commands of a console fence."""
    default = _EXIT.search(fence.info)
    found = []
    lines = iter(enumerate(fence.lines, fence.line + 1))
    for number, line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines, (0, ""))[1].lstrip()
            found.append(Example(command.strip(), number, int(default[1]) if default else 0))
        elif found and re.fullmatch(r"\(exit \d+\)", line.strip()):
            found[-1].code = int(_EXIT.search(line)[1])
        elif found:
            found[-1].output_line = found[-1].output_line or number
            found[-1].output.append(line)
    for example in found:
        while example.output and example.output[-1].strip() == "":
            example.output.pop()
    return found


def line_matches(wanted, found):
    """Whether a line is the wanted one, where `...` within it stands for any text and makes runs of blanks alike."""
    if "..." not in wanted:
        return found == wanted
    pieces = [re.escape(" ".join(piece.split())) for piece in wanted.split("...")]
    return re.fullmatch(" ?.*? ?".join(pieces), " ".join(found.split())) is not None


def matches(expected, found):
    """Whether the lines are the same, where a line `...` among the expected stands for any number of lines."""
    reachable = {0}  # how many of the found lines may be used up after each expected line
    for line in expected:
        following = set()
        if line.strip() == "...":
            following = set(range(min(reachable), len(found) + 1)) if reachable else set()
        else:
            wanted = mask(line).rstrip()
            following = {i + 1 for i in reachable if i < len(found) and line_matches(wanted, found[i].rstrip())}
        reachable = following
    return len(found) in reachable


def replace_outputs(path, outputs):
    """Writes (line, count, lines) into a page: `count` lines from `line` on become `lines`."""
    page = path.read_text(encoding="utf-8").splitlines()
    for line, count, lines in sorted(outputs, reverse=True):
        page[line - 1 : line - 1 + count] = lines
    path.write_text("\n".join(page) + "\n", encoding="utf-8")


def check_page(path, tare, counts, complaints, update=False):
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    sandbox = None
    outputs = []
    try:
        blocks = fences(path.read_text(encoding="utf-8"))
        for fence in blocks:
            language = fence.info.split()[0] if fence.info else ""
            if language == "console":
                counts["blocks"] += 1
                for example in examples(fence):
                    if not _RUN.match(example.command):
                        counts["not run"] += 1
                        continue
                    counts["commands"] += 1
                    sandbox = sandbox or Sandbox(tare)
                    problem, lines = run_example(example, sandbox)
                    if update and problem and lines and not example.is_abridged:
                        outputs.append((example.output_line, len(example.output), lines))
                        counts["updated"] += 1
                    elif problem:
                        complaints.append(f"{shown}:{example.line}: $ {example.command}\n  " + "\n  ".join(problem))
            elif language == "toml" and fence.lines and fence.lines[0].startswith("# examples/"):
                counts["files"] += 1
                name = fence.lines[0][2:].split()[0].rstrip(":,")
                problem = compare_file(fence, name)
                if problem:
                    complaints.append(f"{shown}:{fence.line}: " + "\n  ".join(problem))
    except ValueError as error:
        complaints.append(f"{shown}: {error}")
    finally:
        if sandbox:
            sandbox.__exit__()
    if outputs:
        replace_outputs(path, outputs)


def run_example(example, sandbox):
    """What is wrong with it, and where that is no more than its output, the lines that it should show."""
    found = sandbox.run(example.command, shell=True)
    problem = []
    if found.code != example.code:
        problem.append(f"expected exit {example.code}, found {found.code}")
        problem += found.stderr.splitlines()[-10:]
        return problem, []
    lines = [line.rstrip() for line in (found.stdout + found.stderr).rstrip().splitlines()]
    if not example.output or matches(example.output, lines):
        return [], []
    problem.append("the output differs:")
    problem += difflib.unified_diff(example.output, lines, "shown", "found", lineterm="", n=2)
    return problem, lines


def compare_file(fence, name):
    """The fence against the file; where the file does not carry the line that names it, the fence without that line."""
    path = ROOT / name
    if not path.is_file():
        return [f"no file {name}"]
    wanted = path.read_text(encoding="utf-8").splitlines()
    lines = fence.lines
    if not wanted or wanted[0] != lines[0]:
        lines = lines[1:]
    if lines == wanted:
        return []
    return [f"differs from {name}:", *difflib.unified_diff(lines, wanted, "shown", name, lineterm="", n=2)]


def main():
    parser = argparse.ArgumentParser(description="Runs what the documentation shows.")
    parser.add_argument("--tare", required=True)
    parser.add_argument("pages", nargs="*", type=Path)
    arguments = parser.parse_args()
    start = time.monotonic()
    pages = [p.resolve() for p in arguments.pages] or [
        *sorted(ROOT.glob("README*.md")),
        *[p for p in [ROOT / "CONTRIBUTING.md"] if p.exists()],
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    counts = {"blocks": 0, "commands": 0, "not run": 0, "files": 0, "updated": 0}
    complaints = []
    update = os.environ.get("TARE_UPDATE_GOLDEN") == "1"
    for page in pages:
        check_page(page, arguments.tare, counts, complaints, update)
    if counts["updated"]:
        print(f"docs: {counts['updated']} outputs filled in anew")
    for complaint in complaints:
        print(complaint, end="\n\n")
    print(
        f"docs: {len(pages)} pages, {counts['blocks']} blocks, {counts['commands']} commands run, {counts['not run']} of "
        f"other programs, {counts['files']} files compared, {time.monotonic() - start:.1f} s"
    )
    failed = len(complaints)
    print(f"docs: {max(0, counts['commands'] + counts['files'] - failed)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
