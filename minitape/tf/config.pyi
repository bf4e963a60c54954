"""The names of `tf.tf.config`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.graphs.settings import (
    functions_run_eagerly as functions_run_eagerly,
    list_physical_devices as list_physical_devices,
    run_functions_eagerly as run_functions_eagerly,
)
