"""What counts as suspicious, and from which sizes on, in runs that are built by hand."""

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from minitape.explain.operation_families import TENSORFLOW_OPERATIONS
from minitape.explain.reasons import suspects
from minitape.explain.reasons.suspects import MIN_REPETITIONS, CheckedRun, Suspicion
from minitape.recording.recorded_rows import BackwardPass, Escape, RecordedRow
from minitape.recording.value_summary import ValueSummary

from .hand_built_runs import build_rows, build_run

STEPS = 2 * MIN_REPETITIONS


def build_loop(ratio, op="Mul", first_size=2.0, wiggle=1.0):
    """Build a run of one operation, repeated on one line, whose adjoint changes by `ratio` from end to beginning."""
    rows = [RecordedRow(0, "leaf", "variable", shape=(2,))]
    for index in range(1, STEPS + 1):
        rows.append(RecordedRow(index, op, "operation", inputs=[index - 1], site=("train.py", 3), shape=(2,)))
    adjoints = {}
    for index in range(STEPS, -1, -1):
        share_of_loop = (STEPS - index) / (STEPS - 1)
        adjoints[index] = np.full(2, first_size * ratio**share_of_loop * wiggle ** (index % 4))
    return build_run(rows, adjoints)


def list_causes(check, run):
    return [suspicion.cause for suspicion in check(run)]


# -- a column meets a row --------------------------------------------------------------------------

COLUMN, ROW = ("leaf", [], {"shape": (8, 1)}), ("leaf", [], {"shape": (8,)})
TABLE = ("Sub", [0, 1], {"shape": (8, 8)})
SQUARES, MEAN = ("Square", [2], {"shape": (8, 8)}), ("Mean", [3])
MADE_ON_ITS_LINE = {"shape": (8, 1), "site": ("train.py", 3)}
BROADCASTS = {
    "a column and a row": ([COLUMN, ROW, TABLE, SQUARES, MEAN], True),
    "a row and a column": ([ROW, COLUMN, TABLE, SQUARES, MEAN], True),
    "single elements": ([("leaf", [], {"shape": (1, 1)}), ("leaf", [], {"shape": (1,)}),
                         ("Sub", [0, 1], {"shape": (1, 1)}), ("Square", [2], {"shape": (1, 1)}), MEAN], False),
    "a row of another length": ([COLUMN, ("leaf", [], {"shape": (5,)}), ("Sub", [0, 1], {"shape": (8, 5)}),
                                 ("Square", [2], {"shape": (8, 5)}), MEAN], False),
    "the mean of each row": ([COLUMN, ROW, TABLE, SQUARES, ("Mean", [3], {"shape": (8,)})], False),
    "no sum": ([COLUMN, ROW, TABLE, SQUARES], False),
    "a softmax of the table": ([COLUMN, ROW, TABLE, ("Softmax", [2], {"shape": (8, 8)}), MEAN], False),
    "another table": ([COLUMN, ROW, TABLE, ("constant", [], {"value": np.eye(8)}),
                       ("Mul", [2, 3], {"shape": (8, 8)}), ("Mean", [4])], False),
    "a table of ones": ([COLUMN, ROW, TABLE, ("constant", [], {"value": np.ones((8, 8))}),
                         ("Mul", [2, 3], {"shape": (8, 8)}), ("Mean", [4])], True),
    "a second table from the mistake": ([COLUMN, ROW, TABLE, ("Sub", [0, 1], {"shape": (8, 8)}),
                                         ("Mul", [2, 3], {"shape": (8, 8)}), ("Mean", [4])], True),
    "a column of the same line": ([ROW, ("Reshape", [0], MADE_ON_ITS_LINE), ("Sub", [1, 0], {"shape": (8, 8)}),
                                   SQUARES, MEAN], False),
    "a vector and itself": ([ROW, ("Reshape", [0], {"shape": (8, 1)}), ("Sub", [1, 0], {"shape": (8, 8)}),
                             SQUARES, MEAN], False),
    "two vectors": ([ROW, ROW, ("Reshape", [0], {"shape": (8, 1)}), ("Sub", [2, 1], {"shape": (8, 8)}),
                     ("Square", [3], {"shape": (8, 8)}), ("Mean", [4])], True),
    "a column that the operation flattens again": ([COLUMN, ROW, ("Mul", [0, 1], {"shape": (8,)}), ("Mean", [2])],
                                                   False),
    "another table behind a scale": ([COLUMN, ROW, TABLE, ("constant", [], {"value": 2.0}),
                                      ("Mul", [2, 3], {"shape": (8, 8)}), ("constant", [], {"value": np.eye(8)}),
                                      ("Mul", [4, 5], {"shape": (8, 8)}), ("Mean", [6])], False),
    "an operation that doesn't combine": ([COLUMN, ROW, ("Maximum", [0, 1], {"shape": (8, 8)}), SQUARES, MEAN], False),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "is_mistake"), BROADCASTS.values(), ids=BROADCASTS)
