"""Names that were bound anew: a name that held a variable or a watched tensor holds another object now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..engine.recording.evidence import ValueOrigin, creation_of, origin_of
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import UnreadVariable
from .connection import Connection, is_leaf
from .nodes import Break, CodePlace, TapeNode, is_state, place_of_origin
from .source import source_of
from .statement import Statement, covers, last_name, unparse

if TYPE_CHECKING:
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import End

_TERMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)  # something can be added to them as they are
_LONG = 40  # characters of an expression that is repeated


class Names(Connection):
    """Where values were made, and which names were bound to them."""

    # -- places ------------------------------------------------------------------------------------

    def statements(self, place: CodePlace | None) -> Iterator[tuple[Statement, CodePlace]]:
        """The statement at a place and those that called it, innermost first, with their places."""
        frames = () if place is None else place.frames
        for i in range(len(frames)):
            here = CodePlace(frames[i:])
            source = source_of(here.filename)
            statement = None if source is None else source.at(here.filename, here.line, here.column)
            if statement is not None:
                yield statement, here

    def called_at(self, place: CodePlace | None) -> str:
        """The last name of the function that the user's text calls at a place; empty for an operator."""
        call = self._call_at(place)
        return "" if call is None else last_name(call.func)

    def given_at(self, place: CodePlace | None) -> str:
        """The source text of the first argument of the call at a place; empty for an operator."""
        call = self._call_at(place)
        first = call.args[0] if call is not None and call.args else None
        text = unparse(first) if isinstance(first, _TERMS) else ""
        return text if len(text) <= _LONG else ""

    def _call_at(self, place: CodePlace | None) -> ast.Call | None:
        found = next(self.statements(place), None)
        call = None if found is None else found[0].expression(found[1].span)
        return call if isinstance(call, ast.Call) else None

    def in_stream(self, place: CodePlace | None) -> bool:
        """Whether a place is in a function that the text gives to a dataset: ``ds.map(lambda x: x * w)``."""
        found = next(self.statements(place), None)
        if place is None or found is None or found[1].frames != place.frames:
            return False
        statement, here = found
        name, all_of_it = here.frames[0][0].co_name, statement.source.statements
        if not any("ataset" in text for s in all_of_it for text in s.mentions()):
            return False
        given = (
            value
            for s in ([statement] if name == "<lambda>" else all_of_it)
            for call in s.walk()
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "map"
            for value in (*call.args, *(k.value for k in call.keywords))
        )
        if name == "<lambda>":
            return any(isinstance(value, ast.Lambda) and covers(value, here.line, here.column) for value in given)
        return any(last_name(value) == name for value in given)

    def creation_place(self, variable: ResourceVariable) -> CodePlace | None:
        """Where a variable was created: of a layer's own weights where the layer was."""
        place = place_of_origin(getattr(variable, "_born", None) or origin_of(variable._state))
        statement = next(self.statements(place), None)
        if statement is not None and not statement[0].calls("Variable", "add_weight", "deepcopy", "copy"):
            owner = self.owners.of(variable)
            frames = () if owner is None else creation_of(owner)
            if frames:
                return CodePlace(frames)
        return place

    def origin_place(self, source: End, used: bool = True) -> CodePlace | None:
        """The place where a tensor or a variable was created. If that is unknown and ``used``, the place of its first
        use under the tape; None if there is neither.
        """
        if isinstance(source, UnreadVariable):
            return place_of_origin(origin_of(source._state))
        if not isinstance(source, Tensor):
            return place_of_origin(getattr(source, "_born", None) or origin_of(source._state))
        node = self.trace.of_tensor(source)
        if not is_leaf(node):
            return self.trace.place(node)
        return self.trace.birth(node) or (self.trace.place(node) if used and node.record is not None else None)

    def after_tape(self, origin: ValueOrigin) -> bool:
        """Whether something was made after this tape had begun to record."""
        return any(what == "enter" and when < origin.when for what, _, when, _ in self.tape.notes)

    # -- rebound on the way ------------------------------------------------------------------------

    def rebound_on(self, source: End, first: Break) -> Break | None:
        """A break that is there because a name was bound to a tensor computed from the variable that it held."""
        if first.cause == "not_watched" and isinstance(source, Tensor):
            found = self.rebinding(source)
            return None if found is None else Break("rebound", found[1], found[0].binds()[0], source)
        if first.cause == "outside_tape" and isinstance(first.subject, ValueOrigin) and first.subject.kind == "op":
            found = next(self.statements(first.place), None)
            if found is not None and found[0].reads_itself() and not self.after_tape(first.subject):
                held = not isinstance(source, Tensor) and any(
                    text in found[0].binds()
                    for s, _ in self.statements(self.origin_place(source))
                    for text in s.binds()
                )
                if held or self.was_variable(found[0]):
                    return Break("rebound", found[1].at(found[0].line), found[0].binds()[0], source)
        return None

    def rebinding(self, value: Tensor) -> tuple[Statement, CodePlace] | None:
        """The statement that bound a name to ``value`` although the name held a variable or a watched tensor before."""
        node = self.trace.of_tensor(value)
        for statement, where in self.statements(self.origin_place(value)):
            binds = statement.binds()
            if not binds:
                continue
            again = statement.reads_itself() or not all(text.isidentifier() for text in binds)
            if (
                self.was_variable(statement)
                or (again and self.from_state(node, statement))
                or any(self.was_bound_to_watched(statement, text) for text in binds)
            ):
                return statement, where.at(statement.line)
            return None
        return None

    def from_state(self, node: TapeNode, statement: Statement, depth: int = 0) -> bool:
        """Whether a value was computed, by this statement alone, from a variable or a watched tensor."""
        for parent, _ in self.trace.edges(node):
            if is_state(parent.origin) or parent.variable is not None or self.was_watched(parent):
                if not self.named_otherwise(parent, statement):
                    return True
            elif depth < 200 and self.made_by(parent, statement) and self.from_state(parent, statement, depth + 1):
                return True
        return False

    def made_by(self, node: TapeNode, statement: Statement) -> bool:
        """Whether a value was computed by this statement."""
        place = self.trace.birth(node) if is_leaf(node) else self.trace.place(node)
        return place is not None and any(statement.covers(*at) for at in place.outer())

    def named_otherwise(self, node: TapeNode, statement: Statement) -> bool:
        """Whether the statement reads a variable under a name of its own: in ``h = h + v`` it is not h that was one."""
        place = place_of_origin(node.origin) if node.variable is None else self.creation_place(node.variable)
        binds = {text for s, _ in self.statements(place) for text in s.binds()}
        around = {unparse(n) for target in statement.targets() for n in ast.walk(target) if n is not target}
        read = {
            unparse(n)
            for n in statement.walk()
            if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Load)
        }
        return bool(binds & (read - around)) and not binds.intersection(statement.binds())

    def was_variable(self, statement: Statement) -> bool:
        """Whether an earlier statement bound the same name to a new ``tf.Variable``.

        One in another cell is a program of its own, unless the statement reads what the name held.
        """
        again = statement.reads_itself()
        return not statement.calls("Variable") and any(
            other.calls("Variable")
            and other.order < statement.order
            and (again or other.filename == statement.filename)
            for text in statement.binds()
            for other in statement.source.bound_by(text, statement)
        )

    def held_variable(self, statement: Statement, itself: bool = False) -> bool:
        """Whether the name that a statement binds held a variable before, as far as the text tells.

        With ``itself`` the name was bound to nothing but a variable, not to an object or a list that holds some.
        """
        return any(
            other is not statement and (other.makes_variable() if itself else other.calls("Variable", "add_weight"))
            for text in statement.binds()
            for other in statement.source.bound_by(text, statement)
        )

    def was_bound_to_watched(self, statement: Statement, text: str) -> bool:
        """Whether a tensor that the tape watches was bound to the same name by another statement."""
        bound = statement.source.bound_by(text, statement)
        leaves = [self.record.leaves.get(row) for row in self.tape.watched]
        return any(
            earlier is not statement and earlier in bound
            for leaf in leaves
            if leaf is not None and leaf.tensor is not None and leaf.variable is None
            for earlier, _ in self.statements(self.origin_place(leaf.tensor))
        )
