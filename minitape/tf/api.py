"""What ``tf`` offers: which module holds which name, and what is said of a name that is not there."""

from __future__ import annotations

from functools import cache
from pathlib import Path

# module of minitape -> the names that it gives to ``tf`` (see minitape.tf.namespace.places)
ROOT: dict[str, str] = {
    "engine.tensor.tensor": "Tensor",
    "engine.tensor.convert": "constant convert_to_tensor",
    "engine.tensor.variable": "Variable",
    "engine.back.tape": "GradientTape",
    "engine.back.endpoints": "UnconnectedGradients",
    "tf.module": "Module",
    "tf.ragged": "RaggedTensor",
    "tf.sparse": "SparseTensor",
    "engine.values.shape": "TensorShape",
    "engine.values.dtypes": "DType as_dtype float16 half bfloat16 float32 float64 double int8 int16 int32 int64 uint8 "
    "uint16 uint32 uint64 bool complex64 complex128 string",
    "ops.elementwise": "abs acos acosh add asin asinh atan atan2 atanh cos cosh divide equal exp floor floordiv "
    "greater greater_equal less less_equal logical_and logical_not maximum minimum multiply "
    "neg=negative negative not_equal pow realdiv round sigmoid sign sin sinh sqrt square "
    "subtract tan tanh",
    "ops.casts": "cast saturate_cast",
    "ops.reductions": "argmax argmin cumsum reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod "
    "reduce_sum",
    "ops.sorting": "argsort sort",
    "ops.clipping": "add_n clip_by_value",
    "tf.linalg.products": "matmul norm tensordot",
    "ops.arrays": "expand_dims identity newaxis rank reshape shape size squeeze stop_gradient transpose",
    "ops.filling": "eye fill linspace meshgrid one_hot ones ones_like range zeros zeros_like",
    "ops.joining": "concat pad repeat split stack tile unstack",
    "ops.picking": "boolean_mask gather gather_nd tensor_scatter_nd_add tensor_scatter_nd_max "
    "tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update unique where",
    "ops.printing": "print=print_",
    "functions.deferred": "gradients Graph RegisterGradient Operation=Deferred get_default_graph "
    "initialize_all_variables Session",
    "engine.derivatives.custom": "custom_gradient recompute_grad grad_pass_through",
    "engine.derivatives.pyfunction": "py_function numpy_function",
    "functions.settings": "executing_eagerly get_logger init_scope",
    "functions.function": "function",
    "functions.spec": "TensorSpec",
    "functions.control": "cond while_loop",
}

# further names of ``import minitape as tf``, from packages above this one
ABOVE: dict[str, str] = {
    "keras": "keras=",
    "compat": "compat=",
    "compat.v1.legacy": "py_func",
    "explain": "explain=",
    "picture.drawing": "draw",
    "picture.snapshots": "snapshot",
}

# the modules that are namespaces of ``tf``, and in this room
NAMESPACES = (
    "autodiff autograph config dtypes errors linalg math nest nn python ragged random sparse strings test version"
).split()


def missing(namespace: str, name: str, asked: object) -> AttributeError:
    """The error for a name that ``asked`` does not have, which is ``namespace``: a module, a class, or an object of the
    class.

    It says where to go with a name of TensorFlow. For any other name it is Python's own, which suggests the nearest.

    >>> import minitape as tf
    >>> print(missing("tf", "image", tf))
    tf.image is not in minitape, a tape to learn from. To see and explain a program that uses it, watch the program
    itself: \
minitape.bridges.tensorflow (docs/explain.md).
    >>> print(missing("tf.math", "sine", tf.math))
    module 'minitape.math' has no attribute 'sine'
    """
    if is_of_tensorflow(namespace, name):
        return AttributeError(not_here(f"{namespace}.{name}"), name=name)  # without ``obj`` Python suggests nothing
    what = f"module {namespace.replace('tf', 'minitape', 1)!r}"
    if isinstance(asked, type):
        what = f"type object {asked.__name__!r}"
    elif namespace.endswith(type(asked).__name__):
        what = f"{type(asked).__name__!r} object"
    return AttributeError(f"{what} has no attribute {name!r}", name=name, obj=asked)


def not_here(name: str) -> str:
    """What is said of something of TensorFlow's that minitape does not have."""
    return (
        f"{name} is not in minitape, a tape to learn from. To see and explain a program that uses it, watch the "
        "program "
        "itself: minitape.bridges.tensorflow (docs/explain.md)."
    )


def is_of_tensorflow(namespace: str, name: str) -> bool:
    """True for a public name of TensorFlow, of a namespace that minitape has, too."""
    return name in _names_of_tensorflow().get(namespace, ())


@cache
def _names_of_tensorflow() -> dict[str, set[str]]:
    """TensorFlow's public names by namespace or class, as tests/repository/make_tensorflow_names.py lists them."""
    lines = Path(__file__).with_name("tensorflow_names.txt").read_text(encoding="utf-8").splitlines()
    return {space.partition("(")[0]: set(found.split()) for space, _, found in (line.partition(": ") for line in lines)}