def test_a_table_of_a_column_and_a_row_is_a_mistake_if_only_its_sum_is_used(descriptions, is_mistake) -> None:
    causes = set(list_causes(suspects.check_accidental_broadcast, build_run(build_rows(*descriptions))))
    assert causes == ({"broadcast"} if is_mistake else set())


def test_a_table_without_an_adjoint_has_no_wrong_gradient() -> None:
    rows = build_rows(COLUMN, ROW, TABLE, SQUARES, MEAN)
    assert list_causes(suspects.check_accidental_broadcast, build_run(rows, adjoints={})) == []


def test_the_sizes_of_a_mistaken_table_are_named_and_its_ancestors_are_affected() -> None:
    (suspicion,) = suspects.check_accidental_broadcast(build_run(build_rows(ROW, COLUMN, TABLE, SQUARES, MEAN)))
    expected = {"one": (8,), "two": (8, 1), "what": "Sub", "result": (8, 8), "n": 8, "x": "y", "y": "x"}
    assert suspicion.fields == expected
    assert (suspicion.row, suspicion.only_rows) == (2, {0, 1, 2})


# -- activations ---------------------------------------------------------------------------------

HANDWRITTEN = {
    "1 / (1 + exp(-x))": ([("leaf", []), ("Neg", [0]), ("Exp", [1]), ("constant", []), ("AddV2", [3, 2]),
                           ("RealDiv", [3, 4])], "sigmoid"),
    "reciprocal(exp(-x) + 1)": ([("leaf", []), ("Exp", [0]), ("constant", []), ("AddV2", [1, 2]),
                                 ("Reciprocal", [3])], "sigmoid"),
    "exp(x) / sum(exp(x))": ([("leaf", []), ("Exp", [0]), ("Sum", [1]), ("Reshape", [2]), ("RealDiv", [1, 3])],
                             "softmax"),
    "x / sum(x)": ([("leaf", []), ("Sum", [0]), ("RealDiv", [0, 1])], ""),
    "exp(x) / x": ([("leaf", []), ("Exp", [0]), ("RealDiv", [1, 0])], ""),
    "x / (1 + x)": ([("leaf", []), ("constant", []), ("AddV2", [0, 1]), ("RealDiv", [0, 2])], ""),
    "sigmoid(x)": ([("leaf", []), ("Sigmoid", [0])], "sigmoid"),
    "sin(x)": ([("leaf", []), ("Sin", [0])], ""),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "name"), HANDWRITTEN.values(), ids=HANDWRITTEN)
def test_an_activation_is_known_even_if_the_program_writes_it_out(descriptions, name) -> None:
    rows = build_rows(*descriptions)
    assert build_run(rows).find_activation_name(rows[-1]) == name


