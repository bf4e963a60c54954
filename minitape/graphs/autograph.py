"""Control flow on symbolic tensors: what the rewritten functions call (:mod:`minitape.graphs.rewrite`).

Each function looks whether a symbolic tensor decides. If so it builds ``cond`` or ``while_loop`` from the statement's
parts, else it does what Python does.
"""

from __future__ import annotations

import functools
import inspect
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import nest
from ..convert import convert_to_tensor
from ..errors import OpError
from ..primitives import TABLE
from ..record import own_file, state
from ..shape import TensorShape
from ..tensor import Tensor, wrap
from .body import Body, BodyGraph
from .build import NeedsValue, SymbolicTensor, is_symbolic
from .control import TensorArrayBase, _not, build_case, build_while, closed, opened
from .rewrite import CanNotConvert, converted

_PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)
_LIMITS = (
    "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md"
)


class Undefined:
    """A local variable before its first assignment; using it raises what ``error`` makes."""

    __slots__ = ("_name", "_error")

    def __init__(self, name: str, error: Callable[[], Exception] | None = None) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_error", error)

    def fail(self) -> Exception:
        """The error for a use of the variable."""
        name = object.__getattribute__(self, "_name")
        error = object.__getattribute__(self, "_error")
        if error is not None:
            return error()
        return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")

    def __getattr__(self, name: str) -> Any:
        raise self.fail()


def _failing(name: str) -> None:
    def method(self: Undefined, *args: Any) -> Any:
        raise self.fail()

    setattr(Undefined, name, method)


for _method in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow", "getitem", "iter", "len",
                "call", "lt", "le", "gt", "ge", "neg", "matmul", "rmatmul", "bool", "float", "int", "str", "mod", "floordiv"):  # fmt: skip
    _failing(f"__{_method}__")


class _Missing:
    """What a branch without a return statement returns."""

    def __repr__(self) -> str:
        return "<no return>"


MISSING = _Missing()


def _decides(value: Any) -> bool:
    """Whether a symbolic tensor decides here."""
    return state.graph is not None and is_symbolic(value)


# -- if -------------------------------------------------------------------------------------------------------------------


def if_stmt(test: Any, then: Any, orelse: Any, get: Any, put: Any, names: tuple[str, ...]) -> None:
    """``if``: on a symbolic tensor both branches are traced, and the names that they assign are joined."""
    if hasattr(test, "_read"):
        test = test._read()
    if not _decides(test):
        then() if test else orelse()
        return
    before = get()
    graphs, states = [], []
    for branch in (then, orelse):
        graph = BodyGraph(state.graph)
        with graph.as_default(), graph.name_scope("cond"):
            put(before)
            branch()
            states.append(get())
        graphs.append(graph)
    put(before)
    merged: list[Any] = []
    outs: list[list[Any]] = [[], []]
    for name, start, first, second in zip(names, before, *states, strict=True):
        merged.append(_merge(name, start, first, second, outs))
    found = _build(test, graphs, outs)
    put(tuple(m(found) if callable(m) and isinstance(m, _Pending) else m for m in merged))


class _Pending:
    """A value that is among the results of the operation to come."""

    def __init__(self, make: Callable[[Sequence[Any]], Any]) -> None:
        self._make = make

    def __call__(self, found: Sequence[Any]) -> Any:
        return self._make(found)


def _build(test: Any, graphs: list[Any], outs: list[list[Any]]) -> list[Any]:
    bodies = [Body(graph, [], list(values)) for graph, values in zip(graphs, outs, strict=True)]
    return build_case(_not(test), bodies, "cond")


