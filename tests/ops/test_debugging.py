"""tf.print and tf.debugging: the text that they write, and that graphs run them each time."""

import sys

import numpy as np
import pytest

import minitape as tf


def printed(capsys, *values, **options):
    tf.print(*values, output_stream=sys.stdout, **options)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tf.range(20), "[0 1 2 ... 17 18 19]"),
        (tf.constant([[1, 2], [3, 4]]), "[[1 2]\n [3 4]]"),
        (tf.constant([0.1, 1 / 3, 1e10]), "[0.1 0.333333343 1e+10]"),
        (tf.constant([0.1, 1 / 3], tf.float64), "[0.1 0.33333333333333331]"),
        (tf.constant([True, False]), "[1 0]"),
        (tf.constant(["a", "é"]), '["a" "é"]'),
        (tf.constant("a\nb"), "a\nb"),
        ({"b": tf.constant(1), "a": ["x", None]}, "{'a': ['x', None], 'b': 1}"),
        (tf.Variable(1.5), "1.5"),
        (np.array([1, 2]), "array([1, 2])"),
        (tf.zeros([2, 1, 1]), "[[[0]]\n\n [[0]]]"),
    ],
)
def test_text(capsys, value, text):
    assert printed(capsys, value) == text + "\n"


def test_options(capsys, tmp_path):
    assert printed(capsys, "a", 1, sep="|", end="!") == "a|1!"
    assert printed(capsys, tf.range(9), summarize=-1) == "[0 1 2 3 4 5 6 7 8]\n"
    tf.print("x", output_stream=f"file://{tmp_path}/log")
    tf.print("y", output_stream=f"file://{tmp_path}/log")
    assert (tmp_path / "log").read_text() == "x\ny\n"
    with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
        tf.print(1, foo=2)
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print(1, output_stream="x")


def test_prints_at_each_run_of_a_function(capsys):
    @tf.function
    def f(x):
        tf.print("x =", x, [x], output_stream=sys.stdout)
        tf.debugging.assert_greater(x, 0)
        return x + 1

    assert [int(f(tf.constant(n))) for n in (1, 2)] == [2, 3]
    assert capsys.readouterr().out == "x = 1 [1]\nx = 2 [2]\n"
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x > y did not hold"):
        f(tf.constant(-1))


def test_what_is_not_there():
    with pytest.raises(AttributeError, match=r"module 'minitape\.debugging' has no attribute 'assert_eq'"):
        tf.debugging.assert_eq(1, 1)
    with pytest.raises(ValueError, match="one device"):
        tf.debugging.set_log_device_placement(True)


def test_passing_checks():
    d = tf.debugging
    results = [d.assert_equal(1, 1), d.assert_less([1], [2]), d.assert_near(1.0, 1.0), d.assert_negative(-1.0)]
    results += [d.assert_shapes([(tf.zeros([2, 3, 2]), (..., "n", "a"))])]
    assert results == [None] * 5


def test_devices():
    with tf.device("/CPU:0"):
        assert tf.constant(1).device.endswith("CPU:0")
