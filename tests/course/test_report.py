"""No wrong answer that a program made up is accepted, and no right one is refused."""

import pytest
from report import line_for
from test_exercise_programs import EXERCISES


@pytest.mark.long
@pytest.mark.parametrize(
    "exercise",
    [
        pytest.param(
            exercise, id=exercise.name, marks=[pytest.mark.longest] * (place % 6 > 0 or exercise.name == "09.6")
        )
        for place, exercise in enumerate(EXERCISES)
    ],
)
def test_right_answers_in_three_forms_are_right_and_ten_wrong_ones_are_not(exercise, capfd):
    line = line_for(exercise, most=10)
    assert not line.refused, line.refused
    assert not line.accepted, line.accepted
    assert line.right >= 3 or exercise.name == "13.8"  # test_broken_networks cures the patients
    assert line.kinds.total() >= 10
    for kind, one, said in line.said:
        assert kind != "unfinished" or "not answered yet" in said, (one, said)
        assert kind != "NameError" or "does not know the name" in said, (one, said)
