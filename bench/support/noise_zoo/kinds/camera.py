# SPDX-License-Identifier: MIT
"""A simulated camera, unprocessed and as stored by phones, webcams and DVDs."""
import math

import numpy as np

from clips import Clip, coded, rounded, weave
from material import crop_size
from noise import generator
from recipes import Made, recipe
from simulator import Settings, simulated

VARIANTS = {"iso12800": {"iso": 12800}, "iso3200": {"iso": 3200},
            "12800-crf23": {"iso": 12800, "crf": 23}, "12800-crf28": {"iso": 12800, "crf": 28},
            "3200-crf23": {"iso": 3200, "crf": 23}, "tnr-crf23": {"iso": 12800, "temporal": 0.6, "crf": 23},
            "scale15": {"iso": 12800, "scale": 1.5}}


def shot(material, name, settings):
    """Truth and noisy clip."""
    entry = material.entry(name)
    return simulated(material.data / entry["file"], entry["start"], entry["frames"], entry["down"], crop_size(entry),
                     Settings(**settings))


def plain(material, name, settings):
    return Made(*shot(material, name, settings))


def phone(material, name):
    """Denoised by the camera, sharpened and coded as HEVC."""
    truth, noisy = shot(material, name, {"iso": 6400})
    sharpen = "unsharp=5:5:1.0:5:5:0"
    hevc = ("-c:v", "libx265", "-crf", 26, "-x265-params", "log-level=error:pools=1")
    return Made(coded(truth, "-c:v", "ffv1", after=sharpen),
                coded(noisy, "-vf", "hqdn3d=4:6:0:0," + sharpen, *hevc))


def webcam(material, name):
    """Coded as Motion JPEG and enlarged."""
    truth, noisy = shot(material, name, {"iso": 12800})
    larger = "w=iw*1.5:h=ih*1.5:flags=bicubic"
    return Made(coded(truth, "-c:v", "ffv1", after="scale=" + larger),
                coded(noisy, "-c:v", "mjpeg", "-q:v", 5, "-pix_fmt", "yuvj420p", extension="avi",
                      after=f"scale=in_range=full:out_range=limited:{larger},format=yuv420p"))


def analog(plane, sigma, random):
    """Adds noise that is smooth along rows."""
    noise = sigma * random.standard_normal(plane.shape)
    return rounded(plane + (np.roll(noise, 1, 1) + 2 * noise + np.roll(noise, -1, 1)) / math.sqrt(6))


def interlaced(frames):
    """Combines each two frames to the fields of one."""
    pairs = zip(frames[0::2], frames[1::2])
    return Clip([weave(top, bottom) for top, bottom in pairs], interlaced=True)


def dvd(material, name):
    """Analog noise, interlaced and coded as MPEG-2."""
    random = generator("dvd", name)
    clip = material.clip(name, down=1, crop="480x384", frames=16)
    noisy = [[analog(plane, sigma, random) for plane, sigma in zip(planes, (8, 5, 5))] for planes in clip.frames]
    mpeg2 = "-c:v mpeg2video -b:v 2000k -maxrate 3000k -bufsize 1835k -flags +ildct+ilme -top 1 -g 12 -bf 2"
    return Made(interlaced(clip.frames), coded(interlaced(noisy), *mpeg2.split(), extension="mpg"))


def recipes(material):
    table = material.table["camera"]
    for i, name in enumerate(table["clips"]):
        for variant, settings in table.get("variants", VARIANTS).items():
            quick = i == 0 or i == 1 and variant in ("iso3200", "12800-crf23")
            yield recipe(f"{name}-{variant}", quick, plain, material, name, settings)
        if "variants" not in table:
            yield recipe(f"{name}-phone", i == 0, phone, material, name)
            yield recipe(f"{name}-webcam", i == 0, webcam, material, name)
    for i, name in enumerate(table.get("dvd", ())):
        yield recipe(f"{name}-dvd", i == 0, dvd, material, name)
