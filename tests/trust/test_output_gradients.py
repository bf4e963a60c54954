"""Output gradients and tangents of a wrong shape or dtype never lead to a gradient of another shape.

In TensorFlow, their effect depends on the kernel of each operation. Here, one rule applies to all operations: A value
is accepted if its product with the target has the shape of the target. All other values raise an error of
TensorFlow's class.
"""

import numpy as np
import pytest

import minitape as tf

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], "f4")
TEXTS = """
x + 1.0 | x + x | 1.0 - x | x * x | x * tf.constant([1.0, 2.0, 3.0]) | tf.sin(x) | tf.maximum(x, 0.1)
tf.where(x > 0.0, x, -x) | tf.reduce_sum(x) | tf.reduce_mean(x, 0) | x @ tf.ones([3, 2]) | tf.transpose(x)
tf.reshape(x, [3, 2]) | x[:, 1:] | tf.gather(x, [0, 1, 0]) | tf.concat([x, x], 0) | tf.split(x, 3, 1)[0]
tf.nn.softmax(x) | tf.cast(x, tf.float64) | x[None] | tf.add_n([x, x])
""".replace("\n", "|").strip("|").split("|")  # fmt: skip
GIVEN = {  # The keys describe the values for a target of this shape and dtype.
    "right": lambda shape, kind: np.full(shape, 2, kind),
    "scalar": lambda shape, kind: np.full([], 2, kind),
    "one element": lambda shape, kind: np.full([1], 2, kind),
    "last axis": lambda shape, kind: np.full(shape[-1:], 2, kind),
    "axes of 1": lambda shape, kind: np.full([1] * len(shape), 2, kind),
    "one axis more": lambda shape, kind: np.full([1, *shape], 2, kind),
    "larger": lambda shape, kind: np.full([2, *shape], 2, kind),
    "does not fit": lambda shape, kind: np.full([*shape[:-1], (shape or [0])[-1] + 4], 2, kind),
    "flat": lambda shape, kind: np.full([int(np.prod(shape))], 2, kind),
    "empty": lambda shape, kind: np.zeros([0], kind),
    "other float": lambda shape, kind: np.full(shape, 2, "f2"),
    "integers": lambda shape, kind: np.full(shape, 2, "i4"),
    "booleans": lambda shape, kind: np.full(shape, True),
}


def evaluate_expression(text, x):
    return eval(text, {"tf": tf, "x": x})


def compute_gradient(text, name):
    """Compute the gradient with these output gradients. None means no output gradients."""
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = evaluate_expression(text, x)
    given = None if name is None else tf.constant(GIVEN[name](list(y.shape), y.dtype.as_numpy_dtype))
    return tape.gradient(y, x, output_gradients=given).numpy()


def compute_jvp(text, name):
    """Compute the Jacobian-vector product with these tangents. None means all ones."""
    x, given = tf.constant(X), np.ones_like(X) if name is None else GIVEN[name]([2, 3], np.float32)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(given)) as accumulator:
        y = evaluate_expression(text, x)
    return accumulator.jvp(y).numpy()


def fits(ask, name, like):
    """Return whether a value broadcasts to the shape of ``like`` without a cast."""
    given = GIVEN[name](list(like.shape), like.dtype)
    try:
        whole = np.broadcast_shapes(given.shape, like.shape)
    except ValueError:
        return False
    return given.dtype == like.dtype and (
        whole == like.shape or (ask is compute_gradient and np.prod(whole) == like.size)
    )


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ask", [compute_gradient, compute_jvp])
def test_what_fits_stands_for_its_broadcast_and_all_else_is_an_error(ask, text):
    like = evaluate_expression(text, tf.constant(X)).numpy()
    wanted, expected = (like, X) if ask is compute_gradient else (X, like)
    whole = 2.0 * ask(text, None)
    for name in GIVEN:
        if fits(ask, name, wanted):
            found = ask(text, name)
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype), name
            np.testing.assert_allclose(found, whole, 1e-6, err_msg=name)
        else:
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError, TypeError)):
                ask(text, name)


@pytest.mark.parametrize("name", ["larger", "does not fit", "empty", "other float", "integers", "booleans"])
def test_the_class_of_the_error_is_tensorflows(name):
    """As in TensorFlow, output gradients raise InvalidArgumentError, and most tangents raise ValueError."""
    for text in TEXTS:
        with pytest.raises(tf.errors.InvalidArgumentError):
            compute_gradient(text, name)
        with pytest.raises(ValueError):
            compute_jvp(text, name)
