"""Find the operation that made a gradient zero, NaN or infinite.

For each call, a sweep records the adjoint that arrived and the shares that the call sent to its inputs. The call at
fault is the first one, seen from the target, that received a finite, nonzero adjoint and sent zeros or NaN. The values
of this call show the reason.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile

import numpy as np
from numpy import ndarray

from ...engine.types import OptionalNumber, RowByRow, RowList, RowSet
from ...recording.recorded_rows import OptionalArray, RecordedRow, collect_rows_and_ancestors
from ...recording.sites import NOWHERE, Site, read_line_at_site
from ...recording.value_summary import to_float_array
from ..caller import format_place_suffix
from ..operation_families import FLAT_AT_ZERO_OPS, MOVING_OPS, RELU_GRADIENT_OPS
from ..translated_sentences import fill
from .object_names import find_access_path
from .program_text import find_statement, list_statements, unparse
from .question import Finding, OptionalFinding, Question

# The names of clipping functions, which may be implemented with maximum and minimum.
find_clip_word = re.compile(r"\bclip\w*").search
MIN_MAX_OPS = {"max", "min", "Maximum", "Minimum"}
SUBTRACT_OPS = {"sub", "Sub", "subtract", "__sub__"}
# Matches a return statement that returns zeros, a multiple of zero, or nothing.
matches_zero_return = re.compile(
    r"return(.*\bzeros|.*\* 0\b(?!\.\d*[1-9])|.*(?<![.\w])0(\.0)? \*|( |\(|,|None|0(\.0)?|\))*$)"
).match
# Values of these types, such as datasets, lists and strings, do not themselves contain numbers.
OPAQUE_DTYPES = ("resource", "variant", "string")
# Numbers smaller than these lose some or all of their digits.
SMALLEST_NORMALS = {"float16": 6.2e-5, "float32": 1.2e-38, "float64": 2.3e-308}
ROUNDING_TOLERANCE = 1e-5  # The largest relative rounding error of a float32 sum that should be zero.


def build_row_finding(
    question: Question, cause: str, row: int, variant: str = "", detail: str = "", site: Site = NOWHERE
) -> Finding:
    """Return a finding that blames a row.

    Args:
        question: The question that the finding answers.
        cause: The cause, one of `causes.CAUSES`.
        row: The row to blame.
        variant: Which variant of the cause's sentences to use.
        detail: The value of the sentence's field ``what``.
        site: The line to blame, if it differs from the row's line.
    """
    return Finding(cause, question.rows[row].site if site is NOWHERE else site, row, detail, variant)


def collect_known_arrays(question: Question, rows: Iterable[int]) -> list[ndarray]:
    """Return the elements of the given rows, skipping rows whose elements no longer exist."""
    return [array for row in rows if (array := question.rows[row].array) is not None]


def is_row_value_all_zero(question: Question, row: int) -> bool:
    """Return whether all elements of a row are known to be zero.

    Args:
        question: The question whose recording contains the row.
        row: The row.
    """
    value = question.rows[row].value
    return value is not None and value.is_all_zero


def is_row_value_finite_or_unknown(question: Question, row: int) -> bool:
    """Return whether all elements of a row are finite. A row without a known value counts as finite.

    Args:
        question: The question whose recording contains the row.
        row: The row.
    """
    value = question.rows[row].value
    return value is None or value.is_all_finite


def find_adjoint(question: Question, row: int) -> OptionalArray:
    """Return the elements of the adjoint that arrived at a row, if they are known.

    Args:
        question: The question about the gradient.
        row: The row.
    """
    return to_float_array(question.required_sweep.adjoints.get(row))


def find_blamed_return_site_of_rule(question: Question, row: int) -> Site:
    """Return the line of the return statement in the program's custom derivative rule for an operation.

    If the rule has several return statements, one that returns zeros or nothing is preferred.

    Args:
        question: The question whose recording contains the row.
        row: The row of the operation.

    Returns:
        The site, or `NOWHERE` if the program has no rule for the operation.
    """
    last_return = question.adapter.find_return_site_of_custom_rule(question.rows[row])
    functions = find_statement(last_return).enclosing_functions
    for statement in list_statements(last_return[0]):
        if statement.enclosing_functions == functions and matches_zero_return(unparse(statement.node)):
            return statement.site
    return last_return


def build_custom_rule_finding(
    question: Question, row: int, cause: str = "custom_rule", variant: str = "", detail: str = ""
) -> Finding:
    """Return a finding that blames the program's own derivative rule for an operation.

    Blame the rule's return statement, or the operation's line if the rule's text is unknown.

    Args:
        question: The question whose recording contains the row.
        row: The row of the operation.
        cause: The cause.
        variant: Which variant of the cause's sentences to use.
        detail: The value of the sentence's field ``what``.
    """
    return build_row_finding(question, cause, row, variant, detail, find_blamed_return_site_of_rule(question, row))


def find_row_that_passed_on_no_adjoint(question: Question) -> OptionalNumber:
    """Return the row on the path that received an adjoint but passed none on.

    Args:
        question: The question about the gradient.

    Returns:
        The first such row as seen from the target. The result is None if every row on the path passed an adjoint on, or
        if the backward pass did not record which row stopped the adjoint.
    """
    rows = [*question.used_source_rows[:1], *(step.row for step in question.path)]
    for row, previous in zip(reversed(rows), reversed(rows[:-1]), strict=False):
        # The adjoints of a TensorFlow list ("variant") are not recorded.
        if row not in question.required_sweep.adjoints or question.rows[previous].dtype == "variant":
            continue
        shares = question.required_sweep.edges.get(question.rows[row].call_id)
        if shares is None:
            return row
        if question.rows[previous].tracked and previous not in [share.row for share in shares]:
            return row
    return None


# -- NaN and infinities ----------------------------------------------------------------------------


def find_cause_of_nonfinite(question: Question) -> OptionalFinding:
    """Find out whether a NaN or an infinity arose in the data, in a computed value or in a derivative.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the gradient is finite or no backward pass is known.
    """
    sweep = question.sweep
    if sweep is None:
        return None
    arrived_adjoints = [sweep.adjoints[row] for row in question.used_source_rows if row in sweep.adjoints]
    if not arrived_adjoints:
        return None
    nonfinite_target = next(
        (row for row in question.target_rows if not is_row_value_finite_or_unknown(question, row)), None
    )
    if nonfinite_target is not None:
        return question.get_or_compute_shared_result(
            "nonfinite target", lambda: explain_origin_of_nonfinite(question, nonfinite_target)
        )
    if all(adjoint.is_all_finite for adjoint in arrived_adjoints):
        return None
    for call, shares in sweep.edges.items():
        adjoint = sweep.adjoints.get(call)
        if adjoint is not None and not adjoint.is_all_finite:
            continue
        if all(share.product.is_all_finite or not question.is_computed_from_source(share.row) for share in shares):
            continue
        if not is_row_value_finite_or_unknown(question, call):
            return explain_origin_of_nonfinite(question, call, is_hidden=True)
        overflows = adjoint is not None and may_product_overflow(question, call, [adjoint.to_array()])
        rule = question.adapter.find_return_site_of_custom_rule(question.rows[call])
        return build_row_finding(question, "nan_backward", call, "grown" if overflows else "", site=rule)
    return build_row_finding(question, "nan_backward", question.used_source_rows[-1])


def find_nonfinite_cause_in_this_or_earlier_pass(question: Question) -> OptionalFinding:
    """Find where a NaN arose, by searching earlier backward passes if a weight was already NaN.

    Args:
        question: The question about the gradient of the last backward pass.
    """
    finding = find_cause_of_nonfinite(question)
    if finding is None or finding.variant != "trained":
        return finding
    for sweep in takewhile(lambda sweep: sweep is not question.sweep, question.adapter.sweeps):
        earlier_question = replace(question, sweep=sweep, target_rows=sweep.target[-1:])
        earlier_finding = find_cause_of_nonfinite(earlier_question)
        if earlier_finding is not None:
            return earlier_finding
    return finding


def explain_origin_of_nonfinite(question: Question, row: int, is_hidden: bool = False) -> Finding:
    """Find the first row in the chain of nonfinite rows that ends at the given row.

    Args:
        question: The question about the gradient.
        row: A row that is not finite.
        is_hidden: Whether a later operation hides the value, so that only the derivative is nonfinite.
    """
    nonfinite = collect_rows_and_ancestors(
        question.rows, [row], lambda _, edge: not is_row_value_finite_or_unknown(question, edge.input_row)
    )
    first_row = question.rows[min(nonfinite)]
    cause, variant = ("nan_backward", "hidden") if is_hidden else ("nan_forward", "")
    # A selecting operation has no infinite input if the infinity is a Python number, as in masked_fill.
    is_selection = first_row.op in question.adapter.zero_mechanisms["not_selected"]
    reads_data = bool(first_row.inputs) and all(
        question.rows[index].dtype in OPAQUE_DTYPES for index in first_row.inputs
    )
    if first_row.kind == "operation" and not is_selection and not reads_data:
        if not variant and may_product_overflow(
            question, first_row.index, collect_known_arrays(question, first_row.inputs)
        ):
            variant = "grown"
        return build_row_finding(question, cause, first_row.index, variant)
    consumers = [index for index in nonfinite if first_row.index in question.rows[index].inputs]
    consumer = first_row.index if is_selection else min(consumers, default=first_row.index)
    if _are_infinities_inserted_on_purpose(question, first_row, consumer):
        nan_row = question.rows[_find_first_nan_row_or_consumer(question, nonfinite, consumer)]
        if "softmax" in nan_row.op.lower():
            masked_row = question.rows[nan_row.inputs[0]]
            place = format_place_suffix(nan_row.site)
            return Finding(cause, masked_row.site, nan_row.index, masked_row.op, "masked", nan_row.op + place)
        return build_row_finding(question, cause, nan_row.index, variant)
    if is_selection and first_row.tracked:
        return build_row_finding(question, cause, first_row.index, variant)
    return _explain_nonfinite_leaf(question, first_row)


def _explain_nonfinite_leaf(question: Question, leaf: RecordedRow) -> Finding:
    """Report a leaf that is not finite, which is either a trained weight or data.

    If the program masks nonfinite data only after combining it with a tracked value, blame that combination.

    Args:
        question: The question about the gradient.
        leaf: The row of the leaf.
    """
    variant, blamed_row = "", leaf.index
    if leaf.tracked:
        variant = "trained"
    elif (masked_row := _find_operation_on_nonfinite_data_masked_later(question, leaf.index)) is not None:
        variant, blamed_row = "masked", masked_row
    finding = build_row_finding(question, "nan_input", blamed_row, variant)
    finding.other_name = leaf.name or find_access_path(question, leaf.find_object()) or fill("A tensor")
    return finding


def _find_operation_on_nonfinite_data_masked_later(question: Question, data_row: int) -> OptionalNumber:
    """Return the operation that combines nonfinite data with a tracked value, if the program masks only its result.

    Args:
        question: The question about the gradient.
        data_row: The row of the data.
    """
    computed = sorted(question.find_rows_and_descendants([data_row]) & question.ancestors)
    combination = next((row for row in computed if question.rows[row].tracked), data_row)
    masks = {row.index for row in question.rows if row.dtype == "bool"}
    later = question.find_rows_and_descendants([combination]) - {combination}
    return combination if any(masks.intersection(question.rows[row].inputs) for row in later) else None


def _are_infinities_inserted_on_purpose(question: Question, first_row: RecordedRow, consumer: int) -> bool:
    """Return whether a row holds infinities that the program inserted on purpose, for example in a mask."""
    selections = question.adapter.zero_mechanisms["not_selected"]
    if first_row.kind != "constant" and first_row.op not in selections:
        return False
    if first_row.shape and question.rows[consumer].op not in selections:
        return False
    return first_row.array is not None and not np.isnan(first_row.array).any()


def _find_first_nan_row_or_consumer(question: Question, nonfinite: Iterable[int], consumer: int) -> int:
    """Return the first row with a NaN, or the consumer if no row has a NaN or if the mask hides every element."""
    hides_everything = not any(np.isfinite(array).any() for array in collect_known_arrays(question, [consumer]))
    if hides_everything:
        return consumer
    has_nan = [
        row for row in nonfinite if any(np.isnan(array).any() for array in collect_known_arrays(question, [row]))
    ]
    return min(has_nan, default=consumer)


def may_product_overflow(question: Question, product_row: int, factors: Iterable[OptionalArray]) -> bool:
    """Return whether a factor is so large that the product may exceed the range of the row's type."""
    dtype = question.rows[product_row].dtype.replace("bfloat16", "float32")
    if dtype not in ("float32", "float64"):
        return False
    limit = np.finfo(dtype).max ** 0.45
    return any(np.abs(array).max(initial=0) > limit for array in factors if array is not None)


