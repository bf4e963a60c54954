"""Implement `minitape new-lesson`, which writes the skeleton of a lesson."""

import json
import re
from pathlib import Path

import nbformat

from ..common.read_data import read_text
from ..engine.types import OptionalText
from .messages import create_failed_action_error
from .notebook_rules import Notebook
from .save import clean_notebook, execute_notebook, write_notebook

SKELETON_FILE = Path(__file__).with_name("lesson_skeleton.ipynb")
"""A notebook in which {name} stands for the name of the lesson, and {title} for its title."""


def build_lesson_skeleton(lesson_name: str, title: str) -> Notebook:
    """Build the skeleton of a lesson as a notebook that has not been run yet.

    Args:
        lesson_name: The prefix for exercise names, which consists of letters, digits and hyphens.
        title: The lesson's title.

    Returns:
        The notebook.
    """
    text = read_text(SKELETON_FILE).replace("{name}", lesson_name)
    return nbformat.reads(text.replace("{title}", json.dumps(title)[1:-1]), as_version=4)


def write_lesson_skeleton(file_name: str, title: OptionalText) -> Path:
    """Run the skeleton and write it to a new notebook.

    Args:
        file_name: The path of the notebook. The suffix may be omitted.
        title: The lesson's title, or None to derive the title from the file name.

    Returns:
        The path of the notebook.

    Raises:
        click.ClickException: If the file already exists or cannot be written, its number is already in use, or its name
            has no letters or digits.
    """
    path = Path(file_name if file_name.endswith(".ipynb") else f"{file_name}.ipynb")
    if path.exists():
        raise create_failed_action_error("{path} already exists; choose a different name", path=path)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise create_failed_action_error("the folder {folder} does not exist; create it first", folder=folder)
    title_words = re.sub(r"[\W_]+", " ", path.stem).strip()
    if not title_words:
        raise create_failed_action_error(
            "{name!r} cannot be turned into a lesson name; use letters and digits, such as 14_my_topic", name=file_name
        )
    number = path.stem.partition("_")[0]
    existing_notebooks = sorted(folder.glob(f"{number}_*.ipynb")) if number.isdecimal() else []
    if existing_notebooks:
        raise create_failed_action_error(
            "{name} already has the number {number}; choose a different number",
            name=existing_notebooks[0].name,
            number=number,
        )
    notebook = build_lesson_skeleton(title_words.replace(" ", "-"), title or _format_lesson_title(title_words))
    execute_notebook(notebook, path, 120)
    clean_notebook(notebook)
    write_notebook(notebook, path)
    return path


def _format_lesson_title(title_words: str) -> str:
    """Derive a title from the words of a file name, such as `1. My topic` from `01 my topic`."""
    number, topic = re.fullmatch(r"(\d*) ?(.*)", title_words).groups()  # type: ignore[union-attr]
    return ". ".join(part for part in (number.lstrip("0"), topic[:1].upper() + topic[1:]) if part) or title_words
