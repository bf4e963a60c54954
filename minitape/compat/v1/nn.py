"""``tf.compat.v1.nn``: ``tf.nn`` with the arguments of TensorFlow 1."""

from .respelled import namespace as _namespace

_POOL = "value=input ksize strides padding data_format name input"
_TRANSPOSE = "value=input filter=filters output_shape strides padding data_format name input filters dilations"

__getattr__, __dir__ = _namespace("nn", globals(), f"""
avg_pool            {_POOL}
avg_pool2d          {_POOL}
conv1d              value=input filters stride padding use_cudnn_on_gpu- data_format name input dilations
conv2d              input filter=filters strides padding use_cudnn_on_gpu- data_format dilations name filters
conv2d_transpose    {_TRANSPOSE}
conv3d              input filter=filters strides padding data_format dilations name filters
conv3d_transpose    {_TRANSPOSE}
convolution         input filter=filters padding strides dilation_rate=dilations name data_format filters dilations
crelu               features name axis
depth_to_space      input block_size name data_format
depthwise_conv2d    input filter strides padding rate=dilations name data_format dilations
in_top_k            predictions targets k name
log_softmax         logits axis name dim=axis
max_pool            {_POOL}
moments             x axes shift name keep_dims=keepdims keepdims
pool                input window_shape pooling_type padding dilation_rate=dilations strides name data_format dilations
separable_conv2d    input depthwise_filter pointwise_filter strides padding rate=dilations name data_format dilations
softmax             logits axis name dim=axis
softmax_cross_entropy_with_logits_v2=softmax_cross_entropy_with_logits  labels logits axis name dim=axis
space_to_batch      input paddings block_size=block_shape name block_shape
space_to_depth      input block_size name data_format
sufficient_statistics                x axes shift keep_dims=keepdims name keepdims
weighted_cross_entropy_with_logits   labels logits pos_weight name targets=labels
weighted_moments                     x axes frequency_weights name keep_dims=keepdims keepdims
""", {
    "compat.v1.neural": "ctc_loss dropout embedding_lookup embedding_lookup_sparse fused_batch_norm "
                        "safe_embedding_lookup_sparse softmax_cross_entropy_with_logits xw_plus_b",
    "nn.ctc": "ctc_loss_v2=ctc_loss",
    "nn.convolution": "avg_pool_v2=avg_pool depthwise_conv2d_native=depthwise_conv2d max_pool_v2=max_pool",
}, without="gelu isotonic_regression nce_loss sampled_softmax_loss")
