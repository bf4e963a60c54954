"""Group JAX operations by how they make adjoints zero."""

from ...explain.operation_families import map_zero_causes_to_ops
from .row_log import STEP_OPS

ZERO_MECHANISMS = map_zero_causes_to_ops(
    zero_derivative=" ".join(STEP_OPS),
    dead_relu="relu relu6 leaky_relu elu selu hard_tanh",
    saturated="logistic tanh erf erfc exp softplus gelu clamp log1p",
    not_selected=(
        "max min reduce_max reduce_min select_n slice dynamic_slice gather top_k sort scatter "
        "dynamic_update_slice reduce_window_max argsort split pad"
    ),
    zero_factor="mul dot_general conv_general_dilated div reduce_prod integer_pow pow square",
    zero_cancels="sub reduce_precision softmax",
)
