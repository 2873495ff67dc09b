# SPDX-License-Identifier: MIT
"""Errors, by the status of the library."""


class Error(Exception):
    """A failure of the library; its text is one sentence."""


class ArgumentError(Error, ValueError):
    """Wrong usage: an unknown setting, an illegal value, or an array of the wrong shape or type."""


class ArrayError(ArgumentError, TypeError):
    """An object that is no array, where an array is required."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder that does not exist."""


def file_error(path: str, use: str, error: OSError) -> FileError:
    kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
    return kind(f"{path}: cannot {use} the noise profile: {error.strerror}")


class StateError(Error, RuntimeError):
    """A call out of order, such as sending a frame after a flush."""


class EngineError(Error, RuntimeError):
    """An engine that is not available, or a device that has failed."""


class OutOfMemoryError(Error, MemoryError):
    """Insufficient memory of the host or of a GPU."""
