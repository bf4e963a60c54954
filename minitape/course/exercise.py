"""Define an exercise by its expected answer and its likely mistakes."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from ..common.translation import say
from ..engine.types import Names, TextList, TextsByName
from .answer_comparison import AnswerComparison, compare_answers
from .course_texts import ExerciseTexts, TrialTexts, list_built_in_lessons, read_lesson
from .trials import AnswerTrial

Case = tuple[Any, ...]  # The arguments of a function can be anything.
NamedValues = dict[str, Any]  # Names with their values, which can be anything.
Program = Callable[..., Any]  # A learner's function, or the solution's.
Answer = Any  # Learners can hand in anything: numbers, texts, arrays, functions and more.
Answers = list[Answer]  # The results of cases or questions, in order.


def get_lesson_of_name(name: str) -> str:
    """Return the lesson of an exercise or a prediction: the part of its name before the last dot."""
    return name.rpartition(".")[0]


def raise_error(*arguments: Answer) -> Answer:
    """Raise RuntimeError. As the answer of a `Mistake`, this stands for any program that ends in an error."""
    raise RuntimeError("as the learner's function does")


@dataclass(frozen=True)
class Mistake:
    """A common wrong answer, and the hint for a learner who gives it.

    Attributes:
        answer: The wrong answer, which is compared like the expected answer. For an answer with named parts, only the
            wrong parts. For a function, a function that makes the mistake: by default, any that ends in an error.
        hint: What to say to the learner.
        where: A regular expression that must also match the source of the learner's function. It distinguishes mistakes
            that all return None.
        error: A regular expression that must also match the error that the function raised.
        named: The name of the hint in the source of a course lesson.
    """

    answer: Answer = raise_error
    hint: str = ""
    where: str = ""
    error: str = ""
    named: str = ""

    def matches_source_and_error(self, source: str = "", error: Exception | None = None) -> bool:
        """Return whether the mistake's patterns match a source and an error.

        Args:
            source: The source of the learner's function.
            error: The error that the function raised.
        """
        return bool(re.search(self.where, source) and re.search(self.error, f"{type(error).__name__}: {error}"))


@dataclass(frozen=True)
class Exercise:
    """An exercise: what is asked, what is expected, and what to say about wrong answers.

    >>> exercise = Exercise("demo.1", expect=6.0, mistakes=[Mistake(9.0, "That is y itself, not its derivative.")])
    >>> exercise.lesson
    'demo'

    Attributes:
        name: The name, such as "01.2" for the second exercise of lesson 01.
        expect: The expected answer: a number, a text, None, an array, a tensor, or a list, tuple or dict of these. If
            the exercise asks for a function, the correct function.
        mistakes: Likely wrong answers with their hints. The first one that matches is used.
        changes: For a function, pieces of the lesson's solution and what learners write instead, as "old => new", with
            the hint for an answer that behaves like the changed solution.
        hint: The hint for all other wrong answers. If there are several hints, each try receives one more: a question,
            then a pointer, then the line.
        because: A sentence that explains a correct answer.
        cases: For a function, the arguments of each call. If an `UnknownFunction` is among them, a tape must record its
            calls and compute the gradient.
        order: The order of the derivatives that a tape must compute, or 0 if no tape needs to be asked.
        from_tape: What to say if the results are correct but the last number of one did not come from the tape.
        also: An additional check for a function with correct results. It is called with the function and with what
            tapes saw in each case (`call_log.ObservedRun`), and returns what is wrong, or "".
        of_wrong: A function that examines a wrong answer. It is called with the answer, or with a function's result and
            the arguments of that case, and returns what the answer did, or "".
        view: A function that converts an answer, such as a tape, or the result of the learner's function into the value
            that is compared.
        start: For an exercise that asks to change a function, the function's source in the lesson.
        asks: The expected kind of answer in words, if the kind of `expect` would reveal too much or too little.
        program: The program that the exercise asks about, or one program for each part of the answer. It uses `tf`,
            persistent tapes and names of single numbers. If a wrong number occurs in it, the hint names that number.
        reasons: For a list of names or numbers, what to say about each one that is wrongly in the list or missing.
        trials: For a class, the programs that try it. `expect` is the name by which they know the class.
        sentences: The replies that `also` and `of_wrong` refer to by name, from the source of the lesson.
        tries_before_tape: The number of the try from which on the solution's tape is shown. Before, it would reveal the
            answer.
        rtol: The tolerance: a number may differ by rtol * (1 + abs(expected)), and by rtol between two integers.
    """

    name: str
    expect: Answer
    mistakes: Sequence[Mistake] = ()
    changes: TextsByName = field(default_factory=dict, repr=False)
    hint: str | Names = ""
    because: str = ""
    cases: Sequence[Case] = ()
    order: int = 1
    from_tape: str = ""
    also: Program | None = field(default=None, repr=False)
    of_wrong: Program | None = field(default=None, repr=False)
    view: Program | None = field(default=None, repr=False)
    start: str = ""
    asks: str = ""
    program: str | TextsByName = field(default="", repr=False)
    reasons: dict[Answer, str] = field(default_factory=dict, repr=False)
    trials: Sequence[AnswerTrial] = ()
    tries_before_tape: int = 0
    rtol: float = 1e-5
    sentences: TextsByName = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Add the right parts to each mistake in an answer with several parts, which names only the wrong parts."""
        if type(self.expect) is dict:
            mistakes = [replace(mistake, answer=self.expect | mistake.answer) for mistake in self.mistakes]
            object.__setattr__(self, "mistakes", mistakes)

    def say(self, name: str) -> str:
        """Return a sentence of the exercise in the user's language.

        Args:
            name: The name of the sentence, as `also` and `of_wrong` return it, or the sentence itself, such as a hint.
        """
        return say(self.sentences.get(name, name), self.lesson)

    def find_own_hint(self, answer: Answer, *arguments: Answer) -> str:
        """Find what the exercise's own check says about a wrong answer, or return "" if it says nothing.

        Args:
            answer: The answer, or what a function returned.
            *arguments: The arguments of the function.
        """
        with suppress(Exception):  # The exercise's check may fail for an unexpected answer.
            return self.say(self.of_wrong(answer, *arguments)) if self.of_wrong else ""
        return ""

    def compare(self, answer: Answer, expected: Answer) -> AnswerComparison:
        """Compare two answers with the tolerance of this exercise."""
        return compare_answers(answer, expected, self.rtol, self.rtol)

    def is_same(self, answer: Answer, expected: Answer) -> bool:
        """Return whether two answers count as equal in this exercise."""
        return self.compare(answer, expected).is_right

    @property
    def lesson(self) -> str:
        """The lesson that has this exercise."""
        return get_lesson_of_name(self.name)

    @property
    def hints(self) -> TextList:
        """The hints in the user's language, from the first try on."""
        return [*map(self.say, self.hint if isinstance(self.hint, tuple) else (self.hint,))]


