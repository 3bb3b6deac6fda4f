#!/usr/bin/env python3
"""Times `tare audit` over the outputs of a fleet: NODES folders with what a support bundle holds.

    audit_bench.py --tare BIN [--nodes 1000] [--check] [--bar]

The files are made with a fixed seed: for each node a topology, `nvidia-smi -q`, ibstat, lspci, dmesg, an all-reduce of
nccl-tests and a minute of `nvidia-smi dmon`. One node in fifty has one fault of a known kind. Printed: seconds, MB held,
faults found. With --check the exit status is 1 when over 500 MB are held, a fault is missed or a healthy node is alarmed
about; with --bar also when it takes over 20 s.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

SEED = 41
GPUS = 8
BAR_S, BAR_MB = 20, 500
FAULTS = {  # kind: the rules that may name it
    "xid79": ("health.",),
    "port": ("network.",),
    "remap": ("health.",),
    "slow": ("collective.",),
}


def topo():
    gpus = [f"GPU{i}" for i in range(GPUS)]
    nics = [f"NIC{i}" for i in range(GPUS)]
    lines = ["\t" + "\t".join(gpus + nics) + "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID"]
    for i in range(GPUS):
        row = [" X " if i == j else "NV18" for j in range(GPUS)]
        row += ["PIX" if i == j else ("NODE" if i // 4 == j // 4 else "SYS") for j in range(GPUS)]
        cpus = "0-47,96-143" if i < 4 else "48-95,144-191"
        lines.append(f"GPU{i}\t" + "\t".join(row) + f"\t{cpus}\t{i // 4}\t\tN/A")
    for i in range(GPUS):
        row = ["PIX" if i == j else ("NODE" if i // 4 == j // 4 else "SYS") for j in range(GPUS)]
        row += [" X " if i == j else ("NODE" if i // 4 == j // 4 else "SYS") for j in range(GPUS)]
        lines.append(f"NIC{i}\t" + "\t".join(row) + "\t\t\t\t")
    lines += ["", "Legend:", "", "  X    = Self", "", "NIC Legend:", ""]
    lines += [f"  NIC{i}: mlx5_{i}" for i in range(GPUS)]
    return "\n".join(lines) + "\n"


def smi_query(rng, fault):
    lines = ["", "==============NVSMI LOG==============", "", "Timestamp                                 : Mon Mar  2 10:11:12 2026",
             "Driver Version                            : 550.90.07", "CUDA Version                              : 12.4", "",
             f"Attached GPUs                             : {GPUS}"]
    for i in range(GPUS):
        remap = fault == "remap" and i == 3
        lines += [f"GPU 00000000:{0x18 + 16 * i:02X}:00.0", "    Product Name                          : NVIDIA H100 80GB HBM3",
                  "    Product Brand                         : NVIDIA", "    Persistence Mode                      : Enabled",
                  f"    Minor Number                          : {i}", "    Performance State                     : P0",
                  "    Clocks Event Reasons", "        Idle                              : Not Active",
                  "        HW Slowdown                       : Not Active", "            HW Thermal Slowdown           : Not Active",
                  "            HW Power Brake Slowdown       : Not Active",
                  "    FB Memory Usage", "        Total                             : 81559 MiB",
                  f"        Used                              : {rng.randint(60000, 78000)} MiB",
                  "    Utilization", f"        Gpu                               : {rng.randint(95, 100)} %",
                  "    Remapped Rows", "        Correctable Error                 : 0",
                  f"        Uncorrectable Error               : {2 if remap else 0}",
                  f"        Pending                           : {'Yes' if remap else 'No'}",
                  "        Remapping Failure Occurred        : No",
                  "    Temperature", f"        GPU Current Temp                  : {rng.randint(50, 68)} C",
                  "    GPU Power Readings", f"        Power Draw                        : {rng.uniform(560, 690):.2f} W",
                  "        Current Power Limit               : 700.00 W", "        Default Power Limit               : 700.00 W"]
    return "\n".join(lines) + "\n"


def ibstat(rng, fault):
    text = ""
    for i in range(GPUS):
        down = fault == "port" and i == 5
        text += (f"CA 'mlx5_{i}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tFirmware version: 28.39.1002\n\tHardware version: 0\n"
                 f"\tNode GUID: 0x{rng.getrandbits(64):016x}\n\tSystem image GUID: 0x{rng.getrandbits(64):016x}\n\tPort 1:\n"
                 f"\t\tState: {'Down' if down else 'Active'}\n\t\tPhysical state: {'Polling' if down else 'LinkUp'}\n"
                 f"\t\tRate: {10 if down else 400}\n\t\tBase lid: {100 + i}\n\t\tLMC: 0\n\t\tSM lid: 1\n\t\tCapability mask: 0xa751e848\n"
                 f"\t\tPort GUID: 0x{rng.getrandbits(64):016x}\n\t\tLink layer: InfiniBand\n")
    return text


def dmesg(rng, fault):
    lines = [f"[{t / 10:12.6f}] systemd[1]: Started unit {rng.randint(1, 999)}." for t in range(100, 400, 7)]
    if fault == "xid79":
        lines.append("[  861.204511] NVRM: Xid (PCI:0000:48:00): 79, pid=3911, name=trainer, GPU has fallen off the bus.")
    return "\n".join(lines) + "\n"


def all_reduce(rng, fault):
    peak = 240.0 if fault == "slow" else rng.uniform(468, 484)
    lines = ["# nThread 1 nGpus 8 minBytes 1048576 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0",
             "#", "# Using devices"]
    lines += [f"#  Rank  {i} Group  0 Pid  4{i}11 on node device  {i} [0x{0x18 + 16 * i:02x}] NVIDIA H100 80GB HBM3" for i in range(GPUS)]
    lines += ["#", "#                                                              out-of-place                       in-place          ",
              "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong",
              "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       "]
    size, total, count = 1 << 20, 0.0, 0
    while size <= 1 << 33:
        busbw = peak / (1 + 24e6 / size)
        algbw = busbw / 1.75
        time_us = size / algbw / 1e3
        lines.append(f"{size:12d}  {size // 4:12d}     float     sum      -1  {time_us:8.2f}  {algbw:6.2f}  {busbw:6.2f}      0  {time_us:8.2f}  {algbw:6.2f}  {busbw:6.2f}      0")
        total, count, size = total + busbw, count + 1, size * 2
    lines += ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {total / count:.4f} ", "#", ""]
    return "\n".join(lines)


def dmon(rng):
    lines = ["# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk", "# Idx      W      C      C      %      %      %      %    MHz    MHz"]
    for _ in range(60):
        lines += [f"    {i}    {rng.randint(580, 690)}     {rng.randint(52, 66)}     {rng.randint(60, 80)}     {rng.randint(96, 100)}     {rng.randint(30, 60)}      0      0   2619   1980"
                  for i in range(GPUS)]
    return "\n".join(lines) + "\n"


def lspci(rng):
    text = ""
    for i in range(GPUS):
        bus = 0x18 + 16 * i
        text += (f"{bus:02x}:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)\n\tNUMA node: {i // 4}\n"
                 "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
                 "\t\tLnkSta:\tSpeed 32GT/s (ok), Width x16 (ok)\n\n"
                 f"{bus + 1:02x}:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n\tNUMA node: {i // 4}\n"
                 "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
                 "\t\tLnkSta:\tSpeed 32GT/s (ok), Width x16 (ok)\n\n")
    return text


def make_fleet(folder, nodes):
    rng = random.Random(SEED)
    faulty = {}
    kinds = list(FAULTS)
    for n in range(nodes):
        name = f"node{n:04d}"
        fault = kinds[(n // 50) % len(kinds)] if n % 50 == 17 else ""
        if fault:
            faulty[name] = fault
        home = folder / name
        home.mkdir()
        for file, text in (("topo.txt", topo()), ("nvidia-smi-q.txt", smi_query(rng, fault)), ("ibstat.txt", ibstat(rng, fault)),
                           ("lspci.txt", lspci(rng)), ("dmesg.txt", dmesg(rng, fault)),
                           ("all_reduce.txt", all_reduce(rng, fault)), ("dmon.txt", dmon(rng))):
            (home / file).write_text(text, encoding="ascii")
    return faulty


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", required=True)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bar", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        faulty = make_fleet(folder, arguments.nodes)
        files = sum(len(names) for _, _, names in os.walk(folder))
        megabytes = sum(path.stat().st_size for path in folder.rglob("*.txt")) / 1e6
        begin = time.monotonic()
        with open(folder / ".report.json", "wb") as out:
            subprocess.run([arguments.tare, "audit", str(folder), "--output", "json"], stdout=out, check=True)
        wall = time.monotonic() - begin
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = json.loads((folder / ".report.json").read_text(encoding="utf-8"))
    held = usage.ru_maxrss / 1024
    severe = [finding for finding in report["findings"] if finding["severity"] in ("high", "medium")]
    named = {(finding["subject"].get("node", ""), finding["rule_id"].split(".")[0] + ".") for finding in severe}
    missed = [f"{node} ({fault})" for node, fault in faulty.items()
              if not any((node, family) in named for family in FAULTS[fault])]
    false = sorted({node for node, _ in named if node not in faulty})
    print(f"{arguments.nodes} nodes, {files} files, {megabytes:.0f} MB: {wall:.2f} s, "
          f"{usage.ru_utime + usage.ru_stime:.2f} s of CPU, {held:.0f} MiB held, {len(report['findings'])} findings")
    print(f"{len(faulty) - len(missed)} of {len(faulty)} faulty nodes named, {len(false)} healthy ones")
    for one in missed[:5]:
        print(f"missed: {one}")
    for one in false[:5]:
        print(f"alarmed without a fault: {one}")
    held_to = [held <= BAR_MB, not missed, not false] + ([wall <= BAR_S] if arguments.bar else [])
    if not (arguments.check or arguments.bar):
        return 0
    print(f"{held_to.count(True)} passed, {held_to.count(False)} failed")
    return 1 if False in held_to else 0


if __name__ == "__main__":
    sys.exit(main())
