"""What fixes a program by what runs where: lines that move into a block or out of it, and a watch that is added."""

from __future__ import annotations

import ast
from typing import Any

from ..reasons.text import FUNCTIONS, Statement, last_name, unparse
from ..sentences import fill
from .edits import source_names
from .site import Edit, EditStep, Fix, Plan, Spot, checked, is_call, lines_said, replaced

_ASKS = ("gradient", "jacobian", "batch_jacobian")


def _shifted(spot: Spot, first: int, last: int, columns: int) -> str:
    lines = spot.lines[first - 1 : last]
    return "\n".join(
        (" " * columns + line if columns > 0 else line[-columns:]) if line.strip() else line for line in lines
    )


def without_block(*names: str) -> Plan:
    """The block or the decorator taken away under which nothing is recorded."""

    def named(node: ast.expr) -> bool:
        return last_name(node.func if isinstance(node, ast.Call) else node) in names

    def plan(spot: Spot) -> Fix | None:
        for s in reversed(spot.statement.around):
            node: Any = s.node
            if isinstance(node, FUNCTIONS) and any(map(named, node.decorator_list)):
                at = next(d.lineno for d in node.decorator_list if named(d))
                words = fill("Delete line {line} (`{code}`).", line=at, code=spot.lines[at - 1].strip())
                return checked(spot, [EditStep(at, at, "")], words)
            if isinstance(node, ast.With) and len(node.items) == 1 and named(node.items[0].context_expr):
                return _without_block(spot, node)
        return None

    return plan


def _without_block(spot: Spot, block: ast.With) -> Fix | None:
    """The lines of a block without it; not where they change something in place, which a parameter allows there
    alone.
    """
    changes = (
        isinstance(n, ast.AugAssign) or (isinstance(n, ast.Call) and last_name(n.func).endswith(("step", "_")))
        for part in block.body
        for n in ast.walk(part)
    )
    first, last = block.body[0].lineno, block.end_lineno or 0
    if first == block.lineno or any(changes):
        return None
    text = _shifted(spot, first, last, block.col_offset - block.body[0].col_offset)
    words = fill(
        "Delete line {line} (`{code}`), and move {lines} one level to the left.",
        line=block.lineno,
        code=spot.lines[block.lineno - 1].strip(),
        lines=lines_said(first, last),
    )
    return checked(spot, [EditStep(block.lineno, last, text)], words)


def _tapes(spot: Spot) -> list[tuple[Statement, str, list[ast.Call]]]:
    """The blocks of tapes: what each calls its tape, and the calls that ask it."""
    calls = [n for s in spot.statements for n in s.nodes if is_call(n, *_ASKS)]
    return [
        (s, tape, [n for n in calls if unparse(n.func).rpartition(".")[0] == tape and n.lineno > s.line])
        for s in spot.statements
        if isinstance(s.node, ast.With)
        for i in s.node.items
        if "GradientTape" in unparse(i) and i.optional_vars is not None
        for tape in [unparse(i.optional_vars)]
    ]


def into_block(spot: Spot) -> Fix | None:
    """The lines before or after the block of the tape that is asked, moved into it."""
    within = spot.statement.function

    def runs(s: Statement) -> bool:
        """Whether the line to blame runs in a statement."""
        called = within and any(is_call(n, within) for n in ast.walk(s.node))
        itself = s.line <= spot.statement.line <= s.last
        return (called or itself) and not isinstance(s.node, (*FUNCTIONS, ast.ClassDef))

    for block, _, asks in _tapes(spot):
        node: Any = block.node
        beside = [s for s in spot.statements if s.block == block.block and s.functions == block.functions]
        ends = [s for s in beside if s.order > block.order and any(s.line <= n.lineno <= s.last for n in asks)]
        after = [s for s in beside if ends and block.last < s.line and s.last < ends[0].line]
        before = [s for s in beside if ends and s.last < block.line and runs(s)]
        inner = node.body[0].col_offset - node.col_offset
        header = {"line": block.line, "code": spot.lines[block.line - 1].strip()}
        if any(map(runs, after)) and spot.cause == "computed_after_tape":
            first, last = after[0].line, after[-1].last
            words = fill(
                "Move {lines} one level to the right, so that the block of line {line} (`{code}`) has it in it, too.",
                lines=lines_said(first, last),
                **header,
            )
            return checked(spot, [EditStep(first, last, _shifted(spot, first, last, inner))], words)
        watched = any(s.around[-1:] == (block,) and s.call_of("watch") for s in spot.statements)
        if before and spot.cause == "computed_before_tape" and node.body[0].lineno == block.line + 1 and not watched:
            first, last = before[-1].line, block.line - 1
            words = fill(
                "Move line {line} (`{code}`) up, above line {first}, and {lines} one level to the right.",
                first=first,
                lines=lines_said(first, last),
                **header,
            )
            text = f"{spot.lines[block.line - 1]}\n{_shifted(spot, first, last, inner)}"
            return checked(spot, [EditStep(first, block.line, text)], words)
    return None


def watch_added(spot: Spot) -> Fix | None:
    """``tape.watch(x)`` in the block of the tape that differentiates by x, at the first line where x exists."""
    tapes = [
        (s, tape, asks, {unparse(n) for call in asks for a in call.args[1:] for n in ast.walk(a)})
        for s, tape, asks in _tapes(spot)
    ]
    if len(tapes) == 1:  # it is asked elsewhere
        tapes[0][3].update(unparse(n) for n in ast.walk(tapes[0][0].node) if isinstance(n, ast.expr))
    name = next((name for name in source_names(spot) if any(name in named for *_, named in tapes)), "")
    asked = [(s, tape, asks) for s, tape, asks, named in tapes if name in named]
    if len(asked) > 1 and (sweep := spot.question.sweep) is not None:  # the one that was asked for this target
        line = sweep.site[1] or 0
        asked = [one for one in asked if any(n.lineno <= line <= (n.end_lineno or 0) for n in one[2])]
    if not name or len(asked) != 1:
        return None
    block, tape, _ = asked[0]
    body: Any = block.node.body  # type: ignore[attr-defined]
    inside = [s for s in spot.statements if s.around[-1:] == (block,) and name in s.binds]
    made = [s for s in inside if s.line < spot.statement.line]
    at = made[-1].last if made else body[0].lineno
    line_, watch = spot.lines[at - 1], f"{' ' * body[0].col_offset}{tape}.watch({name})"
    if line_ == watch:
        return None
    return checked(spot, [EditStep(at, at, f"{line_}\n{watch}" if made else f"{watch}\n{line_}")])


def with_like_lines(edit: Edit) -> Plan:
    """An edit of the line to blame, and of the lines of its block that do the same with other tensors."""

    def plan(spot: Spot) -> Fix | None:
        near = [
            s for s in spot.statements if s.block == spot.statement.block and s.functions == spot.statement.functions
        ]
        changes = [(n, new) for s in near for n in s.nodes if (new := edit(spot, n)) is not None]
        return replaced(spot, [(n, new) if isinstance(new, str) else new for n, new in changes])

    return plan


def deleted(*calls: str) -> Plan:
    """The line that does nothing but call one of these, taken away."""

    def plan(spot: Spot) -> Fix | None:
        s = spot.statement
        if not isinstance(s.node, ast.Expr) or not s.call_of(*calls):
            return None
        words = fill("To leave it out, delete {lines}.", lines=lines_said(s.line, s.last))
        return checked(spot, [EditStep(s.line, s.last, "")], words)

    return plan
