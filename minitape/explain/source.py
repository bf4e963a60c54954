"""What the user's source text says: which statement is on a line, and where a name is bound.

The cells of a notebook are one text: they share their names, so they are read together, in the order in which they ran.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

from ..engine.recording.frames import cells, lines_of, own_file, without_syntax_warnings
from ..recording.sites import NOWHERE, Site
from .statement import FUNCTIONS, LOOPS, Def, Statement, covers, last_name, once, parameters, unparse

Key = tuple[int, str]

_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
_BINDERS = (ast.Assign, ast.AnnAssign, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor)

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


def statement_at(site: tuple[str | None, int | None]) -> Statement | None:
    """The statement at (file, line)."""
    file, line = site
    source = source_of(file) if file else None
    return None if source is None or file is None or line is None else source.at(file, line)


def attribute_site(owner: object, name: str) -> Site:
    """The line that gives an object an attribute, in the text of its class."""
    for kind in type(owner).__mro__:
        codes = (getattr(value, "__code__", None) for value in vars(kind).values())
        source = source_of(next((code.co_filename for code in codes if code is not None), ""))
        for statement in [] if source is None else source.statements:
            method = parameters(statement.function) if statement.function is not None else []
            if statement.class_name == kind.__name__ and method and f"{method[0]}.{name}" in statement.binds():
                return statement.filename, statement.line
    return NOWHERE


def dropped_at(site: Site) -> Site:
    """The line that drops what a place computes: of a value that a function returns, the only call whose result, or a
    part of it, gets a name that nothing reads.
    """
    at = statement_at(site)
    if at is None or at.function is None or not isinstance(at.node, ast.Return):
        return site
    by, statements = at.function.name, at.source.statements
    read = {"_", *(unparse(n) for s in statements for n in s.reads())}
    drops = [
        (s.filename, s.line)
        for s in statements
        if isinstance(call := s.value(), ast.Call)
        and not read.issuperset(s.binds())
        and (last_name(call.func) == by or (by in CALLED and at.source.is_object(call.func)))
    ]
    return drops[0] if len(drops) == 1 else site


def read_again() -> None:
    """Texts may have changed: begins to answer another question."""
    _read.clear()


def _parsed(filename: str) -> int:
    """Parses the text of a file, unless that is done; returns what stands for the text."""
    text = "".join(lines_of(filename))
    key = hash(text)
    if (filename, key) not in _trees:
        try:
            with without_syntax_warnings():
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


class Source:
    """The statements of one file, or of the cells of one notebook, in order."""

    def __init__(self, trees: list[tuple[str, ast.Module]]) -> None:
        self.statements: list[Statement] = []
        self.functions: dict[str, list[Def]] = {}
        self.classes: set[str] = set()
        self.methods: dict[int, str] = {}  # function -> the class that defines it
        self.related: set[str] = set()  # the classes that have, or are, a base among those of the file
        self.imported: dict[str, str] = {}  # name -> its module
        self.bound: set[str] = set()  # the names that statements and definitions bind
        self._locals: dict[int, set[str]] = {}
        self._outside: dict[int, set[str]] = {}  # names that a function declares global or nonlocal
        self._parents: dict[int, Def | None] = {}  # function -> the function around it
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

    def _visit(
        self, body: Iterable[ast.stmt], function: Def | None, around: tuple[Statement, ...], filename: str
    ) -> None:
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
                bases = self.classes & {last_name(b) for b in node.bases}
                self.related |= bases | ({node.name} if bases else set())
                self.classes.add(node.name)
            if isinstance(node, FUNCTIONS):
                inner = node
                self._parents[id(node)] = function
                self.functions.setdefault(node.name, []).append(node)
                if around and isinstance(around[-1].node, ast.ClassDef):
                    self.methods[id(node)] = around[-1].node.name
            for name in ("body", "orelse", "finalbody"):
                self._visit(getattr(node, name, None) or (), inner, (*around, statement), filename)
            for handler in getattr(node, "handlers", ()) or getattr(node, "cases", ()):
                self._visit(handler.body, inner, (*around, statement), filename)

    def aliases(self, *packages: str) -> set[str]:
        """What the program calls these packages, their parts, and what it imports from them."""
        return {name for name, module in self.imported.items() if module.partition(".")[0] in packages}

    def _local_names(self, function: Def) -> set[str]:
        found = self._locals.get(id(function))
        if found is None:
            found = self._locals[id(function)] = set(parameters(function))
        return found

    @once
    def at(self, filename: str, line: int, column: int = -1) -> Statement | None:
        """The innermost statement on a line of a file; with a column, the one that is there."""
        best = None
        for statement in self._of_file.get(filename, ()):
            node = statement.node
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if not first <= line <= statement.last or (best is not None and len(statement.around) < len(best.around)):
                continue
            if (
                column < 0
                or best is None
                or not covers(best.node, line, column)
                or covers(node, line, column)
                or best.in_body(line)
            ):
                best = statement
        return best

    def key(self, name: str, function: Def | None) -> Key:
        """A name in its scope: that of the innermost function around it that binds it, else the file's."""
        while function is not None:
            if name in self._local_names(function) and name not in self._outside.get(id(function), ()):
                return id(function), name
            function = self._parents.get(id(function))
        return 0, name

    @once
    def last_binding(self, key: Key, where: Statement) -> Statement | None:
        """The last statement that has bound a name anew, without fail, when a statement of the same function runs."""
        return next(
            (s for s in reversed(self._bindings().get(key, ())) if s.function is where.function and s.before(where)),
            None,
        )

    def bound_over(self, key: Key, given: Statement | None, reader: Statement) -> bool:
        """Whether a name is bound anew before control leaves the block that bound it, and the reader is
        elsewhere.
        """
        if given is None or given.function is not reader.function:
            return False
        bound = self._bound_next(key, given)
        return bound is not None and (reader.source is not self or not given.order < reader.order <= bound.order)

    @once
    def _bound_next(self, key: Key, given: Statement) -> Statement | None:
        """The statement that binds a name anew after another one did, in its block; None where control may leave
        before.
        """
        later = (
            s
            for s in self._bindings().get(key, ())
            if s.block == given.block and s.order > given.order and not isinstance(s.node, LOOPS)
        )
        found = next(later, None)
        between = () if found is None else self.statements[given.order + 1 : found.order]
        return None if any(isinstance(o.node, _LEAVES) for o in between) else found

    @once
    def _bindings(self) -> dict[Key, list[Statement]]:
        """By name the statements that bind it, without its former value, in order."""
        found: dict[Key, list[Statement]] = {}
        for s in self.statements:
            for target in s.targets() if isinstance(s.node, _BINDERS) else ():
                if isinstance(target, ast.Name):
                    found.setdefault(self.key(target.id, s.function), []).append(s)
        return found

    def class_of(self, name: str, where: Statement) -> str:
        """The class whose new object a name holds wherever it is bound; empty where that is unknown."""
        found = self._made().get(self.key(name, where.function), set())
        return next(iter(found)) if len(found) == 1 else ""

    @once
    def _made(self) -> dict[Key, set[str]]:
        """By name the functions whose results it is bound to."""
        found: dict[Key, set[str]] = {}
        for s in self.statements:
            for target, part in s.pairs():
                if isinstance(target, ast.Name):
                    made = last_name(part.func) if isinstance(part, ast.Call) else ""
                    found.setdefault(self.key(target.id, s.function), set()).add(made)
        return found

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

    def is_object(self, called: ast.expr) -> bool:
        """Whether what is called is a name, or an attribute of self, and no function or class of the text or a module,
        as far as that tells.
        """
        name = unparse(called).removeprefix("self.")
        return name.isidentifier() and not any(name in known for known in (self.functions, self.imported, self.classes))

    def _makes(self, class_name: str, name: str) -> bool:
        """Whether some statement binds a name to a new object of a class."""
        return any(name in s.binds() and s.calls(class_name) for s in self.statements)
