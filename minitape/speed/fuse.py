"""Runs of elementwise calls fused into one compiled loop.

NumPy walks over the arrays once for each operation; the generated function walks over them once for all. It takes calls
of the textbook table on arrays of one shape, and what is commonly between them: slices and their adjoints, sums
over all elements, single numbers. Functions for which NumPy has vector code (sin, exp, ...) are left to NumPy on long
arrays.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.table.code import with_operands
from .compiled import compiled as machine_code
from .text import header, kernel_text

LEAST = 6  # array operations from which on a loop of their own is worth compiling
INDICES = "ijk"
_ROW = re.compile(r"(?<=\b[vts])\d+")  # the number of a row in a name
SHORT = 256  # elements up to which a fused loop beats NumPy's vector functions
TOTALS = ("reduce_sum", "reduce_mean")  # of all elements
CHEAP = set(
    "add subtract multiply divide negative square maximum minimum squared_difference abs relu relu_gate "
    "reciprocal sqrt "
    "rsqrt sqrt_share tanh_share sigmoid_share mul_no_nan pow reduce_sum reduce_mean".split()
)


def float_type(table: Any, call: Any) -> Any:
    """The float type of all that a call reads and gives; None where they have different ones, or others."""
    kinds = {table.shape_dtypes[row][1].type for row in (*call.inputs, call.row)}
    return kinds.pop() if kinds in ({np.float32}, {np.float64}) else None


def fusable(table: Any, call: Any) -> Any:
    """The float type of a call that can be part of a fused loop; None for others."""
    primitive, name = call.primitive, call.primitive.name
    if call.outputs > 1 or not (primitive.code or name in ("slice", "unslice", *TOTALS)):
        return None
    shape, *inputs = [table.shape_dtypes[row][0] for row in (call.row, *call.inputs)]
    if max(map(len, (shape, *inputs))) > len(INDICES):
        return None
    if primitive.code:
        size = math.prod(shape)
        cheap = name in CHEAP if name != "pow" else exponent(table, call) in (1, 2)
        can = set(inputs) <= {(), shape} and (cheap or size <= SHORT)
    elif name in TOTALS:
        can = is_total(call, len(inputs[0]))
    else:
        spec = call.attrs["spec"]
        can = isinstance(spec, tuple) and all(isinstance(s, slice) and (s.step or 1) > 0 for s in spec)
    return float_type(table, call) if can else None


def exponent(table: Any, call: Any) -> Any:
    """The number that a power is raised to in each run; None for other calls, and where no number is."""
    value: Any = table.folded.get(call.inputs[1]) if call.primitive.name == "pow" else None
    return None if np.ndim(value) else value


def is_total(call: Any, rank: int) -> bool:
    """Whether a call gives the sum or mean of all elements of its input, which has axes."""
    axis = call.attrs.get("axis")
    return (
        call.primitive.name in TOTALS
        and not call.attrs.get("keepdims")
        and (axis is None or len(axis) == rank)
        and rank > 0
    )


def total(name: str, call: Any, shape: tuple[int, ...]) -> str:
    """The text of a total, given the name of the sum of the elements of this shape in double precision."""
    return f"T({name})" if call.primitive.name == "reduce_sum" else f"T({name}) / T({math.prod(shape)})"


def single_number(value: Any) -> float | None:
    """The number that all elements of a constant are; None when they differ."""
    flat = np.reshape(value, -1)
    return float(flat[0]) if flat.size and (flat == flat[0]).all() else None


class Fused:
    """Writes the fused function of some calls; other ``readers`` than these calls need a row's value outside."""

    def __init__(
        self, table: Any, calls: Sequence, constants: dict[int, Any], alias: Any, readers: dict[int, list[int]]
    ) -> None:
        self.table, self.calls, self.constants, self.alias, self.readers = table, calls, constants, alias, readers
        self.rows = {c.row for c in calls}
        outputs = [c for c in calls if self._leaves(c.row, self.rows)]
        self.filled = [c.row for c in outputs if c.primitive.name != "slice" and table.shape_dtypes[c.row][0] != ()]
        self.outputs = [c.row for c in outputs if c.row not in self.filled]
        self.lines: list[str] = []
        self.inputs: list[int] = []
        self.shape: tuple[int, ...] | None = None  # of the open loop
        self.body: list[tuple[str, str]] = []  # (what is set, to what)
        self.loop: set[int] = set()  # rows whose elements the open loop computes
        self.sums: list = []  # calls
        self.waiting: set[int] = set()  # rows that are there after the open loop

    def text(self) -> str:
        """The function's source: it takes ``inputs``, and arrays for the rows ``filled``; it returns ``outputs``."""
        for call in self.calls:
            self._write(call)
        self._close()
        values = "".join(f"v{r}, " for r in self.outputs)
        arguments = ", ".join(f"v{r}" for r in (*self.inputs, *self.filled))
        return f"def fused({arguments}):\n{''.join(self.lines)}    return ({values})\n"

    def _leaves(self, row: int, inside: set[int]) -> bool:
        return any(r not in inside for r in self.readers.get(row, ()))

    # -- calls -------------------------------------------------------------------------------------

    def _write(self, call: Any) -> None:
        name, shape = call.primitive.name, self.table.shape_dtypes[call.row][0]
        sources = [self.alias(r) for r in call.inputs]
        if any(r in self.waiting for r in sources):
            self._close()
        if name == "slice":
            if sources[0] in self.loop:
                self._close()
            self.lines.append(f"    v{call.row} = {self._array(sources[0])}{_spec(call.attrs['spec'])}\n")
        elif name == "unslice":
            self._unslice(call, sources[0])
        elif name in TOTALS:
            self.body.append((f"s{call.row}", f"s{call.row} + {self._element(sources[0])}"))
            self.sums.append(call)
            self.waiting.add(call.row)
        elif shape == ():
            self.lines.append(
                f"    v{call.row} = {self._formula(call, [self._constant(r) or self._array(r) for r in sources])}\n"
            )
        else:
            elements = [self._element(r, shape) for r in sources]
            self.body.append((f"t{call.row}", self._formula(call, elements)))
            self.loop.add(call.row)

    def _unslice(self, call: Any, source: int) -> None:
        """Zeros, into which the loop over the source puts its elements."""
        shape, spec = call.attrs["shape"], call.attrs["spec"]
        steps = [s.indices(n) for s, n in zip(spec, shape, strict=False)]
        places = [f"{start} + {step} * {i}" for (start, _, step), i in zip(steps, INDICES, strict=False)]
        element = self._element(source)
        self._allocate(call.row, shape)
        self.lines += _loop(shape, [f"v{call.row}[{', '.join(INDICES[: len(shape)])}] = T(0)"])
        self.body.append((f"v{call.row}[{', '.join([*places, *INDICES[len(places) : len(shape)]])}]", element))
        self.waiting.add(call.row)

    def _allocate(self, row: int, shape: tuple[int, ...]) -> None:
        """Makes the array of a row, unless the caller gives it: numba takes long to hand out one of its own."""
        if row not in self.filled:
            self.lines.append(f"    v{row} = np.empty({shape!r}, T)\n")

    def _formula(self, call: Any, operands: list[str]) -> str:
        text = call.primitive.texts[0]
        text = {1: "x", 2: "x * x"}.get(exponent(self.table, call), text)
        return with_operands(kernel_text(text), operands)

    # -- operands ----------------------------------------------------------------------------------

    def _constant(self, row: int) -> str | None:
        """The number that a constant is everywhere, as text; None for other rows, and where no text is that number."""
        number = single_number(self.constants[row]) if row in self.constants else None
        return None if number is None or not np.isfinite(number) else f"T({number!r})"

    def _array(self, row: int) -> str:
        """A value that is there before the open loop: computed here, or an argument."""
        if row not in self.rows and row not in self.inputs:
            self.inputs.append(row)
        return f"v{row}"

    def _element(self, row: int, shape: tuple[int, ...] | None = None) -> str:
        """A row's element inside the loop over ``shape`` (its own), which is opened if it is not open yet."""
        shape = self.table.shape_dtypes[row][0] if shape is None else shape
        if self.shape is not None and self.shape != shape:
            self._close()
        self.shape = shape
        if row in self.loop:
            return f"t{row}"
        constant = self._constant(row)
        if constant or self.table.shape_dtypes[row][0] == ():
            return constant or self._array(row)
        return f"{self._array(row)}[{', '.join(INDICES[: len(shape)])}]"

    # -- loops -------------------------------------------------------------------------------------

    def _close(self) -> None:
        """Writes the open loop; what other statements read of it is stored in arrays."""
        if self.shape is None:
            return
        stored = [r for r in sorted(self.loop) if self._leaves(r, self.loop | self.waiting)]
        for row in stored:
            self._allocate(row, self.shape)
        self.lines += [f"    s{c.row} = 0.0\n" for c in self.sums]
        index = ", ".join(INDICES[: len(self.shape)])
        stores = [f"v{r}[{index}] = t{r}" for r in stored]
        self.lines += _loop(self.shape, [*[f"{name} = {value}" for name, value in self.body], *stores])
        self.lines += [f"    v{c.row} = {total(f's{c.row}', c, self.shape)}\n" for c in self.sums]
        self.shape, self.body, self.loop, self.sums, self.waiting = None, [], set(), [], set()


