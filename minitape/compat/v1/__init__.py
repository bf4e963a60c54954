"""``tf.compat.v1``: graphs, sessions and the function names of TensorFlow 1, beside everything that ``tf`` has.

>>> import minitape.compat.v1 as tf
>>> with tf.Graph().as_default():
...     x = tf.placeholder(tf.float32)
...     with tf.Session() as session:
...         print(session.run(tf.log(x), {x: 1.0}))
0.0
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME: dict[str, str] = {
    "minitape.graphs.session": "IndexedSlicesValue InteractiveSession Session get_default_graph get_default_session "
                               "gradients placeholder placeholder_with_default reset_default_graph",
    "minitape.graphs.build": "Graph",
    "minitape.graphs.symbolic": "Operation",
    "minitape.graphs.variables": "group no_op",
    "minitape.compat.v1.legacy": "ConfigProto GPUOptions GraphKeys RunOptions add_to_collection all_variables assign "
                                 "assign_add assign_sub assert_equal container disable_eager_execution "
                                 "disable_v2_behavior "
                                 "enable_eager_execution enable_v2_behavior executing_eagerly_outside_functions "
                                 "get_collection "
                                 "global_variables global_variables_initializer initialize_all_variables "
                                 "local_variables local_variables_initializer name_scope py_func set_random_seed "
                                 "tables_initializer "
                                 "to_double to_float to_int32 to_int64 trainable_variables "
                                 "variables_initializer where",
    "minitape.compat.v1.variables": "AUTO_REUSE get_variable get_variable_scope variable_scope",
    "minitape.compat.v1.initializers": "constant_initializer glorot_normal_initializer glorot_uniform_initializer "
                                       "ones_initializer random_normal_initializer random_uniform_initializer "
                                       "truncated_normal_initializer zeros_initializer",
}  # fmt: skip
_RENAMED = {  # names of TensorFlow 1 -> names of tf
    "arg_max": "argmax",
    "arg_min": "argmin",
    "ceil": "math.ceil",
    "count_nonzero": "math.count_nonzero",
    "diag": "linalg.tensor_diag",
    "diag_part": "linalg.tensor_diag_part",
    "digamma": "math.digamma",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "floor_div": "math.floordiv",
    "floordiv": "math.floordiv",
    "floormod": "math.floormod",
    "invert_permutation": "math.invert_permutation",
    "is_finite": "math.is_finite",
    "is_inf": "math.is_inf",
    "is_nan": "math.is_nan",
    "lgamma": "math.lgamma",
    "log": "math.log",
    "log1p": "math.log1p",
    "log_sigmoid": "math.log_sigmoid",
    "logical_xor": "math.logical_xor",
    "matrix_determinant": "linalg.det",
    "matrix_inverse": "linalg.inv",
    "matrix_solve": "linalg.solve",
    "matrix_transpose": "linalg.matrix_transpose",
    "mod": "math.floormod",
    "random_normal": "random.normal",
    "random_uniform": "random.uniform",
    "random_shuffle": "random.shuffle",
    "truncated_normal": "random.truncated_normal",
    "multinomial": "random.categorical",
    "reciprocal": "math.reciprocal",
    "rint": "math.rint",
    "rsqrt": "math.rsqrt",
    "segment_max": "math.segment_max",
    "segment_mean": "math.segment_mean",
    "segment_min": "math.segment_min",
    "segment_sum": "math.segment_sum",
    "squared_difference": "math.squared_difference",
    "svd": "linalg.svd",
    "trace": "linalg.trace",
    "unsorted_segment_sum": "math.unsorted_segment_sum",
    "xlogy": "math.xlogy",
    "sparse_tensor_to_dense": "sparse.to_dense",
    "sparse_to_dense": "sparse.to_dense",
    "string_join": "strings.join",
    "cholesky": "linalg.cholesky",
    "setdiff1d": "sets.difference",
    "cross": "linalg.cross",
    "polygamma": "math.polygamma",
    "angle": "math.angle",
    "conj": "math.conj",
    "imag": "math.imag",
    "real": "math.real",
    "batch_to_space": "batch_to_space",
    "bincount": "math.bincount",
    "cumprod": "math.cumprod",
    "is_non_decreasing": "math.is_non_decreasing",
    "log_softmax": "nn.log_softmax",
    "manip": "roll",
}
_HOMES = {name: module for module, names in _HOME.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _find(name)


def _find(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name == "train":
        return importlib.import_module("minitape.compat.v1.train")
    import minitape as tf

    found: Any = tf
    try:
        for part in _RENAMED.get(name, name).split("."):
            found = getattr(found, part)
    except AttributeError:
        from ...api import missing

        raise AttributeError(missing("tf.compat.v1", name, __dir__())) from None
    return found


def __dir__() -> list[str]:
    import minitape as tf

    return sorted({*_HOMES, *_RENAMED, "train", *dir(tf)})
