"""Start threads on platforms that support them. Python in a browser (Pyodide) does not."""

from collections.abc import Callable
from threading import Thread


def start_thread(task: Callable[[], object], name: str, daemon: bool = True) -> Thread | None:
    """Start a thread that runs a task.

    Args:
        task: A function without parameters.
        name: The name of the thread.
        daemon: Whether the program may exit while the thread is running.

    Returns:
        The thread, or None if no thread can be started, as in a browser or during interpreter shutdown. In that case,
        the task does not run.

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
