"""The names of `tf.keras.random`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.operations.sampling import (
    dropout as dropout,
    normal as normal,
    randint as randint,
    truncated_normal as truncated_normal,
    uniform as uniform,
)
from minitape.keras.seeds import (
    SeedGenerator as SeedGenerator,
)
