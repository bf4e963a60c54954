"""Define the interface through which pictures read recordings of minitape's tape and other frameworks."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence, Sized
from typing import Protocol, TypeAlias, runtime_checkable

from ..engine.backward.tape import GradientTape
from ..engine.record.kept_arrays import iter_large_arrays
from ..engine.types import Action, Array, ArraysByRow, Namespaces, Object, Structure
from .gradient_results import list_results_of_gradient_calls
from .reader import TapeReader
from .reader_base import Reader, unwrap_accumulator
from .shown_values import to_value_fields
from .snapshot_types import ResultFields
from .stepper import ShowArray, SweepSteps, build_tape_stepper

# The target and the sources of a sweep, if the picture's arguments chose them, or None for the last gradient call.
OptionalEnds: TypeAlias = "tuple[Object, Object] | None"


@runtime_checkable
class PictureSource(Protocol):
    """The interface of a recording for pictures. The recording's rows are read by the result of `build_reader`."""

    @property
    @abstractmethod
    def record(self) -> Sized | None:
        """The object that holds the rows, or None before the first row. If the object is new, all rows are new."""

    @property
    @abstractmethod
    def is_recording(self) -> bool:
        """Whether rows may still be added."""

    @property
    @abstractmethod
    def is_used(self) -> bool:
        """Whether the recording can compute no further gradients."""

    @property
    @abstractmethod
    def last_gradient_call(self) -> Sequence[Object] | None:
        """The targets and the sources of the last gradient call, or None before the first call.

        Further items may follow. The ids of the items identify the call, because the objects stay the same until the
        next gradient call.
        """

    def list_last_gradient_calls(self) -> list[Object]:
        """Return the `last_gradient_call` of each tape that shares the record, or None for tapes without a call.

        By default, no tape shares it.
        """
        return []

    @abstractmethod
    def add_listener(self, listener: Action) -> None:
        """Register a function to be called when there is something new to show.

        Args:
            listener: The function, which is called now if there are rows, and later whenever a block or gradient call
                ends.
        """

    def list_large_arrays(self) -> list[tuple[int, Array]]:
        """Return (row, array) pairs for arrays that may soon be released, or [] while the recording is open.

        By default, a recording keeps its arrays itself.
        """
        return []

    @abstractmethod
    def find_object_of_leaf_or_candidate(self, row: int, candidates: Iterable[Object]) -> Object:
        """Return the variable or tensor that a row represents.

        Args:
            row: The row number.
            candidates: The objects to search if the row is not a leaf.

        Returns:
            The object of a leaf, or the candidate with this row, if any.
        """

    @abstractmethod
    def build_reader(self, namespaces: Namespaces) -> Reader:
        """Return a reader that starts at the first row.

        Args:
            namespaces: The dictionaries in which the Python names of tensors are looked up.
        """

    @abstractmethod
    def build_stepper(
        self,
        target: Structure,
        sources: Structure,
        kept_arrays: ArraysByRow | None = None,
        show: ShowArray = to_value_fields,
    ) -> SweepSteps | None:
        """Return the steps of a sweep, which are computed on demand.

        Args:
            target: The target of the sweep, or None for the last gradient call.
            sources: The sources of the sweep.
            kept_arrays: Arrays, by row, that the recording has released but the caller still has.
            show: Converts each array in a step to the form in which it is shown.

        Returns:
            The steps, or None if no sweep can be repeated.
        """

    @abstractmethod
    def list_results_of_gradient_calls(
        self,
        target: Structure,
        sources: Structure,
        kept_arrays: ArraysByRow | None,
        namespaces: Namespaces,
    ) -> list[ResultFields]:
        """Return the results of gradient calls.

        Args:
            target: The target of one gradient, or None for all gradient calls so far.
            sources: The sources of that gradient.
            kept_arrays: Arrays, by row, that the recording has released but the caller still has.
            namespaces: The dictionaries in which the Python names of tensors are looked up.
        """

    @abstractmethod
    def explain_gradient(self, target: Structure, source: Structure) -> Object:
        """Return the explanation of the gradient from ``target`` to ``source``, as ``explain`` does.

        Args:
            target: The target of the gradient.
            source: One source of the gradient.
        """

    @abstractmethod
    def explain_shown_gradient(self, result: ResultFields | None, ends: OptionalEnds) -> Object:
        """Return one explanation or an iterable of explanations of the displayed gradient, or None without a gradient.

        Args:
            result: The result whose sweep is shown.
            ends: The target and the sources of that sweep, if the picture's arguments chose them.
        """


