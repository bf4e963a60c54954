"""Inside of a call of tf.function: the rows that ran in it, with its values, and the sweep through them."""

from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape_widgets import TapeView
from tests.jupyterlab_page import wait_for_frame

from .conftest import read_position, type_keys


def branching() -> tuple[Any, Any, Any]:
    """A loop whose turns go different ways; in Python: 3.0 -> 7.0 -> 3.5 -> 8.0."""

    @tf.function
    def walk(x: Any, n: Any) -> Any:
        def turn(n: Any, x: Any) -> Any:
            x = tf.cond(
                x > 5.0,
                lambda: x / 2.0,
                lambda: x * w + 1.0,
            )
            return n - 1, x

        return tf.while_loop(lambda n, x: n > 0, turn, [n, x])[1]

    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        y = walk(w * 1.5, tf.constant(3)) * 2.0
    return tape, y, w


def only(snapshot):
    (inside,) = snapshot["insides"]
    return inside


def values(snapshot, label):
    return [row["value"]["data"] for row in snapshot["rows"] if row["label"] == label]


@pytest.mark.parametrize("used", [False, True])
def test_the_rows_of_a_call_have_the_values_that_it_had(used):
    tape, y, w = branching()
    if used:
        tape.gradient(y, w)
    inside = only(tf.snapshot(tape, y, w))
    found = inside["snapshot"]
    assert (
        inside["name"]
        == next(row["label"] for row in tf.snapshot(tape, y, w)["rows"] if row["row"] == inside["row"])
        == "walk"
    )
    assert values(found, "×") == [6.0, 7.0] and values(found, "÷") == [3.5]  # the ways that were taken, in their order
    names = {row["name"]: row["value"]["data"] for row in found["rows"] if row["name"]}
    assert names == {"x": 3.0, "w": 2.0, "n": 3, "x₁": 7.0, "x₂": 3.5, "n₁": 2, "n₂": 1}


def test_rows_of_a_call_have_the_names_in_the_functions_text_and_each_turn_a_number():
    @tf.function
    def walk(x, n):
        a = x * x
        b = tf.sin(a)
        y = b
        for _ in tf.range(n):
            y = y * x
        return y - a

    u = tf.Variable(2.0)  # It is called u here and x in the function.
    with tf.GradientTape() as tape:
        z = walk(u, tf.constant(3)) * 2.0
    rows = only(tf.snapshot(tape, z, u))["snapshot"]["rows"]
    assert [row["name"] for row in rows] == ["x", "a", "b", "y₁", "y₂", "y₃", None]

    def record():
        with tf.GradientTape() as tape:
            walk(tf.Variable(2.0), tf.constant(3))
        return tape

    assert [row["name"] for row in only(tf.snapshot(record()))["snapshot"]["rows"]][:2] == ["x", "a"]


def test_rows_stand_at_their_own_statements_in_turns_and_branches():
    """The program's text is the reference: which line each turn went through."""
    tape, y, w = branching()
    found = only(tf.snapshot(tape, y, w))["snapshot"]
    (text,) = found["sources_text"].values()
    lines = text.split("\n")
    ways = {"×": "lambda: x * w + 1.0,", "+": "lambda: x * w + 1.0,", "÷": "lambda: x / 2.0,", "-": "return n - 1, x"}
    steps = [(row["label"], row["scope"]) for row in found["rows"] if row["label"] in ways]
    assert all(lines[row["line"] - 1].strip() == ways[row["label"]] for row in found["rows"] if row["label"] in ways)
    one, three = (["turn 1"], ["turn 1", "else"]), (["turn 3"], ["turn 3", "else"])
    assert steps == [
        ("×", one[1]), ("+", one[1]), ("-", one[0]), ("÷", ["turn 2", "then"]), ("-", ["turn 2"]), ("×", three[1]),
        ("+", three[1]), ("-", three[0]),
    ]  # fmt: skip


def test_a_gradient_without_a_picture():
    @tf.function
    def choose(x: Any) -> Any:
        body = lambda k, x: (k + 1, tf.cond(k < 1, lambda: x + 1.0, lambda: x * x))  # noqa: E731
        return tf.while_loop(lambda k, x: k < 2, body, [0, x])[1]

    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = choose(x)
        g = tape.gradient(y, x)
    assert float(g) == 6.0 and float(outer.gradient(g, x)) == 2.0
    assert not any(row["scope"] for row in tf.snapshot(outer)["rows"])  # what the gradient ran again has none


def test_the_sweep_goes_on_inside():
    tape, y, w = branching()
    snapshot = tf.snapshot(tape, y, w)
    found = only(snapshot)["snapshot"]
    step = next(step for step in snapshot["sweep"]["steps"] if step["row"] == only(snapshot)["row"])
    assert found["sweep"]["steps"][0]["adjoint"] == step["adjoint"]
    outside = {edge["input"]: edge["product"]["data"] for edge in step["edges"]}
    ends = dict(zip(found["sweep"]["sources"], [one["data"] for one in found["sweep"]["gradients"]], strict=True))
    names = {row["row"]: row["name"] for row in found["rows"]}
    inside = {names[row]: value for row, value in ends.items()}
    by_name = {(snapshot["rows"][row]["name"] or "x").removesuffix(":0"): value for row, value in outside.items()}
    assert inside == pytest.approx({"x": by_name["x"], "w": by_name["w"]})
    assert by_name["w"] + 1.5 * by_name["x"] == pytest.approx(float(tape.gradient(y, w)))


