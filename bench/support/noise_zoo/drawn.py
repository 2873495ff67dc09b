# SPDX-License-Identifier: MIT
"""Drawn pictures: pages of text, labels, a cartoon; and pictures moved by fractions of a sample."""
import math
import random
import tempfile

import numpy as np

from clips import SYNTHETIC, filtered

CODE = ["for (int {0} = {2}; {0} < {1}; ++{0}) {1}[{0}] += {2};", "if ({0}->{1}() != {2}) return {3}({0});",
        "const auto {0} = {1}::{3}({0}, {2});  // {3} {1} {0}", "{0}.{1} = {3} * {2}.0f + {0} / {1};"]


def code_lines(seed, width, count, full):
    """Lines of made-up code, `width` letters wide; full: twice as wide, so that the border cuts them."""
    generator = random.Random(seed)
    words = ["".join(generator.choices("aeiourstlnmcdpgh", k=generator.randint(2, 8))) for _ in range(90)]

    def statement():
        form = generator.choice(CODE)
        return form.format(generator.choice(words), generator.choice(words), generator.randint(0, 999),
                           generator.choice(words))

    lines = []
    for _ in range(count):
        line = " ".join(statement() for _ in range(6))
        lines.append(line[:width * 2 if full else width - generator.randint(0, 12)])
    return lines


def text_page(seed, w, h, size, dark=False, hard=False):
    """A page of code as R'G'B' in 0..1. hard: closely set, up to the border, without antialiasing."""
    lines = code_lines(seed, w * 5 // (size * 3), h // size + 6, hard)
    ground, color = ("0x1e1e1e", "0xa0d0f8") if dark else ("0xf8f8f8", "0x50280a")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines))
        file.flush()
        draw = f"format=gbrp,drawtext=textfile={file.name}:expansion=none:font=DejaVu Sans Mono:fontsize={size}:" \
               f"line_spacing={-2 * hard}:fontcolor={color}:x=2:y=2"
        planes = filtered(f"color={ground}:size={w}x{h}", draw, "gbrp16le", 1, SYNTHETIC)[0]
    page = np.stack(planes, -1) / 65535
    if not hard:
        return page
    ink = np.abs(page - page[:1, :1]).max(-1, keepdims=True) > 0.3
    return np.where(ink, [int(color[i:i + 2], 16) / 255 for i in (2, 4, 6)], page[:1, :1])


def label(text, width, height, size):
    """The share of ink in each sample, 0..1."""
    draw = f"format=gray,drawtext=text='{text}':font=DejaVu Sans:fontsize={size}:fontcolor=white:x=4:y=4"
    return filtered(f"color=black:size={width}x{height}", draw, "gray", 1, SYNTHETIC)[0][0] / 255


def write_over(picture, ink, x, y, opacity=1.0):
    """Writes a label in white into the picture and returns the picture."""
    height, width = picture.shape[:2]
    left, right, rows = max(0, x), min(width, x + ink.shape[1]), min(ink.shape[0], height - y)
    share = opacity * ink[:rows, left - x:right - x, None]
    picture[y:y + rows, left:right] = picture[y:y + rows, left:right] * (1 - share) + share
    return picture


def paint(picture, distance, color):
    """Paints the samples whose distance is below 0, with an edge that is one sample wide."""
    share = np.clip(0.5 - distance, 0, 1)[..., None]
    picture[:] = picture * (1 - share) + np.array(color) * share


def cartoon(number, width=352, height=288):
    """A drawing of the cartoon: a ball with a face that rolls over a meadow."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    center_x, center_y = 90 + 6 * number, 150
    picture = np.where((y < 200)[..., None], (0.55, 0.75, 0.9), (0.31, 0.59, 0.27))
    ball = np.hypot(x - center_x, y - center_y)
    paint(picture, ball - 50, (0.86, 0.24, 0.24))
    paint(picture, np.abs(ball - 50) - 1, (0.04, 0.04, 0.04))
    paint(picture, np.hypot(np.abs(x - center_x) - 15, y - center_y + 10) - 6, (1, 1, 1))
    mouth = np.abs(np.hypot(x - center_x, (y - center_y - 15) * (2.2 - 0.1 * (number % 3))) - 20) - 1
    paint(picture, np.where(y > center_y + 15, mouth, 1), (0, 0, 0))
    return picture


def shifted(picture, x, y, width=352, height=288):
    """The window of a picture that begins at (x, y), by Catmull-Rom; outside the picture its border is repeated."""
    for axis, start, size in ((0, y, height), (1, x, width)):
        first = math.floor(start)
        t = start - first
        weights = (-t * (1 - t)**2 / 2, 1 - t**2 * (5 - 3 * t) / 2, t * (1 + 4 * t - 3 * t**2) / 2,
                   -t**2 * (1 - t) / 2)
        total = 0
        for offset, weight in zip((-1, 0, 1, 2), weights):
            indices = np.clip(np.arange(first + offset, first + offset + size), 0, picture.shape[axis] - 1)
            total = total + np.take(picture, indices, axis) * weight
        picture = total
    return np.clip(picture, 0, 1)
