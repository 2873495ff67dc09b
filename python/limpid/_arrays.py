# SPDX-License-Identifier: MIT
"""Arrays of the caller as frames of planes."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy

from . import _limpid
from ._errors import ArgumentError, ArrayError
from ._samples import check_range, check_type, from_filtered, host_view, library_of, samples_of, to_filtered

_COLORS = ("gray", "yuv", "rgb")  # by limpid_color_model
_DTYPES = ("uint8", "uint16", "float32", "float16")  # by limpid_sample_type


class Format(NamedTuple):
    """The members of limpid_format."""

    width: int
    height: int
    color_model: int
    chroma_shift_x: int
    chroma_shift_y: int
    sample_type: int
    bit_depth: int
    has_alpha: bool

    @property
    def color(self) -> str:
        return _COLORS[self.color_model]


class How(NamedTuple):
    """Properties of arrays that the caller must give."""

    axes: Optional[str] = None
    color: Optional[str] = None
    bit_depth: Optional[int] = None
    data_range: Optional[float] = None
    channel_axis: Optional[int] = None


class Frames:
    """A picture or a video that an array or a tuple of planes holds.

    value   what the caller gave, or gets
    clip    its samples
    count   how many frames it has; None: it is one picture, without a time axis
    ordinal the number of the GPU that it is on; None: it is in host memory
    """

    def __init__(self, value: Any, how: How, use: str = "read") -> None:
        """use: "read", "written", or "described" if samples aren't used"""
        self.value = value
        self.how = how
        self._planar = isinstance(value, tuple)
        self._parts = [_native(part, use) for part in (value if self._planar else [value])]
        if not self._parts:
            raise ArgumentError("there are no planes")
        arrays = [_import(part, use == "written") for part in self._parts]
        self.shapes = [array.shape for array in arrays]
        self.axes = _axes(how, self.shapes[0], self._planar)
        self.ordinal = _only([array.ordinal for array in arrays], "memory of different places")
        self.dtype = _only([array.dtype for array in arrays], "samples of different types")
        counts = [dict(zip(self.axes, shape)).get("T") for shape in self.shapes]
        self.count = _only(counts, "different numbers of frames")
        self._samples = samples_of(self.dtype, how.bit_depth, how.data_range)
        self.format = self._format()
        self._converted: list[Any] = []  # arrays that are filtered in place of the caller's
        if use != "described":
            self.clip = self._clip(arrays, use == "written")

    def _clip(self, arrays: list[_limpid.Array], writable: bool) -> _limpid.Clip:
        on_gpu = self.ordinal is not None
        if not writable:
            for part in self._parts:
                check_range(part, self.dtype, on_gpu, self.how.data_range, self._samples)
        parts, white = self._parts, self._samples.white
        if white is not None and writable:
            parts = [_empty(part, shape, self.axes, "float32", self.ordinal) for part, shape in zip(parts, self.shapes)]
        elif white is not None:
            parts = [to_filtered(part, white, on_gpu) for part in parts]
        if white is not None:
            self._converted = parts
            arrays = [_limpid.Array(part, writable) for part in parts]
        clip = _limpid.Clip(arrays, self.axes)
        if clip.fits:
            return clip
        if writable or on_gpu:
            raise ArgumentError(
                f"an array of shape {self.shapes[0]} has strides that can't be used where it is: its rows must "
                "follow each other, from left to right"
            )
        order = _planar_order(self.axes)
        copies = [numpy.ascontiguousarray(host_view(part).transpose(order)) for part in parts]
        axes = "".join(self.axes[axis] for axis in order)
        return _limpid.Clip([_limpid.Array(copy, False) for copy in copies], axes)

    def _format(self) -> Format:
        sizes = [dict(zip(self.axes, shape)) for shape in self.shapes]
        planes = len(sizes) if self._planar else sizes[0].get("C", 1)
        if planes not in ((1, 3, 4) if self._planar else (1, 2, 3, 4)):
            raise ArgumentError(f"there are {planes} planes, and frames have 1, 3 or, with alpha, 4")
        color = self.how.color or ("gray" if planes <= 2 else "yuv" if self._planar else "rgb")
        if color not in _COLORS:
            raise ArgumentError(f"there is no color '{color}'; there are gray, yuv and rgb")
        if (color == "gray") != (planes <= 2):
            raise ArgumentError(f"there are {planes} planes, which don't make a frame in {color}")
        shifts = (0, 0)
        if len(sizes) > 1:
            shifts = _chroma_shifts(sizes, color)
        return Format(
            sizes[0]["X"], sizes[0]["Y"], _COLORS.index(color), *shifts, _DTYPES.index(self._samples.dtype),
            self._samples.bit_depth, planes in (2, 4),
        )

    def same_kind_as(self, other: Frames) -> bool:
        kind = (self.shapes, self.axes, self.dtype, self.format)
        return kind == (other.shapes, other.axes, other.dtype, other.format)

    def empty_like(self) -> Frames:
        """Arrays as these, for results: of the same library, in the same memory."""
        parts = [
            _empty(part, shape, self.axes, self.dtype, self.ordinal) for part, shape in zip(self._parts, self.shapes)
        ]
        how = self.how._replace(axes=self.axes, channel_axis=None)
        return Frames(tuple(parts) if self._planar else parts[0], how, "written")

    def result(self, like: Any) -> Any:
        """The value, once it is filled; as `like` if that is of a library that can't fill its arrays."""
        if self._samples.white is not None:
            for filtered, part in zip(self._converted, self._parts):
                from_filtered(filtered, part, self.dtype, self._samples.white)
        if self._planar:
            return tuple(_finished(part, other) for part, other in zip(self.value, like))
        return _finished(self.value, like)

    def __str__(self) -> str:
        return f"{self.dtype}, axes {self.axes}, {' and '.join(str(shape) for shape in self.shapes)}"


