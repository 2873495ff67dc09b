# SPDX-License-Identifier: MIT
"""The rate of frames in a GPU's memory through the Python package, as PyTorch tensors, and through the C library alone.

Usage: python_rate.py LIBLIMPID [--size 1920x1080] [--frames 400] [--rounds 5]

Both are measured alternately. The C library gets the same frames, with memory for their results, by limpid_send_to().
"""

import argparse
import ctypes
import time

import torch

import limpid


class Format(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (name, ctypes.c_int32)
        for name in ("width", "height", "color_model", "shift_x", "shift_y", "sample_type", "bit_depth", "has_alpha")
    ]


class Plane(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_ssize_t), ("sample_stride", ctypes.c_int32)]


class Frame(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("planes", Plane * 4),
        ("memory", ctypes.c_int32),
        ("ordinal", ctypes.c_int32),
        ("padding_bits", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
        ("ready", ctypes.c_void_p),
        ("pts", ctypes.c_int64),
        ("user", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("release_data", ctypes.c_void_p),
        ("buffer", ctypes.c_void_p),
    ]


def c_frame(tensor):
    frame = Frame(struct_size=ctypes.sizeof(Frame), memory=1)
    frame.planes[0] = Plane(tensor.data_ptr(), tensor.stride(0) * tensor.element_size(), 1)
    return frame


def by_library(library, pool, outs, count, ahead, settings):
    denoiser = ctypes.c_void_p()
    assert library.limpid_new(ctypes.byref(denoiser), None) == 0
    for name, value in {"engine": "cuda:0", **settings}.items():
        assert library.limpid_set(denoiser, name.encode(), str(value).encode()) == 0
    rows, columns = pool[0].shape
    assert library.limpid_start(denoiser, ctypes.byref(Format(ctypes.sizeof(Format), columns, rows, 0, 0, 0, 0, 8, 0))) == 0
    frames, places = [c_frame(tensor) for tensor in pool], [c_frame(tensor) for tensor in outs]
    result = Frame(struct_size=ctypes.sizeof(Frame))

    def receive():
        status = library.limpid_receive(denoiser, ctypes.byref(result))
        assert status >= 0
        if status == 0:
            library.limpid_release(ctypes.byref(result))
        return status == 0

    def run(count):
        received = 0
        for t in range(count):
            frame, place = frames[t % len(frames)], places[t % len(places)]
            assert library.limpid_send_to(denoiser, ctypes.byref(frame), ctypes.byref(place)) == 0
            while t + 1 - received >= ahead and receive():
                received += 1
        library.limpid_flush(denoiser)
        while receive():
            received += 1
        assert received == count
        library.limpid_reset(denoiser)

    run(50)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    run(count)
    seconds = time.perf_counter() - begin
    library.limpid_free(ctypes.byref(denoiser))
    return count / seconds


def by_package(pool, outs, count, ahead, settings, given):
    denoiser = limpid.Denoiser(**settings)

    def run(count):
        received = 0
        for t in range(count):
            denoiser.send(pool[t % len(pool)], out=outs[t % len(outs)] if given else None)
            while t + 1 - received >= ahead and denoiser.receive() is not None:
                received += 1
        denoiser.flush()
        received += len(list(denoiser.results()))
        assert received == count
        denoiser.reset()

    run(50)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    run(count)
    return count / (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("liblimpid")
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    columns, rows = map(int, options.size.split("x"))
    library = ctypes.CDLL(options.liblimpid)
    torch.manual_seed(0)
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    clean = 128 + 60 * torch.sin(x / 9) * torch.cos(y / 7)
    pool = [(clean.roll(2 * t, 1) + 10 * torch.randn(rows, columns)).clamp(0, 255).to(torch.uint8).cuda() for t in range(40)]
    outs = [torch.empty_like(frame) for frame in pool]
    print(f"{torch.cuda.get_device_name()}, {options.size} gray, frames a second: library; package; with out=")
    for settings in (
        {"filter": "vbm4d", "profile": "fast", "sigma": 10},
        {"filter": "vbm4d", "profile": "np", "sigma": 10},
        {"filter": "bm3d", "profile": "fast", "sigma": 10},
        {"filter": "bilateral", "sigma": 10},
    ):
        denoiser = limpid.Denoiser(**settings)
        denoiser.start(pool[0])
        ahead = denoiser.stream.latency + denoiser.stream.concurrency
        del denoiser
        rates = [[], [], []]
        for _ in range(options.rounds):
            rates[0].append(by_library(library, pool, outs, options.frames, ahead, settings))
            rates[1].append(by_package(pool, outs, options.frames, ahead, settings, False))
            rates[2].append(by_package(pool, outs, options.frames, ahead, settings, True))
        best = [max(each) for each in rates]
        name = f"{settings['filter']} {settings.get('profile', '')}"
        print(
            f"{name:14} {best[0]:8.0f} {best[1]:8.0f} ({100 * (best[1] / best[0] - 1):+.1f} %) "
            f"{best[2]:8.0f} ({100 * (best[2] / best[0] - 1):+.1f} %)",
            flush=True,
        )


if __name__ == "__main__":
    main()
