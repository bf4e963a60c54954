"""What learners handed in, for `minitape class`: progress files and returned notebooks, found and read.

Strangers wrote these files. They are read as JSON and nothing in them is run, imported or opened.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from minitape.course.checker import CORRECT, NOT_ANSWERED, NOT_YET
from minitape.course.progress import FILE_NAME, MAX_WRONG_ANSWERS, is_progress

from ..common.read_data import read_json
from .lesson_files import LEARNER_FOLDER, find_lessons_folder, list_notebook_files
from .messages import say
from .notebook_rules import strip_colors, translate_verdicts_to_english

if TYPE_CHECKING:
    from ..course.progress import Progress
    from .notebook_rules import Notebook

PAUSE_SECONDS = 15 * 60
"""Seconds without an answer after which a learner counts as away."""
MAX_EXERCISES = 1000
"""In one file."""
MAX_TEXT_LENGTH = 200
MAX_PATH_LENGTH = 4096
MAX_VERDICT_LENGTH = 10_000
"""Characters of what `check` said of one answer."""
_VERDICT_START = re.compile(r"^Exercise ", re.MULTILINE)
_VERDICT_LINE = re.compile(rf"Exercise (\S{{1,{MAX_TEXT_LENGTH}}}): ({CORRECT}|{NOT_YET}|{NOT_ANSWERED})\.")
_ANSWER_LINE = re.compile(r"^[ \t]*given: +(.*)$", re.MULTILINE)
_HINT_LINE = re.compile(r"^Hint: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class ExerciseRecord:
    """What a learner did with one exercise; None where the files do not say it.

    `wrong_answers` maps each wrong answer, as text, to the hint that it got.
    """

    is_solved: bool
    tries: int | None = None
    right_at: int | None = None
    seconds: int | None = None
    wrong_answers: dict[str, str] = field(default_factory=dict)

    def merge_with(self, other: ExerciseRecord) -> ExerciseRecord:
        """Return this record together with that of another file about the same exercise of the same learner."""
        fewer_tries, more_tries = sorted((self, other), key=lambda record: record.tries or 0)
        right_at = more_tries.right_at if more_tries.is_solved or more_tries.tries else fewer_tries.right_at
        seconds = more_tries.seconds if more_tries.seconds is not None else fewer_tries.seconds
        return ExerciseRecord(
            fewer_tries.is_solved or more_tries.is_solved,
            more_tries.tries,
            right_at,
            seconds,
            {**fewer_tries.wrong_answers, **more_tries.wrong_answers},
        )


@dataclass
class HandIn:
    """All that one learner handed in: the work on each exercise by its name, those left blank, and the files that could
    not be read.
    """

    learner: str
    records: dict[str, ExerciseRecord] = field(default_factory=dict)
    blank_exercises: set[str] = field(default_factory=set)
    problems: list[tuple[str, str]] = field(default_factory=list)


def find_hand_in_files_by_learner(folders: Sequence[Path]) -> dict[str, list[Path]]:
    """Return learner's name -> the files of that learner.

    A folder with a progress file in it, or with a lesson under its own name, is one learner's. In any other each folder
    is a learner's, and each file that lies there directly: `jane.json`, or `jane_01_the_first_tape.ipynb`.
    """
    lessons = [path.stem for path in list_notebook_files(find_lessons_folder())]
    files_by_learner: dict[str, list[Path]] = {}
    learner_folders = []
    for folder in folders:
        if _is_link_of_another_user(folder):  # it cannot be read, and that is said
            learner_folders.append((folder, [folder]))
            continue
        files = list(_iter_hand_in_files(folder))
        if any(path.parent == folder and (path.name == FILE_NAME or path.stem in lessons) for path in files):
            learner_folders.append((folder, files))
            continue
        for path in files:
            folder_name, *nested_parts = path.relative_to(folder).parts
            files_by_learner.setdefault(
                folder_name if nested_parts else _extract_learner_name(path, [*lessons, "minitape-progress"]), []
            ).append(path)
    for name, (_, files) in zip(
        _build_distinct_folder_names([folder for folder, _ in learner_folders]), learner_folders, strict=True
    ):
        files_by_learner.setdefault(name, []).extend(files)
    return {sanitize_text(name): files_by_learner[name] for name in sorted(files_by_learner, key=str.casefold)}


def _is_link_of_another_user(path: Path) -> bool:
    """Return whether a path is a link that another user made: it may lead to the work of a third one."""
    user_id = getattr(os, "geteuid", lambda: None)()
    return user_id is not None and path.is_symlink() and path.lstat().st_uid != user_id


def _iter_hand_in_files(folder: Path) -> Iterator[Path]:
    """Yield the hand-ins below a folder, without JupyterLab's copies and without links, which may lead anywhere."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(names):
            path = Path(parent, name)
            is_notebook = path.suffix == ".ipynb" and not name.startswith(".")
            is_progress_file = name.endswith("progress.json") or (path.suffix == ".json" and path.parent == folder)
            if (is_notebook or is_progress_file) and not path.is_symlink() and path.is_file():
                yield path


