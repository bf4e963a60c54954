"""What the methods of a dataset are given: whole numbers, and functions of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from .elements import call, is_dataset, leaves, map_leaves, source, spec_of


def number(value: Any, argument: str, op: str) -> int:
    """A whole number: Python's, or a scalar int64 tensor; else the error that TensorFlow has for it.

    >>> number(np.int64(3), "count", "TakeDataset")
    3
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    tensor = convert_to_tensor(value, dtypes.int64, name=argument)
    if tensor.shape.rank:
        raise invalid(f"{argument} must be a scalar", op)
    return int(tensor)


def batch_size(value: Any, op: str) -> int:
    """The number of elements of a batch; InvalidArgumentError for one below 1."""
    size = number(value, "batch_size", op)
    if size <= 0:
        raise invalid("Batch size must be greater than zero.", op)
    return size


def function(value: Any) -> Callable[..., Any]:
    """A function that is applied to elements; ValueError for what cannot be called."""
    if not callable(value):
        raise ValueError(f"Argument `func` must be a callable. Received func={value} (of type {type(value)})")
    result: Callable[..., Any] = value
    return result


def truth(predicate: Callable[..., Any], element: Any, refusal: str) -> bool:
    """What a predicate says of an element; ValueError unless that is a scalar of bool."""
    answer = source(call(predicate, element))
    if len(leaves(answer)) != 1 or answer.dtype != dtypes.bool or answer.shape.rank:
        raise ValueError(refusal + str(map_leaves(spec_of, answer)) + ".")
    return bool(answer)


def datasets(map_func: Callable[..., Any], elements: Any) -> Iterator[Any]:
    """The dataset that a function gives for each element; TypeError for anything else."""
    for element in elements:
        found = call(map_func, element)
        if not is_dataset(found):
            raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {type(found)}.")
        yield found


def following(before: Any, after: Any) -> Any:
    """The state that follows another one.

    InvalidArgumentError unless it has as many parts, TypeError unless they have the same types.
    """
    old, new = leaves(before), leaves(after)
    if len(old) != len(new):
        raise invalid("The number of components of the initial state and the reduce function output does not match. "
                      f"(initial_state={len(old)}, output={len(new)}).", "ReduceDataset")  # fmt: skip
    for was, is_now in zip(old, new, strict=True):
        if was.dtype != is_now.dtype:
            raise TypeError("The element types for the new state must match the initial state. "
                            f"Expected {was.dtype} but got {is_now.dtype}.")  # fmt: skip
    return after


def parallel_calls(value: Any, op: str) -> None:
    """InvalidArgumentError for a number of calls at a time below 1 that is not AUTOTUNE."""
    if value is not None and number(value, "num_parallel_calls", op) < 1 and value != -1:
        raise invalid("num_parallel_calls must be greater than zero.", op)
