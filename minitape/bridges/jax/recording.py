"""Define `record` and `record_if_bad`, which record a JAX function and its gradient."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import wraps
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.tree_util import tree_flatten, tree_leaves, tree_structure, tree_unflatten

from ...common.syntax import list_nodes
from ...common.translation import format_error
from ...engine.types import FloatList, NamesByRow, NameSet, OptionalNumber, RowList, RowSet
from ...explain.explanation import Explanation
from ...explain.reasons.program_text import find_statement, unparse
from ...explain.reasons.suspects import CheckedRun
from ...recording.recorded_rows import Escape
from ...recording.sites import NOWHERE, CallStack, Site, find_user_site
from ..checkup import FrameworkRecording
from ..known_errors import find_error_site
from ..recording import RowNumber
from .ascents import compute_fraction_of_elements_moved_uphill
from .backward_pass import JaxBackwardPass
from .jaxpr_run import JaxprRunner, TracerValues, disable_jit, expose_tracer_values
from .program_origin import JaxLeaf, JaxOrigin, RecordedCall, find_site_with_unread_name_or_innermost
from .row_log import (
    NUMBER_TYPES,
    JaxExtra,
    JaxLog,
    JaxVariable,
    JaxVariables,
    is_inexact,
    list_leaf_names_by_argument,
    read_dtype_and_shape,
)


class FunctionTrace(NamedTuple):
    """The result of tracing a function with ``jax.make_jaxpr``.

    Attributes:
        closed_jaxpr: The equations, with their constants.
        result_shape: The result's tree, with shapes as leaves.
        traced_leaf_indices: The indices of the traced argument leaves.
        escapes: For each value that left JAX, the method and line that read it, and the leaves that it depends on.
    """

    closed_jaxpr: Any
    result_shape: Any
    traced_leaf_indices: list[int]
    escapes: list[tuple]


class UpdateFact(NamedTuple):
    """The effect of a library's ``apply_updates`` on one parameter.

    Attributes:
        is_moved: Whether the new value differs from the old one.
        site: The line of the call, or the line that drops the new value, if there is such a line.
        update: The update that the call added, or None if there was none.
    """

    is_moved: bool
    site: Site
    update: Any


class JaxRecording(FrameworkRecording):
    """The recorded rows of a JAX function, and its gradient.

    ``explain`` accepts an argument's array or name as a source.

    Attributes:
        log: The log that writes the rows.
        is_complete: Whether all equations ran, so that `value` is the result.
        value: The function's result, or None if JAX refused the function.
        gradient: The gradient that ``jax.grad`` returns, or None if JAX refused to compute it.
        error: The error that JAX raised for the function or its gradient, or None if there was none.
        stop_site: The line of the equation that raised an error.
        recorded_call: The function, its arguments, and the line of the `record` call.
        argument_leaves: The leaves of the arguments.
        target_row: The row of the result's first leaf.
        differentiated_rows: The rows of the differentiated leaves.
        unchanged_counts: For each argument row, the number of times a step recomputed the argument without changing
            it.
        updates: For each argument row, the effect of the last ``apply_updates`` call on the argument.
        fractions_moved_uphill: For each argument row and each step so far, the fraction of the elements that moved
            along the gradient.
        unreached_rows: The differentiated rows that no adjoint reached. Their gradients are zero.
        final_leaves: The arrays that the program's last steps returned, or an empty list while the program may take
            more steps.

    >>> recording = record(lambda p: jax.lax.stop_gradient(p["w"]) * 2.0, {"w": 3.0})
    >>> recording.explain(recording.value, "p['w']").cause
    'stop_gradient'
    """

    def __init__(self) -> None:
        """Create a recording without rows."""
        super().__init__("jax")
        self.log = JaxLog(self)
        self.is_complete = False
        self.value: Any = None
        self.gradient: Any = None
        self.error: Exception | None = None
        self.stop_site = NOWHERE
        self.recorded_call = RecordedCall()
        self.argument_leaves: list[JaxLeaf] = []
        self.target_row: OptionalNumber = None
        self.differentiated_rows: RowList = []
        self.unchanged_counts: dict[int, int] = {}
        self.updates: dict[int, UpdateFact] = {}
        self.fractions_moved_uphill: dict[int, FloatList] = {}
        self.unreached_rows: RowSet = set()
        self.final_leaves: list = []

    def _explain_gradient(self, target: Any, source: Any) -> Explanation:
        from .checks import explain_gradient

        if self.internal_error is not None:
            error_text = format_error(self.internal_error)
            raise RuntimeError(f"The recording ended early, so nothing is known about the gradient: {error_text}")
        return explain_gradient(self, target, source)

    def _find_named_sources(self, subject: Any) -> Mapping[str, Any] | None:
        """Return the named sources only if `subject` is None, because a name or a tree has a single explanation."""
        return super()._find_named_sources(subject) if subject is None else None

    def map_unnamed_result_rows_to_names(self) -> NamesByRow:
        """Name the row of the result after the function."""
        name = getattr(self.recorded_call.function, "__name__", "")
        return {self.target_row: name} if self.target_row is not None and name.isidentifier() else {}

    def collect_sources_meant_to_be_trained(self) -> dict[str, RowNumber]:
        """Return the rows of the trained argument leaves, keyed by name.

        These are the differentiated leaves and the leaves that the program updates with a gradient.
        """
        origin = JaxOrigin(*self.recorded_call)
        gradient_names = self.collect_gradient_names()
        call = find_statement(self.recorded_call.site)
        updated_rows = {
            leaf.row
            for leaf in self.argument_leaves
            for statement in origin.list_statements_updating_argument(leaf)
            if gradient_names.difference(statement.bound_names) & statement.read_names
            # In ``w = w - rate * grad(loss)(x, w)``, the gradient has no name.
            or (statement is call and isinstance(call.value, ast.BinOp))
        }
        return self.map_names_or_placeholders_to_rows(
            [leaf.row for leaf in self.argument_leaves if leaf.row in updated_rows.union(self.differentiated_rows)]
        )

    def collect_gradient_names(self) -> NameSet:
        """Return the program's names for the gradient, but not those for the value and the auxiliary results."""
        statement = find_statement(self.recorded_call.site)
        # A step such as ``w = w - rate * grad(loss)(w, v)`` binds the parameter's name, not the gradient's.
        names = {*statement.bound_names} - statement.read_names
        target = statement.node.targets[0] if isinstance(statement.node, ast.Assign) else None
        if isinstance(self.value, tuple) and isinstance(target, ast.Tuple):
            # The statement has the form ``(value, aux), gradient = ...`` or ``gradient, aux = ...``.
            gradient = target.elts[-1 if isinstance(target.elts[0], ast.Tuple) else 0]
            names &= {unparse(node) for node in list_nodes(gradient, ast.expr)}
        return names

    def record_arguments_unchanged_or_moved_uphill(self, previous: JaxRecording) -> None:
        """Count the arguments that a step recomputed without any change, and record the direction of other changes.

        Args:
            previous: The previous recording of the same function. Its updates, counts and fractions are carried over to
                the new recording.
        """
        earlier_leaves = previous.list_differentiated_leaves()
        gradients = dict(zip(previous.differentiated_rows, tree_leaves(previous.gradient), strict=False))
        for earlier, leaf in zip(earlier_leaves, self.list_differentiated_leaves(), strict=False):
            update = previous.updates.get(earlier.row)
            if update is not None:
                self.updates.setdefault(leaf.row, update)
            # A program may request several gradients with respect to the same array before it takes a step.
            took_no_step = earlier.value is leaf.value and (update is None or not update.is_moved)
            # JAX deletes arrays that are donated to a compiled function.
            if hasattr(earlier.value, "is_deleted") and earlier.value.is_deleted():
                continue
            # If no step took place, it is unknown whether steps change the array.
            if not took_no_step and np.array_equal(earlier.value, leaf.value):
                self.unchanged_counts[leaf.row] = previous.unchanged_counts.get(earlier.row, 0) + 1
            if earlier.row in gradients:
                fraction = compute_fraction_of_elements_moved_uphill(earlier.value, leaf.value, gradients[earlier.row])
                fractions = previous.fractions_moved_uphill.get(earlier.row, [])
                self.fractions_moved_uphill[leaf.row] = fractions if fraction is None else [*fractions, fraction]

    def list_differentiated_leaves(self) -> list[JaxLeaf]:
        """Return the leaves of the differentiated arguments."""
        return [leaf for leaf in self.argument_leaves if leaf.row in self.differentiated_rows]

    def is_unchanged_at_end(self, leaf: JaxLeaf) -> bool:
        """Return whether the program's last steps returned a parameter with its recorded value unchanged.

        Later steps may change a parameter, for example after the learning rate has warmed up.

        Args:
            leaf: The leaf of the parameter.
        """
        return any(np.array_equal(leaf.value, final) for final in self.final_leaves)

    def record_updates(self, old_leaves: list, new_leaves: list, updates: list, call_stack: CallStack) -> None:
        """Store the effect of an ``apply_updates`` call on this recording's arguments.

        Args:
            old_leaves: The leaves of the parameters that the call received.
            new_leaves: The leaves of the parameters that the call returned, in the same order.
            updates: The updates of these leaves, with None for a leaf that is not updated.
            call_stack: The lines that led to the call, outermost first.
        """
        results_by_id = {id(old): results for old, *results in zip(old_leaves, new_leaves, updates, strict=True)}
        for leaf in self.argument_leaves:
            if id(leaf.value) in results_by_id:
                new, update = results_by_id[id(leaf.value)]
                is_moved = not np.array_equal(leaf.value, new)
                site = find_site_with_unread_name_or_innermost(call_stack) if is_moved else call_stack[-1]
                self.updates[leaf.row] = UpdateFact(is_moved, site, update)

    def map_names_or_placeholders_to_rows(self, rows: RowList) -> dict[str, RowNumber]:
        """Return those of the given rows that are leaves, keyed by name.

        Args:
            rows: The rows of the leaves.
        """
        return {self.rows[row].name or f"[{row}]": RowNumber(row) for row in rows}

    def build_checked_run(self) -> CheckedRun:
        """Return the facts that the checks for wrong gradients need."""
        from .suspects import build_checked_run

        return build_checked_run(self)

    def list_rows(self, source: Any) -> RowList:
        """Return the rows of a source that was passed to ``explain``.

        Args:
            source: An array, a name, a number, or a tree of arrays. A tree stands for the rows of its leaves. A number
                matches all arguments with this value, or only the differentiated ones if there are any.

        Returns:
            The row numbers, or an empty list if the recording does not contain the source.
        """
        if isinstance(source, NUMBER_TYPES) and not isinstance(source, RowNumber):
            equal_leaves = [
                leaf for leaf in self.argument_leaves if type(leaf.value) is type(source) and leaf.value == source
            ]
            matching_leaves = [leaf for leaf in equal_leaves if leaf.value is source] or equal_leaves
            matching_rows = [leaf.row for leaf in matching_leaves]
            return [row for row in matching_rows if row in self.differentiated_rows] or matching_rows
        row = self.find_row(source)
        if row is not None or hasattr(source, "shape"):
            return [] if row is None else [row]
        if isinstance(source, str):
            return [
                leaf.row
                for leaf in self.argument_leaves
                if _is_leaf_of_argument_or_dict_key(self.rows[leaf.row].name or "", source)
            ]
        whole_rows = [
            leaf.row for leaf in self.argument_leaves if self.recorded_call.args[leaf.argument_index] is source
        ]
        if whole_rows:
            return whole_rows
        parts = tree_leaves(source)
        if len(parts) == 1 and parts[0] is source:
            return []
        return [row for part in parts for row in self.list_rows(part)]

    def find_row(self, value: Any) -> OptionalNumber:
        """Return the last row with a given name or for a given array, or None if no such row exists."""
        row = self.log.find_row(value)
        return super().find_row(value) if row is None else row

    def find_explainable_object(self, row: int) -> RowNumber:
        """Return the number of a row, because ``explain`` finds every JAX value by its row number."""
        return RowNumber(row)


