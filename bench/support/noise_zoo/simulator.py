# SPDX-License-Identifier: MIT
"""A simulated camera that gives noisy video with its truth.

A clean clip is converted to linear light, exposed by a sensor with a Bayer mosaic and Poisson-Gaussian noise, read out
with 12 bits, demosaicked, white-balanced, scaled, converted to 8-bit Y'CbCr 4:2:0, filtered over time, and coded by
x264. The truth takes the same path without noise, temporal filter and codec."""
import dataclasses
import io
import math

import av
import numpy as np

from clips import Clip, linear, shrunk, yuv
from noise import BLACK, IMX385, WHITE

# Gains of red, green and blue for daylight: the middle of the ranges of Brooks et al., CVPR 2019.
WHITE_BALANCE = np.array([2.1, 1.0, 1.7])


@dataclasses.dataclass
class Settings:
    iso: float
    mosaic: bool = True  # without: white noise in linear light, no white balance
    row_noise: float = 0  # standard deviation of each row's offset, relative to the read noise
    fixed_pattern: float = 0  # standard deviation of each sample's constant offset, relative to the read noise
    scale: float = 1
    temporal: float = 0  # weight of the previous result in the camera's recursive filter
    crf: float | None = None  # of x264; None: not coded
    seed: int = 1


def noise_of(iso):
    """Returns a and b of the variance a x + b of a normalized raw value x, interpolated between the known ISOs."""
    known = sorted(IMX385)
    gain = np.interp(math.log(iso), np.log(known), [math.log(IMX385[i][0] / WHITE) for i in known])
    read = np.interp(math.log(iso), np.log(known), [math.log(IMX385[i][1] / WHITE**2) for i in known])
    return math.exp(gain), math.exp(read)


def to_gamma(values):
    values = np.clip(values, 0, 1)
    return np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)


def convolved(plane, kernel):
    kernel = np.asarray(kernel, float)
    radius = kernel.shape[0] // 2
    padded = np.pad(plane, radius, mode="reflect")
    result = np.zeros_like(plane)
    for dy, row in enumerate(kernel):
        for dx, weight in enumerate(row):
            if weight:
                result += weight * padded[dy:dy + plane.shape[0], dx:dx + plane.shape[1]]
    return result


def bayer_masks(height, width):
    """Which samples of an RGGB mosaic are red, green and blue."""
    masks = np.zeros((height, width, 3))
    masks[0::2, 0::2, 0] = 1
    masks[0::2, 1::2, 1] = 1
    masks[1::2, 0::2, 1] = 1
    masks[1::2, 1::2, 2] = 1
    return masks


GREEN = np.array([[0, 0, -1, 0, 0], [0, 0, 2, 0, 0], [-1, 2, 4, 2, -1], [0, 0, 2, 0, 0], [0, 0, -1, 0, 0]]) / 8
ALONG_ROW = np.array([[0, 0, .5, 0, 0], [0, -1, 0, -1, 0], [-1, 4, 5, 4, -1], [0, -1, 0, -1, 0],
                      [0, 0, .5, 0, 0]]) / 8
DIAGONAL = np.array([[0, 0, -1.5, 0, 0], [0, 2, 0, 2, 0], [-1.5, 0, 6, 0, -1.5], [0, 2, 0, 2, 0],
                     [0, 0, -1.5, 0, 0]]) / 8


def demosaicked(raw, masks):
    """The 5x5 linear filters of Malvar, He and Cutler (ICASSP 2004) for an RGGB mosaic."""
    is_red, is_green, is_blue = (masks[..., channel] == 1 for channel in range(3))
    red_row = np.arange(len(raw))[:, None] % 2 == 0
    along_row, along_column = convolved(raw, ALONG_ROW), convolved(raw, ALONG_ROW.T)
    diagonal = convolved(raw, DIAGONAL)
    green = np.where(is_green, raw, convolved(raw, GREEN))
    red = np.where(is_red, raw, np.where(is_blue, diagonal, np.where(red_row, along_row, along_column)))
    blue = np.where(is_blue, raw, np.where(is_red, diagonal, np.where(red_row, along_column, along_row)))
    return np.stack([red, green, blue], -1)


def resized(rgb, factor):
    """Separable Catmull-Rom, with the kernel widened to shrink, to even sizes."""
    def matrix(size):
        target = int(round(size * factor)) // 2 * 2
        width = max(1.0, 1 / factor)
        position = (np.arange(target) + 0.5) * size / target - 0.5
        t = np.abs(position[:, None] - np.arange(size)[None]) / width
        inner, outer = 1.5 * t**3 - 2.5 * t**2 + 1, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
        kernel = np.where(t < 1, inner, np.where(t < 2, outer, 0))
        return kernel / kernel.sum(1, keepdims=True)
    return np.einsum("yi,ijc,xj->yxc", matrix(rgb.shape[0]), rgb, matrix(rgb.shape[1]), optimize=True)


