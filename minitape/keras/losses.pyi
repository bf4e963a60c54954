"""The names of `tf.keras.losses`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.keras import (
    MeanAbsoluteError as MeanAbsoluteError,
    MeanSquaredError as MeanSquaredError,
    mean_absolute_error as _MAE,
    mean_squared_error as _MSE,
)
MAE = _MAE
MSE = _MSE
