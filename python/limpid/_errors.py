"""What can go wrong, by the library's status."""


class Error(Exception):
    """What the library could not do; its text is one sentence."""


class ArgumentError(Error, ValueError):
    """What could never work: an unknown setting, an illegal value, an array of a wrong shape or type."""


class StateError(Error, RuntimeError):
    """A call out of turn, such as sending a frame behind a flush."""


class EngineError(Error, RuntimeError):
    """An engine that can't run, or a device that broke down."""


class OutOfMemoryError(Error, MemoryError):
    """Memory, of the host or of a GPU, does not suffice."""
