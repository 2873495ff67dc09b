# SPDX-License-Identifier: MIT
"""The recipe of a case, and the case that it makes."""
import functools
import typing


class Made(typing.NamedTuple):
    truth: typing.Any  # a Clip, or the path of a picture
    noisy: typing.Any = None  # None: the truth is clean input
    details: dict = {}  # further entries of case.json


class Recipe(typing.NamedTuple):
    name: str
    quick: bool  # also made and scored with --quick
    make: typing.Callable[[], Made]


def recipe(name, quick, function, *arguments):
    return Recipe(name, quick, functools.partial(function, *arguments))
