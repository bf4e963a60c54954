"""Two tapes beside each other: the first row that differs."""

from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape_widgets import TapeView
from minitape_widgets.wire_format import encode_snapshot
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import accumulation, type_keys


def rate(factor: float, more: bool = False) -> Any:
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(x * 3.0) * factor
        if more:
            y = y + 1.0
    tape.gradient(y, x)
    return tape


def test_the_first_row_with_another_value_is_named():
    found = TapeView.compare(rate(2.0), rate(2.5))
    assert found.row == 4
    assert repr(found) == (
        "Row 4 is the first row that differs: const = 2.0 on the first tape, but const = 2.5 on the second tape."
    )
    assert [view._build_snapshot()["differs"]["row"] for view in found.views] == [4, 4]


def test_a_tape_that_goes_on_differs_where_the_other_ends():
    found = TapeView.compare(rate(2.0), rate(2.0, more=True))
    assert found.row == 6
    assert repr(found).startswith("Before row 6, only the second tape has y₂ = y₁ + 1.0 = 0.4")
    texts = [view._build_snapshot()["differs"]["text"].split(": ")[0] for view in found.views]
    assert texts == ["not on this tape", "inserted"]


def descend(factor: float | None, start: Any = 1.0) -> Any:
    w = tf.Variable(start, name="w")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum((w * 3.0 - 2.0) ** 2)
    gradient = tape.gradient(y, w)
    if factor is not None:
        w.assign_sub(factor * gradient)
    return tape


def test_equal_tapes_whose_programs_update_a_variable_differently_differ_there():
    found = TapeView.compare(descend(0.1), descend(0.5))
    assert found.row == 0
    assert repr(found) == (
        "Row 0 is the first row that differs: w = 0.4 after the update on the first tape, but w = -2.0 after the "
        "update on the second tape."
    )
    marks = [view._build_snapshot()["differs"] for view in found.views]
    assert [one["row"] for one in marks] == [0, 0]
    assert [one["rows"] for one in marks] == [[], []]  # their values are the same until then
    assert "w = 1.0 after the update on the second tape" in repr(TapeView.compare(descend(0.1), descend(None)))
    assert TapeView.compare(descend(0.1), descend(0.1)).row is None


def test_large_arrays_of_another_size_are_told_apart_by_their_size():
    values = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    found = repr(TapeView.compare(descend(None, values), descend(None, 5.0 * values)))
    assert "w = (4, 4) ±2.33 on the first tape, but w = (4, 4) ±11.6" in found and "…" not in found
    other = values.copy()
    other[0, 0] += 0.01
    found = repr(TapeView.compare(descend(None, values), descend(None, other)))
    assert "0.1257" in found and "0.1357" in found  # of the same size, they are told apart by their digits


def test_tapes_and_rows_have_the_names_of_the_program():
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as slow:
        y = x * 2.0
    with tf.GradientTape() as fast:
        z = x * 3.0
    found = [view._build_snapshot() for view in TapeView.compare(slow, fast).views]
    assert [one["tapes"][0]["name"] for one in found] == ["slow", "fast"]
    assert [one["rows"][-1]["name"] for one in found] == ["y", "z"] and y is not z


def test_an_operation_between_is_named_beside_the_row_that_comes_in_its_place():
    tapes = []
    for stopped in (False, True):
        x = tf.Variable(3.0, name="x")
        with tf.GradientTape() as tape:
            y = (tf.stop_gradient(x) if stopped else x) * x
        tape.gradient(y, x)
        tapes.append(tape)
    found = TapeView.compare(*tapes)
    assert repr(found) == "Before row 1, only the second tape has stop(x) = 3.0."
    assert [view._build_snapshot()["differs"]["row"] for view in found.views] == [1, 1]
    assert [view._build_snapshot()["differs"]["missing"] for view in found.views] == [True, False]


def test_different_operations_on_large_arrays_are_told_apart_without_their_digits():
    numbers = np.linspace(-2.0, 2.0, 48).reshape(6, 8).astype(np.float32)
    tapes = []
    for function in (tf.tanh, tf.nn.relu):
        x = tf.Variable(numbers, name="x")
        with tf.GradientTape() as tape:
            y = tf.reduce_mean(function(x))
        tape.gradient(y, x)
        tapes.append(tape)
    assert repr(TapeView.compare(*tapes)) == (
        "Row 1 is the first row that differs: tanh(x) = (6, 8) ±0.964 on the first tape, but relu(x) = (6, 8) ±2 on "
        "the second tape."
    )
    assert round(float(np.tanh(numbers).max()), 3) == 0.964 and numbers.max() == 2


