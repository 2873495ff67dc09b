# SPDX-License-Identifier: MIT
"""Fits the noise decision (core/noise/noise_features.h) to cases: measures each case with the program noise_cases, predicts
each case by forests that saw no clip of its recording, prints how far the predictions are from the best level, and
writes the forests of all cases."""
import argparse
import json
import math
import re
import subprocess
import zlib

import numpy as np
from scipy.interpolate import PchipInterpolator

from running import in_parallel, write_json
from scoring import chosen_folders
from trees import UNKNOWN, Forest, Samples, array_text

HEADER = "core/noise/noise_features.h"
# Anchors of noise_features.h, and the first and last candidate in thirds of octaves: those that were chosen in 18,000
# decisions, and one more on each side. kCount is one code value.
ANCHORS = {"Luma": (("kBase", -2, 4), ("kWhite", -1, 1), ("kCount", 0, 10)),
           "Chroma": (("kBase", -4, 4), ("kWhite", 1, 1), ("kCount", 0, 10)),
           "SingleChroma": (("kBase", -7, 4), ("kLowestLevel", -1, 6), ("kWhite", 1, 1), ("kCount", 0, 13)),
           "Single": (("kBase", -8, 3), ("kLowestLevel", 0, 5), ("kWhite", -1, 1), ("kFlattest", 5, 5),
                      ("kThirdOfPatches", -3, 4))}
CANDIDATES = {kind: [(anchor, third) for anchor, first, last in anchors for third in range(first, last + 1)]
              for kind, anchors in ANCHORS.items()}
TRUE_RUN = 2  # the run of noise_cases at the noise's deviation
MOST_LOSS = 15.9  # in dB
MOST_LEFT, UNEVEN, LEAST_SLOPE = 1.2, 0.1, -3  # of decide_noise() and, as a logarithm, is_coded()
HARM = 5  # weight of decibels below the noisy input, beside that of noise that is left
CLEAN = (53, 0.35)  # PSNR of an unharmed clean clip, and the loss for each decibel less
# Loss for each octave between a level and the best report, so that levels are also good reports: the noise's deviation,
# for color 1.4 times as much, as subsampled planes are filtered best.
HONESTY = {"Luma": (0.4, 1), "Single": (0.4, 1), "Chroma": (0.25, 1.3), "SingleChroma": (0.25, 1.3)}
FOLDS = 5
FORESTS = {"Chroma": (24, 40, 400), "SingleChroma": (24, 60, 500), "Luma": (32, 50, 500),
           "Single": (24, 60, 500)}  # trees, leaves, tries
# Weights of kinds with few cases: noise of real cameras, of HDR and of photons. All other kinds have a weight of 1.
WEIGHTS = {"still": 8, "hdr": 4, "micro": 4}
DEEP = re.compile("drawn-scene.*gray|low|micro.*16bit|stars|thermal|hdr.*lamps")  # noise of any level in samples of many bits
PARTIAL = re.compile("screen|slides-|picture-in|pip")  # noise in a part of the picture: not fitted to as single pictures
UNIT = 64  # features are multiples of 1/64


def feature_numbers(checkout):
    text = (checkout / HEADER).read_text(encoding="utf-8").split("enum class Feature", 1)[1].split("};", 1)[0]
    return {name: i for i, name in enumerate(re.findall(r"^  (k\w+),", text, re.MULTILINE)) if name != "kCount"}


def psnr(error):
    return 10 * math.log10(255**2 / error) if error > 0 else 99.0


class Outcome:
    """The PSNR of a plane of a case as a function of the noise level, from the runs of noise_cases."""
    def __init__(self, case, plane):
        error = 0 if case["rgb"] else plane
        self.clean = case["clean"]
        self.input = 99.0 if self.clean else psnr(case["input"][error])
        self.true = 0 if self.clean else case["runs"][TRUE_RUN]["levels"][plane]
        points = sorted((run["levels"][plane], psnr(run["errors"][error])) for run in case["runs"])
        points = [(level, value) for level, value in points if level > 0]
        self.known = len(points) > 1
        if self.known:
            self.octaves = np.log2([level for level, _ in points])
            self.values = np.array([value for _, value in points])
            self.curve = PchipInterpolator(self.octaves, self.values)
            inner = self.curve(np.arange(self.octaves[0], self.octaves[-1], 0.1))
            self.best = max(self.input, inner.max(), self.values.max())

    def at(self, level):
        if level <= 0:
            return self.input
        octave = math.log2(level)
        if octave < self.octaves[0]:
            if self.clean:
                return min(60, self.values[0] + 6 * (self.octaves[0] - octave))
            return self.input + (self.values[0] - self.input) * level / 2**self.octaves[0]
        if octave > self.octaves[-1]:
            slope = (self.values[-1] - self.values[-2]) / (self.octaves[-1] - self.octaves[-2])
            return self.values[-1] + min(slope, -1) * (octave - self.octaves[-1])
        return float(self.curve(octave))

    def loss(self, level, honesty):
        value = self.at(level)
        if self.clean:
            return min(MOST_LOSS, CLEAN[1] * max(0, CLEAN[0] - value)) if level > 0 else 0
        loss = self.best - value + HARM * max(0, self.input - value)
        if level > 0 and self.true > 0:
            loss += honesty[0] * abs(math.log2(level / self.true / honesty[1]))
        return min(MOST_LOSS, loss)


