"""What lessons say of tapes, of Newton's method and of data is so. Each of these was once said wrongly."""

from contextlib import nullcontext

import numpy as np
import pytest

import minitape as tf
from minitape.course import datasets, load_penguins
from minitape.course.course_texts import list_built_in_lessons
from minitape.course.exercise import collect_exercises

ALL = [exercise for lesson in sorted(list_built_in_lessons()) for exercise in collect_exercises(lesson).values()]


def derivative(f):
    def df(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return df


def compute_wavy(x):
    return x * x / 4.0 + tf.cos(2.0 * x)


SLOPE, BEND = derivative(compute_wavy), derivative(derivative(compute_wavy))


@pytest.mark.parametrize("start", [0.1, 0.2, 0.3, 0.5])
def test_newton_climbs_a_hill_and_damped_steps_go_down(start):
    """Lesson 7 once said that Newton's method gets to the lowest point."""
    x = down = tf.constant(start)
    for _ in range(8):
        x = x - SLOPE(x) / BEND(x)
        move = SLOPE(down) / tf.abs(BEND(down))
        for _ in range(10):
            if compute_wavy(down - move) > compute_wavy(down):
                move = move / 2.0
        assert compute_wavy(down - move) <= compute_wavy(down)
        down = down - move
    assert abs(float(x)) < 1e-5 and float(BEND(x)) < 0, "on the top of the hill"
    assert abs(float(SLOPE(down))) < 1e-4 and float(BEND(down)) > 0, "in a valley"


@pytest.mark.parametrize(("around", "gradient"), [(nullcontext, None), (tf.GradientTape, 6.0)])
def test_a_watch_in_a_pause_counts_inside_another_tape_only(around, gradient):
    """As TensorFlow 2.21 answers; lesson 6 once said that it never has an effect."""
    x, tape = tf.constant(3.0), tf.GradientTape()
    with around(), tape:
        with tape.stop_recording():
            tape.watch(x)
        y = x * x
    found = tape.gradient(y, x)
    assert found == gradient if gradient is not None else found is None


@pytest.mark.parametrize(("rate", "falls"), [(0.02, True), (0.13, True), (0.135, False), (0.15, False)])
def test_the_spring_learns_up_to_a_learning_rate_of_about_0_13(rate, falls):
    mass, length, w = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.1, 3.9, 6.2, 7.8]), 0.5
    losses = []
    for _ in range(8):
        losses.append(np.mean((w * mass - length) ** 2))
        w -= rate * np.mean(2.0 * mass * (w * mass - length))
    assert (losses[-1] < losses[0]) == falls


def test_the_penguins_are_those_of_the_palmer_station():
    penguins = load_penguins()
    kinds, counts = np.unique(penguins["species"], return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {"Adelie": 151, "Chinstrap": 68, "Gentoo": 123}
    assert round(float(np.mean(penguins["body_mass_g"], dtype=np.float64)), 1) == 4201.8  # as the data's paper has it
    assert "CC0" in (datasets.FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.name)
def test_there_are_three_hints_and_the_first_is_a_question(exercise):
    assert len(exercise.hints) == 3
    assert "?" in exercise.hints[0]
    assert len(set(exercise.hints)) == 3


@pytest.mark.parametrize("convert", [tf.convert_to_tensor, tf.constant])
def test_a_tensor_that_is_converted_to_a_tensor_stays_the_same(convert):
    """As the appendix says; TensorFlow 2.21 returns the same object as well."""
    x = tf.constant(3.0)
    assert convert(x) is x
