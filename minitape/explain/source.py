"""What the user's source text says: which statement stands on a line, what it binds, and where a Python value flows.

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

from ..frames import compiled_before, lines_of

Key = tuple[Any, str]

_MUTATORS = {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "put", "push", "write", "fill"}
_COMPOUND = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try, ast.FunctionDef,
             ast.AsyncFunctionDef, ast.ClassDef, ast.Match)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_files: dict[tuple[str, int], Source | None] = {}


def source_of(filename: str) -> Source | None:
    """The parsed text of a file or notebook cell; None when there is no text or it does not parse."""
    text = "".join(lines_of(filename))
    key = (filename, hash(text))
    if key not in _files:
        try:
            with compiled_before():
                _files[key] = Source(filename, ast.parse(text)) if text else None
        except (SyntaxError, ValueError, RecursionError):
            _files[key] = None
    return _files[key]


class Statement:
    """One statement: its syntax, the function it stands in (None at the top) and the compound statements around it."""

    __slots__ = ("node", "function", "around", "source", "_targets", "_binds")

    def __init__(self, node: ast.stmt, function: Any, around: tuple[Statement, ...], source: Source) -> None:
        self.node, self.function, self.around, self.source = node, function, around, source
        self._targets: list[ast.expr] | None = None
        self._binds: list[str] | None = None

    @property
    def line(self) -> int:
        """Its first line."""
        return self.node.lineno

    @property
    def last(self) -> int:
        """Its last line."""
        return self.node.end_lineno or self.node.lineno

    @property
    def class_name(self) -> str:
        """The class in whose body it stands, if any."""
        return next((s.node.name for s in reversed(self.around) if isinstance(s.node, ast.ClassDef)), "")

    def covers(self, filename: str, line: int) -> bool:
        """Whether a line of a file belongs to it."""
        return filename == self.source.filename and self.line <= line <= self.last

    def parts(self) -> Iterator[ast.AST]:
        """Its own expressions: of a compound statement the header only."""
        node = self.node
        if isinstance(node, (ast.If, ast.While)):
            yield node.test
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            yield node.iter
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from (item.context_expr for item in node.items)
        elif isinstance(node, ast.Match):
            yield node.subject
        elif isinstance(node, _FUNCTIONS):
            yield from node.decorator_list
        elif not isinstance(node, _COMPOUND):
            yield node

    def walk(self) -> Iterator[ast.AST]:
        """Every syntax node of its own expressions."""
        for part in self.parts():
            yield from ast.walk(part)

    def targets(self) -> list[ast.expr]:
        """What it binds, tuples taken apart."""
        if self._targets is None:
            self._targets = self._find_targets()
        return self._targets

    def _find_targets(self) -> list[ast.expr]:
        node = self.node
        found: list[Any] = []
        if isinstance(node, ast.Assign):
            found = list(node.targets)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
            found = [node.target]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            found = [i.optional_vars for i in node.items if i.optional_vars is not None]
        found += [n.target for n in self.walk() if isinstance(n, ast.NamedExpr)]
        flat: list[ast.expr] = []
        while found:
            target = found.pop(0)
            if isinstance(target, (ast.Tuple, ast.List)):
                found = [*target.elts, *found]
            else:
                flat.append(target.value if isinstance(target, ast.Starred) else target)
        return flat

    def binds(self) -> list[str]:
        """The texts of what it binds: names, attributes, items."""
        if self._binds is None:
            self._binds = [ast.unparse(t) for t in self.targets()]
        return self._binds

    def name_at(self, line: int, column: int) -> str:
        """What is bound to the part of the value that stands at a place: ``b`` for 2.0 in ``a, b = f(1.0), f(2.0)``."""
        targets, value = self.targets(), self.value()
        if value is None or not targets:
            return ast.unparse(targets[0]) if targets else ""
        if isinstance(value, ast.Call):  # made on the way into the call: ``x[0]`` in ``why = tape.explain(y, x[0])``
            for part in (*value.args, *(k.value for k in value.keywords)):
                if isinstance(part, (ast.Subscript, ast.BinOp, ast.UnaryOp)) and _covers(part, line, column):
                    return ast.unparse(part)
        parts = getattr(value, "elts", None) or getattr(value, "values", None) or []
        if not isinstance(value, (ast.Tuple, ast.List, ast.Dict)):
            parts = []
        inside = [i for i, part in enumerate(parts) if _covers(part, line, column)]
        if not inside:
            return ast.unparse(targets[0])
        if isinstance(value, ast.Dict):
            key = value.keys[inside[0]]
            return f"{ast.unparse(targets[0])}[{ast.unparse(key)}]" if key is not None else ast.unparse(targets[0])
        if len(targets) == len(parts) > 1:
            return ast.unparse(targets[inside[0]])
        return f"{ast.unparse(targets[0])}[{inside[0]}]"

    def value(self) -> Any:
        """The expression on the right of an assignment, else None."""
        return self.node.value if isinstance(self.node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else None

    def reads_itself(self) -> bool:
        """True for an assignment like ``x = x + 1`` or ``x += 1``."""
        if isinstance(self.node, ast.AugAssign):
            return True
        value = self.value()
        if value is None:
            return False
        read = {ast.unparse(n) for n in ast.walk(value) if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))}
        return any(text in read for text in self.binds())

    def calls(self, *names: str) -> bool:
        """True when it calls something of one of these last names."""
        return any(isinstance(n, ast.Call) and last_name(n.func) in names for n in self.walk())


def last_name(node: ast.AST) -> str:
    """``f`` of ``f``, ``a.b.f``; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _covers(node: Any, line: int, column: int) -> bool:
    """Whether a place lies inside a syntax node."""
    return (node.lineno, node.col_offset) <= (line, column) < (node.end_lineno, node.end_col_offset)


