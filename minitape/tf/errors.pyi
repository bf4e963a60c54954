"""The names of `tf.tf.errors`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.engine.values.errors import (
    ABORTED as ABORTED,
    AbortedError as AbortedError,
    FAILED_PRECONDITION as FAILED_PRECONDITION,
    FailedPreconditionError as FailedPreconditionError,
    INTERNAL as INTERNAL,
    INVALID_ARGUMENT as INVALID_ARGUMENT,
    InternalError as InternalError,
    InvalidArgumentError as InvalidArgumentError,
    NOT_FOUND as NOT_FOUND,
    NotFoundError as NotFoundError,
    OUT_OF_RANGE as OUT_OF_RANGE,
    OpError as OpError,
    OutOfRangeError as OutOfRangeError,
    RESOURCE_EXHAUSTED as RESOURCE_EXHAUSTED,
    ResourceExhaustedError as ResourceExhaustedError,
    UNIMPLEMENTED as UNIMPLEMENTED,
    UNKNOWN as UNKNOWN,
    UnimplementedError as UnimplementedError,
    UnknownError as UnknownError,
)
