"""The names of `tf.keras.datasets.reuters`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.datasets.wordlists import (
    get_label_names as get_label_names,
    reuters_words as _get_word_index,
    reuters as _load_data,
)
get_word_index = _get_word_index
load_data = _load_data
