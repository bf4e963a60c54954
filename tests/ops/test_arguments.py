"""Arguments do what TensorFlow 2.21 lets them do, or are refused: each case was tried there."""

import pytest

import minitape as tf


@pytest.mark.parametrize(
    ("loop", "eager"),
    [
        (lambda x: tf.map_fn(lambda v: v * v, x, back_prop=False), [2, 4]),
        (lambda x: tf.scan(lambda a, v: a + v * v, x, back_prop=False), [2, 4]),
        (lambda x: tf.foldl(lambda a, v: a + v * v, x, back_prop=False), [1, 4]),
        (lambda x: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), (0, x), back_prop=False)[1], [3, 12]),
    ],
)
def test_no_gradient_passes_a_loop_of_a_graph_without_back_prop(loop, eager):
    x = tf.Variable([1.0, 2.0])
    found = []
    for f in (loop, tf.function(loop)):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(f(x))
        found.append(tape.gradient(y, x))
    assert found[0].numpy().tolist() == eager
    assert found[1] is None
