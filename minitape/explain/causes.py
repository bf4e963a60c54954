"""The causes, in one table: what sort each is, in the same words for a tape, PyTorch, TensorFlow and JAX.

Who adds a cause gives it to a row here, a sentence to each framework's texts, and its edits to ``fixes/table.py``.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """The causes of a kind, of a tape and of the bridges, and what is so of all of them."""

    causes: str
    blocks: bool = False  # it blocks one path, beside which there may be others
    weight: float = 1.0  # of such a break on a path: the path with the smallest sum is reported
    there: bool = False  # a gradient can have it that is there


TABLE = {
    "connected": Kind("connected", there=True),
    "not_tracked": Kind(
        "not_watched watched_late not_trainable not_accessed_watched requires_grad non_leaf argnums closure"
    ),
    "wrong_dtype": Kind("integer_dtype integer_cast", weight=0.9),
    "cut": Kind("stop_gradient detach data copied", blocks=True),
    "paused": Kind("recording_paused no_grad inference_mode", blocks=True, weight=0.5),
    "outside": Kind("outside_tape computed_before_tape computed_after_tape create_graph", blocks=True, weight=0.5),
    "through_state": Kind("state variable_assign", blocks=True),
    "left": Kind(
        "left_through_numpy left_torch left_jax branch python_branch boolean_index callback target_not_tensor "
        "not_tensor",
        blocks=True,
    ),
    "other_object": Kind("rebound wrong_object"),
    "no_derivative": Kind(
        "nondifferentiable_op nondifferentiable no_gradient_registered no_derivative no_gradient custom_rule "
        "while_loop",
        blocks=True,
        weight=0.98,
    ),
    "unknown": Kind("unknown", blocks=True, weight=0.99),
    "unused": Kind("independent unused unused_layer other_branch"),
    "zero": Kind(
        "zero_derivative dead_relu saturated not_selected zero_factor zero_cancels zero_sum zero_seed hook", there=True
    ),
    "nonfinite": Kind("nan_input nan_forward nan_backward", there=True),
    "error": Kind(
        "in_place backward_twice not_scalar has_aux leaked_tracer refused no_backward grad_cleared grad_returned"
    ),
    # there and wrong, as a number or an identity of the run shows
    "suspect": Kind(
        "broadcast activation_twice not_optimized not_applied accumulated vanishing exploding rounding_only "
        "sampled in_part",
        there=True,
    ),
}
KINDS = {cause: kind for kind, row in TABLE.items() for cause in row.causes.split()}
# a tape's name, and that of bridges
SHARED = {
    "nondifferentiable_op": "nondifferentiable",
    "state": "variable_assign",
    "outside_tape": "computed_before_tape",
}


def row_of(cause: str) -> Kind:
    """What is so of a cause; of one that is not in the table, of an error.

    >>> row_of("stop_gradient").blocks, row_of("rebound").blocks
    (True, False)
    """
    return TABLE[KINDS.get(cause, "error")]
