"""The names of `tf.tf.nn`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.engine.tensor import (
    Tensor as _Tensor,
)
from minitape.ops.blocks import (
    depth_to_space as depth_to_space,
    space_to_depth as space_to_depth,
)
from minitape.ops.reductions import (
    zero_fraction as zero_fraction,
)
from minitape.ops.sorting import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    in_top_k as in_top_k,
    top_k as top_k,
)
from minitape.tf.linalg.products import (
    l2_normalize as l2_normalize,
)
from minitape.tf.nn.activations import (
    crelu as crelu,
    gelu as gelu,
    leaky_relu as leaky_relu,
    log_softmax as log_softmax,
    silu as silu,
    softmax as softmax,
)
from minitape.tf.nn.channels import (
    local_response_normalization as local_response_normalization,
    local_response_normalization as _lrn,
    max_pool_with_argmax as max_pool_with_argmax,
)
from minitape.tf.nn.convolution import (
    atrous_conv2d as atrous_conv2d,
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    conv1d as conv1d,
    conv2d as conv2d,
    convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    pool as pool,
    separable_conv2d as separable_conv2d,
)
from minitape.tf.nn.crossentropy import (
    compute_average_loss as compute_average_loss,
    l2_loss as l2_loss,
    log_poisson_loss as log_poisson_loss,
    scale_regularization_loss as scale_regularization_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from minitape.tf.nn.ctc import (
    collapse_repeated as collapse_repeated,
    ctc_greedy_decoder as ctc_greedy_decoder,
    ctc_loss as ctc_loss,
    ctc_unique_labels as ctc_unique_labels,
)
from minitape.tf.nn.embeddings import (
    embedding_lookup as embedding_lookup,
    embedding_lookup_sparse as embedding_lookup_sparse,
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from minitape.tf.nn.isotonic import (
    isotonic_regression as isotonic_regression,
)
from minitape.tf.nn.normalization import (
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    dropout as dropout,
    moments as moments,
    normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
)
from minitape.tf.nn.sampling import (
    nce_loss as nce_loss,
    sampled_softmax_loss as sampled_softmax_loss,
)
from minitape.tf.nn.transposed import (
    conv1d_transpose as conv1d_transpose,
    conv2d_transpose as conv2d_transpose,
    conv_transpose as conv_transpose,
)
from minitape.tf.nn.volumes import (
    avg_pool3d as avg_pool3d,
    conv3d as conv3d,
    conv3d_transpose as conv3d_transpose,
    max_pool3d as max_pool3d,
)
from minitape.tf.random.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    compute_accidental_hits as compute_accidental_hits,
)
def elu(features: _Any, name: _Any = None) -> _Tensor:
    """x where it is positive, else exp(x) - 1, elementwise."""

experimental: _Any
lrn = _lrn
def relu(features: _Any, name: _Any = None) -> _Tensor:
    """max(x, 0); the gradient at 0 is 0, elementwise."""

def relu6(features: _Any, name: _Any = None) -> _Tensor:
    """min(max(x, 0), 6); the gradient at 0 and at 6 is 0, elementwise."""

def selu(features: _Any, name: _Any = None) -> _Tensor:
    """1.0507 * (x where it is positive, else 1.6733 * (exp(x) - 1)), elementwise."""

def sigmoid(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / (1 + exp(-x))."""

def softplus(features: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: log(1 + exp(x)), without overflow."""

def softsign(features: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / (1 + abs(x)); has no second derivative (LookupError)."""

def space_to_batch(input: _Any, block_shape: _Any, paddings: _Any, name: _Any = None) -> _Tensor:
    """Makes a batch of each place in the blocks of ``block_shape`` that cover the axes after the first."""

def swish(features: _Any, beta: _Any = 1.0) -> _Tensor:
    """x * sigmoid(beta * x), also called swish. Differentiable in both."""

def tanh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic tangent."""

