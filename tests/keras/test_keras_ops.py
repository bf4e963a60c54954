"""tf.keras.ops and the functions of tf.keras.backend: against NumPy, and on symbolic tensors."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf

ops, K = tf.keras.ops, tf.keras.backend
NAMESPACES = pytest.mark.parametrize("home", ["ops", "activations", "backend", "random", "layers"])
QUICK = settings(max_examples=40, deadline=None, derandomize=True)
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, max_side=3)
ARRAYS = hnp.arrays(np.float32, SHAPES, elements=st.floats(-3, 3, width=32))
UNARY = """exp sin cos tanh abs square sign floor ceil negative ravel argmax argmin cumsum diff flip isnan arctan expm1
triu tril""".split()
BINARY = "add subtract multiply maximum minimum greater equal not_equal logaddexp arctan2".split()


@QUICK
@given(ARRAYS, st.sampled_from(["sum", "mean", "max", "min", "prod", "std", "var", "any", "all"]), st.data())
def test_reductions_as_numpy(x, name, data):
    axis = data.draw(st.sampled_from([None, *range(-x.ndim, x.ndim)]))
    keep = data.draw(st.booleans())
    given_x = x > 0 if name in ("any", "all") else x
    found = getattr(ops, name)(given_x, axis=axis, keepdims=keep)
    np.testing.assert_allclose(found, getattr(np, name)(given_x, axis=axis, keepdims=keep), rtol=1e-4, atol=1e-4)


@QUICK
@given(ARRAYS, st.sampled_from(UNARY))
def test_functions_of_one_array_as_numpy(x, name):
    if name in ("triu", "tril") and x.ndim < 2:
        x = x[None]
    np.testing.assert_allclose(getattr(ops, name)(x), getattr(np, name)(x), rtol=1e-4, atol=1e-4)


@QUICK
@given(ARRAYS, st.sampled_from(BINARY), st.sampled_from([2, 0.5]))
def test_functions_of_two_as_numpy(x, name, number):
    for pair in ((x, number), (number, x), (x, x[::-1])):
        found = getattr(ops, name)(*pair)
        np.testing.assert_allclose(found, getattr(np, name)(*pair), rtol=1e-4, atol=1e-4)


@QUICK
@given(ARRAYS, st.data())
def test_structure_as_numpy(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    np.testing.assert_array_equal(ops.concatenate([x, x], axis=axis), np.concatenate([x, x], axis=axis))
    np.testing.assert_array_equal(ops.stack([x, x], axis=axis), np.stack([x, x], axis=axis))
    np.testing.assert_array_equal(ops.repeat(x, 2, axis=axis), np.repeat(x, 2, axis=axis))
    np.testing.assert_array_equal(ops.take(x, [0, 0], axis=axis), np.take(x, [0, 0], axis=axis))
    np.testing.assert_array_equal(ops.roll(x, 1, axis=axis), np.roll(x, 1, axis=axis))
    np.testing.assert_array_equal(ops.moveaxis(x, 0, axis), np.moveaxis(x, 0, axis))
    np.testing.assert_array_equal(ops.tile(x, 2), np.tile(x, 2))
    np.testing.assert_array_equal(ops.transpose(x), np.transpose(x))
    np.testing.assert_array_equal(ops.where(x > 0, x, 0), np.where(x > 0, x, 0))
    for found, wanted in zip(ops.nonzero(x), np.nonzero(x), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_gradients_pass_through():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = ops.sum(ops.square(x) * 3)
        z = K.mean(K.square(x))
    np.testing.assert_allclose(tape.gradient(y, x), [6, 12])
    np.testing.assert_allclose(tape.gradient(z, x), [1, 2])


def test_whole_numbers_become_floats_where_numpy_says_so():
    assert ops.mean([1, 2]).dtype == ops.sqrt([1, 4]).dtype == ops.divide([1], [2]).dtype == tf.float32
    assert ops.sum([1, 2]).dtype == ops.arange(3).dtype == tf.int32


def test_symbolic_tensors():
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, ops.concatenate([x, ops.exp(x), ops.sum(x, axis=1, keepdims=True)], axis=-1))
    value = np.array([[0.0, 1.0, 2.0]], np.float32)
    np.testing.assert_allclose(model(value), [[0, 1, 2, *np.exp([0, 1, 2]), 3]], rtol=1e-5)


def test_functions_of_the_old_backend():
    x = K.variable([[1, -2], [3, 4]])
    assert isinstance(x, tf.Variable) and K.int_shape(x) == (2, 2) and K.dtype(x) == "float32"
    np.testing.assert_allclose(K.dot(x, K.transpose(x)), x.numpy() @ x.numpy().T)
    np.testing.assert_allclose(K.clip(x, 0, 3), np.clip(x.numpy(), 0, 3))
    np.testing.assert_allclose(K.switch(x > 0, x, lambda: x * 2), [[1, -4], [3, 4]])
    K.set_value(x, np.zeros((2, 2)))
    assert K.eval(K.sum(K.update_add(x, tf.ones((2, 2))))) == 4
    with pytest.raises(RuntimeError, match="gradients is not supported when eager execution is enabled"):
        K.gradients(x, [x])
    with pytest.raises(AttributeError, match=r"tf\.keras\.backend\.foo"):
        assert K.foo


@NAMESPACES
def test_a_namespace_lists_its_public_names_and_gives_nothing_else(home):
    namespace = getattr(tf.keras, home)
    found = [getattr(namespace, name) for name in dir(namespace)]
    assert found and not any(name.startswith("_") for name in dir(namespace))
    for name in ("Any", "Callable", "annotations", "np", "convert", "lazy", "missing"):
        with pytest.raises(AttributeError, match=rf"minitape has no 'tf\.keras\.{home}\.{name}'"):
            getattr(namespace, name)


@pytest.mark.parametrize("home", ["ops", "activations", "backend", "random"])
def test_every_public_name_has_an_example(home):
    namespace = getattr(tf.keras, home)
    docs = {name: inspect.getdoc(getattr(namespace, name)) or "" for name in dir(namespace)}
    assert [name for name, doc in docs.items() if ">>>" not in doc] == []


def gradient_of(function, count):
    """None, 0, 1 or an error's name, for the gradient of a function of so many tensors."""
    x = tf.constant([[0.5, 0.25], [0.75, 0.125]])
    x = tf.complex(x, x) if function.__name__ == "imag" else x
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(*[x, tf.constant([[1.5, -0.5], [0.25, 2.0]])][:count])
    try:
        gradient = tape.gradient(y, x)
    except LookupError:
        return "LookupError"
    return gradient if gradient is None else int(np.any(gradient))


