"""Running a graph: its rows become one generated Python function over arrays; or they are replayed as eager operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..quiet import hush, restore
from ..record import CALL
from ..tensor import CHECKS, EagerTensor, Tensor, apply, wrap

_HEAD = "def program({arguments}):\n"


class Program:
    """The rows that some fetches need, compiled: ``program(arrays of the fed rows) -> arrays of the fetched rows``.

    ``effects`` are calls that run in any case. A placeholder that is needed and not fed raises InvalidArgumentError.
    """

    def __init__(self, graph: Any, fetches: Sequence[int], feeds: Sequence[int], effects: Iterable[Any] = ()) -> None:
        self.graph, self.fetches, self.feeds = graph, list(fetches), list(feeds)
        self.calls, leaves = needed(graph, self.fetches, self.feeds, effects)
        for row in leaves:
            check_fed(graph, row)
        self.constants = {row: constant_array(graph, row) for row in leaves}
        self.function = self._compile()

    def run(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Computes the fetches."""
        before = hush()
        try:
            return self.function(*arrays)
        finally:
            restore(before)

    def _compile(self) -> Callable[..., tuple[Any, ...]]:
        scope: dict[str, Any] = {f"v{row}": array for row, array in self.constants.items()}
        lines, last = [], self._last_uses()
        for number, call in enumerate(self.calls):
            scope[f"f{number}"] = runner(call)
            arguments = ", ".join(f"v{r}" for r in call.inputs)
            outs = [f"v{call.row + i}" for i in range(call.outputs)]
            lines.append(self._line(f"f{number}({arguments})", outs, call))
            dead = [f"v{r}" for r in last.get(number, ()) if r not in self.constants]
            if dead:
                lines.append(f"    {' = '.join(dead)} = None\n")
        names = "".join(f"v{r}, " for r in self.fetches)
        text = (
            _HEAD.format(arguments=", ".join(f"v{r}" for r in self.feeds)) + "".join(lines) + f"    return ({names})\n"
        )
        exec(compile(text, "<formula graph>", "exec"), scope)
        return scope["program"]

    def _line(self, expression: str, outs: list[str], call: Any) -> str:
        if is_tuple(self.graph, call):
            if self.graph.op_of[call.row].count == 0:
                return f"    {expression}\n"
            return f"    {', '.join(outs)}, = {expression}\n"
        return f"    {outs[0]} = {expression}\n"

    def _last_uses(self) -> dict[int, list[int]]:
        """For each call, the rows that nothing reads after it."""
        kept = {*self.fetches}
        last: dict[int, int] = {}
        for number, call in enumerate(self.calls):
            for row in call.inputs:
                last[row] = number
        dead: dict[int, list[int]] = {}
        for row, number in last.items():
            if row not in kept:
                dead.setdefault(number, []).append(row)
        return dead


def is_tuple(graph: Any, call: Any) -> bool:
    """True when the primitive's forward returns a tuple."""
    return call.outputs > 1 or call.row in graph.tuples


def _guard_gather(x: Any, places: Any, axis: int = 0, **attrs: Any) -> None:
    from ..picking import check_places

    check_places(places, x.shape[axis])


def _guard_gather_nd(x: Any, places: Any, batch_dims: int = 0, **attrs: Any) -> None:
    from ..picking import outside

    bad = outside(places, x.shape[batch_dims:][: places.shape[-1]])
    if bad is not None:
        shape = ",".join(map(str, x.shape))
        raise errors.invalid(
            f"indices{bad[0]} = {bad[1]} does not index into param shape [{shape}], node name: GatherNd", "GatherNd"
        )


# checks of values that the eager functions make before they run their primitive
GUARDS = {"GatherV2": _guard_gather, "GatherNd": _guard_gather_nd}


def _guarded(forward: Callable[..., Any], guard: Callable[..., None]) -> Callable[..., Any]:
    def run(*arrays: Any, **attrs: Any) -> Any:
        guard(*arrays, **attrs)
        return forward(*arrays, **attrs)

    return run


