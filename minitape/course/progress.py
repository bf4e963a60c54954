"""Keep a learner's progress in one small JSON file in the folder of the lessons."""

import json
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Required, TypedDict

from ..common.atomic_write import get_error_reason, lock_file, open_replacement_file
from ..common.read_data import read_json
from ..common.translation import print_text, say
from ..engine.types import TextPair, TextsByName
from .course_texts import list_built_in_lessons
from .exercise import collect_exercises, get_lesson_of_name

FILE_NAME = ".minitape-progress.json"
ENVIRONMENT_VARIABLE = "MINITAPE_PROGRESS"
VERSION = 1
MAX_TIMES = 100
MAX_WRONG_ANSWERS = 20
MAX_NUMBER = 2**53
"""All numbers in the file are smaller. minitape never counts to a larger number."""
JsonValue = Any  # JSON can hold anything.


class WrongAnswer(TypedDict):
    """The stored facts about a wrong answer."""

    times: int
    hint: str


class ProgressEntry(TypedDict, total=False):
    """The stored facts about an exercise."""

    tries: Required[int]
    solved: Required[bool]
    right_at: int
    wrong: dict[str, WrongAnswer]


class Progress(TypedDict, total=False):
    """The file."""

    version: Required[int]
    exercises: Required[dict[str, ProgressEntry]]
    predictions: Required[TextsByName]
    last: str
    times: dict[str, list[int]]


ProgressChange = Callable[[Progress], None]
_lock = threading.Lock()
_unsaved: dict[Path, list[ProgressChange]] = {}
_save_errors: dict[Path, OSError] = {}
"""The errors that a learner has not read yet."""


def get_progress_path() -> Path:
    """Return the file of the progress: $MINITAPE_PROGRESS, or `.minitape-progress.json` in the current folder."""
    return Path(os.environ.get(ENVIRONMENT_VARIABLE) or FILE_NAME)


def read_progress() -> Progress:
    """Read the progress stored so far.

    The key "last" names the lesson that was last worked on. An exercise has its number of `tries`, whether it is
    `solved`, the try that solved it (`right_at`), and the `wrong` answers, each with its hint and the number of `times`
    it was given. "times" holds the time of each try and prediction, in seconds since 1970. There are no names of people
    and no code.

    Returns:
        The progress, such as `{"version": 1, "exercises": {...}, "predictions": {...}}`. It is empty if the file
        cannot be read.
    """
    file = get_progress_path()
    try:
        progress_data = _read_progress_file(file)
    except (OSError, ValueError):
        progress_data = _build_empty_progress()
    for change in _unsaved.get(file, ()):
        change(progress_data)
    return progress_data


def _build_empty_progress() -> Progress:
    return {"version": VERSION, "exercises": {}, "predictions": {}}


def _read_progress_file(file: Path) -> Progress:
    """Read a progress file. Raise OSError if it cannot be read, and ValueError if it does not contain progress."""
    try:
        progress_data = read_json(file)
    except FileNotFoundError:
        return _build_empty_progress()
    if not is_progress(progress_data):
        raise ValueError("not a progress file")
    return progress_data


def _read_or_rename_unreadable(file: Path) -> Progress:
    """Read a progress file. A file with different contents is kept under a new name."""
    try:
        return _read_progress_file(file)
    except ValueError:
        names = (file.with_name(f"{file.name}.unreadable{f'-{number}' if number > 1 else ''}") for number in count(1))
        os.rename(file, next(name for name in names if not name.exists()))
        return _build_empty_progress()


def is_progress(progress_data: JsonValue) -> bool:
    """Return whether an object has the form of a progress file's contents.

    >>> is_progress({"version": 1, "exercises": {"01.1": {"tries": 2, "solved": True}}, "predictions": {}})
    True
    >>> is_progress({"exercises": {"01.1": {"tries": "many"}}})
    False
    """
    try:
        entries = progress_data["exercises"].values()
        choices = progress_data["predictions"].values()
        seconds_by_lesson = progress_data.get("times", {}).values()
        return (
            all(map(_is_exercise_entry, entries))
            and all(isinstance(choice, str) for choice in choices)
            and all(isinstance(seconds, list) and all(map(_is_count, seconds)) for seconds in seconds_by_lesson)
        )
    except (AttributeError, KeyError, TypeError):
        return False


def _is_exercise_entry(entry: JsonValue) -> bool:
    """Return whether an entry has the form of an exercise in a progress file. Missing keys raise KeyError."""
    return (
        _is_count(entry["tries"])
        and isinstance(entry["solved"], bool)
        and _is_count(entry.get("right_at", 1))
        and all(
            _is_count(wrong_answer["times"]) and isinstance(wrong_answer["hint"], str)
            for wrong_answer in entry.get("wrong", {}).values()
        )
    )


def _is_count(value: JsonValue) -> bool:
    """Return whether a value can be a number of tries or of seconds."""
    return type(value) is int and 0 <= value < MAX_NUMBER


def find_last_lesson(lessons_folder: Path) -> str:
    """Find the lesson with the learner's latest answer.

    Args:
        lessons_folder: The folder with the notebooks of the lesson.

    Returns:
        The prefix of the lesson, or "" if none is known.
    """
    file = Path(lessons_folder, get_progress_path())
    try:
        lesson = read_json(file)["last"]
    except (OSError, KeyError, TypeError, ValueError):
        return ""
    return lesson if isinstance(lesson, str) else ""


