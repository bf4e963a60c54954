"""Why a gradient of JAX is zero or NaN, or refused: checks, each for one cause."""

from __future__ import annotations

import ast
import re
import traceback
from typing import Any

import jax
import numpy as np

from ...engine.recording.frames import own_file
from ...explain.reasons import checks, text, words, zero_nan
from ...explain.reasons.question import Finding, Found, Question, way_to
from ...explain.reasons.zero_nan import at_row
from ...explain.sentences import fill
from ...explain.words import Explanation
from ...recording.sites import NOWHERE, Site
from ..checkup import Checkup
from ..rows import dropped, read_later
from ..texts import ARRAY
from .adapter import read
from .rows import STAIRS
from .words import BENT, TEXT

TRACED = ("Tracer", "traced", "concrete")
BENDS = {"relu", "leaky_relu", "relu6", "max", "abs", "select_n"}  # that consist of straight lines
GROWS = set("exp exp2 expm1 cosh sinh pow integer_pow".split())
ASKED = re.compile(r"problem arose with the `(\w+)` function")
NUMBERS = "int float round item tolist range".split()


# -- what JAX refuses ------------------------------------------------------------------------------


def refused(q: Question) -> Found:
    """The function could not be traced."""
    recording = q.adapter.recording
    error = recording.error
    if error is None or recording.ran:
        return None
    site, called = site_of_error(error)
    site = site if recording.stopped is NOWHERE else recording.stopped
    for kind, cause in (
        (jax.errors.UnexpectedTracerError, "leaked_tracer"),
        (jax.errors.TracerBoolConversionError, "branch"),
        (jax.errors.NonConcreteBooleanIndexError, "boolean_index"),
    ):
        if isinstance(error, kind):
            return (keeps(site) if cause == "leaked_tracer" else None) or Finding(cause, site)
    said = str(error)
    if "size argument" in said:
        return Finding("boolean_index", site, kind="size", what=asks(error, called))
    if any(word in f"{error} {error.__cause__} {error.__context__}" for word in TRACED):
        math = [ast.unparse(call.func) for call in text.at(site).calls if text.root_name(call) == "math"]
        return Finding("left_jax", site, what=f"{math[0]}()" if math else asks(error, called))
    for word, cause in (("while_loop", "while_loop"), ("callback", "callback"), ("scalar-output", "not_scalar")):
        if word in said:
            return Finding(
                cause, site, what=said.rpartition("shape: ")[2].rstrip(".") if cause == "not_scalar" else word
            )
    kinds = {"item assignment": "in_place", "forward-mode": "forward", "got <class 'list'>": "list"}
    return Finding(
        "refused",
        site,
        kind=next((kind for word, kind in kinds.items() if word in said), ""),
        what=said.partition("\n")[0],
    )


def keeps(used: Site) -> Found:
    """The statement that keeps a tracer in an attribute, which the function reads when it is called again."""
    at = text.at(used)
    near = [at, *(s for name in at.reads for s in text.bound_by(name, at))]
    read = {ast.unparse(node) for s in near for node in s.nodes if isinstance(node, ast.Attribute)}
    for s in text.statements(used[0]):
        kept = read & {ast.unparse(target) for target in s.targets}
        if kept and s.functions == at.functions:
            return Finding("leaked_tracer", s.site, kind="kept", what=kept.pop())
    return None


def asks(error: Exception, called: str) -> str:
    """What wanted a number: JAX says it, or the error came up in a function of its own."""
    if isinstance(error, jax.errors.TracerArrayConversionError):
        return fill("A NumPy function")
    if isinstance(error, jax.errors.TracerIntegerConversionError):
        return fill("range() or an index")
    found = ASKED.search(str(error))
    return f"{found[1] if found else called}()" if found or called else fill("This line")


def result(q: Question) -> Found:
    """The result is not one number; or the way back ended in an error."""
    recording = q.adapter.recording
    if recording.error is None:
        return None
    value, said = recording.value, str(recording.error)
    if isinstance(recording.error, TypeError) and not recording.sweeps:
        site = q.adapter.origin.result(NOWHERE if not q.ends else q.rows[q.ends[0]].site)
        if not hasattr(value, "shape"):
            return Finding("not_scalar", site, kind="none") if value is None else Finding("has_aux", site)
        if "aux" in said:
            return Finding("has_aux", site, kind="none")
        if value.shape != ():
            return Finding("not_scalar", site, what=str(value.shape))
        if np.iscomplexobj(value):
            return Finding("refused", site, kind="complex")
    return None


def way_back(q: Question) -> Found:
    """JAX's way back ended in an error."""
    error = q.adapter.recording.error
    if error is None:
        return None
    for word, cause in (("while", "while_loop"), ("callback", "callback")):
        row = next((row for row in sorted(q.behind) if word in q.rows[row].op and q.rows[row].tracked), None)
        if row is not None:
            return at_row(q, cause, row)
    said = str(error).partition("\n")[0]
    rules = [row for row in sorted(q.behind) if q.rows[row].extra.custom and q.rows[row].tracked]
    return (
        rule(q, rules[0], "refused", said)
        if rules and "bwd rule" in said
        else Finding("refused", site_of_error(error)[0], what=said)
    )