def _is_leaf_of_argument_or_dict_key(leaf_name: str, wanted: str) -> bool:
    """Return whether a leaf is part of the argument with the given name, or is the dictionary entry with that key."""
    return leaf_name.startswith((f"{wanted}[", f"{wanted}.")) or leaf_name.endswith(f"[{wanted!r}]")


def record(
    function: Callable,
    *args: Any,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
) -> JaxRecording:
    """Compute and record ``function(*args)`` and its gradient.

    The gradient is the same as the one from ``jax.value_and_grad(function, argnums, has_aux)``. If JAX refuses the
    program, the error is stored in ``recording.error``. JAX refuses, for example, ``x[0] = 1.0``, a call to ``float()``
    with a traced value, a wrong shape, or a result that is not a number. If the function itself raises an error,
    `record` raises it too.

    `record` runs the function to trace it. If the program compiles the function, JAX traces it as under ``jit``.
    Otherwise an argument that is neither a float nor an array stays a plain Python value, and a Python condition may
    depend on a value wherever ``jax.grad`` allows it. Calls to ``jit``, ``scan`` and ``cond`` that depend on an
    argument are opened. A call is recorded as one row if the recording would otherwise exceed 20,000 rows, or if it is
    a ``scan`` with more than 3,000 inner rows.

    Args:
        function: The function to differentiate.
        args: The function's arguments, which may be arrays, numbers, or trees of these.
        argnums: The positions of the arguments to differentiate with respect to, as for ``jax.grad``.
        has_aux: Whether the function returns a pair of the result and auxiliary data.

    Returns:
        The recording, with the result as ``value`` and the gradient as ``gradient``.

    >>> recording = record(lambda x, n: x**2 * n, 3.0, 2.0, argnums=(0, 1))
    >>> recording.gradient
    (Array(12., dtype=float32, weak_type=True), Array(9., dtype=float32, weak_type=True))
    >>> record(lambda x: x * float(x), 3.0).error
    ConcretizationTypeError(...)
    """
    recording = JaxRecording()
    recording.recorded_call = RecordedCall(function, args, find_user_site())
    argument_indices = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    argument_indices = tuple(
        index % len(args) if -len(args) <= index < len(args) else index for index in argument_indices
    )
    if not argument_indices or not all(0 <= index < len(args) for index in argument_indices):
        raise ValueError(f"argnums={argnums!r} does not fit {len(args)} argument{'' if len(args) == 1 else 's'}.")
    trace = _trace_function_or_store_error(recording, function, args, argument_indices)
    leaves = _add_argument_leaves(recording, function, args, argument_indices)
    if trace is not None:
        for method, site, values in trace.escapes:
            rows = [leaf.row for leaf in recording.argument_leaves if any(leaf.value is value for value in values)]
            recording.escapes += [Escape(row, method, site, 0) for row in rows]
        with disable_jit():
            traced_leaves = [leaves[leaf_index] for leaf_index in trace.traced_leaf_indices]
            if _run_forward_unless_tracer_leaks(recording, trace.closed_jaxpr, traced_leaves, trace.result_shape):
                differentiated = [leaf for leaf in leaves if leaf.row in recording.differentiated_rows]
                _run_backward_or_store_error(recording, function, args, argnums, has_aux, differentiated)
    recording.log.release_arrays_not_needed_by_sweep()
    recording.close()
    return recording


