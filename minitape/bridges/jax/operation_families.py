"""Group JAX operations by how they make adjoints zero."""

from ...explain.operation_families import map_zero_causes_to_ops
from .row_log import STEP_OPS

RELU_OPS = {"relu", "relu6", "leaky_relu", "elu", "selu", "hard_tanh"}
SATURATING_OPS = set("logistic tanh erf erfc exp softplus gelu clamp log1p".split())
SELECTION_OPS = set(
    (
        "max min reduce_max reduce_min select_n slice dynamic_slice gather top_k sort scatter "
        "dynamic_update_slice reduce_window_max argsort split pad"
    ).split()
)
PRODUCT_OPS = set("mul dot_general conv_general_dilated div reduce_prod integer_pow pow square".split())
CANCELLING_OPS = {"sub", "reduce_precision", "softmax"}
ZERO_MECHANISMS = map_zero_causes_to_ops(STEP_OPS, RELU_OPS, SATURATING_OPS, SELECTION_OPS, PRODUCT_OPS, CANCELLING_OPS)
