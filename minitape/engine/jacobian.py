"""``GradientTape.jacobian`` and ``batch_jacobian``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from . import nest
from .above import above
from .backward import gradients_of, leaf_of, reads_target, wants_zeros
from .batch import Batch
from .block import block
from .convert import convert_to_tensor
from .evidence import site
from .primitives import TABLE
from .reach import on_tape
from .slices import IndexedSlices
from .state import state
from .tensor import Tensor, wrap

if TYPE_CHECKING:
    from .tape import GradientTape
    from .typed import Adjoint, End, Object, Result, Structure

NEEDS_PERSISTENT = "GradientTape must be created with persistent=True to compute the "


@block
def _vectorizing(kind: str, use_pfor: bool, parallel: int | None = None) -> Iterator[None]:
    """A ValueError from inside a Jacobian comes in the words that TensorFlow's vectorization has for all of them."""
    try:
        _check_parallel(parallel, use_pfor)
        yield
    except (AttributeError, TypeError) as error:  # of sources that are no tensors
        if not use_pfor:
            raise
        raise _of_user_code(error) from error
    except ValueError as error:
        if not use_pfor:
            raise
        raise ValueError(f"Encountered an exception while vectorizing the {kind} computation. Vectorization can be "
                         "disabled by setting experimental_use_pfor to False.") from error  # fmt: skip


def _check_parallel(parallel: int | None, use_pfor: bool) -> None:
    if parallel is not None and parallel < 1:
        if not use_pfor:
            raise TypeError("'parallel_iterations' must be a positive integer.")
        raise ValueError(f"Argument `parallel_iterations` must be None or a positive integer. Received: {parallel}.")
    if parallel == 1 and use_pfor:
        raise ValueError("Found `parallel_iterations == 1`. Use `for_loop` instead.")


def _of_user_code(error: Exception) -> Exception:
    return type(error)(f"in user code:\n\n\n    {type(error).__name__}: {error}\n")


def jacobian(tape: GradientTape, target: End, sources: Structure, unconnected: object, parallel: int | None, use_pfor: bool) -> Structure:
    """The derivative of each element of ``target`` with respect to each element of the sources."""
    if isinstance(target, IndexedSlices) and target.dense_shape is not None:
        return _of_slices(tape, target, sources, unconnected, parallel, use_pfor)
    refused = _begin(tape, "used to ", use_pfor)
    flat = [leaf_of(s) for s in nest.flatten(sources)]
    target.shape  # noqa: B018 - AttributeError for what has none
    if reads_target(tape, target):
        variable: Object = getattr(target, "_base", target)
        tape._watch_variable(variable)
    if refused:
        raise RuntimeError(NEEDS_PERSISTENT + "jacobian with eager execution enabled and with  experimental_use_pfor "
                           "set to False.")  # fmt: skip
    if state.graph is not None and not all(t.shape.is_fully_defined() for t in [target, *flat]):
        raise sizes_needed("Jacobian")
    target = convert_to_tensor(target) if isinstance(target, (np.ndarray, np.generic)) else target
    shape = tuple(target.shape)
    count = int(np.prod(shape))
    seeds = np.eye(count, dtype=target.dtype.as_numpy_dtype).reshape(count, *shape)
    with _vectorizing("jacobian", use_pfor, parallel):
        if parallel is not None and parallel <= count and use_pfor and not tape._persistent:
            raise ValueError("A non-persistent tape gives the rows of one group of iterations only.")
        zero = wants_zeros(unconnected)
        found = rows_of_jacobian(tape, target, flat, seeds)
        if not count and not use_pfor:
            _refuse_empty(flat)
    _answered(tape, target, flat, found)
    results = [
        None if g is None else TABLE["reshape"](g, shape=(*shape, *s.shape)) for g, s in zip(found, flat, strict=True)
    ]
    if zero:
        results = [_zeros((*shape, *s.shape), s) if r is None else r for r, s in zip(results, flat, strict=True)]
    return nest.pack_sequence_as(sources, results)


def _begin(tape: GradientTape, used_to: str, use_pfor: bool) -> bool:
    """Begins, unless this call will be refused because it wants a persistent tape: then the tape goes on recording."""
    refused = state.graph is None and not use_pfor and not tape._persistent
    if not refused or tape._used or tape._record is None:
        tape._begin(used_to)
    return refused


def _of_slices(tape: GradientTape, target: End, sources: Structure, *how: Object) -> Structure:
    """The same for rows of a target whose other rows are zeros: the Jacobian of these, put in their places."""
    def placed(rows: Structure) -> Structure:
        return None if rows is None else above.unsorted_segment_sum(rows, target.indices, target.dense_shape[0])

    return nest.map_structure(placed, jacobian(tape, target.values, sources, *how))


