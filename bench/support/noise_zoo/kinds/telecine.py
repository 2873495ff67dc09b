# SPDX-License-Identifier: MIT
"""3:2 pulldown of noisy film, not marked as interlaced."""
from clips import weave
from noise import generator, white
from recipes import Made, recipe


def pulldown(clip):
    """Five frames of each four, top field first: A, B, B and C, C and D, D."""
    frames = clip.frames
    groups = [frames[k:k + 4] for k in range(0, len(frames) - 3, 4)]
    return clip.like([f for a, b, c, d in groups for f in (a, b, weave(b, c), weave(c, d), d)])


def telecined(material, name):
    clip = material.clip(name)
    return Made(pulldown(clip), pulldown(white(clip, (10, 10, 10), generator("3:2", name))))


def recipes(material):
    for i, name in enumerate(material.table["telecine"]):
        yield recipe(f"{name}-3to2", i == 0, telecined, material, name)
