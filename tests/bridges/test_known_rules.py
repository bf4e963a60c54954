"""Pictures of other frameworks say local derivative times what arrived, where the numbers are those of the table."""

from typing import Any

import numpy as np
import pytest

from minitape.bridges.recording import Recording
from minitape.engine.table.primitives import TABLE
from minitape.picture.known_rules import ARRAY_NAMES, ELEMENTWISE_NAMES, PRIMITIVES_BY_NAME, find_known_rule


def record_product(sent: float, result: float = 6.0) -> tuple[Any, dict[str, Any]]:
    """A recording of 2 * 3, whose backward pass sent so much to the first input."""
    recording = Recording("by hand")
    x, y = recording.add_leaf(2.0, name="x"), recording.add_leaf(3.0, name="y")
    z = recording.add_operation("mul", [x, y], result)
    sweep = recording.add_backward_pass([z])
    sweep.set_adjoint(z, 0.5)
    sweep.send(z, x, 0, sent, sent)
    sweep.send(z, y, 1, 1.0, 1.0)
    recording.close()
    snapshot = recording.snapshot()
    return snapshot["rows"][z], snapshot["sweep"]["steps"][0]["edges"]


def test_the_rule_and_the_local_derivative_are_said_where_the_numbers_are_those_of_the_table():
    row, edges = record_product(1.5)
    assert row["said"] == ["x × y", "g × y", "g × x"] and row["formula"] == "x * y"
    assert [edge["local"]["data"] for edge in edges] == [3.0, 2.0]


def test_a_product_that_is_not_that_of_the_rule_has_no_local_derivative_and_says_so():
    _, edges = record_product(7.0)
    assert [edge["local"] and edge["local"]["data"] for edge in edges] == [None, 2.0]
    assert [edge.get("differs") for edge in edges] == [True, None]


def test_an_operation_with_another_result_is_none_of_the_table():
    row, edges = record_product(1.5, result=6.5)
    assert row["said"] == [] and row["formula"] == "" and [edge["local"] for edge in edges] == [None, None]


@pytest.mark.parametrize("name", sorted(ELEMENTWISE_NAMES))
def test_each_other_name_is_one_of_an_operation_of_the_table(name):
    assert ELEMENTWISE_NAMES[name] in PRIMITIVES_BY_NAME


X, Y = np.arange(-5.0, 7.0).reshape(3, 4), np.arange(12.0).reshape(4, 3)
E = np.exp(X - 6)
WHOLE = {
    "mm": ([X, Y], X @ Y, ["g @ yᵀ", "xᵀ @ g"]),
    "linear": ([X, Y.T, np.ones(3)], X @ Y + 1, ["g @ y", "gᵀ @ x", "g"]),
    "matmul": ([X, Y[:, 0]], X @ Y[:, 0], ["g @ yᵀ", "xᵀ @ g"]),
    "dot_general": ([X, Y.T], X @ Y, ["g @ y", "gᵀ @ x"]),
    "sum": ([X], X.sum(), ["g"]),
    "mean": ([X], X.mean(), ["g / size(x)"]),
    "Mean": ([X, np.array([0, 1])], X.mean(), ["g / size(x)"]),  # its axes are an input of TensorFlow's
    "amax": ([X], X.max(), ["g × (x = z) / count(x = z)"]),
    "softmax": ([X], E / E.sum(1, keepdims=True), ["z × (g − Σ g × z)"]),
    "log_softmax": ([X], np.log(E / E.sum(1, keepdims=True)), ["g − exp(z) × Σ g"]),
    "T": ([X], X.T, ["gᵀ"]),
    "mul": ([X], X * 2.5, ["g × 2.5"]),
    "rsub": ([X], 1.5 - X, ["−g"]),
    "rdiv": ([Y + 1], 3 / (Y + 1), ["−g × 3 / x²"]),
    "pow": ([Y], Y**3, ["g × 3 × x^(3 − 1)"]),
}


