"""The names of `tf.keras.layers`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.keras import (
    Dense as Dense,
    Layer as Layer,
)
