"""Find random numbers from NumPy or Python that a compiled function reuses because it drew them in its trace."""

import random
import re
from typing import Any

import numpy as np

from ..engine.types import Attributes, TextPair
from ..explain.explanation import OptionalExplanation, explain_cause
from ..explain.reasons.program_text import list_statements_of_code, unparse
from ..recording.sites import Site
from .outside_values import iter_function_and_callees, read_outside_values

MIN_REPEATED_CALLS = 2  # A random number counts as reused if its generator did not advance in this many later calls.
# Statements under a condition such as ``if self.table is None`` run only once on purpose.
find_one_time_condition = re.compile(r"^if .*(\bNone\b|\bnot\b|built|init|hasattr)").match
# The called function and the state of its generator, keyed by the line that calls the function.
DrawStates = dict[Site, TextPair]


class TracedDraws:
    """The random numbers that a function drew in its last trace, unless their generators have advanced since then.

    Attributes:
        before: The states of the generators before the current call.
    """

    def __init__(self) -> None:
        """Start with no random numbers, because the function has not been traced yet."""
        self.before: DrawStates = {}
        self._draws: DrawStates = {}
        self._repeated_calls = 0

    def update_after_call(self, states_after: DrawStates, was_traced: bool) -> None:
        """Compare the states of the generators before and after a call.

        Args:
            states_after: The states after the call.
            was_traced: Whether the function was traced in this call.
        """
        moved = dict(states_after.items() - self.before.items())
        if was_traced:
            self._draws, self._repeated_calls = moved, 0
        else:
            self._draws = {site: draw for site, draw in self._draws.items() if site not in moved}
            self._repeated_calls += 1

    def explain_first_repeated_draw(self, framework: str) -> OptionalExplanation:
        """Explain the first random number that the compiled function reuses, or return None if nothing is reused.

        Args:
            framework: The name of the framework.
        """
        if not self._draws or self._repeated_calls < MIN_REPEATED_CALLS:
            return None
        site, (name, _) = next(iter(self._draws.items()))
        return explain_cause(framework, "stale_value", site, "drawn", {"name": name})


def read_generator_states(function: Any) -> DrawStates:
    """Return the states of the NumPy and Python generators from which a function and its callees draw numbers.

    Args:
        function: The function.
    """
    states = DrawStates()
    for callee in iter_function_and_callees(function):
        values = read_outside_values(callee)
        statements = list_statements_of_code(callee.__code__)
        # A function that seeds its generator, or creates variables, draws the same numbers on purpose.
        if not any(statement.find_call("seed", "Variable", "add_weight") for statement in statements):
            for statement in statements:
                headers = [unparse(block.node).partition(":")[0] for block in statement.enclosing]
                for call in () if any(map(find_one_time_condition, headers)) else statement.calls:
                    name = unparse(call.func)
                    state = _read_generator_state(name, values)
                    if state is not None:
                        states[statement.site] = name, repr(state)
    return states


def _read_generator_state(function_name: str, values: Attributes) -> Any:  # Each generator has its own type.
    """Return the state of the generator to which the named method belongs, or None for any other function."""
    owner = values.get(function_name.partition(".")[0])
    if isinstance(owner, np.random.Generator):
        return owner.bit_generator.state
    if owner is random:
        return random.getstate()
    return np.random.get_state() if owner is np and ".random." in function_name else None
