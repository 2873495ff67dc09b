# SPDX-License-Identifier: MIT
"""Several threads, Python's lock, processes, memory."""

import ctypes
import gc
import os
import resource
import signal
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from clips import noisy

import limpid

FAST = {"sigma": 10, "profile": "fast"}


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_share_an_engine(threads):
    engine = limpid.Engine("cpu", threads=threads)
    videos = [noisy((2, 40, 48), seed=seed) for seed in range(8)]
    expected = [limpid.denoise(video, engine="cpu", **FAST) for video in videos]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            results = list(pool.map(lambda video: limpid.denoise(video, engine=engine, **FAST), videos))
            assert all(np.array_equal(a, b) for a, b in zip(results, expected))


def test_threads_are_a_setting():
    picture = noisy((40, 48))
    expected = limpid.denoise(picture, engine="cpu", **FAST)
    assert np.array_equal(limpid.denoise(picture, threads=1, engine="cpu", **FAST), expected)
    assert np.array_equal(next(limpid.denoise_frames([picture], filter="bm3d", threads=2, **FAST)), expected)
    denoiser = limpid.Denoiser(threads=1, engine="cpu")
    denoiser.start(picture)
    assert " 1 thread" in denoiser.stream.engine_description


@pytest.mark.parametrize("call", ["denoise", "receive"])
def test_a_still_can_be_interrupted(call):
    picture = noisy((2400, 3200))
    denoiser = limpid.Denoiser(sigma=10, filter="bm3d", profile="high", engine="cpu", threads=1)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        if call == "denoise":
            limpid.denoise(picture, sigma=10, filter="bm3d", profile="high", engine="cpu", threads=1)
        denoiser.send(picture)
        denoiser.receive()
    assert time.monotonic() - begin < 1.3, "within a second"
    if call == "receive":
        small = noisy((24, 32))
        with pytest.raises(limpid.ArgumentError):
            denoiser.send(small)
        assert denoiser.receive() is None, "the stream is dropped"
        denoiser.start(small)
        denoiser.send(small)
        assert denoiser.receive() is not None


def test_one_thread_may_send_and_another_receive():
    video = noisy((40, 24, 32))
    denoiser = limpid.Denoiser(**FAST)
    results = []

    def receive():
        while len(results) < len(video):
            results.extend(denoiser.results())

    thread = threading.Thread(target=receive)
    thread.start()
    for frame in video:
        denoiser.send(frame)
    denoiser.flush()
    thread.join()
    assert np.array_equal(np.stack(results), limpid.denoise(video, **FAST))


def test_python_runs_while_the_filter_does():
    picture = noisy((480, 640))
    done = threading.Event()
    counted = 0

    def work():
        limpid.denoise(picture, sigma=10, filter="bm3d", engine=engine)
        done.set()

    engine = limpid.Engine("cpu", threads=1)
    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 20


def test_children_of_the_process_have_engines_of_their_own():
    picture = noisy((24, 32))
    expected = limpid.denoise(picture, engine="cpu", **FAST)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(limpid.denoise(picture, engine="cpu", **FAST), expected) else 1)
    for _ in range(1000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert status == 0


def memory():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_memory_does_not_grow():
    picture = noisy((192, 192, 3), np.float32)
    denoiser = limpid.Denoiser(filter="bilateral", sigma=10)

    def calls():
        for _ in range(25):
            limpid.denoise(picture, filter="bilateral", sigma=10)
            denoiser.send(picture)
            assert denoiser.receive() is not None
            list(limpid.denoise_frames([picture, picture], filter="bilateral", sigma=10))
            limpid.measure(picture, picture)
            with pytest.raises(limpid.ArgumentError):
                limpid.denoise(picture, sigma=-1)
            limpid.Denoiser(**FAST).send(picture[:64, :64])

    calls()
    before = memory()
    calls()
    calls()
    assert memory() - before < 12 * picture.nbytes


def test_arrays_are_let_go_of():
    class Array(np.ndarray):
        pass

    picture = noisy((24, 32)).view(Array)
    gone = weakref.ref(picture)
    denoiser = limpid.Denoiser(**FAST)
    denoiser.start(noisy((24, 32)))
    denoiser.send(picture)
    del picture
    gc.collect()
    assert gone() is None
