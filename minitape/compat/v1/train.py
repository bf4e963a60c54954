"""``tf.compat.v1.train``: optimizers that add their updates to the graph, and checkpoints."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.compat.v1.train", {
    "compat.v1.optimizers": "AdagradOptimizer AdamOptimizer GradientDescentOptimizer MomentumOptimizer Optimizer "
                            "RMSPropOptimizer get_global_step get_or_create_global_step",
    "tf.checkpoint": "Checkpoint CheckpointManager latest_checkpoint list_variables load_checkpoint load_variable",
}, globals())  # fmt: skip
