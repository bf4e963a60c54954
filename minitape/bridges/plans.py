"""What mends a program elsewhere than on the line to blame, or on several lines: blocks that move, calls, the other factor; see :mod:`patches`."""

from __future__ import annotations

import ast
import importlib
from typing import Any

import numpy as np

from ..explain.patches import slim
from ..explain.statement import FUNCTIONS, Statement, last_name, parameters, unparse
from .edits import inside
from .edits_values import between
from .patches import Edit, Mend, Spot, Step, Whole, is_call, told
from .recording import numbers_of

_ASKS = ("gradient", "jacobian", "batch_jacobian")
_HARD = ("round", "floor", "ceil", "sign", "argmax", "stop_gradient", "cast", "astype", "py_function", "numpy_function")
_OPPOSITE = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt}
_OTHER_WAY = {"equal": "not_equal", "not_equal": "equal", "greater": "less_equal", "less_equal": "greater", "less": "greater_equal", "greater_equal": "less"}


def anywhere(edit: Edit) -> Whole:
    """An edit of the one place in the program that it knows."""

    def plan(spot: Spot) -> Mend | None:
        found = [s for s in spot.statements for node in s.walk() if edit(spot.on(s), node) is not None]
        return spot.on(found[0]).here(edit) if len(found) == 1 else None

    return Whole(plan)


def to_try(edit: Edit, lead: str) -> Whole:
    """An edit that is one way of several: it is told, and is no patch. It is of the line to blame, or of the one place that it knows."""

    def plan(spot: Spot) -> Mend | None:
        found = spot.here(edit) or anywhere(edit).plan(spot)
        return None if found is None else Mend(found.steps, f"{lead} {told(found.steps)}")

    return Whole(plan)


# -- blocks -------------------------------------------------------------------------------------------------------------


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _shifted(spot: Spot, first: int, last: int, columns: int) -> str:
    lines = spot.lines[first - 1 : last]
    return "\n".join((" " * columns + line if columns > 0 else line[-columns:]) if line.strip() else line for line in lines)


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

    def plan(spot: Spot) -> Mend | None:
        around = [s.node for s in reversed(spot.statement.around) if is_block(s)]
        above = [d for s in spot.statement.around if isinstance(s.node, FUNCTIONS) for d in s.node.decorator_list if named(d)]
        if not around and not above:
            around = [s.node for s in spot.statements if is_block(s)]
            above = [d for s in spot.statements if isinstance(s.node, FUNCTIONS) for d in s.node.decorator_list if named(d)]
            if len(around) + len(above) != 1:
                return None
        if not around:
            at = above[0].lineno
            return spot.checked([Step(at, at, "")], f"Delete line {at} (`{spot.lines[at - 1].strip()}`).")
        block: Any = around[0]
        first, last = block.body[0].lineno, block.end_lineno
        if first == block.lineno or any(_writes(n) for part in block.body for n in ast.walk(part)):
            return None
        words = f"Delete line {block.lineno} (`{_header(spot, block)}`), and move {_lines(first, last)} one level to the left."
        return spot.checked([Step(block.lineno, last, _shifted(spot, first, last, -_depth(block)))], words)

    return Whole(plan, several=True)


def _writes(node: ast.AST) -> bool:
    """Whether something is changed in place, which a parameter allows under no_grad only."""
    return isinstance(node, ast.AugAssign) or (is_call(node, "step") or (isinstance(node, ast.Call) and last_name(node.func).endswith("_")))


def switched_on(spot: Spot) -> Mend | None:
    """Recording switched on again where a call has switched it off."""
    off = any(isinstance(s.node, ast.Expr) and is_call(s.node.value, "set_grad_enabled") for s in spot.statements)
    at, switch = spot.statement.line, spot.spelled("torch.set_grad_enabled")
    if not off or switch is None or isinstance(spot.statement.node, (ast.If, *FUNCTIONS)):
        return None
    line = spot.lines[at - 1]
    indent = line[: len(line) - len(line.lstrip())]
    return spot.checked([Step(at, at, f"{indent}{switch}(True)\n{line}")])


