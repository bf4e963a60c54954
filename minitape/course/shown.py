"""Answers as text: what a learner hands in, and what was expected, as both are read in feedback."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..common.texts import cut, say
from .compare import Box, as_array, kind
from .unknown import UnknownFunction

if TYPE_CHECKING:
    from .exercise import Answer, Case

LONGEST = 200
FEW = 12


class _Words(str):
    """A text that is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def shown(value: Answer) -> str:
    """An answer as text: its numbers plainly; of an array, only what it is where it is too long to read.

    >>> shown([np.float32(0.1), None, "error"]), shown(np.zeros(20))
    ("[0.1, None, 'error']", 'an array of 20 numbers')
    """
    return cut(repr(_plainly(value)), LONGEST)


def shown_call(name: str, case: Case) -> str:
    """A call as a learner would type it, with as much of its arguments as anyone reads."""
    return f"{name}({cut(', '.join(map(shown, case)), LONGEST)})"


def _plainly(value: Answer) -> Answer:
    value = as_array(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return _Words(kind(value)) if value.size > FEW else [_plainly(part) for part in value]
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.7g}")  # with as many digits as anyone reads
    if type(value) in (list, tuple) and len(value) <= LONGEST:
        return type(value)(map(_plainly, value))
    if type(value) is dict:
        return {key: _plainly(part) for key, part in value.items()}
    if isinstance(value, Box):
        return _Words(", ".join(f"{what}: {_plainly(held)}" for what, held in value.items()))
    if isinstance(value, UnknownFunction):
        return value
    if isinstance(value, Iterator):
        return _Words(kind(value))
    if inspect.ismethod(value):
        return _Words(say("the method {name}", name=value.__name__))
    if callable(value) or type(value).__repr__ is object.__repr__:
        return _Words(getattr(value, "__name__", "") or kind(value))
    return value
