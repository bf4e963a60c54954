"""Calls of a graph compiled to one Python function over arrays.

The function is generated: one line for each call, with the textbook formula itself where there is one. Long runs of
single numbers are packed into a block of rows and left to the kernel that evaluates tapes; so a chain of a thousand
scalar operations costs a few nanoseconds each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engine.table.accelerator import fast
from ..engine.table.code import define, with_operands
from ..engine.table.primitives.formula import ARRAY
from ..engine.tensor.operation import CHECKS
from ..engine.tensor.tensor import new_tensor
from ..engine.values.invalid import invalid

LONG = 256  # scalar calls that earn the loading of the kernels
FEW = 48  # scalar calls that are worth a kernel once it is there
BIG = 4096  # elements from which on an array is dropped as soon as nobody reads it any more

_HEAD = "def program({arguments}):\n"
_ALIASES = {"identity", "stop_gradient"}


class Writer:
    """Writes the program of some calls in order."""

    def __init__(self, graph: Any, calls: Sequence[Any], constants: dict[int, Any], fetches: Sequence[int],
                 feeds: Sequence[int], fuse: bool = False) -> None:  # fmt: skip
        self.fuse, self.fused, self.large = fuse, _Segment(), _Segment()
        self.loops = fast.loops
        self.blocked = self.loops.slow_shapes(graph, calls) if fuse else None  # shapes whose runs go block by block; None: all
        self.graph, self.fetches, self.feeds = graph, list(fetches), list(feeds)
        self.same = _same_values(graph, calls, constants)
        self.calls = [c for c in calls if c.row not in self.same]
        self.constants = constants
        self.scope: dict[str, Any] = {f"v{row}": array for row, array in constants.items()}
        self.scope |= ARRAY
        self.lines: list[str] = []
        self.where: dict[int, Any] = {}  # line of the program -> the call that it runs
        self.warns = False  # whether some of it is NumPy's, which warns of infinities
        self.segment = _Segment()
        self.segments = 0
        self.readers = self._find_readers()
        self.unread = {row: len(readers) for row, readers in self.readers.items()}  # by calls that are not written yet

    def write(self) -> Callable[..., tuple[Any, ...]]:
        """The compiled function: arrays of the fed rows in, arrays of the fetched rows out."""
        scalars = [scalar_type(self.graph, c) for c in self.calls]
        wanted = self._earns_kernel(sum(s is not None for s in scalars))
        for call, real in zip(self.calls, scalars, strict=True):
            sources = self._inputs(call)
            if self._takes_large(call, sources):
                continue
            kind = self.loops.fusable(self.graph, call) if self.fuse and not (wanted and real is not None) else None
            if any(r in self.segment.rows for r in sources) and not (wanted and real is self.segment.real):
                self._flush()
            if any(r in self.fused.rows for r in sources) and (kind is None or kind is not self.fused.real):
                self._flush_fused()
            if wanted and real is not None and self.segment.takes(real):
                self.segment.add(call, real)
            elif kind is not None and self.fused.takes(kind):
                self.fused.add(call, kind)
            else:
                self._line(call)
        self._flush()
        self._flush_fused()
        self._flush_large()
        names = "".join(f"{self._name(r)}, " for r in self.fetches)
        head = _HEAD.format(arguments=", ".join(f"v{r}" for r in self.feeds))
        text = f"{head}{''.join(self.lines)}    return ({names})\n"
        return define(text, "<formula graph>", self.scope)["program"]

    def _alias(self, row: int) -> int:
        """The row that holds a row's value: itself, or the one that has the same value already."""
        return self.same.get(row, row)

    def _name(self, row: int) -> str:
        return f"v{self._alias(row)}"

    def _inputs(self, call: Any) -> list[int]:
        """The rows that a call reads."""
        return [self._alias(r) for r in call.inputs]

    def _find_readers(self) -> dict[int, list[int]]:
        """For each row, the first rows of the calls that read it, in order (-1: it is fetched)."""
        found: dict[int, list[int]] = {}
        for call in self.calls:
            for row in self._inputs(call):
                found.setdefault(row, []).append(call.row)
        for row in self.fetches:
            found.setdefault(self._alias(row), []).append(-1)
        return found

    # -- one line -----------------------------------------------------------------------------------------------------

    def _notes_are_read(self, call: Any) -> bool:
        if not getattr(call.primitive, "noted", False):
            return True
        return bool(self.readers.get(call.row + call.outputs - 1))

    def _line(self, call: Any) -> None:
        arguments = [self._name(r) for r in call.inputs]
        outs = [f"v{call.row + i}" for i in range(call.outputs)]
        formula = _formula(self.graph, call, arguments)
        if formula is None and call.primitive.name == "slice":
            self.scope[f"s{call.row}"] = call.attrs["spec"]
            formula = f"{arguments[0]}[s{call.row}]"
        if formula is None:
            self.scope[f"f{call.row}"] = runner(call, self._notes_are_read(call))
            formula = f"f{call.row}({', '.join(arguments)})"
        if call.outputs > 1 or call.row in self.graph.tuples:
            none = self.graph.op_of[call.row].count == 0
            self.lines.append(f"    {formula}\n" if none else f"    {', '.join(outs)}, = {formula}\n")
        else:
            self.lines.append(f"    {outs[0]} = {formula}\n")
        self.where[len(self.lines) + 1] = call  # the first line is the function's head
        self.warns = True
        self._drop(call.inputs, [call])

    def _drop(self, rows: Sequence[int], calls: Sequence[Any]) -> None:
        """Lets go of those of the rows that nobody reads any more, now that these calls are written."""
        for call in calls:
            for row in self._inputs(call):
                self.unread[row] -= 1
        dead = {self._name(r) for r in rows if not self.unread[self._alias(r)] and self._is_big(self._alias(r))}
        if dead:
            self.lines.append(f"    {' = '.join(sorted(dead))} = None\n")

    def _is_big(self, row: int) -> bool:
        if row in self.constants or row in self.feeds:  # others hold these anyway
            return False
        count = self.graph.tensors[row].shape.num_elements() if row in self.graph.tensors else 0
        return count is None or count >= BIG

    def _flush_fused(self) -> None:
        """Writes the waiting array calls: as one fused function, or line by line when they are few."""
        fused, self.fused = self.fused, _Segment()
        if not fused.calls:
            return
        if sum(self.graph.shape_dtypes[c.row][0] != () for c in fused.calls) < self.loops.LEAST:
            for call in fused.calls:
                self._line(call)
            return
        shape_dtypes, real = self.graph.shape_dtypes, fused.real
        writer = self.loops.Fused(self.graph, fused.calls, self.constants, self._alias, self.readers)
        text = writer.text()
        arguments = [*writer.inputs, *writer.filled]
        function = self.loops.compiled(text, real, [shape_dtypes[r][0] for r in arguments])
        if function is None:
            for call in fused.calls:
                self._line(call)
            return
        self.scope |= {"empty": np.empty, "buffer": fast.buffer, real.__name__: real}
        for row in writer.filled:
            make = "buffer" if np.prod(shape_dtypes[row][0]) >= fast.large else "empty"
            self.lines.append(f"    v{row} = {make}({shape_dtypes[row][0]!r}, {real.__name__})\n")
        self._write_run(fused.calls, function, arguments, writer.outputs)
        self.lines += [f"    v{r} = {real.__name__}(v{r})\n" for r in writer.outputs if shape_dtypes[r][0] == ()]

    def _takes_large(self, call: Any, sources: list[int]) -> bool:
        """Lets a call on large arrays wait for others; False when it is none."""
        if self.loops is None:
            return False
        kind, large = self.loops.large_kind(self.graph, call), self.large
        if kind is not None and self.blocked is not None and kind not in self.blocked:
            kind = None
        if not large.rows.isdisjoint(sources) and (kind != large.real or not large.sums.isdisjoint(sources)):
            self._flush_large()
        total = call.primitive.name == "reduce_sum"
        if kind is None or not self.large.takes(kind) or (total and sources[0] not in self.large.rows):
            return False
        if not self.segment.rows.isdisjoint(sources):
            self._flush()
        if not self.fused.rows.isdisjoint(sources):
            self._flush_fused()
        self.large.add(call, kind)
        if total:
            self.large.sums.add(call.row)
        return True

    def _flush_large(self) -> None:
        """Writes the waiting calls on large arrays: as one run block by block, or line by line when they are few."""
        large, self.large = self.large, _Segment()
        if not large.calls or len(large.calls) < self.loops.LEAST_LARGE:
            for call in large.calls:
                self._line(call)
            return
        writer = self.loops.Blockwise(self.graph, large.calls, large.real, self.constants, self._alias, self.readers)
        self._write_run(large.calls, *writer.function())
        self.warns = True

    def _write_run(self, calls: Sequence[Any], function: Any, inputs: list[int], outputs: list[int]) -> None:
        """Writes the call of a function that computes several rows."""
        number, self.segments = self.segments, self.segments + 1
        self.scope[f"k{number}"] = function
        arguments = ", ".join(f"v{r}" for r in inputs)
        results = "".join(f"v{r}, " for r in outputs)
        self.lines.append(f"    {results + '= ' if results else ''}k{number}({arguments})\n")
        self._drop(inputs, calls)

    # -- runs of single numbers ---------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """Writes the waiting scalar calls: as rows for the kernel, or line by line when they are few."""
        segment, self.segment = self.segment, _Segment()
        if not segment.calls:
            return
        if len(segment.calls) < FEW or not self._interpreted(segment):
            for call in segment.calls:
                self._line(call)

    def _earns_kernel(self, scalars: int) -> bool:
        if self.loops is None or not self.loops.available():
            return False
        return scalars >= (FEW if self.loops.loaded() else LONG)

    def _interpreted(self, segment: _Segment) -> bool:
        """Writes scalar calls as rows for the kernel, or rolled up; False when numba fails."""
        leaves = list(dict.fromkeys(r for c in segment.calls for r in self._inputs(c) if r not in segment.rows))
        place = {row: at for at, row in enumerate([*leaves, *[c.row for c in segment.calls]])}
        block, values = np.zeros((len(place), 4), np.int32), np.zeros(len(place), segment.real)
        for call in segment.calls:
            inputs = [place[r] for r in self._inputs(call)]
            block[place[call.row], :3] = call.primitive.code, inputs[0], inputs[-1]
        for row in leaves:
            if row in self.constants:
                values[place[row]] = self.constants[row]
        loops = self.loops.rolled(block, len(leaves), segment.real) if self.fuse else None
        function = loops or self.loops.kernel(segment.real, "forward")
        if function is None:
            return False
        number, self.segments = self.segments, self.segments + 1
        arguments = "w" if loops else f"b{number}, 0, {len(leaves)}, {len(block)}, w"
        self.scope |= {f"s{number}": values, f"b{number}": block}
        self.scope[f"k{number}"] = function
        self.lines.append(f"    w = s{number}.copy()\n")
        self.lines += [f"    w[{place[row]}] = v{row}\n" for row in leaves if row not in self.constants]
        self.lines.append(f"    k{number}({arguments})\n")
        self._drop([], segment.calls)
        for call in segment.calls:
            if self.unread.get(call.row):
                self.lines.append(f"    v{call.row} = w[{place[call.row]}]\n")
        return True