def _tapes(spot: Spot) -> list[tuple[Statement, str, list[ast.Call]]]:
    """The blocks of tapes: what each calls its tape, and the calls that ask it."""
    found = []
    calls = [n for s in spot.statements for n in s.walk() if isinstance(n, ast.Call) and is_call(n, *_ASKS)]
    for s in spot.statements:
        items = s.node.items if isinstance(s.node, ast.With) else []
        for tape in [unparse(i.optional_vars) for i in items if "GradientTape" in unparse(i) and i.optional_vars is not None]:
            found.append((s, tape, [call for call in calls if unparse(call.func).rpartition(".")[0] == tape and call.lineno > s.line]))
    return found


def into_block(spot: Spot) -> Mend | None:
    """The lines before or after the block of the tape that is asked, moved into it."""
    line, within = spot.statement.line, spot.statement.function

    def runs(s: Statement) -> bool:
        """Whether the line to blame runs in a statement."""
        called = within is not None and any(is_call(n, within.name) for n in ast.walk(s.node)) and not isinstance(s.node, FUNCTIONS)
        return s.line <= line <= s.last or called

    for block, _tape, asks in _tapes(spot):
        node: Any = block.node
        beside = [s for s in spot.statements if s.block == block.block and s.function is block.function]
        end = next((s for s in beside if s.order > block.order and any(s.line <= call.lineno <= s.last for call in asks)), None)
        if end is None:
            continue
        after = [s for s in beside if block.last < s.line and s.last < end.line]
        if any(map(runs, after)) and spot.answer.cause == "computed_after_tape":
            first, last = after[0].line, after[-1].last
            words = f"Move {_lines(first, last)} one level to the right, so that the block of line {block.line} (`{_header(spot, node)}`) has it in it, too."
            return spot.checked([Step(first, last, _shifted(spot, first, last, _depth(node)))], words)
        before = [s for s in beside if s.last < block.line and runs(s)]
        if before and spot.answer.cause == "computed_before_tape" and node.body[0].lineno == block.line + 1:
            first, last = before[-1].line, block.line - 1
            words = f"Move line {block.line} (`{_header(spot, node)}`) up, above line {first}, and {_lines(first, last)} one level to the right."
            return spot.checked([Step(first, block.line, spot.lines[block.line - 1] + "\n" + _shifted(spot, first, last, _depth(node)))], words)
    return None


def watched(spot: Spot) -> Mend | None:
    """``tape.watch(x)`` in the block of the tape that is asked for x, as early as there is an x."""
    name = spot.inquiry.path
    asked = [(s, tape, asks) for s, tape, asks in _tapes(spot) if any(unparse(n) == name for call in asks for a in call.args[1:] for n in ast.walk(a))]
    if len(asked) > 1 and (sweep := spot.inquiry.sweep) is not None:  # the one that was asked for this target
        asked = [found for found in asked if any(call.lineno <= (sweep.site[1] or 0) <= (call.end_lineno or 0) for call in found[2])]
    if not name or len(asked) != 1:
        return None
    block, tape, _ = asked[0]
    node = block.node
    inside = [s for s in spot.statements if s.around[-1:] == (block,)]
    made = [s for s in inside if name in s.binds() and s.line < (spot.answer.line or 0)]
    body: Any = getattr(node, "body", None)
    at = made[-1].last if made else body[0].lineno
    line, watch = spot.lines[at - 1], " " * body[0].col_offset + f"{tape}.watch({name})"
    return spot.checked([Step(at, at, f"{line}\n{watch}" if made else f"{watch}\n{line}")])


# -- calls of other functions, and other lines ---------------------------------------------------------------------------