# -- zeros -----------------------------------------------------------------------------------------


def find_cause_of_zero(question: Question) -> OptionalFinding:
    """Find the operation that turned nonzero adjoints into the zeros that arrived at the source.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the gradient is nonzero or no backward pass is known.
    """
    sweep = question.sweep
    if sweep is None:
        return None
    arrived_rows = [row for row in question.used_source_rows if row in sweep.adjoints]
    if not arrived_rows or not all(sweep.adjoints[row].is_all_zero for row in arrived_rows):
        return None
    seeds = [sweep.adjoints[row] for row in sweep.target if row in sweep.adjoints]
    if seeds and all(seed.is_all_zero for seed in seeds):
        return Finding("zero_seed", sweep.site, question.target_rows[0])
    empty_rows = question.get_or_compute_shared_result(
        "empty rows", lambda: {row.index for row in question.rows if 0 in row.shape}
    )
    empty = next((step.row for step in question.path if step.row in empty_rows), None) if empty_rows else None
    if empty is not None:
        return build_row_finding(question, "not_selected", empty, "empty")
    # Zeros usually pass through many operations, so their origin is explained only once for all sources whose zeros
    # come through the same operation.
    origins, changed_rows, zeroing_calls = question.get_or_compute_shared_result(
        "zeros", lambda: _find_zero_origins_hooks_and_zeroing_calls(question)
    )
    row = origins.get(arrived_rows[0])
    if row is None:
        return _explain_last_zeroing_or_hook(question, arrived_rows[0], changed_rows, zeroing_calls)
    question_about_origin = replace(question, source_rows=[row])
    return question.get_or_compute_shared_result(
        f"zeros {row}", lambda: _explain_last_zeroing_or_hook(question_about_origin, row, changed_rows, zeroing_calls)
    )


