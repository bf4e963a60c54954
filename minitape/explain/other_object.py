"""No way leads from the source to the target: was another object used in its place, or nothing at all?"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.evidence import ValueOrigin, creation_of, origin_of
from ..engine.recording.frames import place_of
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import UnreadVariable
from .connection import Finding, is_leaf, operations
from .names import Names
from .nodes import CodePlace, TapeNode, array_of, place_of_origin
from .owners import variables_of
from .source import RUN_ONCE
from .statement import Statement, once
from .trace import COPIES

if TYPE_CHECKING:
    from ..engine.recording.evidence import Stack
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Array, End, Object

SAMPLE = 4096  # elements of large arrays that are compared before all of them are


class Objects(Names):
    """Copies, equal values, names bound anew, layers that were never called."""

    # -- names -------------------------------------------------------------------------------------

    def bound_anew(self, source: End) -> Finding | None:
        """The source's name was bound anew after the target had been computed from its former value."""
        node = self.trace.of(source)[0]
        for statement, where in self.statements(self.born(source)):
            binds = statement.binds()
            if not binds:
                continue
            if self.built_late(source, where):
                return None
            again = isinstance(source, UnreadVariable) or statement.reads_itself()
            if again and self.relatives(node):
                return Finding("rebound", where.at(statement.line), binds[0])
            part = statement.name_at(where.line, where.column)  # params["w"] of a dictionary that is written down
            for text in dict.fromkeys([*binds, part] if part else binds):
                for n, bound in self.bound_elsewhere(statement, text):
                    if n is not node:
                        return Finding(
                            "rebound", bound if self.born_after(n, source) else where.at(statement.line), text
                        )
            if statement.function is None or statement.function.name not in RUN_ONCE:
                return None  # else the object that it belongs to may have been made anew
        return None

    def built_late(self, source: End, where: CodePlace) -> bool:
        """Whether a statement only called the layer of a variable, made before: what it binds is what the layer
        gave.
        """
        made = () if isinstance(source, Tensor) else creation_of(self.owners.of(source))
        born = self.born(source)
        frames = () if born is None else born.frames
        if not made or all(code.co_name != "build" for code, _ in frames):
            return False
        inside = frames[: len(frames) - len(where.frames)]
        here = any(place_of(*frame)[:2] == place_of(*made[0])[:2] for frame in where.frames)
        return not here and all(code is not made[0][0] for code, _ in inside)

    @once
    def bound_elsewhere(self, statement: Statement, text: str) -> list[tuple[TapeNode, CodePlace]]:
        """The first two values on the path to the target that a name got from other statements, with the places of
        these.
        """
        lines = {
            (s.filename, n)
            for s in statement.source.bound_by(text, statement)
            if s is not statement
            for n in range(s.line, s.last + 1)
        }
        found = heapq.nsmallest(2, (leaf for line in lines for leaf in self.leaves().get(line, ())), key=itemgetter(0))
        return [
            (n, next(place for place in _outwards(birth) if (place.filename, place.line) in lines))
            for _, n, birth in found
        ]

    def made_again(self, source: End) -> Finding | None:
        """The statement that made what was used made the source as well: one of them after the tape had begun."""
        origin = self.origin(source)
        if origin is None:
            return None
        late = self.after_tape(origin)
        for statement, where in self.statements(self.born(source)):
            again = (
                node
                for _, node, _ in self.leaves().get((where.filename, where.line), ())
                if (made := self.origin_of(node)) is not None
                and self.after_tape(made) != late
                and isinstance(source, Tensor) == (node.variable is None)
            )
            itself = statement.binds() and statement.expression(where.span) is statement.value()
            if itself and (statement.loops() if late else self.makes(statement, where, source)):
                other = next(again, None)
                if other is not None:
                    return Finding("rebound", where.at(statement.line), statement.binds()[0], subject=other)
            elif not itself and not late:
                layer = next((found for node in again if (found := self.layer_of_call(node)) is not None), None)
                if layer is not None:
                    return layer
        return None

    def makes(self, statement: Statement, where: CodePlace, source: End) -> bool:
        """Whether a function makes, in this statement, the source or the object that holds it, whenever it is
        called.
        """
        if statement.function is None or statement.function.name in RUN_ONCE:
            return False
        born = self.born(source)
        inner = born.frames[: len(born.frames) - len(where.frames)] if born is not None else ()
        constructed = bool(inner) and inner[-1][0].co_name in RUN_ONCE[:2]
        return isinstance(source, Tensor) or constructed or statement.makes_variable()

    def layer_of_call(self, node: TapeNode) -> Finding | None:
        """A layer that was made, and built, by one and the same call of the function that makes it."""
        place = None if node.variable is None else self.made(node.variable)
        born = getattr(node.variable, "_born", None)
        if place is None or born is None or place.frames[0][0] not in [code for code, _ in born.stack]:
            return None
        statement = next((s for s, at in self.statements(place) if at.frames == place.frames), None)
        if statement is None or statement.function is None or not statement.binds() or place.frames == born.stack:
            return None
        return Finding("rebound", place.at(statement.line), statement.binds()[0], subject=node)

    @once
    def leaves(self) -> dict[tuple[str, int], list[tuple[int, TapeNode, CodePlace]]]:
        """By line what was made there, or by a call there, and led to the target, each with its number and place."""
        found: dict[tuple[str, int], list[tuple[int, TapeNode, CodePlace]]] = {}
        for i, n in enumerate(self.ancestors().values()):
            birth = self.trace.birth(n) if n.variable is None else self.born(n.variable)
            if birth is not None and is_leaf(n):
                for at in dict.fromkeys(birth.outer()):
                    found.setdefault(at, []).append((i, n, birth))
        return found

    def born_after(self, node: TapeNode, source: End) -> bool:
        """Whether a value was made after the source was."""
        mine, other = self.origin(source), self.origin_of(node)
        return mine is not None and other is not None and other.when > mine.when

    def origin_of(self, node: TapeNode) -> ValueOrigin | None:
        """The same of the value or variable behind a node."""
        return node.origin if node.variable is None else getattr(node.variable, "_born", None)

    def origin(self, source: End) -> ValueOrigin | None:
        """What is known of the making of a tensor or variable; None when nothing is."""
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
        if not label:
            return True  # a constant made of what had left, a value that was read anew
        if label in COPIES:
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
        return self.born(source)

    def equal(self, source: End) -> Finding | None:
        """A value equal to something that the target was computed from: one of them was made anew, under the tape.

        The weights of layers all begin with the same values, which says nothing.
        """
        origin = origin_of(source if isinstance(source, Tensor) else source._state)
        if origin is None or self.used_at_all(source):
            return None
        if not isinstance(source, Tensor) and self.owners.of(source) is not None:
            return None
        for node in self.alike(source):
            other = node.origin
            assert other is not None  # see alike()
            if self.after_tape(origin) and (not self.after_tape(other) or self.watched_instead(node, other, source)):
                return Finding("wrong_object", place_of_origin(origin))
            # a gradient with respect to that value was meant
            watched = self.was_watched(node) or self.was_watched(self.trace.of(source)[0])
            if isinstance(source, Tensor) and ((origin.when < other.when and watched) or is_data(source.array)):
                return Finding("wrong_object", place_of_origin(max(origin, other, key=attrgetter("when"))))
        return None

    @once
    def values(self) -> dict[Hashable, list[TapeNode]]:
        """The leaves that led to the target, by what those of one value have in common."""
        found: dict[Hashable, list[TapeNode]] = {}
        for n in self.ancestors().values():
            if n.origin is not None and is_leaf(n) and (value := self.value(n)) is not None:
                found.setdefault((_value_key(value), n.variable is None), []).append(n)
        return found

    def alike(self, source: End) -> list[TapeNode]:
        """The tensors, or variables, of the same value that led to the target."""
        array = array_of(source)
        key = _value_key(array)
        alike = [] if key is None else self.values().get((key, isinstance(source, Tensor)), [])
        return [n for n in alike if array.size <= SAMPLE or equal_arrays(array, self.value(n))]

    def watched_instead(self, node: TapeNode, made: ValueOrigin, source: End) -> bool:
        """Whether a value, and not the source, which was made later, was given to ``watch``."""
        mine = self.origin(source)
        later = isinstance(source, Tensor) and mine is not None and mine.when > made.when
        return later and self.was_watched(node) and not self.was_watched(self.trace.of(source)[0])

    def used(self, tensor: Tensor) -> bool:
        """Whether any operation of the tape's recording read this tensor."""
        return self.record.find(tensor) in self.reads()

    @once
    def reads(self) -> dict[int | None, int]:
        """The rows that operations of the recording have read, each with the last row that did."""
        return {row: reader for reader, inputs in operations(self.record, 0) for row in inputs}

    def last_use(self, source: End) -> CodePlace | None:
        """The last statement that used a tensor or variable under this tape."""
        readers = [self.reads()[row] for row in self.tape._rows_of(source) if row in self.reads()]
        return self.trace.place(self.trace.of_row(self.record, max(readers))) if readers else None

    def used_at_all(self, source: End) -> bool:
        """Whether the tape's recording knows of any use of a tensor or variable."""
        return self.used(source) if isinstance(source, Tensor) else bool(source._tape_rows(self.tape))

    # -- layers ------------------------------------------------------------------------------------

    def layer(self, source: End) -> Finding | None:
        """A variable of a layer or module that was never called on the path to the target."""
        if isinstance(source, Tensor) or source._tape_rows(self.tape):
            return None
        owner = self.owners.of(source)
        if owner is None:
            return self.replaced_layer(source)
        if any(id(v) in self.used_variables() or v._tape_rows(self.tape) for v in variables_of(owner)):
            return None  # it was called; it just does not use this variable for the target
        name = getattr(owner, "name", None)
        what = f"{name} ({type(owner).__name__})" if isinstance(name, str) else type(owner).__name__
        place = self.construction(owner, source)
        alike = [] if place is None else [frames for frames in self.used_births() if frames[0] == place.frames[0]]
        for frames in reversed(alike):  # made by the same line, in a function that was called elsewhere
            call = None if place is None else _parting(frames, place.frames)
            if call is not None and place is not None:
                mine = CodePlace(place.frames[len(frames) - len(call.frames) :])
                return Finding("unused_layer", mine, what, subject=call)
        other = None if alike or place is None else self.namesake(place)
        return Finding("unused_layer", other or place, what, subject=(place,) if other else "again" if alike else None)

    def namesake(self, place: CodePlace) -> CodePlace | None:
        """Where a layer that was called got the name of one made elsewhere, such as a local one in a function."""
        mine = next((s for s, _ in self.statements(place)), None)
        for frames in reversed(self.used_births() if mine is not None else ()):
            for statement, at in self.statements(CodePlace(frames)):
                for name in mine.binds() if mine is not None else ():
                    # what was made has been forgotten: that it was built is known
                    called = statement.calls(name.rpartition(".")[2])
                    made = statement.source.bound_by(name, statement) if called else [statement]
                    other = next((s for s in made if s is not mine and name in s.binds()), None)
                    if other is not None:
                        return at.at(other.line)
        return None

    def replaced_layer(self, source: End) -> Finding | None:
        """The layer of a variable is gone: the statement that made it made another one, which was used."""
        if not self.owners.in_layer(source):
            return None
        for statement, where in self.statements(self.born(source)):
            if statement.binds() and (where.filename, where.line) in self.leaves():
                for frames in reversed(self.used_births()):
                    call = _parting(frames, where.frames)
                    for other, at in () if call is None else self.statements(call):
                        if other.binds():
                            return Finding("rebound", at.at(other.line), other.binds()[0], subject="gone")
                return Finding("rebound", where.at(statement.line), statement.binds()[0], subject="gone")
        return None

    @once
    def used_variables(self) -> dict[int, ResourceVariable]:
        """The variables that the targets were computed from, by identity."""
        return {id(n.variable): n.variable for n in self.ancestors().values() if n.variable is not None}

    @once
    def used_births(self) -> list[Stack]:
        """Where the layers were made that were called on the path to the target."""
        used = self.used_variables().values()
        births = (creation_of(self.owners.of(v)) or getattr(getattr(v, "_born", None), "stack", ()) for v in used)
        return [frames for frames in births if frames]

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


