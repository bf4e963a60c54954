"""What a notebook must look like: tags, exercises and their solutions, and the rules that nbval does not know."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict

from minitape.common.texts import CHECK, table
from minitape.course import CORRECT, NOT_ANSWERED
from minitape.course.checker import MARKS
from minitape.course.predict import WIDGET_VIEW

from .lessons import languages
from .messages import say

EXERCISE = "exercise"
SOLUTION = "solution"
FOLLOWS_ANSWERS = "follows-answers"
UNCHECKED = "nbval-ignore-output"
LANGUAGE = {"name": "python"}  # all that a saved lesson says of its language
OUTPUTS_DIFFER = "Cell outputs differ"
DEATH = re.compile("kernel d(ied|ead)", re.IGNORECASE)  # in what nbval says
NOT_REPEATABLE = "not-repeatable"
DEPENDS_ON_ANSWERS = "depends-on-answers"
UNSAVED = ("widget-state", "widget-view", "not-run", "run-order")  # what `minitape save` leaves in no notebook
UNCOMPARED = (WIDGET_VIEW, "image/png", "image/jpeg")

REMEDIES = {
    "widget-state": "minitape save NOTEBOOK leaves it out",
    "widget-view": "minitape save NOTEBOOK keeps the picture that every reader sees",
    "not-run": "minitape save NOTEBOOK runs all cells and saves them",
    "run-order": "minitape save NOTEBOOK runs all cells in order",
    "exercise": "the cell tagged exercise holds ... and calls check; the next cell, tagged solution, holds its whole "
    "code with the answer that the Exercise expects",
    "unknown-magic": "correct its name, or load the extension that has it with %load_ext before",
    "failing-command": "correct the command; if it may fail, let it end well: command || true",
    "stderr": "fix what the text complains of; print what the learner should see to stdout",
    "error": "fix the program, which must run while the exercises before it are blank; if the error is meant, tag the "
    "cell raises-exception",
    "outputs-differ": "if the new output is right, minitape save NOTEBOOK saves it",
    NOT_REPEATABLE: "fix the seed, sort sets, print no times and no addresses; if it must differ, tag the cell "
    "nbval-ignore-output",
    DEPENDS_ON_ANSWERS: "let the cell do without the answers, or tag it follows-answers",
    "timeout": "let the cell do less, or give it more time: --timeout SECONDS",
    "not-runnable": "run the notebook in JupyterLab up to this cell, and see what ends the kernel",
}
"""Rule -> what to do about it."""

_CODE_BLOCK = re.compile(r"^```python\n(.*?)\n?^```", re.DOTALL | re.MULTILINE)
_ANSWERS = re.compile(r"\b(?:add_exercise|Exercise)\(")
_UNKNOWN_MAGIC = re.compile(r"UsageError: (?:Line|Cell) magic (?:function )?`(%+\w+)` not found")
_SAID = re.compile(r"^Exercise \S+: ([^.]*)\.", re.MULTILINE)
_FIELD = re.compile(r"\{\w+\}")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


Notebook: TypeAlias = Any  # nbformat's, which has no types
Cell: TypeAlias = Any  # the same
Output: TypeAlias = Any  # the same


class Ran(TypedDict):
    """What nbval's process sends of a cell that ran."""

    cell: int
    outputs: list[Output]
    problem: str | None


@dataclass(frozen=True)
class CheckFinding:
    """One thing that is wrong in a notebook.

    `cell` counts all cells of the notebook from 0, None where the whole notebook is meant. `saved` and `new` are the
    outputs as text where they differ. `variant` is the run that showed it, None where no run was needed.
    """

    rule: str
    cell: int | None
    message: str
    saved: str | None = None
    new: str | None = None
    variant: str | None = None


def tags_of(cell: Cell) -> list[str]:
    """The tags of a cell."""
    tags = cell.get("metadata", {}).get("tags", [])
    return tags if isinstance(tags, list) else []


def is_grown(output: Output) -> bool:
    """Whether an output is a picture that grew after its cell had run, which no run of the cell alone shows."""
    return bool(output.get("metadata", {}).get("minitape", {}).get("grown"))


def is_compared(cell: Cell) -> bool:
    """Whether what a cell shows is compared with what is saved: nbval leaves out what a tag or a comment names.

    >>> is_compared({"cell_type": "code", "metadata": {}, "source": "# NBVAL_SKIP"})
    False
    """
    if cell["cell_type"] != "code":
        return True
    from nbval.plugin import find_comment_markers, find_metadata_tags

    marks = dict([*find_metadata_tags(cell["metadata"]), *find_comment_markers(cell["source"])])
    return not marks.get("skip", False) and bool(marks.get("check", True))


