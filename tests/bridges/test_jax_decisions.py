"""When the checks of JAX programs suspect a mistake, on runs and recordings that are built by hand."""

import ast
import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from tests.explain.hand_built_runs import build_rows, build_run

jax = pytest.importorskip("jax")

from minitape.bridges.jax import ascents, suspects  # noqa: E402
from minitape.bridges.jax.optax_checks import explain_swapped_moving_average_arguments  # noqa: E402
from minitape.bridges.jax.recording import UpdateFact  # noqa: E402
from minitape.bridges.known_errors import explain_error_by_message  # noqa: E402


def with_text(text):
    file = f"jax decisions {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return file


# -- parameters that do not change -----------------------------------------------------------------


def build_steps(counts, updates, differentiated=(0,), unchanged_at_end=True, dtype="float32", value=1.0):
    """Build a run whose recording counts, for each row, the steps that left it unchanged."""
    rows = build_rows(("leaf", [], {"dtype": dtype}), ("leaf", [], {"dtype": dtype}), ("sin", [0]))
    facts = {
        row: UpdateFact(is_moved, ("train.py", 9 + row), np.float32(update))
        for row, (is_moved, update) in updates.items()
    }
    recording = SimpleNamespace(
        rows=rows,
        unchanged_counts=counts,
        differentiated_rows=list(differentiated),
        updates=facts,
        argument_leaves=[SimpleNamespace(row=row, value=np.float16(value)) for row in counts],
        is_unchanged_at_end=lambda leaf: unchanged_at_end,
    )
    return build_run(rows, op_names=suspects.OPERATION_NAMES, recording=recording)


UNCHANGED = {
    "no change in three steps": (({0: 3}, {0: (False, 0.0)}), {}, ("rate", 9, 3)),
    "no change in two steps": (({0: 2}, {0: (False, 0.0)}), {}, None),
    "one of two is frozen": (({0: 3}, {0: (False, 0.0)}), {"differentiated": [0, 1]}, None),
    "neither of two changes": (({0: 3, 1: 4}, {0: (False, 0.0), 1: (False, 0.0)}), {"differentiated": [0, 1]},
                               ("rate", 9, 4)),
    "an update is dropped": (({0: 3}, {0: (True, 0.1)}), {}, ("dropped", 9, 3)),
    "a change after the last step": (({0: 3}, {0: (False, 0.0)}), {"unchanged_at_end": False}, None),
    "an update is dropped, and a later one isn't": (({0: 3}, {0: (True, 0.1)}), {"unchanged_at_end": False},
                                                    ("dropped", 9, 3)),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "facts", "expected"), UNCHANGED.values(), ids=UNCHANGED)
def test_gradients_change_no_parameter(steps, facts, expected) -> None:
    found = list(suspects.check_gradients_that_change_no_parameter(build_steps(*steps, **facts)))
    assert [(it.variant, it.site[1], it.fields["n"]) for it in found] == ([] if expected is None else [expected])
    assert all(it.row == 0 and set(it.only_rows) == steps[0].keys() for it in found)


ROUNDED = {
    "an update of bfloat16": (({0: 3}, {0: (False, 1e-4)}), {"dtype": "bfloat16"}, True),
    "an update of float16": (({0: 3}, {0: (False, 1e-4)}), {"dtype": "float16"}, True),
    "an update of float32": (({0: 3}, {0: (False, 1e-4)}), {}, False),
    "an update of zero": (({0: 3}, {0: (False, 0.0)}), {"dtype": "float16"}, False),
    "two steps": (({0: 2}, {0: (False, 1e-4)}), {"dtype": "float16"}, False),
    "no update": (({0: 3}, {}), {"dtype": "float16"}, False),
    "a change at the end": (({0: 3}, {0: (False, 1e-4)}), {"dtype": "float16", "unchanged_at_end": False}, False),
}


@pytest.mark.parametrize(("steps", "facts", "is_rounded"), ROUNDED.values(), ids=ROUNDED)
def test_an_update_is_lost_to_rounding(steps, facts, is_rounded) -> None:
    found = list(suspects.check_updates_lost_to_rounding(build_steps(*steps, **facts)))
    assert [(it.cause, it.variant, it.row, it.site[1]) for it in found] == (
        [("not_applied", "rounded", 0, 9)] if is_rounded else []
    )
    assert all(it.fields["rate"] == np.float32(1e-4) and it.fields["step"] == np.spacing(np.float16(1)) for it in found)


CANCELLING = {
    "two shares that cancel": ((1.0, -1.0), 1e-8, True),
    "two shares that don't": ((1.0, -0.5), 0.5, False),
    "two shares that cancel exactly": ((1.0, -1.0), 0.0, False),
    "two shares that nearly cancel": ((1.0, -1.0), 1e-5, False),
    "one share": ((1.0,), 1e-8, False),
}


