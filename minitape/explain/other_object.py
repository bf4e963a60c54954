"""No path leads from the source to the target: was another object used in its place, or nothing at all?"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.evidence import ValueOrigin, creation_of, origin_of
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import UnreadVariable
from .connection import Finding, is_leaf, operations
from .names import Names
from .nodes import CodePlace, TapeNode, is_state, place_of_origin
from .owners import variables_of
from .source import RUN_ONCE
from .statement import Statement, last_name, once, unparse
from .trace import COPIES

if TYPE_CHECKING:
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Array, End, Object

_KEEPS = ("append", "add", "insert", "extend", "setdefault", "setattr")  # methods that keep what they are given


class Objects(Names):
    """Names bound again, copies, equal values, layers that were never called."""

    # -- names -------------------------------------------------------------------------------------

    def bound_again(self, source: End) -> Finding | None:
        """The name of the source, or the statement that made it, made what the target was computed from as well."""
        place = self.origin_place(source) if isinstance(source, Tensor) else self.creation_place(source)
        for statement, where in self.statements(place):
            names = _names(statement, where)
            if not names:
                continue
            at = where.at(statement.line)
            again = isinstance(source, UnreadVariable) or statement.reads_itself()
            if again and self.relatives(self.trace.of(source)[0]):
                return Finding("rebound", at, names[0])
            for name, node, bound in self.bound_elsewhere(statement, names):
                if node.key not in [one.key for one in self.trace.of(source)]:
                    return Finding("rebound", bound if self.born_after(node, source) else at, name)
            if not _is_in(RUN_ONCE[:2], statement):
                return None  # else the object that it belongs to may have been made anew
        return None

    def bound_elsewhere(self, statement: Statement, names: list[str]) -> Iterator[tuple[str, TapeNode, CodePlace]]:
        """What led to the target and got one of these names from another statement, with its place."""
        for name in names:
            whole = name.partition("[")[0]
            for text in dict.fromkeys((name, whole)):
                for other in statement.source.bound_by(text, statement):
                    for node, birth in self.leaves_in(other) if other is not statement else ():
                        for s, at in self.statements(birth):
                            if s is other and (text == name or name in _names(s, at)):
                                yield name, node, at

    def made_again(self, source: End) -> Finding | None:
        """The statement that made the source made another one, which was used: in a loop, or in a function that the
        block called.
        """
        origin, born = self.origin(source), self.origin_place(source)
        for node, birth in [] if origin is None or born is None else self.leaves().get((born.filename, born.line), ()):
            made = self.origin_of(node)
            if made is None or origin is None or made is origin or _is_variable(node) == isinstance(source, Tensor):
                continue
            later = source if not self.born_after(node, source) else node.variable
            place = birth if later is None else born if isinstance(later, Tensor) else self.creation_place(later)
            bound = ((s, at) for s, at in self.statements(place) if _binds(s) and not _is_in(RUN_ONCE, s))
            statement, at = next(bound, (None, birth))
            if statement is None or not isinstance(statement.value(), ast.Call) or _is_kept(statement):
                continue
            again = self.after_tape(made) != self.after_tape(origin) or any(s.loops() for s, _ in self.statements(at))
            if again or (self.owners.in_layer(source) and self.owners.of(source) is None):  # its layer is gone
                return Finding("rebound", at.at(statement.line), statement.binds()[0], subject=node)
        return None

    def leaves_in(self, statement: Statement) -> list[tuple[TapeNode, CodePlace]]:
        """What was made in a statement, or by a call there, and led to the target."""
        lines = range(statement.line, statement.last + 1)
        return [leaf for line in lines for leaf in self.leaves().get((statement.filename, line), ())]

    @once
    def leaves(self) -> dict[tuple[str, int], list[tuple[TapeNode, CodePlace]]]:
        """By line what was made there, or by a call there, and led to the target, each with its place."""
        found: dict[tuple[str, int], list[tuple[TapeNode, CodePlace]]] = {}
        for n in self.ancestors().values():
            if is_leaf(n):
                births = (
                    [self.trace.birth(n)]
                    if n.variable is None
                    else [self.creation_place(n.variable), self.origin_place(n.variable)]
                )
                lines = {line: place for place in births if place is not None for line in place.outer()}
                for line, place in lines.items():
                    found.setdefault(line, []).append((n, place))
        return found

    def born_after(self, node: TapeNode, source: End) -> bool:
        """Whether a value was made after the source was."""
        mine, other = self.origin(source), self.origin_of(node)
        return mine is not None and other is not None and other.when > mine.when

    def origin_of(self, node: TapeNode) -> ValueOrigin | None:
        """What is known of the making of the value or variable behind a node; None when nothing is."""
        return node.origin if node.variable is None else getattr(node.variable, "_born", None)

    def origin(self, source: End) -> ValueOrigin | None:
        """The same of a tensor or variable."""
        return origin_of(source) if isinstance(source, Tensor) else getattr(source, "_born", None)

    def target_rebound(self, source: End) -> Finding | None:
        """The target's name was bound to a constant after something had been computed under it."""
        for target in self.targets:
            node = self.trace.of(target)[0]
            if not isinstance(target, Tensor) or node.origin is None or node.origin.inputs:
                continue
            if node.origin.kind not in ("constant", "made"):
                continue
            for statement, where in self.statements(self.trace.birth(node)):
                for text in statement.binds():
                    for other in statement.source.bound_by(text, statement):
                        if other.order < statement.order and self.depends(other, source):
                            return Finding("rebound", where.at(statement.line), text, subject="target")
        return None

    def depends(self, statement: Statement, source: End) -> bool:
        """Whether a row written by ``statement`` was computed from the source."""
        places = ((row, self.record.place_of(row)) for row, _ in operations(self.record, 0))
        made = (self.trace.of_row(self.record, row) for row, place in places if place and statement.covers(*place[:2]))
        return any(self.trace.path([node], source) is not None for node in made)

    # -- copies ------------------------------------------------------------------------------------

    def relatives(self, node: TapeNode) -> list[TapeNode]:
        """What a value was made from that the tape's operations on the path to the target have read as well."""
        used, variables = self.read_on_tape()
        if node.variable is not None:  # what it was created from; two variables may well start from the same constant
            first = self.trace.of_origin(getattr(node.variable, "_born", None))
            mine = self.trace.ancestors([first]).values()
            return [n for n in mine if n.variable is not node.variable and id(n.variable) in variables]
        mine = self.trace.ancestors([node]).values()
        return [n for n in mine if n is not node and (n.key in used or id(n.variable) in variables)]

    @once
    def read_on_tape(self) -> tuple[set[Hashable], set[int]]:
        """What the tape's operations on the path to the target read: keys of nodes, and identities of variables."""
        used = [n for n in self.ancestors().values() if n.record is self.record]
        variables = {id(n.variable) for n in used if n.variable is not None}
        variables |= {id(t) for t in self.targets if not isinstance(t, Tensor)}
        return {n.key for n in used}, variables

    def is_copy(self, node: TapeNode) -> bool:
        """Whether a value is a copy or an item of another one, or equal to one that led to the target."""
        origin = node.origin
        label = origin.detail.name if origin is not None and origin.kind == "op" else self.trace.label(node)
        if not label or label in COPIES:  # a constant made of what had left, a value that was read anew
            return True
        return any(equal_arrays(self.value(node), self.value(n)) for n in self.ancestors().values() if n is not node)

    def value(self, node: TapeNode) -> Array:
        """The array of a value, None when it is gone."""
        if node.tensor is not None:
            return node.tensor.array
        return None if node.record is None or node.caller is not None else node.record.value(node.row)

    def use_or_birth(self, source: End, other: TapeNode) -> CodePlace | None:
        """Where the mix-up happened: the other object's use once the source was watched, else the source's birth."""
        node = self.trace.of(source)[0]
        if isinstance(source, Tensor) and self.was_watched(node) and other.record is self.record:
            for row, inputs in operations(self.record, self.tape.watched[node.row]):
                used = self.trace.of_row(self.record, row)
                if other.row in inputs and used.key in self.ancestors():
                    return self.trace.place(used)
        return self.origin_place(source)

    def equal(self, source: End) -> Finding | None:
        """A value equal to something that the target was computed from: one of them was made anew, under the tape, or
        both were made of the same data. The weights of layers all begin with the same values, which says nothing.
        """
        state = source if isinstance(source, Tensor) else source._state
        origin = origin_of(state)
        if origin is None or self.used_at_all(source) or (state is not source and self.owners.of(source) is not None):
            return None
        watched, array = self.was_watched(self.trace.of(source)[0]), state.array
        for node in self.ancestors().values():
            other = node.origin
            if other is None or not is_leaf(node) or _is_variable(node) == isinstance(source, Tensor):
                continue
            if equal_arrays(array, self.value(node)):
                late = self.after_tape(origin)
                anew = late != self.after_tape(other) and (late or state is not source)
                if anew or (state is source and (watched or self.was_watched(node) or is_data(array))):
                    return Finding("wrong_object", place_of_origin(max(origin, other, key=attrgetter("when"))))
        return None

    def used_at_all(self, source: End) -> bool:
        """Whether the tape's recording knows of any use of a tensor or variable."""
        return (
            self.record.find(source) in self.reads()
            if isinstance(source, Tensor)
            else bool(source._tape_rows(self.tape))
        )

    @once
    def reads(self) -> dict[int | None, int]:
        """The rows that operations of the recording have read, each with the last row that did."""
        return {row: reader for reader, inputs in operations(self.record, 0) for row in inputs}

    def last_use(self, source: End) -> CodePlace | None:
        """The last statement that used a tensor or variable under this tape."""
        readers = [self.reads()[row] for row in self.tape._rows_of(source) if row in self.reads()]
        return self.trace.place(self.trace.of_row(self.record, max(readers))) if readers else None

    # -- layers ------------------------------------------------------------------------------------

    def layer(self, source: End) -> Finding | None:
        """A variable of a layer or module that was never called on the path to the target."""
        owner = None if isinstance(source, Tensor) or source._tape_rows(self.tape) else self.owners.of(source)
        if owner is None:
            return None
        used = {id(n.variable) for n in self.ancestors().values() if n.variable is not None}
        if any(id(v) in used or v._tape_rows(self.tape) for v in variables_of(owner)):
            return None  # it was called; it just does not use this variable for the target
        name = getattr(owner, "name", None)
        what = f"{name} ({type(owner).__name__})" if isinstance(name, str) else type(owner).__name__
        place = self.construction(owner, source)
        bound = (at.at(s.line) for s, at in self.statements(place) if _binds(s))
        return Finding("unused_layer", next(bound, place), what)

    def construction(self, owner: Object, variable: ResourceVariable) -> CodePlace | None:
        """The statement that made a layer: noted by layers and modules themselves, else around the constructor."""
        frames = creation_of(owner)
        if not frames and getattr(variable, "_born", None) is not None:
            frames = variable._born.stack
            while len(frames) > 1 and frames[0][0].co_name == "__init__":
                frames = frames[1:]
                if type(owner).__init__.__code__ is not frames[0][0]:
                    break
        return CodePlace(frames) if frames else None


