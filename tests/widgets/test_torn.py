"""Where a gradient ends is drawn: a torn arrow with the place; a gradient that is None, or zero for a reason."""

import re
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape.bridges.recording import Recording
from minitape.picture.figure import ESCAPE_PORT
from tests.jupyterlab_page import read_box

from .conftest import type_keys
from .test_figures import read_painted
from .twelve_programs import missing


def dead() -> Any:
    w, b = tf.Variable([[1.0], [2.0]], name="w"), tf.Variable([-50.0], name="b")
    with tf.GradientTape() as tape:
        h = tf.nn.relu(tf.constant([[1.0, 2.0], [3.0, 1.0]]) @ w + b)
        loss = tf.reduce_mean((h - 1.0) ** 2)
    tape.gradient(loss, [w, b])
    return tape


def two_constants() -> Any:
    """The text does not tell as which of the two constants the value came back."""
    w, b = tf.Variable(2.0, name="w"), tf.Variable(1.0, name="b")
    with tf.GradientTape() as tape:
        number = (w * 3.0).numpy()
        values = [np.tanh(number), np.float32(0.5)]
        loss = tf.constant(values[0]) * b + b * tf.constant(values[1])
    tape.gradient(loss, [w, b])
    return tape


def test_a_value_that_left_is_torn_from_the_constant_as_which_it_came_back():
    snapshot = missing()
    (torn,) = snapshot["torn"]
    rows = snapshot["rows"]
    assert (torn["kind"], torn["text"], torn["line"]) == ("left", "numpy()", rows[torn["from"]]["line"])
    assert rows[torn["from"]]["label"] == "×" and rows[torn["to"]]["name"] == "h"


def test_where_the_text_does_not_tell_it_comes_back_nowhere():
    torn = tf.snapshot(two_constants())["torn"]
    assert [one["to"] for one in torn if one["kind"] == "left"] == [-1]


def test_zeros_begin_at_the_row_that_explain_blames():
    snapshot = tf.snapshot(dead())
    assert [(one["kind"], snapshot["rows"][one["to"]]["op"]) for one in snapshot["torn"]] == [("zero", "relu")]
    (alarm,) = snapshot["alarms"]  # both have one reason
    assert alarm["kind"] == "zero" and alarm["title"].startswith("The gradient for w, b is zero: see row")
    assert [source["reason"] is not None for source in snapshot["results"][0]["sources"]] == [True, True]


def test_a_zero_that_is_none_of_these_is_no_alarm():
    x = tf.Variable(0.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.cos(x)
    tape.gradient(y, x)
    snapshot = tf.snapshot(tape)
    assert snapshot["results"][0]["sources"][0]["gradient"]["data"] == 0.0
    assert all(alarm["kind"] == "zero" for alarm in snapshot["alarms"])


def test_a_recording_that_cannot_explain_is_drawn_without_words():
    recording = Recording("by hand")
    x = recording.add_leaf(np.float32(2.0), name="x")
    y = recording.add_operation("square", [x], np.float32(4.0))
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, np.float32(0.0))
    sweep.send(y, x, 0, np.float32(0.0), np.float32(0.0))
    sweep.set_adjoint(x, np.float32(0.0))
    recording.close()
    assert recording.snapshot()["torn"] == []


@pytest.mark.browser
def test_the_torn_arrow_and_the_none_are_drawn(show):
    page = show(missing())
    assert page.locator(".mt-torn").get_attribute("data-torn") == "2>4"
    assert ", ".join(page.locator(".mt-torn text").all_text_contents()).startswith("numpy(), line ")
    assert page.locator(".mt-codeline.mt-blamed").count() == 1
    none = page.locator(".mt-empty-handed .mt-adjoint")
    assert none.text_content() == "∂ None"  # at the first sight, in node and table
    assert page.locator(".mt-line[data-row='0'] .mt-c-adjoint").text_content() == "None"
    type_keys(page, "Home")
    assert none.count() == 0  # on the way there nothing is told
    type_keys(page, "End")
    assert none.text_content() == "∂ None"


@pytest.mark.browser
def test_edges_that_carry_zeros_differ_from_others(show):
    page = show(tf.snapshot(dead()))
    type_keys(page, "End")
    sent = page.locator(".mt-edge.mt-sent").count()
    assert 0 < page.locator(".mt-edge.mt-sent.mt-zero").count() < sent
    assert page.locator(".mt-empty-handed").count() == 2


def by_float() -> Any:
    w, b = tf.Variable(2.0, name="w"), tf.Variable(1.0, name="b")
    with tf.GradientTape() as tape:
        h = float(w * 3.0)
        loss = h * b + b * 3.0
    tape.gradient(loss, [w, b])
    return tape


