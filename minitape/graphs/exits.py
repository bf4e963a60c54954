"""``return``, ``break`` and ``continue`` inside of other statements, as flags and conditions.

Statements inside of ``if``, ``while`` and ``for`` become nested functions, out of which these cannot lead. Returns move
to the ends of branches, or set a flag that the statements behind them ask; so do ``break`` and ``continue``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from .syntax import (
    LOOPS,
    SCOPES,
    Block,
    RareStatement,
    assign,
    at,
    blocks,
    falls_through,
    has,
    name,
    parse,
    per_block,
    unless,
)


class LoopExits:
    """Rewrites the exits of one function; ``fresh`` makes names that no other code has."""

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.fresh = fresh

    def rewritten(self, body: Block) -> Block:
        """The body of a function without ``break``, ``continue``, and returns inside of other statements."""
        return self._loops(self._returns(body))

    # -- return ------------------------------------------------------------------------------------

    def _returns(self, body: Block) -> Block:
        """What follows a conditional return moves into a branch, so that returns are at the ends of branches."""
        for number, statement in enumerate(body):
            if isinstance(statement, (ast.Return, *SCOPES)) or not has([statement], ast.Return):
                continue
            before, rest = body[:number], body[number + 1 :]
            if isinstance(statement, ast.If):
                return [*before, *self._branches(statement, self._returns(rest))]
            if isinstance(statement, LOOPS):
                return [*before, *self._out_of_loop(statement, rest)]
            return [*before, per_block(statement, self._returns), *self._returns(rest)]
        return body

    def _branches(self, statement: ast.If, rest: Block) -> Block:
        """Where one branch returns in any case, what follows moves into the other one, and no further: as in
        TensorFlow.
        """
        body, orelse = self._returns(statement.body), self._returns(statement.orelse)
        if not falls_through(body):
            orelse, rest = [*orelse, *rest], []
        elif not falls_through(orelse):
            body, rest = [*body, *rest], []
        made: Any = ast.copy_location(ast.If(statement.test, body, orelse), statement)
        made.returning = True
        return [made, *rest]

    def _out_of_loop(self, loop: Any, rest: Block) -> Block:
        """The loop with a flag and a value in the place of its returns, and what follows."""
        made, flag, value = copy.copy(loop), self.fresh("do_return"), self.fresh("return_value")
        made.body = _as_breaks(loop.body, flag, value)
        start = at(loop, [assign(flag, ast.Constant(False))])
        check = at(loop, parse(f"if {flag}:\n    return {value}"))
        return [*start, made, *self._returns([*check, *rest])]

    # -- break, continue ---------------------------------------------------------------------------

    def _loops(self, body: Block) -> Block:
        """Replaces break and continue by flags, from the innermost loop outwards."""
        out: Block = []
        for statement in body:
            if not isinstance(statement, SCOPES):
                statement = per_block(statement, self._loops)
                if isinstance(statement, LOOPS):
                    out += at(statement, self._exits(statement))
            out.append(statement)
        return out

    def _exits(self, loop: Any) -> Block:
        """Takes break and continue out of one loop; returns the statements that set its flag before it starts."""
        if _leads_out(loop.body, ast.Continue):
            skip = self.fresh("continue")
            start = at(loop.body[0], [assign(skip, ast.Constant(False))])
            loop.body = [*start, *_guard(loop.body, ast.Continue, skip)]
        if not _leads_out(loop.body, ast.Break):
            return []
        loop.flag = self.fresh("break")
        loop.body = _guard(loop.body, ast.Break, loop.flag)
        return [assign(loop.flag, ast.Constant(False))]


def _as_breaks(body: Block, flag: str, value: str) -> Block:
    """``return x`` inside a loop: keep x, set the flag, leave the loop (and the loops around it)."""
    out: Block = []
    for statement in body:
        if isinstance(statement, ast.Return):
            keep = [assign(value, statement.value or ast.Constant(None)), assign(flag, ast.Constant(True)), ast.Break()]
            return [*out, *at(statement, keep)]
        if isinstance(statement, SCOPES) or not has([statement], ast.Return):
            out.append(statement)
            continue
        out.append(per_block(statement, lambda block: _as_breaks(block, flag, value)))
        if isinstance(statement, LOOPS):
            out += at(statement, [ast.If(name(flag), [ast.Break()], [])])
    return out


def _leads_out(nodes: Block, kind: type) -> bool:
    """Whether a ``break`` (or ``continue``) of this very loop is in its body."""
    for node in nodes:
        if isinstance(node, kind):
            return True
        if not isinstance(node, (*SCOPES, *LOOPS)) and any(_leads_out(block, kind) for block in blocks(node)):
            return True
    return False


def _guard(body: Block, kind: type, flag: str) -> Block:
    """Replaces break or continue by setting the flag; what follows in the block runs only while it is not set."""
    for number, statement in enumerate(body):
        if isinstance(statement, kind):
            return [*body[:number], *at(statement, [assign(flag, ast.Constant(True))])]
        if not _leads_out([statement], kind):
            continue
        if isinstance(statement, (ast.Try, ast.TryStar)):
            raise RareStatement("the exit of a loop inside of `try`", statement)
        rest = _guard(body[number + 1 :], kind, flag)
        made = per_block(statement, lambda block: _guard(block, kind, flag))
        return [*body[:number], made, *at(rest[0] if rest else statement, unless(flag, rest))]
    return body
