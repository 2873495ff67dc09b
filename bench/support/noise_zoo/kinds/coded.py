# SPDX-License-Identifier: MIT
"""Noise that an encoder has coded, at usual rates, and clean clips at the same rates."""
import numpy as np

from clips import coded
from kinds.camera import shot
from noise import generator, white
from recipes import Made, recipe

CODERS = {
    "x264-18": ("-c:v", "libx264", "-crf", 18),
    "x264-23": ("-c:v", "libx264", "-crf", 23),
    "x264-28": ("-c:v", "libx264", "-crf", 28),
    "x264-veryfast-23": ("-c:v", "libx264", "-preset", "veryfast", "-crf", 23),
    "x264-camera": ("-c:v", "libx264", "-preset", "ultrafast", "-bf", 0, "-b:v", "1400k", "-maxrate", "1600k",
                    "-bufsize", "800k"),
    "x265-23": ("-c:v", "libx265", "-preset", "fast", "-crf", 23, "-x265-params", "log-level=error:pools=1"),
    "x265-28": ("-c:v", "libx265", "-crf", 28, "-x265-params", "log-level=error:pools=1"),
    "av1-28": ("-c:v", "libsvtav1", "-preset", 8, "-crf", 28),
    "av1-35": ("-c:v", "libsvtav1", "-preset", 8, "-crf", 35),
    "vp9-33": ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", 5, "-crf", 33, "-b:v", 0),
    "mpeg2-3": ("-c:v", "mpeg2video", "-q:v", 3, "-bf", 2),
    "mpeg2-6": ("-c:v", "mpeg2video", "-q:v", 6, "-bf", 2),
    "mjpeg-5": ("-c:v", "mjpeg", "-q:v", 5, "-pix_fmt", "yuvj420p"),
    "mjpeg-12": ("-c:v", "mjpeg", "-q:v", 12, "-pix_fmt", "yuvj420p"),
}
# Deviations of white noise in Y, U and V, or the ISO of a simulated camera.
NOISES = {"10": (10, 10, 10), "5": (5, 5, 5), "20": (20, 20, 20), "2": (2, 2, 2), "luma8": (8, 0, 0), "14-5": (14, 5, 5),
          "neutral8": (8, 0, 0), "3": (3, 3, 3), "7": (7, 7, 7), "iso3200": 3200, "iso6400": 6400, "iso12800": 12800}
NOISY = 14  # cases of each clip with noise
CLEAN = 4  # cases of each clip without noise


def after_coder(material, name, coder, noise, first):
    """The clip from frame `first` on, coded from its first frame on."""
    if isinstance(NOISES.get(noise), int):
        truth, noisy = shot(material, name, {"iso": NOISES[noise]})
        first //= 2
    else:
        truth = material.clip(name, frames=12)
        if noise and noise.startswith("neutral"):  # as in black-and-white film
            truth = truth.like([[planes[0], *(np.full_like(plane, 128) for plane in planes[1:])]
                                for planes in truth.frames])
        noisy = white(truth, NOISES[noise], generator("coded", name, coder, noise)) if noise else truth
    after = "scale=in_range=full:out_range=limited,format=yuv420p" if coder.startswith("mjpeg") and not truth.full else "null"
    result = coded(noisy, *CODERS[coder], extension="avi" if coder.startswith("mjpeg") else "mkv", after=after)
    result = truth.like(result.frames[first:])
    return Made(truth.like(truth.frames[first:]), result) if noise else Made(result)


def recipes(material):
    coders, noises = list(CODERS), list(NOISES)
    for i, name in enumerate(material.table["coded"]):
        for k in range(NOISY + CLEAN):
            # Each clip has each encoder, and the noises in turn.
            coder = coders[(i + k) % len(coders)]
            noise = noises[(4 * i + 3 * k) % len(noises)] if k < NOISY else None
            first = (i + k) % 2 * 4
            yield recipe(f"{name}-{coder}-{noise or 'clean'}", k == 0 and i < 6, after_coder, material, name, coder,
                         noise, first)