LEAF, SIGMOID, SOFTMAX, ONE = ("leaf", []), ("Sigmoid", [0]), ("Softmax", [0]), ("constant", [])
LOSSES = {
    "the loss itself": ([LEAF, SOFTMAX, ("SoftmaxCrossEntropyWithLogits", [1])], "softmax"),
    "another activation": ([LEAF, SIGMOID, ("SoftmaxCrossEntropyWithLogits", [1])], None),
    "no activation": ([LEAF, ("Sin", [0]), ("SoftmaxCrossEntropyWithLogits", [1])], None),
    "log(1 + exp(z))": ([LEAF, SIGMOID, ("Exp", [1]), ONE, ("AddV2", [2, 3]), ("Log", [4])], "sigmoid"),
    "log1p(exp(-abs(z)))": ([LEAF, SIGMOID, ("Abs", [1]), ("Neg", [2]), ("Exp", [3]), ("Log1p", [4])], "sigmoid"),
    "log(sum(exp(z - max(z))))": ([LEAF, SOFTMAX, ("Max", [1]), ("Sub", [1, 2]), ("Exp", [3]), ("Sum", [4]),
                                   ("Log", [5])], "softmax"),
    "log(sum(exp(z - c)))": ([LEAF, SOFTMAX, ONE, ("Sub", [1, 2]), ("Exp", [3]), ("Sum", [4]), ("Log", [5])],
                             "softmax"),
    "log(sum(exp(z - w)))": ([LEAF, SOFTMAX, ("leaf", []), ("Sub", [1, 2]), ("Exp", [3]), ("Sum", [4]), ("Log", [5])],
                             None),
    "where(z)": ([LEAF, SIGMOID, ("SelectV2", [1])], None),
    "log(sin(exp(z)))": ([LEAF, SOFTMAX, ("Exp", [1]), ("Sin", [2]), ("Sum", [3]), ("Log", [4])], None),
    "log(exp(z))": ([LEAF, SOFTMAX, ("Exp", [1]), ("Log", [2])], None),
    "log(z)": ([LEAF, SOFTMAX, ("Log", [1])], None),
    "where(z >= 0, z, 0)": ([LEAF, SIGMOID, ONE, ("GreaterEqual", [1, 2]), ("SelectV2", [3, 1, 2])], "sigmoid"),
    "where(z < 0, z, 0)": ([LEAF, SIGMOID, ONE, ("Less", [1, 2]), ("SelectV2", [3, 1, 2])], None),
    "where(c >= 0, z, 0)": ([LEAF, SIGMOID, ONE, ("GreaterEqual", [2, 2]), ("SelectV2", [3, 1, 2])], None),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "activation"), LOSSES.values(), ids=LOSSES)
def test_a_loss_of_logits_must_not_receive_its_own_activation(descriptions, activation) -> None:
    suspicions = list(suspects.check_activation_before_logits_loss(build_run(build_rows(*descriptions))))
    assert [suspicion.fields["one"] for suspicion in suspicions] == ([] if activation is None else [activation])


# -- missing terms ---------------------------------------------------------------------------------

ZERO, TWO = ("constant", [], {"value": 0.0}), ("constant", [], {"value": 2.0})


def build_sum_with_term(cause, op="op", dtype="float32", term_input=0, kind="operation"):
    """Build rows of ``x * x + f(x)``, in which the second term passes no gradient."""
    facts = {"cause": cause, "tracked": False, "dtype": dtype, "kind": kind}
    return [LEAF, ("Mul", [0, 0]), (op, [term_input], facts), ("AddV2", [1, 2])]


TERMS = {
    "a cut": (build_sum_with_term("stop_gradient"), ["cut"]),
    "a cut of a value that has another path": (build_sum_with_term("stop_gradient", term_input=1), []),
    "a step": (build_sum_with_term("nondifferentiable"), ["choice"]),
    "an integer": (build_sum_with_term("stop_gradient", dtype="int32"), ["choice"]),
    "an integer in a pause": (build_sum_with_term("no_grad", dtype="int32"), []),
    "a pause": (build_sum_with_term("no_grad"), []),
    "a copy": (build_sum_with_term("copied"), [""]),
    "a gradient without a graph": (build_sum_with_term("create_graph"), ["derivative"]),
    "a gradient outside": (build_sum_with_term("not_recorded", kind="constant"), ["derivative"]),
    "an operation outside": (build_sum_with_term("not_recorded"), []),
    "a constant": ([LEAF, ("Mul", [0, 0]), TWO, ("AddV2", [1, 2])], []),
    "an integer of constants": ([LEAF, ("Mul", [0, 0]), TWO, ("Mul", [2, 2], {"tracked": False, "dtype": "int32"}),
                                 ("AddV2", [1, 3])], []),
    "a step times two": ([*build_sum_with_term("nondifferentiable")[:3], TWO, ("Mul", [2, 3], {"tracked": False}),
                          ("AddV2", [1, 4])], ["choice"]),
    "a step times zero": ([*build_sum_with_term("nondifferentiable")[:3], ZERO, ("Mul", [2, 3], {"tracked": False}),
                           ("AddV2", [1, 4])], []),
    "a step times a weight": ([*build_sum_with_term("nondifferentiable")[:3], ("Mul", [2, 0]), ("AddV2", [1, 3])], []),
    "a step in a scaled sum": ([*build_sum_with_term("nondifferentiable"), TWO, ("Mul", [3, 4])], ["choice"]),
    "a step below a sine": ([*build_sum_with_term("nondifferentiable"), ("Sin", [3])], []),
    "a step in a sum of vectors": ([*build_sum_with_term("nondifferentiable")[:3], ("AddV2", [1, 2], {"shape": (2,)})],
                                   []),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "variants"), TERMS.values(), ids=TERMS)
