"""What a notebook must look like: tags, exercises and their solutions, and the rules that nbval does not know."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict

from minitape.common.translation import CHECK, load_translations
from minitape.course import CORRECT, NOT_ANSWERED
from minitape.course.checker import MARKS
from minitape.course.predict import WIDGET_VIEW

from .lesson_files import find_lesson_folders_by_language
from .messages import say

EXERCISE = "exercise"
SOLUTION = "solution"
FOLLOWS_ANSWERS = "follows-answers"
UNCHECKED = "nbval-ignore-output"
LANGUAGE = {"name": "python"}  # all that a saved lesson says of its language
OUTPUTS_DIFFER = "Cell outputs differ"
DEATH_PATTERN = re.compile("kernel d(ied|ead)", re.IGNORECASE)  # in what nbval says
NOT_REPEATABLE = "not-repeatable"
DEPENDS_ON_ANSWERS = "depends-on-answers"
UNSAVED_RULES = ("widget-state", "widget-view", "not-run", "run-order")  # what `minitape save` leaves in no notebook
UNCOMPARED_TYPES = (WIDGET_VIEW, "image/png", "image/jpeg")

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
_ANSWERS_PATTERN = re.compile(r"\b(?:add_exercise|Exercise)\(")
_UNKNOWN_MAGIC = re.compile(r"UsageError: (?:Line|Cell) magic (?:function )?`(%+\w+)` not found")
_VERDICT_LINE = re.compile(r"^Exercise \S+: ([^.]*)\.", re.MULTILINE)
_FIELD_PATTERN = re.compile(r"\{\w+\}")
_COLOR_CODES = re.compile(r"\x1b\[[0-9;]*m")


Notebook: TypeAlias = Any  # nbformat's, which has no types
Cell: TypeAlias = Any  # the same
Output: TypeAlias = Any  # the same


class CellResult(TypedDict):
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


def get_tags(cell: Cell) -> list[str]:
    """Return the tags of a cell."""
    tags = cell.get("metadata", {}).get("tags", [])
    return tags if isinstance(tags, list) else []


def is_grown_picture(output: Output) -> bool:
    """Return whether an output is a picture that grew after its cell had run, which no run of the cell alone shows."""
    return bool(output.get("metadata", {}).get("minitape", {}).get("grown"))


def is_output_compared(cell: Cell) -> bool:
    """Return whether what a cell shows is compared with what is saved: nbval leaves out what a tag or comment names.

    >>> is_output_compared({"cell_type": "code", "metadata": {}, "source": "# NBVAL_SKIP"})
    False
    """
    if cell["cell_type"] != "code":
        return True
    from nbval.plugin import find_comment_markers, find_metadata_tags

    markers = dict([*find_metadata_tags(cell["metadata"]), *find_comment_markers(cell["source"])])
    return not markers.get("skip", False) and bool(markers.get("check", True))


def has_answers(cell: Cell) -> bool:
    """Return whether a cell has the answers of exercises: outside a notebook only teachers may see it.

    >>> has_answers({"cell_type": "code", "source": "%time add_exercise(Exercise('a.1', expect=4.0))"})
    True
    """
    if cell["cell_type"] == "code":
        return not is_exercise(cell) and bool(_ANSWERS_PATTERN.search("".join(cell["source"])))
    return SOLUTION in get_tags(cell)


def is_code_folded(cell: Cell) -> bool:
    """Return whether JupyterLab shows three dots in the place of a cell's code."""
    return bool(cell.get("metadata", {}).get("jupyter", {}).get("source_hidden"))


def is_exercise(cell: Cell) -> bool:
    """Return whether a cell is one that a learner answers in."""
    return cell["cell_type"] == "code" and EXERCISE in get_tags(cell)


def find_solution_code(cells: Sequence[Cell], exercise_index: int) -> str | None:
    """Find the code of the folded solution that follows the exercise cell, or None if there is none.

    That is the one ```python block in the next cell tagged `solution`, before the next exercise.
    """
    for cell in cells[exercise_index + 1 :]:
        if is_exercise(cell):
            return None
        if cell["cell_type"] == "markdown" and SOLUTION in get_tags(cell):
            blocks = _CODE_BLOCK.findall(cell["source"])
            return blocks[0] if len(blocks) == 1 else None
    return None


