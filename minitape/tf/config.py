"""``tf.config``: how functions run, and which devices there are (the CPU)."""

from ..engine.namespace import Namespace as _Namespace
from ..engine.namespace import lazy as _lazy

experimental = _Namespace("tf.config.experimental", {
    "graphs.settings": "enable_op_determinism enable_tensor_float_32_execution get_memory_growth get_visible_devices "
                "list_logical_devices list_physical_devices set_memory_growth set_visible_devices "
                "tensor_float_32_execution_enabled",
})  # fmt: skip

__getattr__, __dir__ = _lazy("tf.config", {
    "graphs.settings": "LogicalDevice PhysicalDevice experimental_functions_run_eagerly=functions_run_eagerly "
                "experimental_run_functions_eagerly=run_functions_eagerly functions_run_eagerly "
                "get_soft_device_placement get_visible_devices list_logical_devices list_physical_devices "
                "run_functions_eagerly set_soft_device_placement set_visible_devices",
}, globals())  # fmt: skip
