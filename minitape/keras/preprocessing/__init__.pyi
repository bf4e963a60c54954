"""The names of `tf.keras.preprocessing`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.folders import (
    text_dataset_from_directory as text_dataset_from_directory,
)
from minitape.keras.preprocessing import (
    sequence as sequence,
    text as text,
)
from minitape.keras.windows import (
    timeseries_dataset_from_array as timeseries_dataset_from_array,
)
