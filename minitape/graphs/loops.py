"""``while`` and ``for`` on symbolic tensors: one operation that holds the condition and the body."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import nest
from ..engine.convert import convert_to_tensor
from ..engine.primitives import TABLE
from ..engine.shape import TensorShape
from ..engine.state import state
from ..engine.tensor import Tensor, wrap
from ..ops.filling import zeros
from .body import BodyGraph, TestGraph
from .carried import (
    OtherRows,
    TensorArrayBase,
    flattened,
    is_composite,
    kept_shapes,
    opened,
    packed,
    parts_of,
    rebuilt,
    with_rows_of,
)
from .streams import Stream, is_stream, specs_of
from .symbolic import SymbolicTensor, is_symbolic
from .turns import Options, settled, traced_turn
from .values import (
    LIMITS,
    Undefined,
    boolean,
    condition,
    copies,
    current,
    decides,
    is_value,
    without_variables,
)
from .whiles import WHILE, build_while


def while_stmt(test: Any, body: Any, get: Any, put: Any, names: tuple[str, ...], later: tuple[str, ...]) -> None:
    """``while``: on a symbolic tensor one operation that holds the condition and the body."""
    first = _first_test(test)
    if not decides(first):
        while first:
            body()
            first = current(test())
            if decides(first):
                raise NotImplementedError(
                    "The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either "
                    "because variables changed type, or when a break or return statement inside the loop depends on a "
                    "Tensor condition. In both cases, changing to a TF loop should remove the error.\n"
                    f"See {LIMITS}#consistency-of-control-flow-types for more info."
                )
        return
    _refuse_return(names)
    _Loop(names, get, put, later).run(lambda item: test(), lambda item: body(), None)


def _first_test(test: Any) -> Any:
    """The condition before the first turn: apart, for that of a loop in the graph is not run here."""
    if state.graph is None:
        return current(test())
    with TestGraph(state.graph).as_default() as apart:
        first = current(test())
    return first if decides(first) or not apart.calls else current(test())


_RETURNED = "_ag_return_value"  # how the name begins that holds what the function returns


def _refuse_return(names: tuple[str, ...], in_stream: bool = False) -> None:
    """A return stands in no loop over a dataset, and in others with a value where each turn returns (``_guesses``)."""
    with_value = any(n.startswith(_RETURNED) for n in names)
    if any(n.startswith("_ag_do_return") for n in names) and (in_stream or not with_value):
        raise _no_return_here()


def _no_return_here() -> NotImplementedError:
    return NotImplementedError(
        "a return statement cannot be placed inside this TensorFlow loop; this may happen if a return statement depends on "
        "a static Python condition such as a hyperparameter"
    )


def for_stmt(
    source: Any, extra: Any, body: Any, get: Any, put: Any, names: tuple[str, ...], later: tuple[str, ...],
    target: str | None,
) -> None:  # fmt: skip
    """``for``: over a tensor of a graph one operation; over anything else Python's loop."""
    if hasattr(source, "_read"):
        source = source._read()
    if is_stream(source):
        specs = specs_of(source)
        source = source if specs is None else Stream(source, specs)
    if state.graph is None or not isinstance(source, (Tensor, Stream)):
        for item in source:
            if extra is not None and not extra():
                break
            body(item)
            if extra is not None and not _still(extra):
                break
        return
    if not isinstance(source, Stream):
        refuse_scalar(source)
    _refuse_return(names, isinstance(source, Stream))
    loop = _Loop(names, get, put, later, target)
    loop.run(lambda item: True if extra is None else extra(), body, source)


def refuse_scalar(tensor: Any) -> None:
    """ValueError for a tensor without axes: it has no length."""
    if tensor.shape.rank == 0:
        name = state.graph.unique_name("Shape", False)
        raise ValueError(f'len requires a non-scalar tensor, got one of shape Tensor("{name}:0", shape=(0,), dtype=int32)')


def _still(extra: Any) -> bool:
    value = extra()
    if decides(value):
        raise NotImplementedError(
            "break and return statements which depend on a TF condition are not supported in Python for loops. "
            "Did you intend to make it a TF loop?\n"
            f"See {LIMITS}#consistency-of-control-flow-types for more info."
        )
    return bool(value)


class _Elements:
    """The elements of a tensor along its first axis."""

    def __init__(self, tensor: Any) -> None:
        from .later import size_of

        self.tensor, self.start, self.count = tensor, wrap(np.int32(0)), size_of(tensor)

    def item(self, index: Any) -> Any:
        if self.tensor.shape[0] == 0:  # the body is traced all the same
            return zeros(self.tensor.shape[1:], self.tensor.dtype)
        return TABLE["gather"](self.tensor, index, axis=0)

    def next(self, index: Any) -> Any:
        return index + 1

    def inside(self, index: Any) -> Any:
        return index < self.count


