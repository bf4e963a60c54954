"""Python and NumPy values become tensors with TensorFlow's dtypes, or are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf

QUICK = settings(max_examples=100, deadline=None, derandomize=True)
NESTED = st.recursive(st.integers(-100, 100), lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=12)


def find_shape(value):
    """Return the shape of a nested list, or None if the list is ragged."""
    if not isinstance(value, list):
        return ()
    inner = {find_shape(v) for v in value}
    return (len(value), *inner.pop()) if len(inner) == 1 and None not in inner else None


@QUICK
@given(NESTED)
def test_nested_lists(value):
    if find_shape(value) is None:
        with pytest.raises(ValueError, match="Can't convert"):
            tf.constant(value)
        return
    t = tf.constant(value)
    assert t.dtype == tf.int32 and tuple(t.shape) == find_shape(value) and t.numpy().tolist() == value


@QUICK
@given(st.integers(-(2**70), 2**70))
def test_integers_take_the_dtype_that_holds_them(n):
    if -(2**31) <= n < 2**31:
        assert tf.constant(n).dtype == tf.int32
    elif -(2**63) <= n < 2**63:
        assert tf.constant(n).dtype == tf.int64 and int(tf.constant(n)) == n
    else:
        with pytest.raises(ValueError, match="out-of-range integer"):
            tf.constant(n)


@QUICK
@given(
    hnp.arrays(
        hnp.scalar_dtypes().filter(lambda d: d.kind in "fiubc" and d.itemsize <= 16 and d.char not in "gG"),
        hnp.array_shapes(min_dims=0, min_side=0),
    )
)
def test_arrays_keep_their_dtype_and_are_copied(array):
    array = array.astype(array.dtype.newbyteorder("="))
    t = tf.constant(array)
    assert t.dtype.as_numpy_dtype == array.dtype.type and tuple(t.shape) == array.shape
    before = array.copy()
    if array.size:
        array.reshape(-1)[0] = 1
    np.testing.assert_array_equal(t.numpy(), before)
    if t.ndim:
        t.numpy()[...] = 0
        np.testing.assert_array_equal(t.numpy(), before)


def test_tensors_come_back_as_they_are():
    x = tf.constant([1.0])
    assert tf.constant(x) is x and tf.convert_to_tensor(x) is x
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32"):
        tf.convert_to_tensor(x, tf.int32)


def test_lists_of_tensors_are_stacked_with_their_gradient():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.convert_to_tensor([x, 3.0, x * x])
    assert tape.gradient(y, x).numpy() == 5.0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "complex64"])
def test_numpy_operands_take_the_dtype_of_the_tensor(dtype):
    x = tf.constant([1, 2], dtype)
    for other in (np.array([1.7, 2.7]), np.float64(2.0), np.array([1, 2])):
        assert (x + other).dtype == dtype
        assert (other * x).dtype == dtype


def test_operands_of_another_dtype():
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a int32 tensor but is a float tensor"):
        tf.constant(1) + 2.5
    with pytest.raises(TypeError, match=r"Cannot convert 2.5 to EagerTensor of dtype int32"):
        2.5 * tf.constant(1)
    with pytest.raises(TypeError, match=r"must have the same dtype, got tf.float32 != tf.int32"):
        tf.constant(1.0) / tf.constant(1)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16", "uint32", "complex64"])
def test_small_integers_and_complex64_take_no_bools(dtype):
    with pytest.raises(TypeError, match="Cannot convert True to EagerTensor of dtype"):
        tf.constant(True, dtype)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.cast(1, dtype) + True
    with pytest.raises(TypeError):
        assert tf.cast(1, dtype) < True
    assert tf.constant([2, True], dtype).numpy().tolist() == [2, 1]


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64", "float16", "float32", "float64", "complex128"])
def test_other_numbers_take_bools(dtype):
    assert tf.constant(True, dtype).numpy() == 1 and (tf.cast(1, dtype) + True).numpy() == 2


def test_bools_and_bits():
    flags, bits = tf.constant([True, False]), tf.constant([12, 10])
    assert (flags & [True, True]).numpy().tolist() == [True, False] and (~flags).numpy().tolist() == [False, True]
    assert (bits & 6).numpy().tolist() == [4, 2] and (bits ^ bits).numpy().tolist() == [0, 0]


def test_casts_that_drop_imaginary_parts_say_so(caplog):
    tf.cast(tf.constant(1 + 2j), tf.float32)
    assert "This will discard the imaginary part" in caplog.text


def test_python_numbers_of_scalars():
    for made in (tf.constant, tf.Variable):
        assert complex(made(1 + 2j)) == 1 + 2j and float(made(1.5)) == 1.5 and int(made(3)) == 3
        assert bool(made(1)) and not made(0.0)


def test_dtypes():
    assert (
        tf.float32 == "float32" == tf.constant(np.float32(1)).dtype.name and tf.cast(1, np.float32).dtype is tf.float32
    )
    assert hash(tf.float32) == 1
    for wrong in (int, "floaty", None, complex):
        with pytest.raises(TypeError, match="to a TensorFlow DType"):
            tf.cast(1.0, wrong)
