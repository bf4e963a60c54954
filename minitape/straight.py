"""A plan written out: the rows of a recording and the shares of its sweep as one Python function without loops.

Walking a plan asks the same questions for every share: what has arrived, which rule, which shapes. A plan that is met
often enough is written down as text with all of them answered, and compiled. Of ``y = x * x + c`` (rows 0 to 3)

    v0 = known[0]                       # forward: the rows that nobody has looked at yet
    v1 = v0 * v0
    v2 = known[2]
    v3 = v1 + v2
    g3 = seeds[3]                       # backward: one line for each share of an adjoint
    g1 = g3
    g0 = g1 * v0
    g0 = g0 + (g1 * v0)

The formulas are those of the table of derivatives, in the order of the plan: the numbers are the walk's to the last bit.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from .plan import Unplanned
from .primitives.blocks import BLOCK, LARGE, WRITTEN, accumulate, buffer
from .primitives.elementwise import BY_CODE, FIRST_CODE
from .primitives.formula import ARRAY, SCALAR, reads
from .sweep import Outline, unbroadcast

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
BIG = 4096  # elements from which on an adjoint is dropped as soon as it was handed on

Program = Callable[[Any, dict[int, Any]], dict[int, Any]]


class Unwritable(Exception):
    """This plan has a row that only the walk knows how to pass."""


def write(record: Any, visits: Sequence[Any], targets: Sequence[int], sources: Any, done: int) -> Program | None:
    """The program of a plan for these target rows, on a recording whose rows below ``done`` have their values.

    ``program(record, seeds)`` computes the rows up to the last target, and returns the adjoints of the sources by row.
    It may be used on every recording of the same structure that holds the arrays in ``program.needs``. None for a plan
    that has to be walked: one with slices, several outputs, or other dtypes than float32 and float64 on the way.
    """
    try:
        return _Writer(record, targets, sources, done).write(visits)
    except Unwritable:
        return None


class _Writer:
    def __init__(self, record: Any, targets: Sequence[int], sources: Any, done: int) -> None:
        self.record, self.targets, self.sources, self.done = record, targets, sources, done
        self.high = max(targets)
        self.scope: dict[str, Any] = {
            "A": np.ndarray, "unbroadcast": unbroadcast, "accumulate": accumulate, "fit": _fit, "flat": _flat,
            "buffer": buffer, "slices": _slices,
        }  # fmt: skip
        self.scope |= {f"a_{name}": function for name, function in ARRAY.items()}
        self.scope |= {f"s_{name}": function for name, function in SCALAR.get(record.real, {}).items()}
        self.read: set[int] = set()  # rows whose values the backward lines read
        self.needs: set[int] = set()  # ... of which these are found among the recording's arrays
        self.arrived: set[int] = set(targets)
        self.run = _Run()

    def write(self, visits: Sequence[Any]) -> Any:
        backward = self._backward(self._useful(visits))
        forward = self._forward()
        results = ", ".join(f"{r}: g{r}" for r in self.sources if r in self.arrived)
        lines = [
            "def program(record, seeds):", *forward, *[f"g{r} = seeds[{r}]" for r in self.targets], *backward,
            f"return {{{results}}}",
        ]  # fmt: skip
        exec(compile("\n    ".join(lines), "<formula sweep>", "exec"), self.scope)
        program = self.scope["program"]
        program.needs = frozenset(self.needs)
        return program

    def _shape(self, row: int) -> tuple[int, ...]:
        return self.record.meta.get(row, ((), None))[0]  # type: ignore[no-any-return]

    def _size(self, row: int) -> int:
        return math.prod(self._shape(row))

    # -- forward ------------------------------------------------------------------------------------------------------

    def _forward(self) -> list[str]:
        """The lines that compute the rows from ``done`` on, and those that fetch what is read of the others."""
        meta, lines, values = self.record.meta, [], []
        for row in range(self.done, self.high + 1):
            op, a, b, _ = self.record.cell(row)
            if op >= FIRST_CODE:
                text = self._filled(BY_CODE[op - FIRST_CODE].texts[0], row, (a, b), x=self._value(a), y=self._value(b))
                lines.append(f"v{row} = {f'arrays[{row}] = ' if row in meta else ''}{text}")
            elif row in self.record.late:
                lines.append(self._late(row, self.record.calls[a], a))
            elif row not in meta:
                lines.append(f"v{row} = known[{row}]")
            values.append("None" if row in meta else f"v{row}")
        if lines:
            lines += [f"values[{self.done}:] = [{', '.join(values)}]", f"record.done = {self.high + 1}"]
        return [
            "known, values, arrays, calls = record.known, record.values, record.arrays, record.calls",
            *[self._fetched(row) for row in sorted(self.read)], *lines,
        ]  # fmt: skip

    def _late(self, row: int, call: Any, number: int) -> str:
        """The line of a call that was put off."""
        self.scope[f"f{row}"] = call.primitive.forward
        values = ", ".join(self._value(r) for r in call.inputs)
        run = f"f{row}({values}{f', **calls[{number}].attrs' if call.attrs else ''})"
        return f"v{row} = arrays[{row}] = {run}" if row in self.record.meta else f"v{row} = {run}[()]"

    def _value(self, row: int) -> str:
        """The name of a row's value; the rows that no line of the program computes are fetched first."""
        record = self.record
        if row < self.done or (row in record.meta and row not in record.late and record.cell(row)[0] < FIRST_CODE):
            self.read.add(row)
        return f"v{row}"

    def _fetched(self, row: int) -> str:
        if row not in self.record.meta:
            return f"v{row} = values[{row}]"
        if row in self.record.arrays:
            self.needs.add(row)
            return f"v{row} = arrays[{row}]"
        self.scope[f"o{row}"] = Outline(*self.record.meta[row])
        return f"v{row} = o{row}"

    # -- backward -----------------------------------------------------------------------------------------------------

    def _useful(self, visits: Sequence[Any]) -> list[Any]:
        """The visits without shares that lead to no source."""
        leads, kept = set(self.sources), []
        for row, rule, a, b, to, last in reversed(visits):
            if rule is None:
                inputs = self.record.calls[a].inputs
                to = tuple(i for i in to if inputs[i] in leads)
                if not to:
                    continue
            elif to not in leads:
                continue
            leads.add(row)
            kept.append((row, rule, a, b, to, last))
        return kept[::-1]

    def _backward(self, visits: list[Any]) -> list[str]:
        lines: list[str] = []
        before = -1
        after = [*(row for row, *_ in visits[1:]), -1]
        for (row, rule, a, b, to, _), following in zip(visits, after, strict=False):
            if rule is None and self.record.calls[a].outputs != 1:
                raise Unwritable
            if row not in self.arrived:
                continue
            if self.record.meta.get(row, ((), FLOATS[0]))[1] not in FLOATS:
                raise Unwritable
            if rule is None:
                lines += self._call(row, self.record.calls[a], a, to)
            else:  # a row's first visit is for a, where a wants a share at all
                primitive = BY_CODE[self.record.cell(row)[0] - FIRST_CODE]
                index = 0 if to == a and row != before else 1
                lines += self._formula(primitive, row, (a, b), index)
            if following != row:
                self.run.ended.add(row)
                if row not in self.sources and self._size(row) >= BIG:
                    if self.run.steps:
                        self.run.drops.append(row)
                    else:
                        lines.append(f"g{row} = None")
            before = row
        return lines + self._flush()

    def _formula(self, primitive: Any, row: int, inputs: Sequence[int], index: int, rule: Any = None) -> list[str]:
        """The lines of one share that a formula of the table gives; large arrays wait, or go through the blocked ``rule``."""
        text, to = primitive.texts[1 + index], inputs[index]
        if text == "-":
            return []
        read, rows = reads(text), {"g": row, "z": row, "x": inputs[0], "y": inputs[-1]}
        names = {name: f"g{row}" if name == "g" else self._value(r) for name, r in rows.items() if name in read}
        shape, first = self._shape(row if "g" in read or "z" in read else to), self._arrives(to)
        share = self._filled(text, row, inputs, **names)
        if rule is None:
            return [*self._flush(), self._add(to, share, shape, first)]
        if share not in names.values():  # more than handing on
            self.scope[f"r{row}_{index}"] = rule
            share = f"r{row}_{index}({', '.join(names.get(n, 'None') for n in 'gzxy')})"
        line = self._add(to, share, shape, first)
        if not self._in_blocks(row, to, [rows[name] for name in names]):
            return [*self._flush(), line]
        lines = [] if self.run.takes(self.record.meta[to]) else self._flush()
        parts = {n: label if self._shape(rows[n]) == () else self.run.part(label) for n, label in names.items()}
        self.run.add(to, self._filled(text, row, inputs, **parts), first, line, self.record.meta[to])
        return lines

    def _arrives(self, row: int) -> bool:
        """Notes that a share arrives at a row; True for the first one."""
        first = row not in self.arrived
        self.arrived.add(row)
        return first

    def _in_blocks(self, row: int, to: int, rows: Sequence[int]) -> bool:
        """Whether a share is one of large arrays, all of one shape and dtype but for single numbers."""
        meta = self.record.meta
        like = meta.get(to)
        return self._size(to) >= LARGE and meta.get(row) == like and all(meta.get(r, like) == like for r in rows)

    def _flush(self) -> list[str]:
        """The lines of the shares that wait to be computed block by block; one by one where they are few."""
        run, self.run = self.run, _Run()
        if sum(not text.isidentifier() for _, text, _, _ in run.steps) < 2:
            return [line for *_, line in run.steps] + [f"g{row} = None" for row in run.drops]
        wanted = [to for to in run.made if to in self.sources or to not in run.ended]
        return run.lines(wanted) + [f"g{row} = None" for row in run.drops if row in wanted or f"g{row}" in run.given]

    def _filled(self, text: str, row: int, inputs: Sequence[int], **names: str) -> str:
        """A formula of row ``row`` with these names for its variables."""
        array, squares = row in self.record.meta, self._shape(inputs[-1]) == () != self._shape(inputs[0])
        return _template(text, "a_" if array else "s_", squares).format(**names)

    def _call(self, row: int, call: Any, number: int, wanted: Sequence[int]) -> list[str]:
        """The lines of the shares of a call's inputs."""
        primitive, inputs, record = call.primitive, call.inputs, self.record
        if primitive.rules is None or primitive.name in ("custom_gradient", "py_function"):
            raise Unwritable
        if any(record.meta.get(r, ((), FLOATS[0]))[1] not in FLOATS for r in (inputs[i] for i in wanted)):
            raise Unwritable
        lines: list[str] = []
        if primitive.code:
            large = max(self._size(r) for r in (row, *inputs)) >= LARGE
            for i in wanted:
                lines += self._formula(primitive, row, inputs, i, primitive.rules[i] if large else None)
            return lines
        lines += self._flush()
        values = ", ".join(self._value(r) for r in (row, *inputs))
        if callable(primitive.rules):
            self.scope[f"r{row}"] = primitive.rules
            lines.append(f"s = r{row}(g{row}, {values}, **calls[{number}].attrs)")
        for i in wanted:
            if not callable(primitive.rules):
                if primitive.rules[i] is None:
                    continue
                self.scope[f"r{row}_{i}"] = primitive.rules[i]
                attrs = f", **calls[{number}].attrs" if call.attrs else ""
                share = f"r{row}_{i}(g{row}, {values}{attrs})"
            else:
                share = f"s[{i}]"
            shape = self._shape(inputs[i])
            lines += [f"t = {share}", f"if type(t) is not A or t.shape != {shape!r}: t = fit(t, {shape!r})"]
            lines.append(self._add(inputs[i], "t", shape, self._arrives(inputs[i])))
        return lines

    def _add(self, row: int, share: str, shape: tuple[int, ...], first: bool) -> str:
        """The line that adds a share of this shape to the adjoint of a row."""
        if shape != self._shape(row):
            share = f"unbroadcast({share}, {self._shape(row)!r})"
        if first:
            return f"g{row} = {share}"
        if self._size(row) >= LARGE:
            return f"g{row} = accumulate(g{row}, {share}, {WRITTEN})"
        return f"g{row} = g{row} + ({share})"


