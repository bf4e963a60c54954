"""Define the exceptions in ``tf.errors``, which operations raise.

Each class has TensorFlow's canonical error code (https://www.tensorflow.org/api_docs/python/tf/errors).
"""


class OpError(Exception):
    """An error that an operation raised while it was running.

    See https://www.tensorflow.org/api_docs/python/tf/errors/OpError.

    Attributes:
        message: The reason.
        node_def: The definition of the operation in its graph, or None in eager mode.
        op: The graph operation, or None in eager mode.
        error_code: TensorFlow's canonical error code, set by each subclass.

    >>> import minitape as tf
    >>> try:
    ...     tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    ... except tf.errors.OpError as error:
    ...     print(error.message)
    Incompatible shapes: [2] vs. [3] [Op:AddV2] name:...
    """

    # Users find the class in this module, and tracebacks show the module's name.
    __module__ = "minitape.errors"
    error_code: int | None = None

    def __init__(self, node_def: object, op: object, message: str):
        """Create an error with TensorFlow's arguments.

        Args:
            node_def: The definition of the operation in its graph, or None in eager mode.
            op: The graph operation, or None in eager mode.
            message: The reason.
        """
        super().__init__()
        self.node_def = node_def
        self.op = op
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        """Return the class and its arguments, so that the error can be pickled."""
        return type(self), (self.node_def, self.op, self.message)

    def __str__(self) -> str:
        """Return the message."""
        return self.message


class UnknownError(OpError):
    """An error with any other cause, such as an exception in a Python function that the operation called.

    See https://www.tensorflow.org/api_docs/python/tf/errors/UnknownError.

    >>> import minitape as tf
    >>> try:
    ...     tf.py_function(lambda: 1 / 0, [], tf.float32)
    ... except tf.errors.UnknownError as error:
    ...     print(error.error_code)
    2
    """

    __module__ = OpError.__module__
    error_code = 2


class InvalidArgumentError(OpError):
    """An error for a wrong argument, such as incompatible shapes, an unsupported dtype or an index out of range.

    See https://www.tensorflow.org/api_docs/python/tf/errors/InvalidArgumentError.

    >>> import minitape as tf
    >>> try:
    ...     tf.reshape([1, 2], [3])
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.error_code)
    3
    """

    __module__ = OpError.__module__
    error_code = 3


class UnimplementedError(OpError):
    """Raised when an operation is not implemented for the given arguments.

    See https://www.tensorflow.org/api_docs/python/tf/errors/UnimplementedError.

    >>> import minitape as tf
    >>> try:
    ...     tf.cast("text", tf.int32)
    ... except tf.errors.UnimplementedError as error:
    ...     print(error.error_code)
    12
    """

    __module__ = OpError.__module__
    error_code = 12
