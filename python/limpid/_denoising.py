# SPDX-License-Identifier: MIT
"""Engines, filters and denoisers."""

from __future__ import annotations

import collections
import itertools
import numbers
import os
import re
import reprlib
import threading
import warnings
from typing import Any, Deque, Iterable, Iterator, NamedTuple, Optional, Sequence, TypeVar, Union, cast

import numpy

from . import _limpid
from ._arrays import Frames, How, axes_of
from ._errors import ArgumentError
from ._noise import NoiseProfile
from ._samples import check_sigma, library_of

Setting = Union[None, bool, int, float, str, Sequence[float], NoiseProfile, "os.PathLike[str]"]
Levels = Union[None, float, str, Sequence[float]]
Noise = Union[None, float, str, Sequence[float], NoiseProfile, "os.PathLike[str]"]
Pictures = TypeVar("Pictures")

_INTERLACED, _BEGINS_ANEW, _CONTEXT_ONLY = 1, 2, 4  # limpid_frame_flag
_MOST_THREADS = 1024
_MOST_VALUES = 4  # of a setting: one for each plane


class Engine:
    """A processor that runs denoisers, which can share it on any threads.

    name     "auto", the best of this machine; "cpu"; "cuda", the first GPU that can run; "cuda:0"; "cuda:0,1";
             "cuda:all" (see engines())
    threads  number of threads of the CPU engine; 0: one for each processor that the process may use

    It is opened when a denoiser first starts on it, which raises the error if it is not available.
    """

    def __init__(self, name: str = "auto", threads: int = 0) -> None:
        if not 0 <= threads <= _MOST_THREADS:
            raise ArgumentError(f"threads={threads} isn't 0 to {_MOST_THREADS}")
        self._handle = _limpid.Engine(name, threads)
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<limpid.Engine {self._name}>"


class StreamInfo(NamedTuple):
    """A stream of frames through a filter.

    reach_before, reach_after  how many frames before and after its own a result depends on
    latency       later frames that must be sent before a frame's result is available
    concurrency   frames processed at once: latency + concurrency frames in progress keep the engine busy
    """

    reach_before: int
    reach_after: int
    latency: int
    concurrency: int
    engine: str
    engine_description: str
    filter: str


class EngineInfo(NamedTuple):
    """name: for Engine(); description: the processor or device, or why it is not available; memory_bytes: 0 if unknown."""

    name: str
    description: str
    memory_bytes: int
    available: bool


class ParameterInfo(NamedTuple):
    """name: as a setting, with _; range: legal values as text; default: None if it follows from other parameters."""

    name: str
    help: str
    range: str
    default: Optional[str]


class FilterInfo(NamedTuple):
    """profiles: from fastest to best; default_profile: None without profiles."""

    name: str
    help: str
    profiles: tuple[str, ...]
    default_profile: Optional[str]
    parameters: tuple[ParameterInfo, ...]


def engines() -> list[EngineInfo]:
    """The engines of this machine, best first, including those that are not available."""
    return [EngineInfo(*engine) for engine in _limpid.engines()]


def filters() -> list[FilterInfo]:
    """All filters, with their parameters."""
    return [
        FilterInfo(
            name, help, tuple(profiles), default_profile,
            tuple(ParameterInfo(parameter[0].replace("-", "_"), *parameter[1:]) for parameter in parameters),
        )
        for name, help, profiles, default_profile, parameters in _limpid.filters()
    ]


_Key = tuple[str, int]  # name, threads
_shared: dict[_Key, Engine] = {}
_shared_lock = threading.Lock()
_left_to_parent: list[dict[_Key, Engine]] = []


