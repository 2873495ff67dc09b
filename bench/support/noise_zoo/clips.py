# SPDX-License-Identifier: MIT
"""Clips in memory: reading, writing, coding and color conversion. Uses the program ffmpeg and PyAV."""
import dataclasses
import pathlib
import subprocess
import tempfile

import av
import numpy as np

SYNTHETIC = ("-f", "lavfi")  # ffmpeg's input is a description of a synthetic source


@dataclasses.dataclass
class Clip:
    """Frames, each a list of planes (uint8, uint16 or float32): gray; Y, U and V; or R, G and B."""
    frames: list
    bits: int = 8
    full: bool = False  # full range of code values, else limited range
    interlaced: bool = False  # top field first
    tags: tuple = ()  # ffmpeg's options for the color tags of the file
    rgb: bool = False  # one frame of R, G and B

    def like(self, frames):
        return dataclasses.replace(self, frames=frames)


def ffmpeg(*arguments):
    command = ["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)]
    process = subprocess.run(command, capture_output=True)
    if process.returncode != 0:
        raise RuntimeError("ffmpeg: " + process.stderr.decode(errors="replace").strip()[-300:])


def planes_of(frame):
    """The planes of a frame of PyAV, in the order R, G and B or Y, U and V."""
    name = frame.format.name
    kind = np.uint16 if any(component.bits > 8 for component in frame.format.components) else np.uint8
    if "f32" in name:
        kind = np.float32
    if name.startswith(("rgb", "bgr", "pal8", "argb", "abgr", "0rgb")):
        return list(frame.to_ndarray(format="rgb24" if kind == np.uint8 else "rgb48le").transpose(2, 0, 1))
    planes = [np.frombuffer(p, kind).reshape(p.height, -1)[:, :p.width].copy() for p in frame.planes]
    return [planes[2], *planes[:2]] if name.startswith("gbr") else planes


def read_frames(path):
    """All frames of a file, or of a sequence of pictures whose name has %03d."""
    if "%03d" in path.name:
        files = sorted(path.parent.glob(path.name.replace("%03d", "[0-9]*")))
        return [frame for file in files for frame in read_frames(file)]
    with av.open(str(path)) as container:
        return [planes_of(frame) for frame in container.decode(video=0)]


def write_y4m(path, clip):
    height, width = clip.frames[0][0].shape
    color = "mono" if len(clip.frames[0]) == 1 else "420jpeg"
    if clip.bits > 8:
        color = f"mono{clip.bits}" if color == "mono" else f"420p{clip.bits} XYSCSS=420P{clip.bits}"
    header = f"YUV4MPEG2 W{width} H{height} F25:1 I{'t' if clip.interlaced else 'p'} A1:1 C{color} " \
             f"XCOLORRANGE={'FULL' if clip.full else 'LIMITED'}\n"
    with open(path, "wb") as file:
        file.write(header.encode())
        for planes in clip.frames:
            file.write(b"FRAME\n" + b"".join(np.ascontiguousarray(plane).tobytes() for plane in planes))


def write_pfm(path, planes):
    height, width = planes[0].shape
    header = f"{'PF' if len(planes) == 3 else 'Pf'}\n{width} {height}\n-1.0\n"
    path.write_bytes(header.encode() + np.stack(planes, -1)[::-1].astype("<f4").tobytes())


def write(folder, stem, clip):
    """Writes a picture's file as PNG, a float clip as PFM, a tagged clip as FFV1, others as Y4M. Returns the name."""
    if isinstance(clip, pathlib.Path):
        ffmpeg("-i", clip, folder / f"{stem}.png")
        return f"{stem}.png"
    if clip.rgb:
        height, width = clip.frames[0][0].shape
        samples = np.stack(clip.frames[0], -1).tobytes()
        (folder / f"{stem}.ppm").write_bytes(f"P6\n{width} {height}\n255\n".encode() + samples)
        return f"{stem}.ppm"
    if clip.frames[0][0].dtype == np.float32:
        for number, planes in enumerate(clip.frames, 1):
            write_pfm(folder / f"{stem}_{number:03d}.pfm", planes)
        return f"{stem}_%03d.pfm"
    plain = folder / f"{stem}.y4m"
    write_y4m(plain, clip)
    if not clip.tags:
        return plain.name
    ffmpeg("-i", plain, "-c:v", "ffv1", *clip.tags, folder / f"{stem}.mkv")
    plain.unlink()
    return f"{stem}.mkv"


def filtered(source, filters, pixel_format, count=1, source_options=()):
    """The first `count` frames of a source after ffmpeg's filters."""
    with tempfile.TemporaryDirectory() as folder:
        is_rgb = "gbr" in pixel_format
        path = pathlib.Path(folder) / ("filtered.mkv" if is_rgb else "filtered.y4m")
        codec = ("-c:v", "ffv1") if is_rgb else ()
        ffmpeg(*source_options, "-i", source, "-vf", filters, "-frames:v", count, "-fps_mode", "passthrough",
               "-pix_fmt", pixel_format, *codec, path)
        return read_frames(path)


def coded(clip, *options, extension="mkv", after="null"):
    """The clip after ffmpeg's encoder and decoder and then the filters `after`."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "in.y4m"
        target = pathlib.Path(folder) / f"coded.{extension}"
        write_y4m(source, clip)
        ffmpeg("-i", source, *options, "-threads", 1, target)  # results of encoders depend on the number of threads
        pixel_format = "yuvj420p" if clip.full else "yuv420p"
        if len(clip.frames[0]) == 1:
            pixel_format = "gray"
        return clip.like(filtered(target, after, pixel_format, 999))


def rounded(plane, bits=8):
    """Samples as unsigned integers, rounded and clipped."""
    return np.clip(np.rint(plane), 0, 2**bits - 1).astype(np.uint8 if bits == 8 else np.uint16)


def linear(values):
    """Linear light of sRGB values in 0..1."""
    return np.where(values <= 0.04045, values / 12.92, ((np.maximum(values, 0) + 0.055) / 1.055)**2.4)


def shrunk(plane, factor=2):
    """Means of squares of factor x factor samples."""
    height, width = (size // factor * factor for size in plane.shape[:2])
    squares = plane[:height, :width].reshape(height // factor, factor, width // factor, factor, *plane.shape[2:])
    return squares.mean((1, 3))


def yuv(rgb, kr=0.2126, kb=0.0722, bits=8):
    """Planes of 4:2:0 in limited range from R'G'B' in 0..1, with the luma weights kr and kb (default BT.709)."""
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    luma = kr * red + (1 - kr - kb) * green + kb * blue
    u = shrunk(blue - luma) / (2 * (1 - kb))
    v = shrunk(red - luma) / (2 * (1 - kr))
    return [rounded(2**(bits - 8) * plane, bits) for plane in (16 + 219 * luma, 128 + 224 * u, 128 + 224 * v)]


def weave(top, bottom):
    """A frame with the even rows of the frame `top` and the odd rows of the frame `bottom`."""
    return [np.where(np.arange(len(p))[:, None] % 2 == 0, p, q) for p, q in zip(top, bottom)]
