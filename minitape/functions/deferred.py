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

from ..engine.back.backward import gradients_of
from ..engine.back.tape import GradientTape
from ..engine.derivatives.custom import custom_gradient
from ..engine.hooks import hooks
from ..engine.recording.block import TemporaryAttributes, no_tapes
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import dtypes, errors, nest
from ..engine.values.shape import TensorShape
from ..recording.nodes import operation_of
from .calls import in_traces

GRADIENTS: dict[str, Callable | None] = {}  # gradient functions (op, *upstream) by the names they were registered under


class _Open(threading.local):
    """The graph that this thread builds, its own one, and its open sessions."""

    def __init__(self) -> None:
        self.graph: Graph | None = None
        self.default: Graph | None = None
        self.sessions: list[Session] = []


_open = _Open()


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
        hooks.wrap_functions(_wrap)
        self.names: dict[str, int] = {}  # how often each was taken
        self.overrides: dict = {}  # type of an operation -> name of a registered gradient

    def as_default(self) -> AbstractContextManager:
        """Calls in the block are put off."""
        return TemporaryAttributes(_open, self, graph=self)

    def gradient_override_map(self, overrides: dict) -> AbstractContextManager:
        """Operations of these types that are made in the block have the gradients registered under these names."""
        return TemporaryAttributes(self, overrides=self.overrides | overrides)

    def unique_name(self, name: str) -> str:
        """The name, with a number where it is taken."""
        count = self.names[name] = self.names.get(name, -1) + 1
        return f"{name}_{count}" if count else name


def get_default_graph() -> Graph:
    """The graph that is built now, else that of the thread.

    >>> import minitape as tf
    >>> with tf.Graph().as_default() as graph:
    ...     print(tf.get_default_graph() is graph)
    True
    """
    if _open.graph is None and _open.default is None:
        _open.default = Graph()
    found: Any = _open.graph or _open.default
    return found


# -- calls that wait -------------------------------------------------------------------------------


