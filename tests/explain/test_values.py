"""Gradients that are there, but zero, NaN or infinite: what `explain` says of them, and that its fix is one."""

import linecache
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape import nest

from .programs import Case, load_cases


def run_and_explain(text: str) -> dict[str, Any]:
    """Runs a program that leaves ``tape``, ``y`` and ``x``; adds the gradient ``g`` and the answer ``why``."""
    text += "\ng = tape.gradient(y, x)\nwhy = tape.explain(y, x)\n"
    name = f"<values {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"tf": tf, "np": np}
    exec(compile(text, name, "exec", dont_inherit=True), space)
    return space


def build_program(x: str, *body: str) -> str:
    """A program with a source and a block."""
    return "\n".join([f"x = {x}", "with tf.GradientTape(persistent=True) as tape:", *(f"    {line}" for line in body)])


def parse_table_rows(text: str) -> list[list[str]]:
    """A source, a block, and the cause; in the next line what is said, a part of the fix, and a block that is fixed."""
    lines = [line.split(" | ") for line in text.splitlines()]
    return [first + second for first, second in zip(lines[::2], lines[1::2], strict=True)]


ZERO = """\
tf.Variable([900.0, -800.0]) | y = tf.sigmoid(x) | saturated
is flat at its input (-800 to 900) | logits | y = tf.nn.sigmoid_cross_entropy_with_logits([0.0, 1.0], x)
tf.Variable([90.0, -800.0]) | y = tf.nn.softmax(x)[0] | saturated
is flat at its input (-800 to 90) | logits | y = tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0], x)
tf.Variable([1.0, 2.0]) | y = tf.reduce_sum(tf.nn.softmax(x)) | zero_cancels
cancel out | The sum or mean of all outputs | y = tf.nn.softmax(x)[1]
tf.Variable(-2.0) | y = tf.nn.relu(x) | dead_relu
passes no gradient | leaky_relu | y = tf.nn.leaky_relu(x)
tf.Variable(tf.constant(0.001, tf.float16)) | y = (x * tf.constant(1e-4, tf.float16)) ** 2 | zero_factor
too small for its dtype | scale the loss | y = (x * tf.constant(1e-4, tf.float16)) ** 2 * 8192.0
tf.Variable([1.0, 2.0]); mask = tf.constant([0.0, 1.0]) | y = (x * mask)[0] | zero_factor
multiplies by zeros | a mask without ones | y = x[0]
tf.Variable(3.0) | y = tf.py_function(lambda t: np.float32(t.numpy() ** 2), [x], tf.float32) | left_through_numpy
runs NumPy code | tf operations | y = tf.py_function(lambda t: t ** 2, [x], tf.float32)
tf.Variable(3.2) | y = tf.py_function(lambda t: tf.round(t), [x], tf.float32) | nondifferentiable_op
tf.round | tf.stop_gradient | y = tf.py_function(lambda t: t + tf.stop_gradient(tf.round(t) - t), [x], tf.float32)
tf.Variable(-1.0) | y = tf.function(tf.nn.relu)(x) | dead_relu
passes no gradient | leaky_relu | y = x * 2.0
"""


@pytest.mark.parametrize(("x", "body", "cause", "said", "fix", "fixed"), parse_table_rows(ZERO))
def test_zero(x: str, body: str, cause: str, said: str, fix: str, fixed: str) -> None:
    space = run_and_explain(build_program(x, body))
    why = space["why"]
    assert why.connected and not np.any(space["g"].numpy())
    assert (
        why.cause == cause
        and why.line == 3
        and why.message.startswith("The gradient of x is zero")
        and said in why.message
    ), str(why)
    assert fix in why.fix, str(why)
    assert np.any(run_and_explain(build_program(x, fixed))["g"].numpy())