def record_if_bad(gradient: Any, function: Callable, *args: Any, **options: Any) -> JaxRecording | None:
    """Record ``function(*args)`` if a leaf of its gradient is all zeros, NaN or infinite.

    The function runs again without the compiler but with the same arguments, so that the recording shows exactly the
    bad step.

    Args:
        gradient: The gradient of a training step, compiled or not, as a tree of arrays.
        function: The function that was differentiated.
        args: Its arguments in that step.
        options: The options of `record`.

    Returns:
        The recording, or None if the gradient is good.

    Raises:
        TypeError: If the gradient contains tracers, whose values are unknown.

    >>> loss = lambda w, x: jax.numpy.sum(jax.numpy.sqrt(w * x))
    >>> step = jax.jit(jax.grad(loss))
    >>> record_if_bad(step(1.0, 2.0), loss, 1.0, 2.0) is None
    True
    >>> record_if_bad(step(0.0, 2.0), loss, 0.0, 2.0).explain("w").cause
    'nan_backward'
    """
    leaves = [leaf for leaf in tree_leaves(gradient) if not hasattr(leaf, "dtype") or is_inexact(leaf)]
    if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        raise TypeError(
            "record_if_bad() needs concrete values, but there are none while a function is traced. Call it on the "
            "results of the compiled step."
        )
    return record(function, *args, **options) if _is_any_leaf_zero_or_nonfinite(leaves) else None


