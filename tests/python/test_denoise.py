# SPDX-License-Identifier: MIT
"""Results of all interfaces, compared with those of the program."""

import numpy as np
import pytest
from clips import noisy, read_picture, read_y4m, write_picture

import limpid

QUICK = {"filter": "bilateral", "sigma": 10}


def same(a, b):
    return all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    "chroma, depth, size, settings",
    [
        ("420", 8, "96x60", {}),
        ("420", 10, "98x61", {"sigma": (20, 10, 10), "profile": "fast", "strength": "strong"}),
        ("422", 8, "67x41", {"filter": "bm3d:search-window=9", "profile": "fast", "planes": "luma"}),
        ("444", 10, "64x48", {"filter": "nlm", "sigma": 12.5}),
        ("gray", 8, "65x33", {"profile": "fast", "reach": (2, 1), "sigma": 20}),
    ],
)
def test_video_has_the_programs_bits(program, tmp_path, chroma, depth, size, settings):
    program("limpid-samples", "--size", size, "--frames", 5, "--format", chroma, "--depth", depth, "--noisy", tmp_path / "in.y4m")
    options = []
    for name, value in settings.items():
        if name == "search_window":  # a parameter of the filter
            options[options.index("--filter") + 1] += f":search-window={value}"
            continue
        options += ["--" + name.replace("_", "-")]
        if value is not True:
            options += [",".join(map(str, value)) if isinstance(value, tuple) else value]
    program("limpid", "denoise", tmp_path / "in.y4m", "-o", tmp_path / "out.y4m", "-q", "--engine", "cpu", *options)
    expected = read_y4m((tmp_path / "out.y4m").read_bytes())
    planes = read_y4m((tmp_path / "in.y4m").read_bytes())
    settings = dict(settings, engine="cpu", data_range=2**depth - 1)

    clip = planes if len(planes) > 1 else planes[0]
    result = limpid.denoise(clip, **settings)
    assert same(result if len(planes) > 1 else (result,), expected)

    frames = list(zip(*planes)) if len(planes) > 1 else list(planes[0])
    for t, frame in enumerate(limpid.denoise_frames(iter(frames), **settings)):
        assert same(frame if len(planes) > 1 else (frame,), [plane[t] for plane in expected])
    assert t == 4


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("shape", [(50, 70), (41, 67, 3)])
def test_pictures_have_the_programs_bits(program, tmp_path, shape, dtype):
    picture = noisy(shape, dtype)
    extension = "pfm" if dtype == np.float32 else "pgm" if len(shape) == 2 else "ppm"
    write_picture(tmp_path / f"in.{extension}", picture)
    program("limpid", "denoise", tmp_path / f"in.{extension}", "-o", tmp_path / f"out.{extension}", "-q", "--engine", "cpu")
    expected = read_picture(tmp_path / f"out.{extension}", picture)
    assert not np.array_equal(expected, picture)
    assert np.array_equal(limpid.denoise(picture, engine="cpu"), expected)


@pytest.mark.parametrize("shape", [(50, 70), (41, 67, 3)])
def test_half_floats_have_the_results_of_floats(shape):
    halves = noisy(shape, np.float32).astype(np.float16)
    result = limpid.denoise(halves, engine="cpu")
    assert result.dtype == np.float16
    assert np.array_equal(result, limpid.denoise(halves.astype(np.float32), engine="cpu").astype(np.float16))


def test_noise_is_removed():
    clean = noisy((96, 128), sigma=0)
    picture = noisy((96, 128))
    before, after = limpid.measure(clean, picture), limpid.measure(clean, limpid.denoise(picture))
    assert after.psnr[0] > before.psnr[0] + 6


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::-1],
        lambda a: a[:, ::-1],
        lambda a: a.T,
        lambda a: a[3:, 5:],
        lambda a: a[::2, ::3],
        lambda a: a[:, ::20],
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: np.lib.stride_tricks.sliding_window_view(a, (8, 8))[:, :, 0, 0],
        lambda a: np.lib.stride_tricks.sliding_window_view(a[0], 30),
        lambda a: a[:1],
        lambda a: a[:, :1],
    ],
)
def test_strides_do_not_matter(view):
    for dtype in (np.uint8, np.float32):
        strided = view(noisy((40, 60), dtype))
        strided.flags.writeable = False
        plain = np.ascontiguousarray(strided)
        result = limpid.denoise(strided, **QUICK)
        assert result.flags.c_contiguous
        assert np.array_equal(result, limpid.denoise(plain, **QUICK))


