"""Find gradients that exist but are wrong.

A check reads the rows and backward passes of a `CheckedRun`, which is built from a tape or from any framework's
recording. The check yields a `Suspicion` for each thing that looks wrong, with the line, the values and the affected
sources.

`LEADING_CHECKS` and `TRAILING_CHECKS` do not depend on the framework. A framework's own checks, such as checks of
optimizer steps, run between the two. The sentences are in ``causes/suspicions.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from ...common.grouping import group_values_by_key
from ...engine.types import (
    Attributes,
    NameCollection,
    OptionalNumber,
    RowList,
    RowsByRow,
    RowSet,
    Sizes,
    TextsByName,
)
from ...recording.recorded_rows import (
    BackwardPass,
    Escapes,
    OptionalArray,
    RecordedRow,
    RecordedRowList,
    collect_rows_and_ancestors,
    collect_rows_and_connected_ancestors,
)
from ...recording.sites import Site
from ...recording.value_summary import to_float_array
from ..caller import format_place, format_place_suffix
from ..causes import get_kind_name_or_error_kind
from ..explanation import Explanation, explain_cause, turn_code_patch_errors_into_warnings
from ..fixes.answer_fixes import add_fixes_to_explanation
from ..operation_families import OperationNames
from ..translated_sentences import fill
from .adapter import Adapter
from .finding_sentences import describe_escape_method
from .program_text import collect_statements_using_value, find_both_operand_expressions, find_statement, unparse
from .question import Finding, Question, find_nearest_tracked_consumers, map_rows_to_consumers
from .zero_nan import is_softmax_of_single_elements

# An adjoint counts as vanishing or exploding if its size changes by these factors over all repetitions of an operation.
VANISHING_RATIO, EXPLODING_RATIO = 1e-5, 1e4
MIN_REPETITIONS = 5  # An operation repeated at least this often is assumed to belong to a loop or a deep network.
EQUALITY_TOLERANCE = 1e-5  # The maximum relative difference between float32 numbers that differ only by rounding.
SYMPTOM_CAUSES = ("rounding_only", "vanishing", "exploding")
LOGARITHM_OPS = "log log1p Log Log1p".split()
FLAT_CAUSES = "zero_derivative no_derivative nondifferentiable nondifferentiable_op".split()
# For these causes, the program uses a gradient that was itself not recorded.
UNRECORDED_GRADIENT_CAUSES = ("create_graph", "not_recorded")
find_selection_word = re.compile("getitem|unbind|select|chunk|split|slice|unpack|gather|embedding", re.I).search
find_loss_word = re.compile("entropy|logit|loss|bce|nll|criterion|softm|sigm|logsumexp|softplus", re.I).search


class Suspicion(NamedTuple):
    """A suspected error in the gradients of some sources.

    Attributes:
        cause: One of the causes in `causes.CAUSES`.
        site: The line to blame.
        fields: The values for the fields of the cause's sentence.
        row: The row whose connected ancestors have wrong gradients.
        source_keys: The keys of the sources whose gradients are wrong, if no row identifies these sources.
        only_rows: The affected rows, if not all connected ancestors of `row` are affected.
        variant: Which variant of the cause's sentences to use.
    """

    cause: str
    site: Site
    fields: Attributes
    row: OptionalNumber = None
    source_keys: Collection[int] = ()
    only_rows: Collection[int] = ()
    variant: str = ""

    def to_explanation(self, source_name: str, question: Question) -> Explanation:
        """Return the answer for a source, with a fix if one is known.

        Args:
            source_name: The program's name for the source.
            question: The question whose rows a fix may read.
        """
        answer = explain_cause(question.adapter.framework, self.cause, self.site, self.variant, self.fields)
        answer.name = source_name
        answer._rows = [] if self.row is None else [self.row]
        with turn_code_patch_errors_into_warnings():
            add_fixes_to_explanation(question, Finding(self.cause, self.site, self.row), answer)
        return answer


Suspicions = Iterator[Suspicion]  # The suspicions that a check yields.


def build_row_suspicion(
    row: RecordedRow, cause: str, fields: Attributes, variant: str = "", only_rows: Iterable[int] = ()
) -> Suspicion:
    """Return a suspicion that blames a row and its line.

    Args:
        row: The row to blame.
        cause: The cause, one of `causes.CAUSES`.
        fields: The values for the fields of the cause's sentence.
        variant: Which variant of the cause's sentences to use.
        only_rows: The affected rows, if not all connected ancestors of `row` are affected.
    """
    return Suspicion(cause, row.site, fields, row.index, only_rows=set(only_rows), variant=variant)


def find_row_read_as_logits_by_loss(run: CheckedRun, row: RecordedRow) -> OptionalNumber:
    """Return the row that a loss uses as logits, or None if the operation is not such a loss.

    TensorFlow's sigmoid cross-entropy begins with ``where(logits >= 0, logits, 0)``.

    Args:
        run: The run whose recording contains the row.
        row: The row of the operation.
    """
    if not row.op.startswith("Select"):
        return row.inputs[0]
    if len(row.inputs) != 3:
        return None
    condition, logits = (run.rows[index] for index in row.inputs[:2])
    is_sign_test = condition.op == "GreaterEqual" and logits.index in condition.inputs
    return logits.index if is_sign_test else None


@dataclass(eq=False)
class CheckedRun:
    """The rows and backward passes of a recording, with the framework-specific functions that the checks need.

    Attributes:
        rows: All rows, in execution order.
        sweeps: The backward passes that computed adjoints.
        escapes: The values that left the framework.
        op_names: The framework's names for the operations that the checks look for.
        describe_escape: Describes how a value left the framework.
        has_placeholder_values: Whether the values are placeholders, so that only their shapes are meaningful.
        recording: The framework's recording to which the rows belong, or None for a tape.
        adapter: The interface to the framework, which fixes use.
        checks: The framework's own checks.
        find_source_key: Returns the key that identifies a source.
        find_source_rows: Returns the rows of a source.
        find_optimizer_steps: Returns the optimizer steps that changed a source, each with a ``site``.
        sources_with_gradient: The sources that received a gradient, keyed by source key.
        trained_keys: The keys of all sources that the program trains, if they are known.
        has_named_sources: Whether programs explicitly list the sources whose gradients they request.
        find_operand_row_before_implicit_broadcast: Returns the row of an operand as it was before the framework
            implicitly broadcast it.
        find_row_read_as_logits_by_loss: Returns the row that a loss uses as logits, or None if the operation is not
            such a loss.
    """

    rows: Sequence[RecordedRow]
    sweeps: Sequence[BackwardPass]
    escapes: Escapes
    op_names: OperationNames
    describe_escape: Callable[[str], str] = describe_escape_method
    has_placeholder_values: bool = False
    recording: Any = None
    adapter: Adapter | None = None
    checks: Sequence[Check] = ()
    find_source_key: Callable[[Any], int] = id
    find_source_rows: Callable[[Any], RowList] = lambda source: []
    find_optimizer_steps: Callable[[Any], list] = lambda source: []
    sources_with_gradient: Mapping[int, Any] = field(default_factory=dict)
    trained_keys: Collection[int] = ()
    has_named_sources: bool = False
    find_operand_row_before_implicit_broadcast: Callable[[CheckedRun, RecordedRow, int], int] = (
        lambda run, row, operand: operand
    )
    find_row_read_as_logits_by_loss: Callable[[CheckedRun, RecordedRow], OptionalNumber] = (
        find_row_read_as_logits_by_loss
    )
    _affected_rows_by_cause: dict[str, RowSet] = field(default_factory=dict, init=False)

    @cached_property
    def reached_operations(self) -> dict[int, BackwardPass]:
        """The operations at which an adjoint arrived, each with the last sweep that reached it."""
        return {row: sweep for sweep in self.sweeps for row in sweep.adjoints if self.rows[row].kind == "operation"}

    @cached_property
    def consumers(self) -> RowsByRow:
        """The operations that read each row."""
        return map_rows_to_consumers(row for row in self.rows if row.kind == "operation")

    def find_row_and_connected_ancestors(self, row: int) -> RowSet:
        """Return a row and the rows that it was computed from through edges that pass gradients.

        Args:
            row: The row.
        """
        return collect_rows_and_connected_ancestors(self.rows, [row])

    def iter_reached_operations_named_last_first(self, ops: NameCollection) -> Iterator[RecordedRow]:
        """Yield the operations with the given names at which an adjoint arrived, the last one first."""
        rows = (self.rows[row] for row in sorted(self.reached_operations, reverse=True))
        return (row for row in rows if row.op in ops)

    def list_tracked_inputs(self, row: RecordedRow) -> RowList:
        """Return the inputs of a row through which a gradient can pass."""
        return [index for index in row.inputs if self.rows[index].tracked]

    def find_array(self, row: int) -> OptionalArray:
        """Return the elements of a row as float64, or None if they are unknown or placeholders.

        Args:
            row: The row.
        """
        return None if self.has_placeholder_values else self.rows[row].array

    def find_adjoint(self, row: int) -> OptionalArray:
        """Return the adjoint that arrived at an operation in the last backward pass that reached it.

        Args:
            row: The row of the operation.
        """
        sweep = self.reached_operations.get(row)
        return None if sweep is None else to_float_array(sweep.adjoints.get(row))

    def find_share_sent_to_first_input(self, row: RecordedRow) -> OptionalArray:
        """Return the share that an operation sent to its first input."""
        shares = self.reached_operations[row.index].edges.get(row.call_id, ())
        return next((to_float_array(share.product) for share in shares if share.row in row.inputs[:1]), None)

    def find_row_before_reshapes(self, row: int) -> RecordedRow:
        """Return the row before all operations that change only the shape, the type or the order of the elements."""
        current = self.rows[row]
        while current.op in self.op_names.shape_ops and current.inputs:
            current = self.rows[current.inputs[0]]
        return current

    def find_activation_name(self, row: RecordedRow) -> str:
        """Return the name of the activation, even a handwritten one, that computed a row, or "" for other rows."""
        is_quotient = row.kind == "operation" and row.op.lower().endswith(("div", "reciprocal"))
        if not is_quotient:
            return self.op_names.activation_names.get(row.op, "")
        numerator = self.find_row_before_reshapes(row.inputs[0])
        denominator = self.find_row_before_reshapes(row.inputs[-1])
        if denominator.op in self.op_names.add_ops and any(
            self.rows[term].op.lower() == "exp" for term in denominator.inputs
        ):
            return "sigmoid"
        return "softmax" if numerator.op.lower() == "exp" and denominator.op in self.op_names.sum_ops else ""

    def find_activation_or_operation_name(self, row: RecordedRow) -> str:
        """Return the common name of an operation, such as "softmax".

        Args:
            row: The row of the operation.
        """
        return self.find_activation_name(row) or row.op

    @cached_property
    def suspicions(self) -> list[Suspicion]:
        """All suspicions, most certain first, each with the sources or rows that it affects."""
        checks = LEADING_CHECKS if self.has_placeholder_values else (*LEADING_CHECKS, *self.checks, *TRAILING_CHECKS)
        with np.errstate(all="ignore"):
            return [
                self._add_affected_ancestors_not_searched_before(suspicion)
                for check in checks
                for suspicion in check(self)
            ]

    def _add_affected_ancestors_not_searched_before(self, suspicion: Suspicion) -> Suspicion:
        """Add the row's connected ancestors to a suspicion, but stop at rows that an earlier suspicion already reached.

        Only the first suspicion with a given cause counts for a source, so no row is searched twice for the same cause.
        """
        if suspicion.row is None or suspicion.only_rows:
            return suspicion
        earlier_rows = self._affected_rows_by_cause.setdefault(suspicion.cause, set())
        rows = collect_rows_and_connected_ancestors(self.rows, [suspicion.row], earlier_rows)
        earlier_rows |= rows
        return suspicion._replace(only_rows=rows)

    @cached_property
    def question_without_source_and_target(self) -> Question:
        """A question without a source or a target, whose rows fixes may read."""
        assert self.adapter is not None
        return Question(self.adapter, self.rows, [], [], None)

    def list_suspicions_of_source(self, source: Any) -> list[Suspicion]:
        """Return the suspicions about a source's gradient, at most one for each cause, most certain first.

        A suspicion about the size of an adjoint describes only a symptom, and is omitted if a more certain suspicion
        exists.

        Args:
            source: The source.
        """
        source_rows, key = set(self.find_source_rows(source)), self.find_source_key(source)
        by_cause = dict[str, Suspicion]()
        for suspicion in self.suspicions:
            if key in suspicion.source_keys or not source_rows.isdisjoint(suspicion.only_rows):
                by_cause.setdefault(suspicion.cause, suspicion)
        suspicions = list(by_cause.values())
        return [*suspicions[:1], *(suspicion for suspicion in suspicions[1:] if suspicion.cause not in SYMPTOM_CAUSES)]


Check = Callable[[CheckedRun], Iterable[Suspicion]]


# -- shapes ----------------------------------------------------------------------------------------


def check_accidental_broadcast(run: CheckedRun) -> Suspicions:
    """Find an operation that combines a column (N, 1) with a row (N,) by mistake, so the loss averages N × N terms.

    Args:
        run: The run to check.
    """
    op_names = run.op_names
    combining_ops = {*op_names.compare_ops, *op_names.loss_ops, *op_names.product_ops, *op_names.add_ops}
    suspicions, table_sites = list[Suspicion](), set[Site]()
    for row in reversed(run.rows):
        if row.op not in combining_ops:
            continue
        operands, column = _find_operands_and_broadcast_column_index(run, row)
        if column is None:
            continue
        # If the table is constant, such as a table of targets, the gradient arrives at the operation that reads the
        # table.
        affected = [
            index for index in _find_mistaken_broadcast_rows_up_to_sum(run, row) if index in run.reached_operations
        ]
        if not affected:
            continue
        shapes = [tuple(operand.shape) for operand in operands]
        count = max(*shapes[0], *shapes[1])
        if row.op not in op_names.loss_ops and tuple(row.shape) != (count, count):
            continue  # The program created the column itself, and this operation only flattens the column again.
        # A table is intended if the column was created on the same line, or if a vector is combined with itself.
        makers = [run.find_row_before_reshapes(operand.index) for operand in operands]
        is_new = makers[column].shape != operands[column].shape and operands[column].site == row.site
        if is_new or makers[0] is makers[1]:
            table_sites.add(row.site)
        fields = {
            **_format_column_and_row_operands(run, row, column),
            "one": shapes[0],
            "two": shapes[1],
            "what": row.op,
            "result": (count, count),
            "n": count,
        }
        only_rows = run.find_row_and_connected_ancestors(min(affected))
        suspicions.append(build_row_suspicion(row, "broadcast", fields, only_rows=only_rows))
    # If a line intentionally builds a table at least once, all of its tables count as intentional.
    yield from (suspicion for suspicion in suspicions if suspicion.site not in table_sites)


def _format_column_and_row_operands(run: CheckedRun, row: RecordedRow, column: int) -> TextsByName:
    """Return the operands as the program writes them, keyed by "x" for the column and "y" for the row."""
    operands = [unparse(operand) for operand in find_both_operand_expressions(run.rows, row)]
    written = [f"({operand})" if " " in operand else operand for operand in operands]
    return dict(zip("yx" if column else "xy", written or "xy", strict=True))


def is_column_and_vector(column_shape: Sizes, vector_shape: Sizes) -> bool:
    """Return whether two shapes are (N, 1) and (N,) with the same N.

    >>> is_column_and_vector((8, 1), (8,)), is_column_and_vector((8, 1), (1, 8)), is_column_and_vector((1, 1), (1,))
    (True, False, False)
    """
    return (
        len(vector_shape) == 1
        and vector_shape[0] is not None
        and vector_shape[0] > 1
        and column_shape == (vector_shape[0], 1)
    )


def _find_operands_and_broadcast_column_index(
    run: CheckedRun, row: RecordedRow
) -> tuple[RecordedRowList, OptionalNumber]:
    """Return an operation's two operands, and the column's index if the other operand is a row of equal length."""
    operands = [
        run.rows[run.find_operand_row_before_implicit_broadcast(run, row, operand)] for operand in row.inputs[:2]
    ]
    shapes = [tuple(operand.shape) for operand in operands]
    for index, other_shape in enumerate(reversed(shapes)):
        if is_column_and_vector(shapes[index], other_shape):
            return operands, index
    return operands, None


def _find_mistaken_broadcast_rows_up_to_sum(run: CheckedRun, table_row: RecordedRow) -> RowSet:
    """Return the rows that lead from a table to the sum of all its elements.

    Returns:
        The rows, or an empty set if no such sum exists or the program seems to build the table on purpose. The table
        seems intended if the program reduces it along one axis, passes it to a softmax, or combines it with another
        table whose elements differ.
    """
    table, waiting, shape = {table_row.index}, [table_row], tuple(table_row.shape)
    summary_ops = {*run.op_names.sum_ops, *run.op_names.loss_ops}
    is_summed = False
    while waiting:
        current = waiting.pop()
        if current.op in summary_ops:
            if current.shape:
                return set()
            is_summed = True
            continue
        for consumer in (run.rows[index] for index in run.consumers.get(current.index, ())):
            if _is_softmax_or_loss_applying_softmax(run, consumer):
                return set()  # The program compares each element with all others, so the table is intended.
            is_table = consumer.op in summary_ops or tuple(consumer.shape) == shape
            if is_table and consumer.index not in table:
                table.add(consumer.index)
                waiting.append(consumer)
    if not is_summed or _is_table_combined_with_independent_table(run, table_row, table):
        return set()
    return table


def _is_softmax_or_loss_applying_softmax(run: CheckedRun, row: RecordedRow) -> bool:
    """Return whether a row is a softmax, or a loss that applies a softmax to its logits."""
    takes_logits = (
        run.op_names.activation_of_loss.get(row.op) == "softmax"
        and run.find_row_read_as_logits_by_loss(run, row) is not None
    )
    return takes_logits or run.find_activation_name(row) == "softmax"


def _is_table_combined_with_independent_table(run: CheckedRun, row: RecordedRow, table: RowSet) -> bool:
    """Return whether a table is combined with another table that does not result from the same mistake."""
    others = {index for table_row in table - {row.index} for index in run.rows[table_row].inputs} - table
    for index in others:
        maker = run.find_row_before_reshapes(index)
        is_table = tuple(maker.shape) == tuple(row.shape) and not _is_made_only_from_columns_and_vectors(run, maker)
        if is_table and ((values := run.find_array(index)) is None or np.ptp(values)):
            return True
    return False


def _is_made_only_from_columns_and_vectors(run: CheckedRun, table_row: RecordedRow) -> bool:
    """Return whether a table was computed only from tables that result from combining a column with a vector.

    Args:
        run: The run to check.
        table_row: The table.
    """
    waiting, seen, shape = [table_row.index], RowSet(), tuple(table_row.shape)
    while waiting:
        current = run.rows[waiting.pop()]
        if current.index in seen or _find_operands_and_broadcast_column_index(run, current)[1] is not None:
            continue
        seen.add(current.index)
        tables = [index for index in current.inputs if tuple(run.rows[index].shape) == shape]
        if not tables:
            return False
        waiting += tables
    return True


# -- functions -------------------------------------------------------------------------------------


def check_activation_before_logits_loss(run: CheckedRun) -> Suspicions:
    """Find a loss that expects logits but receives the result of an activation.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named_last_first({*run.op_names.activation_of_loss, *LOGARITHM_OPS}):
        activation = run.op_names.activation_of_loss.get(row.op, "")
        logits = run.find_row_read_as_logits_by_loss(run, row) if activation else None
        if logits is None:
            activation, logits = _find_activation_and_logits_in_log_of_exp(run, row)
        if logits is None:
            continue
        maker, loss_name = (
            _find_row_before_signs_and_shifts(run, logits),
            _get_called_loss_name_or_placeholder(row.site),
        )
        if run.find_activation_name(maker) == activation:
            fields = {"what": loss_name, "one": activation, "other": _format_place_suffix_of_layer(maker, row)}
            yield build_row_suspicion(row, "activation_twice", fields)


