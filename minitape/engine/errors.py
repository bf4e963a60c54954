"""The exceptions of ``tf.errors``: an operation that was asked for something it cannot do.

Each class carries the canonical code that TensorFlow gives it
(https://www.tensorflow.org/api_docs/python/tf/errors).
"""

from __future__ import annotations

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


_KINDS = {  # kind -> when it is raised; in the order of the canonical codes, from 1 on
    "Cancelled": "The operation was cancelled, usually by who asked for it.",
    "Unknown": "Something else failed, such as a Python function that was called by an operation.",
    "InvalidArgument": "An argument is wrong: shapes that do not fit, a dtype without a kernel, an index outside.",
    "DeadlineExceeded": "Time ran out before the operation was done.",
    "NotFound": "What was asked for is not there, such as a checkpoint or a kernel for a dtype.",
    "AlreadyExists": "What was to be made is there already.",
    "PermissionDenied": "Who asked may not do this.",
    "ResourceExhausted": "No memory or other resource is left.",
    "FailedPrecondition": "The state does not allow it, such as reading a variable that was not initialized.",
    "Aborted": "The operation was stopped, usually by a conflict with another.",
    "OutOfRange": "The operation went past an end: of a dataset, of a TensorArray, of the axes.",
    "Unimplemented": "The operation is not implemented for these arguments.",
    "Internal": "Something inside is broken.",
    "Unavailable": "What the operation needs cannot be reached at the moment.",
    "DataLoss": "Data is lost or damaged.",
    "Unauthenticated": "Who asked is not known.",
}


def _class(kind: str, code: int, meaning: str) -> type[OpError]:
    name = f"{kind}Error"
    text = _EXAMPLE.format(code=code, meaning=meaning, name=kind)
    body = {"error_code": code, "__doc__": text, "__module__": __name__, "_shown": OpError._shown}
    return Shown(name, (OpError,), body)  # type: ignore[return-value]


OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = range(8)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS = range(8, 16)
UNAUTHENTICATED = 16
for _code, (_kind, _meaning) in enumerate(_KINDS.items(), 1):
    globals()[f"{_kind}Error"] = _class(_kind, _code, _meaning)

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

