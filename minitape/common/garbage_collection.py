"""Pause Python's garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Switch off the garbage collector in a block or a decorated function that makes objects and discards few.

    The collector looks for discarded objects among all objects of the process, again and again while their number
    grows. For the page of a model with thousands of tensors, this takes half of the time.

    >>> with pause_garbage_collection():
    ...     print(gc.isenabled())
    False
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
