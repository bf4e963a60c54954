"""``tf.compat.v1.math``: ``tf.math`` with the arguments of TensorFlow 1."""

from .respelled import namespace as _namespace

_REDUCTION = "axis keepdims name reduction_indices=axis keep_dims=keepdims"

__getattr__, __dir__ = _namespace("math", globals(), f"""
argmax            input axis name dimension=axis output_type
argmin            input axis name dimension=axis output_type
bincount          arr weights minlength maxlength dtype
confusion_matrix  labels predictions num_classes dtype name weights
count_nonzero     input_tensor=input axis keepdims dtype name reduction_indices=axis keep_dims=keepdims input
in_top_k          predictions targets k name
log_softmax       logits axis name dim=axis
reduce_all        input_tensor {_REDUCTION}
reduce_any        input_tensor {_REDUCTION}
reduce_logsumexp  input_tensor {_REDUCTION}
reduce_max        input_tensor {_REDUCTION}
reduce_mean       input_tensor {_REDUCTION}
reduce_min        input_tensor {_REDUCTION}
reduce_prod       input_tensor {_REDUCTION}
reduce_sum        input_tensor {_REDUCTION}
softmax           logits axis name dim=axis
""")
