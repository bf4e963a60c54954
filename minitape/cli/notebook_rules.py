"""Check the rules for notebooks that nbval does not check, such as the rules for exercises and solutions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypedDict

from click import unstyle

from minitape.common.translation import CHECK, load_translations
from minitape.course import CORRECT, NOT_ANSWERED
from minitape.course.checker import MARKS
from minitape.course.predict import WIDGET_VIEW

from ..engine.types import OptionalNumber, OptionalText, TextList, TextSequence
from .lesson_files import find_lesson_folders_by_language
from .messages import say

EXERCISE = "exercise"
SOLUTION = "solution"
FOLLOWS_ANSWERS = "follows-answers"
UNCHECKED = "nbval-ignore-output"
LANGUAGE = {"name": "python"}
"""The language information of a saved lesson, which contains no version."""
OUTPUTS_DIFFER = "Cell outputs differ"
DEATH_PATTERN = re.compile("kernel d(ied|ead)", re.IGNORECASE)
"""The part of nbval's messages that reports a dead kernel."""
NOT_REPEATABLE = "not-repeatable"
DEPENDS_ON_ANSWERS = "depends-on-answers"
UNSAVED_RULES = ("widget-state", "widget-view", "not-run", "run-order")
"""Rules that no notebook breaks after `minitape save`."""
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
"""The advice for each rule."""

_CODE_BLOCK = re.compile(r"^```python\n(.*?)\n?^```", re.DOTALL | re.MULTILINE)
_ANSWERS_PATTERN = re.compile(r"\b(?:add_exercise|Exercise)\(")
_UNKNOWN_MAGIC = re.compile(r"UsageError: (?:Line|Cell) magic (?:function )?`(%+\w+)` not found")
_VERDICT_LINE = re.compile(r"^Exercise \S+: ([^.]*)\.", re.MULTILINE)
_FIELD_PATTERN = re.compile(r"\{\w+\}")


Notebook = Any  # nbformat has no type annotations.
Cell = Any  # nbformat has no type annotations.
Output = Any  # nbformat has no type annotations.


class CellResult(TypedDict):
    """The result of running a cell, as nbval's process sends it.

    Attributes:
        cell: The index of the cell among all cells in the notebook.
        outputs: The outputs of this run.
        problem: The error message if the cell failed, OUTPUTS_DIFFER if its outputs differ from the saved ones, or
            None.
    """

    cell: int
    outputs: list[Output]
    problem: OptionalText


@dataclass(frozen=True)
class CheckFinding:
    """A problem in a notebook.

    Attributes:
        rule: The rule that was broken, a key of `REMEDIES`.
        cell: The index of the cell among all cells, starting from 0, or None for the whole notebook.
        message: The problem in the user's language.
        saved: The saved outputs as text, if they differ from the new outputs.
        new: The new outputs as text.
        variant: The run that revealed the problem, "blank" or "solved", or None if no run was needed.
    """

    rule: str
    cell: OptionalNumber
    message: str
    saved: OptionalText = None
    new: OptionalText = None
    variant: OptionalText = None


def get_tags(cell: Cell) -> TextList:
    """Return the tags of a cell.

    Args:
        cell: The cell.

    Returns:
        The tags, or an empty list if the metadata is malformed.
    """
    tags = cell.get("metadata", {}).get("tags", [])
    return tags if isinstance(tags, list) else []


def is_picture_grown_after_run(output: Output) -> bool:
    """Return whether an output is a picture that continued to grow after its cell was run.

    Running the cell alone cannot reproduce such a picture.

    Args:
        output: The output of a cell.
    """
    return bool(output.get("metadata", {}).get("minitape", {}).get("grown"))


def is_output_compared(cell: Cell) -> bool:
    """Return whether a cell's output is compared with the saved output.

    nbval skips cells that have one of its tags or comments.

    >>> is_output_compared({"cell_type": "code", "metadata": {}, "source": "# NBVAL_SKIP"})
    False

    Args:
        cell: The cell. For text cells, the result is True.
    """
    if cell["cell_type"] != "code":
        return True
    from nbval.plugin import find_comment_markers, find_metadata_tags

    markers = dict([*find_metadata_tags(cell["metadata"]), *find_comment_markers(cell["source"])])
    return not markers.get("skip", False) and bool(markers.get("check", True))


def has_answers(cell: Cell) -> bool:
    """Return whether a cell contains exercise answers. Outside a notebook, only teachers may see answers.

    >>> has_answers({"cell_type": "code", "source": "%time add_exercise(Exercise('a.1', expect=4.0))"})
    True

    Args:
        cell: A code cell, or a text cell that may have the tag `solution`.
    """
    if cell["cell_type"] == "code":
        return not is_exercise(cell) and bool(_ANSWERS_PATTERN.search("".join(cell["source"])))
    return SOLUTION in get_tags(cell)


