"""Which operation is blamed for a zero or nonfinite gradient, on questions that are built by hand."""

import numpy as np
import pytest

from minitape.explain.fixes.dialects import TAPE
from minitape.explain.operation_families import CLASS_LOSS_OPS, NORMALIZATION_LAYERS, ZERO_OPS_BY_CAUSE
from minitape.explain.reasons import zero_nan
from minitape.explain.reasons.adapter import Adapter
from minitape.explain.reasons.question import Question
from minitape.recording.recorded_rows import BackwardPass, RecordedRow
from minitape.recording.value_summary import ValueSummary

NAN, INF = float("nan"), float("inf")


class TapeOperations(Adapter):
    """What the checks ask about a tape: how its operations are called, and nothing about the program."""

    dialect = TAPE
    zero_mechanisms = ZERO_OPS_BY_CAUSE
    class_loss_ops = CLASS_LOSS_OPS
    cancelling_scopes = NORMALIZATION_LAYERS

    def list_program_variable_names_and_values(self):
        """Return no names."""
        return []

    def find_custom_rule(self, row):
        """Return that the program has no rule of its own."""


def row(op, inputs=(), value=None, **facts):
    """Describe a row for `build_question`. A row without inputs is a leaf, and a constant unless it is a variable."""
    return op, list(inputs), value, facts


X = row("variable", value=[1.0, 2.0])


def build_question(descriptions, adjoints, shares=None, **facts):
    """Build a question about row 0 and the last row.

    Args:
        descriptions: The rows, as `row` describes them.
        adjoints: The adjoint of each row that the sweep reached.
        shares: The share of each (operation, input row). By default, an operation sends the input's adjoint.
        **facts: Further facts about the question.
    """
    rows = []
    for index, (op, inputs, value, row_facts) in enumerate(descriptions):
        kind = "operation" if inputs else ("variable" if op == "variable" else "constant")
        defaults = {"dtype": "float32", "tracked": kind != "constant", "site": ("train.py", index + 1)}
        summary = None if value is None else ValueSummary(np.array(value))
        shape = np.shape(value)
        rows.append(
            RecordedRow(index, op, kind, inputs=inputs, value=summary, **{"shape": shape, **defaults, **row_facts})
        )
    sweep = BackwardPass([len(rows) - 1])
    for index in sorted(adjoints, reverse=True):
        sweep.set_adjoint(index, ValueSummary(np.array(adjoints[index], float)))
    if shares is None:
        shares = {(call, it): adjoints[it] for call in adjoints for it in rows[call].inputs if it in adjoints}
    totals = {}
    for (call, input_row), share in sorted(shares.items(), key=lambda item: -item[0][0]):
        product = np.array(share, float)
        totals[input_row] = totals.get(input_row, 0.0) + product
        sweep.send(call, input_row, 0, ValueSummary(product), ValueSummary(totals[input_row]))
    return Question(TapeOperations(), rows, [0], [len(rows) - 1], None, sweep=sweep, **facts)


def summarize(finding):
    """Return the cause, the row and the variant of a finding."""
    return None if finding is None else (finding.cause, finding.row, finding.variant)


# -- NaN and infinities ----------------------------------------------------------------------------

