"""Find the Python values that a ``tf.function`` keeps from its trace although the program has replaced them."""

import ast
import inspect
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from ...engine.record.interrupt_safe import TemporaryAttributes
from ...explain.explanation import OptionalExplanation, explain_cause
from ...explain.reasons.program_text import list_binding_sites, list_statements_of_code, unparse
from ...recording.sites import NOWHERE, find_user_site
from ..framework_adapter import list_all_named_program_objects
from ..outside_values import (
    OutsideData,
    OutsideKey,
    explain_stale_value,
    iter_function_and_callees,
    read_attributes_used_by_function,
    read_outside_values,
)
from ..traced_draws import TracedDraws, read_generator_states
from .function_graphs import is_tape_or_function_with_tape

PYTHON_TYPES = (bool, int, float, str)
VARIABLES_NAME = ".trainable_variables"  # The key for a model's variables ends with this text.
TRACE_ATTRIBUTE = "_minitape_trace"  # The attribute of a ``tf.function`` that holds its TraceState.


class TraceState:
    """The Python values that a ``tf.function`` read when it was last traced.

    Attributes:
        values: The values, each keyed by the function that reads it and by its name.
        trace_count: The number of traces so far.
        call_count: The number of calls so far.
        stale_key: The key of the first value that was replaced before a call, or None.
        stale_call: The number of the first call that used a replaced value.
        stale_site: The line of the first call that used a replaced value.
        first_site: The line of the first call.
        values_before: The values right before the current call, or None if they are unknown.
        draws: The random numbers that NumPy and Python drew during the trace.
        counted_key: The key of the first number that is incremented only by tracing, or None.
        trainable_flags: The layers and variables of the Keras models that the function trains, each with its flag.
    """

    def __init__(self) -> None:
        """Start with all counts at zero and no stored values."""
        self.values: OutsideData = {}
        self.trace_count = self.call_count = self.stale_call = 0
        self.stale_key: OutsideKey | None = None
        self.stale_site = NOWHERE
        self.first_site = find_user_site()
        self.draws = TracedDraws()
        self.values_before: OutsideData | None = None
        self.counted_key: OutsideKey | None = None
        self.trainable_flags: list[tuple[Any, bool]] = []


def store_values_and_generators_before_call(function: Any) -> None:
    """Store the Python values and the random-generator states that a ``tf.function`` reads, right before a call.

    Args:
        function: The ``tf.function``.
    """
    state: TraceState = vars(function).setdefault(TRACE_ATTRIBUTE, TraceState())
    state.values_before = _read_outside_values_of_function_and_callees(function.python_function)
    state.draws.before = read_generator_states(function)


def compare_values_with_trace_after_call(function: Any) -> None:
    """Compare the values that a ``tf.function`` reads with the values in its trace, right after a call.

    Args:
        function: The ``tf.function``.
    """
    state: TraceState = vars(function).setdefault(TRACE_ATTRIBUTE, TraceState())
    state.call_count += 1
    trace_count = function.experimental_get_tracing_count()
    values = _read_outside_values_of_function_and_callees(function.python_function)
    if state.values_before is not None:
        state.draws.update_after_call(read_generator_states(function), trace_count != state.trace_count)
        if not state.trace_count:
            counted = (
                key
                for key, old in state.values_before.items()
                if type(old) in (int, float)
                and old != values.get(key, old)
                and find_statement_incrementing_used_number(*key)
            )
            state.counted_key = next(counted, None)
        state.values_before = None
    if state.stale_key is not None:
        return
    if trace_count == state.trace_count:
        for key, old_value in state.values.items():
            if not _is_unchanged_or_only_frozen(old_value, values.get(key, old_value)):
                state.stale_key, state.stale_call, state.stale_site = key, state.call_count, find_user_site()
                return
    else:
        state.values, state.trace_count = values, trace_count
        models = list_keras_models_trained_via_closures(function.python_function)
        parts = (part for model in models for part in (*model._flatten_layers(), *model.variables))
        state.trainable_flags = [(part, part.trainable) for part in parts]


def explain_stale_trace(function: Any) -> OptionalExplanation:
    """Explain that a ``tf.function`` used a value that the program had replaced, or return None if it did not.

    Args:
        function: The ``tf.function``.
    """
    state: TraceState | None = getattr(function, TRACE_ATTRIBUTE, None)
    if state is None:
        return None
    if state.counted_key is not None and state.call_count > 1:
        site = find_statement_incrementing_used_number(*state.counted_key).site
        return explain_cause("tensorflow", "stale_value", site, "counted", {"name": state.counted_key[1]})
    for model in list_keras_models_trained_via_closures(function.python_function):
        name = find_name_in_program(model) or model.name
        flags = state.values.get((function.python_function, name + VARIABLES_NAME), {})
        sites = list_binding_sites(state.first_site[0], ".trainable")
        if flags and not any(flags.values()) and sites and is_tape_or_function_with_tape(function):
            return explain_cause("tensorflow", "not_trainable", sites[0], "model", {"what": name})
    if state.stale_key is None or (
        state.stale_key[1].endswith(VARIABLES_NAME) and not is_tape_or_function_with_tape(function)
    ):
        return state.draws.explain_first_repeated_draw("tensorflow")
    reader, name = state.stale_key
    if not name.endswith(VARIABLES_NAME):
        is_state = isinstance(state.values[state.stale_key], (tf.Variable, tf.keras.optimizers.Optimizer))
        return explain_stale_value("tensorflow", reader, name, state.stale_call, "state" if is_state else "")
    site = (list_binding_sites(state.stale_site[0], ".trainable") or [state.stale_site])[-1]
    fields = {"n": state.stale_call, "name": name.partition(".")[0]}
    return explain_cause("tensorflow", "stale_value", site, "trainable", fields)