def scaled(factor: float) -> Any:
    w = tf.Variable(np.linspace(-0.3, 0.4, 16, dtype=np.float32).reshape(4, 4) * factor, name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    tape.gradient(loss, w)
    return tape


def test_arrays_of_other_sizes_are_told_apart_by_their_sizes():
    found = TapeView.compare(scaled(1.0), scaled(5.0))
    assert repr(found) == (
        "Row 0 is the first row that differs: w = (4, 4) ±0.4 on the first tape, but w = (4, 4) ±2 on the second tape."
    )
    assert "[[" in repr(TapeView.compare(scaled(1.0), scaled(-1.0)))  # which are of one size


@pytest.mark.browser
def test_pictures_of_compared_arrays_have_one_scale(page, tmp_path):
    TapeView.compare(scaled(1.0), scaled(5.0)).save(tmp_path / "a.html")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.set_content((tmp_path / "a.html").read_text(encoding="utf-8"))
    page.locator(".mt-view").nth(1).wait_for()
    page.locator(".mt-view").first.focus()
    type_keys(page, "End")
    for part in (0, 1):  # of the value and of the adjoint
        shares = [
            page.locator(".mt-view")
            .nth(k)
            .locator(".mt-node[data-id=r0] .mt-map")
            .nth(part)
            .locator("path")
            .evaluate_all("all => Math.max(...all.map(one => Number(/([0-9.]+)%/.exec(one.style.fill)[1])))")
            for k in (0, 1)
        ]
        assert shares[0] < shares[1] == 100


def test_a_further_constant_and_another_order_of_factors_are_no_difference():
    tapes = []
    for swapped in (False, True):
        x = tf.Variable(3.0, name="x")
        if swapped:
            tf.constant(7.0)
        with tf.GradientTape() as tape:
            y = 2.0 * x if swapped else x * 2.0
            y = y + 1.0
        tape.gradient(y, x)
        tapes.append(tape)
    assert TapeView.compare(*tapes).row is None


def test_equal_tapes_are_alike():
    found = TapeView.compare(rate(2.0), rate(2.0))
    assert found.row is None and repr(found) == "The two tapes are the same, row by row."


def test_only_equal_tapes_say_in_the_picture_that_they_are(page, tmp_path):
    for other, is_equal in ((2.0, True), (2.5, False)):
        TapeView.compare(rate(2.0), rate(other)).save(tmp_path / "both.html")
        page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
        page.locator(".mt-view").nth(1).wait_for()
        wait_for_frame(page)
        said = page.locator(".mt-equal").all_inner_texts()
        assert said == ["The two tapes are the same, row by row."] * (2 * is_equal)


def test_the_same_rows_with_another_gradient_differ_where_the_sweep_does():
    tapes = []
    for weight in (1.0, 5.0):
        x = tf.Variable(2.0, name="x")
        with tf.GradientTape() as tape:
            y = tf.sin(x) * x
        tape.gradient(y, x, output_gradients=tf.constant(weight))
        tapes.append(tape)
    found = TapeView.compare(*tapes)
    assert found.row == 2
    assert repr(found) == (
        "Row 2 is the first row that differs: adjoint 1.0 of row 2 on the first tape, but adjoint "
        "5.0 of row 2 on the second tape."
    )


def test_rows_behind_another_operation_that_compute_the_same_from_other_values_are_marked():
    tapes = []
    for function in (tf.sin, tf.cos):
        x = tf.Variable(2.0, name="x")
        with tf.GradientTape() as tape:
            y = function(x * 1.5) * x + 1.0
        tape.gradient(y, x)
        tapes.append(tape)
    one, _ = TapeView.compare(*tapes).views
    rows = one._build_snapshot()["rows"]
    assert [row["label"] for row in rows] == ["x:0", "const", "×", "sin", "×", "const", "+"]
    assert one._build_snapshot()["differs"]["rows"] == [4, 6]  # of row 3 it is the operation


@pytest.mark.browser
def test_later_rows_of_other_values_are_marked(show):
    both = rate(2.0, more=True), rate(2.5)
    assert [view._build_snapshot()["differs"]["rows"] for view in TapeView.compare(*both).views] == [[4, 5, 7], [4, 5]]
    page = show(TapeView.compare(*both).views[0]._build_snapshot())
    marked = {one: page.locator(f".mt-node.mt-{one}") for one in ("differs", "unlike")}
    assert {one: found.evaluate_all("all => all.map(one => one.dataset.id)") for one, found in marked.items()} == {
        "differs": ["r4"],
        "unlike": ["r5", "r7"],
    }


@pytest.mark.browser
def test_an_operation_that_only_one_tape_has_says_so(show):
    """Also after the first difference, where the strip above the graph does not name it."""

    def record(function, is_longer):
        x = tf.Variable(2.0, name="x")
        with tf.GradientTape() as tape:
            u = function(x)
            y = (u + 1.0 if is_longer else u) * x
        tape.gradient(y, x)
        return tape

    shorter, longer = TapeView.compare(record(tf.sin, False), record(tf.cos, True)).views
    # Dashed nodes say what their dashes mean.
    assert show(shorter._build_snapshot()).locator(".mt-held").all_text_contents() == ["other value"]
    page = show(longer._build_snapshot())
    assert sorted({*page.locator(".mt-held").all_text_contents()}) == ["only on this tape", "other value"]
    # An edge below the words, as on a phone, does not strike them through.
    order = page.locator(".mt-node[data-id=r3] .mt-held").evaluate("one => getComputedStyle(one).paintOrder")
    assert order.startswith("stroke")
    assert "mt-unlike" in page.locator(".mt-node[data-id=r3]").get_attribute("class")


@pytest.mark.browser
def test_the_row_is_marked_and_gone_to(show):
    view = TapeView.compare(rate(2.0), rate(2.5)).views[0]
    page = show(view._build_snapshot())
    assert page.locator(".mt-lines .mt-current").get_attribute("data-row") == "4"
    assert "mt-differs" in page.locator(".mt-node[data-id=r4]").get_attribute("class")
    assert "const = 2.0 on this tape, const = 2.5 on the other tape" in page.locator(".mt-strip").inner_text()
    page.get_by_role("button", name="First (Home)").click()
    page.get_by_role("button", name="first difference: row 4").click()
    wait_for_frame(page)
    assert page.locator(".mt-lines .mt-current").get_attribute("data-row") == "4"


@pytest.mark.browser
def test_two_tapes_step_together_on_a_page_that_is_saved(show, page, tmp_path):
    found = TapeView.compare(rate(2.0), rate(2.5))
    found.save(tmp_path / "both.html")
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    page.locator(".mt-view").nth(1).wait_for()
    counts = page.locator(".mt-count")
    page.locator(".mt-view").first.focus()
    for keys in (["Home"], ["ArrowRight"], ["End"], ["ArrowLeft"]):
        type_keys(page, *keys)
        assert len(set(counts.all_inner_texts())) == 1
    assert counts.first.inner_text().startswith("backward")
    page.locator(".mt-view").nth(1).focus()
    type_keys(page, "Home")
    assert counts.all_inner_texts()[0].startswith("forward 0")
    with pytest.raises(ValueError, match=r"saved as an \.html page"):
        found.save(tmp_path / "both.svg")


@pytest.mark.browser
def test_they_step_to_rows_that_belong_together(page, tmp_path):
    tapes = []
    for added in (False, True):
        x = tf.Variable(2.0, name="x")
        with tf.GradientTape() as tape:
            h = tf.tanh(x * 0.5)
            if added:
                h = h + 0.25
            y = h * h
        tape.gradient(y, x)
        tapes.append(tape)
    TapeView.compare(*tapes).save(tmp_path / "both.html")
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    page.locator(".mt-view").nth(1).wait_for()
    counts = page.locator(".mt-count")
    # at the row that only the second tape has, which nothing on the first tape belongs to
    assert counts.all_inner_texts() == ["forward 4 / 5", "forward 6 / 7"]
    strips = page.locator(".mt-strip").all_inner_texts()
    assert "not on this tape: h₂ = h₁ + 0.25" in strips[0] and "inserted: h₂" in strips[1]
    assert page.locator(".mt-view").first.locator(".mt-node.mt-differs").count() == 0
    page.locator(".mt-view").first.focus()
    type_keys(page, "ArrowRight")
    assert counts.all_inner_texts() == ["forward 5 / 5", "forward 7 / 7"]  # the product in both
    type_keys(page, "ArrowLeft")
    assert counts.all_inner_texts() == ["forward 4 / 5", "forward 4 / 7"]  # tanh
    type_keys(page, "ArrowRight", "ArrowRight")
    assert [text.split()[0] for text in counts.all_inner_texts()] == ["backward"] * 2
    type_keys(page, "ArrowRight")  # the share of tanh, which is the second step here and the third there
    assert counts.all_inner_texts() == ["backward 2 / 3", "backward 3 / 4"]


PLACES = """all => all.map(view => [...view.querySelectorAll(".mt-node")].map((node) => {
    const box = node.querySelector(".mt-box").getBoundingClientRect();
    return [node.querySelector(".mt-title").textContent, Math.round(box.left - view.getBoundingClientRect().left)];
}))"""


@pytest.mark.browser
def test_rows_that_belong_together_are_in_the_same_columns(page, tmp_path):
    tapes = []
    for added in (False, True):
        x = tf.Variable(2.0, name="x")
        with tf.GradientTape() as tape:
            h = tf.tanh(x)
            if added:
                h = tf.exp(h)
            y = tf.sin(h)
        tape.gradient(y, x)
        tapes.append(tape)
    TapeView.compare(*tapes).save(tmp_path / "both.html")
    page.set_viewport_size({"width": 1900, "height": 900})
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    page.locator(".mt-view").nth(1).wait_for()
    page.wait_for_timeout(300)
    left, right = (dict(places) for places in page.locator(".mt-view").evaluate_all(PLACES))
    assert set(right) - set(left) == {"exp"} or len(right) == len(left) + 1
    assert left["x"] == pytest.approx(right["x"], abs=4) and left["y"] == pytest.approx(right["y"], abs=4)
    assert "not on this tape: h₂ = exp(h₁) = " in page.locator(".mt-strip").first.inner_text()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 900, 390])