def _extract_learner_name(path: Path, lesson_names: Iterable[str]) -> str:
    """Return the learner's part of a file's name: what comes before the lesson's.

    >>> _extract_learner_name(Path("doe_jane_4711_01_the_first_tape-2.ipynb"), ["01_the_first_tape"])
    'doe_jane_4711'
    """
    lesson_start = next((path.stem.index(name) for name in lesson_names if name in path.stem), None)
    return path.stem[:lesson_start].rstrip("_- .") or path.stem


def _build_distinct_folder_names(folders: Sequence[Path]) -> list[str]:
    """Return a name for each folder: the part of the path in which it differs from the others.

    >>> _build_distinct_folder_names([Path("/home/ann/minitape-lessons"), Path("/home/bob/minitape-lessons")])
    ['ann', 'bob']
    >>> _build_distinct_folder_names([Path("/groups/1/2/hand-in"), Path("/groups/2/1/hand-in")])
    ['1/2', '2/1']
    """
    paths = [folder.absolute().parts for folder in folders]
    if len(paths) < 2:
        return [next(part for part in reversed(parts) if part != LEARNER_FOLDER) for parts in paths]
    prefix_length, suffix_length = (
        _count_common_leading_parts(paths),
        _count_common_leading_parts([parts[::-1] for parts in paths]),
    )
    return ["/".join(parts[prefix_length : len(parts) - suffix_length]) or parts[-1] for parts in paths]


def _count_common_leading_parts(paths: Sequence[tuple[str, ...]]) -> int:
    """Count the parts that the paths share at the beginning."""
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False)))


def read_hand_ins(
    files_by_learner: dict[str, list[Path]], on_learner_read: Callable[[str], object] = lambda learner: None
) -> list[HandIn]:
    """Read the files of each learner; `on_learner_read` is called after each learner."""
    hand_ins = []
    for learner, paths in files_by_learner.items():
        hand_in = HandIn(learner)
        for path in paths:
            try:
                records = _read_exercise_records(path)
            except (OSError, ValueError, RecursionError) as error:
                hand_in.problems.append((sanitize_text(str(path), MAX_PATH_LENGTH), _describe_read_error(error)))
                continue
            for name, record in records.items():
                if record is None:
                    hand_in.blank_exercises.add(name)
                    continue
                known_record = hand_in.records.get(name)
                hand_in.records[name] = record if known_record is None else known_record.merge_with(record)
        hand_ins.append(hand_in)
        on_learner_read(learner)
    return hand_ins


