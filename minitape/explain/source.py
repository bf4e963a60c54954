"""What the user's source text says: which statement stands on a line, and what it binds.

The cells of a notebook are one text: they share their names, so they are read together, in the order in which they ran.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ..engine.frames import cells, compiled_before, lines_of, own_file

Key = tuple[int, str]
Def = ast.FunctionDef | ast.AsyncFunctionDef
unparse = lru_cache(10_000)(ast.unparse)

_COMPOUND = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try, ast.FunctionDef,
             ast.AsyncFunctionDef, ast.ClassDef, ast.Match)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
_BINDERS = (ast.Assign, ast.AnnAssign, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor)

CALLS = "()"  # stands among the names that a statement mentions for a call
CALLED = ("__call__", "call", "forward")  # functions that run when an object is called
RUN_ONCE = ("__init__", "__post_init__", "build")  # functions that make an object

_trees: dict[tuple[str, int], ast.Module | None] = {}  # (file name, its text) -> parsed
_sources: dict[tuple[tuple[str, int], ...], Source | None] = {}
_read: dict[str, Source | None] = {}  # by file name, while one question is answered


def source_of(filename: str) -> Source | None:
    """The parsed text of a file, or of all cells of the notebook; None when there is no text or it does not parse."""
    if filename not in _read:
        known = cells()
        names = sorted(known, key=known.__getitem__) if filename in known else [filename]
        keys = tuple((name, _parsed(name)) for name in names)
        if keys not in _sources:
            trees = [(name, tree) for name, key in keys if (tree := _trees[name, key]) is not None]
            _sources[keys] = Source(trees) if trees else None
        _read.update(dict.fromkeys(names, _sources[keys]))
    return _read[filename]


def read_again() -> None:
    """Texts may have changed: begins to answer another question."""
    _read.clear()


def _parsed(filename: str) -> int:
    """Parses the text of a file, unless that is done; returns what stands for the text."""
    text = "".join(lines_of(filename))
    key = hash(text)
    if (filename, key) not in _trees:
        try:
            with compiled_before():
                _trees[filename, key] = ast.parse(text) if text else None
        except (SyntaxError, ValueError, RecursionError):
            _trees[filename, key] = None
    return key


def sources_of(filenames: Iterable[str]) -> list[Source]:
    """The texts of some files and of the user's modules that they import."""
    found: list[Source] = []
    waiting, seen = sorted(filenames), set(filenames)
    while waiting:
        source = source_of(waiting.pop(0))
        if source is None or source in found:
            continue
        found.append(source)
        for name in set(source.imported.values()):
            file = getattr(sys.modules.get(name), "__file__", None)
            if file is not None and file not in seen and not own_file(file):
                seen.add(file)
                waiting.append(file)
    return found


