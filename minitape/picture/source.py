"""What a picture needs from a recording, whoever wrote it: a tape, or a bridge for another framework."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ..engine.backward.tape import GradientTape
from ..engine.record.kept_arrays import iter_large_arrays
from .gradient_results import list_gradient_results
from .reader import Reader, unwrap_tape
from .shown_values import to_value_fields
from .stepper import build_tape_stepper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Sized

    from ..engine.types import Array, Object, Structure
    from .snapshot_types import ResultFields
    from .stepper import SweepSteps


@runtime_checkable
class PictureSource(Protocol):
    """What a picture needs from a recording. Its rows are read by the reader that it builds."""

    @property
    @abstractmethod
    def record(self) -> Sized | None:
        """What holds the rows; None while there are none to be shown. A new one means that all rows are new."""

    @property
    @abstractmethod
    def is_recording(self) -> bool:
        """Whether rows may still be added."""

    @property
    @abstractmethod
    def is_used(self) -> bool:
        """Whether it gives no further gradient."""

    @property
    @abstractmethod
    def last_gradient(self) -> Sequence[Object] | None:
        """The targets and the sources of the last gradient, and more that tells it from others; None before the first.

        The objects stay the same until there is another gradient.
        """

    @abstractmethod
    def list_last_gradients(self) -> list[Object]:
        """Return the last gradient of each tape that shares the record, None where a tape has none."""

    @abstractmethod
    def add_listener(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` now, if there are rows, and whenever a block or a gradient has ended."""

    @abstractmethod
    def list_large_arrays(self) -> list[tuple[int, Array]]:
        """Return the arrays that may soon be released, with their rows; none while rows are added."""

    @abstractmethod
    def find_object_of_row(self, row: int, candidates: Iterable[Object]) -> Object:
        """Return the variable or tensor that a row stands for: a leaf's, or one of the candidates; else None."""

    @abstractmethod
    def build_reader(self, namespaces: Iterable[dict[str, object]]) -> Reader:
        """Return what reads the rows, and finds names for them in these dictionaries."""

    @abstractmethod
    def build_stepper(
        self,
        target: Structure,
        sources: Structure,
        kept_arrays: dict[int, Array] | None = None,
        show: Callable[[Array], Object] = to_value_fields,
    ) -> SweepSteps | None:
        """Return the steps of the last sweep, or of the one from ``target`` to ``sources``; None if there is none.

        Args:
            target: What the gradient is of, or None.
            sources: What the gradient is by, or None.
            kept_arrays: Arrays by row that the recording released.
            show: Converts an array of a step to what is shown.
        """

    @abstractmethod
    def list_gradient_results(
        self,
        target: Structure,
        sources: Structure,
        kept_arrays: dict[int, Array] | None,
        namespaces: Iterable[dict[str, object]],
    ) -> list[ResultFields]:
        """Return the RESULTs of the gradients that were asked for, or of the one from ``target`` to ``sources``."""

    @abstractmethod
    def explain_gradient(self, target: Structure, source: Structure) -> Object:
        """Return the explanation of a gradient."""

    @abstractmethod
    def explain_shown_gradient(self, result: ResultFields | None, ends: tuple[Object, Object] | None) -> Object:
        """Return the explanations of the gradient that is shown; None if there is none.

        Args:
            result: The RESULT of the sweep that is shown.
            ends: The target and the sources of that sweep, if the picture chose them.
        """


class TapeSource(PictureSource):
    """A tape as pictures read it."""

    def __init__(self, tape: GradientTape) -> None:
        self.tape = tape

    @property
    def record(self) -> Sized | None:
        """The recording that has the tape's rows."""
        return self.tape.record

    @property
    def is_recording(self) -> bool:
        """Whether the tape records now."""
        return self.tape.is_recording

    @property
    def is_used(self) -> bool:
        """Whether the tape gave its one gradient."""
        return self.tape.is_used

    @property
    def last_gradient(self) -> Sequence[Object] | None:
        """The last question that the tape answered."""
        return self.tape.last_request

    def list_last_gradients(self) -> list[Object]:
        """Return the last question of each tape of the recording: a gradient of another one is a result, too."""
        record = self.tape.record
        return [] if record is None else [tape.last_request for tape in record.list_tapes_or_none() if tape is not None]

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Add the listener to the tape, and to the recording that it has already."""
        self.tape.listeners = [*self.tape.listeners, listener]
        if self.tape.record is not None:
            self.tape.record.add_and_notify_listeners(listener)

    def list_large_arrays(self) -> list[tuple[int, Array]]:
        """Return the arrays that a tape releases once it is used up."""
        record = self.tape.record
        if record is None or record.is_open or not record.has_large_arrays:  # all rows would be read for nothing
            return []
        return [*iter_large_arrays(record)]

    def find_object_of_row(self, row: int, candidates: Iterable[Object]) -> Object:
        """Return the object of a leaf, or the candidate whose row it is."""
        record = self.tape.record
        if record is None:
            return None
        leaf = record.leaves.get(row)
        if leaf is not None:
            return leaf.variable if leaf.variable is not None else leaf.tensor
        return next(
            (value for value in candidates if hasattr(type(value), "_row") and record.find_row(value) == row), None
        )

    def build_reader(self, namespaces: Iterable[dict[str, object]]) -> Reader:
        """Return the reader of the tape's recording."""
        return Reader(self.tape, namespaces)

    def build_stepper(
        self,
        target: Structure,
        sources: Structure,
        kept_arrays: dict[int, Array] | None = None,
        show: Callable[[Array], Object] = to_value_fields,
    ) -> SweepSteps | None:
        """Return the engine's sweep, which is run once more."""
        return build_tape_stepper(self.tape, target, sources, kept_arrays, show)

    def list_gradient_results(
        self,
        target: Structure,
        sources: Structure,
        kept_arrays: dict[int, Array] | None,
        namespaces: Iterable[dict[str, object]],
    ) -> list[ResultFields]:
        """Return what the tape's ``gradient`` calls gave."""
        return list_gradient_results(self.tape, target, sources, kept_arrays, namespaces)

    def explain_gradient(self, target: Structure, source: Structure) -> Object:
        """Return what ``tape.explain`` answers."""
        return self.tape.explain(target, source)

    def explain_shown_gradient(self, result: ResultFields | None, ends: tuple[Object, Object] | None) -> Object:
        """Return what ``tape.explain`` answers for the last gradient."""
        question = ends or (None if self.tape.last_request is None else self.tape.last_request[:2])
        return None if question is None else self.tape.explain(*question)


def get_picture_source(recording: Object, refusal_start: str) -> PictureSource:
    """Return what a picture reads of a tape, an accumulator or a recording of another framework.

    Args:
        recording: What the user passed.
        refusal_start: How the message begins that refuses anything else, such as ``"draw() takes"``.

    Raises:
        TypeError: If it is nothing that records.
    """
    if isinstance(recording, PictureSource):
        return recording
    tape = unwrap_tape(recording)
    if not isinstance(tape, GradientTape):
        raise TypeError(
            f"{refusal_start} a tf.GradientTape, but received {recording!r} of type {type(recording).__name__!r}."
        )
    return TapeSource(tape)
