"""List the public names of ``tf`` and its namespaces, with the modules that define them.

A namespace such as ``minitape.math`` or ``minitape.keras.layers`` is an entry in the table ``NAMES``, not a file. The
entry becomes a module on its first import. Editors read a stub with the same path (``minitape/math.pyi``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from ..common.api_suggestions import build_attribute_error, list_closest_name_if_any
from ..common.lazy_names import load_minitape_object, parse_name_table
from ..engine.types import Object, TextPair, TextsByName
from ..functions.traced_calls import wrap_for_first_runs

_SHARED_NAMES = (  # These names are in both tf and tf.math.
    "abs acos acosh add asin asinh atan atan2 atanh cos cosh divide equal exp floor floordiv greater greater_equal "
    "less less_equal logical_and logical_not maximum minimum multiply negative not_equal pow round sigmoid sign sin "
    "sinh sqrt square subtract tan tanh"
)
_REDUCTIONS = "add_n argmax argmin reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_sum"
_TF = {
    "engine.tensor.tensor": "Tensor",
    "engine.tensor.conversion": "constant convert_to_tensor",
    "engine.tensor.variable": "Variable=ResourceVariable",
    "engine.backward.tape": "GradientTape",
    "engine.backward.targets_and_sources": "UnconnectedGradients",
    "engine.values.shape": "TensorShape",
    "engine.values.dtypes": "DType bool complex64 complex128 float16 float32 float64 int8 int16 int32 int64 "
    "string uint8 uint16 uint32 uint64",
    "engine.derivatives.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "engine.derivatives.py_function": "numpy_function py_function",
    "functions.function": "function",
    "functions.control_flow": "cond while_loop",
    "functions.tensor_spec": "TensorSpec",
    "functions.settings": "executing_eagerly get_logger init_scope",
    "functions.tf1_graph": "Graph RegisterGradient Session get_default_graph gradients initialize_all_variables",
    "tf.elementwise": f"{_SHARED_NAMES} cast clip_by_value neg=negative where",
    "tf.array_functions": "concat expand_dims identity meshgrid newaxis pad rank repeat reshape shape size split "
    "squeeze stack stop_gradient tile transpose unstack",
    "tf.indexing": "boolean_mask gather gather_nd tensor_scatter_nd_update unique",
    "tf.creation": "eye fill linspace one_hot ones ones_like range zeros zeros_like",
    "tf.reductions": f"{_REDUCTIONS} argsort sort",
    "tf.products": "matmul norm tensordot",
    "tf.module": "Module",
    "tf.composites": "RaggedTensor SparseTensor",
    "tf.printing": "print=print_",
    "tf.tensorflow1": "py_func",
}
_TOP_LEVEL_NAMES = {"picture.drawing": "draw", "picture.snapshots": "snapshot", "explain": "explain="}

# Each namespace has a table that maps minitape's modules to their public names.
# The function minitape.common.lazy_names.parse_name_table reads the table.
NAMES: dict[str, TextsByName] = {
    "": {**_TF, **_TOP_LEVEL_NAMES},
    "math": {
        "tf.elementwise": f"{_SHARED_NAMES} ceil conj divide_no_nan expm1 floormod log log1p real reciprocal rint "
        "rsqrt softplus",
        "tf.reductions": f"{_REDUCTIONS} count_nonzero reduce_std reduce_variance top_k",
        "tf.products": "l2_normalize",
        "tf.nn": "log_softmax softmax",
    },
    "nn": {
        "tf.nn": "leaky_relu log_softmax moments relu sigmoid_cross_entropy_with_logits softmax "
        "softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits",
        "tf.elementwise": "sigmoid softplus tanh",
        "tf.products": "l2_normalize",
    },
    "linalg": {"tf.products": "det diag diag_part inv l2_normalize matvec solve trace"},
    "random": {"tf.random": "normal set_seed uniform"},
    "strings": {"tf.strings": "length substr"},
    "ragged": {"tf.composites": "constant=ragged_constant"},
    "sparse": {"tf.composites": "sparse_dense_matmul to_dense"},
    "nest": {"engine.values.nest": "flatten map_structure pack_sequence_as"},
    "errors": {"engine.values.errors": "InvalidArgumentError OpError UnimplementedError UnknownError"},
    "autodiff": {"engine.derivatives.forward_mode": "ForwardAccumulator"},
    "test": {"gradient_check": "compute_gradient"},
    "config": {"functions.settings": "run_functions_eagerly"},
    "keras": {"tf.keras": "Sequential"},
    "keras.layers": {"tf.keras": "Dense Layer"},
    "keras.losses": {"tf.keras": "MAE=mean_absolute_error MSE=mean_squared_error MeanAbsoluteError MeanSquaredError"},
    "keras.optimizers": {"tf.keras": "Adam SGD"},
    "keras.callbacks": {},  # One of the documents imports this namespace but uses none of its names.
    "compat": {},
    "compat.v1": {
        **_TF,
        "functions.tf1_graph": f"{_TF['functions.tf1_graph']} global_variables_initializer=initialize_all_variables "
        "placeholder",
        "tf.tensorflow1": "assign get_variable name_scope op_scope py_func",
    },
    # The documents import these modules from TensorFlow's private package.
    "python": {},
    "python.framework": {},
    "python.framework.ops": {
        "functions.tf1_graph": "Graph RegisterGradient get_default_graph",
        "tf.tensorflow1": "name_scope op_scope",
    },
}
# These packages are built on tf. They are not listed among the names of tf and are imported on first use.
TOOLS = ("bridges", "cli", "course", "gradient_check")

# Public functions behave differently while a function is traced or a TensorFlow 1 graph is built, so each is wrapped.
_wrap: Callable[[str, Object], Object] = wrap_for_first_runs


def describe_missing_name(name: str, is_misspelled: bool = False) -> str:
    """Return the error message for a name that minitape does not have.

    Args:
        name: The name without "tf.", such as "image.resize".
        is_misspelled: Whether a similar name exists. Python adds it to the message, so no other advice is given.

    Returns:
        One or two sentences without a final full stop.

    >>> describe_missing_name("image.resize")
    'minitape has no tf.image.resize, because it has only the TensorFlow names that its lessons use. To see and \
explain a program with other names, run it in TensorFlow and record it with minitape.bridges.tensorflow'
    """
    from ..common.translation import say

    if is_misspelled:
        return say("minitape has no tf.{name}", "explain", name=name)
    return say(
        "minitape has no tf.{name}, because it has only the TensorFlow names that its lessons use. To see and explain "
        "a program with other names, run it in TensorFlow and record it with minitape.bridges.tensorflow",
        "explain",
        name=name,
    )


def map_names_to_defining_modules(namespace: str) -> dict[str, TextPair]:
    """Find the module that defines each name in a namespace, including nested namespaces.

    Args:
        namespace: The namespace without "tf.", such as "keras.layers", or "" for ``tf`` itself.

    Returns:
        A dictionary that maps each public name to a pair: the module below ``minitape``, and the name in that module.
        For a nested namespace, the second item is "".
    """
    inner_namespaces = {
        inner_namespace.rpartition(".")[2]: inner_namespace
        for inner_namespace in NAMES
        if inner_namespace and inner_namespace.rpartition(".")[0] == namespace
    }
    if namespace == "compat.v1":
        inner_namespaces |= {name: name for name in ("linalg", "math", "nn", "random")}
    return parse_name_table(NAMES[namespace]) | {name: (path, "") for name, path in inner_namespaces.items()}


def install_namespace_names(module_globals: dict[str, Object], namespace: str) -> None:
    """Add the names of a namespace to a module, which then loads each name on first use.

    The function sets ``__getattr__``, ``__dir__`` and ``__all__`` of the module. An unknown name raises AttributeError
    with the message from ``describe_missing_name``.

    Args:
        module_globals: The ``__dict__`` of the module.
        namespace: The namespace without "tf.", or "" for ``tf`` itself.
    """
    homes = map_names_to_defining_modules(namespace)

    def load_attribute(name: str) -> Object:
        if name in homes:
            module_globals[name] = value = _wrap(name, load_minitape_object(*homes[name]))
            return value
        if not namespace and name in TOOLS:
            return import_module(f"minitape.{name}")
        prefix = f"{namespace}." if namespace else ""
        message = describe_missing_name(prefix + name, is_misspelled=bool(list_closest_name_if_any(name, homes)))
        raise build_attribute_error(message, name, sys.modules[module_globals["__name__"]], homes, f"tf.{prefix}")

    module_globals |= {"__getattr__": load_attribute, "__dir__": lambda: sorted(homes), "__all__": sorted(homes)}


class NamespaceFinder(MetaPathFinder, Loader):
    """The import hook that creates the modules for the namespaces in ``NAMES``.

    Importing any other module below such a namespace raises ModuleNotFoundError with the message from
    ``describe_missing_name``.
    """

    def find_spec(self, fullname: str, path: Object = None, target: Object = None) -> ModuleSpec | None:
        """Return the module specification of a namespace.

        Args:
            fullname: The full name of the module, such as "minitape.math".
            path: The search path of the parent package.
            target: Not used.

        Returns:
            The specification, or None if other finders handle the module.

        Raises:
            ModuleNotFoundError: If minitape has neither a namespace nor a file with that name.
        """
        package, _, namespace = fullname.partition(".")
        if package != "minitape":
            return None
        if namespace in NAMES:
            return ModuleSpec(fullname, self, is_package=True)
        if namespace.partition(".")[0] == "speed":  # This package is optional: minitape works without it.
            return None
        parent = namespace.rpartition(".")[0]
        if parent in NAMES and (parent or PathFinder.find_spec(fullname, path) is None):
            # If the error had a ``name``, Python would replace its message with a generic one.
            raise ModuleNotFoundError(describe_missing_name(namespace))
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Add names and a docstring to a namespace's module.

        Args:
            module: The new, empty module.
        """
        namespace = module.__name__.partition(".")[2]
        module.__doc__ = f"``tf.{namespace}``"
        install_namespace_names(module.__dict__, namespace)


def wrap_public_names(wrap: Callable[[str, Object], Object]) -> None:
    """Replace all public names with wrapped objects, such as functions that are deferred in a TensorFlow 1 graph.

    Names that are already loaded are replaced immediately, and all other names when they are loaded.

    Args:
        wrap: A function that receives a name and its object and returns the object to use instead.
    """
    global _wrap
    _wrap = wrap
    for namespace in NAMES:
        module = sys.modules.get(f"minitape.{namespace}".removesuffix("."))
        if module is None:
            continue
        for name, home in map_names_to_defining_modules(namespace).items():
            if name in vars(module):
                vars(module)[name] = wrap(name, load_minitape_object(*home))