def _format_place_suffix_of_layer(layer_row: RecordedRow, loss_row: RecordedRow) -> str:
    """Return a layer's code location in brackets, preceded by the layer's name if the same line also calls the loss."""
    filename, line = layer_row.site
    if layer_row.scope and line is not None and layer_row.site == loss_row.site:
        return fill(" ({place})", place=f"{'.'.join(layer_row.scope)}, {format_place(filename, line)}")
    return format_place_suffix(layer_row.site)


def _get_called_loss_name_or_placeholder(site: Site) -> str:
    """Return the name of the loss function called on a line, or "The loss" if no called function looks like one."""
    names = (ast.unparse(call.func) for call in find_statement(site).calls)
    return next(
        (name for name in names if len(name) <= 60 and find_loss_word(name.rpartition(".")[2])), fill("The loss")
    )


def _find_activation_and_logits_in_log_of_exp(run: CheckedRun, row: RecordedRow) -> tuple[str, OptionalNumber]:
    """Return the activation to which a logarithm of exponentials belongs, and the row of the activation's input.

    Up to signs, ``log(1 + exp(z))`` is the logarithm of a sigmoid. ``log(sum(exp(z)))`` is part of a log-softmax.
    """
    activation = "sigmoid" if row.op.lower() == "log1p" else ""
    inputs = row.inputs[:1]
    while inputs:
        inner = _find_row_before_signs_and_shifts(run, inputs[0])
        if inner.op.lower() == "exp":
            return activation, inner.inputs[0] if activation else None
        is_addition = "add" in inner.op.lower()
        if not is_addition and inner.op not in run.op_names.sum_ops:
            break
        activation = "sigmoid" if is_addition else "softmax"
        inputs = run.list_tracked_inputs(inner)
    return "", None


