"""The names of `tf.keras.applications.mobilenet`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.keras.applications.mobile import (
    MobileNet as MobileNet,
)
from minitape.keras.applications.pixels import (
    decode_predictions as decode_predictions,
)
def preprocess_input(x: _Any, data_format: _Any = None) -> _Any:
    """Images with values from 0 to 255 as this network wants them, see ``imagenet_utils.preprocess_input``, mode "tf"."""

