"""One statement of the user's text, and what its syntax says: what it reads, binds and calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from .source import Source

Def = ast.FunctionDef | ast.AsyncFunctionDef
unparse = lru_cache(10_000)(ast.unparse)

_COMPOUND = (
    ast.If,
    ast.While,
    ast.For,
    ast.AsyncFor,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Match,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)

CALLS = "()"  # the entry for a call among the names that a statement mentions


Owner = TypeVar("Owner")
Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def once(ask: Callable[Concatenate[Owner, Asked], Answer]) -> Callable[Concatenate[Owner, Asked], Answer]:
    """A method that caches its result for each of its arguments.

    >>> class Book:
    ...     @once
    ...     def title(self):
    ...         print("looks")
    ...         return "Emma"
    >>> book = Book()
    >>> book.title() + book.title()
    looks
    'EmmaEmma'
    """
    name = f"_{ask.__qualname__}"

    @wraps(ask)
    def answer(self: Owner, *asked: Asked.args, **named: Asked.kwargs) -> Answer:
        known, key = self.__dict__.setdefault(name, {}), (*asked, *named.items())
        if key not in known:
            known[key] = ask(self, *asked, **named)
        return known[key]

    return answer


class Statement:
    """One statement: its syntax, the function it is in (None at the top) and the compound statements around it."""

    def __init__(
        self,
        node: ast.stmt,
        function: Def | None,
        around: tuple[Statement, ...],
        source: Source,
        filename: str,
        block: int,
    ) -> None:
        self.node, self.function, self.around, self.source = node, function, around, source
        self.filename = filename
        self.order = len(source.statements)  # later statements have larger ones, across the cells of a notebook too
        self.block = block  # the same for statements that run one after the other

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
        """The class whose body contains it; None if there is none."""
        return next((s.node.name for s in reversed(self.around) if isinstance(s.node, ast.ClassDef)), "")

    def covers(self, filename: str | None, line: int | None) -> bool:
        """Whether a line of a file belongs to it."""
        return filename == self.filename and line is not None and self.line <= line <= self.last

    def in_body(self, line: int) -> bool:
        """Whether a line of a compound statement lies below its header (of traced code the columns are not known)."""
        body = getattr(self.node, "body", [])
        return bool(body) and self.line < body[0].lineno <= line

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
        elif isinstance(node, FUNCTIONS):
            yield from (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults))
        elif not isinstance(node, _COMPOUND):
            yield node

    @once
    def walk(self) -> list[ast.AST]:
        """Every syntax node of its own expressions, the outer ones first."""
        return [node for part in self.parts() for node in ast.walk(part)]

    @once
    def reads(self) -> list[ast.AST]:
        """What it reads, see :func:`reads_of`, and its calls."""
        return reads_of(self.walk())

    def mentions(self) -> set[str]:
        """The names and attributes in its own expressions, with ``CALLS`` where it calls something."""
        found = {CALLS for n in self.walk() if isinstance(n, ast.Call)}
        return found | {
            getattr(n, field) for n in self.walk() for field in ("id", "attr", "arg") if getattr(n, field, None)
        }

    @once
    def loops(self) -> list[Statement]:
        """The loops around it, in the same function."""
        return [s for s in self.around if isinstance(s.node, LOOPS) and s.function is self.function]

    def computes_with(self, name: str) -> bool:
        """Whether it reads something by this name, other than to list it."""
        listed = {e for n in self.walk() if isinstance(n, (ast.List, ast.Tuple)) for e in n.elts}
        return any(unparse(n) == name and n not in listed for n in self.reads())

    def in_branch(self, name: str) -> bool:
        """Whether it runs under a condition alone, or what reads this name in it does."""
        if any(isinstance(s.node, (ast.If, ast.Match)) and s.function is self.function for s in self.around):
            return True
        chosen = {
            n for e in self.walk() if isinstance(e, ast.IfExp) for part in (e.body, e.orelse) for n in ast.walk(part)
        }
        return all(n in chosen for n in self.reads() if unparse(n) == name)

    def before(self, other: Statement) -> bool:
        """Whether it has always run when another statement of the same function runs."""
        if self.order >= other.order:
            return False
        if isinstance(self.node, LOOPS):  # its targets are bound in its body
            return self in other.around
        return any(self.block == s.block for s in (other, *other.around))

    def expression(self, span: tuple[int | None, ...]) -> ast.expr | None:
        """The expression whose text has a span (first and last line, first and last column).

        Of a chain of calls over several lines Python only knows where it ends.
        """
        first, last, left, right = span
        found = [
            n for n in self.walk() if isinstance(n, ast.expr) and (n.end_lineno, n.end_col_offset) == (last, right)
        ]
        exact = [n for n in found if (n.lineno, n.col_offset) == (first, left)]
        return next((n for n in (*exact, *found) if n in exact or isinstance(n, ast.Call)), None)

    @once
    def targets(self) -> list[ast.expr]:
        """What it binds, tuples taken apart."""
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

    @once
    def binds(self) -> list[str]:
        """The texts of what it binds: names, attributes, items; of PyTorch's ``self.register_buffer("mean", t)``
        ``self.mean``.
        """
        call = self.node.value if isinstance(self.node, ast.Expr) else None
        name = next(iter(call.args), None) if isinstance(call, ast.Call) else None
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "register_buffer"
            and isinstance(name, ast.Constant)
        ):
            return [f"{unparse(call.func.value)}.{name.value!s}"]
        return [unparse(t) for t in self.targets()]

    def name_at(self, line: int, column: int) -> str:
        """What is bound to the part of the value that is at a place: ``b`` for 2.0 in ``a, b = f(1.0), f(2.0)``."""
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

    @once
    def reads_itself(self) -> bool:
        """True for an assignment like ``x = x + 1`` or ``x += 1``."""
        value = self.value()
        nodes = () if value is None else ast.walk(value)
        read = {unparse(n) for n in nodes if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))}
        return isinstance(self.node, ast.AugAssign) or any(text in read for text in self.binds())

    def within(self, *names: str) -> bool:
        """Whether it is in a block, or in a function with a decorator, of one of these names."""
        return any(isinstance(s.node, (ast.With, *FUNCTIONS)) and s.mentions() & set(names) for s in self.around)

    def is_read(self) -> bool:
        """Whether some statement goes on with what this one computes."""
        bound = set(self.binds())
        others = [s for s in self.source.statements if s is not self]
        return not isinstance(self.node, ast.Assign) or any(bound & {unparse(n) for n in s.reads()} for s in others)

    def returned_at(self) -> tuple[str, int]:
        """The file and line that computes what this one binds: of a function of the text the only line that returns a
        value.
        """
        call = self.value()
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        returns = [
            s
            for function in self.source.functions.get(name, ())
            for s in self.source.statements
            if s.function is function and isinstance(s.node, ast.Return) and not isinstance(s.node.value, ast.Name)
        ]
        only = returns[0] if len(returns) == 1 else self
        return only.filename, only.line

    def calls(self, *names: str) -> bool:
        """True when it calls something of one of these last names."""
        return any(isinstance(n, ast.Call) and last_name(n.func) in names for n in self.walk())

    @once
    def pairs(self) -> list[tuple[ast.expr, ast.expr | None]]:
        """What it binds, each with its part of the value: ``b`` with ``2`` in ``a, b = 1, 2``; else with all of it."""
        targets, value = self.targets(), self.value()
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        return list(zip(targets, parts if len(parts) == len(targets) > 1 else [value] * len(targets), strict=True))

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
    """The key of ``d["key"]``, or of ``d.get("key")``, where d is a name and the key a text that is written there; else
    None.
    """
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


def parameters(function: Def) -> list[str]:
    """The names of a function's parameters, in order."""
    a = function.args
    extra = [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)] + extra


def parsed(text: str) -> ast.expr:
    """The syntax of an expression."""
    return ast.parse(text, mode="eval").body


def rewritten(node: ast.AST, swap: Callable[[ast.AST], ast.AST | None]) -> Any:  # the node of the class that it was
    """A copy of a syntax tree with some of its nodes swapped for others."""
    found = swap(node)
    if found is not None:
        return found
    new = type(node)()
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            value = rewritten(value, swap)
        elif isinstance(value, list):
            value = [rewritten(v, swap) if isinstance(v, ast.AST) else v for v in value]
        setattr(new, field, value)
    return new
