"""Compile generated functions to machine code with numba.

This module also makes the first call to each function. Numba is imported and runs in a separate thread. An interrupt
inside numba, or during its import, would leave numba's tables incomplete. Numba would then fail for the rest of the
process.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import Any

from ..common.threads import start_thread
from ..engine.types import Function, TextPair

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False, "boundscheck": False}

_lock = Lock()  # Only one function is compiled at a time.
_functions: dict[TextPair, Any] = {}  # The keys are (source, function name).


def compile_function(text: str, label: str, function_name: str, trial_arguments: Sequence) -> Function:
    """Compile a function from a generated module and call it once with trial arguments.

    Each function is compiled only once per process. Ctrl-C interrupts the caller, but the compilation continues in its
    thread. If numba raises an error, this function raises the same error, and the next call tries again.

    Args:
        text: The source of the module.
        label: A word that becomes part of the module's name.
        function_name: The name of the function in the module.
        trial_arguments: Arguments of the types for which the function is compiled.

    Returns:
        The compiled function. For arguments of other types, the function is compiled again.
    """
    function = _functions.get((text, function_name)) or _run_in_thread(
        lambda: _compile_if_needed(text, label, function_name, trial_arguments)
    )
    function(*trial_arguments)  # This compiles the function for these types if necessary.
    return function


def is_machine_code_on_disk(function: object) -> bool:
    """Return whether the machine code of a compiled function is on disk, where the next process will find it.

    Args:
        function: The result of :func:`compile_function`.
    """
    return bool(getattr(getattr(function, "_cache", None), "is_on_disk", False))


def _compile_if_needed(text: str, label: str, function_name: str, trial_arguments: Sequence) -> Function:
    function = _functions.get((text, function_name))
    if function is None:
        import numba

        from .code_cache import load_generated_module
        from .machine_code import MachineCodeCache

        module = load_generated_module(text, label)
        function = numba.njit(**OPTIONS)(getattr(module, function_name))
        function._cache = MachineCodeCache(module.__name__, text, function_name, str(OPTIONS))
        function(*trial_arguments)
        compile_more = function._compile_for_args  # Numba calls this method when arguments have other types.
        function._compile_for_args = lambda *values: _run_in_thread(lambda: compile_more(*values))
        _functions[text, function_name] = function
    return function


def _run_in_thread(work: Callable[[], Any]) -> Any:
    """Run a function in a new thread and return its result or raise its exception.

    Python raises KeyboardInterrupt only in the main thread. The main thread then stops waiting immediately, but the new
    thread finishes its work. A later call waits for the lock and finds the work already done.
    """
    outcome: Future[Any] = Future()

    def run_work() -> None:
        try:
            with _lock:
                outcome.set_result(work())
        except BaseException as error:  # The waiting thread raises the error below.
            outcome.set_exception(error)

    thread = start_thread(partial(copy_context().run, run_work), "minitape-compiles", daemon=False)
    if thread is None:
        run_work()
    while not outcome.done() and thread is not None:
        thread.join(0.1)  # Windows cannot interrupt a join without a timeout.
    return outcome.result()
