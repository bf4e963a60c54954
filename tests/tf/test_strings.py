"""Tensors of texts against Python's own strings."""

from __future__ import annotations

import re

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
def test_cases_and_spaces(texts):
    value = tf.constant(texts)
    assert listed(tf.strings.upper(value, encoding="utf-8")) == [t.upper().encode() for t in texts]
    assert listed(tf.strings.lower(value)) == [t.encode().lower() for t in texts]
    assert listed(tf.strings.strip(value)) == [t.encode().strip() for t in texts]


@QUICK
@given(TEXTS, st.integers(0, 3), st.integers(0, 5))
def test_parts(texts, start, count):
    padded = [t + "....." for t in texts]
    assert listed(tf.strings.substr(padded, start, count)) == [t.encode()[start : start + count] for t in padded]
    by_letters = tf.strings.substr(padded, start, count, unit="UTF8_CHAR")
    assert listed(by_letters) == [t[start : start + count].encode() for t in padded]


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
@given(TEXTS, st.sampled_from(["a+", "[a-c]", r"\d", "(a)(b)?", "X|Y", ".", r"\s*", "^a", "c$", r"[[:upper:]]"]))
def test_patterns(texts, pattern):
    spelled = pattern.replace("[[:upper:]]", "[A-Z]")
    for t in texts:
        wanted = re.fullmatch(spelled, t) is not None
        assert tf.strings.regex_full_match(t, pattern).numpy() == wanted
    ascii_texts = [re.sub("[^ -~]", "", t) for t in texts]
    found = tf.strings.regex_replace(ascii_texts, pattern, "<>", replace_global=False)
    assert listed(found) == [re.sub(spelled, "<>", t, count=1).encode() for t in ascii_texts]


def test_groups_of_patterns():
    assert tf.strings.regex_replace("2024-05", r"(\d+)-(\d+)", r"\2/\1").numpy() == b"05/2024"
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.regex_replace("a", "(", "b")


@QUICK
@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=4))
def test_whole_numbers_and_back(numbers):
    texts = tf.strings.as_string(tf.constant(numbers))
    assert listed(texts) == [str(n).encode() for n in numbers]
    assert listed(tf.strings.to_number(texts, tf.int32)) == numbers
    assert listed(tf.strings.as_string(numbers, width=4, fill="0")) == [f"{n:04d}".encode() for n in numbers]


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
    assert listed(tf.strings.unicode_encode(points, "UTF-8")) == encoded(texts)
    assert tf.strings.unicode_split(texts, "UTF-8").to_list() == [[c.encode() for c in t] for t in texts]
    utf16 = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-16-BE")
    assert listed(utf16) == [t.encode("utf-16-be") for t in texts]


def test_broken_unicode_is_replaced():
    assert listed(tf.strings.unicode_decode([b"a\xffb"], "UTF-8").to_tensor()) == [[97, 0xFFFD, 98]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.unicode_decode([b"\xff"], "UTF-8", errors="strict")


def test_hash_buckets_of_tensorflow():
    # the numbers of TensorFlow 2.21
    assert listed(tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3)) == [0, 2, 2]
    assert listed(tf.strings.to_hash_bucket(["Hello", "TensorFlow", "2.x"], 3)) == [2, 0, 1]


def test_format_as_print_shows_it():
    assert tf.strings.format("x: {}, y: {}", (tf.constant([1, 2]), tf.constant(1.5))).numpy() == b"x: [1 2], y: 1.5"
    assert tf.strings.format("{}", tf.range(10)).numpy() == b"[0 1 2 ... 7 8 9]"


def test_ragged_texts():
    value = tf.ragged.constant([["a", "b"], ["c"]])
    assert tf.strings.upper(value).to_list() == [[b"A", b"B"], [b"C"]]
    assert listed(tf.strings.reduce_join(value, axis=1)) == [b"ab", b"c"]


def test_printing_of_texts():
    assert repr(tf.constant("hé")) == "<tf.Tensor: shape=(), dtype=string, numpy=b'h\\xc3\\xa9'>"
    assert str(tf.constant(["a", "b"])) == "tf.Tensor([b'a' b'b'], shape=(2,), dtype=string)"


