"""Tensors reshaped, joined, picked and scattered: values against NumPy, gradients against finite differences."""

from __future__ import annotations

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
FLOATS = st.floats(-8, 8, width=32)


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
@given(arrays(), st.data())
def test_reshape_and_back(x, data):
    t = tf.reshape(x, [-1]) if x.size else tf.reshape(x, [0])
    same(t, x.reshape(-1))
    same(tf.reshape(t, x.shape), x)


@QUICK
@given(arrays(), st.randoms(use_true_random=False))
def test_transpose(x, random):
    perm = random.sample(range(x.ndim), x.ndim)
    same(tf.transpose(x, perm), np.transpose(x, perm))
    same(tf.transpose(x), np.transpose(x))


@QUICK
@given(arrays(), st.data())
def test_expand_and_squeeze(x, data):
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    wide = tf.expand_dims(x, axis)
    same(wide, np.expand_dims(x, axis))
    same(tf.squeeze(wide, axis), x)
    same(tf.squeeze(wide), np.squeeze(x))


@QUICK
@given(arrays(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)), st.data())
def test_reverse_and_roll(x, data):
    axis, shift = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.integers(-4, 4))
    same(tf.reverse(x, [axis]), np.flip(x, axis))
    same(tf.roll(x, shift, axis), np.roll(x, shift, axis))


@QUICK
@given(arrays(), st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_broadcast_to(x, extra):
    same(tf.broadcast_to(x, (*extra, *x.shape)), np.broadcast_to(x, (*extra, *x.shape)))


@QUICK
@given(arrays())
def test_shape_size_rank(x):
    same(tf.shape(x), np.array(x.shape, np.int32))
    same(tf.size(x, tf.int64), np.int64(x.size))
    same(tf.rank(x), np.int32(x.ndim))
    same(tf.zeros_like(x), np.zeros_like(x))
    same(tf.ones_like(x), np.ones_like(x))


@QUICK
@given(
    hnp.arrays(st.sampled_from([np.float32, np.int32, np.uint8, np.bool_]), SHAPES),
    st.sampled_from(["float64", "int64", "bool", "float16"]),
)
def test_cast(x, wanted):
    with np.errstate(all="ignore"):
        x = np.nan_to_num(x, posinf=9, neginf=-9).clip(-100, 100).astype(x.dtype) if x.dtype.kind == "f" else x
        same(tf.cast(x, wanted), x.astype(wanted))


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


@QUICK
@given(arrays(hnp.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=3)), st.data())
def test_tile_and_repeat(x, data):
    times = data.draw(st.lists(st.integers(0, 3), min_size=x.ndim, max_size=x.ndim))
    same(tf.tile(x, times), np.tile(x, times))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=x.shape[axis], max_size=x.shape[axis]))
    same(tf.repeat(x, counts, axis), np.repeat(x, counts, axis))


@QUICK
@given(arrays(hnp.array_shapes(min_dims=1, max_dims=2, min_side=2, max_side=4)), st.data())
def test_pad(x, data):
    amounts = data.draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=x.ndim, max_size=x.ndim))
    for mode in ("constant", "reflect", "symmetric"):
        same(tf.pad(x, amounts, mode), np.pad(x, amounts, mode))


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
@given(arrays(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=4)), st.data())
def test_masks_and_where(x, data):
    mask = data.draw(hnp.arrays(np.bool_, x.shape))
    same(tf.boolean_mask(x, mask), x[mask])
    same(tf.constant(x)[mask], x[mask])
    same(tf.where(mask), np.argwhere(mask).astype(np.int64))
    same(tf.where(mask, x, x[..., ::-1]), np.where(mask, x, x[..., ::-1]))


@QUICK
@given(st.lists(st.integers(0, 4), max_size=6), st.integers(5, 7))
def test_scatter_adds_up(places, size):
    updates = np.arange(1, len(places) + 1)
    want = np.zeros(size, updates.dtype)
    np.add.at(want, places, updates)
    indices = np.array(places, np.int32).reshape(-1, 1)
    same(tf.scatter_nd(indices, updates, [size]), want)
    same(tf.tensor_scatter_nd_add(np.zeros(size, updates.dtype), indices, updates), want)
    same(tf.tensor_scatter_nd_sub(want, indices, updates), np.zeros(size, updates.dtype))