def with_aux(spot: Spot) -> Mend | None:
    """``has_aux=True`` where the gradient of a function is asked for that returns more than the loss."""
    asked, changes = spot.inquiry.origin.function.__name__, []
    returned: Any = spot.statement.node
    if isinstance(returned, ast.Return) and isinstance(returned.value, ast.Dict):
        keys = [unparse(key) for key in returned.value.keys if key is not None]
        best = next((i for i, key in enumerate(keys) if "loss" in key), 0)
        changes.append((returned.value, f"{unparse(returned.value.values[best])}, {unparse(returned.value)}"))
    elif not isinstance(returned, ast.Return) or not isinstance(returned.value, ast.Tuple) or getattr(spot.inquiry.recording.value[0], "shape", None) != ():
        return None
    calls = [(s, n) for s in spot.statements for n in s.walk() if is_call(n, "grad", "value_and_grad") and len(n.args) == 1 and unparse(n.args[0]) == asked]
    if len(calls) != 1:
        return None
    statement, grad = calls[0]
    changes.append((grad.args[-1], f"{asked}, has_aux=True"))
    for s in spot.statements:
        call = s.value()
        if isinstance(s.node, ast.Assign) and isinstance(call, ast.Call) and (call.func is grad or (grad is statement.value() and unparse(call.func) in statement.binds())):
            target = s.node.targets[0]
            if is_call(grad, "grad") and isinstance(target, ast.Name):
                changes.append((target, f"{target.id}, aux"))
            elif is_call(grad, "value_and_grad") and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
                changes.append((target.elts[0], f"({target.elts[0].id}, aux)"))
    return spot.put(changes)


def static_count(spot: Spot) -> Mend | None:
    """``static_argnames`` where a loop has its number of steps from an argument of a compiled function."""
    loops = [n for n in spot.statement.walk() if is_call(n, "fori_loop")]
    around = [s.node for s in spot.statement.around if isinstance(s.node, FUNCTIONS)]
    for function in around:
        names = [unparse(a) for n in loops for a in n.args[:2] if unparse(a) in parameters(function)]
        jits = [d for d in function.decorator_list if last_name(d) == "jit"]
        if len(names) == 1 and jits:
            at, jit = jits[0].lineno, unparse(jits[0])
            new = f"@lambda f: {jit}(f, static_argnames={names[0]!r})"
            if spot.source.imported.get("partial") == "functools":
                new = f"@partial({jit}, static_argnames={names[0]!r})"
            elif "functools" in spot.source.imported:
                new = f"@functools.partial({jit}, static_argnames={names[0]!r})"
            line = spot.lines[at - 1]
            return spot.checked([Step(at, at, line[: len(line) - len(line.lstrip())] + new)])
    return None


def handed_over(spot: Spot) -> Mend | None:
    """The argument by its own name, where a function reads it by the name that it has outside."""
    function = next((s.node for s in reversed(spot.statement.around) if isinstance(s.node, FUNCTIONS)), None)
    if function is None:
        return None
    calls = [n for s in spot.statements for n in s.walk() if isinstance(n, ast.Call) and function.name in {last_name(a) for a in [n.func, *getattr(n.func, "args", [])]}]
    own = parameters(function)
    for position, name in enumerate(own):
        given = {unparse(call.args[position]) for call in calls if position < len(call.args)}
        outside = next(iter(given)) if len(given) == 1 else ""
        read = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == outside]
        if outside.isidentifier() and outside not in own and read and all(isinstance(n.ctx, ast.Load) for n in read):
            return spot.put([(n, name) for n in read])
    return None


