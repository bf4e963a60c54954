"""Run the equations of a jaxpr one by one, recording each as a row.

Calls to ``jit``, ``scan`` and ``cond`` are opened, and their inner equations are recorded. A ``while`` loop becomes a
single row, because JAX cannot differentiate such a loop in reverse mode.
"""

from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Literal

from ...engine.record.interrupt_safe import make_interrupt_safe_context_manager
from ...engine.record.user_frames import is_minitape_or_library_file
from ...engine.types import LIST_OR_TUPLE, OptionalNumber, Scope
from ...recording.sites import NOWHERE, find_user_site
from ..framework_patches import FrameworkPatches
from ..recording import ROW_LIMIT
from .row_log import (
    NORMALIZING_FUNCTIONS,
    BranchChoice,
    JaxLog,
    JaxPlace,
    JaxVariable,
    JaxVariables,
    find_place_of_equation,
    is_inexact,
)

try:
    from jax._src.config import eager_constant_folding
    from jax._src.interpreters.partial_eval import DynamicJaxprTracer as Tracer
except ImportError:  # Without these names, Python conditions on traced values fail, as they do under jit.
    Tracer = None

# A loop with more rows than this would take a minute to record, and its page would be 100 MB in size.
LOOP_ROW_LIMIT = 3_000
# On Ctrl-C, this version of ``jax.disable_jit`` undoes its change immediately, unlike the original.
disable_jit = make_interrupt_safe_context_manager(jax.disable_jit.__wrapped__)
CUSTOM_RULE_PRIMITIVES = {"custom_jvp_call", "custom_vjp_call"}


