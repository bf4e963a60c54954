"""``GradientTape.jacobian`` and ``batch_jacobian``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..back.backward import gradients_of
from ..back.endpoints import GradientQuestion, leaf_of, reads_target, wants_zeros
from ..back.reach import on_tape
from ..recording.block import block
from ..recording.evidence import site
from ..recording.state import state
from ..table.primitives import TABLE
from ..tensor.convert import convert_to_tensor, is_array
from ..tensor.tensor import EagerTensor, Tensor, new_tensor
from ..values import nest

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from ..types import Adjoint, End, Object, Result, Sizes, Structure

MOST = 100_000  # numbers of a Jacobian that is kept for pictures
NEEDS_PERSISTENT = "GradientTape must be created with persistent=True to compute the "


def jacobian(
    tape: GradientTape, target: End, sources: Structure, unconnected: object, parallel: int | None, use_pfor: bool
) -> Structure:
    """The derivative of each element of ``target`` with respect to each element of the sources."""
    refused = _begin(tape, "used to ", use_pfor)
    flat = [leaf_of(s) for s in nest.flatten(sources)]
    target.shape  # noqa: B018 - AttributeError for what has none
    variable: Object = getattr(target, "_base", target)
    for reader in (tape, *state.tapes):
        if reads_target(reader, target):
            reader.variables[id(variable)] = variable
    if refused:
        raise RuntimeError(
            NEEDS_PERSISTENT + "jacobian with eager execution enabled and with  experimental_use_pfor set to False."
        )
    target = convert_to_tensor(target) if is_array(target) else target
    shape = _sizes(target, "Jacobian")
    count = math.prod(shape)
    adjoints = np.eye(count, dtype=target.dtype.as_numpy_dtype).reshape(count, *shape)
    with _vectorizing("jacobian", use_pfor, parallel):
        if parallel is not None and parallel <= count and use_pfor and not tape._persistent:
            raise ValueError("A non-persistent tape gives the rows of one group of iterations only.")
        zero = wants_zeros(unconnected)
        found = rows_of_jacobian(tape, target, flat, adjoints)
        for source in flat if not count and not use_pfor else ():
            # TensorFlow's loop stacks no rows at all: it does not know of how many axes they were
            if len(source.shape):
                raise ValueError(f"Tensor's shape (0,) is not compatible with supplied shape {(0, *source.shape)}.")
    results: list[Result] = list(found)
    for at, (g, source) in enumerate(zip(found, flat, strict=True)):
        if g is not None or zero:
            sizes = (*shape, *_sizes(source, "Jacobian"))
            results[at] = _zeros(sizes, source) if g is None else TABLE["reshape"](g, shape=sizes)
    _end(tape, "jacobian", target, flat, found, results)
    return nest.pack_sequence_as(sources, results)


def batch_jacobian(
    tape: GradientTape, target: End, source: End, unconnected: object, parallel: int | None, use_pfor: bool
) -> Result:
    """The Jacobian of ``target[i]`` with respect to ``source[i]``, for each i."""
    refused = _begin(tape, "used to", use_pfor)  # TensorFlow's wording here lacks a space
    if is_array(target):
        raise AttributeError("'tuple' object has no attribute 'rank'")
    size = target.shape.as_list()[0]
    if not (target.shape.with_rank_at_least(2) and source.shape.with_rank_at_least(2) and size == source.shape[0]):
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match."
        )
    source = leaf_of(source)
    if refused:
        raise RuntimeError(
            NEEDS_PERSISTENT + "batch_jacobian with eager execution enabled and  with "
            "experimental_use_pfor set to False."
        )
    inner, rest = (_known(t.shape[1:], "batch_jacobian") for t in (target, source))
    count = math.prod(inner)
    rows = np.eye(count, dtype=target.dtype.as_numpy_dtype).reshape(count, 1, *inner)
    if size is None:  # a variable of any size
        adjoints: Object = [TABLE["ones_like"](target) * new_tensor(row) for row in rows]
    else:
        adjoints = np.broadcast_to(rows, (count, size, *inner))
    with _vectorizing("batch_jacobian", use_pfor, parallel):
        if parallel is not None and parallel <= count and use_pfor and not tape._persistent:
            raise _of_user_code(RuntimeError(NEEDS_PERSISTENT + "batch_jacobian with parallel_iterations."))
        like = source if wants_zeros(unconnected) else target  # an unconnected batch_jacobian is zeros in any case
        (found,) = rows_of_jacobian(tape, target, [source], adjoints)
    if found is None:
        result = _zeros((*_sizes(target, "batch_jacobian"), *rest), like)
    else:
        order = (1, 0, *range(2, 2 + len(rest)))
        shape = (-1 if size is None else size, *inner, *rest)
        result = TABLE["reshape"](TABLE["transpose"](found, perm=order), shape=shape)
    _end(tape, "batch_jacobian", target, [source], [found], [result])
    return result


def _begin(tape: GradientTape, used_to: str, use_pfor: bool) -> bool:
    """Begins, unless this call will be refused because it wants a persistent tape: then the tape records on."""
    refused = not use_pfor and not tape._persistent
    if not refused or tape._used or tape._record is None:
        tape._begin(used_to)
    return refused


def _sizes(value: End, what: str) -> Sizes:
    """The sizes of a target or source; NotImplementedError where they are not known."""
    if type(value) is EagerTensor:
        return value._dims
    if not value.shape.is_fully_defined() and hasattr(value, "_read"):  # a variable of any size: that of its state
        value = value._read()
    return _known(value.shape, what)


def _known(shape: Object, what: str) -> Sizes:
    if not shape.is_fully_defined():
        raise NotImplementedError(
            f"minitape computes a {what} inside a tf.function only where all sizes are known while it is traced: call "
            "the "
            "function without an input_signature, write the sizes into it, or compute this outside of the function."
        )
    return tuple(shape)


@block
def _vectorizing(kind: str, use_pfor: bool, parallel: int | None) -> Iterator[None]:
    """A ValueError from inside a Jacobian comes in the words that TensorFlow's vectorization has for all of them."""
    try:
        if parallel is not None and parallel < 1:
            if not use_pfor:
                raise TypeError("'parallel_iterations' must be a positive integer.")
            raise ValueError(
                f"Argument `parallel_iterations` must be None or a positive integer. Received: {parallel}."
            )
        if parallel == 1 and use_pfor:
            raise ValueError("Found `parallel_iterations == 1`. Use `for_loop` instead.")
        yield
    except (AttributeError, TypeError) as error:  # of sources that are no tensors
        if not use_pfor:
            raise
        raise _of_user_code(error) from error
    except ValueError as error:
        if not use_pfor:
            raise
        raise ValueError(
            f"Encountered an exception while vectorizing the {kind} computation. Vectorization can be "
            "disabled by setting experimental_use_pfor to False."
        ) from error


