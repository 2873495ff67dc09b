# SPDX-License-Identifier: MIT
"""Arrays of the caller as frames of planes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional

import numpy

from . import _limpid
from ._errors import ArgumentError, ArrayError
from ._samples import check_depth, check_range, check_type, from_filtered, host_view, library_of, samples_of, to_filtered

_COLORS = ("gray", "yuv", "rgb")  # by limpid_color_model
_DTYPES = ("uint8", "uint16", "float32", "float16")  # by limpid_sample_type
# Formats of PyAV's frames whose samples are in the low bits, in the order of the components.
_AV_FORMATS = re.compile(r"(gray|yuvj?4\d\dp|yuva4\d\dp|gbra?p|nv12|nv16|nv24|rgb24|rgba|rgb48|rgba64)(9|1[0246])?(le)?")
_AV_PROPERTIES = ("pts", "dts", "time_base", "colorspace", "color_range", "color_primaries", "color_trc")
_SD_SIZES = ((720, 480), (720, 576), (704, 480), (704, 576), (352, 240), (352, 288))
_LEAST_VIDEO_WIDTH = 128


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
    data_range: Optional[float] = None
    channel_axis: Optional[int] = None


class Frames:
    """A picture or a video that an array, a tuple of planes or a frame of PyAV holds.

    value   what the caller gave, or gets
    clip    its samples
    count   how many frames it has; None: it is one picture, without a time axis
    ordinal the number of the GPU that it is on; None: it is in host memory
    """

    def __init__(self, value: Any, how: How, use: str = "read") -> None:
        """use: "read", "written", or "described" if samples aren't used"""
        self.value = value
        self.how = how
        self.is_av = library_of(value) == "av"
        self._is_packed = how.color in ("i420", "nv12")
        self._planar = isinstance(value, tuple) or self.is_av or self._is_packed
        planes, how = _planes(value, how, use)
        self._layout = how
        self._parts = [_native(part, use) for part in planes]
        if not self._parts:
            raise ArgumentError("there are no planes")
        arrays = [_import(part, use == "written") for part in self._parts]
        self.shapes = [tuple(array.shape) for array in arrays]
        self.axes = _axes(how, self.shapes[0], self._planar)
        self.ordinal = _only([array.ordinal for array in arrays], "memory of different places")
        self.dtype = _only([array.dtype for array in arrays], "samples of different types")
        counts = [dict(zip(self.axes, shape)).get("T") for shape in self.shapes]
        self.count = _only(counts, "different numbers of frames")
        self._samples = samples_of(self.dtype, how.data_range)
        self.format = self._format()
        self._converted: list[Any] = []  # arrays that are filtered in place of the caller's
        if use != "described":
            self.clip = self._clip(arrays, use == "written")

    def _clip(self, arrays: list[_limpid.Array], writable: bool) -> _limpid.Clip:
        on_gpu = self.ordinal is not None
        if not writable:
            for part in self._parts:
                check_range(part, self.dtype, on_gpu, self._layout.data_range, self._samples)
        parts, white = self._parts, self._samples.white
        if white is not None and writable:
            parts = [_empty(part, shape, self.axes, "float32", self.ordinal) for part, shape in zip(parts, self.shapes)]
        elif white is not None:
            parts = [to_filtered(part, white, on_gpu) for part in parts]
        if white is not None:
            self._converted = parts
            arrays = [_limpid.Array(part, writable) for part in parts]
        letter = "B" if self._layout.color == "bgr" else "C"  # of colors in the reverse order
        clip = _limpid.Clip(arrays, self.axes.replace("C", letter))
        if clip.fits:
            return clip
        if writable or on_gpu:
            raise ArgumentError(
                f"an array of shape {self.shapes[0]} has strides that can't be used where it is: its rows must "
                "follow each other, from left to right"
            )
        order = _planar_order(self.axes)
        copies = [numpy.ascontiguousarray(host_view(part).transpose(order)) for part in parts]
        axes = "".join(self.axes[axis] for axis in order).replace("C", letter)
        return _limpid.Clip([_limpid.Array(copy, False) for copy in copies], axes)

    def _format(self) -> Format:
        sizes = [dict(zip(self.axes, shape)) for shape in self.shapes]
        planes = len(sizes) if self._planar else sizes[0].get("C", 1)
        if planes not in ((1, 3, 4) if self._planar else (1, 2, 3, 4)):
            raise ArgumentError(f"there are {planes} planes, and frames have 1, 3 or, with alpha, 4")
        color = self._layout.color
        if planes == 1 and color is None and _may_be_420(sizes[0]["X"], sizes[0]["Y"]):
            raise ArgumentError(
                f"an array of shape {self.shapes[0]} may be a frame in 4:2:0 with its chroma below its luma: give "
                "color='i420' or 'nv12', or color='gray' if it is gray"
            )
        color = color or ("gray" if planes <= 2 else "yuv" if self._planar else "rgb")
        if color == "bgr" and not self._planar:
            color = "rgb"
        if color not in _COLORS:
            raise ArgumentError(f"there is no color '{color}'; there are gray, yuv, rgb and, of one array, bgr, i420 and nv12")
        if (color == "gray") != (planes <= 2):
            raise ArgumentError(f"there are {planes} planes, which don't make a frame in {color}")
        shifts = (0, 0)
        if len(sizes) > 1:
            shifts = _chroma_shifts(sizes, color)
        return Format(
            sizes[0]["X"], sizes[0]["Y"], _COLORS.index(color), *shifts, _DTYPES.index(self._samples.dtype),
            self._samples.bit_depth, planes in (2, 4),
        )

    def depth_warning(self) -> Optional[str]:
        return check_depth(self._parts[0], self.dtype, self._layout.data_range)

    def same_kind_as(self, other: Frames) -> bool:
        kind = (self.shapes, self.axes, self.dtype, self.format)
        return kind == (other.shapes, other.axes, other.dtype, other.format)

    def empty_like(self) -> Frames:
        """Arrays as these, for results: of the same library, in the same memory."""
        if self.is_av:
            frame = type(self.value)(self.value.width, self.value.height, self.value.format.name)
            for name in _AV_PROPERTIES:
                if (value := getattr(self.value, name, None)) is not None:
                    setattr(frame, name, value)
            return Frames(frame, self.how, "written")
        if self._is_packed:
            parts = [_empty(self.value, tuple(self.value.shape), "YX", self.dtype, self.ordinal)]
        else:
            parts = [
                _empty(part, shape, self.axes, self.dtype, self.ordinal) for part, shape in zip(self._parts, self.shapes)
            ]
        how = self.how._replace(axes=self.axes, channel_axis=None)
        return Frames(tuple(parts) if isinstance(self.value, tuple) else parts[0], how, "written")

    def result(self, like: Any) -> Any:
        """The value, once it is filled; as `like` if that is of a library that can't fill its arrays."""
        if self._samples.white is not None:
            for filtered, part in zip(self._converted, self._parts):
                from_filtered(filtered, part, self.dtype, self._samples.white)
        if isinstance(self.value, tuple):
            return tuple(_finished(part, other) for part, other in zip(self.value, like))
        return _finished(self.value, like)

    def __str__(self) -> str:
        return f"{self.dtype}, axes {self.axes}, {' and '.join(str(shape) for shape in self.shapes)}"


