"""The names of `tf.tf.strings`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.strings.joining import (
    join as join,
    ngrams as ngrams,
    reduce_join as reduce_join,
    unsorted_segment_join as unsorted_segment_join,
)
from minitape.tf.strings.matching import (
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
    to_hash_bucket as to_hash_bucket,
    to_hash_bucket_fast as to_hash_bucket_fast,
    to_hash_bucket_strong as to_hash_bucket_strong,
)
from minitape.tf.strings.pieces import (
    bytes_split as bytes_split,
    length as length,
    lower as lower,
    split as split,
    strip as strip,
    substr as substr,
    upper as upper,
)
from minitape.tf.strings.spelling import (
    as_string as as_string,
    format as format,
    to_number as to_number,
)
from minitape.tf.strings.unicode import (
    unicode_decode as unicode_decode,
    unicode_decode_with_offsets as unicode_decode_with_offsets,
    unicode_encode as unicode_encode,
    unicode_script as unicode_script,
    unicode_split as unicode_split,
    unicode_split_with_offsets as unicode_split_with_offsets,
    unicode_transcode as unicode_transcode,
)
