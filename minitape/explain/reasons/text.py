"""The user's text: statements, what they bind, read and call, and where a value goes from one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ...engine.recording.frames import own_file
from ...recording.sites import NOWHERE, Site, cells, lines_of, without_syntax_warnings

unparse = lru_cache(10_000)(ast.unparse)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Def = ast.FunctionDef | ast.AsyncFunctionDef
PLACES = (ast.Name, ast.Attribute, ast.Subscript)  # what can be bound and read
LOOPS = (ast.For, ast.While, ast.AsyncFor)
BRANCHES = (ast.If, ast.While, ast.For, ast.Match)
CALLS = "()"  # the entry for a call among the names that a statement mentions
CALLED = ("__call__", "call", "forward")
KEEPS = set("append appendleft extend insert add update setdefault put push write fill set".split())
Key = tuple[object, str]


@dataclass(eq=False)
class Statement:
    """One statement, and the compound statements around it."""

    node: ast.stmt
    file: str
    around: tuple[Statement, ...]
    order: int
    block: int  # the same for statements that run one after the other

    def __bool__(self) -> bool:
        return bool(self.file)

    @property
    def line(self) -> int:
        """Its first line."""
        return self.node.lineno

    @property
    def last(self) -> int:
        """Its last line."""
        return self.node.end_lineno or self.node.lineno

    @property
    def site(self) -> Site:
        """Its place."""
        return self.file, self.node.lineno

    def covers(self, site: Site) -> bool:
        """Whether a place is in it."""
        return site[0] == self.file and site[1] is not None and self.line <= site[1] <= self.last

    @property
    def functions(self) -> list[Def]:
        """The functions around it, the innermost first."""
        return [s.node for s in reversed(self.around) if isinstance(s.node, FUNCTIONS)]

    @property
    def function(self) -> str:
        """The name of the innermost."""
        return next((f.name for f in self.functions), "")

    @property
    def in_class(self) -> str:
        """The class around it."""
        return next((s.node.name for s in reversed(self.around) if isinstance(s.node, ast.ClassDef)), "")

    @property
    def loops(self) -> list[Statement]:
        """The loops around it, in the same function."""
        return [s for s in self.around if isinstance(s.node, LOOPS) and s.functions == self.functions]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The syntax of its own expressions, the outer ones first: of a compound statement its header."""
        found: list[ast.AST] = [self.node]
        for node in found:
            inner = (ast.stmt, ast.ExceptHandler, ast.match_case) if node is self.node else ()
            found += [one for one in ast.iter_child_nodes(node) if not isinstance(one, inner)]
        return found

    @cached_property
    def targets(self) -> list[ast.expr]:
        """What it binds, tuples taken apart."""
        inner = {id(n) for c in self.nodes if isinstance(c, ast.comprehension) for n in ast.walk(c.target)}
        stores = [n for n in self.nodes if isinstance(n, PLACES) and isinstance(n.ctx, ast.Store)]
        return [n for n in stores if id(n) not in inner]

    @cached_property
    def binds(self) -> list[str]:
        """The texts of that."""
        return [unparse(n) for n in self.targets]

    @cached_property
    def value(self) -> ast.expr | None:
        """The right of an assignment."""
        return self.node.value if isinstance(self.node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else None

    @cached_property
    def reads(self) -> set[str]:
        """The names, attributes and items that it reads."""
        again = self.binds if isinstance(self.node, ast.AugAssign) else []
        return {unparse(n) for n in self.nodes if isinstance(n, PLACES) and isinstance(n.ctx, ast.Load)} | {*again}

    @property
    def calls(self) -> list[ast.Call]:
        """Its calls, the outermost first."""
        return [n for n in self.nodes if isinstance(n, ast.Call)]

    def call_of(self, *names: str) -> ast.Call | None:
        """Its first call of something with one of these last names."""
        return next((n for n in self.calls if last_name(n.func) in names), None)

    def expression(self, span: tuple[int | None, ...]) -> ast.expr | None:
        """The expression whose text has a span (first and last line, first and last column).

        Of a chain of calls over several lines Python only knows where it ends.
        """
        first, last, left, right = span
        found = [n for n in self.nodes if isinstance(n, ast.expr) and (n.end_lineno, n.end_col_offset) == (last, right)]
        exact = [n for n in found if (n.lineno, n.col_offset) == (first, left)]
        return next((n for n in (*exact, *found) if n in exact or isinstance(n, ast.Call)), None)

    def within(self, *names: str) -> Statement | None:
        """The innermost block or decorated function around it that names one of these."""
        kinds = (ast.With, *FUNCTIONS)
        return next(
            (s for s in reversed(self.around) if isinstance(s.node, kinds) and names_in(s.nodes) & {*names}), None
        )


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """The names and attributes among syntax nodes."""
    return {name for n in nodes for name in (getattr(n, "id", ""), getattr(n, "attr", "")) if name}


def last_name(node: ast.AST) -> str:
    """``f`` of ``f``, ``a.b.f``; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def root_name(node: ast.AST) -> str:
    """``a`` of ``a.b.f``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return last_name(node)


@dataclass(eq=False)
class ProgramText:
    """The text of a file, or of all cells of a notebook in their order."""

    statements: list[Statement] = field(default_factory=list)
    lines: dict[Site, Statement] = field(default_factory=dict)  # the innermost statement of each
    functions: dict[str, list[Def]] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)  # name -> its module
    mentions: dict[str, list[Statement]] = field(default_factory=dict)  # by name or attribute


