"""Build the English notebooks and the texts of the exercises from the lessons' sources.

    python -m tests.build_lessons            # all
    python -m tests.build_lessons 04 12      # some

The sources are the Markdown files in ``minitape/course/lessons``. Their format is described in docs/lessons.md. An
unchanged cell keeps its id and its outputs. The script lists the cells that must be run. ``minitape save`` runs them.
The replies of `check`, `predict` and `reveal` are written to ``minitape/course/texts``.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from minitape.common.atomic_write import write_file
from minitape.common.read_data import MAX_NOTEBOOK_SIZE, read_json
from minitape.common.translation import ENGLISH
from minitape.course.course_texts import TEXTS_FOLDER, LessonTexts
from tests.lesson_source import (
    LessonSource,
    SourceCell,
    find_lesson_source,
    get_lesson_name,
    list_lesson_sources,
    parse_lesson,
)

if TYPE_CHECKING:
    from minitape.engine.types import Object

ROOT = Path(__file__).parents[1]
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language": ENGLISH,
    "language_info": {"name": "python"},
}
FOLDED = "folded"
LIVE_LINE = re.compile(r"\[\w+\]|Picture: .*")
"""A line of a quoted output that stands for a picture."""


def build_notebook(lesson: LessonSource, old_notebook: Object) -> tuple[Object, list[str]]:
    """Build the notebook of a lesson.

    Args:
        lesson: The lesson.
        old_notebook: The existing notebook, which provides ids, outputs and attached pictures.

    Returns:
        The notebook, and the ids of its cells that must be run.
    """
    old_cells = old_notebook["cells"]
    cells, cells_to_run = [], []
    for cell, old_cell in zip(lesson.cells, _pair_cells(lesson.cells, old_cells), strict=True):
        new_cell = {
            "cell_type": cell.kind,
            "metadata": _build_cell_metadata(cell),
            "source": cell.source.splitlines(keepends=True),
        }
        if old_cell.get("attachments"):
            new_cell["attachments"] = old_cell["attachments"]
        if cell.kind == "code":
            is_unchanged = "".join(old_cell.get("source", [])) == cell.source
            kept = old_cell if is_unchanged and old_cell else {"outputs": [], "execution_count": None}
            new_cell |= {name: kept[name] for name in ("outputs", "execution_count")}
        new_cell["id"] = cell.id or old_cell.get("id", "")
        cells.append(new_cell)
    _name_cells(cells, old_cells)
    cells_to_run = [cell["id"] for cell in cells if cell["cell_type"] == "code" and cell["execution_count"] is None]
    return {**old_notebook, "cells": cells, "metadata": METADATA}, cells_to_run


def _build_cell_metadata(cell: SourceCell) -> Object:
    metadata: Object = {}
    if FOLDED in cell.marks:
        metadata["jupyter"] = {"source_hidden": True}
    if tags := [mark for mark in cell.marks if mark != FOLDED]:
        metadata["tags"] = tags
    return metadata


def _pair_cells(cells: Sequence[SourceCell], old_cells: Sequence[Object]) -> Iterator[Object]:
    """Yield for each cell the old cell with the same text, or else the old cell in the same place, or else {}."""
    keys = [(cell.kind, cell.source) for cell in cells]
    old_keys = [(cell["cell_type"], "".join(cell["source"])) for cell in old_cells]
    matcher = SequenceMatcher(None, old_keys, keys, autojunk=False)
    for _, old_begin, old_end, begin, end in matcher.get_opcodes():
        replaced = [*old_cells[old_begin:old_end]]
        for cell in cells[begin:end]:
            partner = next((old for old in replaced if old["cell_type"] == cell.kind), {})
            replaced = replaced[replaced.index(partner) + 1 :] if partner else replaced
            yield partner


def _name_cells(cells: Sequence[Object], old_cells: Sequence[Object]) -> None:
    """Give a new id to each cell that has none, and to each cell whose id belongs to a link target."""
    used_ids: set[str] = set()
    old_ids = {cell["id"] for cell in old_cells}
    for number, cell in enumerate(cells, 1):
        if not cell["id"] or cell["id"] in used_ids:
            cell["id"] = next(name for name in _iter_free_names(number) if name not in used_ids and name not in old_ids)
        used_ids.add(cell["id"])


def _iter_free_names(number: int) -> Iterator[str]:
    name = f"cell-{number:03d}"
    while True:
        yield name
        name += "x"


def list_missing_output_lines(cell: SourceCell, output_text: str) -> list[str]:
    """List the lines that a source quotes from the output of a cell but that the output does not contain.

    Args:
        cell: The cell with its quoted output.
        output_text: The saved output of the cell.

    Returns:
        The missing lines, in the order of the source.
    """
    output_lines = [line.rstrip() for line in output_text.splitlines()]
    position, missing_lines = 0, []
    for line in (line.rstrip() for line in cell.quoted_output.splitlines()):
        if not line or line == "..." or LIVE_LINE.fullmatch(line):
            continue
        place = next((k for k in range(position, len(output_lines)) if line in output_lines[k]), None)
        if place is None:
            missing_lines.append(line)
        else:
            position = place + 1
    return missing_lines


def write_texts(lesson: LessonSource, path: Path) -> None:
    """Write a lesson's replies to a file, or remove the file if the lesson has no replies.

    Args:
        lesson: The lesson.
        path: The file, which `minitape.course.course_texts` reads.
    """
    texts = LessonTexts(**{part.name: getattr(lesson, part.name) for part in dataclasses.fields(LessonTexts)})
    if texts == LessonTexts():
        path.unlink(missing_ok=True)
        return
    parts = dataclasses.asdict(texts)
    for exercise in parts["exercises"].values():
        for answered in (exercise, *exercise["trials"].values()):
            for wrong_answer in answered["wrong_answers"]:
                wrong_answer["answer"] = repr(wrong_answer["answer"])
    _write_if_changed(path, json.dumps(parts, indent=1, ensure_ascii=False) + "\n")


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_file(path, text)


def build_lesson(source: Path, folder: Path) -> list[str]:
    """Build a lesson's notebook and the file with its texts.

    Args:
        source: The lesson's source.
        folder: The folder of the English notebooks.

    Returns:
        The ids of the cells that must be run.
    """
    target = folder / f"{source.stem}.ipynb"
    old_notebook = (
        read_json(target, MAX_NOTEBOOK_SIZE) if target.exists() else {"cells": [], "nbformat": 4, "nbformat_minor": 5}
    )
    lesson = parse_lesson(source.read_text(encoding="utf-8"), source.name)
    notebook, cells_to_run = build_notebook(lesson, old_notebook)
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    _write_if_changed(target, text)
    write_texts(lesson, TEXTS_FOLDER / f"{get_lesson_name(source)}.json")
    return cells_to_run


def main() -> None:
    """Build the lessons named on the command line, or all lessons, or exit with an error if a name is unknown."""
    names = sys.argv[1:]
    sources = [find_lesson_source(name) for name in names] if names else [*list_lesson_sources()]
    for name, source in zip(names or [path.stem for path in list_lesson_sources()], sources, strict=True):
        if source is None:
            sys.exit(f"there is no lesson {name!r}")
        target = ROOT / "notebooks" / ENGLISH / f"{source.stem}.ipynb"
        cells_to_run = build_lesson(source, target.parent)
        if cells_to_run:
            print(f"{target.name}: {len(cells_to_run)} cells to run: minitape save {target}")


if __name__ == "__main__":
    main()
