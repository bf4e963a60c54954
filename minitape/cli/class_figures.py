"""What a class did, in figures: of each exercise and of each learner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from minitape.course.checker import collect_exercises

from .handins import ExerciseRecord, HandIn


@dataclass(frozen=True)
class CommonWrongAnswer:
    """A wrong answer: the hint that it got, and how many learners gave it."""

    answer: str
    hint: str
    learner_count: int

    def __str__(self) -> str:
        return f"{self.answer} ({self.learner_count}x) {self.hint}"


@dataclass(frozen=True)
class ExerciseFigures:
    """How a class did with one exercise. `first_try_count`, `later_try_count`, `stuck_count` and `untried_count` add up
    to the number of learners.

    `first_try_count` counts those who were right at their first try, `later_try_count` all others who solved it,
    `stuck_count` those who answered and are not right yet. `median_tries` and `median_minutes` are medians over those
    who solved it, None where no file says it.
    """

    name: str
    first_try_count: int
    later_try_count: int
    stuck_count: int
    untried_count: int
    median_tries: float | None
    median_minutes: float | None
    commonest_wrong_answer: CommonWrongAnswer | None

    @property
    def solved_count(self) -> int:
        """How many solved it."""
        return self.first_try_count + self.later_try_count


@dataclass(frozen=True)
class LearnerFigures:
    """What one learner did: exercises solved by lesson, and over all of them."""

    learner: str
    solved_by_lesson: dict[str, int]
    tries: int
    first_try_count: int
    minutes: float

    @property
    def solved_count(self) -> int:
        """How many exercises are solved."""
        return sum(self.solved_by_lesson.values())


@dataclass(frozen=True)
class ClassFigures:
    """A class: its lessons, with the names of their exercises, and the figures."""

    exercises_by_lesson: dict[str, list[str]]
    by_exercise: list[ExerciseFigures]
    by_learner: list[LearnerFigures]


def compute_class_figures(hand_ins: Sequence[HandIn]) -> ClassFigures:
    """Compute the figures of a class, over the lessons in which something was answered."""
    answered_names = {name for hand_in in hand_ins for name in hand_in.records}
    blank_names = {name for hand_in in hand_ins for name in hand_in.blank_exercises}
    started_lessons = {_get_lesson_of_exercise(name) for name in answered_names}
    exercises_by_lesson = _list_exercises_by_lesson(
        answered_names | {name for name in blank_names if _get_lesson_of_exercise(name) in started_lessons}
    )
    return ClassFigures(
        exercises_by_lesson,
        [_compute_exercise_figures(name, hand_ins) for names in exercises_by_lesson.values() for name in names],
        [_compute_learner_figures(hand_in, exercises_by_lesson) for hand_in in hand_ins],
    )


def _get_lesson_of_exercise(exercise_name: str) -> str:
    """Return the lesson of an exercise: the part of its name before the last dot."""
    return exercise_name.rpartition(".")[0]


def _list_exercises_by_lesson(exercise_names: Iterable[str]) -> dict[str, list[str]]:
    """Return lesson -> its exercises. The course's own are known; of others, those of `exercise_names`."""
    names_by_lesson: dict[str, set[str]] = {}
    for name in exercise_names:
        names_by_lesson.setdefault(_get_lesson_of_exercise(name), set()).add(name)
    return {
        lesson: list(collect_exercises(lesson)) or sorted(names, key=_build_exercise_sort_key)
        for lesson, names in sorted(names_by_lesson.items())
    }


def _build_exercise_sort_key(exercise_name: str) -> tuple[int, str]:
    """Return what exercises of a lesson are sorted by: their number, then their name."""
    number = exercise_name.rpartition(".")[2]
    return (int(number) if number.isdecimal() else 0, exercise_name)


def _compute_exercise_figures(exercise_name: str, hand_ins: Sequence[HandIn]) -> ExerciseFigures:
    records = [hand_in.records[exercise_name] for hand_in in hand_ins if exercise_name in hand_in.records]
    solved_records = [record for record in records if record.is_solved]
    first_try_count = sum(record.right_at == 1 for record in solved_records)
    return ExerciseFigures(
        exercise_name,
        first_try_count,
        len(solved_records) - first_try_count,
        len(records) - len(solved_records),
        len(hand_ins) - len(records),
        _compute_median_of_known(record.right_at for record in solved_records),
        _compute_median_of_known(record.seconds / 60 for record in solved_records if record.seconds is not None),
        _find_commonest_wrong_answer(records),
    )


def _compute_median_of_known(values: Iterable[float | None]) -> float | None:
    """Return the median of the values that are not None, or None without any."""
    known_values = [value for value in values if value is not None]
    return median(known_values) if known_values else None


def _find_commonest_wrong_answer(records: Iterable[ExerciseRecord]) -> CommonWrongAnswer | None:
    """Return the wrong answer that most learners gave; of several the first in alphabetical order."""
    wrong_answers = [pair for record in records for pair in record.wrong_answers.items()]
    counts = Counter(answer for answer, _ in wrong_answers)
    if not counts:
        return None
    answer = min(counts, key=lambda text: (-counts[text], text))
    return CommonWrongAnswer(answer, dict(wrong_answers)[answer], counts[answer])


def _compute_learner_figures(hand_in: HandIn, exercises_by_lesson: dict[str, list[str]]) -> LearnerFigures:
    records = hand_in.records.values()
    return LearnerFigures(
        hand_in.learner,
        {
            lesson: sum(name in hand_in.records and hand_in.records[name].is_solved for name in names)
            for lesson, names in exercises_by_lesson.items()
        },
        sum(record.tries or 0 for record in records),
        sum(record.is_solved and record.right_at == 1 for record in records),
        sum(record.seconds or 0 for record in records) / 60,
    )