def _root(node: Any) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


class Source:
    """The statements of one file."""

    def __init__(self, filename: str, tree: ast.Module) -> None:
        self.filename = filename
        self.statements: list[Statement] = []
        self.functions: dict[str, list[Any]] = {}
        self.classes: dict[str, list[str]] = {}  # class name -> names of its methods
        self.imported: set[str] = set()
        self._locals: dict[int, set[str]] = {}
        self._outside: dict[int, set[str]] = {}  # names that a function declares global or nonlocal
        self._parents: dict[int, Any] = {}  # function -> the function around it
        self._visit(tree.body, None, ())
        for statement in self.statements:
            if statement.function is not None:
                for target in statement.targets():
                    if isinstance(target, ast.Name):
                        self._local_names(statement.function).add(target.id)

    def _visit(self, body: Any, function: Any, around: tuple[Statement, ...]) -> None:
        for node in body:
            statement = Statement(node, function, around, self)
            self.statements.append(statement)
            inner = function
            if isinstance(node, (ast.Global, ast.Nonlocal)) and function is not None:
                self._outside.setdefault(id(function), set()).update(node.names)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imported.update((a.asname or a.name).split(".")[0] for a in node.names)
            if isinstance(node, _FUNCTIONS):
                inner = node
                self._parents[id(node)] = function
                self.functions.setdefault(node.name, []).append(node)
                if around and isinstance(around[-1].node, ast.ClassDef):
                    self.classes.setdefault(around[-1].node.name, []).append(node.name)
            for name in ("body", "orelse", "finalbody"):
                self._visit(getattr(node, name, None) or (), inner, (*around, statement))
            for handler in getattr(node, "handlers", ()) or getattr(node, "cases", ()):
                self._visit(handler.body, inner, (*around, statement))

    def _local_names(self, function: Any) -> set[str]:
        found = self._locals.get(id(function))
        if found is None:
            found = self._locals[id(function)] = set(parameters(function))
        return found

    def at(self, line: int, column: int = -1) -> Statement | None:
        """The innermost statement on a line; with a column, the one that stands there."""
        best = None
        for statement in self.statements:
            node = statement.node
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if not first <= line <= statement.last or (best is not None and len(statement.around) < len(best.around)):
                continue
            if column < 0 or best is None or not _covers(best.node, line, column) or _covers(node, line, column):
                best = statement
        return best

    def key(self, name: str, function: Any) -> Key:
        """A name in its scope: that of the innermost function around it that binds it, else the file's."""
        while function is not None:
            if name in self._local_names(function) and name not in self._outside.get(id(function), ()):
                return id(function), name
            function = self._parents.get(id(function))
        return 0, name

    def bound_by(self, text: str, like: Statement) -> list[Statement]:
        """All statements that bind ``text`` in the scope of ``like``; attributes of self in its class, others all."""
        found = [s for s in self.statements if text in s.binds()]
        if text.isidentifier():
            here = self.key(text, like.function)
            return [s for s in found if self.key(text, s.function) == here]
        return [s for s in found if s.class_name == like.class_name] if text.startswith("self.") else found