def _find_row_before_signs_and_shifts(run: CheckedRun, index: int) -> RecordedRow:
    """Return the row before any reshapes, sign changes, and subtractions of a maximum or an untracked value."""
    while True:
        row = run.find_row_before_reshapes(index)
        op = row.op.lower()
        shift = run.find_row_before_reshapes(row.inputs[-1]) if op == "sub" else None
        is_shifted = shift is not None and shift is not row and ("max" in shift.op.lower() or not shift.tracked)
        if not is_shifted and op not in ("neg", "abs"):
            return row
        index = row.inputs[0]


# -- missing terms ---------------------------------------------------------------------------------


def check_term_without_gradient(run: CheckedRun) -> Suspicions:
    """Find a term of the target that passes no gradient because of a step function, a cut or an escape.

    Args:
        run: The run to check.
    """
    for sweep in run.sweeps:
        terms = {row.index: row for row in _iter_sums_and_terms_of_target(run, sweep)}
        for row in terms.values():
            if not row.tracked:
                yield from _check_untracked_term(run, row, terms.keys(), sweep)
        if run.escapes:
            yield from _check_escaped_terms(
                run, [row for row in terms.values() if not row.shape and _adds_constant(run, row)]
            )


def _check_untracked_term(run: CheckedRun, row: RecordedRow, terms: Collection[int], sweep: BackwardPass) -> Suspicions:
    """Yield a suspicion if a term is untracked although one of its inputs is tracked."""
    cause = next((edge.cause for edge in row.edges if edge.cause), "flat")
    # A computed gradient that the program uses again appears as a leaf.
    is_computed = cause == "create_graph" or (row.kind == "operation") != (cause == "not_recorded")
    tracked_inputs = run.list_tracked_inputs(row)
    if not is_computed or not tracked_inputs:
        return
    is_discrete = get_kind_name_or_error_kind(cause) != "paused" and row.dtype in ("bool", "int32", "int64")
    is_flat = cause in FLAT_CAUSES or is_discrete
    if is_flat or cause in ("copied", *UNRECORDED_GRADIENT_CAUSES):
        variant = "derivative" if cause in UNRECORDED_GRADIENT_CAUSES else ""
        if is_flat:
            variant = "choice"
        yield Suspicion("in_part", row.site, {"what": f"{row.op}(...)"}, tracked_inputs[0], variant=variant)
        return
    # In ``z + (q - z).detach()``, z has another path to the target. A sum may also restore a value that was subtracted
    # before. A backward pass from another target, such as a discriminator's loss, may well have reached z.
    passes = [other for other in run.sweeps if other.target == sweep.target]
    reached = {index for other in passes for index in other.adjoints if run.rows[index].kind == "operation"}
    # ``z`` may itself be a term, if the program replaces only the term's value.
    operands = {index for tracked in tracked_inputs for index in run.rows[tracked].inputs}
    if (
        get_kind_name_or_error_kind(cause) == "cut"
        and reached.isdisjoint(tracked_inputs)
        and operands.isdisjoint(terms)
    ):
        consumers = find_nearest_tracked_consumers(run.rows, map_rows_to_consumers(run.rows), row.index) & reached
        if consumers and consumers.issubset(terms):
            yield Suspicion(
                "in_part",
                row.site,
                {"what": run.find_activation_or_operation_name(row)},
                tracked_inputs[0],
                variant="cut",
            )


