"""The source of a Python function, rewritten so that its control flow goes through :mod:`minitape.graphs.autograph`.

``if``, ``while``, ``for``, ``and``/``or``/``not``, conditional expressions and calls become calls of functions that
look whether a symbolic tensor decides, and otherwise do what Python does. ``break``, ``continue`` and ``return`` inside
of them become flags and nested conditions first. Line numbers stay, so tracebacks point to the user's file.
"""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Iterable
from typing import Any

from .liveness import Liveness

AG = "_minitape_autograph"
_UNTOUCHED = {
    "super",
    "locals",
    "globals",
    "eval",
    "exec",
    "vars",
    "dir",
    "breakpoint",
    "isinstance",
    "type",
    "hasattr",
}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp,
           ast.GeneratorExp)  # fmt: skip


class CanNotConvert(Exception):
    """The source is not there, or uses what can not be rewritten."""


# -- looking at code --------------------------------------------------------------------------------------------------


def _walk(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """The nodes of this scope: nested functions and classes are not entered."""
    for node in nodes:
        yield node
        if not isinstance(node, _SCOPES):
            yield from _walk(ast.iter_child_nodes(node))


def _has(nodes: Iterable[ast.AST], *kinds: type) -> bool:
    return any(isinstance(n, kinds) for n in _walk(nodes))


def _loop_exits(nodes: Iterable[ast.AST], kind: type) -> bool:
    """Whether a ``break`` (or ``continue``) of this very loop is in its body."""
    for node in nodes:
        if isinstance(node, kind):
            return True
        if isinstance(node, (ast.For, ast.While, *_SCOPES)):
            continue
        if _loop_exits(ast.iter_child_nodes(node), kind):
            return True
    return False


def _assigned(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that are bound in this scope by the nodes, in order."""
    names: dict[str, None] = {}
    for node in _walk(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names[node.id] = None
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) or (isinstance(node, ast.ExceptHandler) and node.name):
            names[node.name] = None
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                names[(alias.asname or alias.name).split(".")[0]] = None
    return list(names)


def _changed_parts(nodes: Iterable[ast.AST]) -> list[str]:
    """The names of containers that get an item assigned: ``d["k"] = x``."""
    names: dict[str, None] = {}
    for node in _walk(nodes):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            names[node.value.id] = None
    return list(names)


def _falls_through(body: list[ast.stmt]) -> bool:
    """Whether the statement after ``body`` can be reached."""
    if not body:
        return True
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return False
    if isinstance(last, ast.If):
        return _falls_through(last.body) or _falls_through(last.orelse)
    if isinstance(last, ast.With):
        return _falls_through(last.body)
    return True


# -- making code ------------------------------------------------------------------------------------------------------


def _parse(text: str) -> list[ast.stmt]:
    """Statements that have no place yet."""
    body = ast.parse(textwrap.dedent(text)).body
    for node in body:
        for part in ast.walk(node):
            for name in part._attributes:
                delattr(part, name)
    return body


def _locate(node: ast.AST, line: int, column: int) -> None:
    """Gives what was made the place of what is around it: one line, so that tracebacks show where it begins."""
    if "lineno" in node._attributes:
        if not hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = column  # type: ignore[attr-defined]
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
    for child in ast.iter_child_nodes(node):
        _locate(child, line, column)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _ag(function: str) -> ast.expr:
    return ast.Attribute(_name(AG), function, ast.Load())


def _call(function: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_ag(function), list(args), [])


def _thunk(expression: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), expression)


def _constant_assign(name: str, value: Any) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))


def _function(name: str, arguments: str, body: list[ast.stmt], names: list[str], declared: dict[str, str]) -> ast.stmt:
    """A nested function that assigns the surrounding function's names."""
    head: list[ast.stmt] = []
    for kind, node in (("nonlocal", ast.Nonlocal), ("global", ast.Global)):
        own = [n for n in names if declared.get(n, "nonlocal") == kind]
        if own:
            head.append(node(own))
    body = [s for s in body if not isinstance(s, (ast.Global, ast.Nonlocal))]
    made = _parse(f"def {name}({arguments}): pass")[0]
    made.body = [*head, *body] or [ast.Pass()]  # type: ignore[attr-defined]
    return made


class _Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one statement."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if _has([node], ast.NamedExpr, ast.Yield, ast.Await):
            return node
        kind = "and_" if isinstance(node.op, ast.And) else "or_"
        return ast.copy_location(_call(kind, *[_thunk(v) for v in node.values]), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(_call("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 or _has([node], ast.NamedExpr, ast.Yield, ast.Await):
            if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                return node
            return node
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            parts.append(_thunk(ast.Compare(copy.deepcopy(left), [op], [right])))
            left = right
        return ast.copy_location(_call("and_", *parts), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if _has([node], ast.NamedExpr, ast.Yield, ast.Await):
            return node
        return ast.copy_location(_call("if_exp", node.test, _thunk(node.body), _thunk(node.orelse)), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _UNTOUCHED:
            return node
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == AG:
            return node
        return ast.copy_location(ast.Call(_ag("call"), [node.func, *node.args], node.keywords), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = self.visit(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return Rewriter().function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node


class Rewriter:
    """Rewrites one function."""

    def __init__(self) -> None:
        self.count = 0
        self.state: dict[str, None] = {}  # names that nested functions assign
        self.live = Liveness([])  # which names are read after each loop
        self.declared: dict[str, str] = {}
        self.locals: set[str] = set()

    def function(self, node: Any) -> Any:
        """The function with its control flow rewritten; generators stay as they are."""
        if _has(node.body, ast.Yield, ast.YieldFrom, ast.Await):
            return node
        for n in _walk(node.body):
            if isinstance(n, (ast.Global, ast.Nonlocal)):
                self.declared.update(dict.fromkeys(n.names, "global" if isinstance(n, ast.Global) else "nonlocal"))
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        own = {a.arg for a in [*positional, arguments.vararg, arguments.kwarg] if a is not None}
        self.locals = {*own, *_assigned(node.body)} - set(self.declared)
        whole = self.loops(self.returns(node.body))
        self.live = Liveness(whole)
        body = self.block(whole)
        undefined = [n for n in self.state if n not in own and n not in self.declared]
        head = [s for s in body if isinstance(s, (ast.Global, ast.Nonlocal))]
        doc = body[:1] if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else []
        body = [s for s in body[len(doc) :] if s not in head]
        start: list[ast.stmt] = [
            ast.Assign([ast.Name(n, ast.Store())], _call("Undefined", ast.Constant(n))) for n in undefined
        ]
        node.body = [*doc, *head, *start, *body] or [ast.Pass()]
        node.decorator_list = [_Expressions().visit(d) for d in node.decorator_list]
        return node

    def _fresh(self, kind: str) -> str:
        self.count += 1
        return f"_ag_{kind}_{self.count}"

    # -- return, break, continue --------------------------------------------------------------------------------------

    def returns(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """What follows a conditional return moves into the branches, so that returns stand at their ends."""
        out: list[ast.stmt] = []
        for at, statement in enumerate(body):
            rest = body[at + 1 :]
            if isinstance(statement, ast.If) and _has([statement], ast.Return):
                branches = []
                for branch in (statement.body, statement.orelse):
                    branches.append(self.returns([*branch, *copy.deepcopy(rest)] if _falls_through(branch) else branch))
                made = ast.copy_location(ast.If(statement.test, branches[0], branches[1]), statement)
                made.returning = True  # type: ignore[attr-defined]
                return [*out, made]
            if isinstance(statement, (ast.For, ast.While)) and _has(statement.body, ast.Return):
                flag, value = self._fresh("do_return"), self._fresh("return_value")
                statement = copy.copy(statement)
                statement.body = _return_to_break(statement.body, flag, value)
                check = _parse(f"if {flag}:\n    return {value}")[0]
                ast.copy_location(check, statement)
                ast.fix_missing_locations(check)
                start = [ast.copy_location(s, statement) for s in (_constant_assign(flag, False),)]
                return [*out, *start, statement, *self.returns([check, *rest])]
            if isinstance(statement, ast.With) and _has(statement.body, ast.Return):
                statement = copy.copy(statement)
                statement.body = self.returns(statement.body)
            out.append(statement)
        return out

    def loops(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Replaces break and continue by flags, from the innermost loop outwards."""
        out: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, _SCOPES):
                out.append(statement)
                continue
            for part in ("body", "orelse", "finalbody"):
                if isinstance(getattr(statement, part, None), list):
                    setattr(statement, part, self.loops(getattr(statement, part)))
            for handler in getattr(statement, "handlers", ()):
                handler.body = self.loops(handler.body)
            if isinstance(statement, (ast.For, ast.While)):
                out += [ast.copy_location(s, statement) for s in self._exits(statement)]
            out.append(statement)
        return out

    def _exits(self, loop: Any) -> list[ast.stmt]:
        """Takes break and continue out of one loop; returns the statements that set its flag before it starts."""
        loop.flag = None
        if _loop_exits(loop.body, ast.Continue):
            skip = self._fresh("continue")
            loop.body = [
                ast.copy_location(_constant_assign(skip, False), loop.body[0]),
                *_guarded(loop.body, ast.Continue, skip),
            ]
        if _loop_exits(loop.body, ast.Break):
            loop.flag = self._fresh("break")
            loop.body = _guarded(loop.body, ast.Break, loop.flag)
            return [_constant_assign(loop.flag, False)]
        return []

    def _later(self, loop: Any, names: list[str]) -> ast.expr:
        """The names of a loop that are read after it."""
        alive = self.live.after(loop)
        return ast.Tuple([ast.Constant(n) for n in names if n in alive], ast.Load())

    # -- statements ---------------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A list of statements, rewritten."""
        out: list[ast.stmt] = []
        for statement in body:
            made = self.statement(statement)
            for s in made:
                _locate(s, statement.lineno, statement.col_offset)
            out += made
        return out

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """One statement, rewritten."""
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.While):
            return self._while(node)
        if isinstance(node, ast.For):
            return self._for(node)
        if isinstance(node, ast.FunctionDef):
            return [Rewriter().function(node)]
        if isinstance(node, (ast.ClassDef, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)):
            return [node]
        if isinstance(node, ast.With):
            node.items = [_Expressions().visit(i) for i in node.items]
            node.body = self.block(node.body)
            return [node]
        if isinstance(node, ast.Try):
            node.body, node.orelse, node.finalbody = map(self.block, (node.body, node.orelse, node.finalbody))
            for handler in node.handlers:
                handler.body = self.block(handler.body)
            return [node]
        if isinstance(node, ast.Delete) and all(isinstance(t, ast.Name) for t in node.targets):
            undefined = [_call("Undefined", ast.Constant(t.id)) for t in node.targets]  # type: ignore[attr-defined]
            return [ast.Assign([ast.Name(t.id, ast.Store())], u) for t, u in zip(node.targets, undefined, strict=True)]  # type: ignore[attr-defined]
        return [_Expressions().visit(node)]

    def _bound(self, nodes: list[ast.stmt]) -> list[str]:
        """The names that statements bind, and the local containers that they change."""
        names = _assigned(nodes)
        return names + [n for n in _changed_parts(nodes) if n in self.locals and n not in names]

    def _names(self, nodes: list[ast.stmt]) -> list[str]:
        names = sorted(n for n in self._bound(nodes) if self.declared.get(n) != "global")
        self.state.update(dict.fromkeys(n for n in names if n not in self.declared))
        return names

    def _state_functions(self, names: list[str]) -> tuple[list[ast.stmt], str, str]:
        get, put = self._fresh("get"), self._fresh("set")
        group = "".join(f"{n}, " for n in names)
        text = f"def {get}(): return ({group})\n"
        if names:
            text += f"def {put}(values):\n    nonlocal {', '.join(names)}\n    ({group}) = values\n"
        else:
            text += f"def {put}(values): pass\n"
        return _parse(text), get, put

    def _if(self, node: ast.If) -> list[ast.stmt]:
        returning = getattr(node, "returning", False)
        everything = [*node.body, *node.orelse]
        names, assigned = self._names(everything), self._bound(everything)
        then, orelse = self._fresh("then"), self._fresh("else")
        helpers, get, put = self._state_functions(names)
        bodies = [self.block(node.body), self.block(node.orelse)]
        if returning:
            bodies = [[*b, ast.Return(_ag("MISSING"))] if _falls_through_rewritten(b) else b for b in bodies]
        test = _Expressions().visit(node.test)
        labels = ast.Tuple([ast.Constant(n) for n in names], ast.Load())
        call = _call(
            "if_return" if returning else "if_stmt", test, _name(then), _name(orelse), _name(get), _name(put), labels
        )
        last: ast.stmt = ast.Return(call) if returning else ast.Expr(call)
        return [
            _function(then, "", bodies[0], assigned, self.declared),
            _function(orelse, "", bodies[1], assigned, self.declared),
            *helpers,
            last,
        ]

    def _while(self, node: ast.While) -> list[ast.stmt]:
        body, flag = node.body, getattr(node, "flag", None)
        names, assigned = self._names(body), self._bound(body)
        later = self._later(node, names)
        test_name, body_name = self._fresh("test"), self._fresh("body")
        helpers, get, put = self._state_functions(names)
        test = _Expressions().visit(node.test)
        if flag is not None:
            test = _call("and_", _thunk(_call("not_", _name(flag))), _thunk(test))
        labels = ast.Tuple([ast.Constant(n) for n in names], ast.Load())
        call = _call("while_stmt", _name(test_name), _name(body_name), _name(get), _name(put), labels, later)
        made = [
            _function(test_name, "", [ast.Return(test)], [], {}),
            _function(body_name, "", self.block(body), assigned, self.declared),
            *helpers,
            ast.Expr(call),
        ]
        return made + self._loop_else(node, flag)

    def _for(self, node: ast.For) -> list[ast.stmt]:
        body, flag = node.body, getattr(node, "flag", None)
        everything = [ast.Assign([node.target], ast.Constant(None)), *body]
        names, assigned = self._names(everything), self._bound(everything)  # type: ignore[arg-type]
        later = self._later(node, names)
        body_name = self._fresh("body")
        helpers, get, put = self._state_functions(names)
        item = ast.Assign([node.target], _name("_ag_item"))
        inner = [item, *self.block(body)]
        labels = ast.Tuple([ast.Constant(n) for n in names], ast.Load())
        extra: ast.expr = ast.Constant(None) if flag is None else _thunk(_call("not_", _name(flag)))
        source = _Expressions().visit(node.iter)
        call = _call("for_stmt", source, extra, _name(body_name), _name(get), _name(put), labels, later)
        made = [_function(body_name, "_ag_item", inner, assigned, self.declared), *helpers, ast.Expr(call)]
        return made + self._loop_else(node, flag)

    def _loop_else(self, node: Any, flag: str | None) -> list[ast.stmt]:
        if not node.orelse:
            return []
        if flag is None:
            return self.block(node.orelse)
        made = ast.If(ast.UnaryOp(ast.Not(), _name(flag)), node.orelse, [])
        return self.block([ast.copy_location(made, node)])


def _falls_through_rewritten(body: list[ast.stmt]) -> bool:
    return not body or (
        not isinstance(body[-1], (ast.Return, ast.Raise))
        and not (isinstance(body[-1], ast.With) and not _falls_through_rewritten(body[-1].body))
    )


def _return_to_break(body: list[ast.stmt], flag: str, value: str) -> list[ast.stmt]:
    """``return x`` inside a loop: keep x, set the flag, leave the loop (and the loops around it)."""
    out: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Return):
            keep = ast.Assign([ast.Name(value, ast.Store())], statement.value or ast.Constant(None))
            out += [ast.copy_location(s, statement) for s in (keep, _constant_assign(flag, True), ast.Break())]
            return out
        if isinstance(statement, (ast.For, ast.While)) and _has(statement.body, ast.Return):
            statement = copy.copy(statement)
            statement.body = _return_to_break(statement.body, flag, value)
            after = ast.copy_location(ast.If(_name(flag), [ast.Break()], []), statement)
            ast.fix_missing_locations(after)
            out += [statement, after]
            continue
        if isinstance(statement, (ast.If, ast.With, ast.Try)):
            statement = copy.copy(statement)
            for part in ("body", "orelse", "finalbody"):
                if getattr(statement, part, None):
                    setattr(statement, part, _return_to_break(getattr(statement, part), flag, value))
        out.append(statement)
    return out


def _guarded(body: list[ast.stmt], kind: type, flag: str) -> list[ast.stmt]:
    """Replaces break or continue by setting the flag; what follows in the block runs only while it is not set."""
    out: list[ast.stmt] = []
    for at, statement in enumerate(body):
        if isinstance(statement, kind):
            return [*out, ast.copy_location(_constant_assign(flag, True), statement)]
        if not isinstance(statement, (ast.For, ast.While)) and _loop_exits([statement], kind):
            statement = copy.copy(statement)
            for part in ("body", "orelse", "finalbody"):
                if getattr(statement, part, None):
                    setattr(statement, part, _guarded(getattr(statement, part), kind, flag))
            out.append(statement)
            rest = _guarded(body[at + 1 :], kind, flag)
            if rest:
                test = ast.UnaryOp(ast.Not(), _name(flag))
                guard = ast.copy_location(ast.If(test, rest, []), body[at + 1])
                ast.fix_missing_locations(guard)
                out.append(guard)
            return out
        out.append(statement)
    return out


def rewritten_expression(node: ast.expr) -> ast.expr:
    """One expression with its calls, conditions and boolean operators rewritten."""
    return _Expressions().visit(node)
