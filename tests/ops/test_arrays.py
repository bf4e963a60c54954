"""Tensors reshaped, joined, picked and scattered: values against NumPy, gradients against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf
from minitape.check import check_grads

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
DTYPES = st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, np.complex64])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


def arrays(shapes=SHAPES, dtypes=DTYPES):
    """Arrays of many dtypes and shapes, also empty and 0-d ones."""
    return dtypes.flatmap(
        lambda d: hnp.arrays(
            d, shapes, elements={"allow_nan": False, "allow_infinity": False} if np.dtype(d).kind in "fc" else None
        )
    )


def smooth(*shape):
    return np.random.default_rng(0).normal(size=shape)


def same(tensor, array):
    """Value, shape and dtype agree."""
    found = tensor.numpy()
    assert tensor.dtype == np.asarray(array).dtype and tuple(tensor.shape) == np.shape(array)
    np.testing.assert_array_equal(found, array)


# -- shape -----------------------------------------------------------------------------------------


@QUICK
@given(arrays(), st.randoms(use_true_random=False))
def test_transpose(x, random):
    perm = random.sample(range(x.ndim), x.ndim)
    same(tf.transpose(x, perm), np.transpose(x, perm))
    same(tf.transpose(x), np.transpose(x))


# -- joining ---------------------------------------------------------------------------------------


@QUICK
@given(arrays(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)), st.data())
def test_concat_split_stack_unstack(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    x, t = np.array(x), tf.constant(x)
    same(tf.concat([t, t, t], axis), np.concatenate([x, x, x], axis))
    same(tf.stack([t, t], axis), np.stack([x, x], axis))
    for part, want in zip(tf.unstack(t, axis=axis), np.moveaxis(x, axis, 0), strict=True):
        same(part, want)
    cut = data.draw(st.integers(0, x.shape[axis]))
    parts = tf.split(x, [cut, -1], axis)
    same(tf.concat(parts, axis), x)
    same(parts[0], np.take(x, range(cut), axis))


# -- picking and putting ---------------------------------------------------------------------------


@QUICK
@given(arrays(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)), st.data())
def test_gather(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    places = data.draw(
        hnp.arrays(
            np.int32,
            hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
            elements=st.integers(0, x.shape[axis] - 1),
        )
    )
    same(tf.gather(x, places, axis=axis), np.take(x, places, axis))
    same(tf.gather_nd(x, np.argwhere(np.ones(x.shape))), x.reshape(-1))


@QUICK
@given(st.lists(st.integers(-3, 3), max_size=8))
def test_unique(values):
    x = np.array(values, np.int32)
    y, idx, count = tf.unique_with_counts(x)
    same(tf.gather(y, idx) if len(values) else y, x)
    assert len(set(y.numpy().tolist())) == len(y.numpy()) and int(np.sum(count)) == len(values)
    assert y.numpy().tolist() == list(dict.fromkeys(values))


# -- gradients -------------------------------------------------------------------------------------

GRADIENTS = {
    "reshape": lambda x: tf.reshape(x, [3, 2]) ** 2,
    "transpose": lambda x: tf.transpose(x) ** 2,
    "concat": lambda x: tf.concat([x, x * x], 1),
    "stack": lambda x: tf.stack([x, x * x], 1),
    "unstack": lambda x: tf.unstack(x)[1] ** 2,
    "split": lambda x: tf.split(x, [1, 2], 1)[1] ** 2,
    "tile": lambda x: tf.tile(x, [2, 2]) ** 2,
    "repeat": lambda x: tf.repeat(x, [1, 2], 0) ** 2,
    "pad": lambda x: tf.pad(x, [[1, 0], [0, 1]]) ** 2,
    "reflect": lambda x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT") ** 2,
    "symmetric": lambda x: tf.pad(x, [[1, 0], [2, 1]], "SYMMETRIC") ** 2,
    "reverse": lambda x: tf.reverse(x, [1]) * x,
    "roll": lambda x: tf.roll(x, [1, 1], [0, 1]) * x,
    "gather": lambda x: tf.gather(x, [1, 1, 0]) ** 2,
    "gather_axis": lambda x: tf.gather(x, [2, 2], axis=1) ** 2,
    "gather_batch": lambda x: tf.gather(x, [[0, 1], [2, 2]], batch_dims=1) ** 2,
    "gather_nd": lambda x: tf.gather_nd(x, [[0, 1], [0, 1]]) ** 2,
    "boolean_mask": lambda x: tf.boolean_mask(x, [[True, False, True], [False, True, False]]) ** 2,
    "where": lambda x: tf.where([True, False, True], x * x, x),
    "slice": lambda x: x[:, ::-2] ** 2,
    "newaxis": lambda x: x[None, ..., 1] ** 2,
    "scatter_nd": lambda x: tf.scatter_nd([[1], [1]], x, [3, 3]) ** 2,
    "tensor_scatter": lambda x: tf.tensor_scatter_nd_update(x, [[0, 0]], [x[1, 1]]) ** 2,
    "broadcast_to": lambda x: tf.broadcast_to(x, [2, 2, 3]) ** 2,
    "meshgrid": lambda x: tf.meshgrid(x[0], x[1])[0] * x[0],
    "linspace": lambda x: tf.linspace(x[0], x[1], 4) ** 2,
    "expand_squeeze": lambda x: tf.squeeze(tf.expand_dims(x, 1)) ** 2,
    "dynamic_stitch": lambda x: tf.dynamic_stitch([[1], [0]], [x[:1], x[1:] ** 2]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name):
    check_grads(GRADIENTS[name], [smooth(2, 3)])
