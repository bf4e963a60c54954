"""Names of a world with several devices, which minitape does not have: everything runs on the one CPU."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..engine.block import block
from ..engine.invalid import invalid
from ..engine.tensor import Tensor, wrap

_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def device(device_name: Any) -> AbstractContextManager[None]:
    """A block whose operations run on a device: the CPU, the only one there is.

    Raises ValueError for what is no device's name, InvalidArgumentError for a device that is not there, RuntimeError
    for a function.

    >>> import minitape as tf
    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant(1.0)
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return _on(device_name)


@block
def _on(name: Any) -> Iterator[None]:
    kind, number = _parsed(name)
    if kind == "CPU" and number != 0:  # a GPU that is not there is replaced by the CPU, as TensorFlow does
        raise invalid("Could not satisfy device specification "
                      f"'/job:localhost/replica:0/task:0/device:{kind}:{number}'. enable_soft_placement=0. Supported "
                      f"device types [CPU]. All available devices [{_CPU}].")  # fmt: skip
    yield


def _parsed(name: Any) -> tuple[str, int]:
    """(kind, number) of a device's name; ValueError for anything else."""
    kind, number = "CPU", 0
    for part in filter(None, str(name or "").split("/")):
        if part.lower() in ("cpu", "gpu", "tpu"):
            kind = part.upper()
            continue
        found = re.fullmatch(r"(?:device:)?(cpu|gpu|tpu):(\d+|\*)", part, re.IGNORECASE)
        if found:
            kind, number = found[1].upper(), 0 if found[2] == "*" else int(found[2])
        elif not re.fullmatch(r"(job:\w+|replica:\d+|task:\d+)", part):
            raise ValueError(
                f"Unknown attribute '{part.split(':')[0]}' is encountered while parsing the device spec: '{name}'."
            )
    return kind, number


def get_logger() -> logging.Logger:
    """The logger to which minitape's warnings go; it has TensorFlow's name.

    >>> import minitape as tf
    >>> tf.get_logger().name
    'tensorflow'
    """
    return logging.getLogger("tensorflow")


def timestamp(name: str | None = None) -> Tensor:
    """The seconds since 1970, as a float64 tensor.

    >>> import minitape as tf
    >>> tf.timestamp().dtype
    tf.float64
    """
    return wrap(np.float64(time.time()))
