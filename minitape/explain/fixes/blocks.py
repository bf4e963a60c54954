"""What fixes a program by what runs where: blocks that move, tapes that watch, backward passes and optimizers' steps;
see :mod:`patches`.
"""

from __future__ import annotations

import ast
from typing import Any

from ..sentences import fill
from ..statement import FUNCTIONS, Statement, form, last_name, unparse
from .edit_site import EditStep, Fix, Spot, Whole, is_call, lines_said

ASKS = ("gradient", "jacobian", "batch_jacobian")


def _shifted(spot: Spot, first: int, last: int, columns: int) -> str:
    lines = spot.lines[first - 1 : last]
    return "\n".join(
        (" " * columns + line if columns > 0 else line[-columns:]) if line.strip() else line for line in lines
    )


def _depth(block: ast.With) -> int:
    return block.body[0].col_offset - block.col_offset


def _header(spot: Spot, block: ast.With) -> str:
    return spot.lines[block.lineno - 1].strip()


def without_block(*names: str) -> Whole:
    """The block or the decorator taken away under which nothing is recorded."""

    def named(node: ast.expr) -> bool:
        return last_name(node.func if isinstance(node, ast.Call) else node) in names

    def is_block(s: Statement) -> bool:
        return isinstance(s.node, ast.With) and len(s.node.items) == 1 and named(s.node.items[0].context_expr)

    def plan(spot: Spot) -> Fix | None:
        around = [s.node for s in reversed(spot.statement.around) if is_block(s)]
        above = [
            d for s in spot.statement.around if isinstance(s.node, FUNCTIONS) for d in s.node.decorator_list if named(d)
        ]
        if not around and not above:
            if spot.statement.calls("set_grad_enabled"):
                return None
            around = [s.node for s in spot.statements if is_block(s)]
            above = [
                d for s in spot.statements if isinstance(s.node, FUNCTIONS) for d in s.node.decorator_list if named(d)
            ]
            if len(around) + len(above) != 1:
                return None
        if not around:
            at = above[0].lineno
            return spot.checked(
                [EditStep(at, at, "")], fill("Delete line {line} (`{code}`).", line=at, code=spot.lines[at - 1].strip())
            )
        block: Any = around[0]
        first, last = block.body[0].lineno, block.end_lineno
        if first == block.lineno or any(
            isinstance(n, ast.AugAssign)
            or (isinstance(n, ast.Call) and (last_name(n.func) == "step" or last_name(n.func).endswith("_")))
            for part in block.body
            for n in ast.walk(part)
        ):
            return None  # what is changed in place: a parameter allows that under no_grad only
        words = fill(
            "Delete line {line} (`{code}`), and move {lines} one level to the left.",
            line=block.lineno,
            code=_header(spot, block),
            lines=lines_said(first, last),
        )
        return spot.checked([EditStep(block.lineno, last, _shifted(spot, first, last, -_depth(block)))], words)

    return Whole(plan, several=True)


def _tapes(spot: Spot) -> list[tuple[Statement, str, list[ast.Call]]]:
    """The blocks of tapes: what each calls its tape, and the calls that ask it."""
    found = []
    calls = [n for s in spot.statements for n in s.walk() if isinstance(n, ast.Call) and is_call(n, *ASKS)]
    for s in spot.statements:
        items = s.node.items if isinstance(s.node, ast.With) else []
        for tape in [
            unparse(i.optional_vars) for i in items if "GradientTape" in unparse(i) and i.optional_vars is not None
        ]:
            found.append(
                (
                    s,
                    tape,
                    [call for call in calls if unparse(call.func).rpartition(".")[0] == tape and call.lineno > s.line],
                )
            )
    return found


def into_block(spot: Spot) -> Fix | None:
    """The lines before or after the block of the tape that is asked, moved into it."""
    line, within = spot.statement.line, spot.statement.function

    def runs(s: Statement) -> bool:
        """Whether the line to blame runs in a statement."""
        if isinstance(s.node, (*FUNCTIONS, ast.ClassDef)):
            return False
        called = within is not None and any(is_call(n, within.name) for n in ast.walk(s.node))
        return s.line <= line <= s.last or called

    for block, _tape, asks in _tapes(spot):
        node: Any = block.node
        beside = [s for s in spot.statements if s.block == block.block and s.function is block.function]
        end = next(
            (s for s in beside if s.order > block.order and any(s.line <= call.lineno <= s.last for call in asks)), None
        )
        if end is None:
            continue
        after = [s for s in beside if block.last < s.line and s.last < end.line]
        if any(map(runs, after)) and spot.cause == "computed_after_tape":
            first, last = after[0].line, after[-1].last
            words = fill(
                "Move {lines} one level to the right, so that the block of line {line} (`{code}`) has it in it, too.",
                lines=lines_said(first, last),
                line=block.line,
                code=_header(spot, node),
            )
            return spot.checked([EditStep(first, last, _shifted(spot, first, last, _depth(node)))], words)
        before = [s for s in beside if s.last < block.line and runs(s)]
        if before and spot.cause == "computed_before_tape" and node.body[0].lineno == block.line + 1:
            first, last = before[-1].line, block.line - 1
            watches = [
                s.last for s in spot.statements if s.around[-1:] == (block,) and s.calls("watch") and s.last < end.line
            ]
            if watches:  # it must stay above what it watches for
                lines = [*spot.lines[block.line - 1 : watches[-1]], _shifted(spot, first, last, _depth(node))]
                words = fill(
                    "Move {lines} into the block, below line {line} (`{code}`).",
                    lines=lines_said(first, last),
                    line=watches[-1],
                    code=spot.lines[watches[-1] - 1].strip(),
                )
                return spot.checked([EditStep(first, watches[-1], "\n".join(lines))], words)
            words = fill(
                "Move line {line} (`{code}`) up, above line {first}, and {lines} one level to the right.",
                line=block.line,
                code=_header(spot, node),
                first=first,
                lines=lines_said(first, last),
            )
            return spot.checked(
                [
                    EditStep(
                        first, block.line, spot.lines[block.line - 1] + "\n" + _shifted(spot, first, last, _depth(node))
                    )
                ],
                words,
            )
    return None


