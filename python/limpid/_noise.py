# SPDX-License-Identifier: MIT
"""Noise models."""

from __future__ import annotations

import json
import os
from typing import Any, Union

from . import _limpid
from ._errors import file_error


class NoiseProfile:
    """The noise of a source, as `limpid noise` saves it and `limpid denoise --noise` takes it.

    For each plane it has the standard deviation and, for colored noise, its dependence on frequency and brightness.
    It applies to frames of its color model, of any size and depth.
    """

    def __init__(self, text: str) -> None:
        """Takes a profile's JSON text. Raises ArgumentError if the text is not a profile."""
        if not text.lstrip().startswith("{"):
            text = "{" + text  # the library also rejects it instead of searching for a file
        _limpid.Denoiser(_limpid.Engine("cpu", 1)).set("noise", text.lstrip())
        self._text = text.strip()

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> NoiseProfile:
        """Reads a file that save() or `limpid noise -o` has written."""
        try:
            with open(path, encoding="utf-8") as file:
                return cls(file.read())
        except OSError as error:
            raise file_error(os.fspath(path), "read", error) from error

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a file for load() and `limpid denoise --noise`; replaces an existing one."""
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(self._json(), indent=1) + "\n")
        except OSError as error:
            raise file_error(os.fspath(path), "write", error) from error

    @property
    def text(self) -> str:
        """The profile in JSON."""
        return self._text

    @property
    def sigma(self) -> tuple[float, ...]:
        """The standard deviation in each plane (Y; Y, U, V; or R, G, B), in 8-bit code values."""
        return tuple(plane["sigma"] for plane in self._json()["planes"].values())

    def _json(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self._text)
        return parsed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoiseProfile) and self._json() == other._json()

    def __hash__(self) -> int:
        return hash(json.dumps(self._json(), sort_keys=True))

    def __repr__(self) -> str:
        planes = self._json()["planes"]
        sigmas = ", ".join(f"{name} {plane['sigma']:.2f}" for name, plane in planes.items())
        return f"<limpid.NoiseProfile: {sigmas}>"
