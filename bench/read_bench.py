#!/usr/bin/env python3
"""Times `tare read` on large files against what people read them with today, on the same file in one run.

    read_bench.py --tare BIN [--case NAME …] [--mb 400] [--runs 3] [--bar]

Each case is a row of CASES: how to make a file of a given size (fixed seed, the same bytes each time), the kind that
tare must recognise, the peer (a program that reads the file and prints what can be compared), and what is expected:
MB/s on one core and how many times the peer's speed. With --bar the exit status is 1 when a case misses its bars. A
peer that is not installed is skipped, loudly. MB are 10^6 bytes; the processor's seconds of the best run count.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

SEED = 20260
Run = collections.namedtuple("Run", "cpu wall out err code peak_mib")


# --- what is made ---

def dcgm_csv(path, size):
    """A wide export of DCGM fields: 8 GPUs of 4 hosts, one row a second each."""
    rng = random.Random(SEED)
    fields = ["DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE",
              "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_FB_USED", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
              "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_NVLINK_TX_BYTES"]
    block = []
    for gpu in range(8):
        for _ in range(64):
            block.append(f",{gpu},{rng.randint(0, 100)},{rng.randint(0, 60)},{rng.randint(30, 85)},"
                         f"{rng.uniform(70, 700):.3f},{rng.randint(210, 1980)},{rng.randint(0, 81559)},"
                         f"{rng.random():.6f},{rng.random():.6f},{rng.random():.6f},{rng.randint(0, 40_000_000_000)},"
                         f"{rng.randint(0, 400_000_000_000)}\n")
    with open(path, "w", encoding="ascii", newline="") as out:
        out.write("timestamp,gpu," + ",".join(fields) + "\n")
        second, written = 1_767_225_600, 0
        while written < size:
            lines = []
            for i in range(64):
                for gpu in range(8):
                    lines.append(f"{second}.000{block[gpu * 64 + (i + second) % 64]}")
                second += 1
            text = "".join(lines)
            out.write(text)
            written += len(text)


def smi_csv(path, size):
    """nvidia-smi --query-gpu=… --format=csv -l 1 with units."""
    rng = random.Random(SEED)
    with open(path, "w", encoding="ascii", newline="") as out:
        out.write("timestamp, index, name, pstate, utilization.gpu [%], utilization.memory [%], memory.used [MiB], "
                  "memory.total [MiB], temperature.gpu, power.draw [W], clocks.current.sm [MHz]\n")
        second, written = 0, 0
        while written < size:
            lines = []
            for _ in range(256):
                stamp = f"2026/11/30 {second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}.123"
                second += 1
                for gpu in range(8):
                    lines.append(f"{stamp}, {gpu}, NVIDIA H100 80GB HBM3, P0, {rng.randint(0, 100)} %, {rng.randint(0, 60)} %, "
                                 f"{rng.randint(0, 81559)} MiB, 81559 MiB, {rng.randint(30, 85)}, "
                                 f"{rng.uniform(70, 700):.2f} W, {rng.randint(210, 1980)} MHz\n")
            text = "".join(lines)
            out.write(text)
            written += len(text)


def dmon_log(path, size):
    """nvidia-smi dmon of 8 GPUs; the header comes again every 20 rounds, as the tool prints it."""
    rng = random.Random(SEED)
    head = ("# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk\n"
            "# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz\n")
    with open(path, "w", encoding="ascii", newline="") as out:
        written = 0
        while written < size:
            lines = []
            for _ in range(20):
                lines.append(head)
                for _ in range(20):
                    for gpu in range(8):
                        lines.append(f"{gpu:5d} {rng.randint(70, 700):6d} {rng.randint(30, 80):6d} {rng.randint(30, 95):6d} "
                                     f"{rng.randint(0, 100):6d} {rng.randint(0, 60):6d}      0      0      0      0   2619   {rng.randint(210, 1980):4d}\n")
            text = "".join(lines)
            out.write(text)
            written += len(text)


def jsonl_steps(path, size):
    """One JSON object a step, as loggers write them."""
    rng = random.Random(SEED)
    step, written = 0, 0
    with open(path, "w", encoding="ascii", newline="") as out:
        while written < size:
            lines = []
            for _ in range(4096):
                step += 1
                lines.append(f'{{"step": {step}, "loss": {rng.uniform(1.5, 3):.6f}, "grad_norm": {rng.uniform(0.2, 2):.4f}, '
                             f'"lr": 3.0e-4, "step_time_ms": {rng.uniform(500, 540):.3f}, '
                             f'"tokens_per_second": {rng.uniform(78000, 84000):.1f}, "memory_gb": 61.25, '
                             f'"timestamp": "2026-11-30T10:{step // 60 % 60:02d}:{step % 60:02d}"}}\n')
            text = "".join(lines)
            out.write(text)
            written += len(text)


def megatron_log(path, size):
    """Iteration lines of Megatron-LM."""
    rng = random.Random(SEED)
    step, written = 0, 0
    with open(path, "w", encoding="ascii", newline="") as out:
        while written < size:
            lines = []
            for _ in range(4096):
                step += 1
                lines.append(f" [2026-11-30 10:{step // 60 % 60:02d}:{step % 60:02d}] iteration {step:8d}/ 9000000 | "
                             f"consumed samples: {step * 1024:12d} | elapsed time per iteration (ms): "
                             f"{rng.uniform(5000, 5400):.1f} | throughput per GPU (TFLOP/s/GPU): {rng.uniform(380, 420):.1f} | "
                             f"learning rate: 3.000000E-04 | global batch size:  1024 | lm loss: {rng.uniform(1.5, 3):.6E} | "
                             f"loss scale: 1.0 | grad norm: {rng.uniform(0.2, 2):.3f} | number of skipped iterations:   0 | "
                             f"number of nan iterations:   0 |\n")
            text = "".join(lines)
            out.write(text)
            written += len(text)


# --- who else reads it: source run by a Python of its own, given the file; prints rows and a checksum ---

PANDAS_CSV = """
import sys, pandas
frame = pandas.read_csv(sys.argv[1])
stats = frame.groupby("gpu").agg(["count", "min", "max", "mean", "last"])
print(len(frame), float(frame["DCGM_FI_DEV_POWER_USAGE"].mean()), pandas.__version__)
"""

PANDAS_SMI = """
import sys, pandas
frame = pandas.read_csv(sys.argv[1], skipinitialspace=True)
for column in frame.columns:
    if "[" in column:
        frame[column] = frame[column].str.split(" ", n=1).str[0].astype(float)
