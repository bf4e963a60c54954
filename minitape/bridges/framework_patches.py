"""Change a framework while a block is open, and undo the changes even after Ctrl-C."""

from collections.abc import Callable
from functools import partial, wraps
from inspect import ismethod, unwrap
from itertools import takewhile
from threading import get_ident
from types import ClassMethodDescriptorType
from typing import Any, Protocol

from ..engine.record.interrupt_safe import InterruptSafeExit
from ..engine.types import Action, ExitProperty, OptionalNumber, TextSequence
from .kept_values import trim_process_memory
from .recording import Recording

MAX_IDLE_WRAPPERS = 256
# The wrappers that no block currently uses, keyed by the identity of their owner and the function that they wrap.
# Rebuilding them in each block would take a tenth as long as a small training step.
_idle_wrappers: dict[tuple[int, Any], Any] = {}


class FrameworkPatches:
    """The changes that a block has made to a framework.

    Each change is registered before it is made, and it is harmless to undo a change twice. Pressing Ctrl-C at any point
    therefore leaves no changes behind.

    Attributes:
        thread_id: The thread that opened the block, or None if the block is not open and calls are therefore not
            intercepted.

    >>> from types import SimpleNamespace
    >>> library, changes = SimpleNamespace(twice=lambda x: 2 * x), FrameworkPatches()
    >>> changes.activate_in_this_thread()
    >>> changes.wrap_function(library, "twice", lambda twice, number: twice(number) + 1)
    >>> library.twice(3), library.twice(x=4)
    (7, 9)
    >>> changes.undo_all()
    >>> library.twice(3)
    6
    """

    def __init__(self) -> None:
        """Start with no changes, for a block that is not yet open."""
        self._undo_actions: list[Action] = []
        self.thread_id: OptionalNumber = None

    def activate_in_this_thread(self) -> None:
        """Record that the block is open in this thread."""
        self.thread_id = get_ident()

    @property
    def is_active_in_this_thread(self) -> bool:
        """Whether the block is open in the current thread."""
        return self.thread_id == get_ident()

    def add_undo_action(self, undo_action: Action) -> None:
        """Add the function that undoes the next change.

        Args:
            undo_action: The function that undoes the change. The function may be called twice, or even before the
                change is made.
        """
        self._undo_actions.append(undo_action)

    def wrap_functions(self, owner: Any, /, **handlers: Callable) -> None:
        """Call :meth:`wrap_function` for several functions or methods of one module or class.

        Args:
            owner: The module or class that defines the functions.
            **handlers: The handlers, keyed by the functions' names in the owner.
        """
        for function_name, handler in handlers.items():
            self.wrap_function(owner, function_name, handler)

    def wrap_function(self, owner: Any, function_name: str, handler: Callable) -> None:
        """Replace a function or method of the framework until :meth:`undo_all` is called.

        Calls in the block's thread are passed to ``handler(function, *args, **kwargs)``. Calls in other threads go to
        the original function. Arguments that the program passes by keyword reach the handler by position, up to the
        first parameter that the program omits.

        Args:
            owner: The module or class that defines the function.
            function_name: The function's name in the owner.
            handler: The function to call instead. The handler's first argument is the original function.
        """
        own_attribute = vars(owner).get(function_name)  # If the class only inherits the attribute, this is None.
        # ``getattr_static`` would take three times as long to search the base classes.
        attribute = own_attribute or next(
            vars(base)[function_name] for base in owner.__mro__ if function_name in vars(base)
        )
        function = _get_underlying_function(attribute)
        key = id(owner), function
        # A class method of a class written in C must be bound again in each call.
        if isinstance(attribute, ClassMethodDescriptorType):
            function = lambda cls, *args, **kwargs: attribute.__get__(None, cls)(*args, **kwargs)  # noqa: E731

        wrapper = _idle_wrappers.pop(key, None) or _build_wrapper_calling_patch_handler(function)
        wrapper.under[:] = own_attribute, function, handler, self
        replacement = wrapper
        if function_name == "__new__":
            replacement = staticmethod(wrapper)
        elif isinstance(attribute, (classmethod, ClassMethodDescriptorType)):
            replacement = classmethod(wrapper)
        self.add_undo_action(partial(_remove_wrapper_and_keep_for_reuse, owner, function_name, wrapper, key))
        setattr(owner, function_name, replacement)

    def undo_all(self) -> None:
        """Undo all changes, latest first.

        If Ctrl-C interrupts this function, call it again.
        """
        self.thread_id = None
        while self._undo_actions:
            self._undo_actions[-1]()
            self._undo_actions.pop()


