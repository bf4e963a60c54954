"""``fit`` of Keras, which owns the tape and the loss: ``recording.explain(variable)`` and the note of its error say why
no gradient came.
"""

import pytest

tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed: pip install 'minitape[tensorflow]'")

import keras  # noqa: E402 - behind the check for TensorFlow
import numpy as np  # noqa: E402
from tensorflow.python.pywrap_tfe import TFE_Py_TapeSetIsEmpty  # noqa: E402

from minitape.bridges import tensorflow as bridge  # noqa: E402


def find_line_number(function, text):
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def rounded(truth, predicted):
    return tf.reduce_mean(tf.square(truth - tf.round(predicted)))


def counted(truth, predicted):
    hits = tf.cast(tf.argmax(predicted, -1), tf.float32)
    return tf.reduce_mean(hits - truth[:, 0])


def squared(truth, predicted):
    return tf.reduce_mean(tf.square(truth - predicted))


FAILS = [(rounded, "nondifferentiable", "tf.round"), (counted, "nondifferentiable", "tf.argmax")]


def fit_and_catch_error(loss, eager):
    model = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(2)])
    model.compile("sgd", loss, run_eagerly=eager)
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(8, 3)).astype("float32"), rng.normal(size=(8, 2)).astype("float32")
    with bridge.record() as recording:
        try:
            model.fit(x, y, verbose=0)
        except ValueError as error:
            return model, recording, error
    return model, recording, None


@pytest.mark.parametrize("eager", [True, False], ids=["eager", "compiled"])
@pytest.mark.parametrize(("loss", "cause", "text"), FAILS, ids=[case[1] + "-" + case[2] for case in FAILS])
def test_no_gradients_provided_has_its_reason(loss, cause, text, eager):
    model, recording, error = fit_and_catch_error(loss, eager)
    assert "No gradients provided" in str(error)
    line = find_line_number(loss, text)
    for kernel in (model.layers[0].kernel, model.layers[1].bias):
        why = recording.explain(kernel)
        assert (why.cause, why.line, why.filename) == (cause, line, __file__), str(why)
    assert recording.internal_error is None
    if hasattr(error, "add_note"):  # Python 3.11
        assert f"line {line}" in error.__notes__[0]


def in_numpy(truth, predicted):
    found = np.asarray(predicted)
    return tf.constant(np.mean((found - np.asarray(truth)) ** 2))


