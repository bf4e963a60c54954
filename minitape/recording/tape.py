"""A tape as a recording: the rules that say whether an adjoint arrives, and the rows, with what breaks on their edges.

It is made when it is asked. Rows are in the order of time, as far as it is known: those of the table know their
number, what ran outside of it a clock.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.back.reach import differentiable, on_tape
from ..engine.recording.array_spec import ArraySpec
from ..engine.recording.evidence import ValueLeft, ValueOrigin, all_exits, origin_of
from ..engine.recording.rows import CALL, CHUNK, operation_of
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.tensor.tensor import Tensor
from .bodies import outermost
from .nodes import Break, CodePlace, TapeNode, is_leaf, is_state, operations, placed, way_of
from .protocol import TapeSpan
from .rows import BackwardPass, RowExit
from .sites import Site
from .trace import Trace
from .values import ValueSummary

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import Array, End

# of each scalar operation whether its first and its second input get something
_PASSES = [(False, False)] * FIRST_CODE + [(p.texts[1] != "-", len(p.texts) > 2 and p.texts[2] != "-") for p in BY_CODE]


def handle_of(value: Any) -> Any:
    """The variable that is behind one of Keras; any other value itself."""
    value = value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value
    return getattr(value, "_base", value)


class TapeRules:
    """What is on a tape, and which rows the adjoints of its targets reach: the rules alone say so, without a sweep."""

    def __init__(self, tape: GradientTape, targets: list[End], sources: list[End] | None = None) -> None:
        self.tape, self.targets, self.sources = tape, targets, sources or []
        self.trace = Trace(tape)
        self.record = self.trace.record
        self.starts = [node for t in targets for node in self.trace.of(t)[:1]]
        self.trace.ends = {node.key for node in self.starts}

    @cached_property
    def on(self) -> bytearray:
        """For each row whether it is on the tape."""
        return on_tape(self.tape) if len(self.record) else bytearray()

    def connected(self, source: End) -> bool:
        """Whether an adjoint reaches the source: the answer is that of ``gradient``."""
        seen = self._last_answer(source)
        if seen is not None:
            return seen
        if not source.dtype.differentiable:
            return False
        if any(t is source for t in self.targets):
            return True
        return any(self.on[row] and self.live[row] for row in self.tape._rows_of(source))

    def _last_answer(self, source: End) -> bool | None:
        """Whether the last call of ``gradient`` returned a gradient for the source; None if it was about others."""
        last = self.tape.last
        if last is None or len(last.targets) != len(self.targets):
            return None
        if any(a is not b for a, b in zip(last.targets, self.targets, strict=True)):
            return None
        return next((not none for s, none in zip(last.sources, last.nones, strict=True) if s is source), None)

    @cached_property
    def live(self) -> bytearray:
        """For each row whether the adjoint of a target arrives there."""
        live = bytearray(len(self.record))
        rows = [r for t in self.targets if t.dtype.differentiable for r in self.tape._rows_of(t)[-1:]]
        for row in rows:
            live[row] = 1
        for end in range(max(rows, default=-1) + 1, 0, -CHUNK):
            self._pass_on(max(0, end - CHUNK), end, live)
        return live

    def _pass_on(self, first: int, end: int, live: bytearray) -> None:
        """Hands on what arrives at the rows in [first, end), from the last one on."""
        record, on = self.record, self.on
        ops, left, right, calls, _, _ = record.columns(first, end)
        for row in range(end - 1, first - 1, -1):
            if not (live[row] and on[row]):
                continue
            op, a = ops[row - first], left[row - first]
            if op >= FIRST_CODE:
                through = _PASSES[op]
                if through[0]:
                    live[a] = 1
                if through[1]:
                    live[right[row - first]] = 1
            elif op == CALL:
                call = calls[row - first]
                for parent, passes in zip(call.inputs, self.trace.passes(record, call), strict=True):
                    if passes and differentiable(record, parent):
                        live[parent] = 1

    def is_on_tape(self, node: TapeNode) -> bool:
        """Whether a node is a row that is on the tape."""
        return node.record is self.record and bool(self.on[node.row])

    def was_watched(self, node: TapeNode) -> bool:
        """Whether ``watch`` (or the reading of a variable) put a row on the tape."""
        return node.record is self.record and node.row in self.tape.watched

    @cached_property
    def ancestors(self) -> dict[Hashable, TapeNode]:
        """Everything that the targets were computed from."""
        return self.trace.ancestors(self.starts)

    def value(self, node: TapeNode) -> Array:
        """The array of a value, None when it is gone."""
        if node.tensor is not None:
            value = getattr(node.tensor, "_value", None)
            return None if isinstance(value, ArraySpec) else value  # of a function whose first run is over
        return None if node.record is None or node.caller is not None else node.record.value(node.row)

    def origin(self, source: End) -> ValueOrigin | None:
        """What is known of the making of a tensor or variable."""
        return origin_of(source) if isinstance(source, Tensor) else getattr(source, "_born", None)

    def born_after(self, node: TapeNode, source: End) -> bool:
        """Whether a value was made after a source was."""
        mine = self.origin(source)
        other = node.origin if node.variable is None else self.origin(node.variable)
        return mine is not None and other is not None and other.when > mine.when

    @property
    def begins(self) -> list:
        """The notes of where the tape began to record."""
        return [note for note in self.tape.notes if note[0] == "enter"]

    def after_tape(self, origin: ValueOrigin) -> bool:
        """Whether something was made after this tape had begun to record."""
        return any(note[2] < origin.when for note in self.begins)

    @cached_property
    def reads(self) -> dict[int | None, int]:
        """The rows that operations of the recording have read, each with the last row that did."""
        return {row: reader for reader, inputs in operations(self.record, 0) for row in inputs}

    def used_at_all(self, source: End) -> bool:
        """Whether the tape's recording knows of any use of a tensor or variable."""
        if isinstance(source, Tensor):
            return self.record.find(source) in self.reads
        return bool(source._tape_rows(self.tape))

    def last_use(self, source: End) -> CodePlace | None:
        """The last statement before the target that computed something from a tensor or variable under this tape."""
        own = self.tape._rows_of(source)
        end = next((node.row for node in self.starts if node.record is self.record), len(self.record))
        made = set(own)
        for row, inputs in operations(self.record, min(own, default=end)):
            if row < end and not made.isdisjoint(inputs):
                made.add(row)
        last = max(made.difference(own), default=None)
        return None if last is None else self.trace.place(self.trace.of_row(self.record, last))

    @cached_property
    def leaving(self) -> list[ValueLeft]:
        """What left, on this thread and on others, oldest first."""
        return all_exits()


