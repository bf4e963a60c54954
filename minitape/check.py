"""Checking derivatives against finite differences: ``check_grads``, and TensorFlow's ``tf.test.compute_gradient``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .engine.back.tape import GradientTape
from .engine.derivatives.forward import ForwardAccumulator
from .engine.tensor.convert import convert_to_tensor
from .engine.tensor.tensor import new_tensor
from .functions.settings import executing_eagerly


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
    tensors = [convert_to_tensor(np.asarray(a, np.float64)) for a in arguments]
    out = f(*tensors)
    weights = new_tensor(rng.standard_normal(out.shape.as_list()))
    directions = [rng.standard_normal(t.array.shape) for t in tensors]
    want = _difference(lambda *xs: f(*xs).array, tensors, directions, eps)
    if "fwd" in modes:
        with ForwardAccumulator(tensors, [new_tensor(d) for d in directions]) as acc:
            out = f(*tensors)
        got = acc.jvp(out)
        _compare("forward mode (jvp)", tensors, np.zeros(want.shape) if got is None else got.array, want, rtol, atol)
    if "rev" not in modes:
        return
    gradients = _gradient(f, tensors, weights)
    got = sum(float(np.sum(g.array * d)) for g, d in zip(gradients, directions, strict=True) if g is not None)
    _compare("reverse mode (gradient)", tensors, got, np.sum(want * weights.array), rtol, atol)
    for g, t in zip(gradients, tensors, strict=True):
        if g is not None and (g.shape != t.shape or g.dtype != t.dtype):
            raise AssertionError(f"gradient of {t!r} has shape {g.shape} and dtype {g.dtype.name}")
    if order > 1:
        where = [i for i, g in enumerate(gradients) if g is not None]
        for i in where:
            check_grads(
                lambda *xs, i=i: _gradient_or_zeros(f, xs, weights, i),
                [t.array for t in tensors],
                order - 1,
                ("rev",),
                eps,
                rtol,
                atol,
            )


def _gradient(f: Any, tensors: Sequence[Any], weights: Any) -> list[Any]:
    with GradientTape() as tape:
        tape.watch(list(tensors))
        out = f(*tensors)
    return list(tape.gradient(out, list(tensors), output_gradients=weights))


def _gradient_or_zeros(f: Any, tensors: Sequence[Any], weights: Any, i: int) -> Any:
    g = _gradient(f, tensors, weights)[i]
    return new_tensor(np.zeros(tuple(tensors[i].shape))) if g is None else g


def _difference(f: Any, tensors: Sequence[Any], directions: Sequence[Any], eps: float) -> Any:
    """The directional derivative by central differences."""
    up, down = ([new_tensor(t.array + s * eps * d) for t, d in zip(tensors, directions, strict=True)] for s in (1, -1))
    return np.asarray((f(*up) - f(*down)) / (2 * eps))


def _compare(what: str, tensors: Sequence[Any], got: Any, want: Any, rtol: float, atol: float) -> None:
    if not np.allclose(got, want, rtol=rtol, atol=atol * (1 + np.max(np.abs(want), initial=0.0)), equal_nan=True):
        raise AssertionError(
            f"{what} differs from finite differences\n  inputs   {', '.join(repr(t.array) for t in tensors)}\n"
            f"  got      {got}\n  expected {want}"
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
    tensors, delta = [convert_to_tensor(a) for a in x], 1.0 / 1024 if delta is None else delta
    if not executing_eagerly():
        raise TypeError("compute_gradient runs its function many times: call it outside of the tf.function")
    with GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        out = f(*tensors)
    _refuse_types(tensors, out)
    arrays = [t.array for t in tensors]
    return tuple(_by_tape(tape, out, t) for t in tensors), tuple(
        _columns(lambda *moved: f(*map(new_tensor, moved)).array, arrays, i, out.shape, delta)
        for i in range(len(tensors))
    )


def _refuse_types(tensors: Sequence[Any], out: Any) -> None:
    for which, dtype in (*((f"argument {i}", t.dtype) for i, t in enumerate(tensors)), ("y", out.dtype)):
        if not dtype.differentiable:  # no `assert`, to whose message pytest adds lines
            raise AssertionError(f"Cannot compute gradient for unsupported type {dtype.name} of {which}")


def _reals(array: Any) -> Any:
    """The elements in one row, a complex one as its real and its imaginary part."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype)


def _by_tape(tape: Any, out: Any, x: Any) -> Any:
    """The Jacobian of ``out`` in ``x``: that of the tape, or of complex numbers a row for each sweep."""
    if out.shape.num_elements() and not (out.dtype.is_complex or x.dtype.is_complex):
        whole = tape.jacobian(out, x)
        size = out.shape.num_elements(), x.shape.num_elements()
        return np.zeros(size, x.dtype.as_numpy_dtype) if whole is None else whole.numpy().reshape(size)

    def pull(seed: Any) -> Any:
        g = tape.gradient(out, x, output_gradients=new_tensor(seed.copy()))
        return None if g is None else g.array

    return _rows(pull, out.shape, out.dtype, x.array)


def _rows(pull: Any, shape: Any, dtype: Any, x: Any) -> Any:
    """A Jacobian row by row: ``pull`` takes a gradient of the result, of this shape and dtype, back to the array x."""
    seed = np.zeros(tuple(shape), dtype.as_numpy_dtype)
    entries = _reals(seed)
    found = np.zeros((entries.size, _reals(x).size), x.real.dtype)
    for i in range(entries.size):
        entries[i] = 1
        g = pull(seed)
        if g is not None:
            found[i] = _reals(g)
        entries[i] = 0
    if not entries.size and (g := pull(seed)) is not None:
        if g.shape != x.shape:
            raise ValueError(f"Empty gradient has wrong shape: expected {x.shape}, got {g.shape}")
        if np.any(g):
            raise ValueError("Empty tensor with nonzero gradients")
    return found


def _columns(value: Any, arrays: Sequence[Any], i: int, shape: Any, delta: float) -> Any:
    """The Jacobian of ``value(*arrays)``, of this shape, in one of the arrays by central differences."""
    x = arrays[i]
    columns = []
    for k in range(_reals(x).size):
        values = []
        for step in (delta, -delta):
            moved = np.array(x, order="C")
            _reals(moved)[k] += step
            values.append(_reals(value(*arrays[:i], moved, *arrays[i + 1 :])).astype(np.float64))
        columns.append((values[0] - values[1]) / (2 * delta))
    found = np.stack(columns, axis=1) if columns else np.zeros((int(np.prod(shape)), 0))
    return found.astype(x.real.dtype)
