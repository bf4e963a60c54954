"""What a block changes in a framework for its time, and takes back wherever Ctrl-C comes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from inspect import getattr_static
from threading import get_ident
from types import ClassMethodDescriptorType
from typing import TYPE_CHECKING, Any, Protocol

from ..engine.record.interrupt_safe import InterruptSafeExit

if TYPE_CHECKING:
    from ..engine.types import ExitProperty
    from .recording import Recording


class FrameworkPatches:
    """What a block has changed. Each change is noted before it is made, and may be taken back twice: one of the two is
    the whole change.

    >>> from types import SimpleNamespace
    >>> library, changes = SimpleNamespace(twice=lambda x: 2 * x), FrameworkPatches()
    >>> changes.activate_in_this_thread()
    >>> changes.wrap_function(library, "twice", lambda twice, x: twice(x) + 1)
    >>> library.twice(3)
    7
    >>> changes.undo_all()
    >>> library.twice(3)
    6
    """

    def __init__(self) -> None:
        self._undo_actions: list[Callable[[], object]] = []
        self.thread_id: int | None = None  # in which the block is open; None: nothing is seen

    def activate_in_this_thread(self) -> None:
        """Note that the block is open, in this thread."""
        self.thread_id = get_ident()

    @property
    def is_active_in_this_thread(self) -> bool:
        """Whether what this thread does is the block's."""
        return self.thread_id == get_ident()

    def add_undo_action(self, undo_action: Callable[[], object]) -> None:
        """Add what takes back a change that is about to be made. It may run twice, and where nothing has changed."""
        self._undo_actions.append(undo_action)

    def wrap_function(self, owner: Any, function_name: str, handler: Callable) -> None:
        """Make ``handler(function, ...)`` run in the block, in place of a function or method of the framework's."""
        own_attribute = vars(owner).get(function_name)  # None: the class inherits it
        function = getattr(owner, function_name) if own_attribute is None else _get_underlying_function(own_attribute)
        any_attribute = getattr_static(owner, function_name) if own_attribute is None else own_attribute
        # of a class that is written in C: it is bound anew
        is_c_classmethod = isinstance(any_attribute, ClassMethodDescriptorType)
        if is_c_classmethod:
            function = lambda cls, *args, **kwargs: any_attribute.__get__(None, cls)(*args, **kwargs)  # noqa: E731
        is_classmethod = is_c_classmethod or isinstance(own_attribute, classmethod)
        decorator: Any = (
            staticmethod if function_name == "__new__" else classmethod if is_classmethod else lambda plain: plain
        )

        @wraps(function)
        def call_handler(*args: Any, **kwargs: Any) -> Any:
            original = wrapped.under[1]
            if self.thread_id != get_ident():
                return original(*args, **kwargs)
            return handler(original, *args, **kwargs)

        wrapped: Any = call_handler
        wrapped.under = own_attribute, function
        self.add_undo_action(partial(_remove_wrapper, owner, function_name, wrapped))
        setattr(owner, function_name, decorator(wrapped))

    def undo_all(self) -> None:
        """Take back all changes: the framework is as it was. It may be called again where Ctrl-C came."""
        self.thread_id = None
        while self._undo_actions:
            self._undo_actions[-1]()
            self._undo_actions.pop()


def _get_underlying_function(attribute: Any) -> Any:
    """Return the function of a class method or a static one; anything else as it is."""
    return attribute.__func__ if isinstance(attribute, (classmethod, staticmethod)) else attribute


def _remove_wrapper(owner: Any, function_name: str, wrapper: Any) -> None:
    """Take out a function that runs in place of another, also from below those that later blocks put there."""
    outer_wrapper, current_wrapper = None, _get_underlying_function(vars(owner).get(function_name))
    while current_wrapper is not wrapper and hasattr(current_wrapper, "under"):
        outer_wrapper, current_wrapper = current_wrapper, _get_underlying_function(current_wrapper.under[0])
    if current_wrapper is not wrapper:
        return
    if outer_wrapper is not None:
        outer_wrapper.under = wrapper.under
    elif wrapper.under[0] is None:
        delattr(owner, function_name)
    else:
        setattr(owner, function_name, wrapper.under[0])


class Watcher(Protocol):
    """What follows a program while its block is open."""

    def start_watching(self) -> None:
        """Follow the program from now on."""

    def stop_watching(self) -> None:
        """Follow it no more: the framework is as it was."""


class RecordingBlock:
    """The block in which a watcher writes a recording; after it the framework is as it was, whatever happened."""

    def __init__(self, recording: Recording, watcher: Watcher) -> None:
        self._recording, self._watcher, self._entered = recording, watcher, False

    def __enter__(self) -> Any:
        if self._entered or not self._recording._recording:
            raise RuntimeError("A recording is of one block: call record() again for the next.")
        self._entered = True
        self._watcher.start_watching()
        return self._recording

    def _exit_block(self, *_: object) -> None:
        self._watcher.stop_watching()
        self._recording.close()
        self._entered, self._exit_ref = False, None

    __exit__: ExitProperty = InterruptSafeExit(_exit_block, lambda block: block._entered)
