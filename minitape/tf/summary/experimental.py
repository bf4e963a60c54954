"""``tf.summary.experimental``: the step that summaries take when they are given none."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.summary.experimental", {"tf.summary.writing": "get_step set_step"}, globals())
