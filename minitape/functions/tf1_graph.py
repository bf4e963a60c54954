"""TensorFlow 1, as far as the documents show it: in a graph nothing is computed.

A call of a function there gives a :class:`Deferred`: the function and its arguments. ``Session.run`` calls it when the
values of placeholders are there, under a tape, which knows the gradients.
"""

from __future__ import annotations

import functools
import inspect
import operator
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from ..engine.backward.gradient import compute_gradients
from ..engine.backward.tape import GradientTape
from ..engine.derivatives.custom_gradient import custom_gradient
from ..engine.hooks import hooks
from ..engine.record.interrupt_safe import TemporaryAttributes, suspend_recording
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import dtypes, errors, nest
from ..engine.values.shape import TensorShape
from ..recording.graph_nodes import find_operation_and_inputs
from .traced_calls import wrap_for_traces

# gradient functions (op, *upstream) by the names that they were registered under
REGISTERED_GRADIENTS: dict[str, Callable | None] = {}


class _GraphState(threading.local):
    """The graph that this thread builds, its own one, and its open sessions."""

    def __init__(self) -> None:
        self.graph: Graph | None = None
        self.default_graph: Graph | None = None
        self.sessions: list[Session] = []


_graph_state = _GraphState()


class Graph:
    """Calls of functions in ``with graph.as_default():`` are put off; a Session makes them.

    >>> import minitape as tf
    >>> with tf.Graph().as_default() as graph:
    ...     x = tf.compat.v1.placeholder(tf.float32, shape=[None], name="x")
    ...     y = x * 2.0
    >>> tf.compat.v1.Session(graph=graph).run(y, {x: [1.0, 2.0]})
    array([2., 4.], dtype=float32)
    """

    def __init__(self) -> None:
        hooks.wrap_functions(_wrap_for_graphs)
        self.name_counts: dict[str, int] = {}  # how often each was taken
        self.overrides: dict = {}  # type of an operation -> name of a registered gradient

    def as_default(self) -> AbstractContextManager:
        """Return a block in which calls are put off."""
        return TemporaryAttributes(_graph_state, self, graph=self)

    def gradient_override_map(self, overrides: dict) -> AbstractContextManager:
        """Return a block in which operations of these types have the gradients registered under these names."""
        return TemporaryAttributes(self, overrides=self.overrides | overrides)

    def unique_name(self, name: str) -> str:
        """Return the name, with a number where it is taken."""
        count = self.name_counts[name] = self.name_counts.get(name, -1) + 1
        return f"{name}_{count}" if count else name


def get_default_graph() -> Graph:
    """Return the graph that is built now, else that of the thread.

    >>> import minitape as tf
    >>> with tf.Graph().as_default() as graph:
    ...     print(tf.get_default_graph() is graph)
    True
    """
    if _graph_state.graph is None and _graph_state.default_graph is None:
        _graph_state.default_graph = Graph()
    default_graph: Any = _graph_state.graph or _graph_state.default_graph
    return default_graph


# -- calls that wait -------------------------------------------------------------------------------


class Deferred(Tensor):
    """A call that waits for its arguments; in TensorFlow 1 a tensor of a graph, and the operation that makes it."""

    _record = _origin = None

    def __init__(self, function: Callable, args: Any = (), kwargs: Any = None, name: str | None = None) -> None:
        graph = get_default_graph()
        self.graph, self.overrides = graph, graph.overrides
        self.function, self.args, self.kwargs = function, tuple(args), kwargs or {}
        function_name = getattr(function, "__name__", "call").strip("_")
        self.type = _OP_TYPES.get(function_name) or "".join(word.capitalize() for word in function_name.split("_"))
        self._name = graph.unique_name(name or self.type)

    name = property(lambda self: f"{self._name}:0", doc="A name of its own in the graph.")
    op = property(lambda self: self, doc="The operation: the call itself.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return its value in this session, else the default one; ValueError without any."""
        open_session = session or get_default_session()
        if open_session is None:
            raise ValueError("Cannot evaluate a tensor without a default session: use `with tf.Session():`")
        return open_session.run(self, feed_dict)

    run = eval

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self!r} waits for a session: it has no {name} yet", name=name)

    def __getitem__(self, key: Any) -> Deferred:
        return Deferred(operator.getitem, (self, key), name="strided_slice")

    def __bool__(self) -> bool:
        raise TypeError("A tensor of a graph has no value before a session runs it: use tf.cond")

    def __iter__(self) -> Any:
        raise TypeError("A tensor of a graph has no elements before a session runs it")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f'Tensor("{self.name}")'


_OP_TYPES = {"mul": "Mul", "sub": "Sub", "truediv": "RealDiv", "add": "AddV2", "constant": "Const"}


