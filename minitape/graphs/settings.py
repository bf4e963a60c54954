"""How functions run, and which devices there are (the CPU)."""

from __future__ import annotations

from typing import Any, NamedTuple

EAGER_FUNCTIONS = [False]  # one flag
_soft_placement = [True]
_precise = [True]


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
    EAGER_FUNCTIONS[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What ``run_functions_eagerly`` was last told.

    >>> import minitape as tf
    >>> tf.config.functions_run_eagerly()
    False
    """
    return EAGER_FUNCTIONS[0]


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


def get_visible_devices(device_type: str | None = None) -> list[Any]:
    """The devices of a type that the program may use: the CPU.

    >>> import minitape as tf
    >>> tf.config.get_visible_devices("GPU")
    []
    """
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Says which devices the program may use. There is the CPU alone, which cannot be taken away.

    Raises ValueError for a device that is not there or of another type, and where the CPU is left out.

    >>> import minitape as tf
    >>> tf.config.set_visible_devices([], "GPU")
    """
    chosen = list(devices) if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice) else [devices]
    for device in chosen:
        if device not in list_physical_devices():
            raise ValueError(f"Unrecognized device: {device!r}")
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unsupported device type: {device.device_type!r} is not {device_type!r}")
    if device_type in (None, "CPU") and _CPU not in chosen:
        raise ValueError("minitape runs on the one CPU, which has to stay visible.")


def get_soft_device_placement() -> bool:
    """Whether a device that is not there is replaced by the CPU, in a function: what was last set, else True.

    >>> import minitape as tf
    >>> tf.config.get_soft_device_placement()
    True
    """
    return _soft_placement[0]


def set_soft_device_placement(enabled: bool) -> None:
    """Remembers whether a device that is not there may be replaced; there is the CPU alone, so it changes nothing.

    >>> import minitape as tf
    >>> tf.config.set_soft_device_placement(True)
    """
    _soft_placement[0] = bool(enabled)


def _check_device(device: Any) -> None:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def set_memory_growth(device: Any, enable: bool) -> None:
    """``enable`` is for GPUs, of which there are none: ValueError for the CPU, and for what is no device.

    >>> import minitape as tf
    >>> for gpu in tf.config.list_physical_devices("GPU"):
    ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    _check_device(device)
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def get_memory_growth(device: Any) -> bool | None:
    """Is for GPUs: None for the CPU, ValueError for what is no device.

    >>> import minitape as tf
    >>> tf.config.experimental.get_memory_growth(tf.config.list_physical_devices("CPU")[0])
    """
    _check_device(device)
    return None


def enable_op_determinism() -> None:
    """The same program gives the same numbers each time. It does so anyway.

    >>> import minitape as tf
    >>> tf.config.experimental.enable_op_determinism()
    """


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Remembers whether GPUs may round factors of float32 products; the CPU does not do so either way.

    >>> import minitape as tf
    >>> tf.config.experimental.enable_tensor_float_32_execution(False)
    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    False
    >>> tf.config.experimental.enable_tensor_float_32_execution(True)
    """
    _precise[0] = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """What ``enable_tensor_float_32_execution`` was last told, else True.

    >>> import minitape as tf
    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return _precise[0]


# -- tf.test ----------------------------------------------------------------------------------------------------------


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU: False, whatever ``cuda_only`` and ``min_cuda_compute_capability`` would accept.

    >>> import minitape as tf
    >>> tf.test.is_gpu_available()
    False
    """
    from ..engine.updates import deprecated

    deprecated(
        "is_gpu_available (from tensorflow.python.framework.test_util) is deprecated and will be removed in a future "
        "version.\nInstructions for updating:\nUse `tf.config.list_physical_devices('GPU')` instead."
    )
    return False


def gpu_device_name() -> str:
    """The name of the first GPU: there is none, so an empty string.

    >>> import minitape as tf
    >>> tf.test.gpu_device_name()
    ''
    """
    return ""


def is_built_with_cuda() -> bool:
    """Whether minitape can use an NVIDIA GPU: False.

    >>> import minitape as tf
    >>> tf.test.is_built_with_cuda()
    False
    """
    return False


def is_built_with_gpu_support() -> bool:
    """Whether minitape can use a GPU: False.

    >>> import minitape as tf
    >>> tf.test.is_built_with_gpu_support()
    False
    """
    return False


def set_log_device_placement(enabled: bool) -> None:
    """Only False is supported: minitape runs on the CPU and has no placements to log. Raises ValueError for True.

    >>> import minitape as tf
    >>> tf.debugging.set_log_device_placement(False)
    """
    if enabled:
        raise ValueError("minitape has one device, the CPU: there are no placements to log")


def get_log_device_placement() -> bool:
    """False: there are no placements to log.

    >>> import minitape as tf
    >>> tf.debugging.get_log_device_placement()
    False
    """
    return False
