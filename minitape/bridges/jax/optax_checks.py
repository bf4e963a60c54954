"""Find mistakes in the use of optax that no single gradient reveals."""

import inspect
import re
import sys
from contextlib import suppress
from types import FunctionType

import numpy as np
from jax.tree_util import tree_leaves

from ...explain.explanation import OptionalExplanation, explain_cause
from ...explain.layer_lookup import iter_living_instances
from ...explain.reasons.program_text import find_last_name_of_dotted_path, find_statement, unparse
from ...explain.reasons.suspects import CheckedRun, Suspicions, build_row_suspicion
from ...recording.sites import Site
from ..run_watch.schedules import explain_schedule_decayed_too_early

find_exponential_or_logarithm = re.compile("exp|log").search
RATE_FUNCTION = "scale_by_learning_rate.<locals>.<lambda>"  # The optax function that holds an optimizer's schedule.


def explain_early_decay_of_each_schedule() -> list[OptionalExplanation]:
    """Return an explanation for each optimizer schedule that ended too early, and None for every other schedule."""
    optax = sys.modules.get("optax")
    if optax is None:
        return []
    counts = [0]
    for state in list(iter_living_instances(optax.ScaleByScheduleState)):
        with suppress(Exception):  # A donated array no longer exists, and a tracer has no value.
            counts.append(int(np.max(state.count)))
    return [
        explain_schedule_decayed_too_early(
            "jax", inspect.getclosurevars(function).nonlocals["learning_rate"], max(counts), vars(optax.schedules)
        )
        for function in list(iter_living_instances(FunctionType))
        if function.__qualname__ == RATE_FUNCTION
    ]


def explain_swapped_moving_average_arguments(trees: tuple, trained_leaves: list, site: Site) -> OptionalExplanation:
    """Explain that ``optax.incremental_update`` received the moving average before the trained parameters by mistake.

    Args:
        trees: The first two arguments of the call.
        trained_leaves: The arrays that the last step of an optimizer returned.
        site: The line of the call.

    Returns:
        The explanation, or None if the order may be right.
    """
    statement = find_statement(site)
    call = statement.find_call("incremental_update")
    trained = set(map(id, trained_leaves))
    new, old = (set(map(id, tree_leaves(tree))) for tree in trees)
    if call is None or not call.args or not old or not new.isdisjoint(trained) or not old <= trained:
        return None
    name, what = map(unparse, call.args[:2])
    names = [keyword.arg for outer in statement.calls for keyword in outer.keywords if keyword.value is call]
    # If the call only pulls parameters toward a fixed point, the result is bound to the name of the parameters, not to
    # the name of the fixed point. The new moving average may have a longer name than the old one, such as
    # ``new_target``.
    names += statement.bound_names
    if any(find_last_name_of_dotted_path(call.args[0]) in str(bound) for bound in names):
        return explain_cause("jax", "swapped_average", site, fields={"name": name, "what": what})
    return None


def check_labels_passed_as_logits(run: CheckedRun) -> Suspicions:
    """Find an optax loss that takes the logarithm of constant labels, because they came before the logits.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named_last_first({"mul"}):
        statement = find_statement(row.site)
        call = statement.find_call("softmax_cross_entropy", "sigmoid_binary_cross_entropy")
        if call and not any(
            find_exponential_or_logarithm(run.rows[index].op)
            for index in run.reached_operations
            if statement.covers_site(run.rows[index].site)
        ):
            yield build_row_suspicion(row, "loss_input", {"what": unparse(call.func)}, "swapped")
