"""List the causes of a missing or wrong gradient, and the properties that all causes of one kind share.

The names of the causes are the same for a tape, PyTorch, TensorFlow and JAX. To add a cause, add its name to a kind
in `KINDS`, a sentence to the texts of each framework, and its edits to ``fixes/fix_table.py``.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A group of causes that are treated alike.

    Attributes:
        causes: The names of the causes, separated by spaces.
        blocks_path: Whether such a cause breaks one path, so that other paths may still carry a gradient.
        path_cost: The cost that a break of this kind adds to a path. The cheapest path is reported.
        has_gradient: Whether a gradient can exist in spite of such a cause.
        is_discrete: Whether such an operation yields a truth value, an index or a count. Programs rarely intend to
            send a gradient through such values.
        repeats_cost: Whether each break in a chain of the same cause costs the whole `path_cost`.
    """

    causes: str
    blocks_path: bool = False
    path_cost: float = 1.0
    has_gradient: bool = False
    is_discrete: bool = False
    repeats_cost: bool = False


KINDS = {
    "connected": Kind("connected", has_gradient=True),
    "not_tracked": Kind(
        "not_watched watched_late not_trainable not_accessed_watched requires_grad non_leaf argnums closure"
    ),
    "wrong_dtype": Kind("integer_dtype integer_cast", path_cost=0.9, is_discrete=True),
    "cut": Kind("stop_gradient detach data copied", blocks_path=True),
    "paused": Kind("recording_paused no_grad inference_mode", blocks_path=True, path_cost=0.5, repeats_cost=True),
    "outside": Kind(
        "outside_tape computed_before_tape computed_after_tape create_graph",
        blocks_path=True,
        path_cost=0.5,
        repeats_cost=True,
    ),
    "through_state": Kind("state variable_assign", blocks_path=True),
    "left": Kind(
        "left_through_numpy left_torch left_jax branch python_branch boolean_index callback target_not_tensor "
        "not_tensor",
        blocks_path=True,
    ),
    "other_object": Kind("rebound wrong_object"),
    "no_derivative": Kind(
        "nondifferentiable_op nondifferentiable no_gradient_registered no_derivative no_gradient custom_rule "
        "while_loop",
        blocks_path=True,
        path_cost=0.98,
        is_discrete=True,
    ),
    "unknown": Kind("unknown", blocks_path=True, path_cost=0.99),
    "unused": Kind("independent unused unused_layer other_branch"),
    "zero": Kind(
        "zero_derivative dead_relu saturated not_selected zero_factor zero_cancels zero_sum zero_seed hook",
        has_gradient=True,
    ),
    "nonfinite": Kind("nan_input nan_forward nan_backward", has_gradient=True),
    "error": Kind(
        "in_place backward_twice not_scalar has_aux leaked_tracer refused no_backward grad_cleared grad_returned"
    ),
    # The gradient exists and is wrong. A number or an identity that the run recorded shows it.
    "suspect": Kind(
        "broadcast activation_twice not_optimized not_applied accumulated vanishing exploding rounding_only "
        "sampled in_part",
        has_gradient=True,
    ),
}
KIND_NAMES = {cause: name for name, kind in KINDS.items() for cause in kind.causes.split()}
# A tape's name of a cause, and the bridges' name of the same cause.
BRIDGE_CAUSES = {
    "nondifferentiable_op": "nondifferentiable",
    "state": "variable_assign",
    "outside_tape": "computed_before_tape",
}


def find_kind_of_cause(cause: str) -> Kind:
    """Return the kind of a cause. An unlisted cause counts as an error.

    Args:
        cause: The name of a cause.

    >>> find_kind_of_cause("stop_gradient").blocks_path, find_kind_of_cause("rebound").blocks_path
    (True, False)
    """
    return KINDS[KIND_NAMES.get(cause, "error")]