def _after_fork() -> None:
    # The child has no threads. Destroying their objects would wait for them.
    global _shared, _shared_lock
    _left_to_parent.append(_shared)
    _shared, _shared_lock = {}, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def _engine(engine: Union[None, str, Engine], ordinal: Optional[int] = None, threads: Any = None) -> Engine:
    if isinstance(engine, Engine):
        if threads is not None:
            raise ArgumentError(f"threads={threads} is for engines given by name: make one by limpid.Engine(name, threads)")
        return engine
    key = (engine or ("auto" if ordinal is None else f"cuda:{ordinal}"), threads or 0)
    with _shared_lock:
        if key not in _shared:
            _shared[key] = Engine(*key)
        return _shared[key]


def _text(value: Setting) -> Optional[str]:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, NoiseProfile):
        return value.text
    if isinstance(value, (bool, numpy.bool_)):
        return "1" if value else "0"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, numpy.ndarray):
        value = value.tolist() if value.size <= _MOST_VALUES else [0.0] * value.size
        return _text(value)
    if isinstance(value, Sequence):
        if len(value) > _MOST_VALUES:
            raise ArgumentError(f"{len(value)} values are no setting: give a number, or one for each plane")
        if not any(isinstance(each, (list, tuple, numpy.ndarray)) for each in value):
            return ",".join(str(_text(each)) for each in value)
    raise ArgumentError(f"{reprlib.repr(value)} is no value for a setting")


def _given(settings: dict[str, Setting], **named: Setting) -> dict[str, Any]:
    return {**{name: value for name, value in named.items() if value is not None}, **settings}


