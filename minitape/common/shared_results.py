"""Compute each result once and share it among the parts of a task, such as explaining each of a model's parameters."""

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

Result = TypeVar("Result")


class SharedResults(threading.local):
    """The results that a thread's current task shares.

    Each thread has its own results. Otherwise, a task that ends in one thread could restore the results of a task that
    has already ended in another thread. These outdated results would be returned from then on.

    Attributes:
        by_key: The results while a task shares them, and None at all other times.
    """

    by_key: dict[Hashable, object] | None = None


shared_results = SharedResults()


def get_or_build_shared_result(key: Hashable, build: Callable[[], Result]) -> Result:
    """Return a result that is built only once while a task shares results.

    Args:
        key: A key that identifies the result among all results of the task.
        build: A function that builds the result.

    >>> get_or_build_shared_result("number", lambda: 3)
    3
    """
    results = shared_results.by_key
    if results is None:
        return build()
    if key not in results:
        results[key] = build()
    return cast(Result, results[key])
