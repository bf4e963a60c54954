"""``while`` and ``for`` on symbolic tensors: one operation that holds the condition and the body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import nest
from ..engine.values.shape import TensorShape
from ..ops.filling import zeros
from .body import TestGraph, trace_body
from .slicing import size_of
from .symbolic import SymbolicTensor, is_symbolic
from .values import (
    LIMITS,
    ChangedNames,
    Undefined,
    boolean,
    condition,
    copies,
    current,
    decides,
    is_value,
    without_variables,
)
from .whiles import WHILE, build_while, own_shapes

if TYPE_CHECKING:
    from ..engine.types import Index, Value
    from .types import Names, Tensors, Test, Walk

_RETURNED = "_ag_return_value"  # how the name begins that holds what the function returns


def while_stmt(
    test: Test,
    body: Any,
    changed: ChangedNames,
) -> None:
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
    _refuse_return(changed.names)
    _Loop(changed).run(lambda item: test(), lambda item: body(), None)


def _first_test(test: Test) -> Any:
    """The condition before the first turn: apart, for that of a loop in the graph is not run here."""
    if state.graph is None:
        return current(test())
    with TestGraph(state.graph).as_default() as apart:
        first = current(test())
    return first if decides(first) or not apart.calls else current(test())


def for_stmt(
    source: Any,
    extra: Any,
    body: Any,
    changed: ChangedNames,
) -> None:
    """``for``: over a tensor or dataset of a graph one operation; over anything else Python's loop."""
    source = current(source)
    if state.graph is None or not isinstance(source, Tensor):
        for item in source:
            if extra is not None and not extra():
                break
            body(item)
            if extra is not None and not _still(extra):
                break
        return
    refuse_scalar(source)
    _refuse_return(changed.names, False)
    _Loop(changed).run(lambda item: True if extra is None else extra(), body, source)


def refuse_scalar(tensor: Value) -> None:
    """ValueError for a tensor without axes: it has no length."""
    if tensor.shape.rank == 0:
        name = state.graph.unique_name("Shape", False)
        raise ValueError(
            f'len requires a non-scalar tensor, got one of shape Tensor("{name}:0", shape=(0,), dtype=int32)'
        )


def _still(extra: Any) -> bool:
    value = extra()
    if decides(value):
        raise NotImplementedError(
            "break and return statements which depend on a TF condition are not supported in Python for loops. "
            "Did you intend to make it a TF loop?\n"
            f"See {LIMITS}#consistency-of-control-flow-types for more info."
        )
    return bool(value)


def _refuse_return(names: tuple[str, ...], in_stream: bool = False) -> None:
    """A return is in no loop over a dataset, and in others with a value where each turn returns (``_guesses``)."""
    with_value = any(n.startswith(_RETURNED) for n in names)




# -- what a ``for`` walks over ---------------------------------------------------------------------


class _Elements:
    """The elements of a tensor along its first axis."""

    kinds = WHILE

    def __init__(self, tensor: Value) -> None:
        self.tensor, self.start, self.count = tensor, new_tensor(np.int32(0)), size_of(tensor)

    def item(self, index: Index) -> Any:
        if self.tensor.shape[0] == 0:  # the body is traced all the same
            return zeros(self.tensor.shape[1:], self.tensor.dtype)
        return TABLE["gather"](self.tensor, index, axis=0)

    def next(self, index: Index) -> Any:
        return index + 1

    def inside(self, index: Index) -> Any:
        return index < self.count


class _Numbers:
    """The numbers of a range: they are the index themselves."""

    kinds = WHILE

    def __init__(self, start: Value, limit: Value, delta: Value) -> None:
        self.start, self.limit, self.delta = start, limit, delta

    def item(self, index: Index) -> Any:
        return index

    def next(self, index: Index) -> Any:
        return index + self.delta

    def inside(self, index: Index) -> Any:
        if is_symbolic(self.delta):
            rises = self.delta >= 0
            return rises & (index < self.limit) | ~rises & (index > self.limit)
        return index < self.limit if self.delta.array > 0 else index > self.limit


class _Flag:
    """What a ``while`` without an index has instead of one: whether there was a turn."""

    kinds = WHILE

    def __init__(self) -> None:
        self.start = new_tensor(np.bool_(False))

    def item(self, index: Index) -> Any:
        return None

    def next(self, index: Index) -> Any:
        return new_tensor(np.bool_(True))


def _walk(source: Value) -> Walk:
    """How a ``for`` walks over a tensor or dataset."""
    if isinstance(source, SymbolicTensor) and source.op.type == "Range":
        return _Numbers(*source.op.inputs)
    return _Elements(source)


# -- the operation ---------------------------------------------------------------------------------


