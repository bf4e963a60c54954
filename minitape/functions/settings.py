"""How functions run, and on what: on the CPU, the only device there is."""

from __future__ import annotations

import logging
import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

EAGER_FUNCTIONS = [False]  # one flag
GUARDS = [os.environ.get("MINITAPE_GUARDS") == "1"]  # whether Python may branch on a tensor: a recording for each path


def run_functions_eagerly(run_eagerly: bool) -> None:
    """With True, every ``tf.function`` runs as the plain Python function that it wraps.

    So Python's debugger stops inside. It holds for all functions until it is switched off.

    >>> import minitape as tf
    >>> tf.config.run_functions_eagerly(True)
    >>> tf.function(lambda: tf.executing_eagerly())()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    EAGER_FUNCTIONS[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What ``run_functions_eagerly`` was last told.

    >>> import minitape as tf
    >>> tf.config.functions_run_eagerly()
    False
    """
    return EAGER_FUNCTIONS[0]


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of a type, or all: one CPU, no GPU.

    >>> import minitape as tf
    >>> tf.config.list_physical_devices("CPU"), tf.config.list_physical_devices("GPU")
    ([PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')], [])
    """
    return [PhysicalDevice("/physical_device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def set_log_device_placement(enabled: bool) -> None:
    """Only False is supported: minitape runs on the CPU and has no placements to log. Raises ValueError for True.

    >>> import minitape as tf
    >>> tf.debugging.set_log_device_placement(False)
    """
    if enabled:
        raise ValueError("minitape has one device, the CPU: there are no placements to log")


def get_logger() -> logging.Logger:
    """The logger to which minitape's warnings go; it has TensorFlow's name.

    >>> import minitape as tf
    >>> tf.get_logger().name
    'tensorflow'
    """
    return logging.getLogger("tensorflow")


def device(device_name: Any) -> AbstractContextManager[None]:
    """A block whose operations run on a device: the CPU, the only one there is.

    ``device_name`` has no effect: whatever it names, the CPU stands in for it.

    >>> import minitape as tf
    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant(1.0)
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    return nullcontext()