class _Run:
    """Shares on large arrays of one shape that follow each other: computed together, block by block through the cache."""

    def __init__(self) -> None:
        self.meta: Any = None  # their shape and dtype
        self.steps: list[tuple[int, str, bool, str]] = []  # row, share, whether it is its first, the line without blocks
        self.given: dict[str, None] = {}  # the arrays that are read
        self.made: dict[int, None] = {}  # the rows to which something is added
        self.ended: set[int] = set()  # rows that are read no more
        self.drops: list[int] = []  # rows whose adjoints nobody needs any more

    def takes(self, meta: Any) -> bool:
        return not self.steps or self.meta == meta

    def part(self, label: str) -> str:
        """The name of a block of an array."""
        if not (label[0] == "g" and int(label[1:]) in self.made):
            self.given[label] = None
        return f"b{label}"

    def add(self, row: int, share: str, first: bool, line: str, meta: Any) -> None:
        if not first and row not in self.made:
            self.part(f"g{row}")
        self.steps.append((row, share, first, line))
        self.made[row], self.meta = None, meta

    def lines(self, wanted: Sequence[int]) -> list[str]:
        """The loop over blocks; of the adjoints it makes only the ``wanted`` ones are kept."""
        shape, dtype = self.meta
        return [
            *[f"f{name} = flat({name})" for name in self.given],
            *[f"g{row} = buffer({shape!r}, {dtype.str!r}); w{row} = g{row}.reshape(-1)" for row in wanted],
            f"for at in slices({math.prod(shape)}):",
            *[f"    b{name} = f{name}[at] if type(f{name}) is A else f{name}" for name in self.given],
            *[f"    bg{row} = {share if first else f'bg{row} + ({share})'}" for row, share, first, _ in self.steps],
            *[f"    w{row}[at] = bg{row}" for row in wanted],
            " = ".join([*(f"f{name}" for name in self.given), *(f"w{row}" for row in wanted), "None"]),
        ]


