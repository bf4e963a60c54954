"""The names of `tf.keras.applications.imagenet_utils`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.applications.pixels import (
    decode_predictions as decode_predictions,
    scaled as _preprocess_input,
)
preprocess_input = _preprocess_input