class Statement:
    """One statement: its syntax, the function it stands in (None at the top) and the compound statements around it."""

    __slots__ = ("node", "function", "around", "source", "filename", "order", "block", "_targets", "_binds", "_nodes",
                 "_reads", "_pairs", "_loops", "_itself")  # fmt: skip

    def __init__(
        self, node: ast.stmt, function: Def | None, around: tuple[Statement, ...], source: Source, filename: str, block: int
    ) -> None:
        self.node, self.function, self.around, self.source = node, function, around, source
        self.filename = filename
        self.order = len(source.statements)  # later statements have larger ones, across the cells of a notebook too
        self.block = block  # the same for statements that run one after the other
        self._targets: list[ast.expr] | None = None
        self._binds: list[str] | None = None
        self._nodes: list[ast.AST] | None = None
        self._reads: list[ast.AST] | None = None
        self._pairs: list[tuple[ast.expr, ast.expr | None]] | None = None
        self._loops: list[Statement] | None = None
        self._itself: bool | None = None

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
        return filename == self.filename and self.line <= line <= self.last

    def in_body(self, line: int) -> bool:
        """Whether a line of a compound statement lies below its header (of traced code the columns are not known)."""
        body = getattr(self.node, "body", None)
        return body is not None and bool(body) and self.line < body[0].lineno <= line

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
            yield from (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults))
        elif not isinstance(node, _COMPOUND):
            yield node

    def walk(self) -> list[ast.AST]:
        """Every syntax node of its own expressions, the outer ones first."""
        if self._nodes is None:
            self._nodes = [node for part in self.parts() for node in ast.walk(part)]
        return self._nodes

    def reads(self) -> list[ast.AST]:
        """What it reads, see :func:`reads_of`, and its calls."""
        if self._reads is None:
            self._reads = reads_of(self.walk())
        return self._reads

    def mentions(self) -> set[str]:
        """The names and attributes in its own expressions, with ``CALLS`` where it calls something."""
        found = {CALLS for n in self.walk() if isinstance(n, ast.Call)}
        return found | {getattr(n, field) for n in self.walk() for field in ("id", "attr", "arg") if getattr(n, field, None)}

    def loops(self) -> list[Statement]:
        """The loops around it, in the same function."""
        if self._loops is None:
            self._loops = [s for s in self.around if isinstance(s.node, _LOOPS) and s.function is self.function]
        return self._loops

    def computes_with(self, name: str) -> bool:
        """Whether it reads something by this name, other than to list it."""
        listed = {e for n in self.walk() if isinstance(n, (ast.List, ast.Tuple)) for e in n.elts}
        return any(unparse(n) == name and n not in listed for n in self.reads())

    def in_branch(self, name: str) -> bool:
        """Whether it runs under a condition alone, or what reads this name in it does."""
        if any(isinstance(s.node, (ast.If, ast.Match)) and s.function is self.function for s in self.around):
            return True
        chosen = {n for e in self.walk() if isinstance(e, ast.IfExp) for part in (e.body, e.orelse) for n in ast.walk(part)}
        return all(n in chosen for n in self.reads() if unparse(n) == name)

    def before(self, other: Statement) -> bool:
        """Whether it has always run when another statement of the same function runs."""
        if self.order >= other.order:
            return False
        if isinstance(self.node, _LOOPS):  # its targets are bound in its body
            return self in other.around
        return any(self.block == s.block for s in (other, *other.around))

    def expression(self, span: tuple[int | None, ...]) -> ast.expr | None:
        """The expression whose text has a span (first and last line, first and last column).

        Of a chain of calls over several lines Python only knows where it ends.
        """
        first, last, left, right = span
        found = [
            n for n in self.walk()
            if isinstance(n, ast.expr) and (n.end_lineno, n.end_col_offset) == (last, right)
        ]  # fmt: skip
        exact = [n for n in found if (n.lineno, n.col_offset) == (first, left)]
        return next((n for n in (*exact, *found) if n in exact or isinstance(n, ast.Call)), None)

    def targets(self) -> list[ast.expr]:
        """What it binds, tuples taken apart."""
        if self._targets is None:
            self._targets = self._find_targets()
        return self._targets

    def _find_targets(self) -> list[ast.expr]:
        node = self.node
        found: list[ast.expr] = []
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
            self._binds = [unparse(t) for t in self.targets()]
        return self._binds

    def name_at(self, line: int, column: int) -> str:
        """What is bound to the part of the value that stands at a place: ``b`` for 2.0 in ``a, b = f(1.0), f(2.0)``."""
        targets, value = self.targets(), self.value()
        if value is None or not targets:
            return unparse(targets[0]) if targets else ""
        if isinstance(value, ast.Call):  # made on the way into the call: ``x[0]`` in ``why = tape.explain(y, x[0])``
            for part in (*value.args, *(k.value for k in value.keywords)):
                if isinstance(part, (ast.Subscript, ast.BinOp, ast.UnaryOp)) and covers(part, line, column):
                    return unparse(part)
        parts = getattr(value, "elts", None) or getattr(value, "values", None) or []
        if not isinstance(value, (ast.Tuple, ast.List, ast.Dict)):
            parts = []
        inside = [i for i, part in enumerate(parts) if covers(part, line, column)]
        if not inside:
            return unparse(targets[0])
        if isinstance(value, ast.Dict):
            key = value.keys[inside[0]]
            return f"{unparse(targets[0])}[{unparse(key)}]" if key is not None else unparse(targets[0])
        if len(targets) == len(parts) > 1:
            return unparse(targets[inside[0]])
        return f"{unparse(targets[0])}[{inside[0]}]"

    def value(self) -> ast.expr | None:
        """The expression on the right of an assignment, else None."""
        return self.node.value if isinstance(self.node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else None

    def reads_itself(self) -> bool:
        """True for an assignment like ``x = x + 1`` or ``x += 1``."""
        if self._itself is None:
            value = self.value()
            nodes = () if value is None else ast.walk(value)
            read = {unparse(n) for n in nodes if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))}
            self._itself = isinstance(self.node, ast.AugAssign) or any(text in read for text in self.binds())
        return self._itself

    def calls(self, *names: str) -> bool:
        """True when it calls something of one of these last names."""
        return any(isinstance(n, ast.Call) and last_name(n.func) in names for n in self.walk())

    def pairs(self) -> list[tuple[ast.expr, ast.expr | None]]:
        """What it binds, each with its part of the value: ``b`` with ``2`` in ``a, b = 1, 2``; else with all of it."""
        if self._pairs is None:
            targets, value = self.targets(), self.value()
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            self._pairs = list(zip(targets, parts if len(parts) == len(targets) > 1 else [value] * len(targets), strict=True))
        return self._pairs

    def makes_variable(self) -> bool:
        """True when something that it binds is a new variable itself, not an object that holds one."""
        return any(
            isinstance(part, ast.Call) and last_name(part.func) in ("Variable", "add_weight")
            for _, part in self.pairs()
        )


