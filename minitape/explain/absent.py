"""What to say where the target was not computed from the source: of layers that were not called, of other objects, of nothing at all."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from ..engine.tensor.tensor import Tensor
from .asking import asking_frame, in_brackets, where
from .nodes import Place
from .remedies import Remedies
from .statement import unparse

if TYPE_CHECKING:
    from ..engine.typed import Array, Object
    from .source import Statement

_ASKS = ("gradient", "jacobian", "explain", "apply_gradients", "watch", "print", "append", "assign", "assign_add", "assign_sub")


class Absent(Remedies):
    """The kinds of these findings, and what their sentences may name."""

    def _unused_layer(self) -> str:
        owner = self.inquiry.owners.of(self.source)
        made = self.subject[0] if isinstance(self.subject, tuple) else self.subject
        if isinstance(made, Place):
            self.fields["used"] = where(made.filename, made.line)
            return "twin" if made is self.subject else "namesake"
        branch = None if self.subject else self._read_in_a_branch() or self._called_in_a_branch()
        if branch is not None and self.place is not None:
            self.place = self.at.at(branch.line)
            self.place.filename = branch.filename
            return "branch"
        return self.subject or ("" if type(owner).__module__.startswith("minitape.") else "own")

    def _wrong_object(self) -> str:
        born = self.inquiry.born(self.source)
        copied = born is not None and self.place is not None and born.frames == self.place.frames
        if self.what == "watch" or copied:
            return "watch" if self.what == "watch" else "copy"
        made = next((s.value() for s, _ in self.inquiry.statements(born)), None)
        if is_layer(made, "Model") and is_layer(self.call, "Model") and isinstance(self.call, ast.Call):
            self.fields["code"] = unparse(self.call.func)
            return "run"
        self.fields["code"] = self._equal_name()
        return "named" if self.fields["code"] else ""

    def _equal_name(self) -> str:
        """What the statement calls the value that it took in place of the source; empty where nothing there equals it."""
        taken = [] if self.statement is None else self.statement.binds()
        if self.call is not None:
            taken = [*taken, *(node.id for node in ast.walk(self.call) if isinstance(node, ast.Name))]
        held = ((name, value_of(name)) for name in taken)
        others = ((name, array_of(value)) for name, value in held if value is not self.source)
        ours = array_of(self.source)
        return next((name for name, its in others if its is not None and np.array_equal(its, ours)), "")

    def _independent(self) -> str:
        node = self.inquiry.starts[0] if self.inquiry.starts else None
        if node is None or self.source is None:
            return ""
        trace, targets = self.inquiry.trace, self.inquiry.targets
        if isinstance(self.source, Tensor) and any(t is not self.source and trace.path(trace.of(self.source), t) is not None for t in targets):
            return "swapped"
        derived = self.inquiry.trace.place(node)
        if derived is not None and self._is_gradient(derived):
            return "derivative"
        if node.origin is not None and node.origin.kind in ("constant", "made") and not node.origin.inputs:
            at = self.inquiry.trace.birth(node)
            self.fields["used"] = "" if at is None else in_brackets(at.filename, at.line)
            return "constant"
        at = self.inquiry.last_use(self.source)
        if at is not None and not getattr(self.source, "trainable", True) and self._of_layer():
            return "statistic"
        self.fields["used"] = "" if at is None else where(at.filename, at.line)
        if any(s.calls("add_loss") for s, _ in self.inquiry.statements(at)):
            return "added"
        branch = self._read_in_a_branch() if at is None and not self.inquiry.used_at_all(self.source) else None
        if branch is not None:
            self.fields["used"] = where(branch.filename, branch.line)
            return "branch"
        return "" if at is None else "used"

    def _called_in_a_branch(self) -> Statement | None:
        """Where the text calls the layer, if that is in a branch alone."""
        names = [] if self.statement is None else self.statement.binds()
        calls = [
            s for s in (self.statement.source.statements if self.statement is not None and names else ())
            if any(isinstance(n, ast.Call) and unparse(n.func) == names[0] for n in s.walk())
        ]  # fmt: skip
        return calls[0] if calls and all(s.in_branch(names[0]) for s in calls) else None

    def _read_in_a_branch(self) -> Statement | None:
        """Where the text computes with a variable, which no operation read, if that is in a branch alone."""
        places = [] if isinstance(self.source, Tensor) else self.inquiry.statements(self.inquiry.born(self.source))
        first = next(((s, at) for s, at in places if s.makes_variable()), None)
        if first is None:
            return None
        made, at = first
        name = made.name_at(at.line, at.column)
        if not name.removeprefix("self.").isidentifier():
            return None
        found = []
        for s in made.source.statements:
            inside = s.function is not None or any(isinstance(o.node, ast.With) for o in s.around)
            same = s.class_name == made.class_name or name in made.source.bound
            if inside and same and s is not made and not s.calls(*_ASKS) and s.computes_with(name):
                if not s.in_branch(name):
                    return None
                found.append(s)
        return found[0] if found else None

    def _is_gradient(self, place: Place) -> bool:
        statement = next((s for s, _ in self.inquiry.statements(place)), None)
        return statement is not None and statement.calls("gradient", "jacobian", "batch_jacobian", "gradients")

    def _of_layer(self) -> bool:
        """Whether the source is a variable of Keras; then ``code`` is its layer or model, and ``used`` the variable."""
        from .owners import reached

        frame = asking_frame()
        model, path = reached(self.source, {} if frame is None else {**frame.f_globals, **frame.f_locals})
        self.fields.update(code=model or "model", used=f"{path or 'variable'}.value")
        return bool(self.inquiry.owners.in_layer(self.source))


def value_of(name: str) -> Object:
    """What the user's code that asks calls ``name``; None when it is not there."""
    frame = asking_frame()
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            if name in space:
                return space[name]
        frame = frame.f_back
    return None


def array_of(value: Object) -> Array:
    """What an array, tensor or variable holds now; None for anything else."""
    value = getattr(value, "_state", value)
    return value if isinstance(value, np.ndarray) else getattr(value, "array", None)


def is_layer(call: object, kind: str) -> bool:
    """Whether the user's code calls a layer of that kind, or of one made from it, by its name."""
    function = call.func if isinstance(call, ast.Call) else None
    layer = value_of(function.id) if isinstance(function, ast.Name) else None
    return any(c.__name__ == kind and c.__module__.startswith("minitape.") for c in type(layer).__mro__)
