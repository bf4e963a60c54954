"""Write the rows of a JAX recording, with the names of arguments and the lines of equations."""

from __future__ import annotations

import ast
import re
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path

from ...engine.record.user_frames import is_minitape_or_library_file
from ...explain.reasons.program_text import find_statement
from ...recording.recorded_rows import OptionalArray
from ...recording.sites import NOWHERE, Site
from ..kept_values import SMALL_SIZE, KeptValue, MemoryBudget
from ..outside_values import unwrap_function

if TYPE_CHECKING:
    from ...engine.types import FactsById, NameList, OptionalNumber, RowList, Scope
    from .recording import JaxRecording

LABELS = {
    "add": "+",
    "add_any": "+",
    "sub": "−",
    "mul": "×",
    "div": "÷",
    "dot_general": "@",
    "neg": "−x",
    "square": "x²",
    "sqrt": "√",
    "reduce_sum": "Σ",
    "pow": "xʸ",
    "convert_element_type": "cast",
    "slice": "[ ]",
    "dynamic_slice": "[ ]",
    "gather": "[ ]",
}
STEP_OPS = {"round", "floor", "ceil", "sign"}  # JAX sends no gradients through these operations.
# These additional jax.numpy functions consist of comparisons and selections.
STEP_FUNCTIONS = STEP_OPS | {"trunc", "fix", "heaviside", "floor_divide"}


NUMBER_TYPES = (bool, int, float, complex)
# These functions subtract a mean or divide by a sum, so a constant offset or factor cancels.
NORMALIZING_FUNCTIONS = set("softmax log_softmax logsumexp standardize var std _var _std".split())


class JaxValue(KeptValue):
    """A JAX array that can be shown later. JAX arrays do not change, so the array is not copied."""

    __slots__ = ()

    def to_array(self) -> OptionalArray:
        """Return the elements of the array, or the integers of a random key."""
        return np.asarray(jax.random.key_data(self.content)) if is_random_key(self.content) else super().to_array()


class JaxVariable:
    """The array and row of a jaxpr variable.

    Attributes:
        value: The array, or None after its release.
        row: The array's row, or None if the array does not depend on any row.
        has_float_source: Whether the array depends on an argument that contains floats. If so, calls with this array as
            an input are opened.
        site: The line that computed or first used the array.
        outside_arrays: For an array without a row, the arrays from outside the function that it depends on.
        before_broadcast: For an array without a row, the variable before broadcasting, or None if it was not broadcast.
    """

    __slots__ = "value row has_float_source site outside_arrays before_broadcast".split()

    def __init__(
        self,
        value: Any,
        row: OptionalNumber = None,
        has_float_source: bool = False,
        site: Site = NOWHERE,
        outside_arrays: Sequence | None = None,
    ):
        """Create a variable that holds an array. By default, an array without a row comes from outside the function."""
        self.value = value
        self.row = row
        self.site = site
        if row is None and outside_arrays is None:
            self.outside_arrays: Sequence = [value]
        else:
            self.outside_arrays = outside_arrays or []
        self.before_broadcast: Any = None
        self.has_float_source = has_float_source

    @property
    def required_row(self) -> int:
        """The row of a variable that is known to have one."""
        assert self.row is not None
        return self.row


JaxVariables = list[JaxVariable]


class JaxExtra(NamedTuple):
    """The facts about a row that only the JAX checks need.

    Attributes:
        custom_rule: The program's custom derivative rule as "name at file:line", or "" if none exists.
        outside_arrays: For a constant, the arrays from outside the function that it depends on.
    """

    custom_rule: str = ""
    outside_arrays: Sequence = ()

    def find_object(self) -> None:
        """Return None, because a trace's arrays no longer exist."""


class JaxCall(NamedTuple):
    """A completed operation.

    Attributes:
        compute: A function that computes the results from the input arrays. It may be called repeatedly.
        inputs: The inputs.
        rows: The rows of the results.
    """

    compute: Callable[..., list]
    inputs: JaxVariables
    rows: RowList


class BranchChoice(NamedTuple):
    """A ``cond`` that ran one of its branches.

    Attributes:
        input_rows: The rows of its inputs.
        site: The line of the ``cond``.
        branch_index: The index of the branch that ran.
    """

    input_rows: RowList
    site: Site
    branch_index: int


