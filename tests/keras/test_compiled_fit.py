"""A compiled ``fit`` stops where a value leaves its step, with the errors of TensorFlow 2.21 (Keras 3.15)."""

from typing import Any

import numpy as np
import pytest

import minitape as tf

X, Y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
OUTSIDE = tf.constant(2.0)


def fit(loss: Any, **options: Any) -> Any:
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", loss, **options)
    return model.fit(X, Y, verbose=0)


@pytest.mark.parametrize(
    ("loss", "error", "text"),
    [
        (
            lambda y, p: tf.constant(np.mean((y - p).numpy() ** 2)),
            AttributeError,
            "'SymbolicTensor' object has no attribute 'numpy'",
        ),
        (
            lambda y, p: tf.reduce_mean(p) * y.numpy().mean(),
            AttributeError,
            "'SymbolicTensor' object has no attribute 'numpy'",
        ),
        (
            lambda y, p: tf.reduce_mean(p) * float(tf.reduce_mean(p)),
            TypeError,
            "float() argument must be a string or a real number, not 'SymbolicTensor'",
        ),
        (
            lambda y, p: tf.reduce_mean(p) * int(p[0, 0]),
            TypeError,
            "int() argument must be a string, a bytes-like object or a real number, not 'SymbolicTensor'",
        ),
        (lambda y, p: tf.convert_to_tensor(np.mean(p)), NotImplementedError, "Cannot convert a symbolic tf.Tensor"),
        (lambda y, p: tf.reduce_mean(p * np.array(p)), NotImplementedError, "Cannot convert a symbolic tf.Tensor"),
    ],
)
def test_a_value_does_not_leave(loss: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        fit(loss)
    assert str(raised.value).startswith(text)
    assert "tf.reduce_mean in place of np.mean" in raised.value.__notes__[0]


def test_a_variable_does_not_tell_its_value() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(NotImplementedError, match=r"numpy\(\) is only available when eager execution is enabled."):
        fit(lambda y, p: tf.reduce_mean(p) * v.numpy())


def test_what_may_leave() -> None:
    """A constant from outside, the values in a py_function, and everything in a callback or a step that runs
    eagerly.
    """
    seen = []
    fit(lambda y, p: tf.reduce_mean((y - p) ** 2) * OUTSIDE.numpy())
    fit(
        lambda y, p: (
            tf.reduce_mean((y - p) ** 2)
            + tf.stop_gradient(tf.numpy_function(lambda a: np.float32(np.mean(a)), [p], tf.float32))
        )
    )
    fit(lambda y, p: tf.reduce_mean((y - p) ** 2) + tf.py_function(lambda a: a.numpy().mean() * 0.0, [p], tf.float32))
    fit(lambda y, p: seen.append(p.numpy()) or tf.reduce_mean((y - p) ** 2), run_eagerly=True)
    assert len(seen) == 1
    tf.config.run_functions_eagerly(True)
    try:
        fit(lambda y, p: seen.append(p.numpy()) or tf.reduce_mean((y - p) ** 2))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(seen) == 2


def test_eagerly_the_reason_is_said() -> None:
    with pytest.raises(ValueError, match="No gradients provided for any variable") as raised:
        fit(lambda y, p: tf.constant(np.mean((y - p).numpy() ** 2)), run_eagerly=True)
    assert "left_through_numpy" in raised.value.__notes__[0]
