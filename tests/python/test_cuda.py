# SPDX-License-Identifier: MIT
"""Arrays on a real GPU: of a library with DLPack only, of PyTorch and of CuPy."""

import gc

import numpy as np
import pytest
from clips import noisy
from gpu import Gpu

import limpid

FAST = {"sigma": 10, "profile": "fast"}


@pytest.fixture(scope="module")
def gpu():
    gpu = Gpu()
    engine = limpid.engines()[0]
    if engine.name != "cuda:0" or not engine.available:
        pytest.skip(f"the best engine is {engine.name}: {engine.description}")
    return gpu


def videos():
    return [
        noisy((5, 120, 160), np.uint8),
        noisy((5, 121, 163, 3), np.uint8),
        noisy((5, 120, 160), np.uint16),
        noisy((5, 121, 163, 3), np.float32),
        np.moveaxis(noisy((5, 96, 96, 3), np.uint16), 3, 1),
    ]


@pytest.mark.parametrize("settings", [FAST, {"sigma": 10, "filter": "bm3d"}, {"filter": "bilateral"}])
@pytest.mark.parametrize("which", range(5))
def test_arrays_on_the_gpu_have_the_bits_of_the_hosts(gpu, which, settings):
    video = videos()[which]
    expected = limpid.denoise(video, engine="cuda:0", **settings)
    there, out = gpu.array(video), gpu.array(np.zeros_like(video))
    limpid.denoise(there, out=out, **settings)
    assert np.array_equal(gpu.host(out), expected)
    limpid.denoise(there, out=there, **settings)
    assert np.array_equal(gpu.host(there), expected), "in its place"
    gc.collect()
    assert there.exports == out.exports == 0


def test_planes_may_be_subsampled(gpu):
    planes = noisy((4, 90, 122)), noisy((4, 45, 61)), noisy((4, 45, 61), seed=3)
    expected = limpid.denoise(planes, engine="cuda:0", **FAST)
    out = tuple(gpu.array(np.zeros_like(plane)) for plane in planes)
    limpid.denoise(tuple(gpu.array(plane) for plane in planes), out=out, **FAST)
    assert all(np.array_equal(gpu.host(a), b) for a, b in zip(out, expected))


def test_what_another_stream_still_writes_is_waited_for(gpu):
    video = noisy((4, 120, 160), np.uint16)
    expected = limpid.denoise(video, axes="TYX", engine="cuda:0", **FAST)
    profile = limpid.estimate_noise(video[:2], axes="TYX", engine="cuda:0")
    out = gpu.array(np.zeros_like(video))
    limpid.denoise(gpu.array_after(video, 64 << 20), out=out, axes="TYX", **FAST)
    assert np.array_equal(gpu.host(out), expected)
    assert limpid.estimate_noise(gpu.array_after(video[:2], 64 << 20), axes="TYX") == profile


def test_memory_of_the_gpu_does_not_grow(gpu):
    there, out = gpu.array(noisy((5, 120, 160))), gpu.array(np.zeros((5, 120, 160), np.uint8))

    def calls():
        for _ in range(20):
            limpid.denoise(there, out=out, **FAST)
        gc.collect()
        return gpu.free_memory()

    calls()
    before = calls()
    assert before - calls() < 8 << 20


@pytest.fixture
def torch(gpu):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return torch


@pytest.mark.parametrize("which", range(5))
def test_tensors_stay_on_the_gpu(torch, which):
    video = videos()[which]
    expected = limpid.denoise(video, engine="cuda:0", **FAST)
    there = torch.from_numpy(video.copy()).cuda()
    result = limpid.denoise(there, **FAST)
    assert result.is_cuda and result.dtype == there.dtype and result.shape == there.shape
    assert np.array_equal(result.cpu().numpy(), expected)
    axes = "CYX" if which == 4 else None
    frames = list(limpid.denoise_frames(iter(there), axes=axes, **FAST))
    assert np.array_equal(torch.stack(frames).cpu().numpy(), expected)
    assert limpid.estimate_noise(there) == limpid.estimate_noise(video, engine="cuda:0")


def test_tensors_of_another_stream_are_waited_for(torch):
    clean = noisy((5, 540, 960), sigma=0)
    video = noisy((5, 540, 960))
    expected = limpid.denoise(video, engine="cuda:0", **FAST)
    there = torch.from_numpy(video).cuda()
    dark = torch.zeros_like(there)
    big = torch.randn(4096, 4096, device="cuda")
    for _ in range(3):
        with torch.cuda.stream(torch.cuda.Stream()):
            late = dark.clone()
            # About 50 ms of work come first. The result's memory is the memory just released.
            product = big
            for _ in range(30):
                product = product @ big * 1e-3
            late.copy_(there)
            waste = [torch.full_like(there, 7) for _ in range(4)]
            for _ in range(10):
                for tensor in waste:
                    tensor.mul_(3)
            del waste, tensor
            result = limpid.denoise(late, **FAST)
            late.zero_()
            changed = result.clone()
        torch.cuda.synchronize()
        assert np.array_equal(changed.cpu().numpy(), expected)
    assert limpid.measure(clean[0], changed[0].cpu().numpy()).psnr[0] > limpid.measure(clean[0], video[0]).psnr[0] + 6


def test_views_of_tensors_need_no_copy(torch):
    wide = torch.from_numpy(noisy((5, 64, 200, 3))).cuda()
    view = wide[:, 3:, 7:107]
    assert not view.is_contiguous()
    expected = limpid.denoise(view.cpu().numpy(), engine="cuda:0", **FAST)
    assert np.array_equal(limpid.denoise(view, **FAST).cpu().numpy(), expected)
    with pytest.raises(limpid.ArgumentError, match="strides"):
        limpid.denoise(wide.permute(0, 2, 1, 3)[:, ::30, :, 0], axes="TYX", **FAST)
    with pytest.raises(BufferError):
        limpid.denoise(torch.zeros(8, 8, device="cuda", requires_grad=True))


def test_cupys_arrays_stay_on_the_gpu(gpu):
    cupy = pytest.importorskip("cupy")
    video = noisy((5, 120, 160))
    result = limpid.denoise(cupy.asarray(video), **FAST)
    assert isinstance(result, cupy.ndarray)
    assert np.array_equal(cupy.asnumpy(result), limpid.denoise(video, engine="cuda:0", **FAST))
