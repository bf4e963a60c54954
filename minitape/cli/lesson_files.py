"""Where the lessons are, and how they are copied for a learner."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from minitape.common import translation
from minitape.common.atomic_write import write_file
from minitape.common.read_data import MAX_NOTEBOOK_SIZE, read_json
from minitape.course.progress import find_last_lesson

from .messages import create_usage_error

LEARNER_FOLDER = "minitape-lessons"
"""The folder of a learner's lessons, where `minitape lab` gets no other name."""


class CopiedLessons(NamedTuple):
    """The names of the files that were copied to a folder, and of those that were there already."""

    copied_names: list[str]
    kept_names: list[str]


def find_lesson_folders_by_language() -> dict[str, Path]:
    """Return language -> the folder of the course's lessons in it.

    They are inside an installed package, or in the repository's `notebooks`.

    Raises click.UsageError where neither exists.
    """
    for lessons_root in translation.LESSON_FOLDERS:
        if lessons_root.is_dir():
            return {path.name: path for path in sorted(lessons_root.iterdir()) if list_notebook_files(path)}
    raise create_usage_error(
        "the lessons are missing: looked in {folders}. Reinstall minitape.",
        folders=", ".join(map(str, translation.LESSON_FOLDERS)),
    )


def find_lessons_folder(language: str | None = None, other_lessons: object = None) -> Path:
    """Find the folder of the course's lessons in a language, English where none is named.

    Raises click.UsageError where there are none in it, or where a language is named although the user also named
    `other_lessons`, which are not the course's.
    """
    folder_by_language = find_lesson_folders_by_language()
    if language and other_lessons:
        raise create_usage_error(
            "--language chooses among the course's own lessons; leave it out, or do not name {path}", path=other_lessons
        )
    if language and language not in folder_by_language:
        raise create_usage_error(
            "there are no lessons in {language!r}; there are: {languages}",
            language=language,
            languages=", ".join(folder_by_language),
        )
    return folder_by_language[language or translation.ENGLISH]


def list_notebook_files(folder: Path) -> list[Path]:
    """List the notebook files in `folder`, in the order of their names; hidden ones are left out."""
    return sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith(".") and path.is_file())


def get_lesson_prefix(path: Path) -> str:
    """Return what the names of the exercises in a notebook of the course begin with; "" for pages without exercises.

    >>> [get_lesson_prefix(Path(f"{name}.ipynb")) for name in ("05_persistent", "appendix_tensors", "glossary")]
    ['05', 'appendix', '']
    """
    lesson, _, topic = path.stem.partition("_")
    return lesson if topic else ""


def find_notebook_to_open(folder: Path) -> Path | None:
    """Find the notebook of the lesson in which the learner last answered, else the first; None without any."""
    notebooks = list_notebook_files(folder)
    last_name = find_last_lesson(folder)
    named_paths = ((path, re.sub(r"[\W_]+", "-", path.stem)) for path in notebooks)
    matches = (
        path for path, name in named_paths if last_name and (name == last_name or name.startswith(f"{last_name}-"))
    )
    return next(matches, notebooks[0] if notebooks else None)


def copy_missing_lessons(target_folder: Path, with_outputs: bool = False, language: str | None = None) -> CopiedLessons:
    """Copy the lessons that are not yet in `target_folder`; return which were copied and which were left alone.

    A learner's notebook comes without outputs: below a question, they would be its answer. A file that exists is
    never opened for writing. What a translation says stays with the minitape that runs.
    Raises OSError where `target_folder` cannot be written.
    """
    lessons_folder = find_lessons_folder(language)
    copied_names: list[str] = []
    kept_names: list[str] = []
    for path in _iter_lesson_files(lessons_folder):
        name = path.relative_to(lessons_folder)
        destination = target_folder / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes() if with_outputs or path.suffix != ".ipynb" else _read_notebook_without_outputs(path)
        is_kept = destination.exists()
        if not is_kept:
            write_file(destination, content)
        (kept_names if is_kept else copied_names).append(str(name))
    return CopiedLessons(copied_names, kept_names)


def _iter_lesson_files(lessons_folder: Path) -> Iterator[Path]:
    for path in sorted(lessons_folder.rglob("*")):
        parts = path.relative_to(lessons_folder).parts
        if path.is_file() and not any(
            part.startswith((".", "__pycache__", translation.TEXTS_FOLDER)) for part in parts
        ):
            yield path


def _read_notebook_without_outputs(path: Path) -> bytes:
    """Read a notebook, and return its bytes as they are before anyone ran it."""
    notebook = read_json(path, MAX_NOTEBOOK_SIZE)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
