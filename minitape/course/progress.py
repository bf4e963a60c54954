"""A learner's progress: one small JSON file in the folder of the lessons."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..engine.beside import beside

FILE_NAME = ".minitape-progress.json"
VARIABLE = "MINITAPE_PROGRESS"
VERSION = 1

_lock = threading.Lock()
_unsaved: dict[Path, dict[str, Any]] = {}


def progress_file() -> Path:
    """Where the progress is kept: $MINITAPE_PROGRESS, or `.minitape-progress.json` in the current folder."""
    return Path(os.environ.get(VARIABLE) or FILE_NAME)


def read_progress() -> dict[str, Any]:
    """The progress kept so far, `{"version": 1, "exercises": {...}, "predictions": {...}}`, and
    under "last" the lesson that was last worked on.

    A file that cannot be read counts as empty; it is kept beside the new one under a name ending in `.unreadable`.
    """
    empty: dict[str, Any] = {"version": VERSION, "exercises": {}, "predictions": {}}
    file = progress_file()
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        if not (all(isinstance(kept[key], dict) for key in ("exercises", "predictions"))
                and all(isinstance(e["tries"], int) and isinstance(e["solved"], bool) for e in kept["exercises"].values())
                and all(isinstance(p, str) for p in kept["predictions"].values())):  # fmt: skip
            raise ValueError("not a progress file")
    except OSError:
        return _unsaved.get(file, empty)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        with contextlib.suppress(OSError):
            os.replace(file, file.with_name(file.name + ".unreadable"))
        return empty
    return kept


def last_lesson(folder: Path) -> str:
    """The lesson that a learner last answered something in, whose notebooks lie in `folder`; "" where none is known."""
    file = Path(folder, progress_file())
    try:
        last = json.loads(file.read_text(encoding="utf-8"))["last"]
    except (OSError, KeyError, RecursionError, TypeError, ValueError):
        return ""
    return last if isinstance(last, str) else ""


def change_progress(name: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Read, change and write the progress, because of the exercise or prediction called `name`.

    Where the folder cannot be written, it lasts for this session only.
    """
    with _lock:
        kept = read_progress()
        change(kept)
        kept["last"] = name.rpartition(".")[0]
        file = progress_file()
        try:
            with beside(file) as part:
                part.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        except OSError:
            _unsaved[file] = kept


def note_try(name: str, solved: bool) -> int:
    """Count one answered try at an exercise; gives back how many there were. Once solved, it stays solved."""
    tries = 0

    def change(kept: dict[str, Any]) -> None:
        nonlocal tries
        entry = kept["exercises"].setdefault(name, {"tries": 0, "solved": False})
        tries = entry["tries"] = entry["tries"] + 1
        entry["solved"] = entry["solved"] or solved

    change_progress(name, change)
    return tries


def progress(*lessons: str | int) -> None:
    """Print how many exercises of these lessons are solved, and which are left; of all lessons if none is named.

    >>> from minitape.course import Exercise, add_exercise, check
    >>> add_exercise(Exercise("demo-lesson.1", expect=2.0))
    >>> check("demo-lesson.1", 2.0)
    Exercise demo-lesson.1: correct.
    >>> progress("demo-lesson")
    Lesson demo-lesson: # 1 of 1 solved
    """
    from .checker import exercises_of

    done = {name for name, entry in read_progress()["exercises"].items() if entry.get("solved")}
    lines = []
    for lesson in map(_two_digits, lessons or _lessons(done)):
        names = list(exercises_of(lesson)) or sorted(name for name in done if name.rpartition(".")[0] == lesson)
        if not names:
            lines.append(f"There is no lesson {lesson!r} with exercises.")
            continue
        left = [name for name in names if name not in done]
        solved = len(names) - len(left)
        rest = "" if not left else f"   left: {', '.join(left)}"
        lines.append(f"Lesson {lesson}: {'#' * solved}{'.' * len(left)} {solved} of {len(names)} solved{rest}")
    print("\n".join(lines) or "Nothing is solved yet.")


def _two_digits(lesson: str | int) -> str:
    """The name of a lesson that may be given as its number."""
    return str(lesson).zfill(2) if str(lesson).isdigit() else str(lesson)


def _lessons(done: set[str]) -> list[str]:
    """The course's lessons that have exercises, and others that the learner solved something in."""
    from .checker import own_lessons

    return sorted(own_lessons() | {name.rpartition(".")[0] for name in done})
