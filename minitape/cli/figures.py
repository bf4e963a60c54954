"""What a class did, in figures: of each exercise and of each learner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from minitape.course.checker import exercises_of

from .handins import HandIn, Work


@dataclass(frozen=True)
class WrongAnswers:
    """A wrong answer: the hint that it got, and how many learners gave it."""

    answer: str
    hint: str
    learners: int

    def __str__(self) -> str:
        return f"{self.answer} ({self.learners}x) {self.hint}"


@dataclass(frozen=True)
class ExerciseFigures:
    """How a class did with one exercise. `first_try`, `later`, `stuck` and `untried` add up to the number of learners.

    `first_try` counts those who were right at their first try, `later` all others who solved it, `stuck` those who
    answered and are not right yet. `tries` and `minutes` are medians over those who solved it, None where no file says
    it.
    """

    name: str
    first_try: int
    later: int
    stuck: int
    untried: int
    tries: float | None
    minutes: float | None
    wrong: WrongAnswers | None

    @property
    def solved(self) -> int:
        """How many solved it."""
        return self.first_try + self.later


@dataclass(frozen=True)
class LearnerFigures:
    """What one learner did: exercises solved by lesson, and over all of them."""

    learner: str
    solved: dict[str, int]
    tries: int
    first_try: int
    minutes: float

    @property
    def all_solved(self) -> int:
        """How many exercises are solved."""
        return sum(self.solved.values())


@dataclass(frozen=True)
class Class:
    """A class: its lessons, with the names of their exercises, and the figures."""

    lessons: dict[str, list[str]]
    by_exercise: list[ExerciseFigures]
    by_learner: list[LearnerFigures]


def figures(hand_ins: Sequence[HandIn]) -> Class:
    """The figures of a class, over the lessons in which something was answered."""
    answered = {name for hand_in in hand_ins for name in hand_in.work}
    blank = {name for hand_in in hand_ins for name in hand_in.blank}
    begun = {_lesson(name) for name in answered}
    lessons = _lessons(answered | {name for name in blank if _lesson(name) in begun})
    return Class(
        lessons,
        [_of_exercise(name, hand_ins) for names in lessons.values() for name in names],
        [_of_learner(hand_in, lessons) for hand_in in hand_ins],
    )


def _lesson(exercise: str) -> str:
    return exercise.rpartition(".")[0]


def _lessons(seen: Iterable[str]) -> dict[str, list[str]]:
    """Lesson -> its exercises. The course's own are known; of others, those that were answered or left blank."""
    named: dict[str, set[str]] = {}
    for name in seen:
        named.setdefault(_lesson(name), set()).add(name)
    return {
        lesson: list(exercises_of(lesson)) or sorted(names, key=_in_order) for lesson, names in sorted(named.items())
    }


def _in_order(name: str) -> tuple[int, str]:
    number = name.rpartition(".")[2]
    return (int(number) if number.isdecimal() else 0, name)


def _of_exercise(name: str, hand_ins: Sequence[HandIn]) -> ExerciseFigures:
    works = [hand_in.work[name] for hand_in in hand_ins if name in hand_in.work]
    solved = [work for work in works if work.solved]
    first = sum(work.right_at == 1 for work in solved)
    return ExerciseFigures(
        name,
        first,
        len(solved) - first,
        len(works) - len(solved),
        len(hand_ins) - len(works),
        _median(work.right_at for work in solved),
        _median(work.seconds / 60 for work in solved if work.seconds is not None),
        _commonest(works),
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _commonest(works: Iterable[Work]) -> WrongAnswers | None:
    """The wrong answer that most learners gave; of several the first in alphabetical order."""
    given = [pair for work in works for pair in work.wrong.items()]
    counts = Counter(answer for answer, _ in given)
    if not counts:
        return None
    answer = min(counts, key=lambda text: (-counts[text], text))
    return WrongAnswers(answer, dict(given)[answer], counts[answer])


def _of_learner(hand_in: HandIn, lessons: dict[str, list[str]]) -> LearnerFigures:
    works = hand_in.work.values()
    return LearnerFigures(
        hand_in.learner,
        {
            lesson: sum(name in hand_in.work and hand_in.work[name].solved for name in names)
            for lesson, names in lessons.items()
        },
        sum(work.tries or 0 for work in works),
        sum(work.solved and work.right_at == 1 for work in works),
        sum(work.seconds or 0 for work in works) / 60,
    )
