# SPDX-License-Identifier: MIT
"""White noise of several levels, rounded and clipped to 8 bits."""
from noise import generator, white
from recipes import Made, recipe


def noisy(material, name, sigma):
    clip = material.clip(name)
    return Made(clip, white(clip, (sigma, sigma, sigma), generator(name, sigma)))


def recipes(material):
    for i, name in enumerate(material.table["white"]):
        for sigma in (1, 2, 5, 10, 20):
            yield recipe(f"{name}-{sigma}", i == 0 and sigma != 2, noisy, material, name, sigma)
