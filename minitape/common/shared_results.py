"""Compute a result once for all parts of a task, such as the explanations of a model's parameters."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import SimpleNamespace
from typing import TypeVar

Result = TypeVar("Result")


# While a task shares results, `by_key` is a dictionary of these results. At all other times, it is None.
shared_results = SimpleNamespace(by_key=None)


def get_shared_result(key: Hashable, build: Callable[[], Result]) -> Result:
    """Return a result that is built only once while a task shares results.

    Args:
        key: A key that identifies the result among all results of the task.
        build: A function that builds the result.

    >>> get_shared_result("number", lambda: 3)
    3
    """
    results = shared_results.by_key
    if results is None:
        return build()
    if key not in results:
        results[key] = build()
    result: Result = results[key]
    return result
