"""Output gradients and tangents of right and wrong shapes and dtypes, and what a library makes of them.

    PYTHON_WITH_TENSORFLOW tests/trust/output_gradients.py > tests/trust/output_gradients.json

asks TensorFlow. An answer is the gradient (of the source's shape and dtype), "other" (a value of another shape or
dtype), or the name of an error.
"""

import importlib
import json
import warnings

import numpy as np

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], "f4")
OPERATIONS = """
tf.identity(x) | x + 1.0 | x + x | 1.0 - x | -x | x * 2.0 | x * x | x / 2.0 | x ** 2 | x + tf.constant([1.0, 2.0, 3.0])
x * tf.constant([1.0, 2.0, 3.0]) | tf.sin(x) | tf.exp(x) | tf.tanh(x) | tf.sigmoid(x) | tf.nn.relu(x) | tf.abs(x) | \
tf.square(x)
tf.sqrt(tf.abs(x)) | tf.maximum(x, 0.1) | tf.where(x > 0.0, x, -x) | tf.clip_by_value(x, -1.0, 1.0) | tf.reduce_sum(x)
tf.reduce_sum(x, 0) | tf.reduce_mean(x) | tf.reduce_max(x, 1) | x @ tf.ones([3, 2]) | \
tf.transpose(x)
tf.reshape(x, [3, 2]) | x[0] | x[:, 1:] | tf.gather(x, [0, 1, 0]) | tf.concat([x, x], 0) | tf.stack([x, x]) | \
tf.split(x, 3, 1)[0]
tf.nn.softmax(x) | tf.cast(x, tf.float64) | tf.pad(x, [[1, 1], [0, 0]]) | tf.tile(x, [2, 1]) | x[None]
tf.add_n([x, x])
"""
TEXTS = [text.strip() for line in OPERATIONS.strip().splitlines() for text in line.split(" | ")]
GIVEN = {  # for what has this shape and dtype
    "right": lambda shape, kind: np.full(shape, 2, kind), "scalar": lambda shape, kind: np.full([], 2, kind),
    "one element": lambda shape, kind: np.full([1], 2, kind), "last axis": lambda shape,
    kind: np.full(shape[-1:], 2, kind), "axes of 1": lambda shape, kind: np.full([1] * len(shape), 2, kind),
    "one axis more": lambda shape, kind: np.full([1, *shape], 2, kind), "larger": lambda shape,
    kind: np.full([2, *shape], 2, kind), "does not fit": lambda shape,
    kind: np.full([*shape[:-1], (shape or [0])[-1] + 4], 2, kind), "flat": lambda shape,
    kind: np.full([int(np.prod(shape))], 2, kind), "empty": lambda shape, kind: np.zeros([0], kind),
    "other float": lambda shape, kind: np.full(shape, 2, "f2"), "integers": lambda shape, kind: np.full(shape, 2, "i4"),
    "booleans": lambda shape, kind: np.full(shape, True),
}  # fmt: skip


def computed(tf, text, x):
    """The target of a source."""
    return eval(text, {"tf": tf, "x": x})


def gradient(tf, text, given):
    """The gradient, with these output gradients."""
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = computed(tf, text, x)
    found = tape.gradient(y, x, output_gradients=tf.constant(given(list(y.shape), y.dtype.as_numpy_dtype)))
    return None if found is None else tf.convert_to_tensor(found)


def product(tf, text, given):
    """The Jacobian-vector product, with these tangents."""
    x = tf.constant(X)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(given([2, 3], np.float32))) as accumulator:
        y = computed(tf, text, x)
    return accumulator.jvp(y)


def answer(tf, ask, text, given):
    """What a library makes of it."""
    wanted = X if ask is gradient else computed(tf, text, tf.constant(X)).numpy()
    try:
        found = ask(tf, text, given)
    except Exception as error:
        return type(error).__name__
    if found is None or found.dtype.as_numpy_dtype != wanted.dtype or found.shape != wanted.shape:
        return "other"
    return np.round(found.numpy().astype(float), 3).tolist()


def main() -> None:
    """Asks TensorFlow."""
    warnings.simplefilter("ignore")
    tf = importlib.import_module("tensorflow")
    found = {
        ask.__name__: {text: {name: answer(tf, ask, text, given) for name, given in GIVEN.items()} for text in TEXTS}
        for ask in (gradient, product)
    }
    lines = [
        f'"{ask}": {{\n'
        + ",\n".join(f"{json.dumps(text)}: {json.dumps(row, separators=(',', ':'))}" for text, row in table.items())
        + "}"
        for ask, table in found.items()
    ]
    print("{" + ",\n".join(lines) + "}")


if __name__ == "__main__":
    main()
