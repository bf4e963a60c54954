"""``tensorflow.python.framework.ops``: graphs, and ``op_scope`` of TensorFlow 1."""

from ...namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.python.framework.ops",
    {
        "engine.tensor.tensor": "EagerTensor Tensor",
        "engine.tensor.convert": "convert_to_tensor",
        "functions.deferred": "Graph get_default_graph Operation=Deferred RegisterGradient",
        "compat.v1.legacy": "name_scope op_scope",
    },
    globals(),
)
