"""Compare ``backward()`` in the program's own autograd Functions with finite differences of ``forward()``."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..framework_adapter import find_surrogate_word

STEPS = 1e-4, 1e-5  # The finite differences for both step sizes must agree.
# If ``forward()`` uses one of these names, it has jumps or side effects, and ``backward()`` may be a surrogate.
UNCHECKED_NAMES = set(
    "sign sgn round floor ceil trunc heaviside frac argmax argmin argsort topk sort unique where bernoulli multinomial "
    "gt lt ge le long int bool print append extend update write".split()
)


def is_call_repeatable_and_derivative_intended(function_class: Any, call_args: Sequence[Any]) -> bool:
    """Return whether a call can be repeated and ``backward()`` is meant to be the derivative of ``forward()``.

    The result is False if the Function's name or docstring says otherwise, or if ``forward()`` has jumps or side
    effects.

    Args:
        function_class: The class of the Function.
        call_args: The arguments of the call.
    """
    if not all(isinstance(arg, (Tensor, int, float, str)) for arg in call_args):
        return False
    if find_surrogate_word(f"{function_class.__name__} {vars(function_class).get('__doc__')}"):
        return False
    return UNCHECKED_NAMES.isdisjoint(function_class.forward.__code__.co_names)


def measure_disagreeing_slopes(function_class: Any, call_args: Sequence[Any]) -> tuple[float, float] | None:
    """Measure a single-output Function's slope along a random direction in two ways, both in double precision.

    Args:
        function_class: The class of the Function.
        call_args: The arguments of a call.

    Returns:
        The slope according to ``backward()`` and the slope according to finite differences, or None if the two agree,
        may differ on purpose, or cannot be compared.

    Raises:
        Exception: If the Function does not accept arguments in double precision, or has several outputs.
    """
    points = [*map(_copy_shifted_in_double_precision, call_args)]

    def apply_to_copies(arguments: Sequence[Any]) -> Any:
        # Both forward() and backward() may overwrite their arguments.
        return function_class.apply(*(arg.clone() if isinstance(arg, Tensor) else arg for arg in arguments))

    def apply_to_moved(step: float) -> Any:
        moved = [point + step * move if move is not None else point for point, move in zip(points, moves, strict=True)]
        return apply_to_copies(moved)

    result, other_result = apply_to_copies(points), apply_to_copies(points)
    weight = torch.randn_like(result) if result.dim() else torch.ones_like(result)
    with torch.no_grad():
        opposites = _list_input_gradients_of_function(other_result, -weight)
        gradients = _list_input_gradients_of_function(result, weight.clone())
        moves = [None if each is None else torch.randn_like(each) for each in gradients]
        returned = 0.0
        for point, gradient, opposite, move in zip(points, gradients, opposites, moves, strict=True):
            if gradient is None:
                continue
            returned += float((gradient * move).sum())
            # A gradient reversal returns its input unchanged, and a straight-through estimator returns the gradient
            # unchanged. If ``backward()`` treats positive and negative gradients differently, that is also on purpose.
            is_passed_on = torch.equal(point, result) or torch.equal(gradient, weight)
            if is_passed_on or not torch.allclose(opposite.abs(), gradient.abs()):
                return None
        first, measured = (
            float(((apply_to_moved(step) - apply_to_moved(-step)) * weight).sum()) / (2 * step) for step in STEPS
        )
    # If this test fails, ``forward()`` is flat, draws random numbers, or has a jump or a kink here.
    is_smooth = abs(first - measured) < 1e-4 * abs(measured)
    return (returned, measured) if is_smooth and abs(returned - measured) > 1e-3 * abs(measured) else None


def _copy_shifted_in_double_precision(point: Any) -> Any:
    """Return a double-precision copy of a float tensor, shifted slightly because a ReLU has a kink at zero."""
    if not isinstance(point, Tensor) or not point.is_floating_point():
        return point
    moved = point.double() + 1e-3 * (point.abs() + 1e-2) * torch.rand_like(point)
    return moved.requires_grad_()


def _list_input_gradients_of_function(result: Tensor, weight: Tensor) -> Sequence[Any]:
    """Return the gradients that a Function returns for its inputs."""
    gradients = result.grad_fn.apply(weight)
    return gradients if isinstance(gradients, tuple) else (gradients,)
