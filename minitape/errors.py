"""The exceptions of ``tf.errors``: an operation that was asked for something it can not do.

Each class carries the canonical code that TensorFlow gives it
(https://www.tensorflow.org/api_docs/python/tf/errors).
"""

from __future__ import annotations

import re as _re

from .namespace import lazy as _lazy


class OpError(Exception):
    """An operation failed while it ran; ``message`` says why, ``node_def`` and ``op`` are None in eager mode.

    >>> import minitape as tf
    >>> try:
    ...     tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    ... except tf.errors.OpError as error:
    ...     print(error.message)
    Incompatible shapes: [2] vs. [3] [Op:AddV2] name:...
    """

    error_code: int | None = None

    def __init__(self, node_def: object, op: object, message: str, error_code: int | None = None) -> None:
        super().__init__()
        self.node_def, self.op, self.message = node_def, op, message
        if error_code is not None:
            self.error_code = error_code

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.node_def, self.op, self.message)

    def __str__(self) -> str:
        return self.message


_EXAMPLE = """Canonical error {code}.

>>> import minitape as tf
>>> print(tf.errors.{name}Error(None, None, "what went wrong"))
what went wrong
"""


def _family() -> dict[str, type[OpError]]:
    codes = {
        "Cancelled": 1, "Unknown": 2, "InvalidArgument": 3, "DeadlineExceeded": 4, "NotFound": 5, "AlreadyExists": 6,
        "PermissionDenied": 7, "ResourceExhausted": 8, "FailedPrecondition": 9, "Aborted": 10, "OutOfRange": 11,
        "Unimplemented": 12, "Internal": 13, "Unavailable": 14, "DataLoss": 15, "Unauthenticated": 16,
    }  # fmt: skip
    globals().update({_re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper(): code for name, code in codes.items()}, OK=0)
    return {
        name + "Error": type(name + "Error", (OpError,), {"error_code": code, "__doc__": _EXAMPLE.format(code=code, name=name),
                                                        "__module__": __name__})
        for name, code in codes.items()
    }  # fmt: skip


globals().update(_family())
InvalidArgumentError: type[OpError] = globals()["InvalidArgumentError"]

__getattr__, __dir__ = _lazy("tf.errors", {}, globals())
