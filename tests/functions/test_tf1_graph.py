"""TensorFlow 1's calls wait for a session to provide their values."""

import numpy as np
import pytest

import minitape as tf

v1 = tf.compat.v1


def test_a_session_computes_what_was_put_off():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, shape=[None], name="x")
        y = tf.reduce_sum(2.0 * x[1:] - x[:-1] ** 2) / 4.0
        shown = [str(x), str(y)]
    with v1.Session(graph=graph) as session:
        assert session.run(y, {x: [1.0, 2.0, 3.0]}) == (4 - 1 + 6 - 4) / 4
        assert y.eval({x: [0.0, 2.0]}) == 1.0
        assert session.run({"a": [y, x * 3.0]}, {x: [0.0, 2.0]})["a"][1].tolist() == [0.0, 6.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder tensor 'x'"):
            session.run(y)
    assert shown == ['Tensor("x:0", shape=(None,), dtype=float32)', 'Tensor("RealDiv:0")']


def test_gradients():
    with tf.Graph().as_default(), v1.Session() as session:
        x, c = v1.placeholder(tf.float32), tf.constant(3.0)
        y = c * x**2 + tf.stop_gradient(x)
        dy = tf.gradients(y, [x, c])
        ddy = tf.gradients(dy[0], x)[0]
        found = session.run([*dy, ddy, tf.gradients([y], [x], [tf.constant(10.0)])[0]], {x: 2.0})
    assert found == [12.0, 4.0, 6.0, 120.0]


def test_a_registered_gradient_in_the_place_of_an_operations_own():
    seen = []

    @tf.RegisterGradient("TestDouble")
    def grad(op, g):
        seen.append((op.type, len(op.inputs)))
        return 2.0 * g, -g

    with tf.Graph().as_default() as graph, v1.Session() as session:
        x, y = tf.constant(3.0), tf.constant(5.0)
        with graph.gradient_override_map({"Mul": "TestDouble"}):
            z = x * y
        assert session.run(tf.gradients(z + x * y, [x, y])) == [2.0 + 5.0, -1.0 + 3.0]
    assert seen == [("Mul", 2)]
    with pytest.raises(KeyError, match="Registering two gradient with name 'TestDouble'"):
        tf.RegisterGradient("TestDouble")(grad)


def test_python_functions_run_when_the_session_does():
    ran = []

    def look(a):
        ran.append(a)
        return np.float32(a * 2)

    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32)
        (y,) = v1.py_func(look, [x], [tf.float32])
        z = tf.py_function(lambda t: t * t, [x], tf.float32)
        assert not ran
        assert session.run([y, z, tf.gradients(z, x)[0]], {x: 3.0}) == [6.0, 9.0, 6.0] and len(ran) == 1


def test_outside_of_a_graph_everything_is_as_before():
    with tf.Graph().as_default():
        inside = tf.constant(1.0)
        with pytest.raises(TypeError, match="has no value before a session runs it"):
            bool(inside)
        with pytest.raises(ValueError, match="without a default session"):
            inside.eval()
    assert (tf.constant(1.0) + tf.sin(0.0)).numpy() == 1.0
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        v1.placeholder(tf.float32)
    with pytest.raises(RuntimeError, match=r"Use tf\.GradientTape instead"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))
    with pytest.raises(
        (TypeError, AttributeError),
        match=r"because no session has run it|still waits for a session|until a session runs it",
    ):
        tf.sin(inside)
    assert v1.global_variables_initializer() is None


def test_a_picture_knows_the_names_of_its_caller_also_after_a_graph():
    with tf.Graph().as_default():
        tf.constant(1.0)
    t = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = t * t
    assert [row["name"] for row in tf.snapshot(tape, y, t)["rows"]] == ["t", "y"]
