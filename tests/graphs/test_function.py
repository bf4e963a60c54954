"""tf.function: one trace for each signature, effects in order, gradients of any order."""

import threading

import numpy as np
import pytest

import minitape as tf


def test_variables_are_made_once():
    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.count = None

        @tf.function
        def __call__(self):
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(1)

    counter = Counter()
    assert [counter().numpy() for _ in range(3)] == [1, 2, 3]

    @tf.function
    def wrong():
        return tf.Variable(1.0)

    with pytest.raises(ValueError, match=r"only supports singleton tf.Variables created on the first call"):
        wrong()


def test_a_symbolic_tensor_must_not_leak():
    leaked = []
    f = tf.function(lambda x: (leaked.append(x + 1), x)[1])
    f(tf.constant(1))
    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        leaked[0] + 1


def test_run_functions_eagerly():
    n = []
    f = tf.function(lambda x: (n.append(1), x + 1)[1])
    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1)), f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(n) == 2


def test_sparse_gradients_stay_sparse():
    table = tf.Variable([[1.0], [2.0], [3.0]])
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(table, i)))
    with tf.GradientTape() as tape:
        y = f(tf.constant([2, 0, 2]))
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    assert tf.convert_to_tensor(g).numpy().tolist() == [[1.0], [0.0], [2.0]]


def test_py_function_keeps_the_tape_of_each_run():
    @tf.function
    def f(x):
        return tf.py_function(lambda t: t * t if t > 0 else -t, [x], tf.float32)

    a, b = tf.constant(3.0), tf.constant(-2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y, z = f(a), f(b)
    assert tape.gradient(z, b).numpy() == -1.0
    assert tape.gradient(y, a).numpy() == 6.0
    with pytest.raises(tf.errors.UnknownError, match="KeyError: b'pyfunc_"):
        tape.gradient(y, a)  # once for each run


def test_repeated_calls_find_their_trace():
    traces = []

    @tf.function
    def f(x, scale=1.0, *more, flip=False, y=0.5):
        traces.append(1)
        total = x * scale + sum(more)
        return (y - total if flip else total), scale

    a, b, c = tf.constant(2.0), tf.constant([3.0, 4.0]), tf.constant(5.0, tf.float64)
    calls = [
        (lambda: f(a), 2.0),
        (lambda: f(b), [3.0, 4.0]),
        (lambda: f(a, 3.0), 6.0),
        (lambda: f(a, a), 4.0),
        (lambda: f(a, flip=True), -1.5),
        (lambda: f(a, y=a, flip=True), 0.0),
        (lambda: f(a, flip=True, y=a), 0.0),
        (lambda: f(y=a, flip=True, x=b), [-1.0, -2.0]),
        (lambda: f(a, 3.0, a, b), [11.0, 12.0]),
        (lambda: f(a, 3.0, b, a), [11.0, 12.0]),
        (lambda: f(c), 5.0),
        (lambda: f(2.0, a), 4.0),
        (lambda: f(2, a), 4.0),
    ]
    for _ in range(4):
        for call, want in calls:
            np.testing.assert_array_equal(call()[0].numpy(), want)
    assert len(traces) == f.experimental_get_tracing_count() == 11


def test_repeated_calls_hand_structures_over_in_their_order():
    def f(x, pair, *, a=None, b=None, **rest):
        u, (v, w) = pair["u"], pair["rest"]
        return {"z": x - u, "all": [v / w, (a - b if a is not None else v,)], "rest": dict(rest)}

    traced, signed = (
        tf.function(f),
        tf.function(f, input_signature=[tf.TensorSpec([]), {"u": tf.TensorSpec([]), "rest": [tf.TensorSpec([])] * 2}]),
    )
    one, held = tf.constant(1.0), tf.Variable(2.0)
    two, three, array = tf.constant(2.0), tf.constant(3.0), np.float32([5.0, 6.0])
    for _ in range(3):
        for g in (traced, signed):
            got = g(one, {"u": one, "rest": [one, one]})
            assert list(got) == ["z", "all", "rest"] and got["z"] == 0.0 and got["all"][0] == 1.0
            got = g(three, {"rest": [three, two], "u": one})
            assert got["z"] == 2.0 and got["all"][0] == 1.5 and type(got["all"][1]) is tuple
        assert traced(one, {"u": one, "rest": (one, one)}, b=one, a=one)["all"][1][0] == 0.0
        got = traced(two, {"u": held, "rest": (array, held)}, b=two, a=three, q=two, p=one)
        assert got["z"] == 0.0 and got["all"][0].numpy().tolist() == [2.5, 3.0] and got["all"][1][0] == 1.0
        assert got["rest"]["p"] == 1.0 and got["rest"]["q"] == 2.0
        got = traced(two, {"u": held, "rest": (array, held)}, q=one, p=two, a=two, b=three)
        assert got["all"][1][0] == -1.0 and got["rest"]["p"] == 2.0
        held.assign(2.0)
        array += 0.0
    assert traced.experimental_get_tracing_count() == 3 and signed.experimental_get_tracing_count() == 1
    with tf.GradientTape() as tape:
        y = traced(one, {"u": held, "rest": [held, one]})["all"][0]
    assert tape.gradient(y, held) == 1.0


def test_an_input_signature_names_what_star_args_take():
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([])])
        def scaled(self, x, *factors):
            return x * factors[0]

    x, two = tf.constant([1.0, 2.0]), tf.constant(2.0)
    model = Model()
    assert model.scaled(x, two).numpy().tolist() == [2.0, 4.0]
    assert model.scaled.get_concrete_function()(x, two).numpy().tolist() == [2.0, 4.0]
    with pytest.raises(TypeError, match="missing a required argument: 'factors_0'"):
        model.scaled(x)
    with pytest.raises(TypeError, match="too many positional arguments"):
        model.scaled(x, two, two)


