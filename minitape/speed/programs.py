"""The rows of a recording as one Python function over arrays: the fast form of :func:`minitape.functions.program.Rows`.

The function is generated: one line for each call, with the textbook formula itself where there is one. What runs often
is fused into loops that numba compiles: operations on arrays, and repeats of the same operations on single numbers, so
that a chain of a thousand of them costs a few nanoseconds each.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..engine.table.accelerator import fast
from ..engine.table.code import define, with_operands
from ..engine.table.primitives.formula import ARRAY, LIBRARY
from . import blockwise, fuse, kernels
from .rolled import rolled

if TYPE_CHECKING:
    from ..engine.recording.rows import Call

Table: TypeAlias = Any  # minitape.functions.program.Table, of a package above

ONCE_MORE = 512  # runs after which numba is loaded to fuse a program

LONG = 256  # calls on numbers, or on pieces of arrays, that earn the loading of numba sooner
FEW = 48  # scalar calls that are worth a compiled loop
MOST = 16  # calls of a loop over a block: what it reads shall be in the cache, and it shall compile soon
BIG = 4096  # elements of such a piece; from them on an array is dropped as soon as no call reads it any more

_ALIASES = {"identity", "stop_gradient"}
_FOR_ALL = {"add", "subtract", "multiply"}  # formulas that serve all dtypes as they stand


class Writer:
    """Writes the program of some calls in order.

    Calls that are computed together wait in runs: large arrays block by block, numbers, and what becomes one loop. A
    run is written when a call reads of it that cannot join it.
    """

    def __init__(
        self,
        table: Table,
        calls: Sequence[Call],
        constants: dict[int, Any],
        fetches: Sequence[int],
        feeds: Sequence[int],
        runner: Callable,
        fuse: bool = False,
        block: int = 0,
    ) -> None:
        self.fuse, self.runner = fuse, runner
        self.block = block  # elements of an array, where arrays are blocks of larger ones, which may differ a little
        self.table, self.fetches, self.feeds = table, fetches, feeds
        self.same = _same_values(table, calls)
        self.calls = [c for c in calls if c.row not in self.same]
        self.constants = constants
        self.scope: dict[str, Any] = {f"v{row}": array for row, array in constants.items()}
        self.scope |= ARRAY | LIBRARY if block else ARRAY  # a block is no small array, which gets more care
        self.lines: list[str] = []
        self.warns = False  # whether some of it is NumPy's, which warns of infinities
        self.written = 0  # runs
        self.readers = self._find_readers()
        self.unread = {row: len(readers) for row, readers in self.readers.items()}  # by calls that are not written yet
        self.runs = self._runs()

    def _runs(self) -> list[_Run]:
        """The kinds of runs that pay here, in the order in which calls may join them."""
        # large shapes on which functions are computed that compiled loops have no vector code for
        self.slow = {blockwise.large_kind(self.table, c) for c in self.calls if c.primitive.name not in fuse.CHEAP}
        found = [_Run(self._large_kind, self._write_large)]
        if self.fuse and sum(scalar_type(self.table, c) is not None for c in self.calls) >= FEW:
            found.append(_Run(lambda run, call: scalar_type(self.table, call), self._write_numbers))
        if self.fuse:
            found.append(_Run(lambda run, call: fuse.fusable(self.table, call), self._write_fused))
        return found

    def write(self) -> Callable[..., tuple]:
        """The compiled function: arrays of the fed rows in, arrays of the fetched rows out."""
        for call in self.calls:
            sources = self._inputs(call)
            joined = next((run for run in self.runs if self._joins(run, call, sources)), None)
            for run in self.runs:
                if run is not joined and not run.rows.isdisjoint(sources):
                    self._end(run)
            if joined is None:
                self._line(call)
        for run in self.runs:
            self._end(run)
        names = "".join(f"{self._name(r)}, " for r in self.fetches)
        arguments = ", ".join(f"v{r}" for r in self.feeds)
        text = f"def program({arguments}):\n{''.join(self.lines)}    return ({names})\n"
        return define(text, "<formula function>", self.scope)["program"]

    # -- runs --------------------------------------------------------------------------------------

    def _joins(self, run: _Run, call: Call, sources: list[int]) -> bool:
        """Lets a call wait in a run for others of its kind; False where it cannot."""
        if self.block and len(run.calls) == MOST:
            self._end(run)
        kind = run.kind_of(run, call)
        if kind != run.kind and not run.rows.isdisjoint(sources):
            self._end(run)
            kind = run.kind_of(run, call)
        if kind is None or run.kind not in (None, kind):
            return False
        run.calls.append(call)
        run.rows.add(call.row)
        run.kind = kind
        return True

    def _end(self, run: _Run) -> None:
        """Writes the calls that wait in a run: together, or line by line where they are few."""
        calls, kind = run.calls, run.kind
        run.calls, run.rows, run.kind = [], set(), None
        if calls and not run.write(calls, kind):
            for call in calls:
                self._line(call)

    def _large_kind(self, run: _Run, call: Call) -> Any:
        """The shape and float type of a call on large arrays; a sum of another run's rows is none, nor is what reads a
        sum of this one.
        """
        kind = blockwise.large_kind(self.table, call)
        if kind is None or (self.fuse and kind not in self.slow):
            return None
        inside = [r for r in self._inputs(call) if r in run.rows]
        if call.primitive.name in fuse.TOTALS and not inside:
            return None
        return kind if all(self.table.shape_dtypes[r][0] == kind[0] for r in inside) else None

    def _write_large(self, calls: list[Call], kind: Any) -> bool:
        if len(calls) < blockwise.LEAST:
            return False

        write = partial(Writer, runner=self.runner, fuse=self.fuse, block=blockwise.BLOCK)
        self._write_run(calls, *blockwise.blockwise(self.table, calls, kind, self._alias, self.readers, write))
        self.warns = True
        return True

    def _write_fused(self, calls: list[Call], real: Any) -> bool:
        shapes = {row: shape for row, (shape, _) in self.table.shape_dtypes.items()}
        if sum(shapes[c.row] != () for c in calls) < (2 if self.block else fuse.LEAST):
            return False
        # what is only another number in another place is no other loop
        constants = {} if self.block else self.constants
        writer = fuse.Fused(self.table, calls, constants, self._alias, self.readers)
        text = writer.text()
        arguments = [*writer.inputs, *writer.filled]
        if self.block:
            text = text.replace(f"range({self.block})", f"range(v{arguments[-1]}.shape[0])")
        function = fuse.compiled(text, real, [shapes[r] for r in arguments])
        if function is None:
            return False
        self.scope |= {"empty": np.empty, "buffer": fast.buffer, real.__name__: real}
        for row in writer.filled:
            make = "buffer" if math.prod(shapes[row]) >= fast.large else "empty"
            shape = f"v{self.feeds[0]}.shape" if self.block else repr(shapes[row])
            self.lines.append(f"    v{row} = {make}({shape}, {real.__name__})\n")
        self._write_run(calls, function, arguments, writer.outputs)
        self.lines += [f"    v{r} = {real.__name__}(v{r})\n" for r in writer.outputs if shapes[r] == ()]
        return True

    def _write_run(self, calls: Sequence[Call], function: Any, inputs: list[int], outputs: list[int]) -> None:
        """Writes the call of a function that computes several rows."""
        name, arguments = self._take_name(function), ", ".join(f"v{r}" for r in inputs)
        results = "".join(f"v{r}, " for r in outputs)
        self.lines.append(f"    {results + '= ' if results else ''}{name}({arguments})\n")
        self._drop(inputs, calls)

    def _take_name(self, function: Any) -> str:
        """The name of a run's function in the program."""
        name, self.written = f"k{self.written}", self.written + 1
        self.scope[name] = function
        return name

    def _write_numbers(self, calls: list[Call], real: Any) -> bool:
        """Writes single numbers that repeat the same operations as loops."""
        if len(calls) < FEW:
            return False
        rows = {c.row for c in calls}
        leaves = list(dict.fromkeys(r for c in calls for r in self._inputs(c) if r not in rows))
        place = {row: at for at, row in enumerate([*leaves, *[c.row for c in calls]])}
        block, values = np.zeros((len(place), 4), np.int32), np.zeros(len(place), real)
        for call in calls:
            inputs = [place[r] for r in self._inputs(call)]
            block[place[call.row], :3] = call.primitive.code, inputs[0], inputs[-1]
        for row in leaves:
            if row in self.constants:
                values[place[row]] = self.constants[row]
        function = rolled(block, len(leaves), real)
        if function is None:
            return False
        name = self._take_name(function)
        self.scope[f"values_{name}"] = values
        self.lines.append(f"    w = values_{name}.copy()\n")
        self.lines += [f"    w[{place[row]}] = v{row}\n" for row in leaves if row not in self.constants]
        self.lines.append(f"    {name}(w)\n")
        self._drop([], calls)
        self.lines += [f"    v{c.row} = w[{place[c.row]}]\n" for c in calls if self.unread.get(c.row)]
        return True

    # -- rows --------------------------------------------------------------------------------------

    def _alias(self, row: int) -> int:
        """The row that holds a row's value: itself, or the one that has the same value already."""
        return self.same.get(row, row)

    def _name(self, row: int) -> str:
        return f"v{self._alias(row)}"

    def _inputs(self, call: Call) -> list[int]:
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

    # -- one line ----------------------------------------------------------------------------------

    def _notes_are_read(self, call: Call) -> bool:
        return bool(self.readers.get(call.row + call.outputs - 1))

    def _line(self, call: Call) -> None:
        arguments = [self._name(r) for r in call.inputs]
        formula = _formula(self.table, call, arguments)
        if formula is None and call.primitive.name == "slice":
            self.scope[f"s{call.row}"] = call.attrs["spec"]
            formula = f"{arguments[0]}[s{call.row}]"
        if formula is None:
            self.scope[f"f{call.row}"] = self.runner(call, self._notes_are_read(call))
            formula = f"f{call.row}({', '.join(arguments)})"
        names = ", ".join(f"v{call.row + i}" for i in range(call.outputs))
        comma = "," if call.outputs > 1 or getattr(call.primitive, "gives_tuple", False) else ""
        self.lines.append(f"    {names}{comma} = {formula}\n")
        self.warns = True
        self._drop(call.inputs, [call])

    def _drop(self, rows: Sequence[int], calls: Sequence[Call]) -> None:
        """Drops those of the rows that no call reads any more, now that these calls are written."""
        for call in calls:
            for row in self._inputs(call):
                self.unread[row] -= 1
        dead = {self._name(r) for r in rows if not self.unread[self._alias(r)] and self._is_big(self._alias(r))}
        if dead:
            self.lines.append(f"    {' = '.join(sorted(dead))} = None\n")

    def _is_big(self, row: int) -> bool:
        held = row in self.constants or row in self.feeds  # by others
        return not held and math.prod(self.table.shape_dtypes[row][0]) >= BIG


