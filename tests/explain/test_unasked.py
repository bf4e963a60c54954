"""What `explain` says without being asked: in warnings, and in notes on errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import minitape as tf
from minitape import explain


def network() -> tf.keras.Model:
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])


def notes_of(error: pytest.ExceptionInfo[BaseException]) -> str:
    return "\n".join(getattr(error.value, "__notes__", ()))


def test_an_optimizer_without_gradients_says_why() -> None:
    model, optimizer = network(), tf.keras.optimizers.Adam()

    def train_step(x, y):
        with tf.GradientTape() as tape:
            p = model(x)
        loss = tf.reduce_mean((p - y) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))

    with pytest.raises(ValueError, match="No gradients provided") as error:
        train_step(tf.ones([2, 3]), tf.ones([2, 1]))
    assert str(error.value) == "No gradients provided for any variable."
    (note,) = error.value.__notes__
    assert note.startswith("A gradient is None: outside_tape: p - y ran after the tape's with block had ended")
    assert "Move the line into the with block." in note and note.endswith("The same holds for 1 more.")


@pytest.mark.parametrize("eagerly", [True, False])
def test_a_fit_without_gradients_says_why(eagerly: bool) -> None:
    model = network()
    model.compile("sgd", loss=lambda y, p: tf.reduce_mean(tf.abs(tf.round(p) - y)), run_eagerly=eagerly)
    with pytest.raises(ValueError, match="No gradients provided for any variable") as error:
        model.fit(np.ones((4, 3), np.float32), np.ones((4, 1), np.float32), verbose=0)
    assert "nondifferentiable_op: tf.round (test_unasked.py" in notes_of(error)


def test_a_function_keeps_the_note() -> None:
    model, optimizer = network(), tf.keras.optimizers.SGD()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.stop_gradient(model(x)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True))

    with pytest.raises(ValueError, match="in user code") as error:
        step(tf.ones([2, 3]))
    assert "stop_gradient: tf.stop_gradient (" in notes_of(error)


def test_none_as_a_value_says_why() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    g = tape.gradient(y, x)
    with pytest.raises(ValueError, match="Attempt to convert a value") as error:
        tf.sign(g)
    assert "not_watched: x is a tensor that the tape does not watch" in notes_of(error)


def test_none_that_is_no_gradient_has_no_note() -> None:
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is not None
    with pytest.raises(ValueError, match="Attempt to convert a value") as error:
        tf.sign(None)
    assert notes_of(error) == ""


def test_without_a_tape_in_reach_the_note_says_how_to_ask() -> None:
    v = tf.Variable(1.0)

    def gradients():
        with tf.GradientTape() as tape:
            y = tf.round(v)
        return tape.gradient(y, [v])

    with pytest.raises(ValueError, match="No gradients") as error:
        tf.keras.optimizers.SGD().apply_gradients(zip(gradients(), [v], strict=True))
    assert "minitape.explain.warn()" in notes_of(error)
    with pytest.raises(ValueError, match="No gradients") as error:
        tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(lambda: tf.round(v), var_list=[v])
    assert "minitape.explain.warn()" in notes_of(error)


def test_a_warning_has_the_mend_and_is_said_once_for_one_reason() -> None:
    model = network()
    explain.warn(True)
    try:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.round(model(tf.ones([1, 3]))))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tape.gradient(loss, model.trainable_variables)
    finally:
        explain.warn(False)
    (said,) = (str(one.message) for one in caught)
    assert "tf.round" in said and "tf.stop_gradient" in said and said.endswith("The same holds for 1 more.")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda tape, y, model: tape.gradient(float(y), model.trainable_variables), "A plain float is no tensor"),
        (lambda tape, y, model: tape.gradient(y, np.ones(2)), "x = tf.constant(data), and watch it"),
        (lambda tape, y, model: tape.gradient(y, model), "Pass its variables: model.trainable_variables"),
        (lambda tape, y, model: tape.gradient(y, model.inputs), "Pass the tensor that the model was called with"),
    ],
)
def test_what_is_no_tensor_says_so(ask, said) -> None:
    model = network()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(tf.ones([1, 3])))
    with pytest.raises((TypeError, AttributeError)) as error:
        ask(tape, y, model)
    assert said in notes_of(error)


def test_a_target_that_is_none_says_why() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x
        slope = inner.gradient(y, x)
    with pytest.raises(TypeError, match="received None") as caught:
        outer.gradient(slope, x)
    assert "tape.watch(x)" in notes_of(caught)
