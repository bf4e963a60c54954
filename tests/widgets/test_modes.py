"""What is off until it is asked for: the cut, slopes inside of the nodes, and why a cell is as it is."""

import re

import numpy as np
import pytest

import minitape as tf
from tests.jupyterlab_page import read_box

from .conftest import accumulation, build_chain_snapshot, cut, nested, square, type_keys
from .test_labels import quadratic_root, rosenbrock
from .twelve_programs import TWELVE

pytestmark = [pytest.mark.browser, pytest.mark.long]


def wide_program():
    """A source with several readers, at several distances, and an input without a gradient."""
    x, w = tf.Variable(0.7, name="x"), tf.Variable(1.3, name="w")
    with tf.GradientTape() as tape:
        a = tf.sin(x * w)
        b = a * x + tf.tanh(x)
        y = (b - a) ** 2 + b * tf.stop_gradient(x)
    return tape, y, [x, w]


def diamond():
    x = tf.Variable(0.7, name="x")
    with tf.GradientTape() as tape:
        u = tf.exp(x)
        s, c = tf.sin(u), tf.cos(u)
        y = s * c + u / s
    return tape, y, x


BOXES = "all => all.map(one => one.getBoundingClientRect().toJSON())"
CLIPPED = """all => all.filter(one => getComputedStyle(one).overflow === "hidden").map(one => {
    const { a, d, e, f } = one.parentNode.getScreenCTM(), at = (name) => Number(one.getAttribute(name));
    const [x, y] = [e + a * at("x"), f + d * at("y")];
    return { left: x, right: x + a * at("width"), top: y, bottom: y + d * at("height") };
})"""
SUM = "document.querySelector('.mt-cutsum').textContent"


def squares():
    """Two squares: each has two edges between the same two rows."""
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        h = x * x
        y = h * h
    return tape, y, x


def dense():
    x = tf.constant(np.array([[1.0, -0.5, 2.0], [0.5, 1.5, -1.0], [2.0, 0.0, 0.5], [-1.0, 1.0, 1.0]], np.float32))
    w = tf.Variable(np.array([[0.1, -0.2], [0.4, 0.3], [-0.5, 0.2]], np.float32), name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ w) ** 2)
    return tape, loss, w


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("program", [accumulation, wide_program, nested], ids=lambda f: f.__name__)
def test_the_sum_over_a_cut_is_the_gradient_wherever_one_cuts(program, show):
    tape, target, sources = program()
    snapshot = tf.snapshot(tape, target, sources)
    gradient = float(snapshot["sweep"]["gradients"][0]["data"])
    page = show(snapshot, "none")
    assert page.locator(".mt-cutline").count() == 0  # it is off until it is asked for
    type_keys(page, "k", *["["] * 30)
    sums, places = [], []
    while not places or page.locator(".mt-cutline").get_attribute("d") != places[-1]:
        products = page.locator(".mt-crossing").evaluate_all("all => all.map(one => Number(one.dataset.product))")
        sums.append(sum(products))
        places.append(page.locator(".mt-cutline").get_attribute("d"))
        shown = re.search(r"Σ = (\S+) = ", page.evaluate(SUM))[1]
        assert float(shown) == pytest.approx(sums[-1], rel=1e-3)
        type_keys(page, "]")
    assert len({*places}) == len(places) > 2 and sums == pytest.approx([gradient] * len(sums), rel=1e-5)
    type_keys(page, "k")
    assert page.locator(".mt-cutline").count() == 0


def test_each_factor_of_a_cut_is_a_tangent_and_a_share_of_the_sweep(show):
    tape, target, source = accumulation()
    snapshot = tf.snapshot(tape, target, source)
    page = show(snapshot)
    type_keys(page, "k", *["["] * 9)
    shares = [edge["product"]["data"] for edge in snapshot["sweep"]["steps"][-1]["edges"]]
    found = page.locator(".mt-crossing :is(.mt-tangent, .mt-incoming)").all_text_contents()
    assert found[::2] == ["1.0", "1.0"]  # the source moves as it is moved
    assert [float(text.strip("()")) for text in found[1::2]] == pytest.approx(shares, rel=1e-3)


@pytest.mark.parametrize("program", [rosenbrock, wide_program], ids=lambda f: f.__name__)
def test_the_marks_of_a_cut_lie_on_its_line_and_cover_no_node_and_no_other_mark(program, show):
    page = show(tf.snapshot(*program()), "none")
    type_keys(page, "k", *["["] * 9)
    nodes = page.locator(".mt-node .mt-box").evaluate_all(BOXES)
    for _ in range(5):
        marks = page.locator(".mt-crossmark circle").evaluate_all(BOXES)
        assert len(marks) == page.locator(".mt-crossing").count() > 0
        for k, mark in enumerate(marks):
            for other in [*nodes, *marks[:k]]:
                apart_x = max(mark["left"] - other["right"], other["left"] - mark["right"])
                apart_y = max(mark["top"] - other["bottom"], other["top"] - mark["bottom"])
                assert max(apart_x, apart_y) >= 0
        type_keys(page, "]")


