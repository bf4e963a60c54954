"""What a step that TensorFlow compiles, as Keras' ``fit`` does, forbids: take a value out of a tensor.

minitape runs such a step as it is written. Where the user's code takes a value out of what the step computes, or out of
its batch, it stops with TensorFlow's error: the same program would stop there.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING, Any, NoReturn

from ..engine.recording.frames import own_file
from ..engine.recording.rows import LEAF
from ..engine.values import nest

if TYPE_CHECKING:
    from types import FrameType

    from ..engine.tensor.tensor import Tensor

_REFUSED: dict[str, tuple[type[Exception], str]] = {
    "numpy": (AttributeError, "'SymbolicTensor' object has no attribute 'numpy'"),
    "asarray": (
        NotImplementedError,
        "Cannot convert a symbolic tf.Tensor (a value of the compiled step) to a numpy array. This error may "
        "indicate that you're trying to pass a Tensor to a NumPy call, which is not supported.",
    ),
    "float": (TypeError, "float() argument must be a string or a real number, not 'SymbolicTensor'"),
    "int": (TypeError, "int() argument must be a string, a bytes-like object or a real number, not 'SymbolicTensor'"),
    "variable": (NotImplementedError, "numpy() is only available when eager execution is enabled."),
}
_NOTE = (
    "fit compiles its step: inside of it tensors have no values yet. Compute with tf's functions on the tensor "
    "itself, such as "
    "tf.reduce_mean in place of np.mean. With compile(run_eagerly=True) values may leave, but no gradient "
    "passes where they come back."
)


class CompiledStep:
    """One training step on a batch: the engine asks it before a value leaves a tensor."""

    def __init__(self, batch: Any) -> None:
        self._batch = frozenset(id(part) for part in nest.flatten(batch))

    def stop(self, tensor: Tensor, how: str) -> None:
        """Raises TensorFlow's error if the user's code takes a value out of the step."""
        if how not in _REFUSED:
            return
        frame: FrameType | None = _getframe(3)  # the caller of the method that notes the exit
        while frame is not None and frame.f_globals.get("__name__", "").startswith("numpy."):
            frame = frame.f_back
        by_variable = frame is not None and frame.f_code.co_name == "numpy" and own_file(frame.f_code.co_filename)
        if by_variable and frame is not None:
            frame = frame.f_back
        if frame is None or own_file(frame.f_code.co_filename) or not (by_variable or self._computes(tensor)):
            return
        _refuse("variable" if by_variable else how)

    def _computes(self, tensor: Tensor) -> bool:
        """Whether a tensor is part of the step's batch or is computed in the step."""
        record = tensor._record
        if id(tensor) in self._batch:
            return True
        return record is not None and tensor._row < len(record) and record.cell(tensor._row)[0] != LEAF


def _refuse(how: str) -> NoReturn:
    kind, text = _REFUSED[how]
    error = kind(text)
    error.add_note(_NOTE)
    raise error
