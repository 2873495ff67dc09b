# SPDX-License-Identifier: MIT
"""Memory and streams of the first GPU, with CUDA's driver only."""

import ctypes

import numpy as np
import pytest
from dlpack import CUDA, DeviceArray

DEFAULT_STREAM = ctypes.c_void_p(1)  # CU_STREAM_LEGACY


def _check(status):
    assert status == 0, f"CUDA's driver says {status}"


class Gpu:
    def __init__(self):
        try:
            self._cuda = ctypes.CDLL("libcuda.so.1")
        except OSError:
            pytest.skip("there is no driver for CUDA")
        count = ctypes.c_int()
        if self._cuda.cuInit(0) != 0 or self._cuda.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
            pytest.skip("there is no GPU")
        context = ctypes.c_void_p()
        _check(self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        _check(self._cuda.cuCtxSetCurrent(context))
        self.stream = ctypes.c_void_p()
        _check(self._cuda.cuStreamCreate(ctypes.byref(self.stream), 1))  # CU_STREAM_NON_BLOCKING
        self._kept = []

    def pinned(self, size):
        memory = ctypes.c_void_p()
        _check(self._cuda.cuMemHostAlloc(ctypes.byref(memory), ctypes.c_size_t(size), 0))
        return memory

    def memory(self, size):
        memory = ctypes.c_uint64()
        _check(self._cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size)))
        return memory

    def free_memory(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        _check(self._cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
        return free.value

    def enqueue_copy(self, to, source, size):
        _check(self._cuda.cuMemcpyHtoDAsync_v2(to, source, ctypes.c_size_t(size), self.stream))

    def wait_for_stream(self, stream):
        """Makes the consumer's stream wait for the producer's, as DLPack requires."""
        assert stream == 1
        event = ctypes.c_void_p()
        _check(self._cuda.cuEventCreate(ctypes.byref(event), 2))  # CU_EVENT_DISABLE_TIMING
        _check(self._cuda.cuEventRecord(event, self.stream))
        _check(self._cuda.cuStreamWaitEvent(DEFAULT_STREAM, event, 0))
        _check(self._cuda.cuEventDestroy_v2(event))

    def array(self, array):
        """A copy on the GPU, complete."""
        array = np.ascontiguousarray(array)
        memory = self.memory(array.nbytes)
        _check(self._cuda.cuMemcpyHtoD_v2(memory, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)))
        return DeviceArray(memory.value, array.shape, array.dtype, (CUDA, 0), wait=self.wait_for_stream)

    def array_after(self, array, delay):
        """A copy that is complete after the GPU has copied `delay` bytes before it, in its own stream."""
        late = self.array(np.zeros_like(array))
        pinned = self.pinned(array.nbytes)
        ctypes.memmove(pinned, np.ascontiguousarray(array).ctypes.data, array.nbytes)
        source, target = self.pinned(delay), self.memory(delay)
        for _ in range(20):
            self.enqueue_copy(target, source, delay)
        self.enqueue_copy(ctypes.c_uint64(late.pointer), pinned, array.nbytes)
        return late

    def host(self, array):
        result = np.empty(array.shape, array.dtype)
        _check(
            self._cuda.cuMemcpyDtoH_v2(
                result.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(array.pointer), ctypes.c_size_t(result.nbytes)
            )
        )
        return result
