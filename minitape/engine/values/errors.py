"""The exceptions of ``tf.errors``: an operation got arguments that it cannot compute with.

Each class carries the canonical code that TensorFlow gives it
(https://www.tensorflow.org/api_docs/python/tf/errors).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .class_names import PrintName


class OpError(Exception, metaclass=PrintName):
    """An operation failed while it ran; ``message`` says why, ``node_def`` and ``op`` are None in eager mode.

    >>> import minitape as tf
    >>> try:
    ...     tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    ... except tf.errors.OpError as error:
    ...     print(error.message)
    Incompatible shapes: [2] vs. [3] [Op:AddV2] name:...
    """

    error_code: int | None = None
    _module = "tensorflow.python.framework.errors_impl"

    def __init__(self, node_def: object, op: object, message: str) -> None:
        super().__init__()
        self.node_def, self.op, self.message = node_def, op, message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.node_def, self.op, self.message)

    def __str__(self) -> str:
        return self.message


_EXAMPLE = """{meaning} Its code is {code}.

>>> import minitape as tf
>>> print(tf.errors.{name}Error(None, None, "what went wrong"))
what went wrong
"""

_KINDS = {  # canonical code -> the kind, and when it is raised
    2: ("Unknown", "Something else failed, such as a Python function that was called by an operation."),
    3: ("InvalidArgument", "An argument is wrong: shapes that do not fit, a dtype without a kernel, an index outside."),
    5: ("NotFound", "What was asked for is not there, such as a kernel for a dtype."),
    8: ("ResourceExhausted", "No memory or other resource is left."),
    9: ("FailedPrecondition", "The state does not allow it, such as reading a variable that was not initialized."),
    10: ("Aborted", "The operation was stopped, usually by a conflict with another."),
    11: ("OutOfRange", "The operation went past an end: of a dataset, of a TensorArray, of the axes."),
    12: ("Unimplemented", "The operation is not implemented for these arguments."),
    13: ("Internal", "Something inside is broken."),
}
(
    UNKNOWN,
    INVALID_ARGUMENT,
    NOT_FOUND,
    RESOURCE_EXHAUSTED,
    FAILED_PRECONDITION,
    ABORTED,
    OUT_OF_RANGE,
    UNIMPLEMENTED,
    INTERNAL,
) = _KINDS

for _code, (_kind, _meaning) in _KINDS.items():
    _body = {
        "error_code": _code,
        "_module": OpError._module,
        "__module__": __name__,
        "__doc__": _EXAMPLE.format(code=_code, meaning=_meaning, name=_kind),
    }
    globals()[f"{_kind}Error"] = PrintName(f"{_kind}Error", (OpError,), _body)

if TYPE_CHECKING:

    class UnknownError(OpError): ...

    class InvalidArgumentError(OpError): ...

    class NotFoundError(OpError): ...

    class ResourceExhaustedError(OpError): ...

    class FailedPreconditionError(OpError): ...

    class AbortedError(OpError): ...

    class OutOfRangeError(OpError): ...

    class UnimplementedError(OpError): ...

    class InternalError(OpError): ...
