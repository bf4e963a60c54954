"""Group PyTorch's operations by how they make adjoints zero."""

from ...explain.operation_families import map_zero_causes_to_ops

STEP_OPS = set("round floor ceil sign sgn trunc fix heaviside frac_ floor_divide".split())
SAMPLING_OPS = {"bernoulli", "poisson", "normal", "binomial", "multinomial"}
RELU_OPS = set("relu relu6 threshold hardtanh hardswish hardsigmoid clamp clip clamp_min clamp_max".split())
CLAMP_OPS = set("clamp clip clamp_min clamp_max hardtanh relu6 hardsigmoid".split())
SATURATING_OPS = set(
    (
        "sigmoid tanh erf exp softsign gelu binary_cross_entropy logsigmoid triplet_margin_loss "
        "margin_ranking_loss hinge_embedding_loss cosine_embedding_loss multi_margin_loss "
        "multilabel_margin_loss hardshrink softshrink"
    ).split()
)
SELECTION_OPS = set(
    (
        "max min amax amin maximum minimum where getitem gather index_select topk sort embedding "
        "masked_select masked_fill take setitem unbind split chunk max_pool2d median select narrow quantile "
        "nanquantile nanmedian fmax fmin kthvalue tril triu"
    ).split()
)
PRODUCT_OPS = set(
    (
        "mul matmul mm bmm linear einsum dot mv dropout prod div conv2d conv1d addmm imul truediv "
        "scaled_dot_product_attention"
    ).split()
)
CLASS_LOSS_OPS = {"cross_entropy"}
CANCELLING_OPS = set("softmax log_softmax layer_norm batch_norm group_norm instance_norm normalize std var sub".split())
ZERO_MECHANISMS = map_zero_causes_to_ops(
    STEP_OPS | SAMPLING_OPS,
    RELU_OPS - CLAMP_OPS,
    CLAMP_OPS | SATURATING_OPS,
    SELECTION_OPS,
    PRODUCT_OPS,
    CANCELLING_OPS,
)