NAN_DATA = row("constant", value=[NAN, 1.0])
HIDING_MASK = row("constant", value=[False, True], dtype="bool")
FALSE_MASK = row("constant", value=[False, False], dtype="bool")
MINUS_INF = row("constant", value=[-INF, -INF])
NONFINITE = {
    "a finite gradient": ([X, row("Sin", [0], [0.8, 0.9])], {0: [1, 1], 1: [1, 1]}, None),
    "the target": ([X, row("Log", [0], [-INF, 0.0])], {0: [INF, 1], 1: [1, 1]}, ("nan_forward", 1, "")),
    "an ancestor of the target": ([X, row("Log", [0], [NAN, 0.0]), row("Sin", [1], [NAN, 0.0])],
                                  {0: [NAN, 1], 1: [NAN, 1], 2: [1, 1]}, ("nan_forward", 1, "")),
    "an overflow": ([row("variable", value=[1e30, 2.0]), row("Mul", [0, 0], [INF, 4.0])], {0: [1, 1], 1: [1, 1]},
                    ("nan_forward", 1, "grown")),
    "no overflow": ([row("variable", value=[1e5, 2.0]), row("Mul", [0, 0], [INF, 4.0])], {0: [1, 1], 1: [1, 1]},
                    ("nan_forward", 1, "")),
    "no overflow in float64": ([row("variable", value=[1e30, 2.0]), row("Mul", [0, 0], [INF, 4.0], dtype="float64")],
                               {0: [1, 1], 1: [1, 1]}, ("nan_forward", 1, "")),
    "a trained weight": ([row("variable", value=[NAN, 1.0]), row("Sin", [0], [NAN, 0.8])], {0: [NAN, 1], 1: [1, 1]},
                         ("nan_input", 0, "trained")),
    "data": ([X, NAN_DATA, row("Mul", [0, 1], [NAN, 2.0])], {0: [NAN, 1], 2: [1, 1]}, ("nan_input", 1, "")),
    "data that a later line masks": ([X, NAN_DATA, row("Mul", [0, 1], [NAN, 2.0]), HIDING_MASK,
                                      row("constant", value=[0.0, 0.0]), row("SelectV2", [3, 2, 4], [0.0, 2.0])],
                                     {0: [NAN, 1], 2: [0, 1], 5: [1, 1]}, ("nan_input", 2, "masked")),
    "what a reader of a data set returned": ([X, row("constant", dtype="variant"),
                                              row("IteratorGetNext", [1], [NAN, 1.0], tracked=False),
                                              row("Mul", [0, 2], [NAN, 2.0])],
                                             {0: [NAN, 1], 3: [1, 1]}, ("nan_input", 2, "")),
    "a mask that hides everything": ([X, FALSE_MASK, MINUS_INF, row("SelectV2", [1, 0, 2], [-INF, -INF]),
                                      row("Softmax", [3], [NAN, NAN])],
                                     {0: [NAN, NAN], 3: [NAN, NAN], 4: [1, 1]}, ("nan_forward", 3, "")),
    "a mask that leaves an element": ([X, HIDING_MASK, MINUS_INF, row("SelectV2", [1, 0, 2], [-INF, 2.0]),
                                       row("Softmax", [3], [NAN, 1.0])],
                                      {0: [NAN, 1], 3: [NAN, 1], 4: [1, 1]}, ("nan_forward", 4, "masked")),
    "a mask that takes infinities from data with a NaN": (
        [X, HIDING_MASK, row("constant", value=[-INF, NAN]), row("SelectV2", [1, 0, 2], [-INF, 2.0]),
         row("Softmax", [3], [NAN, 1.0])],
        {0: [NAN, 1], 3: [NAN, 1], 4: [1, 1]}, ("nan_input", 2, "")),
    "a mask that takes infinities from a weight": (
        [X, HIDING_MASK, row("variable", value=[-INF, 1.0]), row("SelectV2", [1, 0, 2], [-INF, 2.0]),
         row("Softmax", [3], [NAN, 1.0])],
        {0: [NAN, 1], 3: [NAN, 1], 4: [1, 1]}, ("nan_input", 2, "trained")),
    "a single infinity that is added": ([X, row("constant", value=-INF), row("AddV2", [0, 1], [-INF, -INF]),
                                         row("Softmax", [2], [NAN, NAN])],
                                        {0: [NAN, NAN], 2: [NAN, NAN], 3: [1, 1]}, ("nan_forward", 2, "")),
    "infinities that are added": ([X, MINUS_INF, row("AddV2", [0, 1], [-INF, -INF]), row("Softmax", [2], [NAN, NAN])],
                                  {0: [NAN, NAN], 2: [NAN, NAN], 3: [1, 1]}, ("nan_input", 1, "")),
    "a selection with a NaN that no input has": ([X, HIDING_MASK, row("SelectV2", [1, 0], [NAN, 2.0])],
                                                 {0: [0, 1], 2: [1, 1]}, ("nan_forward", 2, "")),
    "a selection from data with a NaN that no input has": (
        [X, HIDING_MASK, row("SelectV2", [1, 1], [NAN, 2.0], tracked=False), row("Mul", [0, 2], [NAN, 4.0])],
        {0: [NAN, 2], 3: [1, 1]}, ("nan_input", 2, "")),
    "the first reader of infinities": ([X, row("constant", value=-INF), row("AddV2", [0, 1], [-INF, -INF]),
                                        row("Sub", [2, 1], [NAN, NAN])],
                                       {0: [NAN, NAN], 2: [NAN, NAN], 3: [1, 1]}, ("nan_forward", 2, "")),
    "a huge value of a type with a small range": (
        [row("variable", value=[6e4, 2.0], dtype="float16"), row("Mul", [0, 0], [INF, 4.0], dtype="float16")],
        {0: [1, 1], 1: [1, 1]}, ("nan_forward", 1, "")),
    "a derivative": ([X, row("Sqrt", [0], [0.0, 1.4]), row("Sum", [1], 1.4)], {0: [INF, 1], 1: [1, 1], 2: 1},
                     ("nan_backward", 1, "")),
    "a derivative of a huge adjoint": ([X, row("Mul", [0, 0], [1.0, 4.0]), row("Sum", [1], 5.0)],
                                       {0: [INF, 1], 1: [1e30, 1], 2: 1}, ("nan_backward", 1, "grown")),
    "a value that a later line hides": ([X, row("Log", [0], [-INF, 0.7]), HIDING_MASK,
                                         row("constant", value=[0.0, 0.0]), row("SelectV2", [2, 1, 3], [0.0, 0.7])],
                                        {0: [NAN, 1], 1: [0, 1], 4: [1, 1]}, ("nan_backward", 1, "hidden")),
    "an adjoint that was nonfinite from the start": (
        [X, row("Sin", [0], [0.8, 0.9])],
        {0: [NAN, 1], 1: [NAN, 1]},
        ("nan_backward", 0, ""),
    ),
    "the first operation after a nonfinite adjoint": ([X, row("Sin", [0], [0.8, 0.9]), row("Sqrt", [1], [0.0, 1.0])],
                                                      {0: [NAN, 1], 1: [INF, 1], 2: [1, 1]}, ("nan_backward", 2, "")),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "adjoints", "expected"), NONFINITE.values(), ids=NONFINITE)