def _check_escaped_terms(run: CheckedRun, additions: RecordedRowList) -> Suspicions:
    """Find a value that left the framework and was later added to the target as a plain number.

    Args:
        run: The run to check.
        additions: The additions in the target's computation in which one operand is a constant.
    """
    if not additions:
        return
    seen_sites, files = set[Site](), {row.site[0] for row in run.rows if row.site[0]}
    for escape in run.escapes:
        row, start = run.rows[escape.row], find_statement(escape.site)
        is_variable_of_tape = run.recording is None and row.kind == "variable"
        has_gradient = row.tracked and (row.kind == "operation" or is_variable_of_tape)
        if not has_gradient or escape.is_condition or escape.site in seen_sites or not start:
            continue
        seen_sites.add(escape.site)
        later = [find_statement(addition.site) for addition in additions if addition.was_created_after(escape)]
        later = [statement for statement in later if statement]
        if later and not collect_statements_using_value(start, files).isdisjoint(later):
            yield Suspicion("in_part", escape.site, {"what": run.describe_escape(escape.method)}, escape.row)


def _iter_sums_and_terms_of_target(run: CheckedRun, sweep: BackwardPass) -> Iterator[RecordedRow]:
    """Yield the operations that compute the target as a sum of terms, down to the terms that have no gradient."""
    waiting = list(sweep.target)
    while waiting:
        row = run.rows[waiting.pop()]
        yield row
        is_product = row.op in run.op_names.product_ops
        if is_product and any(_is_zero_constant(run, factor) for factor in row.inputs):
            continue  # A term that is zero contributes nothing, so its missing gradient does not matter.
        tracked_inputs = run.list_tracked_inputs(row)
        if not row.tracked:
            if not tracked_inputs:
                waiting += row.inputs
        elif not row.shape and (is_product or row.op in run.op_names.shape_ops):
            waiting += tracked_inputs
        elif not row.shape and row.op in run.op_names.add_ops:
            waiting += row.inputs


