# SPDX-License-Identifier: MIT
"""Drawn gratings and scenes with noise, clean pages of text that change, and noise that depends strongly on brightness."""
import math

import numpy as np

from clips import Clip, rounded, yuv
from drawn import text_page
from noise import generator, white
from recipes import Made, recipe

WIDTH, HEIGHT, COUNT = 352, 288, 10


def grating(period, angle, sigma):
    """Waves of a period in samples, which move by a tenth of it in each frame."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    position = (x * np.cos(np.radians(angle)) + y * np.sin(np.radians(angle))) / period
    waves = [0.5 + 0.35 * np.sin(2 * np.pi * (position + k / 10)) for k in range(COUNT)]
    truth = Clip([yuv(np.repeat(wave[..., None], 3, -1)) for wave in waves])
    return Made(truth, white(truth, (sigma, sigma, sigma), generator("grating", period, angle, sigma)))


def page(seed, size, dark, rows):
    """A page of text that scrolls by some rows in each frame; with 0 rows, every third frame is another page."""
    if rows:
        whole = text_page(seed, WIDTH, HEIGHT + rows * COUNT, size, dark)
        pages = [whole[rows * k:rows * k + HEIGHT] for k in range(COUNT)]
    else:
        pages = [text_page(seed + k // 3, WIDTH, HEIGHT, size, dark) for k in range(COUNT)]
    return Made(Clip([yuv(each) for each in pages]))


def curve(material, name, dark, bright):
    """White noise whose deviation goes from `dark` at black to `bright` at white."""
    clip = material.clip(name)
    random = generator("curve", name, dark, bright)
    frames = []
    for planes in clip.frames:
        deviation = dark + (bright - dark) * planes[0] / planes[0].max()
        noisy = [rounded(planes[0] + deviation * random.standard_normal(planes[0].shape), clip.bits)]
        for plane in planes[1:]:
            noisy.append(rounded(plane + (dark + bright) / 4 * random.standard_normal(plane.shape), clip.bits))
        frames.append(noisy)
    return Made(clip, clip.like(frames))


SCENES = {
    "slope": lambda x, y: 60 + 0.2 * x + 0.15 * y,
    "waves": lambda x, y: 110 + 30 * np.sin(x / 9) * np.cos(y / 13) + 0.1 * x,
    "fine": lambda x, y: 120 + 25 * np.sin(x / 2.2 + y / 5) * (np.sin(y / 40) > 0) + 20 * np.sin(x / 60),
    "mesh": lambda x, y: 125 + 18 * np.sin(x / 1.7) * np.sin(y / 2.1) + 22 * np.sin(x / 7 + y / 11) + 15 * np.cos(y / 37),
    "cloth": lambda x, y: 115 + 30 * np.sin(0.9 * x + 0.4 * y) * np.sin(0.7 * y - 0.2 * x) + 12 * np.sin(x / 23),
    "chirp": lambda x, y: 95 + 0.15 * x + 30 * np.sin(x * (1 + y / 250)) * np.cos(0.8 * y),
    "board": lambda x, y: 90 + 0.2 * x + np.where(x % 90 < 45, -45 * ((x // 4 + y // 4) % 2),
                                                  90 * (np.hypot(x % 90 - 67, y % 60 - 30) < 13)),
    "bars": lambda x, y: 40 + 30 * np.floor(x / 50 % 5) + 8 * np.sin(y / 30),
}


def scene(pattern, gray, smooth, sigma, bits):
    """A drawn pattern that moves by (2, 1) samples a frame, with white noise or, if smooth, noise of several samples."""
    random = generator("scene", pattern, gray, smooth, sigma)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)

    def planes(k, noise):
        result = []
        for plane in range(1 if gray else 3):
            half = (slice(None, None, 2), slice(None, None, 2)) if plane else (slice(None), slice(None))
            values = SCENES[pattern](x + 2 * k, y + k)[half] * (0.3 if plane else 1) + (90 if plane else 0)
            own = random.standard_normal(values.shape)
            if smooth:
                for axis in (0, 1):
                    own = (np.roll(own, 1, axis) + 2 * own + np.roll(own, -1, axis)) / math.sqrt(6)
            result.append(rounded((values + sigma * noise * own) * 2**(bits - 8), bits))
        return result

    truth = Clip([planes(k, 0) for k in range(8)], bits=bits)
    return Made(truth, truth.like([planes(k, 1) for k in range(8)]))


def recipes(material):
    for pattern in SCENES:
        for k, sigma in enumerate((1, 2.5, 5, 10, 20, 30)):
            for gray in (True, False):
                smooth = k % 3 == 1
                bits = 16 if gray and k in (1, 3) else 8
                yield recipe(f"scene-{pattern}-{sigma}-{'gray' if gray else 'yuv'}", False, scene, pattern, gray, smooth,
                             sigma, bits)
    for period in (3, 5, 8, 13, 24, 60):
        for sigma in (1, 5, 12):
            yield recipe(f"grating-{period}-{sigma}", False, grating, period, 7 * period, sigma)
    for seed, (size, dark, rows) in enumerate([(11, False, 0), (11, True, 3), (16, False, 5), (22, True, 0)]):
        yield recipe(f"page-{seed}", False, page, seed, size, dark, rows)
    for name in material.table["drawn"]:
        for dark, bright in ((2, 14), (14, 2)):
            yield recipe(f"curve-{name}-{dark}-{bright}", False, curve, material, name, dark, bright)
