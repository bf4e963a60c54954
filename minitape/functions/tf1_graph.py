"""Emulate TensorFlow 1 graphs and sessions, to the extent that TensorFlow's documentation uses them.

A graph does not compute anything. Calling a function returns a :class:`Deferred`, which stores the function and its
arguments. ``Session.run`` makes the call when the placeholders have values. A tape records the call and computes its
gradients.
"""

from __future__ import annotations

import inspect
import operator
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, NamedTuple

from ..engine.backward.gradient import compute_gradients
from ..engine.backward.tape import GradientTape
from ..engine.derivatives.custom_gradient import custom_gradient
from ..engine.hooks import hooks
from ..engine.record.interrupt_safe import TemporaryAttributes, suspend_recording
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.types import (
    LIST_OR_TUPLE,
    Attributes,
    CountsByName,
    DTypeLike,
    Index,
    Object,
    OptionalFunction,
    OptionalText,
    ShapeLike,
    Structure,
)
from ..engine.values import dtypes, errors
from ..engine.values.nest import flatten, map_structure
from ..engine.values.shape import TensorShape
from ..recording.graph_nodes import find_operation_and_inputs
from .nested_tensors import list_tensors, replace_tensors
from .traced_calls import wrap_for_first_runs

# The registered gradient functions (op, *upstream), keyed by name.
REGISTERED_GRADIENTS: dict[str, OptionalFunction] = {}


class _GraphState(threading.local):
    """The graphs and sessions of this thread.

    Attributes:
        graph: The graph that is being built, or None.
        default_graph: The graph that is used outside ``with`` blocks, created on first use.
        sessions: The open sessions. The innermost session is last.
    """

    def __init__(self) -> None:
        """Create a state without graphs and sessions."""
        self.graph: Graph | None = None
        self.default_graph: Graph | None = None
        self.sessions: list[Session] = []


_graph_state = _GraphState()


class Graph:
    """A TensorFlow 1 graph. Calls in ``with graph.as_default():`` wait for a session.

    See https://www.tensorflow.org/api_docs/python/tf/Graph.

    Attributes:
        name_counts: The number of times each name has been used.
        overrides: For operation types with a registered gradient, the name of that gradient.

    >>> import minitape as tf
    >>> with tf.Graph().as_default() as graph:
    ...     x = tf.compat.v1.placeholder(tf.float32, shape=[None], name="x")
    ...     y = x * 2.0
    >>> tf.compat.v1.Session(graph=graph).run(y, {x: [1.0, 2.0]})
    array([2., 4.], dtype=float32)
    """

    def __init__(self) -> None:
        """Create an empty graph, and wrap the public functions so that their calls can be deferred."""
        hooks.wrap_public_names(_wrap_for_graphs)
        self.name_counts: CountsByName = {}
        self.overrides: dict = {}

    def as_default(self) -> AbstractContextManager:
        """Return a block in which calls wait for a session."""
        return TemporaryAttributes(_graph_state, self, graph=self)

    def gradient_override_map(self, overrides: dict) -> AbstractContextManager:
        """Return a block in which operations use registered gradients.

        Args:
            overrides: For each operation type, the name under which `RegisterGradient` registered its gradient.
        """
        return TemporaryAttributes(self, overrides=self.overrides | overrides)

    def unique_name(self, name: str) -> str:
        """Return a name that no other operation of the graph has.

        Args:
            name: The name. If it is already in use, a number is appended.
        """
        count = self.name_counts[name] = self.name_counts.get(name, -1) + 1
        return f"{name}_{count}" if count else name


def get_default_graph() -> Graph:
    """Return the graph that is being built, or the default graph of this thread.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_default_graph.

    Returns:
        A ``tf.Graph``.

    >>> import minitape as tf
    >>> with tf.Graph().as_default() as graph:
    ...     print(tf.get_default_graph() is graph)
    True
    """
    if _graph_state.graph is None and _graph_state.default_graph is None:
        _graph_state.default_graph = Graph()
    default_graph: Any = _graph_state.graph or _graph_state.default_graph
    return default_graph


