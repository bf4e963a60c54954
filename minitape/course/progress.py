"""A learner's progress: one small JSON file in the folder of the lessons."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Required, TypeAlias, TypedDict

from ..common.read_data import read_json
from ..common.texts import say
from ..common.write_beside import locked, replace_file
from .exercise import exercises_of, own_lessons

FILE_NAME = ".minitape-progress.json"
VARIABLE = "MINITAPE_PROGRESS"
VERSION = 1
MOST_TIMES = 100
MOST_WRONG = 20
MOST = 2**53
"""Numbers in the file are smaller: larger ones are none that minitape counted."""
Kept: TypeAlias = Any  # what JSON holds: anything


class WrongAnswer(TypedDict):
    """What is kept of a wrong answer."""

    times: int
    hint: str


class ProgressEntry(TypedDict, total=False):
    """What is kept of an exercise."""

    tries: Required[int]
    solved: Required[bool]
    right_at: int
    wrong: dict[str, WrongAnswer]


class Progress(TypedDict, total=False):
    """The file."""

    version: Required[int]
    exercises: Required[dict[str, ProgressEntry]]
    predictions: Required[dict[str, str]]
    last: str
    times: dict[str, list[int]]


Change: TypeAlias = Callable[[Progress], None]
_lock = threading.Lock()
_unsaved: dict[Path, list[Change]] = {}


def progress_file() -> Path:
    """Where the progress is kept: $MINITAPE_PROGRESS, or `.minitape-progress.json` in the current folder."""
    return Path(os.environ.get(VARIABLE) or FILE_NAME)


def read_progress() -> Progress:
    """The progress kept so far, `{"version": 1, "exercises": {...}, "predictions": {...}}`, and
    under "last" the lesson that was last worked on.

    Of an exercise it holds `tries`, whether it is `solved`, at which try it was (`right_at`), and the `wrong` answers,
    each with the hint that was given and how many `times`. Under "times" are the seconds since 1970 of each try and
    prediction. There is no more in it: no names, no code.

    A file that cannot be read counts as empty.
    """
    file = progress_file()
    try:
        kept = _read(file)
    except (OSError, ValueError):
        kept = _empty()
    for change in _unsaved.get(file, ()):
        change(kept)
    return kept


def _empty() -> Progress:
    return {"version": VERSION, "exercises": {}, "predictions": {}}


def _read(file: Path) -> Progress:
    """What a file holds. Raises OSError where it cannot be read, ValueError where it is no progress."""
    try:
        kept: Kept = read_json(file)
    except FileNotFoundError:
        return _empty()
    if not is_progress(kept):
        raise ValueError("not a progress file")
    return kept


def _read_or_put_aside(file: Path) -> Progress:
    """The content of a progress file; a file that holds something else is renamed, and kept."""
    try:
        return _read(file)
    except ValueError:
        names = (file.with_name(f"{file.name}.unreadable{f'-{n}' if n > 1 else ''}") for n in count(1))
        os.rename(file, next(name for name in names if not name.exists()))
        return _empty()


def is_progress(kept: Kept) -> bool:
    """Whether this is what a progress file holds.

    >>> is_progress({"version": 1, "exercises": {"01.1": {"tries": 2, "solved": True}}, "predictions": {}})
    True
    >>> is_progress({"exercises": {"01.1": {"tries": "many"}}})
    False
    """
    try:
        entries, predictions = kept["exercises"].values(), kept["predictions"].values()
        wrong = [note for entry in entries for note in entry.get("wrong", {}).values()]
        return (
            all(_counts(e["tries"]) and isinstance(e["solved"], bool) for e in entries)
            and all(_counts(e.get("right_at", 1)) for e in entries)
            and all(_counts(note["times"]) and isinstance(note["hint"], str) for note in wrong)
            and all(isinstance(choice, str) for choice in predictions)
            and all(isinstance(t, list) and all(map(_counts, t)) for t in kept.get("times", {}).values())
        )
    except (AttributeError, KeyError, TypeError):
        return False


def _counts(value: Kept) -> bool:
    """Whether this can be a number of tries or of seconds, with which one can reckon."""
    return type(value) is int and 0 <= value < MOST


def last_lesson(folder: Path) -> str:
    """The lesson that a learner last answered something in, whose notebooks lie in `folder`; "" where none is known."""
    file = Path(folder, progress_file())
    try:
        last = read_json(file)["last"]
    except (OSError, KeyError, TypeError, ValueError):
        return ""
    return last if isinstance(last, str) else ""


def change_progress(name: str, change: Change) -> None:
    """Read, change and write the progress, because of the exercise or prediction called `name`.

    Its owner may read the file, and the group that was let in; no other code. Two kernels take turns. Where the file
    cannot be read or written now, the change waits in memory for the next one.

    A file that holds something else is kept beside the new one under a name with `.unreadable`.
    """
    with _lock:
        file = progress_file()
        waiting = _unsaved.setdefault(file, [])
        now = min(max(int(time.time()), 0), MOST - 1)  # whatever the clock says, the file can be read again
        waiting.append(partial(_dated, name, now, change))
        try:
            with locked(file):
                kept = _read_or_put_aside(file)
                for waited in waiting:
                    waited(kept)
                with replace_file(file, private=True) as writer:
                    writer.write(json.dumps(kept, indent=1, sort_keys=True) + "\n")
            waiting.clear()
        except OSError:
            read_progress()  # so that this change, too, is told what there is


def _dated(name: str, now: int, change: Change, kept: Progress) -> None:
    change(kept)
    kept["last"] = name.rpartition(".")[0]
    times = kept.setdefault("times", {}).setdefault(name, [])
    times[MOST_TIMES - 1 :] = [now]  # the last one takes the place of the one before


def note_try(name: str, solved: bool, wrong: tuple[str, str] | None = None) -> int:
    """Count one answered try at an exercise; gives back how many there were. Once solved, it stays solved.

    `wrong` is a wrong answer as text, and the hint that it gets.
    """
    tries = 0

    def change(kept: Progress) -> None:
        nonlocal tries
        entry = kept["exercises"].setdefault(name, {"tries": 0, "solved": False})
        tries = entry["tries"] = entry["tries"] + 1
        if solved and not entry["solved"]:
            entry["solved"], entry["right_at"] = True, tries
        if wrong is not None:
            answers = entry.setdefault("wrong", {})
            if wrong[0] in answers or len(answers) < MOST_WRONG:
                times = answers[wrong[0]]["times"] if wrong[0] in answers else 0
                answers[wrong[0]] = {"times": times + 1, "hint": wrong[1]}

    change_progress(name, change)
    return tries


def forget_tries(*names: str) -> None:
    """Count the tries at these exercises anew, where they are not solved: they ask something else by now."""
    for name in names:
        if tries_at(name):
            change_progress(name, partial(_forget, name))


def _forget(name: str, kept: Progress) -> None:
    entry = kept["exercises"].setdefault(name, {"tries": 0, "solved": False})
    entry["tries"] = entry["tries"] if entry["solved"] else 0


def tries_at(name: str) -> int:
    """How many answered tries at an exercise there were before."""
    return read_progress()["exercises"].get(name, {"tries": 0})["tries"]


def hints_at(name: str) -> set[str]:
    """The hints that wrong answers to an exercise were given."""
    entry = read_progress()["exercises"].get(name)
    return {note["hint"] for note in entry.get("wrong", {}).values()} if entry else set()


def progress(*lessons: str | int) -> None:
    """Print how many exercises of these lessons are solved, and which are left; of all lessons if none is named.

    >>> from minitape.course import Exercise, add_exercise, check
    >>> add_exercise(Exercise("demo-lesson.1", expect=2.0))
    >>> check("demo-lesson.1", 2.0)
    Exercise demo-lesson.1: correct.
    >>> progress("demo-lesson")
    Lesson demo-lesson: # 1 of 1 solved
    """
    done = {name for name, entry in read_progress()["exercises"].items() if entry.get("solved")}
    lines = []
    for lesson in map(_two_digits, lessons or _lessons(done)):
        names = list(exercises_of(lesson)) or sorted(name for name in done if name.rpartition(".")[0] == lesson)
        if not names:
            lines.append(say("There is no lesson {name} with exercises.", name=repr(lesson)))
            continue
        left = [name for name in names if name not in done]
        solved = len(names) - len(left)
        bar = "#" * solved + "." * len(left)
        called = say("Appendix") if lesson == "appendix" else say("Lesson {name}", name=lesson)
        done_of = say("{name}: {bar} {solved} of {count} solved", name=called, bar=bar, solved=solved, count=len(names))
        lines.append(done_of + (say("   left: {names}", names=say(", ").join(left)) if left else ""))
    print("\n".join(lines) or say("Nothing is solved yet."))


def _two_digits(lesson: str | int) -> str:
    """The name of a lesson that may be given as its number."""
    return str(lesson).zfill(2) if str(lesson).isdigit() else str(lesson)


def _lessons(done: set[str]) -> list[str]:
    """The course's lessons that have exercises, and others that the learner solved something in."""
    return sorted(own_lessons() | {name.rpartition(".")[0] for name in done})
