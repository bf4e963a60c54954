"""Exercises that check themselves, predictions, and a learner's progress.

>>> from minitape.course import Exercise, Mistake, add_exercise, check
>>> add_exercise(Exercise("demo.1", expect=6.0, mistakes=[Mistake(9.0, "That is y itself, not its derivative.")]))
>>> check("demo.1", ...)
Exercise demo.1: not answered yet.
Replace the ... with your answer, and run the cell again.
>>> check("demo.1", 6.0)
Exercise demo.1: correct.

This module needs NumPy only. It never raises because of what a learner hands in.

``checker``, ``judge``, ``attempt``   `check`, and whether an answer is right: a value, a class, a function that is run
``exercise``, ``compare``, ``shown``   what an exercise is, how answers compare, and how they are shown; ``lesson_NN``
    has the answers
``hints``, ``loop_hints``, ``variants``, ``program_text``, ``program_values``   what a wrong answer says of itself: from
    the right one, by doing what a loop or a changed solution does, from its text, or in the words of a program
``playback``   a wrong program's tape beside the solution's
``unknown``, ``call_log``, ``error_hints``   functions that exercises hand in; what tapes saw of their calls;
    misspelled names
``predict``, ``choices``, ``again``   predictions, their buttons, and those that come back in a later lesson
``datasets``   real data (``data``)
``plot``, ``moving``   pictures for lessons, and their slider
``widget``   what live widgets are made of, also where none can be shown
``trials``, ``own_tape``   what a learner's own tape must do
``forty_lines``   the program of lesson 8 that `explain` does not speak of
``broken_networks``   the patients of lesson 13
``programs``   programs in other frameworks, and what these recorded of them (``recordings``)
``progress``, ``startup``   what was answered; what each kernel runs first
"""

from .again import again
from .checker import CORRECT, NOT_ANSWERED, check, is_right
from .datasets import load_penguins
from .exercise import Exercise, Mistake, add_exercise
from .plot import Moving, Plot
from .predict import predict, reveal
from .progress import progress

__all__ = [
    "CORRECT",
    "NOT_ANSWERED",
    "Exercise",
    "Mistake",
    "Moving",
    "Plot",
    "add_exercise",
    "again",
    "check",
    "is_right",
    "load_penguins",
    "predict",
    "progress",
    "reveal",
]
