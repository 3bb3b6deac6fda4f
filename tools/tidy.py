"""Runs clang-tidy over src/, a file per core, and only over what changed since it last passed.

    tidy.py [--checks=CHECKS] BUILD [FILE...]

What a file's pass depends on - its text, that of every project header it includes, and .clang-tidy - is hashed into a stamp
in the build folder.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def inputs(path, seen):
    """`path` and every project file it includes, found by name in src/."""
    if path in seen or not path.exists():
        return seen
    seen.add(path)
    for name in _INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace")):
        inputs(SRC / name, seen)
    return seen


def key(path, checks):
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + checks.encode())
    for file in sorted(inputs(path, set())):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checks", default="", help="other checks than those of .clang-tidy")
    parser.add_argument("build", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    build, checks = arguments.build.resolve(), arguments.checks
    only = [name.resolve() for name in arguments.files]
    stamps = build / "tidy" / hashlib.sha256(checks.encode()).hexdigest()[:8]
    stamps.mkdir(parents=True, exist_ok=True)
    commands = json.loads((build / "compile_commands.json").read_text())
    files = sorted({Path(c["file"]) for c in commands if Path(c["file"]).is_relative_to(SRC)})
    if only:
        files = [f for f in files if f in only]
    start = time.monotonic()

    def tidy(path):
        stamp = stamps / str(path.relative_to(SRC)).replace("/", "-")
        wanted = key(path, checks)
        if stamp.exists() and stamp.read_text() == wanted:
            return path, "same", [], ""
        # compile_commands.json may name a compiler launcher and GCC's own flags; clang-tidy reads past them.
        command = ["clang-tidy-14", "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option"]
        command += [f"--checks={checks}"] if checks else []
        command.append(str(path))
        result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if result.returncode == 0:
            stamp.write_text(wanted)
            return path, "passed", command, ""
        return path, "failed", command, result.stdout + "\n".join(
            line for line in result.stderr.splitlines() if "warnings generated" not in line and "Suppressed" not in line
        )

    counts = {"same": 0, "passed": 0, "failed": 0}
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for path, status, command, output in pool.map(tidy, files):
            counts[status] += 1
            if status == "failed":
                print(f"{path.relative_to(ROOT)}: $ {shlex.join(command)}")
                print(output.strip()[:6000])
    print(f"tidy: {len(files)} files, {counts['same']} unchanged since they passed, {time.monotonic() - start:.0f} s")
    print(f"tidy: {counts['same'] + counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
