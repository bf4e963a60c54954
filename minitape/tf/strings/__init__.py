"""``tf.strings``: functions of tensors of bytes. Here is which module holds which.

Strings are never differentiated: these functions compute, and record nothing. Text is UTF-8 where characters matter.
"""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.strings", {
    "tf.strings.joining": "join ngrams reduce_join unsorted_segment_join",
    "tf.strings.matching": "regex_full_match regex_replace to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong",
    "tf.strings.pieces": "bytes_split length lower split strip substr upper",
    "tf.strings.spelling": "as_string format to_number",
    "tf.strings.unicode": "unicode_decode unicode_decode_with_offsets unicode_encode unicode_script unicode_split "
                       "unicode_split_with_offsets unicode_transcode",
}, globals())  # fmt: skip
