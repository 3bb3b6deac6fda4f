"""Holds every example and every JSON output against the schemas of schema/.

cases.txt lists the cases, one a line: a schema's file name, then a TOML or JSON file (or a glob) or a `tare ...` command
whose standard output is one JSON document. A `!` before the schema's name: the document must not fit it. `(exit N)` at the
end: the command's exit code, 0 otherwise. `#` begins a remark. Every file of schema/ must itself be a valid schema and,
but for those that others refer to, be used by a case.

Needs Debian's python3-jsonschema.
"""

import argparse
import json
import re
import shlex
import sys
import time
import tomllib
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from sandbox import ROOT, Sandbox  # noqa: E402

_EXIT = re.compile(r"\s*\(exit (\d+)\)\s*$")


def strict_json(text):
    """JSON as the standard has it: no NaN, no key twice."""

    def refuse_constant(name):
        raise ValueError(f"'{name}' is not JSON")

    def refuse_repeated(pairs):
        keys = [key for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"the key '{key}' stands twice in one object")
        return dict(pairs)

    return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=refuse_repeated)


def load_schemas(folder):
    return {path.name: strict_json(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def references(node):
    """The files that a schema refers to."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value.split("#")[0].rsplit("/", 1)[-1]
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def validator_for(schema, schemas, name):
    base = schema.get("$id", name)
    store = {}
    for other, content in schemas.items():
        store[other] = content
        if "$id" in content:
            store[content["$id"]] = content
            # A relative reference resolves against this schema's own id, whatever folder it names.
        store[base.rsplit("/", 1)[0] + "/" + other] = content
    resolver = jsonschema.RefResolver(base, schema, store=store)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return kind(schema, resolver=resolver)


def plain(value):
    """TOML's dates as the strings that JSON has for them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def read_cases(path):
    """(line number, schema, negated, what, exit code) of each case."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.split(" #")[0].strip()
        if not line or line.startswith("#"):
            continue
        name, _, what = line.partition(" ")
        match = _EXIT.search(what)
        code = int(match[1]) if match else 0
        yield number, name.lstrip("!"), name.startswith("!"), _EXIT.sub("", what).strip(), code


def documents(what, code, tare):
    """(name, document or error text) of a case."""
    if what.startswith("tare "):
        with Sandbox(tare) as sandbox:
            found = sandbox.run(shlex.split(what))
        if found.code != code:
            yield what, f"expected exit {code}, found {found.code}: {found.stderr.strip()[-500:]}"
            return
        try:
            # A command that fails answers on standard error.
            yield what, {"document": strict_json((found.stdout or found.stderr).replace("<elapsed>", "0"))}
        except ValueError as error:
            yield what, f"not JSON: {error}"
        return
    paths = sorted(ROOT.glob(what))
    if not paths:
        yield what, "no such file"
    for path in paths:
        shown = str(path.relative_to(ROOT))
        try:
            if path.suffix == ".toml":
                yield shown, {"document": plain(tomllib.loads(path.read_text(encoding="utf-8")))}
            else:
                yield shown, {"document": strict_json(path.read_text(encoding="utf-8"))}
        except (ValueError, OSError) as error:
            yield shown, str(error)


def check(folder, cases, tare):
    """The number that passed and what is wrong with the others."""
    passed, complaints = 0, []
    schemas = load_schemas(folder)
    used, invalid = set(), set()
    for name, schema in schemas.items():
        try:
            jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator).check_schema(schema)
            passed += 1
        except jsonschema.SchemaError as error:
            complaints.append(f"schema/{name}: not a valid schema: {error.message}")
            invalid.add(name)
        for other in references(schema):
            if other and other not in schemas:
                complaints.append(f"schema/{name}: refers to {other}, which does not exist")
            used.add(other)
    for number, name, negated, what, code in read_cases(cases):
        where = f"{cases.name}:{number}"
        if name not in schemas:
            complaints.append(f"{where}: no schema {name}")
            continue
        used.add(name)
        if name in invalid:
            continue
        validator = validator_for(schemas[name], schemas, name)
        for shown, result in documents(what, code, tare):
            if isinstance(result, str):
                complaints.append(f"{where}: {shown}: {result}")
                continue
            errors = sorted(validator.iter_errors(result["document"]), key=lambda e: list(map(str, e.absolute_path)))
            if bool(errors) == negated:
                passed += 1
            elif negated:
                complaints.append(f"{where}: {shown}: fits {name}, and must not")
            else:
                lines = [f"{where}: {shown}: does not fit {name}:"]
                lines += [f"{e.json_path}: {e.message[:300]}" for e in errors[:8]]
                lines += [f"... and {len(errors) - 8} more"] if len(errors) > 8 else []
                complaints.append("\n  ".join(lines))
    for name in schemas:
        if name not in used:
            complaints.append(f"schema/{name}: no case of {cases.name} uses it")
    return passed, complaints


def main():
    parser = argparse.ArgumentParser(description="Holds examples and JSON outputs against schema/.")
    parser.add_argument("--tare", required=True)
    arguments = parser.parse_args()
    start = time.monotonic()
    cases = Path(__file__).resolve().parent / "cases.txt"
    passed, complaints = check(ROOT / "schema", cases, arguments.tare)
    for complaint in complaints:
        print(complaint, end="\n\n")
    print(f"schema: {time.monotonic() - start:.1f} s")
    print(f"schema: {passed} passed, {len(complaints)} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
