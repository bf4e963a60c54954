"""Check derivatives against finite differences: ``tf.test.compute_gradient``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .engine.backward.tape import GradientTape
from .engine.tensor.conversion import convert_to_tensor
from .engine.tensor.tensor import Tensor, wrap_array_with_origin
from .engine.types import LIST_OR_TUPLE, Array, OptionalFloat, Sizes, Value
from .engine.values.dtypes import DType
from .functions.settings import executing_eagerly


def compute_gradient(
    f: Callable[..., Tensor], x: Sequence[Value], delta: OptionalFloat = None
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Compute the Jacobians of ``f`` with the tape and with finite differences.

    A complex number is treated as two real numbers. See
    https://www.tensorflow.org/api_docs/python/tf/test/compute_gradient.

    Args:
        f: A function that returns one tensor of any shape and dtype.
        x: The list of arguments at which to differentiate.
        delta: The step size of the finite differences. None means 1/1024.

    Returns:
        Two tuples of 2-D arrays, the Jacobians from the tape and those from finite differences. Each tuple has one
        array of shape [size of f(*x), size of the argument] per argument.

    Raises:
        ValueError: If ``x`` is not a list, or the gradient of an empty result has the wrong shape.
        AssertionError: If the dtype of an argument or the result has no gradient.
        TypeError: If a traced function calls ``compute_gradient``.

    >>> theory, numbers = compute_gradient(lambda x: x * x, [np.array([1.0, 2.0])])
    >>> theory[0]
    array([[2., 0.],
           [0., 4.]])
    """
    if not isinstance(x, LIST_OR_TUPLE):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a {type(x)}"
        )
    tensors = [convert_to_tensor(argument) for argument in x]
    step = 1.0 / 1024 if delta is None else delta
    if not executing_eagerly():
        raise TypeError(
            "compute_gradient runs its function many times, so call compute_gradient outside the tf.function"
        )
    with GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        out = f(*tensors)
    _refuse_types(tensors, out)

    def compute_array(*shifted: Array) -> Array:
        return f(*map(wrap_array_with_origin, shifted)).array

    arrays = [t.array for t in tensors]
    by_tape = tuple(_compute_jacobian_by_tape(tape, out, t) for t in tensors)
    by_differences = tuple(
        _compute_jacobian_by_differences(compute_array, arrays, i, out.array.shape, step) for i in range(len(tensors))
    )
    return by_tape, by_differences


def _refuse_types(tensors: Sequence[Tensor], out: Tensor) -> None:
    dtype_by_role = {f"argument {i}": t.dtype for i, t in enumerate(tensors)} | {"y": out.dtype}
    for role, dtype in dtype_by_role.items():
        # pytest would add lines to the message of an `assert` statement, so raise the error explicitly.
        if not dtype.differentiable:
            raise AssertionError(f"Cannot compute gradient for unsupported type {dtype.name} of {role}")


def _view_as_real_elements(array: Array) -> Array:
    """Return a flat view of the elements, with each complex element split into real and imaginary parts."""
    elements = np.ascontiguousarray(array).reshape(-1)
    return elements.view(elements.real.dtype)


def _compute_jacobian_by_tape(tape: GradientTape, out: Tensor, x: Tensor) -> Array:
    """Compute the Jacobian of ``out`` with the tape. Complex numbers need a separate sweep for each row."""
    if out.shape.num_elements() and not (out.dtype.is_complex or x.dtype.is_complex):
        jacobian = tape.jacobian(out, x)
        size = out.shape.num_elements(), x.shape.num_elements()
        return np.zeros(size, x.dtype.as_numpy_dtype) if jacobian is None else jacobian.numpy().reshape(size)

    def compute_vjp(seed: Array) -> Array | None:
        g = tape.gradient(out, x, output_gradients=wrap_array_with_origin(seed.copy()))
        return None if g is None else g.array

    return _compute_jacobian_by_rows(compute_vjp, out.array.shape, out.dtype, x.array)


def _compute_jacobian_by_rows(
    compute_vjp: Callable[[Array], Array | None], result_shape: Sizes, result_dtype: DType, x: Array
) -> Array:
    """Compute a Jacobian with a separate sweep for each row.

    Args:
        compute_vjp: A function that returns the gradient of ``x`` for a given gradient of the result, or None if ``x``
            and the result are unconnected.
        result_shape: The shape of the result.
        result_dtype: The dtype of the result.
        x: The array with respect to which the result is differentiated.

    Returns:
        A real array of shape [size of the result, size of ``x``]. A complex number is treated as two real numbers.

    Raises:
        ValueError: If the result is empty and its gradient has the wrong shape or is not 0.
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
    function: Callable[..., Array], arrays: Sequence[Array], index: int, result_shape: Sizes, delta: float
) -> Array:
    """Compute the Jacobian of ``function(*arrays)`` with respect to one array, by central differences.

    Args:
        function: The function of all arrays.
        arrays: The arguments.
        index: The position of the argument with respect to which the function is differentiated.
        result_shape: The shape of the result.
        delta: The step size.

    Returns:
        A real array of shape [size of the result, size of the argument]. A complex number is treated as two real
        numbers.
    """
    x = arrays[index]
    columns = []
    for element in range(_view_as_real_elements(x).size):
        results = []
        for offset in (delta, -delta):
            shifted = np.array(x, order="C")
            _view_as_real_elements(shifted)[element] += offset
            result = function(*arrays[:index], shifted, *arrays[index + 1 :])
            results.append(_view_as_real_elements(result).astype(np.float64))
        columns.append((results[0] - results[1]) / (2 * delta))
    jacobian = np.stack(columns, axis=1) if columns else np.zeros((int(np.prod(result_shape)), 0))
    return jacobian.astype(x.real.dtype)
