"""Define the types and the meaning of all snapshot fields in one place.

``tests/repository/make_schema.py`` writes the front end's types (``widgets/frontend/src/snapshot.ts``) and the page
``docs/snapshot.md`` from this file. The comment on each field states its meaning. A field whose comment begins with
"Optional" may be absent from a snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict

from ..engine.types import OptionalNumber, OptionalText, RowList, TextList, TextsByName

Plain: TypeAlias = "bool | int | float | str | list[Plain]"  # JSON data, in which "nan", "inf" and "-inf" are strings.
Kind = Literal["source", "variable", "constant", "operation"]  # The kinds of leaves and other rows.


class ValueFields(TypedDict, total=False):
    """A number or array. Arrays of more than 64 elements are reduced to statistics and a thumbnail."""

    text: str  # Optional. The value as printed by NumPy. In a long recording, an array's range, or "" if it is finite.
    data: Plain  # Optional. The value as nested lists, if it has at most 64 elements or is a small image.
    stats: dict[str, Plain]  # Optional. min and max of a larger array, and mean, std, norm, zeros and nans if known.
    thumb: Plain  # Optional. A larger array, averaged down to at most 32 x 32 elements.
    cell: float  # Optional. The width of one thumbnail element, relative to a height of 1.


PackedValue = str | ValueFields | None
OptionalValue = ValueFields | None


class RowFields(TypedDict, total=False):
    """A row: a leaf, or one result of an operation."""

    row: int  # The row's number in the recording.
    op: str  # The primitive's name, or the framework's; "leaf" for a leaf.
    label: str  # A short label, such as "×".
    formula: str  # The formula of the value, such as "x * y", or "".
    rule: TextList  # The derivative rule of each input, such as "g * y", or [] without a formula.
    said: TextList  # The formula and rules in textbook notation, or [] without a formula.
    kind: Kind  # The kind of the row.
    name: OptionalText  # A variable's name, or the Python name of a tensor if it is known.
    version: int  # The index of the variable's state in this recording, counted from 0.
    inputs: RowList  # The rows that the row was computed from.
    # Optional. The arguments of an array operation that a browser can recompute, such as {"axis": [0]}.
    arguments: dict[str, object]
    output: int  # Optional. The index of the row among the outputs of its call, counted from 0.
    call: int  # The first row of the call that computed the row.
    dtype: str  # The dtype, such as "float32".
    shape: list[int]  # The shape.
    value: ValueFields | None  # The value, or None if the recording did not keep it.
    tangent: ValueFields | None  # The forward-mode derivative, or None if it is unknown or 0.
    released: bool  # Whether the recording has released the value.
    literal: bool  # Whether the row is a number literal, which may be used several times.
    line: OptionalNumber  # The line that created the row.
    site: int  # The bytecode instruction that ran the operation, or 0 if it is unknown.
    file: OptionalText  # The file or notebook cell.
    status: str  # "recorded", or "ghost" if it ran while a tape was open but was not recorded.
    # "automatic", "explicit", "requires_grad" (PyTorch) or "argument" (JAX): why the row is differentiated.
    watched: OptionalText
    # Why no gradient passes: stop_gradient, nondifferentiable, no_gradient_registered, integer or paused.
    cut: OptionalText
    tapes: list[int]  # The tapes that recorded the row.
    by: OptionalNumber  # The tape whose gradient() wrote this row on an outer tape.
    below: int  # Optional. The row below which a row written by a gradient is drawn.
    scope: TextList  # The name scopes or modules, the outermost first.


OptionalRow = RowFields | None
RowPart = RowFields  # The number and the changed fields of a row.
# The fields of several rows, or the changed fields, in a list or in any sequence.
RowFieldsList: TypeAlias = list[RowFields]
RowFieldsSequence: TypeAlias = Sequence[RowFields]


class EdgeFields(TypedDict, total=False):
    """The contribution of one edge of a step to the adjoint of an input."""

    input: int  # The input's row.
    port: int  # The index of the input, counted from 0.
    local: ValueFields | None  # The local derivative of an elementwise operation.
    differs: bool  # Optional. Whether another framework sent a share that differs from the rule.
    product: ValueFields  # The share, in the input's shape.
    sum: ValueFields  # The input's adjoint after adding the share.


class OtherAdjointFields(TypedDict):
    """The adjoint of another output of the same call."""

    row: int  # The output's row.
    adjoint: ValueFields  # Its adjoint.


class StepFields(TypedDict, total=False):
    """A step of the sweep, which visits one row."""

    row: int  # The row.
    adjoint: ValueFields  # The row's complete adjoint.
    edges: list[EdgeFields]  # The shares that the row sends to its inputs.
    others: list[OtherAdjointFields]  # Optional. The adjoints of the other outputs of the same call.


class SweepFields(TypedDict, total=False):
    """A sweep: the backward pass of the last gradient call, or one from a given target to given sources."""

    id: int  # Optional. The number of the tape's sweep, which the pages of a long sweep refer to.
    target: RowList  # The rows of the targets.
    sources: RowList  # The rows of the sources.
    steps: list[StepFields]  # The steps in order, from the target back.
    gradients: list[ValueFields | None]  # The gradient of each source.
    rest: int  # The number of rows whose steps a long sweep does not contain.


class TapeFields(TypedDict):
    """A tape that shares the recording."""

    id: int  # The tape's number, counted from 0.
    name: str  # The Python name.
    persistent: bool  # Whether the tape can compute several gradients.
    state: str  # "recording", "closed", "used" or "released".
    spans: list[list[int]]  # The ranges of rows during which the tape recorded: [first, end].
    bytes: int  # The memory that the tape still holds, in bytes.


# An event that is not a row: an assignment ("assign"), or a value that left the framework ("numpy").
EventFields = TypedDict(
    "EventFields",
    {
        "kind": str,  # The kind of event.
        "name": str,  # Optional. The variable's name.
        "from": int,  # Optional. The variable's row before an assignment.
        "to": int,  # Optional. The variable's row after the assignment.
        "row": int,  # Optional. The row whose value left the framework.
        "line": OptionalNumber,  # Optional. The line.
    },
    total=False,
)


class TargetFields(TypedDict):
    """A target of a gradient call."""

    name: OptionalText  # The Python name.
    row: int  # The target's row.


class BlamedLine(TypedDict):
    """The line on which a gradient ends or becomes zero."""

    file: OptionalText  # The file.
    line: OptionalNumber  # The line.


# A point at which a gradient ends: a value that left the framework and came back, or an edge without a gradient.
PathBreakFields = TypedDict(
    "PathBreakFields",
    {
        "kind": str,  # "left", "cut" (no gradient passes) or "zero" (the share is zero).
        "from": int,  # The row whose value left, or the edge's input.
        "to": int,  # The row of the returned value (-1 if unknown), or the edge's row.
        "line": int,  # The line.
        "text": str,  # The source text, such as "numpy()".
    },
)


class SourceFields(TypedDict, total=False):
    """A source of a gradient call, and its gradient."""

    name: OptionalText  # The Python name.
    rows: RowList  # The states of the source that an adjoint reached.
    parts: list[ValueFields | None]  # The adjoint of each state.
    gradient: ValueFields | None  # The sum of these adjoints, which the call returned, or None if it is unknown.
    none: bool  # Optional. Whether the call returned None.
    at: int  # The last row that represents the source, or -1 if no row does.
    reason: OptionalText  # Why the gradient is None or zero.
    why: BlamedLine | None  # Optional. The line to blame.
    blame: OptionalNumber  # Optional. The row to blame.
    now: ValueFields | None  # Optional. The variable's current value, after the optimizer step.
    assigned: int  # Optional. The number of assignments after the last state on the tape.


class AlarmFields(TypedDict):
    """A problem, shown above the picture."""

    kind: str  # gradient, value, none, zero, state or broadcast.
    title: str  # A one-line title.
    text: str  # The explanation.
    row: int  # The row, or -1.
    line: OptionalNumber  # The line.
    back: bool  # Whether the problem is visible in the row's step of the sweep.


class ResultFields(TypedDict, total=False):
    """The result of a gradient call."""

    target: list[TargetFields]  # The targets.
    sources: list[SourceFields]  # The sources with their gradients.
    more: int  # The number of further sources, which are not listed.
    known: bool  # Whether the sweep was repeated, which is not done for long sweeps.
    shown: bool  # Whether the snapshot contains this call's sweep.
    call: str  # Optional. The kind of call, if it is not `gradient`: "jacobian", "backward", ...
    element: list[int]  # Optional. The element of a Jacobian's target whose sweep is shown.
    sweep: SweepFields  # Optional. The sweep of an earlier call.


class InsideFields(TypedDict):
    """The rows inside a tf.function call."""

    row: int  # The call's row.
    name: str  # The function's name.
    snapshot: Snapshot  # The inside rows with this call's values, and the sweep through them.


class DifferenceFields(TypedDict, total=False):
    """The first difference between two compared tapes."""

    row: int  # The first row that differs from the other tape.
    text: str  # The difference in words.
    missing: bool  # Whether only the other tape has the row that differs.
    rows: RowList  # Optional. The rows whose values differ, and the operations in `alone`.
    alone: RowList  # Optional. The operations that the other tape does not have.
    digits: int  # Optional. The number of digits that tells every two numbers apart that differ.
    most: dict[int, list[float]]  # Optional. By row, the largest magnitude in both values, and in both adjoints or 0.


class Snapshot(TypedDict, total=False):
    """A snapshot, or an update of a live picture's snapshot."""

    version: Literal[1]  # The version of this format.
    record: str  # The recording's identity. If it changes, a picture starts over.
    first: int  # The number of the first row in `rows`, which is greater than 0 in an update.
    total: int  # Optional. The number of rows in the recording, which may exceed those in `rows`.
    rows: list[RowFields]  # The rows in order.
    changed: list[RowPart]  # Optional. The changed fields of rows sent earlier.
    events: list[EventFields]  # Assignments, and values that left the framework.
    tapes: list[TapeFields]  # The tapes that share the recording.
    sources_text: TextsByName  # Optional. The texts of the files and cells that the rows come from.
    sweep: SweepFields | None  # Optional. The sweep to step through, if it has changed.
    results: list[ResultFields]  # Optional. The last gradient calls, which are sent with the sweep.
    alarms: list[AlarmFields]  # Optional. Problems, the most serious first, which are sent with the sweep.
    torn: list[PathBreakFields]  # Optional. The points at which a gradient ends, sent with the sweep.
    broken: RowList  # Optional. The rows that `explain` blames, in a figure.
    differs: DifferenceFields  # Optional. The first difference between the tapes, in a comparison.
    linked: str  # Optional. A name shared by views that step together, in a comparison.
    insides: list[InsideFields]  # Optional. The rows inside function calls, absent from updates.
    texts: TextsByName  # Optional. The view's texts in another language.
    playground: str  # Optional. The address at which the program can be edited and run.
