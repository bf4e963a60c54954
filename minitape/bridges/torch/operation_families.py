"""Group PyTorch's operations by how they make adjoints zero."""

from ...explain.operation_families import map_zero_causes_to_ops

SAMPLING_OPS = {"bernoulli", "poisson", "normal", "binomial", "multinomial"}
CLASS_LOSS_OPS = {"cross_entropy"}
ZERO_MECHANISMS = map_zero_causes_to_ops(
    zero_derivative=f"round floor ceil sign sgn trunc fix heaviside frac_ floor_divide {' '.join(SAMPLING_OPS)}",
    dead_relu="relu threshold hardswish",
    saturated=(
        "clamp clip clamp_min clamp_max hardtanh relu6 hardsigmoid sigmoid tanh erf exp softsign gelu "
        "binary_cross_entropy logsigmoid triplet_margin_loss margin_ranking_loss hinge_embedding_loss "
        "cosine_embedding_loss multi_margin_loss multilabel_margin_loss hardshrink softshrink"
    ),
    not_selected=(
        "max min amax amin maximum minimum where getitem gather index_select topk sort embedding "
        "masked_select masked_fill take setitem unbind split chunk max_pool2d median select narrow quantile "
        "nanquantile nanmedian fmax fmin kthvalue tril triu"
    ),
    zero_factor=(
        "mul matmul mm bmm linear einsum dot mv dropout prod div conv2d conv1d addmm imul truediv "
        "scaled_dot_product_attention"
    ),
    zero_cancels="softmax log_softmax layer_norm batch_norm group_norm instance_norm normalize std var sub",
)