def _is_zero_constant(run: CheckedRun, row: int) -> bool:
    array = run.find_array(row) if run.rows[row].kind == "constant" else None
    return array is not None and not array.any()


def _adds_constant(run: CheckedRun, row: RecordedRow) -> bool:
    """Return whether a row is the sum of a constant and another value."""
    constant_count = sum(_is_computed_from_constants(run, index) for index in row.inputs)
    return row.op in run.op_names.add_ops and constant_count == (1 if len(row.inputs) > 1 else 0)


def _is_computed_from_constants(run: CheckedRun, index: int) -> bool:
    """Return whether a row is a constant, or was computed from constants alone."""
    return not run.rows[index].tracked and all(
        row.kind == "constant" or (row.kind == "operation" and not row.tracked)
        for row in map(run.rows.__getitem__, collect_rows_and_ancestors(run.rows, [index]))
    )


# -- numbers ---------------------------------------------------------------------------------------


def check_gradient_of_rounding_errors(run: CheckedRun) -> Suspicions:
    """Find a normalization whose gradient is only rounding error, because all its elements have equal adjoints.

    A source that also has another path to a target is not affected.

    Args:
        run: The run to check.
    """
    fields_by_row = {}
    for row in run.iter_reached_operations_named_last_first(run.op_names.normalizing_ops):
        received, sent = run.find_adjoint(row.index), run.find_share_sent_to_first_input(row)
        if received is None or sent is None or sent.shape != received.shape:
            continue
        largest_sent, largest_received = compute_max_abs_or_zero(sent), compute_max_abs_or_zero(received)
        limit = EQUALITY_TOLERANCE * largest_received
        axes = (axis for axis, size in enumerate(received.shape) if size > 1)
        deviations = (compute_max_abs_or_zero(received - received.mean(axis, keepdims=True)) for axis in axes)
        is_nonzero = 0 < largest_received < inf and largest_sent > 0
        if is_nonzero and largest_sent <= limit and min(deviations, default=largest_received) <= limit:
            ratio = largest_sent / largest_received
            fields_by_row[row.index] = {
                "what": run.find_activation_or_operation_name(row),
                "from_": largest_received,
                "to": ratio,
            }
    targets = [row for sweep in run.sweeps for row in sweep.target] if fields_by_row else []
    rows_with_other_path = (
        collect_rows_and_connected_ancestors(run.rows, targets, stop_rows=fields_by_row) - fields_by_row.keys()
    )
    for index, fields in fields_by_row.items():
        only_rows = run.find_row_and_connected_ancestors(index) - rows_with_other_path
        yield build_row_suspicion(run.rows[index], "rounding_only", fields, only_rows=only_rows)


