"""The names of `tf.tf.saved_model`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.exported import (
    load as load,
    save as save,
)
