"""What ``tf`` offers: which module holds which name, and what minitape leaves out on purpose."""

from __future__ import annotations

from collections.abc import Iterable

# module of minitape -> the names that it gives to ``tf`` (see minitape.engine.namespace.places)
ROOT: dict[str, str] = {
    "engine.tensor": "Tensor",
    "engine.convert": "constant convert_to_tensor=converted register_tensor_conversion_function",
    "engine.variable": "Variable",
    "engine.distribution": "VariableAggregation VariableSynchronization",
    "engine.tape": "GradientTape",
    "engine.backward": "UnconnectedGradients",
    "engine.slices": "IndexedSlices",
    "tf.module": "Module",
    "tf.ragged.tensor": "RaggedTensor",
    "tf.ragged.spec": "RaggedTensorSpec",
    "tf.sparse.tensor": "SparseTensor SparseTensorSpec",
    "tf.sparse.sets": "edit_distance",
    "tf.random.permuted": "random_index_shuffle",
    "engine.shape": "TensorShape",
    "engine.dtypes": "DType as_dtype float16 half bfloat16 float32 float64 double int8 int16 int32 int64 uint8 uint16 uint32 "
              "uint64 bool complex64 complex128 string qint8 quint8 qint16 quint16 qint32 resource variant",
    "ops.elementwise": "abs acos acosh add asin asinh atan atan2 atanh cos cosh divide equal exp floor floordiv "
                       "greater greater_equal less less_equal logical_and logical_not logical_or maximum minimum "
                       "multiply neg=negative negative not_equal pow realdiv round scalar_mul sigmoid sign sin sinh "
                       "sqrt square subtract tan tanh truediv truncatediv truncatemod",
    "ops.complexes": "complex",
    "ops.reductions": "argmax argmin cumsum reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min "
                      "reduce_prod reduce_sum",
    "ops.counting": "histogram_fixed_width histogram_fixed_width_bins",
    "ops.sorting": "argsort searchsorted sort",
    "ops.clipping": "add_n clip_by_global_norm clip_by_norm clip_by_value",
    "tf.linalg.factors": "eig eigvals matrix_square_root=sqrtm",
    "tf.linalg.products": "einsum matmul norm tensordot",
    "ops.arrays": "broadcast_dynamic_shape broadcast_static_shape broadcast_to ensure_shape expand_dims identity "
                  "identity_n newaxis rank reshape shape shape_n size squeeze stop_gradient transpose",
    "ops.blocks": "batch_to_space space_to_batch space_to_batch_nd",
    "ops.casts": "bitcast cast saturate_cast",
    "ops.introspection": "get_static_value is_symbolic_tensor is_tensor make_ndarray make_tensor_proto",
    "tf.image.patches": "extract_volume_patches",
    "tf.strings.spelling": "as_string",
    "tf.initial": "constant_initializer=Constant ones_initializer=Ones random_normal_initializer=RandomNormal "
               "random_uniform_initializer=RandomUniform zeros_initializer=Zeros",
    "ops.filling": "eye fill linspace meshgrid one_hot ones ones_like range zeros zeros_like",
    "ops.indexing": "slice=slice_ strided_slice",
    "ops.joining": "concat pad parallel_stack repeat split stack tile unstack",
    "ops.picking": "boolean_mask dynamic_partition dynamic_stitch gather gather_nd sequence_mask unique "
                   "unique_with_counts unravel_index where",
    "ops.reversing": "reverse reverse_sequence roll",
    "ops.scatter": "scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub "
                   "tensor_scatter_nd_update",
    "ops.printing": "print=print_",
    "ops.assertions": "Assert assert_equal assert_greater assert_less assert_rank",
    "graphs.devices": "device get_logger timestamp",
    "engine.custom": "custom_gradient recompute_grad grad_pass_through",
    "engine.pyfunction": "py_function numpy_function",
    "engine.registry": "RegisterGradient no_gradient",
    "graphs.build": "Graph",
    "graphs.symbolic": "Operation",
    "graphs.session": "Session get_default_graph",
    "graphs.gradients": "gradients hessians",
    "graphs.scopes": "control_dependencies executing_eagerly get_current_name_scope init_scope inside_function name_scope",
    "graphs.gates": "group no_op tuple",
    "graphs.function": "function",
    "graphs.spec": "TensorSpec type_spec_from_value",
    "graphs.arrays": "TensorArray",
    "graphs.control": "case cond switch_case",
    "graphs.whiles": "while_loop",
    "graphs.mapping": "foldl foldr map_fn scan vectorized_map",
}  # fmt: skip

