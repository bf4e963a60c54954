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

from ..common.threads import start_thread

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False, "boundscheck": False}

_lock = Lock()  # one compilation at a time
_functions: dict[tuple[str, str], Any] = {}  # by text and name


def compile_function(text: str, label: str, function_name: str, trial_arguments: Sequence) -> Any:
    """Return a function of a generated module as machine code, called once with the trial arguments.

    Raises whatever numba raises when it refuses; the next call tries again. Ctrl-C ends the waiting and not the work.
    ``label`` becomes part of the module's name.
    """
    function = _functions.get((text, function_name)) or _run_in_thread(
        lambda: _compile_if_needed(text, label, function_name, trial_arguments)
    )
    function(*trial_arguments)  # they may be of other types than those of the first time
    return function


def is_machine_code_kept(function: Any) -> bool:
    """Whether the next process will find this machine code on disk."""
    return bool(getattr(getattr(function, "_cache", None), "is_on_disk", False))


def _compile_if_needed(text: str, label: str, function_name: str, trial_arguments: Sequence) -> Any:
    function = _functions.get((text, function_name))
    if function is None:
        import numba

        from .code_cache import load_generated_module
        from .machine_code import MachineCodeCache

        module = load_generated_module(text, label)
        function = numba.njit(**OPTIONS)(getattr(module, function_name))
        function._cache = MachineCodeCache(module.__name__, text, function_name, str(OPTIONS))
        function(*trial_arguments)
        compile_more = function._compile_for_args  # numba calls it when there are arguments of other types
        function._compile_for_args = lambda *values: _run_in_thread(lambda: compile_more(*values))
        _functions[text, function_name] = function
    return function


def _run_in_thread(work: Callable[[], Any]) -> Any:
    """Run ``work`` in a thread of its own, and return or raise what it does.

    Python raises KeyboardInterrupt in the main thread alone: who waits there leaves at once, and the work goes on to
    its end. Who asks again meanwhile waits for the lock, and finds it done.
    """
    outcome: list[tuple[Any, BaseException | None]] = []

    def run_work() -> None:
        try:
            with _lock:
                outcome.append((work(), None))
        except BaseException as error:  # raised in the thread that needs the result
            outcome.append((None, error))

    thread = start_thread(partial(copy_context().run, run_work), "minitape-compiles", daemon=False)
    if thread is None:
        run_work()
    while not outcome and thread is not None:
        thread.join(0.1)  # a lock without a limit cannot be interrupted on Windows
    value, error = outcome.pop()
    if error is not None:
        raise error
    return value
