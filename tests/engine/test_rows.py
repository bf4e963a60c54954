"""Operators, functions and variables write compact rows for scalars and small arrays."""

import inspect
import threading

import numpy as np
import pytest

import minitape as tf
from minitape.engine.table.primitives import TABLE
from minitape.recording.sites import find_site_of_bytecode


def find_function(name):
    return getattr(tf.math, name, None) or getattr(tf, name, None)


def list_table_lines(arity):
    """Return the functions of tf whose primitives are lines of the table with this number of inputs."""
    return [n for n, p in TABLE.items() if p.code and len(p.texts) == 1 + arity and n != "rint" and find_function(n)]


ONE, TWO = (
    [(name, name) for name in list_table_lines(1)] + [("round", "rint")],
    [(name, name) for name in list_table_lines(2)],
)
VALUES = [np.float32(0.3), np.float64(0.3), np.array([0.3, 0.6], np.float32)]


def find_code_and_line(tensor):
    """Return (code of the primitive, line) for the row of a tensor."""
    record = tensor._record
    return record.read_integer_cells(tensor._row)[0], find_site_of_bytecode(*record.find_site(tensor._row))[1]


@pytest.mark.parametrize("value", VALUES, ids=["float32", "float64", "array"])
@pytest.mark.parametrize(("name", "primitive"), ONE)
def test_function_of_one_row(name, primitive, value):
    f, x = find_function(name), tf.constant(value)
    want = f(x).numpy()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        line = inspect.currentframe().f_lineno - 1
    assert find_code_and_line(y) == (TABLE[primitive].code, line)
    np.testing.assert_allclose(y.numpy(), want, rtol=4 * np.finfo(value.dtype).eps)
    assert y.dtype == x.dtype and y.shape == x.shape


@pytest.mark.parametrize("value", VALUES, ids=["float32", "float64", "array"])
@pytest.mark.parametrize("other", ["tensor", "variable", "number"])
@pytest.mark.parametrize(("name", "primitive"), TWO)
def test_function_of_two_rows(name, primitive, other, value):
    f, x = find_function(name), tf.constant(value)
    b = {"tensor": tf.constant(value + value), "variable": tf.Variable(value + value), "number": 0.5}[other]
    want = f(x, b).numpy()
    with tf.GradientTape() as tape:
        tape.watch([x] if other == "number" else [x, b])
        y = f(x, b)
        line = inspect.currentframe().f_lineno - 1
    assert find_code_and_line(y) == (TABLE[primitive].code, line)
    np.testing.assert_allclose(y.numpy(), want, rtol=4 * np.finfo(value.dtype).eps)


def test_operators_of_one_operand_and_activations():
    x, v = tf.constant(-2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = [
            (-x, "negative"), (abs(x), "abs"), (tf.nn.relu(x), "relu"), (tf.identity(x), "identity"),
            (tf.stop_gradient(x), "stop_gradient"), (v.value(), "identity"), (v * x, "multiply"), (x - v, "subtract"),
            (1.0 - x, "subtract"), (v**2, "pow"),
        ]  # fmt: skip
    assert [find_code_and_line(t)[0] for t, _ in made] == [TABLE[name].code for _, name in made]
    assert [float(t) for t, _ in made] == [2.0, 2.0, 0.0, -2.0, -2.0, 3.0, -6.0, -5.0, 3.0, 9.0]


def test_scalar_row_beside_small_array():
    x, s = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, s])
        y, z = x * s, s * x
    for product in (y, z):
        np.testing.assert_array_equal(product.numpy(), [3.0, 6.0])
        np.testing.assert_array_equal(tape.gradient(product, x).numpy(), [3.0, 3.0])
        assert tape.gradient(product, s).numpy() == 3.0


NEW = [np.array([3.0, 4.0], np.float32), np.float32(3.0)]  # These are operands next to a row of two numbers.


