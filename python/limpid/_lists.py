# SPDX-License-Identifier: MIT
"""Lists of engines, filters and their parameters."""

from __future__ import annotations

from typing import NamedTuple, Optional

from . import _limpid


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
