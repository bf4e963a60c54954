"""The source of a Python function, rewritten so that its control flow goes through :mod:`minitape.graphs.autograph`.

``if``, ``while``, ``for``, ``and``/``or``/``not``, conditional expressions and calls become calls of functions that
look whether a symbolic tensor decides, and otherwise do what Python does. ``break``, ``continue`` and ``return`` inside
of them become flags and nested conditions first. Line numbers stay, so tracebacks point to the user's file.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from .exits import LoopExits
from .syntax import Block, CanNotConvert, Liveness, assign, assigned_names, at, container, name, parse, per_block, refuse_rare, stored_parts, walk

AG = "_minitape_autograph"
_UNTOUCHED = set("super locals globals eval exec vars dir breakpoint isinstance type hasattr".split())


def _ag(function: str) -> ast.expr:
    return ast.Attribute(name(AG), function, ast.Load())


def _call(function: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_ag(function), list(args), [])


def _thunk(expression: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), expression)


def _function(label: str, arguments: str, body: Block, names: Sequence[str], declared: dict[str, str]) -> ast.stmt:
    """A nested function that assigns the surrounding function's names."""
    head: Block = []
    for kind, node in (("nonlocal", ast.Nonlocal), ("global", ast.Global)):
        own = [n for n in names if declared.get(n, "nonlocal") == kind]
        if own:
            head.append(node(own))
    body = [s for s in body if not isinstance(s, (ast.Global, ast.Nonlocal))]
    made: Any = parse(f"def {label}({arguments}): pass")[0]
    made.body = [*head, *body] or [ast.Pass()]
    return made


