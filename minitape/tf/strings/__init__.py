"""``tf.strings``: functions of tensors of bytes. Here is which module holds which.

Strings are never differentiated: these functions compute, and record nothing. Text is UTF-8 where characters matter.
"""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.strings",
    {
        "tf.strings.functions": "as_string bytes_split join length lower reduce_join split substr to_number "
        "unicode_decode "
        "unicode_split upper",
    },
    globals(),
)