def is_answers(cell: Cell) -> bool:
    """Whether a cell has the answers of exercises: outside a notebook only teachers may see it.

    >>> is_answers({"cell_type": "code", "source": "%time add_exercise(Exercise('a.1', expect=4.0))"})
    True
    """
    if cell["cell_type"] == "code":
        return not is_exercise(cell) and bool(_ANSWERS.search("".join(cell["source"])))
    return SOLUTION in tags_of(cell)


def is_folded(cell: Cell) -> bool:
    """Whether JupyterLab shows three dots in the place of a cell's code."""
    return bool(cell.get("metadata", {}).get("jupyter", {}).get("source_hidden"))


def is_exercise(cell: Cell) -> bool:
    """Whether a cell is one that a learner answers in."""
    return cell["cell_type"] == "code" and EXERCISE in tags_of(cell)


def solution_of(cells: Sequence[Cell], exercise: int) -> str | None:
    """The code of the folded solution that follows the exercise cell, or None if there is none.

    That is the one ```python block in the next cell tagged `solution`, before the next exercise.
    """
    for cell in cells[exercise + 1 :]:
        if is_exercise(cell):
            return None
        if cell["cell_type"] == "markdown" and SOLUTION in tags_of(cell):
            blocks = _CODE_BLOCK.findall(cell["source"])
            return blocks[0] if len(blocks) == 1 else None
    return None


def saved_findings(notebook: Notebook) -> Iterator[CheckFinding]:
    """What can be seen without running the notebook."""
    if "widgets" in notebook.metadata:
        yield CheckFinding(
            "widget-state", None, say("widget state is saved in the notebook: save it with minitape save")
        )
    code = [(place, cell) for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    for place, cell in code:
        if cell.execution_count is None and cell.source.strip():
            yield CheckFinding("not-run", place, say("this cell was never run, so it has no output to compare with"))
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.outputs):
            yield CheckFinding(
                "widget-view", place, say("a live widget is saved here, which no reader sees: use minitape save")
            )
        if is_exercise(cell) and solution_of(notebook.cells, place) is None:
            yield CheckFinding(
                "exercise", place, say("no cell tagged 'solution' with one ```python block follows this exercise")
            )
        if not is_exercise(cell) and NOT_ANSWERED in _SAID.findall(in_english(outputs_text(cell.outputs))):
            yield CheckFinding(
                "exercise", place, say("this exercise is not tagged 'exercise', so its solution is never tried")
            )
    yield from _order_findings(code)


def _order_findings(code: Iterable[tuple[int, Cell]]) -> Iterator[CheckFinding]:
    """The first cell that shows that the notebook was not run once, from top to bottom."""
    for expected, (place, cell) in enumerate(((p, c) for p, c in code if c.source.strip()), 1):
        if cell.execution_count is None:
            return
        if cell.execution_count != expected:
            message = "saved as In [{saved}] where In [{due}] was due: run all cells in order, in a fresh kernel"
            yield CheckFinding("run-order", place, say(message, saved=cell.execution_count, due=expected))
            return


def run_findings(notebook: Notebook, record: Ran, variant: str) -> Iterator[CheckFinding]:
    """What one cell's run shows; `record` is what the recorder sent."""
    place = record["cell"]
    cell, outputs = notebook.cells[place], record["outputs"]
    errors = errors_text(outputs)
    if magic := _UNKNOWN_MAGIC.search(errors):
        yield CheckFinding(
            "unknown-magic", place, say("the magic {name} does not exist", name=magic.group(1)), variant=variant
        )
        return
    if errors:
        yield CheckFinding("stderr", place, say("this cell writes to stderr"), new=errors, variant=variant)
    only_errors = errors and _without_stderr(cell.outputs) == _without_stderr(outputs)
    if record["problem"] and not (only_errors and record["problem"] == OUTPUTS_DIFFER):
        yield _problem(cell, record, variant)
    tried = variant == "blank" or solution_of(notebook.cells, place) is not None
    if is_exercise(cell) and tried and record["problem"] in (None, OUTPUTS_DIFFER):
        yield from _exercise_findings(place, outputs, variant)


def has_died(record: Ran) -> bool:
    """Whether the kernel ended in a cell, or did not start."""
    return bool(DEATH.search(record["problem"] or ""))


