"""The names of `tf.keras.datasets.fashion_mnist`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.datasets.pictures import (
    fashion_mnist as _load_data,
)
load_data = _load_data