def _find_zero_origins_hooks_and_zeroing_calls(question: Question) -> tuple[RowByRow, RowSet, RowList]:
    """Find out where a sweep makes adjoints zero. The sweep is searched only once for all sources.

    Returns:
        A dictionary, a set and a list. The dictionary covers the rows whose shares all come from one operation with a
        zero adjoint. The dictionary maps each such row to the row of that operation, or to the last row in a chain of
        such operations. The set contains the rows whose adjoint is zero although their shares do not sum to zero. The
        list contains the calls that received a nonzero adjoint but sent zeros or completed a zero sum.
    """
    sweep = question.required_sweep
    zero_rows = {row for row, adjoint in sweep.adjoints.items() if adjoint.is_all_zero}
    senders: dict[int, RowSet] = {}
    totals: dict[int, bool] = {}  # Whether the shares that arrived at a row sum to zero.
    zeroing_calls = []
    for call, shares in sweep.edges.items():
        for share in shares:
            senders.setdefault(share.row, set()).add(call)
            totals[share.row] = share.total.is_all_zero
        has_zero_share = any(share.product.is_all_zero or share.total.is_all_zero for share in shares)
        if has_zero_share and call in sweep.adjoints and call not in zero_rows:
            zeroing_calls.append(call)
    origins: RowByRow = {}
    for row, calls in senders.items():
        call = max(calls)
        # If the shares do not sum to zero, a hook made the adjoint zero.
        if len(calls) == 1 and call in zero_rows and totals.get(call):
            origins[row] = origins.get(call, call)
    return origins, {row for row in zero_rows if not totals.get(row, True)}, zeroing_calls


