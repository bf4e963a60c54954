"""The names of `tf.keras`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.keras import (
    callbacks as callbacks,
    layers as layers,
    losses as losses,
    optimizers as optimizers,
)
from minitape.tf.keras import (
    Sequential as Sequential,
)
