"""A patch carried out before it is offered: the statement, as it is and as it should be, computed from the values that
were recorded.

The derivatives must become finite and the values stay as they are where they were finite: else what a fix says are
words, and no patch.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.recording.frames import own_file
from ..flow import Flow
from ..source import Source
from ..statement import Statement, last_name, unparse
from .edit_site import REBUILDS, stepped
from .edits import numbers

if TYPE_CHECKING:
    from .edit_site import EditStep, Spot

_NUMBERS = {"number", "float", "Optional[number]", "Optional[float]"}
_ACTS = set("append backward assign print open exec eval".split())  # that do more than compute


class UnknownName(Exception):
    """What a statement computes cannot be told from the recording."""


def stays_finite(spot: Spot, steps: Sequence[EditStep]) -> bool | None:
    """Whether one edited statement computes finite values and finite derivatives. None if it cannot be run again."""
    if len(steps) != 1 or spot.dialect.derive is None:
        return None
    statement = spot.source.at(spot.filename, steps[0].first)
    if statement is None or (statement.line, statement.last) != (steps[0].first, steps[0].last):
        return None
    try:
        before, after = _value(statement.node), _value(*ast.parse(textwrap.dedent(steps[0].text)).body)
        trial = FixTrial(spot, statement)
        with np.errstate(all="ignore"):
            old, _ = trial.compute(before)
            new, gradients = trial.compute(after)
    except Exception:  # `Unknown`, a helper's own arguments, a shape that is another one: it cannot be computed alone
        return None
    if trial.recorded is not None and not _nearly_equal(trial.recorded, old):
        return None  # it computes something else by itself: a draw, a state
    # what is masked later may change
    kept = (
        np.isfinite(old)
        if trial.came is None or trial.came.shape != old.shape
        else np.isfinite(old) & (trial.came != 0)
    )
    if new.shape != old.shape or not _nearly_equal(new[kept], old[kept]):
        return False
    return bool(np.isfinite(new).all()) and all(
        gradient is None or bool(np.isfinite(gradient).all()) for gradient in gradients
    )


def _nearly_equal(recorded: np.ndarray, computed: np.ndarray) -> bool:
    return recorded.shape == computed.shape and np.allclose(recorded, computed, rtol=1e-3, atol=2e-3, equal_nan=True)


def _value(*nodes: ast.stmt) -> ast.expr:
    value = (
        getattr(nodes[0], "value", None)
        if len(nodes) == 1 and isinstance(nodes[0], (ast.Assign, ast.Return, ast.AnnAssign))
        else None
    )
    if value is None:
        raise UnknownName
    return value


def passes_gradient(spot: Spot, steps: Sequence[EditStep]) -> bool:
    """Whether the operations after the edited lines accept the new value as a tensor and pass its gradient on. Decided
    from the source text and the signatures of the functions called.
    """
    here = spot.statement if spot.blamed else None
    if (
        here is None
        or spot.dialect.name == "tf"
        or spot.answer.kind not in ("left", "cut")
        or any(step.first <= here.line <= step.last and not step.text for step in steps)
    ):
        return True
    line = here.line + sum(
        step.text.count("\n") + bool(step.text) - (step.last - step.first + 1)
        for step in steps
        if step.last < here.line
    )
    source = Source([(spot.filename, ast.parse(stepped("\n".join(spot.lines), steps)))])
    start = source.at(spot.filename, line)
    if start is None:
        return True
    flow, before = (
        Flow(start, None, [source]),
        {text for n in here.walk() if isinstance(n, ast.Call) for text in _given(n).values()},
    )
    for s in source.statements:
        for call in (n for n in s.walk() if isinstance(n, ast.Call)):
            hot = {
                a
                for a, text in _given(call).items()
                if not isinstance(a, ast.Constant) and (text not in before if s is start else flow.enters(s, a))
            }
            if hot and not _accepts_tensor(spot, source, call, hot):
                return False
    return True


def _given(call: ast.Call) -> dict[ast.expr, str]:
    """The arguments of a call, each with its text and that of the function."""
    return {a: f"{unparse(call.func)} {unparse(a)}" for a in (*call.args, *(k.value for k in call.keywords))}


def _accepts_tensor(spot: Spot, source: Source, call: ast.Call, hot: set[ast.expr]) -> bool:
    """Whether a call accepts tensors for its arguments in ``hot``. A function of the framework does if one of its
    signatures has tensors there.
    """
    name, (root, _, rest) = last_name(call.func), unparse(call.func).partition(".")
    module = "" if "(" in rest else (source.imported.get(root) or spot.dialect.modules.get(root, "")).partition(".")[0]
    if (name in REBUILDS and module != "jax") or module in ("numpy", "math", "scipy"):
        return False
    method = isinstance(call.func, ast.Attribute) and not module
    found = (
        spot.dialect.forms(name)
        if spot.dialect.forms is not None
        and (module == spot.dialect.name or (method and root != "self" and name != "norm"))
        else []
    )

    def accepts(form: list[tuple[str, str]]) -> bool:
        pairs = [
            *zip(call.args, [kind for _, kind in form[method:]], strict=False),
            *((k.value, dict(form).get(k.arg or "", "")) for k in call.keywords),
        ]
        return not any(kind in _NUMBERS if a in hot else kind == "Optional[Tensor]" and numbers(a) for a, kind in pairs)

    return not found or any(map(accepts, found))


class FixTrial:
    """One statement with the values of its names."""

    def __init__(self, spot: Spot, statement: Statement) -> None:
        self.spot, self.statement, self.entries = spot, statement, spot.inquiry.entries
        rows = [
            e.row for e in self.entries if e.kind == "operation" and statement.covers(e.site[0] or "", e.site[1] or 0)
        ]
        blamed = spot.entry.row if spot.entry is not None and spot.entry.row in rows else max(rows, default=None)
        if blamed is None:
            raise UnknownName
        self.rows = self._run_of(rows, blamed)
        self.outside = [given for row in self.rows for given in self.entries[row].inputs if given not in self.rows]
        self.recorded = self._array(self.rows[-1])
        sweep = spot.inquiry.sweep
        adjoint = None if sweep is None else sweep.adjoints.get(self.rows[-1])
        self.came = None if adjoint is None else adjoint.array()
        self.spaces = spot.inquiry._spaces()
        self._found: dict[str, int] = {}

    def _run_of(self, rows: list[int], blamed: int) -> list[int]:
        """The rows of the one time that the statement ran: those around a row without another statement's operation
        between.
        """
        last = first = rows.index(blamed)
        between = [e.row for e in self.entries if e.kind == "operation" and e.row not in set(rows)]
        apart = [(a, b) for a, b in pairwise(rows) if any(a < row < b for row in between)]
        while last + 1 < len(rows) and (rows[last], rows[last + 1]) not in apart:
            last += 1
        while first > 0 and (rows[first - 1], rows[first]) not in apart:
            first -= 1
        return rows[first : last + 1]

    def _array(self, row: int) -> Any:
        value = self.entries[row].value
        return None if value is None else value.array()

    def compute(self, node: ast.expr) -> tuple[np.ndarray, list[np.ndarray | None]]:
        """The value of an expression, and the derivatives by the values that it is computed from."""
        names = list(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))
        rows = {name: row for name in names if (row := self._row(name)) is not None}
        space: dict = {name: self._known(name) for name in names if name not in rows}
        if any(
            isinstance(n, (ast.Lambda, ast.NamedExpr, ast.Await, ast.ListComp, ast.GeneratorExp))
            for n in ast.walk(node)
        ):
            raise UnknownName
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
            root: ast.AST = call.func
            while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
                root = root.func if isinstance(root, ast.Call) else root.value
            known = space.get(root.id) if isinstance(root, ast.Name) else None
            own = (
                callable(known)
                and not inspect.ismodule(known)
                and not own_file(inspect.getsourcefile(known) or "" if inspect.isfunction(known) else "")
            )
            if (
                (own and not hasattr(builtins, getattr(root, "id", "")))
                or last_name(call.func).endswith("_")
                or last_name(call.func) in _ACTS
            ):
                raise UnknownName  # a function or a layer of the program's: it may do more than compute
        code = compile(ast.fix_missing_locations(ast.Expression(node)), self.spot.filename, "eval")
        arrays = [self._array(row) for row in rows.values()]
        if any(array is None for array in arrays) or self.spot.dialect.derive is None:
            raise UnknownName
        with self.spot.inquiry.recording.asleep():
            value, gradients = self.spot.dialect.derive(
                lambda tensors: eval(code, space | dict(zip(rows, tensors, strict=True))), arrays, self.came
            )
        return np.asarray(value, np.float64), gradients

    def _row(self, name: str) -> int | None:
        """The row of what a name stood for when the statement ran."""
        if name not in self._found and name not in self.spot.source.imported and name not in self.spot.dialect.modules:
            found = self._bound(name)
            if found is not None:
                self._found[name] = found
        return self._found.get(name)

    def _bound(self, name: str) -> int | None:
        made = self.spot.source.last_binding(self.spot.source.key(name, self.statement.function), self.statement)
        before = self.entries[: self.rows[0]]
        found = [
            e.row
            for e in before
            if e.name == name or (made is not None and made.covers(e.site[0] or "", e.site[1] or 0))
        ]
        read = [row for row in found if row in self.outside] or found
        if read:
            return read[-1]
        values = [space[name] for space in self.spaces if name in space]
        row = next((row for value in values if (row := self.spot.inquiry.recorded(value)) is not None), None)
        left = [given for given in dict.fromkeys(self.outside) if given not in self._found.values()]
        # what comes from outside and has no other name
        parameter = row is None and not values and not hasattr(builtins, name) and len(left) == 1
        return left[0] if parameter else row

    def _known(self, name: str) -> Any:
        """What else a name stands for: a number of the program's, a module, a function."""
        for space in [*self.spaces, vars(builtins)]:
            if name in space:
                return space[name]
        module = self.spot.source.imported.get(name) or self.spot.dialect.modules.get(name, "")
        found = sys.modules.get(module)
        if found is None:
            raise UnknownName
        return getattr(found, name, found)