_programs: dict[str, tuple[dict[str, int], list[str], ProgramText]] = {}


def program(file: str | None) -> ProgramText:
    """The text that a file is, or is a cell of; empty where there is none."""
    name, known = file or "", cells()
    lines = lines_of(name)
    kept = _programs.get(name)
    if kept is None or kept[1] is not lines or kept[0] != known:
        files = sorted(known, key=known.__getitem__) if name in known else [name]
        kept = known, lines, _parsed(tuple((name, "".join(lines_of(name))) for name in files))
        _programs[name] = kept
    return kept[2]


@lru_cache(64)
def _parsed(texts: tuple[tuple[str, str], ...]) -> ProgramText:
    found = ProgramText()

    def visit(body: Iterable[ast.stmt], file: str, around: tuple[Statement, ...]) -> None:
        block = len(found.statements) if around else -1  # the cells of a notebook run one after the other
        for node in body:
            one = Statement(node, file, around, len(found.statements), block)
            found.statements.append(one)
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            found.lines.update(dict.fromkeys(((file, line) for line in range(first, one.last + 1)), one))
            for name in names_in(one.nodes) | ({CALLS} if one.calls else set()):
                found.mentions.setdefault(name, []).append(one)
            if isinstance(node, FUNCTIONS):
                for name in {node.name, one.in_class if node.name == "__init__" else node.name}:
                    found.functions.setdefault(name, []).append(node)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                module = getattr(node, "module", None)
                found.imported.update(
                    (a.asname or (a.name if module else a.name.split(".")[0]), module or a.name) for a in node.names
                )
            for name in ("body", "orelse", "finalbody"):
                visit(getattr(node, name, None) or (), file, (*around, one))
            for part in getattr(node, "handlers", ()) or getattr(node, "cases", ()):
                visit(part.body, file, (*around, one))

    for file, text in texts:
        try:
            with without_syntax_warnings():
                visit(ast.parse(text).body, file, ())
        except (SyntaxError, ValueError, RecursionError):
            pass
    return found


def statements(file: str | None) -> list[Statement]:
    """The statements of a file, or of all cells of a notebook in their order; none where there is no text."""
    return program(file).statements


NOTHING = Statement(ast.Pass(lineno=0, end_lineno=0), "", (), -1, -1)


def at(site: Site) -> Statement:
    """The innermost statement at a place; one that has nothing, and is false, where none is known."""
    return program(site[0]).lines.get((site[0], site[1]), NOTHING)


def named_call(site: Site) -> str:
    """The last name of what is called at a place whose columns are known."""
    statement, place = at(site), getattr(site, "place", None)
    call = None if place is None else statement.expression(place.span)
    return last_name(call.func) if isinstance(call, ast.Call) else ""


def operands(site: Site, operation: str) -> list[ast.expr]:
    """The two sides of an operator, or the first two arguments of a function, that ran an operation, where the text of
    a place has one alone.
    """
    statement = at(site)
    nodes = [] if statement is None else statement.nodes
    signs = [
        [n.left, n.right]
        for n in nodes
        if isinstance(n, ast.BinOp) and type(n.op).__name__.lower()[:3] in operation.lower()
    ]
    found = signs or [n.args[:2] for n in nodes if isinstance(n, ast.Call) and len(n.args) > 1]
    return found[0] if len(found) == 1 else []


def parsed(text: str) -> Any:
    """The syntax of an expression."""
    return ast.parse(text, mode="eval").body


