"""What exactly happened at a break, and what to write instead: from the operation and the text that is there."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from ..engine.recording.evidence import ValueLeft, ValueOrigin
from ..engine.tensor.tensor import Tensor
from ..recording.nodes import CodePlace, TapeNode
from ..recording.sites import NOWHERE
from .caller import where
from .fixes.leaving import LEAVES
from .remedies import Absent, value_of
from .sentences import fill
from .source import RUN_ONCE
from .statement import Statement, last_name, unparse

if TYPE_CHECKING:
    from ..engine.recording.evidence import Stack
    from ..engine.types import End
    from ..recording.nodes import Subject
    from .inquiry import GradientInquiry

_OPS = {"step": "Round Floor Ceil Rint FloorDiv Sign", "shape": "Shape Size Rank ZerosLike OnesLike"}
_KIND_OF_OP = {op: kind for kind, ops in _OPS.items() for op in ops.split()}
EXITS = {
    "numpy": ".numpy()",
    "asarray": "NumPy",
    "float": "float()",
    "int": "int()",
    "complex": "complex()",
    "bool": "bool()",
    "index": "an index",
}
_RETURNS = ("numpy_function", "py_func")
_KIND_OF_EXIT = {"bool": "choice", "index": "index", "text": "text"}


class Advice(Absent):
    """The kind of a break, and what its sentences may name: ``fields`` are code, instead, used, function."""

    def __init__(
        self,
        cause: str,
        place: CodePlace | None,
        what: str,
        subject: Subject,
        source: End,
        inquiry: GradientInquiry | None,
        until: CodePlace | None = None,
    ) -> None:
        self.place, self.what, self.subject, self.source, self._inquiry = place, what, subject, source, inquiry
        self.until, self.site = until, NOWHERE  # the site is where what came of an unused source ends
        self.fields = {"what": what, "code": "", "instead": "", "used": "", "function": ""}
        self.statement: Statement | None = None
        self.call: ast.expr | None = None
        if place is not None and inquiry is not None:
            self.statement = next((s for s, at in inquiry.statements(place) if at.frames == place.frames), None)
            if self.statement is not None:
                self.call = self.statement.expression(place.span)
        look = getattr(self, f"_{cause}", None)
        self.kind: str = self._no_tensor(cause) if inquiry is None else "" if look is None else look()

    def _no_tensor(self, cause: str) -> str:
        """For a target or a source that is neither a tensor nor a variable."""
        if self.what.startswith("the target is"):
            self.fields["what"] = fill("a plain {kind}", kind=self.what.rpartition(" ")[2])
            return "target"
        if cause == "wrong_object":
            if hasattr(self.source, "trainable") and hasattr(self.source, "value"):
                return "layer"
            return "model" if hasattr(self.source, "trainable_variables") else "plain"
        return "None" if self.what == "None" else ""

    # -- one for each cause that has kinds ---------------------------------------------------------

    def _nondifferentiable_op(self) -> str:
        node = self.subject
        if (
            node is not None
            and not isinstance(node, ValueOrigin)
            and self.inquiry.trace.label(node) == "custom_gradient"
        ):
            self.fields["code"] = unparse(self.call.func) if isinstance(self.call, ast.Call) else "tf.custom_gradient"
            return "custom"
        self._name_operation()
        builtin = self._builtin()
        if builtin in ("max", "min"):
            self.fields.update(what=builtin, instead=f"tf.{builtin}imum")
            return "python"
        return _KIND_OF_OP.get(self.what, "")

    def _no_gradient_registered(self) -> str:
        self._name_operation()
        return ""

    def _integer_dtype(self) -> str:
        node = self.subject
        if node is self.source:
            return "source"
        if self.what in ("AsString", "StringToNumber", "string"):
            self.fields["what"] = fill("text")
        cast = node is not None and not isinstance(node, ValueOrigin) and self.inquiry.trace.label(node) == "cast"
        return "cast" if cast else ""

    def _left_through_numpy(self) -> str:
        if (
            isinstance(self.subject, ValueLeft)
            and self.what not in ("int", "index")
            and self.inquiry.only_decides(self.subject)
        ):
            return "choice"
        self.fields["what"] = fill(EXITS.get(self.what, self.what))
        name = "" if not isinstance(self.call, ast.Call) else last_name(self.call.func)
        self.fields["code"] = "" if not isinstance(self.call, ast.Call) else unparse(self.call.func)
        if name in _RETURNS or self.what in ("tf.numpy_function", "tf.py_function"):
            self.fields["code"] = self.fields["code"] or self.what
            return "function"
        if name == "constant" and self.what == "numpy":
            return "copy"
        if name and name not in LEAVES and not self._builtin() and len(self.fields["code"]) <= 40:
            self.fields["what"] = self.fields["code"]
        return _KIND_OF_EXIT.get(self.what, "")

    def _state(self) -> str:
        kind = self.subject.kind if isinstance(self.subject, ValueOrigin) else self.what
        early = isinstance(self.subject, ValueOrigin) and not self.inquiry.after_tape(self.subject)
        if kind == "variable":
            names = self.statement.binds() if self.statement is not None else []
            self.fields["code"] = names[0] if names else ""
            return "variable before" if early and names else "variable"
        call = self.call if isinstance(self.call, ast.Call) else self._only_assign()
        function = None if call is None else call.func
        if isinstance(function, ast.Attribute) and self._in_namespace(function):
            self.fields["what"] = unparse(function)  # tf.compat.v1.assign
        elif call is not None and isinstance(function, ast.Attribute) and function.attr.startswith("assign"):
            return self._stored(call, function, early)
        elif function is not None and len(unparse(function)) <= 40:
            self.fields["what"] = f"{unparse(function)}(...)"
        optimizes = self.statement is not None and self.statement.calls("apply_gradients", "minimize", "apply")
        return "optimizer" if optimizes else ""

    def _outside_tape(self) -> str:
        kind = self._outside()
        self.fields["used"] = self._lines_until() if kind in ("", "before", "after") else ""
        return kind

    def _lines_until(self) -> str:
        """That a run of operations outside the tape ends further down in the same function; empty if that is on the
        line where it begins.
        """
        code = self.at.frames[0][0]
        last = next((CodePlace((frame,)) for frame in (self.until or self.at).frames if frame[0] is code), self.at)
        end = next((s for s, _ in self.inquiry.statements(last)), None)
        if end is None or self.statement is None or end.line <= self.statement.line:
            return ""
        used = where("" if last.filename == self.at.filename else last.filename, last.line)
        return fill(", together with everything that uses its result (up to {used})", used=used)

    def _outside(self) -> str:
        if self.what == "reset":
            return "reset"
        if self.what == "gradient":
            func = self.call.func if isinstance(self.call, ast.Call) else None
            named = func.value if isinstance(func, ast.Attribute) else None
            itself = isinstance(named, ast.Name) and value_of(named.id) is self.inquiry.tape
            return "itself" if itself else "gradient"
        self._name_operation(whole=True)
        enters = [note for note in self.inquiry.tape.notes if note[0] == "enter"]
        inside = bool(enters) and self._stands_inside(enters[0][3])
        if enters and self.subject is not None and not isinstance(self.subject, ValueOrigin):
            return self._beside_spans(self.subject) or self._under_another(inside)
        if not enters or not isinstance(self.subject, ValueOrigin):
            return ""
        if self.subject.when > min(when for _, _, when, _ in enters):
            after = len(enters) == 1 and self._stands_inside(enters[0][3], behind=True)
            return "after" if after else "elsewhere" if inside else ""
        if inside:
            return "earlier"
        function = None if self.statement is None else self.statement.function
        if function is None or any(code is self.at.frames[0][0] for code, _ in enters[0][3]):
            return "before"
        self.fields["function"] = function.name
        decorators = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
        if any("cache" in last_name(d) for d in decorators):
            return "cached"
        return "setup" if function.name in RUN_ONCE else "called"

    def _under_another(self, inside: bool) -> str:
        """Whether a row was written to a recording that this tape has no part in, by an earlier round or elsewhere."""
        record = self.subject.record
        if record is None or record is self.inquiry.record or hasattr(record, "reads"):
            return ""
        return "earlier" if inside else "another"

    def _beside_spans(self, node: TapeNode) -> str:
        """Whether a row of the tape's own recording was written before the block began, or after it had ended."""
        spans = self.inquiry.trace.spans
        if node.record is not self.inquiry.record or not spans:
            return ""
        return "before" if node.row < spans[0][0] else "after" if node.row >= spans[-1][1] else ""

    def _recording_paused(self) -> str:
        paused = "" if self.place is None else self.inquiry.in_pause(self.place)
        self.fields["function"] = paused or "stop_recording"
        return "watch" if self.subject is self.source else ""

    def _not_trainable(self) -> str:
        made = self.statement is not None and self.statement.calls("Variable", "add_weight")
        return "layer" if self._of_layer() or not made else ""

    def _not_accessed_watched(self) -> str:
        return "layer" if self._of_layer() else ""

    def _rebound(self) -> str:
        if isinstance(self.subject, TapeNode):
            return "inside" if self.inquiry.born_after(self.subject, self.source) else "new"
        if self.what == "of the variable" and self.statement is not None and self.statement.binds():
            self.fields["what"] = self.statement.binds()[0]
        self.fields["instead"] = self._assignment()
        replaced = "replaced " if isinstance(self.source, Tensor) and self.subject is self.source else ""
        if self.fields["instead"]:
            return f"{replaced}assign"
        if isinstance(self.source, Tensor):
            return replaced.strip() if self._of_variables() else f"{replaced}tensor"
        statement = self.statement
        made = statement is not None and isinstance(statement.value(), ast.Call) and not statement.reads_itself()
        return "new" if made else ""

    # -- what is there -----------------------------------------------------------------------------

    def _name_operation(self, whole: bool = False) -> None:
        """Names an operation as the user wrote it: a function of a module, an operator, or what ran in a call.

        With ``whole`` the call stands for everything that ran in it.
        """
        call = self.call
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and self._in_namespace(call.func):
            self.fields["what"] = unparse(call.func)
            return
        if isinstance(call, ast.Call):
            function, text = unparse(call.func), unparse(call)
            if whole and len(text) <= 30:
                self.fields["what"] = text
            elif len(function) <= 40:
                self.fields["what"] = (
                    f"{function}(...)"
                    if whole
                    else fill("{operation} in {function}(...)", operation=self.what, function=function)
                )
        elif isinstance(call, (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Subscript)):
            text = unparse(call)
            if len(text) <= 40:
                self.fields["what"] = text

    def _stands_inside(self, frames: Stack, behind: bool = False) -> bool:
        """Whether the place, or a call that led to it, is inside the with block that begins at ``frames``, or
        behind it.
        """
        block = next((s for s, _ in self.inquiry.statements(CodePlace(frames) if frames else None)), None)
        if block is None or not isinstance(block.node, (ast.With, ast.AsyncWith)):
            return False
        lines = [line for name, line in self.at.outer() if name == block.filename]
        return any(line > block.last if behind else block.line < line <= block.last for line in lines)

    def _builtin(self) -> str:
        """The name of Python's own function that is called: sum, sorted, list; empty for another call."""
        function = self.call.func if isinstance(self.call, ast.Call) else None
        return function.id if isinstance(function, ast.Name) and function.id in dir(builtins) else ""
