"""What a step that TensorFlow compiles, as Keras' ``fit`` does, forbids: take a value out of a tensor.

minitape runs such a step as it is written. Where the user's code takes a value out of what the step computes, or out of
its batch, it stops with TensorFlow's error: the same program would stop there.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING, NoReturn

from .frames import own_file
from .rows import LEAF
from .state import state

if TYPE_CHECKING:
    from types import FrameType

    from ..tensor.tensor import Tensor

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


def stop(tensor: Tensor, how: str) -> None:
    """Raises TensorFlow's error where the user's code takes a value out of a compiled step."""
    if how not in _REFUSED:
        return
    frame: FrameType | None = _getframe(3)  # the caller of the method that told of it
    while frame is not None and frame.f_globals.get("__name__", "").startswith("numpy."):
        frame = frame.f_back
    held = frame is not None and frame.f_code.co_name == "numpy" and own_file(frame.f_code.co_filename)
    if held and frame is not None:  # a variable's
        frame = frame.f_back
    if frame is None or own_file(frame.f_code.co_filename) or not (held or _is_of_the_step(tensor)):
        return
    _refuse("variable" if held else how)


def _is_of_the_step(tensor: Tensor) -> bool:
    """Whether a value is one of the step's: of its batch, or computed in it."""
    record = tensor._record
    if state.compiled is not None and id(tensor) in state.compiled:
        return True
    return record is not None and tensor._row < len(record) and record.cell(tensor._row)[0] != LEAF


def _refuse(how: str) -> NoReturn:
    kind, text = _REFUSED[how]
    error = kind(text)
    error.add_note(_NOTE)
    raise error
