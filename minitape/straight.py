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
Rules of calls are written down as :mod:`minitape.sketch` finds them, where it can follow.
What is written here are steps; :mod:`minitape.schedule` turns them into lines, those on large arrays block by block.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .plan import Changed, Unplanned, is_plain
from .primitives.blocks import LARGE, WRITTEN, accumulate, buffer, slices
from .primitives.elementwise import BY_CODE, FIRST_CODE, scalar_table
from .primitives.formula import ARRAY, SCALAR, lettered, powers, reads, template
from .schedule import BIG, Step, flat, schedule, useful
from .sketch import Sketch, direct, shares
from .sweep import Outline, unbroadcast
from .wide import read_by_rules, settle

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
LINEAR = ("add", "subtract", "multiply", "divide")  # a number is nothing but an operand of these

Program = Callable[[Any, dict[int, Any]], dict[int, Any]]


class Unwritable(Exception):
    """This plan has a row that only the walk knows how to pass."""


def write(record: Any, visits: Sequence[Any], targets: Sequence[int], sources: Any, bound: bool = False,
          alone: bool = False, live: Sequence[int] = ()) -> Any:  # fmt: skip
    """The program of a plan for these target rows, on a recording that has the values of some of its rows already.

    ``program(record, seeds)`` computes the rows up to the last target (all rows, where large arrays are among them),
    and returns the adjoints of the sources by row. It may be used on every recording of the same structure that holds
    the arrays in ``program.needs``. With ``bound`` the attributes of calls are written in: of another recording
    those of the calls ``program.bound`` have to be equal to ``program.attrs``. So are exponents: for others the program
    raises ``Changed``. ``alone`` when no other sweep will read
    the large arrays, ``live`` are the rows of those that a tensor waits for. None for a plan that has to be walked: one with slices, several outputs, or other
    dtypes than float32 and float64 on the way.

    ``program.lean`` (None where large arrays are waiting) computes only what the adjoints are made of, and leaves the
    recording as it is: a loss that nobody looks at is never computed. ``program.looked`` is how often it is not to be used.
    """
    try:
        program = _Writer(record, targets, sources, bound, alone, live).write(visits)
        program.lean = None if record.wide else _Writer(record, targets, sources, bound, lean=True).write(visits)
        program.looked = 0
        return program
    except Unwritable:
        return None


