"""The names of `tf.tf.strings`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.strings.functions import (
    as_string as as_string,
    bytes_split as bytes_split,
    join as join,
    length as length,
    lower as lower,
    reduce_join as reduce_join,
    split as split,
    substr as substr,
    to_number as to_number,
    unicode_decode as unicode_decode,
    unicode_split as unicode_split,
    upper as upper,
)