def test_both_graphs_have_one_scale_and_what_is_missing_comes_behind_an_existing_row(width, page, tmp_path):
    TapeView.compare(rate(2.0), rate(2.0, more=True)).save(tmp_path / "both.html")
    page.set_viewport_size({"width": width, "height": 800})
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    views = page.locator(".mt-view")
    views.nth(1).wait_for()
    page.wait_for_timeout(300)
    (one, other) = (read_box(views.nth(k).locator(".mt-node[data-id=r3] .mt-box")) for k in (0, 1))
    for side in ("width", "height", "x") if width > 1000 else ("width", "height"):
        assert one[side] == pytest.approx(other[side], abs=0.5)
    assert [text.split("  ")[0] for text in page.locator(".mt-strip b").all_inner_texts()] == [
        "first difference: after row 5",
        "first difference: row 7",
    ]
    views.first.focus()
    type_keys(page, "Home")
    page.get_by_role("button", name="first difference: after row 5").click()
    wait_for_frame(page)
    assert views.first.locator(".mt-count").inner_text() == "forward 6 / 6"
    for part in (".mt-inspector", ".mt-source"):  # on a phone, they are one above the other
        assert read_box(views.nth(1).locator(f".mt-side {part}"))["width"] >= min(width, 480) / 2


@pytest.mark.browser
def test_they_stand_side_by_side_where_both_have_room(page, tmp_path):
    TapeView.compare(rate(2.0), rate(2.5)).save(tmp_path / "both.html")
    places = []
    for width in (1900, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
        page.locator(".mt-view").nth(1).wait_for()
        places.append(
            page.locator(".mt-view").evaluate_all(
                "els => els.map(e => { const b = e.getBoundingClientRect(); return [b.left, b.right, b.top, "
                "b.bottom] })"
            )
        )
        assert page.locator(".mt-stepbar:visible").count() == (2 if width == 1900 else 1)
    (one, other), (above, below) = places
    assert one[1] < other[0] and one[2] == other[2]
    assert above[3] < below[2] and above[0] == below[0]


def record_sine(is_stopped: bool) -> Any:
    x = tf.Variable(0.8, name="x")
    with tf.GradientTape() as tape:
        u = x * x
        v = tf.stop_gradient(u) if is_stopped else u
        y = v * tf.sin(x)
    tape.gradient(y, x)
    return tape


@pytest.mark.browser
def test_both_graphs_are_in_view_and_a_row_moves_on_to_the_column_of_its_partner(page, tmp_path):
    TapeView.compare(record_sine(False), record_sine(True)).save(tmp_path / "both.html")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    views = page.locator(".mt-view")
    views.nth(1).wait_for()
    page.wait_for_timeout(300)
    assert [one.split()[:2] for one in page.locator(".mt-tape").all_inner_texts()] == [["tape", "A"], ["tape", "B"]]
    upper, lower = (dict(places) for places in views.evaluate_all(PLACES))
    assert upper == {name: lower[name] for name in upper} and lower["v"] == lower["sin"]
    for name in ("Home", "End"):
        type_keys(page, name)
        page.wait_for_timeout(250)
        for view in views.all():
            pane = read_box(view.locator(".mt-pane"))
            for node in view.locator(".mt-node .mt-box").all():
                box = read_box(node)
                assert pane["x"] <= box["x"] and box["x"] + box["width"] <= pane["x"] + pane["width"]
                assert box["y"] + box["height"] <= 900


@pytest.mark.browser
def test_a_phone_opens_a_comparison_with_a_step_in_full_strength(page, tmp_path):
    """It shows one of the tapes, which may not have the step of the other one."""
    TapeView.compare(record_sine(False), record_sine(True)).save(tmp_path / "both.html")
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    page.locator(".mt-view").nth(1).wait_for()
    wait_for_frame(page)
    assert "Forward" in page.locator(".mt-step").first.inner_text() and page.locator(".mt-apart").count() == 0
    page.locator(".mt-view").first.focus()
    type_keys(page, "End")
    assert page.locator(".mt-apart").count() == 1


@pytest.mark.browser
def test_a_tape_without_the_step_of_the_other_says_so(page, tmp_path):
    TapeView.compare(record_sine(False), record_sine(True)).save(tmp_path / "both.html")
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    views = page.locator(".mt-view")
    views.nth(1).wait_for()
    wait_for_frame(page)
    # both begin at the row that only the second tape has
    assert [one == "no step here" for one in page.locator(".mt-step").all_inner_texts()] == [True, False]
    views.first.focus()
    type_keys(page, "ArrowRight")
    assert "no step here" not in page.locator(".mt-step").all_inner_texts()
    type_keys(page, "End")  # at the square, which gets no gradient on the second tape
    assert [one == "no step here" for one in page.locator(".mt-step").all_inner_texts()] == [False, True]


def test_the_browser_hears_with_the_first_rows_that_they_go_together(monkeypatch):
    sent = []
    monkeypatch.setattr(
        "minitape_widgets.view.encode_snapshot", lambda part: sent.append(part) or encode_snapshot(part)
    )
    TapeView.compare(rate(2.0), rate(2.5))
    assert [part["differs"]["row"] for part in sent] == [4, 4] and sent[0]["linked"] == sent[1]["linked"] != ""


def test_a_notebook_keeps_both_pictures():
    data, _ = TapeView.compare(rate(2.0), rate(2.5))._repr_mimebundle_()
    assert data["text/plain"].startswith("Row 4 is the first") and data["text/html"].count("<img") == 2
    assert "application/vnd.jupyter.widget-view+json" in data


def test_something_else_is_refused():
    with pytest.raises(TypeError, match=r"TapeView takes a tf\.GradientTape"):
        TapeView.compare(accumulation()[0], 3)


@pytest.mark.browser
def test_the_controls_of_each_tape_are_on_one_line(page, tmp_path):
    tapes = []
    for rate in (0.5, 0.25):
        w = tf.Variable(np.linspace(-1.0, 1.0, 32).reshape(4, 8).astype(np.float32), name="w")
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(w * rate))
        tape.gradient(loss, w)
        tapes.append(tape)
    page.set_viewport_size({"width": 1440, "height": 900})
    TapeView.compare(*tapes).save(tmp_path / "both.html")
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    page.locator(".mt-view").nth(1).locator(".mt-go").wait_for()  # the state with the most controls
    assert page.locator(".mt-scalebar:visible").count() == 1
    for bar in page.locator(".mt-stepbar:visible").all():
        tops, bottoms = bar.evaluate(
            """bar => {
              const boxes = [...bar.children].filter(one => one.offsetParent).map(one => one.getBoundingClientRect());
              return [boxes.map(box => box.top), boxes.map(box => box.bottom)];
            }"""
        )
        assert max(tops) < min(bottoms)


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 620])
def test_the_first_difference_is_read_whole_on_a_narrow_screen(width, show, page):
    page.set_viewport_size({"width": width, "height": 844})
    x, w = tf.Variable(0.8, name="x"), tf.Variable(1.2, name="w")
    tapes = []
    for function in (tf.sigmoid, tf.tanh):
        with tf.GradientTape() as tape:
            y = (function(w * x) - 1.0) ** 2
        tape.gradient(y, [x, w])
        tapes.append(tape)
    for view in TapeView.compare(*tapes).views:
        show(view._build_snapshot())
        hidden = "one => one.scrollHeight - one.clientHeight"
        assert page.locator(".mt-alarm").first.evaluate(hidden) <= 1


