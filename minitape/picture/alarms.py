"""Find errors in a recording, which a picture shows as alarms above its rows.

The texts come from ``explain``. Deliberate choices, such as a masked score of -inf or a ``stop_gradient``, do not raise
an alarm.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from ..common.grouping import group_values_by_key
from ..common.translation import join_sentences
from ..engine.types import OptionalNumber, TextPair
from .expressions import format_row_title
from .path_breaks import list_path_breaks_and_set_blame
from .picture_texts import translate
from .snapshot_types import (
    AlarmFields,
    EventFields,
    OptionalRow,
    OptionalValue,
    ResultFields,
    RowFieldsSequence,
    Snapshot,
    SourceFields,
    SweepFields,
)
from .source import OptionalEnds, PictureSource
from .truncation import join_first_items

MAX_PER_KIND = 4  # Further alarms of the same kind and further names in a title are omitted.
NONE_AND_ZERO_TITLES = {  # Without and with a place.
    "none": ("The gradient for {name} is None", "The gradient for {name} is None: see {place}"),
    "zero": ("The gradient for {name} is zero", "The gradient for {name} is zero: see {place}"),
}
COMPARING_OPS = ("subtract", "squared_difference", "sub", "Sub", "SquaredDifference")


def build_alarm_and_break_fields(
    recording: PictureSource, snapshot: Snapshot, target_and_sources: OptionalEnds
) -> Snapshot:
    """Return the fields "alarms" and "torn" of a snapshot.

    Args:
        recording: The recording of the snapshot.
        snapshot: The snapshot with all rows, the sweep and the results, to which the rows to blame are added.
        target_and_sources: The target and the sources of the sweep, if the picture's arguments chose them, or None for
            the tape's last gradient call.

    Returns:
        The alarms, most serious first, and the breaks at which a gradient ends.

    >>> import minitape as tf
    >>> x = tf.Variable([0.0, 4.0], name="x")
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(tf.sqrt(x * x))
    >>> _ = tape.gradient(y, x)
    >>> [alarm["title"] for alarm in tf.snapshot(tape)["alarms"]]
    ['The gradient becomes infinite at row 2, line 2']
    """
    rows = snapshot["rows"]
    sweep = snapshot["sweep"]
    events = snapshot["events"]
    shown_result = next((result for result in snapshot["results"] if result.get("shown")), None)
    path_breaks = list_path_breaks_and_set_blame(rows, shown_result, events, snapshot["sources_text"], sweep)
    return {
        "alarms": [
            *_list_nonfinite_alarms(
                rows, sweep, lambda: _describe_nonfinite_cause(recording, shown_result, target_and_sources)
            ),
            *_list_none_and_zero_alarms(rows, shown_result),
            *_list_assignment_alarms(rows, sweep, events),
            *_list_broadcast_alarms(rows),
        ],
        "torn": path_breaks,
    }


def _build_alarm(
    kind: str,
    title: str,
    text: str,
    row: OptionalRow,
    is_backward: bool = False,
    line: OptionalNumber = None,
    **values: str,
) -> AlarmFields:
    """Return an alarm, whose title is translated and has placeholders for the place of the row and other values.

    If the cause is on another line than its row, the title names only this line.
    """
    own_line = None if row is None else row["line"]
    place = "row {row}, line {line}" if own_line else "row {row}"
    place = "line {line}" if line not in (None, own_line) else place
    line = own_line if line is None else line
    return {
        "kind": kind,
        "title": translate(title, place=row and translate(place, row=row["row"], line=line), **values),
        "text": text,
        "row": -1 if row is None else row["row"],
        "line": line,
        "back": is_backward,
    }


# -- NaN and infinity ------------------------------------------------------------------------------


def _list_nonfinite_alarms(
    rows: RowFieldsSequence, sweep: SweepFields | None, explain: Callable[[], str]
) -> list[AlarmFields]:
    """List an alarm for each derivative that is not finite, or else for the first such value.

    If the target is finite, only the sweep is searched.
    """
    if sweep is not None and not any(
        _name_nonfinite_kind(rows[target]["value"]) for target in sweep["target"] if 0 <= target < len(rows)
    ):
        return _list_derivative_alarms(rows, sweep, explain)
    for row in rows:
        description = _name_nonfinite_kind(row["value"]) if row["kind"] == "operation" else ""
        if description and not any(_name_nonfinite_kind(rows[i]["value"]) for i in row["inputs"]):
            return [_build_alarm("value", "The value becomes {value} at {place}", explain(), row, value=description)]
    return []


def _list_derivative_alarms(
    rows: RowFieldsSequence, sweep: SweepFields, explain: Callable[[], str]
) -> list[AlarmFields]:
    """List an alarm for each line with a derivative that is not finite.

    ``explain`` answers for the first of these steps. A later step that receives a finite adjoint and reads finite
    values has another cause, which remains after the first is mended.
    """
    alarms: dict[object, AlarmFields] = {}
    for step in sweep["steps"]:
        row = rows[step["row"]]
        descriptions = [*filter(None, (_name_nonfinite_kind(edge["product"]) for edge in step["edges"]))]
        values = [step["adjoint"], *(rows[input_row]["value"] for input_row in row["inputs"])]
        if not descriptions or (alarms and any(map(_name_nonfinite_kind, values))):
            continue
        text = (
            translate("This derivative is not finite either, so this line needs a change as well.")
            if alarms
            else explain()
        )
        alarm = _build_alarm(
            "gradient", "The gradient becomes {value} at {place}", text, row, True, value=descriptions[0]
        )
        alarms.setdefault((row["file"], row["line"], row["label"]), alarm)
    return list(alarms.values())[:MAX_PER_KIND]


def _name_nonfinite_kind(value: OptionalValue) -> str:
    """Return "NaN" or "infinite" if a value contains such an element, or else ""."""
    if value is None:
        return ""
    stats = value.get("stats")
    if stats is None:
        text = value.get("text", "")
    else:
        text = "nan" if stats.get("nans") else f"{stats['min']} {stats['max']}"
    if "inf" in str(value.get("thumb")):
        text += " inf"
    if re.search(r"\bnan\b", text):
        return "NaN"
    return translate("infinite") if re.search(r"\binf\b", text) else ""


def _describe_nonfinite_cause(
    recording: PictureSource, shown_result: ResultFields | None, target_and_sources: OptionalEnds
) -> str:
    """Return the explanation of the displayed nonfinite gradient, or "" if ``explain`` finds no cause."""
    with suppress(Exception):  # A failed explanation must not prevent the picture.
        answer = recording.explain_shown_gradient(shown_result, target_and_sources)
        explanations = answer if isinstance(answer, Iterable) else [answer]
        return next(
            join_sentences(explanation.message, explanation.fix)
            for explanation in explanations
            if explanation.kind == "nonfinite"
        )
    return ""


# -- gradients that are None, or end ---------------------------------------------------------------


def _list_none_and_zero_alarms(rows: RowFieldsSequence, shown_result: ResultFields | None) -> list[AlarmFields]:
    """List an alarm for each reason for None or zero gradients, with the names of the affected sources."""
    if shown_result is None:
        return []

    def build_key(source: SourceFields) -> TextPair:
        # Two reasons are equal if they differ only in the name of the source, its place in a list, or the code.
        name = re.escape(str(source["name"]))
        reason = re.sub(rf"`[^`]*`|(?<![\w.])({name}|\w+\[\d+\])(?!\w)", "", source["reason"] or "")
        return "none" if source["none"] else "zero", reason

    sources_by_reason = group_values_by_key(
        (build_key(source), source) for source in shown_result["sources"] if source["reason"]
    )
    alarms = []
    for (kind, _), sources in sources_by_reason.items():
        blamed_row = sources[0]["blame"]
        blamed_line = sources[0].get("why")
        row = None if blamed_row is None or blamed_row < 0 else rows[blamed_row]
        line = blamed_line["line"] if row and blamed_line and blamed_line["file"] == row["file"] else None
        name = join_first_items([source["name"] or translate("a source") for source in sources], MAX_PER_KIND)
        alarms.append(
            _build_alarm(
                kind, NONE_AND_ZERO_TITLES[kind][row is not None], str(sources[0]["reason"]), row, line=line, name=name
            )
        )
    return alarms


def _list_assignment_alarms(
    rows: RowFieldsSequence, sweep: SweepFields | None, events: Iterable[EventFields]
) -> list[AlarmFields]:
    """List an alarm for each assignment at which a gradient ends, because a variable does not record its new value."""
    reached_rows = {edge["input"] for step in (sweep["steps"] if sweep else ()) for edge in step["edges"]}
    alarms = []
    for event in events:
        value_row = event.get("row", -1)
        if (
            value_row >= 0
            and value_row not in reached_rows
            and event.get("to") in reached_rows
            and rows[value_row]["tapes"]
        ):
            text = translate(
                "A variable does not know where its value came from, so this row adds nothing to the gradient."
            )
            alarms.append(
                _build_alarm(
                    "state",
                    "The gradient ends at the assignment to {name}: {place}",
                    text,
                    rows[value_row],
                    name=format_row_title(rows[event["to"]]),
                )
            )
    return alarms[:MAX_PER_KIND]


# -- shapes ------------------------------------------------------------------------------


def _list_broadcast_alarms(rows: RowFieldsSequence) -> list[AlarmFields]:
    """List an alarm for each comparison of a column of shape (n, 1) with a vector of shape (n,)."""
    alarms = []
    for row in rows:
        if row["op"] not in COMPARING_OPS or len(row["inputs"]) != 2:
            continue
        first_shape, second_shape = (tuple(rows[i]["shape"]) for i in row["inputs"])
        shorter, longer = sorted((first_shape, second_shape), key=len)
        if len(shorter) == 1 and shorter[0] > 1 and longer == (shorter[0], 1):
            text = translate(
                "Each value on one side is combined with every value on the other side. Give both sides the same "
                "shape: a [:, None] or squeeze is missing."
            )
            shapes = f"{first_shape} {row['label'].replace('-', '−')} {second_shape} → {tuple(row['shape'])}"
            alarms.append(_build_alarm("broadcast", "Broadcast {shapes}: {place}", text, row, shapes=shapes))
    return alarms[:MAX_PER_KIND]
