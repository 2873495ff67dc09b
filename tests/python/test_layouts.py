# SPDX-License-Identifier: MIT
"""Pictures as other libraries have them: 4:2:0 in one array, OpenCV's BGR, frames of PyAV."""

import pathlib
import re
import textwrap

import numpy as np
import pytest
from clips import noisy

import limpid

av = pytest.importorskip("av")

QUICK = {"filter": "bilateral", "sigma": (10, 5, 5), "engine": "cpu"}
README = pathlib.Path(__file__).parents[2] / "python" / "README.md"


def planes_of(count=None, dtype=np.uint8, width=48, height=36, bits=None):
    shape = () if count is None else (count,)
    half = (*shape, height // 2, width // 2)
    return tuple(noisy(size, dtype, seed=seed, bits=bits) for seed, size in enumerate([(*shape, height, width), half, half]))


def packed(planes, color):
    y, u, v = planes
    chroma = [np.stack([u, v], -1)] if color == "nv12" else [u, v]
    flat = [part.reshape(*y.shape[:-2], -1) for part in (y, *chroma)]
    return np.concatenate(flat, -1).reshape(*y.shape[:-2], -1, y.shape[-1])


@pytest.mark.parametrize("color", ["i420", "nv12"])
@pytest.mark.parametrize("count", [None, 3])
@pytest.mark.parametrize("dtype, more", [(np.uint8, {}), (np.uint16, {"data_range": 1023}), (np.float64, {"data_range": 255})])
def test_420_may_be_one_array(color, count, dtype, more):
    planes = planes_of(count, np.uint8 if dtype == np.float64 else dtype, bits=10 if dtype == np.uint16 else None)
    planes = tuple(plane.astype(dtype) for plane in planes)
    expected = packed(limpid.denoise(planes, **more, **QUICK), color)
    array = packed(planes, color)
    result = limpid.denoise(array, color=color, **more, **QUICK)
    assert result.dtype == dtype and np.array_equal(result, expected)
    out = np.zeros_like(array)
    assert limpid.denoise(array, color=color, out=out, **more, **QUICK) is out and np.array_equal(out, expected)
    padded = np.repeat(array, 2, -1)[..., ::2]
    assert np.array_equal(limpid.denoise(padded, color=color, **more, **QUICK), expected)
    if count:
        frames = list(limpid.denoise_frames(array, color=color, **more, **QUICK))
        assert np.array_equal(np.stack(frames), expected)
    else:
        assert limpid.estimate_noise(array, color=color, **more) == limpid.estimate_noise(planes, **more)
        assert limpid.measure(array, result, color=color, **more) == limpid.measure(planes, limpid.denoise(planes, **more, **QUICK), **more)


def test_gray_pictures_of_the_shape_of_420_need_a_word():
    gray = noisy((270, 320))
    for wrong in (gray, gray[None], [gray]):
        with pytest.raises(limpid.ArgumentError, match="may be a frame in 4:2:0"):
            limpid.denoise(wrong, filter="bilateral", sigma=10)
    assert limpid.denoise(gray, color="gray", filter="bilateral", sigma=10).shape == gray.shape
    for width, height in ((1920, 1080), (854, 480), (1366, 768), (720, 480), (720, 576), (640, 480), (1080, 1920), (352, 288)):
        with pytest.raises(limpid.ArgumentError, match="may be a frame in 4:2:0"):
            limpid.Denoiser().start(np.zeros((height * 3 // 2, width), np.uint8))
        limpid.Denoiser().start(np.zeros((height, width), np.uint8))
    for width, height in ((512, 512), (600, 600), (1200, 800), (1024, 1024), (2048, 2048), (96, 108)):
        limpid.Denoiser().start(np.zeros((height, width), np.uint8))


def test_bgr_is_rgb_in_the_other_order():
    for picture in (noisy((24, 32, 3)), noisy((24, 32, 4)), noisy((2, 24, 32, 3)), noisy((24, 32, 3), np.float32)):
        order = [2, 1, 0, 3][: picture.shape[-1]]
        settings = {"filter": "bm3d", "sigma": (20, 10, 5), "engine": "cpu"}
        expected = limpid.denoise(picture, **settings)
        swapped = np.ascontiguousarray(picture[..., order])
        assert np.array_equal(limpid.denoise(swapped, color="bgr", **settings), expected[..., order])
        view = picture[..., ::-1][:, ::-1] if picture.shape[-1] == 3 else swapped[:, ::-1]
        plain = limpid.denoise(view.copy(), color="bgr", **settings)
        assert np.array_equal(limpid.denoise(view, color="bgr", **settings), plain)


def video_frame(name):
    frame = av.VideoFrame(36, 24, name)
    bits = frame.format.components[0].bits
    for seed, plane in enumerate(frame.planes):
        dtype = np.uint8 if bits == 8 else np.uint16
        rows = noisy((plane.height, plane.line_size // (bits // 8 if bits != 10 else 2)), dtype, seed=seed, bits=bits)
        plane.update(rows.tobytes())
    frame.pts, frame.colorspace, frame.color_range = 7, 1, 1
    return frame


def are_equal(frame, other):
    return set(limpid.measure(frame, other).psnr) == {np.inf}


FORMATS = ["yuv420p", "yuvj420p", "yuv422p10le", "yuva444p", "nv12", "gray", "gray16le", "gbrp", "gbrp10le", "rgb24", "rgba"]


@pytest.mark.parametrize("name", FORMATS)
def test_frames_of_pyav_come_back_as_frames(name):
    frame = video_frame(name)
    settings = {"filter": "bm3d", "sigma": 10, "engine": "cpu"}
    (result,) = limpid.denoise_frames([frame], **settings)
    assert (result.format.name, result.pts, result.colorspace, result.color_range) == (name, 7, 1, 1)
    for same in (limpid.denoise(frame, **settings), limpid.denoise([frame], **settings)[0]):
        assert same is not frame and are_equal(same, result) and not are_equal(same, frame)
    if "yuv4" not in name and "yuva" not in name or "420" in name:
        color = "nv12" if name == "nv12" else "i420" if "420" in name else None
        how = {"color": color, "data_range": 1023 if "10" in name else None}
        assert np.array_equal(limpid.denoise(frame.to_ndarray(), **how, **settings), result.to_ndarray())


def test_other_frames_of_pyav_are_refused_with_a_way():
    for name in ("yuyv422", "p010le", "bgr24", "pal8"):
        with pytest.raises(limpid.ArgumentError, match=rf"in {name} are not supported: .*reformat\(format='yuv420p'\)"):
            limpid.denoise(av.VideoFrame(32, 24, name))
    with pytest.raises(limpid.ArgumentError, match="frames of PyAV have their format"):
        limpid.denoise(av.VideoFrame(32, 24, "gray"), data_range=255)


def test_the_example_of_the_readme_denoises_a_file(tmp_path, monkeypatch, program):
    text = README.read_text().split("here without the audio:\n\n")[1]
    example = textwrap.dedent(re.match(r"(    .*\n)+", text)[0]).replace("libx264", "ffv1").replace('"crf": "18"', '"level": "3"')
    assert len(example.splitlines()) <= 10
    program("limpid-samples", "--size", "96x64", "--frames", "8", "--sigma", "20", "--noisy", tmp_path / "noisy.mkv")
    program("limpid", "denoise", tmp_path / "noisy.mkv", "-o", tmp_path / "expected.mkv", "-c", "ffv1", "-q", "--engine", "cpu")
    monkeypatch.chdir(tmp_path)
    exec(example, {})

    def frames(name):
        with av.open(name) as container:
            return [(frame.time, frame.to_ndarray()) for frame in container.decode(video=0)]

    for (time, result), (expected_time, expected) in zip(frames("clean.mkv"), frames("expected.mkv"), strict=True):
        assert abs(time - expected_time) < 0.001 and np.array_equal(result, expected)
