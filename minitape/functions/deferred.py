"""TensorFlow 1: in a graph nothing is computed. A call of a function gives a :class:`Deferred`: the function and its
arguments, which ``Session.run`` calls when values are there.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ..engine.back.backward import gradients_of
from ..engine.back.tape import GradientTape
from ..engine.derivatives.custom import custom_gradient
from ..engine.hooks import hooks
from ..engine.recording.block import During, Elsewhere
from ..engine.recording.rows import operation_of
from ..engine.recording.state import state
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import EagerTensor, Reference, Tensor, new_tensor
from ..engine.tensor.variable import ResourceVariable, Variable
from ..engine.values import dtypes, errors, nest
from ..engine.values.shape import TensorShape

GRADIENTS: dict[str, Callable | None] = {}  # gradient functions (op, *upstream) by the names they were registered under


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
        install()
        self.names: dict[str, int] = {}  # how often each was taken
        self.overrides: dict[str, str] = {}  # type of an operation -> name of a registered gradient
        self.controls: list[Deferred] = []
        self.variables: list[DeferredVariable] = []

    def as_default(self) -> AbstractContextManager[Graph]:
        """Calls in the block are put off."""
        return Elsewhere(self, record=None, tapes=[], graph=self)

    def gradient_override_map(self, overrides: dict[str, str]) -> AbstractContextManager[None]:
        """Operations of these types that are made in the block have the gradients registered under these names."""
        return During(self, overrides=self.overrides | overrides)

    @contextmanager
    def control_dependencies(self, controls: Any) -> Any:
        """What is made in the block runs after these."""
        with During(self, controls=[*self.controls, *(c for c in controls or () if isinstance(c, Deferred))]):
            yield

    def unique_name(self, name: str) -> str:
        """The name, with a number where it is taken."""
        count = self.names[name] = self.names.get(name, -1) + 1
        return f"{name}_{count}" if count else name

    def get_collection(self, key: str, scope: str | None = None) -> list:
        """The variables ("variables"), or the trainable ones."""
        return [v for v in self.variables if key == "variables" or v.trainable]


_default = Graph.__new__(Graph)


def get_default_graph() -> Graph:
    """The graph that is built now, else that of the thread."""
    if not hasattr(_default, "names"):
        _default.__init__()  # type: ignore[misc]
    return state.graph or _default


def reset_default_graph() -> None:
    """The default graph begins anew."""
    _default.__init__()  # type: ignore[misc]


# -- calls that wait -------------------------------------------------------------------------------


class Deferred(Tensor):
    """A call that waits for its arguments; in TensorFlow 1 a tensor of a graph, and the operation that makes it."""

    _value = _record = _origin = None

    def __init__(self, function: Callable, args: Any = (), kwargs: Any = None, name: str | None = None) -> None:
        self.graph = graph = get_default_graph()
        self.function, self.args, self.kwargs = function, tuple(args), kwargs or {}
        self.type = _type_of(function)
        self._name = graph.unique_name(name or self.type)
        self.overrides, self.controls = graph.overrides, list(graph.controls)

    op = property(lambda self: self, doc="The operation: the call itself.")
    name = property(lambda self: f"{self._name}:0", doc="A name of its own in the graph.")
    inputs = property(lambda self: [a for a in nest.flatten([self.args]) if isinstance(a, Tensor)], doc="Its tensors.")
    dtype = property(lambda self: self._trial.dtype, doc="The type of the elements, as far as a trial tells.")
    _id = property(id)

    @property
    def shape(self) -> TensorShape:
        """The shape, where no placeholder leaves it open."""
        return self._trial.shape if all(p.known.is_fully_defined() for p in _placeholders(self)) else TensorShape(None)

    @functools.cached_property
    def _trial(self) -> Any:
        """What it gives for ones."""
        with Elsewhere(record=None, tapes=[], graph=None):
            try:
                return Run({p: p.ones() for p in _placeholders(self)}).value(self)
            except Exception as error:
                raise AttributeError(f"minitape cannot tell the shape of {self._name} before it runs") from error

    def get_shape(self) -> TensorShape:
        """The same as ``shape``."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Has no effect."""

    def ref(self) -> Reference:
        """A hashable reference."""
        return Reference(self)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value in the default session."""
        from .session import default_session

        return default_session(session).run(self, feed_dict)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """The same, for what is called for its effect."""
        self.eval(feed_dict, session)

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

    def __str__(self) -> str:
        shape = self.shape
        return f'Tensor("{self.name}"{"" if shape.rank is None else f", shape={shape}"}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor".split()
_TYPES = {"mul": "Mul", "sub": "Sub", "truediv": "RealDiv", "neg": "Neg", "add": "AddV2"}


def _install_operators() -> None:
    def of(function: Callable, reflected: bool = False) -> Callable:
        return lambda a, *b: Deferred(function, (*b, a) if reflected else (a, *b))

    for name in [*_OPERATORS, "lt", "le", "gt", "ge", "neg", "abs", "invert"]:
        function = getattr(operator, f"__{name}__")
        setattr(Deferred, f"__{name}__", of(function))
        if name in _OPERATORS:
            setattr(Deferred, f"__r{name}__", of(function, True))


_install_operators()


def _type_of(function: Callable) -> str:
    name = getattr(function, "__name__", "call").strip("_")
    return _TYPES.get(name) or "".join(part.capitalize() for part in name.split("_"))


class Placeholder(Deferred):
    """A value that is fed."""

    def __init__(self, dtype: Any, shape: Any, name: str | None) -> None:
        super().__init__(self._missing, name=name or "Placeholder")
        self.known, self.kind = TensorShape(shape), dtypes.as_dtype(dtype)

    dtype = property(lambda self: self.kind)
    shape = property(lambda self: self.known)

    def ones(self) -> EagerTensor:
        """A value that may be fed."""
        sizes = [] if self.known.rank is None else [n or 1 for n in self.known.as_list()]
        return new_tensor(np.ones(sizes).astype(self.kind.as_numpy_dtype)[()])

    def _missing(self) -> Any:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"You must feed a value for placeholder tensor '{self._name}' with dtype {self.kind.kernel_name}",
        )


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Placeholder:
    """A tensor whose value is given to ``Session.run``; RuntimeError outside of graphs."""
    if state.graph is None:
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return Placeholder(dtype, shape, name)


def _placeholders(value: Any) -> list[Placeholder]:
    found, stack, seen = [], [value], set()
    while stack:
        one = stack.pop()
        if not isinstance(one, Deferred) or one in seen:
            continue
        seen.add(one)
        found += [one] if isinstance(one, Placeholder) else []
        stack += nest.flatten([list(one.args), one.kwargs])
    return found


class DeferredVariable(Deferred, Variable):
    """A variable of a graph: a session makes it when it runs its initializer."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, initial_value: Any = None, trainable: bool = True, name: Any = None, **others: Any) -> None:
        super().__init__(lambda: self._variable(), name=name or "Variable")
        self.trainable, self.made = trainable is None or trainable, None
        self.initial_value = initial_value
        self.initializer = Deferred(self._make, (initial_value() if callable(initial_value) else initial_value,))
        self.others = others
        self.graph.variables.append(self)

    def _make(self, value: Any) -> None:
        if self.made is None:
            self.made = ResourceVariable(value, trainable=self.trainable, name=self._name, **self.others)
        else:
            self.made.assign(value)

    def _variable(self) -> ResourceVariable:
        if self.made is None:
            raise errors.FailedPreconditionError(None, None, f"Attempting to use uninitialized value {self._name}")
        return self.made

    def __getattribute__(self, name: str) -> Any:
        if name.startswith(("assign", "scatter")):
            return lambda *args, **kwargs: Deferred(_method(name), (self, *args), kwargs, name)
        return super().__getattribute__(name)