@jax.jit
def _is_any_leaf_zero_or_nonfinite(leaves: list) -> Any:
    """Return whether any leaf contains only zeros or has a non-finite element."""
    bad_flags = [~jax.numpy.isfinite(leaf).all() | ~jax.numpy.any(leaf) for leaf in leaves]
    return jax.numpy.array(bad_flags, bool).any()


def _trace_function_or_store_error(
    recording: JaxRecording, function: Any, args: tuple, argument_indices: tuple[int, ...]
) -> FunctionTrace | None:
    """Trace a function with ``jax.make_jaxpr``. If JAX refuses the function, store the error and return None.

    If the program compiles the function, all leaves are traced. Otherwise only arrays and floats are traced. If JAX
    refuses such a trace, only the differentiated leaves are traced, with known values as in ``jax.grad``.
    """
    leaves, tree = tree_flatten(args)
    argument_of_leaf = [index for index, argument in enumerate(args) for _ in tree_leaves(argument)]
    differentiated_leaf_indices = [
        leaf_index for leaf_index, index in enumerate(argument_of_leaf) if index in argument_indices
    ]
    float_leaf_indices = [
        leaf_index
        for leaf_index, leaf in enumerate(leaves)
        if leaf_index in differentiated_leaf_indices or hasattr(leaf, "dtype") or isinstance(leaf, (float, complex))
    ]
    all_leaf_indices = list(range(len(leaves)))
    attempts = {
        "": [(float_leaf_indices, False), (differentiated_leaf_indices, True)],
        "itself": [(all_leaf_indices, False)],
        "part": [(float_leaf_indices, False)],
    }
    for traced_leaf_indices, has_known_values in attempts[
        JaxOrigin(function, args, recording.recorded_call.site).compiled_as
    ]:
        values = TracerValues([leaves[leaf_index] for leaf_index in traced_leaf_indices])

        def call_function(
            *tracers: Any, traced_leaves: list[int] = traced_leaf_indices, values: TracerValues = values
        ) -> Any:
            values.store_argument_tracers(tracers)
            all_values = dict(enumerate(leaves)) | dict(zip(traced_leaves, tracers, strict=True))
            return function(*tree_unflatten(tree, list(all_values.values())))

        try:
            with expose_tracer_values(values) if has_known_values else nullcontext():
                closed_jaxpr, shape = jax.make_jaxpr(wraps(function)(call_function), return_shape=True)(
                    *[leaves[leaf_index] for leaf_index in traced_leaf_indices]
                )
            recording.error = None
            return FunctionTrace(closed_jaxpr, shape, traced_leaf_indices, values.escapes)
        except Exception as error:
            is_jax_error = find_error_site(error).library_function or getattr(error, "__module__", "").startswith("jax")
            if not is_jax_error and not any(
                word in f"{error} {error.__cause__}"
                for word in (
                    "Tracer",
                    "_IndexUpdate",
                    "forward-mode",
                    "lax.",
                    "scalar-output",
                    "vmap",
                    "must have equal types",
                    "must have identical types",
                )
            ):
                raise
            recording.error = error  # If JAX refuses all attempts, jax.grad raises the last of these errors.
    return None


