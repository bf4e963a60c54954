"""``tf.compat.v1.sparse``: ``tf.sparse`` with the arguments of TensorFlow 1."""

from .respelled import namespace as _namespace

_REDUCTION = "sp_input axis keepdims reduction_axes=axis keep_dims=keepdims"
_SEGMENTS = "data indices segment_ids name num_segments sparse_gradient"

__getattr__, __dir__ = _namespace("sparse", globals(), f"""
add             a b threshold thresh=threshold
concat          axis sp_inputs name expand_nonconcat_dim=expand_nonconcat_dims concat_dim=axis expand_nonconcat_dims
reduce_max      {_REDUCTION}
reduce_sum      {_REDUCTION}
segment_mean    {_SEGMENTS}
segment_sqrt_n  {_SEGMENTS}
segment_sum     {_SEGMENTS}
split           keyword_required! sp_input num_split axis name split_dim=axis
""", {"sparse.arithmetic": "matmul=sparse_dense_matmul", "compat.v1.composites": "placeholder=sparse_placeholder"}, without="map_values")