def test_looking_inside_runs_no_python_and_changes_nothing():
    ran: list[str] = []

    @tf.function
    def noted(x: Any) -> Any:
        count.assign_add(1.0)
        z = tf.py_function(lambda a: (ran.append("python"), a * count)[1], [x], tf.float32)
        return tf.sin(z) * x

    count, x = tf.Variable(0.0, trainable=False, name="count"), tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        y = noted(x)
    rows = tf.snapshot(tape)["rows"]
    before = len(ran)
    found = only(tf.snapshot(tape, y, x))["snapshot"]
    assert np.sin(1.5) == pytest.approx(values(found, "sin")[0])
    assert (len(ran), float(count), tf.snapshot(tape)["rows"]) == (before, 1.0, rows)
    assert float(tape.gradient(y, x)) == pytest.approx(np.sin(1.5) + 1.5 * np.cos(1.5))


def test_a_call_inside_of_a_call_and_several_results():
    @tf.function
    def inner(a: Any) -> Any:
        return a * a, a + 1.0

    @tf.function
    def outer(a: Any) -> Any:
        p, q = inner(a)
        return p * q

    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(outer(x))
    found = only(tf.snapshot(tape, y, x))["snapshot"]
    text = str([[row["label"], row["value"]["data"]] for row in found["rows"]])
    assert "['×', [2.0, 12.0]]" in text and "['+', [2.0, 3.0]]" in text
    np.testing.assert_allclose(found["sweep"]["gradients"][0]["data"], [5.0, 16.0])  # 3 a * a + 2 a


def test_there_is_no_inside_where_nothing_was_called():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        _ = x * x
    assert tf.snapshot(tape)["insides"] == []


def test_the_kernel_answers_who_asks_for_an_inside(monkeypatch):
    sent: list[Any] = []
    tape, y, w = branching()
    view = TapeView(tape, y, w)
    monkeypatch.setattr(view, "send", lambda content, buffers=None: sent.append(content))
    row = only(tf.snapshot(tape, y, w))["row"]
    for at, expected in ((row, "walk"), (0, None), ("x", None), (99, None)):
        view.on_request(view, {"kind": "inside", "row": at, "ask": 4}, [])
        assert (sent[-1]["kind"], sent[-1]["ask"]) == ("inside", 4)
        assert (sent[-1]["inside"] or {}).get("name") == expected


@pytest.mark.browser
def test_enter_looks_inside_and_escape_comes_back(show):
    tape, y, w = branching()
    snapshot = tf.snapshot(tape, y, w)
    row = only(snapshot)["row"]
    page = show(snapshot)
    type_keys(page, "Home", *["ArrowRight"] * (row + 1), "Enter")
    inner = page.locator(".mt-view .mt-view")
    inner.wait_for()
    assert "inside walk, called at row" in page.locator(".mt-crumb").inner_text()
    steps = only(snapshot)["snapshot"]["sweep"]["steps"]
    type_keys(page, "End")
    assert inner.locator(".mt-count").inner_text() == f"backward {len(steps)} / {len(steps)}"
    assert page.locator(".mt-pane:visible").count() == 1
    frames = page.locator(".mt-view").evaluate_all("views => views.map(view => view.getBoundingClientRect().bottom)")
    assert abs(frames[0] - frames[1]) < 3  # The inside fills the page as the tape did.
    adjoints = {name: inner.locator(f".mt-node[data-id=r{at}] .mt-adjoint").text_content() for at, name in ((0, "x"),)}
    assert adjoints["x"] == "∂ 4.0"
    type_keys(page, "Escape")
    inner.wait_for(state="detached")
    assert read_position(page) == f"forward {row + 1} / {len(snapshot['rows'])}"
    page.get_by_role("button", name="look inside").click()
    page.get_by_role("button", name="Back to the tape (Esc)").click()
    wait_for_frame(page)
    assert page.locator(".mt-view .mt-view").count() == 0


@pytest.mark.browser
def test_without_a_kernel_an_unknown_inside_is_said_to_be_so(show):
    snapshot = tf.snapshot(*branching())
    row = only(snapshot)["row"]
    page = show(snapshot | {"insides": []})
    type_keys(page, "Home", *["ArrowRight"] * (row + 1), "Enter")
    page.locator(".mt-help", has_text="You can't look inside this call").wait_for()


@pytest.mark.browser
def test_a_call_that_opens_is_a_pile_of_cards(show):
    snapshot = tf.snapshot(*branching())
    page = show(snapshot)
    page.locator(".mt-card").first.wait_for()
    piles = page.locator(".mt-node", has=page.locator(".mt-card"))
    assert [pile.get_attribute("data-id") for pile in piles.all()] == [f"r{only(snapshot)['row']}"]
    assert piles.locator(".mt-card").count() == 2
