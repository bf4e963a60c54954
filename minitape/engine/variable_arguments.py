"""What ``tf.Variable`` is given: which arguments it refuses, and the value that it begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .typed import Attributes, Value


def check_arguments(initial_value: object, name: object, constraint: object, unknown: Attributes, **unsupported: object) -> None:
    """ValueError for what no variable takes, and for arguments of TensorFlow that minitape does not support.

    Those that TensorFlow does not know either are ignored with a warning, as there.
    """
    if unknown:
        from .logs import log_first_n

        log_first_n(f"unknown {sorted(unknown)}",
                    f"tf.Variable does not know {', '.join(map(repr, unknown))} and ignores it, as TensorFlow does.")  # fmt: skip
    if initial_value is None:
        raise ValueError("The `initial_value` arg to `tf.Variable` must be specified except when you are not "
                         "providing a `variable_def`. You provided neither.")  # fmt: skip
    if name is not None and not isinstance(name, str):
        raise ValueError("name for name_scope must be a string.")
    if constraint is not None and not callable(constraint):
        raise ValueError(
            f"Argument `constraint` must be None or a callable. a callable. Got a {type(constraint)}:  {constraint}"
        )
    for label, value in unsupported.items():
        if value is not None:
            raise ValueError(f"tf.Variable of minitape does not support `{label}`: got {value!r}, leave it out")


def unwatched(initial_value: Value) -> Value:
    """What a variable begins with, out of sight of every tape: what a function returns, the state of another variable."""
    if callable(initial_value):
        from .custom import no_tapes

        with no_tapes():
            return initial_value()
    return initial_value._unwatched() if hasattr(initial_value, "_unwatched") else initial_value