class JaxprRunner:
    """Runs a jaxpr and the jaxprs that it calls.

    Attributes:
        log: The log that receives the rows.
        failed_site: The line of the equation that raised an error, or NOWHERE if none did.
        site: The line of the equation that is running.
        library_depth: The number of library functions that are currently open. The lines of equations inside these
            functions are ignored, because their jaxprs may have been traced for a call on another line.
        openers: The methods that open calls, keyed by the name of the primitive.
    """

    def __init__(self, log: JaxLog):
        """Create a runner that writes to a log."""
        self.log = log
        self.failed_site = NOWHERE
        self.site = NOWHERE
        self.library_depth = 0
        cls = type(self)  # Bound methods would keep the runner and its log alive until the garbage collector runs.
        self.openers: dict = {
            **dict.fromkeys("jit pjit closed_call remat2 checkpoint".split(), cls._run_call_equation_by_equation),
            "scan": cls._run_scan_step_by_step,
            "cond": cls._run_chosen_cond_branch,
        }

    def run_jaxpr(self, jaxpr: Any, consts: JaxVariables, args: JaxVariables, scope: Scope = ()) -> JaxVariables:
        """Run a jaxpr and return its results.

        Args:
            jaxpr: The jaxpr.
            consts: Its constants.
            args: Its arguments.
            scope: The names of the open functions, outermost first.
        """
        variables: dict[Any, JaxVariable] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))

        def read_atom(atom: Any) -> JaxVariable:
            return JaxVariable(atom.val) if isinstance(atom, Literal) else variables[atom]

        last_binding: tuple[JaxPlace, OptionalNumber] = JaxPlace(), None
        for eqn in jaxpr.eqns:
            results = self._run_equation(eqn, [read_atom(atom) for atom in eqn.invars], scope)
            last_binding = self._move_bound_name_to_result_row(eqn, results, *last_binding)
            variables.update(zip(eqn.outvars, results, strict=True))
        return [read_atom(atom) for atom in jaxpr.outvars]

    def run_closed_jaxpr(self, closed_jaxpr: Any, args: JaxVariables, scope: Scope = ()) -> JaxVariables:
        """Run a closed jaxpr, which contains its constants, and return its results.

        Args:
            closed_jaxpr: The closed jaxpr.
            args: Its arguments.
            scope: The names of the open functions, outermost first.
        """
        jaxpr = getattr(closed_jaxpr, "jaxpr", closed_jaxpr)
        return self.run_jaxpr(jaxpr, [JaxVariable(const) for const in getattr(closed_jaxpr, "consts", ())], args, scope)

    def _run_equation(self, eqn: Any, inputs: JaxVariables, scope: Scope) -> JaxVariables:
        scope = (*scope, *(scope_part for scope_part in str(eqn.source_info.name_stack).split("/") if scope_part))
        opener = self.openers.get(eqn.primitive.name)
        outer_site = self.site
        place = JaxPlace() if self.library_depth else find_place_of_equation(eqn)
        self.site = outer_site if place.site is NOWHERE else place.site
        # JAX inlines these functions as several equations, so their names are added to the scope here.
        if (
            place.library_function in NORMALIZING_FUNCTIONS
            and opener is None
            and eqn.primitive.name not in CUSTOM_RULE_PRIMITIVES
        ):
            scope = (*scope, place.library_function)
        try:
            if opener is not None and any(variable.has_float_source for variable in inputs):
                row_estimate = estimate_max_row_count(eqn)
                is_long_loop = eqn.primitive.name == "scan" and row_estimate > LOOP_ROW_LIMIT
                if row_estimate + len(self.log.rows) <= ROW_LIMIT and not is_long_loop:
                    return opener(self, eqn, inputs, scope)
            return self._run_equation_as_one_row(eqn, inputs, scope)
        except Exception:
            if self.failed_site is NOWHERE:
                self.failed_site = self.site
            raise
        finally:
            self.site = outer_site

    def _move_bound_name_to_result_row(
        self, eqn: Any, results: JaxVariables, last_place: JaxPlace, last_row: OptionalNumber
    ) -> tuple[JaxPlace, OptionalNumber]:
        """Give a result its name in the program, and remove the name from any earlier results of the same expression.

        Returns the location of the equation and the row, which the next call of this function receives as `last_place`
        and `last_row`.
        """
        row = results[0].row if len(results) == 1 else None
        # An equation of a derivative is located on the line of a statement whose value it does not compute.
        place = (
            JaxPlace()
            if self.library_depth or "jvp(" in str(eqn.source_info.name_stack)
            else find_place_of_equation(eqn)
        )
        if not place.bound_name or row is None:
            return JaxPlace(), None
        is_same_statement = (place.site, place.bound_name) == (last_place.site, last_place.bound_name)
        self.log.move_name_to_row(row, place.bound_name, last_row if is_same_statement else None)
        return place, row

    def _run_equation_as_one_row(self, eqn: Any, inputs: JaxVariables, scope: Scope) -> JaxVariables:
        name = eqn.primitive.name
        if name == "convert_element_type" and getattr(inputs[0].value, "dtype", None) == eqn.params["new_dtype"]:
            return inputs  # The dtype stays the same. Only the weak type changes.
        label = f"x^{eqn.params['y']}" if name == "integer_pow" else ""
        op = find_callee_or_primitive_name(eqn) if name in self.openers or name in CUSTOM_RULE_PRIMITIVES else name
        return self.log.run_operation_and_record_if_input_has_row(
            op,
            partial(evaluate_equation, eqn),
            inputs,
            self.site,
            scope,
            label,
            find_name_and_place_of_custom_rule(eqn),
        )

    # -- calls that are opened ---------------------------------------------------------------------

    def _run_call_equation_by_equation(self, eqn: Any, inputs: JaxVariables, scope: Scope) -> JaxVariables:
        closed_jaxpr = eqn.params.get("jaxpr") or eqn.params["call_jaxpr"]
        is_library_code = is_minitape_or_library_file(find_source_file(closed_jaxpr))
        self.library_depth += is_library_code
        try:
            return self.run_closed_jaxpr(closed_jaxpr, inputs, (*scope, find_callee_or_primitive_name(eqn)))
        finally:
            self.library_depth -= is_library_code

    def _run_scan_step_by_step(self, eqn: Any, inputs: JaxVariables, scope: Scope) -> JaxVariables:
        """Run a ``scan`` step by step, as ``jax.disable_jit`` does."""
        params = eqn.params
        site = self.site
        if "ft_in" in params:  # This parameter was added in JAX 0.11.
            constant_count, carry_count, _ = map(len, params["ft_in"].unpack())
        else:
            constant_count = params["num_consts"]
            carry_count = params["num_carry"]
        carry = inputs[constant_count:][:carry_count]
        xs = inputs[constant_count:][carry_count:]
        direction = -1 if params["reverse"] else 1
        step_order = range(params["length"])[::direction]
        if not step_order:
            return self._run_equation_as_one_row(eqn, inputs, scope)
        step_outputs = []
        for index in step_order:
            step_scope = (*scope, f"{find_callee_or_primitive_name(eqn)}[{index}]")
            slices = [
                self.log.run_operation_and_record_if_input_has_row(
                    "slice",
                    lambda x, index=index: [lax.index_in_dim(x, index, keepdims=False)],
                    [x],
                    site,
                    step_scope,
                    f"[{index}]",
                )[0]
                for x in xs
            ]
            results = self.run_closed_jaxpr(params["jaxpr"], [*inputs[:constant_count], *carry, *slices], step_scope)
            carry = results[:carry_count]
            step_outputs.append(results[carry_count:])
        columns = zip(*step_outputs[::direction], strict=True)
        return [
            *carry,
            *(
                self.log.run_operation_and_record_if_input_has_row(
                    "stack", lambda *ys: [jnp.stack(ys)], list(column), site, scope
                )[0]
                for column in columns
            ),
        ]

    def _run_chosen_cond_branch(self, eqn: Any, inputs: JaxVariables, scope: Scope) -> JaxVariables:
        branches = eqn.params["branches"]
        branch_index = int(inputs[0].value)
        branch_index = min(max(branch_index, 0), len(branches) - 1)
        input_rows = [variable.row for variable in inputs[1:] if variable.row is not None]
        self.log.branch_choices.append(BranchChoice(input_rows, self.site, branch_index))
        return self.run_closed_jaxpr(branches[branch_index], inputs[1:], (*scope, f"cond[{branch_index}]"))


