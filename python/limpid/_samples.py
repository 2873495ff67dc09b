# SPDX-License-Identifier: MIT
"""Samples of arrays: their types, their range, and conversion to what the library filters."""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple, Optional

import numpy

from ._errors import ArgumentError

_FILTERED = {"uint8": 8, "uint16": 16, "float32": 32, "float16": 16}  # bits
_DIM = {"uint16": 65535 // 4, "int16": 32767 // 4}  # a picture without brighter samples may have fewer bits
_CONVERTED = ("float64", "int16")
_LEAST_SIGMA = 0.5  # of floats that are denoised with the intended unit
_LARGEST_FLOAT = 1.5  # larger samples, without data_range, are on another scale than 0 to 1
_USUAL_RANGES = (255, 1023, 4095, 16383, 65535)


class Samples(NamedTuple):
    """Samples of an array, and of the frames that the library filters.

    dtype      of the frames
    bit_depth  of the frames
    white      what samples of the array are divided by; None: the array is filtered as it is
    """

    dtype: str
    bit_depth: int
    white: Optional[float]


def samples_of(dtype: str, data_range: Optional[float]) -> Samples:
    check_type(dtype)
    filtered = dtype if dtype in _FILTERED else "float32"
    bits = _FILTERED[filtered]
    if data_range is None:
        white = numpy.iinfo(dtype).max if dtype == "int16" else 1.0
        return Samples(filtered, bits, None if filtered == dtype else float(white))
    if not isinstance(data_range, numbers.Real) or not 0 < data_range < math.inf:
        raise ArgumentError(f"data_range={data_range!r:.40} is no number above 0")
    depth = round(math.log2(data_range + 1))
    if dtype.startswith("uint") and data_range == 2**depth - 1 and 8 <= depth <= bits:
        return Samples(dtype, depth, None) if dtype == "uint16" or depth == 8 else Samples("float32", 32, data_range)
    if dtype in ("float16", "float32") and data_range == 1:
        return Samples(dtype, bits, None)
    return Samples("float32", 32, float(data_range))


def check_sigma(sigma: Any, dtype: str, data_range: Optional[float]) -> Optional[str]:
    """A warning for a standard deviation that seems to be in the unit of floats; None for others."""
    values = numpy.atleast_1d(numpy.asarray(sigma)) if not isinstance(sigma, (str, type(None))) else numpy.zeros(0)
    if not dtype.startswith("float") or values.dtype.kind not in "fiu" or not values.size:
        return None
    largest = float(values.max())
    if not 0 < largest < _LEAST_SIGMA:
        return None
    white = data_range or 1
    return (
        f"sigma={largest:g} is in 8-bit code values, 1/255 of the range: noise of that standard deviation in the unit of "
        f"the floats is sigma={largest * 255 / white:.4g}"
    )


def check_depth(array: Any, dtype: str, data_range: Optional[float]) -> Optional[str]:
    """A warning for integers that seem to have fewer bits than their type; None for others."""
    if data_range is not None or dtype not in _DIM or (largest := int(host_view(array).max())) > _DIM[dtype]:
        return None
    usual = next((usual for usual in _USUAL_RANGES if usual >= largest), 255)
    return (
        f"samples reach {largest}, and white is {numpy.iinfo(dtype).max} without data_range: the given noise level is "
        f"meant for that range; give data_range=, such as data_range={usual}"
    )


def check_type(dtype: str) -> None:
    if dtype not in _FILTERED and dtype not in _CONVERTED:
        raise ArgumentError(
            f"samples are {dtype}, and uint8, uint16, int16, float16, float32 and float64 can be denoised: convert them "
            "with astype()"
        )


def library_of(array: Any) -> str:
    """The library that an array is of: torch, cupy, jax, ..."""
    names = [kind.__module__.partition(".")[0] for kind in type(array).__mro__]
    return next((name for name in ("torch", "cupy", "jaxlib", "jax", "av") if name in names), "")


def host_view(array: Any) -> Any:
    """A NumPy array of the same memory."""
    if isinstance(array, numpy.ndarray):
        return array
    return numpy.from_dlpack(array) if hasattr(array, "__dlpack__") else numpy.asarray(array)


def check_range(array: Any, dtype: str, on_gpu: bool, data_range: Optional[float], samples: Samples) -> None:
    """Refuses samples that are on another scale than the arguments say."""
    if dtype.startswith("float") and data_range is None:
        if on_gpu and not library_of(array):
            return  # nothing here can look at the samples
        largest = _largest(array if on_gpu else host_view(array))
        if largest > _LARGEST_FLOAT:
            usual = next((usual for usual in _USUAL_RANGES if usual >= largest), math.ceil(largest))
            raise ArgumentError(
                f"samples reach {largest:g}, and floats without data_range are from 0 to 1: give data_range=, such as "
                f"data_range={usual}, or data_range=1 if they are meant to exceed 1"
            )
    elif dtype == "uint16" and samples.white is None and samples.bit_depth < 16 and not on_gpu:
        largest = int(host_view(array).max())
        if largest >= 1 << samples.bit_depth:
            raise ArgumentError(f"samples reach {largest}, and data_range is {data_range:g}: give the value of white")


def _largest(array: Any) -> float:
    """The largest finite absolute value."""
    largest = max(float(array.max()), -float(array.min()))
    if math.isfinite(largest):
        return largest
    absolute = numpy.abs(array) if isinstance(array, numpy.ndarray) else abs(array)
    finite = absolute[absolute < math.inf]
    return float(finite.max()) if math.prod(finite.shape) else 0.0


def to_filtered(array: Any, white: float, on_gpu: bool) -> Any:
    """The samples divided by `white`, as float32."""
    library = library_of(array)
    if library == "torch":
        return array.float() / white
    if not on_gpu:
        return numpy.divide(host_view(array), white, dtype=numpy.float32)
    if not library:
        raise ArgumentError(f"samples of a {type(array).__qualname__} on a GPU can't be converted to float32: convert them")
    return array.astype("float32") / white


def from_filtered(filtered: Any, array: Any, dtype: str, white: float) -> None:
    """Writes float32 samples times `white` to `array`."""
    samples = filtered * white
    if dtype.startswith(("uint", "int")):
        limits = numpy.iinfo(dtype)
        samples = samples.round().clip(limits.min, limits.max)
    if library_of(array) == "torch":
        array.copy_(samples)
    elif library_of(array) == "cupy":
        array[...] = samples
    else:
        view = host_view(array)
        if not view.flags.writeable:
            raise ArgumentError(f"converted results can't be written to a {type(array).__qualname__}: give a NumPy array")
        view[...] = samples
