"""Compute a class's figures for each exercise and each learner."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from minitape.course.exercise import collect_built_in_exercises, get_lesson_of_name

from ..common.grouping import group_values_by_key
from ..engine.types import CountsByName, NameList, NameSet, OptionalFloat, TextList
from .handins import UNTRIED, ExerciseRecord, HandIn


@dataclass(frozen=True)
class ExerciseFigures:
    """The results of a class for one exercise.

    The four counts add up to the number of learners in the class.

    Attributes:
        name: The name of the exercise.
        first_try_count: The number of learners who solved the exercise on the first try.
        later_try_count: The number of learners who solved the exercise on a later try.
        stuck_count: The number of learners who answered, but never correctly.
        untried_count: The number of learners who did not answer.
        median_tries: The median number of tries among those who solved the exercise, or None if no file contains this
            number.
        median_minutes: The median time among those who solved the exercise, or None if no file contains times.
        commonest_wrong_answer: The most common wrong answer, the number of learners who gave it and its hint, as in
            "8.0 (3x) That is y.", or "" if there were no wrong answers.
    """

    name: str
    first_try_count: int
    later_try_count: int
    stuck_count: int
    untried_count: int
    median_tries: OptionalFloat
    median_minutes: OptionalFloat
    commonest_wrong_answer: str


@dataclass(frozen=True)
class LearnerFigures:
    """The results of a learner.

    Attributes:
        learner: The name of the learner.
        solved_by_lesson: A dict that maps each lesson to the number of solved exercises.
        tries: The total number of answers.
        first_try_count: The number of exercises solved on the first try.
        minutes: The total time spent on exercises.
    """

    learner: str
    solved_by_lesson: CountsByName
    tries: int
    first_try_count: int
    minutes: float

    @property
    def solved_count(self) -> int:
        """The number of solved exercises."""
        return sum(self.solved_by_lesson.values())


@dataclass(frozen=True)
class ClassFigures:
    """The results of a class.

    Attributes:
        exercises_by_lesson: A dict that maps each lesson to the names of its exercises.
        by_exercise: The results for each exercise.
        by_learner: The results of each learner.
    """

    exercises_by_lesson: dict[str, TextList]
    by_exercise: list[ExerciseFigures]
    by_learner: list[LearnerFigures]


def compute_class_figures(hand_ins: Sequence[HandIn]) -> ClassFigures:
    """Compute the figures of a class for all lessons in which at least one exercise was answered.

    Args:
        hand_ins: The hand-ins of the learners.

    Returns:
        The figures, with the lessons sorted by name and the learners in the order of `hand_ins`.
    """
    answered_names = {name for hand_in in hand_ins for name in hand_in.records}
    blank_names = {name for hand_in in hand_ins for name in hand_in.blank_exercises}
    started_lessons = {get_lesson_of_name(name) for name in answered_names}
    exercises_by_lesson = _list_exercises_of_seen_lessons(
        answered_names | {name for name in blank_names if get_lesson_of_name(name) in started_lessons}
    )
    return ClassFigures(
        exercises_by_lesson,
        [_compute_exercise_figures(name, hand_ins) for names in exercises_by_lesson.values() for name in names],
        [_compute_learner_figures(hand_in, exercises_by_lesson) for hand_in in hand_ins],
    )


def _list_exercises_of_seen_lessons(seen_exercise_names: NameSet) -> dict[str, NameList]:
    """Return all exercises of each lesson that `seen_exercise_names` mentions.

    For the course's own lessons, all exercises are known. For other lessons, only the seen exercises are known.
    Exercises that were added in this process are ignored, because they may belong to a different lesson with the same
    name.
    """
    names_by_lesson = group_values_by_key((get_lesson_of_name(name), name) for name in seen_exercise_names)
    return {
        lesson: list(collect_built_in_exercises(lesson)) or sorted(names, key=_build_exercise_sort_key)
        for lesson, names in sorted(names_by_lesson.items())
    }


def _build_exercise_sort_key(exercise_name: str) -> tuple[int, str]:
    """Return the sort key of an exercise within a lesson: first its number, then its name."""
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


def _compute_median_of_known(values: Iterable[OptionalFloat]) -> OptionalFloat:
    """Return the median of all values except None, or None if no values are left."""
    known_values = [value for value in values if value is not None]
    return median(known_values) if known_values else None


def _find_commonest_wrong_answer(records: Iterable[ExerciseRecord]) -> str:
    """Return the most common wrong answer with its count and hint. Ties are resolved in alphabetical order."""
    wrong_answers = [pair for record in records for pair in record.wrong_answers.items()]
    counts = Counter(answer for answer, _ in wrong_answers)
    if not counts:
        return ""
    answer = min(counts, key=lambda text: (-counts[text], text))
    return f"{answer} ({counts[answer]}x) {dict(wrong_answers)[answer]}"


def _compute_learner_figures(hand_in: HandIn, exercises_by_lesson: dict[str, TextList]) -> LearnerFigures:
    records = hand_in.records.values()
    return LearnerFigures(
        hand_in.learner,
        {
            lesson: sum(hand_in.records.get(name, UNTRIED).is_solved for name in names)
            for lesson, names in exercises_by_lesson.items()
        },
        sum(record.tries or 0 for record in records),
        sum(record.is_solved and record.right_at == 1 for record in records),
        sum(record.seconds or 0 for record in records) / 60,
    )
