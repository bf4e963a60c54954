"""Work in a thread of its own, where there are threads: a browser's Python (Pyodide) has none."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread


def start_thread(task: Callable[[], object], name: str, daemon: bool = True) -> Thread | None:
    """Start a thread for `task` and return it; None, and nothing begun, where no thread can start: in a browser's
    Python, or while the interpreter ends.

    >>> done = []
    >>> thread = start_thread(lambda: done.append(1), "example")
    >>> thread.join()
    >>> done
    [1]
    """
    thread = Thread(target=task, name=name, daemon=daemon)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread
