"""Holds `tare audit --prometheus` against a real Prometheus with back-filled history.

Two days of dcgm-exporter's metrics are written as OpenMetrics, made into blocks by promtool, and served by a Prometheus of
Debian on a free port, ended by its pid. What they hold, and hence what must come out:

    job 100 (ann)   4 GPUs of node1, day 1: 12 h at 90 %, 12 h at 0 %      96 GPU-h, 48 idle
    job 200 (bob)   2 GPUs of node2, both days at 20 %                     96 GPU-h, 0 idle, 96 - 96 * 0.2 / 0.8 = 72 to spare
    nobody          2 GPUs of node2, both days at 0 %                      96 GPU-h idle
    node1, day 2    nothing: a gap, not idle

With --on at a price of p dollars a GPU-hour the costs are 48 / 2 * p, 72 / 2 * p and 96 / 2 * p dollars a day. Prometheus
shows a series for up to five minutes after its last sample: a grid step (5 min) more at each end.

    run.py --tare BIN

Skips, loudly, where Prometheus is not installed.
"""

import argparse
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

DAY_S = 86400
BEGIN = 1772409600  # 2026-03-02 00:00 UTC
STEP_S = 120
EDGE_H = 0.1  # of one GPU: a step of the grid

PRICED = """format_version = "1.0"
[cluster]
name = "lab"
price = { usd_per_gpu_h = 2.50, date = "2026-03-01" }

[node_type.hgx]
gpus = { model = "H100-SXM5-80GB", count = 4, nvlink_domain = 4, pcie = "5.0 x16" }
nics = { model = "CX-7 NDR", count = 4, rate = "400Gb/s", rails = true }

[[node]]
names = "n[1-2]"
type = "hgx"

[fabric]
kind = "fat_tree"
leaves = [{ name = "leaf1", nodes = "n[1-2]", uplink = "1600Gb/s" }]
"""

passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {what}")


def near(value, wanted, gpus):
    return value is not None and abs(value - wanted) <= EDGE_H * gpus


def series():
    """(labels, begin, end, utilisation of a time) of each."""
    model = 'modelName="NVIDIA H100 80GB HBM3"'
    for gpu in range(4):
        labels = f'gpu="{gpu}",Hostname="node1",{model},hpc_job="100",user="ann"'
        yield labels, BEGIN, BEGIN + DAY_S, lambda t: 90 if t < BEGIN + DAY_S // 2 else 0
    for gpu in range(2):
        labels = f'gpu="{gpu}",Hostname="node2",{model},hpc_job="200",user="bob"'
        yield labels, BEGIN, BEGIN + 2 * DAY_S, lambda t: 20
    for gpu in range(2, 4):
        yield f'gpu="{gpu}",Hostname="node2",{model}', BEGIN, BEGIN + 2 * DAY_S, lambda t: 0


def write_history(path):
    with open(path, "w", encoding="ascii") as out:
        for name, of in (("DCGM_FI_DEV_GPU_UTIL", lambda util: util), ("DCGM_FI_DEV_POWER_USAGE", lambda util: 100 + 5 * util),
                         ("DCGM_FI_DEV_FB_USED", lambda util: 4 if util == 0 else 30000)):
            out.write(f"# TYPE {name} gauge\n")
            for labels, begin, end, util in series():
                for t in range(begin + STEP_S, end + 1, STEP_S):
                    out.write(f"{name}{{{labels}}} {of(util(t - 1))} {t}\n")
        out.write("# EOF\n")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def serve(folder, port):
    (folder / "prometheus.yml").write_text("global: {}\n", encoding="ascii")
    log = open(folder / "prometheus.log", "wb")
    process = subprocess.Popen(
        ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         "--storage.tsdb.retention.time=100y", f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=1)
            return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise RuntimeError("Prometheus does not start: " + (folder / "prometheus.log").read_text(errors="replace")[-2000:])


def audit(tare, *words):
    done = subprocess.run([tare, "audit", *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def check_report(report):
    use = {one["name"]: one for one in report["use"]["jobs"]}
    ann, bob, nobody = use.get("job 100"), use.get("job 200"), use.get(None)
    check("three owners", set(use) == {"job 100", "job 200", None})
    if not (ann and bob and nobody):
        return
    check("job 100 held 96 GPU-h", near(ann["gpu_h"], 96, 4))
    check("job 100 idled 48 GPU-h", near(ann["idle_gpu_h"], 48, 4))
    check("job 200 idled nothing", bob["idle_gpu_h"] == 0 and near(bob["gpu_h"], 96, 2))
    check("job 200 could spare 72 GPU-h", near(bob["spare_gpu_h"], 72, 2))
    check("nobody held 96 GPU-h", near(nobody["idle_gpu_h"], 96, 2))
    check("users are told", {one["name"] for one in report["use"]["users"]} == {"ann", "bob"})
    check("a gap is no idle time", near(report["use"]["all"]["idle_gpu_h"], 48 + 96, 6))
    found = {(one["rule_id"], one["subject"]["name"]): one for one in report["findings"]}
    for key, usd in ((("waste.held-idle", "job 100"), 48 / 2 * 2.5), (("waste.low-use", "job 200"), 72 / 2 * 2.5),
                     (("waste.free-gpus", "cluster"), 96 / 2 * 2.5)):
        check(f"{key} is found", key in found)
        if key in found:
            cost = found[key]["cost_usd_per_day"]["base"]
            check(f"{key} costs {usd} dollars a day, not {cost}", cost is not None and abs(cost - usd) <= 2.5 * EDGE_H * 2)
    check("the gap of node1 is told", ("waste.gaps", "telemetry") in found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", required=True)
    tare = str(pathlib.Path(parser.parse_args().tare).resolve())
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        print("SKIPPED: Prometheus is not installed (Debian: prometheus): --prometheus is not tested against a server")
        print("0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_history(folder / "history.om")
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", str(folder / "history.om"), str(folder / "data")],
                       check=True, stdout=subprocess.DEVNULL)
        (folder / "priced.toml").write_text(PRICED, encoding="ascii")
        port = free_port()
        server = serve(folder, port)
        try:
            url = f"http://127.0.0.1:{port}"
            window = ["--prometheus", url, "--since", "2d"]
            code, out, err = audit(tare, *window, "--as-of", "2026-03-03", "--on", str(folder / "priced.toml"), "--output", "json")
            check(f"exit status 0, not {code}: {err}", code == 0)
            check_report(json.loads(out)) if code == 0 else None
            code, out, err = audit(tare, *window, "--as-of", "2026-02-01", "--output", "json")
            rules = [one["rule_id"] for one in json.loads(out)["findings"]] if code == 0 else []
            check("no data is told, and is not idle", rules == ["waste.no-telemetry"])
            code, out, err = audit(tare, "--prometheus", url + "/elsewhere")
            check(f"a wrong prefix is an error: {err}", code == 2 and "404" in err)
        finally:
            server.terminate()
            server.wait(timeout=30)
        code, out, err = audit(tare, "--prometheus", url)
        check(f"a server that is gone is an error: {err}", code == 2 and "no answer" in err)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