def check_saved_notebook(notebook: Notebook) -> Iterator[CheckFinding]:
    """Yield what is wrong in a notebook as far as it can be seen without running it."""
    if "widgets" in notebook.metadata:
        yield CheckFinding(
            "widget-state", None, say("widget state is saved in the notebook: save it with minitape save")
        )
    code_cells = [(cell_index, cell) for cell_index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    for cell_index, cell in code_cells:
        if cell.execution_count is None and cell.source.strip():
            yield CheckFinding(
                "not-run", cell_index, say("this cell was never run, so it has no output to compare with")
            )
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.outputs):
            yield CheckFinding(
                "widget-view", cell_index, say("a live widget is saved here, which no reader sees: use minitape save")
            )
        if is_exercise(cell) and find_solution_code(notebook.cells, cell_index) is None:
            yield CheckFinding(
                "exercise", cell_index, say("no cell tagged 'solution' with one ```python block follows this exercise")
            )
        if not is_exercise(cell) and NOT_ANSWERED in _VERDICT_LINE.findall(
            translate_verdicts_to_english(format_outputs(cell.outputs))
        ):
            yield CheckFinding(
                "exercise", cell_index, say("this exercise is not tagged 'exercise', so its solution is never tried")
            )
    yield from _check_run_order(code_cells)


def _check_run_order(code_cells: Iterable[tuple[int, Cell]]) -> Iterator[CheckFinding]:
    """Yield the first cell that shows that the notebook was not run once, from top to bottom."""
    for expected, (cell_index, cell) in enumerate(
        ((index, code_cell) for index, code_cell in code_cells if code_cell.source.strip()), 1
    ):
        if cell.execution_count is None:
            return
        if cell.execution_count != expected:
            message = "saved as In [{saved}] where In [{due}] was due: run all cells in order, in a fresh kernel"
            yield CheckFinding("run-order", cell_index, say(message, saved=cell.execution_count, due=expected))
            return


def check_cell_run(notebook: Notebook, cell_result: CellResult, variant: str) -> Iterator[CheckFinding]:
    """Yield what one cell's run shows; `cell_result` is what the recorder sent."""
    cell_index = cell_result["cell"]
    cell, outputs = notebook.cells[cell_index], cell_result["outputs"]
    errors = collect_stderr(outputs)
    if unknown_magic := _UNKNOWN_MAGIC.search(errors):
        yield CheckFinding(
            "unknown-magic",
            cell_index,
            say("the magic {name} does not exist", name=unknown_magic.group(1)),
            variant=variant,
        )
        return
    if errors:
        yield CheckFinding("stderr", cell_index, say("this cell writes to stderr"), new=errors, variant=variant)
    only_errors = errors and _format_outputs_without_stderr(cell.outputs) == _format_outputs_without_stderr(outputs)
    if cell_result["problem"] and not (only_errors and cell_result["problem"] == OUTPUTS_DIFFER):
        yield _explain_cell_problem(cell, cell_result, variant)
    is_tried = variant == "blank" or find_solution_code(notebook.cells, cell_index) is not None
    if is_exercise(cell) and is_tried and cell_result["problem"] in (None, OUTPUTS_DIFFER):
        yield from _check_exercise_verdict(cell_index, outputs, variant)


def has_kernel_died(cell_result: CellResult) -> bool:
    """Return whether the kernel ended in a cell, or did not start."""
    return bool(DEATH_PATTERN.search(cell_result["problem"] or ""))


def _is_stderr(output: Output) -> bool:
    return bool(output["output_type"] == "stream" and output["name"] == "stderr")


def collect_stderr(outputs: Iterable[Output]) -> str:
    """Return what a cell wrote to stderr."""
    return strip_colors("".join(output["text"] for output in outputs if _is_stderr(output)))


def _format_outputs_without_stderr(outputs: Iterable[Output]) -> str:
    return format_outputs(output for output in outputs if not _is_stderr(output))


