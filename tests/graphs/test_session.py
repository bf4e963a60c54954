"""Graphs and sessions: a graph is a recording without values, a session replays it, gradients add rows."""

import numpy as np
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


def test_session_replays_with_other_values(graph):
    x = v1.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.exp(x) * x)
    with v1.Session() as session:
        for values in ([1.0, 2.0], [0.5], []):
            expected = np.sum(np.exp(np.float32(values)) * np.float32(values))
            assert session.run(y, {x: values}) == pytest.approx(expected, rel=1e-6)


def test_structures_come_back_as_they_were_asked_for(graph):
    a, b = tf.constant(1.0), tf.constant([2, 3])
    found = run({"a": a, "l": [b, (a, b)]})
    assert found["a"] == 1.0
    assert found["l"][1][1].tolist() == [2, 3]


def test_an_intermediate_value_can_be_fed(graph):
    a = tf.constant(3.0)
    b = a * 2.0
    c = b + 1.0
    with v1.Session() as session:
        assert session.run(c) == 7.0
        assert session.run(c, {b: 10.0}) == 11.0


def test_a_placeholder_without_value_says_which(graph):
    x = v1.placeholder(tf.float32, [2], name="x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'x'"):
        run(x * 2.0)


def test_first_and_second_gradients(graph):
    x = v1.placeholder(tf.float64, [])
    y = tf.sin(x) ** 3
    (g,) = tf.gradients(y, x)
    (h,) = tf.gradients(g, x)
    at = 0.7
    found = run([g, h], {x: at})
    s, c = np.sin(at), np.cos(at)
    np.testing.assert_allclose(found, [3 * s * s * c, 6 * s * c * c - 3 * s**3], rtol=1e-12)


def test_gradients_with_sizes_that_only_the_run_knows(graph):
    x = v1.placeholder(tf.float64, [None, 3])
    w = v1.placeholder(tf.float64, [3, None])
    mean = tf.reduce_mean(x, axis=0)  # the rule must know how many rows there are
    y = tf.reduce_sum((x - mean) @ w * tf.reduce_max(x, axis=1, keepdims=True))
    gx, gw = tf.gradients(y, [x, w])
    xs, ws = np.random.default_rng(0).normal(size=(4, 3)), np.random.default_rng(1).normal(size=(3, 2))
    found = run([y, gx, gw], {x: xs, w: ws})

    def value(a, b):
        return np.sum((a - a.mean(0)) @ b * a.max(1, keepdims=True))

    assert found[0] == pytest.approx(value(xs, ws))
    np.testing.assert_allclose(found[1], numeric(lambda a: value(a, ws), xs), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found[2], numeric(lambda b: value(xs, b), ws), rtol=1e-5, atol=1e-7)


def numeric(f, x, eps=1e-6):
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = eps
        g[i] = (f(x + d) - f(x - d)) / (2 * eps)
    return g


def test_stop_gradients_cut_the_way_but_not_the_source(graph):
    a = tf.constant(1.0)
    b = 2.0 * a
    assert run(tf.gradients(a + b, [a, b], stop_gradients=[a, b])) == [1.0, 1.0]
    assert run(tf.gradients(a + b, [a, b])) == [3.0, 1.0]


def test_unconnected_gradients(graph):
    x, z = tf.constant(1.0), tf.constant([1.0, 2.0])
    assert tf.gradients(x * 2.0, [z]) == [None]
    assert run(tf.gradients(x * 2.0, [z], unconnected_gradients="zero")[0]).tolist() == [0.0, 0.0]


def test_variables_must_be_initialised_and_keep_their_value(graph):
    v = v1.get_variable("v", initializer=3.0)
    step = v.assign_add(1.0)
    with v1.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)
        session.run(v1.global_variables_initializer())
        assert [float(session.run(step)) for _ in range(3)] == [4.0, 5.0, 6.0]
        assert session.run(v) == 6.0


def test_control_dependencies_order_effects(graph):
    v = v1.get_variable("v", initializer=1.0)
    with tf.control_dependencies([v.assign(v * 10.0)]):
        after = tf.identity(v)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(after) == 10.0


