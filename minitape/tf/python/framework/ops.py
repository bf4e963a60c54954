"""``tensorflow.python.framework.ops``: graphs, and ``op_scope`` of TensorFlow 1."""

from ...namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.python.framework.ops",
    {
        "engine.tensor.tensor": "EagerTensor Tensor",
        "engine.tensor.convert": "convert_to_tensor",
        "graphs.build": "Graph",
        "graphs.session": "get_default_graph",
        "graphs.symbolic": "Operation",
        "graphs.sweep": "RegisterGradient",
        "compat.v1.legacy": "name_scope op_scope",
    },
    globals(),
)
