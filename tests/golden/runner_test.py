"""Tests of the golden runner itself, against a stand-in for tare."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402

FAKE = r"""#!/usr/bin/python3
import os, signal, sys
word = sys.argv[1]
if word == "echo": print(*sys.argv[2:])
elif word == "bare": sys.stdout.write(sys.argv[2])
elif word == "show": sys.stdout.write(open(sys.argv[2]).read())
elif word == "size": print(os.path.getsize(sys.argv[2]))
elif word == "stdin": sys.stdout.write(sys.stdin.read())
elif word == "env": print(os.environ.get("NAME", "unset"))
elif word == "time": print('{"elapsed_s": %s}' % os.getpid()); print("done in 0.%d s" % os.getpid())
elif word == "fail": print("job.toml:1:1: error: no", file=sys.stderr); sys.exit(2)
elif word == "crash": os.kill(os.getpid(), signal.SIGSEGV)
"""


class GoldenRunner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.tare = self.path / "fake"
        self.tare.write_text(FAKE)
        self.tare.chmod(0o755)

    def tearDown(self):
        self.folder.cleanup()

    def outcome(self, text, update=False):
        self.test = self.path / "case.test"
        self.test.write_text(text)
        return run.run_file(self.test, self.tare, update)

    def assert_passes(self, text, count=1):
        outcome = self.outcome(text)
        self.assertEqual((outcome.messages, outcome.passed, outcome.failed), ([], count, 0))

    def test_output_and_exit_code(self):
        self.assert_passes("# about\n$ tare echo 'a  b'\n--- stdout\na  b\n--- exit 0\n")
        self.assert_passes("$ tare fail\n--- stderr\njob.toml:1:1: error: no\n--- exit 2\n")
        self.assert_passes("$ tare echo a\n--- stdout\na\n--- exit 0\n\n$ tare echo b\n--- stdout\nb\n--- exit 0\n", 2)

    def test_a_difference_is_shown_as_a_diff(self):
        outcome = self.outcome("$ tare echo new\n--- stdout\nold\n--- exit 1\n")
        self.assertEqual(outcome.failed, 1)
        self.assertIn("-old", outcome.messages[0])
        self.assertIn("+new", outcome.messages[0])
        self.assertIn("expected exit 1, found exit 0", outcome.messages[0])
        self.assertIn("case.test:1:", outcome.messages[0])

    def test_blank_lines_and_the_last_newline_count(self):
        self.assertEqual(self.outcome("$ tare echo a\n--- stdout\na\n\n--- exit 0\n").failed, 1)
        self.assertEqual(self.outcome("$ tare bare a\n--- stdout\na\n--- exit 0\n").failed, 1)
        self.assert_passes("$ tare bare a\n--- stdout\na\n\\no-newline\n--- exit 0\n")

    def test_input_files(self):
        self.assert_passes("--- file d/x.toml\nk = 1\n\n$ tare show d/x.toml\n--- stdout\nk = 1\n\n--- exit 0\n")
        self.assert_passes("--- file x\nk = 1\n--- end\n\n# why\n$ tare show x\n--- stdout\nk = 1\n--- exit 0\n")
        self.assert_passes("--- hexfile x\n00 ff  # two bytes\n41\n$ tare size x\n--- stdout\n3\n--- exit 0\n")
        self.assert_passes("--- repeat x 1000\nabc\n$ tare size x\n--- stdout\n4000\n--- exit 0\n")
        self.assert_passes("$ tare stdin\n--- stdin\nhello\n--- stdout\nhello\n--- exit 0\n")

    def test_no_file_leaves_the_sandbox(self):
        for name in ("../x", "/tmp/x", "examples/x", "src/x"):
            self.assertEqual(self.outcome(f"--- file {name}\nx\n$ tare echo\n--- exit 0\n").failed, 1, name)

    def test_lines_that_look_like_sections_are_escaped(self):
        text = "$ tare show x\n"
        outcome = self.outcome("--- file x\n\\--- stdout\n\\$ tare\n\\\\--- x\n\\plain\n--- end\n" + text, update=True)
        self.assertEqual(outcome.messages, [])
        self.assertIn("--- stdout\n\\--- stdout\n\\$ tare\n\\\\--- x\n\\plain\n--- exit 0\n", self.test.read_text())
        self.assert_passes(self.test.read_text())

    def test_section_lines_is_the_inverse_of_section_text(self):
        for text in ("", "a\n", "a", "\n", "\n\n", "--- x\n", "\\\n", "\\no-newline", "\\\\$ y\n$ z", "$\n---\n"):
            self.assertEqual(run.section_text(run.section_lines(text)), text)

    def test_environment_words_and_masks(self):
        self.assert_passes("$ NAME='a b' tare env\n--- stdout\na b\n--- exit 0\n")
        self.assert_passes("$ tare env\n--- stdout\nunset\n--- exit 0\n")
        self.assert_passes('$ tare time\n--- stdout\n{"elapsed_s": <elapsed>}\ndone in <elapsed>\n--- exit 0\n')

    def test_update_fills_in_and_keeps_the_rest(self):
        before = "# about\n--- file x\nq\n--- end\n# more\n$ tare show x\n\n$ tare fail\n"
        outcome = self.outcome(before, update=True)
        self.assertEqual((outcome.messages, outcome.updated), ([], 2))
        self.assertEqual(
            self.test.read_text(),
            "# about\n--- file x\nq\n--- end\n# more\n$ tare show x\n--- stdout\nq\n--- exit 0\n\n"
            "$ tare fail\n--- stderr\njob.toml:1:1: error: no\n--- exit 2\n",
        )
        again = self.test.read_text()
        self.assertEqual(run.render(run.parse(again)), again)

    def test_a_crash_is_never_recorded(self):
        self.assertEqual(self.outcome("$ tare crash\n", update=True).failed, 1)

    def test_what_is_not_recorded_fails(self):
        self.assertIn("not recorded yet", self.outcome("$ tare echo a\n").messages[0])

    def test_bad_test_files_are_refused(self):
        for text in ("", "# only\n", "text\n", "--- stdout\n", "$ tare x\n--- what\n", "$ rm x\n--- exit 0\n",
                     "$ tare x\n--- stdout\n--- stdout\n", "--- exit 0\n", "--- hexfile x\nzz\n$ tare x\n--- exit 0\n"):
            self.assertEqual(self.outcome(text).failed, 1, text)

    def test_command_line(self):
        (self.path / "a.test").write_text("$ tare echo a\n--- stdout\na\n--- exit 0\n")
        (self.path / "b.test").write_text("$ tare echo a\n--- stdout\nb\n--- exit 0\n")
        script = str(Path(run.__file__).resolve())
        result = subprocess.run([sys.executable, script, "--tare", str(self.tare), str(self.path)],
                                capture_output=True, text=True, env={**os.environ, "TARE_UPDATE_GOLDEN": ""})
        self.assertEqual(result.returncode, 1)
        self.assertIn("golden: 1 passed, 1 failed", result.stdout)


if __name__ == "__main__":
    unittest.main()