@contextmanager
def restore_trainable_flags_of_trace(function: Any) -> Iterator[None]:
    """Let the Keras models that a ``tf.function`` trains be trainable in the block as in the function's last trace.

    A program may train a discriminator, and freeze it after the step for the generator's step.

    Args:
        function: The ``tf.function``.
    """
    state: TraceState | None = getattr(function, TRACE_ATTRIBUTE, None)
    with ExitStack() as stack:
        for part, is_trainable in state.trainable_flags if state else ():
            stack.enter_context(TemporaryAttributes(part, _trainable=is_trainable))
        yield


def find_statement_incrementing_used_number(function: Any, name: str) -> Any:
    """Return the statement that increments a number, if the function also computes with this number, or None.

    A function that only counts its traces or formats the number as text does not depend on the number.

    Args:
        function: The function.
        name: The name of the number.
    """
    statements = list_statements_of_code(function.__code__)
    counts = [each for each in statements if isinstance(each.node, ast.AugAssign) and name in each.bound_names]
    # Text such as ``f"{calls}"`` does not count as a use, but ``calls % 4`` and ``1 / calls`` do.
    operator, name = r"([-+*/%<>]|//|\*\*|[<>=!]=)", re.escape(name)
    is_used = re.compile(rf"(?<![\w.]){name} {operator} |{operator} {name}\b").search
    return next((each for each in counts if any(is_used(unparse(other.node)) for other in statements)), None)


def _read_outside_values_of_function_and_callees(function: Any) -> OutsideData:
    """Return the outside values that a function and its callees read, such as numbers, arrays and optimizers."""
    values = OutsideData()
    models = {
        find_name_in_program(model) or model.name: model for model in list_keras_models_trained_via_closures(function)
    }
    owner: Any = getattr(inspect.unwrap(function), "__self__", None)
    if hasattr(owner, "weakrefself_target__"):  # TensorFlow binds a method to this object.
        owner = owner.weakrefself_target__()
    for reader in [function, *iter_function_and_callees(function)]:
        objects = {"self": owner} | models | read_outside_values(reader)
        read_names = getattr(getattr(reader, "__code__", None), "co_names", ())
        for name, value in objects.items():
            if isinstance(value, (*PYTHON_TYPES, np.ndarray, tf.Tensor, tf.Variable, tf.keras.optimizers.Optimizer)):
                values[reader, name] = value
            elif isinstance(value, tf.keras.Model) and (name in models or VARIABLES_NAME[1:] in read_names):
                trainable = set(map(id, value.trainable_variables))
                values[reader, name + VARIABLES_NAME] = {id(item): id(item) in trainable for item in value.variables}
        values |= read_attributes_used_by_function(reader, objects, PYTHON_TYPES)
    for model in models.values():
        for method in (type(model).train_step, type(model).call):
            values |= read_attributes_used_by_function(method, {"self": model}, PYTHON_TYPES)
    return values


def list_keras_models_trained_via_closures(function: Any, depth: int = 4) -> list[tf.keras.Model]:
    """Return the Keras models whose training steps a function runs, according to its closures.

    Args:
        function: The function.
        depth: The number of nested closures to search.
    """
    function = inspect.unwrap(function)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, tf.keras.Model):
        return [owner]
    if not depth:
        return []
    values = inspect.getclosurevars(function).nonlocals.values() if inspect.isfunction(function) else ()
    return [
        model
        for value in values
        if callable(value)
        for model in list_keras_models_trained_via_closures(value, depth - 1)
    ]


def find_name_in_program(wanted_object: Any) -> str:
    """Return the name of a variable in the program that holds the given object, or "" if none does.

    Args:
        wanted_object: The object to find.
    """
    return next(
        (name for name, value in list_all_named_program_objects() if value is wanted_object and name[0] != "_"), ""
    )


def _is_unchanged_or_only_frozen(old_value: Any, new_value: Any) -> bool:
    """Return whether a value is unchanged or, for a model, whether no variable has become trainable."""
    if isinstance(old_value, dict):
        # A step may keep training variables that the program froze after the trace. For example, a program freezes a
        # discriminator's variables for the generator's step.
        return all(is_trainable or not new_value.get(key) for key, is_trainable in old_value.items())
    return old_value is new_value or (isinstance(old_value, PYTHON_TYPES) and old_value == new_value)
