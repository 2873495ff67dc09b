# SPDX-License-Identifier: MIT
"""Limpid removes noise from pictures and video, on the CPU and on NVIDIA GPUs.

    clean = limpid.denoise(noisy)                        a picture or a video, an array; the noise is estimated
    clean = limpid.denoise(noisy, sigma=10)              noise standard deviation in 8-bit code values
    for clean in limpid.denoise_frames(frames): ...      frame by frame
    denoiser = limpid.Denoiser(); denoiser.send(frame)   in your own time
"""

from ._denoising import (
    Denoiser,
    Engine,
    EngineInfo,
    FilterInfo,
    ParameterInfo,
    StreamInfo,
    denoise,
    denoise_frames,
    engines,
    estimate_noise,
    filters,
)
from ._errors import ArgumentError, ArrayError, EngineError, Error, FileError, OutOfMemoryError, StateError
from ._limpid import version as __version__
from ._metrics import Quality, measure
from ._noise import NoiseProfile

__all__ = [
    "ArgumentError",
    "ArrayError",
    "Denoiser",
    "Engine",
    "EngineError",
    "EngineInfo",
    "Error",
    "FileError",
    "FilterInfo",
    "NoiseProfile",
    "OutOfMemoryError",
    "ParameterInfo",
    "Quality",
    "StateError",
    "StreamInfo",
    "denoise",
    "denoise_frames",
    "engines",
    "estimate_noise",
    "filters",
    "measure",
]
