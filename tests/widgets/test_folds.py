"""What is folded hides no parameter, and says where in it the reader is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minitape as tf

from .conftest import position, press

pytestmark = pytest.mark.browser
TURNS = 30


def recurrent() -> tuple[Any, Any, Any]:
    """A recurrent network by hand: three weights, read in each of thirty turns."""
    wx, wh = (tf.Variable(np.eye(4, dtype=np.float32) * k, name=name) for k, name in ((0.5, "Wx"), (0.3, "Wh")))
    b = tf.Variable(np.zeros(4, np.float32), name="b")
    xs = tf.constant(np.random.default_rng(0).normal(size=(TURNS, 2, 4)).astype(np.float32))
    with tf.GradientTape() as tape:
        h = tf.zeros([2, 4])
        for t in range(TURNS):
            h = tf.tanh(xs[t] @ wx + h @ wh + b)
        loss = tf.reduce_sum(h * h)
    return tape, loss, [wx, wh, b]


def titles(page: Any) -> list[str]:
    return page.locator(".mt-node .mt-title").all_text_contents()


def test_weights_stand_beside_the_loop_that_reads_them(show):
    page = show(tf.snapshot(*recurrent()))
    assert set(titles(page)) >= {"Wx", "Wh", "b", f"loop × {TURNS}"}
    assert page.locator(".mt-frame-group").count() == 0  # nothing is open
    press(page, "End")
    for row in page.locator(".mt-node.mt-variable").all():
        assert row.locator(".mt-adjoint").text_content().startswith("∂")


def test_a_folded_loop_says_which_turn_it_is_in(show):
    snapshot = tf.snapshot(*recurrent())
    page = show(snapshot)
    ends = [row["row"] for row in snapshot["rows"] if row["op"] == "tanh"]
    loop = page.locator(".mt-node.mt-group")
    for turn in (2, 17, TURNS):
        page.get_by_label("Go to row").fill(str(ends[turn - 1]))
        page.get_by_label("Go to row").press("Enter")
        assert loop.locator(".mt-value").text_content() == f"{turn} of {TURNS}"
    steps = snapshot["sweep"]["steps"]
    at = next(k for k, step in enumerate(steps) if step["row"] == ends[16])
    page.get_by_label("Step", exact=True).fill(str(len(snapshot["rows"]) + at + 1))
    assert loop.locator(".mt-value").text_content() == f"17 of {TURNS}"
    assert loop.locator(".mt-adjoint").text_content().startswith("∂")


def test_shift_and_an_arrow_step_over_the_loop_and_back(show):
    snapshot = tf.snapshot(*recurrent())
    page = show(snapshot)
    last = max(row["row"] for row in snapshot["rows"] if row["kind"] == "variable")
    page.get_by_label("Go to row").fill(str(last))
    page.get_by_label("Go to row").press("Enter")
    page.locator(".mt-view").focus()
    press(page, "Shift+ArrowRight")
    end = max(row["row"] for row in snapshot["rows"] if row["op"] == "tanh")
    assert position(page) == f"forward {end + 1} / {len(snapshot['rows'])}"
    press(page, "Shift+ArrowRight")
    assert position(page) == f"forward {end + 2} / {len(snapshot['rows'])}"
    press(page, "ArrowLeft", "ArrowLeft", "Shift+ArrowLeft")
    assert int(position(page).split()[1]) <= last + 2  # the first row inside


def test_the_pane_grows_when_something_is_unfolded(show):
    page = show(tf.snapshot(*recurrent()))
    before = page.locator(".mt-pane").bounding_box()["height"]
    page.locator(".mt-node.mt-group").dblclick()
    page.wait_for_function(f"document.querySelector('.mt-pane').getBoundingClientRect().height > {before + 20}")