def site_of_error(error: Exception) -> tuple[Site, str]:
    """The user's innermost line on which an error was raised, and the function of a library in which."""
    called = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not own_file(frame.filename):
            return (frame.filename, frame.lineno), called
        called = frame.name.strip("_") if frame.name not in ("meth", "op") else called
    return NOWHERE, ""


# -- the argument ----------------------------------------------------------------------------------


def whole_numbers(q: Question) -> Found:
    """An argument that is differentiated is no float."""
    recording = q.adapter.recording
    for row in recording.chosen if recording.error is not None else q.own:
        if row in recording.chosen and not q.rows[row].tracked:
            return Finding(
                "integer_dtype",
                q.adapter.made(row),
                row,
                q.rows[row].dtype,
                other=q.rows[row].name or fill("An argument"),
            )
    return None


def no_argument(q: Question) -> Found:
    """The array is an argument that is not differentiated, or none."""
    recording, origin = q.adapter.recording, q.adapter.origin
    if q.own and q.own[0] not in recording.chosen:
        if q.rows[q.own[0]].kind != "source":
            return None
        chosen = {leaf.argument for leaf in recording.given if leaf.row in recording.chosen}
        asked = next(leaf.argument for leaf in recording.given if leaf.row == q.own[0])
        both = str((*sorted({asked, *chosen}),))
        return Finding(
            "argnums",
            origin.gradient_line,
            what=str(asked),
            other=both,
            fields={"instead": both if chosen - {0} else str(asked)},
        )
    if q.own:
        return None
    root, site = recording.log.outside.get(id(q.source), (None, NOWHERE))
    if root is None or root is not q.source:
        site, _ = origin.reads(lambda name, value: name == q.name and value is q.source)
    return None if site == NOWHERE else Finding("closure", site)


# -- the way ---------------------------------------------------------------------------------------


def stairs(q: Question, row: int) -> str:
    """The function of jax.numpy that is constant in steps, and that an operation is a part of."""
    return next((name for name in q.rows[row].scope if name in STAIRS), "")


def broken(q: Question) -> Found:
    """What breaks the way; steps by the name of their function."""
    found = checks.broken(q)
    for one in [] if found is None else [found, *found.others]:
        if one.cause == "no_derivative" and one.row is not None and stairs(q, one.row):
            one.cause, one.what = "zero_derivative", stairs(q, one.row)
    return found


def left(q: Question) -> Found:
    """A value that Python asked for while the function was traced."""
    exits = [exit for exit in q.exits if exit.row in q.after] if not q.used and q.ends else []
    for exit in sorted(exits, key=lambda exit: exit.how == "__bool__"):
        at = text.at(exit.site)
        if exit.how == "__bool__":
            tested = {name for name in at.reads if name.isidentifier()} - text.program(at.file).imported.keys()
            tested = tested & computed_from(q.name.partition("[")[0], at) or tested
            only = isinstance(at.node, ast.If) and not read_later(at, tested)
            return Finding("branch" if only else "other_branch", exit.site, kind="python")
        number = next((name for name in NUMBERS if at.call_of(name)), "")
        return Finding("left_jax", exit.site, what=f"{number}()", kind="number" if number else "values")
    return None


def computed_from(name: str, at: text.Statement) -> set[str]:
    """A name, and those that a function computes from it before a statement."""
    found = {name}
    for s in text.statements(at.file)[: at.order]:
        for target, part in zip(s.targets, text.parts_of(s), strict=True) if s.functions == at.functions else ():
            if found & text.names_in(ast.walk(part or s.node)):
                found.add(ast.unparse(target))
    return found


def unused(q: Question) -> Found:
    """Another branch ran, another value was used in its place, or nothing was."""
    recording, origin = q.adapter.recording, q.adapter.origin
    if q.used:
        return None
    for fork in recording.log.forks:
        if q.after.intersection(fork.rows):
            return Finding("other_branch", fork.site, what=str(fork.taken))
    leaf = next((leaf for leaf in recording.given if leaf.row in q.own), None)
    root, used = recording.log.outside.get(id(leaf and leaf.value), (None, NOWHERE))
    if leaf is not None and root is leaf.value and hasattr(root, "dtype"):
        tree = origin.args[leaf.argument]
        site, name = origin.reads(lambda name, value: value is root or value is tree)
        own, at = q.name.partition("[")[0], text.at(used)
        if not name or name in ast.unparse(at.node):
            site = used
        return Finding("closure", site, kind="beside", what=name or fill(ARRAY), other=own)
    bent = [row for row in sorted(q.after) if q.rows[row].op in BENDS]
    if bent and any("transpose(" in scope for row in q.after for scope in q.rows[row].scope):
        return at_row(q, "zero_derivative", bent[0], "second")
    return dropped(q) or Finding("unused", origin.head)


# -- what arrived ----------------------------------------------------------------------------------