def test_the_operation_that_made_a_gradient_nonfinite(descriptions, adjoints, expected) -> None:
    question = build_question(descriptions, adjoints)
    assert summarize(zero_nan.find_cause_of_nonfinite(question)) == expected


def test_a_share_of_another_source_is_not_to_blame() -> None:
    descriptions = [X, row("variable", value=[0.0, 1.0]), row("Sqrt", [1], [0.0, 1.0]), row("Mul", [0, 2], [0.0, 2.0])]
    question = build_question(descriptions, {0: [NAN, 1], 1: [INF, 1], 2: [1, 1], 3: [1, 1]}, {(2, 1): [INF, 1]})
    assert summarize(zero_nan.find_cause_of_nonfinite(question)) == ("nan_backward", 0, "")


def test_without_a_sweep_to_the_source_there_is_nothing_nonfinite_or_zero_to_explain() -> None:
    rows = [X, row("Log", [0], [-INF, NAN])]
    for find_cause in (zero_nan.find_cause_of_nonfinite, zero_nan.find_cause_of_zero):
        assert find_cause(build_question(rows, {1: [1, 1]})) is None
        assert find_cause(Question(TapeOperations(), build_question(rows, {}).rows, [0], [1], None)) is None


def test_a_weight_that_is_nan_already_is_explained_by_the_pass_that_made_it_so() -> None:
    descriptions = [row("variable", value=[0.0, 1.0]), row("Sqrt", [0], [0.0, 1.0]),
                    row("variable", value=[NAN, 1.0]), row("Sin", [2], [NAN, 0.8])]  # fmt: skip
    first = build_question(descriptions, {0: [INF, 1], 1: [1, 1]}).sweep
    first.target = [1]
    question = build_question(descriptions, {2: [NAN, 1], 3: [1, 1]})
    question.source_rows = [0, 2]
    question.adapter.sweeps = [first, question.sweep]
    assert summarize(zero_nan.find_cause_of_nonfinite(question)) == ("nan_input", 2, "trained")
    assert summarize(zero_nan.find_nonfinite_cause_in_this_or_earlier_pass(question)) == ("nan_backward", 1, "")
    last = build_question(descriptions, {2: [INF, 1], 3: [1, 1]})  # Of two explained passes, each has its own cause.
    last.source_rows = [0, 2]
    last.rows[2].value, last.rows[3].value = ValueSummary(np.ones(2)), ValueSummary(np.ones(2))
    last.adapter.sweeps = [first, last.sweep]
    assert summarize(zero_nan.find_nonfinite_cause_in_this_or_earlier_pass(last)) == ("nan_backward", 3, "")
    question.adapter.sweeps = [question.sweep, first]  # The other pass came later.
    assert summarize(zero_nan.find_nonfinite_cause_in_this_or_earlier_pass(question)) == ("nan_input", 2, "trained")


