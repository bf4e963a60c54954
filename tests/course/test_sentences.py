"""What a sentence of `check` names is so: of made-up answers each number in it is computed once more, another way."""

import contextlib
import inspect
import io
import re
from itertools import combinations

import numpy as np
import pytest
from report import collect_answers
from test_exercise_programs import EXERCISES, define_function

import minitape as tf
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.course_texts import list_built_in_lessons
from minitape.course.exercise import collect_exercises

ALL = [exercise for lesson in sorted(list_built_in_lessons()) for exercise in collect_exercises(lesson).values()]
OF_THE_AUTHOR = re.compile(
    r"\b[Yy]ou (?!get\b|have\b|may\b|like\b|make\b|need\b)\w+|\bforgot|"
    r"\b[Yy]our (loop|program|tape|sweep|steps?|function|rule)\b(?! (always )?returns\b)"
)
"""Words on what somebody did, which a result alone does not tell. What a function returns is the result itself."""
MEANT = re.compile(
    r"(?P<number>[-\d.e+]+) is (the value of (?P<value>\w+)|the rate at which (?P<target>\w+) grows with "
    r"(?P<name>\w+))\.|"
    r"(?P<all>\d+) amounts meet at (?P<place>\w+), and (?P<part>[-\d.e+]+) is (only one|the sum of only "
    r"(?P<count>\d+)) of them\."
)


@pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.name)
def test_a_hint_that_is_known_by_a_result_alone_speaks_of_the_result(exercise):
    hints = [one.hint for one in exercise.mistakes if not one.where and not one.error]
    said = [sentence for hint in [*hints, *exercise.changes.values()] for sentence in re.split(r"(?<=[.?]) ", hint)]
    assert not [one for one in said if not one.endswith("?") and OF_THE_AUTHOR.search(one)]


def run_program(program, changes=()):
    names = {"tf": tf}
    for old, new in changes:
        program = program.replace(old, new, 1)
    exec(program, names)
    return names


def find_tape(names):
    return next(one for one in names.values() if isinstance(one, tf.GradientTape))


def compute_amounts_at(place, program):
    """The amounts that meet at a name: the gradient of each of its uses, which gets a variable of its own."""
    head, _, body = program.partition("as tape:")
    target = [*re.findall(r"(\w+) = ", body)][-1]
    found = []
    uses = [use.start() for use in re.finditer(rf"\b{place}\b(?! =)", body)]
    for start in uses:
        changed = body[:start] + "used" + body[start + len(place) :]
        value = f"used = tf.Variable(float({run_program(program)[place].numpy()}))\n"
        names = run_program(f"{value}{head}as tape:{changed}")
        found.append(float(find_tape(names).gradient(names[target], names["used"])))
    return found


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("exercise", [one for one in ALL if one.program], ids=lambda one: one.name)
def test_what_a_number_is_said_to_be_it_is(exercise):
    parts = exercise.expect if isinstance(exercise.expect, dict) else {"": exercise.expect}
    if isinstance(exercise.expect, list):
        parts = dict(enumerate(exercise.expect, 1))
    count = 0
    for key, right in parts.items():
        for number in (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 12.0, 16.0, 20.0):
            if not isinstance(right, (float, int, type(None))) or number == right:
                continue
            given = number if key == "" else list({**parts, key: float(number)}.values())
            for found in MEANT.finditer(count_try_and_build_feedback(exercise.name, given)):
                count += 1
                program = exercise.program if isinstance(exercise.program, str) else exercise.program[str(key)]
                names = run_program(program)
                if found["value"]:
                    assert float(names[found["value"]]) == pytest.approx(float(found["number"]))
                elif found["name"]:
                    slope = find_tape(names).gradient(names[found["target"]], names[found["name"]])
                    assert float(slope) == pytest.approx(float(found["number"]))
                else:
                    amounts = compute_amounts_at(found["place"], program)
                    assert len(amounts) == int(found["all"])
                    sums = [sum(some) for some in combinations(amounts, int(found["count"] or 1))]
                    assert any(one == pytest.approx(float(found["part"])) for one in sums)
    assert count or exercise.name in {"04.2", "06.2"}


LOOKED_AT = ["01.2", "01.5", "02.3", "03.6", "05.3", "05.4", "07.3", "09.5", "11.2", "12.7"]


@pytest.mark.parametrize(
    "exercise",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.longest] * (one.name not in LOOKED_AT[::2]))
        for one in EXERCISES
        if one.name in LOOKED_AT
    ],
)
def test_a_factor_a_place_and_a_learning_rate_are_those_of_the_results(exercise):
    """Of programs that a program made up."""
    _, wrong = collect_answers(exercise)
    for _, text in [*wrong][:20]:
        with contextlib.redirect_stdout(io.StringIO()):
            said, flat = collect_hint_and_results(exercise, text)
        check_hint_against_results(said, exercise, flat)


def collect_hint_and_results(exercise, text):
    """What is said of a program, and what it gives in each case beside what is right; nothing where it raises."""
    with contextlib.suppress(Exception):
        function = define_function(text)
        said, view = count_try_and_build_feedback(exercise.name, function), exercise.view or (lambda value: value)
        pairs = [(view(function(*case)), exercise.expect(*case)) for case in exercise.cases]
        return said, [[np.ravel(np.asarray(one, np.float64)) for one in pair] for pair in pairs]
    return "", []


def check_hint_against_results(said, exercise, flat):
    if found := re.search(r"In each case, your result is ([-\d.e+]+) times what it should be", said):
        for given, right in flat:
            assert np.allclose(given, float(found[1]) * right, 5e-3, 1e-3), said
    if "The sign is wrong in each case" in said:
        assert all(np.allclose(given, -right, 1e-3, 1e-3) for given, right in flat), said
    if found := re.search(r"In this case, only the (\w+) value is off", said):
        first = next(pair for pair in flat if not np.allclose(*pair, exercise.rtol, exercise.rtol))
        wrong = [k for k, pair in enumerate(zip(*first, strict=True)) if not np.isclose(*pair, 1e-5, 1e-5)]
        assert ["first second third fourth fifth".split().index(found[1])] == wrong, said
    if found := re.search(r"the result at a rate of ([\d.]+)\.", said):
        for case, (given, _) in zip(exercise.cases, flat, strict=True):
            names = inspect.signature(exercise.expect).bind(*case).arguments | {"rate": float(found[1])}
            assert np.allclose(given, np.ravel(exercise.expect(**names)), 1e-2), said