def _import(part: Any, writable: bool) -> _limpid.Array:
    if isinstance(part, numpy.ma.MaskedArray):
        raise ArgumentError("masks of arrays are not supported: give array.filled(value) or array.data")
    if isinstance(part, numpy.ndarray):
        check_type(part.dtype.name)
        if writable and not part.flags.writeable:
            raise ArgumentError("results can't be written to an array that is read-only")
        if not writable and any(stride % part.itemsize for stride in part.strides):
            part = numpy.ascontiguousarray(part)  # DLPack has no such strides
    try:
        return _limpid.Array(part, writable)
    except TypeError as error:
        raise ArrayError(str(error)) from None
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def _native(part: Any, use: str) -> Any:
    """The array with samples in the byte order of this machine."""
    if not isinstance(part, numpy.ndarray) or part.dtype.isnative:
        return part
    if use == "written":
        raise ArgumentError(f"results can't be written to samples of type {part.dtype}, in another byte order")
    return part.astype(part.dtype.newbyteorder("="))


def axes_of(array: Any, how: How) -> str:
    """The axes of one array."""
    return _axes(how, _import(_native(array, "read"), False).shape, False)


def _axes_by_channel(how: How, shape: tuple[int, ...], planar: bool) -> str:
    axis = how.channel_axis
    if how.axes is not None or planar:
        raise ArgumentError("channel_axis is for one array without axes=")
    if axis is None or not -len(shape) <= axis < len(shape) or len(shape) not in (3, 4):
        raise ArgumentError(f"channel_axis={axis} is not possible for an array of shape {shape}")
    others = "YX" if len(shape) == 3 else "TYX"
    axis %= len(shape)
    return others[:axis] + "C" + others[axis:]


def _axes(how: How, shape: tuple[int, ...], planar: bool) -> str:
    said = how.axes
    if 0 in shape:
        raise ArgumentError(f"an array of shape {shape} is empty")
    if how.channel_axis is not None:
        return _axes_by_channel(how, shape, planar)
    if said is not None:
        if sorted(said) != sorted(set(said) & set("TCYX")) or not {"Y", "X"} <= set(said) or (planar and "C" in said):
            raise ArgumentError(f"axes='{said}' isn't Y and X once each, and T and, in one array, C at most once")
        if len(said) != len(shape):
            raise ArgumentError(f"axes='{said}' is of {len(said)} axes, and the array's shape is {shape}")
        return said
    if len(shape) == 2:
        return "YX"
    if planar and len(shape) == 3 and shape[-1] > 1:
        return "TYX"
    if len(shape) in (3, 4) and not planar:
        last, before = shape[-1] <= 4, shape[-3] <= 4
        if len(shape) == 3 and (last or shape[0] not in (3, 4)):
            return "YXC" if last else "TYX"
        if len(shape) == 4 and (last or before):
            return "TYXC" if last else "TCYX"
    raise ArgumentError(
        f"the axes of an array of shape {shape} are ambiguous: give axes=, such as 'TYX' or 'CYX' (T time, "
        "C color, Y rows, X columns)"
    )


def _chroma_shifts(sizes: list[dict[str, int]], color: str) -> tuple[int, int]:
    luma, chroma = sizes[0], sizes[1]
    if sizes[2] == chroma and (len(sizes) == 3 or sizes[3] == luma):
        found = [
            next((shift for shift in range(3) if -(-luma[axis] >> shift) == chroma[axis]), None) for axis in ("X", "Y")
        ]
        x, y = found
        if x is not None and y is not None and (color == "yuv" or x == y == 0):
            return x, y
    shapes = ", ".join(f"{size['X']}x{size['Y']}" for size in sizes)
    raise ArgumentError(f"planes of {shapes} don't make a frame in {color}")


def _only(values: list[Any], differing: str) -> Any:
    if any(value != values[0] for value in values):
        raise ArgumentError(f"the planes have {differing}: {', '.join(str(value) for value in values)}")
    return values[0]


def _planar_order(axes: str) -> list[int]:
    """The axes' numbers in the order of planes: T, C, Y, X."""
    return [axes.index(axis) for axis in "TCYX" if axis in axes]


def _empty(array: Any, shape: tuple[int, ...], axes: str, dtype: str, ordinal: Optional[int]) -> Any:
    if axes.replace("T", "") not in ("YX", "YXC", "CYX"):
        # Samples that are far apart can't be written where they are.
        order = _planar_order(axes)
        planar = _empty(array, tuple(shape[axis] for axis in order), "YX", dtype, ordinal)
        back = [order.index(axis) for axis in range(len(axes))]
        return planar.permute(back) if library_of(array) == "torch" else planar.transpose(back)
    library = library_of(array)
    if library == "torch":
        import torch

        return array.new_empty(shape, dtype=getattr(torch, dtype))
    if library == "cupy":
        import cupy

        with cupy.cuda.Device(ordinal):
            return cupy.empty(shape, dtype=dtype)
    if ordinal is not None:
        raise ArgumentError(
            f"no {type(array).__module__}.{type(array).__qualname__} can be made for a result on a GPU: give out="
        )
    return numpy.empty(shape, dtype=dtype)


def _finished(result: Any, like: Any) -> Any:
    if library_of(like) in ("jax", "jaxlib") and isinstance(result, numpy.ndarray):
        import jax.numpy

        return jax.numpy.asarray(result)
    return result
