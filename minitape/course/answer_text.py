"""Format a learner's answers and the expected answers as text for feedback."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..common.translation import say, truncate_text
from ..engine.types import LIST_OR_TUPLE
from .answer_comparison import LabeledValue, describe_kind, to_numpy_value
from .unknown_functions import UnknownFunction

if TYPE_CHECKING:
    from .exercise import Answer, Case

MAX_LENGTH = 200
MAX_ARRAY_ITEMS = 12


class _UnquotedText(str):
    """A text that is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def format_answer(value: Answer) -> str:
    """Format an answer as text with plain numbers. For an array that is too long to read, only describe the array.

    >>> format_answer([np.float32(0.1), None, "error"]), format_answer(np.zeros(20))
    ("[0.1, None, 'error']", 'an array of 20 numbers')
    """
    return truncate_text(repr(_simplify_for_display(value)), MAX_LENGTH)


def format_call(function_name: str, case: Case) -> str:
    """Format a call as a learner would type it, and shorten arguments that are too long to read."""
    return f"{function_name}({truncate_text(', '.join(map(format_answer, case)), MAX_LENGTH)})"


def _simplify_for_display(value: Answer) -> Answer:
    value = to_numpy_value(value)
    if isinstance(value, ndarray) and value.ndim:
        return (
            _UnquotedText(describe_kind(value))
            if value.size > MAX_ARRAY_ITEMS
            else [_simplify_for_display(part) for part in value]
        )
    if isinstance(value, (np.generic, ndarray)):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.7g}")  # More digits would only distract.
    if type(value) in LIST_OR_TUPLE and len(value) <= MAX_LENGTH:
        return type(value)(map(_simplify_for_display, value))
    if type(value) is dict:
        return {key: _simplify_for_display(part) for key, part in value.items()}
    if isinstance(value, LabeledValue):
        return _UnquotedText(
            ", ".join(
                say("{place}: {told}", place=label, told=_simplify_for_display(content))
                for label, content in value.items()
            )
        )
    if isinstance(value, UnknownFunction):
        return value
    if isinstance(value, Iterator):
        return _UnquotedText(describe_kind(value))
    if inspect.ismethod(value):
        return _UnquotedText(say("the method {name}", name=value.__name__))
    if callable(value) or type(value).__repr__ is object.__repr__:
        return _UnquotedText(getattr(value, "__name__", "") or describe_kind(value))
    return value