class _Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one statement."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        kind = "and_" if isinstance(node.op, ast.And) else "or_"
        return ast.copy_location(_call(kind, *[_thunk(v) for v in node.values]), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(_call("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            parts.append(_thunk(ast.Compare(copy.deepcopy(left), [op], [right])))
            left = right
        return ast.copy_location(_call("and_", *parts), node)


    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _UNTOUCHED:
            return node
        return ast.copy_location(ast.Call(_ag("call"), [node.func, *node.args], node.keywords), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = self.visit(node.body)
        return node


class Rewriter:
    """Rewrites one function."""

    def __init__(self) -> None:
        self.count = 0
        self.state: dict[str, None] = {}  # names that nested functions assign
        self.live = Liveness([])  # which names are read after each loop
        self.declared: dict[str, str] = {}
        self.locals: set[str] = set()
        self.taken: set[str] = set()  # the names that the function uses

    def function(self, node: Any) -> Any:
        """The function with its control flow rewritten; CanNotConvert where it has rare statements."""
        refuse_rare(node.body)
        self.taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
            n.arg for n in ast.walk(node) if isinstance(n, ast.arg)
        }
        for n in walk(node.body):
            if isinstance(n, (ast.Global, ast.Nonlocal)):
                self.declared.update(dict.fromkeys(n.names, "global" if isinstance(n, ast.Global) else "nonlocal"))
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        own = {a.arg for a in [*positional, arguments.vararg, arguments.kwarg] if a is not None}
        self.locals = {*own, *assigned_names(node.body)} - set(self.declared)
        whole = LoopExits(self._fresh).rewritten(node.body)
        self.live = Liveness(whole)
        body = self.block(whole)
        undefined = [n for n in self.state if n not in own and n not in self.declared]
        head = [s for s in body if isinstance(s, (ast.Global, ast.Nonlocal))]
        doc = body[:1] if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else []
        body = [s for s in body[len(doc) :] if s not in head]
        start = [assign(n, _call("Undefined", ast.Constant(n))) for n in undefined]
        node.body = [*doc, *head, *start, *body] or [ast.Pass()]
        node.decorator_list = [_Expressions().visit(d) for d in node.decorator_list]
        return node

    def _fresh(self, kind: str) -> str:
        """A name that the function does not use: whatever users write is theirs."""
        self.count += 1
        while f"_ag_{kind}_{self.count}" in self.taken:
            self.count += 1
        return f"_ag_{kind}_{self.count}"

    # -- statements --------------------------------------------------------------------------------

    def block(self, body: Block) -> Block:
        """A list of statements, rewritten."""
        return [made for statement in body for made in at(statement, self.statement(statement))]

    def statement(self, node: Any) -> Block:
        """One statement, rewritten."""
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.While):
            return self._while(node)
        if isinstance(node, ast.For):
            return self._for(node)
        if isinstance(node, ast.FunctionDef):
            return [self._inner(node)]
        if isinstance(node, (ast.ClassDef, ast.AsyncFunctionDef)):
            return [node]
        if isinstance(node, ast.With):
            node.items = [_Expressions().visit(i) for i in node.items]
        if isinstance(node, (ast.With, ast.Try, ast.TryStar)):
            return [per_block(node, self.block)]
        if isinstance(node, ast.Delete):
            gone = [t.id for t in node.targets if isinstance(t, ast.Name)]
            if len(gone) == len(node.targets):
                return [assign(n, _call("Undefined", ast.Constant(n))) for n in gone]
        return [_Expressions().visit(node)]

    def _inner(self, node: ast.FunctionDef) -> ast.stmt:
        """A function inside; one that cannot be rewritten, a generator say, stays as it is."""
        try:
            return Rewriter().function(copy.deepcopy(node))
        except CanNotConvert:
            return node

    def _if(self, node: ast.If) -> Block:
        returning = getattr(node, "returning", False)
        changed = _Changed(self, node, [*node.body, *node.orelse])
        then, orelse = self._fresh("then"), self._fresh("else")
        bodies = [self.block(node.body), self.block(node.orelse)]
        test = _Expressions().visit(node.test)
        call = _call("if_return" if returning else "if_stmt", test, name(then), name(orelse), changed.described())
        last: Block = [ast.Return(call) if returning else ast.Expr(call)]
        return [changed.function(then, "", bodies[0]), changed.function(orelse, "", bodies[1]), *changed.helpers, *last]

    def _while(self, node: ast.While) -> Block:
        flag, changed = getattr(node, "flag", None), _Changed(self, node, node.body)
        test_name, body_name = self._fresh("test"), self._fresh("body")
        test = _Expressions().visit(node.test)
        if flag is not None:
            test = _call("and_", _thunk(_call("not_", name(flag))), _thunk(test))
        call = _call("while_stmt", name(test_name), name(body_name), changed.described(*changed.alive_around(node)))
        return [
            _function(test_name, "", [ast.Return(test)], [], {}),
            changed.function(body_name, "", self.block(node.body)),
            *changed.helpers,
            ast.Expr(call),
        ]

    def _for(self, node: ast.For) -> Block:
        flag, body_name, given = getattr(node, "flag", None), self._fresh("body"), self._fresh("item")
        item = ast.Assign([node.target], name(given))
        changed = _Changed(self, node, [item, *node.body])
        extra: ast.expr = ast.Constant(None) if flag is None else _thunk(_call("not_", name(flag)))
        source, target = _Expressions().visit(node.iter), node.target.id if isinstance(node.target, ast.Name) else None
        names = changed.described(*changed.alive_around(node), ast.Constant(target))
        call = _call("for_stmt", source, extra, name(body_name), names)
        return [changed.function(body_name, given, [item, *self.block(node.body)]), *changed.helpers, ast.Expr(call)]


class _Changed:
    """What statements change: the names that they bind, local containers that get items, and attributes.

    ``helpers`` are the statements that make the functions which get all of their values and put them back.
    """

    def __init__(self, rewriter: Rewriter, statement: ast.stmt, nodes: Sequence[ast.stmt]) -> None:
        self.declared, self.live = rewriter.declared, rewriter.live
        self.bound, parts, alive = assigned_names(nodes), {}, self.live.before(statement)
        for part in stored_parts(nodes):
            owner = container(part)
            if owner not in self.bound:
                self.bound.append(owner)
        self.parts = [n for n in self.bound if self.declared.get(n) == "global"] + [n for n in parts if parts[n]]
        self.names = sorted({*self.bound, *self.parts})
        rewriter.state.update(dict.fromkeys(n for n in self.names if n not in [*self.declared, *self.parts]))
        self.get, self.put = rewriter._fresh("get"), rewriter._fresh("set")
        self.helpers = self._written(self.get, self.put, rewriter._fresh("values"))

    def described(self, *of_loop: ast.expr) -> ast.expr:
        """What the functions of AutoGraph are told, see :class:`minitape.graphs.values.ChangedNames`."""
        return _call("ChangedNames", name(self.get), name(self.put), _labels(self.names), *of_loop)

    def _written(self, get: str, put: str, given: str) -> Block:
        targets = "".join(f"{n}, " for n in self.names)
        values = "".join(f"{AG}.peek({n!r}, lambda: {n}), " if n in self.parts else f"{n}, " for n in self.names)
        body = [*parse(f"({targets}) = {given}")] if self.names else []
        getter = _function(get, "", parse(f"return ({values})"), [], {})
        return [getter, _function(put, given, body, self.bound, self.declared)]

    def function(self, label: str, arguments: str, body: Block) -> ast.stmt:
        """A nested function in which the names are those of the function around it."""
        return _function(label, arguments, body, self.bound, self.declared)

    def alive_around(self, loop: ast.stmt) -> list[ast.expr]:
        """The names that may be read when a turn of a loop begins, and those that may be after the loop."""
        alive = self.live.before(loop), self.live.after(loop)
        always = {*self.parts, *self.live.always}
        return [_labels([n for n in self.names if n in names or n in always]) for names in alive]


def _labels(names: Sequence[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(n) for n in names], ast.Load())


def rewritten_expression(node: ast.expr) -> ast.expr:
    """One expression with its calls, conditions and boolean operators rewritten."""
    refuse_rare([node])
    return _Expressions().visit(node)