def test_registered_gradient_replaces_the_rule_where_it_is_mapped(graph):
    @tf.RegisterGradient("TestTimes7")
    def times7(op, grad):
        assert op.inputs[0].name == "x:0"
        return grad * 7.0

    x = tf.constant(2.0, name="x")
    with graph.gradient_override_map({"Identity": "TestTimes7"}):
        y = tf.identity(x)
    z = tf.identity(x)
    assert run([tf.gradients(y, x)[0], tf.gradients(z, x)[0]]) == [7.0, 1.0]
    with pytest.raises(KeyError, match="Registering two gradient with name 'TestTimes7'"):
        tf.RegisterGradient("TestTimes7")(times7)


@pytest.mark.usefixtures("graph")
def test_names_are_unique_and_scoped():
    with tf.name_scope("outer"):
        a = tf.constant(1.0, name="a")
        with tf.name_scope("inner"):
            b = a + 1.0
    with tf.name_scope("outer"):
        c = tf.add(a, b, name="sum")
    assert [t.name for t in (a, b, c)] == ["outer/a:0", "outer/inner/add:0", "outer_1/sum:0"]


def test_symbolic_tensors_refuse_to_be_values(graph):
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
        bool(x > 0.0)
    with pytest.raises(TypeError, match="Iterating over a symbolic"):
        list(tf.constant([1.0]))
    with pytest.raises(NotImplementedError, match=r"Cannot convert a symbolic tf.Tensor"):
        np.array(x)
    assert str(x) == 'Tensor("Const:0", shape=(), dtype=float32)'


def test_mistakes_are_found_while_building(graph):
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="Input 'y' of 'AddV2' Op has type int32 that does not match type float32"):
        tf.constant(1.0) + tf.constant(1)


def test_a_tape_inside_a_graph_adds_rows(graph):
    x = v1.placeholder(tf.float32, [])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        g = inner.gradient(y, x)
    h = outer.gradient(g, x)
    assert run([g, h], {x: 2.0}) == [12.0, 12.0]


def test_py_func_in_a_graph(graph):
    x = v1.placeholder(tf.float32)
    y = v1.py_func(np.sin, [x], tf.float32)
    z = tf.py_function(lambda t: t * t if t > 1.0 else -t, [x], tf.float32)
    (g,) = tf.gradients(z, x)
    assert tf.gradients(y, x) == [None]
    assert run([z, g], {x: 3.0}) == [9.0, 6.0]
    assert run([z, g], {x: 0.5}) == [-0.5, -1.0]
    assert run(y, {x: np.float32(1.0)}) == np.sin(np.float32(1.0))


def test_minimise_by_gradient_descent(graph):
    x, y = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.float32, [None])
    w = v1.get_variable("w", initializer=0.0)
    (slope,) = tf.gradients(tf.reduce_mean((w * x - y) ** 2), [w])
    train = w.assign_sub(0.1 * slope)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(50):
            session.run(train, {x: [1.0, 2.0], y: [2.0, 4.0]})
        assert session.run(w) == pytest.approx(2.0)


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


def test_an_error_inside_leaves_no_graph_behind():
    with pytest.raises(ZeroDivisionError), tf.Graph().as_default(), tf.GradientTape():
        1 / 0  # noqa: B018
    assert tf.executing_eagerly()
    assert (tf.constant(1.0) + 1.0).numpy() == 2.0


def test_slices_are_fetched_as_their_arrays(graph):
    x = tf.constant([[1.0], [2.0], [3.0]])
    (g,) = tf.gradients(tf.gather(x, [2, 0, 2]), x)
    found = run(g)
    assert type(found).__name__ == "IndexedSlicesValue"
    assert found.indices.tolist() == [2, 0, 2]
    assert run(tf.convert_to_tensor(g)).tolist() == [[1.0], [0.0], [2.0]]


def test_gradient_operations_are_named_after_what_they_differentiate(graph):
    x = tf.constant(1.0)
    with tf.name_scope("scope"):
        y = tf.cos(x)
    tf.gradients(y, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.name_scope("scope"):
            z = tf.cos(x)
    tape.gradient(z, x)
    sines = [op.name for op in graph.get_operations() if op.type == "Sin"]
    assert sines == ["gradients/scope/Cos_grad/Sin", "gradient_tape/scope_1/Sin"]


def test_a_failing_run_names_the_operation_and_the_line(graph):
    x = v1.placeholder(tf.int32, [], name="x")
    y = tf.gather([1.0, 2.0], x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Detected at node 'GatherV2'") as caught:
        run(y, {x: 5})
    assert "indices = 5 is not in [0, 2)" in str(caught.value)
    assert "test_session.py" in str(caught.value)
