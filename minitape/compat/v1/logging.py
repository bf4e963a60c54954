"""``tf.compat.v1.logging``: the logger with TensorFlow's name."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.compat.v1.logging", {
    "compat.v1.messages": "DEBUG ERROR FATAL INFO WARN debug error fatal get_verbosity info log set_verbosity warn "
                          "warning",
}, globals())  # fmt: skip
