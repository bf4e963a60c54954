"""What fixes a program by what runs where: a watch that is added to a block, and a block that goes."""

from __future__ import annotations

import ast
from typing import Any

from ..reasons.text import at, names_in, unparse
from ..sentences import fill
from .edits import source_names
from .site import Fix, Plan, Spot


def without_block(*names: str) -> Plan:
    """The block or the decorator taken away under which nothing is recorded."""

    def plan(spot: Spot) -> Fix | None:
        around = spot.statement.within(*names)
        if around is None:
            return None
        marks = [d for d in getattr(around.node, "decorator_list", ()) if names_in(ast.walk(d)) & {*names}]
        line = marks[0].lineno if marks else around.line
        return Fix(line, "", fill("Leave out line {line} (`{code}`).", line=line, code=spot.lines[line - 1].strip()))

    return plan


def watch_added(spot: Spot) -> Fix | None:
    """``tape.watch(x)`` at the top of the block of the tape that is asked, where x exists before it."""
    block = at(spot.question.adapter.find_block())
    node: Any = block.node
    if not isinstance(node, ast.With) or block.file != spot.statement.file:
        return None
    tapes = (i.optional_vars for i in node.items if "GradientTape" in unparse(i))
    tape = next((unparse(name) for name in tapes if name is not None), "")
    named = {unparse(n) for n in ast.walk(node) if isinstance(n, ast.expr)}
    name = next((name for name in source_names(spot) if name in named), "")
    if not tape or not name or node.body[0].lineno == block.line:
        return None
    inside = any(block in s.around and name in s.binds for s in spot.statements)
    line = node.body[0].lineno
    old, watch = spot.lines[line - 1], f"{' ' * node.body[0].col_offset}{tape}.watch({name})"
    return None if inside or old == watch else Fix(line, f"{watch}\n{old}")