numbers = frame.select_dtypes("number")
stats = numbers.groupby("index").agg(["count", "min", "max", "mean", "last"])
print(len(frame), float(frame["power.draw [W]"].mean()), pandas.__version__)
"""

PANDAS_DMON = """
import sys, pandas
names = open(sys.argv[1]).readline().replace("#", " ").split()
frame = pandas.read_csv(sys.argv[1], comment="#", sep=r"\\s+", names=names, na_values="-")
stats = frame.groupby("gpu").agg(["count", "min", "max", "mean", "last"])
print(len(frame), float(frame["pwr"].mean()), pandas.__version__)
"""

# jq and rg print the fields of each line; what they print is compared afterwards.
JQ = ["jq", "-r", r'"\(.step) \(.step_time_ms) \(.tokens_per_second) \(.loss) \(.grad_norm) \(.lr) \(.memory_gb)"']
RG = ["rg", "-o", "--no-filename", "-r", "$1 $2 $3 $4 $5",
      r"iteration +(\d+)/.*?iteration \(ms\): ([\d.]+) .*?GPU\): ([\d.]+) .*?lm loss: ([\dE.+-]+) .*?grad norm: ([\d.]+)"]


def same_steps(facts, words):
    """Whether steps and the mean of their times are what the peer printed."""
    times = [float(word) for word in words[1::len(words) // facts["step_count"]]]
    mean = facts["summary"]["step_time_ms"]["mean"]
    return len(times) == facts["step_count"] and abs(sum(times) / len(times) - mean) <= 1e-9 * mean


def same_mean(column):
    """Whether rows and the mean of a column are what the peer printed."""
    def same(facts, words):
        mean = facts["overall"][column]["mean"]
        return facts["row_count"] == int(words[0]) and abs(mean - float(words[1])) <= 1e-9 * abs(float(words[1]))
    return same


CASES = {
    # name: maker, file name, kind, whether the answers agree, peer's name, its source, least MB/s, least times the peer
    "dcgm-csv": dict(make=dcgm_csv, file="dcgm.csv", kind="dcgm", same=same_mean("power_usage_w"), peer="pandas", source=PANDAS_CSV,
                     least_mb_per_s=400, least_times=10),
    "smi-csv": dict(make=smi_csv, file="smi.csv", kind="nvidia-smi", same=same_mean("power_w"), peer="pandas", source=PANDAS_SMI,
                    least_mb_per_s=400, least_times=10),
    "smi-dmon": dict(make=dmon_log, file="dmon.txt", kind="nvidia-smi", same=same_mean("pwr_w"), peer="pandas", source=PANDAS_DMON,
                     least_mb_per_s=400, least_times=10),
}


CASES["jsonl"] = dict(make=jsonl_steps, file="steps.jsonl", kind="training-log", same=same_steps, peer="jq", command=JQ,
                      least_mb_per_s=1000, least_times=20)
CASES["megatron"] = dict(make=megatron_log, file="megatron.log", kind="training-log", same=same_steps, peer="rg", command=RG,
                         least_mb_per_s=500, least_times=20)


def one_core(command):
    """Runs it on one core; the processor's seconds (what else the machine does hardly matters to these; the files are in
    memory), wall seconds, stdout, stderr, exit status and the most memory it held in MiB."""
    core = max(os.sched_getaffinity(0))
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return Run(usage.ru_utime + usage.ru_stime, wall, out.read(), err.read(), process.returncode, usage.ru_maxrss / 1024)


def best_of(command, runs, who):
    best = None
    for _ in range(runs):
        run = one_core(command)
        if run.code != 0:
            sys.exit(f"{who} failed: {run.err}")
        best = run if best is None or run.cpu < best.cpu else best
    return best


def time_tare(tare, path, case, runs):
    run = best_of([tare, "read", str(path), "--output", "json"], runs, "tare read")
    entry = json.loads(run.out)["files"][0]
    if entry["kind"] != case["kind"]:
        sys.exit(f"{path.name} was read as {entry['kind']}")
    return run, entry


def time_peer(path, case, runs):
    if "command" in case:
        if shutil.which(case["peer"]) is None:
            return None
        return best_of([*case["command"], str(path)], runs, "the peer")
    python = os.environ.get("PEER_PYTHON", "/usr/bin/python3")
    if subprocess.run([python, "-c", f"import {case['peer']}"], capture_output=True).returncode != 0:
        return None
    return best_of([python, "-c", case["source"], str(path)], runs, "the peer")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", required=True)
    parser.add_argument("--case", action="append", choices=sorted(CASES))
    parser.add_argument("--mb", type=float, default=400)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--bar", action="store_true")
    arguments = parser.parse_args()
    missed = []
    print(f"{'case':<12}{'MB':>7}{'tare s':>9}{'wall s':>9}{'MB/s':>8}{'MiB held':>10}{'peer':>9}{'peer s':>9}{'MB/s':>7}{'times':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.case or CASES:
            case = CASES[name]
            path = pathlib.Path(folder) / case["file"]
            case["make"](path, int(arguments.mb * 1e6))
            size = path.stat().st_size / 1e6
            run, entry = time_tare(arguments.tare, path, case, arguments.runs)
            peer = time_peer(path, case, max(1, arguments.runs - 1))
            row = f"{name:<12}{size:>7.0f}{run.cpu:>9.3f}{run.wall:>9.3f}{size / run.cpu:>8.0f}{run.peak_mib:>10.0f}"
            times = None
            if peer is None:
                print(f"{row}   SKIPPED: {case['peer']} is not installed (PEER_PYTHON names another Python)")
            else:
                times = peer.cpu / run.cpu
                print(f"{row}{case['peer']:>9}{peer.cpu:>9.3f}{size / peer.cpu:>7.0f}{times:>7.1f}")
                if not case["same"](entry["facts"], peer.out.split()):
                    missed.append(f"{name}: what tare found is not what the peer found: {peer.out.strip()}")
            if size / run.cpu < case["least_mb_per_s"]:
                missed.append(f"{name}: {size / run.cpu:.0f} MB/s, expected {case['least_mb_per_s']}")
            if times is not None and times < case["least_times"]:
                missed.append(f"{name}: {times:.1f} times the peer's speed, expected {case['least_times']}")
            path.unlink()
    for line in missed:
        print(f"missed: {line}")
    return 1 if missed and arguments.bar else 0


if __name__ == "__main__":
    sys.exit(main())