class Denoiser:
    """A stream of frames through a filter: send frames and receive results, in the same order.

        denoiser = limpid.Denoiser(profile="fast")
        for frame in frames:
            denoiser.send(frame)
            for result in denoiser.results():
                ...
        denoiser.flush()
        for result in denoiser.results():
            ...

    engine     a name or an Engine; without one the best of this machine or, for arrays on a GPU, that GPU
    axes, color, data_range, settings  as for denoise(); frames have no T axis

    All frames of a stream have one shape and type. Frames in host memory are copied when they are sent. Those on a
    GPU are read there, and must not be changed until their results, and those of the frames that depend on them, have
    been received. Calls from several threads wait for each other; for work at the same time, use a denoiser for each.
    """

    def __init__(
        self,
        *,
        engine: Union[None, str, Engine] = None,
        axes: Optional[str] = None,
        color: Optional[str] = None,
            data_range: Optional[float] = None,
        channel_axis: Optional[int] = None,
        sigma: Levels = None,
        noise: Noise = None,
        strength: Levels = None,
        mix: Optional[float] = None,
        filter: Optional[str] = None,
        profile: Optional[str] = None,
        **settings: Setting,
    ) -> None:
        self._how = How(axes, color, data_range, channel_axis)
        self._engine = engine
        self._settings: dict[str, Optional[str]] = {}
        self._like: Optional[Frames] = None
        self._targets: Deque[Optional[Frames]] = collections.deque()
        self._lock = threading.RLock()
        self._threads = settings.pop("threads", None)
        self._handle = _limpid.Denoiser(_engine(engine, None, self._threads)._handle)
        self._sigma: Setting = None
        self._depth_is_known = False
        self.set(
            **_given(
                settings, sigma=sigma, noise=noise, strength=strength, mix=mix, filter=filter, profile=profile
            )
        )

    def set(self, **settings: Setting) -> None:
        """Changes settings; None resets one to its default.

        noise, sigma, strength, mix and planes hold for the frames that are sent from now on, the others from
        the next start() on.
        """
        with self._lock:
            # The others override the settings of the file.
            if "bit_depth" in settings:
                raise ArgumentError("bit_depth is not a setting: give data_range=, such as data_range=1023 for 10 bits")
            for name, value in sorted(settings.items(), key=lambda setting: setting[0] != "settings"):
                option, text = name.replace("_", "-"), _text(value)
                if option == "strength" and text is not None and not isinstance(value, str):
                    text = re.sub(r"^(\d+),(\d+)$", r"\1.0,\2", text)  # (1, 0) is no decimal comma
                self._handle.set(option, text)
                self._settings.pop(option, None)  # in the order in which they were set
                self._settings[option] = text
            self._sigma = settings.get("sigma", self._sigma)
            if "sigma" in settings and self._like is not None:
                self._warn_of_sigma(self._like, 3)

    def start(self, frame: Any) -> None:
        """Begins a stream of frames in the format of this one, whose samples are not used. send() does so automatically."""
        with self._lock:
            self._start(self._one_frame(frame, "described"))

    def send(
        self,
        frame: Any,
        *,
        out: Any = None,
        context: bool = False,
        begins_anew: bool = False,
        interlaced: bool = False,
    ) -> None:
        """Sends the next frame without waiting for its result.

        out          an array like the frame, for its result
        context      the frame has no result and is only used for the frames around it
        begins_anew  the frame does not continue the frame before, as after a seek
        interlaced   odd and even rows are fields of different instants, filtered separately if combed
        """
        with self._lock:
            source = self._one_frame(frame, "read")
            if self._like is None:
                self._start(source)
            elif not source.same_kind_as(self._like) or source.ordinal != self._like.ordinal:
                raise ArgumentError(f"the frame is {source}, but the stream has frames of {self._like}")
            self._warn_of_depth(source, 3)
            target = None if out is None or context else _target(out, source)
            if target is None and (source.ordinal is not None or source.is_av) and not context:
                target = source.empty_like()
            flags = _CONTEXT_ONLY * context | _BEGINS_ANEW * begins_anew | _interlaced(interlaced, source)
            on_gpu = (target.clip, 0) if target is not None and source.ordinal is not None else None
            self._handle.send(source.clip, 0, flags, on_gpu)
            if not context:
                self._targets.append(target)

    def receive(self) -> Any:
        """The next result, an array like the frame that was sent; waits until it is complete.

        None if more frames must be sent first or, after flush(), at the end.
        """
        with self._lock:
            if self._like is None or not self._targets:
                return None
            target = self._targets[0]
            if target is None:
                target = self._targets[0] = self._like.empty_like()
            try:
                there = self._handle.receive() if target.ordinal is not None else self._handle.receive_into(target.clip, 0)
            except KeyboardInterrupt:
                self.reset()
                raise
            if not there:
                return None
            self._targets.popleft()
            return target.result(self._like.value)

    def results(self) -> Iterator[Any]:
        """All available results, including those in progress, for which it waits."""
        while (result := self.receive()) is not None:
            yield result

    def flush(self) -> None:
        """Ends the stream, so that all results can be received."""
        with self._lock:
            if self._like is not None:
                self._handle.flush()

    def reset(self) -> None:
        """Drops all frames and restarts the stream."""
        with self._lock:
            if self._like is not None:
                self._targets.clear()
                self._handle.reset()

    @property
    def stream(self) -> StreamInfo:
        """Properties of the stream; for a denoiser that has been started."""
        return StreamInfo(**self._handle.stream())

    @property
    def noise(self) -> Optional[NoiseProfile]:
        """The noise of the last frame that the filter received, estimated or given; None before the first."""
        if self._like is None:
            return None
        text = self._handle.noise()
        return None if text is None else NoiseProfile(text)

    def _one_frame(self, frame: Any, use: str) -> Frames:
        frames = Frames(frame, self._how, use)
        if frames.count is not None:
            raise ArgumentError(f"a frame has no time axis, and the array's axes are {frames.axes}")
        return frames

    def _start(self, source: Frames, stacklevel: int = 4) -> None:
        if source.ordinal is not None and self._engine is None:
            handle = _limpid.Denoiser(_engine(None, source.ordinal, self._threads)._handle)
            for name, text in self._settings.items():
                handle.set(name, text)
            self._handle = handle
        for sentence in self._handle.start(source.format):
            warnings.warn(sentence, RuntimeWarning, stacklevel)
        self._like = source
        self._targets.clear()
        self._depth_is_known = False
        self._warn_of_sigma(source, stacklevel + 1)

    def _warn_of_depth(self, source: Frames, stacklevel: int) -> None:
        is_given = any(self._settings.get(name) not in (None, "auto") for name in ("noise", "sigma"))
        if self._depth_is_known or not is_given or source.ordinal is not None:
            return
        self._depth_is_known = True
        if sentence := source.depth_warning():
            warnings.warn(sentence, RuntimeWarning, stacklevel)

    def _warn_of_sigma(self, source: Frames, stacklevel: int) -> None:
        if sentence := check_sigma(self._sigma, source.dtype, source.how.data_range):
            warnings.warn(sentence, RuntimeWarning, stacklevel)