def test_the_sum_over_a_cut_names_a_target_without_a_name_by_its_number(show):
    x = tf.Variable(0.5, name="x")
    with tf.GradientTape() as tape:
        h = [tf.sin(x)]
        h.append(h[0] * h[0])
    page = show(tf.snapshot(tape, h[1], x))
    type_keys(page, "k")
    assert page.evaluate(SUM).endswith(" = ∂#2/∂x")


AWAY_FROM_EDGES = """marks => {
    const edges = [...document.querySelectorAll("path.mt-edge")];
    return marks.map((mark) => Math.min(...edges.flatMap((edge) => {
        const length = edge.getTotalLength();
        return Array.from({ length: Math.ceil(length) }, (_, k) => {
            const { x, y } = edge.getPointAtLength(k);
            return Math.hypot(x - mark.getAttribute("cx"), y - mark.getAttribute("cy"));
        });
    })));
}"""


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("program", [cut, squares, wide_program], ids=lambda f: f.__name__)
def test_a_cut_begins_at_a_break_and_has_its_marks_on_their_edges(program, show):
    snapshot = tf.snapshot(*program())
    page = show(snapshot)
    type_keys(page, "k")
    line = read_box(page.locator(".mt-cutline"))["x"]
    for row in (row for row in snapshot["rows"] if row["cut"]):
        box = read_box(page.locator(f".mt-node[data-id=r{row['row']}] .mt-box"))
        assert box["x"] - 140 < line < box["x"]
    away = page.locator(".mt-crossmark circle").evaluate_all(AWAY_FROM_EDGES)
    assert away and max(away) < 2.5
    said = page.locator(".mt-cutnote").first.text_content()
    assert re.search(r"comes back from y 1 ", said) and " Σ = " in said


def test_a_gradient_that_is_cut_everywhere_is_the_reason_why_there_is_no_cut(show):
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(tf.stop_gradient(tf.exp(x)))
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "k")
    assert page.locator(".mt-cutline").count() == 0
    assert page.locator(".mt-help").inner_text() == "no gradient passes: stop_gradient cuts the path"


def test_the_line_is_dragged_and_says_where_there_is_none(show, page):
    page.emulate_media(reduced_motion="reduce")  # the graph is where the line is without gliding there
    page = show(build_chain_snapshot(6), "none")
    type_keys(page, "k")
    before = page.locator(".mt-cutline").get_attribute("d")
    box = read_box(page.locator(".mt-cutline"))
    page.mouse.move(box["x"], box["y"] + 3)
    page.mouse.down()
    page.mouse.move(box["x"] - 400, box["y"] + 3, steps=4)
    page.mouse.up()
    assert page.locator(".mt-cutline").get_attribute("d") != before
    page = show(TWELVE["network"]())
    type_keys(page, "k")
    assert page.locator(".mt-cutline").count() == 0
    assert "are single numbers" in page.locator(".mt-help").inner_text()


def test_a_cell_names_a_matrix_that_was_turned_twice_as_it_was(show):
    x, w = tf.constant(np.eye(2, 3, dtype=np.float32), name="x"), tf.Variable(np.eye(2, 3, dtype=np.float32), name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x @ tf.transpose(w))
    page = show(tf.snapshot(tape, loss, w))
    type_keys(page, "w")
    captions = page.locator(".mt-cells figcaption").all_text_contents()
    assert captions[0].startswith("∂wᵀ (3, 2)")
    y = tf.Variable(np.eye(3, dtype=np.float32), name="y")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(y @ tf.transpose(w))
    page = show(tf.snapshot(tape, loss, y))
    type_keys(page, "w")
    captions = page.locator(".mt-cells figcaption").all_text_contents()
    assert captions == ["∂y (3, 3)", "g (3, 2)", "w (2, 3)"]