def test_a_term_of_the_target_misses_its_gradient(descriptions, variants) -> None:
    suspicions = list(suspects.check_term_without_gradient(build_run(build_rows(*descriptions))))
    assert [(suspicion.cause, suspicion.variant) for suspicion in suspicions] == [("in_part", it) for it in variants]
    assert all(suspicion.row in (0, 1) for suspicion in suspicions)


@pytest.mark.parametrize(("recording", "escaped_row", "is_told"), [
    (None, 0, True), (object(), 0, False), (None, 1, True), (object(), 1, True), (None, 2, False),
])  # fmt: skip
def test_a_number_that_left_and_is_added_to_the_target_misses_its_gradient(recording, escaped_row, is_told) -> None:
    text = "s = float(h)\ny = x * x + s\n"
    linecache.cache["left.py"] = (len(text), None, text.splitlines(True), "left.py")
    rows = build_rows(LEAF, ("Mul", [0, 0]), TWO, ("AddV2", [1, 2], {"site": ("left.py", 2)}))
    run = build_run(rows, recording=recording)
    run.escapes = [Escape(escaped_row, "float", ("left.py", 1), 2)] * 2
    suspicions = list(suspects.check_term_without_gradient(run))
    assert [(it.cause, it.site, it.row) for it in suspicions] == [("in_part", ("left.py", 1), escaped_row)] * is_told


# -- numbers ---------------------------------------------------------------------------------------

EQUAL, UNEQUAL = np.ones((2, 3)), np.arange(6.0).reshape(2, 3)
ROUNDING = {
    "equal adjoints": (EQUAL, 1e-8, ["rounding_only"]),
    "equal adjoints, a larger share": (EQUAL, 1e-3, []),
    "equal adjoints, no share": (EQUAL, 0.0, []),
    "unequal adjoints": (UNEQUAL, 1e-8, []),
    "equal along one axis": (EQUAL * [[1.0], [5.0]], 1e-8, ["rounding_only"]),
    "equal along an axis of two": (EQUAL * [1.0, 5.0, 7.0], 1e-8, ["rounding_only"]),
    "an infinite adjoint": (EQUAL * np.inf, 1e-8, []),
    "a single element": (np.ones((1, 1)), 1e-8, []),
}


@pytest.mark.parametrize(("adjoint", "share", "causes"), ROUNDING.values(), ids=ROUNDING)
def test_a_normalization_with_equal_adjoints_passes_only_rounding_errors(adjoint, share, causes) -> None:
    shape = {"shape": adjoint.shape}
    rows = build_rows(("leaf", [], shape), ("Softmax", [0], shape), ("Sum", [1]))
    run = build_run(rows, {1: adjoint, 2: 1.0}, [(1, 0, np.full(adjoint.shape, share))])
    suspicions = list(suspects.check_gradient_of_rounding_errors(run))
    assert [suspicion.cause for suspicion in suspicions] == causes
    assert all(suspicion.only_rows == {0, 1} for suspicion in suspicions)


def test_a_source_with_another_path_gets_more_than_rounding_errors() -> None:
    rows = build_rows(("leaf", [], {"shape": (3,)}), ("Softmax", [0], {"shape": (3,)}), ("AddV2", [0, 1]), ("Sum", [2]))
    run = build_run(rows, {1: np.ones(3), 2: np.ones(3), 3: 1.0}, [(1, 0, np.full(3, 1e-8))])
    (suspicion,) = suspects.check_gradient_of_rounding_errors(run)
    assert suspicion.only_rows == {1}