def is_code_folded(cell: Cell) -> bool:
    """Return whether JupyterLab hides a cell's code behind three dots.

    Args:
        cell: The cell.
    """
    return bool(cell.get("metadata", {}).get("jupyter", {}).get("source_hidden"))


def is_exercise(cell: Cell) -> bool:
    """Return whether a cell is an exercise, in which learners write their answer.

    Args:
        cell: The cell. Exercises are code cells with the tag `exercise`.
    """
    return cell["cell_type"] == "code" and EXERCISE in get_tags(cell)


def find_solution_code(cells: Sequence[Cell], exercise_index: int) -> OptionalText:
    """Find the code of an exercise's folded solution.

    Args:
        cells: The cells of the notebook.
        exercise_index: The index of the exercise cell.

    Returns:
        The ```python block in the next cell with the tag `solution`, before the next exercise, or None if this cell is
        missing or does not contain exactly one block.
    """
    for cell in cells[exercise_index + 1 :]:
        if is_exercise(cell):
            return None
        if cell["cell_type"] == "markdown" and SOLUTION in get_tags(cell):
            blocks = _CODE_BLOCK.findall(cell["source"])
            return blocks[0] if len(blocks) == 1 else None
    return None


def check_saved_notebook(notebook: Notebook) -> Iterator[CheckFinding]:
    """Check the rules that do not require running the notebook.

    Args:
        notebook: The notebook.

    Yields:
        The findings, in cell order. A finding about the execution order comes last.
    """
    if "widgets" in notebook.metadata:
        yield CheckFinding(
            "widget-state", None, say("the notebook contains saved widget state: save it again with minitape save")
        )
    code_cells = [(cell_index, cell) for cell_index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    for cell_index, cell in code_cells:
        if cell.execution_count is None and cell.source.strip():
            yield CheckFinding(
                "not-run", cell_index, say("this cell was never run, so it has no output to compare with")
            )
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.outputs):
            yield CheckFinding(
                "widget-view",
                cell_index,
                say("a live widget is saved here, but readers will not see it: use minitape save"),
            )
        if is_exercise(cell) and find_solution_code(notebook.cells, cell_index) is None:
            yield CheckFinding(
                "exercise",
                cell_index,
                say(
                    "this exercise is not followed by a cell that is tagged 'solution' and contains one ```python block"
                ),
            )
        if not is_exercise(cell) and NOT_ANSWERED in _VERDICT_LINE.findall(
            translate_verdicts_to_english(format_outputs(cell.outputs))
        ):
            yield CheckFinding(
                "exercise",
                cell_index,
                say("this exercise does not have the tag 'exercise', so its solution is never tested"),
            )
    yield from _check_run_order(code_cells)


def _check_run_order(code_cells: Iterable[tuple[int, Cell]]) -> Iterator[CheckFinding]:
    """Yield a finding for the first execution count that shows that the cells were not each run once and in order."""
    filled_cells = ((cell_index, cell) for cell_index, cell in code_cells if cell.source.strip())
    for expected, (cell_index, cell) in enumerate(filled_cells, 1):
        if cell.execution_count is None:
            return
        if cell.execution_count != expected:
            message = (
                "this cell is saved as In [{saved}] but should be In [{due}]: run all cells in order in a fresh kernel"
            )
            yield CheckFinding("run-order", cell_index, say(message, saved=cell.execution_count, due=expected))
            return


def check_cell_run(notebook: Notebook, cell_result: CellResult, variant: str) -> Iterator[CheckFinding]:
    """Check the result of one cell's run.

    Args:
        notebook: The notebook.
        cell_result: The result from the recorder.
        variant: The variant of the exercises that was run: "blank" or "solved".

    Yields:
        The findings.
    """
    cell_index = cell_result["cell"]
    cell = notebook.cells[cell_index]
    outputs = cell_result["outputs"]
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
    """Return whether the kernel died in a cell or failed to start.

    Args:
        cell_result: The result of the cell.
    """
    return bool(DEATH_PATTERN.search(cell_result["problem"] or ""))


def _is_stderr(output: Output) -> bool:
    return bool(output["output_type"] == "stream" and output["name"] == "stderr")


def collect_stderr(outputs: Iterable[Output]) -> str:
    """Return the text that a cell wrote to stderr.

    Args:
        outputs: The outputs of the cell.

    Returns:
        The text without color codes, or "" if the cell wrote nothing.
    """
    return unstyle("".join(output["text"] for output in outputs if _is_stderr(output)))


def _format_outputs_without_stderr(outputs: Iterable[Output]) -> str:
    return format_outputs(output for output in outputs if not _is_stderr(output))


