"""Tensors are seen: small pictures of values, adjoints and products, and edges as wide as the gradient on them."""

import re

import numpy as np
import pytest

import minitape as tf
from tests.jupyterlab_page import read_box

from .conftest import type_keys

pytestmark = pytest.mark.browser

RED_BLUE = """group => [...group.querySelectorAll("path")].map(path => {
  const numbers = getComputedStyle(path).fill.match(/[\\d.]+/g).slice(0, 3).map(Number);
  return { warm: numbers[0] > numbers[2] + 0.05, cold: numbers[2] > numbers[0] + 0.05,
           cells: path.getAttribute("d").split("M").length - 1 };
})"""


def signs(group):
    found = group.evaluate(RED_BLUE)
    return tuple(sum(part["cells"] for part in found if part[kind]) for kind in ("warm", "cold"))


def test_values_adjoints_and_products_are_pictures_with_their_signs(show):
    w = tf.Variable(np.array([[1.0, -2.0, 3.0, -4.0], [-5.0, 6.0, -7.0, -8.0]], np.float32), name="w")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * w)
    page = show(tf.snapshot(tape, y, w))
    type_keys(page, "End")
    maps = page.locator(".mt-node[data-id=r0] .mt-map")
    assert maps.count() == 2  # the value and its adjoint
    assert signs(maps.nth(0)) == signs(maps.nth(1)) == (3, 5)
    assert page.locator(".mt-node[data-id=r0] .mt-value").text_content() == "(2, 4)"
    assert [signs(one) for one in page.locator(".mt-product .mt-map").all()] == [(3, 5), (3, 5)]
    type_keys(page, "Home", "ArrowRight")
    assert page.locator(".mt-node[data-id=r0] .mt-map").count() == 1
    assert page.locator(".mt-node[data-id=r1] .mt-map").count() == 0


def test_an_array_has_both_lines_of_its_node_until_its_adjoint_needs_one(show):
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(6, 3)).astype(np.float32), name="w")
    with tf.GradientTape() as tape:
        h = tf.constant(rng.normal(size=(4, 6)).astype(np.float32)) @ w
        y = tf.reduce_sum(h * h)
    page = show(tf.snapshot(tape, y, w))

    def read_heights(row):
        node, texts = page.locator(f".mt-node[data-id=r{row}]"), []
        for part in (".mt-value", ".mt-adjoint"):
            texts += [read_box(one) for one in node.locator(part).all() if one.text_content()]
        around = read_box(node.locator(".mt-box"))
        for one in map(read_box, node.locator(".mt-map").all()):
            assert one["y"] > around["y"] and one["y"] + one["height"] < around["y"] + around["height"]
            assert all(text["x"] + text["width"] <= one["x"] for text in texts)
        return node.locator(".mt-map-frame").evaluate_all("all => all.map(one => Number(one.getAttribute('height')))")

    type_keys(page, "Home", "ArrowRight", "ArrowRight", "ArrowRight")
    product = next(row["row"] for row in tf.snapshot(tape, y, w)["rows"] if row["label"] == "@")
    assert read_heights(product) == [32]
    type_keys(page, "End")
    assert read_heights(product) == [15, 15]


def test_short_vectors_are_written_out(show):
    v = tf.Variable([0.5, -0.5, 0.25], name="v")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * 2.0)
    page = show(tf.snapshot(tape, y, v))
    assert page.locator(".mt-node[data-id=r0] .mt-value").text_content() == "[0.5 -0.5 0.25]"
    assert page.locator(".mt-node[data-id=r0] .mt-map").count() == 0


def test_an_array_with_one_number_everywhere_says_which(show):
    b = tf.Variable(np.zeros(9, np.float32), name="b")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum((b + 1.0) * np.linspace(-1, 1, 9, dtype=np.float32))
    page = show(tf.snapshot(tape, y, b))
    type_keys(page, "ArrowLeft")  # from now on what the gradient gave is not said before the sweep has arrived there
    assert page.locator(".mt-node[data-id=r0] .mt-value").text_content() == "(9,) each 0"
    assert page.locator(".mt-node[data-id=r0] .mt-map").count() == 0


SIDES = {(100, 2): (2, 5), (2, 100): (9, 1), (9,): (9, 1), (6, 6): (1, 1), (300, 300): (1, 1)}


@pytest.mark.parametrize("shape, sides", [*SIDES.items()], ids=str)
def test_an_array_is_drawn_at_its_proportions_as_far_as_there_is_room(shape, sides, show):
    w = tf.Variable(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), name="w")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w)
    tape.gradient(y, w)
    frame = r'width="([\d.]+)" height="([\d.]+)" fill="none" stroke="#b3'
    live = (
        show(tf.snapshot(tape))
        .locator(".mt-node[data-id=r0] .mt-map-frame")
        .first.evaluate("frame => ['width', 'height'].map(side => frame.getAttribute(side))")
    )
    for across, high in (live, re.search(frame, tf.draw(tape).svg).groups()):
        assert float(across) / float(high) == pytest.approx(sides[0] / sides[1], rel=0.4)


@pytest.mark.parametrize("factor, thinner", [(0.01, True), (100.0, False)])
def test_vanishing_and_exploding_gradients_are_seen(factor, thinner, show):
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(5):
            y = y * factor
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    widths = page.locator("path.mt-edge.mt-sent").evaluate_all(
        "all => all.map(e => parseFloat(getComputedStyle(e).strokeWidth))"
    )
    assert len(widths) == 6
    forward = widths if thinner else widths[::-1]
    assert forward == sorted(forward) and forward[-1] > 2 * forward[0]


def test_an_edge_says_what_it_carries(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(x)
        z = y * 2.0
    page = show(tf.snapshot(tape, z, x))
    type_keys(page, "End")
    box = read_box(page.locator("path.mt-edge[data-edge='0>1:0']"))
    page.mouse.move(box["x"] + box["width"] - 6, box["y"] + box["height"] / 2)
    tip = page.locator(".mt-tip")
    tip.wait_for()
    assert re.fullmatch(r"x → y · sin\ncarries 3.0\nback: -0.98999\d* × 2.0 = -1.97998\d*", tip.inner_text())


@pytest.mark.browser
def test_the_picture_of_an_adjoint_is_beside_its_text_in_round_nodes_too(show):
    x = tf.constant([[0.0853, -0.01, 0.02], [0.04, 0.05, 0.06], [0.01, -0.02, 0.03]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x) / 2.0
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    node = page.locator(".mt-node.mt-source")
    text = read_box(node.locator(".mt-adjoint"))
    maps = [read_box(one) for one in node.locator("g > g").all()]
    assert node.locator(".mt-adjoint").text_content() == "∂ ±0.0853" and len(maps) == 2
    assert max(one["x"] for one in maps) >= text["x"] + text["width"]


def test_a_small_array_has_four_digits_in_the_table_and_no_number_seems_whole_in_a_node(show):
    x = tf.Variable([0.99749, 0.5985, -0.4794], name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    page = show(tf.snapshot(tape, y, x))
    page.set_viewport_size({"width": 1400, "height": 900})
    type_keys(page, "End")
    cells = page.locator(".mt-lines .mt-line").first.locator("[role=cell]").all_text_contents()
    assert cells[3:5] == ["[0.9975 0.5985 -0.4794]", "[1.995 1.197 -0.9588]"]
    node = page.locator(".mt-node[data-id=r0]")
    assert node.locator(".mt-value").text_content() == "(3,)"
    assert node.locator(".mt-adjoint").text_content() == "∂ ±1.99"