def test_fields_of_records_are_arrays():
    records = np.zeros((20, 30), [("a", np.uint8), ("b", np.uint16), ("c", np.float32)])
    records["b"] = noisy((20, 30), np.uint16)
    assert np.array_equal(limpid.denoise(records["b"], **QUICK), limpid.denoise(records["b"].copy(), **QUICK))


def test_color_may_be_any_axis():
    picture = noisy((40, 60, 3))
    expected = limpid.denoise(picture, **QUICK)
    planes = tuple(np.moveaxis(picture, 2, 0).copy())
    assert np.array_equal(limpid.denoise(np.stack(planes), axes="CYX", **QUICK), np.moveaxis(expected, 2, 0))
    assert same(limpid.denoise(planes, color="rgb", **QUICK), np.moveaxis(expected, 2, 0))
    assert not same(limpid.denoise(planes, sigma=10), limpid.denoise(planes, sigma=10, color="rgb")), "as YUV"
    assert np.array_equal(limpid.denoise(picture.transpose(1, 2, 0), axes="XCY", **QUICK), expected.transpose(1, 2, 0))


def test_videos_axes_are_understood():
    video = noisy((3, 24, 32, 3))
    expected = np.stack([limpid.denoise(frame, **QUICK) for frame in video])
    assert np.array_equal(limpid.denoise(video, **QUICK), expected)
    assert np.array_equal(limpid.denoise(np.moveaxis(video, 3, 1), **QUICK), np.moveaxis(expected, 3, 1))
    gray = video[..., 0]
    assert np.array_equal(limpid.denoise(gray, axes="TYX", **QUICK)[1], limpid.denoise(gray[1], **QUICK))


def test_chroma_may_be_interleaved():
    luma, chroma = noisy((32, 48)), noisy((16, 24, 2))
    u, v = chroma[..., 0], chroma[..., 1]
    assert same(limpid.denoise((luma, u, v), **QUICK), limpid.denoise((luma, u.copy(), v.copy()), **QUICK))


def test_alpha_is_passed_through():
    picture = noisy((24, 32, 4))
    result = limpid.denoise(picture, **QUICK)
    assert np.array_equal(result[..., 3], picture[..., 3])
    assert np.array_equal(result[..., :3], limpid.denoise(picture[..., :3], **QUICK))


def test_results_go_where_they_are_told_to():
    video = noisy((5, 24, 32), np.uint16, bits=10)
    settings = {"sigma": 10, "profile": "fast", "data_range": 1023}
    expected = limpid.denoise(video, **settings)
    wide = np.zeros((5, 24, 80), np.uint16)
    out = wide[:, ::-1, ::2][..., :32]
    assert limpid.denoise(video, out=out, **settings) is out
    assert np.array_equal(out, expected)
    assert not wide[:, :, 1::2].any() and not wide[..., 64:].any()
    limpid.denoise(video, out=video, **settings)
    assert np.array_equal(video, expected), "in its place"


def test_stream_gives_results_in_order_and_anew():
    video = noisy((6, 24, 32))
    expected = limpid.denoise(video, sigma=10, profile="fast", reach=1, fields="progressive")
    denoiser = limpid.Denoiser(sigma=10, profile="fast", reach=1, fields="progressive")
    assert denoiser.receive() is None
    denoiser.flush()
    denoiser.start(video[0])
    assert denoiser.stream.filter == "vbm4d"
    reach = denoiser.stream.reach_before
    assert 0 < reach == denoiser.stream.reach_after == denoiser.stream.latency
    for _ in range(2):
        results = []
        out = np.empty((24, 32), np.uint8)
        for t, frame in enumerate(video):
            frame = frame.copy()
            denoiser.send(frame, out=out if t == 2 else None)
            frame[:] = 0  # it is copied
            results += denoiser.results()
        assert len(results) == 6 - reach
        denoiser.flush()
        results += denoiser.results()
        assert results[2] is out
        assert np.array_equal(np.stack(results), expected)
        with pytest.raises(limpid.StateError, match="after a flush"):
            denoiser.send(video[0])
        denoiser.reset()
        denoiser.send(video[3])
        denoiser.reset()


