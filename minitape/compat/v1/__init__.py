"""``tf.compat.v1``: graphs, sessions and the function names of TensorFlow 1, beside what it shares with ``tf``.

>>> import minitape.compat.v1 as tf
>>> with tf.Graph().as_default():
...     x = tf.placeholder(tf.float32)
...     with tf.Session() as session:
...         session.run(tf.log(x), {x: 1.0})
np.float32(0.0)
"""

from ...engine.namespace import lazy as _lazy
from ...engine.namespace import places as _places
from ...tf.api import ABOVE as _ABOVE
from ...tf.api import NAMESPACES as _NAMESPACES
from ...tf.api import ROOT as _ROOT
from ...tf.version import VERSION as __version__  # noqa: F401 - programs print it

# not in TensorFlow 1, or something else there
_ONLY_TF = (
    "autodiff draw eig eigvals explain get_current_name_scope inside_function losses metrics neg optimizers python "
    "snapshot"
).split()
_SHARED = {
    name: place
    for name, place in {**_places(_ROOT), **_places(_ABOVE), **{name: (f"tf.{name}", "") for name in _NAMESPACES}}.items()
    if name not in _ONLY_TF
}

__getattr__, __dir__ = _lazy("tf.compat.v1", {
    "compat.v1.debugging": "debugging= assert_greater_equal assert_less_equal assert_near assert_negative assert_non_negative "
                           "assert_non_positive assert_none_equal assert_positive assert_rank_at_least assert_rank_in "
                           "assert_equal assert_greater assert_less assert_rank assert_scalar",
    "compat.v1.initializers": "initializers=",
    "compat.v1.linalg": "linalg= norm",
    "compat.v1.math": "math= argmax argmin bincount confusion_matrix count_nonzero reduce_all reduce_any reduce_logsumexp "
                      "reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
    "compat.v1.nn": "nn= depth_to_space space_to_depth",
    "compat.v1.composites": "convert_to_tensor_or_sparse_tensor sparse_placeholder sparse_to_dense",
    "compat.v1.ragged": "ragged=",
    "compat.v1.random": "random= random_poisson=poisson",
    "compat.v1.sparse": "sparse= sparse_add=add sparse_concat=concat sparse_reduce_max=reduce_max sparse_reduce_sum=reduce_sum "
                        "sparse_segment_mean=segment_mean sparse_segment_sqrt_n=segment_sqrt_n "
                        "sparse_segment_sum=segment_sum sparse_split=split",
    "compat.v1.strings": "strings= reduce_join string_to_hash_bucket=to_hash_bucket string_to_number=to_number substr",
    "compat.v1.arguments": "arg_max arg_min boolean_mask convert_to_tensor expand_dims gather gather_nd hessians "
                           "ones_like pad reverse_sequence shape size squeeze transpose tuple zeros_like",
    "compat.v1.train": "train=",
    "compat.v1.logging": "logging=",
    "compat.v1.losses": "losses=",
    "compat.v1.test": "test=",
    "compat.v1.control": "cond gradients while_loop",
    "graphs.session": "InteractiveSession Session get_default_graph get_default_session placeholder "
                      "placeholder_with_default reset_default_graph",
    "compat.v1.collections": "GraphKeys add_to_collection all_variables assign assign_add assign_sub get_collection "
                             "global_variables global_variables_initializer initialize_all_variables local_variables "
                             "local_variables_initializer tables_initializer trainable_variables variables_initializer",
    "graphs.options": "ConfigProto GPUOptions RunOptions",
    "compat.v1.legacy": "batch_gather batch_to_space clip_by_average_norm container "
                        "disable_eager_execution "
                        "disable_v2_behavior enable_eager_execution enable_v2_behavior "
                        "executing_eagerly_outside_functions constant multinomial name_scope op_scope py_func "
                        "set_random_seed setdiff1d space_to_batch to_double to_float to_int32 to_int64 where",
    "compat.v1.state": "batch_scatter_update count_up_to div is_variable_initialized report_uninitialized_variables "
                       "scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub "
                       "scatter_nd_update scatter_sub scatter_update",
    "compat.v1.variables": "AUTO_REUSE get_variable get_variable_scope variable_scope",
    "compat.v1.initial": "constant_initializer glorot_normal_initializer glorot_uniform_initializer ones_initializer "
                         "orthogonal_initializer random_normal_initializer random_uniform_initializer "
                         "truncated_normal_initializer uniform_unit_scaling_initializer variance_scaling_initializer "
                         "zeros_initializer",
    "tf.debugging": "assert_integer assert_proper_iterable assert_same_float_dtype assert_type check_numerics",
    "engine.dimension": "Dimension dimension_at_index dimension_value",
    "ops.elementwise": "betainc ceil digamma div_no_nan=divide_no_nan expm1 igamma igammac lbeta zeta "
                       "erf erfc floor_div=floordiv floordiv floormod is_finite is_inf is_nan lgamma log "
                       "log1p log_sigmoid logical_xor mod polygamma reciprocal rint rsqrt squared_difference",
    "ops.complexes": "angle conj imag real",
    "ops.reductions": "cumprod",
    "ops.clipping": "accumulate_n global_norm",
    "ops.filling": "lin_space=linspace",
    "ops.blocks": "batch_to_space_nd=batch_to_space",
    "tf.sparse.tensor": "SparseTensorValue",
    "ops.reversing": "reverse_v2=reverse",
    "ops.scatter": "tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_sub=tensor_scatter_nd_sub "
                   "tensor_scatter_update=tensor_scatter_nd_update",
    "ops.sorting": "invert_permutation is_non_decreasing is_strictly_increasing segment_max segment_mean "
                   "segment_min segment_prod segment_sum unsorted_segment_max unsorted_segment_mean "
                   "unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum",
    "tf.linalg.decompositions": "matrix_solve_ls=lstsq cholesky cholesky_solve cross diag=tensor_diag diag_part=tensor_diag_part "
                             "matrix_band_part=band_part matrix_determinant=det matrix_diag=diag "
                             "matrix_diag_part=diag_part matrix_inverse=inv matrix_set_diag=set_diag "
                             "matrix_solve=solve matrix_transpose matrix_triangular_solve=triangular_solve qr "
                             "self_adjoint_eig=eigh self_adjoint_eigvals=eigvalsh svd trace",
    "tf.signal.fourier": "fft fft2d fft3d ifft ifft2d ifft3d",
    "tf.random.stateful": "random_gamma=gamma random_normal=normal random_shuffle=shuffle random_uniform=uniform truncated_normal",
    "tf.sparse.arithmetic": "sparse_maximum=maximum sparse_minimum=minimum sparse_softmax=softmax "
                         "sparse_tensor_dense_matmul=sparse_dense_matmul",
    "tf.sparse.functions": "sparse_fill_empty_rows=fill_empty_rows sparse_mask=mask sparse_reorder=reorder "
                        "sparse_reset_shape=reset_shape sparse_reshape=reshape sparse_retain=retain sparse_slice=slice "
                        "sparse_tensor_to_dense=to_dense sparse_to_indicator=to_indicator sparse_transpose=transpose",
    "tf.strings.encoding": "decode_base64 decode_raw encode_base64",
    "tf.strings.joining": "string_join=join",
    "tf.strings.matching": "regex_replace string_to_hash_bucket_fast=to_hash_bucket_fast "
                        "string_to_hash_bucket_strong=to_hash_bucket_strong",
    "tf.strings.pieces": "string_strip=strip",
}, globals(), _SHARED)  # fmt: skip