def evaluate_equation(eqn: Any, *values: Any) -> list:
    """Compute an equation's results from given arrays by binding its primitive, so JAX's own derivative rules apply.

    Args:
        eqn: The equation.
        values: The arrays of its inputs.

    Returns:
        The arrays of its results.
    """
    params = eqn.primitive.get_bind_params(eqn.params)
    functions: tuple = ()
    if isinstance(params, tuple):  # JAX before 0.8 returns a pair.
        functions, params = params
    # When vmap traces a custom rule and its loops, JAX stores which axes of the rule's results are batch axes. If the
    # loops ran step by step here, the results could have other batch axes, so the rule is traced again instead.
    with eqn.ctx.manager, disable_jit(False) if eqn.primitive.name in CUSTOM_RULE_PRIMITIVES else nullcontext():
        results = eqn.primitive.bind(*functions, *values, **params)
    return list(results) if eqn.primitive.multiple_results else [results]


def find_callee_or_primitive_name(eqn: Any) -> str:
    """Return the name of the function that an equation calls, or else the name of the equation's primitive.

    >>> import jax
    >>> find_callee_or_primitive_name(jax.make_jaxpr(jax.jit(jnp.sin))(1.0).eqns[0])
    'sin'
    """
    params = eqn.params
    name = params.get("name")
    if not name and eqn.primitive.name in CUSTOM_RULE_PRIMITIVES:
        body = params["call_jaxpr"]
        name = getattr(body, "jaxpr", body).debug_info.func_src_info or ""
        name = name.partition(" ")[0]
    return (name or eqn.primitive.name).strip("_<>") or eqn.primitive.name


def find_name_and_place_of_custom_rule(eqn: Any) -> str:
    """Return the name and location of an equation's custom derivative rule, or "" if it has none."""
    if eqn.primitive.name not in CUSTOM_RULE_PRIMITIVES:
        return ""
    rule = eqn.params.get("bwd") or eqn.params.get("jvp_jaxpr_fun")
    return getattr(getattr(rule, "debug_info", None), "func_src_info", None) or "a rule"


def find_source_file(closed_jaxpr: Any) -> str:
    """Return the file of the function that a jaxpr was traced from, or "" if it is unknown.

    >>> import jax
    >>> find_source_file(jax.make_jaxpr(jnp.sin)(1.0)).endswith(".py")
    True
    """
    source = getattr(closed_jaxpr, "jaxpr", closed_jaxpr).debug_info.func_src_info or ""
    return source.partition(" at ")[2].rpartition(":")[0]


def estimate_max_row_count(eqn: Any) -> int:
    """Return the maximum number of rows that an equation can add if its call is opened."""
    inner_count = 0
    for value in eqn.params.values():
        for part in value if isinstance(value, LIST_OR_TUPLE) else (value,):
            jaxpr: Any = getattr(part, "jaxpr", part)
            if hasattr(jaxpr, "eqns"):
                inner_count += sum(map(estimate_max_row_count, jaxpr.eqns))
    return 1 + inner_count * (eqn.params.get("length", 1) if eqn.primitive.name == "scan" else 1)


# -- the values of tracers, which a Python condition may read without jit --------------------------


