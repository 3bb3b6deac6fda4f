"""Tests of the schema runner itself."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import validate  # noqa: E402

COMMON = '{"$id": "https://example.org/schema/common.json", "$defs": {"usd": {"type": "number", "minimum": 0}}}'
BILL = (
    '{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/schema/bill.json",'
    ' "type": "object", "properties": {"usd": {"$ref": "common.json#/$defs/usd"}}, "required": ["usd"]}'
)
FAKE = """#!/bin/bash
case $1 in
  good) echo '{"usd": 1.5, "elapsed_s": 0.01}' ;;
  bad) echo '{"usd": -1}' ;;
  nan) echo '{"usd": NaN}' ;;
  twice) echo '{"usd": 1, "usd": 2}' ;;
  no) echo '{"usd": 1}'; exit 1 ;;
esac
"""


class SchemaRunner(unittest.TestCase):
    def check(self, cases, **schemas):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "schema").mkdir()
            for name, text in {"common": COMMON, "bill": BILL, **schemas}.items():
                (path / "schema" / f"{name}.json").write_text(text)
            (path / "cases.txt").write_text(cases)
            (path / "fake").write_text(FAKE)
            (path / "fake").chmod(0o755)
            return validate.check(path / "schema", path / "cases.txt", path / "fake")

    def test_outputs_that_fit(self):
        cases = "# remark\nbill.json tare good\n!bill.json tare bad  # why\nbill.json tare no (exit 1)\n"
        self.assertEqual(self.check(cases), (5, []))

    def test_outputs_that_do_not(self):
        for what in ("bad", "nan", "twice", "no", "good (exit 1)", "nothing"):
            self.assertEqual(len(self.check(f"bill.json tare {what}\n")[1]), 1, what)
        self.assertEqual(len(self.check("!bill.json tare good\n")[1]), 1)
        self.assertIn("$.usd", self.check("bill.json tare bad\n")[1][0])

    def test_unknown_unused_and_invalid_schemas(self):
        self.assertEqual(len(self.check("bill.json tare good\nother.json tare good\n")[1]), 1)
        self.assertIn("no case", self.check("bill.json tare good\n", unused="{}")[1][0])
        self.assertIn("not a valid schema", self.check("bill.json tare good\nx.json tare good\n", x='{"type": 3}')[1][0])

    def test_files(self):
        self.assertEqual(len(self.check("bill.json no/such/file.toml\nbill.json tare good\n")[1]), 1)


if __name__ == "__main__":
    unittest.main()
