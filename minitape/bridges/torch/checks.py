"""Why a ``.grad`` is None, zero or NaN in PyTorch: the checks, each for one cause."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

import torch

from ...explain.reasons import checks, text, words, zero_nan
from ...explain.reasons.question import Exit, Finding, Found, Question, RecordedRow
from ...explain.reasons.zero_nan import at_row
from ...explain.sentences import fill
from ...explain.words import Explanation
from ...recording.sites import NOWHERE, Site, text_of
from ..recording import Number
from ..rows import dropped, first_nan
from .adapter import CAUSES, read
from .graph import plain_node
from .rows import PAUSES
from .words import SAMPLES, TEXT

# -- errors ----------------------------------------------------------------------------------------


def failed(q: Question) -> Found:
    """A backward pass ended in an error that a place in the program explains."""
    error, site = q.adapter.recording.error or (None, NOWHERE)
    said = str(error)
    if "modified by an inplace operation" in said:
        changed = [rows for rows in q.adapter.log.changes if not q.behind.isdisjoint(rows)]  # before and after
        node = plain_node("".join(re.findall(r"output \d+ of (\w+), is at version", said)))
        named = [rows for rows in changed if node in [plain_node(q.rows[row].extra.node) for row in rows]]
        assigned = [event["line"] for event in q.adapter.recording.events if event["kind"] == "assign"]
        if named or (changed and not assigned):
            return at_row(q, "in_place", [*changed, *named][-1][1])
        return Finding("in_place", (q.rows[q.ends[0]].site[0], assigned[-1]) if assigned else NOWHERE, kind="parameter")
    if "leaf Variable" in said:
        return Finding("in_place", site, what=fill("The assignment"), kind="leaf")
    if "second time" in said:
        return Finding("backward_twice", site)
    if "only for scalar outputs" in said:
        return Finding("not_scalar", site, what=str(math.prod(q.rows[q.ends[0]].shape)))
    return None


# -- the source ------------------------------------------------------------------------------------


def plain_target(q: Question) -> Found:
    """The target is a number, or there was no backward pass."""
    if isinstance(q.target, (torch.Tensor, Number)):
        return None
    if q.target is None:
        return Finding("no_backward", kind="none")
    return Finding("not_tensor", what=type(q.target).__name__)


def not_required(q: Question) -> Found:
    """The source requires no gradient, or did not when it was used."""
    log, source = q.adapter.log, q.source
    first = q.rows[q.used[0]] if q.used else None
    if source.requires_grad:
        if first is None or first.tracked or first.kind == "operation":
            return None
        use = next((row for row in q.first_uses()), first)
        return Finding("requires_grad", use.site, use.row, kind="late", intended=False)
    made = next((q.rows[row] for row in q.own if q.rows[row].kind == "operation"), None)
    if made is not None and made.extra.why and any(q.rows[row].tracked for row in made.inputs):
        cause = CAUSES.get(made.extra.why, made.extra.why)
        return at_row(q, cause, made.row, "source" if cause == "no_grad" else "")
    site = log.history.frozen.get(source) or log.born.get(source) or NOWHERE
    if site is NOWHERE and first is not None:
        frozen = [
            s
            for s in text.statements(first.site[0])
            if not hasattr(s.node, "body") and re.search(r"requires_grad(_\(| = )False", ast.unparse(s.node))
        ]
        site = frozen[0].site if len(frozen) == 1 and isinstance(source, torch.nn.Parameter) else first.site
    return Finding("requires_grad", site, None if first is None else first.row)


GIVES = ("register_buffer", "register_parameter")  # a module a tensor, by its name


def made_at(q: Question, row: RecordedRow) -> Site:
    """The line that made a tensor; what ran before the block was not seen, and the text tells."""
    use, name = text.at(row.site), words.path_to(q, row.thing())
    if not name or not (row.row in q.adapter.log.unseen or q.adapter.log.is_from_before(row.row)):
        return row.site
    part, element = name.rpartition(".")[2], name.partition("[")[0]
    # before the use in the text; of a function the module may make below what it hands in
    earlier = [s for s in text.statements(use.file) if s.order < use.order or (use.functions and not s.around)]
    made = [s for bound in (f"self.{part}", element, name) for s in earlier if bound in s.binds]
    given = [s for s in earlier if s.call_of(*GIVES) and repr(part) in ast.unparse(s.node)]
    return [row.site, *(s.site for s in given + made)][-1]


# -- the way ---------------------------------------------------------------------------------------


def broken(q: Question) -> Found:
    """What breaks the path, in PyTorch's words; a path that leads through a copy of the source is no path of it."""
    found = checks.broken(q)
    if found is None:
        return None
    for one in (found, *found.others):
        in_torch(q, one)
    chosen = found.row is not None and q.rows[found.row].dtype.startswith(checks.WHOLE)  # as an action that is drawn
    through_leaf = any(q.rows[row].kind != "operation" for row, _ in q.way)
    return (copied(q) if chosen or through_leaf else None) or found