def _explain_last_zeroing_or_hook(
    question: Question, source_row: int, changed_rows: RowSet, zeroing_calls: RowList
) -> Finding:
    """Find the last operation in the sweep whose shares toward the source are zero or cancel other shares.

    Only the last such operation matters, because a nonzero adjoint on another path may have come closer to the source.
    """
    # If no operation made an adjoint zero, a hook must have changed it.
    for row in sorted(changed_rows - {source_row}, reverse=True):
        if question.is_computed_from_source(row):
            return build_row_finding(question, "hook", row)
    for call in reversed(zeroing_calls):
        if call < source_row:
            continue
        shares = [
            share
            for share in question.required_sweep.edges[call]
            if question.rows[share.row].tracked and question.is_computed_from_source(share.row)
        ]
        if shares and all(share.product.is_all_zero for share in shares):
            return explain_zero_of_operation(question, call)
        for share in reversed(shares):
            if share.total.is_all_zero and not share.product.is_all_zero:
                return explain_cancellation(question, call, share.row)
    return build_row_finding(question, "hook" if source_row in changed_rows else "zero_sum", source_row)


def explain_cancellation(question: Question, last_sender: int, cancelled_row: int) -> Finding:
    """Explain whether a normalizing function or the program itself made the shares that arrived at a row cancel.

    Args:
        question: The question about the gradient.
        last_sender: The operation that sent the last share.
        cancelled_row: The row whose shares cancel.
    """
    senders = [
        sender
        for sender, shares in question.required_sweep.edges.items()
        for share in shares
        if share.row == cancelled_row
    ]
    scopes = [question.rows[sender].scope for sender in senders]
    for depth, name in enumerate(scopes[0], 1):
        scope = scopes[0][:depth]
        is_normalization = re.sub(r"_\d+$", "", name) in question.adapter.cancelling_scopes
        if is_normalization and all(other[:depth] == scope for other in scopes):
            exponentials = [other for other in question.rows if other.op == "exp" and other.scope[:depth] == scope]
            saturates = any(is_softmax_one_hot(question, exponential.index) for exponential in exponentials)
            return build_row_finding(question, "saturated" if saturates else "zero_cancels", last_sender, detail=name)
    return build_row_finding(question, "zero_sum", last_sender, "elements" if len(senders) == 1 else "")