@pytest.mark.parametrize("value", NEW, ids=["array", "number"])
@pytest.mark.parametrize("before", ["never", "released", "kept"])
def test_a_tensor_that_is_new_to_the_recording_becomes_a_leaf(value, before):
    array = np.array([1.0, 2.0], np.float32)
    x, c = tf.constant(array), tf.constant(value)
    if before != "never":
        with tf.GradientTape() as old:
            old.watch(c)
            square = c * c
    if before == "released":
        del old, square
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 1.0
        z, line = c - y, inspect.currentframe().f_lineno
        w = y / c
        first = len(tape._record)
        v = c * y
        assert len(tape._record) == first + 1  # The recording already has the leaf.
    record = tape._record
    assert (
        find_code_and_line(z) == (TABLE["subtract"].code, line)
        and find_site_of_bytecode(*record.find_site(record.find_row(c)))[1] == line
    )
    for got, want, slope in ((z, value - array, -1), (w, array / value, 1 / value), (v, value * array, value)):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)
        np.testing.assert_allclose(tape.gradient(got, x).numpy(), np.broadcast_to(slope, [2]), rtol=1e-6)
        assert tape.gradient(got, c) is None
        assert tape.explain(got, c).cause == "not_watched"


def test_a_tensor_that_does_not_fit_a_row_is_checked_as_ever():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 1.0
        for wrong, message in (
            (tf.constant([1.0, 2.0], tf.float64), "was expected to be a float tensor"),
            (tf.constant([1.0, 2.0, 3.0]), r"Incompatible shapes: \[2\] vs. \[3\]"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                y * wrong
        z = tf.constant([[1.0], [2.0]]) * y + y[:1]
    assert z.numpy().tolist() == [[2.0, 3.0], [3.0, 5.0]]
    assert tape.gradient(z, x).numpy().tolist() == [7.0, 3.0]


def test_a_tensor_of_a_closed_recording_beside_a_row_of_an_open_one():
    x, c = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as old:
        old.watch(c)
        d = c * c
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * d
    assert tape.gradient(y, x).numpy().tolist() == [9.0, 16.0]
    assert old.gradient(d, c).numpy().tolist() == [6.0, 8.0]
    assert (d * y).numpy().tolist() == [81.0, 512.0]


def test_the_same_number_outside_a_recording_keeps_its_sign_and_dtype():
    x = tf.constant([1.0, -2.0])
    for sign in (1, -1, 1):
        assert (x / (sign * 0.0)).numpy().tolist() == [sign * np.inf, -sign * np.inf]
        assert (x / (sign * 2)).numpy().tolist() == [sign * 0.5, -sign * 1.0]
    assert (tf.constant(1.0, tf.float64) * 2).dtype == tf.float64 and (x * 2).dtype == tf.float32
    assert (tf.constant(3) * 2).dtype == tf.int32
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 2.0]


KEYS = [-1, -3, (1, -2), (slice(None), 3), (slice(-2, None), slice(None, None, -2)), (0, slice(1, 9), 1), (-1, -1, -1)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_of_integers_and_slices_are_one_slice(key):
    array = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[key]
        assert find_code_and_line(y)[0] == 1
    want = np.zeros_like(array)
    want[key] = 1.0
    np.testing.assert_array_equal(y.numpy(), array[key])
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), want)


@pytest.mark.parametrize("key", [3, -4, (0, 4), (slice(None), -5), (0, 0, 0, 0), (0.0, 1)], ids=str)
def test_indices_that_are_not_there_are_refused(key):
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        tf.zeros([3, 4, 2])[key]


