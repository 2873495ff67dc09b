#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of sharing a job: its plan and merge relative to one run, and the rate of several workers.

    bench/support/shared_jobs.py CLIP...

    --workers LIST      numbers of workers, separated by commas [1,2]; each has one thread
    --options TEXT      of limpid denoise and plan [""]; "-c ffv1" is added, so that merging joins
    --segment-frames N  [50]
    --limpid FILE       the program [build/release/bin/limpid]
    --json FILE         the figures as bench/support/results.py keeps them

Processor time (user and system) in seconds, and the greatest memory of a process in MiB. The rate is in frames per
second, from the first worker's start to the last one's end. Requires only Python 3.
"""
import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import time


def start(limpid, *arguments):
    return subprocess.Popen([limpid, *map(str, arguments), "--log-level", "error"], stdout=subprocess.PIPE)


def ended(process):
    """Its report, processor time and memory."""
    report = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{shlex.join(process.args)}: exit code {process.returncode}")
    return json.loads(report), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", type=pathlib.Path)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--options", default="")
    parser.add_argument("--segment-frames", type=int, default=50)
    parser.add_argument("--limpid", default="build/release/bin/limpid")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    options = [*shlex.split(arguments.options), "-c", "ffv1", "--json"]
    costs, rates = [], []
    with tempfile.TemporaryDirectory() as folder:
        job = pathlib.Path(folder) / "job"
        for clip in arguments.clips:
            out = pathlib.Path(folder) / "out.mkv"
            report, run, run_memory = ended(start(arguments.limpid, "denoise", clip, "-o", out, "-y", *options))
            for count in map(int, arguments.workers.split(",")):
                shutil.rmtree(job, ignore_errors=True)
                _, plan, _ = ended(start(arguments.limpid, "plan", clip, "-o", job, "--segment-frames", arguments.segment_frames,
                                         *options))
                begin = time.monotonic()
                workers = [start(arguments.limpid, "work", job, "--threads", 1, "--json") for _ in range(count)]
                work = sum(ended(worker)[1] for worker in workers)
                rates.append({"clip": clip.name, "workers": count, "processor time": round(work, 2),
                              "frames per second": round(report["frames"] / (time.monotonic() - begin), 2)})
                print(rates[-1], flush=True)
            _, merge, merge_memory = ended(start(arguments.limpid, "merge", job, "-o", out, "-y", "--json"))
            costs.append({"clip": clip.name, "frames": report["frames"], "one run": round(run, 2), "plan": round(plan, 2),
                          "plan, % of the run": round(100 * plan / run, 1), "merge": round(merge, 2),
                          "one run's MiB": round(run_memory), "merge's MiB": round(merge_memory)})
            print(costs[-1], flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"costs": costs, "workers": rates}, indent=1) + "\n")


if __name__ == "__main__":
    main()
