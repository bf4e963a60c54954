"""What fixes a program elsewhere than on the line to blame, or on several lines: calls, functions, the other factor,
data; see :mod:`patches`.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...common.texts import paragraph
from ..sentences import fill
from ..statement import FUNCTIONS, last_name, parameters, unparse
from .edit_site import Edit, EditStep, Fix, Spot, is_call, plan_with, steps_text
from .leaving import inside, left_value


@plan_with
def anywhere(spot: Spot, edit: Edit) -> Fix | None:
    """An edit of the one place in the program that it knows."""
    found = [s for s in spot.statements for node in s.walk() if edit(spot.on(s), node) is not None]
    return spot.on(found[0]).edit_one(edit) if len(found) == 1 else None


@plan_with
def to_try(spot: Spot, edit: Edit, lead: str) -> Fix | None:
    """Describes one of several possible edits, without a patch, of the line to blame or the one place that it knows."""
    found = spot.edit_one(edit) or anywhere(edit).plan(spot)
    return None if found is None else Fix(found.steps, paragraph(fill(lead), steps_text(found.steps)))


def with_aux(spot: Spot) -> Fix | None:
    """``has_aux=True`` for the gradient of a function that returns more than the loss."""
    asked = spot.inquiry.origin.function.__name__
    changes: list[tuple[Any, str]] = []
    returned: Any = spot.statement.node
    if isinstance(returned, ast.Return) and isinstance(returned.value, ast.Dict):
        keys = [unparse(key) for key in returned.value.keys if key is not None]
        best = next((i for i, key in enumerate(keys) if "loss" in key), 0)
        changes.append((returned.value, f"{unparse(returned.value.values[best])}, {unparse(returned.value)}"))
    elif (
        not isinstance(returned, ast.Return)
        or not isinstance(returned.value, ast.Tuple)
        or getattr(spot.inquiry.recording.value[0], "shape", None) != ()
    ):
        return None
    calls = [
        (s, n)
        for s in spot.statements
        for n in s.walk()
        if is_call(n, "grad", "value_and_grad") and len(n.args) == 1 and unparse(n.args[0]) == asked
    ]
    if len(calls) != 1:
        return None
    statement, grad = calls[0]
    if any(keyword.arg == "has_aux" for keyword in grad.keywords):  # more than a pair comes back
        parts: Any = getattr(returned.value, "elts", ())
        return (
            spot.replace([(returned.value, f"{unparse(parts[0])}, ({', '.join(map(unparse, parts[1:]))})")])
            if len(parts) > 2
            else None
        )
    changes.append((grad.args[-1], f"{asked}, has_aux=True"))
    for s in spot.statements:
        call = s.value()
        if (
            isinstance(s.node, ast.Assign)
            and isinstance(call, ast.Call)
            and (call.func is grad or (grad is statement.value() and unparse(call.func) in statement.binds()))
        ):
            target = s.node.targets[0]
            if is_call(grad, "grad") and isinstance(target, ast.Name):
                changes.append((target, f"{target.id}, aux"))
            elif (
                is_call(grad, "value_and_grad")
                and isinstance(target, ast.Tuple)
                and isinstance(target.elts[0], ast.Name)
            ):
                changes.append((target.elts[0], f"({target.elts[0].id}, aux)"))
    return spot.replace(changes)


def static_count(spot: Spot) -> Fix | None:
    """``static_argnames`` where a loop has its number of steps, or an array its shape, from an argument of a compiled
    function.
    """
    loops: list = [
        n for n in spot.statement.walk() if is_call(n, "fori_loop", "range", "arange", "zeros", "ones", "eye")
    ]
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
            return spot.checked([EditStep(at, at, line[: len(line) - len(line.lstrip())] + new)])
    return None


def elements_set(spot: Spot) -> Fix | None:
    """``x = x.at[i].set(v)`` for each ``x[i] = v``, of an array of jax.numpy."""
    first: Any = spot.statement.node
    targets = (
        first.targets if isinstance(first, ast.Assign) else [first.target] if isinstance(first, ast.AugAssign) else []
    )
    if not targets or not isinstance(targets[0], ast.Subscript) or not isinstance(targets[0].value, ast.Name):
        return None
    x, changes = targets[0].value.id, []
    for s in spot.statements:
        node: Any = s.node
        if s.function is not spot.statement.function:
            continue
        items: list = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        if items and all(isinstance(item, ast.Subscript) and unparse(item.value) == x for item in items):
            step = (
                {ast.Add: "add", ast.Mult: "multiply"}.get(type(node.op)) if isinstance(node, ast.AugAssign) else "set"
            )
            if step is None:
                return None
            changes.append(
                (
                    node,
                    f"{x} = {x}"
                    + "".join(f".at[{unparse(item.slice)}].{step}({unparse(node.value)})" for item in items),
                )
            )
        elif x in s.binds() and (made := s.value()) is not None and (new := inside(spot.on(s), made)) is not None:
            changes.append((made, new))
    return spot.replace(changes)


@plan_with
def edit_alike_lines(spot: Spot, edit: Edit) -> Fix | None:
    """Applies an edit to the line to blame, and to the lines of its block that do the same with other tensors."""
    near = [s for s in spot.statements if s.block == spot.statement.block and s.function is spot.statement.function]
    changes = [
        (s, (node, new) if isinstance(new, str) else new)
        for s in near
        for node in s.walk()
        if (new := edit(spot.on(s), node)) is not None
    ]
    return spot.replace([change for _, change in changes]) if any(s is spot.statement for s, _ in changes) else None


@plan_with
def listed(spot: Spot, edit: Edit) -> Fix | None:
    """An edit that collects values in a list, of which ``torch.stack`` then makes a tensor."""
    stack, call = (
        spot.spelled("torch.stack"),
        spot.statement.node.value if isinstance(spot.statement.node, ast.Expr) else None,
    )
    appended = call.func.value if is_call(call, "append") and isinstance(call.func, ast.Attribute) else None
    names = spot.statement.binds() if appended is None else [unparse(appended)]
    made = [
        (s, n) for s in spot.statements for n in s.walk() if is_call(n, "tensor", "as_tensor", "FloatTensor") and n.args
    ]
    # others reach it by another name
    own = [last_name(appended)] if appended is not None and unparse(appended).startswith("self.") else []
    of_name = [
        n
        for _, n in made
        if unparse(n.args[0]) in names or (isinstance(n.args[0], ast.Attribute) and n.args[0].attr in own)
    ]
    here = [n for s, n in made if s is spot.statement and isinstance(n.args[0], (ast.ListComp, ast.List))]
    found: list = [(n, new) for n in spot.statement.walk() if (new := edit(spot, n)) is not None]
    if (
        stack is None
        or len(found) != 1
        or not (of_name or here)
        or any(n.keywords for n in here)
        or not (appended or here or isinstance(spot.statement.value(), ast.ListComp))
    ):
        return None
    part = found[0] if isinstance(found[0][1], str) else found[0][1]
    return spot.replace(
        [part, *((n, f"{stack}({unparse(n.args[0])})") for n in of_name), *((n.func, stack) for n in here)]
    )


def element(spot: Spot, node: Any) -> str | None:
    """``x`` for ``x.item()`` and ``float(x)``, and ``x.squeeze()`` where it has axes."""
    inner = left_value(node)
    return None if inner is None else unparse(inner) + ("" if spot.entry and not spot.entry.shape else ".squeeze()")


def finite_data(spot: Spot) -> Fix | None:
    """Finite numbers for NaNs and infinities, where the data are used for the first time."""
    inquiry, entry = spot.inquiry, spot.entry
    if entry is None or entry.differentiable:
        return None
    after = inquiry._after()
    readers = [
        row for row in inquiry.behind if entry.row in inquiry._inputs(row) and inquiry.entries[row].dtype != "bool"
    ]
    reader = min(readers, key=lambda row: (row not in after, row), default=None)
    at = None if reader is None else spot.source.at(spot.filename, inquiry.entries[reader].site[1] or 0)
    names = {entry.name or "", *(spot.statement.binds() if spot.blamed and at is not spot.statement else [])}
    names |= {
        name
        for space in inquiry._spaces()
        for name, value in list(space.items())
        if inquiry.recorded(value) == entry.row
        or (isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all())
    }
    read = (
        []
        if at is None
        else [
            n
            for n in at.walk()
            if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load) and unparse(n) in names
        ]
    )
    numbers = spot.numbers(entry.row)
    value: Any = (
        getattr(spot.statement.node, "value", None)
        if spot.blamed and len({inquiry.entries[row].site for row in readers}) > 1
        else None
    )
    places: list = [value] if value is not None and is_call(value, "tensor", "as_tensor", "from_numpy") else read
    bounds = "" if numbers is None or not np.isinf(numbers).any() else ", posinf=10000.0, neginf=-10000.0"
    text = spot.spelled(spot.dialect.finite.partition("(")[0])
    return (
        spot.replace(
            [
                (n, (text + "(" + spot.dialect.finite.partition("(")[2]).format(x=unparse(n), bounds=bounds))
                for n in places
            ]
        )
        if places and text
        else None
    )
