# SPDX-License-Identifier: MIT
"""What is refused, and in which words."""

import numpy as np
import pytest
from clips import noisy

import limpid

PICTURE = np.zeros((24, 32), np.uint8)


@pytest.mark.parametrize(
    "array, options, words",
    [
        (PICTURE.astype(np.int32), {}, "samples are int32, and uint8, uint16, int16, float16, float32 and float64 can be"),
        (PICTURE, {"bit_depth": 12}, "bit_depth is not a setting: give data_range=, such as data_range=1023 for 10 bits"),
        (PICTURE, {"out": PICTURE.astype(">u2")}, "another byte order"),
        ([PICTURE], {"out": [PICTURE]}, "out is not possible for a list of frames"),
        (PICTURE, {"channel_axis": 2}, r"channel_axis=2 is not possible for an array of shape \(24, 32\)"),
        (PICTURE, {"channel_axis": 0, "axes": "YX"}, "without axes="),
        (PICTURE, {"color": "channels"}, "requires an axis of channels"),
        (np.zeros((24, 32, 5), np.uint8), {"color": "channels", "axes": "YXC", "sigma": (1, 2)}, "sigma has 2 values"),
        (PICTURE.astype(object), {}, "samples are object"),
        (np.zeros(5, np.uint8), {}, r"axes of an array of shape \(5,\) are ambiguous"),
        (np.uint8(5), {}, None),
        (np.zeros((3, 24, 32), np.uint8), {}, r"shape \(3, 24, 32\) are ambiguous: .* 'TYX' or 'CYX'"),
        (np.zeros((2, 5, 24, 32), np.uint8), {}, "are ambiguous"),
        ((np.zeros((24, 32, 1), np.uint8),) * 3, {}, "are ambiguous"),
        (np.zeros((24, 0), np.uint8), {}, r"shape \(24, 0\) is empty"),
        (np.zeros((0, 24, 32), np.uint8), {}, "is empty"),
        (np.zeros((24, 32, 5), np.uint8), {"axes": "YXC"}, "there are 5 planes"),
        (PICTURE, {"axes": "YYX"}, "axes='YYX' isn't"),
        (PICTURE, {"axes": "TYX"}, r"axes='TYX' is of 3 axes, and the array's shape is \(24, 32\)"),
        (PICTURE, {"axes": "CT"}, "isn't Y and X"),
        (PICTURE, {"color": "rgb"}, "there are 1 planes, which don't make a frame in rgb"),
        (PICTURE, {"color": "cmyk"}, "there is no color 'cmyk'"),
        (np.zeros((270, 320), np.uint8), {}, r"shape \(270, 320\) may be a frame in 4:2:0 .* color='i420' or 'nv12', or color='gray'"),
        (np.zeros((2, 720, 720), np.uint16), {}, "may be a frame in 4:2:0"),
        (PICTURE[:23], {"color": "i420"}, r"for arrays of shape \(height \* 3/2, width\).* the shape is \(23, 32\)"),
        (np.zeros((24, 32, 3), np.uint8), {"color": "nv12"}, "for arrays of shape"),
        (PICTURE, {"color": "i420", "out": np.zeros((24, 64), np.uint8)[:, ::2]}, "out must be contiguous with color='i420'"),
        ((PICTURE,) * 3, {"color": "bgr"}, "no color 'bgr'"),
        (PICTURE, {"threads": 1, "engine": limpid.Engine("cpu")}, "threads=1 is for engines given by name"),
        (PICTURE, {"threads": 1025}, "threads=1025 isn't 0 to 1024"),
        ((PICTURE, PICTURE[::2, ::2]), {}, "there are 2 planes"),
        ((), {}, "there are no planes"),
        ((PICTURE, PICTURE[:9], PICTURE[:9]), {}, "planes of 32x24, 32x9, 32x9 don't make a frame in yuv"),
        ((PICTURE, PICTURE[::2], PICTURE), {}, "don't make a frame"),
        ((PICTURE, PICTURE[::2], PICTURE[::2]), {"color": "rgb"}, "don't make a frame in rgb"),
        ((PICTURE, PICTURE.astype(np.uint16), PICTURE), {}, "samples of different types: uint8, uint16, uint8"),
        ((PICTURE[None], np.stack([PICTURE] * 2), PICTURE[None]), {}, "different numbers of frames"),
        (PICTURE, {"sigm": 10}, "no setting 'sigm'; did you mean 'sigma'"),
        (PICTURE, {"sigma": -1}, "sigma"),
        (PICTURE, {"filter": "bm5d"}, 'there is no filter "bm5d"'),
        (PICTURE, {"sigma": object()}, "is no value for a setting"),
        (PICTURE, {"sigma": np.full((24, 32), 10.0)}, "^768 values are no setting: give a number, or one for each plane$"),
        (PICTURE, {"sigma": [10] * 5}, "^5 values"),
        (PICTURE, {"sigma": [[10], [5]]}, r"\[\[10\], \[5\]\] is no value"),
        (PICTURE, {"sigma": {n: n for n in range(9999)}}, "^.{1,99}$"),
        (np.ma.masked_equal(PICTURE, 0), {}, "masks of arrays are not supported"),
        (PICTURE, {"planes": "luma"}, "luma and chroma can differ only in YUV"),
        (PICTURE, {"noise": "/nowhere.json"}, "cannot read the noise profile"),
        (PICTURE, {"engine": "gpu"}, "gpu"),
        (PICTURE, {"out": PICTURE[:-1].copy()}, r"out is uint8, axes YX, \(23, 32\), and what is to be denoised"),
        (PICTURE, {"out": PICTURE.astype(np.uint16)}, "out is uint16"),
        (PICTURE, {"out": np.broadcast_to(PICTURE, PICTURE.shape)}, "read-only"),
        (PICTURE, {"out": PICTURE[:, ::-1]}, "strides"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(array, options, words):
    with pytest.raises(limpid.ArgumentError, match=words) as raised:
        limpid.denoise(array, **options)
    assert isinstance(raised.value, (limpid.Error, ValueError)) and "\n" not in str(raised.value)


@pytest.mark.parametrize("array", [[1, 2], "text", None, 5])
def test_what_is_no_array_is_a_type_error(array):
    for kind in (TypeError, limpid.Error):
        with pytest.raises(kind, match="is no array"):
            limpid.denoise(array)


def test_buffers_are_arrays():
    flat = memoryview(noisy((24, 32)).tobytes()).cast("B", (24, 32))
    assert np.array_equal(limpid.denoise(flat, sigma=10), limpid.denoise(noisy((24, 32)), sigma=10))
    with pytest.raises(ValueError, match="memoryview, which is read-only"):
        limpid.denoise(noisy((24, 32)), out=flat)


def test_a_pair_of_strengths_is_not_a_decimal_comma():
    for strength in ((1, 0), [0, 2], (0.5, 1), np.array([1, 0])):
        limpid.Denoiser(strength=strength)
    with pytest.raises(limpid.ArgumentError, match="write 0.5, or 0.0,5.0 for luma and chroma; planes=chroma"):
        limpid.Denoiser(strength="0,5")


def test_status_has_its_exception():
    assert issubclass(limpid.EngineError, (limpid.Error, RuntimeError))
    assert issubclass(limpid.OutOfMemoryError, MemoryError) and issubclass(limpid.StateError, limpid.Error)
    assert issubclass(limpid.ArgumentError, (limpid.Error, ValueError))
    with pytest.raises(limpid.Error, match="cuda:77"):
        limpid.denoise(PICTURE, engine="cuda:77")
    with pytest.raises(limpid.StateError, match="has not been started"):
        limpid.Denoiser().stream
    with pytest.raises(limpid.ArgumentError, match="threads=-1"):
        limpid.Engine("cpu", threads=-1)


def test_files_have_an_error_of_the_package(tmp_path):
    for call in (limpid.NoiseProfile.load, limpid.estimate_noise(noisy((64, 64))).save):
        with pytest.raises(limpid.Error, match="nowhere") as raised:
            call(tmp_path / "nowhere" / "profile.json")
        assert isinstance(raised.value, OSError)


def test_stream_takes_frames_of_one_kind():
    denoiser = limpid.Denoiser(filter="bilateral", sigma=10)
    denoiser.send(PICTURE)
    for other in (PICTURE[1:], PICTURE.astype(np.uint16), np.zeros((24, 32, 3), np.uint8)):
        with pytest.raises(limpid.ArgumentError, match="but the stream has frames of uint8, axes YX"):
            denoiser.send(other)
    with pytest.raises(limpid.ArgumentError, match="no time axis"):
        limpid.Denoiser().send(np.zeros((5, 24, 32), np.uint8))
    assert denoiser.receive().shape == (24, 32)
    assert denoiser.receive() is None


def test_large_pictures_end_in_an_error_not_in_the_process():
    huge = np.broadcast_to(np.uint8(0), (2, 70000))
    with pytest.raises(limpid.ArgumentError, match="70000"):
        limpid.denoise(huge)