def _add_argument_leaves(
    recording: JaxRecording, function: Any, args: tuple, differentiated_indices: tuple[int, ...]
) -> JaxVariables:
    """Add rows for the argument leaves. A leaf that is not a number, such as a string, has no row."""
    variables = []
    for index, (argument, names) in enumerate(zip(args, list_leaf_names_by_argument(function, args), strict=True)):
        for leaf, name in zip(tree_leaves(argument), names, strict=True):
            if not hasattr(leaf, "dtype") and not isinstance(leaf, NUMBER_TYPES):
                variables.append(JaxVariable(leaf))
                continue
            variables.append(recording.log.add_argument_leaf(leaf, name, index in differentiated_indices))
            recording.argument_leaves.append(JaxLeaf(leaf, variables[-1].required_row, index))
    recording.differentiated_rows = [
        leaf.row for leaf in recording.argument_leaves if leaf.argument_index in differentiated_indices
    ]
    return variables


def _run_forward_unless_tracer_leaks(
    recording: JaxRecording, closed_jaxpr: Any, leaves: JaxVariables, result_shape: Any
) -> bool:
    """Run the function's equations. Return whether the equations are free of tracers leaked from another trace."""
    log = recording.log
    runner = JaxprRunner(log)
    try:
        results = runner.run_closed_jaxpr(closed_jaxpr, leaves)
    except jax.errors.UnexpectedTracerError as error:
        recording.error = error
        recording.stop_site = runner.failed_site
        return False
    for result in results:
        if result.row is None:  # The result does not depend on any argument.
            result.value = jax.numpy.asarray(result.value)
            result.row = recording.add_leaf(
                log.keep_value(result.value),
                kind="constant",
                site=result.site,
                tracked=False,
                extra=JaxExtra(),
                **read_dtype_and_shape(result.value),
            )
        log.register_row_if_new_array(result.value, result.row)
    recording.is_complete = True
    recording.value = tree_unflatten(tree_structure(result_shape), [result.value for result in results])
    recording.target_row = results[0].row if results else None
    return True


