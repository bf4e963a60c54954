"""The names of `tf.tf.strings`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.strings.joining import (
    join as join,
    reduce_join as reduce_join,
)
from minitape.tf.strings.pieces import (
    bytes_split as bytes_split,
    length as length,
    lower as lower,
    split as split,
    substr as substr,
    unicode_decode as unicode_decode,
    unicode_split as unicode_split,
    upper as upper,
)
from minitape.tf.strings.spelling import (
    as_string as as_string,
    to_number as to_number,
)