def _install_deferred_operators() -> None:
    def build_deferred_operator(function: Callable, is_reflected: bool = False) -> Callable:
        return lambda operand, *other_operands: Deferred(
            function, (*other_operands, operand) if is_reflected else (operand, *other_operands)
        )

    binary_names = "add sub mul truediv floordiv mod pow matmul and or xor".split()
    for name in [*binary_names, *"lt le gt ge neg abs invert".split()]:
        function = getattr(operator, f"__{name}__")
        setattr(Deferred, f"__{name}__", build_deferred_operator(function))
        if name in binary_names:
            setattr(Deferred, f"__r{name}__", build_deferred_operator(function, True))


_install_deferred_operators()


class Placeholder(Deferred):
    """A value that is fed."""

    def __init__(self, dtype: Any, shape: Any, name: str | None) -> None:
        super().__init__(self._raise_missing_feed, name=name or "Placeholder")
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    dtype = property(lambda self: self._dtype, doc="The type of the elements.")
    shape = property(lambda self: self._shape, doc="The shape, with None for sizes that are open.")

    def __repr__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def _raise_missing_feed(self) -> Any:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"You must feed a value for placeholder tensor '{self._name}' with dtype {self.dtype.kernel_name}",
        )


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Placeholder:
    """A tensor whose value is given to ``Session.run``; RuntimeError outside of graphs.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = tf.compat.v1.placeholder(tf.float32)
    ...     print(session.run(x * 2.0, {x: 3.0}))
    6.0
    """
    if _graph_state.graph is None:
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return Placeholder(dtype, shape, name)


def initialize_all_variables() -> Deferred | None:
    """An operation that has nothing to do: a variable has its value from the start. None in eager mode.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     v = tf.Variable(2.0)
    ...     session.run(tf.compat.v1.global_variables_initializer())
    ...     print(session.run(v))
    2.0
    """
    return None if _graph_state.graph is None else Deferred(lambda: None, name="init")


# -- what puts calls off ---------------------------------------------------------------------------

_IMMEDIATE_NAMES = set(
    "name_scope op_scope gradients placeholder Graph Session get_default_graph get_default_session RegisterGradient "
    "executing_eagerly init_scope function initialize_all_variables global_variables_initializer get_variable "
    "custom_gradient recompute_grad grad_pass_through TensorSpec flatten map_structure pack_sequence_as".split()
)


# not those of pictures, which look for the names of their caller
_DEFERRED_MODULES = ("minitape.tf.", "minitape.engine.", "minitape.functions.")


def _wrap_for_graphs(name: str, value: Any) -> Any:
    """Return the object that a namespace offers under a name once there are graphs: in a graph its calls wait."""
    value = wrap_for_traces(name, value)
    if name in _IMMEDIATE_NAMES or not inspect.isfunction(value) or not value.__module__.startswith(_DEFERRED_MODULES):
        return value

    @functools.wraps(value)
    def call_or_defer(*args: Any, **kwargs: Any) -> Any:
        return value(*args, **kwargs) if _graph_state.graph is None else _defer_call(value, args, kwargs)

    return call_or_defer


def _defer_call(function: Callable, args: Any, kwargs: Any) -> Any:
    """Return the call as something that waits, or a list of its parts; a Deferred as a tensor is itself."""
    function_name = function.__name__
    if function_name == "convert_to_tensor" and args and isinstance(args[0], Deferred):
        return args[0]
    output_types = kwargs.get("Tout", args[-1] if args else None)
    deferred = Deferred(function, args, kwargs, kwargs.get("name"))
    has_several = function_name in ("py_func", "numpy_function", "py_function") and isinstance(
        output_types, (list, tuple)
    )
    return (
        [Deferred(_select_result, (deferred, index), name=deferred._name) for index in range(len(output_types))]
        if has_several
        else deferred
    )


def _select_result(results: Any, index: int) -> Any:
    return results[index] if isinstance(results, (list, tuple)) else results


# -- sessions --------------------------------------------------------------------------------------


