"""The types of a snapshot, and what each field means: the one place where both are written.

``tests/repository/make_schema.py`` writes the front end's types (``widgets/frontend/src/snapshot.ts``) and the page
``docs/snapshot.md`` from this file. The comment of a field is its meaning; one that begins with "Optional" may be
absent from a snapshot. Nothing here is needed while a picture is made.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

Plain: TypeAlias = "bool | int | float | str | list[Plain]"  # Data as JSON has it; "nan", "inf" and "-inf" are texts.
Kind: TypeAlias = Literal["source", "variable", "constant", "operation"]  # What a row is: three kinds of leaves.


class ValueFields(TypedDict, total=False):
    """A value: a number, or an array of up to 64 elements in full, a larger one as statistics and a thumbnail."""

    text: str  # Optional. The value as NumPy prints it.
    data: Plain  # Optional. The value as nested lists; absent above 64 elements, except for small images.
    stats: dict[str, Plain]  # Optional. min, max, mean, std, zeros and nans of a larger array.
    thumb: Plain  # Optional. The larger array averaged down to at most 32 x 32 elements.
    cell: float  # Optional. The width of one element of the thumbnail whose height is 1.


PackedValue: TypeAlias = str | ValueFields | None


class RowFields(TypedDict, total=False):
    """A row: a leaf, or one result of an operation."""

    row: int  # The row's number in the recording.
    op: str  # The primitive's name, or the framework's; "leaf" for a leaf.
    label: str  # A short label, such as "×".
    formula: str  # The formula of the value, such as "x * y"; empty without one.
    rule: list[str]  # The derivative rule of each input, such as "g * y"; empty without a formula.
    said: list[str]  # The formula and the rules as a book prints them; empty without a formula.
    kind: Kind  # What sort of row it is.
    name: str | None  # A variable's name, or the Python name of a tensor if it is known.
    version: int  # Which of the variable's states in this recording it is, counted from 0.
    inputs: list[int]  # The rows that it was computed from.
    # Optional. The arguments of an operation on arrays that a browser can compute again, such as {"axis": [0]}.
    arguments: dict[str, object]
    output: int  # Optional. Which output of its call it is, counted from 0.
    call: int  # The first row of the call that computed it.
    dtype: str  # The dtype, such as "float32".
    shape: list[int]  # The shape.
    value: ValueFields | None  # The value, or None if the recording did not keep it.
    tangent: ValueFields | None  # The derivative in the direction of forward mode, or None without one, or if it is 0.
    released: bool  # Whether the recording has released the value.
    literal: bool  # Whether it is a number in the program's text, which may be used in several places.
    line: int | None  # The line that created it.
    site: int  # Which operation of that line it is.
    file: str | None  # The file, or the notebook's cell.
    status: str  # "recorded" or "ghost": it ran while a tape was open, but no tape recorded it.
    # "automatic", "explicit", "requires_grad" (PyTorch) or "argument" (JAX): why a gradient is followed to it.
    watched: str | None
    # Why no gradient passes: stop_gradient, nondifferentiable, no_gradient_registered, integer or paused.
    cut: str | None
    tapes: list[int]  # The tapes that recorded it.
    by: int | None  # The tape whose gradient() wrote this row on an outer tape.
    below: int  # Optional. Of a row that a gradient wrote: the row below which it is drawn.
    scope: list[str]  # The tf.name_scope or module, from the outside in.


RowPart: TypeAlias = RowFields  # The fields of a row that have changed, and its number.


class EdgeFields(TypedDict, total=False):
    """What one edge of a step contributes to the adjoint of an input."""

    input: int  # The input's row.
    port: int  # Which input of the operation it is, counted from 0.
    local: ValueFields | None  # The local derivative of an elementwise operation.
    differs: bool  # Optional. Whether another framework sent something else than the rule says.
    product: ValueFields  # The share, in the input's shape.
    sum: ValueFields  # The input's adjoint after the share was added.


class OtherAdjointFields(TypedDict):
    """The adjoint of another output of the same call."""

    row: int  # The output's row.
    adjoint: ValueFields  # Its adjoint.


class StepFields(TypedDict, total=False):
    """A step of the sweep: it visits one row."""

    row: int  # The row.
    adjoint: ValueFields  # Its complete adjoint.
    edges: list[EdgeFields]  # The shares that it sends to its inputs.
    others: list[OtherAdjointFields]  # Optional. The adjoints of the other outputs of its call.


class SweepFields(TypedDict, total=False):
    """A sweep: the backward pass of the last gradient call, or the one from a target to sources."""

    id: int  # Optional. Which of a tape's sweeps it is; the pages of a long sweep name it.
    target: list[int]  # The rows of the targets.
    sources: list[int]  # The rows of the sources.
    steps: list[StepFields]  # The steps in their order, from the target back.
    gradients: list[ValueFields | None]  # The gradient of each source.
    rest: int  # The rows without steps: the sweep is long.


class TapeFields(TypedDict):
    """A tape that shares the recording."""

    id: int  # The tape's number, counted from 0.
    name: str  # Its Python name.
    persistent: bool  # Whether it may be asked for several gradients.
    state: str  # "recording", "closed", "used" or "released".
    spans: list[list[int]]  # The ranges of rows during which it recorded: [first, end].
    bytes: int  # The memory that it still holds.


# Something that happened and is not a row: an assignment ("assign"), or a value that left the framework ("numpy").
EventFields = TypedDict(
    "EventFields",
    {
        "kind": str,  # What happened.
        "name": str,  # Optional. The variable's name.
        "from": int,  # Optional. The variable's row before an assignment.
        "to": int,  # Optional. Its row after the assignment.
        "row": int,  # Optional. The row whose value left.
        "line": int | None,  # Optional. The line.
    },
    total=False,
)


class TargetFields(TypedDict):
    """A target of a gradient call."""

    name: str | None  # Its Python name.
    row: int  # Its row.


class BlamedLine(TypedDict):
    """The line on which a gradient ends or becomes zero."""

    file: str | None  # The file.
    line: int | None  # The line.


# Where a gradient ends: a value left the framework and came back, or an edge that no gradient passes.
PathBreakFields = TypedDict(
    "PathBreakFields",
    {
        "kind": str,  # "left", "cut" (no gradient passes) or "zero" (the share is zero).
        "from": int,  # The row that left, or the edge's input.
        "to": int,  # The row as which it came back, -1 if the program's text does not tell; or the edge's row.
        "line": int,  # The line.
        "text": str,  # What is written there, such as "numpy()".
    },
)


class SourceFields(TypedDict, total=False):
    """A source of a gradient call, and its gradient."""

    name: str | None  # Its Python name.
    rows: list[int]  # Its states that an adjoint reached.
    parts: list[ValueFields | None]  # The adjoint of each state.
    gradient: ValueFields | None  # Their sum, which the call returned.
    at: int  # The last row that represent the source, or -1 if there is no such row.
    reason: str | None  # Why the gradient is None or zero.
    why: BlamedLine | None  # Optional. The line to blame.
    blame: int | None  # Optional. The row to blame.
    now: ValueFields | None  # Optional. What the variable holds now, after the optimizer's step.
    assigned: int  # Optional. How often it was assigned after its last state on the tape.


class AlarmFields(TypedDict):
    """Something that is wrong, shown above the picture."""

    kind: str  # gradient, value, none, zero, state or broadcast.
    title: str  # One line.
    text: str  # The explanation.
    row: int  # The row, or -1 without a row.
    line: int | None  # The line.
    back: bool  # Whether the row's step of the sweep shows it.


class ResultFields(TypedDict, total=False):
    """What a gradient call returned."""

    target: list[TargetFields]  # The targets.
    sources: list[SourceFields]  # The sources with their gradients.
    more: int  # How many further sources are not listed.
    known: bool  # Whether the sweep could be repeated; a long one is not.
    shown: bool  # Whether this call's sweep is the snapshot's.
    call: str  # Optional. Which call it was, unless `gradient`: "jacobian", "backward", ...
    element: list[int]  # Optional. The element of a Jacobian's target whose sweep is shown.
    sweep: SweepFields  # Optional. The sweep of an earlier call.


class InsideFields(TypedDict):
    """The rows inside a call of a tf.function."""

    row: int  # The call's row.
    name: str  # The function's name.
    snapshot: Snapshot  # The rows inside with this call's values, and the sweep through them.


class DifferenceFields(TypedDict, total=False):
    """Where two compared tapes begin to differ."""

    row: int  # The first row that is another one in the other tape.
    text: str  # The difference in words.
    rows: list[int]  # Optional. The rows that have other values.


class Snapshot(TypedDict, total=False):
    """A snapshot, or a live picture's change of one."""

    version: Literal[1]  # The version of this format.
    record: str  # The recording's identity; a picture forgets everything if it changes.
    first: int  # The number of the first row in `rows`; more than 0 in a change.
    total: int  # Optional. How many rows the recording has, which may be more than `rows`.
    rows: list[RowFields]  # The rows in order.
    changed: list[RowPart]  # Optional. Parts of earlier rows that have changed since they were sent.
    events: list[EventFields]  # Assignments, and values that left.
    tapes: list[TapeFields]  # The tapes that share the recording.
    sources_text: dict[str, str]  # Optional. The text of the files and cells that the rows come from.
    sweep: SweepFields | None  # Optional. The sweep to step through; absent from a change that keeps it.
    results: list[ResultFields]  # Optional. The last gradient calls; they travel with the sweep.
    alarms: list[AlarmFields]  # Optional. What is wrong, the gravest first; they travel with the sweep.
    torn: list[PathBreakFields]  # Optional. Where a gradient ends; they travel with the sweep.
    broken: list[int]  # Optional. Of a figure: the rows that `explain` blames.
    differs: DifferenceFields  # Optional. In a comparison: where the tapes begin to differ.
    linked: str  # Optional. In a comparison: views with the same name step together.
    insides: list[InsideFields]  # Optional. The rows inside calls of functions; absent from a change.
    texts: dict[str, str]  # Optional. The view's words in another language.
    playground: str  # Optional. The address at which the program can be edited and run.