class JaxLog:
    """Writes the rows of a recording.

    Attributes:
        recording: The recording to write.
        rows: The rows of the recording.
        calls: The operations that ran, in order.
        branch_choices: The branches taken by ``cond``.
        outside_reads: The arrays that are not arguments, each with the first line that reads it, keyed by the array's
            identity.
    """

    def __init__(self, recording: JaxRecording):
        """Create the log of a recording."""
        # A weak reference, so that a recording's arrays are freed together with the recording, not when the garbage
        # collector runs.
        self.recording: JaxRecording = weakref.proxy(recording)
        self.rows = recording.rows
        self.calls: list[JaxCall] = []
        self.branch_choices: list[BranchChoice] = []
        self._memory_budget = MemoryBudget()
        # The keys of these dictionaries are identities of arrays, and the values contain the arrays.
        self._rows_by_array: FactsById = {}
        self._constant_rows: FactsById = {}
        self.outside_reads: FactsById = {}

    # -- which row ---------------------------------------------------------------------------------

    def find_row(self, array_or_name: Any) -> OptionalNumber:
        """Return the row of a program's array, or the last row with a given name, or None if neither exists.

        Args:
            array_or_name: An array or a name.
        """
        if isinstance(array_or_name, str):
            return next(
                (recorded_row.index for recorded_row in reversed(self.rows) if recorded_row.name == array_or_name), None
            )
        return self._rows_by_array.get(id(array_or_name), (None, None))[1]

    def find_outside_read_site(self, array: Any) -> Site:
        """Return the first line that reads an array that is not an argument, or NOWHERE if no line does.

        Args:
            array: The array.
        """
        return self.outside_reads.get(id(array), (None, NOWHERE))[1]

    def register_row_if_new_array(self, value: Any, row: int) -> None:
        """Record that a row stands for one of the program's arrays.

        Numbers are not registered, because equal numbers may be the same object. Numbers are found only by name.

        Args:
            value: The array or number.
            row: The row.
        """
        if not isinstance(value, NUMBER_TYPES):
            self._rows_by_array.setdefault(id(value), (value, row))

    # -- new rows ----------------------------------------------------------------------------------

    def add_argument_leaf(self, value: Any, name: str, is_differentiated: bool) -> JaxVariable:
        """Add the row of an argument leaf. The row has no line, because no line in the function created the leaf.

        Args:
            value: The array or number.
            name: The name of the leaf, such as ``params['w']``.
            is_differentiated: Whether the function is differentiated with respect to the argument.
        """
        array = value if is_random_key(value) else jnp.asarray(value)
        is_tracked = is_differentiated and is_inexact(array)
        row = self.recording.add_leaf(
            self.keep_value(array),
            name=name,
            kind="source" if is_tracked else "constant",
            tracked=is_tracked,
            extra=JaxExtra(),
            **read_dtype_and_shape(array),
        )
        self.register_row_if_new_array(value, row)
        return JaxVariable(array, row, has_float_source=is_inexact(array))

    def move_name_to_row(self, row: int, name: str, previous_row: OptionalNumber) -> None:
        """Give a row its name in the program, and take that name away from the row that had it before.

        The previous row computed only a part of the value that has this name.

        Args:
            row: The row that receives the name.
            name: The name.
            previous_row: The row that had the name in the same statement, or None.
        """
        recorded_row = self.rows[row]
        if recorded_row.kind == "operation" and recorded_row.name in (None, name):
            recorded_row.name = name
            if previous_row is not None and previous_row != row and self.rows[previous_row].name == name:
                self.rows[previous_row].name = None

    def find_row_or_add_constant_unless_scalar(self, variable: JaxVariable) -> OptionalNumber:
        """Return the row of an array. An array without a row is added as a constant.

        Args:
            variable: The variable that holds the array.

        Returns:
            The row, or None for a single number, which is shown in a label instead.
        """
        if variable.row is not None or np.ndim(variable.value) == 0:
            return variable.row
        _, known_row = self._constant_rows.get(id(variable.value), (None, None))
        if known_row is not None:
            return known_row
        unbroadcast_row = (
            None
            if variable.before_broadcast is None
            else self.find_row_or_add_constant_unless_scalar(variable.before_broadcast)
        )
        value = self.keep_value(variable.value)
        facts = read_dtype_and_shape(variable.value) | {
            "site": variable.site,
            "tracked": False,
            "extra": JaxExtra(outside_arrays=variable.outside_arrays),
        }
        if unbroadcast_row is None:
            row = self.recording.add_leaf(value, kind="constant", **facts)
        else:
            row = self.recording.add_operation("broadcast_in_dim", [unbroadcast_row], value, **facts)
        self._constant_rows[id(variable.value)] = variable.value, row
        return row

    def run_operation_and_record_if_input_has_row(
        self,
        op: str,
        compute: Callable[..., list],
        inputs: JaxVariables,
        site: Site,
        scope: Scope = (),
        label: str = "",
        custom_rule: str = "",
    ) -> JaxVariables:
        """Run an operation, and record its results as rows.

        If none of the inputs has a row, the results have no rows either.

        Args:
            op: JAX's name for the operation.
            compute: A function that computes the results from the input arrays.
            inputs: The inputs.
            site: The line of the operation.
            scope: The names of the open functions, outermost first.
            label: The label shown in pictures, or "" for the operation's usual label.
            custom_rule: The program's custom derivative rule as "name at file:line", or "" if none exists.

        Returns:
            The variables of the results.
        """
        for variable in inputs:
            if variable.site is NOWHERE:
                variable.site = site
            for array in variable.outside_arrays if variable.row is None else ():
                self.outside_reads.setdefault(id(array), (array, site))
        results = compute(*[variable.value for variable in inputs])
        if all(variable.row is None for variable in inputs) or not results:
            outside_arrays = list(
                {id(array): array for variable in inputs for array in variable.outside_arrays}.values()
            )
            unrecorded_results = [JaxVariable(result, site=site, outside_arrays=outside_arrays) for result in results]
            if op == "broadcast_in_dim":
                unrecorded_results[0].before_broadcast = inputs[0]
            return unrecorded_results
        input_rows = [
            row for variable in inputs if (row := self.find_row_or_add_constant_unless_scalar(variable)) is not None
        ]
        has_tracked_input = self.recording.is_any_tracked(input_rows)
        has_float_source = any(variable.has_float_source for variable in inputs)
        label = self._format_label_with_number_operand(label or LABELS.get(op, op), inputs)
        output_rows: RowList = []
        for output, result in enumerate(results):
            may_be_tracked = has_float_source and any(
                is_inexact(jnp.asarray(variable.value)) for variable in inputs if not is_random_key(variable.value)
            )
            cause = self._find_break_cause(op, result) if has_tracked_input or may_be_tracked else ""
            row = self.recording.add_operation(
                op,
                input_rows,
                self.keep_value(result),
                label=label,
                call_id=output_rows[0] if output_rows else None,
                output=output,
                site=site,
                scope=scope,
                tracked=has_tracked_input and not cause,
                cause=cause,
                extra=JaxExtra(custom_rule),
                **read_dtype_and_shape(result),
            )
            output_rows.append(row)
        self.calls.append(JaxCall(compute, inputs, output_rows))
        return [JaxVariable(result, row, has_float_source) for result, row in zip(results, output_rows, strict=True)]

    def _find_break_cause(self, op: str, result: Any) -> str:
        """Return the reason why an operation blocks the gradient, or "" if the gradient passes."""
        if op == "stop_gradient":
            return "stop_gradient"
        if not is_inexact(result):
            return "integer_cast" if op == "convert_element_type" else "no_derivative"
        return "zero_derivative" if op in STEP_OPS else ""

    def _format_label_with_number_operand(self, label: str, inputs: JaxVariables) -> str:
        """Return a label such as "× 2.0" for an operation on an array and a number."""
        are_numbers = [variable.row is None and np.ndim(variable.value) == 0 for variable in inputs]
        if are_numbers == [False, True]:
            return f"{label} {inputs[1].value}"
        return f"{inputs[0].value} {label}" if are_numbers == [True, False] else label

    def release_arrays_not_needed_by_sweep(self) -> None:
        """Release the arrays that no sweep will need again.

        An array is kept if it fits into the memory budget of `keep_value`, or if the program still refers to it.
        """
        self._constant_rows.clear()
        for variable in [variable for call in self.calls for variable in call.inputs]:
            if variable.row is not None or np.size(variable.value) > SMALL_SIZE:
                variable.value = None

    # -- values ------------------------------------------------------------------------------------

    def keep_value(self, array: Any) -> JaxValue:
        """Keep an array so that it can be shown later, and return its `JaxValue`.

        Large arrays are reduced to summaries when the memory budget is exceeded.
        """
        value = JaxValue(array)
        if not is_random_key(array):
            self._memory_budget.add_value_and_enforce_limit(
                value, np.size(array), np.size(array) * np.dtype(array.dtype).itemsize
            )
        return value


