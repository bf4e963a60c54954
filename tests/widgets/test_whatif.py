"""Another value of a leaf, computed in the kernel: the reference is the program, run again with it."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape.picture.reading import Reader
from minitape.picture.whatif import what_if
from minitape_widgets import TapeView

Program = Callable[[float], tuple[Any, Any, Any]]


def network(value: float) -> tuple[Any, Any, Any]:
    """A number among arrays: it is broadcast, multiplied, and read twice."""
    s = tf.Variable(value, name="s")
    w = tf.Variable(np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32), name="w")
    x = tf.constant(np.linspace(-2, 1, 6).reshape(2, 3).astype(np.float32))
    with tf.GradientTape() as tape:
        h = tf.tanh(x @ w * s)
        p = tf.nn.softmax(h - s)
        y = tf.reduce_mean(tf.concat([p, h], 1) ** 2) + tf.reduce_max(h) * 0.5
    return tape, y, [s, w]


def nested(value: float) -> tuple[Any, Any, Any]:
    """The gradient of a gradient of a number among arrays."""
    s, w = tf.Variable(value, name="s"), tf.Variable([0.5, -1.0, 2.0], name="w")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.sin(w * s) * w)
        g = tape.gradient(y, s)
    return outer, g, [s, w]


def large(value: float) -> tuple[Any, Any, Any]:
    """Arrays that a used tape releases."""
    s = tf.Variable(value, name="s")
    w = tf.Variable(np.linspace(-1, 1, 2400).reshape(40, 60).astype(np.float32), name="w")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.square(tf.sigmoid(w * s)))
    return tape, y, [s, w]


def reader_of(tape: Any) -> Any:
    reader = Reader(tape)
    reader.recompute()
    reader.read()
    return reader


def row_of(tape: Any, name: str) -> int:
    return next(row["row"] for row in tf.snapshot(tape)["rows"] if (row["name"] or "").removesuffix(":0") == name)


def alike(mine: Any, other: Any) -> None:
    """Values that are the same but for rounding, where pictures have numbers or statistics."""
    assert (mine is None) == (other is None)
    if mine is None:
        return
    for key in ("data", "thumb"):
        if key in other:
            np.testing.assert_allclose(np.array(mine[key], float), np.array(other[key], float), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("program", [network, nested, large])
@pytest.mark.parametrize("used", [False, True])
def test_rows_and_sweep_are_those_of_the_program_with_that_value(program: Program, used: bool):
    tape, y, sources = program(0.75)
    if used:
        tape.gradient(y, sources)
    row = row_of(tape, "s")
    before = json.dumps(tf.snapshot(tape, y, sources)["rows"])
    for value in (-1.25, 2.5):
        found = what_if(reader_of(tape), {row: value}, [value, 0.75], y, sources)
        other, z, others = program(value)
        wanted = tf.snapshot(other, z, others)
        for i, one in found["values"]:
            alike(one, wanted["rows"][i]["value"])
        still = {r["row"] for r in wanted["rows"]} - {i for i, _ in found["values"]}
        for i in still:  # what does not depend on it is what it was
            assert wanted["rows"][i]["value"] == tf.snapshot(tape)["rows"][i]["value"]
        assert [step["row"] for step in found["sweep"]["steps"]] == [step["row"] for step in wanted["sweep"]["steps"]]
        for mine, theirs in zip(found["sweep"]["steps"], wanted["sweep"]["steps"], strict=True):
            alike(mine["adjoint"], theirs["adjoint"])
            for a, b in zip(mine["edges"], theirs["edges"], strict=True):
                assert (a["input"], a["port"]) == (b["input"], b["port"])
                for part in ("local", "product", "sum"):
                    alike(a[part], b[part])
        for mine, theirs in zip(found["sweep"]["gradients"], wanted["sweep"]["gradients"], strict=True):
            alike(mine, theirs)
        assert found["points"] == pytest.approx([float(z), float(y)], rel=1e-5)
    assert json.dumps(tf.snapshot(tape, y, sources)["rows"]) == before


def test_what_cannot_be_run_again_has_no_answer():
    x, v = tf.Variable(2.0, name="x"), tf.Variable([1.0, 2.0], name="v")

    @tf.custom_gradient
    def own(a: Any) -> Any:
        return a * 2.0, lambda g: g * 2.0

    with tf.GradientTape(persistent=True) as tape:
        y = own(x) * v[0]
    reader = reader_of(tape)
    assert what_if(reader, {row_of(tape, "x"): 3.0}, [], y, x) is None  # a Python function
    assert what_if(reader, {row_of(tape, "v"): 3.0}, [], y, x) is None  # no number
    assert what_if(reader, {10_000: 3.0}, [], y, x) is None
    with tf.GradientTape() as going:
        _ = x * x
        assert what_if(reader_of(going), {0: 3.0}) is None


def test_the_kernel_answers_who_moves_a_leaf(monkeypatch: pytest.MonkeyPatch):
    sent: list[Any] = []
    tape, y, sources = network(0.75)
    tape.gradient(y, sources)
    view = TapeView(tape)
    monkeypatch.setattr(view, "send", lambda content, buffers=None: sent.append(content))
    row = row_of(tape, "s")
    view._asked(view, {"kind": "whatif", "leaves": [[row, 2]], "points": [1.0], "ask": 3}, [])
    assert sent[-1]["ask"] == 3 and json.loads(json.dumps(sent[-1], allow_nan=False))["imagined"]["sweep"]["steps"]
    for bad in (
        {},
        {"leaves": [["x", 1.0]], "points": []},
        {"leaves": [[row, "1"]], "points": []},
        {"leaves": [[row, 1.0]], "points": [None]},
        {"leaves": [[-1, 0.0]], "points": []},
        {"leaves": 3, "points": []},
    ):
        view._asked(view, {"kind": "whatif", "ask": 4, **bad}, [])
        assert sent[-1]["imagined"] is None


def test_two_leaves_that_were_moved():
    def sums(a: float, b: float) -> tuple[Any, Any]:
        p, q = tf.Variable(a, name="p"), tf.Variable(b, name="q")
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.stack([p * q, q, p]) ** 2)
        return tape, (y, [p, q])

    tape, ends = sums(1.0, 2.0)
    found = what_if(reader_of(tape), {row_of(tape, "p"): 3.0, row_of(tape, "q"): -0.5}, [-0.5, 4.0], *ends)
    other, wanted = sums(3.0, -0.5)
    for mine, theirs in zip(found["sweep"]["gradients"], other.gradient(*wanted), strict=True):
        assert mine["data"] == pytest.approx(float(theirs))
    assert found["points"] == [pytest.approx(float(wanted[0])), 144.0 + 16.0 + 9.0]  # of q, the last one