# -- zeros -----------------------------------------------------------------------------------------

NO, ONES = [0, 0], [1, 1]
SUM = row("Sum", [1], 1.0)
TO_SUM = {0: NO, 1: ONES, 2: 1}
ZERO_FACTOR, FACTOR = row("constant", value=[0.0, 0.0]), row("constant", value=[1.0, -1.0])
SCALAR, LAYER = row("variable", value=1.0), {"scope": ["layer_normalization_1"]}
ZEROS = {
    "nonzero": ([X, row("Sin", [0], ONES), SUM], {0: [0, 1], 1: ONES, 2: 1}, None),
    "the seed": ([X, row("Sin", [0], ONES), SUM], {0: NO, 1: NO, 2: 0}, ("zero_seed", 2, "")),
    "an empty selection": ([X, row("StridedSlice", [0], np.zeros((0, 2))), SUM], {0: NO, 1: np.zeros((0, 2)), 2: 1},
                           ("not_selected", 1, "empty")),
    "a dead relu": ([X, row("Relu", [0], NO), SUM], TO_SUM, ("dead_relu", 1, "")),
    "a relu6 at its upper limit": ([X, row("Relu6", [0], [6.0, 6.0]), SUM], TO_SUM, ("saturated", 1, "")),
    "a relu6 at its upper limit where no adjoint came": ([X, row("Relu6", [0], [6.0, 0.0]), SUM],
                                                         {0: NO, 1: [0, 1], 2: 1}, ("dead_relu", 1, "")),
    "a step": ([X, row("Round", [0], ONES), SUM], TO_SUM, ("zero_derivative", 1, "")),
    "a flat sigmoid": ([X, row("Sigmoid", [0], ONES), SUM], TO_SUM, ("saturated", 1, "")),
    "the minimum of a cosine": ([X, row("Cos", [0], ONES), SUM], TO_SUM, ("zero_derivative", 1, "point")),
    "a second derivative of a relu": ([X, row("Relu", [0], ONES), row("ReluGrad", [0, 1], ONES)], {0: NO, 2: ONES},
                                      ("zero_derivative", 2, "second")),
    "a factor": ([X, ZERO_FACTOR, row("Mul", [0, 1], NO)], {0: NO, 2: ONES}, ("zero_factor", 2, "")),
    "two factors": ([row("variable", value=NO), ZERO_FACTOR, row("Mul", [0, 1], NO)], {0: NO, 2: ONES},
                    ("zero_factor", 2, "both")),
    "a factor that a relu made zero": ([X, row("Relu", [0], NO), row("Mul", [1, 1], NO)], {0: NO, 1: NO, 2: ONES},
                                       ("dead_relu", 1, "")),
    "a factor that a relu of data made zero": (
        [X, row("constant", value=[-1.0, -2.0]), row("Relu", [1], NO, tracked=False), row("Mul", [0, 2], NO)],
        {0: NO, 3: ONES}, ("dead_relu", 2, "")),
    "elements that cancel": ([SCALAR, FACTOR, row("Mul", [0, 1], [1.0, -1.0])], {0: 0, 2: ONES},
                             ("zero_sum", 2, "elements")),
    "an underflow in a product": ([X, row("constant", value=[1e-30, 1e-30]), row("Mul", [0, 1], NO)],
                                  {0: NO, 2: [1e-30, 1e-30]}, ("zero_factor", 2, "underflow")),
    "an adjoint that is hardly above zero": ([X, row("Sigmoid", [0], [0.5, 0.5])], {0: NO, 1: [1e-39, 0]},
                                             ("zero_factor", 1, "underflow")),
    "a small adjoint": ([X, row("Sigmoid", [0], [0.5, 0.5])], {0: NO, 1: [1e-37, 0]}, ("saturated", 1, "")),
    "a softmax": ([X, row("Softmax", [0], [0.3, 0.7])], {0: NO, 1: ONES}, ("zero_cancels", 1, "")),
    "a softmax of one element": ([X, row("Softmax", [0], [[1.0], [1.0]])], {0: NO, 1: [[1], [1]]},
                                 ("zero_cancels", 1, "one")),
    "a softmax that is sure": ([X, row("Softmax", [0], [1.0, 0.0])], {0: NO, 1: ONES}, ("saturated", 1, "")),
    "a loss of one class": ([row("variable", value=[[1.0], [2.0]]), row("SoftmaxCrossEntropyWithLogits", [0], NO)],
                            {0: [[0], [0]], 1: ONES}, ("zero_cancels", 1, "one")),
    "a loss of two classes": ([row("variable", value=[[1.0, 9.0]]), row("SoftmaxCrossEntropyWithLogits", [0], [0.0])],
                              {0: [NO], 1: [1]}, ("saturated", 1, "")),
    "a loss of one row of classes": ([X, row("SoftmaxCrossEntropyWithLogits", [0], 0.0)], {0: NO, 1: 1},
                                     ("saturated", 1, "")),
    "a maximum with zero": ([X, ZERO_FACTOR, row("Maximum", [0, 1], NO)], {0: NO, 2: ONES}, ("dead_relu", 2, "")),
    "a maximum with others": ([X, FACTOR, row("Maximum", [0, 1], [1.0, -1.0])], {0: NO, 2: ONES},
                              ("not_selected", 2, "")),
    "a maximum that clips": ([X, ZERO_FACTOR, row("Maximum", [0, 1], NO, scope=["clip_by_value"])],
                             {0: NO, 2: ONES}, ("saturated", 2, "")),
    "another part": ([X, row("ConcatV2", [0], [1.0, 2.0])], {0: NO, 1: ONES}, ("not_selected", 1, "part")),
    "another part of what was put together": ([X, row("Other", [0], ONES), row("StridedSlice", [1], 1.0)],
                                              {0: NO, 1: [1, 0], 2: 1}, ("not_selected", 2, "")),
    "a mask behind": ([X, row("Other", [0], ONES), ZERO_FACTOR, row("Mul", [1, 2], NO)],
                      {0: NO, 1: ONES, 3: ONES}, ("zero_factor", 3, "")),
    "a factor that is not zero behind": ([X, row("Other", [0], ONES), FACTOR, row("Mul", [1, 2], ONES)],
                                         {0: NO, 1: ONES, 3: ONES}, ("saturated", 1, "")),
    "another operation at zero": ([row("variable", value=NO), row("Other", [0], ONES)], {0: NO, 1: ONES},
                                  ("zero_factor", 1, "")),
    "another operation that took other values": ([X, FACTOR, row("Other", [0, 1], [-1.0, -1.0])], {0: NO, 2: ONES},
                                                 ("not_selected", 2, "")),
    "another operation": ([X, FACTOR, row("Other", [0, 1], [5.0, -1.0])], {0: NO, 2: ONES}, ("saturated", 2, "")),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "adjoints", "expected"), ZEROS.values(), ids=ZEROS)
