"""Blocks of a ``with`` statement that change something for their time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .typed import Given, Made


def block(function: Callable[Given, Iterator[Made]]) -> Callable[Given, AbstractContextManager[Made]]:
    """``contextlib.contextmanager`` for a change that must not outlast its block.

    Where Ctrl-C comes just after the function has made its change, or just before it takes it back, Python would end the
    function only when it forgets the error, long after other blocks have begun. Here it ends at once.

    >>> level = []
    >>> @block
    ... def deeper():
    ...     level.append("in")
    ...     try:
    ...         yield len(level)
    ...     finally:
    ...         level.pop()
    >>> with deeper() as depth:
    ...     print(depth, level)
    1 ['in']
    >>> level
    []
    """

    @functools.wraps(function)
    def make(*args: Given.args, **kwargs: Given.kwargs) -> AbstractContextManager[Made]:
        return _Block(function(*args, **kwargs))

    return make


class _Block(AbstractContextManager[Any]):
    """The block of a generator: what stands before ``yield`` begins it, what stands after ends it."""

    def __init__(self, steps: Iterator[Any]) -> None:
        self._steps: Any = steps
        self._inner = contextmanager(lambda: steps)()

    def __enter__(self) -> Any:
        try:
            return self._inner.__enter__()
        except BaseException:
            self._steps.close()
            raise

    def __exit__(self, *error: Any) -> bool | None:
        try:
            return self._inner.__exit__(*error)
        except BaseException:
            self._steps.close()
            raise