@pytest.mark.parametrize(("ratio", "causes"), [
    (2e-5, []), (5e-6, ["vanishing"]), (1.0, []), (5e3, []), (2e4, ["exploding"]),
])  # fmt: skip
def test_the_limits_are_those_of_the_docs(ratio, causes) -> None:
    assert list_causes(suspects.check_vanishing_or_exploding_by_repetition, build_loop(ratio)) == causes


def test_a_gradient_that_stays_small_does_not_explode() -> None:
    small = build_loop(2e4, first_size=1e-6)
    assert list_causes(suspects.check_vanishing_or_exploding_by_repetition, small) == []


def test_a_gradient_that_rises_and_falls_does_not_vanish_steadily() -> None:
    unsteady = build_loop(5e-6, wiggle=0.05)
    assert list_causes(suspects.check_vanishing_or_exploding_by_repetition, unsteady) == []


@pytest.mark.parametrize(("sizes", "causes"), [
    ((2, 20, 10, 1e3, 1e4, 1e5), ["exploding"]), ((2, 20, 10, 1e3, 500, 1e5), []),
    ((1, 0.1, 0.2, 1e-3, 1e-5, 1e-7), ["vanishing"]), ((1, 0.1, 0.2, 1e-5, 1e-4, 1e-7), []),
])  # fmt: skip
def test_one_of_five_repetitions_may_go_the_other_way(sizes, causes) -> None:
    run = build_loop(1.0)
    run = build_run(run.rows, {STEPS - number: np.full(2, float(size)) for number, size in enumerate(sizes)})
    assert list_causes(suspects.check_vanishing_or_exploding_by_repetition, run) == causes


@pytest.mark.parametrize(("selection", "ratio", "affects_all"), [
    ("StridedSlice", 1e-12, True), ("StridedSlice", 1e-7, False), ("Sin", 1e-12, False),
])  # fmt: skip
def test_a_sequence_whose_early_parts_get_almost_nothing_affects_all_weights(selection, ratio, affects_all) -> None:
    rows = [RecordedRow(0, "leaf", "variable", shape=(2,)), RecordedRow(1, "leaf", "variable", shape=(2,))]
    adjoints, state = {}, 1
    for step in range(STEPS):
        part = RecordedRow(len(rows), selection, "operation", inputs=[0], site=("train.py", 2), shape=(2,))
        state_row = RecordedRow(len(rows) + 1, "Mul", "operation", inputs=[state, part.index], site=("train.py", 3),
                                shape=(2,))  # fmt: skip
        rows += [part, state_row]
        state = state_row.index
        adjoints[state] = np.full(2, ratio ** ((STEPS - 1 - step) / (STEPS - 1)))
    (suspicion,) = suspects.check_vanishing_or_exploding_by_repetition(build_run(rows, adjoints))
    assert suspicion.cause == "vanishing" and (suspicion.only_rows == set()) is affects_all


