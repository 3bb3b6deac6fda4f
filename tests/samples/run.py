"""Holds `tare read` against real tool outputs, when a folder of them is there.

A sample is KIND/NAME.EXT beside KIND/NAME.expect.json, whose `facts` say what a competent reader gets from it. The
facts are named as their writer liked; tests/samples/mapping/KIND.csv says where tare has each of them:

    sample        a glob over sample names ("*", "016-*")
    fact          a regular expression over the whole path of an expected fact ("gpu_count", "numa\\.GPU(\\d+)")
    where         a Python expression over `f`, the facts of the file (and `also`, those of further readings by kind),
                  with g(1), g(2) … the groups of `fact`; empty: not mapped
    reason        why not, when `where` is empty

The first row that matches decides. A path may be that of a list or an object: then it is compared as a whole. Numbers
are equal when they agree to the precision that is expected; texts without regard to blanks and case.

    run.py --tare BIN [--samples DIR] [--kind KIND] [--verbose]

Exit status 1 when a kind is not recognised, less than 90 % of the facts are mapped, or less than 97 % of those are
equal. Without a samples folder (TARE_SHARED or ../shared) it says so and passes.
"""

import argparse
import collections
import csv
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAPPED_SHARE = 0.90
EQUAL_SHARE = 0.97


class Record(dict):
    """An object whose members are attributes, and None where there is none."""

    def __getattr__(self, name):
        return self.get(name)


def as_records(value):
    if isinstance(value, dict):
        return Record({key: as_records(item) for key, item in value.items()})
    if isinstance(value, list):
        return [as_records(item) for item in value]
    return value


def column(rows, name):
    """The values of one member over a list of records."""
    return [row.get(name) for row in rows or []]


def counts(values):
    return Record(collections.Counter(values))


def where(rows, **wanted):
    """The records of a list that have these members."""
    return [row for row in rows or [] if all(row.get(key) == value for key, value in wanted.items())]


def present(values):
    return [value for value in values if value is not None]


HELPERS = {
    "column": column, "counts": counts, "where": where, "present": present, "len": len, "sum": sum, "max": max,
    "min": min, "sorted": sorted, "set": set, "list": list, "dict": dict, "round": round, "int": int, "float": float,
    "str": str, "abs": abs, "any": any, "all": all, "zip": zip, "enumerate": enumerate, "range": range, "re": re,
    "isinstance": isinstance, "Record": Record, "None": None, "True": True, "False": False,
}


def decimals(number):
    text = repr(number)
    if "e" in text or "." not in text:
        return 0 if float(number).is_integer() else 12
    return len(text.split(".")[1])


def equal(expected, found):
    if isinstance(expected, bool) or isinstance(found, bool) or expected is None:
        return expected == found
    if isinstance(expected, (int, float)):
        if not isinstance(found, (int, float)):
            return False
        places = decimals(expected)
        return abs(found - expected) <= max(0.5001 * 10 ** -places if places else 0, abs(expected) * 1e-9)
    if isinstance(expected, str):
        squeeze = lambda text: re.sub(r"\s+", "", str(text)).lower()
        return squeeze(expected) == squeeze(found)
    return False


def leaves(value):
    if isinstance(value, dict):
        return sum(leaves(item) for item in value.values())
    if isinstance(value, list):
        return sum(leaves(item) for item in value)
    return 1


def equal_leaves(expected, found):
    """How many leaves of `expected` are found equal."""
    if isinstance(expected, dict):
        return sum(equal_leaves(item, found.get(key) if isinstance(found, dict) else None)
                   for key, item in expected.items())
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return 0
        return sum(equal_leaves(item, there) for item, there in zip(expected, found))
    return 1 if equal(expected, found) else 0


class Mapping:
    def __init__(self, kind):
        path = ROOT / "tests/samples/mapping" / f"{kind}.csv"
        self.rows = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []

    def row_for(self, sample, path):
        for row in self.rows:
            match = re.fullmatch(row["fact"], path)
            if match and fnmatch.fnmatch(sample, row["sample"]):
                return row, match
        return None, None


