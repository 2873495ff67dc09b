# SPDX-License-Identifier: MIT
"""An array with DLPack only, in memory of any kind."""

import ctypes

import numpy as np

CPU, CUDA = 1, 2


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


_exported = {}  # by address: the memory that consumers hold, and its owner


@DELETER
def _delete(managed):
    _exported.pop(ctypes.addressof(managed.contents))[0].exports -= 1


class DeviceArray:
    """Samples at `pointer`. `streams`: the consumers' streams; `exports`: the number of consumers that hold it."""

    def __init__(self, pointer, shape, dtype, device, strides=None, wait=None):
        self.pointer, self.shape, self.dtype, self.placed_on = pointer, shape, np.dtype(dtype), device
        self.strides, self.wait = strides, wait
        self.streams, self.exports = [], 0

    def __dlpack_device__(self):
        return self.placed_on

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        if self.wait is not None:
            self.wait(stream)
        numbers = ctypes.c_int64 * len(self.shape)
        shape = numbers(*self.shape)
        strides = None if self.strides is None else numbers(*self.strides)
        code = {"u": 1, "i": 0, "f": 2}[self.dtype.kind]
        managed = Managed()
        managed.tensor = Tensor(
            self.pointer, *self.placed_on, len(self.shape), code, 8 * self.dtype.itemsize, 1, shape, strides, 0
        )
        managed.deleter = _delete
        _exported[ctypes.addressof(managed)] = (self, managed, shape, strides)
        self.exports += 1
        return _new(ctypes.addressof(managed), b"dltensor", None)