def elements_set(spot: Spot) -> Mend | None:
    """``x = x.at[i].set(v)`` for each ``x[i] = v``, of an array of jax.numpy."""
    first: Any = spot.statement.node
    targets = first.targets if isinstance(first, ast.Assign) else [first.target] if isinstance(first, ast.AugAssign) else []
    if not targets or not isinstance(targets[0], ast.Subscript) or not isinstance(targets[0].value, ast.Name):
        return None
    x, changes = targets[0].value.id, []
    for s in spot.statements:
        node: Any = s.node
        if s.function is not spot.statement.function:
            continue
        items = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        if items and all(isinstance(item, ast.Subscript) and unparse(item.value) == x for item in items):
            step = {ast.Add: "add", ast.Mult: "multiply"}.get(type(node.op)) if isinstance(node, ast.AugAssign) else "set"
            if step is None:
                return None
            changes.append((node, f"{x} = {x}" + "".join(f".at[{unparse(item.slice)}].{step}({unparse(node.value)})" for item in items)))
        elif x in s.binds() and s.value() is not None and (new := inside(spot.on(s), s.value())) is not None:
            changes.append((s.value(), new))
    return spot.put(changes)


def stays(spot: Spot) -> Mend | None:
    """All lines on which a value goes through NumPy, with functions of the framework."""
    changes: list[tuple[Any, str]] = []
    waiting, seen, tensors = [spot.statement], {spot.statement}, set()
    while waiting:
        s = waiting.pop(0)
        value = s.node.value if isinstance(s.node, (ast.Assign, ast.Return)) else None
        new = None if value is None else inside(spot.on(s), value, tensors)
        if new is None:
            if s is spot.statement or any(is_call(n, "numpy", "item", "extend", "append") for n in s.walk()):
                return None
            continue
        changes.append((value, new))
        tensors |= {f"{s.function.name}()"} if isinstance(s.node, ast.Return) and s.function else set(s.binds())
        after = [r for r in spot.on(s).readers() if r not in seen and any(_reads(n, tensors) for n in r.walk())]
        seen |= set(after)
        waiting += after
    return spot.put(changes) if len(changes) > 1 else None


def _reads(node: ast.AST, tensors: set[str]) -> bool:
    return (isinstance(node, ast.Call) and f"{last_name(node.func)}()" in tensors) or (isinstance(node, ast.expr) and unparse(node) in tensors)


def value_kept(spot: Spot) -> Mend | None:
    """The value by a name, for the variable that it was assigned to: ``state_now`` for ``state`` after ``state.assign(h)``."""
    node = spot.statement.node
    call: Any = node.value if isinstance(node, ast.Expr) else None
    sign = {"assign": "", "assign_add": "+", "assign_sub": "-"}.get(last_name(call.func)) if isinstance(call, ast.Call) else None
    if sign is None or len(call.args) != 1 or call.keywords:
        return None
    variable, value = unparse(call.func.value), unparse(call.args[0])
    name = f"{variable.rpartition('.')[2]}_now"
    later = [s for s in spot.statements if s.function is spot.statement.function and s.order > spot.statement.order]
    read = [n for s in later for n in s.walk() if isinstance(n, ast.expr) and unparse(n) == variable and isinstance(getattr(n, "ctx", None), ast.Load)]
    methods = [n.value for s in later for n in s.walk() if isinstance(n, ast.Attribute) and n.attr.startswith("assign")]
    asked = [n for s in later for n in s.walk() if is_call(n, *_ASKS) for n in ast.walk(n)]
    read = [n for n in read if n not in methods and n not in asked]
    if not read or not name.isidentifier() or name in spot.names:
        return None
    new = f"{name} = {f'{variable} {sign} {slim(call.args[0])}' if sign else value}\n{variable}.assign({name})"
    return spot.put([(node, new), *((n, name) for n in read)])


def kept_graph(spot: Spot) -> Mend | None:
    """``retain_graph=True`` in the backward pass before, on another line."""
    sites = [s.site for s in spot.inquiry.recording.sweeps if s.site[0] == spot.filename and s.site[1] != spot.answer.line]
    statement = None if not sites else spot.source.at(*sites[-1])
    if statement is None or statement.loops() or any(e["kind"] == "assign" for e in spot.inquiry.recording.events):
        return None
    calls: list[Any] = [n for n in statement.walk() if is_call(n, "backward") and not n.keywords and not n.args]
    return spot.put([(calls[0], f"{unparse(calls[0].func)}(retain_graph=True)")]) if len(calls) == 1 else None


