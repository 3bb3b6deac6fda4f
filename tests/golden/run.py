"""Runs the golden tests: each a command and exactly what it must print. The format is in README.md beside this file."""

import argparse
import difflib
import os
import re
import shlex
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from sandbox import ROOT, Sandbox, decode  # noqa: E402

HERE = Path(__file__).resolve().parent
NO_NEWLINE = "\\no-newline"
_ESCAPED = re.compile(r"^\\(?=\\|--- |\$ )")
_NEEDS_ESCAPE = re.compile(r"^(?:--- |\$ |\\\\|\\--- |\\\$ |\\no-newline$)")
_ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")


class FormatError(Exception):
    pass


class Command:
    def __init__(self, line, number):
        self.line, self.number = line, number
        self.stdin = None  # the section's lines
        self.stdout = ""
        self.stderr = ""
        self.exit = None  # None: not recorded yet


class File:
    """An input file: `kind` file, hexfile or repeat; `lines` as in the test."""

    def __init__(self, kind, arguments, number):
        self.kind, self.arguments, self.number = kind, arguments, number
        self.lines = []

    @property
    def name(self):
        return self.arguments[0]

    def content(self):
        if self.kind == "hexfile":
            try:
                return bytes.fromhex("".join(line.split("#")[0] for line in self.lines))
            except ValueError as error:
                raise FormatError(f"line {self.number}: {error}") from None
        data = section_text(self.lines).encode("utf-8")
        return data * int(self.arguments[1]) if self.kind == "repeat" else data


class Text:
    """Comments and blank lines between commands, kept as they are."""

    def __init__(self):
        self.lines = []


def section_text(lines):
    """The text that a section's lines stand for."""
    if lines and lines[-1] == NO_NEWLINE:
        return "\n".join(_ESCAPED.sub("", line) for line in lines[:-1])
    return "".join(_ESCAPED.sub("", line) + "\n" for line in lines)


def section_lines(text):
    """The inverse of section_text."""
    if not text:
        return []
    lines = text.split("\n")
    complete = lines[-1] == ""
    if complete:
        lines.pop()
    escaped = ["\\" + line if _NEEDS_ESCAPE.match(line) else line for line in lines]
    return escaped if complete else [*escaped, NO_NEWLINE]


def parse(text):
    """A test file as a list of Text, File and Command."""
    if text and not text.endswith("\n"):
        text += "\n"
    items, command, section, sink = [], None, None, None
    sections = {}

    def close_command():
        nonlocal command
        if command is not None:
            command.stdin = sections.get("stdin")
            command.stdout = section_text(sections.get("stdout", []))
            command.stderr = section_text(sections.get("stderr", []))
        command = None
        sections.clear()

    def text_sink():
        if not items or not isinstance(items[-1], Text):
            items.append(Text())
        return items[-1].lines

    for number, line in enumerate(text.split("\n")[:-1], 1):
        if line.startswith("$ "):
            if command is not None and command.exit is None and sections.get(section) and sections[section][-1] == "":
                sections[section].pop()  # the blank line between a command not recorded yet and the next
            close_command()
            command = Command(line[2:], number)
            items.append(command)
            section = sink = None
        elif line.startswith("--- "):
            words = line[4:].split()
            kind = words[0] if words else ""
            if kind in ("stdin", "stdout", "stderr") and len(words) == 1:
                if command is None or command.exit is not None:
                    raise FormatError(f"line {number}: '--- {kind}' stands before its command")
                if kind in sections:
                    raise FormatError(f"line {number}: a second '--- {kind}'")
                section, sink = kind, sections.setdefault(kind, [])
            elif kind == "exit" and len(words) == 2 and words[1].isdigit():
                if command is None:
                    raise FormatError(f"line {number}: '--- exit' without a command")
                command.exit = int(words[1])
                close_command()
                section = sink = None
            elif (kind in ("file", "hexfile") and len(words) == 2) or (
                kind == "repeat" and len(words) == 3 and words[2].isdigit()
            ):
                if command is not None:
                    raise FormatError(f"line {number}: '--- {kind}' before the '--- exit N' of the command above")
                items.append(File(kind, words[1:], number))
                section, sink = kind, items[-1].lines
            elif kind == "end" and len(words) == 1 and section in ("file", "hexfile", "repeat"):
                items.append(Text())
                section = sink = None
            else:
                raise FormatError(f"line {number}: unknown section '{line}'")
        elif sink is not None:
            sink.append(line)
        elif line == "" or line.startswith("#"):
            if command is None:
                text_sink().append(line)
            elif line != "":
                raise FormatError(f"line {number}: a comment before the '--- exit N' of the command above")
        else:
            raise FormatError(f"line {number}: expected '$ command', '--- section', '# comment' or a blank line")
    close_command()
    return items


