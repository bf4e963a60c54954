"""The one place in which generated functions become machine code: each is compiled, and called for the first time,
here.

numba is loaded here, too, and in a thread of its own: an interrupt inside of numba, or while it is imported, leaves its
tables half filled, and it would refuse everything for the rest of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import Any

from ..common.threads import in_background

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False, "boundscheck": False}

_lock = Lock()  # one compilation at a time
_made: dict[tuple[str, str], Any] = {}  # by text and name


def compiled(text: str, label: str, name: str, arguments: Sequence) -> Any:
    """The function ``name`` of a generated module as machine code, called once with ``arguments``, which are for trial.

    Raises whatever numba raises when it refuses; the next call tries again. Ctrl-C ends the waiting and not the work.
    """
    function = _made.get((text, name)) or _apart(lambda: _compiled(text, label, name, arguments))
    function(*arguments)  # they may be of other types than those of the first time
    return function


def is_kept(function: Any) -> bool:
    """Whether the next process will find this machine code on disk."""
    return bool(getattr(getattr(function, "_cache", None), "on_disk", False))


def _compiled(text: str, label: str, name: str, arguments: Sequence) -> Any:
    function = _made.get((text, name))
    if function is None:
        import numba

        from .cache import module_of
        from .machine_code import KeptCode

        module = module_of(text, label)
        function = numba.njit(**OPTIONS)(getattr(module, name))
        function._cache = KeptCode(module.__name__, text, name, str(OPTIONS))
        function(*arguments)
        compile_more = function._compile_for_args  # numba calls it when there are arguments of other types
        function._compile_for_args = lambda *values: _apart(lambda: compile_more(*values))
        _made[text, name] = function
    return function


def _apart(work: Callable[[], Any]) -> Any:
    """Runs ``work`` in a thread of its own, and returns or raises what it does.

    Python raises KeyboardInterrupt in the main thread alone: who waits there leaves at once, and the work goes on to
    its end. Who asks again meanwhile waits for the lock, and finds it done.
    """
    outcome: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        try:
            with _lock:
                outcome.append((work(), None))
        except BaseException as error:  # raised in the thread that needs the result
            outcome.append((None, error))

    thread = in_background(partial(copy_context().run, run), "minitape-compiles", daemon=False)
    if thread is None:
        run()
    while not outcome and thread is not None:
        thread.join(0.1)  # a lock without a limit cannot be interrupted on Windows
    value, error = outcome.pop()
    if error is not None:
        raise error
    return value
