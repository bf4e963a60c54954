"""The program of lesson 8 without `explain`: six questions are enough, and a seventh is not answered."""

import pytest

from minitape.course.checker import count_try_and_build_feedback
from minitape.course.forty_lines import LINE_COUNT, MAX_QUESTIONS, forty_lines


def test_six_questions_find_the_line_by_halving():
    tape, values = forty_lines()
    whole, cut, asked = 0, LINE_COUNT, 0
    while cut - whole > 1:
        middle, asked = (whole + cut) // 2, asked + 1
        whole, cut = (whole, middle) if tape.gradient(values[middle], values[0]) is None else (middle, cut)
    assert asked <= MAX_QUESTIONS
    assert "correct" in count_try_and_build_feedback("08.7", cut)
    assert f"The gradient of values[{whole}] is a number" in count_try_and_build_feedback("08.7", whole)
    assert f"The gradient of values[{cut}] is already None" in count_try_and_build_feedback("08.7", cut + 1)
    assert "The lines are numbered from 1 to 40" in count_try_and_build_feedback("08.7", 0)
    assert "The gradient of values[1] is a number" in count_try_and_build_feedback("08.7", 1.0)
    assert "numbered" not in count_try_and_build_feedback("08.7", "values[27]")


def test_explain_refuses_and_so_does_a_seventh_question():
    tape, values = forty_lines()
    with pytest.raises(RuntimeError, match="You cannot use explain here"):
        tape.explain(values[LINE_COUNT], values[0])
    for _ in range(MAX_QUESTIONS):
        tape.gradient(values[LINE_COUNT], values[0])
    with pytest.raises(RuntimeError, match="The tape has answered six questions"):
        tape.gradient(values[LINE_COUNT], values[0])