def test_numbers_that_differ_in_the_fifth_digit_look_different_and_each_view_has_its_name(page, tmp_path):
    def record(aim: float) -> Any:
        x, w = tf.Variable(2.0, name="x"), tf.Variable(0.5, name="w")
        with tf.GradientTape() as tape:
            y = (tf.sin(x * w) - aim) ** 2
        tape.gradient(y, [x, w])
        return tape

    first, second = record(0.3), record(0.3001)
    TapeView.compare(first, second).save(tmp_path / "both.html")
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    views = page.locator(".mt-view")
    views.nth(1).wait_for()
    names = views.evaluate_all("all => all.map(one => one.ariaLabel)")
    assert names == ["Tape view 1: first", "Tape view 2: second"]
    page.keyboard.press("End")
    wait_for_frame(page)
    adjoints, results = ([view.locator(part).all_text_contents() for view in views.all()] for part in (
        ".mt-node .mt-adjoint", ".mt-results b"
    ))  # fmt: skip
    unlike = [(one, other) for one, other in zip(*adjoints, strict=True) if one != other]
    # x, w, their product, its sine and the difference have other adjoints, the target has 1 on both tapes
    assert len(unlike) == 5 and "∂ 1.0829" in adjoints[0] and "∂ 1.0827" in adjoints[1]
    assert results[0] and all(one != other for one, other in zip(*results, strict=True))
    # a screen reader hears the step once
    assert views.locator(".mt-said-only").evaluate_all("all => all.map(one => one.ariaLive)") == ["polite", "off"]