def _flat(array: Any) -> Any:
    """An array as one row of numbers; a number that was broadcast as the number itself."""
    if type(array) is not np.ndarray or not any(array.strides):
        return np.asarray(array)[(0,) * np.ndim(array)]
    return array.reshape(-1)


@cache
def _slices(count: int) -> list[slice]:
    """Blocks of nearly the same size: a function may treat a small one otherwise."""
    parts = -(-count // BLOCK)
    ends = [count * k // parts for k in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


def _fit(share: Any, shape: tuple[int, ...]) -> Any:
    """A share of a call in the shape of its input."""
    if not isinstance(share, (np.ndarray, np.generic)):
        raise Unplanned
    return share if share.shape == shape else unbroadcast(share, shape)


@cache
def _template(text: str, kind: str, squares: bool) -> str:
    """A formula with places for its variables, its functions named after the values that they are for.

    With ``squares`` an array is raised to a number, which is asked here whether it is 2.
    """
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = f"{{{node.id}}}" if node.id in "gzxy" else kind + node.id
    found = ast.unparse(tree)
    if squares:
        found = found.replace("a_pow({x}, {y})", "({x} * {x} if {y} == 2 else a_pow({x}, {y}))")
        found = found.replace("a_pow({x}, {y} - 1)", "({x} if {y} == 2 else a_pow({x}, {y} - 1))")
    return found