class _Numbers:
    """The numbers of a range: they are the index themselves."""

    def __init__(self, start: Any, limit: Any, delta: Any) -> None:
        self.start, self.limit, self.delta = start, limit, delta

    def item(self, index: Any) -> Any:
        return index

    def next(self, index: Any) -> Any:
        return index + self.delta

    def inside(self, index: Any) -> Any:
        if is_symbolic(self.delta):
            rises = self.delta >= 0
            return rises & (index < self.limit) | ~rises & (index > self.limit)
        return index < self.limit if self.delta.array > 0 else index > self.limit


def _walk(source: Any) -> Any:
    """How a ``for`` walks over a tensor or dataset."""
    if isinstance(source, Stream):
        return source
    if isinstance(source, SymbolicTensor) and source.op.type == "Range":
        return _Numbers(*source.op.inputs)
    return _Elements(source)


class _Grown(Exception):
    """A turn added these items to the dictionary of this name."""

    def __init__(self, name: str, items: dict[Any, Any]) -> None:
        self.name, self.items = name, items


class _Loop:
    """A loop on symbolic tensors: which names it changes, and the operation made of it."""

    def __init__(
        self, names: tuple[str, ...], get: Any, put: Any, later: tuple[str, ...], target: str | None = None
    ) -> None:
        self.names, self.get, self.put, self.later, self.target = names, get, put, later, target
        self.late: dict[str, list[TensorShape]] = {}  # names that only a turn gives a value, and its leaves' shapes
        self.grown: dict[str, list[TensorShape]] = {}  # dictionaries to which a turn adds keys, and their leaves' shapes
        self.keys: list[str] = []  # those keys, as the user writes them
        self.lost: dict[str, Undefined] = {}  # names that have no value after the loop
        self.dropped: dict[str, Undefined] = {}  # names whose value before the loop does not go with that of a turn
        self.refusals: list[Exception] = []

    def run(self, test: Any, body: Any, source: Any) -> None:
        """Builds the operation; ``source`` is the tensor that a ``for`` walks over, or None."""
        first = tuple(without_variables(v) for v in self.get())
        try:
            self._run(first, test, body, source)
        except OtherRows:
            self.put(copies(opened(first)))
            self.run(test, body, source)
        except _Grown as grown:
            at = self.names.index(grown.name)
            self._grow(grown, first[at])
            first = (*first[:at], first[at] | nest.map_structure(_zeros, grown.items), *first[at + 1 :])
            self.put(copies(first))
            self.run(test, body, source)

    def _grow(self, grown: _Grown, before: dict[Any, Any]) -> None:
        """Notes the keys that a turn adds: their values begin with zeros, which nobody sees."""
        old = {key: _shapes(value) for key, value in before.items()}
        if grown.name in self.grown:  # once more: of some keys the shapes are known from the turn
            rest = iter(self.grown[grown.name])
            old = {key: list(itertools.islice(rest, len(old[key]))) for key in sorted(old)}
        shapes = old | {key: _shapes(value) for key, value in grown.items.items()}
        self.grown[grown.name] = [shape for key in sorted(shapes) for shape in shapes[key]]
        self.keys += [f"{grown.name}[{key!r}]" for key in grown.items]

    def _run(self, first: tuple[Any, ...], test: Any, body: Any, source: Any) -> None:
        before = tuple(self.dropped.get(n, v) for n, v in zip(self.names, first, strict=True))
        walk = None if source is None else _walk(source)
        carried = self._carried(before, body, walk)
        start = [convert_to_tensor(v) for _, value in carried for v in flattened(value, True)]
        shapes = [shape for name, value in carried for shape in self._kept(name, value)]
        index = [walk.start] if walk is not None else [wrap(np.bool_(False))] if self.late or self.keys else []
        specs = [(t.shape, t.dtype) for t in index] + [(s, t.dtype) for s, t in zip(shapes, start, strict=True)]

        latest: dict[str, Any] = {}

        def enter(tensors: Sequence[Any]) -> None:
            values = _filled(dict(zip(self.names, before, strict=True)), carried, tensors[len(index) :])
            self.put(copies(tuple(values[n] for n in self.names)))

        def turn(*tensors: Any) -> list[Any]:
            enter(tensors)
            entered = dict(zip(self.names, copies(self.get()), strict=True))
            body(None if walk is None else walk.item(tensors[0]))
            after = dict(zip(self.names, self.get(), strict=True))
            self._refuse_growth(entered, after)
            outs = [wrap(np.bool_(True)) if walk is None else walk.next(t) for t in tensors[: len(index)]]
            for name, _ in carried:
                outs += self._leaves(name, entered[name], after, latest)
            return outs

        def check(*tensors: Any) -> Any:
            enter(tensors)
            go_on = current(test(None))
            if walk is None:
                return condition(go_on, "while loop")
            inside = walk.inside(tensors[0])
            return inside if go_on is True else TABLE["logical_and"](inside, boolean(go_on))

        asked, tested = specs, traced_turn(check, specs, Options(), TestGraph)
        specs, made, options = settled(turn, specs, [*index, *start], isinstance(walk, Stream))
        if specs != asked:
            tested = traced_turn(check, specs, Options(), TestGraph)
        invariants = [options.shapes.get(i) for i in range(len(index), len(specs))]
        _check_invariants(carried, asked[len(index) :], invariants, made.outputs[len(index) :])
        odd = self._mismatch(carried, specs[len(index) :], made.outputs[len(index) :])
        if odd is not None:
            self._run_without(*odd, first, test, body, source)
            return
        found = build_while(tested, made, [*index, *start], options.limit, getattr(walk, "kinds", WHILE))
        if self.late or self.keys:
            self._demand_a_turn(found[0] if walk is None else TABLE["not_equal"](found[0], walk.start))
        values = _filled(dict(zip(self.names, before, strict=True)), carried, found[len(index) :], latest)
        self.put(tuple(self.lost.get(n, values[n]) for n in self.names))

    def _kept(self, name: str, value: Any) -> list[TensorShape]:
        """The shapes that the tensors of a name keep."""
        return self.late.get(name) or self.grown.get(name) or _shapes(value)

    def _refuse_growth(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Stops where a turn added keys to a dictionary: the loop is built once more, and carries them."""
        for name in self.names:
            if type(before[name]) is type(after[name]) is dict:
                items = {key: value for key, value in after[name].items() if key not in before[name]}
                if items and _all_values(items) and not any(map(_unguessed, nest.flatten(items))):
                    raise _Grown(name, items)

    def _demand_a_turn(self, turned: Any) -> None:
        """InvalidArgumentError in a run without a turn: names that are read afterwards have no value then."""
        from ..ops.assertions import Assert

        names = ["the function return value" if name.startswith(_RETURNED) else name for name in [*self.late, *self.keys]]
        Assert(turned, [f"loop must iterate at least once to initialize {', '.join(names)}"])

    def _run_without(
        self, name: str, error: Exception, first: tuple[Any, ...], test: Any, body: Any, source: Any
    ) -> None:
        """Builds it without the value of ``name`` from before, which a turn that does not read it may do."""
        self.refusals.append(error)
        if name in self.dropped or name in self.later:  # what is read afterwards is that from before, after no turn
            raise error
        self.dropped[name] = Undefined(name, lambda: error)
        self.put(first)
        try:
            self._run(first, test, body, source)
        except Exception as other:  # else a turn reads it: that is what is wrong
            raise other if any(other is known for known in self.refusals) else error from None

    def _carried(self, before: tuple[Any, ...], body: Any, walk: Any) -> list[tuple[str, Any]]:
        """(name, initial value) of each variable of the loop; one that is undefined before it starts with zeros."""
        carried: list[tuple[str, Any]] = []
        self.late = {}
        guesses: dict[str, Any] | None = None
        for name, value in zip(self.names, before, strict=True):
            if name.startswith("_ag_continue"):
                continue
            if value is None or isinstance(value, Undefined):
                if name not in self.later:
                    continue
                if name == self.target and isinstance(walk, _Numbers):
                    carried.append((name, walk.start))
                    continue
                if guesses is None:
                    guesses = self._guesses(name, before, body, walk)
                found = guesses[name]
                if isinstance(found, Undefined):
                    self.lost[name] = Undefined(name, functools.partial(_before_the_loop, name, found.fail()))
                    continue
                if value is None and (not _all_values(found) or any(map(_unguessed, nest.flatten(found)))):
                    raise ValueError(f"'{name}' is not allowed to be None before the loop")
                if not _all_values(found):
                    continue
                odd = next(filter(_unguessed, nest.flatten(found)), None)
                if odd is not None:
                    raise _before_the_loop(name, TypeError(
                        f"Found an unsupported type '{type(odd).__name__}' while creating placeholder for {odd}. Supported "
                        "types include Tensor, int, float, bool, list, tuple or dict."))  # fmt: skip
                value = nest.map_structure(_zeros, found)
                self.late[name] = _shapes(found)
            elif not _all_values(value):
                continue
            carried.append((name, value))
        return carried

    def _guesses(self, name: str, before: tuple[Any, ...], body: Any, walk: Any) -> dict[str, Any]:
        """The values after a trial turn; where it fails, ``name`` should have been defined before the loop."""
        try:
            return self._after_one_turn(before, body, walk)
        except (UnboundLocalError, TypeError, ValueError, KeyError) as error:
            if name.startswith(_RETURNED):
                raise _no_return_here() from None
            if before[self.names.index(name)] is None:
                raise ValueError(f"'{name}' is not allowed to be None before the loop") from None
            raise _before_the_loop(name, error) from None

    def _after_one_turn(self, before: tuple[Any, ...], body: Any, walk: Any) -> dict[str, Any]:
        graph = BodyGraph(state.graph)
        with graph.as_default(), graph.name_scope("while"):
            values = [_stand_in(graph, v) for v in before]
            self.put(tuple(values))
            body(None if walk is None else walk.item(graph.placeholder(walk.start.dtype, [])))
            after = dict(zip(self.names, self.get(), strict=True))
        self.put(before)
        return after

    def _leaves(self, name: str, before: Any, found: dict[str, Any], latest: dict[str, Any]) -> list[Any]:
        after = latest[name] = found[name]
        if isinstance(after, Undefined):
            raise after.fail()
        try:
            nest.assert_same_structure(before, after, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"'{name}' does not have the same nested structure after one iteration.\n\n{error}"
            ) from None
        for leaf in nest.flatten(after):
            if isinstance(leaf, Undefined):
                raise leaf.fail()
            if leaf is None:
                raise ValueError(f"'{name}' is None at the end of the iteration.")
        after = latest[name] = with_rows_of(before, after, True)
        return [convert_to_tensor(part) for part in flattened(after, True)]

    def _mismatch(self, carried: list[Any], before: list[Any], after: list[Any]) -> tuple[str, Exception] | None:
        """The first name whose dtype or shape changes in a turn, and what TensorFlow says of it."""
        for (name, leaf), (shape, dtype), tensor in zip(_labels(carried), before, after, strict=True):
            if tensor.dtype != dtype:
                return name, TypeError(
                    f"'{name}' has dtype {dtype.name} before the loop, but dtype {tensor.dtype.name} after one "
                    "iteration"
                )
            if not isinstance(leaf, TensorArrayBase) and not tensor.shape.is_subtype_of(shape):
                return name, ValueError(
                    f"'{name}' has shape {shape} before the loop, but shape {tensor.shape} after one iteration. Use "
                    "tf.autograph.experimental.set_loop_options to set shape invariants."
                )
        return None


def _labels(carried: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """(name, leaf) for each tensor that is carried."""
    return [(name, leaf) for name, value in carried for leaf in nest.flatten(value) for _ in parts_of(leaf, True)]


def _check_invariants(carried: list[tuple[str, Any]], before: list[Any], invariants: list[Any], after: list[Any]) -> None:
    """ValueError for a tensor that does not keep the shape that ``set_loop_options`` was told."""
    for (name, _), (shape, _), kept, tensor in zip(_labels(carried), before, invariants, after, strict=True):
        for found, when in ((shape, "before the loop"), (tensor.shape, "after one iteration")):
            if kept is not None and not found.is_subtype_of(kept):
                raise ValueError(
                    f"'{name}' has shape {found} {when}, which does not conform with the shape invariant {kept}."
                )


def _filled(values: dict[str, Any], carried: list[tuple[str, Any]], tensors: Sequence[Any],
            latest: dict[str, Any] | None = None) -> dict[str, Any]:  # fmt: skip
    """The values of all names, with tensors for the leaves of those that are carried.

    A TensorArray is made again as the one that it was before, or in the ``latest`` turn.
    """
    rest = iter(tensors)
    for name, value in carried:
        mine = list(itertools.islice(rest, len(flattened(value, True))))
        values[name] = packed(value, mine, None if latest is None else latest[name], True)
    return values


def _before_the_loop(name: str, error: Exception) -> Exception:
    return ValueError(
        f"'{name}' must be defined before the loop\nNote: AutoGraph tried to define it automatically, but ran into a "
        f"{type(error).__name__}: {error}"
    )


def _unguessed(value: Any) -> bool:
    """True for what a loop cannot begin with zeros of, where it was not defined before."""
    return not (isinstance(value, (Tensor, TensorArrayBase, int, float, complex)) or hasattr(value, "_read"))


def _all_values(value: Any) -> bool:
    leaves = nest.flatten(value)
    return bool(leaves) and all(is_value(v) or is_composite(v) for v in leaves)


def _shapes(value: Any) -> list[TensorShape]:
    """The static shapes that the tensors of a value keep by themselves."""
    return [shape for leaf in nest.flatten(value) for shape in kept_shapes(leaf)]


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
        if isinstance(v, Undefined) or not (is_value(v) or is_composite(v)):
            return v
        tensors = map(convert_to_tensor, parts_of(v, True))
        places = [graph.placeholder(t.dtype, s) for t, s in zip(tensors, kept_shapes(v), strict=True)]
        return rebuilt(v, iter(places), True)

    return nest.map_structure(leaf, value)
