"""The methods of a tape besides its block, ``watch`` and ``gradient``: Jacobians, explanations, its picture."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, overload

from ..hooks import hooks
from ..record.pause import Pause
from ..record.provenance import MAX_TAPE_NOTES, capture_stack
from .targets_and_sources import NONE, Unconnected

if TYPE_CHECKING:
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import AnySource, ExplanationResult, GradientSource, Result, Structure, TargetOrSource
    from .tape import GradientTape


def reset(self: GradientTape) -> None:
    """Forgets everything recorded so far and continues to record; ValueError outside the block.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    ...     tape.reset()
    ...     z = x + y
    >>> print(tape.gradient(z, x))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    if not self._recording:
        raise ValueError("Tape is not recording.")
    assert self._record is not None
    self._start = now = self._record.next
    if len(self.notes) < MAX_TAPE_NOTES:
        self.notes.append(("reset", now, None, capture_stack(max_frames=1)))
    self._forget_rows()
    self._record.tape_set = object()  # variables are watched anew when they are read


def stop_recording(self: GradientTape) -> AbstractContextManager[None]:
    """Operations in this block are not recorded on this tape.

    Raises RuntimeError for a tape that has not recorded yet, ValueError for one that is not recording now.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     with tape.stop_recording():
    ...         y = x * x
    ...     z = x + y
    >>> print(tape.gradient(z, x))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    return Pause(self)


def watched_variables(self: GradientTape) -> tuple[ResourceVariable, ...]:
    """The variables that are watched, in the order of their creation.

    >>> import minitape as tf
    >>> v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    >>> with tf.GradientTape() as tape:
    ...     y = v * 2.0
    >>> [variable.name for variable in tape.watched_variables()]
    ['v:0']
    """
    return tuple(sorted(self.variables.values(), key=lambda v: v._creation_number))


def describe_tape(self: GradientTape) -> str:
    """Describe the tape as Python prints it: how many rows, and how many of them are watched."""
    rows = sum(end - start for start, end in self.spans)
    rows += len(self._record or ()) - self._start if self._recording else 0
    return f"<GradientTape: {rows:,} rows, {len(self.watched):,} watched>"


def list_method_names(self: GradientTape) -> list[str]:
    """List what ``dir`` and the Tab key offer: the methods, without what explanations and pictures read."""
    return "watch gradient jacobian batch_jacobian explain watched_variables reset stop_recording".split()


def build_picture_bundle(self: GradientTape, include: object = None, exclude: object = None) -> dict[str, str]:
    """Build the picture that a notebook shows of a tape, by MIME type."""
    figure = hooks.draw(self)
    return {"text/plain": repr(figure).replace("Picture", "GradientTape"), "text/html": figure.html()}


@overload
def explain(self: GradientTape, target: Structure, sources: GradientSource) -> ExplanationResult: ...
@overload
def explain(self: GradientTape, target: Structure, sources: list[AnySource]) -> list[ExplanationResult]: ...
@overload
def explain(self: GradientTape, target: Structure, sources: Structure) -> Structure: ...
def explain(self: GradientTape, target: Structure, sources: Structure) -> Structure:
    """Why the gradient of ``target`` with respect to each of ``sources`` is None, or that it is not.

    Returns one :class:`minitape.explain.Explanation` for each source, in the structure of ``sources``: whether it
    is ``connected``, the ``cause``, the ``line`` and ``filename`` of the statement that broke the chain, and a
    ``message`` and ``fix`` in words. It may be called before or after ``gradient``, also on a tape that was used.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> tape.explain(y, x).cause
    'not_watched'
    """
    return hooks.explain(self, target, sources)


@overload
def jacobian(
    self: GradientTape,
    target: Structure,
    sources: GradientSource,
    unconnected_gradients: Unconnected = NONE,
    parallel_iterations: int | None = None,
    experimental_use_pfor: bool = True,
) -> Tensor | None: ...
@overload
def jacobian(
    self: GradientTape,
    target: Structure,
    sources: Structure,
    unconnected_gradients: Unconnected = NONE,
    parallel_iterations: int | None = None,
    experimental_use_pfor: bool = True,
) -> Structure: ...
def jacobian(
    self: GradientTape,
    target: Structure,
    sources: Structure,
    unconnected_gradients: Unconnected = NONE,
    parallel_iterations: int | None = None,
    experimental_use_pfor: bool = True,
) -> Structure:
    """The Jacobian of ``target`` with respect to each source, of shape target.shape + source.shape.

    Computed in one sweep: ``parallel_iterations`` has nothing to do, though 1 is refused as in TensorFlow. Raises
    RuntimeError on the second call for a tape that is not persistent, ValueError for one inside a gradient.

    >>> import minitape as tf
    >>> x = tf.Variable([1.0, 2.0])
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> tape.jacobian(y, x).numpy()
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    from ..derivatives.jacobian import jacobian

    return jacobian(self, target, sources, unconnected_gradients, parallel_iterations, experimental_use_pfor)


def batch_jacobian(
    self: GradientTape,
    target: TargetOrSource,
    source: TargetOrSource,
    unconnected_gradients: Unconnected = NONE,
    parallel_iterations: int | None = None,
    experimental_use_pfor: bool = True,
) -> Result:
    """The Jacobian of each example: of shape [batch] + target.shape[1:] + source.shape[1:].

    Zeros when nothing connects them, as in TensorFlow. Raises ValueError when the first axes differ.

    >>> import minitape as tf
    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.batch_jacobian(y, x).shape
    TensorShape([2, 2, 2])
    """
    from ..derivatives.jacobian import batch_jacobian

    return batch_jacobian(self, target, source, unconnected_gradients, parallel_iterations, experimental_use_pfor)


for _method in (reset, stop_recording, watched_variables, explain, jacobian, batch_jacobian):
    _method.__qualname__ = f"GradientTape.{_method.__name__}"  # what Python's own errors call it, as in TensorFlow