def is_random_key(value: Any) -> bool:
    """Return whether a value is an array of typed random keys (``jax.random.key``)."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def is_inexact(array: Any) -> bool:
    """Return whether gradients flow through values of this dtype.

    Args:
        array: An object with a ``dtype``.

    >>> is_inexact(jnp.ones(2)), is_inexact(jnp.arange(2))
    (True, False)
    """
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def read_dtype_and_shape(array: Any) -> dict:
    """Return the dtype and the shape of an array as fields of a row."""
    return {"dtype": str(array.dtype), "shape": tuple(np.shape(array))}


class JaxPlace(NamedTuple):
    """The location of an equation in the user's program.

    Attributes:
        site: The user's innermost line.
        library_function: The library function called on this line, or "" if the line calls none.
        bound_name: The name that the statement binds, if the equation is part of the statement's outermost call or
            operation, or "" otherwise.
    """

    site: Site = NOWHERE
    library_function: str = ""
    bound_name: str = ""


def find_place_of_equation(eqn: Any) -> JaxPlace:
    """Return the location of an equation in the user's program.

    Args:
        eqn: A jaxpr equation.

    >>> def double(x):
    ...     y = jnp.tanh(x * 2.0)
    ...     return y
    >>> [find_place_of_equation(eqn).bound_name for eqn in jax.make_jaxpr(double)(1.0).eqns]
    ['', 'y']
    """
    traceback = eqn.source_info.traceback
    library_function = ""
    for index, frame in enumerate(() if traceback is None else traceback.frames):
        if not is_minitape_or_library_file(frame.file_name):
            codes, instructions = traceback.raw_frames()
            span = tuple(traceback.code_addr2location(codes[index], instructions[index]))
            return JaxPlace(
                (frame.file_name, frame.line_num),
                library_function,
                find_name_bound_to_expression(frame.file_name, *span),
            )
        library_function = frame.function_name
    return JaxPlace()


@lru_cache(maxsize=4096)
def find_name_bound_to_expression(
    file: str, first_line: int, first_column: int, last_line: int, last_column: int
) -> str:
    """Return the name that a statement binds to the expression at the given lines and columns.

    Returns "" if the expression is only a part of the bound value.
    """
    statement = find_statement((file, first_line))
    names = statement.targets
    if len(names) != 1 or not isinstance(names[0], ast.Name):
        return ""
    is_whole_value = (
        statement.value is not None
        and statement.find_expression((first_line, last_line, first_column, last_column)) is statement.value
    )
    return names[0].id if is_whole_value else ""


def list_leaf_names_by_argument(function: Any, args: tuple) -> list[NameList]:
    """Return the names of each argument's leaves, such as ``params['w']``.

    Args:
        function: The function whose parameters provide the names.
        args: The arguments.

    >>> list_leaf_names_by_argument(lambda x, p: None, (1.0, {"w": 2.0}))
    [['x'], ["p['w']"]]
    """
    try:
        heads = [*signature(function).bind(*args).arguments]
        # If a library wraps the program's function, the wrapped function has a better name for the first argument.
        if is_minitape_or_library_file(getattr(getattr(function, "__code__", None), "co_filename", "")):
            heads[:1] = list(signature(unwrap_function(function)).parameters)[:1]
    except (TypeError, ValueError):
        heads = []
    if len(heads) != len(args):  # The function may have a parameter such as ``*args``.
        heads = [f"args[{index}]" for index in range(len(args))]
    return [
        [head + _format_tree_path(path) for path, _ in tree_flatten_with_path(argument)[0]]
        for head, argument in zip(heads, args, strict=True)
    ]


def _format_tree_path(path: tuple) -> str:
    """Return a leaf's path as written in a program, or its path in the module for a ``flax.nnx`` state.

    >>> _format_tree_path(jax.tree_util.tree_flatten_with_path({"a": [1.0]})[0][0][0])
    "['a'][0]"
    """
    text = keystr(path)
    match = re.fullmatch(r"(\.states\[\d+\])?(.+?)(\.value)?", text) if "flax.nnx" in sys.modules else None
    if match is None:
        return text
    return re.sub(r"\['(\w+)'\]", r".\1", match[2]) if match[1] else match[2]