def _loop(shape: tuple[int, ...], statements: Sequence[str]) -> list[str]:
    """The lines of a loop over all elements of a shape."""
    heads = [f"{'    ' * depth}for {INDICES[depth - 1]} in range({size}):\n" for depth, size in enumerate(shape, 1)]
    return [*heads, *[f"{'    ' * (len(shape) + 1)}{s}\n" for s in statements]]


def _spec(spec: tuple[slice, ...]) -> str:
    def end(value: Any) -> str:
        return "" if value is None else str(int(value))

    parts = [f"{end(s.start)}:{end(s.stop)}" + ("" if s.step is None else f":{int(s.step)}") for s in spec]
    return f"[{', '.join(parts)}]"


def compiled(text: str, real: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
    """The fused function as machine code, tried once on zeros of these shapes; None when numba refuses it."""
    numbers: dict[str, int] = {}  # the same text for the same work in another place
    text = _ROW.sub(lambda row: str(numbers.setdefault(row[0], len(numbers))), text)
    name, trial = np.dtype(real).name, [np.zeros(shape, real) if shape else real(0) for shape in shapes]
    try:
        return machine_code(f"{header(name)}\n{text}", f"fused_{name}", "fused", trial)
    except Exception as error:  # numba has many ways to refuse; NumPy then computes as before
        logging.getLogger(__name__).debug("not fused: %s", error)
        return None
