"""Show a wrong program's tape next to the solution's, both on the case that went wrong.

One comparison, `minitape.picture.tape_difference`, gives the sentence and the marks in both pictures.
"""

from __future__ import annotations

import linecache
import re
import sys
from dataclasses import dataclass
from warnings import catch_warnings, simplefilter

from ..common.source_lines import register_source_lines
from ..common.translation import say, truncate_text
from ..engine.types import JsonObject, TextPair
from ..picture.expressions import Expressions
from ..picture.snapshot_types import OptionalRow, RowFields, Snapshot
from ..picture.snapshots import build_rows_and_sweep
from ..picture.tape_difference import TapeDifference, find_first_difference, is_same_value
from .call_log import MAX_TAPES, ObservedRun
from .course_texts import read_lesson
from .exercise import Answer, NamedValues, Program, get_lesson_of_name

MAX_VALUE_LENGTH = 60
DIFFERENCES = {
    "watched": "Before the line {line}, the solution's tape already watches {there}.",
    "unwatched": "Before the line {line}, your tape already watches {here}, but the solution's tape does not.",
    "adjoint": (
        "Both tapes have the same operations. In the backward sweep, {name} has {here} on your tape, but {there} on "
        "the solution's tape."
    ),
    "share": (
        "Both tapes have the same operations. In the backward sweep, {name} sends {here} on your tape, but {there} on "
        "the solution's tape."
    ),
}
DIFFERENCES_IN_LINE = {
    "end": "your program computed {here}, but the solution's tape ends before that.",
    "missing": "it ends before {there}, which the solution computed.",
    "recording": "your tape recorded {here} there, but the solution's tape did not.",
    "unrecorded": "the solution's tape recorded {there} there, but your tape did not.",
    "sweep": "the solution's tape recorded a step of another tape's sweep there, but your tape did not.",
    "start": "your tape has {here}, but the solution's tape has {there}.",
    "operation": "next, your program computed {here}, and the solution computed {there}.",
    "value": "your program computed {here}, but the solution computed {there}.",
    "unclear": "compare the two tapes there.",
}
ROW_NUMBER = r"#\d+"  # Expressions refer to rows in this form.


@dataclass(frozen=True)
class Playback:
    """Two tapes and the first difference between them.

    Attributes:
        tapes: The learner's tape and the solution's.
        names: For each tape, the names that its program had.
        snapshots: The snapshots of the tapes.
        difference: The first difference between them.
        text: The sentence that describes it.
        results: What the two programs returned, as text.
    """

    tapes: tuple[Answer, Answer]
    names: tuple[NamedValues, NamedValues]
    snapshots: tuple[Snapshot, Snapshot]
    difference: TapeDifference
    text: str
    results: TextPair

    def __repr__(self) -> str:
        """Return the title of the folded box with the sentence."""
        return say("{place}: {told}", place=say("Your tape next to the solution's tape"), told=self.text)

    def _repr_mimebundle_(self, **options: object) -> JsonObject:  # JSON, as IPython asks for it
        """Return the sentence, and a folded box with a picture and live views if the lesson shows pictures."""
        widgets = sys.modules.get("minitape_widgets")
        data = {"text/plain": repr(self)}
        if widgets is None:
            return data
        return data | widgets.build_comparison_bundle(
            self,
            [say("Your tape next to the solution's tape"), say("Both tapes, step by step")],
            [say("Your tape"), say("The solution's tape")],
            options,
        )


OptionalPlayback = Playback | None


def find_solution_text(exercise_name: str) -> str:
    """Find the solution of an exercise.

    Args:
        exercise_name: The name of the exercise.

    Returns:
        The program without its call to `check`, or "" if the course has no such exercise.
    """
    return read_lesson(get_lesson_of_name(exercise_name)).solutions.get(exercise_name, "")