def steps_last(spot: Spot) -> Mend | None:
    """Optimizers' steps after all backward passes."""
    step = spot.statement
    if not (isinstance(step.node, ast.Expr) and step.calls("step") and step.line == step.last):
        return None
    beside = [s for s in spot.statements if s.block == step.block and s.function is step.function and s.order > step.order]
    later = [s for s in beside if s.calls("backward")]
    if not later or any(s.calls("zero_grad") and unparse(step.node.value.func.value) in s.mentions() for s in beside):
        return None
    at = later[-1].last
    words = f"Move line {step.line} (`{unparse(step.node)}`) down, below line {at}."
    return spot.checked([Step(step.line, step.line, ""), Step(at, at, f"{spot.lines[at - 1]}\n{spot.lines[step.line - 1]}")], words)


def called(spot: Spot) -> Mend | None:
    """``loss.backward()`` for ``loss.backward``."""
    found = [s.node.value for s in spot.statements if isinstance(s.node, ast.Expr) and last_name(s.node.value) == "backward"]
    return spot.put([(found[0], f"{unparse(found[0])}()")]) if len(found) == 1 else None


def hook_gone(spot: Spot) -> Mend | None:
    """The line that puts the hook, taken away."""
    s = spot.statement
    alone = isinstance(s.node, ast.Expr) and s.calls("register_hook", "register_full_backward_hook", "register_post_accumulate_grad_hook")
    return spot.checked([Step(s.line, s.last, "")], f"Delete {_lines(s.line, s.last)}, or return from the hook what should pass on.") if alone else None


def passed_on(spot: Spot) -> Mend | None:
    """The adjoint itself, returned by the backward of a function of the program's own that has one argument."""
    called = {last_name(n.func.value) for n in spot.statement.walk() if is_call(n, "apply") and isinstance(n.func, ast.Attribute)}
    ends = [s for s in spot.statements if s.class_name in called and s.function is not None and s.function.name == "backward" and isinstance(s.node, ast.Return)]
    ends = ends or [s for s in spot.statements if s.function is not None and s.function.name == "backward" and isinstance(s.node, ast.Return)]
    if len(ends) != 1 or ends[0].function is None or len(parameters(ends[0].function)) != 2:
        return None
    forward = [f for f in spot.source.functions.get("forward", []) if spot.source.methods.get(id(f)) == ends[0].class_name]
    adjoint = parameters(ends[0].function)[1]
    value: Any = getattr(ends[0].node, "value", None)
    if len(forward) != 1 or len(parameters(forward[0])) != 2 or value is None:
        return None
    found = spot.put([(value, adjoint)])
    return None if found is None else Mend(found.steps, f"Where it should pass unchanged, line {value.lineno} is `return {adjoint}`.")


def other_target(spot: Spot) -> Mend | None:
    """Another result that the source does have an influence on, where its gradient is asked for."""
    inquiry = spot.inquiry
    after = inquiry._after() - set(inquiry.rows)
    rows = {name: row for space in inquiry._spaces() for name, value in list(space.items())
            if not name.startswith("_") and (row := inquiry.recorded(value)) in after and inquiry.entries[row].shape == ()}  # fmt: skip
    if len(rows) != 1:
        return None
    (name, row), calls = *rows.items(), [n for n in spot.statement.walk() if is_call(n, *_ASKS)] if spot.blamed else []
    found = spot.put([(calls[0].args[0], name)]) if len(calls) == 1 and calls[0].args else None
    words = f"{name} (line {inquiry.entries[row].site[1]}) was computed with {inquiry.path or inquiry.name}: ask for its gradient."
    return None if found is None else Mend(found.steps, f"{words} {told(found.steps)}")


