"""``tf.compat``: the names of TensorFlow 1 (``v1``), and text as bytes and back (``text``)."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.compat", {
    "compat.text": "as_bytes as_str as_str_any as_text bytes_or_text_types complex_types integral_types path_to_str real_types",
    "compat.v1": "v1=",
    "engine.dimension": "dimension_at_index dimension_value",
    "": "v2=",
}, globals())  # fmt: skip