@pytest.mark.parametrize("activation", ["Tanh", "Sin"])
def test_of_two_repetitions_an_activation_is_blamed_before_a_product_that_shrinks_a_little_more(activation) -> None:
    rows, adjoints = [RecordedRow(0, "leaf", "variable", shape=(2,))], {}
    for index in range(1, 2 * STEPS + 1):
        is_product = index % 2 == 1
        rows.append(RecordedRow(index, "Mul" if is_product else activation, "operation", inputs=[index - 1],
                                site=("train.py", 3 + is_product), shape=(2,)))  # fmt: skip
        adjoints[index] = np.full(2, (0.1 if is_product else 0.12) ** ((2 * STEPS - index) // 2))
    (suspicion,) = suspects.check_vanishing_or_exploding_by_repetition(build_run(rows, adjoints))
    assert rows[suspicion.row].op == ("Tanh" if activation == "Tanh" else "Mul")


@pytest.mark.parametrize(("repetitions", "causes"), [(MIN_REPETITIONS - 1, []), (MIN_REPETITIONS, ["vanishing"])])
def test_a_loop_repeats_an_operation_a_few_times(repetitions, causes) -> None:
    run = build_loop(1e-12)
    reached_rows = range(STEPS + 1 - repetitions, STEPS + 1)
    adjoints = {row: run.sweeps[0].adjoints[row].content for row in reached_rows}
    assert list_causes(suspects.check_vanishing_or_exploding_by_repetition, build_run(run.rows, adjoints)) == causes


def test_the_ends_of_a_loop_are_named_and_only_its_early_rows_are_affected() -> None:
    (suspicion,) = suspects.check_vanishing_or_exploding_by_repetition(build_loop(5e-6))
    assert suspicion.fields["n"] == STEPS and suspicion.row == STEPS
    assert suspicion.fields["from_"] == pytest.approx(2.0) and suspicion.fields["to"] == pytest.approx(1e-5)
    assert suspicion.only_rows == {0, 1, STEPS}
    (suspicion,) = suspects.check_vanishing_or_exploding_by_repetition(build_loop(2e4))
    assert suspicion.only_rows == set() and suspicion.fields["ratio"] == pytest.approx(2e4)


FLAT, STEEP = np.full(3, 1 - 1e-8), np.full(3, 0.5)
SATURATED = {
    "flat": ("Sigmoid", FLAT, 1e-7, [("vanishing", "saturated")]),
    "flat, but a larger share": ("Sigmoid", FLAT, 1e-3, []),
    "flat, and no share": ("Sigmoid", FLAT, 0.0, []),
    "steep": ("Sigmoid", STEEP, 1e-7, []),
    "a flat tanh": ("Tanh", FLAT, 1e-7, [("vanishing", "saturated")]),
    "a tanh at its half": ("Tanh", STEEP, 1e-7, []),
    "a tanh near -1": ("Tanh", -FLAT, 1e-7, [("vanishing", "saturated")]),
    "unknown values": ("Sigmoid", None, 1e-7, [("vanishing", "saturated")]),
    "a softmax of single elements": ("Softmax", FLAT, 1e-7, [("zero_cancels", "one")]),
    "a softmax of several": ("Softmax", np.array([1 - 1e-8, 1e-8, 1e-8]), 1e-7, [("vanishing", "saturated")]),
    "a relu": ("Relu", FLAT, 1e-7, []),
}


@pytest.mark.parametrize(("op", "values", "share", "expected"), SATURATED.values(), ids=SATURATED)
def test_an_activation_is_saturated_if_it_is_flat_where_an_adjoint_arrived(op, values, share, expected) -> None:
    facts = {"shape": (3,)} if values is None else {"value": values}
    rows = build_rows(("leaf", [], {"shape": (3,)}), (op, [0], facts), ("Sum", [1]))
    run = build_run(rows, {0: np.full(3, share), 1: np.ones(3), 2: 1.0}, [(1, 0, np.full(3, share))])
    suspicions = list(suspects.check_saturated_activations(run))
    assert [(suspicion.cause, suspicion.variant) for suspicion in suspicions] == expected
    assert all(suspicion.only_rows == {0, 1} for suspicion in suspicions)


def test_an_adjoint_that_only_a_logarithm_made_large_does_not_vanish() -> None:
    rows = build_rows(("leaf", [], {"shape": (3,)}), ("Sigmoid", [0], {"value": FLAT}), ("Log", [1]), ("Sum", [2]))
    adjoints = {1: np.full(3, 1e4), 2: np.full(3, 1e-3), 3: 1.0}
    run = build_run(rows, adjoints, [(1, 0, np.full(3, 1e-4))])
    assert list_causes(suspects.check_saturated_activations, run) == []


GROWTH = {
    "grows": ((1.0, 3.0, 9.0, 27.0), 2.0, 4, ["exploding"]),
    "grows slowly": ((1.0, 1.4, 1.9, 27.0), 2.0, 4, []),
    "grows, but not far": ((1.0, 2.0, 4.0, 19.0), 2.0, 4, []),
    "the weight hardly moves": ((1.0, 3.0, 9.0, 27.0), 1.4, 4, []),
    "one step": ((1.0, 3.0, 9.0, 27.0), 2.0, 1, []),
    "one sweep": ((1.0, 30.0), 2.0, 4, []),
    "begins at zero": ((0.0, 3.0, 9.0, 27.0), 2.0, 4, []),
}


@pytest.mark.parametrize(("norms", "last_weight", "step_count", "causes"), GROWTH.values(), ids=GROWTH)
def test_a_gradient_explodes_if_it_and_the_weight_grow_in_steps(norms, last_weight, step_count, causes) -> None:
    rows = build_rows(("leaf", [], {"value": [1.0]}), ("leaf", [], {"value": [last_weight]}), ("Sum", [0]))
    sweeps = []
    for norm in norms:
        sweeps.append(BackwardPass([2]))
        sweeps[-1].set_adjoint(0, ValueSummary(np.array([norm])))
    steps = [SimpleNamespace(site=("train.py", line)) for line in range(1, step_count + 1)]
    facts = {"find_source_rows": lambda source: [0, 1], "find_optimizer_steps": lambda source: steps}
    run = CheckedRun(rows, sweeps, [], TENSORFLOW_OPERATIONS, sources_with_gradient={7: "w", 8: "b"}, **facts)
    suspicions = list(suspects.check_gradients_and_weights_growing_in_steps(run))
    assert [suspicion.cause for suspicion in suspicions] == causes
    for suspicion in suspicions:
        assert suspicion.site == ("train.py", 4) and suspicion.source_keys == {7, 8}
        assert (suspicion.fields["from_"], suspicion.fields["to"], suspicion.fields["n"]) == (1.0, 27.0, 4)


# -- the suspicions of one source ------------------------------------------------------------------


def list_causes_of_source(*suspicions):
    """List the causes told of a source with the key 7 and row 0, among given suspicions."""
    facts = {"checks": [lambda run: suspicions], "find_source_key": len, "find_source_rows": lambda source: [0]}
    rows = build_rows(LEAF, LEAF, ("Sin", [0]), ("Cos", [1]))
    found = build_run(rows, adjoints={}, **facts).list_suspicions_of_source("weights")
    return [(suspicion.cause, suspicion.site[1]) for suspicion in found]


def test_a_source_has_the_suspicions_about_itself_and_about_rows_computed_from_it() -> None:
    by_key = Suspicion("not_reset", ("a.py", 1), {}, source_keys={7})
    of_another = Suspicion("not_stepped", ("a.py", 2), {}, source_keys={8})
    by_row = Suspicion("in_part", ("a.py", 3), {}, 2)
    of_another_row = Suspicion("broadcast", ("a.py", 4), {}, 3)
    assert list_causes_of_source(by_key, of_another, by_row, of_another_row) == [("not_reset", 1), ("in_part", 3)]


def test_the_rows_of_a_suspicion_are_those_it_names_or_those_no_earlier_one_of_its_cause_reached() -> None:
    named = Suspicion("broadcast", ("a.py", 1), {}, 2, only_rows={3})
    first, second = (Suspicion("in_part", ("a.py", row), {}, row) for row in (2, 4))
    assert list_causes_of_source(named) == []
    rows = build_rows(LEAF, LEAF, ("Sin", [0]), ("Cos", [1]), ("AddV2", [2, 3]))
    run = build_run(rows, adjoints={}, checks=[lambda run: [named, first, second]])
    assert [suspicion.only_rows for suspicion in run.suspicions] == [{3}, {0, 2}, {1, 2, 3, 4}]


def test_the_share_of_the_first_input_is_read_wherever_it_stands() -> None:
    rows = build_rows(LEAF, LEAF, ("FusedBatchNormV3", [0, 1]))
    run = build_run(rows, {2: 1.0}, [(2, 1, 5.0), (2, 0, 3.0)])
    assert run.find_share_sent_to_first_input(rows[2]) == 3.0
    assert build_run(rows, {2: 1.0}, [(2, 1, 5.0)]).find_share_sent_to_first_input(rows[2]) is None


def test_of_one_cause_the_first_suspicion_is_told_and_a_symptom_only_if_nothing_else_is() -> None:
    symptoms = [Suspicion(cause, ("a.py", 1), {}, 2) for cause in ("vanishing", "exploding", "rounding_only")]
    firm = [Suspicion("in_part", ("a.py", line), {}, 2) for line in (2, 3)]
    assert list_causes_of_source(*firm, *symptoms) == [("in_part", 2)]
    assert list_causes_of_source(*symptoms) == [("vanishing", 1)]
    assert list_causes_of_source(symptoms[0], firm[0]) == [("vanishing", 1), ("in_part", 2)]
