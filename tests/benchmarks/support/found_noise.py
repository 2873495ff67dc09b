#!/usr/bin/env python3
"""What denoising with the noise that is found gains, beside the best of fixed levels, where the truth is known.

    tests/benchmarks/support/found_noise.py --clips FOLDER     FOLDER/KIND/CLIP/noisy.y4m, each with its truth.y4m
    tests/benchmarks/support/found_noise.py --pairs FILE       a line for each picture: noisy and true file, the noisy
                                                               one's PSNR and the best fixed level's

    --limpid FILE       the program [build/release/bin/limpid]
    --options TEXT      further options of limpid denoise, such as "--profile lc"
    --kinds LIST        of the clips, separated by commas [all]
    --no-sweep          without the fixed levels
    --json FILE         the figures as tests/benchmarks/support/results.py keeps them

Clips: the mean PSNR of each plane, in dB. The fixed levels are the deviation of each plane's noise times 0.4 to 2.1, and
the best of them is taken for each clip and plane. Pictures: the mean of their planes' PSNR. Needs Python 3 and nothing else.
"""
import argparse
import json
import math
import pathlib
import shlex
import subprocess
import tempfile

FACTORS = (0.4, 0.55, 0.7, 0.85, 1, 1.2, 1.45, 1.75, 2.1)


def measure(limpid, truth, test):
    report = subprocess.run([limpid, "measure", truth, test, "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(report)["average"]


def denoise(limpid, noisy, out, options):
    subprocess.run([limpid, "denoise", noisy, "-o", out, "-y", "--log-level", "error", *options], check=True)


def mean(rows):
    return [sum(column) / len(column) for column in zip(*rows)]


def psnr(mse):
    return 10 * math.log10(255**2 / mse) if mse > 0 else 100


def planes(average):
    return [psnr(value) for value in average["mse"].values()]


def clips_table(arguments, options, folder):
    kinds = arguments.kinds.split(",") if arguments.kinds else sorted(p.name for p in arguments.clips.iterdir() if p.is_dir())
    table = []
    for kind in kinds:
        rows = {"noisy": [], "found": [], "best fixed": []}
        for clip in sorted((arguments.clips / kind).iterdir()):
            truth, noisy, out = clip / "truth.y4m", clip / "noisy.y4m", folder / "out.y4m"
            before = measure(arguments.limpid, truth, noisy)
            rows["noisy"].append(planes(before))
            denoise(arguments.limpid, noisy, out, options)
            rows["found"].append(planes(measure(arguments.limpid, truth, out)))
            fixed = []
            for factor in () if arguments.no_sweep else FACTORS:
                sigma = ",".join(f"{min(math.sqrt(mse) * factor, 255):.2f}" for mse in before["mse"].values())
                denoise(arguments.limpid, noisy, out, ["--sigma", sigma, *options])
                fixed.append(planes(measure(arguments.limpid, truth, out)))
            if fixed:
                rows["best fixed"].append([max(values) for values in zip(*fixed)])
                gap = rows["best fixed"][-1][0] - rows["found"][-1][0]
                print(f"{kind} {clip.name}: found {rows['found'][-1][0]:.2f}, best fixed {rows['best fixed'][-1][0]:.2f}", flush=True)
                rows["gap"] = max(rows.get("gap", -100), gap)
        row = {"noise": kind}
        for name in ("noisy", "found", "best fixed"):
            for plane, value in zip("YUV", mean(rows[name]) if rows[name] else []):
                row[f"{plane} {name}"] = round(value, 2)
        if "gap" in rows:
            row["worst clip, Y"] = round(-rows["gap"], 2)
        table.append(row)
        print(row, flush=True)
    return table


def pairs_table(arguments, options, folder):
    table = []
    for line in arguments.pairs.read_text().splitlines():
        noisy, truth, noisy_psnr, best = line.split()
        out = folder / ("out" + pathlib.Path(noisy).suffix)
        denoise(arguments.limpid, noisy, out, options)
        found = mean([[value] for value in planes(measure(arguments.limpid, truth, out))])[0]
        gain = (found - float(noisy_psnr)) / (float(best) - float(noisy_psnr))
        table.append({"picture": pathlib.Path(noisy).stem, "noisy": float(noisy_psnr), "found": round(found, 2),
                      "best fixed": float(best), "share of its gain": round(gain, 2)})
        print(table[-1], flush=True)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=pathlib.Path)
    parser.add_argument("--pairs", type=pathlib.Path)
    parser.add_argument("--limpid", default="build/release/bin/limpid")
    parser.add_argument("--options", default="")
    parser.add_argument("--kinds")
    parser.add_argument("--no-sweep", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    options = shlex.split(arguments.options)
    with tempfile.TemporaryDirectory() as folder:
        output = {}
        if arguments.clips:
            output["clips"] = clips_table(arguments, options, pathlib.Path(folder))
        if arguments.pairs:
            output["pictures"] = pairs_table(arguments, options, pathlib.Path(folder))
    if arguments.json:
        arguments.json.write_text(json.dumps(output, indent=1) + "\n")


if __name__ == "__main__":
    main()
