"""What the picture says of numbers that are right: each sentence was false once."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape.bridges.recording import Recording
from minitape.picture.reader import TapeReader
from minitape_widgets import TapeView
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import read_position, type_keys


def words(page: Any) -> str:
    """What stands about the present step."""
    return page.locator(".mt-step").inner_text().replace("\n", " ")


def test_a_variable_of_interact_goes_by_its_name_in_the_program():
    rate = tf.Variable(3.0)
    view = TapeView.interact(lambda: rate * rate, rate, -5, 5)
    snapshot = view.read_snapshot()
    assert [row["name"] for row in snapshot["rows"]] == ["rate", None]
    assert snapshot["results"][0]["sources"][0]["name"] == "rate"
    assert json.loads(view._knobs)[0]["name"] == "rate"


def test_a_tape_goes_by_its_own_name_and_not_by_that_of_its_view():
    with tf.GradientTape() as tape:
        pass
    names = {"view": TapeView(tape), "mine": tape}
    (own,) = TapeReader(tape, [names]).build_snapshot_without_sweep([], 0)["tapes"]
    assert own["name"] == "mine"


def test_a_line_that_transposes_at_one_turn_says_so_at_that_turn_alone():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    with tf.GradientTape() as tape:
        y = w
        for turned in (False, True):
            y = tf.transpose(tf.matmul(y, w, transpose_b=turned), [1, 0] if turned else [0, 1])
    rows = tf.snapshot(tape, y, w)["rows"][1:]
    assert [(row["label"], (row.get("said") or [""])[0]) for row in rows] == [
        *[("@", "x @ y"), ("T", "")],
        *[("@ᵀ", "x @ yᵀ"), ("T", "xᵀ")],
    ]


@pytest.mark.browser
def test_infinity_times_zero_is_said_to_be_a_convention(show):
    x = tf.Variable([0.0, 1.0, 4.0], name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sqrt(x) * tf.constant([0.0, 8.0, 36.0]))
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    assert "by convention" in words(page) and "[0. 4. 9.]" in words(page)


@pytest.mark.browser
def test_the_rule_of_complex_numbers_reads_the_conjugate(show):
    z = tf.Variable(1.0 + 2.0j, name="z", dtype=tf.complex64)
    with tf.GradientTape() as tape:
        y = z * (3.0 + 1.0j)
    page = show(tf.snapshot(tape, y, z))
    type_keys(page, "End")
    assert "conj(row 1)" in words(page) and "(3-1j)" in words(page)


@pytest.mark.browser
def test_a_state_of_a_variable_is_right_of_the_row_that_was_assigned_to_it(show, page):
    v = tf.Variable(1.0, name="v")
    with tf.GradientTape() as tape:
        y = v * 3.0
        v.assign(tf.sin(y) * 2.0)
        z = y * v
    page.set_viewport_size({"width": 1900, "height": 900})
    snapshot = tf.snapshot(tape, z, v)
    (event,) = (event for event in snapshot["events"] if event["kind"] == "assign")
    show(snapshot)
    made, state = (read_box(page.locator(f".mt-node[data-id=r{event[key]}] .mt-box")) for key in ("row", "to"))
    assert state["x"] > made["x"] + made["width"]


@pytest.mark.browser
def test_a_row_that_hands_its_input_on_has_no_equation(show):
    x = tf.Variable(5.242485, name="x")
    with tf.GradientTape() as tape:
        y = tf.identity(x)
    page = show(tf.snapshot(tape, y, x))
    assert "=" not in words(page) and "value 5.242485" in words(page)


def test_the_row_that_is_an_integer_is_linked_and_not_its_float_variable():
    x, s = tf.Variable(2.7, name="x"), tf.Variable(1.5, name="s")
    with tf.GradientTape() as tape:
        whole = tf.cast(x * 2.0, tf.int32)
        y = tf.cast(whole, tf.float32) * s
    tape.gradient(y, [x, s])
    snapshot = tf.snapshot(tape)
    alarm = next(alarm for alarm in snapshot["alarms"] if alarm["kind"] == "none")
    row = snapshot["rows"][alarm["row"]]
    assert (row["op"], row["dtype"]) == ("cast", "int32")
    assert alarm["title"].endswith(f"row {row['row']}, line {row['line']}")


@pytest.mark.browser
def test_a_tangent_that_is_exact_is_written_as_one(show):
    x = tf.Variable(3.0, name="x")
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        _ = x * x
    assert "tangent 1.0 gives 3.0" in words(show(tf.snapshot(acc)))


@pytest.mark.browser
def test_the_table_has_the_tangents_of_the_graph_in_the_colour_of_tangents(show):
    x = tf.Variable([3.0, 2.0], name="x")
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        y = tf.reduce_sum(x * x)
    page = show(tf.snapshot(acc))
    column = page.locator(".mt-table .mt-c-adjoint")
    assert column.all_inner_texts() == ["tangent", "→ [1. 0.]", "→ [6. 0.]", "→ 6.0"] and acc.jvp(y) == 6.0
    assert "mt-tangent" in (column.last.get_attribute("class") or "")
    type_keys(page, "Home")
    assert column.all_inner_texts() == ["tangent", "", "", ""]


@pytest.mark.browser
def test_a_state_has_one_colour_wherever_it_is_shown(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.cast(tf.cast(x, tf.int32), tf.float32) * 2.0
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    colours = "els => [...new Set(els.map(el => getComputedStyle(el)[el instanceof SVGElement ? 'fill' : 'color']))]"
    ghosts = page.locator(".mt-held", has_text="not recorded")
    assert ghosts.count() == 2 and len(ghosts.evaluate_all(colours)) == 1  # although the reader is at one of them
    none = page.locator(".mt-node .mt-adjoint", has_text="None").evaluate_all(colours)
    assert page.locator(".mt-lines .mt-c-adjoint", has_text="None").evaluate_all(colours) == none


@pytest.mark.browser
def test_the_node_of_a_large_array_shows_the_size_of_its_new_value(show):
    k = tf.Variable(np.linspace(-2.0, 1.0, 20).reshape(4, 5).astype(np.float32), name="k")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(k * k)
    (gradient,) = tape.gradient(y, [k])
    tf.keras.optimizers.Adam(0.5).apply_gradients([(gradient, k)])
    page = show(tf.snapshot(tape))
    type_keys(page, "End")
    assert page.locator(".mt-node.mt-variable .mt-value").text_content() == "→ ±1.5"
    assert np.abs(k.numpy()).max() == pytest.approx(1.5, abs=1e-3)
    assert ">→ ±1.5<" in tf.draw(tape).svg


@pytest.mark.browser
def test_a_picture_opens_where_all_rows_are_computed(show):
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = x * x
        _ = y * 3.0
    page = show(tf.snapshot(tape, y, x))
    assert read_position(page) == "forward 4 / 4" and "row 1" in words(page)  # the target
    type_keys(page, "ArrowRight")
    assert read_position(page).startswith("backward 1")


def test_who_was_not_watched_is_blamed_and_not_its_reader():
    x, c = tf.Variable(2.0, name="x"), tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * c
    tape.gradient(y, [x, c])
    snapshot = tf.snapshot(tape)
    (alarm,) = snapshot["alarms"]
    assert snapshot["rows"][alarm["row"]]["kind"] == "constant"


@pytest.mark.browser
@pytest.mark.parametrize(
    "framework, text",
    [("torch", "requires grad"), ("jax", "argument of the function"), ("by hand", "watched by watch()")],
)
def test_a_leaf_is_said_in_the_words_of_its_framework(framework, text, show):
    recording = Recording(framework)
    x = recording.add_leaf(2.0, name="x", shape=())
    recording.add_leaf(2.0, kind="constant", shape=(), tracked=False)
    recording.add_operation("square", [x], 4.0, shape=())
    recording.close()
    page = show(recording.snapshot())
    type_keys(page, "Home", "ArrowRight")
    assert f"A source: {text}." in words(page)
    type_keys(page, "ArrowRight")
    assert "tape" not in words(page)


@pytest.mark.browser
def test_each_number_of_the_program_is_a_node_of_its_own(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * 2.0
        z = y + 2.0 + 2.0 * y
        loss = z**2.0
        for _ in range(2):
            loss = loss * 2.0
    snapshot = tf.snapshot(tape, loss, x)
    (two,) = (row["row"] for row in snapshot["rows"] if row.get("literal"))
    readers = [row["row"] for row in snapshot["rows"] if two in row["inputs"]]
    assert len(readers) == 6  # the loop reads one place twice
    page = show(snapshot, "none")
    nodes = page.locator(".mt-node.mt-constant").evaluate_all("nodes => nodes.map(node => node.dataset.id).sort()")
    assert nodes == sorted([f"r{two}", *(f"r{two}@{reader}" for reader in readers[1:5])])
    page.locator(f".mt-node[data-id=r{two}]").click()
    page.locator(".mt-feelings", has_text="in several places").wait_for()
    assert page.locator(".mt-mover").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_a_folded_loop_shows_its_adjoints_by_turn(factor, show):
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        y = x * 1.5
        for _ in range(12):
            y = tf.abs(y * factor)
    snapshot = tf.snapshot(tape, y, x)
    page = show(snapshot, "all")

    def read_slopes() -> list[int]:
        """Return the slope of each piece of the line; the top is at 0."""
        line = page.locator(".mt-profile path").get_attribute("d") or ""
        heights = [float(point.split()[1]) for point in line.replace("M", "L").split("L")[1:]]
        return [(after > before) - (after < before) for before, after in pairwise(heights)]

    falls = {0.5: 1, 1.0: 0, 2.0: -1}[factor]
    assert read_slopes() == [falls] * 11  # at first the values, since no adjoint has come back yet
    assert page.locator(".mt-profile.mt-values").count() == 1
    forward = len(snapshot["rows"])
    page.get_by_label("Step", exact=True).fill(str(forward + 6))
    wait_for_frame(page)
    assert read_slopes() == [-falls] * 2  # two rows for each of the three turns that the sweep has been in
    type_keys(page, "End")
    assert read_slopes() == [-falls] * 11
    assert page.locator(".mt-values").count() == 0
    page.locator(".mt-profile rect").click(position={"x": 2, "y": 5})
    wait_for_frame(page)
    assert read_position(page).startswith("backward") and page.locator(".mt-profile circle").count() == 1
    row = page.locator(".mt-lines .mt-current").get_attribute("data-row")
    type_keys(page, "Shift+ArrowLeft")  # one turn
    assert int(page.locator(".mt-lines .mt-current").get_attribute("data-row")) - int(row) in (1, 2)


@pytest.mark.browser
def test_a_tape_without_an_operation_says_why_the_picture_is_empty(show):
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = x
    tape.gradient(y, x)
    page = show(tf.snapshot(tape))
    page.get_by_text("No operation ran on this tape, so there is nothing to draw.").wait_for()


@pytest.mark.parametrize("power, line", [(60, "value"), (12, "gradient")])
def test_a_product_that_overflows_is_told_so(power, line):
    x = tf.Variable(1e-3, name="x")
    with tf.GradientTape() as tape:
        y = x
        for _ in range(power):
            y = y * 1e5 if line == "value" else tf.sin(y * 10000.0)
    tape.gradient(y, x)
    (alarm,) = tf.snapshot(tape)["alarms"]
    assert alarm["kind"] == line and "too large" in alarm["text"] and "Keep its input" not in alarm["text"]


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    return tf.math.log(1.0 + e), lambda g: g * (1.0 - 1.0 / (1.0 + e))


@pytest.mark.browser
def test_what_a_gradient_of_ones_own_replaces_is_a_ghost_in_its_frame(show):
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = x * x
            loss = log1pexp(y)
        g = tape.gradient(loss, x)
    outer.gradient(g, x)
    rows = tf.snapshot(outer)["rows"]
    inside = [row for row in rows if row["scope"] == ["log1pexp"] and row["kind"] == "operation"]
    assert [row["label"] for row in inside] == ["exp", "+", "log", "log1pexp"]
    assert [row["status"] for row in inside] == ["recorded", "ghost", "ghost", "recorded"]  # the outer tape reads exp
    with tf.GradientTape() as tape:
        loss = log1pexp(x * x)
    page = show(tf.snapshot(tape, loss, x))
    ghosts = page.locator(".mt-node.mt-ghost")
    assert ghosts.count() == 3
    right = [
        box["x"] + box["width"] for box in ghosts.evaluate_all("nodes => nodes.map(n => n.getBoundingClientRect())")
    ]
    assert read_box(page.locator(".mt-node.mt-target"))["x"] > max(right)
    assert page.locator(".mt-frame").filter(has_text="log1pexp").count() == 1


def test_a_live_view_hears_that_rows_were_replaced():
    x = tf.Variable(2.0, name="x")
    tape = tf.GradientTape()
    view = TapeView(tape)
    with tape:
        y = log1pexp(x)
    rows = view.read_snapshot()["rows"]
    assert [row["status"] for row in rows if row["kind"] == "operation"] == ["ghost", "ghost", "ghost", "recorded"]
    with tape:
        y * tf.exp(x)
    assert [row["status"] for row in view.read_snapshot()["rows"]][-2:] == ["recorded"] * 2


@pytest.mark.browser
def test_an_element_goes_by_its_index(show):
    x = tf.Variable([0.5, 1.0, 2.0], name="x")
    m = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="m")
    with tf.GradientTape() as tape:
        y = x[0] + tf.reduce_sum(x[1:]) + tf.reduce_sum(m[:, 1]) + m[1][0]
    page = show(tf.snapshot(tape, y, [x, m]))
    titles = page.locator(".mt-operation .mt-title").all_text_contents()
    assert [title for title in titles if "[" in title] == ["x[0]", "x[1:]", "m[:, 1]", "m[1]", "m[1][0]"]


@pytest.mark.browser
def test_the_frame_of_a_gradient_does_not_say_that_its_rows_were_recorded(show):
    u = tf.Variable(2.0, name="u")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            z = u**3
        dz = inner.gradient(z, u)
    page = show(tf.snapshot(outer, dz, u))
    assert page.locator(".mt-ghost .mt-held", has_text="not recorded").count() > 0
    captions = page.locator(".mt-frame-sweep > text").all_text_contents()
    assert [caption.strip("− ") for caption in captions] == ["computed by inner.gradient()"]
