"""The rows of a recording of JAX: names of arguments, lines of equations, and a new row for what was computed."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...engine.record.user_frames import is_minitape_or_library_file
from ...explain.reasons import program_text
from ...explain.reasons.question import OptionalArray
from ...recording.sites import NOWHERE, Site
from ..kept_values import SMALL_SIZE, KeptValue, MemoryBudget
from .program_origin import unwrap_function

if TYPE_CHECKING:
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
STEP_OPS = {"round", "floor", "ceil", "sign"}  # JAX sends no gradient through them
# functions of jax.numpy, made of comparisons and choices
STEP_FUNCTIONS = STEP_OPS | {"trunc", "fix", "heaviside", "floor_divide"}


NUMBER_TYPES = (bool, int, float, complex)
# compute with shares or differences
NORMALIZING_FUNCTIONS = set("softmax log_softmax logsumexp standardize var std _var _std".split())


class JaxValue(KeptValue):
    """An array of JAX, to be shown on demand. It does not change."""

    __slots__ = ()

    def to_array(self) -> OptionalArray:
        """Return its elements; of a random key its numbers."""
        return np.asarray(jax.random.key_data(self.content)) if is_random_key(self.content) else super().to_array()


class JaxVariable:
    """What a variable of a jaxpr stands for: an array, and its row; None if it was not computed from any row."""

    __slots__ = "value row has_float_source site outside_arrays before_broadcast".split()

    def __init__(
        self,
        value: Any,
        row: int | None = None,
        has_float_source: bool = False,
        site: Site = NOWHERE,
        outside_arrays: Sequence | None = None,
    ) -> None:
        self.value, self.row, self.site = value, row, site
        # of what is no row: the arrays from outside that it was computed from
        self.outside_arrays = [value] if row is None and outside_arrays is None else outside_arrays or []
        self.before_broadcast: Any = None  # of what is no row: what it was before broadcasting
        self.has_float_source = has_float_source  # computed from an argument that is a float: calls with it are opened

    @property
    def required_row(self) -> int:
        """Return the row, which must be there."""
        assert self.row is not None
        return self.row


class JaxExtra(NamedTuple):
    """What explain asks about a row of JAX."""

    cause: str = ""  # why no gradient passes
    origin_rows: Sequence[int] = ()
    custom_rule: str = ""  # of what has a derivative rule of the program's own: where that is
    outside_arrays: Sequence = ()  # of a constant: the arrays from outside that it is, or was computed from


class JaxCall(NamedTuple):
    """An operation that ran: what computes it (again), from what, and which rows it made."""

    compute: Callable[..., list]
    inputs: list[JaxVariable]
    rows: list[int]


class BranchChoice(NamedTuple):
    """A ``cond`` that took one branch, and the rows of its inputs."""

    input_rows: list[int]
    site: Site
    branch_index: int


class JaxLog:
    """Writes the rows of a recording."""

    def __init__(self, recording: JaxRecording) -> None:
        self.recording, self.entries = recording, recording.entries
        self.calls: list[JaxCall] = []
        self.branch_choices: list[BranchChoice] = []
        self._memory_budget = MemoryBudget()
        self._rows_by_array: dict[int, tuple] = {}  # by identity of an array that the program has
        self._constant_rows: dict[int, tuple] = {}
        # by identity of an array that is no argument: and where it is read first
        self.outside_reads: dict[int, tuple] = {}

    # -- which row ---------------------------------------------------------------------------------

    def find_row(self, value: Any) -> int | None:
        """Return the row of an array of the program's, or of a name."""
        if isinstance(value, str):
            return next((entry.row for entry in reversed(self.entries) if entry.name == value), None)
        array, row = self._rows_by_array.get(id(value), (None, None))
        return row if array is value else None

    def register_row(self, value: Any, row: int) -> None:
        """Remember that a row stands for an array of the program's.

        Numbers are no objects of their own: they have names only.
        """
        if not isinstance(value, NUMBER_TYPES):
            self._rows_by_array.setdefault(id(value), (value, row))

    # -- new rows ----------------------------------------------------------------------------------

    def add_argument_leaf(self, value: Any, name: str, is_differentiated: bool) -> JaxVariable:
        """Add the row of an argument's leaf: no line of the function made it."""
        array = value if is_random_key(value) else jnp.asarray(value)
        is_tracked = is_differentiated and is_inexact(array)
        row = self.recording.leaf(
            self.keep_value(array),
            name=name,
            kind="source",
            tracked=is_tracked,
            extra=JaxExtra(),
            **read_dtype_and_shape(array),
        )
        self.register_row(value, row)
        return JaxVariable(array, row, has_float_source=is_inexact(array))

    def bind_name(self, row: int, name: str, previous_row: int | None) -> None:
        """Bind a name of the program's to a row, and no more to the one before, which was a part of it."""
        entry = self.entries[row]
        if entry.kind == "operation" and entry.name in (None, name):
            entry.name = name
            if previous_row is not None and previous_row != row and self.entries[previous_row].name == name:
                self.entries[previous_row].name = None

    def find_or_add_constant_array(self, variable: JaxVariable, name: str | None = None) -> int | None:
        """Return the row of an array that is no argument; None for a single number, which is in the label."""
        if variable.row is not None or np.ndim(variable.value) == 0:
            return variable.row
        _, known_row = self._constant_rows.get(id(variable.value), (None, None))
        if known_row is not None:
            return known_row
        unbroadcast_row = (
            None if variable.before_broadcast is None else self.find_or_add_constant_array(variable.before_broadcast)
        )
        if unbroadcast_row is None:
            row = self.recording.leaf(
                self.keep_value(variable.value),
                name=name,
                kind="constant",
                site=variable.site,
                tracked=False,
                extra=JaxExtra(outside_arrays=variable.outside_arrays),
                **read_dtype_and_shape(variable.value),
            )
            self.entries[row].label = name or "const"
        else:
            row = self.recording.operation(
                "broadcast_in_dim",
                [unbroadcast_row],
                self.keep_value(variable.value),
                site=variable.site,
                tracked=False,
                extra=JaxExtra(outside_arrays=variable.outside_arrays),
                **read_dtype_and_shape(variable.value),
            )
        self._constant_rows[id(variable.value)] = variable.value, row
        return row

    def run_and_record_operation(
        self,
        op: str,
        compute: Callable[..., list],
        inputs: list[JaxVariable],
        site: Site,
        scope: tuple[str, ...] = (),
        label: str = "",
        custom_rule: str = "",
    ) -> list[JaxVariable]:
        """Run an operation and write its rows; none for what is computed from nothing that is a row."""
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
        input_rows = [row for variable in inputs if (row := self.find_or_add_constant_array(variable)) is not None]
        has_tracked_input = any(self.entries[row].tracked for row in input_rows)
        has_float_source = any(variable.has_float_source for variable in inputs)
        label = self._format_label_with_number(label or LABELS.get(op, op), op, inputs)
        output_rows: list[int] = []
        for output, result in enumerate(results):
            may_be_tracked = has_float_source and any(
                is_inexact(jnp.asarray(variable.value)) for variable in inputs if not is_random_key(variable.value)
            )
            cause = self._find_break_cause(op, result) if has_tracked_input or may_be_tracked else ""
            row = self.recording.operation(
                op,
                input_rows,
                self.keep_value(result),
                label=label,
                call_id=output_rows[0] if output_rows else None,
                output=output,
                site=site,
                scope=scope,
                cut=CUT_BY_CAUSE.get(cause) if has_tracked_input else None,
                tracked=has_tracked_input and not cause,
                extra=JaxExtra(cause, (), custom_rule),
                **read_dtype_and_shape(result),
            )
            output_rows.append(row)
        self.calls.append(JaxCall(compute, inputs, output_rows))
        return [JaxVariable(result, row, has_float_source) for result, row in zip(results, output_rows, strict=True)]

    def _find_break_cause(self, op: str, result: Any) -> str:
        """Return why no gradient passes an operation; "" where one does."""
        if op == "stop_gradient":
            return "stop_gradient"
        if not is_inexact(result):
            return "integer_cast" if op == "convert_element_type" else "no_derivative"
        return "zero_derivative" if op in STEP_OPS else ""

    def _format_label_with_number(self, label: str, op: str, inputs: list[JaxVariable]) -> str:
        """Return a label with the number that an operation has beside its one array: "× 2.0"."""
        if (
            len(inputs) != 2
            or len([variable for variable in inputs if variable.row is None and np.ndim(variable.value) == 0]) != 1
        ):
            return label
        first_number, second_number = (variable.value if variable.row is None else None for variable in inputs)
        return f"{label} {second_number}" if first_number is None else f"{first_number} {label}"

    def release_arrays(self) -> None:
        """Release what no sweep needs any more.

        What remains of arrays is what ``keep_value`` bounds, and what the program has itself.
        """
        self._constant_rows.clear()
        for variable in [variable for call in self.calls for variable in call.inputs]:
            if variable.row is not None or np.size(variable.value) > SMALL_SIZE:
                variable.value = None

    # -- values ------------------------------------------------------------------------------------

    def keep_value(self, array: Any) -> JaxValue:
        """Keep an array to be shown later."""
        value = JaxValue(array)
        if not is_random_key(array):
            self._memory_budget.add_value_and_enforce_limit(
                value, np.size(array), np.size(array) * np.dtype(array.dtype).itemsize
            )
        return value


