"""Ragged tensors of a graph whose run alone knows where their rows begin and end."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.operands import waits
from ...engine.shape import TensorShape
from ...engine.state import state
from ...engine.tensor import Tensor, wrap
from . import checks
from .parts import count_of, is_ragged

_MORE = {"row_splits": 0, "row_lengths": 1, "row_starts": 1, "row_limits": 1}  # splits than there are numbers


def cut_by_run(factory: Callable[..., Any]) -> Callable[..., Any]:
    """A ``from_...`` method that in a graph leaves it to the run to make the row splits, and to check them."""
    signature = inspect.signature(factory)

    @functools.wraps(factory)
    def made(cls: Any, values: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return factory(cls, values, *args, **kwargs)
        except (AttributeError, TypeError) as error:
            if state.graph is None or not waits(error):
                raise
            values = values if is_ragged(values) else convert_to_tensor(values)
            bound = signature.bind(cls, values, *args, **kwargs)
            bound.apply_defaults()
            return _with_later_splits(factory, values, bound.arguments)

    return made


def _with_later_splits(factory: Any, values: Any, given: dict[str, Any]) -> Any:
    from ...graphs.effects import later

    name = list(given)[2]
    if name in _MORE or name == "value_rowids":
        numbers = checks.numbers(given[name], name)
    else:
        numbers = convert_to_tensor(given[name])
    rows = given.get("nrows")
    tensors = [_count(values), numbers, *([rows] if isinstance(rows, Tensor) else [])]

    def splits(count: Any, numbers: Any, *rows: Any) -> list[Any]:
        found = {**given, "values": wrap(np.zeros(int(count))), name: numbers}
        found |= {"nrows": rows[0]} if rows else {}
        return [factory(**found).row_splits]

    size = count_of_splits(name, numbers, rows)
    kind = dtypes.int64 if name == "uniform_row_length" else numbers.dtype
    length = given[name] if name == "uniform_row_length" and isinstance(given[name], int) else None
    return given["cls"]._of(values, later(splits, tensors, [(TensorShape([size]), kind)])[0], length)


def count_of_splits(name: str, numbers: Any, rows: Any) -> int | None:
    """How many row splits are made of the numbers, None where only a run of the graph knows it."""
    count = numbers.shape[0] if name in _MORE and numbers.shape.rank else None if isinstance(rows, Tensor) else rows
    return None if count is None else int(count) + _MORE.get(name, 1)


def _count(values: Any) -> Any:
    """The number of rows, as a tensor."""
    from ...ops.arrays import shape

    if (known := count_of(values)) is not None:
        return wrap(np.int64(known))
    if is_ragged(values):
        return shape(values.row_splits, dtypes.int64)[0] - 1
    return shape(values, dtypes.int64)[0]
