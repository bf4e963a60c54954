"""``tf.function``: a Python function traced once for each signature and then run as a graph."""

from __future__ import annotations

import functools
import inspect
import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from operator import is_, is_not
from typing import TYPE_CHECKING, Any

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.tensor.variable import ResourceVariable
from ..engine.values import nest
from .body import GraphBody
from .concrete import ConcreteFunction, FuncGraph
from .settings import EAGER_FUNCTIONS
from .signature import NoCast, Signature, as_spec, call_arguments, cast, spread_positional, with_tensors
from .spec import Identity, TensorSpec, key_of
from .values import current

if TYPE_CHECKING:
    from ..engine.types import Value
    from .build import Graph
    from .types import Arguments, Names

_LITERALS = {bool, int, float, str, type(None)}
_TEXT_ALONE = {str}


class Function:
    """What ``tf.function`` returns. Calling it traces on the first call for each signature, and runs the graph.

    ``get_concrete_function`` gives one trace, ``python_function`` is the wrapped function.

    >>> import minitape as tf
    >>> double = tf.function(lambda x: x * 2)
    >>> double(tf.constant(3.0)).numpy(), double.python_function(3)
    (np.float32(6.0), 6)
    """

    def __init__(
        self,
        python_function: Callable,
        input_signature: Any = None,
        autograph: bool = True,
        reduce_retracing: bool = False,
        owner: Any = None,
        name: str | None = None,
    ) -> None:
        self._python_function, self._owner = python_function, owner
        self._autograph, self._reduce = autograph, reduce_retracing
        functools.update_wrapper(self, python_function, updated=())
        self._name: str = name or str(getattr(python_function, "__name__", "function"))
        signature = inspect.signature(python_function)
        parameters = dict(signature.parameters)
        if owner is not None and parameters:
            parameters.pop(next(iter(parameters)))
        if isinstance(input_signature, (list, tuple)):
            parameters = spread_positional(parameters, len(input_signature) + (owner is None and "self" in parameters))
        self._parameters = parameters
        self._signature = signature.replace(parameters=list(parameters.values()))
        if owner is not None:
            self.__signature__ = self._signature  # a method's has no self
        if input_signature is not None and not isinstance(input_signature, (list, tuple)):
            raise TypeError(f"input_signature must be either a tuple or a list, got {type(input_signature)}.")
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._traces: dict[Any, ConcreteFunction] = {}
        self._fast: dict[Any, ConcreteFunction] = {}  # by types and values, where arguments are tensors and literals
        self._tracing_count = 0
        self._converted: Any = None
        self._untraced = 0  # calls since the last one that was counted
        self._initialized = False
        self._bound: Any = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()  # one thread traces, the others wait and find the trace
        if self.input_signature is not None:
            self._check_input_signature()

    # -- what it is --------------------------------------------------------------------------------


    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was traced."""
        return self._tracing_count


    def __get__(self, instance: Any, cls: Any = None) -> Any:
        if instance is None:
            return self
        with self._lock:
            bound = self._bound.get(instance)
            if bound is None:
                bound = self._bound[instance] = self._method(weakref.ref(instance))
            return bound

    def _method(self, owner: Any) -> Function:
        return Function(self._python_function, self.input_signature, self._autograph, self._reduce, owner, self._name)

    def __repr__(self) -> str:
        return f"<tensorflow.python.eager.polymorphic_function.polymorphic_function.Function object at {hex(id(self))}>"

    # -- calling -----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if EAGER_FUNCTIONS[0]:
            return self._python_function(*self._with_owner(args), **kwargs)
        given: list = []
        arrays: list = []
        # as the trace takes them
        ordered = kwargs if len(kwargs) < 2 else dict(sorted(kwargs.items(), key=self._place))
        key: list = [*ordered]
        plain = _tell((*args, *ordered.values()) if ordered else args, key, given, arrays, self.input_signature is None)
        if plain:
            known = self._fast.get(tuple(key))
            if known is not None:
                self._untraced += 1
                return known.call_flat(given, arrays)
        before = self._tracing_count
        values = self._bind(args, kwargs)
        concrete = self._concrete(values)
        self._note(self._tracing_count > before)
        tensors = _tensors(values)
        if state.tapes:
            _access(values)
        whole = len(tensors) == len(given)  # else the default of a parameter is a tensor
        if self.input_signature is not None:  # a tensor that was not cast
            whole = whole and all(map(is_, tensors, given))
        if plain and whole and not concrete.body.captured:
            self._fast[tuple(key)] = concrete
        return concrete.call_flat(tensors)

    def _with_owner(self, args: Arguments) -> tuple:
        if self._owner is None:
            return args
        owner = self._owner() if isinstance(self._owner, weakref.ref) else self._owner
        return (owner, *args)


    def _note(self, traced: bool) -> None:
        if state.graph is not None:  # part of another trace
            return
        counter = retracing_of(self._python_function)
        counter.called(self._untraced)
        self._untraced = 0
        counter.traced(self._python_function) if traced else counter.called(1)

    # -- arguments ---------------------------------------------------------------------------------

    def _bind(self, args: Arguments, kwargs: Names) -> Names:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(self._refusal(str(error), args, kwargs)) from None
        bound.apply_defaults()
        values = dict(bound.arguments)
        for p in self._parameters.values():
            if p.kind is p.VAR_KEYWORD and p.name in values:
                values[p.name] = dict(sorted(values[p.name].items()))  # as structures are flattened
        if self.input_signature is not None:
            values = self._cast(values, args, kwargs)
        return with_tensors(values)


    def _named_signature(self) -> Names:
        return dict(zip(self._parameters, self.input_signature or (), strict=False))

    def _check_input_signature(self) -> None:
        specs = self.input_signature or ()
        leaves = nest.flatten(list(specs))
        if any(not hasattr(leaf, "dtype") or not hasattr(leaf, "shape") for leaf in leaves):
            raise TypeError(
                "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args "
                f"{leaves} with types {[type(leaf) for leaf in leaves]}."
            )
        named = [p for p in self._parameters.values() if p.kind is not p.VAR_KEYWORD]
        if self._owner is None and named and named[0].name == "self":  # a method: it is bound before it is called
            named = named[1:]
        for p in named:
            if p.kind is p.KEYWORD_ONLY and p.default is p.empty:
                raise TypeError(
                    f"Since input_signature is defined, keyword-only parameter `{p.name}` must have a default value"
                )
        for p in named[len(specs) :]:
            if p.default is p.empty and p.kind is not p.VAR_POSITIONAL:
                raise TypeError(f"input_signature missing type constraint for {p.name}")
        if len(specs) > len(named):
            raise TypeError(f"input_signature contains {len(specs) - len(named)} extra type constraints.")

    def _cast(self, values: Names, args: Any, kwargs: Names) -> Names:
        out = dict(values)
        for name, spec in self._named_signature().items():
            try:
                out[name] = cast(spec, values[name])
            except NoCast as error:
                raise TypeError(self._refusal(str(error), args, kwargs)) from error.__cause__
        return out

    # -- traces ------------------------------------------------------------------------------------


    def _concrete(self, values: Names) -> ConcreteFunction:
        """The trace for these arguments."""
        if self.input_signature is not None:
            named = self._named_signature()
            shaped = {n: named.get(n, v) for n, v in values.items()}
        else:
            shaped = values
        key = key_of(shaped)
        concrete = self._known(key)
        if concrete is not None:
            return concrete
        with self._lock:  # another thread may have traced it in the meantime
            concrete = self._known(key)
            if concrete is None:
                concrete = self._traces[key] = self._trace(shaped, _tensors(values))
            return concrete

    def _known(self, key: Any) -> ConcreteFunction | None:
        """The trace of this key, unless it captured tensors of another graph than the one that is being built."""
        found = self._traces.get(key)
        usable = found is not None and (not found.body.captured or found.graph.outer is state.graph)
        return found if usable else None



    def _trace(self, values: Names, given: list) -> ConcreteFunction:
        signature = Signature(
            self._parameters, {n: nest.map_structure(as_spec, v) for n, v in values.items()}, self._name
        )
        if not self._initialized:
            concrete, created = self._traced(signature, True, given)
            self._tracing_count += 1
            self._initialized = True
            if created:  # traced again: the second trace must not make variables
                concrete, _ = self._traced(signature, False)
                self._tracing_count += 1
            return concrete
        concrete = self._traced(signature, False)[0]
        self._tracing_count += 1
        return concrete

    def _traced(self, signature: Signature, may_create: bool, given: Sequence = ()) -> tuple[ConcreteFunction, list]:
        graph = FuncGraph(self._name, state.graph, may_create)
        with graph.as_default():
            inputs: list = []
            leaves = iter([_place_leaf(graph, name, leaf, inputs) for name, leaf in signature.leaves()])
            graph.given = {place._row: tensor for place, tensor in zip(inputs, given, strict=False)}
            structure = {n: nest.map_structure(lambda _: next(leaves), v) for n, v in signature.values.items()}
            args, kwargs = call_arguments(self._parameters, structure)
            before = {n: nest.map_structure(lambda leaf: leaf, v) for n, v in structure.items()}
            result = self._function()(*self._with_owner(args), **kwargs)
            _refuse_changed(before, structure, self._python_function, self._with_owner(()))
            result = _as_outputs(result, self._python_function)
        return ConcreteFunction(GraphBody(graph, inputs, result), self._name, signature), graph.created

    def _function(self) -> Callable:
        if not self._autograph:
            return self._python_function
        if self._converted is None:
            from .autograph import convert_entry

            self._converted = convert_entry(self._python_function)
        return self._converted


def _refuse_changed(before: Names, after: Names, function: Callable, owner: Sequence) -> None:
    """ValueError where a function changed a list or dictionary among its arguments: only a trace would see that."""

    def changed(old: Any, new: Any) -> bool:
        try:
            nest.assert_same_structure(old, new)
        except ValueError:
            return True
        return any(map(is_not, nest.flatten(old), nest.flatten(new)))

    if names := [n for n, old in before.items() if changed(old, after[n])]:
        called = (
            f"{getattr(function, '__qualname__', function)}{inspect.signature(functools.partial(function, *owner))}"
        )
        raise ValueError(
            f"{called} should not modify its Python input arguments. "
            f"Modifying a copy is allowed. The following parameter(s) were modified: {', '.join(names)}"
        )


def _tensors(values: Names) -> list:
    return [
        t
        for v in values.values()
        for t in ((v,) if isinstance(v, Tensor) else nest.flatten(v))
        if isinstance(t, Tensor)
    ]


def _access(values: Names) -> None:
    """Reads the variables among the arguments: a call counts as an access, whether the function reads them or not."""
    for value in nest.flatten(list(values.values())):
        if hasattr(value, "_read"):
            value._read()


def _tell(values: Iterable, key: list, tensors: list, arrays: list, converts: bool) -> bool:
    """Adds to a key what tells these arguments from others, and their tensors and arrays as structures are flattened.

    So the next such call finds its trace without a look at the signature. False where there is more to ask. With
    ``converts`` arrays become tensors.
    """
    for a in values:
        kind = type(a)
        if kind is EagerTensor:
            value = a._value
            key += value.dtype, value.shape
            tensors.append(a)
            arrays.append(value)
        elif kind in _LITERALS:
            key += kind, a
        elif kind is list or kind is tuple:
            key += kind, len(a)
            if not _tell(a, key, tensors, arrays, converts):
                return False
        elif kind is dict and _TEXT_ALONE.issuperset(map(type, a)):
            names = sorted(a)
            key += kind, tuple(names)
            if not _tell([a[name] for name in names], key, tensors, arrays, converts):
                return False
        elif kind is ResourceVariable and not state.tapes:  # for tapes a call counts as an access
            key.append(Identity(a))
        elif converts and state.graph is None and is_array(a):
            _tell((convert_to_tensor(a),), key, tensors, arrays, converts)
        else:
            return False
    return True


def _place_leaf(graph: Graph, name: str, leaf: Value, inputs: list) -> Any:
    if not isinstance(leaf, TensorSpec):
        return leaf
    inputs.append(graph.input(leaf.dtype, leaf.shape, leaf.name or name))
    return inputs[-1]


def _as_outputs(result: Any, function: Any) -> Any:
    """The returned structure as tensors of the graph: variables are read, numbers become constants."""

    def leaf(value: Value) -> Any:
        if value is None:
            return None
        if not isinstance(value, Tensor):
            try:
                value = convert_to_tensor(current(value))
            except (TypeError, ValueError):
                raise TypeError(
                    "To be compatible with tf.function, Python functions must return zero or more Tensors or "
                    f"ExtensionTypes or None values; in compilation of {function!r}, found return value of type "
                    f"{type(value).__name__}, which is not a Tensor or ExtensionType."
                ) from None
        return TABLE["identity"](state.graph.tensor_at(state.graph.row_or_new_leaf(value)))

    return nest.map_structure(leaf, result)




def function(
    func: Any = None,
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
) -> Any:
    """Makes a Python function run as a graph: traced once for each signature, then replayed without Python.

    Tensors are told apart by dtype and shape, Python values by equality; ``input_signature`` fixes one trace,
    ``reduce_retracing`` lets shapes grow unknown sizes. Python side effects happen while tracing only; variables may be
    made on the first call only. With ``autograph`` ``if``, ``while`` and ``for`` on tensors become part of the graph.
    ``jit_compile`` has no effect: graphs are compiled in any case. Gradients flow through calls, to any order. See
    https://www.tensorflow.org/api_docs/python/tf/function.

    >>> import minitape as tf
    >>> @tf.function
    ... def f(x):
    ...     print("tracing")
    ...     return x * x
    >>> print(f(tf.constant(2.0)).numpy(), f(tf.constant(3.0)).numpy())
    tracing
    4.0 9.0
    """

    def decorated(inner: Any) -> Function:
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        return Function(inner, input_signature, autograph, reduce_retracing)

    return decorated if func is None else decorated(func)


_TEXT = (
    "{count} out of the last {calls} calls to {function} triggered tf.function retracing. Tracing is expensive and the "
    "excessive number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors "
    "with different shapes, (3) passing Python objects instead of tensors. For (1), please define your @tf.function "
    "outside of the loop. For (2), @tf.function has reduce_retracing=True option that can avoid unnecessary retracing. "
    "For (3), please refer to https://www.tensorflow.org/guide/function#controlling_retracing and "
    "https://www.tensorflow.org/api_docs/python/tf/function for  more details."
)


class Retracing:
    """Counts the calls between the traces of one function, for the warning about too many of them."""

    def __init__(self) -> None:
        self.calls_per_trace: list[int] = []
        self.warned = self.calls = 0

    def traced(self, function: Any) -> None:
        """A call that traced: the warning when at least 5 of the last 10 or so did, twice at most."""
        self.calls += 1
        self.calls_per_trace.append(1)
        while self.calls_per_trace and self.calls - self.calls_per_trace[0] > 10:
            self.calls -= self.calls_per_trace.pop(0)
        if self.warned < 2 and len(self.calls_per_trace) >= 5:
            self.warned += 1
            text = _TEXT.format(count=len(self.calls_per_trace), calls=self.calls, function=repr(function))
            logging.getLogger("tensorflow").warning(text)

    def called(self, times: int) -> None:
        """Calls that did not trace."""
        if times:
            self.calls_per_trace = self.calls_per_trace or [0]
            self.calls_per_trace[-1] += times
            self.calls += times


_known: dict[Any, Retracing] = {}


def retracing_of(function: Any) -> Retracing:
    """The counter of a Python function, which all its ``tf.function`` share.

    As in TensorFlow, so do functions of several files whose code reads the same.
    """
    return _known.setdefault(getattr(function, "__code__", function), Retracing())
