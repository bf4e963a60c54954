"""Derivatives to feel: a leaf that is moved, tangents, and predictions. The reference is the program, run again."""

from typing import Any

import pytest

import minitape as tf
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import type_keys
from .test_page import table

pytestmark = [pytest.mark.browser, pytest.mark.long]

FUNCTIONS = (
    tf.sin, tf.cos, tf.tan, tf.exp, tf.math.expm1, tf.math.log, tf.math.log1p, tf.sqrt, tf.math.rsqrt, tf.square,
    tf.tanh, tf.sigmoid, tf.math.softplus, tf.nn.relu, tf.abs, tf.negative, tf.math.reciprocal, tf.atan, tf.sinh,
    tf.cosh, tf.asinh,
)  # fmt: skip


def mixed(value: float) -> Any:
    x, w = tf.Variable(value, name="x"), tf.Variable(0.5, name="w")
    with tf.GradientTape() as tape:
        a = x * w
        y = tf.sin(a) * x - w**x / (2.0 + a) + tf.maximum(a, x)
    return tape, y, [x, w]


def functions(value: float) -> Any:
    x = tf.Variable(value, name="x", dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = x * 1.0
        for f in FUNCTIONS:
            y = y + f(x)
    return tape, y, [x]


def arrays(value: float) -> Any:
    x = tf.Variable(value, name="x")
    matrix = tf.constant([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]])
    with tf.GradientTape() as tape:
        a = x * matrix
        b = tf.nn.softmax(a[0]) + tf.reduce_max(a, axis=0) * tf.nn.log_softmax(a)[1]
        c = tf.stack([b, tf.where(b > 0.5, b, x * x)], axis=1) @ tf.transpose(tf.stack([b, a[1]], axis=1))
        y = tf.reduce_mean(tf.reshape(c, [-1])) + tf.reduce_sum(tf.reduce_min(a, axis=1, keepdims=True))
    return tape, y, [x]


def numbers(page: Any) -> list[tuple[float, float]]:
    found = table(page)
    return [tuple(float(found[row][name] or "nan") for name in ("value", "adjoint")) for row in sorted(found)]


@pytest.mark.parametrize("program", [mixed, functions])
def test_a_leaf_that_is_moved_takes_rows_and_sweep_along(program, show, page):
    page.set_viewport_size({"width": 1200, "height": 2400})
    shown = show(tf.snapshot(*program(1.5)))
    shown.locator(".mt-below").evaluate("el => { el.style.height = '1400px' }")
    type_keys(shown, "End")
    shown.locator(".mt-lines [data-row='0']").click()
    type_keys(shown, "End")
    before = numbers(shown)
    for value in (0.25, 2.75):
        shown.get_by_label("value of x").fill(str(value))
        shown.get_by_label("value of x").press("Enter")
        wait_for_frame(shown)
        again = tf.snapshot(*program(value))
        adjoints = {step["row"]: step["adjoint"]["data"] for step in again["sweep"]["steps"]}
        adjoints |= {e["input"]: e["sum"]["data"] for step in again["sweep"]["steps"] for e in step["edges"]}
        for row, (primal, adjoint) in zip(again["rows"], numbers(shown), strict=True):
            assert primal == pytest.approx(row["value"]["data"], rel=5e-4)
            if row["row"] in adjoints:
                assert adjoint == pytest.approx(adjoints[row["row"]], rel=5e-4)
        gradient = again["sweep"]["gradients"][0]["text"]
        result = shown.locator(".mt-result-source b").first.get_attribute("title")
        assert float(result) == pytest.approx(float(gradient), rel=5e-4)
        assert "what if" in shown.locator(".mt-results").inner_text()
    shown.get_by_role("button", name="back", exact=True).click()
    assert str(numbers(shown)) == str(before)


def test_a_number_that_is_moved_takes_arrays_along(show, page):
    page.set_viewport_size({"width": 1200, "height": 2400})
    shown = show(tf.snapshot(*arrays(0.7)))
    shown.locator(".mt-below").evaluate("el => { el.style.height = '1400px' }")
    type_keys(shown, "End")
    shown.locator(".mt-lines [data-row='0']").click()
    type_keys(shown, "End")
    shown.get_by_label("value of x").fill("1.25")
    shown.get_by_label("value of x").press("Enter")
    wait_for_frame(shown)
    moved = [(line["value"], line["adjoint"]) for _, line in sorted(table(shown).items())]
    again = show(tf.snapshot(*arrays(1.25)))
    again.locator(".mt-below").evaluate("el => { el.style.height = '1400px' }")
    type_keys(again, "End")
    assert moved == [(line["value"], line["adjoint"]) for _, line in sorted(table(again).items())]


