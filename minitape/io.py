"""``tf.io``: strings as base64 and as raw numbers. Files are read with Python's own means."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.io", {
    "strings.encoding": "decode_base64 decode_raw encode_base64",
}, globals())  # fmt: skip
