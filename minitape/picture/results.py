"""What a tape's ``gradient`` calls gave, for the row of results under a picture (RESULT in :mod:`.snapshots`)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import repeat
from typing import TYPE_CHECKING

from ..common.texts import paragraph
from ..engine.back.endpoints import GradientQuestion, ends_of
from ..recording.names import named_values
from .short import short_name
from .stepping import adjoints_of, element_of, stepper_of
from .torn import is_zero
from .values import show_value

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import Array, End, Object, Structure
    from .fields import BlamedLine, EndFields, ResultFields, Shown, SourceFields

CALLS = 16  # of one tape that are shown, the last ones
SOURCES = 64  # of one call
LONG = 2000  # rows: what a longer sweep gave is known when its steps are
OF_THE_SOURCE = ("not_watched", "not_trainable", "integer_dtype", "not_accessed_watched")  # causes
ASKED = 16  # sources of a call about which `explain` is asked
STEPS = 500  # of an earlier call's sweep, which is shown with it


def results_of(
    tape: GradientTape,
    target: Structure = None,
    sources: Structure = None,
    held: dict[int, Array] | None = None,
    namespaces: Iterable[dict[str, object]] = (),
) -> list[ResultFields]:
    """The RESULTs of a tape's gradient calls; with ``target`` that of the gradient from it to ``sources``, else
    behind those of the other tapes of its recording.

    >>> import minitape as tf
    >>> v, u = tf.Variable(2.0, name="v"), tf.Variable(1.0, name="u")
    >>> with tf.GradientTape() as tape:
    ...     y = v * 3.0
    ...     _ = v.assign_add(1.0)
    ...     z = y * v
    >>> _ = tape.gradient(z, [v, u])
    >>> found = results_of(tape, namespaces=[{"z": z}])
    >>> for source in found[0]["sources"]:
    ...     gradient = source["gradient"] and source["gradient"]["text"]
    ...     print(found[0]["target"][0]["name"], source["name"], gradient, source["rows"])
    z v 15.0 [0, 3]
    z u None []
    """
    if hasattr(tape, "picture_results"):  # the recording of another framework knows its own passes
        return tape.picture_results(target, sources, namespaces)
    if tape._record is None:
        return []
    if target is not None:
        ends = ends_of(target)[1]
        calls = [(tape, GradientQuestion(ends, ends_of(sources)[1], [None] * len(ends), [], "gradient", []))]
    else:
        tapes = [one for one in tape._record.tapes_now() if one not in (None, tape)]
        calls = [
            (one, call) for one in (*tapes, tape) for call in [*one.questions[-CALLS:]] or [*filter(None, [one.last])]
        ]
    calls[:-1] = sorted(calls[:-1], key=lambda one: max((one[0]._rows_of(t)[-1:] or (-1,))[0] for t in one[1].targets))
    names = PythonNames(namespaces)
    return [_result(*call, held, names, k == len(calls) - 1) for k, call in enumerate(calls)]


def _result(
    tape: GradientTape, call: GradientQuestion, held: dict[int, Array] | None, names: PythonNames, last: bool
) -> ResultFields:
    targets, sources, jacobian = call.targets, call.sources, call.call != "gradient"
    stepper = stepper_of(tape, targets, sources, held, show_value, adjoints_of(call))
    sweep = stepper.whole() if stepper is not None and stepper.rest <= LONG else None
    known = sweep is not None
    given = zip(stepper.parts(), sweep["gradients"], strict=True) if stepper and sweep else repeat(([], None))
    shown: list[SourceFields] = []
    asked = 0
    for source, (own, gradient) in zip(sources[:SOURCES], given, strict=False):
        rows = [r for r, _ in own] if known else list(tape._rows_of(source))
        now, assigned = _stored(tape, rows)
        row: SourceFields = {
            "name": names.of(source),
            "rows": rows,
            "parts": [show_value(p) for _, p in own],
            "gradient": gradient,
            "at": (tape._rows_of(source) or (-1,))[-1],
            "reason": None,
            "why": None,
            "blame": None,
            "now": now,
            "assigned": assigned,
        }
        if jacobian:
            returned = call.results[len(shown)] if len(shown) < len(call.results) else None  # it may be too large
            row["parts"], row["gradient"] = [], None if returned is None else show_value(returned.numpy())
        if known and (not own or (last and is_zero(row["gradient"]))) and asked < ASKED:
            asked += 1
            row["reason"], row["why"], row["blame"] = _reason(tape, targets, source)
        shown.append(row)
    ends: list[EndFields] = [{"name": names.of(t), "row": (tape._rows_of(t) or (-1,))[-1]} for t in targets[:SOURCES]]
    result: ResultFields = {
        "target": ends,
        "sources": shown,
        "more": len(sources[SOURCES:]),
        "known": known or jacobian,
        "shown": last,
        "call": call.call,
    }
    if element := element_of(call):
        result["element"] = list(element)
    if sweep is not None and not last and len(sweep["steps"]) <= STEPS:
        result["sweep"] = sweep
    return result


def _stored(tape: GradientTape, rows: list[int]) -> tuple[Shown | None, int]:
    """What a variable holds now, and how often it was assigned behind its last state on the tape: the optimizer's
    step.
    """
    record = tape._record
    leaf = record.leaves.get(rows[-1]) if record is not None and rows else None
    if record is None or leaf is None or leaf.variable is None or tape._recording:
        return None, 0
    times = leaf.variable._version - leaf.version
    states = dict.get(record.variables, id(leaf.variable), (None, rows))[1]
    if times < 1 or record.leaves[states[-1]].version > leaf.version:
        return None, 0
    with suppress(Exception):  # a variable of a graph has no value
        return show_value(leaf.variable.numpy()), times
    return None, 0


def _reason(tape: GradientTape, targets: list[End], source: End) -> tuple[str | None, BlamedLine | None, int | None]:
    """The words for a gradient that is None or zero and the line that they blame, see :func:`said_by`; and the row that
    is to blame, where `explain` names one.
    """
    with suppress(Exception):  # the picture goes on without words
        found: Object = tape.explain(targets[0] if len(targets) == 1 else targets, source)
        leaf = tape._record.find(source) if found.cause in OF_THE_SOURCE and tape._record is not None else None
        return *said_by(found), next(iter(found._rows), None) if leaf is None else leaf
    return None, None, None


def said_by(found: Object) -> tuple[str | None, BlamedLine | None]:
    """What an explanation of a gradient that is None or zero says, and the line that it blames; None where it finds
    nothing.
    """
    if found.connected and found.kind != "zero":
        return None, None
    return paragraph(found.message, found.fix), {"file": found.filename, "line": found.line}


class PythonNames:
    """The names that tensors and variables go by in Python."""

    def __init__(self, namespaces: Iterable[dict[str, object]]) -> None:
        self._by_id: dict[int, str] = {}
        for name, value in named_values(namespaces):
            self._by_id.setdefault(id(value), name)

    def of(self, value: Object) -> str | None:
        """A name for a value, None where it has none."""
        name = getattr(value, "name", None) if hasattr(value, "assign") else None
        if isinstance(name, str) and not name.split("/")[-1].startswith("Variable"):
            return short_name(name.removesuffix(":0"))
        return self._by_id.get(id(value))
