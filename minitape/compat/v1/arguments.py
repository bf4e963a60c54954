"""Functions of ``tf.compat.v1`` itself that take the arguments of TensorFlow 1."""

from .respelled import respelled as _respelled

_DATA = "data! summarize message name"

globals().update(_respelled("", f"""
assert_greater    x y {_DATA}
assert_less       x y {_DATA}
assert_rank       x rank data! summarize- message name
boolean_mask      tensor mask name axis
convert_to_tensor value dtype name preferred_dtype=dtype_hint dtype_hint
expand_dims       input axis name dim=axis
gather            params indices validate_indices name axis batch_dims
gather_nd         params indices name batch_dims bad_indices_policy
hessians          ys xs name colocate_gradients_with_ops- gate_gradients aggregation_method
norm              tensor ord axis keepdims name keep_dims=keepdims
ones_like         tensor=input dtype name optimize-
pad               tensor paddings mode name constant_values
reverse_sequence  input seq_lengths seq_axis batch_axis name seq_dim=seq_axis batch_dim=batch_axis
shape             input name out_type
size              input name out_type
squeeze           input axis name squeeze_dims=axis
transpose         a perm name conjugate
tuple             tensors name control_inputs
zeros_like        tensor=input dtype name optimize-
""", __name__))  # fmt: skip
globals().update(_respelled("math", """
arg_max=argmax    input dimension=axis output_type name
arg_min=argmin    input dimension=axis output_type name
""", __name__))  # fmt: skip