class _Segment:
    """Calls that wait to be written together."""

    __slots__ = ("calls", "rows", "real", "sums")

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.rows: set[int] = set()
        self.real: Any = None  # what they have in common: the float type, and of large arrays the shape
        self.sums: set[int] = set()  # rows that are there when all blocks are done

    def takes(self, real: Any) -> bool:
        return self.real is None or self.real == real

    def add(self, call: Any, real: Any) -> None:
        self.calls.append(call)
        self.rows.add(call.row)
        self.real = real


def scalar_type(graph: Any, call: Any) -> Any:
    """The float type of a call that works on single numbers of the textbook table; None for others."""
    primitive = call.primitive
    if not primitive.code or call.outputs > 1:
        return None
    kind = None
    for row in (*call.inputs, call.row):
        shape, dtype = graph.shape_dtypes[row]
        if shape != () or dtype.char not in "fd" or (kind is not None and dtype.type is not kind):
            return None
        kind = dtype.type
    return kind


def _same_values(graph: Any, calls: Sequence[Any], constants: dict[int, Any]) -> dict[int, int]:
    """Rows that have the value of a row before them: identities, powers of one, slices that were taken already."""
    same: dict[int, int] = {}
    slices: dict[tuple[int, str], int] = {}  # (what is sliced, how) -> the row of the slice
    for call in calls:
        source = same.get(call.inputs[0], call.inputs[0]) if call.inputs else -1
        if call.primitive.name == "slice":
            known = slices.setdefault((source, repr(call.attrs["spec"])), call.row)
        else:
            known = source if _hands_on(graph, call, constants) else call.row
        if known != call.row:
            same[call.row] = known
    return same


