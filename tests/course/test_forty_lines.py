"""The program of lesson 8 without `explain`: six questions are enough, and a seventh is not answered."""

import pytest

from minitape.course.checker import feedback
from minitape.course.forty_lines import LINES, QUESTIONS, forty_lines


def test_six_questions_find_the_line_by_halving():
    tape, values = forty_lines()
    whole, cut, asked = 0, LINES, 0
    while cut - whole > 1:
        middle, asked = (whole + cut) // 2, asked + 1
        whole, cut = (whole, middle) if tape.gradient(values[middle], values[0]) is None else (middle, cut)
    assert asked <= QUESTIONS
    assert "correct" in feedback("08.7", cut)
    assert f"The gradient of values[{whole}] is a number" in feedback("08.7", whole)
    assert f"The gradient of values[{cut}] is None already" in feedback("08.7", cut + 1)
    assert "The lines have the numbers 1 to 40" in feedback("08.7", 0)


def test_explain_refuses_and_so_does_a_seventh_question():
    tape, values = forty_lines()
    with pytest.raises(RuntimeError, match="Here explain refuses"):
        tape.explain(values[LINES], values[0])
    for _ in range(QUESTIONS):
        tape.gradient(values[LINES], values[0])
    with pytest.raises(RuntimeError, match="Six questions are answered"):
        tape.gradient(values[LINES], values[0])