def test_a_source_has_the_name_of_its_own_statement_where_a_line_has_several():
    made = "def made():\n    x = tf.Variable(-1.0); w = tf.Variable(1.0)\n    with tf.GradientTape(True) as tape:\n"
    used = "        y = tf.nn.relu(x * w)\n    return tape, y, x\n\ntape, y, x = made()\n"
    assert run_and_explain(made + used)["why"].message.startswith("The gradient of x is zero")


def test_zero_of_a_second_derivative() -> None:
    text = build_program(
        "tf.Variable([0.5])",
        "with tf.GradientTape() as inner:",
        "    z = tf.nn.relu(x) * 3.0",
        "y = inner.gradient(z, x)",
    )
    why = run_and_explain(text)["why"]
    assert "piecewise linear" in why.message and "softplus" in why.fix


NOT_FINITE = """\
tf.Variable([0.0, 0.0]) | y = tf.norm(x) | nan_backward
sqrt in norm(...) | is not finite where `x` is zero | y = tf.sqrt(tf.reduce_sum(x * x) + 1e-12)
tf.Variable([2.0, 2.0]) | y = tf.math.reduce_std(x) | nan_backward
sqrt in reduce_std(...) | Keep its input away | y = tf.sqrt(tf.math.reduce_variance(x) + 1e-12)
tf.Variable(-1.0) | y = x ** 2.5 | nan_forward
produces NaN at -1 | where the result is finite | y = tf.abs(x) ** 2.5
tf.Variable(-1.0) | y = tf.sqrt(x) * 2.0 | nan_forward
produces NaN at -1 | Keep `x` above zero | y = tf.sqrt(tf.maximum(x, 1e-12)) * 2.0
tf.Variable([200.0, 0.0]) | y = tf.math.log(tf.nn.softmax(x))[1] | nan_forward
produces -inf at 0 | range where the result is finite | y = tf.nn.log_softmax(x)[1]
tf.Variable(0.0) | y = tf.divide(1.0, x) | nan_forward
produces inf at 1 and 0 | Add a small number such as 1e-6 to `x` | y = tf.divide(1.0, x + 1e-6)
tf.Variable(0.0) | y = tf.sqrt(x * x) | nan_backward
at its input (0) | where `x * x` is zero | y = tf.sqrt(x * x + 1e-12)
tf.Variable(0.0) | y = tf.function(tf.sqrt)(x) | nan_backward
at its input (0) | tf.sqrt(x + 1e-12) | y = tf.sqrt(x + 1e-12)
"""


@pytest.mark.parametrize(("x", "body", "cause", "said", "fix", "fixed"), parse_table_rows(NOT_FINITE))
def test_not_finite(x: str, body: str, cause: str, said: str, fix: str, fixed: str) -> None:
    space = run_and_explain(build_program(x, body))
    why = space["why"]
    assert not np.all(np.isfinite(space["g"].numpy()))
    assert (
        why.cause == cause
        and why.line == 3
        and re.match(r"The (gradient of x|target) is not finite\. ", why.message)
        and said in why.message
    ), str(why)
    assert fix in why.fix, str(why)
    assert np.all(np.isfinite(run_and_explain(build_program(x, fixed))["g"].numpy()))


@pytest.mark.parametrize(("numbers", "old", "new"), [
    ([0.0, 2.0], "tf.sqrt(x)", "tf.sqrt(x + 1e-12)"),
    ([0.0, 2.0], "tf.math.log(x)", "tf.math.log(x + 1e-06)"),
    ([0.0, 2.0], "1.0 / x", "1.0 / (x + 1e-06)"),
    ([0.0, 2.0], "tf.pow(x, 0.5)", "tf.pow(x + 1e-06, 0.5)"),
    ([0.0, 2.0], "x ** 0.5", "(x + 1e-06) ** 0.5"),
])  # fmt: skip
def test_a_line_that_is_finite(numbers: list[float], old: str, new: str) -> None:
    line = "y = tf.reduce_sum({})"
    space = run_and_explain(build_program(f"tf.Variable({numbers})", line.format(old)))
    assert not np.all(np.isfinite(space["g"].numpy()))
    assert (space["why"].patch, space["why"].patch_line) == (line.format(new), 3)
    assert np.all(np.isfinite(run_and_explain(build_program(f"tf.Variable({numbers})", line.format(new)))["g"].numpy()))


