"""The names of `tf.compat.v1.train`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.compat.v1.optimizers import (
    AdagradOptimizer as AdagradOptimizer,
    AdamOptimizer as AdamOptimizer,
    GradientDescentOptimizer as GradientDescentOptimizer,
    MomentumOptimizer as MomentumOptimizer,
    Optimizer as Optimizer,
    RMSPropOptimizer as RMSPropOptimizer,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
)
from minitape.tf.checkpoint import (
    Checkpoint as Checkpoint,
    CheckpointManager as CheckpointManager,
    latest_checkpoint as latest_checkpoint,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
