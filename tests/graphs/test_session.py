"""Graphs and sessions: a graph is a recording without values, a session replays it, gradients add rows."""

import pytest

import minitape as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feed=None):
    with v1.Session() as session:
        return session.run(fetches, feed)


def test_a_graph_holds_rows_without_values(graph):
    x = v1.placeholder(tf.float32, [None], name="x")
    y = tf.sin(x) * 2.0
    assert len(graph) == 4  # x, sin, 2.0, mul
    assert [op.type for op in graph.get_operations()] == ["Placeholder", "Sin", "Const", "Mul"]
    assert y.shape == tf.TensorShape([None])
    assert not hasattr(y, "numpy")


def test_variables_must_be_initialised_and_keep_their_value(graph):
    v = v1.get_variable("v", initializer=3.0)
    step = v.assign_add(1.0)
    with v1.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)
        session.run(v1.global_variables_initializer())
        assert [float(session.run(step)) for _ in range(3)] == [4.0, 5.0, 6.0]
        assert session.run(v) == 6.0


def test_eager_mode_is_untouched_by_a_graph():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.Graph().as_default():
            v1.placeholder(tf.float32) * 3.0
        y = x * x
    assert tape.gradient(y, x).numpy() == 4.0
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        v1.placeholder(tf.float32)
