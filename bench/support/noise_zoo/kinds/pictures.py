# SPDX-License-Identifier: MIT
"""Single pictures with white noise, the noise of a camera or grain, many of them stored as JPEG; and drawn boards."""
import functools

import numpy as np
from scipy.fft import dctn, idctn
from scipy.ndimage import gaussian_filter, zoom

from clips import Clip, rounded
from drawn import text_page
from kinds.drawn_cases import SCENES
from noise import generator
from recipes import Made, recipe
from simulator import Settings, simulated

# The tables of quantizers in Annex K of the JPEG standard, for a quality of 50.
LUMA = np.array([16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22,
                 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87,
                 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99]).reshape(8, 8)
CHROMA = np.full((8, 8), 99)
CHROMA[:4, :4] = [[17, 18, 24, 47], [18, 21, 26, 66], [24, 26, 56, 99], [47, 66, 99, 99]]
BOARDS = (5, 8, 12, 16, 27, 40)  # sides of the squares


def jpeg(planes, quality):
    """Planes as decoded from JPEG of this quality (of the IJG's scale)."""
    scale = 5000 / quality if quality < 50 else 200 - 2 * quality
    decoded = []
    for table, plane in zip((LUMA, CHROMA, CHROMA), planes):
        steps = np.clip(np.floor((table * scale + 50) / 100), 1, 255)
        height, width = plane.shape
        padded = np.pad(plane.astype(float), ((0, -height % 8), (0, -width % 8)), "edge") - 128
        blocks = padded.reshape(padded.shape[0] // 8, 8, -1, 8).swapaxes(1, 2)
        blocks = idctn(steps * np.rint(dctn(blocks, axes=(2, 3), norm="ortho") / steps), axes=(2, 3), norm="ortho")
        decoded.append(rounded(blocks.swapaxes(1, 2).reshape(padded.shape)[:height, :width] + 128))
    return decoded


@functools.lru_cache(maxsize=8)
def picture(material, name, gray):
    """A frame of a clip; or a drawn board, page or scene."""
    if name.startswith(("board", "tiles")):
        side, seed = (int(part) for part in name.split("_")[1:])
        random, planes = generator(name), []
        for subsampling in (1,) if name.startswith("board") else (1, 2, 2):
            values = random.integers(16, 236, (216 // side + 1, 384 // side + 1))
            tiles = np.kron(values, np.ones((side, side)))[(seed % 3):, (seed % 5):][:200, :360]
            planes.append(rounded(tiles[::subsampling, ::subsampling]))
        return planes
    if name.startswith("page"):
        seed = int(name.split("_")[1])
        return [rounded(text_page(seed, 384, 216, 12 + 2 * (seed % 4), seed % 2 == 0)[..., 1] * 219 + 16)]
    if name.startswith("scene"):
        y, x = np.mgrid[0:240, 0:320].astype(float)
        textured = (y // 64) % 2 if name.endswith("striped") else 1
        values = SCENES[name.split("_")[1]](x, y)
        return [rounded(textured * values + (1 - textured) * (100 + 0.05 * x))]
    planes = material.clip(name, frames=1).frames[0]
    return planes[:1] if gray else planes


def noise_of(kind, truth, sigma, random):
    """White noise; noise that grows with brightness and is wider than a sample, as after demosaicking; or coarse grain."""
    own = random.standard_normal(truth.shape)
    if kind in ("camera", "grain"):
        own = gaussian_filter(own, 0.6 if kind == "camera" else random.uniform(0.8, 1.6), mode="wrap")
        own *= np.sqrt(0.3 + 1.4 * truth / 255 if kind == "camera" else 0.5 + 2 * truth / 255 * (1 - truth / 255)) / own.std()
    return sigma * own


def shot(material, name, gray, kind, sigma, quality):
    truth = picture(material, name, gray)
    random = generator("picture", name, kind, sigma, quality)
    noisy = [rounded(plane + noise_of(kind, plane, sigma, random)) for plane in truth]
    if kind == "enlarged":
        truth, noisy = ([rounded(zoom(plane.astype(float), 1.5, order=3)) for plane in planes] for planes in (truth, noisy))
    if quality:
        noisy = jpeg(noisy, quality)
        truth = truth if sigma else noisy  # clean JPEG stays as it is
    return Made(Clip([truth])) if sigma == 0 else Made(Clip([truth]), Clip([noisy]))


def sensor(material, name, iso, scale, quality):
    """A picture of the simulated camera."""
    entry = material.entry(name)
    settings = Settings(iso=iso, scale=scale, seed=int(generator(name, iso).integers(1 << 30)))
    truth, noisy = simulated(material.data / entry["file"], 0, 1, entry["down"], (384, 216), settings)
    return Made(truth, Clip([jpeg(noisy.frames[0], quality)]) if quality else noisy)


def recipes(material):
    drawn = [f"board_{side}_{seed}" for side in BOARDS for seed in range(4)] + [f"page_{seed}" for seed in range(8)] + \
        [f"scene_{name}{end}" for name in SCENES for end in ("", "_striped")] + \
        [f"tiles_{side}_{seed}" for side in BOARDS for seed in range(2)]
    for number, name in enumerate([*material.table["pictures"], *drawn]):
        gray = number % 3 == 0 or name in drawn
        own = generator("variants", name)
        variants = [("white", sigma, 0) for sigma in (0, 1, 2, 5, 10, 20)]
        variants += [("white", 0, int(own.integers(30, 96))) for _ in range(2)]
        variants += [("white", round(float(2**own.uniform(1, 4.5)), 1), int(own.choice((95, 90, 85, 75, 60, 50, 30))))
                     for _ in range(8)]
        variants += [("camera", round(float(2**own.uniform(1, 4.5)), 1), int(own.choice((0, 95, 90, 75, 50))))
                     for _ in range(5)]
        variants += [("enlarged", round(float(2**own.uniform(1, 4)), 1), int(own.choice((0, 90, 75)))) for _ in range(2)]
        variants += [("grain", round(float(2**own.uniform(1, 4.3)), 1), int(own.choice((0, 0, 90, 75)))) for _ in range(4)]
        shots = [(int(own.choice((1600, 3200, 6400, 12800))), float(own.choice((1, 1, 1.5))), int(own.choice((0, 95, 90, 80))))
                 for _ in range(0 if name in drawn else 5)]
        for iso, scale, quality in dict.fromkeys(shots):
            yield recipe(f"{name}-sensor-{iso}-{scale}-{quality}", False, sensor, material, name, iso, scale, quality)
        for kind, sigma, quality in dict.fromkeys(variants):
            yield recipe(f"{name}-{kind}-{sigma}-{quality}", False, shot, material, name, gray, kind, sigma, quality)