class Session:
    """Runs calls of a graph; in ``with Session():`` it is the default one. ``target`` and ``config`` have no effect.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(2.0)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run({"y": x * 3.0}))
    {'y': np.float32(6.0)}
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        self.graph = graph or get_default_graph()
        self._block: Any = None

    def __enter__(self) -> Session:
        _graph_state.sessions.append(self)
        self._block = self.graph.as_default()
        self._block.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        _graph_state.sessions.remove(self)
        type(self._block).__exit__(self._block, *error)

    def close(self) -> None:
        """Ends the session, which holds nothing."""

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """The values of a structure of calls as NumPy arrays, for these values of others."""
        values = SessionRun(feed_dict or {}).compute_values(fetches)
        return nest.map_structure(
            lambda value: value.numpy() if hasattr(value, "_read_state") or isinstance(value, Tensor) else value, values
        )


def get_default_session() -> Session | None:
    """Return the innermost open session; None without any."""
    return _graph_state.sessions[-1] if _graph_state.sessions else None


class SessionRun:
    """The values of calls in one run, each made once, under a tape that follows all of them."""

    def __init__(self, feed_values: dict) -> None:
        self.feed_values, self.tape = feed_values, GradientTape(persistent=True)
        self.computed_values: dict[Deferred, Any] = {}

    def compute_values(self, fetches: Any) -> Any:
        """Return the values of a structure of calls."""
        with TemporaryAttributes(_graph_state, graph=None), suspend_recording(), self.tape:
            for feed, value in self.feed_values.items():
                self.computed_values[feed] = self._watch_if_untracked(
                    convert_to_tensor(value, getattr(feed, "dtype", None))
                )
            return self._evaluate_structure(fetches)

    def _evaluate_structure(self, value: Any) -> Any:
        if isinstance(value, Deferred):
            if value not in self.computed_values:
                self.computed_values[value] = self._compute_call(value)
            return self.computed_values[value]
        return nest.map_structure(self._evaluate_structure, value) if isinstance(value, (list, tuple, dict)) else value

    def _compute_call(self, call: Deferred) -> Any:
        args, kwargs = (
            [self._evaluate_structure(argument) for argument in call.args],
            {key: self._evaluate_structure(argument_value) for key, argument_value in call.kwargs.items()},
        )
        if call.function is gradients:
            return compute_gradients(self.tape, *args)
        first_row = 0 if self.tape._record is None else len(self.tape._record)
        result = call.function(*args, **kwargs)
        if call.overrides:
            record: Any = self.tape._record
            rows = range(first_row, 0 if record is None else len(record))
            op_types = {call.type} | {
                primitive.op for row in rows if (primitive := find_operation_and_inputs(record, row)[0]) is not None
            }
            for op_type in call.overrides.keys() & op_types:
                result = _run_with_registered_gradient(
                    call, REGISTERED_GRADIENTS[call.overrides[op_type]], args, kwargs
                )
        return nest.map_structure(self._watch_if_untracked, result)

    def _watch_if_untracked(self, value: Any) -> Any:
        """Return a value; the tape watches it where it is a tensor that no operation on the tape computed."""
        record: Any = self.tape._record
        if type(value) is EagerTensor and value.dtype.differentiable and record.find_row(value) is None:
            self.tape.watch(value)
        return value


class _Operation:
    """The operation as a registered gradient function sees it."""

    def __init__(self, call: Deferred, inputs: Any, outputs: Any) -> None:
        self.type, self.name, self.inputs, self.outputs = call.type, call._name, inputs, outputs


def _run_with_registered_gradient(call: Deferred, gradient_function: Callable | None, args: list, kwargs: dict) -> Any:
    """Return the result of the call, with a registered gradient in the place of its own."""
    leaves = nest.flatten(args)

    @custom_gradient
    def run_call(*inputs: EagerTensor) -> tuple:
        remaining = iter(inputs)
        new_leaves = [next(remaining) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        result = call.function(*nest.pack_sequence_as(args, new_leaves), **kwargs)
        operation = _Operation(call, inputs, nest.flatten(result))

        def compute_gradient(*adjoints: EagerTensor) -> list:
            shares = [None] * len(inputs) if gradient_function is None else gradient_function(operation, *adjoints)
            return list(shares) if isinstance(shares, (list, tuple)) else [shares]

        return result, compute_gradient

    return run_call(*(leaf for leaf in leaves if isinstance(leaf, Tensor)))


# -- gradients -------------------------------------------------------------------------------------


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients") -> list:
    """The gradients of the sum of ``ys`` by each of ``xs``, in a graph; RuntimeError outside.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(3.0)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(tf.gradients(x * x, x)))
    [np.float32(6.0)]
    """
    if _graph_state.graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    ys, xs = nest.flatten(ys), nest.flatten(xs)
    seeds = [None] * len(ys) if grad_ys is None else nest.flatten(grad_ys)
    deferred = Deferred(gradients, (ys, xs, seeds), name=name)
    return [Deferred(_select_result, (deferred, index), name=name) for index in range(len(xs))]


class RegisterGradient:
    """Decorator that registers ``grad(op, *upstream)`` under a name for ``Graph.gradient_override_map``.

    >>> import minitape as tf
    >>> @tf.RegisterGradient("Twice")
    ... def twice(op, g):
    ...     return 2.0 * g
    >>> with tf.Graph().as_default() as graph, graph.gradient_override_map({"Square": "Twice"}):
    ...     x = tf.constant(3.0)
    ...     print(tf.compat.v1.Session().run(tf.gradients(tf.square(x), x)))
    [np.float32(2.0)]
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable | None) -> Callable | None:
        if self._op_type in REGISTERED_GRADIENTS:
            raise KeyError(
                f"Registering two gradient with name '{self._op_type}'! (Previous registration was in register)"
            )
        REGISTERED_GRADIENTS[self._op_type] = f
        return f