class _Run:
    """Calls of one kind (of numbers their type) that wait to be written together: ``kind_of(run, call)``,
    ``write(calls, kind)``.
    """

    def __init__(self, kind_of: Callable[[_Run, Any], Any], write: Callable[[list, Any], bool]) -> None:
        self.kind_of, self.write = kind_of, write
        self.calls: list[Call] = []
        self.rows: set[int] = set()
        self.kind: Any = None


def scalar_type(table: Table, call: Call) -> Any:
    """The float type of a call that works on single numbers of the textbook table; None for others."""
    numbers = call.primitive.code and all(table.shape_dtypes[row][0] == () for row in (*call.inputs, call.row))
    return fuse.float_type(table, call) if numbers and call.outputs == 1 else None


def _same_values(table: Table, calls: Sequence[Call]) -> dict[int, int]:
    """Rows that have the value of a row before them: identities, first powers, slices that were taken already."""
    same: dict[int, int] = {}
    slices: dict[tuple[int, str], int] = {}  # (what is sliced, how) -> the row of the slice
    for call in calls:
        source = same.get(call.inputs[0], call.inputs[0]) if call.inputs else -1
        if call.primitive.name == "slice":
            known = slices.setdefault((source, repr(call.attrs["spec"])), call.row)
        else:
            alias = call.primitive.name in _ALIASES or fuse.exponent(table, call) == 1
            known = source if alias and table.shape_dtypes[call.row][1].kind != "O" else call.row
        if known != call.row:
            same[call.row] = known
    return same


