"""Where a Python value flows: through names, attributes, containers, calls and branches of the user's text.

The recording sees tensors only. A value that left as a float or a NumPy array travels through names, lists and helper
functions before it comes back as a constant; that part of its way is followed here, in the syntax tree. The analysis is
coarse on purpose (it knows no order of statements and merges all objects' attributes of a name): it only decides which
of the exits that did happen can have led to a constant that was made.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Any

from .source import Key, Source, Statement, last_name, parameters

_BUILTINS = frozenset(dir(builtins))
_MUTATORS = {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "put", "push", "write", "fill"}
# what a model does with values that leave is to report them: they are in what the call returns, not in the model
_REPORTS = {"fit", "evaluate", "predict", "predict_on_batch", "train_on_batch", "test_on_batch"}
_LOOKS = ("assert", "print", "plot", "show", "log")  # how the names begin of functions that only look at what they get
_SHOWS = {"matplotlib", "seaborn", "plotly", "logging", "warnings", "tqdm", "wandb", "mlflow", "pprint", "sys", "time",
          "tensorflow", "keras", "minitape", "IPython", "rich"}  # modules whose functions change no argument  # fmt: skip


class Flow:
    """Where the value that left at one expression may go, within the given sources.

    ``origin`` is the expression of the statement ``start`` by which it left; without one the whole statement counts.
    """

    def __init__(self, start: Statement, origin: ast.AST | None, sources: list[Source]) -> None:
        self.start, self.origin, self.sources = start, origin, sources
        self.tainted: set[Key] = set()
        self._known = {name for source in sources for name in source.functions}
        self._classes = {name for source in sources for name in source.classes}
        self._taint(start)
        changed = True
        while changed:
            before = len(self.tainted)
            for source in sources:
                for statement in source.statements:
                    if self.reaches(statement):
                        self._taint(statement)
            changed = len(self.tainted) > before

    def reaches(self, statement: Statement) -> bool:
        """True when ``statement`` may read the value, or a branch that did decides whether it runs."""
        if statement is self.start or any(self._is_tainted(node, statement) for node in statement.reads()):
            return True
        for outer in statement.around:
            branches = isinstance(outer.node, (ast.If, ast.While, ast.For, ast.Match))
            if branches and (outer is self.start or any(self._is_tainted(n, outer) for n in outer.reads())):
                return True
        return False

    def _is_tainted(self, node: ast.AST, statement: Statement) -> bool:
        if node is self.origin:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            key = statement.source.key(node.id, statement.function)
            return key in self.tainted or ("returns", node.id) in self.tainted
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            return ("attribute", node.attr) in self.tainted or ("returns", node.attr) in self.tainted
        if isinstance(node, ast.Call) and ("returns", "__call__") in self.tainted:
            name = last_name(node.func)
            known = name in self._known or name in self._classes or name in _BUILTINS
            return not known and (isinstance(node.func, ast.Name) or _root(node.func) == "self")
        return False

    # -- what a statement hands on ------------------------------------------------------------------------------------

    def _taint(self, statement: Statement) -> None:
        function = statement.function
        for target in statement.targets():
            self._taint_target(target, statement)
        node = statement.node
        if isinstance(node, ast.Return) and function is not None:
            self.tainted.add(("returns", function.name))
            if function.name in ("call", "forward"):  # what an object does when it is called
                self.tainted.add(("returns", "__call__"))
        for inner in statement.walk():
            if isinstance(inner, (ast.Yield, ast.YieldFrom)) and function is not None:
                self.tainted.add(("returns", function.name))
            if isinstance(inner, ast.Call):
                self._taint_call(inner, statement)

    def _taint_target(self, target: Any, statement: Statement) -> None:
        if isinstance(target, ast.Name):
            if not self._is_module(target.id, statement.source):
                self.tainted.add(statement.source.key(target.id, statement.function))
        elif isinstance(target, ast.Attribute):
            self.tainted.add(("attribute", target.attr))
        elif isinstance(target, ast.Subscript):
            self._taint_target(target.value, statement)

    def _is_module(self, name: str, source: Source) -> bool:
        """Whether a name is imported and none of the sources binds it: a module, or a function of a library."""
        return name in source.imported and not any(name in other.bound for other in self.sources)

    def _taint_call(self, call: ast.Call, statement: Statement) -> None:
        """A call hands tainted arguments on: to the parameters of a function of the user's, or into a container."""
        whole = call is self.origin or (self.origin is None and statement is self.start)
        arguments = [(None, a) for a in call.args] + [(k.arg, k.value) for k in call.keywords]
        hot = [
            (i, name) for i, (name, value) in enumerate(arguments)
            if whole or any(self._is_tainted(n, statement) for n in ast.walk(value))
        ]  # fmt: skip
        if not hot:
            return
        name = last_name(call.func)
        changes = self._may_change(call, statement)
        if isinstance(call.func, ast.Attribute) and (name in _MUTATORS or changes):
            self._taint_target(call.func.value, statement)
        if changes and self._has_no_object(call, statement):  # np.copyto(target, value), pickle.dump(value, file)
            for value in call.args:
                self._taint_target(value, statement)
        wanted = "__init__" if name in self._classes else name
        for function in self._functions(wanted):
            self._taint_parameters(function, call, hot)

    def _taint_parameters(self, function: Any, call: ast.Call, hot: list[tuple[int, str | None]]) -> None:
        names = parameters(function)
        if names[:1] == ["self"]:
            names = names[1:]
        if any(isinstance(a, ast.Starred) for a in call.args):
            self.tainted.update((id(function), n) for n in names)
        for i, keyword in hot:
            if keyword is not None:
                self.tainted.add((id(function), keyword))
            elif i < len(names):
                self.tainted.add((id(function), names[i]))

    def _functions(self, name: str) -> Iterator[Any]:
        for source in self.sources:
            yield from source.functions.get(name, ())

    def _may_change(self, call: ast.Call, statement: Statement) -> bool:
        """Whether a call stands alone, as one that changes something does, and is not there to report or to show."""
        alone = isinstance(statement.node, ast.Expr) and statement.node.value is call
        name = last_name(call.func)
        if not alone or name in _REPORTS or name in self._known or name in _BUILTINS or name.startswith(_LOOKS):
            return False
        return statement.source.imported.get(_root(call.func), "").split(".")[0] not in _SHOWS

    def _has_no_object(self, call: ast.Call, statement: Statement) -> bool:
        """Whether a call is that of a function, not of an object's method: then an argument is what it changes."""
        return isinstance(call.func, ast.Name) or self._is_module(_root(call.func), statement.source)


def _root(node: Any) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
