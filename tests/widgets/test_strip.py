"""The strip above the graph: there only when something is wrong, in explain's words, and each part leads to its
place.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape.bridges.recording import Recording
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import build_chain_snapshot, read_position

Made = tuple[Any, Any, Any]


def root_of_zero() -> Made:
    x = tf.Variable([0.0, 4.0], name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sqrt(x * x))
    return tape, y, x


def log_of_a_negative_number() -> Made:
    x = tf.Variable(-1.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(tf.math.log(x * 2.0) - 1.0)
    return tape, y, x


def explosion() -> Made:
    w = tf.Variable(3.0, name="w")
    with tf.GradientTape() as tape:
        y = w * 1.0
        for _ in range(40):
            y = tf.sin(y) * 100.0
    return tape, y, w


def column_and_row() -> Made:
    w, targets = tf.Variable(0.5, name="w"), tf.ones([20, 1])
    with tf.GradientTape() as tape:
        y = tf.reduce_mean((tf.ones([20]) * w - targets) ** 2)
    return tape, y, w


def through_numpy() -> Made:
    x, k = tf.Variable(2.0, name="x"), tf.Variable(3.0, name="k")
    with tf.GradientTape() as tape:
        y = tf.constant((x * x).numpy()) * k
    return tape, y, [x, k]


def assigned() -> Made:
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        w.assign_add(w * 2.0)
        y = w * 3.0
    return tape, y, w


def causal_mask() -> Made:
    scores = tf.Variable(np.eye(4, dtype=np.float32), name="scores")
    mask = tf.constant(np.triu(np.full((4, 4), -np.inf, np.float32), 1))
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tf.nn.softmax(scores + mask) ** 2)
    return tape, y, scores


def mean_of_many() -> Made:
    x = tf.Variable(np.linspace(-1, 1, 1_200_000).astype(np.float32), name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(x * x)
    return tape, y, x


def op_of(row: dict[str, Any]) -> str:
    return row["op"]


# program -> (kind, the operation that is led to, whether its step of the sweep is); nothing where all is as it is meant
WRONG: dict[Callable[[], Made], tuple[str, str, bool]] = {
    root_of_zero: ("gradient", "sqrt", True), log_of_a_negative_number: ("value", "log", False),
    explosion: ("gradient", "multiply", True), column_and_row: ("broadcast", "subtract", False),
    through_numpy: ("none", "", False), assigned: ("state", "multiply", False),
}  # fmt: skip


@pytest.mark.browser
@pytest.mark.parametrize("program", WRONG, ids=lambda f: f.__name__)
def test_each_alarm_leads_to_its_place(nothing_has_left_yet, program, show):
    kind, op, back = WRONG[program]
    tape, target, sources = program()
    snapshot = tf.snapshot(tape, target, sources)
    (alarm,) = snapshot["alarms"]
    row = snapshot["rows"][alarm["row"]]
    assert (alarm["kind"], alarm["back"]) == (kind, back) and op in ("", op_of(row))
    assert f"row {row['row']}, line {row['line']}" in alarm["title"] and alarm["text"]
    page = show(snapshot)
    page.locator(".mt-alarm").click()
    wait_for_frame(page)
    assert page.locator(".mt-line.mt-blamed").get_attribute("data-row") == str(row["row"])
    assert page.locator(".mt-codeline.mt-blamed").get_attribute("data-line") == str(row["line"])
    assert "mt-blamed" in (page.locator(".mt-node.mt-current").first.get_attribute("class") or "")
    assert page.locator(".mt-lines .mt-current").get_attribute("data-row") == str(alarm["row"])
    assert read_position(page).startswith("backward" if back else "forward")


@pytest.mark.parametrize("program", [causal_mask, mean_of_many], ids=lambda f: f.__name__)
def test_what_is_meant_is_no_alarm(program):
    assert tf.snapshot(*program())["alarms"] == []


def test_the_words_are_those_of_explain():
    tape, y, x = root_of_zero()
    tape.gradient(y, x)
    why = tape.explain(y, x)
    assert tf.snapshot(tape)["alarms"][0]["text"] == f"{why.message} {why.fix}"
    tape, y, (x, k) = through_numpy()
    tape.gradient(y, [x, k])
    why = tape.explain(y, x)
    assert tf.snapshot(tape)["alarms"][0]["text"] == f"{why.message} {why.fix}"


def test_each_derivative_that_is_not_finite_has_its_own_alarm():
    v = tf.Variable([3.0, 0.0, -1.0], name="v")
    with tf.GradientTape() as tape:
        n = tf.sqrt(v * v)
        safe = tf.where(v > 0.0, tf.math.log(v), 0.0)
        y = tf.reduce_sum(n + safe) + tf.reduce_sum(tf.sqrt(safe * 0.0 + 1.0))
    tape.gradient(y, v)
    snapshot = tf.snapshot(tape)
    blamed = [snapshot["rows"][alarm["row"]]["op"] for alarm in snapshot["alarms"]]
    assert blamed == ["log", "sqrt"] and all(alarm["text"] for alarm in snapshot["alarms"])


def test_derivatives_of_one_line_or_of_values_that_are_not_finite_share_an_alarm():
    x, m = tf.Variable(0.0, name="x"), tf.constant([1.0, 0.0])
    with tf.GradientTape() as tape:
        y = tf.constant(0.0)
        for _ in range(3):
            y += tf.sqrt(x)
    tape.gradient(y, x)
    assert len(tf.snapshot(tape)["alarms"]) == 1
    v = tf.Variable([1.0, np.inf], name="v")
    with tf.GradientTape() as tape:
        a = tf.where(m > 0.0, tf.exp(v), 0.0)
        b = tf.where(m > 0.0, v * v, 0.0)
        y = tf.reduce_sum(a + b)
    tape.gradient(y, v)
    assert len(tf.snapshot(tape)["alarms"]) == 1


@pytest.mark.browser
def test_a_tape_without_a_mistake_has_no_strip(show):
    assert show(build_chain_snapshot(5)).locator(".mt-strip").is_hidden()


def test_recordings_of_other_frameworks_have_alarms():
    recording = Recording("by hand")
    x = recording.add_leaf(np.float32(0.0), name="x")
    y = recording.add_operation("sqrt", [x], np.float32(0.0))
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, np.float32(1.0))
    sweep.send(y, x, 0, np.float32(np.inf), np.float32(np.inf))
    sweep.set_adjoint(x, np.float32(np.inf))
    recording.close()
    assert [alarm["title"] for alarm in recording.snapshot()["alarms"]] == ["The gradient becomes infinite at row 1"]


@pytest.mark.browser
def test_sources_in_a_list_with_one_reason_share_an_alarm_that_names_them_once(show, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    vs = [tf.Variable(2.0 + k, name=f"v{k}") for k in range(3)]
    zero = tf.constant(0.0)
    with tf.GradientTape() as tape:
        y = (vs[0] * vs[1]) * zero
    tape.gradient(y, vs)
    show(tf.snapshot(tape))
    page.mouse.move(640, 790)  # an alarm that is pointed at is written out
    alarms = page.locator(".mt-alarm")
    texts = alarms.all_inner_texts()
    assert sum("v0, v1" in text and "vs[" not in text for text in texts) == 1
    assert len(texts) == 2  # the other one is of v2, which was not used
    assert max(round(read_box(one)["height"]) for one in alarms.all()) <= 38  # two lines each


@pytest.mark.browser
def test_many_alarms_leave_the_graph_its_room(show):
    xs = [tf.Variable(float(k), name=f"x{k}") for k in range(5)]
    with tf.GradientTape() as tape:
        y = xs[0] + tf.stop_gradient(xs[1])
        y = y + tf.stop_gradient(xs[2])
        y = y + tf.stop_gradient(xs[3])
        y = y + tf.stop_gradient(xs[4])
    tape.gradient(y, xs)
    snapshot = tf.snapshot(tape)
    page = show(snapshot)
    count = len(snapshot["alarms"])
    assert count > 3 and page.locator(".mt-alarm").count() == 2
    page.locator(".mt-strip").get_by_role("button", name=f"{count - 2} more").click()
    assert page.locator(".mt-alarm").count() == count


def test_the_strip_names_all_causes_each_once_and_with_its_own_line():
    x, k, z = tf.Variable(2.0, name="x"), tf.Variable(3, name="k"), tf.Variable(1.0, name="z")
    f, m = tf.Variable(5.0, trainable=False, name="f"), tf.Variable(4.0, name="m")
    vs = [tf.Variable(float(i), name=f"v{i}") for i in range(6)]
    with tf.GradientTape() as tape:
        h = tf.sin(x)
        total = m * f + tf.cast(k, tf.float32)
        n = np.maximum(h.numpy(), 0.0)
        total = total + n
        for v in vs:
            total = total + tf.constant(v.numpy())
    tape.gradient(total, [x, k, z, f, *vs])
    snapshot = tf.snapshot(tape)
    alarms = [alarm for alarm in snapshot["alarms"] if alarm["kind"] == "none"]
    names = [re.sub(r".* for (.*) is None.*", r"\1", alarm["title"]) for alarm in alarms]
    assert names == ["x", "k", "z", "f", "v0, v1, v2, v3 and 2 more"]
    own_lines = [re.search(r", line (\d+)", alarm["text"]) for alarm in alarms]
    assert [alarm["line"] for alarm in alarms] == [line and int(line[1]) for line in own_lines]
    assert snapshot["rows"][alarms[0]["row"]]["line"] < alarms[0]["line"]  # the value left below the row's line
    assert alarms[0]["title"].endswith(f": see line {alarms[0]['line']}")  # not beside the number of the row


@pytest.mark.browser
def test_a_line_that_is_not_that_of_the_row_is_named_alone_and_leads_to_the_row(show):
    x, k = tf.Variable(2.0, name="x"), tf.Variable(3.0, name="k")
    with tf.GradientTape() as tape:
        h = x * x
        n = h.numpy()
        y = tf.constant(n) * k
    tape.gradient(y, [x, k])
    snapshot = tf.snapshot(tape)
    (alarm,) = snapshot["alarms"]
    assert snapshot["rows"][alarm["row"]]["value"]["data"] == 4.0
    page = show(snapshot)
    assert page.locator(".mt-alarm u").inner_text() == f"line {alarm['line']}"
    page.locator(".mt-alarm").click()
    page.locator(f".mt-line.mt-selected[data-row='{alarm['row']}']").wait_for()


@pytest.mark.browser
def test_two_alarms_are_read_whole(show):
    a, b, i = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b"), tf.Variable(3, name="i")
    with tf.GradientTape() as tape:
        y = a * tf.constant(float(b.numpy())) + tf.cast(i, tf.float32)
    tape.gradient(y, [a, b, i])
    page = show(tf.snapshot(tape))
    alarms = page.locator(".mt-alarm")
    assert alarms.count() == 2
    assert not any(alarms.evaluate_all("all => all.map(one => one.scrollHeight > one.clientHeight + 1)"))
