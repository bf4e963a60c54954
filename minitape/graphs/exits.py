"""``return``, ``break`` and ``continue`` inside of other statements, as flags and conditions.

Statements inside of ``if``, ``while`` and ``for`` become nested functions, out of which these cannot lead. Returns move
to the ends of branches, or set a flag that the statements behind them ask; so do ``break`` and ``continue``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .syntax import LOOPS, SCOPES, Block, assign, at, blocks, has, per_block


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
        if not _leads_out(loop.body, ast.Break):
            return []
        loop.flag = self.fresh("break")
        return [assign(loop.flag, ast.Constant(False))]




def _leads_out(nodes: Block, kind: type) -> bool:
    """Whether a ``break`` (or ``continue``) of this very loop is in its body."""
    for node in nodes:
        if isinstance(node, kind):
            return True
        if not isinstance(node, (*SCOPES, *LOOPS)) and any(_leads_out(block, kind) for block in blocks(node)):
            return True
    return False


