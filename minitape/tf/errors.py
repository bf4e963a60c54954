"""``tf.errors``: the exceptions of operations, and their codes."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.errors", {
    "engine.errors": "ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS "
                     "DEADLINE_EXCEEDED DataLossError DeadlineExceededError FAILED_PRECONDITION "
                     "FailedPreconditionError INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError "
                     "NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError PERMISSION_DENIED "
                     "PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE "
                     "UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError UnimplementedError UnknownError",
}, globals())  # fmt: skip
