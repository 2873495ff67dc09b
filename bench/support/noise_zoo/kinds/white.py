# SPDX-License-Identifier: MIT
"""White noise of several levels, rounded and clipped to 8 bits, in clips and in single pictures."""
import numpy as np

from clips import Clip, rounded
from noise import generator, white
from recipes import Made, recipe


def noisy(material, name, sigma):
    clip = material.clip(name)
    return Made(clip, white(clip, (sigma, sigma, sigma), generator(name, sigma)))


def picture(material, file, sigma):
    """A single picture of R, G and B."""
    random = generator(file, sigma)
    truth = [rounded(255 * plane) for plane in np.moveaxis(material.still(file, 384, 256), -1, 0)]
    if sigma == 0:
        return Made(Clip([truth], rgb=True))
    return Made(Clip([truth], rgb=True),
                Clip([[rounded(plane + sigma * random.standard_normal(plane.shape)) for plane in truth]], rgb=True))


def recipes(material):
    for file in material.table.get("pictures", ()):
        for sigma in (0, 2, 4, 8, 15, 25):
            yield recipe(f"picture-{file.split('/')[-1].split('.')[0]}-{sigma}", False, picture, material, file, sigma)
    for i, name in enumerate(material.table["white"]):
        for sigma in (1, 2, 5, 10, 20):
            yield recipe(f"{name}-{sigma}", i == 0 and sigma != 2, noisy, material, name, sigma)
