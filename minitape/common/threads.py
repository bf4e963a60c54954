"""Start threads on platforms that have them. Python in a browser (Pyodide) has none."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread


def start_thread(task: Callable[[], object], name: str, daemon: bool = True) -> Thread | None:
    """Start a thread that runs a task.

    Args:
        task: A function without arguments.
        name: The name of the thread.
        daemon: Whether the program may end while the thread runs.

    Returns:
        The thread. None if no thread can start, as in a browser or while the interpreter ends. The task does not run
        then.

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