def _interlaced(interlaced: bool, source: Frames) -> int:
    return _INTERLACED * (interlaced or source.is_av and bool(source.value.interlaced_frame))


def _target(out: Any, source: Frames) -> Frames:
    target = Frames(out, source.how._replace(axes=source.axes, channel_axis=None), "written")
    if not target.same_kind_as(source) or target.ordinal != source.ordinal:
        raise ArgumentError(f"out is {target}, and what is to be denoised is {source}")
    return target


def denoise(
    array: Pictures,
    *,
    out: Optional[Pictures] = None,
    engine: Union[None, str, Engine] = None,
    axes: Optional[str] = None,
    color: Optional[str] = None,
    data_range: Optional[float] = None,
    channel_axis: Optional[int] = None,
    interlaced: bool = False,
    sigma: Levels = None,
    noise: Noise = None,
    strength: Levels = None,
    mix: Optional[float] = None,
    filter: Optional[str] = None,
    profile: Optional[str] = None,
    **settings: Setting,
) -> Pictures:
    """Denoises a picture, or a video that is in memory; the result is an array of the same kind.

    array      uint8, uint16, int16, or floats from 0 to 1: of NumPy, PyTorch, CuPy, JAX or anything with DLPack; or a
               tuple of arrays, planes, such as (Y, U, V), with chroma subsampled or not; or a frame of PyAV; or a list
               of frames, whose result is a list. float64 and int16 are filtered as float32; the result has the array's type, in the
               byte order of the machine. Arrays on a GPU are denoised there, and not copied to the host; what their
               current stream has been given is waited for.
    axes       what the array's axes are: T time, C color, Y rows, X columns. Without it (rows, columns),
               (rows, columns, 1 to 4), (time, rows, columns), (time, rows, columns, 1 to 4) and
               (time, 1 to 4, rows, columns) are understood, and of planes (rows, columns) and (time, rows, columns).
               A second of two colors, and a fourth color or plane, is alpha, which isn't filtered.
    channel_axis  the number of the axis of colors, as in scikit-image; the others are (rows, columns) or (time, rows,
               columns)
    color      "gray", "rgb", "bgr" (of OpenCV), "yuv"; without it, arrays with colors are RGB, and planes are YUV.
               "i420", "nv12": 4:2:0 in one array of (height * 3/2, width), as of PyAV's to_ndarray() and OpenCV.
               "channels" filters each of any number of channels by itself, as of a microscope; sigma may have a value
               for each.
    data_range the value of white, where black is 0: 255 for floats from 0 to 255, 4095 for 12 bits in uint16. Floats
               beyond 1.5 are refused without it.
    out        an array as `array`, which the result is written to; it may be `array` itself
    engine     a name or an Engine; without one the best of this machine or, for arrays on a GPU, that GPU
    interlaced odd and even rows are fields of different instants

    settings are the options of `limpid denoise`, with _ for -; among them:

    sigma      the noise's standard deviation in 8-bit code values, whatever the depth (1 is 1/255 of data_range): a number,
               or one for each plane. Without it and `noise`, the noise is found.
    noise      a NoiseProfile, or the name of a file with one
    strength   0 to 10, or a pair for luma and chroma [1]
    mix        share of the noisy frame in the result, 0 to 1 [0]
    repair     "off", "pixels", "rows", "dust" or "all": defects to repair before filtering ["off"]
    settings   name of a settings file of the window; the other settings override it
    filter     "vbm4d" (along motion), "bm3d", "nlm", "bilateral", ...: see filters() [vbm4d; of a picture bm3d]
    profile    "fast", "lc", "np", "high", "best"

    Results are bit-exact with those of `limpid denoise` with the same settings.
    """
    given = _given(settings, sigma=sigma, noise=noise, strength=strength, mix=mix, filter=filter, profile=profile)
    how = How(axes, color, data_range, channel_axis)
    if isinstance(array, list):
        return cast(Pictures, _denoise_list(array, out, engine, how, interlaced, given))
    if color == "channels":
        return cast(Pictures, _denoise_channels(array, out, engine, how, interlaced, given))
    source = Frames(array, how)
    _warn_of_alpha(source)
    if source.count is None:
        given.setdefault("filter", "bm3d")
    target = source.empty_like() if out is None else _target(out, source)
    denoiser = Denoiser(engine=engine, **given)
    denoiser._start(source, 3)
    denoiser._warn_of_depth(source, 3)
    handle, on_gpu = denoiser._handle, source.ordinal is not None
    stream = denoiser.stream
    flags = _interlaced(interlaced, source)
    received = 0

    def receive() -> bool:
        nonlocal received
        there = handle.receive() if on_gpu else handle.receive_into(target.clip, received)
        received += there
        return there

    count = source.count or 1
    for t in range(count):
        handle.send(source.clip, t, flags, (target.clip, t) if on_gpu else None)
        while t + 1 - received >= stream.latency + stream.concurrency and receive():
            pass
    handle.flush()
    while received < count and receive():
        pass
    result = target.result(array)
    return result if out is None else out


def _warn_of_alpha(source: Frames) -> None:
    how = source.how
    if "C" not in source.axes or how.axes is not None or how.color is not None:
        return
    count = source.shapes[0][source.axes.index("C")]
    if count == 2 or count == 4 and source.axes[-1] != "C":
        which = "second of 2" if count == 2 else "fourth of 4"
        warnings.warn(
            f"the {which} channels counts as alpha and is not filtered: give color='channels' to filter each "
            f"channel, or color='{source.format.color}' if it is alpha",
            RuntimeWarning,
            3,
        )


def _denoise_list(
    frames: list[Any], out: Any, engine: Any, how: How, interlaced: bool, settings: dict[str, Any]
) -> Any:
    if out is not None:
        raise ArgumentError("out is not possible for a list of frames: the result is a list")
    if how.color == "channels":
        raise ArgumentError("color='channels' is not possible for a list of frames: give one array, numpy.stack(frames)")
    return list(denoise_frames(frames, engine=engine, interlaced=interlaced, **how._asdict(), **settings))


def _denoise_channels(
    array: Any, out: Any, engine: Any, how: How, interlaced: bool, settings: dict[str, Any]
) -> Any:
    if isinstance(array, tuple):
        raise ArgumentError("color='channels' is for one array with an axis of channels")
    axes = axes_of(array, how)
    if "C" not in axes:
        raise ArgumentError("color='channels' requires an axis of channels: give axes= or channel_axis=")
    axis = axes.index("C")
    sigma = settings.get("sigma")
    levels = list(sigma) if isinstance(sigma, (list, tuple, numpy.ndarray)) else [sigma] * array.shape[axis]
    if len(levels) != array.shape[axis]:
        raise ArgumentError(f"sigma has {len(levels)} values, and there are {array.shape[axis]} channels")
    how = how._replace(axes=axes.replace("C", ""), color="gray", channel_axis=None)
    parts = [
        denoise(
            array[(slice(None),) * axis + (channel,)],
            engine=engine, interlaced=interlaced, **how._asdict(), **{**settings, "sigma": level},
        )
        for channel, level in enumerate(levels)
    ]
    result = _stack(parts, axis)
    if out is None:
        return result
    out[...] = result
    return out


