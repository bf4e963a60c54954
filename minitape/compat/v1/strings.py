"""``tf.compat.v1.strings``: ``tf.strings`` with the arguments of TensorFlow 1."""

from .respelled import namespace as _namespace

__getattr__, __dir__ = _namespace("strings", globals(), """
length          input name unit
reduce_join     inputs axis keep_dims=keepdims separator name reduction_indices=axis keepdims
substr          input pos len name unit
to_hash_bucket  string_tensor=input num_buckets name input
to_number       string_tensor=input out_type name input
""", {"compat.v1.neural": "split"})
