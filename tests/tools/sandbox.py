"""A throw-away folder that looks like the repository, in which tests that are files run `tare`.

Standard library only. The folder holds a link to each top-level entry of the repository, so that `examples/x.toml` is
found as a person would type it, and whatever the test writes lands in the folder and goes away with it.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120

_MASKS = [
    (re.compile(r'("(?:elapsed|decision)_s":\s*)[0-9][0-9.eE+-]*'), r"\1<elapsed>"),
    (re.compile(r"\bin [0-9]+(?:\.[0-9]+)? ?(?:s|ms|µs|us)\b"), "in <elapsed>"),
]


def mask(text):
    """Replaces what differs from run to run: elapsed times."""
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    return text


def decode(data):
    """Output as text. Bytes that are not UTF-8 and control characters but newline and tab show as \\xNN."""
    text = data.decode("utf-8", errors="backslashreplace")
    return "".join(c if c in "\n\t" or (c >= " " and c != "\x7f") else "\\x%02x" % ord(c) for c in text)


class Finished:
    def __init__(self, stdout, stderr, code):
        self.stdout, self.stderr, self.code = stdout, stderr, code

    @property
    def crashed(self):
        """Ended by a signal, out of time, or stopped by a sanitizer."""
        return isinstance(self.code, str) or "ERROR: AddressSanitizer" in self.stderr or "runtime error:" in self.stderr


class Sandbox:
    def __init__(self, tare, extra_links=()):
        self.tare = str(Path(tare).resolve())
        self.path = Path(tempfile.mkdtemp(prefix="tare-test-"))
        for entry in ROOT.iterdir():
            if entry.name in (".git", "build", "run", "check"):
                continue
            (self.path / entry.name).symlink_to(entry)
        for link in extra_links:
            target = self.path / link.name
            if not target.exists() and not target.is_symlink():
                target.symlink_to(link.resolve())
        self._bin = self.path / ".bin"
        self._bin.mkdir()
        (self._bin / "tare").symlink_to(self.tare)
        (self.path / "run").symlink_to(self.tare)  # `./run plan ...` of the docs, without the build

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
        kept.update(
            PATH=f"{self._bin}:/usr/local/bin:/usr/bin:/bin",
            HOME=str(self.path),
            LANG="C.UTF-8",
            LC_ALL="C.UTF-8",
            TZ="UTC",
            TERM="dumb",
        )
        return kept

    def write(self, name, data):
        """Writes an input file of the test; never outside the sandbox, never through one of its links."""
        path = self.path / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"file name '{name}' leaves the sandbox")
        for parent in [path, *path.parents]:
            if parent == self.path:
                break
            if parent.is_symlink():
                raise ValueError(f"file name '{name}' would write into the repository ({parent.name} is a link)")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def run(self, argv, stdin=b"", environment=(), shell=False):
        """Runs a command in the sandbox. `argv`: words, or with shell=True a line for bash."""
        env = self.environment()
        env.update(environment)
        command = ["bash", "-c", argv] if shell else argv
        process = subprocess.Popen(
            command,
            cwd=self.path,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(stdin, timeout=TIMEOUT_S)
            code = process.returncode
            if code < 0:
                code = f"signal {signal.Signals(-code).name}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = f"timeout {TIMEOUT_S} s"
        except BrokenPipeError:
            out, err = process.communicate()
            code = process.returncode
        return Finished(self._tidy(out), self._tidy(err), code)

    def _tidy(self, data):
        return mask(decode(data).replace(str(self.path) + "/", "").replace(str(self.path), "<dir>"))
