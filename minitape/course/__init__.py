"""Provide exercises that check themselves, predictions, and a record of a learner's progress.

>>> from minitape.course import Exercise, Mistake, add_exercise, check
>>> add_exercise(Exercise("demo.1", expect=6.0, mistakes=[Mistake(9.0, "That is y itself, not its derivative.")]))
>>> check("demo.1", ...)
Exercise demo.1: not answered yet.
Replace the ... with your answer and run the cell again.
>>> check("demo.1", 6.0)
Exercise demo.1: correct.

This module needs only NumPy. It never raises an error because of a learner's answer.

``course_texts``         reads a lesson's hints, replies and solutions (``texts``, built from ``lessons``)
``exercise``             defines an exercise; ``lesson_NN`` contains the Python code of a lesson's exercises
``checker``              `check`, which tells a learner whether an answer is right
``judge``                judges an answer, which may be a value, a function or a class
``attempt``              a learner's function, and what the function did in each case
``answer_comparison``    compares answers
``answer_text``          formats answers as text
``hints``                hints found by comparing a wrong answer with the right one
``loop_hints``           hints found by doing what a wrong loop does
``solution_variants``    hints found by changing a piece of the solution
``program_hints``        hints found in the text of the program
``value_hints``          hints in the words of the program that the exercise asks about
``part_hints``           hints about only the part that is wrong
``error_hints``          hints found in the error that the program raises
``tape_playback``        shows a wrong program's tape next to the solution's
``line_difference``      the first line in which a wrong program differs from the solution
``unknown_functions``    functions that exercises pass to a learner's program
``call_log``             records what tapes saw of the calls to these functions
``trials``               small programs that try a learner's class
``own_tape``             the trials of a learner's tape in lessons 12 and 14
``predict``              predictions and their answers
``prediction_buttons``   the buttons of a prediction
``retry_predictions``    predictions that a later lesson asks again
``plot``, ``slideshow``  pictures for lessons and their slider
``widget_base``          the base of live widgets, even where no widget can be shown
``datasets``             real data (``data``)
``digits``               digits drawn by a program, and the conversion of strokes to an image
``forty_lines``          the program of lesson 8 that `explain` does not explain
``broken_networks``      the patients of lesson 13
``framework_programs``   programs in other frameworks, and their recordings (``recordings``)
``progress``             keeps what a learner has answered in a file
``startup``              the program that each kernel runs first
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
