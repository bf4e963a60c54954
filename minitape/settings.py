"""How functions run, and which devices there are (the CPU)."""

from __future__ import annotations

from typing import Any, NamedTuple

_eager_functions = [False]


class PhysicalDevice(NamedTuple):
    """A device of this machine.

    >>> import minitape as tf
    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """

    name: str
    device_type: str


LogicalDevice = PhysicalDevice
_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


def run_functions_eagerly(run_eagerly: bool) -> None:
    """With True, every ``tf.function`` runs as the plain Python function that it wraps.

    So Python's debugger stops inside. It holds for all functions until it is switched off.

    >>> import minitape as tf
    >>> tf.config.run_functions_eagerly(True)
    >>> tf.function(lambda: tf.executing_eagerly())()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    _eager_functions[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What ``run_functions_eagerly`` was last told.

    >>> import minitape as tf
    >>> tf.config.functions_run_eagerly()
    False
    """
    return _eager_functions[0]


def list_physical_devices(device_type: str | None = None) -> list[Any]:
    """The devices of a type: one CPU, no GPU.

    Without a type all devices; an empty list for a type that is not there.

    >>> import minitape as tf
    >>> tf.config.list_physical_devices("GPU")
    []
    """
    return [_CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[Any]:
    """The logical devices of a type: one CPU.

    Without a type all devices; an empty list for a type that is not there.

    >>> import minitape as tf
    >>> len(tf.config.list_logical_devices())
    1
    """
    return [PhysicalDevice("/device:CPU:0", "CPU")] if device_type in (None, "CPU") else []
