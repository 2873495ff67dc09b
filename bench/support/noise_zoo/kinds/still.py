# SPDX-License-Identifier: MIT
"""Noisy pictures of cameras with their truth."""
import pathlib

from recipes import Made, recipe


def pair(material, noisy, truth):
    return Made(material.data / truth, material.data / noisy)


def recipes(material):
    for i, (noisy, truth) in enumerate(material.table["still"]):
        yield recipe(pathlib.Path(noisy).stem, i < 4, pair, material, noisy, truth)
