"""Long sessions: many cells ran before the one whose gradient is None."""

import linecache
import sys
from typing import Any

import pytest

import minitape as tf
from minitape.explain.reasons import program_text, question
from minitape.explain.reasons import tape_checks as questions
from minitape.recording import value_graph

CELL = """
x = tf.Variable(2.0)
w = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = x * x
    if y > 0:
        z = y * tf.reduce_sum(w)
    else:
        z = y
g = tape.gradient(z, x)
report.append((g.numpy(), float(z)))
for i in range(3):
    x.assign_sub(0.1 * g)
    a = w.numpy() * i
done_{number} = True
"""
LAST = """
v, u = tf.Variable(1.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = v * 2.0
    q = tf.constant(y.numpy()) * 3.0
"""


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A notebook: runs the text of a cell, as often as it is called, in one namespace."""
    ran: dict[str, int] = {}
    space: dict[str, Any] = {"tf": tf, "report": [], "__name__": "__main__"}
    monkeypatch.setattr(program_text, "map_cell_files_to_execution_counts", lambda: dict(ran))

    def run_cell(text: str) -> dict[str, Any]:
        name = f"cell_{len(ran)}.py"
        ran[name] = len(ran)
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec", dont_inherit=True), space)
        return space

    yield run_cell
    for name in ran:
        linecache.cache.pop(name, None)


def test_what_is_looked_at_does_not_grow_with_the_session(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[None] = []
    reads = program_text._does_code_read_value
    monkeypatch.setattr(program_text, "_does_code_read_value", lambda *given: steps.append(None) or reads(*given))
    looked: dict[int, int] = {}
    for cells in range(1, 121):
        session(CELL.format(number=cells))
        if cells in (40, 120):
            space = session(LAST)
            why = space["tape"].explain(space["q"], [space["v"], space["u"]])
            assert [w.cause for w in why] == ["left_through_numpy", "independent"], [str(w) for w in why]
            assert why[0].line == 5, why[0]
            looked[cells] = len(steps)
            steps.clear()
    assert all(steps <= 12 * cells for cells, steps in looked.items()), looked  # of each cell a few statements


def test_a_value_that_left_in_an_early_cell_is_found(session: Any) -> None:
    session("w = tf.Variable(2.0)\nscale = float(w)\n")
    for number in range(40):
        session(
            CELL.format(number=number)
            .replace("a = w.numpy()", "a = 1.0")
            .replace("w = tf.constant", "c = tf.constant")
            .replace("(w)", "(c)")
        )
    space = session("v = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n    q = v * scale\n")
    why = space["tape"].explain(space["q"], space["w"])
    assert (why.cause, why.line) == ("left_through_numpy", 2), why


def test_a_later_cell_that_creates_the_variable_again_is_found_after_an_earlier_answer(session: Any) -> None:
    """An answer has already read the first cell when the second cell binds the same name."""
    space = session("w = tf.Variable(2.0)\nold = w\nwith tf.GradientTape() as tape:\n    y = tf.round(w)\n")
    assert space["tape"].explain(space["y"], space["old"]).cause == "nondifferentiable_op"
    session("w = tf.Variable(3.0)\n")
    session("with tf.GradientTape() as tape:\n    y = w * 3.0\n")
    why = space["tape"].explain(space["y"], space["old"])
    assert (why.cause, why.filename, why.line) == ("rebound", "cell_1.py", 1), why


def test_what_many_tapes_ago_made_is_called_by_its_own_name(session: Any) -> None:
    held = session("""
x, held = tf.Variable([[2.0]]), []
for _ in range(20):
    with tf.GradientTape() as tape:
        held.append(tf.matmul(x, x))
""")["held"]
    assert len(held) == 20
    session("old = held[0]\nwith tf.GradientTape() as tape:\n    total = tf.reduce_sum(old * 2.0)\n")
    why = session("why = tape.explain(total, old)")["why"]
    assert why.cause == "not_watched" and "tape.watch(old)" in why.fix, why


def test_a_loop_whose_steps_were_logged_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    w, other, log = tf.Variable(tf.eye(2)), tf.Variable(1.0), []
    with tf.GradientTape() as tape:
        h = tf.ones([1, 2])
        for _ in range(200):
            h = tf.tanh(h @ w)
            log.append(float(tf.reduce_sum(h)))
        y = tf.reduce_mean(h)
    searches: list[None] = []
    search = question.find_cheapest_steps_to_target
    monkeypatch.setattr(
        question, "find_cheapest_steps_to_target", lambda *given: searches.append(None) or search(*given)
    )
    assert tape.explain(y, other).cause == "independent"
    assert len(searches) < 3


def test_what_left_other_tapes_is_not_looked_at_where_there_is_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    w, kept = tf.Variable(1.0), []
    for _ in range(60):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.tanh(w * 0.1)
        kept.append((tape, loss, float(loss)))
    edges: list[None] = []
    of_row = value_graph.ValueGraph._iter_edges_by_row_kind
    monkeypatch.setattr(
        value_graph.ValueGraph,
        "_iter_edges_by_row_kind",
        lambda self, *given: edges.append(None) or of_row(self, *given),
    )
    assert tape.explain(loss, w).cause == "connected"
    assert len(edges) < 20


def test_of_many_values_that_left_a_few_are_put_into_words(monkeypatch: pytest.MonkeyPatch) -> None:
    w, kept = tf.Variable(1.0), []
    for step in range(60):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.constant(float(tf.tanh(w * float(step))))
        kept.append((tape, loss))
    said: list[None] = []
    words = questions.finding_sentences.to_explanation_without_edits
    monkeypatch.setattr(
        questions.finding_sentences, "to_explanation_without_edits", lambda *given: said.append(None) or words(*given)
    )
    for tape, loss in (kept[0], kept[-1]):
        why = tape.explain(loss, w)
        assert why.cause == "left_through_numpy" and "float(tf.tanh" in why.code
    assert len(said) <= 4


def test_what_a_long_recording_of_another_tape_gave_is_not_followed_through_its_rows():
    """A value that left it might have come back; its 30,000 rows are no part of the question."""
    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as long:
        long.watch(x)
        z = x
        for _ in range(30_000):
            z = z * x
    z.numpy()
    with tf.GradientTape() as tape:
        y = x * x
    calls = 0

    def count(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        why = tape.explain(y, x)
    finally:
        sys.setprofile(before)
    assert why.cause == "not_watched"
    assert calls < 30_000
