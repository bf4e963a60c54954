"""Checking derivatives against finite differences: ``check_grads``, and TensorFlow's ``tf.test.compute_gradient``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .engine.backward.tape import GradientTape
from .engine.derivatives.forward_mode import ForwardAccumulator
from .engine.tensor.conversion import convert_to_tensor
from .engine.tensor.tensor import create_tensor
from .functions.settings import executing_eagerly

if TYPE_CHECKING:
    from .engine.tensor.tensor import Tensor
    from .engine.types import Array
    from .engine.values.dtypes import DType


def check_grads(
    f: Callable[..., Any],
    arguments: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("rev", "fwd"),
    eps: float = 1e-5,
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> None:
    """Raises AssertionError unless the derivatives of ``f`` agree with central finite differences.

    ``arguments`` are float64 arrays or tensors of any shape; ``f`` returns one float64 tensor. ``modes``: "rev" checks
    ``GradientTape.gradient``, "fwd" ``ForwardAccumulator.jvp``. With ``order=2`` the gradient is itself checked in the
    same way. Directions are random, from a fixed seed, so a run can be repeated.

    >>> import minitape as tf
    >>> check_grads(lambda x, y: tf.reduce_sum(tf.sin(x) * y), [np.array([0.5, 1.0]), np.array(2.0)])
    """
    rng = np.random.default_rng(0)
    tensors = [convert_to_tensor(np.asarray(argument, np.float64)) for argument in arguments]
    out = f(*tensors)
    weights = create_tensor(rng.standard_normal(out.shape.as_list()))
    directions = [rng.standard_normal(t.array.shape) for t in tensors]
    expected = _compute_directional_difference(lambda *xs: f(*xs).array, tensors, directions, eps)
    if "fwd" in modes:
        with ForwardAccumulator(tensors, [create_tensor(d) for d in directions]) as accumulator:
            out = f(*tensors)
        actual = accumulator.jvp(out)
        _check_agreement(
            "forward mode (jvp)",
            tensors,
            np.zeros(expected.shape) if actual is None else actual.array,
            expected,
            rtol,
            atol,
        )
    if "rev" not in modes:
        return
    gradients = _compute_weighted_gradients(f, tensors, weights)
    actual = sum(float(np.sum(g.array * d)) for g, d in zip(gradients, directions, strict=True) if g is not None)
    _check_agreement("reverse mode (gradient)", tensors, actual, np.sum(expected * weights.array), rtol, atol)
    for g, t in zip(gradients, tensors, strict=True):
        if g is not None and (g.shape != t.shape or g.dtype != t.dtype):
            raise AssertionError(f"gradient of {t!r} has shape {g.shape} and dtype {g.dtype.name}")
    if order > 1:
        connected = [i for i, g in enumerate(gradients) if g is not None]
        for i in connected:
            check_grads(
                lambda *xs, i=i: _compute_gradient_or_zeros(f, xs, weights, i),
                [t.array for t in tensors],
                order - 1,
                ("rev",),
                eps,
                rtol,
                atol,
            )


def _compute_weighted_gradients(
    f: Callable[..., Tensor], tensors: Sequence[Tensor], weights: Tensor
) -> list[Tensor | None]:
    with GradientTape() as tape:
        tape.watch(list(tensors))
        out = f(*tensors)
    return list(tape.gradient(out, list(tensors), output_gradients=weights))


def _compute_gradient_or_zeros(
    f: Callable[..., Tensor], tensors: Sequence[Tensor], weights: Tensor, argument_index: int
) -> Tensor:
    g = _compute_weighted_gradients(f, tensors, weights)[argument_index]
    return create_tensor(np.zeros(tuple(tensors[argument_index].shape))) if g is None else g


def _compute_directional_difference(
    f: Callable[..., Array], tensors: Sequence[Tensor], directions: Sequence[Array], eps: float
) -> Array:
    """Compute the directional derivative by central differences."""
    shifted_up, shifted_down = (
        [create_tensor(t.array + sign * eps * d) for t, d in zip(tensors, directions, strict=True)] for sign in (1, -1)
    )
    return np.asarray((f(*shifted_up) - f(*shifted_down)) / (2 * eps))


def _check_agreement(
    mode: str, tensors: Sequence[Tensor], actual: Any, expected: Any, rtol: float, atol: float
) -> None:
    if not np.allclose(
        actual, expected, rtol=rtol, atol=atol * (1 + np.max(np.abs(expected), initial=0.0)), equal_nan=True
    ):
        raise AssertionError(
            f"{mode} differs from finite differences\n  inputs   {', '.join(repr(t.array) for t in tensors)}\n"
            f"  got      {actual}\n  expected {expected}"
        )


def compute_gradient(f: Callable[..., Any], x: Any, delta: float | None = None) -> tuple[Any, Any]:
    """The Jacobians of ``f``, by the tape and by finite differences (``tf.test.compute_gradient``).

    ``x`` is a list of arguments. Returns two tuples of 2-d arrays, one for each argument, of shape
    [size of f(*x), size of the argument]; a complex number counts as two real ones. Raises ValueError when ``x`` is no
    list or the gradient of an empty result has the wrong shape, AssertionError for types that have no gradient,
    TypeError in a traced function.

    >>> theory, numbers = compute_gradient(lambda x: x * x, [np.array([1.0, 2.0])])
    >>> theory[0]
    array([[2., 0.],
           [0., 4.]])
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a {type(x)}"
        )
    tensors, delta = [convert_to_tensor(argument) for argument in x], 1.0 / 1024 if delta is None else delta
    if not executing_eagerly():
        raise TypeError("compute_gradient runs its function many times: call it outside of the tf.function")
    with GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        out = f(*tensors)
    _refuse_types(tensors, out)
    arrays = [t.array for t in tensors]
    return tuple(_compute_jacobian_by_tape(tape, out, t) for t in tensors), tuple(
        _compute_jacobian_by_differences(
            lambda *shifted: f(*map(create_tensor, shifted)).array, arrays, i, out.array.shape, delta
        )
        for i in range(len(tensors))
    )