# -- deferred calls --------------------------------------------------------------------------------


class Deferred(Tensor):
    """A call that waits for a session.

    This class stands for both a graph tensor in TensorFlow 1 and the operation that computes this tensor.

    Attributes:
        graph: The graph that the call belongs to.
        overrides: The registered gradients that were active at the call.
        function: The function to call.
        args: The positional arguments, which may contain other deferred calls.
        kwargs: The keyword arguments.
        type: TensorFlow's name for the kind of operation.
    """

    _record = _origin = None

    def __init__(
        self, function: Callable, args: Structure = (), kwargs: Attributes | None = None, name: OptionalText = None
    ):
        """Add a call to the graph that is being built.

        Args:
            function: The function to call.
            args: The positional arguments.
            kwargs: The keyword arguments, or None.
            name: The name of the operation. If None, the type of the operation is used.
        """
        graph = get_default_graph()
        self.graph = graph
        self.overrides = graph.overrides
        self.function = function
        self.args = tuple(args)
        self.kwargs = kwargs or {}
        function_name = getattr(function, "__name__", "call").strip("_")
        self.type = _OP_TYPES.get(function_name) or "".join(word.capitalize() for word in function_name.split("_"))
        self._name = graph.unique_name(name or self.type)

    name = property(lambda self: f"{self._name}:0", doc="The unique name of the tensor in the graph.")
    op = property(lambda self: self, doc="The operation, which is the same object.")

    def eval(self, feed_dict: dict | None = None, session: Session | None = None) -> Structure:
        """Compute the tensor and return its value.

        Args:
            feed_dict: Values for placeholders and other tensors, or None.
            session: The session that runs the call. None means the default session.

        Returns:
            A NumPy array, or a structure of them.

        Raises:
            ValueError: If no session is open.
        """
        open_session = session or get_default_session()
        if open_session is None:
            raise ValueError("Cannot evaluate a tensor without a default session: use `with tf.Session():`")
        return open_session.run(self, feed_dict)

    run = eval

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError, because a waiting call has no value."""
        raise AttributeError(f"{self!r} has no {name} until a session runs it", name=name)

    def __getitem__(self, key: Index) -> Deferred:
        """Return a deferred index or slice operation."""
        return Deferred(operator.getitem, (self, key), name="strided_slice")

    def __bool__(self) -> bool:
        """Raise TypeError, because Python cannot branch on a waiting call."""
        raise TypeError("A graph tensor has no value before a session runs it. Use tf.cond")

    def __iter__(self) -> Any:
        """Raise TypeError, because the number of elements is unknown."""
        raise TypeError("A graph tensor has no elements before a session runs it")

    def __hash__(self) -> int:
        """Return the hash of the object's identity, so that the object can be a key in ``feed_dict``."""
        return id(self)

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same object."""
        return self is other

    def __repr__(self) -> str:
        """Return the name of the tensor in TensorFlow's format."""
        return f'Tensor("{self.name}")'


_OP_TYPES = {"mul": "Mul", "sub": "Sub", "truediv": "RealDiv", "add": "AddV2", "constant": "Const"}


def _install_deferred_operators() -> None:
    def build_deferred_operator(function: Callable, is_reflected: bool = False) -> Callable:
        return lambda operand, *other_operands: Deferred(
            function, (*other_operands, operand) if is_reflected else (operand, *other_operands)
        )

    binary_names = "add sub mul truediv floordiv mod pow matmul and or xor".split()
    for name in binary_names + "lt le gt ge neg abs invert".split():
        function = getattr(operator, f"__{name}__")
        setattr(Deferred, f"__{name}__", build_deferred_operator(function))
        if name in binary_names:
            setattr(Deferred, f"__r{name}__", build_deferred_operator(function, True))


_install_deferred_operators()


