# SPDX-License-Identifier: MIT
"""Types and ranges of samples, and which axes are colors."""

import inspect

import numpy as np
import pytest
from clips import noisy

import limpid

QUICK = {"filter": "bilateral", "sigma": 10, "engine": "cpu"}
FLOATS = [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scale, hint", [(255, 255), (4095, 4095), (-255, 255), (100000, None)])
def test_floats_on_another_scale_are_refused_with_a_hint(dtype, scale, hint):
    if dtype == np.float16 and hint is None:
        pytest.skip("float16 ends at 65504")
    array = (noisy((24, 32), np.float32) * scale).astype(dtype)
    words = f"^samples reach .*: give data_range=, such as data_range={hint or '[0-9]+'}"
    calls = [
        lambda: limpid.denoise(array, **QUICK),
        lambda: limpid.denoise((array,) * 3, **QUICK),
        lambda: list(limpid.denoise_frames([array], **QUICK)),
        lambda: limpid.Denoiser().send(array),
        lambda: limpid.estimate_noise(array),
        lambda: limpid.estimate_noise([array]),
        lambda: limpid.measure(array, array),
    ]
    for call in calls:
        with pytest.raises(limpid.ArgumentError, match=words) as raised:
            call()
        assert len(str(raised.value)) < 200


def test_outliers_within_the_scale_are_taken():
    picture = noisy((24, 32), np.float32)
    picture[3, 4], picture[5, 6] = 1.4, -0.3
    for value in (0, np.inf, -np.inf):
        picture[7, 8] = value
        limpid.denoise(picture, **QUICK)
    picture[9, 9] = 40
    assert limpid.denoise(picture, data_range=1, **QUICK).max() > 1
    limpid.Denoiser(**QUICK).start(np.full((24, 32), 1e9, np.float32))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(24, 32), (24, 32, 3), (3, 24, 32, 3)])
def test_floats_come_back_as_they_came(dtype, shape):
    array = noisy(shape, np.float32).astype(dtype)
    expected = limpid.denoise(array.astype(np.float32), **QUICK)
    result = limpid.denoise(array, **QUICK)
    assert result.dtype == dtype and np.array_equal(result, expected.astype(dtype))
    out = np.zeros_like(array)
    assert limpid.denoise(array, out=out, **QUICK) is out and np.array_equal(out, result)
    own = array.copy()
    limpid.denoise(own, out=own, **QUICK)
    assert np.array_equal(own, result)
    if len(shape) == 4:
        frames = list(limpid.denoise_frames(array, **QUICK))
        assert frames[0].dtype == dtype and np.array_equal(np.stack(frames), result)


@pytest.mark.parametrize("dtype", [*FLOATS, np.uint16])
def test_data_range_is_white(dtype):
    picture = noisy((48, 64), np.float32)
    expected = limpid.denoise(picture, **QUICK)
    scaled = np.rint(picture * 1000) if dtype == np.uint16 else picture * np.float32(1000)
    result = limpid.denoise(scaled.astype(dtype), data_range=1000, **QUICK)
    assert result.dtype == dtype
    assert np.abs(result / 1000 - expected).max() < (0.002 if dtype in (np.uint16, np.float16) else 1e-5)
    strided = np.repeat(scaled.astype(dtype), 2, 1)[::-1, ::2]
    plain = limpid.denoise(strided.copy(), data_range=1000, **QUICK)
    assert np.array_equal(limpid.denoise(strided, data_range=1000, **QUICK), plain)


