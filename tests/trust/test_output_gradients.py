"""Output gradients and tangents of a wrong shape or dtype: never a gradient of another shape, and TensorFlow's wherever
that has one.

`output_gradients.py` has the cases, and its JSON what TensorFlow 2.21 makes of them: that depends on the kernel of each
operation. Here one rule holds for all: what can be multiplied by the target, and leaves its shape, counts as that
product has it; all else is an error.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import minitape as tf

sys.path.insert(0, str(Path(__file__).parent))
from output_gradients import GIVEN, TEXTS, X, answer, computed, gradient, product

TENSORFLOW = json.loads(Path(__file__).with_name("output_gradients.json").read_text(encoding="utf-8"))
WAYS = {"gradient": gradient, "product": product}
# TensorFlow's reshapes look at the number of elements only
BY_NUMBER = ("flat", "empty", "one axis more", "larger", "does not fit")


def fits(ask, name, like):
    """Whether what is given takes the shape of ``like``, without a cast, where it is broadcast."""
    given = GIVEN[name](list(like.shape), like.dtype)
    try:
        whole = np.broadcast_shapes(given.shape, like.shape)
    except ValueError:
        return False
    return given.dtype == like.dtype and (whole == like.shape or (ask is gradient and np.prod(whole) == like.size))


def test_what_tensorflow_gives_is_given():
    for way, ask in WAYS.items():
        for text in TEXTS:
            target = computed(tf, text, tf.constant(X)).numpy()
            for name, given in GIVEN.items():
                theirs, ours = TENSORFLOW[way][text][name], answer(tf, ask, text, given)
                kind = "value" if not isinstance(theirs, str) else theirs if theirs == "other" else "error"
                assert ours != "other", (way, text, name)  # no gradient of another shape or dtype
                assert isinstance(ours, str) != fits(ask, name, target if ask is gradient else X), (way, text, name)
                if kind == "value" and isinstance(ours, str):  # what has the right number of elements, or is cast
                    assert name in BY_NUMBER or "cast" in text, (way, text, name)
                elif (
                    kind == "value"
                    and ask is product
                    and text in ("tf.reduce_sum(x)", "tf.reduce_mean(x)")
                    and name != "right"
                ):
                    assert ours != theirs or name == "scalar"  # TensorFlow adds up the tangent as it was given
                elif kind == "value":
                    assert ours == theirs, (way, text, name)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_smaller_stands_for_its_broadcast(way):
    ask = WAYS[way]
    for text in TEXTS:
        target = computed(tf, text, tf.constant(X)).numpy()
        for name in ("scalar", "one element", "last axis", "axes of 1"):
            if fits(ask, name, target if ask is gradient else X):
                assert answer(tf, ask, text, GIVEN[name]) == answer(tf, ask, text, GIVEN["right"]), (text, name)


@pytest.mark.parametrize("name", ["larger", "does not fit", "empty", "other float", "integers", "booleans"])
def test_the_class_of_the_error_is_tensorflows(name):
    """InvalidArgumentError for output gradients, ValueError for most tangents, as TensorFlow raises where it raises."""
    for way, own in (("gradient", "InvalidArgumentError"), ("product", "ValueError")):
        for text in TEXTS[1:]:
            assert answer(tf, WAYS[way], text, GIVEN[name]) == own, (way, text)