def _merge(name: str, start: Any, first: Any, second: Any, outs: list[list[Any]]) -> Any:
    """What a name stands for after an ``if``; tensors are added to the outputs of the branches."""
    if first is second:
        return first
    for value, branch in ((first, "main"), (second, "else")):
        if isinstance(value, Undefined):
            return Undefined(
                name, functools.partial(ValueError, f"'{name}' must also be initialized in the {branch} branch")
            )
    try:
        nest.assert_same_structure(first, second, check_types=False)
    except (TypeError, ValueError):
        return Undefined(name, functools.partial(
            TypeError, f"'{name}' must have the same nested structure in the main and else branches"))  # fmt: skip
    places: list[Any] = []
    for a, b in zip(nest.flatten(first), nest.flatten(second), strict=True):
        if a is b and not isinstance(a, Tensor):
            places.append((None, a))
            continue
        if isinstance(a, TensorArrayBase) and isinstance(b, TensorArrayBase):
            places.append((len(outs[0]), a))
            outs[0].append(opened(a))
            outs[1].append(opened(b))
            continue
        if not (_is_value(a) and _is_value(b)):
            if type(a) is type(b) and not isinstance(a, Tensor) and _equal(a, b):
                places.append((None, a))
                continue
            label = "is None" if a is None or b is None else "is not a tensor"
            which = "main" if not _is_value(a) else "else"
            return Undefined(name, functools.partial(ValueError, f"'{name}' {label} at the end of the {which} branch"))
        dtypes = [_dtype(a), _dtype(b)]
        if dtypes[0] != dtypes[1]:
            raise TypeError(f"'{name}' has dtype {dtypes[0].name} in the main branch, but dtype {dtypes[1].name} in the else "
                            "branch")  # fmt: skip
        places.append((len(outs[0]), None))
        outs[0].append(a)
        outs[1].append(b)

    def make(found: Sequence[Any]) -> Any:
        leaves = [
            like if at is None else closed(like, found[at]) if like is not None else found[at] for at, like in places
        ]
        return nest.pack_sequence_as(first, leaves)

    return _Pending(make)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:
        return False


def _is_value(value: Any) -> bool:
    return isinstance(value, (Tensor, *_PLAIN)) or hasattr(value, "_read")


def _dtype(value: Any) -> Any:
    return value.dtype if isinstance(value, Tensor) else convert_to_tensor(value).dtype


def if_return(test: Any, then: Any, orelse: Any, get: Any, put: Any, names: tuple[str, ...]) -> Any:
    """An ``if`` whose branches return: both must, and the same structure."""
    if hasattr(test, "_read"):
        test = test._read()
    if not _decides(test):
        found = then() if test else orelse()
        return found
    before = get()
    graphs, results = [], []
    for branch in (then, orelse):
        graph = BodyGraph(state.graph)
        with graph.as_default(), graph.name_scope("cond"):
            put(before)
            results.append(_no_variables(branch()))
        graphs.append(graph)
    put(before)
    first, second = results
    for value, other, label in ((first, second, "main"), (second, first, "else")):
        if value is MISSING or (value is None) != (other is None):
            if first is MISSING and second is MISSING:
                return MISSING
            if value is MISSING or value is None:
                raise ValueError(f"the {label} branch must also have a return statement.")
    outs: list[list[Any]] = [[], []]
    merged = _merge_returned(first, second, outs)
    found = _build(test, graphs, outs)
    return merged(found) if isinstance(merged, _Pending) else merged


def _no_variables(value: Any) -> Any:
    return nest.map_structure(lambda v: v._read() if hasattr(v, "_read") else v, value)


def _merge_returned(first: Any, second: Any, outs: list[list[Any]]) -> Any:
    if first is None and second is None:
        return None
    merged = _merge("the return value", None, first, second, outs)
    if isinstance(merged, Undefined):
        raise merged.fail()
    return merged


def if_exp(test: Any, then: Any, orelse: Any) -> Any:
    """``a if test else b``."""
    return if_return(test, then, orelse, tuple, lambda values: None, ())


# -- and, or, not ---------------------------------------------------------------------------------------------------------


def not_(value: Any) -> Any:
    """``not``."""
    if hasattr(value, "_read"):
        value = value._read()
    return TABLE["logical_not"](_boolean(value)) if _decides(value) else not value


def _boolean(value: Any) -> Any:
    from ..dtypes import bool as boolean

    value = convert_to_tensor(value)
    return value if value.dtype.kind == "b" else TABLE["cast"](value, dtype=boolean)


def and_(*parts: Any) -> Any:
    """``and``."""
    return _junction(parts, "logical_and", lambda v: not v)


def or_(*parts: Any) -> Any:
    """``or``."""
    return _junction(parts, "logical_or", bool)


def _junction(parts: Sequence[Any], name: str, settles: Callable[[Any], bool]) -> Any:
    value: Any = parts[0]()
    for part in parts[1:]:
        if hasattr(value, "_read"):
            value = value._read()
        if _decides(value):
            value = TABLE[name](_boolean(value), _boolean(part()))
        elif settles(value):
            return value
        else:
            value = part()
    return value


# -- loops ----------------------------------------------------------------------------------------------------------------


