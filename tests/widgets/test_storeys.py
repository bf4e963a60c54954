"""Second derivatives on two storeys: forward to the right, and below each row its adjoint, from right to left."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import minitape as tf
from minitape.picture.drawing import Picture
from tests.jupyterlab_page import read_box

from .conftest import nested, type_keys


def cubic() -> Any:
    """The tape of x * x * x and of its gradient, and the tape whose gradient it is."""
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x * x
        dy = inner.gradient(y, x)
    assert float(outer.gradient(dy, x)) == 18.0  # 6 x
    return tf.snapshot(outer)


def differentiate_twice(function: Callable[[Any], Any], value: float) -> Any:
    """The tape of a function and of its gradient, named slope, and the tape whose gradient it is."""
    x = tf.Variable(value, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = function(x)
        slope = inner.gradient(y, x)
    outer.gradient(slope, x)
    return tf.snapshot(outer)


def below(snapshot: Any) -> dict[int, int]:
    return {row["row"]: row["below"] for row in snapshot["rows"] if "below" in row}


def test_each_row_that_a_gradient_wrote_is_below_the_one_whose_adjoint_it_adds_to():
    snapshot = cubic()
    rows = snapshot["rows"]
    assert [row["label"] for row in rows] == ["x:0", "×", "×", "const", "×", "×", "×", "+", "×", "+"]
    # of y = a x: its own adjoint, g x for a, g a for x; of a = x x twice g x for x; what arrives at x is added up
    assert below(snapshot) == {3: 2, 4: 1, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0}
    assert [rows[k]["name"] for k in (3, 4, 9)] == ["∂y/∂y", "∂y/∂(x × x)", "dy"]
    assert [rows[k]["name"] for k in (5, 6, 7, 8)] == [None] * 4  # parts of ∂y/∂x


def test_a_tape_that_is_gone_changes_nothing():
    snapshot = tf.snapshot(*nested())
    assert "released" in [tape["state"] for tape in snapshot["tapes"]]
    assert below(snapshot) == below(cubic())


@pytest.mark.parametrize("function", [
    lambda x: tf.sigmoid(x) * tf.sin(x) / (x + 2.0),
    lambda x: tf.reduce_mean(tf.nn.softmax(tf.stack([x, x * x, 1.0])) ** 2),
    lambda x: tf.where(x > 1.0, x**3.0, -x) + tf.maximum(x, 0.5),
    lambda x: tf.reduce_sum(tf.matmul(tf.stack([[x, 1.0]]), tf.stack([[x], [x * x]]))),
    lambda x: tf.add_n([x, x * 2.0, tf.exp(x)]) - tf.square(x),
])  # fmt: skip
def test_all_that_the_sweep_wrote_has_its_place_whatever_is_differentiated(function):
    snapshot = differentiate_twice(function, 1.5)
    written = [row for row in snapshot["rows"] if row["by"] is not None]
    assert len(written) > 3
    for row in written:
        if row["inputs"]:
            under = snapshot["rows"][row["below"]]
            assert under["by"] is None and under["row"] < row["row"]
    assert next(row for row in written if row["name"] == "slope")["below"] == 0


def test_what_the_third_derivative_wrote_is_below_rows_of_the_second_too():
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as first:
        with tf.GradientTape() as second:
            with tf.GradientTape() as third:
                y = x * x * x
            one = third.gradient(y, x)
        two = second.gradient(one, x)
    assert float(first.gradient(two, x)) == 6.0
    snapshot = tf.snapshot(first)
    rows = snapshot["rows"]
    owners = {
        row["by"]: {rows[row["below"]]["by"] for row in rows if row["by"] == by and row["inputs"]}
        for by in (1, 2)
        for row in rows
        if row["by"] == by
    }
    assert owners == {2: {None}, 1: {None, 2}}


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_screen_has_the_adjoint_of_each_row_below_it(show, page, scheme):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page = show(cubic())
    type_keys(page, "End")
    boxes = {
        int(node.get_attribute("data-id")[1:].split("@")[0]): read_box(node.locator(".mt-box"))
        for node in page.locator(".mt-node").all()
    }
    assert sorted(boxes) == list(range(10))
    upper, lower = [boxes[k] for k in range(3)], [boxes[k] for k in range(3, 10)]
    assert max(box["y"] + box["height"] for box in upper) < min(box["y"] for box in lower)
    for row, under in ((3, 2), (4, 1), (5, 0), (6, 0), (8, 0)):
        assert abs(boxes[row]["x"] - boxes[under]["x"]) < 1
    assert boxes[9]["x"] < boxes[7]["x"] < boxes[6]["x"]  # it runs back
    titles = page.locator(".mt-title").all_text_contents()
    assert {"∂y/∂y", "∂y/∂(x × x)", "dy"} < {*titles}
    type_keys(page, "k")  # the cut goes through one storey
    left = read_box(page.locator(".mt-node[data-id=r9] .mt-box"))["x"]
    assert left > read_box(page.locator(".mt-node[data-id=r4] .mt-box"))["x"]
    type_keys(page, "k")
    assert read_box(page.locator(".mt-node[data-id=r9] .mt-box"))["x"] == pytest.approx(boxes[9]["x"], abs=60)


@pytest.mark.browser
@pytest.mark.parametrize("function", [
    lambda x: x**3 + tf.sin(x),
    lambda x: tf.sqrt(x * 2.0) + x**4,
    lambda x: 2.0 * x**2 + 3.0 * x,
])  # fmt: skip
def test_the_frame_of_a_sweep_is_below_the_frame_of_its_tape(show, page, function):
    page.set_viewport_size({"width": 1280, "height": 800})
    page = show(differentiate_twice(function, 3.0))
    page.locator("select.mt-select").first.select_option("none")
    page.locator(".mt-frame-sweep").wait_for()
    tape, sweep = (read_box(page.locator(f".mt-frame-{kind}").locator("rect").last) for kind in ("tape", "sweep"))
    assert tape["y"] + tape["height"] <= sweep["y"]


@pytest.mark.browser
def test_what_goes_back_to_the_upper_storey_is_beside_its_name(show, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    snapshot = cubic()
    page = show(snapshot)
    type_keys(page, "End")
    sent = {
        f"{edge['input']}>{step['row']}:{edge['port']}": edge["product"]["text"]
        for step in snapshot["sweep"]["steps"]
        for edge in step["edges"]
    }
    chips = page.locator(".mt-chip.mt-sent").evaluate_all("all => all.map(one => one.dataset.edge)")
    shares = page.locator(".mt-share").evaluate_all("all => all.map(one => [one.dataset.edge, one.textContent])")
    numbers = {edge: text for edge, text in shares if edge in chips}
    assert len(numbers) >= 3 and numbers.items() <= sent.items()


@pytest.mark.browser
def test_a_phone_has_one_storey_below_the_other(show, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page = show(cubic())
    page.locator(".mt-pane").evaluate("pane => { pane.style.height = '1500px' }")  # what is not seen is not drawn
    page.locator(".mt-node[data-id=r9]").wait_for()
    tops = [read_box(page.locator(f".mt-node[data-id=r{row}] .mt-box"))["y"] for row in (0, 1, 2, 3, 4, 6, 9)]
    assert tops == sorted(tops)


def test_a_figure_is_the_same_picture():
    figure = Picture(cubic()).figure
    at = {row: figure.nodes[figure.node_by_row[row]] for row in range(10)}
    assert max(at[row].y for row in range(3)) < min(at[row].y for row in range(3, 10))
    for row, under in ((3, 2), (4, 1), (5, 0), (6, 0), (8, 0)):
        assert at[row].x == at[under].x
    assert at[9].x < at[7].x < at[6].x
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure.build_svg())
    assert {"∂y/∂y", "∂y/∂(x × x)", "dy", "outer", "inner", "inner.gradient"} < {*texts}
    for (start, end, _), points in figure.curves.items():  # edges go from one side to the other
        back = figure.nodes[end].tier > 0
        assert figure.nodes[start].tier == figure.nodes[end].tier
        assert points == sorted(points, key=lambda point: point[0], reverse=back)


def test_a_figure_of_several_lines_has_two_storeys_in_each():
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.sin(tf.cos(tf.exp(tf.tanh(tf.sigmoid(x * x)))))
        slope = inner.gradient(y, x)
    outer.gradient(slope, x)
    figure = Picture(tf.snapshot(outer)).figure
    assert max(node.line for node in figure.nodes) == 1
    parts = {(node.line, node.tier > 0): node.y for node in figure.nodes}
    assert [*parts] and sorted(parts, key=parts.__getitem__) == [(0, False), (0, True), (1, False), (1, True)]
    for part, row in zip(figure.nodes, figure.snapshot["rows"], strict=True):
        if "below" in row and part.inputs:
            above = figure.nodes[figure.node_by_row[row["below"]]]
            assert part.row is row and part.x <= above.x + (part.line < above.line) * figure.width
    width = float(re.search(r'width="([\d.]+)"', figure.build_svg())[1])
    chips = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="16"', figure.build_svg())
    assert chips and max(float(x) + float(w) for x, w in chips) < width  # the names of what comes from afar
