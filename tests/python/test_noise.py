# SPDX-License-Identifier: MIT
"""Noise models and metrics, compared with the program's."""

import math

import numpy as np
import pytest
from clips import noisy, read_y4m, report

import limpid


@pytest.fixture
def clip(program, tmp_path):
    program("limpid-samples", "--size", "128x96", "--frames", 6, "--noisy", tmp_path / "noisy.y4m", "--clean", tmp_path / "clean.y4m")
    return tmp_path


def test_noise_is_found_as_by_the_program(program, clip):
    planes = read_y4m((clip / "noisy.y4m").read_bytes())
    for frames in (6, 2):
        program("limpid", "noise", clip / "noisy.y4m", "--frames", frames, "-o", clip / "program.json", "-y", "--engine", "cpu")
        expected = limpid.NoiseProfile.load(clip / "program.json")
        assert limpid.estimate_noise(planes, count=frames, engine="cpu") == expected
        assert limpid.estimate_noise(zip(*planes), count=frames, engine="cpu") == expected
    assert expected.sigma[0] == pytest.approx(20, abs=2) and len(expected.sigma) == 3
    assert "Y 2" in repr(expected)


def test_profile_is_saved_and_used(program, clip):
    planes = read_y4m((clip / "noisy.y4m").read_bytes())
    profile = limpid.estimate_noise(planes)
    profile.save(clip / "own.json")
    assert limpid.NoiseProfile.load(clip / "own.json") == profile == limpid.NoiseProfile(profile.text)
    assert hash(limpid.NoiseProfile.load(clip / "own.json")) == hash(profile)
    program("limpid", "denoise", clip / "noisy.y4m", "-o", clip / "out.y4m", "-q", "--noise", clip / "own.json", "--engine", "cpu")
    expected = read_y4m((clip / "out.y4m").read_bytes())
    for noise in (profile, clip / "own.json", str(clip / "own.json")):
        result = limpid.denoise(planes, noise=noise, engine="cpu")
        assert all(np.array_equal(a, b) for a, b in zip(result, expected))
    denoiser = limpid.Denoiser(noise=profile, filter="bilateral")
    assert denoiser.noise is None
    denoiser.send(tuple(plane[0] for plane in planes))
    assert denoiser.noise == profile


def test_noise_of_a_stream_is_told():
    denoiser = limpid.Denoiser(filter="bilateral")
    for frame in noisy((8, 96, 128)):
        denoiser.send(frame)
    assert denoiser.noise.sigma[0] == pytest.approx(10, abs=2)


def test_what_is_no_profile_is_refused(tmp_path):
    for text in ("", "camera.json", "{", '{"planes": {}}'):
        with pytest.raises(limpid.ArgumentError, match="profile"):
            limpid.NoiseProfile(text)
    with pytest.raises(FileNotFoundError):
        limpid.NoiseProfile.load(tmp_path / "none.json")
    with pytest.raises(limpid.ArgumentError, match="no frames"):
        limpid.estimate_noise(iter([]))
    with pytest.raises(limpid.ArgumentError, match="count=0"):
        limpid.estimate_noise(noisy((64, 64)), count=0)
    with pytest.raises(limpid.ArgumentError, match="and the first is"):
        limpid.estimate_noise(iter([noisy((64, 64)), noisy((64, 65))]))


def test_quality_is_the_programs(program, clip):
    program("limpid", "denoise", clip / "noisy.y4m", "-o", clip / "out.y4m", "-q")
    told = report(program("limpid", "measure", clip / "clean.y4m", clip / "out.y4m", "--json"))
    clean, out = (read_y4m((clip / name).read_bytes()) for name in ("clean.y4m", "out.y4m"))
    frames = limpid.measure(clean, out)
    assert len(frames) == 6
    text = repr(told)
    for value in (frames[0].psnr[0], frames[5].ssim[2]):
        assert f"{value:.3f}"[:-1] in text, (value, text[:2000])


def test_quality_is_that_of_the_definition():
    a, b = noisy((40, 60, 3), np.uint16, bits=10, sigma=0), noisy((40, 60, 3), np.uint16, bits=10)
    quality = limpid.measure(a, b, data_range=1023)
    for c in range(3):
        error = np.mean((a[..., c].astype(float) - b[..., c]) ** 2)
        assert quality.psnr[c] == pytest.approx(10 * math.log10(1023**2 / error), abs=0.02)
    equal = limpid.measure(a[..., 0], a[..., 0])
    assert equal.psnr == (math.inf,) and equal.ssim == pytest.approx((1,))
    with pytest.raises(limpid.ArgumentError, match="but the test is"):
        limpid.measure(a, b[1:])


# Small crops, microscopes, thumbnails: few blocks are flat.
def test_levels_of_tiny_pictures_follow_growing_noise():
    base = np.kron(np.random.default_rng(0).uniform(40, 200, (8, 12)), np.ones((8, 8)))
    true = [2 + n / 30 for n in range(96)]
    denoiser = limpid.Denoiser(filter="bilateral", engine="cpu")
    levels = []
    for n, sigma in enumerate(true):
        noise = np.random.default_rng(n).normal(0, sigma, (64, 96))
        denoiser.send(np.clip(np.roll(base, n, 1) + noise, 0, 255).astype(np.uint8))
        levels += [denoiser.noise.sigma[0] for _ in denoiser.results()]
    for n in range(16, len(levels)):
        assert 0.8 * true[n - 16] < levels[n] < 1.25 * true[n], n