def without_rule(*decorators: str) -> Whole:
    """The rule of a function's own taken away: the framework derives what the function computes."""

    def plan(spot: Spot) -> Mend | None:
        around = [s for s in spot.statement.around if isinstance(s.node, FUNCTIONS)]
        called = {last_name(n.func) for n in spot.statement.walk() if isinstance(n, ast.Call)}
        for s in [*around, *(s for s in spot.statements if isinstance(s.node, FUNCTIONS) and s.node.name in called)]:
            node: Any = s.node
            rules = [d for d in node.decorator_list if last_name(d) in decorators]
            ends: list[Any] = [r.node for r in spot.statements if r.function is node and isinstance(r.node, ast.Return)]
            made = [n for r in ends for n in ast.walk(getattr(r.value, "elts", [r.value])[0] if "custom_gradient" in decorators else r.value)]
            hard = any(isinstance(n, ast.Compare) or is_call(n, *_HARD) for n in made) or any(is_call(n, "while_loop", "pure_callback") for n in ast.walk(node))
            if not rules or hard:
                continue
            steps = [Step(rules[0].lineno, rules[0].lineno, "")]
            for other in spot.statements:
                more = [d for d in getattr(other.node, "decorator_list", []) if unparse(d).startswith(f"{node.name}.def")]
                if isinstance(other.node, ast.Expr) and isinstance(other.node.value, ast.Call) and unparse(other.node.value.func) in (f"{node.name}.defvjp", f"{node.name}.defjvp", f"{node.name}.defjvps"):
                    steps.append(Step(other.line, other.last, ""))
                elif more:
                    steps.append(Step(more[0].lineno, other.last, ""))
            if "custom_gradient" in decorators:  # it returns its gradient function as well
                found = spot.put([(r.value, unparse(r.value.elts[0])) for r in ends if isinstance(r.value, ast.Tuple) and len(r.value.elts) == 2])
                if found is None:
                    continue
                steps += found.steps
            return spot.checked(steps, f"Or do without a rule of its own. {told(sorted(steps))}")
        return None

    return Whole(plan)


def from_jax(spot: Spot) -> Mend | None:
    """``jax.scipy`` for SciPy, where the function to blame calls it."""
    used = spot.statement.mentions()
    found: list[Any] = [s.node for s in spot.statements if isinstance(s.node, ast.ImportFrom) and (s.node.module or "").partition(".")[0] == "scipy" and used & {a.asname or a.name for a in s.node.names}]
    if len(found) != 1 or not all(_importable(f"jax.{found[0].module}", a.name) for a in found[0].names):
        return None
    return spot.put([(found[0], unparse(ast.ImportFrom(f"jax.{found[0].module}", found[0].names, 0)))])


def _importable(module: str, name: str) -> bool:
    for path, part in ((module, name), (f"{module}.{name}", "__name__")):
        try:
            if hasattr(importlib.import_module(path), part):
                return True
        except ImportError:
            continue
    return False


def called_inside(spot: Spot) -> Mend | None:
    """A function of the program's own called as it is, for a callback that computes outside of the framework."""
    calls: list[Any] = [n for n in spot.statement.walk() if is_call(n, "pure_callback", "numpy_function", "py_function")]
    function = spot.source.functions.get(unparse(calls[0].args[0]), []) if len(calls) == 1 and calls[0].args else []
    if len(function) != 1:
        return None
    first = calls[0].args[2:] if last_name(calls[0].func) == "pure_callback" else getattr(calls[0].args[1], "elts", [])
    changes = [(calls[0], f"{function[0].name}({', '.join(map(unparse, first))})")]
    for s in spot.statements:
        value = getattr(s.node, "value", None) if s.function is function[0] and isinstance(s.node, (ast.Assign, ast.Return)) else None
        new = None if value is None else inside(spot.on(s), value)
        changes += [] if new is None else [(value, new)]
    return spot.put(changes) if len(changes) > 1 else None


