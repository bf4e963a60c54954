"""``tf.keras.preprocessing.sequence``: sequences of one length, and pairs of words out of them."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.preprocessing.sequence", {
    "keras.skipgrams": "make_sampling_table skipgrams",
    "keras.utils": "pad_sequences",
}, globals())  # fmt: skip
