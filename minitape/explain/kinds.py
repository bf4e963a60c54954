"""What sort of thing a cause is: the same words for a tape, PyTorch, TensorFlow and JAX."""

from __future__ import annotations

_CAUSES = {  # kind: the causes of it, of a tape and of the bridges
    "connected": "connected finite",
    "not_tracked": "not_watched watched_late not_trainable not_accessed_watched requires_grad non_leaf argnums closure",
    "wrong_dtype": "integer_dtype integer_cast",
    "cut": "stop_gradient detach data copied",
    "paused": "recording_paused no_grad inference_mode",
    "outside": "outside_tape computed_before_tape computed_after_tape create_graph",
    "through_state": "state variable_assign",
    "left": "left_through_numpy left_torch left_jax branch python_branch boolean_index callback target_not_tensor "
    "not_tensor",
    "other_object": "rebound wrong_object",
    "no_derivative": "nondifferentiable_op nondifferentiable no_gradient_registered no_derivative no_gradient "
    "custom_rule while_loop",
    "unknown": "unknown",
    "unused": "independent unused unused_layer other_branch",
    "zero": "zero_derivative dead_relu saturated not_selected zero_factor zero_cancels zero_sum zero_seed hook",
    "nonfinite": "nan_input nan_forward nan_backward nonfinite_value nonfinite_gradient",
    "error": "in_place backward_twice not_scalar has_aux leaked_tracer refused no_backward grad_cleared grad_returned "
    "nonfinite_released",
    # there and wrong, as a number or an identity of the run shows
    "suspect": "broadcast activation_twice not_optimized not_applied accumulated vanishing exploding rounding_only "
    "underflow sampled in_part scaled",
}
# of a cause that blocks one path, beside which there may be others
CUTS = {"cut", "paused", "outside", "through_state", "left", "no_derivative", "unknown"}
THERE = {"connected", "zero", "nonfinite", "suspect"}  # kinds that a gradient can have which is there
KINDS = {cause: kind for kind, causes in _CAUSES.items() for cause in causes.split()}
