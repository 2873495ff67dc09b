# SPDX-License-Identifier: MIT
"""Difficult content with white noise of 12 in luma and 8 in chroma."""
import numpy as np

from clips import Clip, weave, yuv
from drawn import label, shifted, write_over
from noise import generator, white
from recipes import Made, recipe

WIDTH, HEIGHT, COUNT = 352, 288, 10
BARS = np.repeat([0, 1, 0], [40, 208, 40])[:, None] * np.ones(WIDTH)  # 1 between black bars
REPEATED = (0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9)  # 24 frames a second as 30, noise included


class Scenes:
    """Each method gives the frames of a scene: R'G'B' in 0..1, or planes of 4:2:0."""

    def __init__(self, material):
        self.photos = [material.still(file) for file in material.table["content"]]
        random = np.random.default_rng(7)
        self.places = random.random((250, 2)) * [WIDTH, HEIGHT]
        self.speeds = np.c_[random.normal(1, 2, 250), random.normal(14, 3, 250)]
        self.colors = random.random((250, 3))

    def base(self):
        """A slow pan by half a sample a frame."""
        return [shifted(self.photos[1], 200 + 0.5 * k, 120) for k in range(COUNT)]

    def confetti(self):
        pictures = self.base()
        for k, picture in enumerate(pictures):
            places = ((self.places + self.speeds * k) % [WIDTH - 3, HEIGHT - 3]).astype(int)
            for (x, y), color in zip(places, self.colors):
                picture[y:y + 3, x:x + 3] = color
        return pictures

    def rain(self):
        pictures = self.base()
        for k, picture in enumerate(pictures):
            places = ((self.places + self.speeds * [1, 2] * k) % [WIDTH - 2, HEIGHT - 14]).astype(int)
            for x, y in places:
                picture[y:y + 12, x] = picture[y:y + 12, x] * 0.6 + 0.3
        return pictures

    def fade(self):
        return [picture * k / (COUNT - 1) for k, picture in enumerate(self.base())]

    def dissolve(self):
        others = [shifted(self.photos[0], 200 - 1.2 * k, 120) for k in range(COUNT)]
        return [picture * (1 - k / (COUNT - 1)) + other * k / (COUNT - 1)
                for k, (picture, other) in enumerate(zip(self.base(), others))]

    def flash(self):
        pictures = self.base()
        pictures[4] = np.clip(pictures[4] * 1.7 + 0.25, 0, 1)
        return pictures

    def cuts(self):
        return [shifted(self.photos[k // 3 % 3], 200 + 0.5 * k, 120) for k in range(12)]

    def text(self):
        crawl = label("Moving text crawls over the picture, 1234567", WIDTH, 28, 16)
        roll = label("credits", WIDTH, 28, 16)
        return [write_over(write_over(picture, crawl, 10 - 5 * k, 240), roll, 20, 60 + 4 * k)
                for k, picture in enumerate(self.base())]

    def bars(self):
        return [picture * BARS[..., None] for picture in self.base()]

    def logo(self):
        ink = label("TV1", 80, 44, 32)
        return [write_over(shifted(self.photos[0], 150 + 7.3 * k, 110), ink, 262, 12, 0.5) for k in range(COUNT)]

    def fields(self):
        def field(k):
            return yuv(shifted(self.photos[0], 150 + 3.6 * k, 110))

        return [weave(field(2 * k), field(2 * k + 1)) for k in range(COUNT)]


SCENES = {"confetti": Scenes.confetti, "rain": Scenes.rain, "fade": Scenes.fade, "dissolve": Scenes.dissolve,
          "flash": Scenes.flash, "cuts": Scenes.cuts, "repeated": Scenes.base, "text": Scenes.text,
          "bars": Scenes.bars, "logo": Scenes.logo, "interlaced": Scenes.fields, "interlaced-unflagged": Scenes.fields}


def scene(material, name):
    frames = SCENES[name](Scenes(material))
    planes = [frame if isinstance(frame, list) else yuv(frame) for frame in frames]
    truth = Clip(planes, interlaced=name == "interlaced")
    mask = (BARS, BARS[::2, ::2], BARS[::2, ::2]) if name == "bars" else (1, 1, 1)
    noisy = white(truth, (12, 8, 8), generator(name.removesuffix("-unflagged")), mask)
    if name == "repeated":
        truth, noisy = (clip.like([clip.frames[k] for k in REPEATED]) for clip in (truth, noisy))
    return Made(truth, noisy)


def recipes(material):
    quick = ("confetti", "rain", "dissolve", "cuts", "text", "interlaced-unflagged")
    for name in SCENES:
        yield recipe(name, name in quick, scene, material, name)