MADE_BY = {"create_graph": ".grad", "no_grad": "The assignment", "copied": "tensor"}  # what a leaf got its values from


def in_torch(q: Question, one: Finding) -> None:
    """Says a break as PyTorch calls it: of a leaf, of a draw, in a function without gradients."""
    if one.row is None:
        return
    at, row = text.at(one.site), q.rows[one.row]
    if row.kind != "operation":
        one.what = fill(MADE_BY[one.cause]) if one.cause in MADE_BY else one.what
    if row.extra.why == "wrapped":
        one.kind = "wrapped"
    if at and one.cause in PAUSES and not at.within(*PAUSES):
        if at.call_of("sample"):
            one.kind = "drawn"
        else:  # a function that the block, or a decorated function, calls
            way = [site for site in row.extra.way if (s := text.at(site)) and s.within(*PAUSES)]
            one.site = [one.site, *way][-1]


def left(exit: Exit) -> Finding:
    """A value left, or chose."""
    if exit.how == "__bool__":
        return Finding("branch", exit.site, exit.row)
    return Finding("left_torch", exit.site, exit.row, words.left_by(exit.how))


def outside(q: Question) -> Found:
    """What left and came back; else what chose."""
    made = None if q.ends else text.at(q.adapter.log.born.get(q.target, NOWHERE))  # a target that nothing computed
    exits = [e for e in q.exits if e.row in q.after] if (q.ends or made) and not q.used else []
    back = [
        e
        for e in exits
        if e.how != "__bool__" and (made in text.flow(text.at(e.site) or made, ()) if made else checks.flows_back(q, e))
    ]
    real = [e for e in back if not q.rows[e.row].dtype.startswith(checks.WHOLE)]  # what a gradient could pass
    chose = [e for e in exits if e.how == "__bool__"][:1]
    found = list({e.site: left(e) for e in reversed(real or back or chose)}.values())[::-1]
    if not found:
        return None
    for other in found[1:]:
        other.beside = True
    found[0].others = [*made_again(q, found[0]), *found[1:]]
    return found[0]


def made_again(q: Question, left: Finding) -> list[Finding]:
    """The line that makes a tensor of the values that left, which is a break, too."""
    start = text.at(left.site)
    for row in q.leaves() if start and left.cause != "branch" else ():
        at = text.at(row.site)
        call = None if at is start else at.call_of("tensor", "from_numpy", "FloatTensor")
        if call is not None and at in text.flow(start, [row.site[0]]):
            return [Finding("copied", row.site, row.row, text.last_name(call.func))]
    return []


# -- another object --------------------------------------------------------------------------------


def replaced(q: Question) -> Found:
    """Another parameter, or a copy, was used; or nothing that the block saw."""
    log, source = q.adapter.log, q.source
    if q.used:
        return None
    if not (q.own or source.is_leaf):
        return Finding("non_leaf", kind="anew")
    unseen = not q.own and any(row in log.unseen for row in q.behind)
    site = log.history.replaced_at(source)
    found = copied(q) if site is NOWHERE else Finding("rebound", site, kind="replaced")
    return found or (Finding("unknown", kind="before") if unseen else None)


def copied(q: Question) -> Found:
    """A deep copy of the source was used."""
    made = (q.adapter.log.history.copied_at(q.rows[row].thing(), q.source) for row in sorted(q.behind))
    site = next((site for site in made if site is not NOWHERE), None)
    return None if site is None else Finding("rebound", site, kind="copied")


def unused(q: Question) -> Found:
    """What came of the source was dropped, or its layer was not called."""
    if q.used:
        return None
    log = q.adapter.log
    held = [q.source, *(tensor for row in q.after if (tensor := q.rows[row].thing()) is not None)]
    inside = next((site for tensor in held if (site := log.inside.get(tensor)) is not None), None)
    if inside is not None and q.after.isdisjoint(log.unseen):
        return Finding("unknown", inside)
    return dropped(q) or uncalled(q) or Finding("unused")


def uncalled(q: Question) -> Found:
    """Nothing was computed with the whole layer of the source: the line that gives it to the model."""
    log = q.adapter.log
    root, path = log.history.path_of(q.source)
    layer = path.rpartition(".")[0]
    if root is None or any(not q.behind.isdisjoint(log.rows_of(p)) for p in root.get_submodule(layer).parameters()):
        return None
    part = layer
    while part:
        part, _, name = part.rpartition(".")
        site = text.attribute_site(root.get_submodule(part), name)
        if site is not NOWHERE:
            return Finding("unused", site, what=layer, kind="layer")
    return None


