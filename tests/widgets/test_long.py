"""Long recordings in a browser, without a kernel: folded, placed beside the page's other work, fitted, zoomed."""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape.picture import shown_values
from minitape_widgets import TapeView
from minitape_widgets import saved_page as pages
from tests.jupyterlab_page import read_box

from .conftest import build_chain_snapshot, read_position, round_text, type_keys

pytestmark = pytest.mark.browser
NEEDS_FRESH_PAGES = True  # A test may leave nodes to be placed, or forbid workers.


def test_a_loop_is_folded_and_opens_on_enter(show):
    page = show(build_chain_snapshot(300))
    assert "turn 300 of 300" in page.locator(".mt-scene").text_content()  # it opens at the last row
    assert page.locator(".mt-node").count() == 4
    type_keys(page, "ArrowUp", "Enter")
    page.wait_for_function("document.querySelectorAll('.mt-node').length > 4")
    page.get_by_label("Folding").select_option("none")
    page.wait_for_function("document.querySelectorAll('.mt-node').length > 5")
    type_keys(page, "Home", "ArrowRight")
    assert read_position(page) == "forward 1 / 603"


@pytest.mark.long
def test_numbers_of_rows_are_never_cut(show, page):
    page.set_viewport_size({"width": 760, "height": 860})
    show(build_chain_snapshot(6000))
    cut = page.locator(".mt-c-row, .mt-c-line").evaluate_all(
        "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent)"
    )
    assert page.locator(".mt-line.mt-current .mt-c-row").inner_text() == "12002"
    assert not cut


@cache
def bush(n: int) -> dict[str, Any]:
    """No two lines alike, so that nothing folds: each row reads a row before and an older one."""
    x = tf.Variable(0.5, name="x")
    with tf.GradientTape() as tape:
        values = [x * 1.0, x + 1.0]
        for k in range(n):
            values.append((tf.sin, tf.cos, tf.tanh)[k * k % 3](values[-1]) * values[k * 7 % (k + 1)])
    return tf.snapshot(tape, values[-1], x)


FORBID = "<meta http-equiv='Content-Security-Policy' content=\"worker-src 'none'\">"


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("forbidden", [False, True], ids=["worker", "no worker"])
def test_a_long_recording_is_placed_in_a_worker_or_here_where_workers_are_forbidden(forbidden, request):
    from minitape_widgets.saved_page import build_html_page as page_text

    page = request.getfixturevalue("page_with_policy" if forbidden else "page")
    text = page_text(bush(1500))
    page.set_content(text.replace("<title>", f"{FORBID}<title>") if forbidden else text)
    page.wait_for_selector(".mt-node")
    assert len(page.workers) == (0 if forbidden else 1)
    page.get_by_label("Folding").select_option("none")
    page.locator(".mt-view").focus()
    type_keys(page, "0")  # before or after the nodes were placed: the order does not matter
    page.locator(".mt-node").nth(500).wait_for(state="attached")


HOLD = """() => {
    const post = Worker.prototype.postMessage;
    window.held = [];
    Worker.prototype.postMessage = function (...message) { window.held.push(() => post.apply(this, message)); };
}"""


def press_while_nodes_are_placed(page, *keys):
    page.evaluate(HOLD)
    page.get_by_label("Folding").select_option("none")
    stop = page.get_by_role("button", name="arranging… stop")
    stop.wait_for()
    page.locator(".mt-view").focus()
    type_keys(page, *keys)
    page.evaluate("window.held.forEach(send => send())")
    stop.wait_for(state="hidden")


def test_what_is_fitted_while_nodes_are_placed_is_still_fitted_when_they_are(show):
    page = show(bush(1500))
    press_while_nodes_are_placed(page, "0")
    page.wait_for_function("document.querySelectorAll('.mt-node').length > 500")


SCALE = "Number(document.querySelector('.mt-scene > g').getAttribute('transform').match(/scale\\((.*?)\\)/)[1])"


def test_zooming_while_nodes_are_placed_is_kept(show):
    page = show(bush(1500))
    press_while_nodes_are_placed(page, "0", "+", "+", "+")
    page.wait_for_function("document.querySelectorAll('.mt-node').length > 100")
    seen = page.locator(".mt-node").count()
    type_keys(page, "-", "-", "-")
    page.wait_for_function(f"document.querySelectorAll('.mt-node').length > {max(500, seen)}")  # all is seen again


def test_placing_can_be_stopped(show):
    page = show(bush(1500))
    before = page.locator(".mt-node").count()
    page.evaluate("Worker.prototype.postMessage = () => undefined")  # a worker that never answers
    page.get_by_label("Folding").select_option("none")
    stop = page.get_by_role("button", name="arranging… stop")
    stop.click()
    stop.wait_for(state="hidden")
    assert page.get_by_label("Folding").input_value() == "auto"
    page.get_by_label("Folding").select_option("all")
    stop.wait_for()
    page.locator(".mt-view").focus()
    type_keys(page, "Escape")
    stop.wait_for(state="hidden")
    assert page.locator(".mt-node").count() == before


def test_a_page_without_a_kernel_has_the_gradient_of_a_long_sweep_and_says_why_it_has_no_steps(show, monkeypatch):
    gradient = build_chain_snapshot(10)["results"][0]["sources"][0]["gradient"]["text"]
    monkeypatch.setattr(import_module("minitape.picture.stepper"), "MAX_EAGER_ROWS", 10)
    monkeypatch.setattr(import_module("minitape.picture.gradient_results"), "MAX_ROWS_WITH_STEPS", 10)
    page = show(build_chain_snapshot(10))
    assert page.locator(".mt-result").inner_text() == f"∂y / ∂w = {round_text(gradient)}"
    assert not page.get_by_role("button", name="▶ go backward").is_visible()  # It would lead nowhere.
    type_keys(page, "End", "ArrowRight")
    assert read_position(page) == "forward 23 / 23"
    assert "visits 22 more rows, too many to keep their steps" in page.locator(".mt-step").inner_text()