def while_stmt(test: Any, body: Any, get: Any, put: Any, names: tuple[str, ...], later: tuple[str, ...]) -> None:
    """``while``: on a symbolic tensor one operation that holds the condition and the body."""
    first = _value(test())
    if not _decides(first):
        while first:
            body()
            first = _value(test())
            if _decides(first):
                raise NotImplementedError(
                    "The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either because "
                    "variables changed type, or when a break or return statement inside the loop depends on a Tensor condition. "
                    "In both cases, changing to a TF loop should remove the error.\n    "
                    f"See {_LIMITS}#consistency-of-control-flow-types for more info."
                )
        return
    _refuse_return(names)
    _Loop(names, get, put, later).run(lambda item: test(), lambda item: body(), None)


def _value(test: Any) -> Any:
    return test._read() if hasattr(test, "_read") else test


def _refuse_return(names: tuple[str, ...]) -> None:
    if any(n.startswith("_ag_do_return") for n in names):
        raise NotImplementedError(
            "a return statement cannot be placed inside this TensorFlow loop; this may happen if a return statement depends on "
            "a static Python condition such as a hyperparameter"
        )


def for_stmt(
    source: Any, extra: Any, body: Any, get: Any, put: Any, names: tuple[str, ...], later: tuple[str, ...]
) -> None:
    """``for``: over a tensor of a graph one operation; over anything else Python's loop."""
    if hasattr(source, "_read"):
        source = source._read()
    if state.graph is None or not isinstance(source, Tensor):
        for item in source:
            if extra is not None and not extra():
                break
            body(item)
            if extra is not None and not _still(extra):
                break
        return
    if source.shape.rank == 0:
        raise TypeError("iterating over a scalar tensor is not allowed")
    _refuse_return(names)
    loop = _Loop(names, get, put, later)
    loop.run(lambda item: True if extra is None else extra(), body, source)


def _still(extra: Any) -> bool:
    value = extra()
    if _decides(value):
        raise NotImplementedError(
            "break and return statements which are dependent on a TF condition are not supported in Python for loops. Did you "
            "intend to make it a TF loop?\n"
            f"See {_LIMITS}#consistency-of-control-flow-types for more info."
        )
    return bool(value)