def reads_of(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """Of syntax nodes the names, attributes and calls that read; ``d["key"]`` of a name as one, not as its name."""
    kept: list[ast.AST] = []
    parts: set[int] = set()
    for n in nodes:
        held = holder_of(n)
        if held is not None:
            parts.add(id(held))
            kept.append(n)
        elif isinstance(n, ast.Call) or (isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load)):
            kept.append(n)
    return [n for n in kept if id(n) not in parts]


def holder_of(node: ast.AST) -> ast.expr | None:
    """The name d of ``d["key"]`` or ``d.get("key", ...)`` where the key is a text that is written there; else None."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and item_of(node) is not None:
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and item_of(node) is not None:
        return node.func.value
    return None


def item_of(node: ast.Subscript | ast.Call) -> str | None:
    """The key of ``d["key"]``, or of ``d.get("key")``, where d is a name and the key a text that is written there; else None."""
    if isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop") and node.args):
            return None
        holder, key = node.func.value, node.args[0]
    else:
        holder, key = node.value, node.slice
    if isinstance(holder, ast.Name) and isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    return None


def last_name(node: ast.AST) -> str:
    """``f`` of ``f``, ``a.b.f``; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def covers(node: ast.expr | ast.stmt, line: int, column: int) -> bool:
    """Whether a place lies inside a syntax node."""
    return (node.lineno, node.col_offset) <= (line, column) < (node.end_lineno, node.end_col_offset)


