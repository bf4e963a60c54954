"""Where the lessons are, and how they are copied for a learner."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from minitape.common import texts
from minitape.common.read_data import NOTEBOOK, read_json
from minitape.common.write_beside import write
from minitape.course.progress import last_lesson

from .messages import misuse

FOLDER = "minitape-lessons"
"""The folder of a learner's lessons, where `minitape lab` gets no other name."""


def languages() -> dict[str, Path]:
    """Language -> the folder of the course's lessons in it: inside an installed package, or the repository's
    `notebooks`.

    Raises click.UsageError where neither exists.
    """
    for place in texts.COURSE:
        if place.is_dir():
            return {path.name: path for path in sorted(place.iterdir()) if notebooks_in(path)}
    raise misuse(
        "the lessons are missing: looked in {folders}. Reinstall minitape.", folders=", ".join(map(str, texts.COURSE))
    )


def lessons_folder(language: str | None = None, instead_of: object = None) -> Path:
    """The folder of the course's lessons in a language, English where none is named.

    Raises click.UsageError where there are none in it, or a language is named beside other lessons, `instead_of` which
    it would be.
    """
    there = languages()
    if language and instead_of:
        raise misuse(
            "--language chooses among the course's own lessons; leave it out, or do not name {path}", path=instead_of
        )
    if language and language not in there:
        raise misuse(
            "there are no lessons in {language!r}; there are: {languages}",
            language=language,
            languages=", ".join(there),
        )
    return there[language or texts.ENGLISH]


def notebooks_in(folder: Path) -> list[Path]:
    """The notebook files in `folder`, in the order of their names; hidden ones are left out."""
    return sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith(".") and path.is_file())


def lesson_of(path: Path) -> str:
    """The lesson whose exercises a notebook of the course has, as their names begin; "" for pages without.

    >>> [lesson_of(Path(f"{name}.ipynb")) for name in ("05_persistent", "appendix_tensors", "glossary")]
    ['05', 'appendix', '']
    """
    lesson, _, topic = path.stem.partition("_")
    return lesson if topic else ""


def notebook_to_open(folder: Path) -> Path | None:
    """The notebook of the lesson that the learner last answered something in, else the first; None without any."""
    notebooks = notebooks_in(folder)
    last = last_lesson(folder)
    names = ((path, re.sub(r"[\W_]+", "-", path.stem)) for path in notebooks)
    found = (path for path, name in names if last and (name == last or name.startswith(f"{last}-")))
    return next(found, notebooks[0] if notebooks else None)


def copy_missing(target: Path, outputs: bool = False, language: str | None = None) -> tuple[list[str], list[str]]:
    """Copy the lessons that are not yet in `target`; give back the names copied and the names left alone.

    A learner's notebook comes without `outputs`: below a question, they would be its answer. A file that exists is
    never opened for writing. What a translation says stays with the minitape that runs.
    Raises OSError where `target` cannot be written.
    """
    source = lessons_folder(language)
    copied: list[str] = []
    kept: list[str] = []
    for path in _files(source):
        name = path.relative_to(source)
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes() if outputs or path.suffix != ".ipynb" else _not_run(path)
        old = destination.exists()
        if not old:
            write(destination, content)
        (kept if old else copied).append(str(name))
    return copied, kept


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "__pycache__", texts.FOLDER)) for part in parts):
            yield path


def _not_run(path: Path) -> bytes:
    """A notebook as it is before anyone ran it."""
    notebook = read_json(path, NOTEBOOK)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
