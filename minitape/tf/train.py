"""``tf.train``: checkpoints."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.train", {
    "tf.checkpoint": "Checkpoint CheckpointManager latest_checkpoint list_variables load_checkpoint load_variable",
}, globals())  # fmt: skip
