"""Every program of the five documents is in a lesson in each language, in order and with its output.

`documents.json` lists the programs: the number of the document, the program's lines (without comments, blank lines and
the frame of a `try`), and what TensorFlow 2.21 prints. If an error message begins with a device's node,
`{{function_node ...}}`, only the rest is listed. Spaces and the kind of quotes are ignored. `normalize_line` replaces
slips of the pen in the documents with the lessons' spelling. The lines must follow one another in the code cells of
one lesson, and the output must be below those cells. The page of credits must name the lesson.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from minitape.cli.lesson_files import find_lessons_folder, get_exercise_prefix, list_notebook_files

LISTED = json.loads(Path(__file__).with_name("documents.json").read_text(encoding="utf-8"))
PROGRAMS, MENDED = LISTED["programs"], LISTED["mended"]
HOW_MANY = {"000": 5, "001": 6, "002": 2, "003": 2, "004": 34}
LANGUAGES = {"en": find_lessons_folder(), "zh": find_lessons_folder().parent / "zh"}
ROOM = 40  # A lesson may insert this many lines between two lines of a program.


def normalize_line(text: str) -> str:
    """Return a line of a document in the lessons' spelling."""
    for wrong, right in MENDED.items():
        text = text.replace(wrong, right)
    return text


def squeeze_text(text: str) -> str:
    """Return a text without spaces, and with one kind of quotes."""
    return "".join(text.split()).replace('"', "'")


class Lesson:
    """The code lines of a lesson with their cells, the output of each cell, and the prose."""

    def __init__(self, path: Path) -> None:
        cells = nbformat.read(path, as_version=4).cells
        self.code = [
            (squeeze_text(line.partition(" #")[0]), number)
            for number, cell in enumerate(cells)
            if cell.cell_type == "code"
            for line in cell.source.split("\n")
            if line.strip()
        ]
        self.printed = {
            n: squeeze_text(_read_output_text(cell)) for n, cell in enumerate(cells) if cell.cell_type == "code"
        }
        self.prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")

    def iter_places(self, lines: list[str]) -> Iterator[range]:
        """Yield the range of cells for each occurrence of these lines in this order."""
        for start, (line, cell) in enumerate(self.code):
            if line == lines[0] and (end := self._find_end_of_lines(lines[1:], start)) is not None:
                yield range(cell, end + 1)

    def _find_end_of_lines(self, lines: list[str], at: int) -> int | None:
        """Return the cell of the last line if all lines follow after `at`, close to one another, or None."""
        for wanted in lines:
            near = (n for n in range(at + 1, min(at + ROOM, len(self.code))) if self.code[n][0] == wanted)
            found = next(near, None)
            if found is None:
                return None
            at = found
        return self.code[at][1]

    def has_printed(self, cells: range, lines: list[str]) -> bool:
        """Return whether the outputs of these cells contain these lines."""
        printed = "".join(self.printed.get(number, "") for number in cells)
        return all(line in printed for line in lines)


def _read_output_text(cell: Any) -> str:
    """Return the text that a cell printed or displayed."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "".join(texts)


@cache
def load_lessons(language: str) -> dict[str, Lesson]:
    return {path.stem: Lesson(path) for path in list_notebook_files(LANGUAGES[language]) if get_exercise_prefix(path)}


@cache
def read_credits(language: str) -> dict[str, str]:
    """Return the text of the page of credits about each document."""
    cells = nbformat.read(LANGUAGES[language] / "credits.ipynb", as_version=4).cells
    return {cell.id.removeprefix("document-"): cell.source for cell in cells}


def list_links(text: str) -> list[str]:
    return re.findall(r"\((\w+\.ipynb)\)", text)


def list_lessons_with_program(program: dict[str, Any], prints: list[str], language: str = "en") -> list[str]:
    """Return the names of the lessons that contain a program and print these lines below it."""
    lines = [squeeze_text(normalize_line(line)) for line in program["lines"]]
    printed = [squeeze_text(normalize_line(line)) for line in prints]
    return [
        name
        for name, lesson in load_lessons(language).items()
        if any(lesson.has_printed(cells, printed) for cells in lesson.iter_places(lines))
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: f"{p['document']}-{p['program'].replace(' ', '-')}")
def test_a_lesson_holds_the_program_with_its_output_and_the_credits_say_so(program, language):
    assert list_lessons_with_program(program, [], language), "no lesson holds all lines of this program in their order"
    found = list_lessons_with_program(program, program["prints"], language)
    assert found, f"a lesson holds this program, but none prints {program['prints']}"
    [named] = re.findall(
        rf"^\| {re.escape(program['program'])} \| \[.*\]\((\w+)\.ipynb\) \|$",
        read_credits("en")[program["document"]],
        re.M,
    )
    assert named in found
    assert "(credits.ipynb)" in load_lessons(language)[named].prose


def test_the_list_is_whole():
    assert Counter(program["document"] for program in PROGRAMS) == HOW_MANY
    names = [(program["document"], program["program"]) for program in PROGRAMS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_credits_name_each_slip_and_no_lesson_speaks_of_documents(language):
    for wrong, right in MENDED.items():
        assert f"| `{wrong}` | `{right}` |" in read_credits(language)["mended"]
    assert {name: list_links(said) for name, said in read_credits(language).items()} == {
        name: list_links(said) for name, said in read_credits("en").items()
    }
    for name, lesson in load_lessons(language).items():
        assert not re.findall(r"\b(?:[Dd]ocuments?|文档) 00\d", lesson.prose), name


def test_a_program_that_is_missing_or_prints_something_else_is_noticed():
    program = PROGRAMS[-1]
    assert list_lessons_with_program(program, program["prints"])
    assert not list_lessons_with_program(program, ["Gradients of z wrt y:  14.0"])
    assert not list_lessons_with_program({**program, "lines": [*program["lines"], "print(dy, 'once more')"]}, [])
    assert not list_lessons_with_program({**program, "lines": program["lines"][::-1]}, [])