def _parting(theirs: Stack, mine: Stack) -> CodePlace | None:
    """The call, in one stack, by which it differs from another one that ends at the same line; None where they do
    not.
    """
    if not theirs or not mine or place_of(*theirs[0])[:2] != place_of(*mine[0])[:2]:
        return None
    calls = enumerate(zip(theirs, mine, strict=False))
    return next((CodePlace(theirs[i:]) for i, (a, b) in calls if place_of(*a)[:2] != place_of(*b)[:2]), None)


def _outwards(place: CodePlace) -> Iterator[CodePlace]:
    """A place, and those of the calls that led to it."""
    return (CodePlace(place.frames[i:]) for i in range(len(place.frames)))


def _value_key(x: Array) -> Hashable:
    """What two arrays have in common when :func:`equal_arrays` holds of them; None where nothing is compared."""
    if x.dtype.kind == "O":
        return None
    part = _sample(x)
    return x.shape, x.dtype, (part + 0).tobytes() if x.dtype.kind in "fc" else part.tobytes()  # -0.0 is 0.0


def _sample(x: Array) -> Array:
    """The elements of a small array, and some of a large one from all over it."""
    return x if x.size <= SAMPLE else x.flat[:: x.size // SAMPLE]


def is_data(x: Array) -> bool:
    """Whether an array holds so many different values that another one is not equal to it by chance."""
    return x.dtype.kind == "f" and x.size >= 6 and len(np.unique(_sample(x))) >= 4


def equal_arrays(x: Array, y: Array) -> bool:
    """Whether two arrays are the same in shape, dtype and values."""
    if x is None or y is None or x.shape != y.shape or x.dtype != y.dtype or not np.all(_sample(x) == _sample(y)):
        return False
    return x.size <= SAMPLE or bool(np.all(x == y))
