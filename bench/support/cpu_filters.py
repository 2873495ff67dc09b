#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processor time of all filters and profiles on one thread, relative to the default filter.

    bench/support/cpu_filters.py --clip FILE

    --clip FILE         clean video, whose luma is used, with noise of sigma 20 from ffmpeg
    --filters LIST      filters and profiles, separated by commas [all]
    --limpid FILE       program [build/release/bin/limpid]
    --rounds N          [3]
    --json FILE         writes the figures in the form of bench/results

A time is the difference between runs over 12 and over 24 frames, so that the start does not count; of quick filters over 40 and
over 240 frames. The least of --rounds counts. Requires ffmpeg and limpid.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import tempfile

FILTERS = ("vbm4d:profile=np vbm4d:profile=fast vbm4d:profile=lc vbm4d:profile=high vbm4d:profile=best recursive:profile=fast recursive:profile=np "
           "bm3d:profile=fast bm3d:profile=np nlm nlm-bilateral bilateral adaptive-bilateral "
           "vnlb:profile=fast vnlb:profile=np vnlb:profile=high vnlb:profile=best").split()
FRAMES = ((12, 24), (40, 240))
QUICK = 1.0  # seconds, for which the second pair counts
DEFAULT = "vbm4d:profile=np"


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", required=True)
    parser.add_argument("--limpid", default="build/release/bin/limpid")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--filters", default=",".join(FILTERS))
    arguments = parser.parse_args()
    rows, standard = [], 1
    with tempfile.TemporaryDirectory() as folder:
        clip = pathlib.Path(folder) / "clip.y4m"
        subprocess.run(["ffmpeg", "-v", "error", "-i", arguments.clip, "-vf", "format=gray,noise=alls=55:allf=t+u", "-frames:v",
                        str(FRAMES[-1][-1]), "-strict", "-1", clip], check=True)
        filters = [DEFAULT] + [text for text in arguments.filters.split(",") if text != DEFAULT]
        for text in filters:
            command = [arguments.limpid, "denoise", clip, "-o", pathlib.Path(folder) / "out.y4m", "-y", "--log-level", "error",
                       "--sigma", "20", "--threads", "1", "--engine", "cpu", "--filter", text, "--frames"]
            for few, many in FRAMES:
                lapse = min(processor_time(command + [many]) - processor_time(command + [few]) for _ in range(arguments.rounds))
                seconds = lapse / (many - few)
                if lapse > QUICK:
                    break
            name, _, profile = text.partition(":profile=")
            standard = seconds if text == DEFAULT else standard
            rows.append({"filter": name, "profile": profile, "time": float(f"{seconds / standard:.2g}")})
            print(rows[-1], flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"frames": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
