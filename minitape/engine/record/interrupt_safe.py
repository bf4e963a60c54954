"""Define ``with`` blocks that reliably undo their changes, wherever Ctrl-C interrupts them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial, wraps
from weakref import ref

from ..types import ExitProperty, Function, Object, OptionalFlag, Params, Returned
from .thread_state import state


class InterruptSafeExit(property):
    """An ``__exit__`` that takes effect even if Ctrl-C arrives just before the call or during it.

    A ``with`` statement looks up ``__exit__`` before it enters the block, and holds a reference to the result until the
    block ends. When Python drops that reference, this class leaves the block if it has not been left yet.
    """

    def __init__(self, leave: Function, is_entered: Callable[[Object], object]):
        """Create the property.

        Args:
            leave: A function that leaves the block. Its arguments are the block and the three arguments of
                ``__exit__``. The function may be called again if it is interrupted. Its last statement must set the
                block's ``_exit_ref`` to None.
            is_entered: A function that returns whether a block has been entered and not yet left.
        """

        def build_exit_method(block: Object) -> Function:
            exit_method = partial(leave, block)  # Python cannot be interrupted while it calls a partial.
            if not is_entered(block):
                block._exit_ref = ref(exit_method, partial(leave_when_dropped, block))
            return exit_method

        def leave_when_dropped(block: Object, exit_ref: object) -> None:
            if is_entered(block):
                leave(block, GeneratorExit, GeneratorExit(), None)  # Python closes generators with this error.
            # There is no block to leave, for example if other code has only looked up __exit__.
            elif block._exit_ref is exit_ref:
                block._exit_ref = None

        super().__init__(build_exit_method)
        self._leave = leave

    def __call__(self, block: object, *exit_arguments: object) -> OptionalFlag:
        """Leave the block when ``contextlib.ExitStack`` calls ``type(block).__exit__(block, ...)``.

        Args:
            block: The block.
            *exit_arguments: The type, value and traceback of the exception that ends the block, or three Nones.
        """
        return self._leave(block, *exit_arguments)


def leave_ended_tapes() -> None:
    """Leave the tapes whose blocks ended without a call to ``__exit__``.

    This happens after an infinite recursion, when no stack space is left for the call.
    """
    for tape in [*state.tapes]:
        if tape._exit_ref is not None and tape._exit_ref() is None:
            tape._leave(None, None, None)


class TemporaryAttributes:
    """A block in which some attributes of an object have temporary values.

    The block restores the old values at its end, except for attributes that other code has set in the meantime.

    >>> from types import SimpleNamespace
    >>> light = SimpleNamespace(on=False)
    >>> with TemporaryAttributes(light, on=True):
    ...     print(light.on)
    True
    >>> light.on
    False
    """

    def __init__(self, owner: Object, entered_value: object = None, **values: object):
        """Prepare the block.

        Args:
            owner: The object with these attributes.
            entered_value: The value that ``with ... as`` assigns.
            **values: The temporary values of the attributes, keyed by name.
        """
        self._owner = owner
        self._entered_value = entered_value
        self._values = values
        self._saved_values: dict[str, object] = {}

    def __enter__(self) -> Object:
        """Set the attributes, and return `entered_value`."""
        self._saved_values = {name: getattr(self._owner, name) for name in self._values}
        for name, value in self._values.items():
            setattr(self._owner, name, value)
        return self._entered_value

    def _restore_attributes(self) -> None:
        for name, saved_value in self._saved_values.items():
            if getattr(self._owner, name) is self._values[name]:
                setattr(self._owner, name, saved_value)

    def _leave(self, *exit_arguments: object) -> None:
        self._restore_attributes()
        self._saved_values = {}
        self._exit_ref = None

    __exit__: ExitProperty = InterruptSafeExit(_leave, lambda block: block._saved_values)


class ThreadContext(TemporaryAttributes):
    """A block in which this thread has different tapes or a different recording.

    Because the tapes change, variables are watched again when they are next read in the block or after it.
    """

    def __init__(self, entered_value: object = None, **values: object):
        """Prepare the block.

        Args:
            entered_value: The value that ``with ... as`` assigns.
            **values: The fields of :class:`~.thread_state.ThreadState` in the block, keyed by name.
        """
        super().__init__(state, entered_value, **values)

    def __enter__(self) -> Object:
        """Set the fields, and return `entered_value`."""
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
    """Return a block whose operations run eagerly, without being recorded by any tape of this thread."""
    return ThreadContext(record=None, tapes=[], _scope=())


def make_interrupt_safe_context_manager(
    generator_function: Callable[Params, Iterator[Returned]],
) -> Callable[Params, AbstractContextManager[Returned]]:
    """Turn a generator function into a ``with`` block whose change never outlasts the block.

    This is ``contextlib.contextmanager`` with one difference. Ctrl-C may arrive just after the function has made its
    change, or just before it undoes the change. With ``contextmanager``, the function would only finish when Python
    drops the error, long after other blocks have begun. This decorator finishes the function immediately.

    If the code after ``yield`` is itself interrupted, it is not repeated. Use :class:`TemporaryAttributes` for changes
    that must be undone completely.

    Args:
        generator_function: A function that makes a change, yields once, and undoes the change.

    Returns:
        A function with the same parameters that returns a block.
    """

    @wraps(generator_function)
    def build_block(*args: Params.args, **kwargs: Params.kwargs) -> AbstractContextManager[Returned]:
        return _GeneratorBlock(generator_function(*args, **kwargs))

    return build_block


@contextmanager
def _wrap_generator(generator: Iterator[Object]) -> Iterator[Object]:
    return generator


class _GeneratorBlock:
    """A block that begins with the code before a generator's ``yield`` and ends with the code after it."""

    def __init__(self, generator: Iterator[Object]):
        """Prepare a block for a generator that has not started."""
        self._generator, self._generator_context = generator, _wrap_generator(generator)

    def __enter__(self) -> Object:
        """Run the generator up to ``yield``, and return the yielded value."""
        return self._generator_context.__enter__()

    def _leave(self, *exit_arguments: Object) -> OptionalFlag:
        is_handled = self._generator_context.__exit__(*exit_arguments)
        self._exit_ref = None
        return is_handled

    __exit__: ExitProperty = InterruptSafeExit(_leave, lambda block: block._generator.gi_suspended)