CUT_BY_CAUSE = {
    "stop_gradient": "stop_gradient",
    "integer_cast": "integer",
    "no_derivative": "nondifferentiable",
    "zero_derivative": "nondifferentiable",
}


def is_random_key(value: Any) -> bool:
    """Return whether a value is a random key (or several) of the new kind."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def is_inexact(array: Any) -> bool:
    """Return whether gradients flow through values of this dtype.

    >>> is_inexact(jnp.ones(2)), is_inexact(jnp.arange(2))
    (True, False)
    """
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def read_dtype_and_shape(array: Any) -> dict:
    """Return the dtype and the shape of an array, as fields of a row."""
    return {"dtype": str(array.dtype), "shape": tuple(np.shape(array))}


class JaxPlace(NamedTuple):
    """Where an equation was made."""

    site: Site = NOWHERE  # the user's innermost line
    library_function: str = ""  # the function of a library that is called there
    # what the statement binds to its value, where the equation is a part of the outermost call or operation in it
    bound_name: str = ""


def find_place(eqn: Any) -> JaxPlace:
    """Return the place of an equation in the user's program.

    >>> def double(x):
    ...     y = jnp.tanh(x * 2.0)
    ...     return y
    >>> [find_place(eqn).bound_name for eqn in jax.make_jaxpr(double)(1.0).eqns]
    ['', 'y']
    """
    traceback, library_function = eqn.source_info.traceback, ""
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
    """Return the name that a statement binds to an expression, given by its lines and columns.

    Returns "" where the expression is only a part of the value.
    """
    statement = program_text.find_statement((file, first_line))
    names = statement.targets
    if len(names) != 1 or not isinstance(names[0], ast.Name):
        return ""
    is_whole_value = (
        statement.value is not None
        and statement.find_expression((first_line, last_line, first_column, last_column)) is statement.value
    )
    return names[0].id if is_whole_value else ""


def list_leaf_names_by_argument(function: Any, args: tuple) -> list[list[str]]:
    """Return for each argument the names of its leaves, such as ``params['w']``.

    >>> list_leaf_names_by_argument(lambda x, p: None, (1.0, {"w": 2.0}))
    [['x'], ["p['w']"]]
    """
    try:
        parameters = inspect.signature(function).bind(*args).arguments
        heads = [
            f"{name}[{index}]" if isinstance(value, tuple) and len(parameters) < len(args) else name
            for name, value in parameters.items()
            for index in range(len(value) if isinstance(value, tuple) and len(parameters) < len(args) else 1)
        ]
        if is_minitape_or_library_file(
            getattr(getattr(function, "__code__", None), "co_filename", "")
        ):  # a library's, for the program's
            heads[:1] = list(inspect.signature(unwrap_function(function)).parameters)[:1]
    except (TypeError, ValueError):
        heads = []
    if len(heads) != len(args):
        heads = [f"args[{index}]" for index in range(len(args))]
    return [
        [head + _format_tree_path(path) for path, _ in jax.tree_util.tree_flatten_with_path(argument)[0]]
        for head, argument in zip(heads, args, strict=True)
    ]


def _format_tree_path(path: tuple) -> str:
    """Return the path of a leaf as a program writes it; in what ``flax.nnx`` makes of a module, as in the module.

    >>> _format_tree_path(jax.tree_util.tree_flatten_with_path({"a": [1.0]})[0][0][0])
    "['a'][0]"
    """
    text = jax.tree_util.keystr(path)
    match = re.fullmatch(r"(\.states\[\d+\])?(.+?)(\.value)?", text) if "flax.nnx" in sys.modules else None
    if match is None:
        return text
    return re.sub(r"\['(\w+)'\]", r".\1", match[2]) if match[1] else match[2]
