"""``tf.test``: what helps to test gradients, and whether there is a GPU."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.test", {
    "tf.check": "compute_gradient",
    "graphs.settings": "gpu_device_name is_built_with_cuda is_built_with_gpu_support is_gpu_available",
}, globals())  # fmt: skip