def _describe_read_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return say("is not whole: it ends or breaks off in the middle")
    return sanitize_text(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def _read_exercise_records(path: Path) -> Mapping[str, ExerciseRecord | None]:
    """Return exercise -> the record that one file shows, None for an exercise that was left blank.

    Raises OSError and ValueError where it cannot be read.
    """
    if _is_link_of_another_user(path):
        raise ValueError(say("is a link of the learner's own, which may lead to the work of another"))
    content = read_json(path)
    if path.suffix != ".ipynb" and not is_progress(content):
        raise ValueError(say("is not a progress file"))
    records = (
        _convert_notebook_to_records(content) if path.suffix == ".ipynb" else _convert_progress_to_records(content)
    )
    if len(records) > MAX_EXERCISES:
        raise ValueError(say("has more than {most} exercises", most=MAX_EXERCISES))
    return records


def _convert_progress_to_records(progress: Progress) -> dict[str, ExerciseRecord]:
    """Return exercise -> the record that a progress file shows.

    >>> wrong = {"8.0": {"times": 1, "hint": "That is y."}}
    >>> exercises = {"01.1": {"tries": 2, "solved": True, "right_at": 2, "wrong": wrong}}
    >>> times = {"01.p1": [100], "01.1": [160, 200]}
    >>> _convert_progress_to_records({"exercises": exercises, "predictions": {}, "times": times})["01.1"]
    ExerciseRecord(is_solved=True, tries=2, right_at=2, seconds=100, wrong_answers={'8.0': 'That is y.'})
    """
    seconds = _compute_exercise_durations(progress.get("times", {}))
    records = {}
    for name, entry in progress["exercises"].items():
        first_try = 1 if entry["solved"] and entry["tries"] == 1 else None
        answers = islice(entry.get("wrong", {}).items(), MAX_WRONG_ANSWERS)
        wrong_answers = {sanitize_text(text): sanitize_text(note["hint"]) for text, note in answers}
        right_at = entry.get("right_at", first_try)
        records[sanitize_text(name)] = ExerciseRecord(
            entry["solved"], entry["tries"], right_at, seconds.get(name), wrong_answers
        )
    return records


def _compute_exercise_durations(times_by_exercise: dict[str, list[int]]) -> dict[str, int]:
    """Compute how many seconds each exercise took: from one answer to the next, without pauses."""
    answers = sorted(
        (answer_time, name) for name, exercise_times in times_by_exercise.items() for answer_time in exercise_times
    )
    durations: dict[str, int] = {}
    for (previous_time, _), (answer_time, name) in pairwise(answers):
        if answer_time - previous_time <= PAUSE_SECONDS:
            durations[name] = durations.get(name, 0) + answer_time - previous_time
    return durations


def _convert_notebook_to_records(notebook: Notebook) -> dict[str, ExerciseRecord | None]:
    """Return exercise -> the record that a notebook's saved outputs show: its last answer, None without one.

    >>> said = "Exercise 01.1: not yet.\\n  given:    8.0\\n  expected: a number\\nHint: That is y."
    >>> cell = {"cell_type": "code", "outputs": [{"output_type": "stream", "text": said}]}
    >>> _convert_notebook_to_records({"cells": [cell]})
    {'01.1': ExerciseRecord(is_solved=False, tries=None, right_at=None, seconds=None, wrong_answers={'8.0': 'That is
    y.'})}
    """
    try:
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
        texts = ["".join(output.get("text", "")) for output in outputs]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(say("is not a notebook")) from error
    records: dict[str, ExerciseRecord | None] = {}
    for name, state, details in (
        verdict
        for text in texts
        for verdict in _iter_verdicts_in_output(translate_verdicts_to_english(strip_colors(text)))
    ):
        earlier_record = records.setdefault(name, None)
        if state == NOT_ANSWERED:
            continue
        answer_line, hint_line = _ANSWER_LINE.search(details), _HINT_LINE.search(details)
        answer = answer_line[1] if answer_line else details.strip().partition("\n")[0]
        wrong_answers = (
            {sanitize_text(answer): sanitize_text(hint_line[1]) if hint_line else ""}
            if state == NOT_YET and answer
            else {}
        )
        record = ExerciseRecord(state == CORRECT, wrong_answers=wrong_answers)
        records[name] = replace(
            record, is_solved=record.is_solved or (earlier_record is not None and earlier_record.is_solved)
        )
    return {sanitize_text(name): record for name, record in records.items()}


def _iter_verdicts_in_output(output_text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each verdict of `check` in an output: exercise, verdict, and the lines below.

    The time that this takes grows with the text only.

    >>> list(_iter_verdicts_in_output("Exercise 01.1: not yet.\\n  given: 8.0\\nExercise 01.2: correct."))
    [('01.1', 'not yet', '\\n  given: 8.0\\n'), ('01.2', 'correct', '')]
    """
    starts = [verdict_start.start() for verdict_start in _VERDICT_START.finditer(output_text)]
    for start, end in pairwise([*starts, len(output_text)]):
        if verdict := _VERDICT_LINE.match(output_text, start, end):
            yield verdict[1], verdict[2], output_text[verdict.end() : min(end, verdict.end() + MAX_VERDICT_LENGTH)]


def sanitize_text(text: str, max_length: int = MAX_TEXT_LENGTH) -> str:
    """Return a stranger's text in one line, without characters that steer a terminal, and at most `max_length` long."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(text)[:max_length])