class Source:
    """The statements of one file, or of the cells of one notebook, in order."""

    def __init__(self, trees: list[tuple[str, ast.Module]]) -> None:
        self.statements: list[Statement] = []
        self._at: dict[tuple[str, int, int], Statement | None] = {}
        self.functions: dict[str, list[Def]] = {}
        self.classes: dict[str, list[str]] = {}  # class name -> names of its methods
        self.methods: dict[int, str] = {}  # function -> the class in whose body it stands
        self.related: set[str] = set()  # the classes that have, or are, a base among those of the file
        self.imported: dict[str, str] = {}  # name -> its module
        self.bound: set[str] = set()  # the names that statements and definitions bind
        self._locals: dict[int, set[str]] = {}
        self._outside: dict[int, set[str]] = {}  # names that a function declares global or nonlocal
        self._parents: dict[int, Def | None] = {}  # function -> the function around it
        self._made: dict[Key, set[str]] | None = None  # name -> the functions whose results it is bound to
        self._bindings: dict[Key, list[Statement]] | None = None  # name -> the plain statements that bind it, in order
        self._last: dict[tuple[Key, int], Statement | None] = {}  # what last_binding() found
        self._next: dict[tuple[Key, Statement], Statement | None] = {}  # what _bound_next() found
        self._of_file: dict[str, list[Statement]] = {}
        for filename, tree in trees:
            self._visit(tree.body, None, (), filename)
        for statement in self.statements:
            self._of_file.setdefault(statement.filename, []).append(statement)
            for target in statement.targets():
                if isinstance(target, ast.Name):
                    self.bound.add(target.id)
                    if statement.function is not None:
                        self._local_names(statement.function).add(target.id)

    def _visit(self, body: Iterable[ast.stmt], function: Def | None, around: tuple[Statement, ...], filename: str) -> None:
        block = len(self.statements) if around else -1  # the cells of a notebook run one after the other
        for node in body:
            statement = Statement(node, function, around, self, filename, block)
            self.statements.append(statement)
            inner = function
            if isinstance(node, (ast.Global, ast.Nonlocal)) and function is not None:
                self._outside.setdefault(id(function), set()).update(node.names)
            if isinstance(node, ast.Import):
                self.imported.update((a.asname or a.name.split(".")[0], a.name) for a in node.names)
            if isinstance(node, ast.ImportFrom):
                self.imported.update((a.asname or a.name, node.module or "") for a in node.names)
            if isinstance(node, ast.ClassDef):
                bases = self.classes.keys() & {last_name(b) for b in node.bases}
                self.related |= bases | ({node.name} if bases else set())
                self.classes.setdefault(node.name, [])
            if isinstance(node, _FUNCTIONS):
                inner = node
                self._parents[id(node)] = function
                self.functions.setdefault(node.name, []).append(node)
                if around and isinstance(around[-1].node, ast.ClassDef):
                    self.classes.setdefault(around[-1].node.name, []).append(node.name)
                    self.methods[id(node)] = around[-1].node.name
            for name in ("body", "orelse", "finalbody"):
                self._visit(getattr(node, name, None) or (), inner, (*around, statement), filename)
            for handler in getattr(node, "handlers", ()) or getattr(node, "cases", ()):
                self._visit(handler.body, inner, (*around, statement), filename)

    def _local_names(self, function: Def) -> set[str]:
        found = self._locals.get(id(function))
        if found is None:
            found = self._locals[id(function)] = set(parameters(function))
        return found

    def at(self, filename: str, line: int, column: int = -1) -> Statement | None:
        """The innermost statement on a line of a file; with a column, the one that stands there."""
        key = filename, line, column
        if key not in self._at:
            self._at[key] = self._find(filename, line, column)
        return self._at[key]

    def _find(self, filename: str, line: int, column: int) -> Statement | None:
        best = None
        for statement in self._of_file.get(filename, ()):
            node = statement.node
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if not first <= line <= statement.last or (best is not None and len(statement.around) < len(best.around)):
                continue
            if (
                column < 0 or best is None or not covers(best.node, line, column) or covers(node, line, column)
                or best.in_body(line)
            ):  # fmt: skip
                best = statement
        return best

    def key(self, name: str, function: Def | None) -> Key:
        """A name in its scope: that of the innermost function around it that binds it, else the file's."""
        while function is not None:
            if name in self._local_names(function) and name not in self._outside.get(id(function), ()):
                return id(function), name
            function = self._parents.get(id(function))
        return 0, name

    def last_binding(self, key: Key, where: Statement) -> Statement | None:
        """The last statement that has bound a name anew, without fail, when a statement of the same function runs."""
        asked = key, where.order
        if asked not in self._last:
            before = (s for s in reversed(self._bound_plainly(key)) if s.function is where.function and s.before(where))
            self._last[asked] = next(before, None)
        return self._last[asked]

    def bound_over(self, key: Key, given: Statement | None, reader: Statement) -> bool:
        """Whether a name is bound anew before control leaves the block that bound it, and the reader stands elsewhere."""
        if given is None or given.function is not reader.function:
            return False
        bound = self._bound_next(key, given)
        return bound is not None and (reader.source is not self or not given.order < reader.order <= bound.order)

    def _bound_next(self, key: Key, given: Statement) -> Statement | None:
        """The statement that binds a name anew after another one did, in its block; None where control may leave before."""
        asked = key, given
        if asked not in self._next:
            found = next((s for s in self._bound_plainly(key) if s.block == given.block and s.order > given.order
                          and not isinstance(s.node, _LOOPS)), None)  # fmt: skip
            between = () if found is None else self.statements[given.order + 1 : found.order]
            self._next[asked] = None if any(isinstance(o.node, _LEAVES) for o in between) else found
        return self._next[asked]

    def _bound_plainly(self, key: Key) -> list[Statement]:
        """The statements that bind a name, without its former value, in order."""
        if self._bindings is None:
            self._bindings = {}
            for s in self.statements:
                for target in s.targets() if isinstance(s.node, _BINDERS) else ():
                    if isinstance(target, ast.Name):
                        self._bindings.setdefault(self.key(target.id, s.function), []).append(s)
        return self._bindings.get(key, [])

    def class_of(self, name: str, where: Statement) -> str:
        """The class of which a name holds a new object wherever it is bound; empty when that cannot be told."""
        if self._made is None:
            self._made = {}
            for s in self.statements:
                for target, part in s.pairs():
                    if isinstance(target, ast.Name):
                        made = last_name(part.func) if isinstance(part, ast.Call) else ""
                        self._made.setdefault(self.key(target.id, s.function), set()).add(made)
        found = self._made.get(self.key(name, where.function), set())
        return next(iter(found)) if len(found) == 1 else ""

    def bound_by(self, text: str, like: Statement) -> list[Statement]:
        """All statements that bind ``text`` in the scope of ``like``; attributes of self in its class, others all."""
        found = [s for s in self.statements if text in s.binds()]
        if text.isidentifier():
            here = self.key(text, like.function)
            return [s for s in found if self.key(text, s.function) == here]
        if text.startswith("self."):
            found = [s for s in found if s.class_name == like.class_name]
        return found + self._from_outside(text, like)

    def _from_outside(self, text: str, like: Statement) -> list[Statement]:
        """For an attribute the statements that bind it by another name of the object: ``net.w`` for ``self.w``."""
        root, _, name = text.rpartition(".")
        if not name or not root.isidentifier():
            return []
        found = []
        for other in self.statements:
            for bound in other.binds():
                elsewhere, _, last = bound.rpartition(".")
                if last == name and elsewhere != root and "self" in (root, elsewhere) and elsewhere.isidentifier():
                    inner, outer = (like, elsewhere) if root == "self" else (other, root)
                    if inner.class_name and self._makes(inner.class_name, outer):
                        found.append(other)
        return found

    def _makes(self, class_name: str, name: str) -> bool:
        """Whether some statement binds a name to a new object of a class."""
        return any(name in s.binds() and s.calls(class_name) for s in self.statements)


def parameters(function: Def) -> list[str]:
    """The names of a function's parameters, in order."""
    a = function.args
    extra = [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)] + extra
