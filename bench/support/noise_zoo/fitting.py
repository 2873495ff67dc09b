# SPDX-License-Identifier: MIT
"""Fits the noise decision (core/noise/noise_decision.h) to cases: measures each case with the program noise_cases, predicts
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
# Anchors of noise_decision.h, their features, and the first and last candidate in thirds of octaves.
ANCHORS = (("kBase", None, -8, 4), ("kLowest", "kLowestLevel", -1, 6), ("kWhite", "kWhite", -1, 1),
           ("kFlattest", "kFlattest", 1, 5))
CANDIDATES = [(anchor, feature, third) for anchor, feature, first, last in ANCHORS for third in range(first, last + 1)]
TRUE_RUN = 2  # the run of noise_cases at the noise's deviation
MOST_LOSS = 15.9  # in dB
HARM = 3  # weight of decibels below the noisy input, beside that of noise that is left
CLEAN = (53, 0.35)  # PSNR of an unharmed clean clip, and the loss for each decibel less
HONESTY = 0.4  # loss for each octave between a level and the noise's deviation, so that levels are also good reports
FOLDS = 5
FORESTS = {"Luma": (17, 27, 160), "Single": (14, 30, 160), "Chroma": (13, 19, 120)}  # trees, leaves, tries
OF_LUMA = {"kLumaSlope": "kSlope", "kLumaUniformity": "kUniformity", "kLumaLowLevels": "kLowLevels",
           "kLumaGrowth": "kGrowth"}
DEEP = re.compile("low|micro.*16bit|stars|thermal|hdr.*lamps")  # noise of any level in samples of many bits
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

    def loss(self, level):
        value = self.at(level)
        if self.clean:
            return min(MOST_LOSS, CLEAN[1] * max(0, CLEAN[0] - value)) if level > 0 else 0
        loss = self.best - value + HARM * max(0, self.input - value)
        if level > 0 and self.true > 0:
            loss += HONESTY * abs(math.log2(level / self.true))
        return min(MOST_LOSS, loss)


class Sample:
    """A channel of a case after some frames."""
    def __init__(self, case, recording, stage, plane, numbers):
        channel, luma = stage["channels"][plane], stage["channels"][0]
        self.case, self.recording, self.plane = case, recording, plane
        self.key = case["name"], stage["frames"]
        self.is_last = stage is case["stages"][-1]
        self.is_deeper = False
        self.base, self.numbers = channel["base"], numbers
        self.features = np.full(len(numbers), UNKNOWN)
        self.features[:len(channel["features"])] = channel["features"]
        self.outcome = Outcome(case, plane)
        self.kind = "Chroma" if plane > 0 else "Luma" if self.feature("kUniformity") != UNKNOWN else "Single"
        if self.outcome.known:
            self.losses = np.array([self.outcome.loss(0)] + [
                MOST_LOSS if self.octave(feature) is None else self.outcome.loss(self.level(feature, third))
                for _, feature, third in CANDIDATES])
        self.luma_base, self.luma_features = luma["base"], luma["features"]

    def feature(self, name):
        return self.features[self.numbers[name]]

    def octave(self, feature):
        if feature is None:
            return 0
        return None if self.feature(feature) == UNKNOWN else self.feature(feature) / UNIT

    def level(self, feature, thirds):
        return self.base * 2 ** (self.octave(feature) + thirds / 3)

    def set_luma(self, level):
        """Sets the features that describe luma, whose chosen level is `level`."""
        octave = math.log2(level / self.base) if level > 0 else -400
        self.features[self.numbers["kLumaLevel"]] = round(UNIT * octave)
        self.features[self.numbers["kLumaBase"]] = round(UNIT * math.log2(self.luma_base / self.base))
        for own, of_luma in OF_LUMA.items():
            self.features[self.numbers[own]] = self.luma_features[self.numbers[of_luma]]

    def chosen(self, losses):
        """The level with the least loss, as decide_noise() finds it."""
        known = [True] + [self.octave(feature) is not None for _, feature, _ in CANDIDATES]
        best = int(np.where(known, losses, math.inf).argmin())
        if best == 0:
            return 0.0
        anchor, feature, third = CANDIDATES[best - 1]
        offset = 0
        if best > 1 and best < len(CANDIDATES) and CANDIDATES[best - 2][0] == anchor == CANDIDATES[best][0]:
            below, own, above = losses[best - 1:best + 2]
            bend = below - 2 * own + above
            offset = min(max((below - above) / (2 * bend), -0.5), 0.5) if bend > 0 else 0
        return self.level(feature, third + offset)


def deeper(sample, octaves):
    """The same sample with noise of a lower level, as in pictures that fill less of their range."""
    other = object.__new__(Sample)
    other.__dict__.update(sample.__dict__)
    other.features, other.is_last, other.is_deeper = sample.features.copy(), False, True
    other.features[sample.numbers["kBase"]] -= UNIT * octaves
    if sample.feature("kBaseInSteps") != UNKNOWN:
        other.features[sample.numbers["kBaseInSteps"]] -= UNIT // 2 * octaves
    return other


def recording_of(name, recordings):
    """The recording of the longest name of a clip in a case's name, or the case itself."""
    clips = [clip for clip in recordings if re.search(rf"(^|-){re.escape(clip)}($|-)", name)]
    return recordings[max(clips, key=len)] if clips else name