def test_texts_can_not_be_computed_with():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant("a") * tf.constant("b")
    with tf.GradientTape() as tape:
        tape.watch(tf.constant("a"))  # a warning in the log, as in TensorFlow


# -- what is refused, and shapes (each case was tried in TensorFlow 2.21) ---------------------------------------------


@pytest.mark.parametrize(
    ("ids", "count", "expected"),
    [([0, 1], 2, [[b"a", b"b"], [b"c", b"d"]]), ([1, 1], 2, [[b"", b""], [b"a+c", b"b+d"]]),
     ([[0, 1], [1, 0]], 2, [b"a+d", b"b+c"])],
)  # fmt: skip
def test_segments_of_strings(ids, count, expected):
    found = tf.strings.unsorted_segment_join([["a", "b"], ["c", "d"]], ids, count, "+")
    assert found.numpy().tolist() == expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.unsorted_segment_join(["a"], [2], 2), "InvalidArgument", "segment_ids are not allowed to exceed"),
        (lambda s: s.unsorted_segment_join(["a"], [-1], 2), "InvalidArgument", "or to have negative values"),
        (lambda s: s.unsorted_segment_join("a", 0, 2), "InvalidArgument", "Segment_id cannot have rank 0"),
        (lambda s: s.unsorted_segment_join("a", [0], 2), "OutOfRange", "Invalid segment_id rank 1 for input with 0"),
        (lambda s: s.unsorted_segment_join(["a"], [0], [2]), "InvalidArgument", "Number of segments must be a scalar"),
        (lambda s: s.unsorted_segment_join(["a"], [0.0], 1), "InvalidArgument", "Value for attr 'Tindices' of float"),
        (lambda s: s.reduce_join([["a"]], axis=[0, 0]), "InvalidArgument", "Duplicate reduction dimension 0"),
        (lambda s: s.reduce_join([["a"]], axis=2), "OutOfRange", "Invalid reduction dimension 2"),
        (lambda s: s.to_number(["1"], tf.float16), "InvalidArgument", "Value for attr 'out_type' of half is not"),
        (lambda s: s.unicode_decode("a", "X"), "InvalidArgument", "Could not create converter for input encoding: X"),
        (lambda s: s.unicode_transcode("a", "X", "UTF-8"), "InvalidArgument", "converter for input encoding: X"),
        (lambda s: s.unicode_split("a", "UTF-8", "foo"), "InvalidArgument", "Value for attr 'errors' of \"foo\""),
        (lambda s: s.unicode_encode([97], "foo"), "InvalidArgument", "Value for attr 'output_encoding' of \"foo\""),
        (lambda s: s.unicode_encode(["a"], "UTF-8"), "InvalidArgument", "a int32 tensor but is a string tensor"),
        (lambda s: s.unicode_encode([0xD800], "UTF-8", "strict"), "InvalidArgument", "or is a surrogate"),
        (lambda s: s.unicode_script(tf.constant([97.0])), "InvalidArgument", "a int32 tensor but is a float tensor"),
        (lambda s: s.regex_full_match(tf.constant([1]), "a"), "InvalidArgument", "cannot compute StaticRegexFullMatch"),
    ],
)
def test_operations_on_strings_refuse(call, error, message):
    with pytest.raises(getattr(tf.errors, f"{error}Error"), match=message):
        call(tf.strings)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.ngrams(["a"], 0), "All ngram_widths must be greater than 0. Got 0"),
        (lambda s: s.ngrams("a", 1), "Data must have rank>0"),
        (lambda s: s.ngrams(tf.constant([1]), 1), "^data: Tensor conversion requested dtype string for Tensor with dtype"),
        (lambda s: s.split(tf.constant([1])), "^input: Tensor conversion requested dtype string for Tensor with dtype"),
        (lambda s: s.bytes_split(tf.constant([1])), "^Tensor conversion requested dtype string for Tensor with dtype"),
    ],
)
def test_functions_of_strings_refuse(call, message):
    with pytest.raises(ValueError, match=message):
        call(tf.strings)


def test_raw_numbers_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"fixed_length \(3\) must be a multiple of the size of"):
        tf.io.decode_raw(["ab"], tf.int16, fixed_length=3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Value for attr 'out_type' of string is not in the list"):
        tf.io.decode_raw("ab", tf.string)