def test_a_branch_that_is_not_taken_and_that_no_tape_recorded() -> None:
    ages = "ages = tf.constant([0.5, -1.0])\n"
    taken = build_program("tf.Variable(1.0)", "y = tf.reduce_sum(tf.where(ages > 0.0, x * tf.math.log({}), 0.0))")
    why = run_and_explain(ages + taken.format("ages"))["why"]
    assert "produces NaN at -1. The value is masked later" in why.message
    assert "Keep `ages` above zero. If a later line masks these elements, replace them before this line" in why.fix
    assert np.isfinite(run_and_explain(ages + taken.format("tf.where(ages > 0.0, ages, 1.0)"))["g"].numpy())


@pytest.mark.parametrize(("x", "has_grown"), [("1e25", True), ("1e15", False)])
def test_an_input_that_overflows_with_another_of_its_size_has_grown_too_large(x: str, has_grown: bool) -> None:
    why = run_and_explain(build_program(f"tf.Variable({x})", "y = x / 0.0"))["why"]
    assert why.cause == "nan_forward" and ("has grown too large" in why.message) is has_grown


def test_data_that_are_not_finite() -> None:
    data = "rows = tf.constant([1.0, float('nan')])\n"
    why = run_and_explain(data + build_program("tf.Variable(2.0)", "y = tf.reduce_sum(rows * x)"))["why"]
    assert "rows (" in why.message and "tf.where(tf.abs(x) < 1e30, x, 0.0)" in why.fix
    x = tf.constant([1.0, np.nan, np.inf, -2.0])
    assert tf.where(tf.abs(x) < 1e30, x, 0.0).numpy().tolist() == [1.0, 0.0, 0.0, -2.0]


def test_a_variable_that_is_not_finite() -> None:
    text = "v = tf.Variable(2.0)\nv.assign(v / 0.0)\n" + build_program("v", "y = x * x")
    why = run_and_explain(text)["why"]
    assert "v (" in why.message and "line 2" in why.message and "an earlier step" in why.fix


def test_a_relu_is_dead_if_it_is_zero_where_an_adjoint_arrived() -> None:
    space = run_and_explain(build_program("tf.Variable([-1.0, 2.0])", "y = tf.nn.relu(x)[0]"))
    assert space["why"].cause == "dead_relu"


def test_the_line_that_selects_other_elements_is_blamed() -> None:
    parts = build_program("tf.Variable(2.0)", "parts = tf.stack([x * 1.0, 3.0])", "y = parts[1] * 2.0")
    why = run_and_explain(parts)["why"]
    assert (why.cause, why.line) == ("not_selected", 4)


def test_elements_that_cancel_out() -> None:
    b, s = tf.Variable([0.0]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum((tf.ones([2, 1]) + b) * s * [[1.0], [-1.0]])
    for why in tape.explain(y, [b, s]):
        assert "The contributions of several elements (" in why.message
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.softmax(tf.concat([b, [1.0]], 0)))
    assert tape.explain(y, b).fix.startswith("Use a result that changes with b.")


def test_an_underflow_in_float32_is_not_told_to_use_float32() -> None:
    v, w = tf.Variable(120.0), tf.Variable(1e-30)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.exp(-v)
        z = w * 1e-30 * tf.constant(1e-30)
    why = tape.explain(y, v)
    assert "is flat at its input (-120)" in why.message
    small = tape.explain(z, w)
    assert "too small for its dtype" in small.message and "wider dtype" in small.fix