def _stack(arrays: list[Any], axis: int) -> Any:
    library = library_of(arrays[0])
    if library == "torch":
        import torch

        return torch.stack(arrays, axis)
    if library == "cupy":
        import cupy

        return cupy.stack(arrays, axis)
    if library in ("jax", "jaxlib"):
        import jax.numpy

        return jax.numpy.stack(arrays, axis)
    return numpy.stack(arrays, axis)


def denoise_frames(
    frames: Iterable[Pictures],
    *,
    engine: Union[None, str, Engine] = None,
    axes: Optional[str] = None,
    color: Optional[str] = None,
    data_range: Optional[float] = None,
    channel_axis: Optional[int] = None,
    interlaced: bool = False,
    sigma: Levels = None,
    noise: Noise = None,
    strength: Levels = None,
    mix: Optional[float] = None,
    filter: Optional[str] = None,
    profile: Optional[str] = None,
    **settings: Setting,
) -> Iterator[Pictures]:
    """Denoises a video frame by frame: yields a result for each frame, in order, while it reads more frames.

    The arguments are those of denoise(); frames have no T axis. A few frames are in progress at a time: the filter's
    lookahead and those that keep the engine busy. Frames on a GPU must not be changed while they are in progress; those
    in host memory may be.
    """
    denoiser = Denoiser(
        engine=engine, axes=axes, color=color, data_range=data_range, channel_axis=channel_axis,
        sigma=sigma, noise=noise, strength=strength, mix=mix, filter=filter, profile=profile, **settings,
    )
    return _results(denoiser, frames, interlaced)


def _results(denoiser: Denoiser, frames: Iterable[Any], interlaced: bool) -> Iterator[Any]:
    most = None
    for frame in frames:
        denoiser.send(frame, interlaced=interlaced)
        if most is None:
            stream = denoiser.stream
            most = stream.latency + stream.concurrency
        while len(denoiser._targets) >= most:
            result = denoiser.receive()
            if result is None:
                break
            yield result
    denoiser.flush()
    yield from denoiser.results()


def estimate_noise(
    frames: Any,
    *,
    count: int = 16,
    engine: Union[None, str, Engine] = None,
    axes: Optional[str] = None,
    color: Optional[str] = None,
    data_range: Optional[float] = None,
    channel_axis: Optional[int] = None,
) -> NoiseProfile:
    """Estimates the noise of a picture, a video or the frames of an iterator, as `limpid noise` does.

    Uses at most `count` frames; if there are scene cuts between them, the longest scene counts. Pictures should be at
    least 64x64. The other arguments are those of denoise().
    """
    if count < 1:
        raise ArgumentError(f"count={count} is less than 1")
    how = How(axes, color, data_range, channel_axis)
    if isinstance(frames, tuple) or hasattr(frames, "__dlpack__") or hasattr(frames, "shape") or library_of(frames) == "av":
        whole = Frames(frames, how)
        kept = [whole]
        parts = [(whole.clip, t) for t in range(min(whole.count or 1, count))]
    else:
        kept = [Frames(frame, how) for frame in itertools.islice(frames, count)]
        parts = [(frame.clip, 0) for frame in kept]
    if not kept:
        raise ArgumentError("there are no frames to estimate noise from")
    for frame in kept:
        if not frame.same_kind_as(kept[0]) or len(kept) > 1 and frame.count is not None:
            raise ArgumentError(f"a frame is {frame}, and the first is {kept[0]}")
    handle = _limpid.Denoiser(_engine(engine, kept[0].ordinal)._handle)
    return NoiseProfile(handle.estimate_noise(kept[0].format, parts))