def _run_backward_or_store_error(
    recording: JaxRecording,
    function: Any,
    args: tuple,
    argnums: Any,
    has_aux: bool,
    sources: JaxVariables,
) -> None:
    """Run JAX's backward pass if the result is a float scalar and the arguments contain floats.

    Otherwise, store the error that ``jax.grad`` raises.
    """
    is_pair = isinstance(recording.value, tuple) and len(recording.value) == 2
    value = recording.value
    if has_aux:
        value = recording.value[0] if is_pair else None
    is_scalar = (
        isinstance(value, jax.Array) and value.shape == () and jax.numpy.issubdtype(value.dtype, jax.numpy.floating)
    )
    internal_error: Exception = AssertionError("JAX accepts a result that is not a number")
    try:
        gradients = None
        if is_scalar and all(is_inexact(leaf.value) for leaf in sources):
            assert recording.target_row is not None
            backward_pass = JaxBackwardPass(recording.log, recording.target_row, sources)
            gradients = backward_pass.compute_gradients_and_fill_sweep(jax.numpy.ones_like(value))
    except Exception as error:
        internal_error = error
    if gradients is None:
        try:
            with disable_jit(False):  # Under jit, the function needs its tracers here, just as it does in the program.
                jax.eval_shape(jax.grad(function, argnums, has_aux=has_aux), *args)
        except Exception as jax_error:
            recording.error = jax_error
        else:
            # JAX notices a leaked tracer only when it computes numbers, not when it computes shapes.
            if isinstance(internal_error, jax.errors.UnexpectedTracerError):
                recording.error = internal_error
            else:
                recording.store_first_internal_error_and_warn(internal_error)
        return
    recording.sweeps.append(sweep := backward_pass.sweep)
    sweep.function_name = "grad"
    sweep.sources = recording.differentiated_rows
    recording.unreached_rows = {leaf.required_row for leaf in sources} - sweep.adjoints.keys()
    for leaf, gradient in zip(sources, gradients, strict=True):
        if leaf.required_row in recording.unreached_rows:
            sweep.set_adjoint(leaf.required_row, recording.log.keep_value(gradient))
    differentiated = tuple(args[index] for index in (argnums if isinstance(argnums, tuple) else (argnums,)))
    tree = tree_unflatten(tree_structure(differentiated), gradients)
    recording.gradient = tree if isinstance(argnums, tuple) else tree[0]
