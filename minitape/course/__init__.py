"""Exercises that check themselves, predictions, and a learner's progress.

>>> from minitape.course import Exercise, Mistake, add_exercise, check
>>> add_exercise(Exercise("demo.1", expect=6.0, mistakes=[Mistake(9.0, "That is y itself, not its derivative.")]))
>>> check("demo.1", ...)
Exercise demo.1: not answered yet.
Replace the ... with your answer, and run the cell again.
>>> check("demo.1", 6.0)
Exercise demo.1: correct.

This module needs NumPy only. It never raises because of what a learner hands in.

``markdown_lessons``     reads a lesson's source in ``lessons``: its cells, hints and replies
``exercise``             what an exercise is; ``lesson_NN`` has the Python of a lesson's exercises
``checker``              `check`: tells a learner whether an answer is right
``judge``                the verdict on an answer: a value, a function that is run, a class
``attempt``              a learner's function with what it did in each case
``answer_comparison``    how answers compare
``answer_text``          how answers are shown
``hints``                what a wrong answer says of itself, beside the right one
``loop_hints``           ... by doing what a wrong loop does
``solution_variants``    ... by changing a piece of the solution
``program_hints``        ... from the text of the program
``value_hints``          ... in the words of the program that is asked about
``part_hints``           ... of the part that is wrong alone
``error_hints``          ... from the error that it raises
``tape_playback``        a wrong program's tape beside the solution's
``line_difference``      the first line in which a wrong program differs from the solution
``unknown_functions``    functions that exercises hand in
``call_log``             what tapes saw of their calls
``trials``               small programs that try a learner's class
``own_tape``             the trials of a learner's tape in lessons 12 and 14
``predict``              predictions, and their answers
``prediction_buttons``   the buttons of a prediction
``retry_predictions``    predictions that come back in a later lesson
``plot``, ``slideshow``  pictures for lessons, and their slider
``widget_base``          what live widgets are made of, also where none can be shown
``datasets``             real data (``data``)
``digits``               digits that a program drew, and how strokes become an image
``digit_sheet``          a picture of many of them
``digit_pad``            a pad to draw digits on, and a page to share
``forty_lines``          the program of lesson 8 that `explain` does not speak of
``broken_networks``      the patients of lesson 13
``framework_programs``   programs in other frameworks, and what these recorded of them (``recordings``)
``progress``             what was answered, in a file
``startup``              what each kernel runs first
"""

from .checker import CORRECT, NOT_ANSWERED, check, is_right
from .datasets import load_penguins
from .exercise import Exercise, Mistake, add_exercise
from .plot import Moving, Plot
from .predict import predict, reveal
from .progress import progress
from .retry_predictions import again

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