def zero_rule(q: Question) -> Found:
    """A rule of the program's own, or a loop, passed nothing on."""
    if q.sweep is None or not q.used or q.used[0] not in q.adapter.recording.unreached:
        return None
    for row, _ in q.way:
        if q.rows[row].extra.custom:
            return rule(q, row)
        if "while" in q.rows[row].op:
            return at_row(q, "while_loop", row)
    return None


def rule(q: Question, row: int, cause: str = "custom_rule", what: str = "") -> Finding:
    """A rule of the program's own: the line on which it returns."""
    return Finding(cause, zero_nan.rule_of(q, row), row, what)


def nan(q: Question) -> Found:
    """Where NaN came up, also before a division has hidden an infinity."""
    found = zero_nan.nan(q)
    if found is None or found.row is None:
        return found
    row, grows = q.rows[found.row], (at for at in sorted(q.back(q.rows[found.row].inputs)) if q.rows[at].op in GROWS)
    large = [at for at in grows if not zero_nan.finite(q, at) and all(zero_nan.finite(q, n) for n in q.rows[at].inputs)]
    if large and found.cause == "nan_forward":
        return at_row(q, "nan_forward", large[0])
    new = np.isnan if row.array is not None and np.isnan(row.array).any() else np.isinf
    if found.cause == "nan_input" and row.extra.roots and not any(new(root).any() for root in row.extra.roots):
        return at_row(q, "nan_forward", found.row, what=fill("An operation"))  # of what has none itself
    if found.cause == "nan_input":
        found.site = q.adapter.made(found.row) if row.kind == "source" else found.site
    return found


def zero(q: Question) -> Found:
    """What made zeros, with what JAX calls it."""
    found = zero_nan.zero(q)
    if found is None or found.row is None:
        return found
    row = q.rows[found.row]
    step = next((at for at in sorted(q.after & q.behind) if is_step(q, at)), None) if row.op in zero_nan.CLIPS else None
    if step is not None or stairs(q, row.row):
        at = row.row if step is None else step
        return at_row(q, "zero_derivative", at, what=stairs(q, at))
    if found.cause == "not_selected" and q.adapter.recording.entries[row.row].label in ("max 0.0", "0.0 max"):
        return at_row(q, "dead_relu", row.row)
    sums = [one for one in q.rows if one.op.startswith("reduce_") and found.what in one.scope and one.site == row.site]
    single = [np.prod(q.rows[one.inputs[0]].shape) == np.prod(one.shape) for one in sums]
    if found.cause == "zero_cancels" and single and all(single):
        found.kind = "one"
    if row.op == "select_n":
        curve = next((name for name in row.scope if name in BENT), "")
        asked = [q.rows[one] for one in row.inputs if q.rows[one].op in ("gt", "ge", "lt", "le")]
        written = asked and {*asked[0].inputs} & {*row.inputs} and zero_nan.is_off(q, row.row)
        if curve or written:
            return at_row(q, "saturated" if curve else "dead_relu", row.row, what=curve or "where")
    return found


def begins_at_zero(q: Question, found: Finding) -> bool:
    """Whether the factor that made zeros is an argument that is zero now, and gets a gradient that is not: ReZero."""
    if found.cause != "zero_factor" or found.row is None:
        return False
    gates = q.back([at for at in q.rows[found.row].inputs if at not in q.after]) & q.sweep.adjoints.keys()
    return any(
        zero_nan.is_zero(q, at) and not q.sweep.adjoints[at].facts()[0]
        for at in gates.intersection(q.adapter.recording.chosen)
    )


def is_step(q: Question, row: int) -> bool:
    """Whether a row is constant in steps, and alone cuts its way: its gradient would be zero there for any value."""
    steps = stairs(q, row) or any(one.why == "zero_derivative" for one in q.rows[row].given)
    return bool(steps) and not any(one.why for _, one in way_to(q, {row}))


CHECKS = (refused, whole_numbers, result, no_argument, broken, left, unused, way_back, zero_rule, nan, zero)


def why(recording: Any, target: Any, source: Any) -> Explanation:
    """The explanation of one gradient; see ``Recording.explain``. Of a tree, that of its worst leaf."""
    own = recording.rows_of(source)
    if own[1:]:
        page = Checkup(recording, target).page(recording.named(own))
        return next(iter(page.problems or page.values()))
    q = read(recording, target, source, own)
    q.name = next((q.rows[row].name for row in own), "") or words.path_to(q, source) or fill(ARRAY)
    if isinstance(source, str) and not own and recording.ran:
        names = ", ".join(row.name for row in q.rows if row.name and row.kind == "source")
        raise ValueError(f"explain() knows no argument {source!r}. There are: {names}.")
    known = bool(own) or isinstance(source, str) or hasattr(source, "shape")
    if not known and not q.adapter.origin.reads(lambda name, value: name == q.name and value is source)[1]:
        raise TypeError(f"explain() takes an array or the name of an argument as its source, but received {source!r}.")
    found = next((finding for check in CHECKS if (finding := check(q)) is not None), Finding("connected"))
    answer = words.explanation(q, found, TEXT)
    answer.intended |= begins_at_zero(q, found)
    return answer
