"""The names of `tf.keras.preprocessing.sequence`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.skipgrams import (
    make_sampling_table as make_sampling_table,
    skipgrams as skipgrams,
)
from minitape.keras.utils import (
    pad_sequences as pad_sequences,
)