def test_a_value_that_left_by_float_is_torn_from_the_same_number():
    snapshot = tf.snapshot(by_float())
    (torn,) = snapshot["torn"]
    rows = snapshot["rows"]
    assert (torn["kind"], torn["text"]) == ("left", "float()") and rows[torn["from"]]["label"] == "×"
    assert rows[torn["to"]]["literal"] and rows[torn["to"]]["value"]["data"] == 6.0
    figure = tf.draw(by_float()).figure
    start, end = (figure.node_by_row[torn[key]] for key in ("from", "to"))
    assert (start, ESCAPE_PORT) in figure.nodes[end].inputs  # to the row that reads the number


@pytest.mark.browser
def test_the_torn_arrow_runs_forward(show):
    """The constant as which a value came back stands right of the row that the value left."""
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        h = tf.exp(x * x)
        y = tf.constant(h.numpy()) * 3.0
    page = show(tf.snapshot(tape, y, x))
    (torn,) = tf.snapshot(tape, y, x)["torn"]
    lefts = [
        page.locator(f".mt-node[data-id=r{torn[end]}]").evaluate("node => node.getBoundingClientRect().left")
        for end in ("from", "to")
    ]
    assert lefts[0] + 100 < lefts[1]


@pytest.mark.browser
@pytest.mark.parametrize("assigns", [False, True])
def test_a_dashed_arrow_runs_to_the_next_column_and_behind_no_node(assigns, show):
    """As in the static picture, also from a variable that nothing else reads."""
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    with tf.GradientTape() as tape:
        if assigns:
            y = a * b
            b.assign_add(2.0)
            y = y + a * b
        else:
            y = a * tf.constant(float(b.numpy())) + tf.cast(tf.Variable(3, name="i"), tf.float32)
    snapshot = tf.snapshot(tape, y, [a, b])
    page = show(snapshot)
    ends = ["1", "3"] if assigns else ["0", "2"]
    first, last = (read_box(page.locator(f".mt-node[data-id=r{end}] .mt-box")) for end in ends)
    assert first["x"] + first["width"] < last["x"]
    behind = page.evaluate("""() => {
      const arrow = document.querySelector(".mt-assign"), matrix = arrow.getScreenCTM(), found = [];
      const points = [];
      for (let at = 0; at < arrow.getTotalLength(); at += 3)
        points.push(arrow.getPointAtLength(at).matrixTransform(matrix));
      return [...document.querySelectorAll(".mt-node .mt-box")].flatMap(box => {
        const { left, right, top, bottom } = box.getBoundingClientRect();
        return points.filter(({ x, y }) => x > left + 2 && x < right - 2 && y > top + 2 && y < bottom - 2);
      }).length;
    }""")
    assert behind == 0


def number_that_left() -> Any:
    """The dashed line runs between two nodes that lie close together."""
    x, w = tf.Variable(2.0, name="x"), tf.Variable(1.0, name="w")
    with tf.GradientTape() as tape:
        h = x * w
        k = tf.constant(h.numpy())
        y = k * x
    tape.gradient(y, [x, w])
    return tape


def number_that_came_back_nowhere() -> Any:
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        h = w * w
        y = tf.constant(float(h) + 1.0) * tf.constant(3.0)
    tape.gradient(y, w)
    return tape


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [None, 85])
@pytest.mark.parametrize("program", [number_that_left, number_that_came_back_nowhere, two_constants])
def test_the_label_of_a_torn_arrow_and_its_cross_cover_no_node_and_no_text(program, width, language, monkeypatch):
    monkeypatch.setenv("MINITAPE_LANGUAGE", language)
    svg = tf.draw(program(), width=width).svg
    painted = read_painted(svg)
    texts = [(corners, text) for tag, corners, text in painted if tag == "text"]
    nodes = [corners for tag, corners, _ in painted if tag == "rect" and corners[1][1] - corners[0][1] > 40]
    ((label, _),) = [(corners, text) for corners, text in texts if "numpy()" in text or "float()" in text]
    # Scissors, or a cross at the short edge from another line.
    cross_x, cross_y = map(float, re.search(r'<path d="M([\d.]+) ([\d.]+)m-(?:2\.8|4\.5) -', svg).groups())
    cross = [(cross_x - 5, cross_y - 5), (cross_x + 5, cross_y + 5)]
    others = [corners for corners, _ in texts if corners != label]
    assert len(nodes) >= 4
    assert not [other for other in [cross, *nodes, *others] if boxes_meet(label, other)]
    assert not [other for other in [*nodes, *others] if boxes_meet(cross, other)]
    right, bottom = map(float, re.search(r'viewBox="\S+ 0 (\S+) (\S+)"', svg).groups())
    assert min(label[0]) >= 0 and label[1][0] <= right and label[1][1] <= bottom


def boxes_meet(one, other):
    (left, top), (right, bottom) = one
    (other_left, other_top), (other_right, other_bottom) = other
    return left < other_right and other_left < right and top < other_bottom and other_top < bottom