class Placeholder(Deferred):
    """A graph tensor whose value is provided when a session runs."""

    def __init__(self, dtype: DTypeLike, shape: ShapeLike, name: OptionalText):
        """Add a placeholder to the graph that is being built.

        Args:
            dtype: The type of the elements.
            shape: The shape. None allows any shape.
            name: The name. None means "Placeholder".
        """
        super().__init__(self._raise_missing_feed, name=name or "Placeholder")
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    dtype = property(lambda self: self._dtype, doc="The type of the elements.")
    shape = property(lambda self: self._shape, doc="The shape, with None for unknown sizes.")

    def __repr__(self) -> str:
        """Return the representation in TensorFlow's format."""
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def _raise_missing_feed(self) -> Any:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"You must feed a value for placeholder tensor '{self._name}' with dtype {self.dtype.kernel_name}",
        )


def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: OptionalText = None) -> Placeholder:
    """Return a tensor whose value is passed to ``Session.run``.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/placeholder.

    Args:
        dtype: The type of the elements.
        shape: The shape, with None for unknown sizes. None allows any shape.
        name: The name in the graph.

    Returns:
        A graph tensor.

    Raises:
        RuntimeError: If no graph is being built.

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
    """Return an operation that does nothing, because variables have their values from the start.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/initialize_all_variables.

    Returns:
        The operation, or None in eager mode.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     v = tf.Variable(2.0)
    ...     session.run(tf.compat.v1.global_variables_initializer())
    ...     print(session.run(v))
    2.0
    """
    return None if _graph_state.graph is None else Deferred(lambda: None, name="init")


# -- wrappers that defer calls ---------------------------------------------------------------------

_IMMEDIATE_NAMES = set(
    "name_scope op_scope gradients placeholder Graph Session get_default_graph get_default_session RegisterGradient "
    "executing_eagerly init_scope function initialize_all_variables global_variables_initializer get_variable "
    "custom_gradient recompute_grad grad_pass_through TensorSpec flatten map_structure pack_sequence_as".split()
)


# Picture functions are not deferred, because they look up names in their caller.
_DEFERRED_MODULES = ("minitape.tf.", "minitape.engine.", "minitape.functions.")


def _wrap_for_graphs(name: str, value: Structure) -> Object:
    """Return the object that a namespace provides under a name. In a graph, calls to the object are deferred."""
    value = wrap_for_first_runs(name, value)
    if name in _IMMEDIATE_NAMES or not inspect.isfunction(value) or not value.__module__.startswith(_DEFERRED_MODULES):
        return value

    @wraps(value)
    def call_or_defer(*args: Object, **kwargs: Object) -> Object:
        if _graph_state.graph is None:
            return value(*args, **kwargs)
        return _defer_call(value, args, kwargs)

    return call_or_defer


def _defer_call(function: Callable, args: Structure, kwargs: Attributes) -> Structure:
    """Return a deferred call, or a list with a deferred call for each result.

    ``convert_to_tensor`` returns a deferred call unchanged.
    """
    function_name = function.__name__
    if function_name == "convert_to_tensor" and args and isinstance(args[0], Deferred):
        return args[0]
    output_types = kwargs.get("Tout", args[-1] if args else None)
    deferred = Deferred(function, args, kwargs, kwargs.get("name"))
    is_python_function = function_name in ("py_func", "numpy_function", "py_function")
    if not is_python_function or not isinstance(output_types, LIST_OR_TUPLE):
        return deferred
    return [Deferred(_select_result, (deferred, index), name=deferred._name) for index in range(len(output_types))]


def _select_result(results: Structure, index: int) -> Object:
    return results[index] if isinstance(results, LIST_OR_TUPLE) else results


# -- sessions --------------------------------------------------------------------------------------


class Session:
    """A session that computes the calls of a graph.

    Inside ``with Session():``, it is the default session. ``target`` and ``config`` have no effect.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session.

    Attributes:
        graph: The graph whose calls the session computes.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(2.0)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run({"y": x * 3.0}))
    {'y': np.float32(6.0)}
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: object = None):
        """Open a session.

        Args:
            target: Ignored.
            graph: The graph. None means the default graph.
            config: Ignored.
        """
        self.graph = graph or get_default_graph()
        self._block: Any = None

    def __enter__(self) -> Session:
        """Make this the default session, and its graph the graph that is being built."""
        _graph_state.sessions.append(self)
        self._block = self.graph.as_default()
        self._block.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Restore the previous session and graph."""
        _graph_state.sessions.remove(self)
        type(self._block).__exit__(self._block, *error)

    def close(self) -> None:
        """Close the session. This has no effect, because a session does not hold any resources."""

    def run(self, fetches: Structure, feed_dict: dict | None = None) -> Structure:
        """Compute tensors of the graph.

        Args:
            fetches: A tensor, variable or operation, or a nested list, tuple or dictionary of them.
            feed_dict: Values for placeholders and other tensors, or None.

        Returns:
            The values as NumPy arrays, in the structure of ``fetches``.
        """
        values = SessionRun(feed_dict or {}).compute_values(fetches)
        return map_structure(
            lambda value: value.numpy() if hasattr(value, "_read_and_watch") or isinstance(value, Tensor) else value,
            values,
        )


def get_default_session() -> Session | None:
    """Return the innermost open session, or None if no session is open."""
    return _graph_state.sessions[-1] if _graph_state.sessions else None


class SessionRun:
    """One run of a session, in which each call is made at most once.

    Attributes:
        feed_values: Values for placeholders and other tensors.
        tape: A persistent tape that records all calls.
        computed_values: The results so far, keyed by call.
    """

    def __init__(self, feed_values: dict):
        """Prepare a run.

        Args:
            feed_values: Values for placeholders and other tensors.
        """
        self.feed_values = feed_values
        self.tape = GradientTape(persistent=True)
        self.computed_values: dict[Deferred, Any] = {}

    def compute_values(self, fetches: Structure) -> Structure:
        """Compute the calls in a structure.

        Args:
            fetches: A nested structure of deferred calls and other values.

        Returns:
            The same structure, with each call replaced by its result.
        """
        with TemporaryAttributes(_graph_state, graph=None), suspend_recording(), self.tape:
            for feed, value in self.feed_values.items():
                self.computed_values[feed] = self._watch_if_untracked(
                    convert_to_tensor(value, getattr(feed, "dtype", None))
                )
            return self._evaluate_structure(fetches)

    def _evaluate_structure(self, value: Structure) -> Structure:
        """Replace each deferred call in a structure with its result."""
        if isinstance(value, Deferred):
            if value not in self.computed_values:
                self.computed_values[value] = self._compute_call(value)
            return self.computed_values[value]
        if isinstance(value, (list, tuple, dict)):
            return map_structure(self._evaluate_structure, value)
        return value

    def _compute_call(self, call: Deferred) -> Structure:
        """Compute the arguments of a call, make the call, and return its result."""
        args = [self._evaluate_structure(argument) for argument in call.args]
        kwargs = {key: self._evaluate_structure(argument) for key, argument in call.kwargs.items()}
        if call.function is gradients:
            return compute_gradients(self.tape, *args)
        first_row = 0 if self.tape.record is None else len(self.tape.record)
        result = call.function(*args, **kwargs)
        if call.overrides:
            record: Any = self.tape.record
            rows = range(first_row, 0 if record is None else len(record))
            op_types = {call.type} | {
                primitive.op for row in rows if (primitive := find_operation_and_inputs(record, row)[0]) is not None
            }
            for op_type in call.overrides.keys() & op_types:
                gradient_function = REGISTERED_GRADIENTS[call.overrides[op_type]]
                result = _run_with_registered_gradient(call, gradient_function, args, kwargs)
        return map_structure(self._watch_if_untracked, result)

    def _watch_if_untracked(self, value: Structure) -> Structure:
        """Return a value unchanged, but watch it if it is a tensor that the tape has not computed."""
        record: Any = self.tape.record
        if type(value) is EagerTensor and value.dtype.differentiable and record.find_row(value) is None:
            self.tape.watch(value)
        return value


class _Operation(NamedTuple):
    """The operation object that a registered gradient function receives.

    Attributes:
        type: TensorFlow's name for the kind of operation.
        name: The name of the operation in the graph.
        inputs: The input tensors.
        outputs: The output tensors.
    """

    type: str
    name: str
    inputs: Structure
    outputs: Structure


def _run_with_registered_gradient(
    call: Deferred, gradient_function: OptionalFunction, args: list, kwargs: dict
) -> Structure:
    """Make a call with a registered gradient.

    Args:
        call: The call.
        gradient_function: A function (operation, *upstream) that returns the gradients of the inputs, or None if there
            is no gradient.
        args: The computed positional arguments.
        kwargs: The computed keyword arguments.

    Returns:
        The result of the call.
    """

    @custom_gradient
    def run_call(*inputs: EagerTensor) -> tuple:
        result = call.function(*replace_tensors(args, inputs), **kwargs)
        operation = _Operation(call.type, call._name, inputs, flatten(result))

        def compute_gradient(*adjoints: EagerTensor) -> list:
            shares = [None] * len(inputs) if gradient_function is None else gradient_function(operation, *adjoints)
            return list(shares) if isinstance(shares, LIST_OR_TUPLE) else [shares]

        return result, compute_gradient

    return run_call(*list_tensors(args))


# -- gradients -------------------------------------------------------------------------------------


def gradients(ys: Structure, xs: Structure, grad_ys: Structure = None, name: str = "gradients") -> list:
    """Return the gradients of the sum of ``ys`` with respect to each of ``xs``, as graph tensors.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/gradients.

    Args:
        ys: A tensor, or a nested structure of tensors.
        xs: A tensor or variable, or a nested structure of them.
        grad_ys: The adjoint that each of ``ys`` starts with. None means all ones.
        name: The name of the operations.

    Returns:
        A list with a tensor of the same shape and dtype for each of ``xs``.

    Raises:
        RuntimeError: If no graph is being built.

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
    ys = flatten(ys)
    xs = flatten(xs)
    seeds = [None] * len(ys) if grad_ys is None else flatten(grad_ys)
    deferred = Deferred(gradients, (ys, xs, seeds), name=name)
    return [Deferred(_select_result, (deferred, index), name=name) for index in range(len(xs))]


