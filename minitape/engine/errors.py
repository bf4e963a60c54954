"""The exceptions of ``tf.errors``: an operation that was asked for something it cannot do.

Each class carries the canonical code that TensorFlow gives it
(https://www.tensorflow.org/api_docs/python/tf/errors).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .shown import Shown


class OpError(Exception, metaclass=Shown):
    """An operation failed while it ran; ``message`` says why, ``node_def`` and ``op`` are None in eager mode.

    >>> import minitape as tf
    >>> try:
    ...     tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    ... except tf.errors.OpError as error:
    ...     print(error.message)
    Incompatible shapes: [2] vs. [3] [Op:AddV2] name:...
    """

    error_code: int | None = None
    _shown = "tensorflow.python.framework.errors_impl"

    def __init__(self, node_def: object, op: object, message: str, error_code: int | None = None) -> None:
        super().__init__()
        self.node_def, self.op, self.message = node_def, op, message
        if error_code is not None:
            self.error_code = error_code

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.node_def, self.op, self.message)

    def __str__(self) -> str:
        return self.message


_EXAMPLE = """{meaning} Its code is {code}.

>>> import minitape as tf
>>> print(tf.errors.{name}Error(None, None, "what went wrong"))
what went wrong
"""


_KINDS = {  # kind -> (canonical code, when it is raised)
    "Cancelled": (1, "The operation was cancelled, usually by who asked for it."),
    "Unknown": (2, "Something else failed, such as a Python function that was called by an operation."),
    "InvalidArgument": (3, "An argument is wrong: shapes that do not fit, a dtype without a kernel, an index outside."),
    "DeadlineExceeded": (4, "Time ran out before the operation was done."),
    "NotFound": (5, "What was asked for is not there, such as a checkpoint or a kernel for a dtype."),
    "AlreadyExists": (6, "What was to be made is there already."),
    "PermissionDenied": (7, "Who asked may not do this."),
    "ResourceExhausted": (8, "No memory or other resource is left."),
    "FailedPrecondition": (9, "The state does not allow it, such as reading a variable that was not initialized."),
    "Aborted": (10, "The operation was stopped, usually by a conflict with another."),
    "OutOfRange": (11, "The operation went past an end: of a dataset, of a TensorArray, of the axes."),
    "Unimplemented": (12, "The operation is not implemented for these arguments."),
    "Internal": (13, "Something inside is broken."),
    "Unavailable": (14, "What the operation needs cannot be reached at the moment."),
    "DataLoss": (15, "Data is lost or damaged."),
    "Unauthenticated": (16, "Who asked is not known."),
}


def _class(kind: str, code: int, meaning: str) -> type[OpError]:
    name = f"{kind}Error"
    text = _EXAMPLE.format(code=code, meaning=meaning, name=kind)
    body = {"error_code": code, "__doc__": text, "__module__": __name__, "_shown": OpError._shown}
    return Shown(name, (OpError,), body)  # type: ignore[return-value]


OK = 0
for _kind, (_code, _meaning) in _KINDS.items():
    globals()[f"{_kind}Error"] = _class(_kind, _code, _meaning)
    globals()[re.sub(r"(?<!^)(?=[A-Z])", "_", _kind).upper()] = _code

if TYPE_CHECKING:

    class CancelledError(OpError): ...
    class UnknownError(OpError): ...
    class InvalidArgumentError(OpError): ...
    class DeadlineExceededError(OpError): ...
    class NotFoundError(OpError): ...
    class AlreadyExistsError(OpError): ...
    class PermissionDeniedError(OpError): ...
    class ResourceExhaustedError(OpError): ...
    class FailedPreconditionError(OpError): ...
    class AbortedError(OpError): ...
    class OutOfRangeError(OpError): ...
    class UnimplementedError(OpError): ...
    class InternalError(OpError): ...
    class UnavailableError(OpError): ...
    class DataLossError(OpError): ...
    class UnauthenticatedError(OpError): ...