# what ``import minitape as tf`` offers beside, from rooms that stand above this one
ABOVE: dict[str, str] = {
    "keras": "keras= initializers losses metrics optimizers",
    "compat": "compat=",
    "compat.v1.collections": "initialize_all_variables",
    "compat.v1.legacy": "py_func",
    "explain": "explain=",
    "picture.drawing": "draw",
    "picture.snapshots": "snapshot",
}

# the modules that are namespaces of ``tf``, and in this room
NAMESPACES = (
    "autodiff autograph bitwise config data debugging dtypes errors experimental image io linalg lookup math nest nn "
    "python ragged random saved_model sets signal sparse strings summary test train types version"
).split()

# names of TensorFlow that minitape leaves out on purpose, and why
_ONE_MACHINE = "minitape runs in one process on one CPU"
_NO_FILES = "minitape writes no protocol buffers; tf.saved_model.save keeps functions with their variables"
_NOTHING_TO_LINK = "there is nothing to link against"
_NO_MESSAGES = "minitape reads and writes no protocol buffers; tf.data.TextLineDataset reads text"
_NO_MEDIA = "minitape knows no sound"
OUT_OF_SCOPE: dict[str, str] = {
    "distribute": _ONE_MACHINE,
    "tpu": _ONE_MACHINE,
    "xla": "numba compiles minitape's kernels, there is no XLA",
    "lite": _NO_FILES,
    "quantization": "minitape has no quantized types",
    "estimator": "gone from TensorFlow as well",
    "summary.audio": _NO_MEDIA,
    "summary.graph": "minitape.draw(tape) draws what was computed",
    "summary.trace_on": "use Python's own profilers",
    "summary.trace_export": "use Python's own profilers",
    "profiler": "use Python's own profilers",
    "raw_ops": "call the function itself, e.g. tf.add instead of tf.raw_ops.AddV2",
    "audio": _NO_MEDIA,
    "queue": "use Python's queue",
    "feature_column": "deprecated in TensorFlow as well",
    "mlir": "there is no compiler to look into",
    "sysconfig": _NOTHING_TO_LINK,
    "load_library": _NOTHING_TO_LINK,
    "load_op_library": "declare an operation with tf.custom_gradient or tf.py_function instead",
    "keras.utils.plot_model": "model.summary() tells of the layers; minitape.draw(tape) draws what was computed",
    "keras.callbacks.BackupAndRestore": "tf.train.CheckpointManager keeps the values of variables",
    "keras.mixed_precision": "a layer computes in the type of its weights",
    "keras.optimizers.legacy": "gone from Keras as well",
    "compat.v1.train.Saver": "tf.train.Checkpoint keeps the values of variables",
    "graph_util": _NO_FILES,
    "import_graph_def": _NO_FILES,
    "autograph.experimental.Feature": "what minitape converts it always converts",
    "experimental.ExtensionType": "write a class of your own; functions take its tensors",
    "experimental.BatchableExtensionType": "write a class of your own; functions take its tensors",
    "experimental.numpy": "the functions of tf and tf.math take NumPy arrays",
    "io.gfile": "use Python's os, glob and shutil",
    **dict.fromkeys(
        "config.LogicalDeviceConfiguration config.set_logical_device_configuration "
        "config.experimental.VirtualDeviceConfiguration config.experimental.set_virtual_device_configuration".split(),
        _ONE_MACHINE,
    ),
    **dict.fromkeys(
        "data.TFRecordDataset io.TFRecordWriter io.FixedLenFeature io.FixedLenSequenceFeature io.RaggedFeature io.SparseFeature "
        "io.VarLenFeature io.parse_example io.parse_single_example train.BytesList train.Example train.Feature train.Features "
        "train.FloatList train.Int64List".split(),
        _NO_MESSAGES,
    ),
    **dict.fromkeys(
        "keras.preprocessing.image keras.utils.array_to_img keras.utils.img_to_array keras.utils.load_img keras.utils.save_img "
        "keras.utils.image_dataset_from_directory".split(),
        "tf.io.decode_image reads an image; tf.data.Dataset.list_files lists them",
    ),
    **dict.fromkeys(
        "keras.utils.audio_dataset_from_directory".split(),
        _NO_MEDIA,
    ),
}


def missing(namespace: str, name: str, names: Iterable[str]) -> str:
    """The message for a name that is not there: the reason, or the nearest of ``names``.

    >>> missing("tf.math", "sine", ["sin", "sinh"])
    "minitape has no 'tf.math.sine' (did you mean 'tf.math.sin'?)"
    """
    reason = OUT_OF_SCOPE.get(f"{namespace}.{name}".removeprefix("tf."))
    if reason is None:
        import difflib

        near = difflib.get_close_matches(name, list(names), 1, 0.6)
        reason = f"did you mean '{namespace}.{near[0]}'?" if near else "it is not part of minitape"
    return f"minitape has no '{namespace}.{name}' ({reason})"