def _method(name: str) -> Callable:
    return lambda variable, *args, **kwargs: getattr(variable, name)(*args, **kwargs)


# -- what puts calls off ---------------------------------------------------------------------------

_AT_ONCE = set(
    "name_scope op_scope control_dependencies gradients hessians placeholder Graph Session get_default_graph "
    "get_default_session reset_default_graph RegisterGradient no_gradient NotDifferentiable executing_eagerly "
    "init_scope function py_function_ global_variables trainable_variables get_collection all_variables "
    "global_variables_initializer initialize_all_variables get_variable variable_scope get_variable_scope "
    "disable_eager_execution enable_eager_execution disable_v2_behavior set_random_seed custom_gradient "
    "recompute_grad grad_pass_through is_tensor as_dtype device register_gradient TensorSpec constant_initializer".split()
)


def deferring(function: Callable) -> Callable:
    """A function that is put off in a graph."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if state.graph is None else put_off(function, args, kwargs)

    called._deferring = True
    return called


def put_off(function: Callable, args: Any, kwargs: Any) -> Any:
    """The call as something that waits; what is such already is itself as a tensor."""
    if function.__name__ == "to_graph_tensor" and isinstance(args[0] if args else None, Deferred):
        return args[0]
    if function.__name__ in ("py_func", "numpy_function") and isinstance(kwargs.get("Tout", args[-1]), (list, tuple)):
        made = Deferred(functools.wraps(function)(lambda *a, **k: _listed(function(*a, **k))), args, kwargs)
        return [made[n] for n in range(len(kwargs.get("Tout", args[-1])))]
    return Deferred(function, args, kwargs, kwargs.get("name") or _NAMES.get(function.__name__))


def _listed(found: Any) -> list:
    return found if isinstance(found, list) else [found]


_NAMES = {"constant": "Const"}


_installed: list[bool] = []


def install() -> None:
    """From now on the functions in the namespaces of ``tf`` are put off in graphs."""
    if not _installed:
        _installed.append(True)
        hooks.wrap_functions(wrapped)


def wrapped(name: str, value: Any) -> Any:
    """What a namespace offers under a name."""
    ours = inspect.isfunction(value) and value.__module__.startswith("minitape.") and not hasattr(value, "_deferring")
    return deferring(value) if ours and name not in _AT_ONCE else value


# -- values ----------------------------------------------------------------------------------------


class Run:
    """The values of calls in one run, each made once, under a tape that follows all of them."""

    def __init__(self, fed: dict[Deferred, Any]) -> None:
        self.memo: dict[Deferred, Any] = {}
        self.tape = GradientTape(persistent=True)
        self.fed = fed

    def value(self, one: Any) -> Any:
        """The value of a structure of calls."""
        with Elsewhere(record=None, tapes=[], graph=None), self.tape:
            for place, value in self.fed.items():
                self.memo[place] = self._watched(convert_to_tensor(value, place.dtype))
            return self._of(one)

    def _of(self, value: Any) -> Any:
        if isinstance(value, Deferred):
            if value not in self.memo:
                self.memo[value] = self._computed(value)
            return self.memo[value]
        if isinstance(value, (list, tuple, dict)):
            return nest.map_structure(self._of, value)
        return value

    def _computed(self, call: Deferred) -> Any:
        for control in call.controls:
            self._of(control)
        if isinstance(call, Gradients):
            return call.computed(self)
        args, kwargs = [self._of(a) for a in call.args], {k: self._of(v) for k, v in call.kwargs.items()}
        first = 0 if self.tape._record is None else len(self.tape._record)
        found = call.function(*args, **kwargs)
        if call.overrides and (name := self._override(call, first)) is not None:
            found = _with_gradient(call, GRADIENTS[name], args, kwargs)
        return nest.map_structure(self._watched, found) if isinstance(found, (list, tuple)) else self._watched(found)

    def _override(self, call: Deferred, first: int) -> str | None:
        """The name of the gradient for what a call has written."""
        record = self.tape._record
        made = {p.op for row in range(first, len(record)) if (p := operation_of(record, row)[0]) is not None}
        return next((name for kind, name in call.overrides.items() if kind in made or kind == call.type), None)

    def _watched(self, value: Any) -> Any:
        """A tensor that nothing has made on the tape, as one to which gradients may go."""
        if type(value) is EagerTensor and value.dtype.differentiable and self.tape._record.find(value) is None:
            self.tape.watch(value)
        return value


class _Operation:
    """What a registered gradient function sees of an operation."""

    def __init__(self, call: Deferred, inputs: Sequence, outputs: Sequence) -> None:
        self.type, self.name, self.inputs, self.outputs = call.type, call._name, inputs, outputs


def _with_gradient(call: Deferred, function: Callable | None, args: list, kwargs: dict) -> Any:
    """What the call gives, with a registered gradient."""
    leaves = nest.flatten(args)
    tensors = [a for a in leaves if isinstance(a, Tensor)]

    @custom_gradient
    def run(*inputs: EagerTensor) -> tuple[Any, Callable]:
        waiting = iter(inputs)
        flat = [next(waiting) if isinstance(a, Tensor) else a for a in leaves]
        found = call.function(*nest.pack_sequence_as(args, flat), **kwargs)

        def grad(*gs: EagerTensor) -> list:
            shares = (
                [None] * len(inputs)
                if function is None
                else function(_Operation(call, inputs, nest.flatten(found)), *gs)
            )
            return list(shares) if isinstance(shares, (list, tuple)) else [shares]

        return found, grad

    return run(*tensors)


class Gradients(Deferred):
    """The gradients of some calls by others."""

    def __init__(self, ys: list, xs: list, grad_ys: list | None, stop: list) -> None:
        super().__init__(gradients, (ys, xs, grad_ys, stop), name="gradients")

    def computed(self, run: Run) -> list:
        """What the tape of the run says."""
        ys, xs, grad_ys, stop = self.args
        values = [t._read() if hasattr(t, "_read") else t for t in run._of(ys)]
        sources, given = run._of(xs), run._of(grad_ys) or [None] * len(ys)
        found = gradients_of(run.tape, values, sources, [None if g is None else convert_to_tensor(g) for g in given])
        return list(found)


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", **options: Any) -> list:
    """The gradients of the sum of ``ys`` by each of ``xs``, in a graph.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(3.0)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(tf.gradients(x * x, x)))
    [np.float32(6.0)]
    """
    if state.record is not None and state.record.traces:
        starts = [None] * len(nest.flatten(ys)) if grad_ys is None else nest.flatten(grad_ys)
        return gradients_of(state.record.tape, nest.flatten(ys), nest.flatten(xs), starts)
    if state.graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    flat = [nest.flatten(part) for part in (ys, xs)]
    made = Gradients(*flat, None if grad_ys is None else nest.flatten(grad_ys), [])
    return [made[k] for k in range(len(flat[1]))]


class RegisterGradient:
    """Decorator that registers ``grad(op, *upstream)`` under a name for ``Graph.gradient_override_map``."""

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


def no_gradient(op_type: str) -> None:
    """Registers that nothing passes."""
    RegisterGradient(op_type)(None)


NotDifferentiable = no_gradient