class TapeRow:
    """A value that led to the target: an operation or leaf of the recording, or what was computed before."""

    scope: tuple[str, ...] = ()
    came: tuple[int, ...] = ()
    at: int | None = None
    function = None
    late = False  # it was watched after it had been used

    def __init__(self, rules: TapeRules, row: int, node: TapeNode, inputs: list[int]) -> None:
        self.rules, self.row, self.call, self.node, self.inputs = rules, row, row, node, inputs

    @property
    def extra(self) -> TapeRow:
        """What else is known of it: of a tape no more."""
        return self

    @cached_property
    def primitive(self) -> Any:
        """The operation that computed it; None of a leaf."""
        node = self.node
        made = operation_of(node.record, node.row)[0] if node.record is not None else None
        origin = node.origin
        return origin.detail if made is None and origin is not None and origin.kind == "op" else made

    @property
    def label(self) -> str:
        """The name of that."""
        return "" if self.primitive is None else self.primitive.name

    @property
    def op(self) -> str:
        """The same in TensorFlow."""
        return "" if self.primitive is None else self.primitive.op or self.primitive.name

    @cached_property
    def kind(self) -> str:
        """Operation, variable, source or constant."""
        node = self.node
        computed = self.primitive is not None or (node.origin is not None and node.origin.kind == "gradient")
        if node.variable is None and computed:
            return "operation"
        known = "source" if self.rules.is_on_tape(node) else "constant"
        return "variable" if node.variable is not None or is_state(node.origin) else known

    @cached_property
    def dtype(self) -> str:
        """The name of its type; empty where that is unknown."""
        dtype = self.rules.trace.dtype(self.node)
        return "" if dtype is None else dtype.name

    @cached_property
    def differentiable(self) -> bool:
        """Whether a gradient can pass it: it is a float, and the result of an operation that has a derivative."""
        dtype, leaf = self.rules.trace.dtype(self.node), is_leaf(self.node) or not self.primitive.flat
        return (dtype is None or dtype.differentiable) and leaf

    @property
    def asked(self) -> Any:
        """The variable, or the tensor while there is one."""
        return self.node.tensor if self.node.variable is None else self.node.variable

    @property
    def name(self) -> str | None:
        """The name that a variable was given."""
        return name_given(self.node.variable) or None

    @property
    def broken(self) -> Break | None:
        """The first break where all that it was computed with is cut off."""
        breaks = [broken for _, broken in self.rules.trace.edges(self.node)]
        return breaks[0] if breaks and None not in breaks else None

    @property
    def why(self) -> str:
        """The cause of that."""
        return "" if self.broken is None else self.broken.cause

    @cached_property
    def value(self) -> ValueSummary:
        """Its elements, where they are kept."""
        return ValueSummary(self.rules.value(self.node))

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its value."""
        return tuple(np.shape(self.value.given))

    @property
    def place(self) -> CodePlace | None:
        """The statement that computed it, or where a leaf was made."""
        trace = self.rules.trace
        return trace.birth(self.node) if is_leaf(self.node) and self.node.origin is not None else trace.place(self.node)

    @property
    def site(self) -> Site:
        """File and line of that."""
        return placed(self.place)

    @property
    def way(self) -> list[Site]:
        """The same, with the calls that led there."""
        return way_of(self.place)


class AskedRow(TapeRow):
    """The same, of which a question about what the tape recorded is asked."""

    @cached_property
    def differentiable(self) -> bool:
        """Whether a gradient was to pass it: it is a float, and the tape recorded it."""
        dtype, inside = self.rules.trace.dtype(self.node), self.kind == "operation" and self.node.caller is not None
        return (dtype is None or dtype.differentiable) and (inside or self.rules.is_on_tape(self.node))


def name_given(variable: Any) -> str:
    """The name that a variable was given; empty without one."""
    name = getattr(variable, "name", None) or ""
    return "" if "ariable" in name else name.removesuffix(":0")


class TapeRecording:
    """The rows of all that led to some targets, to some sources, and to what left."""

    sweeps: Sequence[BackwardPass] = ()  # the rules alone are asked
    tapes: Sequence = ()
    spans: Sequence[TapeSpan] = ()
    stores: Sequence[tuple[int, int | None, Site, int]] = ()  # edges lead through variables
    variables: Mapping[int, Any] = MappingProxyType({})

    def __init__(self, rules: TapeRules, left: list[ValueLeft]) -> None:
        self.rules, self.notes = rules, left
        trace = rules.trace
        held = (note[2]() for note in rules.tape.notes if note[0] == "watch" and note[2] is not None)
        watched = [handle_of(value) for value in held if value is not None]
        ends = [trace.of_ref(exit.value) for exit in left]
        roots = [*rules.starts, *(node for value in [*rules.sources, *watched] for node in trace.of(value)), *ends]
        given = self._walk(roots)
        nodes = self._in_time(given)
        self.by_key: dict[Hashable, int] = {node.key: row for row, node in enumerate(nodes)}
        self.entries = [
            AskedRow(rules, row, node, list(dict.fromkeys(self.by_key[one.key] for one in given[node])))
            for row, node in enumerate(nodes)
        ]
        self._stand: dict[Hashable, list[int]] = {}
        for entry in self.entries:
            self._note(entry)
        self.left = [
            RowExit(self.by_key[node.key], exit.how, placed(CodePlace(exit.stack) if exit.stack else None), 0)
            for exit, node in zip(left, ends, strict=True)
        ]
        self.watches = [((lambda value=value: value), rules.tape) for value in watched]

    def _note(self, entry: TapeRow) -> None:
        """What stands for a row, whether the tape knows it, and whether it was watched too late."""
        node, rules = entry.node, self.rules
        for name in rules.trace.stands_for(node):
            self._stand.setdefault(name, []).append(entry.row)
        begin = outermost(node)
        for given in entry.inputs if begin.record is rules.record and not rules.is_on_tape(begin) else ():
            other = self.entries[given]
            if rules.was_watched(other.node) and begin.row < rules.tape.watched[other.node.row]:
                other.late = True

    # -- rows in time ------------------------------------------------------------------------------

    def _walk(self, roots: list[TapeNode]) -> dict[TapeNode, list[TapeNode]]:
        """All that the roots were computed from, inputs first, each with what it was computed from itself."""
        found: dict[Hashable, list[TapeNode]] = {}
        order: dict[TapeNode, list[TapeNode]] = {}
        waiting = [(node, False) for node in roots[::-1]]
        while waiting:
            node, done = waiting.pop()
            if done:
                order[node] = found[node.key]
            elif node.key not in found:
                given = found[node.key] = [one for one, _ in self.rules.trace.edges(node)]
                waiting.append((node, True))
                waiting += [(one, False) for one in given if one.key not in found]
        return order

    def _in_time(self, order: dict[TapeNode, list[TapeNode]]) -> list[TapeNode]:
        """The same in the order of time."""
        keys: dict[Hashable, tuple[int, int]] = {}
        for node, given in order.items():
            keys[node.key] = max([self._when(node), *(keys[one.key] for one in given if one.key in keys)])
        return sorted(order, key=lambda node: keys[node.key])

    def _when(self, node: TapeNode) -> tuple[int, int]:
        """When a value was made: at which row, or before them at which time."""
        node = outermost(node)
        if node.record is self.rules.record:
            return node.row, 0
        return -1, 0 if node.origin is None else node.origin.when

    def edges(self, row: int) -> Iterator[tuple[int, Break | None]]:
        """What a row was computed from, and what breaks on the way; into bodies of functions, loops and branches."""
        for one, broken in self.rules.trace.edges(self.entries[row].node):
            if broken is not None:
                broken.row = row
            yield self.by_key[one.key], broken

    def rows_of(self, value: Any) -> list[int]:
        """All rows that stand for a tensor or a variable, in order."""
        value = handle_of(value)
        if not (isinstance(value, Tensor) or hasattr(value, "_tape_rows")):
            return []
        return sorted({row for name in self.rules.trace.names(value) for row in self._stand.get(name, ())})

    def computed_from(self, value: Any) -> set[int]:
        """The rows of a value, and those that were computed from it."""
        found = set(self.rows_of(value))
        for entry in self.entries:
            if not found.isdisjoint(entry.inputs):
                found.add(entry.row)
        return found