def watch_call(spot: Spot) -> Fix | None:
    """Adds ``tape.watch(x)`` to the block of the tape that differentiates by x, at the first line where x exists."""
    tapes = [
        (s, tape, asks, {unparse(n) for call in asks for a in call.args[1:] for n in ast.walk(a)})
        for s, tape, asks in _tapes(spot)
    ]
    if len(tapes) == 1:  # it is asked elsewhere
        tapes[0][3].update(
            unparse(n)
            for n in ast.walk(tapes[0][0].node)
            if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Load)
        )
    name = next((name for name in spot.names_of_source() if any(name in named for *_, named in tapes)), "")
    asked = [(s, tape, asks) for s, tape, asks, named in tapes if name in named]
    if len(asked) > 1 and (sweep := spot.inquiry.sweep) is not None:  # the one that was asked for this target
        asked = [
            found
            for found in asked
            if any(call.lineno <= (sweep.site[1] or 0) <= (call.end_lineno or 0) for call in found[2])
        ]
    if not name or len(asked) != 1:
        return None
    block, tape, _ = asked[0]
    node = block.node
    inside = [s for s in spot.statements if s.around[-1:] == (block,)]
    made = [s for s in inside if name in s.binds() and s.line < (spot.answer.line or 0)]
    body: Any = getattr(node, "body", None)
    at = made[-1].last if made else body[0].lineno
    if not made and unparse(body[0]) == f"{tape}.watch({name})":
        return None
    line, watch = spot.lines[at - 1], " " * body[0].col_offset + f"{tape}.watch({name})"
    return spot.checked([EditStep(at, at, f"{line}\n{watch}" if made else f"{watch}\n{line}")])


def value_kept(spot: Spot) -> Fix | None:
    """The value by a name, for the variable that it was assigned to: ``state_now`` for ``state`` after
    ``state.assign(h)``.
    """
    node = spot.statement.node
    call: Any = node.value if isinstance(node, ast.Expr) else None
    sign = (
        {"assign": "", "assign_add": "+", "assign_sub": "-"}.get(last_name(call.func))
        if isinstance(call, ast.Call)
        else None
    )
    # of a loop the last value would count alone
    if sign is None or len(call.args) != 1 or call.keywords or spot.statement.loops():
        return None
    variable, value = unparse(call.func.value), unparse(call.args[0])
    name = f"{variable.rpartition('.')[2]}_now"
    later = [s for s in spot.statements if s.function is spot.statement.function and s.order > spot.statement.order]
    read = [
        n
        for s in later
        for n in s.walk()
        if isinstance(n, ast.expr) and unparse(n) == variable and isinstance(getattr(n, "ctx", None), ast.Load)
    ]
    methods = [n.value for s in later for n in s.walk() if isinstance(n, ast.Attribute) and n.attr.startswith("assign")]
    asked = [n for s in later for n in s.walk() if is_call(n, *ASKS) for n in ast.walk(n)]
    read = [n for n in read if n not in methods and n not in asked]
    if not read or not name.isidentifier() or name in spot.names:
        return None
    new = f"{name} = {form(f'{variable} {sign} {{x}}', x=call.args[0]) if sign else value}\n{variable}.assign({name})"
    return spot.replace([(node, new), *((n, name) for n in read)])


def kept_graph(spot: Spot) -> Fix | None:
    """``retain_graph=True`` in the backward pass before, on another line."""
    sites = [
        s.site for s in spot.inquiry.recording.sweeps if s.site[0] == spot.filename and s.site[1] != spot.answer.line
    ]
    statement = None if not sites else spot.source.at(*sites[-1])
    if statement is None or statement.loops() or any(e["kind"] == "assign" for e in spot.inquiry.recording.events):
        return None
    calls: list = [n for n in statement.walk() if is_call(n, "backward") and not n.keywords and not n.args]
    return spot.replace([(calls[0], f"{unparse(calls[0].func)}(retain_graph=True)")]) if len(calls) == 1 else None


def state_detached(spot: Spot) -> Fix | None:
    """``h.detach()`` for the state that a loop hands from one step to the next: ``y, h = cell(x, h)``."""
    within = spot.statement.loops()[-1:]
    steps = [
        s
        for s in spot.statements
        if within and within[0] in s.around and s.order < spot.statement.order and isinstance(s.node, ast.Assign)
    ]
    read: list = [
        n
        for s in steps
        for n in s.walk()
        if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load) and unparse(n) in s.binds()
    ]
    if len(read) != 1:
        return None
    name, held = unparse(read[0]), spot.inquiry.value_of(unparse(read[0]))
    if isinstance(held, tuple):
        return spot.replace([(read[0], f"tuple(part.detach() for part in {name})")])
    alone = any([name] == s.binds() for s in steps)
    return spot.replace([(read[0], f"{name}.detach()")]) if alone or spot.inquiry.recorded(held) is not None else None


def hook_gone(spot: Spot) -> Fix | None:
    """The line that puts the hook, taken away."""
    s = spot.statement
    alone = isinstance(s.node, ast.Expr) and s.calls(
        "register_hook", "register_full_backward_hook", "register_post_accumulate_grad_hook"
    )
    return (
        spot.checked(
            [EditStep(s.line, s.last, "")], fill("To leave it out, delete {lines}.", lines=lines_said(s.line, s.last))
        )
        if alone
        else None
    )
