#!/usr/bin/env python3
"""bill_draws_numpy.py FILE...: draws per second of a bill with numpy, one core.

FILE is what `tare bill JOB --on OFFER --explain --output json` writes. The same arithmetic as tare's own draws: every
input with a range from its triangle (in the logarithm where it spans more than 3), one uniform number per cause; the
step's own error; the count of failures, and the wall that follows from it; every formula of the run and the bill; the
total. Each formula becomes one line of numpy; what does not vary is folded by Python, since it is a plain float.
Prints one line per file: FILE draws/s, at the best of several block lengths.
"""
import json
import math
import re
import sys
import time

import numpy as np

SIGMA = {"stack": 0.05, "generation": 0.02, "own": 0.1}  # of the step's error: their size does not change the work
BLOCKS = (500, 2000, 8000, 30000)
SECONDS = 1.0  # measured at each block length


def minimum(*values):
    result = values[0]
    for value in values[1:]:
        result = np.minimum(result, value) if isinstance(result, np.ndarray) or isinstance(value, np.ndarray) else min(result, value)
    return result


def maximum(*values):
    result = values[0]
    for value in values[1:]:
        result = np.maximum(result, value) if isinstance(result, np.ndarray) or isinstance(value, np.ndarray) else max(result, value)
    return result


FUNCTIONS = {"min": "minimum", "max": "maximum", "ceil": "np.ceil", "floor": "np.floor", "sqrt": "np.sqrt",
             "log2": "np.log2", "exp": "np.exp", "pow": "np.power"}


class Writer:
    """Formulas -> the text of a Python function draw(rng, n) that returns the total and every line."""

    def __init__(self, formulas):
        self.formulas = {f["id"]: f for f in formulas}
        self.names = {}   # id of a formula, or of a drawn input -> variable
        self.lines = []
        self.uniforms = {}

    def variable(self, text):
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        return name

    def uniform(self, cause):
        if cause not in self.uniforms:
            self.uniforms[cause] = self.variable("rng.random(n)")
        return self.uniforms[cause]

    def triangle(self, item, low, high):
        base = item["value"]
        key = (item["source"], low, base, high)
        if key not in self.names:
            u = self.uniform(item["source"])
            logarithmic = low > 0 and high / low > 3
            a, m, b = (math.log(x) for x in (low, base, high)) if logarithmic else (low, base, high)
            at_mode, below, above = (m - a) / (b - a), (b - a) * (m - a), (b - a) * (b - m)
            text = f"np.where({u} < {at_mode!r}, {a!r} + np.sqrt({u} * {below!r}), {b!r} - np.sqrt((1 - {u}) * {above!r}))"
            self.names[key] = self.variable(f"np.exp({text})" if logarithmic else text)
        return self.names[key]

    def step_factor(self):
        if "step" not in self.names:
            parts = [f"{sigma} * rng.standard_normal(n)" for sigma in SIGMA.values()]
            self.names["step"] = self.variable(f"np.exp({' + '.join(parts)})")
        return self.names["step"]

    def input(self, item):
        if item["source"] in self.formulas:
            return self.formula(item["source"])
        if item["source"] == "step model" and item["unit"] == "s":
            return f"({item['value']!r} * {self.step_factor()})"
        low, high = item.get("low", item["value"]), item.get("high", item["value"])
        if low < high:
            return self.triangle(item, min(low, item["value"]), max(high, item["value"]))
        return repr(float(item["value"]))

    def text(self, formula):
        inputs = {item["name"]: item for item in formula["inputs"]}

        def word(match):
            name = match.group(0)
            if name in FUNCTIONS and name not in inputs:
                return FUNCTIONS[name]
            return self.input(inputs[name])

        return re.sub(r"(?<![\w.])[A-Za-z_][\w.]*", word, formula["expression"]).replace("^", "**")

    def formula(self, name):
        if name not in self.names:
            if name == "run.wall_s" and "run.failures" in self.formulas:
                self.wall()
            else:
                self.names[name] = self.variable(self.text(self.formulas[name]))
        return self.names[name]

    def wall(self):
        expected = self.variable(self.text(self.formulas["run.wall_s"]))
        self.names["run.wall_s"] = expected
        mean = self.variable(self.text(self.formulas["run.failures"]))
        count = self.variable(f"rng.poisson({mean})")
        kept = f"(1 - {self.formula('run.maintenance_ratio')})" if "run.maintenance_ratio" in self.formulas else "1"
        loss = self.formula("run.loss_per_failure_s")
        self.names["run.failures"] = count
        self.names["run.wall_s"] = self.variable(f"{expected} + ({count} - {mean}) * {loss} / {kept}")
        hardware = self.formulas.get("run.hardware_failures")
        if hardware:
            self.names["run.wall_s"], actual = expected, self.names["run.wall_s"]
            self.names["run.hardware_failures"] = self.variable(f"({self.text(hardware)}) / {mean} * {count}")
            self.names["run.wall_s"] = actual

    def function(self, line_ids):
        for name in self.formulas:
            self.formula(name)
        lines = [self.names[name] for name in line_ids]
        body = "\n".join(self.lines)
        return f"def draw(rng, n):\n{body}\n    total = {' + '.join(lines)}\n    return total, [{', '.join(lines)}]\n"


def find(node, key):
    """The first value of a key anywhere in the answer."""
    if isinstance(node, dict):
        if key in node:
            return node[key]
        node = node.values()
    elif not isinstance(node, list):
        return None
    for child in node:
        found = find(child, key)
        if found is not None:
            return found
    return None


def rate(draw, block):
    rng = np.random.Generator(np.random.Philox(1))
    best = 0.0
    for _ in range(3):  # other work on the machine only ever slows it
        begin, drawn = time.process_time(), 0
        while time.process_time() - begin < SECONDS / 3:
            draw(rng, block)
            drawn += block
        best = max(best, drawn / (time.process_time() - begin))
    return best


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            answer = json.load(file)
        formulas = [f for f in find(answer, "explain") if f["id"].split(": ")[-1].split(".")[0] in ("run", "bill", "waterfall")]
        for formula in formulas:
            formula["id"] = formula["id"].split(": ")[-1]
        bill = find(answer, "bill")
        if not isinstance(bill, dict) or "lines" not in bill:
            bill = answer if "lines" in answer else {"lines": find(answer, "lines")}
        lines = ["bill." + line["id"] for line in bill["lines"]]
        total = bill["total"]["usd"] if "total" in bill else find(answer, "total")["usd"]
        scope = {"np": np, "minimum": minimum, "maximum": maximum}
        exec(Writer(formulas).function(lines), scope)  # written above, from tare's own formulas
        drawn, _ = scope["draw"](np.random.Generator(np.random.Philox(1)), 20000)
        middle = float(np.median(drawn))
        if not 0.5 * total < middle < 2 * total:
            sys.exit(f"{path}: the median of the draws is {middle:.2f}, the bill is {total:.2f}")
        rates = {block: rate(scope["draw"], block) for block in BLOCKS}
        block = max(rates, key=rates.get)
        print(f"{path} {rates[block]:.0f} draws/s (blocks of {block}; median {middle:.2f} USD, bill {total:.2f})")


if __name__ == "__main__":
    main()