class RowAdjointSize(NamedTuple):
    """The size of an adjoint.

    Attributes:
        row: The row of an operation.
        size: The root mean square of the adjoint that arrived at the operation.
    """

    row: int
    size: float


def check_vanishing_or_exploding_by_repetition(run: CheckedRun) -> Suspicions:
    """Find the operation whose repetitions, in a loop or a deep network, scaled the adjoint the most.

    Args:
        run: The run to check.
    """
    scored = []
    for series in _iter_repetition_series_last_first(run):
        ratio = series[-1].size / series[0].size
        # Compare distant repetitions, because the size may fluctuate between neighbors.
        samples = series[:: len(series) // MIN_REPETITIONS]
        shrinking = [after.size < before.size for before, after in pairwise(samples)]
        shrinking_share = sum(shrinking) / len(shrinking)
        vanishes = ratio < VANISHING_RATIO and shrinking_share >= 0.8
        explodes = ratio > EXPLODING_RATIO and shrinking_share <= 0.2 and series[-1].size > 1
        if vanishes or explodes:
            is_activation = run.rows[series[0].row].op in run.op_names.activation_names
            scored.append((abs(log(ratio)) * (2 if is_activation else 1), series))
    if not scored:
        return
    _, series = max(scored)
    first, second, *_, last = series
    row, ratio = run.rows[first.row], last.size / first.size
    affects_all = ratio > 1 or (
        ratio < VANISHING_RATIO**2 and _does_repetition_select_new_part(run, first.row, second.row)
    )
    cause = "vanishing" if ratio < 1 else "exploding"
    fields = {
        "what": run.find_activation_or_operation_name(row),
        "from_": first.size,
        "to": last.size,
        "n": len(series),
        "ratio": ratio,
    }
    only_rows = () if affects_all else find_row_and_its_tiny_adjoint_ancestors(run, first.row, first.size)
    yield build_row_suspicion(row, cause, fields, only_rows=only_rows)


def _iter_repetition_series_last_first(run: CheckedRun) -> Iterator[list[RowAdjointSize]]:
    """Yield the repetitions, last one first, of each operation that runs at least `MIN_REPETITIONS` times."""
    rows = (run.rows[index] for index in sorted(run.reached_operations, reverse=True))
    groups = group_values_by_key(
        ((id(run.reached_operations[row.index]), row.op, row.site, tuple(row.shape)), RowAdjointSize(row.index, size))
        for row in rows
        if 0 < (size := compute_root_mean_square(run.find_adjoint(row.index))) < inf
    )
    for group in groups.values():
        if len(group) < MIN_REPETITIONS:
            continue
        # An operation that is not an ancestor of the last one is an input of each repetition or belongs to another
        # loop.
        ancestors = run.find_row_and_connected_ancestors(group[0].row)
        series = [repetition for repetition in group if repetition.row in ancestors]
        if len(series) >= MIN_REPETITIONS:
            yield series


def _does_repetition_select_new_part(run: CheckedRun, row: int, previous: int) -> bool:
    """Return whether a repetition selects a part of a sequence that the previous repetition did not use."""
    rows = (index for step in run.rows[previous + 1 : row + 1] for index in (step.index, *step.inputs))
    return any(find_selection_word(run.rows[index].op) and run.consumers[index][0] > previous for index in rows)


def check_saturated_activations(run: CheckedRun) -> Suspicions:
    """Find an activation that passed on almost none of the adjoint.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named_last_first(run.op_names.saturating_ops):
        adjoint = run.find_adjoint(row.index)
        received = compute_root_mean_square(adjoint)
        sent = compute_root_mean_square(run.find_share_sent_to_first_input(row))
        if not 0 < sent < VANISHING_RATIO * received < inf:
            continue
        if sent >= VANISHING_RATIO * _find_smallest_adjoint_size_from_row_to_target(run, row.index):
            continue
        if _has_small_or_unknown_slope(run, row, adjoint):
            name = run.find_activation_or_operation_name(row)
            only_rows = find_row_and_its_tiny_adjoint_ancestors(run, row.index, received)
            # Rounding errors pass back a little, so the gradient of such a softmax isn't exactly zero.
            if name == "softmax" and is_softmax_of_single_elements(run.find_array(row.index)):
                yield build_row_suspicion(row, "zero_cancels", {"what": name}, "one", only_rows)
                continue
            fields = {"what": name, "from_": received, "to": sent, "ratio": sent / received}
            yield build_row_suspicion(row, "vanishing", fields, "saturated", only_rows)


def _find_smallest_adjoint_size_from_row_to_target(run: CheckedRun, row: int) -> float:
    """Return the size of the smallest adjoint between the target and a row.

    The adjoint at a logarithm's input is large if a probability is small, so the adjoint at the row alone is
    misleading.
    """
    downstream = {row}
    waiting = [row]
    while waiting:
        for consumer in run.consumers.get(waiting.pop(), ()):
            if consumer in run.reached_operations and consumer not in downstream:
                downstream.add(consumer)
                waiting.append(consumer)
    return min(compute_root_mean_square(run.find_adjoint(index)) for index in downstream)


def _has_small_or_unknown_slope(run: CheckedRun, row: RecordedRow, adjoint: OptionalArray) -> bool:
    """Return whether an activation is almost flat at the elements that an adjoint reached.

    A flat slope shows that the gradient is small because of the activation, and not because shares cancel.
    """
    value = run.find_array(row.index)
    if value is None or adjoint is None or value.shape != adjoint.shape:
        return True
    slope = 1 - value * value if run.find_activation_or_operation_name(row) == "tanh" else value * (1 - value)
    return compute_root_mean_square(adjoint * slope) < 10 * VANISHING_RATIO * compute_root_mean_square(adjoint)


def find_row_and_its_tiny_adjoint_ancestors(run: CheckedRun, row: int, adjoint_size: float) -> RowSet:
    """Return a row, together with any ancestors that received almost no adjoint.

    An input of every repetition, such as a solver parameter, is not included, because it receives its gradient from the
    other repetitions.

    Args:
        run: The run to check.
        row: The row of an operation that an adjoint reached.
        adjoint_size: The root mean square of the adjoint at the operation.
    """
    ancestors = run.find_row_and_connected_ancestors(row)
    return {row} | {
        index
        for index, adjoint in run.reached_operations[row].adjoints.items()
        if index in ancestors and compute_root_mean_square(to_float_array(adjoint)) < VANISHING_RATIO * adjoint_size
    }


def check_gradients_and_weights_growing_in_steps(run: CheckedRun) -> Suspicions:
    """Find a source whose gradient and value grow from one optimizer step to the next.

    Args:
        run: The run to check.
    """
    for source in run.sources_with_gradient.values():
        steps, rows = run.find_optimizer_steps(source), run.find_source_rows(source)
        adjoints = (
            to_float_array(sweep.adjoints.get(row)) for sweep in run.sweeps for row in rows if row in sweep.adjoints
        )
        norms = [float(np.linalg.norm(adjoint)) for adjoint in adjoints if adjoint is not None]
        if min(len(norms) - 1, len(steps)) <= 1 or not all(after > 1.5 * before for before, after in pairwise(norms)):
            continue
        values = (run.find_array(row) for row in rows if run.rows[row].kind != "operation")
        weights: list[Any] = [0.0, 0.0, *(value for value in values if value is not None)]
        before, after = weights[-2:]
        weight_norm = float(np.linalg.norm(before))
        ratio = float(np.linalg.norm(after - before)) / weight_norm if weight_norm else 0.0
        if ratio > 0.5 and norms[-1] > 20 * norms[0] > 0:
            fields = {"from_": norms[0], "to": norms[-1], "n": len(norms), "ratio": ratio}
            keys = set(run.sources_with_gradient)
            yield Suspicion("exploding", steps[-1].site, fields, source_keys=keys, variant="steps")
            return


LEADING_CHECKS: tuple[Check, ...] = (check_accidental_broadcast, check_activation_before_logits_loss)
TRAILING_CHECKS: tuple[Check, ...] = (
    check_gradients_and_weights_growing_in_steps,
    check_term_without_gradient,
    check_gradient_of_rounding_errors,
    check_vanishing_or_exploding_by_repetition,
    check_saturated_activations,
)


def format_step_count(count: int) -> str:
    """Format a number of steps, as in "3 steps".

    Args:
        count: The number of steps.
    """
    return fill("1 step") if count == 1 else fill("{n} steps", n=count)


def compute_max_abs_or_zero(array: OptionalArray) -> float:
    """Return the largest absolute value in an array, or 0 for an empty array or None.

    Args:
        array: The array, or None.
    """
    return float(np.abs(array).max(initial=0.0)) if array is not None else 0.0


def compute_root_mean_square(array: OptionalArray) -> float:
    """Return the root mean square of an array, or 0 if it has no elements.

    Args:
        array: The array, or None.
    """
    largest = compute_max_abs_or_zero(array)
    if array is None or not 0 < largest < inf:
        return largest
    # After scaling by the largest element, the squares do not overflow.
    return largest * float(np.sqrt(np.mean((array / largest) ** 2)))
