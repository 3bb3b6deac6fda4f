"""Runs clang-tidy over src/, two files at a time, and only over what changed since it last passed.

What a file's pass depends on - its text, that of every project header it includes, and .clang-tidy - is hashed into a stamp
in the build folder.
"""

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


def key(path):
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for file in sorted(inputs(path, set())):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def main():
    build = Path(sys.argv[1]).resolve()
    only = [Path(name).resolve() for name in sys.argv[2:]]
    stamps = build / "tidy"
    stamps.mkdir(exist_ok=True)
    commands = json.loads((build / "compile_commands.json").read_text())
    files = sorted({Path(c["file"]) for c in commands if Path(c["file"]).is_relative_to(SRC)})
    if only:
        files = [f for f in files if f in only]
    start = time.monotonic()

    def tidy(path):
        stamp = stamps / str(path.relative_to(SRC)).replace("/", "-")
        wanted = key(path)
        if stamp.exists() and stamp.read_text() == wanted:
            return path, "same", ""
        # compile_commands.json may name a compiler launcher and GCC's own flags; clang-tidy reads past them.
        command = ["clang-tidy-14", "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option", str(path)]
        result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if result.returncode == 0:
            stamp.write_text(wanted)
            return path, "passed", ""
        return path, "failed", result.stdout + "\n".join(
            line for line in result.stderr.splitlines() if "warnings generated" not in line and "Suppressed" not in line
        )

    counts = {"same": 0, "passed": 0, "failed": 0}
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for path, status, output in pool.map(tidy, files):
            counts[status] += 1
            if status == "failed":
                print(f"{path.relative_to(ROOT)}: $ {shlex.join(['clang-tidy-14', '-p', str(build), str(path)])}")
                print(output.strip()[:6000])
    print(f"tidy: {len(files)} files, {counts['same']} unchanged since they passed, {time.monotonic() - start:.0f} s")
    print(f"tidy: {counts['same'] + counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
