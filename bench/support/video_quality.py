#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gains of filters on clips with known truth, and flicker of their errors.

    bench/support/video_quality.py --clips FOLDER     FOLDER/SIGMA/CLIP/noisy.y4m, each with its truth.y4m

    --filters LIST      separated by commas: "vbm4d:profile=fast,bm3d" [all profiles of all filters, and live]
    --frames N          number of frames of each clip, from the first [all]
    --limpid FILE       the program [build/release/bin/limpid]
    --json FILE         the figures as bench/support/results.py keeps them

PSNR is of luma, by the mean squared error of all frames of a clip, in dB. Flicker is that of limpid measure: the
standard deviation of the change of luma's errors between frames where nothing moves, in code values. Its mean is over the
clips in which at least a tenth of the samples are static. Requires only Python 3.
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile

FILTERS = ("bm3d:profile=fast,bm3d:profile=np,vbm4d:profile=fast,vbm4d:profile=lc,vbm4d:profile=np,vbm4d:profile=high,"
           "vbm4d:profile=best,vbm4d:profile=fast:delay=0,vbm4d:profile=lc:delay=0,vbm4d:profile=np:delay=0,vbm4d:profile=high:delay=0,"
           "vbm4d:delay=4,vnlb:profile=fast,vnlb:profile=np,vnlb:profile=high,vnlb:profile=best,"
           "recursive:profile=fast,recursive:profile=np")


def denoise(limpid, noisy, out, sigma, text, frames):
    limit = ["--frames", str(frames)] if frames else []
    subprocess.run([limpid, "denoise", noisy, "-o", out, "-y", "--log-level", "error", "--sigma", sigma, "--filter", text,
                    *limit], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=pathlib.Path, required=True)
    parser.add_argument("--filters", default=FILTERS)
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--limpid", default="build/release/bin/limpid")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    output = {}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.y4m"
        for level in sorted((p for p in arguments.clips.iterdir() if p.is_dir()), key=lambda p: float(p.name)):
            table = []
            for text in arguments.filters.split(","):
                row = {"filter": text}
                psnrs, flicker = [], []
                for clip in sorted(level.iterdir()):
                    truth = clip / "truth.y4m"
                    if arguments.frames:
                        cut = pathlib.Path(folder) / "truth.y4m"
                        denoise(arguments.limpid, truth, cut, "0", "bm3d", arguments.frames)
                        truth = cut
                    denoise(arguments.limpid, clip / "noisy.y4m", out, level.name, text, arguments.frames)
                    report = json.loads(subprocess.run([arguments.limpid, "measure", truth, out, "--json"], check=True,
                                                       capture_output=True, text=True).stdout)
                    psnrs.append(10 * math.log10(255**2 / report["average"]["mse"]["Y"]))
                    row[clip.name] = round(psnrs[-1], 2)
                    still = report["flicker"]["Y"]
                    with open(clip / "truth.y4m", "rb") as file:
                        size = {word[:1]: int(word[1:]) for word in file.readline().split()[1:] if word[:1] in b"WH"}
                    if still["samples"] > 0.1 * size[b"W"] * size[b"H"] * (len(report["frames"]) - 1):
                        flicker.append(still["deviation"])
                row["mean"] = round(sum(psnrs) / len(psnrs), 2)
                if flicker:
                    row["flicker"] = round(sum(flicker) / len(flicker), 2)
                table.append(row)
                print(level.name, row, flush=True)
            output[f"sigma {level.name}"] = table
    if arguments.json:
        arguments.json.write_text(json.dumps(output, indent=1) + "\n")


if __name__ == "__main__":
    main()