class Deferred(Tensor):
    """A call that waits for its arguments; in TensorFlow 1 a tensor of a graph, and the operation that makes it."""

    _record = _origin = None

    def __init__(self, function: Callable, args: Any = (), kwargs: Any = None, name: str | None = None) -> None:
        graph = get_default_graph()
        self.graph, self.overrides = graph, graph.overrides
        self.function, self.args, self.kwargs = function, tuple(args), kwargs or {}
        kind = getattr(function, "__name__", "call").strip("_")
        self.type = _TYPES.get(kind) or "".join(part.capitalize() for part in kind.split("_"))
        self._name = graph.unique_name(name or self.type)

    name = property(lambda self: f"{self._name}:0", doc="A name of its own in the graph.")
    op = property(lambda self: self, doc="The operation: the call itself.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value in this session, else the default one; ValueError without any."""
        found = session or get_default_session()
        if found is None:
            raise ValueError("Cannot evaluate a tensor without a default session: use `with tf.Session():`")
        return found.run(self, feed_dict)

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


_TYPES = {"mul": "Mul", "sub": "Sub", "truediv": "RealDiv", "add": "AddV2", "constant": "Const"}


def _install_operators() -> None:
    def of(function: Callable, reflected: bool = False) -> Callable:
        return lambda a, *b: Deferred(function, (*b, a) if reflected else (a, *b))

    two = "add sub mul truediv floordiv mod pow matmul and or xor".split()
    for name in [*two, *"lt le gt ge neg abs invert".split()]:
        function = getattr(operator, f"__{name}__")
        setattr(Deferred, f"__{name}__", of(function))
        if name in two:
            setattr(Deferred, f"__r{name}__", of(function, True))


_install_operators()


class Placeholder(Deferred):
    """A value that is fed."""

    def __init__(self, dtype: Any, shape: Any, name: str | None) -> None:
        super().__init__(self._missing, name=name or "Placeholder")
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    dtype = property(lambda self: self._dtype, doc="The type of the elements.")
    shape = property(lambda self: self._shape, doc="The shape, with None for sizes that are open.")

    def __repr__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def _missing(self) -> Any:
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
    if _open.graph is None:
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
    return None if _open.graph is None else Deferred(lambda: None, name="init")


# -- what puts calls off ---------------------------------------------------------------------------

_AT_ONCE = set(
    "name_scope op_scope gradients placeholder Graph Session get_default_graph get_default_session RegisterGradient "
    "executing_eagerly init_scope function initialize_all_variables global_variables_initializer get_variable "
    "custom_gradient recompute_grad grad_pass_through TensorSpec flatten map_structure pack_sequence_as".split()
)


_PUT_OFF = ("minitape.tf.", "minitape.engine.", "minitape.functions.")  # pictures look for the names of their caller


def _wrap(name: str, value: Any) -> Any:
    """The object that a namespace offers under a name, once there are graphs."""
    value = in_traces(name, value)
    if name in _AT_ONCE or not inspect.isfunction(value) or not value.__module__.startswith(_PUT_OFF):
        return value

    @functools.wraps(value)
    def called(*args: Any, **kwargs: Any) -> Any:
        return value(*args, **kwargs) if _open.graph is None else _put_off(value, args, kwargs)

    return called


def _put_off(function: Callable, args: Any, kwargs: Any) -> Any:
    """The call as something that waits; what is such already is itself as a tensor."""
    kind = function.__name__
    if kind == "convert_to_tensor" and args and isinstance(args[0], Deferred):
        return args[0]
    types = kwargs.get("Tout", args[-1] if args else None)
    made = Deferred(function, args, kwargs, kwargs.get("name"))
    several = kind in ("py_func", "numpy_function", "py_function") and isinstance(types, (list, tuple))
    return [Deferred(_part, (made, at), name=made._name) for at in range(len(types))] if several else made


def _part(found: Any, at: int) -> Any:
    return found[at] if isinstance(found, (list, tuple)) else found


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
        _open.sessions.append(self)
        self._block = self.graph.as_default()
        self._block.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        _open.sessions.remove(self)
        type(self._block).__exit__(self._block, *error)

    def close(self) -> None:
        """Ends the session, which holds nothing."""

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """The values of a structure of calls as NumPy arrays, for these values of others."""
        found = Run(feed_dict or {}).value(fetches)
        return nest.map_structure(lambda v: v.numpy() if hasattr(v, "_read") or isinstance(v, Tensor) else v, found)


def get_default_session() -> Session | None:
    """The innermost open session."""
    return _open.sessions[-1] if _open.sessions else None


class Run:
    """The values of calls in one run, each made once, under a tape that follows all of them."""

    def __init__(self, fed: dict) -> None:
        self.fed, self.tape = fed, GradientTape(persistent=True)
        self.known: dict[Deferred, Any] = {}

    def value(self, fetches: Any) -> Any:
        """The values of a structure of calls."""
        with TemporaryAttributes(_open, graph=None), no_tapes(), self.tape:
            for place, value in self.fed.items():
                self.known[place] = self._watch(convert_to_tensor(value, getattr(place, "dtype", None)))
            return self._of(fetches)

    def _of(self, value: Any) -> Any:
        if isinstance(value, Deferred):
            if value not in self.known:
                self.known[value] = self._compute(value)
            return self.known[value]
        return nest.map_structure(self._of, value) if isinstance(value, (list, tuple, dict)) else value

    def _compute(self, call: Deferred) -> Any:
        args, kwargs = [self._of(a) for a in call.args], {k: self._of(v) for k, v in call.kwargs.items()}
        if call.function is gradients:
            return gradients_of(self.tape, *args)
        first = 0 if self.tape._record is None else len(self.tape._record)
        found = call.function(*args, **kwargs)
        if call.overrides:
            record: Any = self.tape._record
            rows = range(first, 0 if record is None else len(record))
            made = {call.type} | {p.op for row in rows if (p := operation_of(record, row)[0]) is not None}
            for kind in call.overrides.keys() & made:
                found = _with_gradient(call, GRADIENTS[call.overrides[kind]], args, kwargs)
        return nest.map_structure(self._watch, found)

    def _watch(self, value: Any) -> Any:
        """A tensor that nothing has made on the tape, as one to which gradients may go."""
        record: Any = self.tape._record
        if type(value) is EagerTensor and value.dtype.differentiable and record.find(value) is None:
            self.tape.watch(value)
        return value


class _Operation:
    """The operation as a registered gradient function sees it."""

    def __init__(self, call: Deferred, inputs: Any, outputs: Any) -> None:
        self.type, self.name, self.inputs, self.outputs = call.type, call._name, inputs, outputs


def _with_gradient(call: Deferred, function: Callable | None, args: list, kwargs: dict) -> Any:
    """The result of the call, with a registered gradient."""
    leaves = nest.flatten(args)

    @custom_gradient
    def run(*inputs: EagerTensor) -> tuple:
        waiting = iter(inputs)
        flat = [next(waiting) if isinstance(a, Tensor) else a for a in leaves]
        found = call.function(*nest.pack_sequence_as(args, flat), **kwargs)
        operation = _Operation(call, inputs, nest.flatten(found))

        def grad(*gs: EagerTensor) -> list:
            shares = [None] * len(inputs) if function is None else function(operation, *gs)
            return list(shares) if isinstance(shares, (list, tuple)) else [shares]

        return found, grad

    return run(*(a for a in leaves if isinstance(a, Tensor)))


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
    if _open.graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    ys, xs = nest.flatten(ys), nest.flatten(xs)
    starts = [None] * len(ys) if grad_ys is None else nest.flatten(grad_ys)
    made = Deferred(gradients, (ys, xs, starts), name=name)
    return [Deferred(_part, (made, at), name=name) for at in range(len(xs))]


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
        if self._op_type in GRADIENTS:
            raise KeyError(
                f"Registering two gradient with name '{self._op_type}'! (Previous registration was in register)"
            )
        GRADIENTS[self._op_type] = f
        return f
