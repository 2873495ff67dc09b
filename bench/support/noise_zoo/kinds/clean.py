# SPDX-License-Identifier: MIT
"""Clean input, which denoising must not change."""
import pathlib

import numpy as np

from clips import SYNTHETIC, Clip, coded, filtered, yuv
from drawn import cartoon, label, text_page, write_over
from recipes import Made, recipe


def compressed(clip, crf):
    return clip if crf is None else coded(clip, "-c:v", "libx264", "-crf", crf)


def real_clip(material, name, changed, crf=None):
    return Made(compressed(material.clip(name, **changed), crf))


def text_settings(material):
    return {"w": 480, "h": 272, **material.table["clean"]["text"]}


def scrolled_text(material, step, hard, crf=None):
    """A page of text that moves up by `step` rows a frame."""
    page = text_page(**{**text_settings(material), "h": 272 + 9 * step}, hard=hard)
    return Made(compressed(Clip([yuv(page[step * k:step * k + 272]) for k in range(10)]), crf))


def dialog(material):
    """A page of text over which a dialog opens."""
    page = text_page(**text_settings(material), hard=True)
    later = page.copy()
    later[80:180, 110:370] = 0.8
    write_over(later, label("Save the changes to main.cpp?", 240, 40, 14), 120, 110)
    return Made(Clip([yuv(page)] * 4 + [yuv(later)] * 5))


def window(number, width, height, dark):
    """A window with a title, a page of text and a gray border."""
    picture = np.full((height, width, 3), 0.15 if dark else 0.85)
    picture[18:-4, 4:-4] = text_page(number, width - 8, height - 22, 11, dark)
    return write_over(picture, label("untitled - notes", width - 8, 17, 11), 2, 0)


def windows(material, seed, change):
    """A page of text that stands still under windows that open, move, scroll or are replaced."""
    settings = text_settings(material)
    width, height, dark = settings["w"], settings["h"], seed % 2 == 0
    page = text_page(seed, width, height, 11 + seed % 3 * 3, seed % 3 == 0)
    frames = []
    for k in range(10):
        picture = page.copy()
        number = 100 + seed + (k // 2 if change == "replaced" else 0)
        w, h = 200 + 20 * (seed % 4), 120 + 10 * (seed % 5)
        x, y = (20 + 9 * k, 15 + 5 * k) if change == "dragged" else (90, 70)
        if change == "scrolled":
            text = text_page(number, w, h + 40, 12, dark)
            picture[y:y + h, x:x + w] = text[4 * k:4 * k + h]
        elif change != "opened" or 3 <= k < 8:
            picture[y:y + h, x:x + w] = window(number, w, h, dark)
        frames.append(yuv(picture))
    return Made(Clip(frames))


def cartoon_on_twos():
    return Made(Clip([yuv(cartoon(k // 2)) for k in range(10)]))


def test_source():
    return Made(Clip(filtered("testsrc2=size=480x270:rate=25", "null", "yuv420p", 8, SYNTHETIC)))


def held(material, file):
    return Made(Clip([yuv(material.still(file, 384, 256))] * 6))


def slides(material):
    """Three pictures, each held for three frames, with dissolves between them."""
    pictures = [material.still(file, 384, 256) for file in material.table["clean"]["held"][:3]]
    frames = []
    for number, picture in enumerate(pictures):
        frames += [picture] * 3
        if number + 1 < len(pictures):
            frames += [picture * (1 - share) + pictures[number + 1] * share for share in (0.25, 0.5, 0.75)]
    return Made(Clip([yuv(frame) for frame in frames]))


def single_picture(material, file):
    return Made(material.data / file)


def clip_recipes(material):
    for i, name in enumerate(material.table["clean"]["clips"]):
        yield recipe(f"{name}-crop", i < 2, real_clip, material, name, {"down": 1, "crop": "480x270"})
        if material.entry(name).get("halves", True):
            yield recipe(f"{name}-halved", i < 3, real_clip, material, name, {"down": 2, "crop": "480x270"})
        yield recipe(f"{name}-every-third", i < 2, real_clip, material, name, {"step": 3})
        yield recipe(f"{name}-every-fifth", False, real_clip, material, name, {"step": 5})
        yield recipe(f"{name}-crf23", i < 2, real_clip, material, name, {}, 23)


def text_recipes(material):
    yield recipe("text-still-crf18", False, scrolled_text, material, 0, True, 18)
    for step in (0, 3, 5, 11):
        name = f"text-scroll-{step}" if step else "text-still"
        yield recipe(name, step in (0, 5), scrolled_text, material, step, True)
        yield recipe(f"{name}-smooth", False, scrolled_text, material, step, False)
    yield recipe("text-dialog", True, dialog, material)
    for seed, change in enumerate(("opened", "dragged", "scrolled", "replaced") * 2, 1):
        yield recipe(f"window-{change}-{seed}", seed == 2, windows, material, seed, change)


def recipes(material):
    yield from clip_recipes(material)
    yield from text_recipes(material)
    yield recipe("cartoon-on-twos", True, cartoon_on_twos)
    yield recipe("testsrc2", True, test_source)
    for i, file in enumerate(material.table["clean"]["held"]):
        yield recipe(f"held-{pathlib.Path(file).stem}", i == 0, held, material, file)
    yield recipe("slides", True, slides, material)
    for i, file in enumerate(material.table["clean"]["stills"]):
        yield recipe(f"still-{pathlib.Path(file).stem}", i < 2, single_picture, material, file)
