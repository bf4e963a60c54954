"""tf.print writes TensorFlow's text, and a traced function writes it in each call."""

import io
import sys

import numpy as np
import pytest

import minitape as tf


def capture_print(capsys, *values, **options):
    tf.print(*values, output_stream=sys.stdout, **options)
    return capsys.readouterr().out


@pytest.mark.parametrize(("value", "text"), [
    (tf.range(20), "[0 1 2 ... 17 18 19]"), (tf.constant([[1, 2], [3, 4]]), "[[1 2]\n [3 4]]"),
    (tf.constant([0.1, 1 / 3, 1e10]), "[0.1 0.333333343 1e+10]"),
    (tf.constant([0.1, 1 / 3], tf.float64), "[0.1 0.33333333333333331]"), (tf.constant([True, False]), "[1 0]"),
    (tf.constant(["a", "é"]), '["a" "é"]'), (tf.constant("a\nb"), "a\nb"),
    ({"b": tf.constant(1), "a": ["x", None]}, "{'a': ['x', None], 'b': 1}"), (tf.Variable(1.5), "1.5"),
    (np.array([1, 2]), "array([1, 2])"), (tf.zeros([2, 1, 1]), "[[[0]]\n\n [[0]]]"),
])  # fmt: skip
def test_text(capsys, value, text):
    assert capture_print(capsys, value) == text + "\n"


def test_options(capsys):
    assert capture_print(capsys, "a", 1, sep="|", end="!") == "a|1!"
    assert capture_print(capsys, tf.range(9), summarize=-1) == "[0 1 2 3 4 5 6 7 8]\n"
    stream = io.StringIO()
    tf.print("x", tf.constant(2), output_stream=stream)
    assert stream.getvalue() == "x 2\n"
    tf.print("to stderr")
    assert capsys.readouterr().err == "to stderr\n"
    with pytest.raises(TypeError, match="foo"):
        tf.print(1, foo=2)
    with pytest.raises(ValueError, match="output_stream must be"):
        tf.print(1, output_stream="x")


def test_prints_at_each_run_of_a_function(capsys):
    @tf.function
    def f(x):
        tf.print("x =", x, [x], output_stream=sys.stdout)
        return x + 1

    assert [int(f(tf.constant(n))) for n in (1, 2)] == [2, 3]
    assert capsys.readouterr().out == "x = 1 [1]\nx = 2 [2]\n"
