"""Where values were made, in the text of the program, and what it calls there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from ..engine.recording.evidence import creation_of, origin_of
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import UnreadVariable
from ..recording.nodes import CodePlace, is_leaf, place_of_origin
from ..recording.tape import TapeRules
from .owners import Owners
from .source import source_of
from .statement import Statement, last_name

if TYPE_CHECKING:
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import End, Object


class Names(TapeRules):
    """Where values were made, and which names were bound to them."""

    @cached_property
    def owners(self) -> Owners:
        """Which layers hold which variables."""
        return Owners()

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

    def _call_at(self, place: CodePlace | None) -> ast.Call | None:
        found = next(self.statements(place), None)
        call = None if found is None else found[0].expression(found[1].span)
        return call if isinstance(call, ast.Call) else None

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

    def held_variable(self, statement: Statement, itself: bool = False) -> bool:
        """Whether the name that a statement binds held a variable before, as far as the text tells.

        With ``itself`` the name was bound to nothing but a variable, not to an object or a list that holds some.
        """
        return any(
            other is not statement and (other.makes_variable() if itself else other.calls("Variable", "add_weight"))
            for text in statement.binds()
            for other in statement.source.bound_by(text, statement)
        )

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