class _Writer:
    def __init__(self, record: Any, targets: Sequence[int], sources: Any, bound: bool, alone: bool = False,
                 live: Sequence[int] = (), lean: bool = False) -> None:  # fmt: skip
        self.record, self.targets, self.sources, self.done = record, targets, sources, record.done
        self.high = len(record) - 1 if record.wide else max(targets)
        self.bound, self.live, self.lean = bound, live, lean
        self.attrs: dict[int, Any] = {}  # those that are written in, by the number of the call
        self.fixed = _fixed(record) if bound else {}
        self.numbers: dict[int, float] = {}  # those that are written in, by row
        self.kept = set() if alone or not record.wide else read_by_rules(record, min(record.wide))
        self.scope: dict[str, Any] = {
            "A": np.ndarray, "unbroadcast": unbroadcast, "accumulate": accumulate, "fit": _fit, "flat": flat, "total": _total,
            "buffer": buffer, "slices": slices, "Changed": Changed, "settle": settle, "kept": self.kept,
        }  # fmt: skip
        self.scope |= {f"a_{name}": function for name, function in ARRAY.items()}
        self.scope |= {f"s_{name}": function for name, function in SCALAR.get(record.real, {}).items()}
        self.operands: set[int] = set()  # Python numbers that arrays are combined with
        self.read: set[int] = set()  # rows whose values are read, but made by no line of the program
        self.needs: set[int] = set()  # ... of which these are found among the recording's arrays
        self.arrived: set[int] = set(targets)
        self.even: dict[int, str] = {}  # rows of arrays whose adjoint is still one number, and the function that spreads it
        self.wanted: set[str] = set()  # names that are read at the end

    def write(self, visits: Sequence[Any]) -> Any:
        steps, end = self._forward()
        steps += self._backward(self._useful(visits))
        results = [r for r in self.sources if r in self.arrived]
        steps += [self._spread(r) for r in results if r in self.even]
        self.wanted.update([f"g{r}" for r in results])
        steps = useful(steps, self.wanted)
        used = self.wanted.union(*[step.reads for step in steps])
        sizes = {f"{kind}{row}": self._size(row) for row in self.record.meta for kind in "vg"}
        lines = [
            "def program(record, seeds):",
            "known, values, arrays, calls = record.known, record.values, record.arrays, record.calls",
            *[f"if record.leaves[{r}].number != {number!r}: raise Changed" for r, number in self.numbers.items()],
            *[f"k{r} = record.leaves[{r}].array" for r in sorted(self.operands) if f"k{r}" in used],
            *[self._fetched(r) for r in sorted(self.read) if f"v{r}" in used],
            *[f"g{r} = seeds[{r}]" for r in self.targets],
            *schedule(steps, self.wanted, sizes), *end,
            f"return {{{', '.join(f'{r}: g{r}' for r in results)}}}",
        ]  # fmt: skip
        exec(compile("\n    ".join(lines), "<formula sweep>", "exec"), self.scope)
        program = self.scope["program"]
        program.needs, program.bound, program.attrs = frozenset(self.needs), [*self.attrs], [*self.attrs.values()]
        return program

    def _spec(self, row: int) -> tuple[tuple[int, ...], Any]:
        """Shape and dtype of a row."""
        return self.record.meta.get(row) or ((), np.dtype(self.record.real))

    def _shape(self, row: int) -> tuple[int, ...]:
        return self._spec(row)[0]

    def _size(self, row: int) -> int:
        return math.prod(self._shape(row))

    # -- forward ------------------------------------------------------------------------------------------------------

    def _forward(self) -> tuple[list[Step], list[str]]:
        """The steps that compute the rows from ``done`` on, and the lines at the end that hand their values over."""
        meta, steps, values, handed = self.record.meta, [], [], []
        for row in range(self.done, self.high + 1):
            op, a, b, _ = self.record.cell(row)
            if op >= FIRST_CODE:
                steps.append(self._operation(row, BY_CODE[op - FIRST_CODE], (a, b)))
            elif row in self.record.late:
                steps.append(self._late(row, self.record.calls[a], a))
            elif row not in meta:
                steps.append(Step(f"v{row}", (), [f"v{row} = known[{row}]"]))
            if self.lean:
                continue
            if not self._wide(row):
                self.wanted.add(f"v{row}")
            elif (row in self.kept or row in self.live) and (op >= FIRST_CODE or row in self.record.late):
                handed.append(row)
            values.append("None" if row in meta else f"v{row}")
        end = []
        if values:
            end += [f"values[{self.done}:] = [{', '.join(values)}]", f"record.done = {self.high + 1}"]
        if self.record.wide:
            self.wanted.update([f"v{row}" for row in handed])
            end.append(f"settle(record, kept, {{{', '.join(f'{row}: v{row}' for row in handed)}}})")
        return steps, end

    def _wide(self, row: int) -> bool:
        """Whether a row that the program computes is one of large arrays."""
        return self._shape(row) in self.record.wide_lanes

    def _operation(self, row: int, primitive: Any, inputs: tuple[int, ...]) -> Step:
        """The step of an elementwise row."""
        text, name = self._text(primitive, 0, inputs), f"v{row}"
        x, y = (self._operand(primitive, row, r) for r in inputs)
        if self._size(row) < LARGE:
            return Step(name, (x, y), [f"{self._stored(row)}{self._filled(text, row, inputs, x=x, y=y)}"])
        self.scope[f"f{row}"] = primitive.forward
        given = (x, y)[: len(primitive.texts) - 1]
        arrays = [v for v, r in zip(given, inputs, strict=False) if self._shape(r)]
        x, y = (f"b{v}" if v in arrays else v for v in (x, y))
        blocks = self._filled(text, row, inputs, x=x, y=y)
        return Step(name, given, [f"{name} = f{row}({', '.join(given)})"], blocks, arrays, self.record.meta[row])

    def _late(self, row: int, call: Any, number: int) -> Step:
        """The step of a call that was put off."""
        primitive, inputs = call.primitive, call.inputs
        if primitive.code and not call.attrs and self._size(row) < LARGE:  # one that broadcasts
            return self._operation(row, primitive, inputs)
        values = [self._value(r) for r in inputs]
        dtype = self._dtype(inputs)
        name = None
        if dtype is not None and self._binds(call, number):
            name = direct(primitive, dtype, [*map(self._shape, inputs)], call.attrs, self.scope)
        if name is not None:
            run = f"{name}({', '.join(values)})"
        else:
            self.scope[f"f{row}"] = primitive.forward
            run = f"f{row}({', '.join(values)}{f', **calls[{number}].attrs' if call.attrs else ''})"
            run += "" if row in self.record.meta else "[()]"
        return Step(f"v{row}", values, [f"{self._stored(row)}{run}"])

    def _dtype(self, rows: Sequence[int]) -> Any:
        """The float dtype of these rows; None where they have several, or another one."""
        found = {self._spec(r)[1] for r in rows}
        return found.pop() if len(found) == 1 and found <= {*FLOATS} else None

    def _binds(self, call: Any, number: int) -> bool:
        """Whether the attributes of a call are written into the program; it is noted which they were."""
        if not call.attrs:
            return True
        if not self.bound or not is_plain(call.attrs):
            return False
        self.attrs[number] = call.attrs
        return True

    def _stored(self, row: int) -> str:
        """The head of the line that computes a row: small arrays go to the recording as well."""
        kept = row in self.record.meta and not self._wide(row) and not self.lean
        return f"v{row} = arrays[{row}] = " if kept else f"v{row} = "

    def _value(self, row: int) -> str:
        """The name of a row's value; the rows that no line of the program computes are fetched first."""
        record = self.record
        if row < self.done or (row in record.meta and row not in record.late and record.cell(row)[0] < FIRST_CODE):
            self.read.add(row)
        return f"v{row}"

    def _operand(self, primitive: Any, row: int, of: int) -> str:
        """The name of a row's value where an elementwise row reads it: of a number beside small arrays as an array."""
        leaf = self.record.leaves.get(of)
        beside = primitive.name in LINEAR and row not in self.even and 1 < self._size(row) < LARGE
        if leaf is None or leaf.number is None or not beside:
            return self._value(of)
        self.operands.add(of)
        return f"k{of}"

    def _fetched(self, row: int) -> str:
        if row not in self.record.meta:
            return f"v{row} = values[{row}]"
        if row in self.record.arrays:
            self.needs.add(row)
            return f"v{row} = arrays[{row}]"
        return f"v{row} = {self._outline(row)}"

    def _outline(self, row: int) -> str:
        """The name of what stands for a value whose elements nobody reads."""
        self.scope[f"o{row}"] = Outline(*self._spec(row))
        return f"o{row}"

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

    def _backward(self, visits: list[Any]) -> list[Step]:
        steps: list[Step] = []
        before = -1
        for row, rule, a, b, to, _ in visits:
            if rule is None and self.record.calls[a].outputs != 1:
                raise Unwritable
            if row not in self.arrived:
                continue
            if self._spec(row)[1] not in FLOATS:
                raise Unwritable
            if rule is None:
                steps += self._call(row, self.record.calls[a], a, to)
            else:  # a row's first visit is for a, where a wants a share at all
                primitive = BY_CODE[self.record.cell(row)[0] - FIRST_CODE]
                index = 0 if to == a and row != before else 1
                twice = a == b and self._same_shares(primitive, row, a)
                if not (twice and index):
                    steps += self._formula(primitive, row, (a, b), index, twice)
            before = row
        return steps

    def _formula(self, primitive: Any, row: int, inputs: Sequence[int], index: int, twice: bool = False) -> list[Step]:
        """The step of one share that a formula of the table gives (or of two equal ones); none where it gives nothing."""
        text, to = self._text(primitive, 1 + index, inputs), inputs[index]
        if text == "-":
            return []
        read, rows = reads(text), {"g": row, "z": row, "x": inputs[0], "y": inputs[-1]}
        names = {n: f"g{row}" if n == "g" else self._operand(primitive, row, r) for n, r in rows.items() if n in read}
        steps, shape = [], self._shape(row if "g" in read or "z" in read else to)
        arrays = {self._shape(rows[n]) for n in names if n != "g"} - {()}
        if row in self.even and (shape != self._shape(to) or (arrays and shape not in arrays)):
            steps.append(self._spread(row))
        first = self._arrives(to, None if arrays else self.even.get(row))
        share = self._filled(text, row, inputs, **names)
        if max(self._size(r) for r in (row, *inputs)) < LARGE:
            lines = [f"t = {share}"] if twice else []
            lines.append(self._add(to, "t" if twice else share, shape, first))
            lines += [self._add(to, "t", shape, False)] if twice else []
            return [*steps, Step(f"g{to}", names.values(), lines, adds=not first)]
        if share not in names.values():  # more than handing on
            self.scope[f"r{row}_{index}"] = primitive.rules[index]
            share = f"r{row}_{index}({', '.join(names.get(n, 'None') for n in 'gzxy')})"
        step = Step(f"g{to}", names.values(), [self._add(to, share, shape, first)], adds=not first)
        if self._in_blocks(row, to, [rows[name] for name in names]):
            step.meta = self.record.meta[to]
            step.arrays = [label for n, label in names.items() if self._shape(rows[n])]
            parts = {n: f"b{label}" if self._shape(rows[n]) else label for n, label in names.items()}
            step.share = self._filled(text, row, inputs, **parts)
        return [*steps, step]

    def _same_shares(self, primitive: Any, row: int, to: int) -> bool:
        """Whether an operation on one small value, taken twice, hands the same on to it twice: ``x * x`` does."""
        if len(primitive.texts) < 3 or "-" in primitive.texts or self._size(row) >= LARGE:
            return False
        first, second = (self._filled(t, row, (to, to), g="g", z="z", x="x", y="x") for t in primitive.texts[1:])
        return first == second != "g"

    def _arrives(self, row: int, even: str | None = None) -> bool:
        """Notes that a share arrives at a row; True for the first one. With ``even`` it is one number for all elements."""
        first = row not in self.arrived
        self.arrived.add(row)
        if even is None:
            self.even.pop(row, None)
        elif first:
            self.even[row] = even
        return first

    def _spread(self, row: int) -> Step:
        """The step that makes an array of an adjoint that is one number."""
        name = f"g{row}"
        return Step(name, (name,), [f"{name} = {self.even.pop(row)}({name})"], adds=True)

    def _in_blocks(self, row: int, to: int, rows: Sequence[int]) -> bool:
        """Whether a share is one of large arrays, all of one shape and dtype but for single numbers."""
        meta = self.record.meta
        like = meta.get(to)
        return self._size(to) >= LARGE and meta.get(row) == like and all(meta.get(r, like) == like for r in rows)

    def _text(self, primitive: Any, which: int, inputs: Sequence[int]) -> str:
        """One of the formulas of an elementwise row; the exponents of arrays are written in."""
        text = primitive.texts[which]
        if primitive.name != "pow" or inputs[-1] not in self.fixed or not self._beside_number(inputs):
            return text
        number, read = self.fixed[inputs[-1]]
        self.numbers |= read
        return powers(text, number)

    def _beside_number(self, inputs: Sequence[int]) -> bool:
        """Whether the second of two operands is a number, and the first an array."""
        return self._shape(inputs[-1]) == () != self._shape(inputs[0])

    def _filled(self, text: str, row: int, inputs: Sequence[int], **names: str) -> str:
        """A formula of row ``row`` with these names for its variables."""
        if row not in self.record.meta:
            return template(text, "s_").format(**names)
        text, numbers = lettered(template(text, "a_", self._beside_number(inputs)))
        self.scope |= {name: np.asarray(number, self.record.meta[row][1]) for name, number in numbers.items()}
        return text.format(**names)

    def _call(self, row: int, call: Any, number: int, wanted: Sequence[int]) -> list[Step]:
        """The steps of the shares of a call's inputs."""
        primitive, inputs, record = call.primitive, call.inputs, self.record
        if primitive.rules is None or primitive.name in ("custom_gradient", "py_function"):
            raise Unwritable
        if any(self._spec(inputs[i])[1] not in FLOATS for i in wanted):
            raise Unwritable
        if primitive.code:
            return [step for i in wanted for step in self._formula(primitive, row, inputs, i)]
        head = [self._spread(row)] if row in self.even else []
        found = self._sketched(row, call, number, wanted)
        if found is not None:
            return head + found
        read = set(record.read_inputs(primitive, inputs))
        values = [self._value(row) if primitive.keeps_output else self._outline(row)]
        values += [self._value(r) if i in read else self._outline(r) for i, r in enumerate(inputs)]
        attrs = f", **calls[{number}].attrs" if call.attrs else ""
        given, steps = f"(g{row}, {', '.join(values)}{attrs})", head
        names = (f"g{row}", *values)
        if callable(primitive.rules):
            self.scope[f"r{row}"] = primitive.rules
            steps.append(Step(f"s{row}", names, [f"s{row} = r{row}{given}"]))
        for i in wanted:
            share = f"s{row}[{i}]"
            if not callable(primitive.rules):
                if primitive.rules[i] is None:
                    continue
                self.scope[f"r{row}_{i}"], share = primitive.rules[i], f"r{row}_{i}{given}"
            steps.append(self._share(inputs[i], share, (f"s{row}",) if callable(primitive.rules) else names))
        return steps

    def _sketched(self, row: int, call: Any, number: int, wanted: Sequence[int]) -> list[Step] | None:
        """The same steps in as many words as the rules need; None for rules that no sketch can follow."""
        inputs, dtype = call.inputs, self._dtype((row, *call.inputs))
        if dtype is None or not self._binds(call, number):
            return None
        read = self.record.read_inputs(call.primitive, inputs)
        known = {f"v{inputs[i]}": inputs[i] for i in read} | ({f"v{row}": row} if call.primitive.keeps_output else {})
        g, z, *values = [Sketch(f"{k}{r}", self._shape(r), dtype, self.scope)
                         for k, r in (("g", row), ("v", row), *(("v", r) for r in inputs))]  # fmt: skip
        found = shares(call.primitive, wanted, g, z, values, call.attrs)
        if found is None:
            return None
        steps = []
        for i, share in found.items():
            names = set(re.findall(r"\b[gv]\d+\b", share.text))
            if not names <= {f"g{row}", *known}:
                return None
            for name in names & known.keys():
                self._value(known[name])
            even = share.even if share.shape == self._shape(inputs[i]) and math.prod(share.shape) < LARGE else None
            text, function = (share.text, None) if even is None else even
            first = self._arrives(inputs[i], function)
            line = self._add(inputs[i], text, share.shape, first)
            steps.append(Step(f"g{inputs[i]}", names, [line], adds=not first))
        return steps

    def _share(self, to: int, share: str, names: Sequence[str]) -> Step:
        """The step that hands on what the rule of a call gives, in the shape of the input."""
        shape, first = self._shape(to), self._arrives(to)
        name = f"g{to}" if first else "t"
        lines = [f"{name} = {share}", f"if type({name}) is not A or {name}.shape != {shape!r}: {name} = fit({name}, {shape!r})"]
        if not first:
            lines.append(self._add(to, name, shape, first))
            if self._size(to) >= BIG:
                lines.append("t = None")
        return Step(f"g{to}", names, lines, adds=not first)

    def _add(self, row: int, share: str, shape: tuple[int, ...], first: bool) -> str:
        """The line that adds a share of this shape to the adjoint of a row."""
        if shape != self._shape(row):
            share = f"unbroadcast({share}, {self._shape(row)!r})" if self._shape(row) else f"total({share})"
        if first:
            return f"g{row} = {share}"
        if self._size(row) >= LARGE:
            return f"g{row} = accumulate(g{row}, {share}, {WRITTEN})"
        return f"g{row} = g{row} + ({share})"


def _fixed(record: Any) -> dict[int, tuple[Any, dict[int, float]]]:
    """The rows of Python numbers and of what is computed from them alone: the value, and the numbers that it follows from."""
    found: dict[int, tuple[Any, dict[int, float]]] = {}
    table = scalar_table(record.real) if record.real else ()
    for row in range(len(record) if table else 0):
        leaf, (op, a, b, _) = record.leaves.get(row), record.cell(row)
        if leaf is not None and leaf.number is not None:
            found[row] = record.real(leaf.number), {row: leaf.number}
        elif op >= FIRST_CODE and a in found and b in found:
            (x, first), (y, second) = found[a], found[b]
            found[row] = table[op].forward(None, None, x, y), first | second
    return found


_total = partial(np.add.reduce, axis=None)  # what unbroadcast() does for a number


def _fit(share: Any, shape: tuple[int, ...]) -> Any:
    """A share of a call in the shape of its input."""
    if not isinstance(share, (np.ndarray, np.generic)):
        raise Unplanned
    return share if share.shape == shape else unbroadcast(share, shape)
