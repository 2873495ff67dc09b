# SPDX-License-Identifier: MIT
"""Drawn gratings with white noise, clean pages of text that change, and noise that depends strongly on brightness."""
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


def recipes(material):
    for period in (3, 5, 8, 13, 24, 60):
        for sigma in (1, 5, 12):
            yield recipe(f"grating-{period}-{sigma}", False, grating, period, 7 * period, sigma)
    for seed, (size, dark, rows) in enumerate([(11, False, 0), (11, True, 3), (16, False, 5), (22, True, 0)]):
        yield recipe(f"page-{seed}", False, page, seed, size, dark, rows)
    for name in material.table["drawn"]:
        for dark, bright in ((2, 14), (14, 2)):
            yield recipe(f"curve-{name}-{dark}-{bright}", False, curve, material, name, dark, bright)