def test_variables_as_arguments_are_differentiated_twice():
    f = tf.function(lambda v: v * v * v)
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    for v in (a, b, a):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = f(v)
            g = tape.gradient(y, v)
        assert g == 3 * v * v and outer.gradient(g, v) == 6 * v
    with tf.autodiff.ForwardAccumulator(b, tf.constant(1.0)) as acc:
        y = f(b)
    assert acc.jvp(y) == 27.0


def test_variables_of_two_threads_do_not_mix():
    @tf.function
    def f(v, x):
        for _ in tf.range(50):
            v.assign_add(x)
        return v * 1.0

    f(tf.Variable(0.0), tf.constant(1.0))
    variables, found = [tf.Variable(0.0) for _ in range(4)], {}
    work = [
        threading.Thread(target=lambda i=i: found.update({i: f(variables[i], tf.constant(float(i)))})) for i in range(4)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert [float(found[i]) for i in range(4)] == [0.0, 50.0, 100.0, 150.0]
    assert [float(v) for v in variables] == [0.0, 50.0, 100.0, 150.0]


def test_a_tensor_that_leaked_is_told_with_its_line():
    leaked = []

    @tf.function
    def leaks(x):
        leaked.append(x * 2.0)  # here
        return x

    leaks(tf.constant(1.0))
    with pytest.raises(TypeError, match=r"is out of scope") as found:
        leaked[0] + 1.0
    text = str(found.value)
    line = leaks.python_function.__code__.co_firstlineno + 2
    assert f'was defined here:\n    File "{__file__}", line {line}, in leaks' in text
    assert "because it was defined in FuncGraph(name=leaks, id=" in text


def test_keyword_arguments_of_a_concrete_function_are_told_apart_by_name():
    function = tf.function(lambda **given: 10.0 * given["b"] + given["a"])
    concrete = function.get_concrete_function(b=tf.TensorSpec([1]), a=tf.TensorSpec([2]))
    np.testing.assert_array_equal(concrete(b=tf.constant([1.0]), a=tf.constant([2.0, 3.0])), [12.0, 13.0])
    assert concrete.structured_input_signature == (
        (),
        {"a": tf.TensorSpec([2], name="a"), "b": tf.TensorSpec([1], name="b")},
    )
