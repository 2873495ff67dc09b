# SPDX-License-Identifier: MIT
"""Arrays of other libraries, and arrays on a GPU, for which a module of engines in the library's folder stands in."""

import gc

import numpy as np
import pytest
from clips import noisy
from dlpack import CPU, CUDA, DeviceArray

import limpid

GPU = 3
FAST = {"sigma": 10, "profile": "fast", "reach": 1}


def on(array, device=(CUDA, GPU)):
    """The array's own memory, as that of a device."""
    strides = [stride // array.itemsize for stride in array.strides]
    return DeviceArray(array.ctypes.data, array.shape, array.dtype, device, strides)


@pytest.fixture
def gpu():
    if limpid.engines()[0].name != f"cuda:{GPU}":
        pytest.skip("the stand-in for a GPU is missing")


def test_arrays_need_nothing_but_dlpack():
    picture = noisy((24, 32))
    plain = on(picture, (CPU, 0))
    result = limpid.denoise(plain, sigma=10)
    assert isinstance(result, np.ndarray)
    assert np.array_equal(result, limpid.denoise(picture, sigma=10))
    out = np.zeros_like(picture)
    limpid.denoise(picture[::-1], out=on(out, (CPU, 0)), sigma=10)
    assert np.array_equal(out, limpid.denoise(picture[::-1], sigma=10))
    with pytest.raises(ValueError, match="memory of DLPack's kind 7"):
        limpid.denoise(on(picture, (7, 0)))
    gc.collect()
    assert plain.exports == 0


@pytest.mark.parametrize("library, make", [("torch", "from_numpy"), ("jax.numpy", "asarray"), ("cupy", "asarray")])
def test_results_are_of_the_same_library(library, make):
    module = pytest.importorskip(library)
    picture = noisy((24, 32, 3))
    expected = limpid.denoise(picture, sigma=10, engine="cpu")
    given = getattr(module, make)(picture)
    result = limpid.denoise(given, sigma=10, engine=None if library == "cupy" else "cpu")
    assert type(result) is type(given)
    if library != "cupy":
        assert np.array_equal(np.asarray(result), expected)


def test_frames_on_a_gpu_stay_there(gpu):
    video = noisy((6, 24, 32), np.uint16)
    expected = limpid.denoise(video, engine="cpu", **FAST)
    out = np.zeros_like(video)
    there, out_there = on(video), on(out)
    assert limpid.denoise(there, out=out_there, **FAST) is out_there
    assert np.array_equal(out, expected)
    assert there.streams == out_there.streams == [1], "the default stream waits for theirs"
    gc.collect()
    assert there.exports == out_there.exports == 0


def test_streams_of_frames_on_a_gpu_hold_them_until_they_are_done(gpu):
    video = np.moveaxis(noisy((6, 24, 32, 3), np.float32), 3, 1).copy()
    expected = limpid.denoise(video, engine="cpu", **FAST)
    frames, results = [on(frame) for frame in video], [np.zeros_like(frame) for frame in video]
    outs = [on(result) for result in results]
    denoiser = limpid.Denoiser(axes="CYX", **FAST)
    received = []
    for frame, out in zip(frames, outs):
        denoiser.send(frame, out=out)
        received += denoiser.results()
    assert denoiser.stream.engine == f"cuda:{GPU}"
    assert frames[-1].exports == 1 and outs[-1].exports == 1
    denoiser.flush()
    received += denoiser.results()
    assert all(a is b for a, b in zip(received, outs, strict=True))
    assert np.array_equal(np.stack(results), expected)
    del denoiser
    gc.collect()
    assert all(array.exports == 0 for array in frames + outs)


def test_frames_that_are_dropped_are_let_go_of(gpu):
    frames = [on(frame) for frame in noisy((4, 24, 32))]
    outs = [on(np.zeros((24, 32), np.uint8)) for _ in frames]
    denoiser = limpid.Denoiser(**FAST)
    for frame, out in zip(frames, outs):
        denoiser.send(frame, out=out)
    denoiser.reset()
    assert denoiser.receive() is None
    gc.collect()
    # Except the first, which identifies the stream's kind.
    assert [frame.exports for frame in frames] == [1, 0, 0, 0] and not any(out.exports for out in outs)
    del denoiser
    gc.collect()
    assert frames[0].exports == 0


def test_noise_of_frames_on_a_gpu_is_found_there(gpu):
    video = noisy((2, 64, 96))
    there = on(video)
    assert limpid.estimate_noise(there) == limpid.estimate_noise(video, engine="cpu")
    assert there.streams == [1]


def test_what_cannot_be_on_a_gpu_is_refused(gpu):
    picture = noisy((24, 32))
    out = np.zeros_like(picture)
    with pytest.raises(limpid.ArgumentError, match="no dlpack.DeviceArray can be made for a result on a GPU: give out="):
        limpid.denoise(on(picture))
    with pytest.raises(limpid.ArgumentError, match="out is uint8"):
        limpid.denoise(on(picture), out=out)
    for view in (picture[::-1], picture[:, ::-1], np.broadcast_to(picture[:1], picture.shape)):
        with pytest.raises(limpid.ArgumentError, match="strides that can't be used where it is"):
            limpid.denoise(on(view), out=on(out))
    with pytest.raises(limpid.ArgumentError, match="the memory of GPU 3, to which the engine cpu cannot"):
        limpid.denoise(on(picture), out=on(out), engine="cpu")
    with pytest.raises(limpid.Error, match="cuda:1"):
        limpid.denoise(on(picture, (CUDA, 1)), out=on(out, (CUDA, 1)))
    with pytest.raises(limpid.ArgumentError, match="memory of different places"):
        limpid.denoise((on(picture), picture, on(picture)))
    with pytest.raises(limpid.ArgumentError, match="only arrays in host memory"):
        limpid.measure(on(picture), on(picture))


def test_frames_in_host_memory_go_to_the_gpu_too(gpu):
    video = noisy((4, 24, 32, 3))
    assert np.array_equal(limpid.denoise(video[..., 0], axes="TYX", **FAST), limpid.denoise(video[..., 0], axes="TYX", engine="cpu", **FAST))
    assert limpid.Denoiser(engine=f"cuda:{GPU}").receive() is None
