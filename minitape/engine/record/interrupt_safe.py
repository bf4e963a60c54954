"""Blocks of a ``with`` statement that change something for their time, and take it back wherever Ctrl-C comes."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ..types import Params, Returned
from .thread_state import state

if TYPE_CHECKING:
    from ..types import ExitProperty, Function, Object


class InterruptSafeExit(property):
    """The ``__exit__`` of a class whose blocks end even where Ctrl-C comes just before it is called, or inside it.

    A ``with`` statement looks ``__exit__`` up before it enters, and holds on to what it found until the block is over,
    one way or the other. When it releases that and the block has not been left, it is left then. ``leave`` may
    therefore be called again where it was interrupted; the last thing that it does is to set ``_exit_ref`` to None.
    ``is_entered`` says whether there is something to leave.
    """

    def __init__(self, leave: Function, is_entered: Callable[[Object], object]) -> None:
        def build_exit_method(block: Object) -> Function:
            exit_method = partial(leave, block)  # whose call is no step of Python's
            if not is_entered(block):
                block._exit_ref = weakref.ref(exit_method, partial(leave_when_dropped, block))
            return exit_method

        def leave_when_dropped(block: Object, exit_ref: object) -> None:
            if is_entered(block):
                leave(block, GeneratorExit, GeneratorExit(), None)  # as Python ends a generator early
            elif block._exit_ref is exit_ref:  # a lookup that was not a with statement's
                block._exit_ref = None

        super().__init__(build_exit_method)
        self._leave = leave

    def __call__(self, block: object, *error: object) -> bool | None:
        """Leaves the block as ``type(block).__exit__(block, ...)`` does, which contextlib.ExitStack calls."""
        return self._leave(block, *error)


def leave_ended_tapes() -> None:
    """Leave the tapes whose block has ended without that: after a recursion without end Python has no frame for it."""
    for tape in [*state.tapes]:
        if tape._exit_ref is not None and tape._exit_ref() is None:
            tape._leave(None, None, None)


class TemporaryAttributes:
    """A block in which attributes of an object have other values. It gives ``entered_value``.

    Afterwards they are what they were before, except those that other code has set in the meantime.

    >>> from types import SimpleNamespace
    >>> light = SimpleNamespace(on=False)
    >>> with TemporaryAttributes(light, on=True):
    ...     print(light.on)
    True
    >>> light.on
    False
    """

    def __init__(self, owner: Object, entered_value: object = None, **values: object) -> None:
        self._owner, self._entered_value, self._values = owner, entered_value, values
        self._saved_values: dict[str, object] = {}

    def __enter__(self) -> Object:
        self._saved_values = {name: getattr(self._owner, name) for name in self._values}
        for name, value in self._values.items():
            setattr(self._owner, name, value)
        return self._entered_value

    def _restore_attributes(self) -> None:
        for name, saved_value in self._saved_values.items():
            if getattr(self._owner, name) is self._values[name]:
                setattr(self._owner, name, saved_value)

    def _leave(self, *error: object) -> None:
        self._restore_attributes()
        self._saved_values, self._exit_ref = {}, None

    __exit__: ExitProperty = InterruptSafeExit(_leave, lambda block: block._saved_values)


class ThreadContext(TemporaryAttributes):
    """A block in which this thread has other tapes, or another recording: variables are watched anew in it and after
    it.
    """

    def __init__(self, entered_value: object = None, **values: object) -> None:
        super().__init__(state, entered_value, **values)

    def __enter__(self) -> Object:
        entered_value = super().__enter__()
        _invalidate_tape_set()
        return entered_value

    def _restore_attributes(self) -> None:
        super()._restore_attributes()
        _invalidate_tape_set()


def _invalidate_tape_set() -> None:
    record = state.record
    if record is not None:
        record.tape_set = object()


def suspend_recording() -> AbstractContextManager[None]:
    """Run the block eagerly, out of sight of every tape of this thread."""
    return ThreadContext(record=None, tapes=[], _scope=())


def make_interrupt_safe(
    generator_function: Callable[Params, Iterator[Returned]],
) -> Callable[Params, AbstractContextManager[Returned]]:
    """``contextlib.contextmanager`` for a change that must not outlast its block.

    Where Ctrl-C comes just after the function has made its change, or just before it takes it back, Python would end
    the function only when it forgets the error, long after other blocks have begun. Here it ends at once. What the
    function does after ``yield`` is not done again where it was interrupted itself: for what must not be half done
    there is :class:`TemporaryAttributes`.
    """

    @functools.wraps(generator_function)
    def build_block(*args: Params.args, **kwargs: Params.kwargs) -> AbstractContextManager[Returned]:
        return _GeneratorBlock(generator_function(*args, **kwargs))

    return build_block


@contextmanager
def _wrap_generator(generator: Iterator[Object]) -> Iterator[Object]:
    return generator


class _GeneratorBlock:
    """The block of a generator: what is before ``yield`` begins it, what is after ends it."""

    def __init__(self, generator: Iterator[Object]) -> None:
        self._generator, self._generator_context = generator, _wrap_generator(generator)

    def __enter__(self) -> Object:
        return self._generator_context.__enter__()

    def _leave(self, *error: Object) -> bool | None:
        is_handled = self._generator_context.__exit__(*error)
        self._exit_ref = None
        return is_handled

    __exit__: ExitProperty = InterruptSafeExit(_leave, lambda block: block._generator.gi_suspended)