def find_mechanism_that_can_zero_adjoint(question: Question, row: int) -> str:
    """Return the cause that explains how an operation can make an adjoint zero, or "" if the adapter lists none.

    Args:
        question: The question about the gradient.
        row: The row of the operation.
    """
    op = question.rows[row].op
    return next((cause for cause, ops in question.adapter.zero_mechanisms.items() if op in ops), "")


def explain_zero_of_operation(question: Question, row: int) -> Finding:
    """Explain why an operation received a nonzero adjoint but sent zeros.

    Args:
        question: The question about the gradient.
        row: The row of the operation.
    """
    operation = question.rows[row]
    mechanism = find_mechanism_that_can_zero_adjoint(question, row)
    if _is_adjoint_subnormal_everywhere(question, row):
        return build_row_finding(question, "zero_factor", row, "underflow")
    if operation.op in FLAT_AT_ZERO_OPS:
        return build_row_finding(question, "zero_derivative", row, "point")
    if operation.op in RELU_GRADIENT_OPS:
        # In a second derivative, blame the line of the activation, not the line of its derivative.
        return Finding("zero_derivative", question.rows[operation.inputs[-1]].site, row, variant="second")
    if (
        operation.op in MIN_MAX_OPS
        and (finding := _explain_min_max_used_as_clip_or_relu(question, operation)) is not None
    ):
        return finding
    if operation.op in question.adapter.class_loss_ops:
        return _explain_zeros_of_class_loss(question, operation)
    if _is_at_upper_limit_or_one_hot(question, row, mechanism):
        return build_row_finding(question, "saturated", row)
    if mechanism == "zero_factor":
        return _explain_product_that_sends_zeros(question, operation)
    if mechanism:
        is_softmax = mechanism == "zero_cancels" and operation.op.lower() == "softmax"
        is_one_class = is_softmax and is_softmax_of_single_elements(operation.array)
        return build_row_finding(question, mechanism, row, "one" if is_one_class else "")
    return explain_zero_by_cancellation_or_other_row(question, row)


def _is_at_upper_limit_or_one_hot(question: Question, row: int, mechanism: str) -> bool:
    if mechanism == "dead_relu":
        return not is_relu_zero_or_unknown_at_adjoint(question, row)
    return mechanism == "zero_cancels" and is_softmax_one_hot(question, row)


