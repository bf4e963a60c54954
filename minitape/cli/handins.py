"""Find and read the hand-ins of a class: progress files and returned notebooks.

The files may come from strangers. minitape only reads the files as JSON, and runs, imports or opens nothing in them.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice, pairwise, takewhile
from pathlib import Path

from click import unstyle

from minitape.course.checker import CORRECT, NOT_ANSWERED, NOT_YET
from minitape.course.progress import FILE_NAME, MAX_WRONG_ANSWERS, is_progress

from ..common.read_data import read_json
from ..course.progress import Progress
from ..engine.types import (
    Action,
    CountsByName,
    NameList,
    Names,
    NameSet,
    OptionalNumber,
    PathList,
    PathSequence,
    TextList,
    TextPair,
    TextsByName,
    TextSequence,
)
from .lesson_files import (
    LEARNER_FOLDER,
    find_lesson_folders_by_language,
    find_lessons_folder,
    list_notebook_files,
    map_names_to_titles,
)
from .messages import say
from .notebook_rules import Notebook, translate_verdicts_to_english

PAUSE_SECONDS = 15 * 60
"""The number of seconds without an answer after which a learner is considered away."""
MAX_EXERCISES = 1000
"""The maximum number of exercises in one file."""
MAX_TEXT_LENGTH = 200
MAX_PATH_LENGTH = 4096
MAX_VERDICT_LENGTH = 10_000
"""The maximum number of characters to read from the verdict on one answer."""
_VERDICT_START = re.compile(r"^Exercise ", re.MULTILINE)
_VERDICT_LINE = re.compile(rf"Exercise (\S{{1,{MAX_TEXT_LENGTH}}}): ({CORRECT}|{NOT_YET}|{NOT_ANSWERED})\.")
_ANSWER_LINE = re.compile(r"^[ \t]*given: +(.*)$", re.MULTILINE)
_HINT_LINE = re.compile(r"^Hint: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class ExerciseRecord:
    """A learner's work on one exercise. Fields are None if the files do not contain them.

    Attributes:
        is_solved: Whether the exercise is solved.
        tries: The number of answers.
        right_at: The number of the first right answer, counted from 1.
        seconds: The time spent on the exercise, excluding pauses.
        wrong_answers: Maps each wrong answer to its hint.
    """

    is_solved: bool
    tries: OptionalNumber = None
    right_at: OptionalNumber = None
    seconds: OptionalNumber = None
    wrong_answers: TextsByName = field(default_factory=dict)

    def merge_with(self, other: ExerciseRecord) -> ExerciseRecord:
        """Merge this record with another one for the same exercise and learner.

        Args:
            other: The record from another file.

        Returns:
            A record that is solved if either record is solved. Its counts are taken from the record with more tries.
        """
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


UNTRIED = ExerciseRecord(is_solved=False)
"""The record of an exercise that a learner did not answer."""
FilesByLearner = dict[str, PathList]
RecordsByName = dict[str, ExerciseRecord | None]
"""The records in one file, keyed by exercise. The record of a blank exercise is None."""


@dataclass
class HandIn:
    """Everything that one learner handed in.

    Attributes:
        learner: The name of the learner.
        records: A dict that maps the name of each exercise to the learner's work on it.
        blank_exercises: The exercises that were left blank.
        problems: The unreadable files, as (path, reason) pairs.
    """

    learner: str
    records: dict[str, ExerciseRecord] = field(default_factory=dict)
    blank_exercises: NameSet = field(default_factory=set)
    problems: list[TextPair] = field(default_factory=list)


def find_hand_in_files_by_learner(folders: PathSequence) -> FilesByLearner:
    """Find the hand-ins in the given folders.

    A folder belongs to a single learner if it directly contains a progress file or a lesson under its original name.
    Otherwise, each subfolder belongs to one learner. Each file, such as `jane.json` or `jane_01_the_first_tape.ipynb`,
    also belongs to one learner.

    Args:
        folders: The folders to search.

    Returns:
        A dict that maps each learner's name to the learner's files. The names are sorted.
    """
    lessons = [path.stem for path in list_notebook_files(find_lessons_folder())]
    for lessons_folder in find_lesson_folders_by_language().values():
        lessons += [Path(name).stem for name in map_names_to_titles(lessons_folder).values()]
    files_by_learner: FilesByLearner = {}
    learner_folders = []
    for folder in folders:
        if _is_link_of_another_user(folder):  # Reading the link fails later, and that failure is reported as a problem.
            learner_folders.append((folder, [folder]))
            continue
        files = list(_iter_hand_in_files(folder))
        if any(path.parent == folder and (path.name == FILE_NAME or path.stem in lessons) for path in files):
            learner_folders.append((folder, files))
            continue
        for path in files:
            learner, *nested_parts = path.relative_to(folder).parts
            if not nested_parts:
                learner = _extract_learner_name(path, [*lessons, "minitape-progress"])
            files_by_learner.setdefault(learner, []).append(path)
    folder_names = _build_distinct_folder_names([folder for folder, _ in learner_folders])
    for name, (_, files) in zip(folder_names, learner_folders, strict=True):
        files_by_learner.setdefault(name, []).extend(files)
    learners = sorted(files_by_learner, key=lambda name: (_decode_file_name(name).casefold(), name))
    return dict(zip(_build_distinct_labels(learners), map(files_by_learner.__getitem__, learners), strict=True))


def _decode_file_name(name: str) -> str:
    """Return the name of a file as the learner saw it.

    Zip files from Chinese editions of Windows contain GBK-encoded names, which Linux unpacks without conversion.
    """
    name_bytes = os.fsencode(name)
    try:
        return name_bytes.decode("utf-8")
    except UnicodeDecodeError:
        return name_bytes.decode("gb18030", "replace")


def _build_distinct_labels(names: TextSequence) -> NameList:
    r"""Return each name in a form that can be printed. Equal names are numbered.

    >>> _build_distinct_labels(["ann", "bob\a", "bob\b"])
    ['ann', 'bob�', 'bob� (2)']
    """
    labels: NameList = []
    for name in names:
        label = sanitize_text(_decode_file_name(name))
        numbered_labels = (label if number == 1 else f"{label} ({number})" for number in count(1))
        labels.append(next(numbered for numbered in numbered_labels if numbered not in labels))
    return labels


def _is_link_of_another_user(path: Path) -> bool:
    """Return whether a path is a link that another user created. Such a link might point to a third user's work."""
    user_id = getattr(os, "geteuid", lambda: None)()
    return user_id is not None and path.is_symlink() and path.lstat().st_uid != user_id