def rewritten(node: ast.AST, swap: Callable[[ast.AST], ast.AST | None]) -> Any:
    """A copy of a syntax tree with some of its nodes swapped for others."""
    found = swap(node)
    if found is not None:
        return found
    new = copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            value = rewritten(value, swap)
        elif isinstance(value, list):
            value = [rewritten(v, swap) if isinstance(v, ast.AST) else v for v in value]
        setattr(new, name, value)
    return new


def bound_by(text: str, like: Statement) -> list[Statement]:
    """The statements that bind a name in the scope of another one; an attribute of ``self`` in its class."""
    alike = key_of(text, like)
    own = text.startswith("self.")
    return [
        s
        for s in statements(like.file)
        if text in s.binds
        and (not own or s.in_class == like.in_class)
        and (not text.isidentifier() or key_of(text, s) == alike)
    ]


def attribute_site(owner: object, name: str) -> Site:
    """The line that gives an object an attribute, in the text of its class."""
    for kind in type(owner).__mro__:
        codes = (getattr(value, "__code__", None) for value in vars(kind).values())
        for s in statements(next((code.co_filename for code in codes if code is not None), None)):
            method = [arg.arg for function in s.functions[:1] for arg in function.args.args[:1]]
            if s.in_class == kind.__name__ and method and f"{method[0]}.{name}" in s.binds:
                return s.site
    return NOWHERE


@lru_cache(512)
def _locals(function: ast.FunctionDef) -> set[str]:
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    outside = {name for n in ast.walk(function) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    return {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)} | stored - outside


def key_of(name: str, where: Statement) -> Key:
    """A name in its scope."""
    return next(((f, name) for f in where.functions if name in _locals(f)), (None, name))


def item_of(node: ast.AST) -> tuple[ast.expr | None, str]:
    """``d`` and ``"key"`` of ``d["key"]`` and ``d.get("key")``, where d is a name and the key is written there."""
    base: Any = getattr(node, "value", None) if isinstance(node, ast.Subscript) else None
    key: Any = getattr(node, "slice", None)
    if isinstance(node, ast.Call) and last_name(node.func) in ("get", "pop") and node.args:
        base, key = getattr(node.func, "value", None), node.args[0]
    known = isinstance(base, ast.Name) and isinstance(key, ast.Constant) and isinstance(key.value, str)
    return (base, key.value) if known else (None, "")


def keys_of(node: ast.AST, where: Statement) -> set[tuple[Key, str]]:
    """What a name, an attribute or an item that is bound or read is known by where values go, each with the part that
    it is: the item of a dictionary, or the class that has the attribute; empty where it may be any.
    """
    base, item = item_of(node)
    if isinstance(base, ast.Name):
        return {(key_of(base.id, where), item)}
    if isinstance(node, ast.Name):
        return {(key_of(node.id, where), "")}
    if isinstance(node, ast.Attribute):
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return {((".", node.attr), _alone(where.file, where.in_class) if own else "")}
    if isinstance(node, ast.Subscript):
        return keys_of(node.value, where)
    return set()


def parts_of(s: Statement) -> list[ast.expr | None]:
    """The value of each of the targets of an assignment."""
    parts = getattr(s.value, "elts", [])
    return parts if len(parts) == len(s.targets) > 1 else [s.value] * len(s.targets)


def _alone(file: str, name: str) -> str:
    """The name of a class of the text that has no base and is none."""
    classes = [s.node for s in statements(file) if isinstance(s.node, ast.ClassDef)]
    mine = [c for c in classes if c.name == name and not c.bases]
    return name if mine and not any(name in map(last_name, c.bases) for c in classes) else ""


# -- where a value goes ----------------------------------------------------------------------------


class Flow(NamedTuple):
    """Where a value goes: functions and classes by name, and what has the value, by which statement, as a part of
    what.
    """

    functions: dict[str, list[Def]]
    hot: dict[Key, dict[Statement, set[str]]]


def flow(start: Statement, files: Iterable[str | None], branches: bool = True) -> set[Statement]:
    """The statements that may read what left in one, or that run because of it: through names, attributes, items,
    arguments, also those that a function fills, and results of functions, exceptions, branches.
    """
    names = [start.file, *sorted({file for file in files if file and not own_file(file)} - {start.file})]
    return _flow(start, tuple({id(p): p for p in map(program, names)}.values()), branches)[0]