class _Loop:
    """A loop on symbolic tensors: which names it changes, and the operation made of it.

    The names that are ``alive`` when a turn begins, or ``later``, are carried from turn to turn, where they are
    tensors.
    """

    def __init__(self, changed: ChangedNames) -> None:
        self.get, self.put, self.names, self.alive, self.later, self.target = changed
        self.before: tuple = ()  # the values of all names, before the loop
        self.carried: Names = {}  # those of the names that are carried
        self.late: dict[str, list[TensorShape]] = {}  # names that only a turn gives a value, and its leaves' shapes

    def run(self, test: Test, body: Any, source: Any) -> None:
        """Builds the operation; ``source`` is the tensor or dataset that a ``for`` walks over, or None."""
        self.before = tuple(without_variables(v) for v in self.get())
        walk: Walk | None = None if source is None else _walk(source)
        self._carry(body, walk)
        counter: Any = walk if walk is not None or not self.late else _Flag()
        index = [] if counter is None else [counter.start]
        first = len(index)  # the place of what the names carry, among the values of the loop
        start = [*index, *(convert_to_tensor(t) for t in self._tensors(self.carried))]
        shapes = [
            *(t.shape for t in index),
            *(s for n, v in self.carried.items() for s in self.late.get(n) or own_shapes(v)),
        ]
        specs = [(shape, t.dtype) for shape, t in zip(shapes, start, strict=True)]
        latest: Names = {}

        def turn(*tensors: Any) -> list:
            self._enter(tensors[first:])
            entered = dict(zip(self.names, copies(self.get()), strict=True))
            body(None if counter is None else counter.item(*tensors[:first]))
            after = dict(zip(self.names, self.get(), strict=True))
            latest.update({name: _check_turn(name, entered[name], after[name]) for name in self.carried})
            counted = [counter.next(t) for t in tensors[:first]]
            return [*counted, *(convert_to_tensor(t) for t in self._tensors(latest))]

        def check(*tensors: Any) -> Any:
            self._enter(tensors[first:])
            go_on = current(test(None))
            if walk is None:
                return condition(go_on, "while loop")
            inside = walk.inside(tensors[0])
            return inside if go_on is True else TABLE["logical_and"](inside, boolean(go_on))

        tested = trace_body(check, specs, TestGraph, "while")
        made = trace_body(turn, specs, scope="while")
        self._check(specs[first:], made.outputs[first:])
        found = build_while(tested, made, start, None, WHILE if counter is None else counter.kinds)
        self._leave(found[first:], latest)

    def _tensors(self, values: Names) -> list:
        """The tensors of the carried names, given their values."""
        return [t for name in self.carried for t in nest.flatten(values[name])]

    def _enter(self, tensors: Tensors) -> None:
        """Gives the names the values with which a turn begins; those that are not alive have none."""
        values = self._filled(tensors, self.carried)
        dead = [n for n in self.names if n not in self.alive]
        self.put(copies(tuple(Undefined(n) if n in dead else values[n] for n in self.names)))

    def _leave(self, tensors: Tensors, latest: Names) -> None:
        """Gives the names their values after the loop; a TensorArray is the one of the ``latest`` turn."""
        values = self._filled(tensors, latest)
        self.put(tuple(values[n] for n in self.names))

    def _filled(self, tensors: Tensors, likes: Names) -> Names:
        """The values of all names, with tensors for those that are carried."""
        values, rest = dict(zip(self.names, self.before, strict=True)), iter(tensors)
        for name in self.carried:
            mine = [next(rest) for _ in nest.flatten(likes[name])]
            values[name] = nest.pack_sequence_as(likes[name], list(mine))
        return values


    # -- what is carried ---------------------------------------------------------------------------

    def _carry(self, body: Any, walk: Walk | None) -> None:
        """Finds the initial values of what is carried; what is undefined before the loop starts with zeros."""
        guesses: Names | None = None
        for name, value in zip(self.names, self.before, strict=True):
            if value is not None and not isinstance(value, Undefined):
                if name in self.alive and _all_values(value):
                    self.carried[name] = value
            elif name in self.later and name == self.target and isinstance(walk, _Numbers):
                self.carried[name] = walk.start



    def _check(self, kept: list, after: Sequence) -> None:
        """An error for a name whose dtype or shape changes in a turn, in TensorFlow's words."""
        labels = [name for name in self.carried for _ in nest.flatten(self.carried[name])]
        for name, (shape, dtype), t in zip(labels, kept, after, strict=True):
            if t.dtype != dtype:
                raise TypeError(
                    f"'{name}' has dtype {dtype.name} before the loop, but dtype {t.dtype.name} after one iteration"
                )
            if not t.shape.is_subtype_of(shape):
                raise ValueError(
                    f"'{name}' has shape {shape} before the loop, but shape {t.shape} after one iteration. Use "
                    "tf.autograph.experimental.set_loop_options to set shape invariants."
                )




def _check_turn(name: str, before: Any, after: Any) -> Any:
    """The value of a name after a turn, which must have the structure that it had before."""
    if isinstance(after, Undefined):
        raise after.fail()
    try:
        nest.assert_same_structure(before, after)
    except (TypeError, ValueError) as error:
        raise TypeError(f"'{name}' does not have the same nested structure after one iteration.\n\n{error}") from None
    if any(leaf is None for leaf in nest.flatten(after)):
        raise ValueError(f"'{name}' is None at the end of the iteration.")
    return after






def _all_values(value: Value) -> bool:
    """True for what can be carried: structures of tensors and of what becomes a tensor."""
    if value is None or isinstance(value, Undefined):
        return False
    return all(map(is_value, nest.flatten(value)))