class InNumpy(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return tf.constant(np.square(y_pred).mean())


def test_a_loss_in_numpy_is_read_in_the_text():
    model = keras.Sequential([keras.layers.Dense(2)])
    model.compile("sgd", in_numpy, run_eagerly=True)
    with bridge.record() as recording, pytest.raises(ValueError, match="No gradients provided"):
        model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    why = recording.explain(model.layers[0].kernel)
    assert (why.cause, why.line) == ("left_through_numpy", find_line_number(in_numpy, "np.asarray(predicted)")), str(
        why
    )


def test_a_class_of_a_loss_in_numpy():
    model = keras.Sequential([keras.layers.Dense(2)])
    model.compile("sgd", loss=InNumpy(), run_eagerly=True)
    with bridge.record() as recording, pytest.raises(ValueError, match="No gradients provided"):
        model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    why = recording.explain(model.layers[0].kernel)
    assert (why.cause, why.line) == ("left_through_numpy", find_line_number(InNumpy, "np.square(y_pred)")), str(why)


@pytest.mark.parametrize("eager", [True, False], ids=["eager", "compiled"])
def test_a_layer_that_is_left_out(eager):
    first = keras.layers.Dense(2)
    first.trainable = False
    model = keras.Sequential([first, keras.layers.Dense(2)])
    model.compile("sgd", squared, run_eagerly=eager)
    with bridge.record() as recording:
        model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    why = recording.explain(first.kernel)
    assert (why.cause, why.line) == (
        "not_trainable",
        find_line_number(test_a_layer_that_is_left_out, "first.trainable = False"),
    ), str(why)
    assert recording.explain(model.layers[1].kernel).connected


def middle(truth, predicted):
    # it gives a float32: an error when it runs
    found = tf.numpy_function(np.median, [tf.abs(truth - predicted)], tf.float64)
    return tf.reshape(tf.cast(found, tf.float32), [])


def test_what_cannot_run_again_has_its_reason_and_leaves_no_tape():
    model, recording, error = fit_and_catch_error(middle, False)
    why = recording.explain(model.layers[0].kernel)
    assert (why.cause, why.line) == ("left_through_numpy", find_line_number(middle, "numpy_function")), str(why)
    assert recording.internal_error is None and TFE_Py_TapeSetIsEmpty()
    if hasattr(error, "add_note"):  # Python 3.11
        assert "numpy_function" in error.__notes__[0]


@pytest.mark.parametrize("eager", [True, False], ids=["eager", "compiled"])
def test_a_healthy_fit_is_connected(eager):
    model, recording, error = fit_and_catch_error(squared, eager)
    assert error is None and recording.explain(model.layers[0].kernel).connected


def rooted(truth, predicted):
    return tf.sqrt(tf.reduce_mean(tf.square(truth - predicted)))


def test_numbers_of_a_compiled_step_are_those_of_the_data():
    words = keras.Sequential(
        [keras.layers.Embedding(9, 4, mask_zero=True), keras.layers.LSTM(3), keras.layers.Dense(1)]
    )
    exact = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(1, kernel_initializer="zeros")])
    words.compile("sgd", "mse")
    exact.compile("sgd", rooted)
    for model, x in ((words, np.arange(1, 9).reshape(2, 4)), (exact, np.ones((4, 3), "float32"))):
        with bridge.record() as recording:
            model.fit(x, np.zeros((len(x), 1), "float32"), epochs=2, verbose=0)
        why = recording.explain(model.layers[0].variables[0])
        found = ("nan_backward", find_line_number(rooted, "tf.sqrt")) if model is exact else ("connected", None)
        assert (why.cause, why.line) == found, str(why)  # where the NaN began, though all weights hold it by now
        assert recording.internal_error is None


def test_a_step_that_raises_while_it_is_traced_leaves_its_rows():
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            h = tf.stop_gradient(w * x)
            loss = tf.reduce_sum(h)
        gradient = tape.gradient(loss, w)
        return gradient * 2.0

    with bridge.record() as recording, pytest.raises((TypeError, ValueError)):
        step(tf.ones(2))
    why = recording.explain(w)
    assert why.cause == "stop_gradient" and why.line == find_line_number(
        test_a_step_that_raises_while_it_is_traced_leaves_its_rows, "stop_gradient("
    )


def test_without_a_backward_pass_the_answer_says_so():
    w = tf.Variable(1.0)
    with bridge.record() as recording:
        loss = w * w
    assert (
        recording.explain(w).message == "No gradient was requested in the block."
        and recording.explain(w).cause == "no_backward"
    )
    assert recording.explain(loss, w).message.startswith("There was no tape")
    assert [(name, why.cause) for name, why in recording.explain().items()] == [("w", "no_backward")]
    with pytest.raises(TypeError, match=r"explain\(loss, w\), or only a source, as in explain\(w\)"):
        recording.explain(loss, w, w)


def test_a_rule_of_a_layer_that_takes_its_weight_runs_again_in_fit():
    @tf.custom_gradient
    def passes(x):
        return tf.sign(x), lambda upstream: upstream

    class Binary(tf.keras.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], 3), name="kernel")

        def call(self, x):
            return tf.matmul(x, passes(self.kernel))

    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((4,)), Binary(), layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
    with bridge.record() as recording:
        model.fit(x, x[:, :1], batch_size=4, epochs=1, verbose=0)
    assert not recording.explain(model).problems