def _names(statement: Statement, where: CodePlace) -> list[str]:
    """What a statement binds; before it the name of the part that was made at a place, such as ``params["w"]``."""
    binds = statement.binds()
    part = statement.name_at(where.line, where.column) if binds else ""
    return list(dict.fromkeys([part, *binds] if part else binds))


def _binds(statement: Statement) -> bool:
    """Whether a statement binds a name, or an attribute of its own object, that its function does not merely return."""
    within, binds = statement.function, statement.binds()
    returns = [n.value for n in ast.walk(within) if isinstance(n, ast.Return) and n.value] if within is not None else []
    own = bool(binds) and all(text.removeprefix("self.").isidentifier() for text in binds)
    return own and {unparse(value) for value in returns}.isdisjoint(binds)


def _is_in(functions: tuple[str, ...], statement: Statement) -> bool:
    """Whether a statement is one of a function of these names."""
    return statement.function is not None and statement.function.name in functions


def _is_variable(node: TapeNode) -> bool:
    """Whether a node is the state of a variable, which may be gone."""
    return node.variable is not None or is_state(node.origin)


def _is_kept(statement: Statement) -> bool:
    """Whether the function goes on to keep what a statement binds: in a list, as an item, as an attribute."""
    for s in statement.source.statements:
        if s.function is statement.function and s is not statement:
            given = [a for n in s.walk() if isinstance(n, ast.Call) and last_name(n.func) in _KEEPS for a in n.args]
            given += [part for target, part in s.pairs() if part is not None and not isinstance(target, ast.Name)]
            if not {unparse(part) for part in given}.isdisjoint(statement.binds()):
                return True
    return False


def is_data(x: Array) -> bool:
    """Whether an array holds so many different values that another one is not equal to it by chance."""
    return x.dtype.kind == "f" and x.size >= 6 and len(np.unique(x[:4096] if x.ndim == 1 else x)) >= 4


def equal_arrays(x: Array, y: Array) -> bool:
    """Whether two arrays are the same in shape, dtype and values."""
    if x is None or y is None or x.shape != y.shape or x.dtype != y.dtype:
        return False
    return bool(np.all(x == y))
