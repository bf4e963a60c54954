"""Compute a result once for all parts of one task, such as the explanations of a model's parameters."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import SimpleNamespace
from typing import TypeVar

Result = TypeVar("Result")


# The results that the parts of a running task share, in `by_key`, or None while no task shares results.
shared_results = SimpleNamespace(by_key=None)


def get_shared_result(key: Hashable, build: Callable[[], Result]) -> Result:
    """Return a result, which is built only once while a task shares results.

    Args:
        key: What identifies the result among all results of the task.
        build: Builds the result.

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
