"""The dictionaries of a snapshot as type checkers know them; what the fields mean is said in :mod:`.snapshots`.

Nothing here is needed while a picture is made.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

Plain: TypeAlias = "bool | int | float | str | list[Plain]"  # what JSON knows
Kind: TypeAlias = Literal["source", "variable", "constant", "operation"]


class Shown(TypedDict, total=False):
    """A VALUE."""

    text: str
    data: Plain
    stats: dict[str, Plain]
    thumb: Plain
    cell: float


Packed: TypeAlias = str | Shown | None


class Fields(TypedDict, total=False):
    """A ROW, or a part of one."""

    row: int
    op: str
    label: str
    formula: str
    rule: list[str]
    said: list[str]
    kind: Kind
    name: str | None
    version: int
    inputs: list[int]
    output: int
    call: int
    dtype: str
    shape: list[int]
    value: Shown | None
    tangent: Shown | None
    released: bool
    literal: bool
    line: int | None
    site: int
    file: str | None
    status: str
    watched: str | None
    cut: str | None
    tapes: list[int]
    by: int | None
    below: int
    scope: list[str]


class Share(TypedDict, total=False):
    """What one edge of a step hands on."""

    input: int
    port: int
    local: Shown | None
    differs: bool
    product: Shown | None
    sum: Shown | None


class SnapshotStep(TypedDict, total=False):
    """A STEP of the sweep; ``others`` are the adjoints of its call's other outputs."""

    row: int
    adjoint: Shown | None
    edges: list[Share]
    others: list[SnapshotStep]


class SweepFields(TypedDict, total=False):
    """A SWEEP, or its head."""

    target: list[int]
    sources: list[int]
    steps: list[SnapshotStep]
    gradients: list[Shown | None]
    rest: int


class TapeFields(TypedDict):
    """A tape."""

    id: int
    name: str
    persistent: bool
    state: str
    spans: list[list[int]]
    bytes: int


EventFields = TypedDict(
    "EventFields",
    {"kind": str, "name": str, "line": int | None, "from": int, "to": int, "row": int},
    total=False,
)


class EndFields(TypedDict):
    """A target of a gradient call."""

    name: str | None
    row: int


class BlamedLine(TypedDict):
    """Where a gradient ends or becomes zero: a line."""

    file: str | None
    line: int | None


Torn = TypedDict("Torn", {"kind": str, "from": int, "to": int, "line": int, "text": str})  # a TORN


class SourceFields(TypedDict):
    """A source of a gradient call, and what it gave."""

    name: str | None
    rows: list[int]
    parts: list[Shown | None]
    gradient: Shown | None
    at: int
    reason: str | None
    why: BlamedLine | None
    blame: int | None
    now: Shown | None
    assigned: int


class Alarm(TypedDict):
    """An ALARM: something that is wrong."""

    kind: str
    title: str
    text: str
    row: int
    line: int | None
    back: bool


class ResultFields(TypedDict, total=False):
    """A RESULT: what a ``gradient`` call gave."""

    target: list[EndFields]
    sources: list[SourceFields]
    more: int
    known: bool
    shown: bool
    call: str
    element: list[int]
    sweep: SweepFields


class Inside(TypedDict):
    """The INSIDE of a call of a function."""

    row: int
    name: str
    snapshot: Snapshot


class Snapshot(TypedDict, total=False):
    """A snapshot, or what a live picture is told of one."""

    version: int
    record: str
    first: int
    total: int
    rows: list[Fields]
    changed: list[Fields]
    events: list[EventFields]
    tapes: list[TapeFields]
    sources_text: dict[str, str]
    sweep: SweepFields | None
    results: list[ResultFields]
    alarms: list[Alarm]
    torn: list[Torn]
    broken: list[int]
    differs: dict[str, int | str | list[int]]
    linked: str
    insides: list[Inside]