def test_the_operation_that_made_a_gradient_zero(descriptions, adjoints, expected) -> None:
    question = build_question(descriptions, adjoints)
    assert summarize(zero_nan.find_cause_of_zero(question)) == expected


def test_a_gradient_is_zero_only_if_each_use_of_the_source_and_each_target_has_a_zero_adjoint() -> None:
    rows = [X, row("Relu", [0], NO), row("variable", value=ONES), row("AddV2", [1, 2], ONES)]
    for second, expected in (([0, 3], None), (NO, ("dead_relu", 1, ""))):
        shares = {(3, 1): ONES, (3, 2): second, (1, 0): NO}
        question = build_question(rows, {0: NO, 1: ONES, 2: second, 3: ONES}, shares)
        question.source_rows = [0, 2]
        assert summarize(zero_nan.find_cause_of_zero(question)) == expected
    for seed, expected in ((ONES, ("dead_relu", 1, "")), (NO, ("zero_seed", 3, ""))):
        question = build_question(rows, {0: NO, 1: seed, 3: NO}, {(1, 0): NO})
        question.target_rows = question.sweep.target = [3, 1]
        assert summarize(zero_nan.find_cause_of_zero(question)) == expected


PATHS = [X, row("Sin", [0], ONES), row("Neg", [0], ONES), row("AddV2", [1, 2], NO)]
BY_SHARES = {
    "two paths": (PATHS, {0: NO, 1: ONES, 2: ONES, 3: ONES}, {(2, 0): [-1, -1], (1, 0): ONES}, ("zero_sum", 1, "")),
    "a hook at the source": (PATHS, {0: NO, 1: ONES, 2: ONES, 3: ONES}, {(2, 0): ONES, (1, 0): ONES}, ("hook", 0, "")),
    "a hook at a result": (PATHS, {0: NO, 1: NO, 3: ONES}, {(3, 1): ONES, (1, 0): NO}, ("hook", 1, "")),
    "a path through a step": ([*PATHS[:2], row("Round", [0], ONES), PATHS[3]], {0: NO, 1: NO, 2: ONES, 3: ONES},
                              {(3, 1): NO, (3, 2): ONES, (2, 0): NO, (1, 0): NO}, ("zero_derivative", 2, "")),
    "paths in a normalization": (
        [X, row("Sin", [0], ONES, **LAYER), row("Neg", [0], ONES, **LAYER), row("AddV2", [1, 2], NO)],
        {0: NO, 1: ONES, 2: ONES, 3: ONES}, {(2, 0): [-1, -1], (1, 0): ONES}, ("zero_cancels", 1, "")),
    "paths in a normalization and beside it": (
        [X, row("Sin", [0], ONES, **LAYER), row("Neg", [0], ONES), row("AddV2", [1, 2], NO)],
        {0: NO, 1: ONES, 2: ONES, 3: ONES}, {(2, 0): [-1, -1], (1, 0): ONES}, ("zero_sum", 1, "")),
    "copies that cancel": ([SCALAR, row("Other", [0], [1.0, 1.0]), row("Sin", [1], ONES)],
                           {0: 0, 1: [1, -1], 2: ONES}, {(2, 1): [1, -1], (1, 0): 0}, ("zero_sum", 2, "elements")),
    "copies of which some don't cancel": (
        [X, row("Other", [0], [ONES, ONES]), row("Sin", [1], [ONES, ONES])],
        {0: NO, 1: [[1, 1], [-1, 1]], 2: [ONES, ONES]}, {(2, 1): [[1, 1], [-1, 1]], (1, 0): NO}, ("saturated", 1, "")),
    "a hook at a value of another source": (
        [X, row("Relu", [0], NO), row("variable", value=ONES), row("Sin", [2], ONES), row("AddV2", [1, 3], ONES)],
        {0: NO, 1: ONES, 2: NO, 3: NO, 4: ONES}, {(4, 1): ONES, (4, 3): ONES, (3, 2): NO, (1, 0): NO},
        ("dead_relu", 1, "")),
    "a zero that went to a constant": (
        [X, row("Relu", [0], NO), ZERO_FACTOR, row("AddV2", [1, 2], NO)],
        {0: NO, 1: ONES, 3: ONES}, {(3, 1): ONES, (3, 2): NO, (1, 0): NO}, ("dead_relu", 1, "")),
    "a sum that another share completed": (
        [X, row("Sin", [0], ONES), row("Neg", [0], ONES), row("Mul", [0, 1], ONES), row("AddN", [1, 2, 3], NO)],
        {0: NO, 1: ONES, 2: ONES, 3: ONES, 4: ONES},
        {(4, 1): ONES, (4, 2): ONES, (4, 3): ONES, (3, 0): ONES, (2, 0): [-2, -2], (1, 0): ONES}, ("zero_sum", 1, "")),
    "copies that don't cancel": ([SCALAR, row("Other", [0], [1.0, 1.0]), row("Sin", [1], ONES)],
                                 {0: 0, 1: [1, 1], 2: ONES}, {(2, 1): ONES, (1, 0): 0}, ("saturated", 1, "")),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "adjoints", "shares", "expected"), BY_SHARES.values(), ids=BY_SHARES)