def render(items):
    """The inverse of parse, with every command's results in full."""
    lines = []
    for index, item in enumerate(items):
        if isinstance(item, Text):
            if index > 0 and isinstance(items[index - 1], File):
                lines.append("--- end")
            lines += item.lines
        elif isinstance(item, File):
            lines.append(" ".join(["---", item.kind, *item.arguments]))
            lines += item.lines
        else:
            if index > 0 and isinstance(items[index - 1], Command):
                lines.append("")
            lines.append("$ " + item.line)
            if item.stdin is not None:
                lines += ["--- stdin", *item.stdin]
            if item.stdout:
                lines += ["--- stdout", *section_lines(item.stdout)]
            if item.stderr:
                lines += ["--- stderr", *section_lines(item.stderr)]
            lines.append(f"--- exit {item.exit}")
    return "\n".join(lines) + "\n"


def execute(sandbox, command):
    """Runs one command line: `NAME=value ... tare ...` or `cat FILE`, as shell words, without a shell."""
    words = shlex.split(command.line)
    environment = {}
    while words and _ASSIGNMENT.match(words[0]):
        name, value = words.pop(0).split("=", 1)
        environment[name] = value
    if not words or words[0] not in ("tare", "cat"):
        raise FormatError(f"line {command.number}: a command is 'tare ...' or 'cat FILE'")
    stdin = section_text(command.stdin).encode("utf-8") if command.stdin is not None else b""
    return sandbox.run(words, stdin=stdin, environment=environment)


def difference(what, expected, found):
    lines = difflib.unified_diff(
        section_lines(expected), section_lines(found), f"expected {what}", f"found {what}", lineterm="", n=3
    )
    return list(lines)


class Outcome:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.updated = 0
        self.messages = []


def run_file(path, tare, update):
    outcome = Outcome()
    try:
        shown = path.relative_to(ROOT)
    except ValueError:
        shown = path

    def complain(number, *lines):
        outcome.failed += 1
        outcome.messages.append("\n  ".join([f"{shown}:{number}: " + lines[0], *lines[1:]]))

    try:
        items = parse(decode(path.read_bytes()))
        siblings = [p for p in path.parent.iterdir() if p.is_file() and p.suffix not in (".test", ".md", ".py")]
        with Sandbox(tare, siblings) as sandbox:
            for item in items:
                if isinstance(item, File):
                    sandbox.write(item.name, item.content())
                if not isinstance(item, Command):
                    continue
                found = execute(sandbox, item)
                if found.crashed:
                    complain(item.number, f"$ {item.line}", f"ended with {found.code}", *found.stderr.splitlines()[-40:])
                    continue
                same = (item.stdout, item.stderr, item.exit) == (found.stdout, found.stderr, found.code)
                if same:
                    outcome.passed += 1
                elif update:
                    item.stdout, item.stderr, item.exit = found.stdout, found.stderr, found.code
                    outcome.passed += 1
                    outcome.updated += 1
                elif item.exit is None:
                    complain(item.number, f"$ {item.line}", "not recorded yet: run with TARE_UPDATE_GOLDEN=1")
                else:
                    lines = [f"$ {item.line}"]
                    if item.exit != found.code:
                        lines.append(f"expected exit {item.exit}, found exit {found.code}")
                    lines += difference("stdout", item.stdout, found.stdout)
                    lines += difference("stderr", item.stderr, found.stderr)
                    complain(item.number, *lines)
        if not any(isinstance(item, Command) for item in items):
            raise FormatError("no command")
        if outcome.updated:
            path.write_text(render(items), encoding="utf-8")
    except (FormatError, ValueError, OSError) as error:
        complain(1, str(error))
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tare", required=True, help="the binary")
    parser.add_argument("paths", nargs="*", type=Path, help="test files or folders; all of them when none is given")
    arguments = parser.parse_args()
    update = os.environ.get("TARE_UPDATE_GOLDEN", "") not in ("", "0")
    start = time.monotonic()
    files = []
    for path in arguments.paths or [HERE]:
        files += sorted(path.rglob("*.test")) if path.is_dir() else [path]
    passed = failed = updated = 0
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for outcome in pool.map(lambda f: run_file(f.resolve(), arguments.tare, update), files):
            passed, failed, updated = passed + outcome.passed, failed + outcome.failed, updated + outcome.updated
            for message in outcome.messages:
                print(message, end="\n\n")
    note = f", {updated} updated" if updated else ""
    print(f"golden: {len(files)} files{note}, {time.monotonic() - start:.1f} s")
    print(f"golden: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
