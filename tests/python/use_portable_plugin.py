# SPDX-License-Identifier: MIT
"""Denoises a clip by the plug-in for VapourSynth whose path is given."""
import sys

import vapoursynth as vs

vs.core.std.LoadPlugin(sys.argv[1])
clip = vs.core.std.BlankClip(width=96, height=64, format=vs.YUV420P8, length=5, color=[100, 128, 128])
frame = vs.core.limpid.Denoise(clip, sigma=4, profile="fast").get_frame(2)
assert abs(frame[0][0, 0] - 100) <= 1, frame[0][0, 0]
print("denoised by", sys.argv[1])
