# SPDX-License-Identifier: MIT
"""Scores a build: denoises each case with the default settings and with a sweep of fixed noise levels and strengths."""
import fnmatch
import json
import math
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import numpy as np

from clips import read_frames
from kinds import KINDS
from running import in_parallel, write_json
from summary import line, verdict

EQUAL = 99.0  # dB of equal frames
TRUE_SIGMA = "sigma x1"  # the sweep's run with --sigma at the noise's root mean square
MORE_FACTORS = {"still": (2, 3), "hdr": (2,)}


class Case:
    def __init__(self, folder):
        case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        self.folder, self.kind = folder, case["kind"]
        self.truth, self.noisy = case["truth"], case["noisy"]
        self.is_clean = self.truth == self.noisy
        self.is_still = case["bits"] is None
        is_float = self.truth.endswith(".pfm")
        self.is_rgb = self.is_still or is_float
        top = 255 if self.is_still else 1 if is_float else 2**case["bits"] - 1
        self.peak = case.get("peak", top)
        self.below = case.get("below")  # only samples whose truth is at most this are measured
        self.frames = read_frames(folder / self.truth)
        self.before = self.measured(folder / self.noisy)
        self.rms = [self.peak / 10**(psnr / 20) / top * 255 for psnr in self.before]  # in 8-bit code values

    def measured(self, path):
        """PSNR of each plane, from the mean squared error over all frames."""
        frames = read_frames(path)
        if [[plane.shape for plane in f] for f in frames] != [[plane.shape for plane in f] for f in self.frames]:
            raise RuntimeError(f"number or size of the frames in {path.name} differs from the truth")
        result = []
        for truth, test in zip(map(np.stack, zip(*self.frames)), map(np.stack, zip(*frames))):
            chosen = slice(None) if self.below is None else truth <= self.below
            error = np.square(truth.astype(float) - test)[chosen].mean()
            result.append(min(EQUAL, 10 * math.log10(self.peak**2 / error)) if error else EQUAL)
        return result

    def denoised(self, limpid, threads, options):
        """PSNR of each plane of the output, and the lines in which Limpid reports the noise."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / ("out.png" if self.is_still else self.noisy)
            codec = ["-c", "ffv1"] if out.suffix == ".mkv" else []
            command = [limpid, "denoise", str(self.folder / self.noisy), "-o", str(out), "-y", "--progress", "none",
                       "--threads", str(threads), *codec, *options]
            process = subprocess.run(command, capture_output=True, text=True)
            if process.returncode != 0:
                raise RuntimeError(process.stderr.strip()[-200:])
            noise = [text for text in process.stderr.splitlines() if "noise:" in text and "sigma" in text]
            return self.measured(out), noise

    def sweep(self, arguments, options):
        """PSNR of each plane for fixed levels and strengths, by run; kept in the case's folder."""
        path, key = self.folder / "sweep.json", " ".join(options)
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if key not in kept:
            runs = {}
            for factor in (0.7, 1, 1.4, *MORE_FACTORS.get(self.kind, ())):
                sigmas = ",".join(f"{min(200, factor * rms):.4g}" for rms in self.rms)
                runs[f"sigma x{factor}"] = ["--sigma", sigmas]
            for strength in (0.7, 1, 1.4):
                runs[f"strength {strength}"] = ["--strength", str(strength)]
            build = arguments.reference or arguments.limpid
            kept[key] = {name: self.denoised(build, arguments.threads, options + run)[0] for name, run in runs.items()}
            write_json(path, kept)
        return kept[key]

    def pair(self, planes):
        """Luma and the mean of U and V; for R, G and B their mean and None; for gray None as the second."""
        if self.is_rgb or len(planes) == 1:
            return sum(planes) / len(planes), None
        return planes[0], (planes[1] + planes[2]) / 2


def shortened(noise):
    """The first and the last report: 'estimated sigma Y 9.2, U 3.2, V 3.2, smooth' as '9.2/3.2/3.2 smooth'."""
    texts = []
    for text in noise:
        levels = re.findall(r"\b[A-Z] ([\d.]+)", text) or re.findall(r"sigma ([\d.]+)", text)
        texts.append(" ".join(["/".join(levels), *(word for word in ("smooth", "repeats") if word in text)]))
    if len(texts) < 2:
        return texts[0] if texts else "-"
    return f"{texts[0]}, then {texts[-1]}"


def minus(pair, other):
    return [None if a is None else a - b for a, b in zip(pair, other)]


def score_case(folder, arguments):
    case, options = Case(folder), shlex.split(arguments.options)
    auto, noise = case.denoised(arguments.limpid, arguments.threads, options)
    result = {"kind": case.kind, "name": folder.name, "clean": case.is_clean, "auto": case.pair(auto),
              "reported": shortened(noise)}
    if case.is_clean:
        return result
    sweep = case.sweep(arguments, options)
    best = case.pair([max(values) for values in zip(case.before, *sweep.values())])
    true_sigma = case.pair(sweep[TRUE_SIGMA])
    return {**result, "true": "/".join(f"{rms:.1f}" for rms in case.rms), "noisy": case.pair(case.before),
            "true_sigma": true_sigma, "best": best, "gap": minus(result["auto"], best),
            "true_sigma_gap": minus(true_sigma, best)}


def chosen_folders(arguments):
    for path in arguments.out.glob("*/case.json"):
        is_quick = json.loads(path.read_text(encoding="utf-8")).get("quick", False)
        if fnmatch.fnmatch(path.parent.name, arguments.only) and (is_quick or not arguments.quick):
            yield path.parent


def score(arguments):
    for program in filter(None, (arguments.limpid, arguments.reference)):
        if not shutil.which(program):
            raise ValueError(f"{program} is not a program")
    kinds = list(KINDS)
    folders = sorted(chosen_folders(arguments), key=lambda f: (kinds.index(f.name.split("-")[0]), f.name))
    if not folders:
        raise ValueError(f"no case in {arguments.out} matches; make the cases first")
    results = []
    for result in in_parallel(arguments.jobs, score_case, [(folder, arguments) for folder in folders]):
        results.append(result)
        print(line(result), flush=True)
    print("\n" + "\n".join(verdict(results)))
    failed = len(folders) - len(results)
    print(f"failed: {failed} of {len(folders)}")
    if arguments.json:
        write_json(arguments.json, {"cases": results, "failed": failed})
    return 1 if failed else 0
