"""The checks that all frameworks share: each looks for one cause, and the first that finds something answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from ...recording.nodes import placed
from ...recording.sites import NOWHERE, Site
from ..causes import KINDS, row_of
from . import text
from .names import bound_at
from .question import ADDS, Exit, Finding, Found, Question, RecordedRow, breaks, is_target, way_to

RUN_ONCE = ("__init__", "__post_init__", "build")
CUTS = ("stop_gradient", "integer_dtype", "nondifferentiable", "no_gradient_registered")  # before a value leaves
WHOLE = ("int", "uint", "bool")


def whole_numbers(q: Question) -> Found:
    """The source is no float."""
    rows = [q.rows[row] for row in q.own]
    dtype = str(getattr(q.source.dtype, "name", q.source.dtype)).removeprefix("torch.")
    if not dtype.startswith((*WHOLE, "string")):
        return None
    use, row = (rows[0].site, rows[0].row) if rows else (NOWHERE, None)
    return Finding("integer_dtype", (q.adapter.birth(q.source)[1] or [use])[-1], row, dtype, "source")


def broken(q: Question) -> Found:
    """What breaks the way with the fewest breaks, the one nearest to the source first."""
    found: list[Finding] = []
    for row, one in breaks(q.way):
        site = q.rows[row].site if one.site is NOWHERE else one.site
        prepares = found and found[-1].cause in ("outside_tape", "not_recorded") and found[-1].site == site
        if prepares and one.why in ("state", "variable_assign", "left_through_numpy"):
            found.pop()  # it only prepared that
        if found and found[-1].cause == one.why and one.what == "gradient":
            found.pop()  # of another tape: the gradient that was taken there
        if (one.why, site) not in [(other.cause, other.site) for other in found]:
            found.append(Finding(one.why, site, row, one.what))
    if found:
        found[0].others = [*found[1:], *side_breaks(q, found)]
    return next(iter(found), None)


SUBTRACTS = {"sub", "Sub", "subtract", "__sub__"}


def side_breaks(q: Question, said: list[Finding]) -> list[Finding]:
    """What alone blocks another way from the source to the target, and is meant to carry its gradient."""
    mended = {one.row for one in said if one.row is not None}
    earlier = said[:1] and said[0].cause == "variable_assign"  # what it held in the rounds before
    after, before = q.forward(q.used, True), q.back(q.ends, True, mended)
    known = {(one.cause, one.site) for one in said}
    blocked = ((row, one) for row in sorted(before) for one in q.rows[row].given if one.why and one.row in after)
    for row, one in blocked:
        site = q.rows[row].site if one.site is NOWHERE else one.site
        if earlier and KINDS.get(one.why) == "outside":
            continue
        if (one.why, site) not in known and not _chooses(q, row, one.why) and not _on_purpose(q, row, site):
            known.add((one.why, site))
            said = [*said, Finding(one.why, site, row, one.what, beside=True)]
    return [one for one in said if one.beside]


def _chooses(q: Question, row: int, why: str) -> bool:
    """Whether a row gives a truth, a place or a count, and no rounded value."""
    return row_of(why).weight in (0.9, 0.98) and q.rows[row].op not in q.adapter.zeros["zero_derivative"]


def _on_purpose(q: Question, row: int, site: Site) -> bool:
    """Whether a cut leaves the gradient right: ``z + (q - z).detach()``, ``x - x.max().detach()``; or a target."""
    if is_target(site):
        return True
    chain = [row]
    while len(given := q.rows[chain[-1]].inputs) == 1:
        chain.append(given[0])
    made = q.rows[chain[1]] if len(chain) > 1 else q.rows[row]
    uses = [one for one in q.rows[row + 1 :] if row in one.inputs]
    if made.op in SUBTRACTS:
        return any(one.op in ADDS and not {*one.inputs}.isdisjoint(made.inputs) for one in uses)
    shifts = any("max" in q.rows[one].op.lower() for one in chain)
    return shifts and all(one.op in SUBTRACTS | ADDS for one in uses)


def left(q: Question) -> Found:
    """A value that was computed from the source left, and came back, or decided what ran."""
    if q.used:
        return None
    found = sorted(
        (exit for exit in q.exits if exit.row in q.after),
        key=lambda exit: (
            exit.how in ("bool", "__bool__", "index", "int"),
            any(one.why for _, one in way_to_exit(q, exit)),
        ),
    )
    exit = next((exit for exit in found if flows_back(q, exit)), None)
    if exit is None:
        return None
    left, cut = Finding(q.adapter.left, exit.site, exit.row, exit.how), cut_before(q, exit)
    if cut is None:
        return left
    cut.others = [left]
    return cut


def cut_before(q: Question, exit: Exit) -> Found:
    """What breaks the way before a value leaves."""
    for row, one in breaks(way_to_exit(q, exit)):
        if one.why in CUTS:
            return Finding(one.why, q.rows[row].site if one.site is NOWHERE else one.site, row, one.what)
    return None


def way_to_exit(q: Question, exit: Exit) -> list:
    """The way from the source to a value that left."""
    return way_to(Question(q.adapter, q.rows, q.own, [exit.row], q.source), {*q.own})


def only_decides(q: Question, found: Finding) -> bool:
    """Whether a value that left came back nowhere, and decided no more than what ran."""
    exits = [exit for exit in q.exits if (exit.row, exit.site) == (found.row, found.site)]
    return bool(exits) and bool(text.at(exits[0].site)) and not flows_back(q, exits[0], branches=False)


def flows_back(q: Question, exit: Exit, branches: bool = True) -> bool:
    """Whether the text brings it there; where there is none, it may."""
    start = text.at(exit.site)
    if not start:
        return True
    rows = (q.rows[at] for at in q.behind.difference(q.own))
    later = (row for row in rows if row.after(exit) and not q.adapter.is_number(row))
    sites = {site for row in later for site in (row.site, *row.way)}
    reached = text.flow(start, [site[0] for site in sites], branches)
    return any(
        (at := text.at(site)) in reached and (at is not start or not isinstance(at.node, ast.Expr)) for site in sites
    )


# -- another object --------------------------------------------------------------------------------


def held_variable(q: Question, at: text.Statement) -> bool:
    """Whether another statement bound the same name to a variable."""
    near = [s for name in at.binds for s in text.bound_by(name, at) if s is not at]
    others = [s.value for s in near if s.file == at.file or {*at.binds} & at.reads]  # of a cell that goes on with it
    made = [part for value in others for part in getattr(value, "elts", [value])]
    known = ("Variable", "add_weight", "Parameter")
    return any(isinstance(part, ast.Call) and text.last_name(part.func) in known for part in made)


def on(at: text.Statement, site: Site) -> Site:
    """The first line of a statement, with the place in it that is known."""
    place = getattr(site, "place", None)
    return at.site if place is None else placed(place.at(at.line))


def apart(way: Sequence[Site], other: Sequence[Site]) -> Site:
    """The statement at which two ways through calls part; of those behind it one that keeps a result in an object."""
    pairs = enumerate(zip(way, other, strict=False))
    where = next((k for k, (one, two) in pairs if one != two), len(way) - 1)
    for site in way[:where:-1]:
        if any("." in name or "[" in name for name in text.at(site).binds):
            return site
    return way[where] if way else NOWHERE


def moved_name(q: Question) -> Found:
    """A name that held a variable, or a watched tensor, was bound to what was computed of it: ``w = w - rate * g``."""
    if not q.own:
        return None
    row = q.rows[q.own[0]]
    for site in reversed(row.way):
        at = text.at(site)
        if not at.binds:
            continue
        again = bool({*at.binds} & at.reads) or not all(name.isidentifier() for name in at.binds)
        around = {ast.unparse(n) for target in at.targets for n in ast.walk(target) if isinstance(n, ast.expr)}
        state = [q.rows[one] for one in _of_line(q, row, at) if q.rows[one].kind in ("variable", "source")]
        from_state = again and any(names_of(q, one).isdisjoint(at.reads.difference(at.binds, around)) for one in state)
        if from_state or (held_variable(q, at) and not at.call_of("Variable")):
            return Finding("rebound", on(at, site), row.row, at.binds[0])
        return None
    return None


def names_of(q: Question, row: RecordedRow) -> set[str]:
    """What the statements that made a leaf bound; what a call gave among other things may be any of them."""
    made = map(text.at, q.adapter.birth_of(row)[1])
    return {name for at in made for name in at.binds if not at.binds[1:] or not isinstance(at.value, ast.Call)}


def _of_line(q: Question, row: RecordedRow, at: text.Statement) -> Iterator[int]:
    """The leaves that one statement computed a row from."""
    for given in row.inputs:
        one = q.rows[given]
        if one.kind != "operation":
            yield given
        elif any(at.covers(site) for site in one.way):
            yield from _of_line(q, one, at)


def bound_again(q: Question) -> Found:
    """The name of the source, or the statement that made it, made what the target was computed from, too."""
    if q.used:
        return None
    when, way = q.adapter.birth(q.adapter.handle(q.source))
    mine = [(at, site) for site in reversed(way) if (at := text.at(site)).binds]
    mine = mine[: next((k + 1 for k, (at, _) in enumerate(mine) if at.function not in RUN_ONCE), len(mine))]
    for row in q.leaves():
        other, theirs = q.adapter.birth_of(row)
        if q.adapter.is_number(row) or other == when:
            continue
        for at, place in mine:
            names = {*at.binds, bound_at(place)}
            keyed = any(isinstance(t, ast.Subscript) and not isinstance(t.slice, ast.Constant) for t in at.targets)
            for s, site in ((s, site) for site in reversed(theirs) if (s := text.at(site)).binds):
                same = s is at and not keyed and isinstance(at.value, ast.Call)
                same = same and q.adapter.is_variable(q.source) == (row.kind == "variable")
                named = s is not at and any(s in text.bound_by(name, at) for name in names)
                if (same and q.adapter.anew(q, row, at, when, other)) or named:
                    last = on(s, site) if other > when else on(at, place)
                    return Finding("rebound", last, row.row, at.binds[0], "" if named else "again")
    return None


def related(q: Question) -> set[int]:
    """What the source was made of, and the target was computed from as well."""
    rows = [q.rows[row] for row in q.back(q.own).difference(q.own) & q.behind]
    return {row.row for row in rows if row.kind == "variable" or row.tracked}


def made_of_it(q: Question) -> Found:
    """The source was computed from what the target was computed from, and was then not used."""
    named = related(q) if q.own and not q.used else set()
    if not named or not q.back(q.own).isdisjoint(q.ends):  # the two are swapped
        return None
    way = q.rows[q.own[0]].way or q.adapter.birth(q.source)[1]
    return Finding("wrong_object", way[-1] if way else NOWHERE, q.own[0])


def equal_values(q: Question) -> Found:
    """Another object with the same values was used; of a single number that tells only where a tape watches it."""
    states = [
        array.ravel()
        for array in [q.adapter.numbers(q.source), *(q.rows[row].array for row in q.own)]
        if array is not None
    ]
    tensor = not q.adapter.is_variable(q.source)
    watched = tensor and any(q.adapter.watched(q.rows[row]) for row in q.own)
    for row in [] if q.used else q.leaves():
        theirs = row.array
        if theirs is None or q.adapter.is_number(row):
            continue
        tells = watched or (tensor and q.adapter.watched(row)) or (theirs.size > 1 and np.ptp(theirs) > 0)
        if tells and any(np.array_equal(one, theirs.ravel()) for one in states):
            born = [q.adapter.birth(q.adapter.handle(q.source)), q.adapter.birth_of(row)]
            _, later = max(born, key=lambda one: one[0])
            return Finding("wrong_object", later[-1] if later else q.rows[max(row.row, *q.own)].site, row.row)
    return None


def independent(q: Question) -> Finding:
    """Nothing was found: the target was not computed from the source."""
    return Finding(q.adapter.unused)