def test_a_small_step_does_what_the_gradient_says(show):
    tape, y, sources = mixed(1.5)
    page = show(tf.snapshot(tape, y, sources))
    type_keys(page, "End")
    page.locator(".mt-lines [data-row='0']").click()
    type_keys(page, "End")
    gradient = float(tape.gradient(y, sources)[0].numpy())
    assert f"slope {gradient:.4g}" in page.locator(".mt-feel figcaption").inner_text()
    said = page.locator(".mt-ghoststep").inner_text()
    assert said.startswith("x + 0.01 → y +") and said.endswith(f"the gradient predicts +{gradient / 100:.4g}")
    step = float(said.split("y +")[1].split(";")[0])
    assert step == pytest.approx(gradient / 100, rel=0.02)


def test_a_selected_operation_draws_its_function_with_the_slope_on_its_edge(show):
    tape, y, sources = mixed(1.5)
    snapshot = tf.snapshot(tape, y, sources)
    page = show(snapshot)
    (step,) = (s for s in snapshot["sweep"]["steps"] if snapshot["rows"][s["row"]]["op"] == "sin")
    page.locator(f".mt-lines [data-row='{step['row']}']").click()
    wait_for_frame(page)
    local = float(step["edges"][0]["local"]["text"])
    assert page.locator(".mt-feel figcaption").inner_text() == f"sin(a), at a = 0.75: slope {local:.4g}"
    slope = page.locator(".mt-curve-tangent").evaluate(
        "path => { const [a, b] = [path.getPointAtLength(0), path.getPointAtLength(1e9)]; return -(b.y - a.y) / "
        "(b.x - a.x) }"
    )
    assert slope > 0


def test_the_numbers_of_a_curve_are_its_ends_and_beside_it(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * x
    page = show(tf.snapshot(tape, y, x))
    page.locator(".mt-lines [data-row='0']").click()
    ticks = page.locator(".mt-tick")
    assert sorted(ticks.all_text_contents()) == ["0", "0", "36", "6"]  # x from 0 to 6, y from 0 to 36
    curve = read_box(page.locator(".mt-curve-line"))
    for tick in ticks.all():
        box = read_box(tick)
        assert box["x"] + box["width"] <= curve["x"] or box["y"] >= curve["y"] + curve["height"]


def test_dragging_a_leaf_moves_it(show):
    page = show(tf.snapshot(*mixed(1.5)))
    box = read_box(page.locator(".mt-node[data-id=r0]"))
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y, steps=4)
    page.mouse.up()
    assert float(table(page)[0]["value"]) == pytest.approx(1.5 + 40 * 0.015, abs=0.02)


def test_what_no_browser_can_compute_says_so(show):
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tile(x * tf.constant([1.0, 2.0]), [2]))
    page = show(tf.snapshot(tape, y, x))
    page.locator(".mt-lines [data-row='0']").click()
    page.locator(".mt-feelings .mt-note").get_by_text("This value cannot be moved here, because an array").wait_for(
        timeout=20_000
    )


def test_the_first_question_of_predictions_comes_at_once(show):
    tape, y, x = mixed(1.5)
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End", "q")
    assert page.get_by_label("your number").is_visible()
    assert page.locator(".mt-count").inner_text().startswith("forward")
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "Home", "q")
    assert "step back" in page.locator(".mt-predict").inner_text()


def test_predictions_hide_the_products_until_they_are_typed(show):
    tape, y, x = mixed(1.5)
    page = show(tf.snapshot(tape, y, x))
    steps = tf.snapshot(tape, y, x)["sweep"]["steps"]
    type_keys(page, "q", "End")
    assert not any(line["adjoint"] for line in table(page).values())
    assert "?" in page.locator(".mt-results").inner_text()
    field = page.get_by_label("your number")
    type_keys(page, "1", "2", "3", "Enter")
    assert "not yet" in page.locator(".mt-said").inner_text()
    assert page.locator(".mt-count").inner_text().startswith("forward")
    product = next(edge["product"]["data"] for edge in steps[0]["edges"])
    field.fill(f"{product:.3g}")
    field.press("Enter")
    wait_for_frame(page)
    assert page.locator(".mt-count").inner_text() == f"backward 1 / {len(steps)}"
    type_keys(page, "ArrowRight")
    second = 1
    while (wrong := steps[second]["edges"][0]["product"]["data"]) == 0:
        page.get_by_role("button", name="show it").click()
        type_keys(page, "ArrowRight")
        second += 1
    page.get_by_label("your number").fill(f"{-wrong:.4g}")
    page.get_by_role("button", name="check").click()
    wait_for_frame(page)
    assert "sign" in page.locator(".mt-said").inner_text()
    page.get_by_role("button", name="show it").click()
    wait_for_frame(page)
    assert page.locator(".mt-count").inner_text() == f"backward {second + 1} / {len(steps)}"
    type_keys(page, "q", "End")
    assert page.locator(".mt-count").inner_text() == f"backward {len(steps)} / {len(steps)}"