class Camera:
    def __init__(self, settings, height, width):
        self.settings = settings
        self.random = np.random.default_rng(settings.seed)
        self.masks = bayer_masks(height, width)
        self.pattern = self.random.standard_normal((height, width)) if settings.fixed_pattern else None

    def exposed(self, light):
        """Normalized raw values with noise, rounded to 12 bits."""
        gain, read = noise_of(self.settings.iso)
        deviation = math.sqrt(read)
        raw = self.random.poisson(np.maximum(light, 0) / gain) * gain
        raw = raw + deviation * self.random.standard_normal(light.shape)
        if self.settings.row_noise:
            offsets = self.random.standard_normal((light.shape[0],) + (1,) * (light.ndim - 1))
            raw = raw + self.settings.row_noise * deviation * offsets
        if self.pattern is not None:
            pattern = self.pattern if light.ndim == 2 else self.pattern[..., None]
            raw = raw + self.settings.fixed_pattern * deviation * pattern
        return np.clip(np.rint(raw * WHITE) / WHITE, -BLACK / WHITE, 1)

    def developed(self, rgb, noisy):
        """Planes of 8-bit 4:2:0 of a frame of R'G'B' in 0..1."""
        light = linear(rgb)
        if self.settings.mosaic:
            raw = (light / WHITE_BALANCE * self.masks).sum(-1)
            light = demosaicked(self.exposed(raw) if noisy else raw, self.masks) * WHITE_BALANCE
        elif noisy:
            light = self.exposed(light)
        picture = to_gamma(light)
        if self.settings.scale != 1:
            picture = np.clip(resized(picture, self.settings.scale), 0, 1)
        return yuv(picture)


def filtered_over_time(frames, weight):
    """A camera's recursive temporal filter, which is weak where the picture changes."""
    result, state = [], None
    for planes in frames:
        current = [plane.astype(float) for plane in planes]
        if state is not None:
            for i, (before, now) in enumerate(zip(state, current)):
                change = np.abs(convolved(now - before, np.ones((3, 3)) / 9))
                share = weight * np.exp(-(change / 8) ** 2)
                current[i] = share * before + (1 - share) * now
        state = current
        result.append([np.clip(np.rint(plane), 0, 255).astype(np.uint8) for plane in state])
    return result


def through_x264(frames, crf):
    height, width = frames[0][0].shape
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="matroska") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "medium", "threads": "1", "crf": str(float(crf))}
        for planes in frames:
            frame = av.VideoFrame(width, height, "yuv420p")
            for target, plane in zip(frame.planes, planes):
                np.frombuffer(target, np.uint8).reshape(-1, target.line_size)[:, :plane.shape[1]] = plane
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    buffer.seek(0)
    with av.open(buffer) as container:
        return [[np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[:, :plane.width].copy()
                 for plane in frame.planes] for frame in container.decode(video=0)]


def read_rgb(path, start, count):
    """Frames as R'G'B' in 0..1."""
    result = []
    with av.open(str(path)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number >= start + count:
                break
            if number >= start:
                result.append(frame.to_ndarray(format="rgb24").astype(np.float64) / 255)
    if not result:
        raise ValueError(f"{path} has no frame {start}")
    return result


def simulated(path, start, count, down, size, settings):
    """Truth and noisy clip of a file, shrunk in linear light and cropped at the center to size (width, height)."""
    frames = read_rgb(path, start, count)
    if down > 1:  # hides the noise and the compression of the source
        frames = [to_gamma(shrunk(linear(frame), down)) for frame in frames]
    height, width = frames[0].shape[:2]
    cropped_width, cropped_height = min(size[0], width) // 4 * 4, min(size[1], height) // 4 * 4
    top, left = (height - cropped_height) // 4 * 2, (width - cropped_width) // 4 * 2
    frames = [frame[top:top + cropped_height, left:left + cropped_width] for frame in frames]
    camera = Camera(settings, cropped_height, cropped_width)
    truth = [camera.developed(frame, False) for frame in frames]
    noisy = [camera.developed(frame, True) for frame in frames]
    if settings.temporal:
        noisy = filtered_over_time(noisy, settings.temporal)
    if settings.crf is not None:
        noisy = through_x264(noisy, settings.crf)
    return Clip(truth), Clip(noisy)
