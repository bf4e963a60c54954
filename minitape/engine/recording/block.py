"""Blocks of a ``with`` statement that change something for their time, and take it back wherever Ctrl-C comes."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ..types import Given, Made
from .state import state

if TYPE_CHECKING:
    from ..types import Function, Leaving, Object


class InterruptSafeExit(property):
    """The ``__exit__`` of a class whose blocks end even where Ctrl-C comes just before it is called, or inside it.

    A ``with`` statement looks ``__exit__`` up before it enters, and holds on to what it found until the block is over,
    one way or the other. When it releases that and the block has not been left, it is left then. ``leave`` may
    therefore be called again where it was interrupted; the last thing that it does is to set ``_exit_ref`` to None.
    ``is_entered`` says whether there is something to leave.
    """

    def __init__(self, leave: Function, is_entered: Callable[[Object], object]) -> None:
        def exit_of(block: Object) -> Function:
            exit_method = partial(leave, block)  # whose call is no step of Python's
            if not is_entered(block):
                block._exit_ref = weakref.ref(exit_method, partial(leave_when_dropped, block))
            return exit_method

        def leave_when_dropped(block: Object, dropped: object) -> None:
            if is_entered(block):
                leave(block, GeneratorExit, GeneratorExit(), None)  # as Python ends a generator early
            elif block._exit_ref is dropped:  # a lookup that was not a with statement's
                block._exit_ref = None

        super().__init__(exit_of)
        self._leave = leave

    def __call__(self, block: object, *error: object) -> bool | None:
        """Leaves the block as ``type(block).__exit__(block, ...)`` does, which contextlib.ExitStack calls."""
        return self._leave(block, *error)


def leave_ended() -> None:
    """Leaves the tapes whose block has ended without that: after a recursion without end Python has no frame for it."""
    for tape in [*state.tapes]:
        if tape._exit_ref is not None and tape._exit_ref() is None:
            tape._leave(None, None, None)


class TemporaryAttributes:
    """A block in which attributes of an object have other values. It gives ``given``.

    Afterwards they are what they were before, except those that other code has set in the meantime.

    >>> from types import SimpleNamespace
    >>> light = SimpleNamespace(on=False)
    >>> with TemporaryAttributes(light, on=True):
    ...     print(light.on)
    True
    >>> light.on
    False
    """

    def __init__(self, owner: Object, given: object = None, **values: object) -> None:
        self._owner, self._given, self._values = owner, given, values
        self._before: dict[str, object] = {}

    def __enter__(self) -> Object:
        self._before = {name: getattr(self._owner, name) for name in self._values}
        for name, value in self._values.items():
            setattr(self._owner, name, value)
        return self._given

    def _restore(self) -> None:
        for name, before in self._before.items():
            if getattr(self._owner, name) is self._values[name]:
                setattr(self._owner, name, before)

    def _leave(self, *error: object) -> None:
        self._restore()
        self._before, self._exit_ref = {}, None

    __exit__: Leaving = InterruptSafeExit(_leave, lambda block: block._before)


class ThreadContext(TemporaryAttributes):
    """A block in which this thread has other tapes, or another recording: variables are watched anew in it and after
    it.
    """

    def __init__(self, given: object = None, **values: object) -> None:
        super().__init__(state, given, **values)

    def __enter__(self) -> Object:
        found = super().__enter__()
        _renew()
        return found

    def _restore(self) -> None:
        super()._restore()
        _renew()


def _renew() -> None:
    record = state.record
    if record is not None:
        record.tape_set = object()


def no_tapes() -> AbstractContextManager[None]:
    """Runs the block eagerly, out of sight of every tape of this thread."""
    return ThreadContext(record=None, tapes=[], _scope=())


def block(function: Callable[Given, Iterator[Made]]) -> Callable[Given, AbstractContextManager[Made]]:
    """``contextlib.contextmanager`` for a change that must not outlast its block.

    Where Ctrl-C comes just after the function has made its change, or just before it takes it back, Python would end
    the function only when it forgets the error, long after other blocks have begun. Here it ends at once. What the
    function does after ``yield`` is not done again where it was interrupted itself: for what must not be half done
    there is
    :class:`TemporaryAttributes`.
    """

    @functools.wraps(function)
    def make(*args: Given.args, **kwargs: Given.kwargs) -> AbstractContextManager[Made]:
        return _Block(function(*args, **kwargs))

    return make


@contextmanager
def _of_steps(steps: Iterator[Object]) -> Iterator[Object]:
    return steps


class _Block:
    """The block of a generator: what is before ``yield`` begins it, what is after ends it."""

    def __init__(self, steps: Iterator[Object]) -> None:
        self._steps, self._inner = steps, _of_steps(steps)

    def __enter__(self) -> Object:
        return self._inner.__enter__()

    def _leave(self, *error: Object) -> bool | None:
        handled = self._inner.__exit__(*error)
        self._exit_ref = None
        return handled

    __exit__: Leaving = InterruptSafeExit(_leave, lambda block: block._steps.gi_suspended)