def parameters(function: Any) -> list[str]:
    """The names of a function's parameters, in order."""
    a = function.args
    extra = [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)] + extra


class Flow:
    """Where the value made by one statement may go: through names, attributes, containers, calls and branches."""

    def __init__(self, start: Statement) -> None:
        self.source, self.start = start.source, start
        self.tainted: set[Key] = set()
        self._taint(start)
        changed = True
        while changed:
            before = len(self.tainted)
            for statement in self.source.statements:
                if self.read_by(statement):
                    self._taint(statement)
            changed = len(self.tainted) > before

    def reaches(self, statement: Statement) -> bool:
        """True when ``statement`` may use the value."""
        return statement is self.start or self.read_by(statement)

    def read_by(self, statement: Statement) -> bool:
        """True when an expression of ``statement`` reads the value, or a branch that did decides whether it runs."""
        if any(self._is_tainted(node, statement.function) for node in statement.walk()):
            return True
        for outer in statement.around:
            branches = isinstance(outer.node, (ast.If, ast.While, ast.For, ast.Match))
            if branches and (outer is self.start or any(self._is_tainted(n, outer.function) for n in outer.walk())):
                return True
        return False

    def _is_tainted(self, node: ast.AST, function: Any) -> bool:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self.source.key(node.id, function) in self.tainted or ("returns", node.id) in self.tainted
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            return ("attribute", node.attr) in self.tainted or ("returns", node.attr) in self.tainted
        if isinstance(node, ast.Call) and ("returns", "__call__") in self.tainted:
            name, known = last_name(node.func), (*self.source.functions, *self.source.classes, *dir(builtins))
            return name not in known and (isinstance(node.func, ast.Name) or _root(node.func) == "self")
        return False

    def _taint(self, statement: Statement) -> None:
        function = statement.function
        for target in statement.targets():
            self._taint_target(target, function)
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

    def _taint_target(self, target: Any, function: Any) -> None:
        if isinstance(target, ast.Name):
            if target.id not in self.source.imported:
                self.tainted.add(self.source.key(target.id, function))
        elif isinstance(target, ast.Attribute):
            self.tainted.add(("attribute", target.attr))
        elif isinstance(target, ast.Subscript):
            self._taint_target(target.value, function)

    def _taint_call(self, call: ast.Call, statement: Statement) -> None:
        """A call hands tainted arguments on: to the parameters of a function of this file, or into a container."""
        whole = statement is self.start
        arguments = [(None, a) for a in call.args] + [(k.arg, k.value) for k in call.keywords]
        hot = [
            (i, name) for i, (name, value) in enumerate(arguments)
            if whole or any(self._is_tainted(n, statement.function) for n in ast.walk(value))
        ]  # fmt: skip
        if not hot:
            return
        name = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and (name in _MUTATORS or self._may_change(call, statement)):
            self._taint_target(call.func.value, statement.function)
        if self._may_change(call, statement):  # np.copyto(target, value), pickle.dump(value, file)
            for value in call.args:
                self._taint_target(value, statement.function)
        wanted = "__init__" if name in self.source.classes else name
        for function in self.source.functions.get(wanted, []):
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

    def _may_change(self, call: ast.Call, statement: Statement) -> bool:
        """Whether a call stands alone, as one that changes something does, and is not a mere print."""
        alone = isinstance(statement.node, ast.Expr) and statement.node.value is call
        return alone and last_name(call.func) not in (*dir(builtins), *self.source.functions)
