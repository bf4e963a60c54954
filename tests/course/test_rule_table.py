"""A line that a learner adds to minitape's table of rules."""

import pytest

import minitape as tf
from minitape.course.checker import feedback
from minitape.course.rule_table import add_rule, operation_of
from minitape.engine.table.primitives import TABLE

BUMP = "bump Bump bump | exp(-x * x) | g * (-2 * x * z)"


def test_an_answer_under_a_name_of_minitape_is_refused_as_add_rule_refuses_it():
    taken = BUMP.replace("bump Bump", "exp Exp")
    for ask in (operation_of, add_rule):
        with pytest.raises(ValueError, match="has a line for 'exp'"):
            ask(taken)
    told = feedback("12.9", taken)
    assert "not yet" in told and "has a line for 'exp'" in told


def test_a_line_of_ones_own_is_replaced_and_stays_right():
    try:
        add_rule(BUMP.replace("-2", "0"))
        assert "correct" in feedback("12.9", BUMP)
        x = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            y = add_rule(BUMP)(x)
        assert float(tape.gradient(y, x)) == pytest.approx(-0.7788008)
    finally:
        TABLE.pop("bump", None)


@pytest.mark.parametrize("old, new, told", [
    ("exp(-x * x)", "exp(-x x)", "cannot read this part of the line: 'exp(-x x)'"),
    ("* z)", "* z", "cannot read this part of the line: 'g * (-2 * x * z'"),
    ("exp(-x * x) |", "|", "cannot read this part of the line: ''"),
    ("exp(-x * x)", "g * exp(-x * x)", "It does not know g"),
    ("exp(-x * x)", "math.exp(-x * x)", "It does not know math"),
    ("x * x)", "x ^ 2)", "^ is not a power"),
    ("* z)", "* y)", "Inputs of the operation: 2. Rules in the line: 1."),
])  # fmt: skip
def test_a_line_that_is_none_is_told_which_part_is_wrong(old, new, told):
    assert told in feedback("12.9", BUMP.replace(old, new))