def runner(call: Any) -> Callable[..., Any]:
    """The function on arrays that one call runs."""
    primitive, attrs = call.primitive, call.attrs
    forward = primitive.forward
    if primitive.op in GUARDS:
        forward = _guarded(forward, GUARDS[primitive.op])
    check = CHECKS.get(primitive.op)
    if check is not None and len(call.inputs) == 2:
        inner = forward

        def forward(x: Any, y: Any, **options: Any) -> Any:
            if y.dtype.kind in "iu":
                check(primitive, wrap(x), wrap(y))
            return inner(x, y, **options)

    if not attrs:
        return forward

    def run(*arrays: Any) -> Any:
        return forward(*arrays, **attrs)

    return run


def needed(
    graph: Any, fetches: Sequence[int], feeds: Sequence[int], effects: Iterable[Any]
) -> tuple[list[Any], list[int]]:
    """The calls (in order) and the leaves that the fetches and effects depend on, down to the fed rows."""
    fed, seen, leaves = set(feeds), set(), []
    calls: dict[int, Any] = {}
    stack = list(fetches)
    for call in effects:
        stack.append(call.row)
    while stack:
        row = stack.pop()
        if row in seen or row in fed:
            continue
        seen.add(row)
        op, number, _, _ = graph.cell(row)
        if op != CALL:
            leaves.append(row)
            continue
        call = graph.calls[number]
        if call.row not in calls:
            calls[call.row] = call
            stack += call.inputs
            stack += [c.row for c in graph.op_of[call.row]._control]
    return [calls[row] for row in sorted(calls)], leaves


def check_fed(graph: Any, row: int) -> None:
    """Raises InvalidArgumentError for a placeholder without a value."""
    leaf = graph.leaves[row]
    if leaf.tensor is None:
        op = graph.op_of[row]
        tensor = graph.tensors[row]
        shape = (
            ""
            if tensor.shape.rank is None
            else f" and shape {tensor.shape.as_list()}".replace("None", "?").replace(" ", "")
        )
        shape = shape.replace("andshape", " and shape ")
        detail = (
            f"You must feed a value for placeholder tensor '{op.name}' with dtype {tensor.dtype.kernel_name}{shape}"
        )
        raise errors.InvalidArgumentError(
            None, op, f"Graph execution error:\n\nDetected at node '{op.name}' defined at (most recent call last):\n"
            f"{detail}\n\t [[{{{{node {op.name}}}}}]]",
        )  # fmt: skip


def constant_array(graph: Any, row: int) -> Any:
    """The array of a constant."""
    return graph.leaves[row].tensor.array


def replay(graph: Any, fetches: Sequence[int], known: dict[int, Any]) -> list[Any]:
    """Runs the needed rows as eager operations, so that open tapes record them; ``known`` maps rows to tensors."""
    calls, leaves = needed(graph, fetches, list(known), ())
    values = dict(known)
    for row in leaves:
        check_fed(graph, row)
        values[row] = graph.leaves[row].tensor
    for call in calls:
        if all(row in values for row in range(call.row, call.row + call.outputs)):
            continue
        replay_call(graph, call, values)
    return [values[row] for row in fetches]


def replay_call(graph: Any, call: Any, values: dict[int, Any]) -> None:
    """Runs one call eagerly and puts its results into ``values``."""
    primitive = call.primitive
    tensors = [values[r] for r in call.inputs]
    special = getattr(primitive, "replayed", None)
    if special is not None:
        outs = special(graph, call, values)
    elif getattr(primitive, "infer", None) is not None:
        outs = primitive.eager(tensors, call.attrs)
    else:
        outs = apply(primitive, tuple(tensors), call.attrs)
        outs = outs if isinstance(outs, tuple) else (outs,)
    for index, out in enumerate(outs):
        values.setdefault(call.row + index, out)


def as_array(value: Any) -> Any:
    """What the program takes for an eager tensor."""
    return (
        value.array
        if isinstance(value, EagerTensor)
        else value.array
        if isinstance(value, Tensor)
        else np.asarray(value)
    )