def enters(start: Statement, at: Statement, parts: Iterable[ast.AST]) -> bool:
    """Whether expressions of a statement read what another one of its file computes, or a call is in them there."""
    nodes = [n for part in parts for n in ast.walk(part)]
    if at is start:
        return any(isinstance(n, (ast.Call, ast.Name)) for n in nodes)
    return _reads(_flow(start, (program(start.file),), True)[1], nodes, at)


@lru_cache(256)
def _flow(start: Statement, text: tuple[ProgramText, ...], branches: bool) -> tuple[set[Statement], Flow]:
    f = Flow({}, {})
    for p in text:
        for name, made in p.functions.items():
            f.functions.setdefault(name, []).extend(made)
    reached, waiting = set[Statement](), [start]
    while waiting:
        reached.update(waiting)
        fresh, inner = set[str](), list[Statement]()
        for s in waiting:
            for key, part in _given(f, s, s is start):
                f.hot.setdefault(key, {}).setdefault(s, set()).add(part)
                fresh.add(key[1] or CALLS)
            if branches and isinstance(s.node, BRANCHES):
                inner += [one for one in statements(s.file)[s.order + 1 :] if s in one.around]
        met = {s: None for name in fresh for p in text for s in p.mentions.get(name, ())}
        waiting = [s for s in met if s not in reached and _reads(f, s.nodes, s)]
        waiting = [*dict.fromkeys([*waiting, *(s for s in inner if s not in reached)])]
    return reached, f


def _reads(f: Flow, nodes: Iterable[ast.AST], where: Statement) -> bool:
    nodes = list(nodes)
    within = {id(item_of(n)[0]) for n in nodes}  # of an item not the whole
    for n in nodes:
        loads = isinstance(getattr(n, "ctx", None), ast.Load) and id(n) not in within
        for key, part in keys_of(n, where) if loads or (isinstance(n, ast.Call) and item_of(n)[1]) else ():
            for given, parts in f.hot.get(key, {}).items():
                if (not part or parts & {part, ""}) and not _bound_over(key, given, where):
                    return True
        if isinstance(n, ast.Name) and n.id in f.functions and loads and (CALLS, n.id) in f.hot:
            return True  # it is called elsewhere: ``pool.map(f, ...)``
        if isinstance(n, ast.Call):
            name, of_another = last_name(n.func), isinstance(n.func, ast.Attribute) and root_name(n.func) != "self"
            if (CALLS, name) in f.hot or ("fills", name) in f.hot:
                return True
            if not of_another and name not in f.functions and (CALLS, "") in f.hot:
                return True
    return False


def _bound_over(key: Key, given: Statement, reader: Statement) -> bool:
    """Whether a name is certainly bound anew between the statement that gave it a value and one that reads it."""
    between = (s for s in statements(given.file)[given.order + 1 : reader.order] if key[1] in s.binds)
    return (given.functions == reader.functions and key[0] != ".") and any(
        {*s.around} <= {*reader.around} and not isinstance(s.node, ast.AugAssign) for s in between
    )


def _given(f: Flow, s: Statement, start: bool) -> set[tuple[Key, str]]:
    """What gets the value in a statement that reads it."""
    found: set[tuple[Key, str]] = set()
    plain = set[Key]()
    for target in s.targets:
        found |= keys_of(target, s)
    if isinstance(s.node, FUNCTIONS):
        plain |= {(s.node, a.arg) for a in (*s.node.args.args, *s.node.args.kwonlyargs)}
    if isinstance(s.node, ast.Return) or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in s.nodes):
        plain |= {(CALLS, s.function)} | ({(CALLS, "")} if s.function in CALLED else set())
        found.add(((".", s.function), ""))
    for call in s.calls:
        values = [*call.args, *(k.value for k in call.keywords)]
        read = [v for v in values if start or _reads(f, ast.walk(v), s)]
        name = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and name in KEEPS and read:
            found |= keys_of(call.func.value, s)
        for function in f.functions.get(name, ()):
            names = [a.arg for a in function.args.args]
            names = names[1:] if names[:1] == ["self"] else names
            pairs = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
            plain |= {(function, str(name)) for name, v in pairs if v in read}
            filled = {key[1] for key in f.hot if key[0] is function and ("fills", function.name) in f.hot}
            found |= {key for name, v in pairs if name in filled for key in keys_of(v, s)}
    inner = {root_name(target) for target in s.targets if not isinstance(target, ast.Name)}
    inner |= {root_name(c.func) for c in s.calls if last_name(c.func) in KEEPS}
    if s.functions and inner & {a.arg for a in s.functions[0].args.args} - {"self"}:
        plain.add(("fills", s.function))
    return found | {(key, "") for key in plain}
