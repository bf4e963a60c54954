"""Compare the derivative rules of ``custom_jvp`` and ``custom_vjp`` functions with the functions' own derivatives."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from ...explain.reasons.suspects import CheckedRun, Suspicion, Suspicions
from ...recording.sites import NOWHERE
from ..framework_adapter import find_surrogate_word
from .jaxpr_run import evaluate_equation, find_callee_or_primitive_name
from .program_origin import find_return_site_by_description
from .row_log import is_inexact

# A function that calls one of these has jumps, kinks or flat parts, so its rule may be a surrogate.
KINKED_OPS = set(
    "round floor ceil sign gt lt ge le eq ne max min clamp clip where heaviside trunc floor_divide relu relu6 argmax "
    "argmin sort argsort top_k stop_gradient random_bits pure_callback io_callback".split()
)
TOLERANCE = 0.05  # A rule for an iterative solver may differ slightly from the derivative of its iterations.


def check_custom_derivative_rules(run: CheckedRun) -> Suspicions:
    """Find the program's derivative rules that do not return the derivative of their function.

    Args:
        run: The run to check.
    """
    for call in run.recording.log.calls:
        row = run.rows[call.rows[0]]
        site = find_return_site_by_description(row.extra.custom_rule)
        if site == NOWHERE or row.index not in run.reached_operations or find_surrogate_word(row.op):
            continue
        with suppress(Exception):  # JAX releases large arrays, and not every function has a forward derivative.
            values = [
                variable.value if variable.row is None else run.rows[variable.row].value.content
                for variable in call.inputs
            ]
            # A rule for the loss itself always receives 1, so it may leave out this factor.
            is_loss = bool(np.all(run.find_adjoint(row.index) == 1))
            ratio = measure_relative_error_of_rule(call.compute.args[0], [*map(jnp.asarray, values)], is_loss)
            if ratio > TOLERANCE:
                yield Suspicion("wrong_derivative", site, {"what": row.op, "ratio": ratio}, row.index)


def measure_relative_error_of_rule(equation: Any, inputs: Sequence[Any], is_loss: bool) -> float:
    """Compare a function's derivative rule with the derivative of the function itself.

    Args:
        equation: The equation that calls the function.
        inputs: The arrays of its inputs.
        is_loss: Whether the adjoint is always 1, so that the rule may leave it out.

    Returns:
        The largest relative error of the gradients that the rule returns for the inputs. It is 0 if the rule may differ
        from the derivative on purpose.
    """
    body = equation.params["call_jaxpr"]
    has_kinks = not KINKED_OPS.isdisjoint(map(find_callee_or_primitive_name, body.jaxpr.eqns))
    results, pull_back = jax.vjp(partial(evaluate_equation, equation), *inputs)
    # The results serve as adjoints, because they are neither all equal nor all of the same sign.
    gradients = pull_back(results), pull_back([-1e4 * result for result in results])
    own_gradients = jax.vjp(jaxpr_as_fun(body), *inputs)[1](results)
    error = 0.0
    for point, returned, opposite, own in zip(inputs, *gradients, own_gradients, strict=True):
        if is_inexact(point) and np.any(returned) and np.any(own):
            ignores_adjoint = not is_loss and np.array_equal(opposite, returned)
            is_linear = np.allclose(opposite / -1e4, returned)
            # A gradient reversal returns its input unchanged. A rule that clips adjoints, or that treats positive and
            # negative adjoints differently, is not linear. No surrogate ignores its adjoint.
            if np.array_equal(point, results[0]) or not (ignores_adjoint or (is_linear and not has_kinks)):
                return 0.0
            error = max(error, float(jnp.linalg.norm(returned - own) / jnp.linalg.norm(own)))
    return error