def change_progress_and_note_time(entry_name: str, change: ProgressChange) -> None:
    """Read, change and write the progress, because of the exercise or prediction called `entry_name`.

    Only the owner of the file, and a group that was given access, may read it. Two kernels take turns. If the file
    cannot be read or written now, the change is kept in memory until the next change.

    A file with different contents is kept next to the new file, under a name that contains `.unreadable`.
    """
    with _lock:
        file = get_progress_path()
        changes = _unsaved.setdefault(file, [])
        # The limits keep the file readable if the clock is wrong.
        seconds = min(max(int(time.time()), 0), MAX_NUMBER - 1)
        changes.append(partial(_apply_change_and_note_time, entry_name, seconds, change))
        try:
            with lock_file(file):
                progress_data = _read_or_rename_unreadable(file)
                for pending_change in changes:
                    pending_change(progress_data)
                with open_replacement_file(file, private=True) as writer:
                    writer.write(json.dumps(progress_data, indent=1, sort_keys=True) + "\n")
            changes.clear()
            _save_errors.pop(file, None)
        except OSError as error:
            if len(changes) == 1:  # The learner has read already that the earlier changes could not be saved.
                _save_errors[file] = error
            read_progress()  # The change must run, because the caller may need its result.


def describe_unsaved_progress() -> str:
    """Return why progress cannot be saved now.

    Returns:
        A sentence, which is returned only once until progress is saved again. "" if it was returned before or if
        everything is saved.
    """
    file = get_progress_path()
    error = _save_errors.pop(file, None)
    if error is None:
        return ""
    return say(
        "Your progress could not be saved in {file}: {reason}. minitape keeps your progress while this kernel runs "
        "and tries to save it again with your next answer.",
        file=file,
        reason=say(get_error_reason(error)),
    )


def _apply_change_and_note_time(entry_name: str, seconds: int, change: ProgressChange, progress_data: Progress) -> None:
    change(progress_data)
    progress_data["last"] = get_lesson_of_name(entry_name)
    seconds_of_tries = progress_data.setdefault("times", {}).setdefault(entry_name, [])
    seconds_of_tries[MAX_TIMES - 1 :] = [seconds]  # If the list is full, replace the last entry.


def note_try(exercise_name: str, answer_and_hint: TextPair | None = None) -> int:
    """Count one answered try at an exercise, and return how many there were. Once solved, it stays solved.

    `answer_and_hint` is a wrong answer as text, and the hint that it gets, or None for the right answer.
    """
    tries = 0

    def count_try(progress_data: Progress) -> None:
        nonlocal tries
        entry = progress_data["exercises"].setdefault(exercise_name, {"tries": 0, "solved": False})
        tries = entry["tries"] = entry["tries"] + 1
        if answer_and_hint is None and not entry["solved"]:
            entry["solved"] = True
            entry["right_at"] = tries
        elif answer_and_hint is not None:
            answers = entry.setdefault("wrong", {})
            answer, hint = answer_and_hint
            if answer in answers or len(answers) < MAX_WRONG_ANSWERS:
                times = answers[answer]["times"] if answer in answers else 0
                answers[answer] = {"times": times + 1, "hint": hint}

    change_progress_and_note_time(exercise_name, count_try)
    return tries


def forget_tries_unless_solved(*exercise_names: str) -> None:
    """Reset the tries at these exercises unless they are solved, because they ask something else now."""
    for name in exercise_names:
        if count_tries(name):
            change_progress_and_note_time(name, partial(_reset_tries_unless_solved, name))


def _reset_tries_unless_solved(exercise_name: str, progress_data: Progress) -> None:
    entry = progress_data["exercises"].setdefault(exercise_name, {"tries": 0, "solved": False})
    entry["tries"] = entry["tries"] if entry["solved"] else 0


def count_tries(exercise_name: str) -> int:
    """Return the number of earlier tries at an exercise that had an answer."""
    return read_progress()["exercises"].get(exercise_name, {"tries": 0})["tries"]


def collect_given_hints(exercise_name: str) -> TextsByName:
    """Collect the wrong answers to an exercise, each with the last hint that it was given."""
    entry = read_progress()["exercises"].get(exercise_name)
    return {answer: tried["hint"] for answer, tried in entry.get("wrong", {}).items()} if entry else {}


def progress(*lessons: str | int) -> None:
    """Print how many exercises the learner has solved in each lesson, and which exercises are left.

    Args:
        *lessons: The lessons, such as "04" or 4. By default, all lessons.

    >>> from minitape.course import Exercise, add_exercise, check
    >>> add_exercise(Exercise("demo-lesson.1", expect=2.0))
    >>> check("demo-lesson.1", 2.0)
    Exercise demo-lesson.1: correct.
    >>> progress("demo-lesson")
    Lesson demo-lesson: # 1 of 1 solved
    """
    solved_names = {name for name, entry in read_progress()["exercises"].items() if entry.get("solved")}
    lines = []
    # By default, the course's lessons with exercises, and other lessons in which the learner solved something.
    shown_lessons = lessons or sorted(list_built_in_lessons() | set(map(get_lesson_of_name, solved_names)))
    for name_or_number in shown_lessons:
        lesson = str(name_or_number).zfill(2)
        names = list(collect_exercises(lesson)) or sorted(
            name for name in solved_names if get_lesson_of_name(name) == lesson
        )
        if not names:
            lines.append(say("No lesson named {name} has exercises.", name=repr(lesson)))
            continue
        open_names = [name for name in names if name not in solved_names]
        solved_count = len(names) - len(open_names)
        bar = "#" * solved_count + "." * len(open_names)
        title = say("Appendix") if lesson == "appendix" else say("Lesson {name}", name=lesson)
        line = say(
            "{name}: {bar} {solved} of {count} solved", name=title, bar=bar, solved=solved_count, count=len(names)
        )
        lines.append(line + (say("   left: {names}", names=say(", ").join(open_names)) if open_names else ""))
    print_text("\n".join(lines) or say("Nothing is solved yet."))