def test_data_range_of_whole_bits_is_a_bit_depth():
    for bits in (8, 10, 12, 16):
        picture = noisy((48, 64), np.uint16, bits=bits)
        expected = limpid.denoise(picture / np.float32(2**bits - 1), **QUICK) * (2**bits - 1)
        result = limpid.denoise(picture, data_range=2**bits - 1, **QUICK)
        assert np.abs(result - expected).max() <= max(1, 2 ** (bits - 10))
    picture = noisy((48, 64))
    assert np.array_equal(limpid.denoise(picture, data_range=255, **QUICK), limpid.denoise(picture, **QUICK))
    dim = limpid.denoise(picture // 2, data_range=127, **QUICK)
    assert dim.dtype == np.uint8 and dim.max() <= 140


def test_data_range_holds_for_measures_and_estimates():
    clean, picture = noisy((96, 128), np.float32, sigma=0), noisy((96, 128), np.float32)
    expected = limpid.measure(clean, picture)
    quality = limpid.measure(clean.astype(np.float64) * 255, picture.astype(np.float64) * 255, data_range=255)
    assert quality.psnr == pytest.approx(expected.psnr, abs=1e-3)
    sigma = limpid.estimate_noise(picture * 255, data_range=255).sigma
    assert sigma == pytest.approx(limpid.estimate_noise(picture).sigma, abs=0.01)


@pytest.mark.parametrize("data_range", [0, -1, float("nan"), float("inf"), "255", [0, 255]])
def test_wrong_ranges_are_refused(data_range):
    with pytest.raises(limpid.ArgumentError, match="is no number above 0"):
        limpid.denoise(noisy((24, 32), np.float32), data_range=data_range)


def test_samples_above_white_are_refused():
    with pytest.raises(limpid.ArgumentError, match="samples reach .* data_range is 255: give the value of white"):
        limpid.denoise(noisy((24, 32), np.uint16, bits=10), data_range=255)


# Cameras and microscopes have 10 to 14 bits. Filtered as 16 bits, they would be blurred or left as they are.
@pytest.mark.parametrize("bits", [10, 12, 14])
@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_few_bits_with_a_given_level_cause_a_warning(bits, dtype, recwarn):
    picture = noisy((64, 64), np.uint16, bits=bits).astype(dtype)
    if dtype == np.int16:
        picture //= 2
    quick = {"filter": "bilateral", "engine": "cpu"}
    profile = limpid.estimate_noise(picture, data_range=2**bits - 1)
    recwarn.clear()
    words = f"samples reach .*white is {np.iinfo(dtype).max} .*give data_range=, such as data_range="
    for given in ({"sigma": 10}, {"noise": profile}, {"noise": 10}):
        with pytest.warns(RuntimeWarning, match=words) as warned:
            limpid.denoise(picture, **given, **quick)
        assert warned[0].filename == __file__ and len(warned) == 1
        denoiser = limpid.Denoiser(**given, **quick)
        denoiser.start(picture)
        with pytest.warns(RuntimeWarning, match=words) as warned:
            denoiser.send(picture)
        assert warned[0].filename == __file__
        denoiser.send(picture)
        with pytest.warns(RuntimeWarning, match=words):
            limpid.denoise([picture], **given, **quick)
    recwarn.clear()
    limpid.denoise(picture, **quick)
    limpid.denoise(picture, noise="auto", **quick)
    limpid.denoise(picture, sigma=10, data_range=2**bits - 1, **quick)
    limpid.denoise(noisy((64, 64), np.uint16), sigma=10, **quick)
    limpid.denoise(noisy((64, 64)), sigma=10, **quick)
    assert not recwarn


@pytest.mark.filterwarnings("ignore:the second of 2 channels")
def test_trailing_axes_of_1_to_4_are_colors():
    picture = noisy((40, 60))
    expected = limpid.denoise(picture, **QUICK)
    assert np.array_equal(limpid.denoise(picture[..., None], **QUICK), expected[..., None])
    both = np.stack([picture, noisy((40, 60), seed=2)], -1)
    assert np.array_equal(limpid.denoise(both, **QUICK), np.stack([expected, both[..., 1]], -1)), "alpha is kept"
    video = np.stack([both, both[::-1]])
    assert np.array_equal(limpid.denoise(video, **QUICK)[0], np.stack([expected, both[..., 1]], -1))
    assert np.array_equal(limpid.denoise(video[..., :1], **QUICK)[0], expected[..., None])
    assert np.array_equal(limpid.denoise(np.moveaxis(video, 3, 1), **QUICK)[0, 0], expected)
    assert limpid.denoise(both.astype(np.float64) / 255, **QUICK).shape == both.shape


def test_signed_and_swapped_samples_are_converted():
    picture = noisy((48, 64), np.uint16, bits=12)
    swapped = limpid.denoise(picture.astype(">u2"), data_range=4095, **QUICK)
    assert swapped.dtype == np.uint16 and np.array_equal(swapped, limpid.denoise(picture, data_range=4095, **QUICK))
    signed = picture.astype(np.int16) - 100
    result = limpid.denoise(signed, data_range=4095, **QUICK)
    expected = limpid.denoise(signed / np.float32(4095), **QUICK) * 4095
    assert result.dtype == np.int16 and np.abs(result - expected).max() < 0.51


def test_channel_axis_is_that_of_scikit_image():
    picture = noisy((48, 64, 3))
    expected = limpid.denoise(picture, **QUICK)
    for axis in (-1, 2):
        assert np.array_equal(limpid.denoise(picture, channel_axis=axis, **QUICK), expected)
    first = np.moveaxis(picture, -1, 0)
    assert np.array_equal(limpid.denoise(first, channel_axis=0, **QUICK), np.moveaxis(expected, -1, 0))
    video = np.stack([picture] * 2)
    assert np.array_equal(limpid.denoise(video, channel_axis=-1, **QUICK)[1], expected)
    assert np.array_equal(next(limpid.denoise_frames([first], channel_axis=0, **QUICK)), np.moveaxis(expected, -1, 0))


def test_lists_of_frames_become_lists():
    frames = list(noisy((5, 48, 64)))
    result = limpid.denoise(frames, sigma=10, profile="fast", engine="cpu")
    assert isinstance(result, list)
    assert np.array_equal(np.stack(result), limpid.denoise(np.stack(frames), sigma=10, profile="fast", engine="cpu"))


def test_channels_are_filtered_by_themselves():
    picture = noisy((48, 64, 3))
    five = np.concatenate([picture, picture[..., :2]], -1)
    result = limpid.denoise(five, axes="YXC", color="channels", **{**QUICK, "sigma": (10, 5, 10, 20, 10)})
    for channel, sigma in enumerate((10, 5, 10, 20, 10)):
        one = limpid.denoise(five[..., channel].copy(), **{**QUICK, "sigma": sigma})
        assert np.array_equal(result[..., channel], one)
    out = np.zeros_like(five)
    assert limpid.denoise(five, axes="YXC", color="channels", out=out, **QUICK) is out and out.any()


def test_channels_taken_for_alpha_cause_a_warning(recwarn):
    two = noisy((48, 64, 3))[..., :2].copy()
    with pytest.warns(RuntimeWarning, match="second of 2 channels counts as alpha.*color='gray' if it is"):
        limpid.denoise(two, **QUICK)
    four = np.stack([noisy((48, 64))] * 4)
    with pytest.warns(RuntimeWarning, match="fourth of 4 channels counts as alpha.*color='rgb' if it is"):
        limpid.denoise(np.stack([four] * 2), **QUICK)
    recwarn.clear()
    limpid.denoise(two, color="gray", **QUICK)
    limpid.denoise(noisy((48, 64, 4)), **QUICK)
    assert not recwarn


def test_a_sigma_in_the_unit_of_floats_causes_a_warning(recwarn):
    picture = noisy((48, 64), np.float32)
    quick = {"filter": "bilateral", "engine": "cpu"}
    words = "sigma=0.05 is in 8-bit code values.*is sigma=12.75$"
    with pytest.warns(RuntimeWarning, match=words) as warned:
        limpid.denoise(picture, sigma=0.05, **quick)
    assert warned[0].filename == __file__
    with pytest.warns(RuntimeWarning, match=words) as warned:
        limpid.Denoiser(sigma=[0.05], **quick).send(picture)
    with pytest.warns(RuntimeWarning, match="sigma=0.4 .* is sigma=102$"):
        denoiser = limpid.Denoiser(sigma=12, **quick)
        denoiser.send(picture)
        denoiser.set(sigma=np.float32(0.4))
    recwarn.clear()
    limpid.denoise(picture, sigma=0, **quick)
    limpid.denoise(picture, sigma=12, **quick)
    limpid.denoise(noisy((48, 64)), sigma=0.3, **quick)
    assert not recwarn


def test_common_settings_are_in_the_signature():
    for function in (limpid.denoise, limpid.denoise_frames, limpid.Denoiser.__init__):
        parameters = inspect.signature(function).parameters
        for name in ("sigma", "noise", "strength", "mix", "filter", "profile", "channel_axis"):
            assert parameters[name].default is None and parameters[name].annotation != inspect.Parameter.empty, name
