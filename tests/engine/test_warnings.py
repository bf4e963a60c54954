"""Infinities and NaN appear without NumPy's warnings, and the user's own NumPy settings remain."""

import runpy
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import minitape as tf
from minitape.engine.table import float_warnings

BIG = np.float32(3e38)


def compute_overflows(value):
    """Return a gradient and a sum that overflow."""
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x / 0.0 - tf.exp(x))
    return np.max(tape.gradient(y, x)), np.max(x + x)


@pytest.mark.parametrize("value", [BIG, np.full((2, 3), BIG)], ids=["number", "array"])
def test_a_setting_of_the_users_is_not_seen_and_not_changed(value):
    with np.errstate(all="raise"):
        before = np.geterr()
        gradient, double = compute_overflows(value)
        assert np.geterr() == before
    assert np.isnan(gradient) and double == np.inf


def test_threads_at_once():
    with ThreadPoolExecutor(4) as threads:
        assert {double for _, double in threads.map(compute_overflows, [BIG] * 64)} == {np.inf}


def test_a_numpy_that_keeps_its_setting_elsewhere(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy._core.umath", None)
    other = runpy.run_path(float_warnings.__file__, run_name=float_warnings.__name__)
    assert (
        other["ignore_fp_errors"]().run(np.multiply, BIG, BIG) == other["run_number"](np.multiply, BIG, BIG) == np.inf
    )
    with np.errstate(all="raise"):
        before = np.geterr()
        put_back = other["WARNINGS"][other["OFF"]]
        assert np.isinf(BIG * BIG)
        other["restore_fp_errors"](put_back)
        assert np.geterr() == before