def build_solution_function(program: str, learner_function: Program, exercise_name: str = "") -> Program | None:
    """Build the function that the text of a solution defines.

    Args:
        program: The text.
        learner_function: The learner's function, whose module has the names that the text may use.
        exercise_name: The name of the exercise, under which pictures find the text.

    Returns:
        The last function that the text defines, or None if it defines none.
    """
    names = dict(getattr(learner_function, "__globals__", {}))
    names_before = dict(names)
    file_name = say("<solution of {name}>", name=exercise_name) if exercise_name else "<solution>"
    if exercise_name:
        register_source_lines(file_name, program)
    with catch_warnings():  # Python warns about a variant such as `return 0.1[0]`.
        simplefilter("ignore", SyntaxWarning)
        code = compile(program, file_name, "exec")
    exec(code, names)
    functions = [value for name, value in names.items() if callable(value) and names_before.get(name) is not value]
    return functions[-1] if functions else None


def build_first_difference_playback(
    own_run: ObservedRun,
    solution_run: ObservedRun,
    results: TextPair = ("", ""),
    is_each_asked_once: bool = True,
) -> OptionalPlayback:
    """Build a playback of the first two tapes that differ.

    Args:
        own_run: What the learner's program did with its tapes.
        solution_run: What the solution did. For a long run, MAX_TAPES + 1 tapes are enough.
        results: What the two programs returned, as text.
        is_each_asked_once: Whether each tape was asked for gradients exactly once. Otherwise, a tape only has the
            adjoints of its last gradient, and these are not compared.

    Returns:
        The playback, or None if the tapes agree. Also None if one program asked more tapes for gradients than the
        other. Such a program solves the exercise in another way, which may also be right.
    """
    own_tapes, solution_tapes = (run.asked_tapes[: MAX_TAPES + 1] for run in (own_run, solution_run))
    if len(own_tapes) != len(solution_tapes):
        return None
    own_snapshots, solution_snapshots = (
        list(map(build_rows_and_sweep, run.asked_tapes[:MAX_TAPES], run.asked_names)) for run in (own_run, solution_run)
    )
    playback = None
    for number, snapshots in enumerate(zip(own_snapshots, solution_snapshots, strict=True)):
        tapes = own_tapes[number], solution_tapes[number]
        # Of nested tapes, which share a recording, the one that was asked last computed the wrong gradient.
        if playback and tapes[0]._record is not playback.tapes[0]._record:
            break
        difference = find_first_difference(*snapshots, is_each_asked_once)
        if difference and not (
            _is_among(snapshots[0], solution_snapshots, is_each_asked_once)
            and _is_among(snapshots[1], own_snapshots, is_each_asked_once)
        ):
            text = describe_difference(difference, snapshots, tapes)
            if len(own_tapes) > 1:
                place, solution_place = (_find_tape_name(run, number) for run in (own_run, solution_run))
                if place != solution_place:
                    place = say("{own} and the solution's {other}", own=place, other=solution_place)
                text = say("{place}: {told}", place=place, told=text)
            playback = Playback(
                tapes,
                (own_run.asked_names[number], solution_run.asked_names[number]),
                snapshots,
                difference,
                text,
                results,
            )
    return playback


def _is_among(snapshot: Snapshot, others: list[Snapshot], is_each_asked_once: bool) -> bool:
    """Return whether another program, which may ask its tapes in another order, has a tape like this one."""
    return any(not find_first_difference(snapshot, other, is_each_asked_once) for other in others)


def _find_tape_name(run: ObservedRun, number: int) -> str:
    """Find the name of a tape in the program, with a number if it is not the first tape of this name.

    Args:
        run: The run of the program.
        number: The index of the tape among the tapes that were asked.
    """
    tapes, names = run.asked_tapes[: number + 1], run.asked_names[number]
    name = next((name for name in names if names[name] is tapes[number]), "tape")
    count = sum(names.get(name) is tape for names, tape in zip(run.asked_names, tapes, strict=False))
    return say("{name} number {number} of those you asked", name=name, number=count) if count > 1 else name


