"""Errors, by the status of the library."""


class Error(Exception):
    """A failure of the library; its text is one sentence."""


class ArgumentError(Error, ValueError):
    """Wrong usage: an unknown setting, an illegal value, an array of a wrong shape or type."""


class StateError(Error, RuntimeError):
    """A call out of order, such as sending a frame after a flush."""


class EngineError(Error, RuntimeError):
    """An engine that can't run, or a device that broke down."""


class OutOfMemoryError(Error, MemoryError):
    """Memory, of the host or of a GPU, does not suffice."""