def test_context_frames_make_any_segment_of_a_stream():
    video = noisy((9, 24, 32))
    denoiser = limpid.Denoiser(sigma=10, profile="fast", reach=1, fields="progressive")
    denoiser.start(video[0])
    reach = denoiser.stream.reach_before
    for t in range(4 - reach, 5 + reach):
        denoiser.send(video[t], context=t != 4)
    denoiser.flush()
    (result,) = denoiser.results()
    assert np.array_equal(result, limpid.denoise(video, sigma=10, profile="fast", reach=1, fields="progressive")[4])


def test_flags_of_frames_are_heeded():
    video = noisy((4, 24, 32))
    settings = {"sigma": 10, "profile": "fast"}
    denoiser = limpid.Denoiser(**settings)
    for t, frame in enumerate(video):
        denoiser.send(frame, begins_anew=t == 2)
    denoiser.flush()
    halves = [limpid.denoise(video[:2], **settings), limpid.denoise(video[2:], **settings)]
    assert np.array_equal(np.stack(list(denoiser.results())), np.concatenate(halves))

    picture = noisy((64, 64))
    assert np.array_equal(limpid.denoise(picture, interlaced=True, **QUICK), limpid.denoise(picture, **QUICK))
    picture[1::2] = np.roll(picture[1::2], 9, axis=1)  # as in motion
    fields = np.empty_like(picture)
    fields[::2], fields[1::2] = limpid.denoise(picture[::2], **QUICK), limpid.denoise(picture[1::2], **QUICK)
    assert np.array_equal(limpid.denoise(picture, interlaced=True, **QUICK), fields)
    assert not np.array_equal(limpid.denoise(picture, **QUICK), fields)


def test_settings_change_between_frames():
    picture = noisy((24, 32))
    denoiser = limpid.Denoiser(**QUICK)
    denoiser.send(picture)
    denoiser.set(sigma=20)
    denoiser.send(picture)
    results = list(denoiser.results())
    assert np.array_equal(results[0], limpid.denoise(picture, **QUICK))
    assert np.array_equal(results[1], limpid.denoise(picture, filter="bilateral", sigma=20))
    denoiser.set(sigma=None)
    denoiser.reset()
    denoiser.send(picture)
    denoiser.flush()
    assert np.array_equal(denoiser.receive(), limpid.denoise(picture, filter="bilateral"))


def test_values_may_be_numpys():
    picture = noisy((24, 32))
    expected = limpid.denoise(picture, filter="bm3d", profile="fast", sigma=10, step=3)
    assert np.array_equal(
        limpid.denoise(picture, filter="bm3d", profile="fast", sigma=np.float32(10), step=np.int64(3)), expected
    )
    assert np.array_equal(limpid.denoise(picture, filter="bm3d", profile="fast", sigma=np.array([10.0]), step="3"), expected)


def test_what_will_not_be_filtered_is_warned_of():
    with pytest.warns(RuntimeWarning, match="smaller than") as warned:
        limpid.denoise(noisy((2, 7)), sigma=10)
    assert warned[0].filename == __file__


def test_lists_tell_what_there_is():
    assert limpid.engines()[-1].name == "cpu" and limpid.engines()[-1].available
    filters = {each.name: each for each in limpid.filters()}
    assert {"bm3d", "vbm4d", "bilateral", "nlm"} <= set(filters)
    assert filters["bm3d"].default_profile == "np" and "fast" in filters["bm3d"].profiles
    assert "search_window" in [parameter.name for parameter in filters["bm3d"].parameters]
    for each in filters.values():
        assert each.help and all(parameter.help for parameter in each.parameters)