def _hands_on(graph: Any, call: Any, constants: dict[int, Any]) -> bool:
    """True for a call whose value is that of its first input."""
    if call.primitive.name in _ALIASES:
        return graph.shape_dtypes[call.row][1].kind != "O"
    if call.primitive.name != "pow" or graph.shape_dtypes[call.row] != graph.shape_dtypes[call.inputs[0]]:
        return False
    exponent: Any = constants.get(call.inputs[1])
    return np.ndim(exponent) == 0 and exponent == 1


# -- what one call runs -----------------------------------------------------------------------------------------------


def _formula(graph: Any, call: Any, arguments: list[str]) -> str | None:
    """The textbook formula with the names of the values in it; None where the primitive has none."""
    primitive = call.primitive
    if not primitive.code or call.attrs or any(graph.shape_dtypes[r][1].kind != "f" for r in call.inputs):
        return None
    text = "x * x" if primitive.name == "pow" and _is_two(graph, call.inputs[1]) else primitive.texts[0]
    return with_operands(text, arguments)


def _is_two(graph: Any, row: int) -> bool:
    value = graph.folded.get(row)
    return value is not None and np.ndim(value) == 0 and value == 2 and graph.shape_dtypes[row][1].kind == "f"


def _guard_gather(x: Any, places: Any, axis: int = 0, **attrs: Any) -> None:
    from ..engine.values.invalid import check_places

    check_places(places, x.shape[axis])


