"""The exceptions of ``tf.errors``: an operation got arguments that it cannot compute with.

Each class carries the canonical code that TensorFlow gives it
(https://www.tensorflow.org/api_docs/python/tf/errors).
"""

from __future__ import annotations


class OpError(Exception):
    """An operation failed while it ran; ``message`` says why, ``node_def`` and ``op`` are None in eager mode.

    >>> import minitape as tf
    >>> try:
    ...     tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    ... except tf.errors.OpError as error:
    ...     print(error.message)
    Incompatible shapes: [2] vs. [3] [Op:AddV2] name:...
    """

    __module__ = "minitape.errors"  # where users find it
    error_code: int | None = None

    def __init__(self, node_def: object, op: object, message: str) -> None:
        super().__init__()
        self.node_def, self.op, self.message = node_def, op, message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.node_def, self.op, self.message)

    def __str__(self) -> str:
        return self.message


class UnknownError(OpError):
    """Something else failed, such as a Python function that was called by an operation.

    >>> import minitape as tf
    >>> try:
    ...     tf.py_function(lambda: 1 / 0, [], tf.float32)
    ... except tf.errors.UnknownError as error:
    ...     print(error.error_code)
    2
    """

    __module__, error_code = OpError.__module__, 2


class InvalidArgumentError(OpError):
    """An argument is wrong: shapes that do not fit, a dtype for which nothing is defined, an index outside.

    >>> import minitape as tf
    >>> try:
    ...     tf.reshape([1, 2], [3])
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.error_code)
    3
    """

    __module__, error_code = OpError.__module__, 3


class UnimplementedError(OpError):
    """The operation is not implemented for these arguments.

    >>> import minitape as tf
    >>> try:
    ...     tf.cast("text", tf.int32)
    ... except tf.errors.UnimplementedError as error:
    ...     print(error.error_code)
    12
    """

    __module__, error_code = OpError.__module__, 12
