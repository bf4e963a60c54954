"""Compare derivatives of any order with finite differences, in random directions."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from minitape.engine.backward.tape import GradientTape
from minitape.engine.derivatives.forward_mode import ForwardAccumulator
from minitape.engine.tensor.conversion import convert_to_tensor
from minitape.engine.tensor.tensor import Tensor, wrap_array_with_origin


def check_grads(
    f: Callable[..., Tensor],
    arguments: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("rev", "fwd"),
    eps: float = 1e-5,
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> None:
    """Check that the derivatives of ``f`` agree with central finite differences.

    The derivatives are checked in random directions with a fixed seed, so results are reproducible.

    Args:
        f: A function that accepts float64 tensors and returns one float64 tensor.
        arguments: The float64 arrays or tensors at which to check the derivatives, of any shape.
        order: The order of differentiation. With 2, the derivatives of the gradient are checked in the same way.
        modes: The derivatives to check: "rev" for ``GradientTape.gradient`` and "fwd" for ``ForwardAccumulator.jvp``.
        eps: The step size of the finite differences.
        rtol: The relative tolerance.
        atol: The absolute tolerance, relative to 1 plus the largest expected value.

    Raises:
        AssertionError: If a derivative differs from the finite differences, or a gradient has the wrong shape or dtype.

    >>> import minitape as tf
    >>> check_grads(lambda x, y: tf.reduce_sum(tf.sin(x) * y), [np.array([0.5, 1.0]), np.array(2.0)])
    """
    rng = np.random.default_rng(0)
    tensors = [convert_to_tensor(np.asarray(argument, np.float64)) for argument in arguments]
    out = f(*tensors)
    weights = wrap_array_with_origin(rng.standard_normal(out.dims))
    directions = [rng.standard_normal(t.array.shape) for t in tensors]
    expected = _compute_directional_difference(lambda *xs: f(*xs).array, tensors, directions, eps)
    if "fwd" in modes:
        with ForwardAccumulator(tensors, [wrap_array_with_origin(d) for d in directions]) as accumulator:
            out = f(*tensors)
        tangent = accumulator.jvp(out)
        actual = np.zeros(expected.shape) if tangent is None else tangent.array
        _check_agreement("forward mode (jvp)", tensors, actual, expected, rtol, atol)
    if "rev" not in modes:
        return
    gradients = _compute_weighted_gradients(f, tensors, weights)
    actual = sum(float(np.sum(g.array * d)) for g, d in zip(gradients, directions, strict=True) if g is not None)
    _check_agreement("reverse mode (gradient)", tensors, actual, np.sum(expected * weights.array), rtol, atol)
    _check_shapes_and_dtypes(gradients, tensors)
    if order < 2:
        return
    arrays = [t.array for t in tensors]
    for i, g in enumerate(gradients):
        if g is not None:
            compute_one_gradient = partial(_compute_gradient_or_zeros, f, weights, i)
            check_grads(compute_one_gradient, arrays, order - 1, ("rev",), eps, rtol, atol)


def _check_shapes_and_dtypes(gradients: Sequence[Tensor | None], tensors: Sequence[Tensor]) -> None:
    for g, t in zip(gradients, tensors, strict=True):
        if g is not None and (g.shape != t.shape or g.dtype != t.dtype):
            raise AssertionError(f"gradient of {t!r} has shape {g.shape} and dtype {g.dtype.name}")


def _compute_weighted_gradients(
    f: Callable[..., Tensor], tensors: Sequence[Tensor], weights: Tensor
) -> list[Tensor | None]:
    with GradientTape() as tape:
        tape.watch(list(tensors))
        out = f(*tensors)
    return list(tape.gradient(out, list(tensors), output_gradients=weights))


def _compute_gradient_or_zeros(
    f: Callable[..., Tensor], weights: Tensor, argument_index: int, *tensors: Tensor
) -> Tensor:
    g = _compute_weighted_gradients(f, tensors, weights)[argument_index]
    return wrap_array_with_origin(np.zeros(tuple(tensors[argument_index].shape))) if g is None else g


def _compute_directional_difference(
    f: Callable[..., Any], tensors: Sequence[Tensor], directions: Sequence[Any], eps: float
) -> Any:
    """Compute the directional derivative by central differences."""
    shifted_up, shifted_down = (
        [wrap_array_with_origin(t.array + sign * eps * d) for t, d in zip(tensors, directions, strict=True)]
        for sign in (1, -1)
    )
    return np.asarray((f(*shifted_up) - f(*shifted_down)) / (2 * eps))


def _check_agreement(
    mode: str, tensors: Sequence[Tensor], actual: Any | float, expected: Any | float, rtol: float, atol: float
) -> None:
    if not np.allclose(
        actual, expected, rtol=rtol, atol=atol * (1 + np.max(np.abs(expected), initial=0.0)), equal_nan=True
    ):
        raise AssertionError(
            f"{mode} differs from finite differences\n  inputs   {', '.join(repr(t.array) for t in tensors)}\n"
            f"  got      {actual}\n  expected {expected}"
        )
