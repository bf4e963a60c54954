"""The names of `tf.tf.train`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.checkpoint import (
    Checkpoint as Checkpoint,
    CheckpointManager as CheckpointManager,
    latest_checkpoint as latest_checkpoint,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
