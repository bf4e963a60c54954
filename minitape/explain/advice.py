"""What exactly happened at a break, and what to write instead: from the operation and the text that is there."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from ..engine.recording.evidence import ValueLeft, ValueOrigin
from ..engine.tensor.tensor import Tensor
from ..recording.bodies import INTO, bodies_of
from ..recording.nodes import CodePlace, TapeNode, operations
from .caller import where
from .fixes.dialects import TAPE
from .fixes.leaving import FLAT, LEAVES, in_framework, of_another_library
from .remedies import STEPS, Absent, is_layer, term, value_of
from .sentences import fill
from .source import RUN_ONCE
from .statement import Statement, last_name, unparse

if TYPE_CHECKING:
    from ..engine.recording.evidence import Stack
    from ..engine.recording.record import Record
    from ..engine.recording.rows import Call
    from ..engine.types import End
    from ..recording.nodes import Subject
    from .inquiry import GradientInquiry

_OPS = {
    "step": "Round Floor Ceil Rint FloorDiv Sign",
    "choice": "ArgMax ArgMin TopKV2 Where",
    "order": "LowerBound UpperBound",
    "range": "Range",
    "shuffle": "RandomShuffle",
    "truth": "Greater GreaterEqual Less LessEqual Equal NotEqual LogicalAnd LogicalOr LogicalNot IsNan IsInf IsFinite "
    "InTopKV2 All Any",
    "sample": "Multinomial RandomPoissonV2 StatelessMultinomial",
    "shape": "Shape Size Rank ZerosLike OnesLike",
    "count": "HistogramFixedWidth Bincount",
    "data": "tf.data",
    "loop": "ReduceDataset",
}
_KIND_OF_OP = {op: kind for kind, ops in _OPS.items() for op in ops.split()}
_EXITS = {
    "numpy": ".numpy()",
    "asarray": "NumPy",
    "float": "float()",
    "int": "int()",
    "complex": "complex()",
    "bool": "bool()",
    "index": "an index",
}
_RETURNS = {
    "predict": "predict",
    "predict_on_batch": "predict",
    "evaluate": "predict",
    "train_on_batch": "predict",
    "test_on_batch": "predict",
    "fit": "predict",
    "get_weights": "weights",
    "numpy_function": "function",
    "py_func": "function",
}
_KIND_IN_NUMPY = {name: kind for kind, names in FLAT.items() for name in names.split()}
_LOOKUPS = ("gather", "gather_nd", "one_hot", "strided_slice", "slice", "tensor_array_read")
_TEXTS = ("str", "repr", "format", "dumps")
_CASTS = ("cast", "to_int32", "to_int64", "saturate_cast")


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
        self.until = until
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
            if type(self.source).__name__ == "KerasTensor":
                layer = getattr(self.source._keras_history, "layer", None)
                return "symbol" if layer is None or type(layer).__name__ == "InputLayer" else "symbol inside"
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
        kind = _KIND_OF_OP.get(self.what, "")
        if kind == "step":
            self._past_the_step()
            kind = self._cut_again() or kind
        if not kind and self.fields["what"].startswith(("tf.random.", "tf.compat.v1.random.")):
            kind = "sample"  # inside a tf.function it has no other name
        builtin = self._builtin()
        if kind == "truth" and builtin in ("max", "min"):
            self.fields.update(what=builtin, instead=f"tf.{builtin}imum")
            return "python"
        if kind == "choice" and self._chosen_by(("gather", "gather_nd")):
            return "row"
        if "accuracy" in self.fields["what"]:
            return "hits"
        if any(word in self.fields["what"].rpartition(".")[2] for word in ("count", "histogram")):
            return "count"
        return "branch" if kind == "truth" and self._decides() else kind

    def _cut_again(self) -> str:
        """What breaks the path again around a rounding: "truth" for a comparison, "step whole" for a whole number."""
        for node in self._around():
            name = last_name(node.func) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Compare) or name in ("equal", "not_equal"):
                self.fields["what"] = unparse(node.func if isinstance(node, ast.Call) else node)
                return "truth"
            if name in _CASTS or name in ("int", "bool"):
                return "step whole"
        return ""

    def _decides(self) -> bool:
        """Whether the expression is, or is in, the condition of an if, a while or a conditional expression."""
        if self.statement is not None and isinstance(self.statement.node, (ast.If, ast.While)):
            return True
        return any(
            isinstance(n, ast.IfExp) and any(part is self.call for part in ast.walk(n.test)) for n in self._around()
        )

    def _no_gradient_registered(self) -> str:
        self._name_operation()
        return "sample" if _KIND_OF_OP.get(self.what) == "sample" else ""

    def _integer_dtype(self) -> str:
        if self.subject is self.source:
            kind = (
                "source index" if self._is_index() else {"bool": "source bool", "string": "source text"}.get(self.what)
            )
            self.fields["instead"] = self._as_float()
            return kind or "source"
        if self.what in ("AsString", "StringToNumber", "string"):
            return "text"
        node = self.subject
        if isinstance(self.call, ast.Call) and last_name(self.call.func) not in _CASTS:
            self.fields["code"] = unparse(self.call.func)
            if is_layer(self.call, "Embedding"):
                return "embedding"
            if len(self.fields["code"]) > 40:
                return "cast"
            return "embedding inside" if self._chosen_by(("gather",)) else "inside"
        cast = node is not None and not isinstance(node, ValueOrigin) and self.inquiry.trace.label(node) == "cast"
        if cast and self._chosen_by(_LOOKUPS):
            return "cast index"
        return "" if not cast else "cast through" if self._read_as_floats() and self._past_the_cast() else "cast"

    def _read_as_floats(self) -> bool:
        """Whether all that reads the whole numbers makes floats of them again: then floats will do in their place."""
        trace, node = self.inquiry.trace, self.subject
        readers = [row for row, inputs in operations(node.record, node.row) if node.row in inputs]
        return bool(readers) and all(trace.label(trace.of_row(node.record, row)) == "cast" for row in readers)

    def _is_index(self) -> bool:
        """Whether the source chooses rows of a table."""
        return self._inquiry is not None and self._chooses(
            self.inquiry.record, set(self.inquiry.tape._rows_of(self.source)), ("gather", "one_hot")
        )

    def _chosen_by(self, by: tuple[str, ...]) -> bool:
        """Whether the whole numbers that the value became choose among something: rows of a table, as an embedding's
        do.
        """
        record = getattr(self.subject, "record", None)
        return record is not None and self._chooses(record, {self.subject.row}, by)

    def _chooses(self, record: Record, rows: set[int], by: tuple[str, ...]) -> bool:
        """Whether an operation of one of these names reads one of the rows."""
        trace = self.inquiry.trace
        rows = {*rows}
        for row, inputs in operations(record, min(rows, default=0)):
            if rows.intersection(inputs):
                if trace.label(trace.of_row(record, row)) in by:
                    return True
                call = record.call_at(row)
                if call is not None and call.primitive.name in INTO and self._chooses_inside(call, rows, by):
                    return True
                if (dtype := trace.dtype(trace.of_row(record, row))) is not None and dtype.is_integer:
                    rows.add(row)  # kept in bounds, say
        return False

    def _chooses_inside(self, call: Call, rows: set[int], by: tuple[str, ...]) -> bool:
        """The same in the bodies of a function, a loop or a branch that reads the rows, or which branch it is that
        runs.
        """
        if call.primitive.name == "case" and call.inputs[0] in rows:
            return "gather" in by
        for body in bodies_of(call, None):
            inner = {row for row, given in body.outer.items() if given in rows}
            if inner and self._chooses(body.graph, inner, by):
                return True
        return False

    def _left_through_numpy(self) -> str:
        if (
            isinstance(self.subject, ValueLeft)
            and self.what not in ("int", "index")
            and self.inquiry.only_decides(self.subject)
        ):
            return "choice"
        self.fields["what"] = fill(_EXITS.get(self.what, self.what))
        name = "" if not isinstance(self.call, ast.Call) else last_name(self.call.func)
        self.fields["code"] = "" if not isinstance(self.call, ast.Call) else unparse(self.call.func)
        if name in _RETURNS:
            return _RETURNS[name]
        if self.what in ("tf.numpy_function", "tf.py_function"):
            self.fields["code"] = self.what
            return "function"
        if name == "constant" and self.what == "numpy":
            return "copy"
        if self.what in ("bool", "index"):
            return "choice" if self.what == "bool" else "index"
        if self._is_text():
            return "text"
        taken = self._taken_by()
        if taken:
            return taken
        if isinstance(self.call, ast.Call) and name not in LEAVES and not self._builtin():
            self.fields["what"] = self.fields["code"] if len(self.fields["code"]) <= 40 else self.fields["what"]
        if self._only_leaves(name):
            return "whole" if name == "int" else "drop"
        return (
            "by library"
            if isinstance(self.call, ast.Call) and of_another_library(self.known_statement, self.call.func)
            else ""
        )

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
        elif (
            call is not None and isinstance(function, ast.Attribute) and function.attr.startswith(("assign", "scatter"))
        ):
            return self._stored(call, function, early)
        elif function is not None and len(unparse(function)) <= 40:
            self.fields["what"] = f"{unparse(function)}(...)"
        changed = self._changed()
        owner = None if changed is None else self.inquiry.owners.of(changed)
        classes = {c.__name__ for c in type(owner).__mro__ if c.__module__.startswith("minitape.keras")}
        if "Metric" in classes or (self.statement is not None and self.statement.calls("update_state")):
            return "metric"
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
        if self.inquiry.in_stream(self.place):
            return "data"
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

    def _is_text(self) -> bool:
        """Whether the value became text."""
        node = self.call
        if self.what == "text":
            return True
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.Mod)
        if self.fields["code"].endswith(".format"):
            return True
        around = [*([] if node is None else [node]), *self._around()]
        return any(
            isinstance(n, (ast.JoinedStr, ast.FormattedValue))
            or (isinstance(n, ast.Call) and last_name(n.func) in _TEXTS)
            for n in around
        )

    def _around(self) -> list[ast.AST]:
        """The expressions of the statement that contain the call, outermost first."""
        call = self.call
        nodes = [] if self.statement is None or call is None else self.statement.walk()
        return [
            n for n in nodes if isinstance(n, ast.expr) and n is not call and any(part is call for part in ast.walk(n))
        ]

    def _taken_by(self) -> str:
        """The kind of a function of NumPy's, or of another library's, that the value was given to; empty without
        one.
        """
        for call in [n for n in (self.call, *reversed(self._around())) if isinstance(n, ast.Call)]:
            name, text = last_name(call.func), unparse(call.func)
            kind = _KIND_IN_NUMPY.get(name, "") if isinstance(call.func, ast.Attribute) or name in dir(builtins) else ""
            instead = in_framework(self.known_statement, call.func, TAPE)
            if kind == "rounded":
                given = call.args[0] if call is self.call and len(call.args) == 1 else None
                given = ast.Name("x") if given is None or len(unparse(given)) > 40 else given
                hard = f"{STEPS.get(name.capitalize(), 'tf.round')}({unparse(given)})"
                self.fields.update(code=term(given), instead=hard)
            elif not kind and instead:
                self.fields.update(code=text, instead=instead)
                kind = "instead"
            elif not kind and call is not self.call and of_another_library(self.known_statement, call.func):
                self.fields["code"] = text
                kind = "library"
            if kind:
                self.fields["what"] = text
                return kind
        return ""

    def _builtin(self) -> str:
        """The name of Python's own function that is called: sum, sorted, list; empty for another call."""
        function = self.call.func if isinstance(self.call, ast.Call) else None
        return function.id if isinstance(function, ast.Name) and function.id in dir(builtins) else ""
