"""What a block changes in a framework for its time, and takes back wherever Ctrl-C comes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from inspect import getattr_static
from threading import get_ident
from types import ClassMethodDescriptorType
from typing import TYPE_CHECKING, Any

from ..engine.recording.block import InterruptSafeExit

if TYPE_CHECKING:
    from ..engine.types import Leaving


class Changes:
    """What a block has changed. Each change is noted before it is made, and may be taken back twice: one of the two is
    the whole change.

    >>> from types import SimpleNamespace
    >>> library, changes = SimpleNamespace(twice=lambda x: 2 * x), Changes()
    >>> changes.begin()
    >>> changes.wrap(library, "twice", lambda twice, x: twice(x) + 1)
    >>> library.twice(3)
    7
    >>> changes.undo()
    >>> library.twice(3)
    6
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []
        self.thread: int | None = None  # in which the block is open; None: nothing is seen

    def begin(self) -> None:
        """The block is open, in this thread."""
        self.thread = get_ident()

    @property
    def here(self) -> bool:
        """Whether what this thread does is the block's."""
        return self.thread == get_ident()

    def note(self, undo: Callable[[], object]) -> None:
        """``undo`` takes back what is about to change. It may be called twice, and where nothing has changed."""
        self._undo.append(undo)

    def wrap(self, owner: Any, name: str, around: Callable) -> None:
        """In the block ``around(function, ...)`` runs in place of a function or method of the framework's."""
        before = vars(owner).get(name)  # None: the class inherits it
        function = getattr(owner, name) if before is None else _plain(before)
        inherited = getattr_static(owner, name) if before is None else before
        of_class = isinstance(inherited, ClassMethodDescriptorType)  # of a class that is written in C: it is bound anew
        if of_class:
            function = lambda cls, *args, **kwargs: inherited.__get__(None, cls)(*args, **kwargs)  # noqa: E731
        bound = of_class or isinstance(before, classmethod)
        kind: Any = staticmethod if name == "__new__" else classmethod if bound else lambda plain: plain

        @wraps(function)
        def calling(*args: Any, **kwargs: Any) -> Any:
            inner = wrapped.under[1]
            if self.thread != get_ident():
                return inner(*args, **kwargs)
            return around(inner, *args, **kwargs)

        wrapped: Any = calling
        wrapped.under = before, function
        self.note(partial(_unwrap, owner, name, wrapped))
        setattr(owner, name, kind(wrapped))

    def undo(self) -> None:
        """The framework is as it was. It may be called again where Ctrl-C came."""
        self.thread = None
        while self._undo:
            self._undo[-1]()
            self._undo.pop()


def _plain(value: Any) -> Any:
    """The function of a class method or a static one."""
    return value.__func__ if isinstance(value, (classmethod, staticmethod)) else value


def _unwrap(owner: Any, name: str, wrapped: Any) -> None:
    """Takes a function out that runs in place of another, also from below those that later blocks put there."""
    outer, at = None, _plain(vars(owner).get(name))
    while at is not wrapped and hasattr(at, "under"):
        outer, at = at, _plain(at.under[0])
    if at is not wrapped:
        return
    if outer is not None:
        outer.under = wrapped.under
    elif wrapped.under[0] is None:
        delattr(owner, name)
    else:
        setattr(owner, name, wrapped.under[0])


class Block:
    """The block in which a watcher writes a recording; after it the framework is as it was, whatever happened."""

    def __init__(self, recording: Any, watcher: Any) -> None:
        self._recording, self._watcher, self._entered = recording, watcher, False

    def __enter__(self) -> Any:
        if self._entered or not self._recording._recording:
            raise RuntimeError("A recording is of one block: call record() again for the next.")
        self._entered = True
        self._watcher.begin()
        return self._recording

    def _leave(self, *_: object) -> None:
        self._watcher.end()
        self._recording.close()
        self._entered, self._exit_ref = False, None

    __exit__: Leaving = InterruptSafeExit(_leave, lambda block: block._entered)