class RegisterGradient:
    """A decorator that registers a gradient function under a name, for use with ``Graph.gradient_override_map``.

    The function is called as ``grad(op, *upstream)`` and returns a gradient for each input of the operation.

    See https://www.tensorflow.org/api_docs/python/tf/RegisterGradient.

    >>> import minitape as tf
    >>> @tf.RegisterGradient("Twice")
    ... def twice(op, g):
    ...     return 2.0 * g
    >>> with tf.Graph().as_default() as graph, graph.gradient_override_map({"Square": "Twice"}):
    ...     x = tf.constant(3.0)
    ...     print(tf.compat.v1.Session().run(tf.gradients(tf.square(x), x)))
    [np.float32(2.0)]
    """

    def __init__(self, op_type: str):
        """Choose the name.

        Args:
            op_type: The name under which the function is registered.

        Raises:
            TypeError: If the name is not a string.
        """
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: OptionalFunction) -> OptionalFunction:
        """Register a gradient function, and return it.

        Args:
            f: The function. None means operations without a gradient.

        Raises:
            KeyError: If the name is already registered.
        """
        if self._op_type in REGISTERED_GRADIENTS:
            raise KeyError(
                f"Registering two gradient with name '{self._op_type}'! (Previous registration was in register)"
            )
        REGISTERED_GRADIENTS[self._op_type] = f
        return f
