"""`tape.explain` asked inside a tf.function, where values have no numbers yet."""

import numpy as np
import pytest

import minitape as tf

X = [1.0, 2.0]


def explain_while_traced(body, *arguments):
    """What ``body`` appends while it is traced, and which gradients it found to be None."""
    said: list[tf.explain.Explanation] = []
    nones: list[bool] = []

    @tf.function
    def trace_body(*args):
        tape, target, sources = body(*args)
        early = tape.explain(target, sources)
        nones.extend(g is None for g in tape.gradient(target, sources))
        said.extend(tape.explain(target, sources))
        assert [(e.cause, e.line) for e in early] == [(e.cause, e.line) for e in said]
        return tf.reduce_sum(args[0])

    trace_body(*arguments)
    assert [not e.connected for e in said] == nones
    assert not any("explain failed" in e.message for e in said)
    return said


v = tf.Variable(2.0)
state = tf.Variable(0.0)


def record_stop_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stop_gradient(x) * v
    return tape, y, [x, v]


def record_unwatched_source(x):
    with tf.GradientTape() as tape:
        y = x * v
    return tape, y, [x]


def record_sum_after_block(x):
    with tf.GradientTape() as tape:
        h = x * v
    y = tf.reduce_sum(h)
    return tape, y, [v]


def record_product_before_block(x):
    h = x * v
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(h)
    return tape, y, [v]


def record_assignment(x):
    with tf.GradientTape() as tape:
        state.assign(v * 3.0)
        y = state * x
    return tape, y, [v, state]


def record_numpy_function(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.numpy_function(np.sin, [x], tf.float32)
    return tape, y, [x]


def record_linear_derivative(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = x * 3.0
        y = inner.gradient(z, x)
    return outer, y, [x]


def record_loop(x):
    with tf.GradientTape() as tape:
        y = x * tf.round(v)
        for _ in tf.range(3):
            y = y * 2.0
    return tape, y, [v]


@pytest.mark.parametrize(("body", "expected"), [
    (record_stop_gradient, ["stop_gradient", "connected"]), (record_unwatched_source, ["not_watched"]),
    (record_sum_after_block, ["outside_tape"]), (record_product_before_block, ["outside_tape"]),
    (record_assignment, ["state", "connected"]), (record_numpy_function, ["left_through_numpy"]),
    (record_linear_derivative, ["independent"]), (record_loop, ["nondifferentiable_op"]),
])  # fmt: skip
def test_while_it_is_traced(body, expected) -> None:
    said = explain_while_traced(body, tf.constant(X))
    assert [e.cause for e in said] == expected
    assert all(e.filename == __file__ for e in said if e.line is not None)


def test_a_variable_that_only_a_function_holds_belongs_to_no_layer() -> None:
    w = tf.Variable(1.0)
    use = tf.function(lambda: w * 2.0)
    use()
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.explain(y, w).cause == "independent"


def test_weights_of_layers_in_a_train_step() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    spare = tf.keras.layers.Dense(1)
    spare.build((None, 2))

    def record_train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.cast(model(x) > 0.5, tf.float32))
        return tape, loss, [*model.trainable_variables, spare.kernel]

    said = explain_while_traced(record_train_step, tf.ones([3, 2]))
    assert [e.cause for e in said] == ["nondifferentiable_op", "nondifferentiable_op", "unused_layer"]
    assert "tf.sigmoid((model(x) - 0.5) / 0.1)" in said[0].fix


def test_a_gradient_of_ones_own_in_a_loop_that_was_already_asked_for() -> None:
    @tf.custom_gradient
    def twice(v):
        return v * 2.0, lambda g: g * 2.0

    @tf.function
    def f(v):
        def body(i, total):
            return i + 1, total + twice(total * v)

        return tf.while_loop(lambda i, total: i < 3, body, [0, tf.constant(1.0)])[1]

    x, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
        z = y + float(w.numpy())
    assert tape.gradient(y, x).numpy() == 150.0  # of (1 + 2 x)^3
    assert tape.explain(z, w).cause == "left_through_numpy"
    assert tape.explain(y, x).connected


def test_a_call_that_a_released_tape_had_recorded() -> None:
    @tf.function
    def square(v):
        return v * v

    x, w = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape():
        z = square(w)  # its tape is gone when the block is left
    with tf.GradientTape() as tape:
        y = x * z
    for source, cause in ((z, "not_watched"), (w, "outside_tape")):
        answer = tape.explain(y, source)
        assert answer.cause == cause and "explain failed" not in answer.message
