"""``tf.sets``: sets of values along the last axis. Here is which module holds which function."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.sets", {"tf.sparse.sets": "difference intersection size union"}, globals())
