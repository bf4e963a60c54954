"""The names of `tf.keras.datasets.california_housing`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.datasets.tables import (
    california_housing as _load_data,
)
load_data = _load_data