def describe_difference(
    difference: TapeDifference, snapshots: tuple[Snapshot, Snapshot], tapes: tuple[Answer, Answer]
) -> str:
    """Describe the first difference between a learner's tape and the solution's in the learner's words.

    Args:
        difference: The difference.
        snapshots: The snapshots of both tapes.
        tapes: The tapes.
    """
    own, solution = map(_ComparedTape, tapes, snapshots, difference.places)
    (own_row, solution_row), (own_next, solution_next) = difference.rows, difference.next_rows
    own_watches, solution_watches = own.list_watches_without(solution), solution.list_watches_without(own)
    kind = difference.kind
    line = linecache.getline(own_next["file"] or "", own_next["line"] or 0).strip() if own_next else ""
    here, there = own.describe_row(own_next), solution.describe_row(solution_next)
    if kind in ("adjoint", "share"):
        here, there = (truncate_text(value, MAX_VALUE_LENGTH) for value in difference.values)
    elif line and kind != "start" and (own_watches or solution_watches):
        kind, here, there = "watched" if solution_watches else "unwatched", own_watches, solution_watches
    elif solution_row is None:
        kind = "operation" if solution_next else "end"
    elif own_row is None:
        kind = "operation" if own_next else "missing"
        if solution_row["by"] is not None:
            kind = "sweep"
    elif kind == "recording":
        if here != there:
            kind = "operation"
        elif own_row["status"] != "recorded":
            kind = "unrecorded"
    elif here == there:
        kind = "unclear"
    name = own.format_name(own_row) if own_row else ""
    told = say((DIFFERENCES | DIFFERENCES_IN_LINE)[kind], line=line, here=here, there=there, name=name)
    if kind in DIFFERENCES:
        return told
    place = "Your tape and the solution's differ at the line {line}: {told}"
    return say(place if line else "Your tape differs from the solution's: {told}", line=line, told=told)


class _ComparedTape:
    """One of two compared tapes.

    Attributes:
        rows: The rows of the tape.
    """

    def __init__(self, tape: Answer, snapshot: Snapshot, place: int) -> None:
        """Find what the tape watched before a row, or at any time by itself.

        Args:
            tape: The tape.
            snapshot: Its snapshot.
            place: The number of the row.
        """
        self.rows = snapshot["rows"]
        self._expressions = Expressions(self.rows)
        self._watched_rows = [
            row
            for row in self.rows
            if row["watched"] == "automatic" or tape.watched.get(row["row"], place + 1) <= place
        ]

    def list_watches_without(self, other: _ComparedTape) -> str:
        """Describe what this tape was told to watch, except what the other tape also watches.

        Args:
            other: The other tape.

        Returns:
            Names and values, or "" if there is nothing.
        """
        return ", ".join(
            self.describe_row(row)
            for row in self._watched_rows
            if row["watched"] == "explicit"
            and not any(is_same_value(row["value"], watched["value"]) for watched in other._watched_rows)
        )

    def describe_row(self, row: OptionalRow) -> str:
        """Describe a row by its name or expression and its value, and an unnamed constant only by its value.

        Args:
            row: A row of this tape, or None.

        Returns:
            The description, or "" for None.
        """
        if row is None:
            return ""
        value = truncate_text(" ".join((row["value"] or {"text": "…"})["text"].split()), MAX_VALUE_LENGTH)
        is_number = row["kind"] == "constant" and not row["name"]
        return value if is_number else f"{self.format_name(row)} = {value}"

    def format_name(self, row: RowFields) -> str:
        """Return the expression of an operation, with dots for inputs that have no name, or the name of a leaf.

        Args:
            row: A row of this tape.
        """
        if row["kind"] != "operation":
            return str(row["name"] or row["label"] or row["op"]).removesuffix(":0")
        return re.sub(ROW_NUMBER, "…", self._expressions.list_texts_longest_first(row)[0])
