"""Names that people bring along from PyTorch, NumPy and Keras, and what is written here in their place."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from .notebook import running_notebook

_LOOP = (
    "a loop: with tf.GradientTape() as tape: loss = ..., then optimizer.apply_gradients(zip(tape.gradient(loss, "
    "variables), variables))"
)
# name there -> what to write here
HABITS = {
    **dict.fromkeys(["compile", "fit"], _LOOP),
    **dict.fromkeys(["backward", "grad"], "tape.gradient(y, x)"),
    **dict.fromkeys(["tensor", "array", "asarray", "as_tensor"], "tf.constant(value)"),
    **{name: f"tf.reduce_{name}(x)" for name in ("sum", "mean", "max", "min", "all", "any")},
    "astype": "tf.cast(x, tf.float32)",
    "cat": "tf.concat([x, y], 0)",
    "clone": "tf.identity(x)",
    "detach": "tf.stop_gradient(x)",
    "log": "tf.math.log(x)",
    "manual_seed": "tf.random.set_seed(1)",
    "mm": "x @ y",
    "no_grad": "tape.stop_recording()",
    "view": "tf.reshape(x, shape)",
}


def no_attribute(text: str, name: str, owner: object, prefix: str = "", names: Iterable[str] = ()) -> AttributeError:
    """An AttributeError with a note of what to write instead: a habit's counterpart, or the nearest of the ``names`` in
    a notebook, which does not show what Python suggests.

    >>> no_attribute("There is no tf.sum.", "sum", None).__notes__
    ['Here it is written tf.reduce_sum(x).']
    """
    error = AttributeError(text, name=name, obj=owner)
    if name in HABITS:
        error.add_note(f"Here it is written {HABITS[name]}.")
    elif running_notebook() is not None and (near := get_close_matches(name, names, 1, 0.8)):
        error.add_note(f"Did you mean {prefix}{near[0]}?")
    return error
