# SPDX-License-Identifier: MIT
"""Noise: its random generators, white noise and the noise of a sensor."""
import math
import zlib

import numpy as np

from clips import rounded

# Noise of the sensor IMX385 with 12 bits and black level 240, as Yue et al. (CVPR 2020) measured it, by ISO:
# the variance of a raw value x is K (x - 240) + S, here (K, S).
IMX385 = {1600: (3.513262, 11.917691), 3200: (6.955588, 38.117816), 6400: (13.486051, 130.818508),
          12800: (26.585953, 484.539790), 25600: (52.032536, 1819.818657)}
BLACK = 240
WHITE = 4095 - BLACK  # above the black level


def generator(*name):
    """A random generator whose seed depends on the name alone."""
    return np.random.default_rng(zlib.crc32(repr(name).encode()))


def white(clip, sigmas, random, mask=(1, 1, 1)):
    """Adds white noise to each plane, then rounds and clips."""
    frames = [[rounded(plane + sigma * random.standard_normal(plane.shape) * share, clip.bits)
               for plane, sigma, share in zip(planes, sigmas, mask)] for planes in clip.frames]
    return clip.like(frames)


def sensor(light, iso, random):
    """Poisson-Gaussian noise of the IMX385 on light in which 1 is the sensor's white."""
    gain, read = IMX385[iso]
    counts = random.poisson(np.clip(light, 0, 1) * WHITE / gain)
    return (counts * gain + math.sqrt(read) * random.standard_normal(light.shape)) / WHITE
