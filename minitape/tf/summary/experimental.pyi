"""The names of `tf.tf.summary.experimental`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.summary.writing import (
    get_step as get_step,
    set_step as set_step,
)