def _refuse_empty(sources: list[End]) -> None:
    """ValueError where TensorFlow's loop stacks no rows at all: it does not know of how many axes they were."""
    for source in sources:
        if len(source.shape):
            raise ValueError(f"Tensor's shape (0,) is not compatible with supplied shape {(0, *source.shape)}.")


def sizes_needed(what: str) -> NotImplementedError:
    """The error for derivatives whose sizes only a run of the graph knows."""
    return NotImplementedError(
        f"minitape computes a {what} inside a tf.function only where all sizes are known while it is traced: call the "
        "function without an input_signature, write the sizes into it, or compute this outside of the function."
    )


def batch_jacobian(
    tape: GradientTape, target: End, source: End, unconnected: object, parallel: int | None, use_pfor: bool
) -> Result:
    """The Jacobian of ``target[i]`` with respect to ``source[i]``, for each i."""
    refused = _begin(tape, "used to", use_pfor)  # TensorFlow's wording here lacks a space
    if isinstance(target, (np.ndarray, np.generic)):
        raise AttributeError("'tuple' object has no attribute 'rank'")
    size = target.shape.as_list()[0]
    if not (target.shape.with_rank_at_least(2) and source.shape.with_rank_at_least(2) and size == source.shape[0]):
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match."
        )
    source = leaf_of(source)
    if refused:
        raise RuntimeError(NEEDS_PERSISTENT + "batch_jacobian with eager execution enabled and  with "
                           "experimental_use_pfor set to False.")  # fmt: skip
    if state.graph is not None and not (target.shape.is_fully_defined() and source.shape.is_fully_defined()):
        raise sizes_needed("batch_jacobian")
    inner, rest = tuple(target.shape)[1:], tuple(source.shape)[1:]
    count = int(np.prod(inner))
    eye = np.eye(count, dtype=target.dtype.as_numpy_dtype).reshape(count, 1, *inner)
    with _vectorizing("batch_jacobian", use_pfor, parallel):
        if parallel is not None and parallel <= count and use_pfor and not tape._persistent:
            raise _of_user_code(RuntimeError(NEEDS_PERSISTENT + "batch_jacobian with parallel_iterations."))
        wants_zeros(unconnected)  # refuses what is neither; an unconnected batch_jacobian is zeros anyway
        (found,) = rows_of_jacobian(tape, target, [source], np.broadcast_to(eye, (count, size, *inner)))
    _answered(tape, target, [source], [found])
    if found is None:
        return _zeros((size, *inner, *rest), target)
    order = (1, 0, *range(2, 2 + len(rest)))
    return TABLE["reshape"](TABLE["transpose"](found, perm=order), shape=(size, *inner, *rest))


def _answered(tape: GradientTape, target: End, sources: list[End], found: list[Adjoint]) -> None:
    """Leaves behind what ``gradient`` does: what was asked, and which answers were None."""
    tape.last, tape.nones = ([target], sources, [None]), [g is None for g in found]
    tape._end(site())


def rows_of_jacobian(tape: GradientTape, target: End, sources: list[End], seeds: np.ndarray) -> list[Result]:
    """One gradient for each seed, stacked: in one sweep, or one by one where an outer tape has to record them."""
    if not target.dtype.differentiable:
        return [None] * len(sources)
    if not state.tapes and state.graph is None and len(seeds):
        return gradients_of(tape, [target], sources, [Batch(seeds)])
    each = [gradients_of(tape, [target], sources, [wrap(seed)]) for seed in seeds]
    if not each:  # an empty target: there are no rows, but something may connect it
        linked = gradients_of(tape, [target], sources, [wrap(np.zeros(target.shape, target.dtype.as_numpy_dtype))])
        return [None if g is None else _zeros((0, *s.shape), s) for g, s in zip(linked, sources, strict=True)]
    return [
        None if any(g is None for g in column) or (source is target and not _follows(tape, source))
        else TABLE["stack"](*map(_dense, column), axis=0)
        for source, column in zip(sources, zip(*each, strict=True), strict=True)
    ]  # fmt: skip


def _follows(tape: GradientTape, tensor: End) -> bool:
    """True for a target that the tape sees; the Jacobian of any other with respect to itself is None."""
    rows = tape._rows_of(tensor)
    return reads_target(tape, tensor) or (bool(rows) and bool(on_tape(tape)[rows[-1]]))


def _dense(g: Result) -> Tensor:
    return g if isinstance(g, Tensor) else g.dense()


def _zeros(shape: tuple[int, ...], like: End) -> Tensor:
    return wrap(np.zeros(shape, like.dtype.as_numpy_dtype))
