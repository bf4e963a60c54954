"""What `explain` says to write instead."""

import pytest

from .programs import explain_program

CALLED = "class A:\n    def __call__(self, k): self.k = k\nclass B:\n    def __call__(self, k): return tf.constant(k)\n"
ANSWERS = [  # the body of the block, what is said of it, and what to write instead
    ("y = tf.round(x)", "tf.round", "tf.stop_gradient(tf.round(x) - x)"),
    ("y = tf.argmax(x)", "tf.argmax", "tf.nn.softmax"),
    ("y = tf.argmin(x)", "tf.argmin", "Weight all the candidates with `tf.nn.softmax` of `-x`"),
    ("y = tf.argmin(-x)", "tf.argmin", "Weight all the candidates with `tf.nn.softmax` of `x`"),
    ("y = tf.cast(x > 0.5, tf.float32)", "x > 0.5", "tf.sigmoid"),
    ("y = tf.ones_like(x)", "the shape", "values"),
    ("y = tf.cast(tf.cast(x, tf.int32), tf.float32)", "has the dtype int32", "Remove the cast and compute with `x`"),
    ("y = tf.constant(np.mean(x)) * 2.0", "np.mean", "`tf.reduce_mean(x)` instead of `tf.constant(np.mean(x))`"),
    ("y = tf.constant(math.exp(x[0])) * 2.0", "math.exp", "`tf.exp(x[0])` instead of `tf.constant(math.exp(x[0]))`"),
    ("y = tf.constant(x) * 2.0", "copies the value of a variable", "`tf.convert_to_tensor(x)` instead of"),
    ("y = tf.constant(x.numpy()) * 2.0", ".numpy()", "`tf.convert_to_tensor(x)`"),
    ("y = tf.constant(1.0 if x[0] > 0 else 2.0) * 2.0", "x[0] > 0", "tf.sigmoid"),
    ("y = tf.Variable(x * 2.0) * 2.0", "new variable", "use the tensor itself"),
    ("z = x * 2.0\ny = tf.constant(1.0) * 2.0", "x was used", "that result"),
    ("y = tf.constant(1.0)", "is a constant", "tf operations"),
    ("y = float(tf.reduce_sum(x))", "not a tensor but a plain float", "the tensor itself"),
    ("s = tf.Variable([0.0, 0.0])\ns.assign(x * 2.0)\ny = s * s", "s.assign (", "write x * 2.0 where s is read"),
    ("s = tf.Variable([0.0, 0.0])\ns.assign_sub(x)\ny = s * s", "s.assign_sub (",
     "value = s - x. Store it with s.assign(value)"),
    ("y = tf.constant(float(x[0])) * 2.0", "float()", "`tf.convert_to_tensor(x[0])` instead of"),
    ("y = tf.constant(float('%.3f' % x[0])) * 2.0", "float()", "Keep both the number and the text"),
    ("f = tf.custom_gradient(lambda t: (t * 2.0, lambda g: None))\ny = f(x)", "The gradient function of f",
     "each input of f"),
    ("M = tf.math\ny = M.round(x)", "M.round (", "`x + tf.stop_gradient(M.round(x) - x)`"),
    ("y = tf.constant(float(f'{x[0]:.3f}')) * 2.0", "", "Keep both the number"),
    ("import statistics\ny = tf.constant(statistics.fmean(x)) * 2.0", "statistics.fmean", "tf operations"),
    ("y = tf.tile([1.0], [tf.cast(x[1], tf.int32)])", "has the dtype int32", "cast"),
    ("y = tf.math.floordiv(x, 2.0)", "tf.math.floordiv",
     "`x / 2.0 + tf.stop_gradient(tf.math.floordiv(x, 2.0) - x / 2.0)`"),
    ("y = tf.math.ceil(x)", "tf.math.ceil", "tf.stop_gradient(tf.math.ceil(x) - x)"),
    ("y = None", "The target is None", "return"),
    ("y = x * 2.0\nx = tf.keras.layers.Dense(1)", "a Dense that contains variables", ".trainable_variables"),
    ("y = x * 2.0\nx = [1.0]", "has the type float", "tf.Variable"),
    ("y = tf.constant([2.0, 3.0])[np.argmax(x)] * 2.0", "np.argmax", "`np.argmax(x)` is a step function"),
    ("y = tf.constant([2.0, 3.0])[int(x.numpy().argmax())] * 2.0", "numpy", "`x.numpy().argmax()` is a step function"),
    ("y = tf.constant(np.floor(x)) * 2.0", "np.floor", "`np.floor(x)` is a step function"),
    ("y = tf.constant(float(round(float(x[0])))) * 2.0", "float()", "`round(float(x[0]))` is a step function"),
    ("y = tf.constant(np.histogram(x.numpy())[0])", "numpy", "`np.histogram(x.numpy())` is a step function"),
    ("y = tf.constant(np.convolve(x.numpy(), [1.0]))", "numpy", "tf operations"),
    ("y = tf.constant(np.deg2rad(x)) * 2.0", "np.deg2rad", "tf operations"),
    ("y = tf.constant(x.numpy().max()) * 2.0", ".numpy()", "`tf.reduce_max(x)`"),
    ("y = tf.constant(x.numpy().flatten()) * 2.0", ".numpy()", "`tf.reshape(x, [-1])`"),
    ("f = lambda t, k=float(x[0]): t * k\ny = f(tf.constant(2.0))", "float()", "Write `x[0]` instead of `float(x[0])`"),
    ("def f(t, k=x.numpy()):\n    return t * k\ny = f(tf.constant(2.0))", ".numpy()", "Write `x` instead of"),
    ("y = tf.constant(x[0].numpy().item()) * 2.0", ".numpy()", "instead of `tf.constant(x[0].numpy().item())`"),
    ("y = tf.stack([float(h.numpy()) for h in x])", ".numpy()", "Write `h` instead of `float(h.numpy())`"),
    ("y = (lambda h: tf.constant(h.numpy()))(x) * 2.0", ".numpy()", "instead of `tf.constant(h.numpy())`"),
    ("y = tf.constant(float(str(x[0].numpy()))) * 2.0", ".numpy()", "Keep both the number"),
    ("y = max(tf.constant(0.5), x[0]) * 2.0", "Python's max", "tf.maximum(a, b)"),
    ("y = tf.cast(tf.math.count_nonzero(x), tf.float32)", "tf.math.count_nonzero", "use the accuracy only for reports"),
    ("y = tf.round(x + 1.0)", "tf.round", "`x + 1.0 + tf.stop_gradient(tf.round(x + 1.0) - (x + 1.0))`"),
    ("y = tf.constant(np.round(x - 1.0))", "np.round", "is a step function"),
    ("y = x // 2.0", "x // 2.0", "`x / 2.0 + tf.stop_gradient(x // 2.0 - x / 2.0)`"),
    ("y = tf.floor(x * 4.0) * 2.0", "tf.floor", "`x * 4.0 + tf.stop_gradient(tf.floor(x * 4.0) - x * 4.0)`"),
    (f"{CALLED}a, b = A(), B()\na(float(x[0]))\ny = b(3.0)", "is a constant", "tf operations"),  # it calls no B
    ("f = tf.floor\ny = f(x) * 2.0", "Floor", "x + tf.stop_gradient(tf.round(x) - x)"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said", "fix"), ANSWERS)
def test_what_is_said_and_what_to_write(body: str, said: str, fix: str) -> None:
    why = explain_program(body)
    why = why[0] if isinstance(why, list) else why
    assert not why.connected
    assert said in why.message, str(why)
    assert fix in why.fix, str(why)


@pytest.mark.parametrize("made", ["tf.Variable(7)", "tf.argmax([1.0, 2.0])", "tf.Variable(True)", "tf.Variable('2.5')"])
def test_a_source_that_is_no_float(made: str) -> None:
    why = explain_program("z = tf.identity(x)\ny = tf.constant(1.0)", before=f"x = {made}")
    assert (why.cause, "Make x a float" in why.fix) == ("integer_dtype", True), str(why)