def _is_adjoint_subnormal_everywhere(question: Question, row: int) -> bool:
    """Return whether the adjoint at an operation is so small that its type cannot hold all of its digits."""
    rows = question.rows
    limit = max(SMALLEST_NORMALS.get(rows[index].dtype, 0.0) for index in (row, *rows[row].inputs))
    adjoint = find_adjoint(question, row)
    return adjoint is not None and bool(0 < np.abs(adjoint).max(initial=0.0) < limit)


def _explain_min_max_used_as_clip_or_relu(question: Question, operation: RecordedRow) -> OptionalFinding:
    """Explain the zero gradients of a maximum or minimum that the program uses for clipping or as a relu."""
    clip_word = find_clip_word(" ".join([*operation.scope, read_line_at_site(operation.site)]))
    if clip_word:
        return build_row_finding(question, "saturated", operation.index, detail=clip_word[0])
    for row in operation.inputs:
        if question.rows[row].kind == "constant" and is_row_value_all_zero(question, row):
            return build_row_finding(question, "dead_relu", operation.index)
    return None


def _explain_zeros_of_class_loss(question: Question, operation: RecordedRow) -> Finding:
    """Explain why a cross-entropy has zero gradients: it has only one class or receives one-hot predictions."""
    shape = question.rows[operation.inputs[0]].shape
    class_axis = 1 if len(shape) > 1 else 0
    if not shape or shape[class_axis] == 1:
        return build_row_finding(question, "zero_cancels", operation.index, "one")
    return build_row_finding(question, "saturated", operation.index)


def _explain_product_that_sends_zeros(question: Question, operation: RecordedRow) -> Finding:
    """Explain why a product sends zeros: because of an underflow, terms that cancel, or a zero factor."""
    row = operation.index
    factors = collect_known_arrays(question, _list_inputs_not_computed_from_source(question, row))
    if does_adjoint_times_factor_underflow(question, row, factors):
        return build_row_finding(question, "zero_factor", row, "underflow")
    if are_other_factors_nonzero(question, row):
        return build_row_finding(question, "zero_sum", row, "elements")
    variant = "both" if all(is_row_value_all_zero(question, index) for index in operation.inputs) else ""
    return find_relu_or_step_that_made_input_zero(question, row) or build_row_finding(
        question, "zero_factor", row, variant
    )


def explain_zero_by_cancellation_or_other_row(question: Question, row: int) -> Finding:
    """Explain why an operation sent zeros although the adapter lists no cause for it.

    Either the operation's shares cancel, or the zeros come from an earlier or later operation.

    Args:
        question: The question about the gradient.
        row: The row of the operation.
    """
    operation = question.rows[row]
    if (rule := find_blamed_return_site_of_rule(question, row)) is not NOWHERE:
        return Finding("custom_rule", rule, row, has_gradient=True)
    senders = [
        call for call, shares in question.required_sweep.edges.items() if any(share.row == row for share in shares)
    ]
    if senders and does_broadcast_cancel(question, row):
        return explain_cancellation(question, senders[-1], row)
    # A later operation may have selected another part of the value, or masked this part.
    for later, _ in question.path:
        mechanism = find_mechanism_that_can_zero_adjoint(question, later) if later > row else ""
        is_masked = mechanism == "zero_factor" and not are_other_factors_nonzero(question, later)
        if is_masked or mechanism == "not_selected":
            return build_row_finding(question, mechanism, later)
    if operation.op in MOVING_OPS:
        return build_row_finding(question, "not_selected", row, "part")
    if any(is_row_value_all_zero(question, index) for index in operation.inputs):
        return find_relu_or_step_that_made_input_zero(question, row) or build_row_finding(question, "zero_factor", row)
    other_arrays = collect_known_arrays(question, _list_inputs_not_computed_from_source(question, row))
    takes_other = operation.array is not None and any(np.isin(operation.array, other).all() for other in other_arrays)
    return build_row_finding(question, "not_selected" if takes_other else "saturated", row)


def _list_inputs_not_computed_from_source(question: Question, row: int) -> RowList:
    return [index for index in question.rows[row].inputs if not question.is_computed_from_source(index)]