def soft_branch(spot: Spot) -> Mend | None:
    """A weight between 0 and 1 for an ``if``: of what it appends, or of the two values that a name gets."""
    node: Any = spot.statement.node
    if not isinstance(node, ast.If) or len(node.body) != 1 or len(node.orelse) > 1 or (soft := between(spot, node.test)) is None:
        return None
    yes, no = node.body[0], node.orelse[0] if node.orelse else None
    if no is None and isinstance(yes, ast.Expr) and is_call(yes.value, "append") and len(yes.value.args) == 1:
        new = f"{unparse(yes.value.func)}({soft} * {slim(yes.value.args[0])})"
    elif isinstance(yes, ast.Assign) and isinstance(no, ast.Assign) and list(map(unparse, yes.targets)) == list(map(unparse, no.targets)):
        new = f"{' = '.join(map(unparse, yes.targets))} = {slim(no.value)} + ({unparse(yes.value)} - {slim(no.value)}) * {soft}"
    elif no is None and isinstance(yes, ast.Assign) and len(yes.targets) == 1 and isinstance(yes.targets[0], ast.Name):
        x = yes.targets[0].id
        new = f"{x} = {x} + ({unparse(yes.value)} - {x}) * {soft}"
    else:
        return None
    steps = [Step(node.lineno, node.end_lineno, " " * node.col_offset + new)]
    return spot.checked(steps, f"To mix both: {told(steps)}")


def functional(spot: Spot) -> Mend | None:
    """``functional_call`` with a tensor as a weight, for a module that it is made a parameter of."""
    node: Any = spot.statement.node
    wrapped = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute) and is_call(node.value, "Parameter")
    call = spot.spelled("torch.func.functional_call")
    if not wrapped or call is None or len(node.value.args) != 1:
        return None
    module, weight = unparse(node.targets[0].value), unparse(node.value.args[0])
    later = [s for s in spot.statements if s.block == spot.statement.block and s.function is spot.statement.function and s.order > spot.statement.order]
    runs: list[Any] = [n for s in later for n in s.walk() if isinstance(n, ast.Call) and unparse(n.func) == module]
    if len(runs) != 1 or runs[0].keywords:
        return None
    given = ", ".join(map(unparse, runs[0].args)) + ("," if len(runs[0].args) == 1 else "")
    found = spot.put([(runs[0], f"{call}({module}, {{{node.targets[0].attr!r}: {weight}}}, ({given}))")])
    return None if found is None else spot.checked([Step(node.lineno, node.end_lineno, ""), *found.steps])


# -- the other factor, and data ------------------------------------------------------------------------------------------


def finite_data(template: str) -> Whole:
    """Finite numbers for NaNs and infinities, where the data are used for the first time."""

    def plan(spot: Spot) -> Mend | None:
        inquiry, entry = spot.inquiry, spot.entry
        if entry is None:
            return None
        after = inquiry._after()
        readers = [row for row in inquiry.behind if entry.row in inquiry._inputs(row) and inquiry.entries[row].dtype != "bool"]
        reader = min(readers, key=lambda row: (row not in after, row), default=None)
        at = None if reader is None else spot.source.at(spot.filename, inquiry.entries[reader].site[1] or 0)
        names = {entry.name or "", *(spot.statement.binds() if spot.blamed and at is not spot.statement else [])}
        names |= {name for space in inquiry._spaces() for name, value in list(space.items()) if inquiry.recorded(value) == entry.row or _not_finite(value)}
        read = [] if at is None else [n for n in at.walk() if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load) and unparse(n) in names]
        numbers = numbers_of(entry.value)
        bounds = "" if numbers is None or not np.isinf(numbers).any() else ", posinf=10000.0, neginf=-10000.0"
        text = spot.spelled(template.partition("(")[0])
        return spot.put([(n, (text + "(" + template.partition("(")[2]).format(x=unparse(n), bounds=bounds)) for n in read]) if read and text else None

    return Whole(plan)


