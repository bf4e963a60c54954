"""The names of `tf.errors`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.engine.values.errors import (
    InvalidArgumentError as InvalidArgumentError,
    OpError as OpError,
    UnimplementedError as UnimplementedError,
    UnknownError as UnknownError,
)