@QUICK
@given(st.lists(st.integers(-3, 3), max_size=8))
def test_unique(values):
    x = np.array(values, np.int32)
    y, idx, count = tf.unique_with_counts(x)
    same(tf.gather(y, idx) if len(values) else y, x)
    assert len(set(y.numpy().tolist())) == len(y.numpy()) and int(np.sum(count)) == len(values)
    assert y.numpy().tolist() == list(dict.fromkeys(values))


@QUICK
@given(st.integers(0, 5), st.integers(1, 5), st.integers(-1, 6))
def test_one_hot_and_eye(row, depth, place):
    want = np.zeros(depth, np.float32)
    if 0 <= place < depth:
        want[place] = 1
    same(tf.one_hot(place, depth), want)
    same(tf.eye(row, depth), np.eye(row, depth, dtype=np.float32))


@QUICK
@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(1, 3))
def test_range(start, span, step):
    step = step if span >= 0 else -step
    same(tf.range(start, start + span, step), np.arange(start, start + span, step, np.int32))


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


@pytest.mark.parametrize(
    "fn", [tf.zeros_like, tf.ones_like, tf.stop_gradient, tf.shape, tf.size, lambda x: tf.cast(x, tf.int32)]
)
def test_passes_no_gradient(fn):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    assert tape.gradient(y, x) is None


def test_unique_has_no_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.unique(x).y
    with pytest.raises(LookupError, match="gradient registry has no entry for: Unique"):
        tape.gradient(y, x)


def test_nan_and_infinity_pass():
    x = np.array([np.nan, np.inf, -np.inf, 0.0], np.float32)
    for f in (
        lambda t: tf.reverse(t, [0]),
        lambda t: tf.gather(t, [0, 1, 2, 3]),
        lambda t: tf.concat([t, t], 0),
        lambda t: t[1:],
    ):
        np.testing.assert_array_equal(f(tf.constant(x)).numpy(), _numpy(f, x))


def _numpy(f, x):
    """The same on finite stand-ins, mapped back: moving elements does not look at them."""
    stand_ins = {10.0: x[0], 11.0: x[1], 12.0: x[2], 13.0: x[3]}
    moved = f(tf.constant([10.0, 11.0, 12.0, 13.0])).numpy()
    return np.array([stand_ins[float(v)] for v in moved], np.float32)


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: tf.reshape([1, 2, 3], [2, 2]),
            "Input to reshape is a tensor with 3 values, but the requested shape has 4",
        ),
        (lambda: tf.concat([[[1, 2]], [[1, 2, 3]]], 0), "Dimension 1 in both shapes must be equal"),
        (lambda: tf.stack([[1], tf.constant([1, 2])]), "Shapes of all inputs must match"),
        (lambda: tf.split([1, 2, 3], 2), "Number of ways to split should evenly divide the split dimension"),
        (lambda: tf.gather([1, 2], [2]), r"indices\[0\] = 2 is not in \[0, 2\)"),
        (lambda: tf.gather_nd([[1]], [[0, 1]]), r"indices\[0\] = \[0, 1\] does not index into param shape \[1,1\]"),
        (lambda: tf.pad([1], [[-1, 0]]), "Paddings must be non-negative"),
        (lambda: tf.transpose([[1]], [0, 0]), "1 is missing from"),
        (lambda: tf.where([True], [1, 2, 3], [1, 2]), "must be broadcastable"),
        (lambda: tf.tensor_scatter_nd_update([1], [[1]], [0]), "does not index into shape"),
        (lambda: tf.sin(tf.constant(1)), "Value for attr 'T' of int32 is not in the list of allowed values"),
        (lambda: tf.constant(1.0) + tf.constant(1), "was expected to be a float tensor but is a int32 tensor"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call()