def record_tanh(is_squashed: bool) -> Any:
    w, x = tf.Variable(2.0, name="w"), tf.constant(3.0)
    with tf.GradientTape() as tape:
        h = w * x
        if is_squashed:
            h = tf.tanh(h)
        y = (h - 1.0) ** 2
    tape.gradient(y, w)
    return tape


@pytest.mark.browser
def test_both_explanations_are_in_view_below_one_toolbar_and_labels_are_free(page, tmp_path):
    TapeView.compare(record_tanh(False), record_tanh(True)).save(tmp_path / "both.html")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    views = page.locator(".mt-view")
    views.nth(1).wait_for()
    wait_for_frame(page)
    assert "first difference: after row 2" in page.locator(".mt-strip").first.inner_text()  # not the constant behind it
    views.first.focus()
    type_keys(page, "End")
    bar = read_box(page.locator(".mt-stepbar:visible"))
    for words in page.locator(".mt-step").all():
        assert read_box(words)["y"] + 60 <= bar["y"]
    assert page.locator(".mt-source:visible").count() == 1  # the program of both
    page.locator(".mt-toolbar [data-does=slopes]:visible").click()
    assert page.locator("[data-does=slopes][aria-pressed=true]").count() == 2
    page.locator(".mt-toolbar [data-does=slopes]:visible").click()
    wait_for_frame(page)
    labels = page.locator(".mt-held").all()
    numbers = [read_box(one) for one in page.locator(".mt-constant .mt-box").all()]
    assert len(labels) == 5
    for label in map(read_box, labels):
        for box in numbers:
            assert (
                label["y"] + label["height"] <= box["y"]
                or label["y"] >= box["y"] + box["height"]
                or not (label["x"] < box["x"] + box["width"] and box["x"] < label["x"] + label["width"])
            )


@pytest.mark.browser
def test_programs_of_different_lines_are_both_shown(page, tmp_path):
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as one:
        y = tf.sin(x)
    one.gradient(y, x)
    with tf.GradientTape() as other:
        z = tf.cos(x)
    other.gradient(z, x)
    TapeView.compare(one, other).save(tmp_path / "both.html")
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    page.locator(".mt-view").nth(1).wait_for()
    assert page.locator(".mt-source:visible").count() == 2
