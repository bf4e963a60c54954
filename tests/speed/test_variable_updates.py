"""Optimizers update small variables together, with the same bits as one after another."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf
from minitape.engine.tensor.variable import ResourceVariable
from minitape.tf.keras import update_variables

if "speed" not in update_variables.__module__:
    pytest.skip("minitape runs without speed/", allow_module_level=True)

OPTIMIZERS = {
    "Adam": lambda: tf.keras.optimizers.Adam(0.01),
    "SGD": lambda: tf.keras.optimizers.SGD(0.1),
    "momentum": lambda: tf.keras.optimizers.SGD(0.1, 0.9),
    "Nesterov": lambda: tf.keras.optimizers.SGD(0.1, 0.9, nesterov=True),
}


def train_variables(name: str, dtype: str, together: bool) -> list[bytes]:
    """Return the bytes of some variables after ten steps, in which they are updated together or one by one."""
    random = np.random.RandomState(0)
    shapes = [(2, 16), (16,), (), (7, 3)]
    variables = [tf.Variable(np.asarray(random.randn(*shape)).astype(dtype)) for shape in shapes]
    optimizer = OPTIMIZERS[name]()
    for _ in range(10):
        scale = 10.0 ** random.randint(-6, 6)
        gradients = [tf.constant((np.asarray(random.randn(*v.shape)) * scale).astype(dtype)) for v in variables]
        if together:
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            continue
        with tf.GradientTape(persistent=True) as tape:  # A tape that is recording needs a row for each variable.
            tape.watch(gradients)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return [variable.numpy().tobytes() for variable in variables]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_bits_are_the_same(name: str, dtype: str) -> None:
    """Each rule is elementwise, so a common buffer changes no bit."""
    assert train_variables(name, dtype, True) == train_variables(name, dtype, False)


def test_one_step_assigns_nothing_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adam used to assign three times for each variable."""
    variables = [tf.Variable([1.0, 2.0]) for _ in range(10)]
    optimizer = tf.keras.optimizers.Adam(0.1)
    gradients = [tf.constant([0.5, -0.5])] * 10
    optimizer.apply_gradients(zip(gradients, variables, strict=True))
    assigned = []
    replace_state = ResourceVariable._replace_state
    monkeypatch.setattr(
        ResourceVariable,
        "_replace_state",
        lambda *arguments: assigned.append(arguments[0]) or replace_state(*arguments),
    )
    optimizer.apply_gradients(zip(gradients, variables, strict=True))
    assert assigned == [optimizer.iterations.value]


def test_unusual_steps_are_as_before() -> None:
    """Variables are updated one by one if a variable is updated twice, changes its shape or has no gradient."""
    variable, other = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    one = tf.constant([1.0, 1.0])
    tf.keras.optimizers.SGD(0.5).apply_gradients([(one, variable), (one, variable), (tf.constant(2.0), other)])
    assert (variable.numpy().tolist(), float(other)) == ([0.0, 1.0], 2.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant([1.0]), variable), (tf.constant(2.0), other)])
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        tf.keras.optimizers.SGD(0.5).apply_gradients([(one, variable), (one, tf.Variable(one)), (None, other)])
    assert variable.numpy().tolist() == [-0.5, 0.5]


def test_explain_knows_the_step() -> None:
    """A weight that a step changed after the loss was computed is still found, with the line of the step."""
    w, b = tf.Variable([1.0, 2.0]), tf.Variable(0.5)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(w * w) + b
    tf.keras.optimizers.SGD(0.5).apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b], strict=True))
    assert tape.explain(loss, w).connected
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.stop_gradient(w) * 2.0)
    assert tape.explain(loss, w).cause == "stop_gradient"
