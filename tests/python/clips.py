# SPDX-License-Identifier: MIT
"""Clips for the tests, and files of them for the programs."""

import json
import re

import numpy as np

CHROMA_SHIFTS = {"420": (1, 1), "422": (1, 0), "444": (0, 0)}


def read_y4m(data):
    """The planes of a y4m file, each with time as its first axis."""
    head, _, rest = data.partition(b"\n")
    width, height = int(re.search(rb" W(\d+)", head)[1]), int(re.search(rb" H(\d+)", head)[1])
    space = (re.search(rb" C(\S+)", head) or [b"", b"420"])[1].decode()
    dtype = np.uint16 if space.endswith("p10") else np.uint8
    sizes = [(height, width)]
    if not space.startswith("mono"):
        x, y = CHROMA_SHIFTS[space[:3]]
        sizes += 2 * [(-(-height >> y), -(-width >> x))]
    planes = [[] for _ in sizes]
    while rest:
        assert rest.startswith(b"FRAME")
        rest = rest.partition(b"\n")[2]
        for plane, (rows, columns) in zip(planes, sizes):
            length = rows * columns * np.dtype(dtype).itemsize
            plane.append(np.frombuffer(rest[:length], dtype).reshape(rows, columns))
            rest = rest[length:]
    return tuple(np.stack(plane) for plane in planes)


def write_picture(path, picture):
    """PGM, PPM or PFM, by type and shape; FFmpeg takes the first row of PFM for the topmost."""
    colors = picture.ndim == 3
    height, width = picture.shape[:2]
    with open(path, "wb") as file:
        if picture.dtype == np.float32:
            file.write(b"PF" if colors else b"Pf")
            file.write(b"\n%d %d\n-1.0\n" % (width, height) + picture.astype("<f4").tobytes())
        else:
            file.write(b"P6" if colors else b"P5")
            file.write(b"\n%d %d\n%d\n" % (width, height, np.iinfo(picture.dtype).max))
            file.write(picture.astype(picture.dtype.newbyteorder(">")).tobytes())


def read_picture(path, like):
    with open(path, "rb") as file:
        samples = file.read()
    picture = np.frombuffer(samples[-like.nbytes :], like.dtype.newbyteorder("<" if like.dtype == np.float32 else ">"))
    picture = picture.reshape(like.shape)
    return picture.astype(like.dtype)


def noisy(shape, dtype=np.uint8, sigma=10, seed=1, bits=None):
    """A picture, (rows, columns) or (rows, columns, colors), or a video of one that moves, with noise."""
    generator = np.random.default_rng(seed)
    rows, columns = shape[-2:] if shape[-1] > 4 else shape[-3:-1]
    y, x = np.mgrid[0:rows, 0:columns]
    clean = 128 + 60 * np.sin(x / 9) * np.cos(y / 7) + 30 * ((x // 16 + y // 16) % 2)
    if shape[-1] <= 4:
        clean = clean[..., None] * np.linspace(1, 0.6, shape[-1])
    samples = np.clip(clean + generator.normal(0, sigma, shape), 0, 255)
    if dtype == np.float32:
        return (samples / 255).astype(np.float32)
    scale = 1 << ((bits or np.iinfo(dtype).bits) - 8)
    return np.minimum(np.rint(samples * scale), 256 * scale - 1).astype(dtype)


def report(output):
    return json.loads(output)