@pytest.mark.parametrize(("shares", "residual", "is_rounding"), CANCELLING.values(), ids=CANCELLING)
def test_shares_cancel_up_to_rounding_errors(shares, residual, is_rounding) -> None:
    pair = {"shape": (2,)}
    rows = build_rows(
        ("leaf", [], pair), ("exp", [0], pair), ("sin", [1], pair), ("cos", [1], pair), ("add", [2, 3], pair)
    )
    sent = [(2 + number, 1, np.full(2, share)) for number, share in enumerate(shares)]
    adjoints = {0: np.full(2, residual), 1: np.full(2, residual), 2: np.ones(2), 3: np.ones(2), 4: np.ones(2)}
    run = build_run(rows, adjoints, sent, suspects.OPERATION_NAMES)
    found = list(suspects.check_shares_that_cancel_to_rounding_error(run))
    assert [(it.cause, it.row, set(it.only_rows)) for it in found] == (
        [("rounding_only", 3, {0, 1})] if is_rounding else []
    )


def test_shares_of_a_single_number_are_no_rounding_errors_of_a_softmax() -> None:
    rows = build_rows(("leaf", []), ("exp", [0]), ("sin", [1]), ("cos", [1]), ("add", [2, 3]))
    run = build_run(rows, {1: 1e-8, 2: 1.0, 3: 1.0, 4: 1.0}, [(2, 1, 1.0), (3, 1, -1.0)], suspects.OPERATION_NAMES)
    assert not list(suspects.check_shares_that_cancel_to_rounding_error(run))


@pytest.mark.parametrize(("op", "scopes", "logits"), [
    ("sub", (["log_softmax"], []), 0), ("sub", ([], []), None), ("sub", (["log_softmax"], ["log_softmax"]), None),
    ("neg", (["log_sigmoid"], []), 0), ("neg", (["log_softmax"], []), None), ("logaddexp", (["softplus"], []), 0),
])  # fmt: skip
def test_the_first_operation_of_a_function_of_logits_reads_them(op, scopes, logits) -> None:
    rows = build_rows(("sin", [], {"scope": scopes[1]}), (op, [0], {"scope": scopes[0]}))
    assert suspects.find_row_read_as_logits_by_loss(build_run(rows), rows[1]) == logits


def test_the_shape_that_jax_gives_an_operand_on_the_same_line_is_seen_through() -> None:
    here = {"site": ("train.py", 4)}
    rows = build_rows(("leaf", []), ("reshape", [0]), ("broadcast_in_dim", [1], here), ("reshape", [2], here),
                      ("sub", [3, 0], here))  # fmt: skip
    run = build_run(rows, op_names=suspects.OPERATION_NAMES)
    assert suspects.find_operand_row_before_implicit_broadcast(run, rows[4], 3) == 1
    assert suspects.find_operand_row_before_implicit_broadcast(run, rows[4], 1) == 1


# -- steps uphill ----------------------------------------------------------------------------------

UPHILL = "def loss_fn(w):\n    return w\nfor step in range(5):\n    g = grad(loss_fn)(w)\n    w = w + 0.1 * g\n"
CHAIN = "optimizer = optax.chain(\n    optax.scale_by_adam(),\n    optax.scale(0.1),\n)\ng = grad(loss_fn)(w)\n"


def explain_ascent(monkeypatch, text=UPHILL, shares=((1.0,) * 3,), value=2.0, name="w", function="loss_fn", updates=(),
                   count=1):  # fmt: skip
    """Explain a recording of steps that moved the given fractions of their parameters uphill."""
    file = with_text(text)
    line = next(number for number, it in enumerate(text.splitlines(), 1) if "grad(" in it)
    origin = SimpleNamespace(
        call_site=(file, line),
        function=SimpleNamespace(__name__=function),
        list_argument_expressions=lambda leaf: [(ast.parse(name, mode="eval").body, None)],
    )
    monkeypatch.setattr(ascents, "JaxOrigin", lambda *recorded_call: origin)
    recording = SimpleNamespace(
        fractions_moved_uphill={row: list(steps) for row, steps in enumerate(shares)},
        recorded_call=(),
        rows=[SimpleNamespace(name=name)],
        differentiated_rows=[0],
        value=np.float32(value),
        updates=updates,
        list_differentiated_leaves=lambda: [None],
        collect_gradient_names=lambda: {"g"},
    )
    answer = ascents.explain_ascent([recording] * count)
    return None if answer is None else (answer.cause, answer.line)


