"""Tensors of texts against Python's own strings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
WORDS = st.text("abcXYZ 019_é漢", max_size=8)
TEXTS = st.lists(WORDS, min_size=1, max_size=4)


def encoded(texts):
    return [t.encode() for t in texts]


def listed(tensor):
    return tensor.numpy().tolist()


@QUICK
@given(TEXTS)
def test_texts_are_bytes(texts):
    value = tf.constant(texts)
    assert value.dtype == tf.string and listed(value) == encoded(texts)
    assert listed(tf.strings.length(value)) == [len(t.encode()) for t in texts]
    assert listed(tf.strings.length(value, unit="UTF8_CHAR")) == [len(t) for t in texts]
    assert listed(value == texts[0]) == [t == texts[0] for t in texts]


@QUICK
@given(TEXTS)
def test_cases(texts):
    value = tf.constant(texts)
    assert listed(tf.strings.upper(value)) == [t.encode().upper() for t in texts]
    assert listed(tf.strings.lower(value)) == [t.encode().lower() for t in texts]


@QUICK
@given(TEXTS, st.integers(0, 3), st.integers(0, 5))
def test_parts(texts, start, count):
    padded = [t + "....." for t in texts]
    assert listed(tf.strings.substr(padded, start, count)) == [t.encode()[start : start + count] for t in padded]


@QUICK
@given(TEXTS)
def test_splitting_and_joining(texts):
    value = tf.constant(texts)
    assert tf.strings.split(value).to_list() == [[w.encode() for w in t.split()] for t in texts]
    assert tf.strings.split(value, "a").to_list() == [t.encode().split(b"a") for t in texts]
    assert listed(tf.strings.join([value, "-", value])) == [f"{t}-{t}".encode() for t in texts]
    assert listed(tf.strings.join([value, value], separator="+")) == [f"{t}+{t}".encode() for t in texts]
    assert tf.strings.reduce_join(value, separator=",").numpy() == ",".join(texts).encode()
    assert listed(value + "!") == [(t + "!").encode() for t in texts]
    assert tf.strings.bytes_split(value).to_list() == [[bytes([b]) for b in t.encode()] for t in texts]


@QUICK
@given(TEXTS)
def test_reduce_join_along_an_axis(texts):
    grid = [texts, texts[::-1]]
    assert listed(tf.strings.reduce_join(grid, axis=0)) == [(a + b).encode() for a, b in zip(*grid, strict=True)]
    assert listed(tf.strings.reduce_join(grid, axis=1, separator=" ")) == [" ".join(row).encode() for row in grid]


@QUICK
@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=4))
def test_whole_numbers_and_back(numbers):
    texts = tf.strings.as_string(tf.constant(numbers))
    assert listed(texts) == [str(n).encode() for n in numbers]
    assert listed(tf.strings.to_number(texts, tf.int32)) == numbers


@QUICK
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4))
def test_fractions_and_back(numbers):
    found = tf.strings.to_number([repr(n) for n in numbers], tf.float64)
    np.testing.assert_array_equal(found, numbers)
    assert listed(tf.strings.as_string(tf.constant(numbers, tf.float64), precision=2)) == [
        f"{n:.2f}".encode() for n in numbers
    ]


@pytest.mark.parametrize("text", ["", "1x", "0x", "--1", "1 2"])
def test_texts_that_are_no_numbers(text):
    with pytest.raises(tf.errors.InvalidArgumentError, match="StringToNumberOp could not correctly convert string"):
        tf.strings.to_number(text)


@QUICK
@given(TEXTS)
def test_unicode(texts):
    points = tf.strings.unicode_decode(texts, "UTF-8")
    assert points.to_list() == [[ord(c) for c in t] for t in texts]
    assert tf.strings.unicode_split(texts, "UTF-8").to_list() == [[c.encode() for c in t] for t in texts]
    in_utf16 = tf.constant([t.encode("utf-16-be") for t in texts])
    assert tf.strings.unicode_decode(in_utf16, "UTF-16-BE").to_list() == points.to_list()


def test_broken_unicode_is_replaced():
    assert listed(tf.strings.unicode_decode([b"a\xffb"], "UTF-8").to_tensor()) == [[97, 0xFFFD, 98]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.unicode_decode([b"\xff"], "UTF-8", errors="strict")


def test_the_pieces_of_a_block_of_texts_are_refused():
    with pytest.raises(ValueError, match="a ragged tensor has no rows of rows"):
        tf.strings.split([["a b", "c"], ["d", "e f g"]])