@pytest.mark.parametrize("op", WHOLE)
def test_rules_of_whole_arrays_and_of_numbers_that_were_not_recorded(op):
    inputs, result, rules = WHOLE[op]
    found = find_known_rule(op, inputs, result)
    assert found.fields["said"][1:] == rules
    g = np.random.default_rng(1).normal(size=np.shape(result))
    for port, x in enumerate(inputs[:1] if op == "Mean" else inputs):
        sent = found.rules[port](g.reshape(found.result.shape), found.result, *found.inputs, **found.arguments)
        share = found.compare_with_framework_share(
            port, g, np.sum(sent, 0) if np.ndim(sent) > x.ndim else np.reshape(sent, x.shape)
        )
        assert "differs" not in share and (share["local"] is None) == (op in ARRAY_NAMES)
        assert found.compare_with_framework_share(port, g, x + 2)["differs"]
    assert all(name in TABLE for name in ARRAY_NAMES.values())


def test_where_pytorch_has_another_rule_the_picture_says_so():
    torch = pytest.importorskip("torch")
    from minitape.bridges import torch as bridge

    w, x = torch.eye(3, 2, requires_grad=True), torch.ones(4, 3)
    with bridge.record() as recording:
        (x @ w).max(1).values.sum().backward()  # of two that are the largest, it chooses one
    snapshot = recording.snapshot()
    names = {row["row"]: row["op"] for row in snapshot["rows"]}
    differs = {names[step["row"]]: [e.get("differs") for e in step["edges"]] for step in snapshot["sweep"]["steps"]}
    assert differs == {"sum": [None], "max": [True], "matmul": [None]}


def test_what_was_broadcast_is_summed_before_it_is_compared():
    x, b = np.ones((4, 3)), np.arange(3.0)
    found = find_known_rule("add", [x, b], x + b)
    assert found is not None
    g = np.full((4, 3), 0.5)
    shares = [
        found.compare_with_framework_share(0, g, g),
        found.compare_with_framework_share(1, g, g.sum(0)),
        found.compare_with_framework_share(1, g, g.sum(0) + 1),
    ]
    assert [share.get("differs", False) for share in shares] == [False, False, True]
    assert find_known_rule("mul", [x, b], x + b) is None
    assert find_known_rule("linear", [x, b], x + b) is None
    assert find_known_rule("add", [x, None], x + b) is None


def map_operations_to_local_derivatives(recording: Any) -> dict[str, list[float]]:
    """By operation the local derivatives that its steps have."""
    snapshot = recording.snapshot()
    rows = snapshot["rows"]
    return {
        rows[step["row"]]["op"].lower(): [edge["local"] and edge["local"]["data"] for edge in step["edges"]]
        for step in snapshot["sweep"]["steps"]
    }


S = 1 / (1 + np.exp(-6.0))
EXPECTED = {"mul": [3.0, 2.0], "div": [0.5, -np.sin(3.0) / 4], "sin": [np.cos(3.0)]}


def test_pytorch():
    torch = pytest.importorskip("torch")
    from minitape.bridges import torch as bridge

    w, x = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    with bridge.record() as recording:
        loss = torch.sigmoid(w * x) + torch.sin(x) / w
        loss.backward()
    found = map_operations_to_local_derivatives(recording)
    for op, expected in (EXPECTED | {"sigmoid": [S * (1 - S)]}).items():
        assert found[op] == pytest.approx(expected, rel=1e-4)


def test_jax():
    jax = pytest.importorskip("jax")
    from minitape.bridges import jax as bridge

    recording = bridge.record(lambda w, x: jax.nn.sigmoid(w * x) + jax.numpy.sin(x) / w, 2.0, 3.0, argnums=(0, 1))
    found = map_operations_to_local_derivatives(recording)
    for op, expected in (EXPECTED | {"logistic": [S * (1 - S)]}).items():
        assert found[op] == pytest.approx(expected, rel=1e-4)


def test_tensorflow():
    tf = pytest.importorskip("tensorflow")
    from minitape.bridges import tensorflow as bridge

    w, x = tf.Variable(2.0), tf.Variable(3.0)
    with bridge.record() as recording:
        with tf.GradientTape() as tape:
            loss = tf.sigmoid(w * x) + tf.sin(x) / w
        tape.gradient(loss, [w, x])
    found = map_operations_to_local_derivatives(recording)
    for op, expected in {"mul": [3.0, 2.0], "realdiv": EXPECTED["div"], "sigmoid": [S * (1 - S)]}.items():
        assert found[op] == pytest.approx(expected, rel=1e-4)