def test_shares_that_cancel_or_were_changed(descriptions, adjoints, shares, expected) -> None:
    question = build_question(descriptions, adjoints, shares)
    assert summarize(zero_nan.find_cause_of_zero(question)) == expected


def test_the_name_of_a_clipping_function_is_told() -> None:
    rows = [X, ZERO_FACTOR, row("Maximum", [0, 1], NO, scope=["clip_by_value"])]
    assert zero_nan.find_cause_of_zero(build_question(rows, {0: NO, 2: ONES})).detail == "clip_by_value"


def test_in_a_second_derivative_the_line_of_the_activation_is_blamed() -> None:
    descriptions, adjoints, _ = ZEROS["a second derivative of a relu"]
    assert zero_nan.find_cause_of_zero(build_question(descriptions, adjoints)).site == ("train.py", 2)


STOPPED = {
    "at its result": ({2: 1}, {}, 2),
    "on the way": ({1: ONES, 2: 1}, {(2, 1): ONES}, 1),
    "nowhere": ({0: ONES, 1: ONES, 2: 1}, {(2, 1): ONES, (1, 0): ONES}, None),
    "at an operation that sent to another input": ({1: ONES, 2: 1}, {(2, 1): ONES, (1, 7): ONES}, 1),
}


@pytest.mark.parametrize(("adjoints", "shares", "stopped_at"), STOPPED.values(), ids=STOPPED)
def test_the_row_that_passed_on_no_adjoint(adjoints, shares, stopped_at) -> None:
    question = build_question([X, row("Sin", [0], ONES), SUM], adjoints, shares)
    assert zero_nan.find_row_that_passed_on_no_adjoint(question) == stopped_at


def test_the_adjoints_of_a_list_are_not_recorded_so_a_list_stops_none() -> None:
    rows = [X, row("TensorListFromTensor", [0], dtype="variant"), SUM]
    assert zero_nan.find_row_that_passed_on_no_adjoint(build_question(rows, {2: 1}, {})) is None


def test_without_an_adjoint_or_a_value_nothing_is_said_about_their_sizes() -> None:
    question = build_question([X, row("Relu", [0]), SUM], {0: NO, 1: ONES, 2: 1})
    small = [np.array([1e-30])]
    assert zero_nan.is_relu_zero_or_unknown_at_adjoint(question, 1)
    without = build_question([X, row("Relu", [0], ONES), SUM], {0: NO, 2: 1e-30})
    assert zero_nan.is_relu_zero_or_unknown_at_adjoint(without, 1)
    assert not zero_nan.does_broadcast_cancel(without, 1)
    assert not zero_nan.does_adjoint_times_factor_underflow(without, 1, small)
    assert zero_nan.does_adjoint_times_factor_underflow(without, 2, small)
    without.rows[2].dtype = "int32"
    assert not zero_nan.does_adjoint_times_factor_underflow(without, 2, small)