class _Loop:
    """A loop on symbolic tensors: which names it changes, and the operation made of it."""

    def __init__(self, names: tuple[str, ...], get: Any, put: Any, later: tuple[str, ...]) -> None:
        self.names, self.get, self.put, self.later = names, get, put, later
        self.lost: dict[str, Undefined] = {}  # names that have no value after the loop

    def run(self, test: Any, body: Any, source: Any) -> None:
        """Builds the operation; ``source`` is the tensor that a ``for`` walks over, or None."""
        from .later import size_of

        before = self.get()
        count = None if source is None else size_of(source)
        carried = self._carried(before, body, source)
        flat = [v for _, value in carried for v in nest.flatten(value)]
        start = [convert_to_tensor(opened(v)) for v in flat]
        shapes = [
            TensorShape(None) if isinstance(v, TensorArrayBase) else t.shape for v, t in zip(flat, start, strict=True)
        ]
        index = [] if source is None else [wrap(np.int32(0))]
        specs = [(t.shape, t.dtype) for t in index] + [(s, t.dtype) for s, t in zip(shapes, start, strict=True)]

        def enter(tensors: Sequence[Any]) -> Any:
            given = list(tensors[len(index) :])
            values, at = dict(zip(self.names, before, strict=True)), 0
            for name, value in carried:
                likes = nest.flatten(value)
                leaves = [closed(like, t) for like, t in zip(likes, given[at : at + len(likes)], strict=True)]
                values[name] = nest.pack_sequence_as(value, leaves)
                at += len(likes)
            self.put(tuple(values[n] for n in self.names))
            return TABLE["gather"](source, tensors[0], axis=0) if source is not None else None

        latest: dict[str, list[Any]] = {}

        def turn(*tensors: Any) -> list[Any]:
            item = enter(tensors)
            body(item)
            after = dict(zip(self.names, self.get(), strict=True))
            outs = [tensors[0] + 1] if index else []
            for name, value in carried:
                latest[name] = nest.flatten(after[name])
                outs += self._leaves(name, value, after[name])
            return outs

        def check(*tensors: Any) -> Any:
            enter_without_item(tensors)
            go_on = _value(test(None))
            if not index:
                return convert_to_tensor(go_on)
            inside = tensors[0] < count
            return inside if go_on is True else TABLE["logical_and"](inside, _boolean(go_on))

        def enter_without_item(tensors: Sequence[Any]) -> None:
            nonlocal source
            kept, source = source, None
            try:
                enter(tensors)
            finally:
                source = kept

        options = _Options()
        made = _traced_turn(turn, specs, options)
        if options.shapes:  # set_loop_options was called in the body: once more, with the shapes that it allows
            specs = [(options.shapes.get(i, s), d) for i, (s, d) in enumerate(specs)]
            made = _traced_turn(turn, specs, _Options())
        tested = _traced_turn(check, specs, _Options())
        self._check(carried, specs[len(index) :], made.outputs[len(index) :])
        found = build_while(tested, made, [*index, *start], options.limit)[len(index) :]
        values, at = dict(zip(self.names, before, strict=True)), 0
        for name, value in carried:
            likes = [new if isinstance(new, TensorArrayBase) else v
                     for new, v in zip(latest[name], nest.flatten(value), strict=True)]  # fmt: skip
            values[name] = nest.pack_sequence_as(
                value, [closed(like, t) for like, t in zip(likes, found[at : at + len(likes)], strict=True)]
            )
            at += len(likes)
        self.put(tuple(self.lost.get(n, values[n]) for n in self.names))

    def _carried(self, before: tuple[Any, ...], body: Any, source: Any) -> list[tuple[str, Any]]:
        """(name, initial value) of each variable of the loop; one that is undefined before it starts with zeros."""
        carried = []
        guesses: dict[str, Any] | None = None
        for name, value in zip(self.names, before, strict=True):
            if name.startswith("_ag_continue"):
                continue
            if isinstance(value, Undefined):
                if name not in self.later:
                    continue
                if guesses is None:
                    guesses = self._after_one_turn(before, body, source)
                found = guesses[name]
                if isinstance(found, Undefined):
                    self.lost[name] = Undefined(name, functools.partial(_before_the_loop, name, found))
                    continue
                if not _all_values(found):
                    continue
                value = nest.map_structure(_zeros, found)
            elif not _all_values(value):
                continue
            carried.append((name, value))
        return carried

    def _after_one_turn(self, before: tuple[Any, ...], body: Any, source: Any) -> dict[str, Any]:
        graph = BodyGraph(state.graph)
        with graph.as_default(), graph.name_scope("while"):
            values = [_stand_in(graph, v) for v in before]
            self.put(tuple(values))
            item = None
            if source is not None:
                item = TABLE["gather"](source, graph.placeholder("int32", []), axis=0)
            body(item)
            after = dict(zip(self.names, self.get(), strict=True))
        self.put(before)
        return after

    def _leaves(self, name: str, before: Any, after: Any) -> list[Any]:
        try:
            nest.assert_same_structure(before, after, check_types=False)
        except (TypeError, ValueError):
            raise ValueError(f"'{name}' does not have the same nested structure after one iteration.") from None
        leaves = []
        for b, a in zip(nest.flatten(before), nest.flatten(after), strict=True):
            if isinstance(a, Undefined):
                raise a.fail()
            if a is None:
                raise ValueError(f"'{name}' is None at the end of the iteration.")
            a = opened(a)
            if not isinstance(a, Tensor):
                dtype = _dtype(opened(b))
                try:
                    a = convert_to_tensor(a, dtype)
                except (TypeError, ValueError):
                    a = convert_to_tensor(a)
            leaves.append(a)
        return leaves

    def _check(self, carried: list[Any], before: list[Any], after: list[Any]) -> None:
        labels = [(name, leaf) for name, value in carried for leaf in nest.flatten(value)]
        for (name, leaf), (shape, dtype), tensor in zip(labels, before, after, strict=True):
            if tensor.dtype != dtype:
                raise TypeError(f"'{name}' has dtype {dtype.name} before the loop, but dtype {tensor.dtype.name} after one "
                                "iteration")  # fmt: skip
            if not isinstance(leaf, TensorArrayBase) and not tensor.shape.is_subtype_of(shape):
                raise ValueError(
                    f"'{name}' has shape {shape} before the loop, but shape {tensor.shape} after one iteration. Use "
                    "tf.autograph.experimental.set_loop_options to set shape invariants."
                )


