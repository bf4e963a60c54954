"""``tf.autograph``: what can be said about the conversion of Python's control flow."""

from ..engine.namespace import Namespace as _Namespace
from ..engine.namespace import lazy as _lazy

experimental = _Namespace("tf.autograph.experimental", {
    "graphs.autograph": "do_not_convert",
    "graphs.turns": "set_loop_options",
})  # fmt: skip

__getattr__, __dir__ = _lazy("tf.autograph", {
    "graphs.rewritten": "set_verbosity to_code to_graph",
}, globals())  # fmt: skip