def are_other_factors_nonzero(question: Question, product_row: int) -> bool:
    """Return whether all factors of a product that do not depend on the source are known and nonzero.

    If these factors are nonzero, the shares of a broadcast factor are zero because they cancel in a sum.

    Args:
        question: The question about the gradient.
        product_row: The row of the product.
    """
    inputs = _list_inputs_not_computed_from_source(question, product_row)
    factors = collect_known_arrays(question, inputs)
    return bool(factors) and len(factors) == len(inputs) and all(np.all(factor != 0) for factor in factors)


def does_adjoint_times_factor_underflow(question: Question, product_row: int, other_factors: Iterable[ndarray]) -> bool:
    """Return whether the product of a nonzero adjoint and a nonzero factor is too small for the row's type.

    Args:
        question: The question about the gradient.
        product_row: The row of the product.
        other_factors: The other factors of the product.
    """
    adjoint = find_adjoint(question, product_row)
    dtype = question.rows[product_row].dtype.replace("bfloat16", "float32")
    if adjoint is None or not dtype.startswith("float"):
        return False
    largest_adjoint = np.abs(adjoint).max(initial=0.0)
    products = (largest_adjoint * np.abs(factor).max(initial=0.0) for factor in other_factors)
    return any(0 < product < np.finfo(dtype).smallest_subnormal for product in products)


def find_relu_or_step_that_made_input_zero(question: Question, row: int) -> OptionalFinding:
    """Find the relu or step function that made an operation's input zero, as in ``relu(x) ** 2``.

    Args:
        question: The question about the gradient.
        row: The row.
    """
    first_zero = row
    while zeros := [index for index in question.rows[first_zero].inputs if is_row_value_all_zero(question, index)]:
        first_zero = zeros[0]
    if first_zero == row or find_mechanism_that_can_zero_adjoint(question, first_zero) not in (
        "dead_relu",
        "zero_derivative",
    ):
        return None
    return explain_zero_of_operation(question, first_zero)


def does_broadcast_cancel(question: Question, row: int) -> bool:
    """Return whether each input was broadcast to a larger shape and the adjoints of its copies cancel each other.

    Args:
        question: The question about the gradient.
        row: The row that reads the inputs.
    """
    adjoint = find_adjoint(question, row)
    if adjoint is None:
        return False
    for share in question.required_sweep.edges.get(row, ()):
        if not question.is_computed_from_source(share.row):
            continue
        shape = tuple(question.rows[share.row].shape)
        aligned_shape = (1,) * (adjoint.ndim - len(shape)) + shape
        axes = tuple(
            axis
            for axis, (size, result_size) in enumerate(zip(aligned_shape, adjoint.shape, strict=False))
            if size == 1 < result_size
        )
        scale = np.abs(adjoint).sum(axes)
        if not axes or not scale.any() or (np.abs(adjoint.sum(axes)) > ROUNDING_TOLERANCE * scale).any():
            return False
    return True


def is_relu_zero_or_unknown_at_adjoint(question: Question, relu_row: int) -> bool:
    """Return whether a relu yields zero for every element that received an adjoint.

    If the result is False, the value is at another limit, such as the upper limit of a relu6 or a hard sigmoid.

    Args:
        question: The question about the gradient.
        relu_row: The row of the relu.
    """
    value = question.rows[relu_row].array
    adjoint = find_adjoint(question, relu_row)
    if value is None or adjoint is None or value.shape != adjoint.shape:
        return True
    return not value[adjoint != 0].any()


def is_softmax_one_hot(question: Question, softmax_row: int) -> bool:
    """Return whether a softmax over several classes assigns all the probability to one of them.

    Args:
        question: The question whose recording contains the row.
        softmax_row: The row of the softmax.
    """
    value = question.rows[softmax_row].array
    return value is not None and bool((value == 1).any() and (value == 0).any())


def is_softmax_of_single_elements(result: OptionalArray) -> bool:
    """Return whether a softmax was computed over an axis of size 1.

    The elements along the axis add up to 1, so all of them exceed 0.5 only if each is the only one on its axis. Its
    value may differ from 1 by rounding.

    Args:
        result: The result of the softmax, or None if its elements are unknown.
    """
    return result is not None and bool(np.all(result > 0.5))
