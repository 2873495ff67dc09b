# SPDX-License-Identifier: MIT
"""Similarity of pictures."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

from . import _limpid
from ._arrays import Frames, How
from ._errors import ArgumentError


class Quality(NamedTuple):
    """Values for each color plane.

    psnr  in dB; infinite if they are equal
    ssim  at most 1
    """

    psnr: tuple[float, ...]
    ssim: tuple[float, ...]


def measure(
    reference: Any,
    test: Any,
    *,
    axes: Optional[str] = None,
    color: Optional[str] = None,
    data_range: Optional[float] = None,
) -> Union[Quality, list[Quality]]:
    """PSNR and SSIM of a picture or, as a list, of each frame of a video, as `limpid measure` prints them.

    Both are in host memory and have one shape and type. The other arguments are those of denoise().
    """
    how = How(axes, color, data_range)
    a, b = Frames(reference, how), Frames(test, how)
    if not a.same_kind_as(b):
        raise ArgumentError(f"the reference is {a}, but the test is {b}")
    if a.ordinal is not None or b.ordinal is not None:
        raise ArgumentError("only arrays in host memory can be measured")
    frames = []
    for t in range(a.count or 1):
        planes = _limpid.measure(a.format, a.clip, t, b.clip, t)
        frames.append(Quality(tuple(psnr for psnr, _ in planes), tuple(ssim for _, ssim in planes)))
    return frames if a.count is not None else frames[0]