def _guard_gather_nd(x: Any, places: Any, batch_dims: int = 0, **attrs: Any) -> None:
    from ..engine.values.invalid import outside

    bad = outside(places, x.shape[batch_dims:][: places.shape[-1]])
    if bad is not None:
        shape = ",".join(map(str, x.shape))
        raise invalid(f"indices{bad[0]} = {bad[1]} does not index into param shape [{shape}], node name: GatherNd", "GatherNd")


# checks of values that the eager functions make before they run their primitive
GUARDS = {"GatherV2": _guard_gather, "GatherNd": _guard_gather_nd}


def _guard(forward: Callable[..., Any], guard: Callable[..., None]) -> Callable[..., Any]:
    def run(*arrays: Any, **attrs: Any) -> Any:
        guard(*arrays, **attrs)
        return forward(*arrays, **attrs)

    return run


def runner(call: Any, notes: bool = True) -> Callable[..., Any]:
    """The function on arrays that one call runs; without ``notes`` it keeps none of what its effects give."""
    primitive, attrs = call.primitive, call.attrs
    forward = primitive.forward if notes or not getattr(primitive, "noted", False) else primitive.unnoted
    if primitive.op in GUARDS:
        forward = _guard(forward, GUARDS[primitive.op])
    check = CHECKS.get(primitive.op)
    if check is not None and len(call.inputs) == 2:
        inner = forward

        def forward(x: Any, y: Any, **options: Any) -> Any:
            if y.dtype.kind in "iu":
                check(primitive, new_tensor(x), new_tensor(y))
            return inner(x, y, **options)

    return partial(forward, **attrs) if attrs else forward
