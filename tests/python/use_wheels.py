# SPDX-License-Identifier: MIT
"""Uses the wheels limpid-denoise and vapoursynth-limpid, if they are installed: the plug-in's frames are the package's."""

import importlib.util

import numpy

import limpid

noisy = [numpy.random.default_rng(p).normal(128, 10, (64 >> (p > 0), 96 >> (p > 0))).round().astype(numpy.uint8) for p in range(3)]
expected = limpid.denoise(tuple(numpy.stack([plane] * 3) for plane in noisy), sigma=10, profile="fast", engine="cpu")
assert expected[0].std() < noisy[0].std() / 2
print("limpid-denoise", limpid.__version__)

if importlib.util.find_spec("vapoursynth"):
    import vapoursynth

    def fill(n, f):
        frame = f.copy()
        for p in range(3):
            numpy.asarray(frame[p])[:] = noisy[p]
        return frame

    core = vapoursynth.core
    clip = core.std.BlankClip(format=vapoursynth.YUV420P8, width=96, height=64, length=3)
    clip = clip.std.ModifyFrame(clip, fill)
    clean = core.limpid.Denoise(clip, sigma=10, profile="fast", engine="cpu").get_frame(1)
    for p in range(3):
        assert numpy.array_equal(numpy.asarray(clean[p]), expected[p][1]), p
    print("vapoursynth-limpid: its frames are the package's")
