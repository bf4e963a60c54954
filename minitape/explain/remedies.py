"""What to write instead, as code: from the syntax of the statement to blame."""

from __future__ import annotations

import ast
from typing import Any

from ..dtypes import DType
from .source import Statement, covers, last_name
from .trace import is_state

_OTHER = {"array": "tf.stack", "asarray": "tf.convert_to_tensor", "concatenate": "tf.concat", "dot": "tf.tensordot",
          "amax": "tf.reduce_max", "amin": "tf.reduce_min", "absolute": "tf.abs", "power": "tf.pow", "clip":
          "tf.clip_by_value", "vstack": "tf.concat", "hstack": "tf.concat", "average": "tf.reduce_mean", "fabs": "tf.abs",
          "outer": "tf.einsum", "inner": "tf.tensordot", "std": "tf.math.reduce_std", "var": "tf.math.reduce_variance",
          **{name: f"tf.reduce_{name}" for name in ("mean", "sum", "max", "min", "prod", "any", "all")}}  # fmt: skip
_COPIES = tuple(
    "get_value eval convert_to_numpy get_static_value constant_value __array__ float16 float32 float64 int32 int64".split()
)
LEAVES = ("numpy", "float", "int", "item", "tolist")
_OTHER_SHAPE = {"reshape", "transpose", "expand_dims", "squeeze", "concat", "stack", "tile", "cast", "identity",
                "convert_to_tensor", "value", "read_value"}  # fmt: skip
_STEPS = {"Floor": "tf.floor", "FloorDiv": "tf.floor", "Ceil": "tf.math.ceil", "Sign": "tf.sign"}
_LISTS = (ast.Subscript, ast.ListComp, ast.List, ast.Tuple, ast.Dict, ast.DictComp, ast.GeneratorExp, ast.Constant)