@pytest.mark.parametrize("size", [3, 200_000])
def test_a_sweep_without_steps_has_the_gradient_that_the_call_returned(size, monkeypatch):
    monkeypatch.setattr(import_module("minitape.picture.gradient_results"), "MAX_ROWS_WITH_STEPS", 2)
    x = tf.Variable(np.linspace(0.5, 0.7, size), name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.cos(x) * tf.sin(x))
    gradient = tape.gradient(y, x).numpy()
    source = tf.snapshot(tape)["results"][0]["sources"][0]["gradient"]
    found = source.get("stats", {"min": np.min(source.get("data", 0)), "max": np.max(source.get("data", 0))})
    assert (found["min"], found["max"]) == (gradient.min(), gradient.max())


def test_a_figure_says_that_it_has_no_gradient():
    x = tf.Variable(tf.zeros([3000, 2000]), name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sigmoid(x))
    tape.gradient(y, x)
    assert "= not computed here<" in tf.draw(tape).svg


def test_a_long_tape_leaves_out_the_elements_in_the_texts_of_its_arrays_and_of_its_sweep(monkeypatch):
    """The browser writes the numbers itself, and NumPy would take longer for the texts than for all else."""
    x, scale = tf.Variable([0.5, -1.25]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.exp(x * scale))
    gradients = tape.gradient(y, [x, scale])

    def read_values():
        snapshot = TapeView(tape, y, [x, scale]).read_snapshot()
        steps = snapshot["sweep"]["steps"]
        products = [edge["product"] for step in steps for edge in step["edges"]]
        values = [row["value"] for row in snapshot["rows"]] + [step["adjoint"] for step in steps] + products
        return snapshot["sweep"]["gradients"], values

    _, whole = read_values()
    monkeypatch.setattr(shown_values, "MAX_ROWS_WITH_TEXTS", 3)
    results, brief = read_values()
    assert [value["data"] for value in brief] == [value["data"] for value in whole]
    texts = ["" if isinstance(value["data"], list) else value["text"] for value in whole]
    assert "" in texts and [value["text"] for value in brief] == texts
    assert [result["text"] for result in results] == [str(gradient.numpy()) for gradient in gradients]


def test_arrays_without_texts_are_compared_by_their_elements(monkeypatch):
    monkeypatch.setattr(shown_values, "MAX_ROWS_WITH_TEXTS", 1)

    def record(factor):
        x = tf.Variable([0.5, -1.25])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x * factor)
        tape.gradient(y, x)
        return tape

    assert "same" in repr(TapeView.compare(record(2.0), record(2.0)))
    assert "differs" in repr(TapeView.compare(record([2.0, 3.0]), record([2.0, 4.0])))


@pytest.mark.long
def test_nodes_fitted_from_afar_keep_a_width_on_the_screen(show):
    page = show(build_chain_snapshot(300))
    page.get_by_label("Folding").select_option("none")
    page.locator(".mt-view").focus()
    type_keys(page, "0")
    page.wait_for_function("document.querySelectorAll('.mt-node').length === 603")
    assert read_box(page.locator(".mt-node .mt-box").nth(300))["height"] >= 2


def test_a_large_page_travels_compressed_and_then_as_summaries(tmp_path, show, page, monkeypatch):
    """A scan of training steps: a page has its numbers, and the small pictures of its arrays."""
    w = tf.Variable(np.random.default_rng(0).normal(size=(40, 40)).astype(np.float32) * 0.1, name="w")
    x = tf.constant(np.random.default_rng(1).normal(size=(40, 40)).astype(np.float32))
    with tf.GradientTape() as tape:
        h = x
        for _ in range(12):
            h = tf.tanh(h @ w + x)
        loss = tf.reduce_mean(h * h)
    gradient = tape.gradient(loss, w)
    for most in (pages.MAX_PAGE_LETTERS, 250_000):
        monkeypatch.setattr(pages, "MAX_PAGE_LETTERS", most)
        TapeView(tape).save(tmp_path / "tape.html")
        page.set_content((tmp_path / "tape.html").read_text(encoding="utf-8"))
        page.locator(".mt-node").first.wait_for()
        assert page.locator(".mt-lines .mt-current .mt-c-value").inner_text() == round_text(str(loss.numpy()))
        page.locator(".mt-view").focus()
        type_keys(page, "End")
        node = page.locator(".mt-node.mt-variable")
        assert node.locator(".mt-adjoint").text_content().startswith("∂ ±") and node.locator(".mt-map").count() == 2
    snapshot, sizes = tf.snapshot(tape, loss, w), []
    for most in (10**9, 250_000):
        monkeypatch.setattr(pages, "MAX_PAGE_LETTERS", most)
        sizes.append(len(pages.build_html_page(snapshot)))
    assert sizes[1] < sizes[0] / 2 and gradient is not None
    strongest = np.abs(gradient.numpy()).max()
    kept = pages.summarize_arrays(snapshot["sweep"])["gradients"][0]["thumb"]
    assert np.abs(kept).max() <= strongest * 1.001
    finite, nonfinite = ({"text": f"[0.5 {x}]", "data": [0.5, x]} for x in (0.25, "nan"))
    assert pages.summarize_arrays([finite, nonfinite]) == [finite | {"text": ""}, nonfinite]
