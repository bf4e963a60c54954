"""tf.nest, TensorShape, IndexedSlices and other objects that contain tensors or sizes behave as in TensorFlow."""

import collections
import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf

QUICK = settings(max_examples=80, deadline=None, derandomize=True)
NESTED = st.recursive(
    st.integers(),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)),
    max_leaves=10,
)  # fmt: skip
SIZES = st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=4)
Point = collections.namedtuple("Point", "x y")


@QUICK
@given(NESTED)
def test_flatten_and_pack(structure):
    leaves = tf.nest.flatten(structure)
    assert tf.nest.pack_sequence_as(structure, leaves) == structure
    assert tf.nest.map_structure(lambda x: x, structure) == structure
    assert tf.nest.flatten(tf.nest.map_structure(str, structure)) == [*map(str, leaves)]


@QUICK
@given(NESTED)
def test_one_leaf_too_many(structure):
    leaves = tf.nest.flatten(structure)
    with pytest.raises(ValueError, match=r"Could not pack sequence|cannot guarantee that it is safe"):
        tf.nest.pack_sequence_as(structure, [*leaves, 0])


def test_dictionaries_are_walked_in_the_order_of_their_keys():
    assert tf.nest.flatten({"b": 1, "a": {"d": 2, "c": 3}}) == [3, 2, 1]
    packed = tf.nest.pack_sequence_as(collections.OrderedDict([("b", 0), ("a", 0)]), [1, 2])
    assert list(packed.items()) == [("b", 2), ("a", 1)]


def test_named_tuples_keep_their_type():
    assert tf.nest.map_structure(lambda v: v + 1, Point(1, [2])) == Point(2, [3])


@QUICK
@given(SIZES, SIZES)
def test_shapes_agree_or_not(a, b):
    x, y = tf.TensorShape(a), tf.TensorShape(b)
    agree = len(a) == len(b) and all(m == n or None in (m, n) for m, n in zip(a, b, strict=True))
    assert x.is_compatible_with(y) == y.is_compatible_with(x) == agree
    assert x.concatenate(y).as_list() == a + b == (x + y).as_list()


@QUICK
@given(SIZES)
def test_shapes_are_values(sizes):
    shape = tf.TensorShape(sizes)
    assert shape == sizes and shape == tuple(sizes) and list(shape) == sizes
    assert (
        hash(shape) == hash(tf.TensorShape(sizes))
        and copy.deepcopy(shape) == pickle.loads(pickle.dumps(shape)) == shape
    )
    assert shape.is_fully_defined() == (None not in sizes)
    assert shape.num_elements() == (None if None in sizes else int(np.prod(sizes)))
