"""Where the lessons are, and how they are copied for a learner."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import minitape
from minitape.course.progress import last_lesson
from minitape.engine.read_data import NOTEBOOK, read_json
from minitape.engine.write_beside import write

FOLDER = "minitape-lessons"
"""The folder of a learner's lessons, where `minitape lab` is told no other."""
PACKAGE = Path(minitape.__file__).parent
IN_WHEEL = PACKAGE / "lessons" / "en"
IN_REPOSITORY = PACKAGE.parent / "notebooks" / "en"


def lessons_folder() -> Path:
    """The folder of the course's lessons: inside an installed package, or the repository's `notebooks/en`.

    Raises FileNotFoundError where neither exists.
    """
    for folder in (IN_WHEEL, IN_REPOSITORY):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the lessons are missing: looked in {IN_WHEEL} and {IN_REPOSITORY}. Reinstall minitape.")


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks that lie in `folder`, in the order of their names; hidden ones are left out."""
    return sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith("."))


def lesson_of(path: Path) -> str:
    """The lesson whose exercises a notebook of the course has, as their names begin; "" for pages without.

    >>> lesson_of(Path("05_persistent.ipynb")), lesson_of(Path("appendix_tensors.ipynb")), lesson_of(Path("glossary.ipynb"))
    ('05', 'appendix', '')
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


def copy_missing(target: Path, outputs: bool = False) -> tuple[list[str], list[str]]:
    """Copy the lessons that are not yet in `target`; give back the names copied and the names left alone.

    A learner's notebook comes without `outputs`: below a question, they would be its answer. A file that exists is never
    opened for writing. Raises OSError where `target` cannot be written.
    """
    source = lessons_folder()
    copied: list[str] = []
    kept: list[str] = []
    for path in _files(source):
        name = path.relative_to(source)
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes() if outputs or path.suffix != ".ipynb" else _not_run(path)
        (copied if _write_new(content, destination) else kept).append(str(name))
    return copied, kept


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
            yield path


def _not_run(path: Path) -> bytes:
    """A notebook as it is before anybody ran it."""
    notebook = read_json(path, NOTEBOOK)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _write_new(content: bytes, destination: Path) -> bool:
    """Write `content` to `destination` unless that exists; what breaks off leaves nothing behind."""
    if destination.exists():
        return False
    write(destination, content)
    return True