def _of_user_code(error: Exception) -> Exception:
    return type(error)(f"in user code:\n\n\n    {type(error).__name__}: {error}\n")


def _end(
    tape: GradientTape, call: str, target: End, sources: list[End], found: list[Adjoint], results: list[Result]
) -> None:
    """Leaves behind what ``gradient`` does, and for pictures what the call returned; a very large Jacobian is not kept
    for them.
    """
    nones = [g is None for g in found]
    kept = [None if r is None or r.shape.num_elements() > MOST else r for r in results]
    tape.last = GradientQuestion([target], sources, [None], nones, call, kept)
    tape._end(site())


def rows_of_jacobian(tape: GradientTape, target: End, sources: list[End], adjoints: Object) -> list[Result]:
    """One gradient for each adjoint, stacked: in one sweep, or one by one where an outer tape has to record them."""
    if not target.dtype.differentiable:
        return [None] * len(sources)
    each = [gradients_of(tape, [target], sources, [convert_to_tensor(adjoint)]) for adjoint in adjoints]
    if not each:  # an empty target: there are no rows, but something may connect it
        linked = gradients_of(tape, [target], sources, [new_tensor(np.zeros(adjoints.shape[1:], adjoints.dtype))])
        return [None if g is None else _zeros((0, *g.shape), g) for g in linked]
    return [
        None
        if any(g is None for g in column) or (source is target and (not _is_recorded(tape, source)))
        else TABLE["stack"](*column, axis=0)
        for source, column in zip(sources, zip(*each, strict=True), strict=True)
    ]


def _is_recorded(tape: GradientTape, tensor: End) -> bool:
    """Whether a tape recorded a target. The Jacobian of any other target with respect to itself is None."""
    rows = tape._rows_of(tensor)
    return reads_target(tape, tensor) or (bool(rows) and bool(on_tape(tape)[rows[-1]]))


def _zeros(shape: Sizes, like: End) -> Tensor:
    return new_tensor(np.zeros(shape, like.dtype.as_numpy_dtype))
