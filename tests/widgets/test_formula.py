"""The formula of a step: it grows with the steps, and its numbers give what arrived."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape.bridges.recording import Recording
from tests.jupyterlab_page import read_box

from .conftest import PROGRAMS, build_chain_snapshot, type_keys
from .test_inside import branching, only
from .twelve_programs import TWELVE

pytestmark = [pytest.mark.browser, pytest.mark.long]


def chained() -> Any:
    x, w, t = tf.Variable(0.7, name="x"), tf.Variable(1.3, name="w"), tf.Variable(0.25, name="t")
    with tf.GradientTape() as tape:
        z = x * w + 0.1
        p = tf.sigmoid(z)
        loss = (p - t) ** 2
    snapshot = tf.snapshot(tape, loss, [x, w])
    assert z is not None
    return snapshot


def formulas(page: Any) -> list[tuple[str, str]]:
    """Of each line of the step its formula along each path, and its numbers; of arrays there are none."""
    found = [([t for t in line if t[:1] != "="], [t for t in line if t[:1] == "="]) for line in lines_of(page)]
    return [(texts[-1], numbers[-1] if numbers else "") for texts, numbers in found]


def lines_of(page: Any) -> list[tuple[str, ...]]:
    """Of each line of the step its formula, its numbers, and where it has more factors both along each path."""
    lines = page.locator(".mt-product-line").evaluate_all(
        "all => all.map(line => [...line.querySelectorAll('p')].map(p => p.textContent))"
    )
    return [tuple(text.strip() for text in line) for line in lines]


def test_two_targets_have_a_formula_and_a_sum(show):
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as tape:
        p = a * 3.0
        q = a**2
    snapshot = tf.snapshot(tape, [p, q], a)
    page = show(snapshot)
    type_keys(page, "End")
    assert formulas(page) == [("∂(p, q)/∂a = 2 × a + 3", "= 4.0 + 3.0 = 7.0")]
    assert page.locator(".mt-addends").all_text_contents() == ["4.0 + 3.0 = 7.0"]


def test_targets_that_read_each_other_or_begin_with_other_numbers_have_no_formula(show):
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as tape:
        p = a * 3.0
        q = p * a
    page = show(tf.snapshot(tape, [p, q], a))
    type_keys(page, "End")
    assert formulas(page) == []
    with tf.GradientTape() as tape:
        p = a * 3.0
        q = a**2
    tape.gradient([p, q], a, output_gradients=[tf.constant(1.0), tf.constant(5.0)])
    page = show(tf.snapshot(tape))
    type_keys(page, "End")
    assert formulas(page) == []
    assert page.locator(".mt-addends").all_text_contents() == ["20.0 + 3.0 = 23.0"]


def test_numbers_are_as_in_the_program_the_target_has_its_lines_name_and_no_brackets_are_doubled(show):
    page = show(TWELVE["chain"]())
    type_keys(page, "End", "ArrowLeft")
    assert formulas(page)[0][0] == "∂loss/∂(w × 3) = 2 × (p − 0.2) × p × (1 − p)"
    page = show(tf.snapshot(*PROGRAMS["layers"]()))
    type_keys(page, "End")
    assert formulas(page)[0][0].startswith("∂y/∂w0 = ")
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(x * 3.0)
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    assert formulas(page)[0][0] == "∂y/∂x = cos(x × 3) × 3"
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        dy = inner.gradient(y, x)
    page = show(tf.snapshot(outer, dy, x))
    type_keys(page, "End", "ArrowLeft")
    assert formulas(page)[0][0] == "∂dy/∂(x²) = 3"  # not x^row 6


@pytest.mark.parametrize("sent", [1.0, 0.7])
def test_a_framework_that_sent_something_else_has_no_formula(sent, show):
    recording = Recording("by hand")
    x, y = (recording.add_leaf(np.ones(3, np.float32), name=name, shape=[3]) for name in "xy")
    z = recording.add_operation("mul", [x, y], np.ones(3, np.float32), shape=[3])
    sweep = recording.add_backward_pass([z])
    sweep.set_adjoint(z, np.ones(3, np.float32))
    sweep.send(z, x, 0, *[np.full(3, sent, np.float32)] * 2)
    recording.close()
    page = show(recording.snapshot())
    type_keys(page, "End")
    assert len(formulas(page)) == (sent == 1.0)


def test_what_a_hook_has_changed_on_its_way_has_a_name_of_its_own(show):
    recording = Recording("by hand")
    x, y = (recording.add_leaf(value, name=name) for value, name in ((2.0, "x"), (3.0, "y")))
    h = recording.add_operation("mul", [x, y], 6.0)
    z = recording.add_operation("mul", [h, y], 18.0)
    sweep = recording.add_backward_pass([z])
    sweep.set_adjoint(z, 1.0)
    sweep.send(z, h, 0, 3.0, 3.0)
    sweep.set_adjoint(h, 0.5)
    sweep.send(h, x, 0, 1.5, 1.5)
    recording.close()
    page = show(recording.snapshot())
    type_keys(page, "End")
    assert formulas(page) == [("∂(row 2 × y)/∂x = ∂(row 2 × y)/∂(x × y) × y", "= 0.5 × 3.0 = 1.5")]


def test_it_grows_with_the_steps(show):
    page = show(chained())
    type_keys(page, "Home")
    assert formulas(page) == []
    type_keys(page, "End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert formulas(page)[0][0] == "∂loss/∂(p − t) = 2 × (p − t)"
    type_keys(page, "End")
    assert [text for text, _ in formulas(page)] == [
        "∂loss/∂x = 2 × (p − t) × p × (1 − p) × w",
        "∂loss/∂w = 2 × (p − t) × p × (1 − p) × x",
    ]
    assert [line[:2] for line in lines_of(page)] == [
        ("∂loss/∂x = ∂loss/∂(x × w) × w", "= 0.1891 × 1.3 ≈ 0.24577232"),
        ("∂loss/∂w = ∂loss/∂(x × w) × x", "= 0.1891 × 0.7 ≈ 0.13233894"),
    ]
    lit = page.locator(".mt-product-line > p .mt-factor")
    assert lit.all_inner_texts() == ["w", "1.3", "x", "0.7"]


def weighted() -> Any:
    x, w = tf.Variable(0.7, name="x"), tf.Variable(1.3, name="w")
    with tf.GradientTape() as tape:
        y = tf.sin(x * w) * x
        for _ in range(4):
            y = tf.sin(y * w)
    tape.gradient(y, [x, w], output_gradients=tf.constant(-2.5))
    return tf.snapshot(tape)


def within() -> Any:
    """The rows inside of a call, where the sweep begins with what came in."""
    return only(tf.snapshot(*branching()))["snapshot"]


def test_what_the_sweep_began_with_is_a_factor(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * x * 1.5
    tape.gradient(y, x, output_gradients=tf.constant(2.0))
    page = show(tf.snapshot(tape))
    type_keys(page, "End", "ArrowLeft")
    assert formulas(page)[0] == ("∂(2.0 × y)/∂(x × x) = 2.0 × 1.5", "= 2.0 × 1.5 = 3.0")


@pytest.mark.long(sample=6)
@pytest.mark.parametrize("name", ["square", "accumulation", "states", "nested", "cut", "loop", "weighted", "inside"])
def test_the_numbers_of_the_factors_give_what_arrived(name, show):
    made: dict[str, Callable[[], Any]] = {
        "loop": lambda: build_chain_snapshot(6),
        "weighted": weighted,
        "inside": within,
    }
    snapshot = made[name]() if name in made else tf.snapshot(*PROGRAMS[name]())
    page = show(snapshot, "none")
    type_keys(page, "Home")
    seen = 0
    page.wait_for_timeout(100)
    for _ in range(len(snapshot["rows"]) + len(snapshot["sweep"]["steps"])):
        type_keys(page, "ArrowRight")
        for _, numbers in formulas(page):
            factors, arrived = re.fullmatch(r"= (?:(.*) [=≈] )?(\S+)", numbers).groups()
            factors = factors or arrived
            total = sum(math.prod(float(n.strip("()")) for n in term.split(" × ")) for term in factors.split(" + "))
            assert total == pytest.approx(float(arrived), rel=5e-3)
            seen += 1
    assert seen


def matrices() -> Any:
    """Products of matrices, transposed ones, a bias, a mean, masks, and a softmax, whose rule is no product."""
    rng = np.random.default_rng(4)
    x, w, b, v, m, s = (
        tf.Variable(rng.normal(size=shape).astype(np.float32), name=name)
        for name, shape in {"x": (3, 2), "w": (2, 4), "b": (4,), "v": (5, 4), "m": (3, 1), "s": ()}.items()
    )
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w + b)
        p = tf.matmul(h, v, transpose_b=True) * s
        q = tf.nn.softmax(p) - m
        loss = tf.reduce_mean(tf.transpose(q) ** 2.0) + tf.reduce_sum(tf.reshape(h, [12]))
    snapshot = tf.snapshot(tape, loss, [x, w, b, v, m, s])
    assert p is not None
    return snapshot


def batches() -> Any:
    """A batch that multiplies one matrix for all, axes that are not turned, a bias, the larger of two."""
    rng = np.random.default_rng(5)
    a, k, m, u, v, b = (
        tf.Variable(rng.normal(size=shape).astype(np.float32), name=name)
        for name, shape in zip("akmuvb", [(1, 2, 3), (4, 3, 2), *[(3, 3)] * 3, (3,)], strict=True)
    )
    with tf.GradientTape() as tape:
        s = tf.reduce_sum(tf.square(a @ k))
        d = tf.transpose(m, [0, 1]) * tf.maximum(u, v) + b
        loss = s * tf.reduce_sum(tf.minimum(u, d * v))
    return tf.snapshot(tape, loss, [a, k, m, u, v, b])


@pytest.mark.long(sample=2)
@pytest.mark.parametrize("program", [matrices, batches], ids=lambda f: f.__name__)
def test_matrices_multiply_to_what_arrived(program, show):
    """Each formula is computed by NumPy from the values of the rows, and from the adjoints that it names."""
    snapshot = program()
    rows, arrived = snapshot["rows"], {}
    values = [np.array(row["value"]["data"]) for row in rows]
    known: dict[str, Any] = {row["name"].removesuffix(":0"): values[row["row"]] for row in rows if row["name"]}
    known |= {
        "mean": np.mean, "sum": np.sum, "softmax": lambda a: np.exp(a) / np.exp(a).sum(-1, keepdims=True),
        "relu": lambda a: np.maximum(a, 0), "tanh": np.tanh, "ones": lambda *n: np.ones(n), "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip

    def row_of(text: str, rows: Any) -> int:
        """The one of these rows that is named so, or has this value."""
        value = computed(text)
        return next(k for k in rows if values[k].shape == value.shape and np.allclose(values[k], value))

    def computed(text: str, shape: Any = ()) -> Any:
        for sign, code in {
            "ᵀ": ".swapaxes(-1, -2)",
            "≥": ">=",
            "≤": "<=",
            "×": "*",
            "−": "-",
            "²": "**2",
            "^": "**",
        }.items():
            text = text.replace(sign, code)
        text = re.sub(
            r"∂loss/∂(row \d+|\w*\((?:[^()]|\([^()]*\))*\)|\w+)", lambda found: f"A[{row_of(found[1], arrived)}]", text
        )
        text = re.sub(r"Σ([₀-₃]*)\(", r"total('\1', ", re.sub(r"\brow (\d+)", r"R[\1]", text))
        given = {"R": values, "A": arrived, "reshape": lambda a: np.reshape(a, shape or a.size)}
        given["total"] = lambda axes, a: np.reshape(a.sum(tuple(map("₀₁₂₃".index, axes)) or None), shape)
        return eval(text, given | known)

    page = show(snapshot, "none")
    type_keys(page, "Home", *["ArrowRight"] * len(rows))
    seen = []
    for step in snapshot["sweep"]["steps"]:
        type_keys(page, "ArrowRight")
        arrived[step["row"]] = np.array(step["adjoint"]["data"])
        sums = {edge["input"]: np.array(edge["sum"]["data"]) for edge in step["edges"]}
        for text, shapes in formulas(page):
            seen.append((text, shapes))
            by, _, formula = text.partition(" = ")
            row = row_of(by.removeprefix("∂loss/∂"), sums)
            assert np.broadcast_to(computed(formula, sums[row].shape), sums[row].shape) == pytest.approx(
                sums[row], rel=1e-4
            )
    assert not any(re.search(r"\bg\b", text) for text, _ in seen)
    assert {
        ("∂loss/∂((row 13)^2) = 1/15", ""),
        ("∂loss/∂w = xᵀ @ ∂loss/∂(row 2 + b)", ""),
        ("∂loss/∂((row 2)²) = sum(row 14)", ""),
    } & set(seen)


def test_a_formula_has_a_line_of_the_pane_and_what_came_and_what_leaves_stand_below_it(show, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(3, 4)).astype(np.float32), name="w")
    with tf.GradientTape() as tape:
        h = tf.tanh(tf.constant(rng.normal(size=(8, 3)).astype(np.float32)) @ w)
        loss = tf.reduce_mean(h * h)
    show(tf.snapshot(tape, loss, w))
    type_keys(page, "End")
    pane, formula = read_box(page.locator(".mt-step")), read_box(page.locator(".mt-product-line"))
    came, leaves = (read_box(one) for one in page.locator(".mt-step > .mt-eq:not(.mt-product-line)").all())
    assert formula["width"] > 0.9 * pane["width"]
    assert came["y"] == leaves["y"] >= formula["y"] + formula["height"]
    assert min(came["width"], leaves["width"]) > 0.4 * pane["width"]