@pytest.mark.parametrize("length", [600, 3000])
def test_long_tapes_of_equal_rows_are_told_apart(length):
    """The rows of both tapes are equal, except for the arrays that they keep."""

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(length // 2):
                y = y * 0.5 + x
        return tape.gradient(y, x).numpy()

    for value in (3.0, [1.0, 2.0], 3.0, [1.0, 2.0], [[4.0]]):
        np.testing.assert_allclose(slope(tf.constant(value)), np.full_like(value, 2.0), rtol=1e-6)


def test_name_keyword_and_wrong_calls():
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert float(tf.sin(x, name="s")) == float(tf.sin(x=x)) == float(tf.math.sin(x))
        assert float(tf.add(x, x, name="s")) == float(tf.add(y=x, x=x)) == 1.0
        assert float(tf.nn.relu(features=x)) == 0.5
        with pytest.raises(TypeError, match=r"sin\(\) missing 1 required positional argument: 'x'"):
            tf.sin()
        with pytest.raises(TypeError, match=r"add\(\) missing 1 required positional argument: 'y'"):
            tf.add(x)
        with pytest.raises(TypeError, match=r"add\(\) takes from 2 to 3 positional arguments but 4 were given"):
            tf.add(x, x, "a", "b")
        with pytest.raises(TypeError, match=r"abs\(\) got an unexpected keyword argument 'nome'"):
            tf.abs(x, nome="a")


def test_nothing_is_recorded_after_the_block_or_on_another_thread():
    x, made = tf.constant(0.5), []
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
        length = len(tape._record)
        thread = threading.Thread(target=lambda: made.extend([tf.sin(y), -y, tf.add(y, y), y * y, 1.0 - y]))
        thread.start()
        thread.join()
        assert len(tape._record) == length
    made.extend([tf.sin(y), -y, tf.add(y, y)])
    assert len(tape._record) == length
    assert all(t._record is None for t in made)
    np.testing.assert_allclose([float(t) for t in made[5:]], [np.sin(np.sin(0.5)), -np.sin(0.5), 2 * np.sin(0.5)], 1e-6)


@pytest.mark.parametrize("recorded", [False, True])
def test_numbers_beyond_the_range_of_floats(recorded):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        if recorded:
            tape.watch(x)
            x = x * 1.0
        assert float(x * 1e300) == np.inf and float(-1e300 + x) == -np.inf and float(x / -1e300) == 0
        assert np.isnan(float(x * float("nan")))
        assert str(x * -0.0) == "tf.Tensor(-0.0, shape=(), dtype=float32)"
        with pytest.raises(ValueError, match="out-of-range integer to Tensor"):
            x * 10**400
        half = tf.constant([2.0], tf.float16) * 1e6
    assert half.numpy().tolist() == [np.inf]


def test_variable_read_again_is_noticed_by_whoever_came_since():
    v = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        y = v * v
        with tf.GradientTape() as inner:
            z = v * y
        with outer.stop_recording():
            v.value()
        w = v * 1.0
    assert inner.watched_variables() == outer.watched_variables() == (v,)
    assert inner.gradient(z, v).numpy() == 9.0 and outer.gradient([z, w], v).numpy() == 28.0

    @tf.custom_gradient
    def f(x):
        read = x * v

        def grad(g, variables=None):
            return g, [7.0 * g]

        return read, grad

    with tf.GradientTape() as tape:
        y = v * 1.0 + f(tf.constant(1.0))  # The tape reads v before f reads it.
    assert tape.gradient(y, v).numpy() == 8.0
    assert tf.function(lambda: v * v)().numpy() == 9.0
    v.assign(4.0)
    assert tf.function(lambda: v * v)().numpy() == 16.0


@pytest.mark.parametrize("row", [False, True])
def test_attributes_that_tensors_refuse(row):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x if row else tf.constant(3.0)
    for name, text in (
        ("T", "'tensorflow.python.framework.ops.EagerTensor' object has no attribute 'T'"),
        ("name", "undefined when eager execution is enabled"),
        ("assign", "'tensorflow.python.framework.ops.EagerTensor' object has no attribute 'assign'"),
        ("nonsense", "'tensorflow.python.framework.ops.EagerTensor' object has no attribute"),
    ):
        assert not hasattr(y, name)
        with pytest.raises(AttributeError) as caught:
            getattr(y, name)
        assert text in str(caught.value)
    assert tf.Variable([1.0, 2.0])[:1].assign([5.0]).numpy().tolist() == [5.0, 2.0]


def test_slots_of_tensors_are_read_directly():
    kind = type(tf.constant(1.0))
    assert not hasattr(kind, "__getattr__") and kind.__getattribute__ is object.__getattribute__
    assert kind.__init__ is object.__init__ and kind.__new__ is object.__new__