def _before_the_loop(name: str, found: Undefined) -> Exception:
    return ValueError(f"'{name}' must be defined before the loop.\nNote: AutoGraph tried to define it automatically, but ran "
                      f"into a ValueError: {found.fail()}")  # fmt: skip


class _Options:
    """What ``set_loop_options`` said inside a loop's body."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.shapes: dict[int, TensorShape] = {}
        self.limit: int | None = None


_loops: list[_Options] = []


def set_loop_options(parallel_iterations: Any = None, swap_memory: Any = None, maximum_iterations: Any = None,
                     shape_invariants: Any = None) -> None:  # fmt: skip
    """Inside a loop over tensors: ``shape_invariants`` are pairs (variable, shape that it keeps), ``maximum_iterations`` a
    limit. The other arguments are accepted and have nothing to do. Outside of such a loop nothing happens.

    >>> import minitape as tf
    >>> @tf.function
    ... def doubled(n):
    ...     x = tf.zeros([1])
    ...     for _ in tf.range(n):
    ...         tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
    ...         x = tf.concat([x, x], 0)
    ...     return x
    >>> doubled(tf.constant(2)).shape
    TensorShape([4])
    """
    if not _loops:
        return
    options = _loops[-1]
    if maximum_iterations is not None:
        options.limit = int(convert_to_tensor(maximum_iterations).array)
    for tensor, shape in shape_invariants or ():
        for i, place in enumerate(options.inputs):
            if place is tensor:
                options.shapes[i] = TensorShape(shape)


def _traced_turn(function: Any, specs: list[Any], options: _Options) -> Body:
    graph = BodyGraph(state.graph)
    _loops.append(options)
    try:
        with graph.as_default(), graph.name_scope("while"):
            options.inputs = [graph.placeholder(d, s) for s, d in specs]
            for t in options.inputs:
                graph.cold.discard(t._row)
            result = function(*options.inputs)
    finally:
        _loops.pop()
    return Body(graph, options.inputs, result)


def _all_values(value: Any) -> bool:
    leaves = nest.flatten(value)
    return bool(leaves) and all(
        (_is_value(v) and not hasattr(v, "_read")) or isinstance(v, TensorArrayBase) for v in leaves
    )


def _zeros(value: Any) -> Any:
    if isinstance(value, TensorArrayBase):
        return value
    tensor = convert_to_tensor(value)
    sizes = tuple(0 if d is None else d for d in (tensor.shape.as_list() if tensor.shape.rank is not None else []))
    array = np.zeros(sizes, tensor.dtype.as_numpy_dtype)
    if tensor.dtype.kind == "s":
        array.fill(b"")
    return wrap(array)


def _stand_in(graph: Any, value: Any) -> Any:
    """A symbolic value of the same kind, for a trial turn of a loop."""

    def leaf(v: Any) -> Any:
        if isinstance(v, Undefined) or not (_is_value(v) or isinstance(v, TensorArrayBase)) or hasattr(v, "_read"):
            return v
        tensor = convert_to_tensor(opened(v))
        shape = TensorShape(None) if isinstance(v, TensorArrayBase) else tensor.shape
        return closed(v, graph.placeholder(tensor.dtype, shape))

    return nest.map_structure(leaf, value)


# -- calls ----------------------------------------------------------------------------------------------------------------

_NOT_CONVERTED = ("numpy", "tensorflow", "functools", "itertools", "collections", "operator", "math", "random",
                  "inspect", "typing", "contextlib", "logging", "warnings", "copy", "threading", "abc", "builtins")  # fmt: skip


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call inside a rewritten function: the user's own functions are rewritten as well."""
    replaced = _BUILTINS.get(function) if isinstance(function, (type, types.BuiltinFunctionType)) else None
    if replaced is not None and args and any(isinstance(a, Tensor) for a in args):
        return replaced(*args, **kwargs)
    if state.graph is None:
        return function(*args, **kwargs)
    if _own(function):
        return _own_call(function, args, kwargs)
    return _rewritten(function)(*args, **kwargs)


