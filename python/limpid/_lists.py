"""Lists of engines, filters and their parameters."""

from __future__ import annotations

from typing import NamedTuple, Optional

from . import _limpid


class EngineInfo(NamedTuple):
    """name: for Engine(); description: the processor or device, or why it can't run; memory_bytes: 0 if not known."""

    name: str
    description: str
    memory_bytes: int
    available: bool


class ParameterInfo(NamedTuple):
    """name: as a setting, with _; range: legal values, for a person; default: None if it follows from others."""

    name: str
    help: str
    range: str
    default: Optional[str]


class FilterInfo(NamedTuple):
    """profiles: from quickest to best; default_profile: None if it has none."""

    name: str
    help: str
    profiles: tuple[str, ...]
    default_profile: Optional[str]
    parameters: tuple[ParameterInfo, ...]


def engines() -> list[EngineInfo]:
    """The engines of this machine, best first, those that can't run too."""
    return [EngineInfo(*engine) for engine in _limpid.engines()]


def filters() -> list[FilterInfo]:
    """All filters, with their parameters."""
    return [
        FilterInfo(
            name, help, profiles, default_profile,
            tuple(ParameterInfo(parameter[0].replace("-", "_"), *parameter[1:]) for parameter in parameters),
        )
        for name, help, profiles, default_profile, parameters in _limpid.filters()
    ]