def samples_of(cases, recordings, numbers):
    samples = []
    for case in cases:
        for stage in case["stages"]:
            for plane in range(len(stage["channels"])):
                sample = Sample(case, recording_of(case["name"], recordings), stage, plane, numbers)
                if sample.outcome.known and (sample.kind != "Single" or not PARTIAL.match(case["name"])):
                    samples += [sample] + [deeper(sample, n) for n in (2, 4) if DEEP.match(case["name"])]
    return samples


def fitted(samples, kind):
    trees, leaves, tries = FORESTS[kind]
    names = [sample.recording for sample in samples]
    counts = {name: names.count(name) for name in set(names)}
    return Forest(Samples(np.array([sample.features for sample in samples]),
                          np.array([sample.losses for sample in samples]),
                          np.array([(1 if sample.is_last else 0.4) / math.sqrt(counts[sample.recording])
                                    for sample in samples]),
                          np.array([zlib.crc32(name.encode()) for name in names])), trees, leaves, tries)


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
        run = subprocess.run([arguments.program, folder, "--profile", "fast"], capture_output=True, text=True, check=False)
        if run.returncode or not run.stdout:
            raise RuntimeError(run.stderr.strip()[-200:])
        write_json(path, json.loads(run.stdout))
    return json.loads(path.read_text(encoding="utf-8"))


def forests_text(forests):
    candidates = array_text("Candidate kCandidates", [f"{{Anchor::{anchor}, {third}}}" for anchor, _, third in CANDIDATES])
    arrays = "".join(forest.text(kind) for kind, forest in forests.items())
    all_of_them = ",\n                              ".join(
        f"{{k{kind}Nodes, k{kind}Roots, k{kind}Leaves}}" for kind in forests)
    return f"""// SPDX-License-Identifier: MIT
// Generated by bench/support/noise_zoo (fit). Do not edit.
#include "core/noise/noise_decision.h"

namespace limpid::noise {{
namespace {{

// clang-format off
{candidates}{arrays}// clang-format on
constexpr Forests kForests = {{{all_of_them}}};

}}  // namespace

std::span<const Candidate> candidates() {{ return kCandidates; }}
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
    luma, forests = {}, {}
    for kind in FORESTS:
        own = [sample for sample in samples if sample.kind == kind]
        if kind == "Chroma":
            own = [sample for sample in own if sample.key in luma]
            for sample in own:
                sample.set_luma(luma[sample.key])
        levels = predicted(own, kind)
        luma.update({sample.key: level for sample, level in zip(own, levels) if kind != "Chroma" and not sample.is_deeper})
        report(kind, own, levels)
        forests[kind] = fitted(own, kind)
    arguments.output.write_text(forests_text(forests), encoding="utf-8")
    return 0