def _explain_cell_problem(cell: Cell, cell_result: CellResult, variant: str) -> CheckFinding:
    """Return the finding for a problem that nbval or the kernel reported."""
    problem = cell_result["problem"] or ""
    saved = _format_outputs_without_stderr(cell.outputs)
    new = _format_outputs_without_stderr(cell_result["outputs"])
    error_outputs = [output for output in cell_result["outputs"] if output["output_type"] == "error"]
    name = ""
    error_message = ""
    if error_outputs:
        name = error_outputs[-1]["ename"]
        error_message = unstyle(error_outputs[-1]["evalue"])
    if problem == OUTPUTS_DIFFER:
        rule = "outputs-differ"
        message = say("this cell's output differs from the saved output")
    elif name == "KeyboardInterrupt":
        rule = "timeout"
        message = say("this cell took too long and was stopped")
    elif name == "CalledProcessError":
        rule = "failing-command"
        message = say("a command in this cell fails: {error}", error=error_message)
    elif error_outputs:
        is_solution = variant == "solved" and is_exercise(cell)
        message_template = "the solution raises {error}" if is_solution else "this cell raises {error}"
        rule = "error"
        message = say(message_template, error=f"{name}: {error_message}")
    else:
        rule = "timeout" if "Timeout" in problem else "not-runnable"
        message = unstyle(problem)
    return CheckFinding(rule, cell_result["cell"], message, saved, new, variant)


def _check_exercise_verdict(cell_index: int, outputs: list[Output], variant: str) -> Iterator[CheckFinding]:
    """Check that a blank exercise prints "not answered yet", and a solved one "correct"."""
    expected_word = CORRECT if variant == "solved" else NOT_ANSWERED
    text = format_outputs(outputs)
    verdict_words = _VERDICT_LINE.findall(translate_verdicts_to_english(text))
    if set(verdict_words) == {expected_word}:
        return
    message = "this exercise should print 'not answered yet' while it is blank"
    if variant == "solved":
        message = "the solution should print 'correct'"
    yield CheckFinding("exercise", cell_index, say(message), new=text, variant=variant)


def describe_cell(cell_sources: TextSequence, cell_index: OptionalNumber) -> str:
    """Describe a cell by its number and its first line.

    Args:
        cell_sources: The code of all cells.
        cell_index: The index of the cell, starting from 0, or None for the whole notebook.

    Returns:
        A phrase in the user's language, with cell numbers starting from 1.
    """
    if cell_index is None:
        return say("the notebook")
    line = next(iter(cell_sources[cell_index].strip().splitlines()), "")
    short_line = line if len(line) <= 50 else f"{line[:49]}…"
    return say("cell {number} ({line})", number=cell_index + 1, line=short_line)


def format_outputs(outputs: Iterable[Output]) -> str:
    """Format the outputs of a cell as plain text.

    Args:
        outputs: The outputs.

    Returns:
        The text of the parts that are compared, which excludes pictures and widgets.
    """
    return "\n".join(part for output in outputs for part in _iter_output_texts(output))


def _iter_output_texts(output: Output) -> Iterator[str]:
    kind = output["output_type"]
    if kind == "stream":
        heading = "" if output["name"] == "stdout" else f"[{output['name']}]\n"
        yield heading + unstyle(output["text"]).rstrip("\n")
    elif kind == "error":
        yield f"{output['ename']}: {unstyle(output['evalue'])}"
    else:
        for mime, data in sorted(output.get("data", {}).items()):
            if mime in UNCOMPARED_TYPES:
                continue
            yield str(data) if mime == "text/plain" else f"[{mime}]\n{data}"


def translate_verdicts_to_english(text: str) -> str:
    r"""Translate the fixed words in the verdicts of `check` from any lesson language into English.

    >>> translate_verdicts_to_english("练习 01.1：还不对。\n  你的答案：8.0\n提示：这是 y。")
    'Exercise 01.1: not yet.\n  given:    8.0\nHint: 这是 y。'

    Args:
        text: The output of a cell. Hints in it are not translated.

    Returns:
        The text, in which lines begin with the English words that callers search for.
    """
    for pattern, replacement in _list_english_replacements():
        text = pattern.sub(replacement, text)
    return text


@cache
def _list_english_replacements() -> list[tuple[re.Pattern[str], str]]:
    """List (pattern, English replacement) pairs for the words that verdicts begin with in each language."""
    replacements = []
    for code in find_lesson_folders_by_language():
        texts = load_translations(CHECK, code)
        for mark in filter(texts.get, MARKS):
            translated_parts, english_parts = _FIELD_PATTERN.split(texts[mark]), _FIELD_PATTERN.split(mark)
            pattern = re.compile(r"^([ \t]*)" + "(.*?)".join(map(re.escape, translated_parts)), re.MULTILINE)
            replacements.append((pattern, r"\1" + r"\2".join(english_parts)))
    return replacements