def _not_finite(value: Any) -> bool:
    """Whether a value is an array of NumPy's, which is no row itself, with NaNs or infinities."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all()


def other_factor(small: str) -> Whole:
    """The factor that is zero: where it was made, and what it may be instead."""

    def plan(spot: Spot) -> Mend | None:
        inquiry, entry = spot.inquiry, spot.entry
        after = inquiry._after()
        zeros = [] if entry is None else [row for row in entry.inputs if row not in after and inquiry._is_zero(row)]
        if not zeros:
            return _number(spot)
        row = zeros[0]
        while inquiry.entries[row].dtype != "bool" and (given := [i for i in inquiry.entries[row].inputs if inquiry._is_zero(i)]):
            row = given[0]
        return _condition(spot, row) or _made_of_zeros(spot, row, small)

    return Whole(plan)


def _number(spot: Spot) -> Mend | None:
    """A number of Python's that is zero as a factor."""
    names = [n for m in spot.statement.walk() if isinstance(m, ast.BinOp) and isinstance(m.op, ast.Mult) for n in (m.left, m.right) if isinstance(n, ast.Name)]
    for name in names:
        zero = any(space.get(name.id, 1) == 0 for space in map(dict, spot.inquiry._spaces()) if isinstance(space.get(name.id), (int, float)))
        made = spot.source.last_binding(spot.source.key(name.id, spot.statement.function), spot.statement)
        value = None if made is None else made.value()
        if zero and value is not None and (found := spot.put([(value, f"max(0.01, {unparse(value)})")])) is not None:
            return Mend(found.steps, f"The other factor is {name.id}, which is 0: begin with a small number. {told(found.steps)}")
    return None


def _condition(spot: Spot, row: int) -> Mend | None:
    """The opposite of a condition that no element fulfils."""
    entry = spot.inquiry.entries[row]
    s = spot.source.at(spot.filename, entry.site[1] or 0)
    if s is None or entry.dtype != "bool" or entry.site[0] != spot.filename:
        return None
    changes: list[tuple[Any, str]] = []
    for n in s.walk():
        if isinstance(n, ast.Compare) and len(n.ops) == 1 and type(n.ops[0]) in _OPPOSITE:
            changes.append((n, unparse(ast.Compare(n.left, [_OPPOSITE[type(n.ops[0])]()], n.comparators))))
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _OTHER_WAY:
            changes.append((n.func, f"{unparse(n.func.value)}.{_OTHER_WAY[n.func.attr]}"))
    found = spot.put(changes) if len(changes) == 1 else None
    return None if found is None else Mend(found.steps, f"No element fulfils the condition of line {s.line}. If it is meant the other way round: {told(found.steps)}")


def _made_of_zeros(spot: Spot, row: int, small: str) -> Mend | None:
    """Small numbers for the zeros that a factor begins with."""
    entry, inquiry = spot.inquiry.entries[row], spot.inquiry
    site = inquiry._made(row) if hasattr(inquiry, "_made") and entry.kind == "source" else entry.site
    name = entry.name or ""
    key = name.rpartition("[")[2].strip("]'\"")
    made = [s for s in spot.statements if s.line <= (site[1] or 0) <= s.last or name in s.binds()]
    dicts = [n for s in spot.statements for n in s.walk() if isinstance(n, ast.Dict)]
    calls: list[Any] = [v for n in dicts for k, v in zip(n.keys, n.values, strict=True) if isinstance(k, ast.Constant) and k.value == key and is_call(v, "zeros")]
    calls = calls or [n for s in made for n in s.walk() if is_call(n, "zeros") and name]
    small_numbers = spot.spelled(small)
    if len(set(calls)) != 1 or small_numbers is None:
        return None
    new = f"0.1 * {small_numbers}({', '.join(map(unparse, [*calls[0].args, *calls[0].keywords]))})"
    found = spot.put([(calls[0], new)])
    return None if found is None else Mend(found.steps, f"The other factor is {name}, and begins with zeros. If it should not: {told(found.steps)}")
