"""``tf.compat.v1.test``: ``tf.test`` with TensorFlow 1's checks of gradients, which take tensors of a graph."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.compat.v1.test", {
    "compat.v1.checking": "compute_gradient compute_gradient_error",
    "graphs.settings": "gpu_device_name is_built_with_cuda is_built_with_gpu_support is_gpu_available",
}, globals())  # fmt: skip