def _iter_hand_in_files(folder: Path) -> Iterator[Path]:
    """Yield the hand-ins below a folder, except for JupyterLab's hidden copies.

    Links are skipped, because they may point anywhere.
    """
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(names):
            path = Path(parent, name)
            is_notebook = path.suffix == ".ipynb" and not name.startswith(".")
            is_progress_file = name.endswith("progress.json") or (path.suffix == ".json" and path.parent == folder)
            if (is_notebook or is_progress_file) and not path.is_symlink() and path.is_file():
                yield path


def _extract_learner_name(path: Path, lesson_names: Iterable[str]) -> str:
    """Return the part of a file name that precedes the lesson's name.

    >>> _extract_learner_name(Path("doe_jane_4711_01_the_first_tape-2.ipynb"), ["01_the_first_tape"])
    'doe_jane_4711'
    """
    lesson_start = next((path.stem.index(name) for name in lesson_names if name in path.stem), None)
    return path.stem[:lesson_start].rstrip("_- .") or path.stem


def _build_distinct_folder_names(folders: PathSequence) -> NameList:
    """Return a name for each folder, using the part of its path that differs from the other paths.

    >>> _build_distinct_folder_names([Path("/home/ann/minitape-lessons"), Path("/home/bob/minitape-lessons")])
    ['ann', 'bob']
    >>> _build_distinct_folder_names([Path("/groups/1/2/hand-in"), Path("/groups/2/1/hand-in")])
    ['1/2', '2/1']
    """
    paths = [folder.absolute().parts for folder in folders]
    if len(paths) < 2:
        return [next(part for part in reversed(parts) if part != LEARNER_FOLDER) for parts in paths]
    prefix_length = _count_common_leading_parts(paths)
    suffix_length = _count_common_leading_parts([parts[::-1] for parts in paths])
    return ["/".join(parts[prefix_length : len(parts) - suffix_length]) or parts[-1] for parts in paths]