def _planes(value: Any, how: How, use: str) -> tuple[list[Any], How]:
    """The arrays that hold the samples, and their properties."""
    if isinstance(value, tuple):
        return list(value), how
    if library_of(value) == "av":
        return _planes_of_av(value, how)
    if how.color in ("i420", "nv12"):
        return _planes_of_420(value, how.color, use), how._replace(color="yuv")
    return [value], how


def _planes_of_av(frame: Any, how: How) -> tuple[list[Any], How]:
    if how != How():
        raise ArgumentError("frames of PyAV have their format: leave axes, color, data_range and channel_axis out")
    name, components = frame.format.name, frame.format.components
    if not _AV_FORMATS.fullmatch(name):
        raise ArgumentError(f"frames of PyAV in {name} are not supported: convert them with reformat(format='yuv420p')")
    bits = components[0].bits
    counts = [sum(other.plane == plane for other in components) for plane in range(len(frame.planes))]
    parts: list[Any] = []
    for number, component in enumerate(components):
        plane, count = frame.planes[component.plane], counts[component.plane]
        rows = numpy.frombuffer(plane, numpy.uint8 if bits == 8 else numpy.uint16).reshape(plane.height, -1)
        first = sum(other.plane == component.plane for other in components[:number])
        parts.append(rows[:, first::count][:, : component.width])
    color = "gray" if len(parts) == 1 else "rgb" if frame.format.is_rgb else "yuv"
    return parts, How("YX", color, None if bits == 8 else 2**bits - 1)


def _planes_of_420(array: Any, color: str, use: str) -> list[Any]:
    """Y, U and V of an array whose rows below Y hold the chroma."""
    array = array if library_of(array) else host_view(array)
    shape = tuple(array.shape)
    if len(shape) not in (2, 3) or shape[-2] % 3 or shape[-1] % 2:
        raise ArgumentError(
            f"color='{color}' is for arrays of shape (height * 3/2, width) or (time, height * 3/2, width), both even, "
            f"and the shape is {shape}"
        )
    is_whole = array.is_contiguous() if library_of(array) == "torch" else getattr(array, "flags", None)
    if use == "written" and not getattr(is_whole, "c_contiguous", is_whole):
        raise ArgumentError(f"out must be contiguous with color='{color}'")
    height = shape[-2] * 2 // 3
    chroma = array[..., height:, :].reshape(*shape[:-2], -1)
    half = (*shape[:-2], height // 2, shape[-1] // 2)
    if color == "nv12":
        pairs = chroma.reshape(*half, 2)
        return [array[..., :height, :], pairs[..., 0], pairs[..., 1]]
    middle = half[-2] * half[-1]
    return [array[..., :height, :], chroma[..., :middle].reshape(half), chroma[..., middle:].reshape(half)]


def _may_be_420(columns: int, rows: int) -> bool:
    """True for the size of a usual video frame in 4:2:0 whose chroma is below its luma."""
    height = rows * 2 // 3
    if rows % 3 or columns % 2 or columns < _LEAST_VIDEO_WIDTH:
        return False
    ratios = ((16, 9), (4, 3), (9, 16))
    return (columns, height) in _SD_SIZES or any(abs(height * x - columns * y) <= x for x, y in ratios)


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
    return _axes(how, tuple(_import(_native(array, "read"), False).shape), False)


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