class Sample:
    """A channel of a case after some frames."""
    def __init__(self, case, recording, stage, plane, numbers, octaves=0):
        """octaves: lowers the noise, as in pictures that fill less of their range."""
        channel = stage["channels"][plane]
        self.case, self.recording, self.plane, self.stage, self.numbers = case, recording, plane, stage, numbers
        self.is_last = stage is case["stages"][-1] and octaves == 0
        self.base = channel["base"]
        self.features = np.full(len(numbers), UNKNOWN)
        self.features[:len(channel["features"])] = channel["features"]
        self.outcome = Outcome(case, plane)
        moves = self.feature("kUniformity") != UNKNOWN
        self.kind = ("Chroma" if moves else "SingleChroma") if plane > 0 else "Luma" if moves else "Single"
        self.octaves = octaves
        if octaves:
            self.features[numbers["kBase"]] -= UNIT * octaves
            if self.feature("kBaseInSteps") != UNKNOWN:
                self.features[numbers["kBaseInSteps"]] -= UNIT // 2 * octaves
        if self.outcome.known:
            levels = [self.level(anchor, third) for anchor, third in CANDIDATES[self.kind]]
            weight, best = HONESTY[self.kind]
            honesty = (weight, 1 if case["rgb"] else best)
            self.losses = np.array([self.outcome.loss(0, honesty)] + [
                MOST_LOSS if level is None else self.outcome.loss(level, honesty) for level in levels])

    def feature(self, name):
        return self.features[self.numbers[name]]

    def level(self, anchor, thirds):
        """The level of a candidate; None if its anchor was not measured."""
        if anchor == "kCount":
            return 2 ** (self.octaves + thirds / 3)
        octave = self.feature(anchor) / UNIT if anchor != "kBase" else 0
        return None if octave == UNKNOWN / UNIT else self.base * 2 ** (octave + thirds / 3)

    def chosen(self, losses):
        """The level with the least loss, as decide_noise() finds it."""
        candidates = CANDIDATES[self.kind]
        has_noise = (self.kind == "Luma" and self.feature("kReliability") < UNEVEN * UNIT and
                     self.feature("kSlope") > LEAST_SLOPE * UNIT and losses[0] > MOST_LEFT)
        known = [not has_noise] + [self.level(anchor, 0) is not None for anchor, _ in candidates]
        best = int(np.where(known, losses, math.inf).argmin())
        if best == 0:
            return 0.0
        anchor, third = candidates[best - 1]
        offset = 0
        if best > 1 and best < len(candidates) and candidates[best - 2][0] == anchor == candidates[best][0]:
            below, own, above = losses[best - 1:best + 2]
            bend = below - 2 * own + above
            offset = min(max((below - above) / (2 * bend), -0.5), 0.5) if bend > 0 else 0
        return self.level(anchor, third + offset)


def recording_of(name, recordings):
    """The recording of the longest name of a clip in a case's name, or the case itself."""
    clips = [clip for clip in recordings if re.search(rf"(^|-){re.escape(clip)}($|-)", name)]
    return recordings[max(clips, key=len)] if clips else name


def samples_of(cases, recordings, numbers):
    samples = []
    for case in cases:
        recording = recording_of(case["name"], recordings)
        for stage in case["stages"]:
            for plane in range(len(stage["channels"])):
                for octaves in (0, 2, 4) if DEEP.match(case["name"]) else (0,):
                    sample = Sample(case, recording, stage, plane, numbers, octaves)
                    if sample.outcome.known and (not sample.kind.startswith("Single") or not PARTIAL.match(case["name"])):
                        samples.append(sample)
    return samples