def _count_common_leading_parts(paths: Sequence[Names]) -> int:
    """Count the leading path components that all paths share."""
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False)))


def read_hand_ins(files_by_learner: FilesByLearner, on_learner_read: Action = lambda: None) -> list[HandIn]:
    """Read each learner's files.

    Args:
        files_by_learner: The files of each learner (see `find_hand_in_files_by_learner`).
        on_learner_read: A function that is called after each learner.

    Returns:
        One hand-in per learner, in the same order. Unreadable files are listed in `problems`.
    """
    hand_ins = []
    for learner, paths in files_by_learner.items():
        hand_in = HandIn(learner)
        for path in paths:
            try:
                records = _read_exercise_records(path)
            except (OSError, ValueError, RecursionError) as error:
                path_text = sanitize_text(_decode_file_name(str(path)), MAX_PATH_LENGTH)
                hand_in.problems.append((path_text, _describe_read_error(error)))
                continue
            for name, record in records.items():
                if record is None:
                    hand_in.blank_exercises.add(name)
                    continue
                known_record = hand_in.records.get(name)
                hand_in.records[name] = record if known_record is None else known_record.merge_with(record)
        hand_ins.append(hand_in)
        on_learner_read()
    return hand_ins


def _describe_read_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return say("is incomplete, because its end is missing")
    return sanitize_text(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def _read_exercise_records(path: Path) -> RecordsByName:
    """Return the records in one file.

    Raises OSError or ValueError if the file cannot be read.
    """
    if _is_link_of_another_user(path):
        raise ValueError(say("is a link, which may lead to another learner's work"))
    content = read_json(path)
    if path.suffix == ".ipynb":
        records = _convert_notebook_to_records(content)
    elif is_progress(content):
        records = _convert_progress_to_records(content)
    else:
        raise ValueError(say("is not a progress file"))
    if len(records) > MAX_EXERCISES:
        raise ValueError(say("contains more than {most} exercises", most=MAX_EXERCISES))
    return records


def _convert_progress_to_records(progress: Progress) -> RecordsByName:
    """Return the records in a progress file, keyed by exercise.

    >>> wrong = {"8.0": {"times": 1, "hint": "That is y."}}
    >>> exercises = {"01.1": {"tries": 2, "solved": True, "right_at": 2, "wrong": wrong}}
    >>> times = {"01.p1": [100], "01.1": [160, 200]}
    >>> _convert_progress_to_records({"exercises": exercises, "predictions": {}, "times": times})["01.1"]
    ExerciseRecord(is_solved=True, tries=2, right_at=2, seconds=100, wrong_answers={'8.0': 'That is y.'})
    """
    seconds = _compute_exercise_durations(progress.get("times", {}))
    records: RecordsByName = {}
    for name, entry in progress["exercises"].items():
        first_try = 1 if entry["solved"] and entry["tries"] == 1 else None
        answers = islice(entry.get("wrong", {}).items(), MAX_WRONG_ANSWERS)
        wrong_answers = {sanitize_text(text): sanitize_text(note["hint"]) for text, note in answers}
        right_at = entry.get("right_at", first_try)
        records[sanitize_text(name)] = ExerciseRecord(
            entry["solved"], entry["tries"], right_at, seconds.get(name), wrong_answers
        )
    return records


def _compute_exercise_durations(times_by_exercise: dict[str, list[int]]) -> CountsByName:
    """Compute the seconds spent on each exercise, as the times between consecutive answers, excluding pauses."""
    answers = sorted(
        (answer_time, name) for name, exercise_times in times_by_exercise.items() for answer_time in exercise_times
    )
    durations: CountsByName = Counter()
    for (previous_time, _), (answer_time, name) in pairwise(answers):
        if answer_time - previous_time <= PAUSE_SECONDS:
            durations[name] += answer_time - previous_time
    return durations


def _read_outputs_in_english(notebook: Notebook) -> TextList:
    """Return the text of each saved output, without colors and with English verdicts.

    Raises:
        ValueError: If the object is not a notebook.
    """
    try:
        texts = ["".join(output.get("text", "")) for cell in notebook["cells"] for output in cell.get("outputs", ())]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(say("is not a notebook")) from error
    return [translate_verdicts_to_english(unstyle(text)) for text in texts]


def _convert_notebook_to_records(notebook: Notebook) -> RecordsByName:
    r"""Return the records in a notebook's saved outputs, keyed by exercise. Unanswered exercises have the record None.

    >>> said = "Exercise 01.1: not yet.\n  given:    8.0\n  expected: a number\nHint: That is y."
    >>> cell = {"cell_type": "code", "outputs": [{"output_type": "stream", "text": said}]}
    >>> _convert_notebook_to_records({"cells": [cell]})
    {'01.1': ExerciseRecord(is_solved=False, tries=None, right_at=None, seconds=None, wrong_answers={'8.0': 'That is
    y.'})}
    """
    verdicts = (verdict for text in _read_outputs_in_english(notebook) for verdict in _iter_verdicts_in_output(text))
    records: RecordsByName = {}
    for name, state, details in verdicts:
        earlier_record = records.setdefault(name, None)
        if state == NOT_ANSWERED:
            continue
        wrong_answers = _map_wrong_answer_to_hint(details) if state == NOT_YET else {}
        was_solved = earlier_record is not None and earlier_record.is_solved
        records[name] = ExerciseRecord(state == CORRECT or was_solved, wrong_answers=wrong_answers)
    return {sanitize_text(name): record for name, record in records.items()}


def _map_wrong_answer_to_hint(details: str) -> TextsByName:
    """Return a dict that maps the answer below a verdict to its hint, or an empty dict without an answer."""
    answer_line = _ANSWER_LINE.search(details)
    hint_line = _HINT_LINE.search(details)
    answer = answer_line[1] if answer_line else details.strip().partition("\n")[0]
    if not answer:
        return {}
    return {sanitize_text(answer): sanitize_text(hint_line[1]) if hint_line else ""}


def _iter_verdicts_in_output(output_text: str) -> Iterator[tuple[str, str, str]]:
    r"""Yield each verdict in an output of `check`, as (exercise, verdict, lines below).

    The running time is linear in the length of the text.

    >>> list(_iter_verdicts_in_output("Exercise 01.1: not yet.\n  given: 8.0\nExercise 01.2: correct."))
    [('01.1', 'not yet', '\n  given: 8.0\n'), ('01.2', 'correct', '')]
    """
    starts = [verdict_start.start() for verdict_start in _VERDICT_START.finditer(output_text)]
    for start, end in pairwise([*starts, len(output_text)]):
        if verdict := _VERDICT_LINE.match(output_text, start, end):
            yield verdict[1], verdict[2], output_text[verdict.end() : min(end, verdict.end() + MAX_VERDICT_LENGTH)]


def sanitize_text(text: str, max_length: int = MAX_TEXT_LENGTH) -> str:
    """Convert a stranger's text to a single line that is safe to print on a terminal.

    Args:
        text: The text.
        max_length: The maximum number of characters to keep.

    Returns:
        The text, with a replacement character for each control character.
    """
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(text)[:max_length])