def test_on_a_phone_the_cards_of_a_cut_are_whole_and_why_a_cell_is_as_it_is_comes_into_view(show, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page = show(tf.snapshot(*rosenbrock()))
    type_keys(page, "k", *["["] * 9)
    pane = read_box(page.locator(".mt-pane"))
    for _ in range(7):
        for card in page.locator(".mt-crossing").all():
            box = read_box(card)
            assert pane["x"] <= box["x"] and box["x"] + box["width"] <= pane["x"] + pane["width"]
        type_keys(page, "]")
    page = show(tf.snapshot(*dense()))
    type_keys(page, "End", "w")
    page.locator("button.mt-cell").nth(3).click()
    said, bar = (read_box(page.locator(one)) for one in (".mt-cellsum", ".mt-stepbar"))
    assert said["y"] + said["height"] <= bar["y"]


@pytest.mark.long(sample=2)
@pytest.mark.parametrize("keys", [["End", "w"], ["End", "w", "v"]], ids=["page", "presented"])
def test_what_each_term_of_a_cell_adds_is_in_view_beside_the_matrices_or_above(keys, show, page):
    page.set_viewport_size({"width": 1280, "height": 720} if "v" in keys else {"width": 900, "height": 700})
    page = show(TWELVE["network"]())
    type_keys(page, *keys)
    panel, said = (read_box(page.locator(one)) for one in (".mt-cells", ".mt-cellsum"))
    assert panel["y"] <= said["y"] and said["y"] + said["height"] <= panel["y"] + panel["height"]
    assert panel["y"] + panel["height"] <= page.viewport_size["height"]
    grids = [read_box(one) for one in page.locator(".mt-cellgrid").all()[:3]]
    is_above = said["y"] + said["height"] <= min(box["y"] for box in grids)
    assert is_above or said["x"] + said["width"] <= min(box["x"] for box in grids)
    assert max(box["y"] + box["height"] for box in grids) <= panel["y"] + panel["height"]


@pytest.mark.long(sample=2)
@pytest.mark.parametrize("width", [860, 1280])
def test_both_products_of_a_layer_fit_beside_each_other_with_cells_of_one_size(width, show, page):
    numbers = np.random.default_rng(3)
    x, h, w = (tf.constant(numbers.normal(size=size).astype("float32")) for size in ((20, 12), (12, 8), (8, 3)))
    with tf.GradientTape() as tape:
        tape.watch([h, w])
        loss = tf.reduce_mean((tf.nn.relu(x @ h) @ w) ** 2)
    page.set_viewport_size({"width": width, "height": 620})
    page = show(tf.snapshot(tape, loss, [h, w]))
    type_keys(page, "w")
    panel = read_box(page.locator(".mt-cells"))
    figures = [read_box(one) for one in page.locator(".mt-cells figure").all()]
    assert len(figures) == 6
    assert max(box["y"] + box["height"] for box in figures) <= panel["y"] + panel["height"]
    assert max(box["x"] + box["width"] for box in figures) <= panel["x"] + panel["width"]
    read_widths = "cells => cells.map((cell) => cell.getBoundingClientRect().width.toFixed(1))"
    for made in page.locator(".mt-cellwise").all():
        assert len(set(made.locator(".mt-cell").evaluate_all(read_widths))) == 1


def test_below_a_tall_graph_the_matrices_of_a_cell_are_in_view(show, page):
    """The graph, which would take most of the page, makes room for them."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page = show(TWELVE["transformer"]())
    type_keys(page, "End", "w")
    panel, pane, current = (read_box(page.locator(one)) for one in (".mt-cells", ".mt-pane", ".mt-node.mt-current"))
    assert panel["y"] + panel["height"] <= 800 and pane["height"] >= 120
    assert pane["y"] <= current["y"] and current["y"] + current["height"] <= pane["y"] + pane["height"]
    made = [read_box(one) for one in page.locator(".mt-cellgrid").all()[:3]]
    assert max(box["y"] + box["height"] for box in made) <= panel["y"] + panel["height"]


def test_presented_a_cell_is_said_in_large_type(show, page):
    page.set_viewport_size({"width": 1920, "height": 1080})
    page = show(tf.snapshot(*dense()))
    type_keys(page, "End", "w", "v")
    page.locator("button.mt-cell").nth(3).click()
    size = page.locator(".mt-cellsum p").first.evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    said = read_box(page.locator(".mt-cellsum"))
    assert size >= 26 and said["y"] + said["height"] <= 1080


def test_slopes_are_drawn_in_the_nodes_and_bars_beside_nodes_and_on_edges(show):
    tape, target, source = accumulation()
    snapshot = tf.snapshot(tape, target, source)
    page = show(snapshot)
    type_keys(page, "s")
    operations = {str(row["row"]) for row in snapshot["rows"] if row["kind"] == "operation"}
    drawn = page.locator(".mt-slopes [data-row]").evaluate_all("all => all.map(one => one.dataset.row)")
    assert set(drawn) == operations
    rows = len(snapshot["rows"])  # the source moves all of them
    assert (page.locator(".mt-nudge").count(), page.locator(".mt-sentback").count()) == (rows, 0)
    type_keys(page, "End")
    sent = page.locator(".mt-sentback").evaluate_all("all => all.map(one => Number(one.dataset.size))")
    products = [edge["product"]["data"] for step in snapshot["sweep"]["steps"] for edge in step["edges"]]
    assert sorted(sent) == pytest.approx(sorted(products), rel=1e-6)
    numbers = [float(text) for text in page.locator(".mt-nudge text").all_text_contents()]
    gradient = float(tape.gradient(target, source))
    assert len(numbers) == rows and numbers[0] == 1.0  # the source moves as it is moved
    assert numbers[-1] == pytest.approx(gradient, rel=1e-2)  # and the target by the gradient
    type_keys(page, "s")
    assert page.locator(".mt-slopes > *").count() == 0


def test_lengths_of_bars_tell_the_numbers_and_curves_name_their_input(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = (x * 2.0) * (x * 5.0)
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "s", "End")
    bars = page.locator(".mt-nudge, .mt-sentback").evaluate_all(
        "all => all.map(one => [Math.abs(Number(one.dataset.size)), one.querySelector('path').getBBox().width])"
    )
    largest = max(size for size, _ in bars)
    assert largest == 60  # the gradient: what the nudge has become at the target
    for size, width in bars:
        assert width == pytest.approx(max(1, 40 * size / largest), abs=0.01)
    slopes = page.locator(".mt-slopes [data-row] text").all_text_contents()
    assert slopes == ["Δx × 2.0", "Δx × 5.0", "Δ#2 × 15.0", "+ Δ#4 × 6.0"]
    legend = page.locator(".mt-slopenote").inner_text()
    assert "change per small nudge of x" in legend and "what comes back from y" in legend
    assert "∂y/∂x = 60.0" in legend  # the last blue bar and the sum of the last orange ones


def test_a_tangent_rises_as_its_slope_says_in_each_curve(show):
    page = show(tf.snapshot(*diamond()))
    type_keys(page, "s")
    curves = page.locator(".mt-slopes [data-row]").evaluate_all(
        """all => all.map(one => [[...one.querySelectorAll("text")].map(text => text.textContent).join(" "),
            [...one.querySelectorAll(".mt-curve-tangent")].map(path => path.getAttribute("d").match(/[-\\d.]+/g))])"""
    )
    slopes, rises = [], []
    for text, tangents in curves:
        slopes += [float(slope) for slope in re.findall(r"× (-?[\d.]+)", text)]
        for x0, y0, x1, y1 in tangents:
            rises.append((float(y0) - float(y1)) / (float(x1) - float(x0)))
    assert len(slopes) == 9  # the derivatives of exp, sin, cos, ×, ÷ and +, of the last three by both inputs
    angles = [np.degrees(np.arctan(one)) for one in (rises, slopes)]
    assert angles[0] == pytest.approx(angles[1], abs=2)


def test_bars_of_a_moved_number_stay_between_the_nodes(show, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    page = show(tf.snapshot(*diamond()))
    type_keys(page, "End", "s")
    page.locator(".mt-node[data-id=r0]").click()
    page.locator(".mt-exact").fill("1.3")
    page.keyboard.press("Tab")
    page.wait_for_timeout(200)
    bars = page.locator(".mt-sentback path").evaluate_all(BOXES)
    assert max(bar["width"] for bar in bars) > 50  # the gradient is now 40
    nodes = page.locator(".mt-node .mt-box").evaluate_all(BOXES)
    pane = read_box(page.locator(".mt-pane"))
    for bar in bars:
        assert pane["x"] <= bar["left"] and bar["right"] <= pane["x"] + pane["width"]
        for node in nodes:
            across = min(bar["right"], node["right"]) - max(bar["left"], node["left"])
            assert min(across, min(bar["bottom"], node["bottom"]) - max(bar["top"], node["top"])) <= 0.5


@pytest.mark.parametrize("width", [1440, 390])
def test_both_factors_stand_at_the_marks_of_a_cut(width, show, page):
    page.set_viewport_size({"width": width, "height": 844})
    page = show(tf.snapshot(*diamond()))
    type_keys(page, "k")
    marks = page.locator(".mt-crossmark").evaluate_all(
        "all => all.map(one => [...one.querySelectorAll('text[class]')].map(text => Number(text.textContent)))"
    )
    products = page.locator(".mt-crossing").evaluate_all("all => all.map(one => Number(one.dataset.product))")
    assert len(products) == 3
    assert [tangent * adjoint for tangent, adjoint in marks] == pytest.approx(products, rel=1e-2)


def test_a_cut_and_slopes_say_which_other_sources_can_be_chosen(show):
    page = show(tf.snapshot(*wide_program()))
    type_keys(page, "k")
    note = page.locator(".mt-cutnote >> visible=true")
    assert "change per small nudge of x" in note.inner_text() and "click w to nudge it instead" in note.inner_text()
    page.locator(".mt-node .mt-title", has_text="w").click()
    note.filter(has_text="click x to nudge it instead").wait_for()
    type_keys(page, "k", "s")
    note.filter(has_text="click x to nudge it instead").wait_for()
    assert "click w" not in note.inner_text()


def test_on_a_phone_the_sum_of_a_cut_is_above_the_player(show, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page = show(tf.snapshot(*diamond()))
    page.get_by_role("button", name="cut").click()
    page.wait_for_function(f"{SUM} !== ''")
    total, player = (read_box(page.locator(one)) for one in (".mt-cutsum", ".mt-stepbar"))
    assert total["y"] + total["height"] <= player["y"]


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("width", [1280, 900, 390])
@pytest.mark.parametrize(
    "program", [accumulation, squares, rosenbrock, wide_program, diamond], ids=lambda f: f.__name__
)
def test_numbers_of_slopes_can_be_read_and_lie_on_no_node_no_bar_and_no_other_number(program, width, show, page):
    page.set_viewport_size({"width": width, "height": 844})
    page = show(tf.snapshot(*program()), "none")
    type_keys(page, "s", "End")
    nodes = page.locator(".mt-node .mt-box").evaluate_all(BOXES)
    bars = page.locator(":is(.mt-nudge, .mt-sentback) path").evaluate_all(BOXES)
    texts = page.locator(".mt-slopes text")
    sizes = texts.evaluate_all("all => all.map(one => parseFloat(getComputedStyle(one).fontSize) * one.getCTM().a)")
    assert min(sizes) >= 11
    numbers = texts.evaluate_all(BOXES)
    assert len(numbers) >= 4
    for k, number in enumerate(numbers):
        number["bottom"] -= 0.3 * (number["bottom"] - number["top"])  # digits end at the baseline
        number["top"] += 0.2 * (number["bottom"] - number["top"])
        for other in [*nodes, *bars, *numbers[:k]]:
            across = min(number["right"], other["right"]) - max(number["left"], other["left"])
            down = min(number["bottom"], other["bottom"]) - max(number["top"], other["top"])
            assert min(across, down) <= 0.5


@pytest.mark.parametrize("key", ["s", "k"])
def test_a_graph_that_was_whole_remains_whole_above_the_legend(key, show, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    x, w = tf.Variable(1.3, name="x"), tf.Variable(-0.4, name="w")
    with tf.GradientTape() as tape:
        loss = (tf.tanh(x * w + 0.5) - 0.3) ** 2 + 0.1 * w**2
    show(tf.snapshot(tape, loss, [x, w]))
    type_keys(page, "End", key)
    page.wait_for_timeout(300)
    pane = read_box(page.locator(".mt-pane"))
    for box in page.locator(".mt-node .mt-box").evaluate_all(BOXES):
        assert box["top"] >= pane["y"] and box["bottom"] <= pane["y"] + pane["height"]


def test_the_slope_of_an_input_that_is_read_twice_is_that_of_both_edges(show):
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        u = x * x
        y = u - tf.sin(u) * u
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "s", "End")
    step = 1e-4
    tangent = ((1.5 + step) ** 2 - (1.5 - step) ** 2) / (2 * step)
    row = page.locator(".mt-slopes [data-row='1']")
    assert row.locator("text").text_content() == f"Δx × {tangent:.1f}"
    assert float(page.locator(".mt-slopes .mt-nudge").nth(1).get_attribute("data-size")) == pytest.approx(tangent)


def test_a_node_with_two_inputs_shows_both_curves_inside_of_it_and_both_slopes_nearest_to_it(show, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    u, v = tf.Variable(1.5, name="u"), tf.Variable(-0.25, name="v")
    with tf.GradientTape() as tape:
        y = (u / v) * tf.sin(u + v)
    show(tf.snapshot(tape, y, [u, v]))
    type_keys(page, "s", "End")
    by_hand = [("u", 1 / -0.25), ("v", -1.5 / 0.25**2)]
    slopes = page.locator(".mt-slopes [data-row='2'] text")
    assert " ".join(slopes.all_text_contents()) == " + ".join(f"Δ{name} × {slope:.1f}" for name, slope in by_hand)
    [node] = page.locator(".mt-node[data-id=r2] .mt-box").evaluate_all(BOXES)
    curves = page.locator(".mt-slopes [data-row='2'] svg").evaluate_all(CLIPPED)
    assert len(curves) == 2
    assert all(node["left"] <= one["left"] and one["right"] <= node["right"] for one in curves)
    assert all(node["top"] <= one["top"] and one["bottom"] <= node["bottom"] for one in curves)
    for row in page.locator(".mt-slopes [data-row]").evaluate_all("all => all.map(one => one.dataset.row)"):
        texts = page.locator(f".mt-slopes [data-row='{row}'] text")
        text, last = read_box(texts.first), read_box(texts.last)
        own = read_box(page.locator(f".mt-node[data-id=r{row}] .mt-box"))
        away = text["y"] - own["y"] - own["height"]
        assert -1 <= away < 8
        for other in page.locator(".mt-node .mt-box").evaluate_all(BOXES):
            if abs(other["left"] - own["x"]) < 1 and other["top"] > text["y"]:
                assert other["top"] - last["y"] - last["height"] > 2 * away


def test_slopes_say_the_gradient_with_the_digits_that_the_results_have(show):
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        u = x * x
        y = u * tf.sin(u) + tf.exp(x)
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End", "s")
    assert "5.482" in page.locator(".mt-results").inner_text()
    assert "= 5.482" in page.locator(".mt-slopenote").inner_text()
    assert "5.482" in page.locator(".mt-slopes").inner_html()


def test_slopes_tilt_when_the_source_is_moved(show):
    tape, target, source = accumulation()
    page = show(tf.snapshot(tape, target, source))
    type_keys(page, "s")
    line = page.locator(".mt-slopes [data-row='3'] .mt-curve-tangent")
    before = line.get_attribute("d")
    page.locator(".mt-node.mt-variable").click()
    page.locator(".mt-exact").fill("0.5")
    page.locator(".mt-exact").press("Enter")
    page.wait_for_function(
        "before => document.querySelector(\".mt-slopes [data-row='3'] .mt-curve-tangent\").getAttribute('d') != before",
        arg=before,
    )


def read_bars(page):
    """Return the number and the length of each bar of the slopes mode."""
    return page.locator(".mt-nudge, .mt-sentback").evaluate_all(
        "all => all.map(one => [Math.abs(Number(one.dataset.size)), one.querySelector('path').getBBox().width])"
    )


def test_the_scale_of_bars_remains_when_the_source_is_moved(show):
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        y = x * x * x
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "s", "End")
    [scale, *_] = [width / size for size, width in read_bars(page)]
    for value, has_gap in [("0.5", False), ("1.1", False), ("4.0", True)]:
        page.locator(".mt-node.mt-variable").click()
        page.locator(".mt-exact").fill(value)
        page.locator(".mt-exact").press("Enter")
        gradient = 3 * float(value) ** 2
        page.wait_for_function(
            "size => [...document.querySelectorAll('.mt-nudge')].some(one => Math.abs(one.dataset.size - size) < 1e-3)",
            arg=gradient,
        )
        bars = read_bars(page)
        for size, width in bars:
            assert width == pytest.approx(max(1, min(56, scale * size)), abs=0.01)
        paths = page.locator(".mt-nudge path").evaluate_all("all => all.map(one => one.getAttribute('d'))")
        assert any("m" in path for path in paths) == has_gap


@pytest.mark.long(sample=2)
@pytest.mark.parametrize("turns", [30, 200])
def test_at_a_folded_loop_slopes_have_their_numbers(turns, show):
    w, u = tf.Variable(0.9, name="w"), tf.Variable(0.3, name="u")
    with tf.GradientTape(persistent=True) as tape:
        h = tf.constant(0.5)
        for _ in range(turns):
            h = tf.tanh(h * w + u)
        loss = (h - 1.0) ** 2
    gradient, moved = float(tape.gradient(loss, w)), float(tape.gradient(h, w))
    page = show(tf.snapshot(tape, loss, [w, u]))
    type_keys(page, "s", "End")
    nudges = [float(text) for text in page.locator(".mt-nudge text").all_text_contents()]
    assert nudges == pytest.approx([1.0, moved, moved, gradient], rel=1e-3)  # w, the loop, h - 1 and the loss
    sent = [float(text) for text in page.locator(".mt-sentback text").all_text_contents()]
    assert sorted(sent) == pytest.approx(sorted([gradient, gradient / moved, gradient / moved]), rel=1e-3)


def test_cells_begin_at_the_next_product_of_matrices(show):
    tape, loss, w = dense()
    page = show(tf.snapshot(tape, loss, w))
    type_keys(page, "w")
    assert page.locator(".mt-count").inner_text().startswith("backward")
    assert page.locator("button.mt-cell").count() == 6
    tape, y, x = accumulation()
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "w")
    assert "No step of this sweep is a product" in page.locator(".mt-cells").inner_text()


def test_a_cell_opens_on_the_gradient_of_the_weight(show):
    rng = np.random.default_rng(0)
    x, w1, w2 = (rng.normal(size=shape).astype(np.float32) for shape in ((8, 3), (3, 16), (16, 1)))
    hidden, out = tf.Variable(w1, name="hidden"), tf.Variable(w2, name="out")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.constant(x) @ hidden) @ out)
    page = show(tf.snapshot(tape, loss, [hidden, out]))
    type_keys(page, "w")
    assert page.locator(".mt-cellsum").inner_text().split("[")[0].endswith("∂out")
    assert page.locator(".mt-layer").count() == 8  # one for each example of the batch


def test_a_cell_of_one_use_of_a_weight_is_called_a_part_and_says_what_was_added_up(show):
    w = tf.Variable([[0.5, -0.3], [0.2, 0.8]], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.constant([[1.0, 2.0]]) @ w) @ w)
    page = show(tf.snapshot(tape, loss, w))
    gradient = tape.gradient(loss, w).numpy()
    type_keys(page, "End", "w")
    said = page.locator(".mt-cellsum p").first
    assert said.inner_text() == "part of ∂w[1, 1] = 2.0 × 1.0 = 2.0, added up: 3.3"
    assert gradient[1, 1] == pytest.approx(3.3)
    assert page.locator(".mt-cells figcaption").first.inner_text() == "part of ∂w (2, 2)"
    type_keys(page, "ArrowLeft")
    assert "[" in said.inner_text() and "part of ∂w" in page.locator(".mt-cells").inner_text()
    assert "part of ∂(" not in page.locator(".mt-cells").inner_text()  # what the first product gets is all that it gets


def test_products_of_batches_are_said_to_be_missing(show):
    x = tf.Variable(np.ones((2, 3, 4), np.float32), name="x")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x @ tf.ones((2, 4, 3)))
    page = show(tf.snapshot(tape, loss, x))
    type_keys(page, "w")
    words = page.locator(".mt-cells").inner_text()
    assert "with two axes each" in words and "such as a batch, are not shown here" in words


def test_a_cell_of_a_gradient_is_the_product_of_a_column_and_a_column(show):
    tape, loss, w = dense()
    snapshot = tf.snapshot(tape, loss, w)
    page = show(snapshot)
    type_keys(page, "End", "w")
    step = snapshot["sweep"]["steps"][-1]
    x = np.array(next(row for row in snapshot["rows"] if row["shape"] == [4, 3])["value"]["data"])
    g = np.array(step["adjoint"]["data"])
    gradient = x.T @ g
    row, column = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
    assert page.locator(".mt-cellsum p").first.inner_text().startswith(f"∂w[{row}, {column}] = ")  # the largest one
    for i, j in ((0, 0), (2, 1)):
        page.locator("button.mt-cell").nth(2 * i + j).click()
        text = page.locator(".mt-cellsum p").first.inner_text()
        assert float(re.split("[=≈] ", text)[-1]) == pytest.approx(gradient[i, j], rel=1e-3)
        assert "≈" in text  # its factors are rounded
        terms = re.findall(r"(-?[\d.]+)\)? × \(?(-?[\d.]+)", text)
        assert np.array(terms, float) == pytest.approx(np.stack([x[:, i], g[:, j]], 1), rel=1e-3)
        addends = [float(one) for one in page.locator(".mt-layer").all_inner_texts()]  # one for each example
        assert addends == pytest.approx(x[:, i] * g[:, j], rel=1e-3)
        assert page.locator(".mt-cell-chosen").count() == 1 + 4 + 4
    type_keys(page, "Escape")
    assert page.locator(".mt-cells").is_hidden()


def wide_layer(examples, units, outputs):
    numbers = np.random.default_rng(0)
    x = tf.constant(numbers.normal(size=(examples, units)).astype(np.float32))
    w = tf.Variable(0.3 * numbers.normal(size=(units, outputs)).astype(np.float32), name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ w) ** 2)
    return tape, loss, w


def test_a_cell_of_a_large_layer_is_a_sum_over_the_examples(show):
    tape, loss, w = wide_layer(8, 100, 40)
    page = show(tf.snapshot(tape, loss, w))
    gradient = tape.gradient(loss, w).numpy()
    type_keys(page, "End", "w")
    page.locator("button.mt-cell").nth(2 * 20 + 3).click()
    terms = page.locator(".mt-cellsum p").first.inner_text()  # of 100 x 40 cells, 25 x 20 are shown
    assert terms.startswith("∂w[8, 6] = ") and page.locator(".mt-layer").count() == 8
    assert float(re.split("[=≈] ", terms)[-1]) == pytest.approx(gradient[8, 6], rel=1e-3)
    assert "∂w (100, 40), 1 row in 4, 1 column in 2" in page.locator(".mt-cells").inner_text()
    type_keys(page, "ArrowRight", "ArrowDown")
    terms = page.locator(".mt-cellsum p").first.inner_text()
    assert terms.startswith("∂w[12, 8] = ")
    assert float(re.split("[=≈] ", terms)[-1]) == pytest.approx(gradient[12, 8], rel=1e-3)


def test_where_only_some_terms_were_sent_no_sum_is_claimed(show):
    tape, loss, w = wide_layer(70, 5, 4)
    page = show(tf.snapshot(tape, loss, w))
    type_keys(page, "End", "w")
    page.locator("button.mt-cell").first.click()
    said = page.locator(".mt-cellsum").inner_text()
    assert "×" not in said and "what 1 term in 3 adds" in said


def test_a_step_without_a_product_of_matrices_says_where_cells_are(show):
    page = show(tf.snapshot(*square()))
    type_keys(page, "w")
    assert "a product (@) of two arrays" in page.locator(".mt-cells").inner_text()


def test_the_sum_over_a_cut_through_frames_can_be_read(show, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    page = show(TWELVE["newton"]())
    type_keys(page, "End", "k")
    pane, total = (read_box(page.locator(name)) for name in (".mt-pane", ".mt-cutsum"))
    assert total["y"] >= pane["y"] + pane["height"]


def test_a_cut_begins_between_two_columns_and_the_legend_of_slopes_keeps_its_parts_apart(show, page):
    page.set_viewport_size({"width": 760, "height": 900})
    w, b = tf.Variable(0.8, name="w"), tf.Variable(-0.3, name="b")
    with tf.GradientTape() as tape:
        p = tf.sigmoid(w * 1.5 + b)
        loss = -(tf.math.log(p) + 2.0 * tf.math.log(1.0 - p)) * p
    page = show(tf.snapshot(tape, loss, [w, b]), "none")
    type_keys(page, "k")
    line = read_box(page.locator(".mt-cutline").first)
    nodes = page.locator(".mt-node").evaluate_all(BOXES)
    right, left = max(node["right"] for node in nodes), min(node["left"] for node in nodes)
    assert left < line["x"] < right  # not where the edges run to the next line
    type_keys(page, "k", "s")
    parts = page.locator(".mt-slopenote > *").all_inner_texts()
    assert "click b to nudge it instead" in parts


def test_beside_an_article_each_bar_has_its_number_and_a_cut_begins_between_nodes(page):
    from .test_explorable import open_page

    page.set_viewport_size({"width": 680, "height": 900})
    open_page(page, '<mini-tape mode="slopes" step="end">a = 2.0\nc = exp(-a) + a * a</mini-tape>')
    page.locator("mini-tape .mt-sentback").first.wait_for(state="attached")
    bars = page.locator("mini-tape :is(.mt-sentback, .mt-nudge)")
    assert bars.count() == 11 and page.locator("mini-tape :is(.mt-sentback, .mt-nudge) text").count() == 11
    open_page(
        page, '<mini-tape mode="cut" step="end">w = 0.8\nb = -0.3\np = sigmoid(w * 1.5 + b)\ny = -log(p)</mini-tape>'
    )
    page.locator("mini-tape .mt-cutline").first.wait_for(state="attached")
    line = read_box(page.locator("mini-tape .mt-cutline").first)
    nodes = page.locator("mini-tape .mt-node .mt-box").evaluate_all(BOXES)
    assert line["x"] < max(node["right"] for node in nodes)
    assert page.locator("mini-tape .mt-crossmark .mt-incoming").count() > 0  # there is room for the numbers


@pytest.mark.parametrize("width", [1440, 900])
def test_formulas_of_slopes_are_whole_in_the_pane_and_name_rows_in_one_way(width, show, page):
    page.set_viewport_size({"width": width, "height": 900})
    page = show(tf.snapshot(*quadratic_root()))
    type_keys(page, "End", "s")
    formulas = page.locator(".mt-slopes text").filter(has_text="Δ")
    texts = formulas.all_text_contents()
    assert {"Δ#10 × 0.5", "+ Δ#12 × -1.0", "Δdisc × 0.5"} & set(texts) or width < 1440
    assert not re.search("[\u2460-\u24ff⟨]", "".join(texts)) and "#12" in "".join(texts)
    box = read_box(page.locator(".mt-pane"))
    columns = page.locator(".mt-node .mt-box").evaluate_all(BOXES)
    wide = max(one["right"] - one["left"] for one in columns)
    for one in formulas.evaluate_all(BOXES):
        assert box["x"] <= one["left"] and one["right"] <= box["x"] + box["width"]
        assert one["right"] - one["left"] <= 1.1 * wide


def test_the_formula_of_the_present_row_is_in_view_in_a_graph_of_several_lines(show, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    w, b = tf.Variable(0.7, name="w"), tf.Variable(-0.2, name="b")
    x, y = tf.constant(1.5), tf.constant(1.0)
    with tf.GradientTape() as tape:
        p = tf.sigmoid(w * x + b)
        loss = -(y * tf.math.log(p) + (1.0 - y) * tf.math.log(1.0 - p))
    page = show(tf.snapshot(tape, loss, [w, b]))
    type_keys(page, "s")
    row = len(tf.snapshot(tape, loss, [w, b])["rows"]) - 1
    formula = page.locator(f".mt-slopes [data-row='{row}'] text").evaluate_all(BOXES)
    pane = read_box(page.locator(".mt-pane"))
    assert formula and max(one["bottom"] for one in formula) < pane["y"] + pane["height"]