def _explain_cell_problem(cell: Cell, cell_result: CellResult, variant: str) -> CheckFinding:
    """Return the finding for a cell in which nbval, or the kernel, failed."""
    problem = cell_result["problem"] or ""
    saved, new = _format_outputs_without_stderr(cell.outputs), _format_outputs_without_stderr(cell_result["outputs"])
    error_outputs = [output for output in cell_result["outputs"] if output["output_type"] == "error"]
    name, error_message = (
        (error_outputs[-1]["ename"], strip_colors(error_outputs[-1]["evalue"])) if error_outputs else ("", "")
    )
    rule, message = "outputs-differ", say("this cell's output is not the saved one")
    if problem == OUTPUTS_DIFFER:
        pass
    elif name == "KeyboardInterrupt":
        rule, message = "timeout", say("this cell takes too long and was stopped")
    elif name == "CalledProcessError":
        rule, message = "failing-command", say("a command of this cell fails: {error}", error=error_message)
    elif error_outputs:
        is_solution = variant == "solved" and is_exercise(cell)
        message_template = "the solution raises {error}" if is_solution else "this cell raises {error}"
        rule, message = "error", say(message_template, error=f"{name}: {error_message}")
    else:
        rule, message = "timeout" if "Timeout" in problem else "not-runnable", strip_colors(problem)
    return CheckFinding(rule, cell_result["cell"], message, saved, new, variant)


def _check_exercise_verdict(cell_index: int, outputs: list[Output], variant: str) -> Iterator[CheckFinding]:
    """Check that an exercise says that it is not answered yet; with its solution, that this is correct."""
    expected_word = CORRECT if variant == "solved" else NOT_ANSWERED
    text = format_outputs(outputs)
    verdict_words = _VERDICT_LINE.findall(translate_verdicts_to_english(text))
    if not verdict_words or any(verdict_word != expected_word for verdict_word in verdict_words):
        blank_message = "this exercise, left blank, should print 'not answered yet'"
        message = say("the solution should print 'correct'" if variant == "solved" else blank_message)
        yield CheckFinding("exercise", cell_index, message, new=text, variant=variant)


def describe_cell(cell_sources: Sequence[str], cell_index: int | None) -> str:
    """Describe a cell by its number, as counted from 1 over all cells, and its first line."""
    if cell_index is None:
        return say("the notebook")
    line = next(iter(cell_sources[cell_index].strip().splitlines()), "")
    short_line = line if len(line) <= 50 else f"{line[:49]}…"
    return say("cell {number} ({line})", number=cell_index + 1, line=short_line)


def format_outputs(outputs: Iterable[Output]) -> str:
    """Format a cell's outputs as plain text, as far as they are compared."""
    return "\n".join(part for output in outputs for part in _iter_output_texts(output))


def _iter_output_texts(output: Output) -> Iterator[str]:
    kind = output["output_type"]
    if kind == "stream":
        heading = "" if output["name"] == "stdout" else f"[{output['name']}]\n"
        yield heading + strip_colors(output["text"]).rstrip("\n")
    elif kind == "error":
        yield f"{output['ename']}: {strip_colors(output['evalue'])}"
    else:
        for mime, data in sorted(output.get("data", {}).items()):
            if mime not in UNCOMPARED_TYPES:
                yield ("" if mime == "text/plain" else f"[{mime}]\n") + str(data)


def translate_verdicts_to_english(text: str) -> str:
    """Return what `check` said, from any language of the lessons, with the words in English by which it is read.

    >>> translate_verdicts_to_english("练习 01.1：还不对。\\n  你的答案：8.0\\n提示：这是 y。")
    'Exercise 01.1: not yet.\\n  given:    8.0\\nHint: 这是 y。'
    """
    for pattern, replacement in _list_english_replacements():
        text = pattern.sub(replacement, text)
    return text


@functools.cache
def _list_english_replacements() -> list[tuple[re.Pattern[str], str]]:
    """List what a line of `check` begins with in each language, and what replaces it in English."""
    tables = [load_translations(CHECK, code) for code in find_lesson_folders_by_language()]
    pairs = [
        (_FIELD_PATTERN.split(texts[mark]), _FIELD_PATTERN.split(mark))
        for texts in tables
        for mark in MARKS
        if texts.get(mark)
    ]
    return [
        (
            re.compile(r"^([ \t]*)" + "(.*?)".join(map(re.escape, translated_parts)), re.MULTILINE),
            r"\1" + r"\2".join(english_parts),
        )
        for translated_parts, english_parts in pairs
    ]


def strip_colors(text: str) -> str:
    """Return a text without the terminal's color codes."""
    return _COLOR_CODES.sub("", text)
