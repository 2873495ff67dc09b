# SPDX-License-Identifier: MIT
"""Errors, by the status of the library."""


class Error(Exception):
    """A failure of the library; its text is one sentence."""


class ArgumentError(Error, ValueError):
    """Wrong usage: an unknown setting, an illegal value, or an array of the wrong shape or type."""


class StateError(Error, RuntimeError):
    """A call out of order, such as sending a frame after a flush."""


class EngineError(Error, RuntimeError):
    """An engine that is not available, or a device that has failed."""


class OutOfMemoryError(Error, MemoryError):
    """Insufficient memory of the host or of a GPU."""
