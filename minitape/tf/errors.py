"""``tf.errors``: the exceptions of operations, and their codes."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.errors",
    {
        "engine.values.errors": "ABORTED AbortedError FAILED_PRECONDITION FailedPreconditionError INTERNAL "
        "INVALID_ARGUMENT "
        "InternalError InvalidArgumentError NOT_FOUND NotFoundError OUT_OF_RANGE OpError OutOfRangeError "
        "RESOURCE_EXHAUSTED ResourceExhaustedError UNIMPLEMENTED UNKNOWN UnimplementedError UnknownError",
    },
    globals(),
)
