"""``tf.compat.v1.losses``: weighted losses that are collected by the graph."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.compat.v1.losses", {
    "compat.v1.weighted": "Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
                          "get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss log_loss "
                          "mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy",
}, globals())  # fmt: skip
