"""The row of results: the numbers that the program got, with every call, every state and every None."""

from __future__ import annotations

import pytest

import minitape as tf

from .conftest import position, press

pytestmark = pytest.mark.browser


def test_states_add_up_and_none_has_its_reason(show):
    v, u = tf.Variable(2.0, name="v"), tf.Variable(1.0, name="u")
    with tf.GradientTape(persistent=True) as tape:
        y = v * 3.0
        v.assign_add(1.0)
        z = y * v
    tape.gradient(y, v), tape.gradient(z, [v, u])
    page = show(tf.snapshot(tape))
    lines = [" ".join(text.split()) for text in page.locator(".mt-result").all_inner_texts()]
    assert lines[0] == "earlier: show ∂y / ∂v = 3.0"
    assert lines[1].startswith("∂z / ∂v = 15.0 (9.0 at row 0 + 6.0 at row 3) ∂z / ∂u = None")
    message = tape.explain(z, u).message
    page.locator(".mt-reason summary").click()
    assert message in page.locator(".mt-reason").inner_text()
    page.locator(".mt-result .mt-link").last.click()
    page.locator(".mt-node.mt-selected[data-id=r3]").wait_for()


def test_many_sources_are_shown_when_somebody_asks(show):
    x = [tf.Variable(float(k), name=f"x{k}") for k in range(12)]
    with tf.GradientTape() as tape:
        y = tf.add_n(x)
    tape.gradient(y, x)
    page = show(tf.snapshot(tape))
    assert page.locator(".mt-result-source").count() == 8
    page.get_by_role("button", name="4 more").click()
    assert page.locator(".mt-result-source").count() == 12
    press(page, "End")
    page.get_by_role("button", name="fewer").click()
    assert page.locator(".mt-result-source").count() == 8


def test_an_earlier_call_shows_its_own_sweep(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = tf.sin(y) * x
    tape.gradient(y, x)
    second = tape.gradient(z, x)
    snapshot = tf.snapshot(tape)
    page = show(snapshot)
    press(page, "End")
    at_x = page.locator(".mt-node[data-id=r0] .mt-adjoint")
    steps = len(snapshot["sweep"]["steps"])
    assert position(page) == f"backward {steps} / {steps}"
    assert float(at_x.text_content()[2:]) == pytest.approx(float(second))
    page.get_by_role("button", name="earlier: show").click()
    press(page, "End")
    assert position(page) == "backward 1 / 1" and at_x.text_content() == "∂ 6.0"
    assert page.locator(".mt-result.mt-shown").inner_text().endswith("= 6.0")
    page.get_by_role("button", name="last: show").click()
    page.locator(".mt-view").focus()
    press(page, "End")
    assert float(at_x.text_content()[2:]) == pytest.approx(float(second))


def test_earlier_sweeps_have_an_end():
    x = tf.Variable(1.01)
    with tf.GradientTape(persistent=True) as tape:
        y = x * 1.0
        for _ in range(900):
            y = y * x
    for _ in range(8):
        tape.gradient(y, x)
    kept = ["sweep" in result for result in tf.snapshot(tape)["results"]]
    assert kept == [False] * 3 + [True] * 4 + [False]  # of 4,000 steps the last ones; the last call's is the snapshot's own