# -- what one call runs ----------------------------------------------------------------------------


def _formula(table: Table, call: Call, arguments: list[str]) -> str | None:
    """The textbook formula with the names of the values in it; None where the primitive has none."""
    primitive, kinds = call.primitive, {table.shape_dtypes[r][1].kind for r in call.inputs}
    if not primitive.code or call.attrs or (kinds != {"f"} and primitive.name not in _FOR_ALL):
        return None
    text = "x * x" if fuse.exponent(table, call) == 2 else primitive.texts[0]
    return _template(text).format(*arguments)


@cache
def _template(text: str) -> str:
    """A formula with places for the names of its operands."""
    return with_operands(text, ["{0}", "{1}"])


class CompiledRows:
    """Needed rows as one function over arrays: see :class:`minitape.functions.program.Rows`, the plain form."""

    def __init__(
        self,
        table: Table,
        calls: Sequence[Call],
        constants: dict[int, Any],
        fetches: Sequence[int],
        feeds: Sequence[int],
        runner: Callable,
    ) -> None:
        self.table, self.calls = table, calls
        self.writer = partial(Writer, table, calls, constants, fetches, feeds, runner)
        self._write()

    def _write(self, fused: bool = False) -> None:
        writer = self.writer(fused)
        self.function, self.warns = writer.write(), writer.warns

    def fuse(self, runs: int) -> bool:
        """Rows that run often earn compiled loops, where numba is at hand (or after many more runs); whether that is
        settled.
        """
        sizes = [math.prod(self.table.shape_dtypes[c.row][0]) for c in self.calls if fuse.fusable(self.table, c)]
        if not kernels.available() or len(sizes) < fuse.LEAST:
            return True
        if runs < ONCE_MORE and sum(1 + size // BIG for size in sizes) < LONG and "numba" not in sys.modules:
            return False
        self._write(fused=True)
        return True


def Rows(plain: type) -> type[CompiledRows]:
    """The class that computes what ``plain`` does."""
    return CompiledRows
