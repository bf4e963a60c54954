"""Runs of elementwise calls on large arrays, computed together block by block.

Each operation alone would walk over main memory. Here a block of every array stays in the cache while all calls of the
run pass over it; only what other calls read is written to memory. The work is NumPy's, whose sin, exp and tanh are
vector code; the formulas are those of the textbook table (see :mod:`minitape.speed.blocks`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.table.code import define
from .blocks import BLOCK, LARGE, Blocked, buffer
from .fuse import CHEAP, TOTALS, is_total, single_number, total

LEAST = 3  # calls from which on a run is worth it


def large_kind(graph: Any, call: Any) -> tuple[tuple[int, ...], type] | None:
    """(shape, float type) of a call that can be part of a run; None for others."""
    primitive = call.primitive
    reduces = primitive.name in TOTALS
    if not (reduces or (primitive.code and not call.attrs and _formula(primitive.texts[0]).possible)):
        return None
    shape, dtype = graph.shape_dtypes[call.inputs[0] if reduces else call.row]
    if shape is None or None in shape or int(np.prod(shape)) < LARGE or dtype.char not in "fd":
        return None
    if reduces:
        return (shape, dtype.type) if is_total(call, len(shape)) else None
    same = all(graph.shape_dtypes[r][0] in ((), shape) and graph.shape_dtypes[r][1] == dtype for r in call.inputs)
    return (shape, dtype.type) if same else None


def slow_shapes(graph: Any, calls: Sequence[Any]) -> set[Any]:
    """The shapes on which functions are computed that compiled loops have no vector code for."""
    kinds = [(c, large_kind(graph, c)) for c in calls if c.primitive.code]
    return {kind for call, kind in kinds if kind is not None and call.primitive.name not in CHEAP}


@functools.cache
def _formula(text: str) -> Blocked:
    return Blocked(text)


class Blockwise:
    """Writes the function of one run. ``alias`` sees through rows that are others under a second name."""

    def __init__(
        self,
        graph: Any,
        calls: Sequence[Any],
        kind: tuple[tuple[int, ...], type],
        constants: dict[int, Any],
        alias: Any,
        readers: dict[int, list[int]],
    ) -> None:
        self.graph, self.calls, self.constants, self.alias = graph, calls, constants, alias
        self.shape, self.real = kind
        rows = {c.row for c in calls}
        self.outputs = [c.row for c in calls if any(r not in rows for r in readers.get(c.row, ()))]
        self.last = {alias(r): number for number, call in enumerate(calls) for r in call.inputs}
        self.inputs: list[int] = []
        self.lines: list[str] = []
        self.sums: dict[int, Any] = {}  # row -> call
        self.scope: dict[str, Any] = {"buffer": buffer, "np": np, "T": self.real}
        self.names: dict[Any, str] = {}
        self.places: dict[int, str] = {}  # where a row's block is: a register, or part of an output
        self.registers = 0
        self.free: list[str] = []

    def function(self) -> tuple[Callable[..., Any], list[int], list[int]]:
        """(the function, the rows that it takes, the rows that it returns)."""
        for number, call in enumerate(self.calls):
            self._call(call)
            for row in {self.alias(r) for r in call.inputs}:
                if self.last[row] == number and self.places.get(row, "").startswith("r"):
                    self.free.append(self.places[row])
        made = define(self._text(), "<formula blockwise>", self.scope)
        return made["blockwise"], self.inputs, self.outputs

    def _text(self) -> str:
        count, arrays = int(np.prod(self.shape)), [r for r in self.outputs if r not in self.sums]
        registers = [f"r{k}" for k in range(self.registers)]
        large = [r for r in self.inputs if self.graph.shape_dtypes[r][0]]
        text = f"def blockwise({', '.join(f'v{r}' for r in self.inputs)}):\n"
        text += "".join(f"    f{r} = np.ascontiguousarray(v{r}).reshape(-1)\n" for r in large)
        text += "".join(f"    v{r} = buffer({self.shape!r}, T)\n    f{r} = v{r}.reshape(-1)\n" for r in arrays)
        text += "".join(f"    {r} = np.empty({min(BLOCK, count)}, T)\n" for r in registers)
        text += "".join(f"    s{r} = 0.0\n" for r in self.sums)
        text += f"    for start in range(0, {count}, {BLOCK}):\n        stop = min(start + {BLOCK}, {count})\n"
        if count % BLOCK and registers and count > BLOCK:
            text += f"        if stop - start < {BLOCK}:\n"
            text += "".join(f"            {r} = {r}[: stop - start]\n" for r in registers)
        text += "".join(f"        b{r} = f{r}[start:stop]\n" for r in (*large, *arrays))
        text += "".join(f"        {line}\n" for line in self.lines)
        text += "".join(f"    v{r} = {total(f's{r}', call, self.shape)}\n" for r, call in self.sums.items())
        return text + f"    return ({''.join(f'v{r}, ' for r in self.outputs)})\n"

    def _call(self, call: Any) -> None:
        operands = dict(zip("xy", map(self._operand, call.inputs), strict=False))
        if call.primitive.name in TOTALS:
            self.sums[call.row] = call
            self.lines.append(f"s{call.row} += float(np.add.reduce({operands['x']}))")
            return
        steps = _formula(call.primitive.texts[0]).steps
        held: dict[int, str] = {}
        for number, (function, names, level) in enumerate(steps):
            arguments = [operands[n] if type(n) is str else held[n] if type(n) is int else repr(n) for n in names]
            if number == len(steps) - 1:
                target = f"b{call.row}" if call.row in self.outputs else self._register()
                self.places[call.row] = target
            else:
                target = held[level] = held.get(level) or self._register()
            name = self._named(function)
            self.lines.append(f"{name}({', '.join(arguments)}, out={target})")
        self.free += held.values()

    def _named(self, function: Any) -> str:
        """The name of a function in the text: several may be called the same."""
        name = self.names.setdefault(function, f"u{len(self.names)}_{function.__name__}")
        self.scope[name] = function
        return name

    def _register(self) -> str:
        if self.free:
            return self.free.pop()
        self.registers += 1
        return f"r{self.registers - 1}"

    def _operand(self, row: int) -> str:
        row = self.alias(row)
        if row in self.places:
            return self.places[row]
        number = single_number(self.constants[row]) if row in self.constants else None
        if number is not None:
            self.scope[f"c{row}"] = self.real(number)
            return f"c{row}"
        if row not in self.inputs:
            self.inputs.append(row)
        return f"b{row}" if self.graph.shape_dtypes[row][0] else f"v{row}"
