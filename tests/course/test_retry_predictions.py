"""A wrong prediction comes back in a later lesson, with other numbers, until it was right."""

import ast
import re
import sys

import pytest

import minitape as tf
from minitape.course import again, predict
from minitape.course.course_texts import list_built_in_lessons, read_lesson
from minitape.course.predict import PredictionQuestion

EACH = [
    (name, retry.text, retry.choices, retry.truth, retry.reason)
    for lesson in sorted(list_built_in_lessons())
    for name, retry in read_lesson(lesson).retry_questions.items()
]


@pytest.fixture(autouse=True)
def fresh_kernel(monkeypatch):
    module = sys.modules[predict.__module__]
    monkeypatch.setattr(module, "_questions", {})
    monkeypatch.setattr(module, "_waiting_reveals", {})


def answer_question(name, *choices):
    for choice in choices:
        question = PredictionQuestion(name, "?", dict.fromkeys([choice]))
        question.commit(choice)


def test_what_was_wrong_is_asked_again_in_a_later_lesson_two_at_most(capsys):
    again("03")
    assert capsys.readouterr().out == "", "nothing was predicted yet"
    answer_question("01.p1", "9.0")
    answer_question("01.p2", "None, because the tape has no row for x * x")
    answer_question("02.p5", "2.0")
    answer_question("01.p4", "10.0 and 0.0")
    again("01")
    assert capsys.readouterr().out == "", "they are of this lesson"
    again("03")
    said = capsys.readouterr().out
    assert re.findall("Predict: (.*?) at", said) == ["y = x * x", "y = x * x * x"]
    assert "The answer" not in said


def test_once_it_is_right_it_does_not_come_back(capsys):
    answer_question("01.p1", "9.0")
    answer_question("01.p1-again", "25.0")
    again("04")
    assert "x = 5" in capsys.readouterr().out
    answer_question("01.p1-again", "10.0")
    again("04")
    assert capsys.readouterr().out == ""


def test_the_answer_is_told_when_it_is_chosen(capsys):
    answer_question("02.p5", "2.0")
    again("03")
    question = sys.modules[predict.__module__]._questions["02.p5-again"]
    assert question._build_widget().veiled == "", "nobody has to answer it"
    question.commit("4.0")
    again("03")
    assert "You predicted 4.0. The answer: 12.0" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "text", "choices", "truth", "reason"), EACH, ids=[one[0] for one in EACH])
def test_each_has_its_answer_among_the_choices_and_is_one_that_can_be_wrong(name, text, choices, truth, reason):
    assert truth in choices and len(set(choices)) == len(choices) > 1 and text.endswith("?") and reason.endswith(".")
    assert read_lesson(name.partition(".")[0]).replies[name]


def compute_gradients(program, *sources):
    """What a program gives for the last name in it; None where there is no path."""
    names = {"tf": tf}
    exec(program, names)
    tape, target = names["tape"], names[ast.parse(program).body[-1].body[-1].targets[0].id]
    found = tape.gradient(target, [names[source] for source in sources])
    return " and ".join(str(None if one is None else float(one)) for one in found)


V, TAPE = "tf.Variable", "with tf.GradientTape(persistent=True) as tape:"
RUN = {
    "01.p1": (f"x = {V}(5.0)\n{TAPE}\n    y = x * x", "x"),
    "01.p2": (f"x = tf.constant(2.0)\n{TAPE}\n    y = x * x * x", "x"),
    "01.p3": (f"x = tf.constant(2.0)\n{TAPE}\n    u = x * x\n    tape.watch(x)\n    y = u * u", "x"),
    "02.p5": (f"w = {V}(3.0)\n{TAPE}\n    y = tf.reduce_sum(w * tf.constant([2.0, 4.0, 6.0]))", "w"),
    "03.p3": (f"b = {V}(3.0)\nb = b * 2.0\n{TAPE}\n    y = b * b", "b"),
    "04.p2": (f"a, b = {V}(2.0, trainable=False), {V}(7.0)\n{TAPE}\n    z = a * b", "a", "b"),
    "06.p2": (f"x = {V}(2.0)\n{TAPE}\n    with tape.stop_recording():\n        s = x * x * x\n    k = s * x", "x"),
    "07.p4": (
        f"x = {V}(2.0)\nwith tf.GradientTape() as tape:\n    with tf.GradientTape() as inner:\n        y = 5.0 * x\n"
        "    first = inner.gradient(y, x)",
        "x",
    ),
    "08.p5": (f"w = {V}(3.0)\n{TAPE}\n    k = tf.cast(w, tf.int32)\n    y = tf.cast(k, tf.float32) * w", "w"),
    "08.p11": (f"x = {V}(4.0)\n{TAPE}\n    y = float(x) * x + x", "x"),
    "08.p12": (f"x = {V}(0.0)\n{TAPE}\n    y = tf.where(x > 0.0, 1.0 / x, 0.0)", "x"),
    "09.p1": (f"x, y = {V}(2.0), {V}(5.0)\n{TAPE}\n    x.assign_add(y)\n    z = 3.0 * x", "y"),
    "09.p2": (f"x = {V}(1.0)\n{TAPE}\n    u = 4.0 * x\n    x.assign(3.0)\n    y = u + x * x", "x"),
    "10.p2": (f"x = {V}(3.0)\n{TAPE}\n    y = x * 1.0\n    while y < 50.0:\n        y = y * y\n    z = y * 1.0", "x"),
    "10.p5": (
        f"x, strength = {V}(1.0), 3.0\npull = tf.function(lambda x: strength * x)\npull(x)\nstrength = 7.0\n{TAPE}\n"
        "    y = pull(x)",
        "x",
    ),
    "11.p3": (f"x = {V}(3.0)\n{TAPE}\n    y = tf.py_function(lambda x: x.numpy() ** 2, [x], tf.float32)", "x"),
}


def test_a_measurement_does_not_see_the_stop():
    def compute(x):
        return x * x * tf.stop_gradient(x)

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = compute(x)
    measured = (compute(2.0 + 1 / 256) - compute(2.0 - 1 / 256)) * 128
    truth = f"{float(tape.gradient(z, x))} and {round(float(measured), 1)}"
    assert truth == read_lesson("06").retry_questions["06.p4"].truth


@pytest.mark.parametrize("name", RUN)
def test_the_answers_are_what_the_programs_give(name):
    program, *sources = RUN[name]
    assert compute_gradients(program, *sources) == read_lesson(name.partition(".")[0]).retry_questions[name].truth