# -- .grad -----------------------------------------------------------------------------------------


def grad(q: Question) -> Found:
    """The gradient arrived, and did not become .grad."""
    log, sweep, source = q.adapter.log, q.sweep, q.source
    if sweep is None:
        return Finding("no_backward")
    row = next((row for row in q.used if row in sweep.adjoints), None)
    if row is None:
        stopped = zero_nan.stopped(q)
        return Finding("unused") if stopped is None else own_rule(q, stopped)
    asked, when = sweep.asked, q.adapter.recording.sweeps.index(sweep)
    call = text.at(sweep.site)
    steps = (step for step in log.training.steps_of(source) if step.sweep >= when)
    without = any(step.samples.get(id(source)) is None for step in steps)
    dropped = without or isinstance(call.node, ast.Expr)
    if asked == "grad" and source.is_leaf and source.grad is None and dropped:
        return Finding("grad_returned", sweep.site)
    if not source.is_leaf and not source.retains_grad and asked != "grad":
        return at_row(q, "non_leaf", row)
    if source.is_leaf and source.grad is None:
        site, after = log.clearings.get(source, (NOWHERE, -1))
        if after > when:
            return Finding("grad_cleared", site, row)
    filled = log.rows_of(source.grad) if source.is_leaf and source.grad is not None and asked != "grad" else []
    if filled and not source.grad.is_sparse and not bool(source.grad.any()) and not sweep.adjoints[row].facts()[0]:
        return Finding("grad_cleared", q.rows[filled[-1]].site, row, kind="zeros")
    return None


def own_rule(q: Question, row: int, kind: str = "") -> Finding:
    """A ``backward()`` of the program's own gave nothing, or zeros."""
    site = zero_nan.rule_of(q, row)
    return Finding("no_gradient", q.rows[row].site if site is NOWHERE else site, row, kind=kind)


def nan(q: Question) -> Found:
    """Where NaN came up, also in an earlier pass."""
    return first_nan(q, read)


def hook_at(file: str | None) -> Site:
    """The line on which the one hook of a program returns."""
    calls = [call for s in text.statements(file) if (call := s.call_of(*HOOKS))]
    names = {text.last_name(given) for call in calls for given in call.args}
    ends = [s.site for s in text.statements(file) if isinstance(s.node, ast.Return) and s.function in names]
    return [NOWHERE, *((file, call.lineno) for call in calls), *ends][-1] if len(calls) < 2 else NOWHERE


HOOKS = ("register_hook", "register_full_backward_hook", "register_full_backward_pre_hook")


def zero(q: Question) -> Found:
    """What made zeros, with what PyTorch knows of it."""
    found = zero_nan.zero(q)
    if found is None or found.row is None:
        return found
    row = q.rows[found.row]
    if found.cause == "hook" or row.op == "BackwardHookFunction":
        what = words.path_to(q, row.thing()) or fill("a tensor")
        return at_row(q, "hook", row.row, what=what, site=hook_at(row.site[0]))
    if row.extra.custom:
        return own_rule(q, found.row, "zeros")
    if row.op in SAMPLES or (row.op == "grid_sample" and "nearest" in text_of(row.site)):
        return at_row(q, "zero_derivative", found.row, "sampled" if row.op in SAMPLES else "nearest")
    return found


OF_LEAVES = ("requires_grad", "non_leaf", "integer_dtype", "nan_input")
ALWAYS = (failed, checks.whole_numbers, not_required)
CHECKS = (failed, plain_target, checks.whole_numbers, not_required, broken, outside, replaced, unused, grad, nan, zero)


def ask(recording: Any, target: Any, source: Any) -> Explanation:
    """Why one tensor has no gradient, or what is wrong with one that is there."""
    if not isinstance(source, torch.Tensor):
        raise TypeError(f"explain() takes a tensor as its source, but received {source!r}.")
    q = read(recording, target, source)
    q.name = words.path_to(q, source) or recording.log.history.name_of(source)
    order = CHECKS if target is not None else (*ALWAYS, plain_target)
    found = next((finding for check in order if (finding := check(q)) is not None), Finding("connected"))
    if found.row is not None and found.cause in OF_LEAVES and found.site == q.rows[found.row].site:
        found.site = made_at(q, q.rows[found.row])
    answer = words.explanation(q, found, TEXT)
    answer.connected |= found.kind == "zeros"
    return answer
