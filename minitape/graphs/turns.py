"""One turn of a loop over tensors, traced: the types of its values, and what ``set_loop_options`` says in it."""

from __future__ import annotations

import threading
from collections.abc import Container, Sequence
from typing import Any

from ..engine.shape import TensorShape
from ..engine.state import state
from .body import Body, BodyGraph
from .build import Graph
from .carried import kept_shapes, parts_of
from .inline import inlined
from .symbolic import SymbolicTensor
from .whiles import as_limit


def settled(turn: Any, specs: list[Any], start: Sequence[Any], widening: bool) -> tuple[list[Any], Body, Options]:
    """The types with which a turn ends as it began, the turn itself, and what was said of the loop."""
    options = Options()
    made = traced_turn(turn, specs, options)
    limit = options.limit
    if isinstance(limit, SymbolicTensor) and limit.graph is made.graph:  # the turn computed it: as it is before the loop
        (options.limit,) = inlined(made, start, [limit])
    if options.shapes:  # set_loop_options was called in the body: once more, with the shapes that it allows
        specs = [(options.shapes.get(i, s), d) for i, (s, d) in enumerate(specs)]
        made = traced_turn(turn, specs, Options())
    if widening:  # as TensorFlow does for datasets: shapes widen by themselves
        while (wider := _widened(specs, made.outputs, options.shapes)) != specs:
            specs = wider
            made = traced_turn(turn, specs, Options())
    return specs, made, options


def _widened(specs: list[Any], outputs: Sequence[Any], settled: Container[int]) -> list[Any]:
    """(shape, dtype) of the loop's values with shapes, where they are not settled, that cover those after a turn too."""
    return [
        (shape if at in settled or t.shape.is_subtype_of(shape) else shape.most_specific_compatible_shape(t.shape), dtype)
        for at, ((shape, dtype), t) in enumerate(zip(specs, outputs, strict=True))
    ]


class Options:
    """What ``set_loop_options`` said inside a loop's body."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.shapes: dict[int, TensorShape] = {}
        self.limit: Any = None


class _Open(threading.local):
    """The loops whose bodies are being traced, in each thread its own; the innermost is the last."""

    def __init__(self) -> None:
        self.loops: list[Options] = []


_open = _Open()


def set_loop_options(parallel_iterations: Any = None, swap_memory: Any = None, maximum_iterations: Any = None,
                     shape_invariants: Any = None) -> None:  # fmt: skip
    """Says about a loop over tensors, from inside, what its shapes and limits are; elsewhere nothing happens.

    ``shape_invariants`` are pairs (variable, shape that it keeps), ``maximum_iterations`` is a limit, taken with the
    values from before the loop. ``parallel_iterations`` and ``swap_memory`` have no effect.

    >>> import minitape as tf
    >>> @tf.function
    ... def doubled(n):
    ...     x = tf.zeros([1])
    ...     for _ in tf.range(n):
    ...         tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
    ...         x = tf.concat([x, x], 0)
    ...     return x
    >>> doubled(tf.constant(2)).shape
    TensorShape([4])
    """
    if not _open.loops:
        return
    options = _open.loops[-1]
    if maximum_iterations is not None:
        options.limit = as_limit(maximum_iterations)
    for tensor, shape in shape_invariants or ():
        for part, kept in zip(parts_of(tensor, True), kept_shapes(tensor, TensorShape(shape)), strict=True):
            options.shapes |= {i: kept for i, place in enumerate(options.inputs) if place is part}


def traced_turn(function: Any, specs: list[Any], options: Options, kind: type[Graph] = BodyGraph) -> Body:
    """``function``, traced on placeholders of these (shape, dtype) pairs; what it says of the loop goes into ``options``."""
    graph = kind(state.graph)
    _open.loops.append(options)
    try:
        with graph.as_default(), graph.name_scope("while"):
            options.inputs = [graph.placeholder(d, s) for s, d in specs]
            for t in options.inputs:
                graph.cold.discard(t._row)
            result = function(*options.inputs)
    finally:
        _open.loops.pop()
    return Body(graph, options.inputs, result)