class TapeSource(PictureSource):
    """A ``GradientTape`` as a source of pictures.

    Attributes:
        tape: The tape.
    """

    def __init__(self, tape: GradientTape):
        """Store the tape."""
        self.tape = tape

    @property
    def record(self) -> Sized | None:
        """The recording that holds the tape's rows."""
        return self.tape.record

    @property
    def is_recording(self) -> bool:
        """Whether the tape is recording now."""
        return self.tape.is_recording

    @property
    def is_used(self) -> bool:
        """Whether the tape is not persistent and has computed its gradient."""
        return self.tape.is_used

    @property
    def last_gradient_call(self) -> Sequence[Object] | None:
        """The ``GradientRequest`` of the tape's last gradient call, or None before the first call."""
        return self.tape.last_request

    def list_last_gradient_calls(self) -> list[Object]:
        """Return the last request of each tape of the recording, because the picture shows the results of all tapes."""
        record = self.tape.record
        return (
            []
            if record is None
            else [tape.last_request for tape in record.list_tapes_or_none_if_gone() if tape is not None]
        )

    def add_listener(self, listener: Action) -> None:
        """Register the listener with the tape, and with the recording if the tape already has one."""
        self.tape.listeners = [*self.tape.listeners, listener]
        if self.tape.record is not None:
            self.tape.record.add_and_notify_listeners(listener)

    def list_large_arrays(self) -> list[tuple[int, Array]]:
        """Return (row, array) pairs for the arrays that the tape releases after its gradient call."""
        record = self.tape.record
        if record is None or record.is_opened_by_tape or not record.has_large_arrays:
            return []
        return [*iter_large_arrays(record)]

    def find_object_of_leaf_or_candidate(self, row: int, candidates: Iterable[Object]) -> Object:
        """Return the object of a leaf, or the candidate that has this row."""
        record = self.tape.record
        if record is None:
            return None
        leaf = record.leaves.get(row)
        if leaf is not None:
            return leaf.variable if leaf.variable is not None else leaf.tensor
        return next(
            (value for value in candidates if hasattr(type(value), "_row") and record.find_row(value) == row), None
        )

    def build_reader(self, namespaces: Namespaces) -> Reader:
        """Return the reader of the tape's recording."""
        return TapeReader(self.tape, namespaces)

    def build_stepper(
        self,
        target: Structure,
        sources: Structure,
        kept_arrays: ArraysByRow | None = None,
        show: ShowArray = to_value_fields,
    ) -> SweepSteps | None:
        """Return a stepper that repeats the engine's sweep."""
        return build_tape_stepper(self.tape, target, sources, kept_arrays, show)

    def list_results_of_gradient_calls(
        self,
        target: Structure,
        sources: Structure,
        kept_arrays: ArraysByRow | None,
        namespaces: Namespaces,
    ) -> list[ResultFields]:
        """Return the results of the gradient calls of the tape and of the other tapes of its recording."""
        return list_results_of_gradient_calls(self.tape, target, sources, kept_arrays, namespaces)

    def explain_gradient(self, target: Structure, source: Structure) -> Object:
        """Return the explanation of ``tape.explain``."""
        return self.tape.explain(target, source)

    def explain_shown_gradient(self, result: ResultFields | None, ends: OptionalEnds) -> Object:
        """Return the explanation that ``tape.explain`` gives for ``ends``, or for the last gradient call."""
        question = ends or (None if self.tape.last_request is None else self.tape.last_request[:2])
        return None if question is None else self.tape.explain(*question)


def get_picture_source(recording: Object, refusal_start: str) -> PictureSource:
    """Return the interface through which a picture reads a recording.

    Args:
        recording: A ``GradientTape``, a ``ForwardAccumulator``, or a ``PictureSource`` such as the recording of another
            framework.
        refusal_start: The beginning of the error message for any other object, such as ``"draw() takes"``.

    Returns:
        The recording itself if it is a ``PictureSource``, else the source of its tape.

    Raises:
        TypeError: If ``recording`` is none of these.
    """
    if isinstance(recording, PictureSource):
        return recording
    tape = unwrap_accumulator(recording)
    if not isinstance(tape, GradientTape):
        raise TypeError(
            f"{refusal_start} a tf.GradientTape, but received {recording!r} of type {type(recording).__name__!r}."
        )
    return TapeSource(tape)