def _refuse_types(tensors: Sequence[Tensor], out: Tensor) -> None:
    for role, dtype in (*((f"argument {i}", t.dtype) for i, t in enumerate(tensors)), ("y", out.dtype)):
        if not dtype.differentiable:  # no `assert`, to whose message pytest adds lines
            raise AssertionError(f"Cannot compute gradient for unsupported type {dtype.name} of {role}")


def _view_as_real_elements(array: Array) -> Array:
    """Return a view of the elements in one row, a complex one as its real and its imaginary part."""
    elements = np.ascontiguousarray(array).reshape(-1)
    return elements.view(elements.real.dtype)


def _compute_jacobian_by_tape(tape: GradientTape, out: Tensor, x: Tensor) -> Array:
    """Compute the Jacobian of ``out`` in ``x``: that of the tape, or of complex numbers a row for each sweep."""
    if out.shape.num_elements() and not (out.dtype.is_complex or x.dtype.is_complex):
        jacobian = tape.jacobian(out, x)
        size = out.shape.num_elements(), x.shape.num_elements()
        return np.zeros(size, x.dtype.as_numpy_dtype) if jacobian is None else jacobian.numpy().reshape(size)

    def compute_vjp(seed: Array) -> Array | None:
        g = tape.gradient(out, x, output_gradients=create_tensor(seed.copy()))
        return None if g is None else g.array

    return _compute_jacobian_by_rows(compute_vjp, out.array.shape, out.dtype, x.array)


def _compute_jacobian_by_rows(
    compute_vjp: Callable[[Array], Array | None], result_shape: tuple[int, ...], result_dtype: DType, x: Array
) -> Array:
    """Compute a Jacobian row by row: ``compute_vjp`` takes a gradient of the result, of this shape and dtype, back to
    the array x.
    """
    seed = np.zeros(result_shape, result_dtype.as_numpy_dtype)
    seed_entries = _view_as_real_elements(seed)
    jacobian = np.zeros((seed_entries.size, _view_as_real_elements(x).size), x.real.dtype)
    for i in range(seed_entries.size):
        seed_entries[i] = 1
        g = compute_vjp(seed)
        if g is not None:
            jacobian[i] = _view_as_real_elements(g)
        seed_entries[i] = 0
    if not seed_entries.size and (g := compute_vjp(seed)) is not None:
        if g.shape != x.shape:
            raise ValueError(f"Empty gradient has wrong shape: expected {x.shape}, got {g.shape}")
        if np.any(g):
            raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


def _compute_jacobian_by_differences(
    function: Callable[..., Array], arrays: Sequence[Array], index: int, result_shape: tuple[int, ...], delta: float
) -> Array:
    """Compute the Jacobian of ``function(*arrays)``, of this shape, in one of the arrays by central differences."""
    x = arrays[index]
    columns = []
    for element in range(_view_as_real_elements(x).size):
        results = []
        for offset in (delta, -delta):
            shifted = np.array(x, order="C")
            _view_as_real_elements(shifted)[element] += offset
            results.append(
                _view_as_real_elements(function(*arrays[:index], shifted, *arrays[index + 1 :])).astype(np.float64)
            )
        columns.append((results[0] - results[1]) / (2 * delta))
    jacobian = np.stack(columns, axis=1) if columns else np.zeros((int(np.prod(result_shape)), 0))
    return jacobian.astype(x.real.dtype)
