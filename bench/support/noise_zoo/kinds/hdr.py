# SPDX-License-Identifier: MIT
"""PQ and S-Log3 with the noise of a sensor, and scene-linear floats with lamps far above white."""
import numpy as np

from clips import Clip, linear, yuv
from noise import generator, sensor
from recipes import Made, recipe

# The constants of PQ (SMPTE ST 2084).
M1, M2, C1, C2, C3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
BT2020 = (0.2627, 0.0593)
BT709 = (0.2126, 0.0722)
PQ_TAGS = "-color_trc smpte2084 -color_primaries bt2020 -colorspace bt2020nc"
LOG_TAGS = "-color_primaries bt709 -colorspace bt709"


def from_pq(values):
    """Light of PQ; 1: 10000 cd/m2."""
    return (np.maximum(values**(1 / M2) - C1, 0) / (C2 - C3 * values**(1 / M2)))**(1 / M1)


def to_pq(light):
    return ((C1 + C2 * np.maximum(light, 0)**M1) / (1 + C3 * np.maximum(light, 0)**M1))**M2


def to_slog3(light):
    above = (420 + np.log10((np.maximum(light, 0) + 0.01) / 0.19) * 261.5) / 1023
    below = (np.maximum(light, 0) * (171.2102946929 - 95) / 0.01125 + 95) / 1023
    return np.where(light >= 0.01125, above, below)


def as_pq_light(values):
    """Light of sRGB with a white of 500 cd/m2."""
    return 0.05 * linear(values)


def as_log_light(values):
    return 2 * linear(values)


def exposed(scene, top, iso, random, convert, tags):
    """Truth and noisy clip of a scene; `top` is the light of the sensor's white."""
    noisy = [top * sensor(light / top, iso, random) for light in scene]
    return Made(*(Clip([convert(light) for light in frames], 10, tags=tuple(tags.split()))
                  for frames in (scene, noisy)))


def pq(material, name, iso):
    """The sensor's white is at 1000 cd/m2."""
    scene = material.light(name, from_pq if material.entry(name).get("pq") else as_pq_light)

    def convert(light):
        return yuv(to_pq(light), *BT2020, bits=10)

    return exposed(scene, 0.1, iso, generator("pq", name, iso), convert, PQ_TAGS)


def log(material, name, iso):
    def convert(light):
        return yuv(to_slog3(light), *BT709, bits=10)

    return exposed(material.light(name, as_log_light), 2, iso, generator("log", name, iso), convert, LOG_TAGS)


def lamp_light(shape, places, number):
    """Light of lamps of 5 to 40, which move sideways by 1.3 samples a frame."""
    y, x = np.mgrid[0:shape[0], 0:shape[1]].astype(float)
    for i, (place_x, place_y) in enumerate(places):
        distance = np.hypot(x - place_x * shape[1] - 1.3 * number * (-1)**i, y - place_y * shape[0])
        yield (5 + 35 * i / 23) * np.clip(2.5 + i % 5 - distance, 0, 1) + 0.3 * np.exp(-distance / 12)


def lamps(material, name):
    """Measured where the truth is at most 1."""
    random = generator("lamps", name)
    places = random.random((24, 2))
    truth, noisy = [], []
    for number, scene in enumerate(material.light(name, linear)):
        for lamp in lamp_light(scene.shape[:2], places, number):
            scene = scene + lamp[..., None]
        truth.append(list(scene.transpose(2, 0, 1).astype(np.float32)))
        noisy.append([(random.poisson(plane / 0.002) * 0.002 + 0.015 * random.standard_normal(plane.shape))
                      .astype(np.float32) for plane in truth[-1]])
    return Made(Clip(truth), Clip(noisy), {"peak": 1, "below": 1})


def recipes(material):
    table = material.table["hdr"]
    for i, name in enumerate(table["pq"]):
        for iso in (3200, 12800):
            yield recipe(f"{name}-pq-{iso}", i == 0, pq, material, name, iso)
    for i, name in enumerate(table["log"]):
        yield recipe(f"{name}-slog3-3200", i == 0, log, material, name, 3200)
    for i, name in enumerate(table["lamps"]):
        yield recipe(f"{name}-lamps", i == 0, lamps, material, name)
