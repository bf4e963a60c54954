"""``tf.keras.preprocessing.sequence``: sequences of one length."""

from ...namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.preprocessing.sequence", {"keras.utils": "pad_sequences"}, globals())
