"""Which module holds which public name: ``tf.NAME`` is looked up here and its module loaded on first use.

``ROOT`` maps a module of minitape to the names that it gives to ``tf``; ``NAMESPACES`` lists the modules that are
themselves names of ``tf`` (``tf.math``, ``tf.nn``, ...).
"""

from __future__ import annotations

import difflib
import importlib
from typing import Any

ROOT: dict[str, str] = {
    "tensor": "Tensor",
    "convert": "constant convert_to_tensor register_tensor_conversion_function",
    "variable": "Variable",
    "distribution": "VariableAggregation VariableSynchronization",
    "tape": "GradientTape UnconnectedGradients",
    "slices": "IndexedSlices",
    "module": "Module",
    "ragged": "RaggedTensor RaggedTensorSpec",
    "sparse": "SparseTensor SparseTensorSpec",
    "shape": "TensorShape",
    "dtypes": "DType as_dtype float16 half bfloat16 float32 float64 double int8 int16 int32 int64 uint8 uint16 uint32 "
              "uint64 bool complex64 complex128 string qint8 quint8 qint16 quint16 qint32 resource variant",
    "elementwise": "abs acos acosh add asin asinh atan atan2 atanh cos cosh divide equal exp floor greater "
                   "greater_equal less less_equal logical_and logical_not logical_or maximum minimum multiply negative "
                   "not_equal pow realdiv round scalar_mul sigmoid sign sin sinh sqrt square subtract tan tanh truediv "
                   "truncatediv truncatemod",
    "complexes": "complex",
    "reductions": "argmax argmin cumsum reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod "
                  "reduce_sum",
    "sorting": "argsort histogram_fixed_width histogram_fixed_width_bins searchsorted sort",
    "clipping": "add_n clip_by_global_norm clip_by_norm clip_by_value",
    "products": "einsum matmul norm tensordot",
    "arrays": "bitcast broadcast_dynamic_shape broadcast_static_shape broadcast_to cast ensure_shape expand_dims identity "
              "identity_n newaxis rank reshape reverse reverse_sequence roll saturate_cast shape shape_n size squeeze "
              "stop_gradient transpose",
    "introspection": "get_static_value is_symbolic_tensor is_tensor make_ndarray make_tensor_proto",
    "keras": "initializers losses metrics optimizers",
    "strings": "as_string",
    "initial": "constant_initializer=Constant ones_initializer=Ones random_normal_initializer=RandomNormal "
               "random_uniform_initializer=RandomUniform zeros_initializer=Zeros",
    "filling": "eye fill linspace meshgrid one_hot ones ones_like range zeros zeros_like",
    "indexing": "slice=slice_ strided_slice",
    "joining": "concat pad parallel_stack repeat split stack tile unstack",
    "picking": "boolean_mask dynamic_partition dynamic_stitch gather gather_nd sequence_mask unique unique_with_counts "
               "unravel_index where",
    "scatter": "scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub "
               "tensor_scatter_nd_update",
    "printing": "print=print_",
    "debugging": "Assert assert_equal assert_greater assert_less assert_rank",
    "devices": "device get_logger timestamp tuple",
    "custom": "custom_gradient recompute_grad grad_pass_through",
    "pyfunction": "py_function numpy_function",
    "registry": "RegisterGradient no_gradient",
    "graphs.build": "Graph",
    "graphs.symbolic": "Operation",
    "graphs.session": "gradients hessians",
    "graphs.scopes": "control_dependencies executing_eagerly init_scope inside_function name_scope",
    "graphs.variables": "group no_op",
    "graphs.function": "function",
    "graphs.spec": "TensorSpec",
    "graphs.arrays": "TensorArray",
    "graphs.control": "case cond switch_case while_loop",
    "graphs.mapping": "foldl foldr map_fn scan vectorized_map",
    "compat.v1": "Session get_default_graph py_func initialize_all_variables floordiv neg=negative",
    "picture": "draw",
    "snapshots": "snapshot",
}  # fmt: skip

NAMESPACES = "explain train experimental test image io strings ragged sparse data keras autograph compat config python bitwise debugging autodiff linalg math nn random dtypes errors nest".split()

# names of TensorFlow that minitape leaves out on purpose, and why
_ONE_MACHINE = "minitape runs in one process on one CPU"
_NO_FILES = "minitape saves no graphs; tf.train.Checkpoint keeps the values of variables"
OUT_OF_SCOPE: dict[str, str] = {
    "distribute": _ONE_MACHINE, "tpu": _ONE_MACHINE, "xla": "numba compiles minitape's kernels, there is no XLA",
    "saved_model": _NO_FILES,     "lite": _NO_FILES, "quantization": "minitape has no quantized types", "estimator": "gone from TensorFlow as well",
    "summary": "minitape writes no event files; minitape.draw(tape) and minitape_widgets.TapeView show a tape",
    "profiler": "use Python's own profilers", "raw_ops": "call the "
    "function itself, e.g. tf.add instead of tf.raw_ops.AddV2", "signal": "use numpy.fft; it is not differentiable there",
    "audio": "minitape reads no media", "lookup": "use a Python dictionary", "queue": "use Python's queue",
    "feature_column": "deprecated in TensorFlow as well", "mlir": "there is no compiler to look into",
    "sysconfig": "there is nothing to link against", "load_library": "there is nothing to link against",
    "load_op_library": "declare an operation with tf.custom_gradient or tf.py_function instead",
    "keras.applications": "minitape brings no trained models", "keras.datasets": "minitape loads nothing from the network",
}  # fmt: skip

_HOME = {name.split("=")[0]: module for module, names in ROOT.items() for name in names.split()}
_ALIAS = dict(name.split("=") for names in ROOT.values() for name in names.split() if "=" in name)  # public=module's


def find(name: str) -> Any:
    """The object behind ``tf.NAME``; AttributeError with the nearest name, or the reason why there is none."""
    if name in _HOME:
        module = importlib.import_module(f"minitape.{_HOME[name]}")
        return getattr(module, _ALIAS.get(name, name))
    if name in NAMESPACES:
        return importlib.import_module(f"minitape.{name}")
    raise AttributeError(missing("tf", name, [*_HOME, *NAMESPACES]))


def missing(namespace: str, name: str, names: Any) -> str:
    """The message for a name that is not there."""
    reason = OUT_OF_SCOPE.get(f"{namespace}.{name}".removeprefix("tf."))
    if reason is None:
        near = difflib.get_close_matches(name, list(names), 1, 0.6)
        reason = f"did you mean '{namespace}.{near[0]}'?" if near else "it is not part of minitape"
    return f"minitape has no '{namespace}.{name}' ({reason})"


def names() -> list[str]:
    """Every public name of ``tf``."""
    return sorted({*_HOME, *NAMESPACES})