class TracerValues:
    """The values of the tracers in one trace, computed on demand.

    Attributes:
        argument_leaves: The values of the traced argument leaves.
        trace: The trace that the tracers belong to, or None before it starts.
        escapes: For each value that left JAX, the method and line that read it, and the leaves that it depends on.

    >>> values = TracerValues([3.0])
    >>> def loss(x):
    ...     values.store_argument_tracers([x])
    ...     return x * 2.0 if x > 0 else x
    >>> with expose_tracer_values(values):
    ...     print(len(jax.make_jaxpr(loss)(3.0).eqns))
    2
    """

    def __init__(self, argument_leaves: Sequence):
        """Store the values of the argument leaves. `store_argument_tracers` then assigns these values to tracers."""
        self.argument_leaves = argument_leaves
        self.trace: Any = None
        self.escapes: list[tuple] = []
        self._argument_values: dict = {}  # The keys are the variables of the arguments' tracers.
        self._known_values: dict = {}

    def store_argument_tracers(self, tracers: Sequence) -> None:
        """Store the tracers for the argument leaves at the beginning of the function.

        Args:
            tracers: One tracer for each leaf.
        """
        if tracers and hasattr(tracers[0], "parent"):
            self.trace = tracers[0]._trace
            self._argument_values = {
                tracer.val: leaf for tracer, leaf in zip(tracers, self.argument_leaves, strict=True)
            }
            self._known_values = dict(self._argument_values)

    def compute_value_of_own_tracer(self, tracer: Any) -> Any:
        """Compute the value of a tracer, or return None for a tracer of another trace, such as the trace of ``jit``."""
        pending = [tracer]
        while tracer._trace is self.trace and pending:
            current = pending[-1]
            if self._is_value_known(current):
                pending.pop()
                continue
            input_tracers = current.parent.in_tracers
            missing = [input_tracer for input_tracer in input_tracers if not self._is_value_known(input_tracer)]
            if missing:
                pending += missing
                continue
            pending.pop()
            with jax.ensure_compile_time_eval():
                results = evaluate_equation(current.parent, *map(self._get_known_value, input_tracers))
            self._known_values.update(zip(current.parent.outvars, results, strict=True))
        return self._get_known_value(tracer) if tracer._trace is self.trace else None

    def record_escape_and_read_value(self, tracer: Any) -> Any:
        """Return the value of a tracer that escapes to Python, and record the escape."""
        if tracer.dtype == bool or is_inexact(tracer):
            method = "__bool__" if tracer.dtype == bool else "__float__"
            self.escapes.append((method, find_user_site(), self._list_leaves_tracer_depends_on(tracer)))
        return self.compute_value_of_own_tracer(tracer)

    def _list_leaves_tracer_depends_on(self, tracer: Any) -> list:
        """Return the argument leaves on which a tracer depends."""
        ancestors: dict = {}
        pending = [tracer]
        while pending:
            current = pending.pop()
            if id(current) not in ancestors:
                ancestors[id(current)] = current
                pending += current.parent.in_tracers if current.parent is not None else []
        return [
            self._argument_values[current.val]
            for current in ancestors.values()
            if not isinstance(current.val, Literal) and current.val in self._argument_values
        ]

    @property
    def _values_by_variable(self) -> ChainMap:
        """The computed values, the arguments, and the constants of the trace."""
        return ChainMap(self._known_values, self.trace.frame.constvar_to_val)

    def _is_value_known(self, tracer: Any) -> bool:
        return isinstance(tracer.val, Literal) or tracer.val in self._values_by_variable

    def _get_known_value(self, tracer: Any) -> Any:
        return tracer.val.val if isinstance(tracer.val, Literal) else self._values_by_variable[tracer.val]


@contextmanager
def expose_tracer_values(values: TracerValues) -> Iterator[None]:
    """Make the values of the tracers in one trace available in the block.

    An operation that does not depend on any tracer is computed immediately.

    Args:
        values: The trace's values.
    """
    patches = FrameworkPatches()
    patches.activate_in_this_thread()
    try:
        if Tracer is None:
            yield
            return
        patches.wrap_function(
            Tracer,
            "to_concrete_value",
            lambda original, tracer: (
                values.record_escape_and_read_value(tracer) if tracer._trace is values.trace else original(tracer)
            ),
        )
        for method in ("__array__", "__float__"):
            patches.wrap_function(Tracer, method, partial(_convert_nondifferentiable_tracer, values, method))
        with eager_constant_folding(True):
            yield
    finally:
        patches.undo_all()


def _convert_nondifferentiable_tracer(
    values: TracerValues, method: str, original: Callable, tracer: Any, *args: Any, **kwargs: Any
) -> Any:
    """Convert integers and booleans for NumPy and Python, because ``jax.grad`` would not have traced them.

    No derivative passes through such values. JAX handles all other conversions.
    """
    if tracer._trace is not values.trace or is_inexact(tracer):
        return original(tracer, *args, **kwargs)
    return getattr(np.asarray(values.compute_value_of_own_tracer(tracer)), method)(*args, **kwargs)
