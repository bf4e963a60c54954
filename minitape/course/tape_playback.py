"""Show a wrong program's tape next to the solution's, both on the case that went wrong.

One comparison, `minitape.picture.tape_difference`, gives the sentence and the marks in both pictures.
"""

import linecache
import re
import sys
import warnings
from dataclasses import dataclass

from ..common.translation import join_sentences, say, truncate_text
from ..engine.types import JsonObject, TextPair
from ..picture.expressions import Expressions
from ..picture.snapshot_types import OptionalRow, RowFields, Snapshot
from ..picture.snapshots import build_rows_and_sweep
from ..picture.tape_difference import TapeDifference, find_first_difference
from .call_log import MAX_TAPES, ObservedRun
from .course_texts import read_lesson
from .exercise import Answer, NamedValues, Program

MAX_VALUE_LENGTH = 60
DIFFERENCES = {
    "missing": "Before your line {line}, the solution's tape has another row: {there}.",
    "additional": "Next, your program computed {here}, which the solution's tape does not have.",
    "recording": "Next, your tape recorded {here}, but the solution's tape did not.",
    "unrecorded": "Next, the solution's tape recorded {here}, but your tape did not.",
    "start": "In your line {line}, your tape has {here}, but the solution's tape has {there}.",
    "adjoint": "In the backward sweep, {name} has {here} on your tape, but {there} on the solution's tape.",
    "share": "In the backward sweep, {name} sends {here} on your tape, but {there} on the solution's tape.",
    "operation": "Next, your program computed {here}, but the solution computed {there}.",
    "value": "Next, your program computed {here}, but the solution computed {there}.",
    "sweep": "Next, the solution's tape recorded a step of another tape's sweep, but your tape did not.",
}
DIFFERENCES_WITHOUT_LINE = {
    "missing": "Your tape ends here, but the solution's tape continues with {there}.",
    "start": "Your tape begins with {here}, but the solution's tape begins with {there}.",
}
ROW_NUMBER = "[\u2460-\u2469]|⟨\\d+⟩"  # Expressions show row numbers in these forms.


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
    results: TextPair = ("", "")

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


def find_solution_text(exercise_name: str) -> str:
    """Find the solution of an exercise.

    Args:
        exercise_name: The name of the exercise.

    Returns:
        The program without its call to `check`, or "" if the course has no such exercise.
    """
    return read_lesson(exercise_name.rpartition(".")[0]).solutions.get(exercise_name, "")


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
        linecache.cache[file_name] = len(program), None, program.splitlines(keepends=True), file_name
    with warnings.catch_warnings():  # Python warns about a variant such as `return 0.1[0]`.
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(program, file_name, "exec")
    exec(code, names)
    functions = [value for name, value in names.items() if callable(value) and names_before.get(name) is not value]
    return functions[-1] if functions else None


def build_first_difference_playback(
    own_run: ObservedRun,
    solution_run: ObservedRun,
    results: TextPair = ("", ""),
    is_each_asked_once: bool = True,
) -> Playback | None:
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
    playback = None
    for number in range(min(len(own_tapes), MAX_TAPES)):
        # Of nested tapes, which share a recording, the one that was asked last computed the wrong gradient.
        if playback is not None and own_tapes[number]._record is not playback.tapes[0]._record:
            break
        tapes = own_tapes[number], solution_tapes[number]
        names = own_run.asked_names[number], solution_run.asked_names[number]
        snapshots = build_rows_and_sweep(tapes[0], names[0]), build_rows_and_sweep(tapes[1], names[1])
        difference = find_first_difference(*snapshots, is_each_asked_once)
        if difference is not None:
            tape_title = say("Tape {number}:", number=number + 1) if len(own_tapes) > 1 else ""
            text = join_sentences(tape_title, describe_difference(difference, snapshots))
            playback = Playback(tapes, names, snapshots, difference, text, results)
    return playback


def describe_difference(difference: TapeDifference, snapshots: tuple[Snapshot, Snapshot]) -> str:
    """Describe the first difference between a learner's tape and the solution's in the learner's words.

    Args:
        difference: The difference.
        snapshots: The snapshots of both tapes.
    """
    own_row, solution_row = difference.rows
    own_expressions, solution_expressions = (Expressions(snapshot["rows"]) for snapshot in snapshots)
    here = _describe_row(own_row, own_expressions)
    there = _describe_row(solution_row, solution_expressions)
    kind = difference.kind
    line = _find_line(own_row or difference.next_rows[0])
    if own_row is None or solution_row is None:
        kind = "missing" if own_row is None else "additional"
    elif kind == "recording" and own_row["status"] != "recorded":
        kind = "unrecorded"
    elif kind in ("adjoint", "share"):
        here, there = (truncate_text(value, MAX_VALUE_LENGTH) for value in difference.values)
    elif own_row["dtype"] != solution_row["dtype"]:
        here, there = f"{here} ({own_row['dtype']})", f"{there} ({solution_row['dtype']})"
    if kind in ("missing", "unrecorded") and solution_row and solution_row["by"] is not None:
        kind = "sweep"
    name = _format_name(own_row, own_expressions)
    texts = {"line": line, "here": here, "there": there, "name": name}
    text = say((DIFFERENCES if line else DIFFERENCES | DIFFERENCES_WITHOUT_LINE)[kind], **texts)
    return join_sentences(_describe_equal_beginning(kind, line), text)


def _describe_equal_beginning(kind: str, line: str) -> str:
    """Describe how far two tapes are the same, or return "" if they differ from the start.

    Args:
        kind: The kind of their first difference.
        line: The learner's line of the difference, or "" if it has none.
    """
    if kind in ("missing", "start"):
        return ""
    if kind in ("adjoint", "share"):
        return say("Both tapes have the same rows.")
    if not line:
        return say("Up to this point, both tapes are the same.")
    return say("Up to your line {line}, both tapes are the same.", line=line)


def _format_name(row: OptionalRow, expressions: Expressions) -> str:
    """Return the name of a row, or else its expression.

    Args:
        row: The row, or None.
        expressions: The expressions of its tape.
    """
    if row is None:
        return ""
    if row["name"] or row["kind"] != "operation":
        return str(row["name"] or row["label"] or row["op"]).removesuffix(":0")
    return _format_expression(row, expressions)


def _format_expression(row: RowFields, expressions: Expressions) -> str:
    """Return the expression of a row, with dots for inputs that have no name.

    Args:
        row: An operation.
        expressions: The expressions of its tape.
    """
    text = re.sub(ROW_NUMBER, "…", expressions.list_texts_longest_first(row)[0])
    return re.sub(r"^(\[…\])\((.+)\)$", r"\2\1", text)  # x[…] instead of […](x)


def _find_line(row: OptionalRow) -> str:
    return linecache.getline(row["file"] or "", row["line"] or 0).strip() if row else ""


def _describe_row(row: OptionalRow, expressions: Expressions) -> str:
    """Describe a row.

    Returns:
        The expression or name of the row, with its value. For a constant, only the value.
    """
    if row is None:
        return ""
    value = truncate_text(" ".join(row["value"]["text"].split()), MAX_VALUE_LENGTH) if row["value"] else ""
    if row["kind"] == "constant" and value and not row["name"]:
        return value
    text = _format_expression(row, expressions) if row["kind"] == "operation" else _format_name(row, expressions)
    return f"{text} = {value}" if value else text