def _own(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return isinstance(module, str) and module.split(".")[0] in ("minitape", "tensorflow")


def _own_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of minitape. One that needs values which only a run of the graph has is put off until then."""
    try:
        return function(*args, **kwargs)
    except (NeedsValue, TypeError, ValueError, IndexError) as error:
        from .postponed import postpone

        if isinstance(error, NeedsValue) or _has_open_shapes(args, kwargs):
            found = postpone(function, args, kwargs)
            if found is not None:
                return found[0]
        raise


def _has_open_shapes(args: Any, kwargs: Any) -> bool:
    return any(
        type(t) is SymbolicTensor and not t.shape.is_fully_defined() for t in nest.flatten([list(args), kwargs])
    )  # fmt: skip


def _rewritten(function: Any) -> Any:
    """The rewritten form of a user's function; anything else as it is."""
    if isinstance(function, functools.partial):
        inner = _rewritten(function.func)
        return functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        if not isinstance(function.__func__, types.FunctionType):
            return function
        return types.MethodType(_rewritten(function.__func__), function.__self__)
    if not isinstance(function, (types.FunctionType, type, types.BuiltinFunctionType)):
        method = getattr(type(function), "__call__", None)
        if isinstance(method, types.FunctionType) and not _library(method):
            return types.MethodType(_rewritten(method), function)
        return function
    if not isinstance(function, types.FunctionType) or _library(function) or inspect.isgeneratorfunction(function):
        return function
    if getattr(function, "_ag_do_not_convert", False) or inspect.iscoroutinefunction(function):
        return function
    try:
        return converted(function, sys.modules[__name__])
    except CanNotConvert:
        return function


def _library(function: types.FunctionType) -> bool:
    if own_file(function.__code__.co_filename):
        return True
    module = function.__module__ or ""
    return module.split(".")[0] in _NOT_CONVERTED


def _as_int(x: Any, *args: Any) -> Any:
    from .. import dtypes

    return TABLE["cast"](x, dtype=dtypes.int32)


def _as_float(x: Any) -> Any:
    from .. import dtypes

    return TABLE["cast"](x, dtype=dtypes.float32)


def _length(x: Any) -> Any:
    from .later import size_of

    return x.shape[0] if x.shape.rank and x.shape[0] is not None else size_of(x)


def _range(*args: Any) -> Any:
    import minitape as tf

    return call(tf.range, *args)


def _on_symbolic(name: type | Any, function: Any) -> Any:
    def replaced(*args: Any, **kwargs: Any) -> Any:
        if any(is_symbolic(a) for a in args):
            return function(*args, **kwargs)
        return name(*args, **kwargs)

    return replaced


_BUILTINS: dict[Any, Any] = {
    int: _on_symbolic(int, _as_int), float: _on_symbolic(float, _as_float), len: _on_symbolic(len, _length),
    range: _on_symbolic(range, _range),
}  # fmt: skip


# -- the function itself --------------------------------------------------------------------------------------------------


def convert_entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rewritten function; errors raised while it is traced say where in the user's code."""
    inner = _rewritten(function)

    @functools.wraps(function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        try:
            result = inner(*args, **kwargs)
            for leaf in nest.flatten(result):
                if isinstance(leaf, Undefined):
                    raise leaf.fail()
            return None if result is MISSING else result
        except Exception as error:
            wrapped = _in_user_code(error)
            if wrapped is None:
                raise
            raise wrapped.with_traceback(error.__traceback__) from None

    return traced


def _in_user_code(error: Exception) -> Exception | None:
    """The same kind of error with the user's frames in its message, as TensorFlow words it."""
    if isinstance(error, OpError) or getattr(error, "_in_user_code", False):
        return None
    kind = type(error)
    if kind.__init__ not in (Exception.__init__, TypeError.__init__, ValueError.__init__, AttributeError.__init__,
                             NotImplementedError.__init__, RuntimeError.__init__, LookupError.__init__, NameError.__init__,
                             AssertionError.__init__, IndexError.__init__):  # fmt: skip
        return None
    lines = ["in user code:", ""]
    for frame in traceback.extract_tb(error.__traceback__):
        if own_file(frame.filename) or frame.name.startswith("_ag_"):
            continue
        lines += [f'    File "{frame.filename}", line {frame.lineno}, in {frame.name}  *', f"        {frame.line}"]
    message = str(error).replace("\n", "\n    ")
    lines += ["", f"    {kind.__name__}: {message}", ""]
    made = kind("\n".join(lines))
    made._in_user_code = True  # type: ignore[attr-defined]
    return made


def do_not_convert(func: Any = None) -> Any:
    """Decorator: ``tf.function`` leaves this function as it is.

    >>> import minitape as tf
    >>> @tf.autograph.experimental.do_not_convert
    ... def f(x):
    ...     return x
    """
    if func is None:
        return do_not_convert
    func._ag_do_not_convert = True
    return func