class Remedies:
    """The statement to blame and its expression, rewritten; what the sentences name goes into ``fields``."""

    what: str
    source: Any
    inquiry: Any
    fields: dict[str, str]
    statement: Statement | None
    call: ast.expr | None

    def _in_namespace(self, function: ast.expr, depth: int = 0) -> bool:
        """Whether an expression begins with a module: ``tf.math.round``, or ``K.round`` after ``K = tf.keras.backend``."""
        while isinstance(function, ast.Attribute):
            function = function.value
        if self.statement is None or not isinstance(function, ast.Name) or depth > 3:
            return False
        name, source = function.id, self.statement.source
        if name in source.imported or (name not in source.bound and name != "self"):
            return True
        values = [s.value() for s in source.statements if name in s.binds()]
        return bool(values) and all(
            isinstance(value, ast.Attribute) and self._in_namespace(value, depth + 1) for value in values
        )

    def _past_the_step(self) -> None:
        """Fills in how to pass a gradient by a rounding: ``code`` is what is rounded, ``instead`` the rounding."""
        call = self.call
        smooth, hard = "x", f"{_STEPS.get(self.what, 'tf.round')}(x)"
        if isinstance(call, ast.BinOp) and isinstance(call.op, ast.FloorDiv):
            smooth, hard = f"{ast.unparse(call.left)} / {ast.unparse(call.right)}", ast.unparse(call)
        elif isinstance(call, ast.Call) and self.fields["what"].startswith("tf."):
            hard = f"{self.fields['what']}(x)"
            if len(call.args) == 1 and not call.keywords and len(ast.unparse(call)) <= 40:
                smooth, hard = ast.unparse(call.args[0]), ast.unparse(call)
        self.fields.update(code=smooth, instead=hard)

    def _as_float(self) -> str:
        """What to write for the whole number where the source was made: ``write 3.0 instead of 3, or``."""
        numbers = [] if self.statement is None else [
            n.value for n in ast.walk(self.statement.value() or ast.Pass())
            if isinstance(n, ast.Constant) and type(n.value) is int
        ]  # fmt: skip
        return f"write {numbers[0]}.0 instead of {numbers[0]}, or " if numbers else ""

    def _only_assign(self) -> ast.Call | None:
        """The one call of the statement that assigns: of a function that was traced no more than the line is known."""
        nodes = [] if self.statement is None else self.statement.walk()
        found = [n for n in nodes if isinstance(n, ast.Call) and last_name(n.func).startswith("assign")]
        return found[0] if len(found) == 1 else None

    def _stored(self, call: ast.Call, function: ast.Attribute, early: bool) -> str:
        """A value that assign, assign_add or assign_sub stored: what to write where the variable is read."""
        variable, value = ast.unparse(function.value), ast.unparse(call.args[0]) if call.args else ""
        sign = {"assign": "", "assign_add": "+", "assign_sub": "-"}.get(function.attr)
        if len(variable) > 40:
            return ""
        self.fields.update(what=f"{variable}.{function.attr}", code=variable)
        if early:
            return "before"
        if sign is None or not value or len(value) > 40:
            return ""
        self.fields["instead"] = f"{variable} {sign} {value}" if sign else value
        return "expression"

    def _only_leaves(self, name: str) -> bool:
        """Whether the expression does nothing but let the value out: ``h.numpy()``, ``float(h)``."""
        call = self.call
        if not isinstance(call, ast.Call) or len(text := ast.unparse(call)) > 40 or name not in (*LEAVES, *_COPIES):
            return False
        method = isinstance(call.func, ast.Attribute) and not self._in_namespace(call.func)
        inner = call.func.value if method else call.args[0] if call.args else None
        of_array = (n for n in self.statement.walk() if isinstance(n, ast.Attribute) and n.value is call)
        if inner is None or any(of_array):
            return False
        self.fields.update(code=text, instead=ast.unparse(inner))
        return True

    def _in_tensorflow(self) -> str:
        """TensorFlow's function for the one of NumPy or math by which a value left; empty when there is none."""
        if not isinstance(self.call, ast.Call) or not isinstance(self.call.func, ast.Attribute):
            return ""
        text = ast.unparse(self.call.func)
        root, _, name = text.partition(".")
        module = self.statement.source.imported.get(root, "") if self.statement is not None else ""
        if module not in ("numpy", "math"):
            return ""
        if name in _OTHER:
            return _OTHER[name]
        return next((path for path in (f"tf.{name}", f"tf.math.{name}") if _exists(path)), "")

    def _assignment(self) -> str:
        """The statement that bound a name anew, written as a change of the variable."""
        node = None if self.statement is None else self.statement.node
        if not isinstance(node, (ast.Assign, ast.AugAssign)):
            return ""
        targets, values = self.statement.targets(), getattr(node.value, "elts", [node.value])
        at = self._bound_at(targets, values)
        if at is None:
            return ""
        name, value = ast.unparse(targets[at]), values[at]
        whole = value
        self.fields["what"] = name
        called = last_name(value.func) if isinstance(value, ast.Call) else ""
        if called.startswith("assign"):
            return ast.unparse(value)
        if isinstance(value, _LISTS) or called in _OTHER_SHAPE:
            return ""
        held = self.inquiry.held_variable(self.statement, itself=True)
        if not held and (name.isidentifier() or not self._from_variable()):
            return ""
        step = node.op if isinstance(node, ast.AugAssign) else None
        if isinstance(value, ast.BinOp) and ast.unparse(value.left) == name and step is None:
            step, value = value.op, value.right
        if isinstance(step, (ast.Sub, ast.Add)):
            text = f"{name}.assign_{'sub' if isinstance(step, ast.Sub) else 'add'}({ast.unparse(value)})"
        elif isinstance(node, ast.AugAssign):
            return ""
        elif isinstance(value, ast.Call) and called == "Variable" and value.args:
            text = f"{name}.assign({ast.unparse(value.args[0])})"
        else:
            text = f"{name}.assign({ast.unparse(whole)})"
        return text if len(text) <= 70 else ""

    def _from_variable(self) -> bool:
        """Whether an item or attribute was bound to what was computed from the variable that it held."""
        return self.statement.reads_itself() and self._of_variables()

    def _of_variables(self) -> bool:
        """Whether the source was computed from variables, or its name held one before."""
        if self.statement is not None and self.inquiry.held_variable(self.statement):
            return True
        node = self.inquiry.trace.of(self.source)[0]
        return any(n.variable is not None or is_state(n.origin) for n in self.inquiry.trace.ancestors([node]).values())

    def _bound_at(self, targets: list[ast.expr], values: list[ast.expr]) -> int | None:
        """Which of the values of an assignment the source got; None when that can not be told."""
        if len(targets) != len(values):
            return None
        if len(targets) == 1:
            return 0
        born = self.inquiry.born(self.source)
        at = [i for i, v in enumerate(values) if born is not None and covers(v, born.line, born.column)]
        return at[0] if len(at) == 1 else None


def _exists(path: str) -> bool:
    """Whether minitape has a function, written as the user writes it: ``tf.math.log``."""
    import minitape

    found: Any = minitape
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return callable(found) and not isinstance(found, DType)
