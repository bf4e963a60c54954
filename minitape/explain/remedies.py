"""What to write instead, as code, from the syntax of the statement to blame; and what to say where the target was not
computed from the source: of layers that were not called, of other objects, of nothing at all."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.evidence import ValueOrigin
from ..engine.tensor.tensor import Tensor
from ..recording.nodes import CodePlace, array_of, is_state
from .caller import asking_frame, asking_names, in_brackets, where
from .fixes.dialects import TAPE
from .fixes.edits import assigned
from .owners import variables_of
from .source import dropped_at
from .source_names import in_a_layer
from .statement import Statement, covers, last_name, unparse

if TYPE_CHECKING:
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import End, Object
    from ..recording.nodes import Subject
    from .inquiry import GradientInquiry

_OTHER_SHAPE = set(
    ("reshape transpose expand_dims squeeze concat stack tile cast identity convert_to_tensor value read_value").split()
)
_LISTS = (ast.Subscript, ast.ListComp, ast.List, ast.Tuple, ast.Dict, ast.DictComp, ast.GeneratorExp, ast.Constant)


class Remedies:
    """The statement to blame and its expression, rewritten; what the sentences name goes into ``fields``."""

    what: str
    source: End
    place: CodePlace | None
    subject: Subject
    _inquiry: GradientInquiry | None
    fields: dict[str, str]
    statement: Statement | None
    call: ast.expr | None

    @property
    def inquiry(self) -> GradientInquiry:
        """The questions about the tape, where there is one."""
        assert self._inquiry is not None
        return self._inquiry

    @property
    def known_statement(self) -> Statement:
        """The statement, which must be known here (AssertionError otherwise)."""
        assert self.statement is not None
        return self.statement

    @property
    def at(self) -> CodePlace:
        """The place, where it is known."""
        assert self.place is not None
        return self.place

    def _changed(self) -> ResourceVariable | None:
        """The variable in which a value was stored; None when it is gone."""
        return (
            self.subject.detail() if isinstance(self.subject, ValueOrigin) and callable(self.subject.detail) else None
        )

    def _in_namespace(self, function: ast.expr) -> bool:
        """Whether an expression begins with a module: ``tf.math.round``, or ``M.round`` after ``M = tf.math``."""
        root = unparse(function).partition(".")[0]
        return (
            root in TAPE.modules
            or root in self.known_statement.source.imported
            or isinstance(value_of(root), ModuleType)
        )

    def _only_assign(self) -> ast.Call | None:
        """The one call of the statement that assigns: of a function that was traced no more than the line is known."""
        nodes = [] if self.statement is None else self.statement.walk()
        found = [n for n in nodes if isinstance(n, ast.Call) and last_name(n.func).startswith("assign")]
        return found[0] if len(found) == 1 else None

    def _stored(self, call: ast.Call, function: ast.Attribute, early: bool) -> str:
        """A value that assign, assign_add or assign_sub stored: what to write where the variable is read."""
        variable, value = unparse(function.value), unparse(call.args[0]) if call.args else ""
        sign = {"assign": "", "assign_add": "+", "assign_sub": "-"}.get(function.attr)
        if len(variable) > 40:
            return ""
        self.fields.update(what=f"{variable}.{function.attr}", code=variable)
        if early:
            return "before"
        whole = function.value.value if isinstance(function.value, ast.Subscript) else function.value
        if whole is not function.value:
            self.fields.update(code=unparse(whole), instead="tf.tensor_scatter_nd_update")
            return "part"
        changed = self._changed()
        if self.inquiry.owners.in_layer(changed) and changed is not None and changed.trainable:
            return "layer"
        if sign is None or not value or len(value) > 40:
            return ""
        self.fields["instead"] = f"{variable} {sign} {value}" if sign else value
        of_itself = any(
            isinstance(node, (ast.Name, ast.Attribute)) and unparse(node) == variable for node in ast.walk(call.args[0])
        )
        return "changed" if sign or of_itself else "expression"

    def _assignment(self) -> str:
        """The statement that bound a name anew, written as a change of the variable."""
        node = None if self.statement is None else self.statement.node
        if not isinstance(node, (ast.Assign, ast.AugAssign)):
            return ""
        targets, values = self.known_statement.targets(), getattr(node.value, "elts", [node.value])
        at = self._bound_at(targets, values)
        if at is None:
            return ""
        name, value = unparse(targets[at]), values[at]
        self.fields["what"] = name
        called = last_name(value.func) if isinstance(value, ast.Call) else ""
        if called.startswith("assign"):
            return unparse(value)
        if isinstance(value, _LISTS) or called in _OTHER_SHAPE:
            return ""
        held = self.inquiry.held_variable(self.known_statement, itself=True)
        if not held and (name.isidentifier() or not (self.known_statement.reads_itself() and self._of_variables())):
            return ""
        text = assigned(name, value, node.op if isinstance(node, ast.AugAssign) else None)
        return text if len(text) <= 70 else ""

    def _of_variables(self) -> bool:
        """Whether the source was computed from variables, or its name held one before."""
        if self.statement is not None and self.inquiry.held_variable(self.statement):
            return True
        node = self.inquiry.trace.of(self.source)[0]
        return any(n.variable is not None or is_state(n.origin) for n in self.inquiry.trace.ancestors([node]).values())

    def _bound_at(self, targets: list[ast.expr], values: list[ast.expr]) -> int | None:
        """Which of the values of an assignment the source got; None when that cannot be told."""
        if len(targets) != len(values):
            return None
        if len(targets) == 1:
            return 0
        born = self.inquiry.origin_place(self.source)
        at = [i for i, v in enumerate(values) if born is not None and covers(v, born.line, born.column)]
        return at[0] if len(at) == 1 else None


_ASKS = (
    "gradient",
    "jacobian",
    "explain",
    "apply_gradients",
    "watch",
    "print",
    "append",
    "assign",
    "assign_add",
    "assign_sub",
)


class Absent(Remedies):
    """The kinds of these findings, and what their sentences may name."""

    def _unused_layer(self) -> str:
        owner = self.inquiry.owners.of(self.source)
        branch = self._read_in_a_branch() or self._called_in_a_branch()
        if branch is not None and self.place is not None:
            self.place = self.at.at(branch.line)
            self.place.filename = branch.filename
            return "branch"
        return "" if type(owner).__module__.startswith("minitape.") else "own"

    def _wrong_object(self) -> str:
        born = self.inquiry.origin_place(self.source)
        copied = born is not None and self.place is not None and born.frames == self.place.frames
        if copied:
            return "copy"
        self.fields["code"] = self._equal_name()
        return "named" if self.fields["code"] else ""

    def _equal_name(self) -> str:
        """What the statement calls the value that it took in place of the source; empty where nothing there equals
        it.
        """
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
        if isinstance(self.source, Tensor) and any(
            t is not self.source and self.inquiry.path(t, trace.of(self.source)) is not None for t in targets
        ):
            return "swapped"
        derived = next((s for s, _ in self.inquiry.statements(trace.place(node))), None)
        if derived is not None and derived.calls("gradient", "jacobian", "batch_jacobian", "gradients"):
            return "derivative"
        if node.origin is not None and node.origin.kind in ("constant", "made") and not node.origin.inputs:
            at = self.inquiry.trace.birth(node)
            self.fields["used"] = "" if at is None else in_brackets(at.filename, at.line)
            return "constant"
        at = self.inquiry.last_use(self.source)
        if at is not None:
            self.site = dropped_at((at.filename, at.line))
            self.fields["used"] = in_brackets(*self.site)
        branch = self._read_in_a_branch() if at is None and not self.inquiry.used_at_all(self.source) else None
        if branch is not None:
            self.fields["used"] = where(branch.filename, branch.line)
            return "branch"
        return "" if at is None else "used"

    def _called_in_a_branch(self) -> Statement | None:
        """Where the text calls the layer, if that is in a branch alone."""
        names = [] if self.statement is None else self.statement.binds()
        calls = [
            s
            for s in (self.statement.source.statements if self.statement is not None and names else ())
            if any(isinstance(n, ast.Call) and unparse(n.func) == names[0] for n in s.walk())
        ]
        return calls[0] if calls and all(s.in_branch(names[0]) for s in calls) else None

    def _read_in_a_branch(self) -> Statement | None:
        """Where the text computes with a variable, which no operation read, if that is in a branch alone."""
        places = (
            [] if isinstance(self.source, Tensor) else self.inquiry.statements(self.inquiry.origin_place(self.source))
        )
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

    def _of_layer(self) -> bool:
        """Whether the source is a variable of Keras; then ``code`` is its layer or model, and ``used`` the variable."""
        names = asking_names()
        path = in_a_layer(self.source, names)
        layers = (
            name
            for name, thing in names.items()
            if not name.startswith("_") and not isinstance(thing, type) and hasattr(type(thing), "trainable_variables")
        )
        model = path.partition(".")[0] or next(
            (name for name in layers if any(v is self.source for v in variables_of(names[name]))), "model"
        )
        self.fields.update(code=model, used=f"{path or 'variable'}.value")
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
