"""Build the map of the course, a notebook that lists the lessons and is the learners' starting point in JupyterLab."""

import json
import re
from pathlib import Path

from ..common.atomic_write import write_file
from ..common.read_data import MAX_NOTEBOOK_SIZE, read_json
from ..engine.types import JsonObject, TextList
from .lesson_files import (
    find_lessons_folder,
    get_exercise_prefix,
    list_notebook_files,
    map_names_to_titles,
    rename_linked_notebooks,
)
from .lesson_pages import build_page_translator

MAP_FILE = "00-course-map.ipynb"
"""The map in a learner's folder. Its name comes first in a list of files, and it is not the name of a lesson."""


def write_missing_course_map(learner_folder: Path, language: str) -> bool:
    """Write the map of the course to a learner's folder unless the folder already has one.

    Args:
        learner_folder: The folder, which contains the lessons.
        language: The language of the lessons.

    Returns:
        Whether the map was written.

    Raises:
        OSError: If the folder is not writable.
    """
    path = learner_folder / MAP_FILE
    if path.exists():
        return False
    lessons_folder = find_lessons_folder(language)
    text = json.dumps(build_course_map(lessons_folder), indent=1, ensure_ascii=False)
    write_file(path, rename_linked_notebooks(text, map_names_to_titles(lessons_folder, learner_folder)) + "\n")
    return True


def build_course_map(lessons_folder: Path) -> JsonObject:
    """Build a notebook that lists the lessons and shows the learner's progress.

    Args:
        lessons_folder: The folder of the course's lessons in one language.

    Returns:
        The notebook as a JSON dictionary. The links on the map lead to notebooks in the same folder.
    """
    say = build_page_translator(lessons_folder)
    introduction = say(
        "Click a lesson to open it. To come back to this map, use the file list on the left. The lessons build on "
        "each other. If you know what a gradient is but not why yours is `None`, you can start with lesson 8."
    )
    progress_text = say("Run the next cell (Shift+Enter) to see which exercises you have solved.")
    texts = [
        f"# {say('Map of the course')}\n\n{introduction}",
        format_lessons_with_goals(lessons_folder, "{name}.ipynb"),
        f"## {say('Your progress')}\n\n{progress_text}",
    ]
    cells = [
        *(
            {"cell_type": "markdown", "id": f"map-{number}", "metadata": {}, "source": text}
            for number, text in enumerate(texts)
        ),
        {
            "cell_type": "code",
            "id": "map-progress",
            "metadata": {},
            "source": "from minitape.course import progress\n\nprogress()",
            "outputs": [],
            "execution_count": None,
        },
    ]
    metadata = read_json(list_notebook_files(lessons_folder)[0], MAX_NOTEBOOK_SIZE)["metadata"]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def format_lessons_with_goals(lessons_folder: Path, address_template: str) -> str:
    """Format the list of lessons, followed by the list of other pages.

    Args:
        lessons_folder: The folder of the notebooks, whose language determines the phrases that mark durations and
            goals.
        address_template: The address of a lesson, in which {name} stands for its file name without the suffix.

    Returns:
        A Markdown list. Each item links to a lesson and shows the lesson's duration and goals, if any.
    """
    say = build_page_translator(lessons_folder)
    goals_phrase, duration_phrase = (
        r"\s+".join(map(re.escape, text.split()))
        for text in (say("After this lesson you can"), say("takes about {n} minutes"))
    )
    goals_pattern = re.compile(goals_phrase + r"：?\s*((?:^- .*\n(?:^  .*\n)*)+)", re.MULTILINE)
    minutes_pattern = re.compile(duration_phrase.replace(r"\{n\}", r"(\d+)"))
    lesson_rows: TextList = []
    other_rows: TextList = []
    for path in list_notebook_files(lessons_folder):
        cells = read_json(path, MAX_NOTEBOOK_SIZE)["cells"]
        text = "".join(cells[0]["source"]) + "\n" if cells else ""
        title = re.sub(r"^#\s*", "", text.partition("\n")[0]) or path.stem
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)  # The links in a lesson are relative to that lesson.
        goals = goals_pattern.search(text)
        minutes = minutes_pattern.search(text)
        time = f" · {say('{n} minutes', n=minutes[1])}" if minutes else ""
        goal_items = re.split(r"^- ", goals[1], flags=re.MULTILINE)[1:] if goals else []
        goal_texts = [" ".join(goal.split()).rstrip(",;.，；。") for goal in goal_items]
        goals_line = f"\\\n  {say('; ').join(goal_texts)}" if goal_texts else ""
        row = f"- [{title}]({address_template.format(name=path.stem)}){time}{goals_line}"
        (lesson_rows if get_exercise_prefix(path) else other_rows).append(row)
    heading = f"\n\n{say('In addition to the lessons:')}\n\n" if lesson_rows and other_rows else ""
    return "\n".join(lesson_rows) + heading + "\n".join(other_rows)
