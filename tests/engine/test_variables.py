"""Variables can be assigned, partially updated and printed, and tapes follow their states."""

import copy

import numpy as np
import pytest
from hypothesis import settings

import minitape as tf

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
UFUNCS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum, "max": np.maximum}


def test_each_read_has_its_state():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        before = v * v
        v.assign_add(1.0)
        y = before + 3.0 * v
    assert tape.gradient(y, v).numpy() == 4.0 + 3.0


def test_values_read_before_stay():
    v = tf.Variable([1.0, 2.0])
    value, array = v.value(), v.numpy()
    v[0].assign(9.0)
    assert value.numpy().tolist() == array.tolist() == [1.0, 2.0] and v.numpy().tolist() == [9.0, 2.0]


def test_what_an_assignment_returns_is_not_watched():
    w = tf.Variable(5.0)
    w = w.assign_sub(1.0)
    assert isinstance(w, tf.Variable) and w.name == "UnreadVariable"
    with tf.GradientTape() as tape:
        y = w * w
    assert tape.gradient(y, w) is None


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "**"])
def test_augmented_assignment_is_refused(symbol):
    with pytest.raises(RuntimeError, match=r"is not supported. Use `var"):
        exec(f"v {symbol}= 2.0", {"v": tf.Variable(1.0)})


def test_unknown_shapes():
    v = tf.Variable([1.0], shape=tf.TensorShape(None))
    assert repr(v).startswith("<tf.Variable 'Variable:0' shape=<unknown>")
    v.assign([[1.0, 2.0]])
    assert tuple(tf.shape(v).numpy()) == (1, 2) and v.shape.rank is None


def test_copies():
    v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    w = copy.deepcopy(v)
    w.assign([3.0, 4.0])
    assert (w.name, w.trainable, v.numpy().tolist()) == ("v:0", False, [1.0, 2.0])


def test_an_exception_leaves_the_value_alone():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ZeroDivisionError), tf.GradientTape():
        v[0].assign(1.0 / 0.0)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_int_variables_are_not_differentiable():
    v = tf.Variable(3)
    with tf.GradientTape() as tape:
        y = tf.cast(v, tf.float32) ** 2
    assert tape.gradient(y, v) is None and [x.name for x in tape.watched_variables()] == ["Variable:0"]