ExercisesByName = dict[str, Exercise]
ADDED_EXERCISES: ExercisesByName = {}


def add_exercise(exercise: Exercise) -> None:
    """Register an exercise, so that `check` finds it by its name.

    Args:
        exercise: The exercise. It replaces an exercise with the same name.
    """
    ADDED_EXERCISES[exercise.name] = exercise


def collect_built_in_exercises(lesson: str) -> ExercisesByName:
    """Collect the exercises of one of the course's own lessons.

    Args:
        lesson: The prefix of the exercises' names, such as "04".

    Returns:
        The exercises by name. Empty if the lesson is not one of the course's own lessons.
    """
    if lesson not in list_built_in_lessons():
        return {}
    exercises = {exercise.name: exercise for exercise in import_module(f"minitape.course.lesson_{lesson}").EXERCISES}
    for name, texts in read_lesson(lesson).exercises.items():
        if texts.hints:  # An exercise that Python builds while the course runs has none.
            exercises[name] = _complete_exercise(exercises[name], texts)
    return exercises


def collect_exercises(lesson: str) -> ExercisesByName:
    """Collect the exercises of a lesson: the course's own, and those added in this session.

    Args:
        lesson: The prefix of the exercises' names, such as "04".

    Returns:
        The exercises by name.
    """
    added = {name: exercise for name, exercise in ADDED_EXERCISES.items() if exercise.lesson == lesson}
    return collect_built_in_exercises(lesson) | added


def _complete_exercise(exercise: Exercise, texts: ExerciseTexts) -> Exercise:
    """Insert the texts from a lesson's source into an exercise's Python code."""
    changes = {" => ".join(pieces): reply for pieces, reply in texts.map_answers_to_replies("change").items()}
    return replace(
        exercise,
        hint=tuple(texts.hints),
        because=texts.because,
        asks=texts.asks,
        from_tape=texts.not_from_tape,
        mistakes=[*_iter_mistakes(exercise, texts)],
        changes=changes | texts.map_answers_to_replies("program"),
        reasons=texts.map_answers_to_replies("member"),
        sentences=texts.map_answers_to_replies("name"),
        trials=[_complete_trial(trial, texts.trials[trial.program]) for trial in exercise.trials],
    )


def _iter_mistakes(exercise: Exercise, texts: ExerciseTexts) -> Iterator[Mistake]:
    """Yield the likely wrong answers in the order of the source: values, and the mistakes that Python names."""
    named_mistakes = {mistake.named: mistake for mistake in exercise.mistakes}
    for wrong in texts.wrong_answers:
        answer = wrong.answer
        if wrong.kind == "name" and answer in named_mistakes:
            yield replace(named_mistakes[answer], hint=wrong.reply)
        if wrong.kind != "value":
            continue
        if wrong.part and isinstance(exercise.expect, list):
            answer = [*exercise.expect]
            answer[int(wrong.part) - 1] = wrong.answer
        elif wrong.part:
            answer = {wrong.part: answer}
        yield Mistake(answer, wrong.reply)


def _complete_trial(trial: AnswerTrial, texts: TrialTexts) -> AnswerTrial:
    slips = [(wrong.answer, wrong.reply) for wrong in texts.wrong_answers]
    return replace(trial, hints=tuple(texts.hints), slips=slips)


def say_from_lesson(lesson: str, name: str, **values: object) -> str:
    """Return a sentence of a lesson's source in the user's language, with values filled in.

    Args:
        lesson: The prefix of the lesson's exercises, such as "13".
        name: The name of the sentence.
        **values: The values.
    """
    return say(read_lesson(lesson).sentences[name], lesson, **values)
