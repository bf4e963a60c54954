"""The names of `tf.keras.datasets.cifar10`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.datasets.pictures import (
    cifar10 as _load_data,
)
load_data = _load_data