UNLIKE = set("convert_to_numpy is_tensor ndim shape nonzero expand_dims cross bartlett blackman hamming hanning fft2 ifft2 gcd lcm "
             "ldexp bitwise_invert bitwise_not".split())  # they take other arguments


@pytest.mark.parametrize("home", [ops, tf.keras.activations], ids=["ops", "activations"])
def test_docstrings_tell_the_truth_about_gradients(home):
    counts = {"x": 1, "x axis": 1, "x axis keepdims": 1, "x1 x2": 2}
    told = {None: "the gradient is None|Not differentiable", 0: "gradient is 0", 1: "Differentiable",
            "LookupError": "raises LookupError"}  # fmt: skip
    checked = []
    for name in dir(home):
        function = getattr(home, name)
        count = counts.get(" ".join(inspect.signature(function).parameters))
        if count and name not in UNLIKE:
            found, doc = gradient_of(function, count), " ".join(inspect.getdoc(function).split())
            assert re.search(told[found], doc), (name, found)
            assert found is None or "gradient is None" not in doc, name
            checked.append(name)
    assert len(checked) > 15


def test_symbolic_tensors_reach_every_argument():
    x, mask = tf.keras.Input((2,)), tf.keras.Input((2,), dtype="bool")
    model = tf.keras.Model([x, mask], ops.where(mask, x, ops.zeros_like(x)))
    np.testing.assert_array_equal(model([np.array([[1.0, 2.0]]), np.array([[True, False]])]), [[1, 0]])
    assert ops.shape(x) == (None, 2) and ops.ndim(x) == 2 and ops.cast(x, "int32").dtype == "int32"