def fitted(samples, kind):
    trees, leaves, tries = FORESTS[kind]
    _, numbers, counts = np.unique([sample.recording for sample in samples], return_inverse=True, return_counts=True)
    return Forest(Samples(np.array([sample.features for sample in samples]),
                          np.array([sample.losses for sample in samples]),
                          np.array([(1 if sample.is_last else 0.4) * WEIGHTS.get(sample.case["name"].split("-")[0], 1)
                                    for sample in samples]) / np.sqrt(counts[numbers]),
                          numbers), trees, leaves, tries)


def predicted(samples, kind):
    """The level for each sample, by a forest that saw no clip of its recording."""
    levels = np.zeros(len(samples))
    folds = np.array([zlib.crc32(sample.recording.encode()) % FOLDS for sample in samples])
    for fold in range(FOLDS):
        seen = [sample for sample, own in zip(samples, folds) if own != fold]
        others = np.flatnonzero(folds == fold)
        if seen and len(others):
            losses = fitted(seen, kind).losses(np.array([samples[i].features for i in others]))
            levels[others] = [samples[i].chosen(row) for i, row in zip(others, losses)]
    return levels


def report(kind, samples, levels):
    gaps, harm, clean = {}, [], []
    for sample, level in zip(samples, levels):
        value = sample.outcome.at(level)
        if not sample.is_last:
            continue
        if sample.case["clean"]:
            clean.append(value)
            continue
        for name in ("all", sample.case["name"].split("-")[0]):
            gaps.setdefault(name, []).append(value - sample.outcome.best)
        harm += [value - sample.outcome.input] if value < sample.outcome.input - 0.1 else []
    print(f"{kind}: clean worst {min(clean, default=99):.1f} dB, {sum(value < 45 for value in clean)} of {len(clean)} "
          f"under 45; {len(harm)} of {len(gaps.get('all', ()))} below the input, worst {min(harm, default=0):.2f}")
    for name, values in gaps.items():
        print(f"  {name}: mean {np.mean(values):+.2f}, worst {min(values):+.2f} of {len(values)}")


def measured(folder, arguments):
    path = folder / "measured.json"
    if not path.exists():
        frames = 1 if arguments.single else 6
        run = subprocess.run([arguments.program, folder, "--profile", "fast", "--frames", str(frames)], capture_output=True,
                             text=True, check=False)
        if run.returncode or not run.stdout:
            raise RuntimeError(run.stderr.strip()[-200:])
        write_json(path, json.loads(run.stdout))
    return json.loads(path.read_text(encoding="utf-8"))


def arrays_of(kind, forest):
    return array_text(f"Candidate k{kind}Candidates", [f"{{Feature::{anchor}, {third}}}" for anchor, third in CANDIDATES[kind]]) + \
        forest.text(kind)


def forests_text(arrays):
    """The file of the arrays of each kind."""
    members = {"luma": "Luma", "single_luma": "Single", "chroma": "Chroma", "single_chroma": "SingleChroma"}
    all_of_them = ",\n    ".join(
        f".{member} = {{k{kind}Nodes, k{kind}Roots, k{kind}Leaves, k{kind}Candidates}}" for member, kind in members.items())
    return f"""// SPDX-License-Identifier: MIT
// Generated by bench/support/noise_zoo (fit). Do not edit.
#include "core/noise/noise_features.h"

namespace limpid::noise {{
namespace {{

// clang-format off
{"".join(arrays.values())}// clang-format on
constexpr Forests kForests = {{
    {all_of_them}}};

}}  // namespace

const Forests& forests() {{ return kForests; }}

}}  // namespace limpid::noise
"""


def fit(arguments):
    numbers = feature_numbers(arguments.checkout)
    recordings = json.loads(arguments.recordings.read_text(encoding="utf-8"))
    folders = sorted(folder for out in [arguments.out, *arguments.more]
                     for folder in chosen_folders(argparse.Namespace(**{**vars(arguments), "out": out})))
    cases = [case for case in in_parallel(arguments.jobs, measured, [(folder, arguments) for folder in folders])
             if recording_of(case["name"], recordings) not in arguments.without]
    samples = samples_of(cases, recordings, numbers)
    kept = arguments.output.read_text(encoding="utf-8") if arguments.single else ""
    arrays = {kind: "".join(match[0] for match in re.finditer(
        rf"^constexpr \S+ k{kind}(Candidates|Nodes|Roots|Leaves)\[\] = {{.*?}};\n", kept, re.MULTILINE | re.DOTALL))
              for kind in FORESTS}
    for kind in FORESTS:
        if arguments.single and not kind.startswith("Single"):
            continue
        own = [sample for sample in samples if sample.kind == kind]
        levels = predicted(own, kind)
        report(kind, own, levels)
        arrays[kind] = arrays_of(kind, fitted(own, kind))
    arguments.output.write_text(forests_text(arrays), encoding="utf-8")
    return 0

