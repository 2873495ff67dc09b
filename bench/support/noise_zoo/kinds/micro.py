# SPDX-License-Identifier: MIT
"""Fluorescence microscopy: cells of 20 to 200 photons on a ground of 5 that move slowly; read noise of 1.5 photons."""
import numpy as np

from clips import Clip, rounded
from drawn import shifted
from recipes import Made, recipe

SIZE = 256
FORMS = {"8bit": (1, 10, 8), "16bit": (256, 2560, 16), "16bit-raw": (2.2, 100, 16)}  # codes a photon, offset, bits


def grown_cells(random):
    """Nine cells: place, speed and photons."""
    frequency = np.hypot(np.fft.fftfreq(96)[:, None], np.fft.rfftfreq(96)[None])
    for _ in range(9):
        spectrum = np.fft.rfft2(random.standard_normal((96, 96)))
        grain = np.fft.irfft2(spectrum * np.exp(-(frequency / 0.09)**2))
        edge = np.clip((random.uniform(18, 34) - np.hypot(*(np.mgrid[0:96, 0:96] - 47.5))) / 6, 0, 1)
        cell = edge * np.clip(1 + 0.35 * grain / grain.std(), 0.3, 2) * random.uniform(20, 110)
        yield random.uniform(10, SIZE - 106, 2), random.normal(0, 0.6, 2), np.pad(cell, 80)


def cells(seed, form):
    random = np.random.default_rng(seed)
    unit, offset, bits = FORMS[form]
    grown = list(grown_cells(random))
    truth, noisy = [], []
    for k in range(10):
        photons = np.full((SIZE, SIZE), 5.0)
        for (y, x), (speed_y, speed_x), cell in grown:
            photons += 300 * shifted(cell / 300, 80 - x - speed_x * k, 80 - y - speed_y * k, SIZE, SIZE)
        photons = np.minimum(photons, 200)
        counted = random.poisson(photons) + 1.5 * random.standard_normal((SIZE, SIZE))
        truth.append([rounded(offset + unit * photons, bits)])
        noisy.append([rounded(offset + unit * counted, bits)])
    return Made(Clip(truth, bits, full=True), Clip(noisy, bits, full=True), {"peak": 255 * unit})


def recipes(material):
    for i, seed in enumerate(material.table["micro"]["seeds"]):
        for form in FORMS:
            yield recipe(f"cells{seed}-{form}", i == 0, cells, seed, form)
