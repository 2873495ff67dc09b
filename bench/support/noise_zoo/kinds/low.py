# SPDX-License-Identifier: MIT
"""Pictures that fill a small part of their range, with noise in proportion."""
import numpy as np

from clips import Clip, rounded
from noise import generator
from recipes import Made, recipe

UNITS = {"gray12": 1, "gray16": 257, "float": 1 / 255}  # levels are in DN of 12 bits, else in 8-bit code values


def stored(plane, form, bits):
    return plane.astype(np.float32) if form == "float" else rounded(plane, bits)


def low(material, name, form, level):
    random = generator(name, form, level)
    clean = [planes[0].astype(float) for planes in material.clip(name).frames]
    sigma = level * UNITS[form]
    offset, peak, bits = (100, 40 * sigma, 12) if form == "gray12" else (0, 17 * sigma, 16)
    truth = [offset + plane / 255 * peak for plane in clean]
    noisy = [plane + sigma * random.standard_normal(plane.shape) for plane in truth]
    truth, noisy = (Clip([[stored(plane, form, bits)] for plane in planes], bits, full=True)
                    for planes in (truth, noisy))
    return Made(truth, noisy, {"peak": peak})


def recipes(material):
    for i, name in enumerate(material.table["low"]):
        for form, levels in (("gray16", (0.23, 0.94)), ("float", (0.23, 0.94)), ("gray12", (3.7, 8, 16))):
            for level in levels:
                yield recipe(f"{name}-{form}-{level}", i == 0 and level != 8, low, material, name, form, level)