def test_a_gradient_that_a_long_loop_wears_away_is_not_blamed_on_a_flat_function() -> None:
    state, weight = tf.Variable(0.3), tf.Variable(0.5)
    with tf.GradientTape() as tape:
        value = state * 1.0
        for turn in range(60):
            value = tf.tanh(weight * value + 0.1 * turn)
    why = tape.explain(value, state)
    assert why.cause == "zero_factor" and "too small for its dtype" in why.message, str(why)


@pytest.mark.parametrize(("body", "told"), [
    (["p = tf.sigmoid(x)", "y = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits([0.0, 1.0], p))"], "sigmoid"),
    (["p = tf.nn.softmax(x)", "y = tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0], tf.reshape(p, [2]))"],
     "softmax"),
    (["y = tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0], x)"], ""),
    (["y = tf.reduce_sum(tf.where(tf.sigmoid(x) > 0.5, x, 2.0 * x))"], ""),
])  # fmt: skip
def test_probabilities_for_a_loss_of_logits(body: list[str], told: str) -> None:
    why = run_and_explain(build_program("tf.Variable([0.3, -0.2])", *body))["why"]
    assert (f"applies a {told} itself" in why.message) == bool(told), why


def test_the_line_of_a_step_that_failed_is_not_kept() -> None:
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(Exception, match=r"[Ss]hape"):
        tf.keras.optimizers.SGD(0.1).apply_gradients([(tf.ones([3]), v)])
    w = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        w.assign(v[0] * 2.0)
        y = w * 3.0
    why = tape.explain(y, v)
    assert why.cause == "state" and why.code == "w.assign(v[0] * 2.0)"


@pytest.mark.parametrize("case", load_cases(Path(__file__).parent / "nonfinite"), ids=lambda case: case.name)
def test_what_is_not_finite_inside_of_a_function(case: Case) -> None:
    """The line in the function's body is named, and not that of its call."""
    name = f"<nonfinite {case.name}>"
    linecache.cache[name] = (len(case.code), None, case.code.splitlines(True), name)
    space: dict[str, Any] = {"tf": tf, "np": np}
    exec(compile(case.code, name, "exec", dont_inherit=True), space)
    tape, target, source = (space[name] for name in ("tape", "target", "source"))
    assert not np.all(np.isfinite(np.asarray(tape.gradient(target, source))))
    answer = next(one for one in nest.flatten(tape.explain(target, source)) if one.kind == "nonfinite")
    assert answer.cause in case.causes[0] and answer.line in case.list_accepted_lines(0, answer.cause), str(answer)


def test_a_suspect_is_of_those_whose_gradient_comes_by_it() -> None:
    w, v = tf.Variable([[1.0], [2.0]]), tf.Variable([[0.5], [0.5]])
    x, r = tf.constant(np.ones((3, 2), np.float32)), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        value = x @ v
        actor = tf.reduce_mean((x @ w) * tf.stop_gradient(r - tf.squeeze(value, -1)))  # a column meets a row
        loss = actor + tf.reduce_mean((tf.squeeze(value, -1) - r) ** 2)
    of_w, of_v = tape.explain(loss, [w, v])
    assert (of_w.cause, of_v.cause) == ("broadcast", "connected")


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (["p = tf.reshape(x, [3, 1])", "y = tf.reduce_mean((p - [1.0, 2.0, 3.0]) ** 2)"], "broadcast"),
        (["p = tf.reshape(x, [3, 1])", "y = tf.reduce_mean((p - x) ** 2)"], "connected"),
        (["y = tf.reduce_mean((tf.reshape(x, [3, 1]) - [1.0, 2.0, 3.0]) ** 2)"], "connected"),
    ],
)
def test_a_table_is_meant_if_a_vector_meets_itself_or_became_a_column_on_the_line(body: list[str], cause: str) -> None:
    assert run_and_explain(build_program("tf.Variable([1.0, 2.0, 4.0])", *body))["why"].cause == cause