def _is_stderr(output: Output) -> bool:
    return bool(output["output_type"] == "stream" and output["name"] == "stderr")


def errors_text(outputs: Iterable[Output]) -> str:
    """What a cell wrote to stderr."""
    return plain("".join(output["text"] for output in outputs if _is_stderr(output)))


def _without_stderr(outputs: Iterable[Output]) -> str:
    return outputs_text(output for output in outputs if not _is_stderr(output))


def _problem(cell: Cell, record: Ran, variant: str) -> CheckFinding:
    """The finding for a cell in which nbval, or the kernel, failed."""
    problem = record["problem"] or ""
    saved, new = _without_stderr(cell.outputs), _without_stderr(record["outputs"])
    failed = [output for output in record["outputs"] if output["output_type"] == "error"]
    name, says = (failed[-1]["ename"], plain(failed[-1]["evalue"])) if failed else ("", "")
    rule, message = "outputs-differ", say("this cell's output is not the saved one")
    if problem == OUTPUTS_DIFFER:
        pass
    elif name == "KeyboardInterrupt":
        rule, message = "timeout", say("this cell takes too long and was stopped")
    elif name == "CalledProcessError":
        rule, message = "failing-command", say("a command of this cell fails: {error}", error=says)
    elif failed:
        of_solution = variant == "solved" and is_exercise(cell)
        raises = "the solution raises {error}" if of_solution else "this cell raises {error}"
        rule, message = "error", say(raises, error=f"{name}: {says}")
    else:
        rule, message = "timeout" if "Timeout" in problem else "not-runnable", plain(problem)
    return CheckFinding(rule, record["cell"], message, saved, new, variant)


def _exercise_findings(place: int, outputs: list[Output], variant: str) -> Iterator[CheckFinding]:
    """Left blank, an exercise says that it is not answered yet; with its solution, that this is correct."""
    wanted = CORRECT if variant == "solved" else NOT_ANSWERED
    text = outputs_text(outputs)
    said = _SAID.findall(in_english(text))
    if not said or any(word != wanted for word in said):
        left_blank = "this exercise, left blank, should print 'not answered yet'"
        message = say("the solution should print 'correct'" if variant == "solved" else left_blank)
        yield CheckFinding("exercise", place, message, new=text, variant=variant)


def place_in(sources: Sequence[str], cell: int | None) -> str:
    """A cell's place in words: its number as counted from 1 over all cells, and its first line."""
    if cell is None:
        return say("the notebook")
    line = next(iter(sources[cell].strip().splitlines()), "")
    shown = line if len(line) <= 50 else f"{line[:49]}…"
    return say("cell {number} ({line})", number=cell + 1, line=shown)


def outputs_text(outputs: Iterable[Output]) -> str:
    """A cell's outputs as plain text, as far as they are compared."""
    return "\n".join(part for output in outputs for part in _parts(output))


def _parts(output: Output) -> Iterator[str]:
    kind = output["output_type"]
    if kind == "stream":
        heading = "" if output["name"] == "stdout" else f"[{output['name']}]\n"
        yield heading + plain(output["text"]).rstrip("\n")
    elif kind == "error":
        yield f"{output['ename']}: {plain(output['evalue'])}"
    else:
        for mime, data in sorted(output.get("data", {}).items()):
            if mime not in UNCOMPARED:
                yield ("" if mime == "text/plain" else f"[{mime}]\n") + str(data)


def in_english(text: str) -> str:
    """What `check` said, with the words by which it is read in English, from any language of the lessons.

    >>> in_english("练习 01.1：还不对。\\n  你的答案：8.0\\n提示：这是 y。")
    'Exercise 01.1: not yet.\\n  given:    8.0\\nHint: 这是 y。'
    """
    for theirs, ours in _marks():
        text = theirs.sub(ours, text)
    return text


@functools.cache
def _marks() -> list[tuple[re.Pattern[str], str]]:
    """What a line of `check` begins with in each language, and the same in English."""
    tables = [table(CHECK, code) for code in languages()]
    pairs = [(_FIELD.split(texts[mark]), _FIELD.split(mark)) for texts in tables for mark in MARKS if texts.get(mark)]
    return [
        (re.compile(r"^([ \t]*)" + "(.*?)".join(map(re.escape, theirs)), re.MULTILINE), r"\1" + r"\2".join(ours))
        for theirs, ours in pairs
    ]


def plain(text: str) -> str:
    """Text without the terminal's colour codes."""
    return _ESCAPES.sub("", text)
