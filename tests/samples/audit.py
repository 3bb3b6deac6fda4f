"""Holds `tare audit` against real tool outputs, when a folder of them is there.

PROBLEMS.csv of the folder names a problem per file with its expected severity and whether it is visible in the file;
HEALTHY.txt names files on which nobody should be alarmed. tests/samples/audit/KIND.csv says which finding is meant:

    sample        NNN, the number that the sample's name begins with
    rule          the rule id, or several separated by "|", any of which will do
    subject       a regular expression over the finding's subject ("node/name"); empty: any
    reason        where `rule` is empty: why tare does not find it

A problem is found when such a finding is there at or above the expected severity less one step.

    audit.py --tare BIN [--samples DIR] [--kind KIND] [--verbose]

Exit status 1 when fewer than 90 % of the visible problems are found, a healthy file has a finding of severity high, or
healthy files have more than 0.3 findings of severity medium each. Without a samples folder (TARE_SHARED or ../shared)
it says so and passes.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEVERITIES = ["info", "low", "medium", "high"]
FOUND_SHARE = 0.90
MEDIUM_PER_HEALTHY_FILE = 0.3


def samples_folder(given):
    if given:
        return pathlib.Path(given)
    shared = os.environ.get("TARE_SHARED")
    return (pathlib.Path(shared) if shared else ROOT.parent / "shared") / "samples"


def audit(tare, path):
    done = subprocess.run([tare, "audit", str(path), "--output", "json"], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{path}: exit status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)["findings"]


def expectations():
    rows = {}
    for path in sorted((ROOT / "tests/samples/audit").glob("*.csv")):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                rows[(path.stem, row["sample"])] = row
    return rows


def is_found(problem, row, findings):
    least = max(0, SEVERITIES.index(problem["severity_expected"]) - 1)
    for finding in findings:
        subject = finding["subject"]
        name = f"{subject.get('node', '')}/{subject['name']}"
        wanted = row["rule"].split("|")
        if finding["rule_id"] in wanted and SEVERITIES.index(finding["severity"]) >= least:
            if not row["subject"] or re.search(row["subject"], name):
                return True
    return False


def describe(findings):
    lines = []
    for finding in findings:
        subject = finding["subject"]
        name = f"{subject.get('node', '')}/{subject['name']}"
        lines.append(f"      {finding['severity']} {finding['rule_id']} [{name}] {finding['title']}")
    return "\n".join(lines) or "      no findings"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", required=True)
    parser.add_argument("--samples")
    parser.add_argument("--kind")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    folder = samples_folder(arguments.samples)
    if not (folder / "PROBLEMS.csv").exists():
        print(f"SKIPPED: no PROBLEMS.csv in {folder}: the rules are not held against real outputs")
        print("0 passed, 0 failed")
        return 0

    rows = expectations()
    passed = failed = visible = found = 0
    with open(folder / "PROBLEMS.csv", newline="", encoding="utf-8") as file:
        problems = [row for row in csv.DictReader(file) if row["visible_in_file"] == "1"]
    for problem in problems:
        kind, name = problem["file"].split("/")
        if arguments.kind and kind != arguments.kind:
            continue
        visible += 1
        row = rows.get((kind, name.split("-")[0]))
        if row is None:
            failed += 1
            print(f"FAILED {problem['file']}: no row in tests/samples/audit/{kind}.csv ({problem['problem']})")
            continue
        if not row["rule"]:
            print(f"left   {problem['file']}: {row['reason']}")
            continue
        findings = audit(arguments.tare, folder / problem["file"])
        if is_found(problem, row, findings):
            found += 1
            passed += 1
            if arguments.verbose:
                print(f"found  {problem['file']}: {problem['problem']}\n{describe(findings)}")
        else:
            failed += 1
            print(f"FAILED {problem['file']}: {problem['severity_expected']}: {problem['problem']}")
            print(f"    wanted {row['rule']} [{row['subject']}]\n{describe(findings)}")

    healthy = (folder / "HEALTHY.txt").read_text(encoding="utf-8").split()
    healthy = [name for name in healthy if not arguments.kind or name.startswith(arguments.kind + "/")]
    medium = 0
    for name in healthy:
        findings = audit(arguments.tare, folder / name)
        bad = [finding for finding in findings if finding["severity"] in ("high", "medium")]
        medium += sum(finding["severity"] == "medium" for finding in bad)
        high = any(finding["severity"] == "high" for finding in bad)
        failed += high
        passed += not high
        if bad:
            print(f"{'FAILED' if high else 'medium'} {name}, which is healthy\n{describe(bad)}")

    if healthy and medium > MEDIUM_PER_HEALTHY_FILE * len(healthy):
        failed += 1
        print(f"FAILED {medium} findings of severity medium in {len(healthy)} healthy files")
    if visible and found < FOUND_SHARE * visible:
        failed += 1
        print(f"FAILED {found} of {visible} visible problems found: less than {FOUND_SHARE:.0%}")
    print(f"{found} of {visible} visible problems found; {medium} findings of severity medium in {len(healthy)} healthy files")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