def _build_wrapper_calling_patch_handler(function: Any) -> Any:
    """Build the wrapper for a function.

    The wrapper's attribute ``under`` is a list of four items: the attribute that the wrapper replaces, the wrapped
    function, and the handler and changes of the block that uses the wrapper. Once the wrapper is removed, no block uses
    it, so the last two items are None.
    """
    # A wrapper that refers to itself would keep the recording's arrays until the garbage collector runs.
    under: list = []

    @wraps(function)
    def call_handler(*args: Any, **kwargs: Any) -> Any:
        _, original, handler, patches = under
        if patches is None or patches.thread_id != get_ident():
            return original(*args, **kwargs)
        if not kwargs:
            return handler(original, *args)
        names = _list_positional_names(handler)[1:]
        names = _list_positional_names(original)[: len(names)] if names else ()
        given = [kwargs.pop(name) for name in takewhile(kwargs.__contains__, names[len(args) :])]
        return handler(original, *args, *given, **kwargs)

    wrapper: Any = call_handler
    wrapper.under = under
    return wrapper


def _list_positional_names(function: Any) -> TextSequence:
    """Return the names of a function's positional parameters, or an empty tuple if the function is written in C."""
    function = unwrap(getattr(function, "func", function))  # A partial stores its function in ``func``.
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_varnames[ismethod(function) : code.co_argcount]


def _get_underlying_function(attribute: Any) -> Any:
    """Return the function inside a class method or static method, or any other attribute unchanged."""
    return attribute.__func__ if isinstance(attribute, (classmethod, staticmethod)) else attribute


def _remove_wrapper_and_keep_for_reuse(owner: Any, function_name: str, wrapper: Any, key: tuple[int, Any]) -> None:
    """Remove a function's wrapper, even from under the wrappers of later blocks, and keep it for the next block."""
    # A block that wraps a function twice would otherwise stay alive if Ctrl-C came right after the removal.
    wrapper.under[2:] = None, None
    outer_wrapper = None
    current_wrapper = _get_underlying_function(vars(owner).get(function_name))
    while current_wrapper is not wrapper and hasattr(current_wrapper, "under"):
        outer_wrapper = current_wrapper
        current_wrapper = _get_underlying_function(current_wrapper.under[0])
    if current_wrapper is not wrapper:
        return
    if outer_wrapper is not None:
        outer_wrapper.under[:2] = wrapper.under[:2]
    elif wrapper.under[0] is None:
        delattr(owner, function_name)
    else:
        setattr(owner, function_name, wrapper.under[0])
    if len(_idle_wrappers) < MAX_IDLE_WRAPPERS:
        _idle_wrappers[key] = wrapper


class Watcher(Protocol):
    """The part of a bridge that follows a program while the block is open."""

    def start_watching(self) -> None:
        """Start following the program."""

    def stop_watching(self) -> None:
        """Stop following the program, and undo all changes to the framework."""


class RecordingBlock:
    """The block in which a watcher writes a recording.

    The changes to the framework are undone when the block ends, even if it ends with an error or Ctrl-C.
    """

    def __init__(self, recording: Recording, watcher: Watcher):
        """Create the block in which ``watcher`` writes ``recording``."""
        self._recording = recording
        self._watcher = watcher
        self._entered = False

    def __enter__(self) -> Any:
        """Start watching, and return the recording."""
        if self._entered or not self._recording._recording:
            raise RuntimeError("A recording covers only one block. Call record() again for the next block.")
        self._entered = True
        self._watcher.start_watching()
        return self._recording

    def _exit_block(self, *_: object) -> None:
        self._watcher.stop_watching()
        self._recording.close()
        trim_process_memory()
        self._entered = False
        self._exit_ref = None

    __exit__: ExitProperty = InterruptSafeExit(_exit_block, lambda block: block._entered)
