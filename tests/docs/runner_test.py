"""Tests of the documentation runner itself."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402

FAKE = """#!/bin/bash
echo "tare $*"
[ "$1" = fail ] && { echo "error: no" >&2; exit 1; }
exit 0
"""


class DocsRunner(unittest.TestCase):
    def complaints(self, text, update=False):
        with tempfile.TemporaryDirectory() as folder:
            tare = Path(folder) / "fake"
            tare.write_text(FAKE)
            tare.chmod(0o755)
            page = Path(folder) / "page.md"
            page.write_text(text)
            self.counts = {"blocks": 0, "commands": 0, "not run": 0, "files": 0, "updated": 0}
            found = []
            run.check_page(page, tare, self.counts, found, update)
            self.page = page.read_text()
            return found

    def test_output_is_compared_when_shown(self):
        self.assertEqual(self.complaints("```console\n$ tare a\n$ ./run b\ntare b\n$ apt install x\ny\n```\n"), [])
        self.assertEqual(self.counts, {"blocks": 1, "commands": 2, "not run": 1, "files": 0, "updated": 0})
        self.assertEqual(len(self.complaints("```console\n$ tare a\ntare b\n```\n")), 1)

    def test_dots_stand_for_any_lines(self):
        self.assertEqual(self.complaints("```console\n$ tare a; tare b; tare c\ntare a\n...\n```\n"), [])
        self.assertEqual(self.complaints("```console\n$ tare a; tare b; tare c\n...\ntare b\n...\n```\n"), [])
        self.assertEqual(len(self.complaints("```console\n$ tare a; tare b\n...\ntare x\n...\n```\n")), 1)
        self.assertEqual(len(self.complaints("```console\n$ tare a; tare b\ntare a\n```\n")), 1)

    def test_dots_within_a_line_stand_for_any_text(self):
        self.assertEqual(self.complaints("```console\n$ tare a  $(seq 3)\ntare   a ... 3\n```\n"), [])
        self.assertEqual(self.complaints("```console\n$ tare plan\n...re pl...\n```\n"), [])
        self.assertEqual(len(self.complaints("```console\n$ tare a 1 3\ntare a ... 2\n```\n")), 1)
        self.assertEqual(len(self.complaints("```console\n$ tare a.b\ntare ...a-b\n```\n")), 1)

    def test_an_update_fills_in_what_is_not_abridged(self):
        page = "```console\n$ tare a; tare b\nold\n\n$ tare c\nold\nolder\n```\nend\n"
        self.assertEqual(self.complaints(page, update=True), [])
        self.assertEqual(self.page, "```console\n$ tare a; tare b\ntare a\ntare b\n\n$ tare c\ntare c\n```\nend\n")
        self.assertEqual(len(self.complaints("```console\n$ tare a\nold\n...\n```\n", update=True)), 1)
        self.assertEqual(len(self.complaints("```console\n$ tare fail\nold\n```\n", update=True)), 1)

    def test_exit_codes(self):
        self.assertEqual(len(self.complaints("```console\n$ tare fail\n```\n")), 1)
        self.assertEqual(self.complaints("```console (exit 1)\n$ tare fail\n```\n"), [])
        self.assertEqual(self.complaints("```console\n$ tare fail\ntare fail\nerror: no\n(exit 1)\n$ tare b\n```\n"), [])
        self.assertEqual(len(self.complaints("```console\n$ tare ok\n(exit 1)\n```\n")), 1)

    def test_continued_lines_and_pipes(self):
        self.assertEqual(self.complaints("```console\n$ tare a \\\n    b | tr a-z A-Z\nTARE A B\n```\n"), [])

    def test_files_shown_must_be_the_files(self):
        self.assertEqual(len(self.complaints("```toml\n# examples/no-such-file.toml\n[job]\n```\n")), 1)
        self.assertEqual(self.complaints("```toml\n[job]\n```\n"), [])

    def test_an_open_fence_is_an_error(self):
        self.assertEqual(len(self.complaints("```console\n$ tare a\n")), 1)


if __name__ == "__main__":
    unittest.main()