ASCENTS = {
    "uphill": ({}, ("wrong_sign", 5)),
    "two steps": ({"shares": [(1.0, 1.0)]}, None),
    "downhill at first": ({"shares": [(0.5, 1.0, 1.0)]}, None),
    "downhill once": ({"shares": [(1.0, 0.4, 1.0)]}, None),
    "another parameter downhill": ({"shares": [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0)]}, None),
    "a score": ({"function": "score"}, None),
    "a negative loss": ({"value": -2.0}, None),
    "an image": ({"text": UPHILL.replace("w", "x"), "name": "x"}, None),
    "an image and its weights": ({"text": UPHILL.replace("w", "x"), "name": "x", "shares": [(1.0, 1.0, 1.0)] * 2},
                                 ("wrong_sign", 5)),
    "an attack": ({"text": "# an adversarial attack\n" + UPHILL}, None),
    "a minus": ({"text": UPHILL.replace("w + 0.1", "w + -0.1")}, None),
    "another name": ({"text": UPHILL.replace("w = w + 0.1 * g", "v = v + 0.1 * g")}, None),
    "an addition of something else": ({"text": UPHILL.replace("    g", "    v = w + 1.0\n    g")}, ("wrong_sign", 6)),
    "two functions": ({"count": 2}, None),
    "a chain": ({"text": CHAIN, "updates": (1,)}, ("wrong_sign", 3)),
    "a chain with a minus": ({"text": CHAIN.replace("scale(0.1)", "scale(-0.1)"), "updates": (1,)}, None),
    "a chain with a learning rate": ({"text": CHAIN.replace("scale(0.1)", "scale_by_learning_rate(0.1)"),
                                      "updates": (1,)}, None),
}  # fmt: skip


@pytest.mark.parametrize(("facts", "expected"), ASCENTS.values(), ids=ASCENTS)
def test_a_step_adds_the_gradient_of_a_loss(monkeypatch, facts, expected) -> None:
    assert explain_ascent(monkeypatch, **facts) == expected


MASKED = "optimizer = optax.masked(optax.sgd(0.1), mask)\n"


@pytest.mark.parametrize(("text", "shares", "updates", "line"), [
    (MASKED, [(1.0,) * 3, (0.0,) * 3], (1,), 1), (MASKED, [(1.0,) * 2, (0.0,) * 3], (1,), None),
    (MASKED, [(1.0,) * 3, (0.5,) * 3], (1,), None), (MASKED, [(0.9,) * 3, (0.0,) * 3], (1,), None),
    (MASKED, [(1.0,) * 3, (0.0,) * 3], (), None), (MASKED * 2, [(1.0,) * 3, (0.0,) * 3], (1,), None),
    (MASKED.replace("0.1", "-0.1"), [(1.0,) * 3, (0.0,) * 3], (1,), None),
])  # fmt: skip
def test_what_a_mask_leaves_out_is_added_to_the_parameters(text, shares, updates, line) -> None:
    recording = SimpleNamespace(fractions_moved_uphill=dict(enumerate(shares)), updates=updates,
                                recorded_call=SimpleNamespace(site=(with_text(text), 1)))  # fmt: skip
    site = ascents.find_optax_masked_adding_raw_gradients(recording)
    assert (site and site[1]) == line


@pytest.mark.parametrize(("text", "new", "old", "is_swapped"), [
    ("ema = optax.incremental_update(ema, params, 0.1)\n", "e", "p", True),
    ("ema = optax.incremental_update(params, ema, 0.1)\n", "p", "e", False),
    ("state = State(ema=optax.incremental_update(ema, params, 0.1))\n", "e", "p", True),
    ("params = optax.incremental_update(center, params, 0.1)\n", "e", "p", False),
    ("new_ema = optax.incremental_update(ema, params, 0.1)\n", "e", "p", True),
])  # fmt: skip
def test_a_moving_average_takes_the_trained_parameters_first(text, new, old, is_swapped) -> None:
    leaves = {"p": object(), "e": object()}
    trees = ([leaves[new]], [leaves[old]])
    answer = explain_swapped_moving_average_arguments(trees, [leaves["p"]], (with_text(text), 1))
    assert (answer is not None and answer.cause == "swapped_average") is is_swapped


# -- errors that JAX raises after it has left the operation ----------------------------------------


def test_an_error_of_the_backward_pass_is_blamed_on_its_operation() -> None:
    text = "def halve(x, n):\n    return jax.lax.fori_loop(0, n, lambda i, x: x / 2, x)\n"
    file = with_text(text)
    exec(compile(text, file, "exec"), names := {"jax": jax})
    with pytest.raises(ValueError, match="while_loop") as caught:
        jax.jit(jax.grad(names["halve"]))(1.0, 3)
    answer = explain_error_by_message("jax", caught.value)
    assert (answer.cause, answer.filename, answer.line) == ("while_loop", file, 2)
