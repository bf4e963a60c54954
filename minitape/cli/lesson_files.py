"""Find the lessons and copy them for a learner."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from minitape.common import translation
from minitape.common.atomic_write import write_file
from minitape.common.read_data import MAX_NOTEBOOK_SIZE, read_json
from minitape.course.progress import find_last_lesson

from ..engine.types import NameList, OptionalPath, OptionalText, PathList, TextsByName
from .messages import create_usage_error

LEARNER_FOLDER = "minitape-lessons"
"""The folder of a learner's lessons if `minitape lab` is called without a folder."""


def find_lesson_folders_by_language() -> dict[str, Path]:
    """Find the folders with the course's lessons, either in the installed package or in the repository's `notebooks`.

    Returns:
        A dict that maps each language code to the folder of its lessons.

    Raises:
        click.UsageError: If neither place exists.
    """
    for lessons_root in translation.LESSON_FOLDERS:
        if lessons_root.is_dir():
            return {path.name: path for path in sorted(lessons_root.iterdir()) if list_notebook_files(path)}
    raise create_usage_error(
        "the lessons were not found in {folders}. Reinstall minitape.",
        folders=", ".join(map(str, translation.LESSON_FOLDERS)),
    )


def find_lessons_folder(language: OptionalText = None, other_lessons: object = None) -> Path:
    """Find the folder with the course's lessons in a given language.

    Args:
        language: The language code. None means English.
        other_lessons: Lessons that the user specified, which cannot be combined with `language`.

    Returns:
        The folder.

    Raises:
        click.UsageError: If there are no lessons in this language, or it was chosen together with `other_lessons`.
    """
    folder_by_language = find_lesson_folders_by_language()
    if language and other_lessons:
        raise create_usage_error(
            "--language applies only to the course's own lessons; omit --language or {path}", path=other_lessons
        )
    if language and language not in folder_by_language:
        raise create_usage_error(
            "there are no lessons in {language!r}; the available languages are: {languages}",
            language=language,
            languages=", ".join(folder_by_language),
        )
    return folder_by_language[language or translation.ENGLISH]


def list_notebook_files(folder: Path) -> PathList:
    """List the notebooks in a folder, excluding hidden files.

    Args:
        folder: The folder, which may be missing.

    Returns:
        The paths, sorted by name.
    """
    return sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith(".") and path.is_file())


def get_exercise_prefix(path: Path) -> str:
    """Return the common prefix of the exercise names in a course notebook.

    >>> [get_exercise_prefix(Path(f"{name}.ipynb")) for name in ("05_persistent", "appendix_tensors", "glossary")]
    ['05', 'appendix', '']

    Args:
        path: The notebook.

    Returns:
        The prefix, such as "05", or "" for pages without exercises.
    """
    lesson, _, topic = path.stem.partition("_")
    return lesson if topic else ""


def read_heading(path: Path) -> str:
    """Return the first line of a course notebook, such as "# 3. Variables".

    Args:
        path: The notebook.
    """
    first_cell = read_json(path, MAX_NOTEBOOK_SIZE)["cells"][0]
    return "".join(first_cell["source"]).partition("\n")[0]


def find_notebook_to_open(folder: Path) -> OptionalPath:
    """Find the lesson with the learner's latest answer.

    Args:
        folder: The learner's folder, which may contain a progress file.

    Returns:
        The notebook of that lesson. If it is not found, the first notebook, or None if the folder has no notebooks.
    """
    notebooks = list_notebook_files(folder)
    last_name = find_last_lesson(folder)
    named_paths = ((path, re.sub(r"[\W_]+", "-", path.stem)) for path in notebooks)
    matches = (path for path, name in named_paths if last_name and f"{name}-".startswith(f"{last_name}-"))
    return next(matches, notebooks[0] if notebooks else None)


def map_names_to_titles(lessons_folder: Path, learner_folder: OptionalPath = None) -> TextsByName:
    """Return the names of a learner's copies of lessons, which are their titles in languages other than English.

    Glossary and credits keep their names, because replies to answers link to the glossary, and so do lessons that the
    learner already has under the course's name.

    Args:
        lessons_folder: The folder of the course's lessons in one language.
        learner_folder: The learner's folder, which need not exist, or None for all names.

    Returns:
        A dict that maps the name of each renamed lesson, such as "03_variables.ipynb", to a name like "03_变量.ipynb".
    """
    new_names = {}
    for path in list_notebook_files(lessons_folder) if lessons_folder.name != translation.ENGLISH else ():
        if get_exercise_prefix(path) and not (learner_folder and (learner_folder / path.name).exists()):
            title = re.sub(r"[\W\d]*", "", read_heading(path), count=1)
            new_names[path.name] = re.sub(r"\W+", "_", f"{get_exercise_prefix(path)}_{title}") + path.suffix
    return new_names


def rename_linked_notebooks(text: str, new_names: TextsByName) -> str:
    """Let the links of a Markdown text lead to notebooks that were renamed.

    >>> rename_linked_notebooks("在[第 3 课](03_variables.ipynb#cell-id=w)", {"03_variables.ipynb": "03_变量.ipynb"})
    '在[第 3 课](03_变量.ipynb#cell-id=w)'

    Args:
        text: The text.
        new_names: The new name for each old name.
    """
    return re.sub(r"(?<=\]\()[\w.-]+", lambda link: new_names.get(link[0], link[0]), text)


def copy_missing_lessons(
    target_folder: Path, with_outputs: bool = False, language: OptionalText = None, is_named_by_title: bool = False
) -> tuple[NameList, NameList]:
    """Copy the lessons that a folder does not contain yet.

    Existing files are never opened for writing. Translation files are not copied, because they belong to the installed
    minitape.

    Args:
        target_folder: The folder to copy to, which need not exist.
        with_outputs: Whether to keep the notebooks' outputs. Learners receive notebooks without outputs, because an
            output would reveal the answer to the question above it.
        language: The language of the lessons. None means English.
        is_named_by_title: Whether the copies have the names that `map_names_to_titles` returns.

    Returns:
        The names of the files that were copied, and of those that already existed and were left unchanged. The names
        are relative to the folder.

    Raises:
        OSError: If `target_folder` is not writable.
    """
    lessons_folder = find_lessons_folder(language)
    copied_names = []
    kept_names = []
    new_names = map_names_to_titles(lessons_folder, target_folder) if is_named_by_title else {}
    for path in _iter_lesson_files(lessons_folder):
        name = path.relative_to(lessons_folder)
        name = name.with_name(new_names.get(name.name, name.name))
        destination = target_folder / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        is_unchanged = with_outputs or path.suffix != ".ipynb"
        content = path.read_bytes() if is_unchanged else _read_notebook_without_outputs(path, new_names)
        if destination.exists():
            kept_names.append(str(name))
        else:
            write_file(destination, content)
            copied_names.append(str(name))
    return copied_names, kept_names


def _iter_lesson_files(lessons_folder: Path) -> Iterator[Path]:
    for path in sorted(lessons_folder.rglob("*")):
        parts = path.relative_to(lessons_folder).parts
        if path.is_file() and not any(
            part.startswith((".", "__pycache__", translation.TEXTS_FOLDER)) for part in parts
        ):
            yield path


def _read_notebook_without_outputs(path: Path, new_names: TextsByName) -> bytes:
    """Return the bytes of a notebook without outputs, as if no cell had been run, with links to renamed notebooks."""
    notebook = read_json(path, MAX_NOTEBOOK_SIZE)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
        else:
            cell["source"] = [rename_linked_notebooks(line, new_names) for line in cell["source"]]
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