class Tally:
    def __init__(self):
        self.total = self.mapped = self.equal = 0
        self.unmapped, self.wrong = [], []


def hold(sample, expected, path, mapping, facts, tally):
    """Adds the fact at `path`, or what is below it, to the tally."""
    row, match = mapping.row_for(sample, path) if path else (None, None)
    if row is None and isinstance(expected, dict):
        for key, item in expected.items():
            hold(sample, item, f"{path}.{key}" if path else key, mapping, facts, tally)
        return
    count = leaves(expected)
    tally.total += count
    if row is None or not row["where"].strip():
        tally.unmapped.append((sample, path, row["reason"] if row else "no row of the mapping"))
        return
    tally.mapped += count
    names = dict(HELPERS, f=facts["f"], also=facts["also"], file=facts["file"], g=match.group)
    try:
        # The project's own mapping file. As globals, for what stands inside a comprehension sees no others.
        found = eval(row["where"], dict(names, __builtins__={}))
    except Exception as error:  # a fact that is not there
        found = f"({type(error).__name__}: {error})"
    same = equal_leaves(expected, found)
    tally.equal += same
    if same < count:
        tally.wrong.append((sample, path, expected, found))


def read_all(tare, files):
    out = subprocess.run([tare, "read", "--output", "json", *map(str, files)], capture_output=True, text=True)
    if not out.stdout:
        sys.exit(f"tare read failed: {out.stderr}")
    return {entry["path"]: entry for entry in json.loads(out.stdout)["files"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", required=True)
    parser.add_argument("--samples")
    parser.add_argument("--kind")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    shared = pathlib.Path(os.environ.get("TARE_SHARED", ROOT.parent / "shared"))
    samples = pathlib.Path(arguments.samples) if arguments.samples else shared / "samples"
    if not samples.is_dir():
        print(f"SKIPPED: no samples at {samples} (set TARE_SHARED)\nsamples: 0 passed, 0 failed")
        return 0

    expectations = {}
    for path in sorted(samples.glob("*/*.expect.json")):
        expectation = json.loads(path.read_text(encoding="utf-8"))
        if arguments.kind in (None, expectation["kind"]):
            expectations[path.parent / expectation["file"]] = expectation
    if not expectations:
        sys.exit("no sample of that kind")
    read = read_all(arguments.tare, expectations)
    tallies, unrecognised = collections.defaultdict(Tally), []
    for path, expectation in expectations.items():
        entry = as_records(read[str(path)])
        kind = expectation["kind"]
        if entry.kind != kind:
            unrecognised.append((f"{kind}/{path.name}", entry.kind))
        facts = {"f": entry.facts or Record(), "file": entry,
                 "also": Record({one.kind: one.facts for one in entry.also or []})}
        hold(path.stem, expectation["facts"], "", Mapping(kind), facts, tallies[kind])

    total = Tally()
    print(f"{'kind':<14}{'facts':>7}{'mapped':>9}{'equal':>9}")
    for kind, tally in sorted(tallies.items()):
        total.total, total.mapped, total.equal = (total.total + tally.total, total.mapped + tally.mapped,
                                                  total.equal + tally.equal)
        print(f"{kind:<14}{tally.total:>7}{tally.mapped / tally.total:>9.1%}{tally.equal / max(1, tally.mapped):>9.1%}")
        for sample, path, reason in tally.unmapped:
            if arguments.verbose:
                print(f"  not mapped: {sample} {path}: {reason}")
        for sample, path, expected, found in tally.wrong:
            print(f"  differs: {sample} {path}: expected {expected!r}, found {found!r}"[:400])
    for sample, found in unrecognised:
        print(f"  not recognised: {sample} read as {found}")
    mapped, same = total.mapped / total.total, total.equal / max(1, total.mapped)
    print(f"{len(expectations)} samples, {len(unrecognised)} not recognised; {total.total} facts, {mapped:.1%} mapped, "
          f"{same:.1%} of these equal")
    missed = (len(unrecognised) > 0) + (mapped < MAPPED_SHARE) + (same < EQUAL_SHARE)
    print(f"samples: {total.equal} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
