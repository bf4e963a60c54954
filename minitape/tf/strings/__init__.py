"""``tf.strings``: functions of tensors of bytes. Here is which module holds which.

Strings are never differentiated: these functions compute, and record nothing. Text is UTF-8 where characters matter.
"""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.strings", {
    "tf.strings.joining": "join reduce_join",
    "tf.strings.pieces": "bytes_split length lower split substr unicode_decode unicode_split upper",
    "tf.strings.spelling": "as_string to_number",
}, globals())  # fmt: skip
