"""Inside of a ``tf.function`` that was called: the graph that TensorFlow traced, read for where it cuts the way of a gradient."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from ..engine.frames import own_file
from .site import NOWHERE, Site
from .tensorflow_log import reason_of


class Cut(NamedTuple):
    """An operation of a graph through which no gradient passes."""

    why: str
    op: str
    site: Site


def cut_in(concrete: Any, port: int) -> Cut | None:
    """The first cut on the way with the fewest cuts from an input of a function to its results; None where there is none."""
    graph = concrete.graph
    if port >= len(graph.inputs):
        return None
    begin, ends = graph.inputs[port], {id(tensor) for tensor in graph.outputs}
    cost = {id(begin): 0}
    cuts: dict[int, tuple[Any, ...]] = {id(begin): ()}
    queue, best = deque([begin]), None
    while queue:
        tensor = queue.popleft()
        so_far = cuts[id(tensor)]
        if id(tensor) in ends and (best is None or len(so_far) < len(best)):
            best = so_far
        for op in tensor.consumers():
            for result in op.outputs:
                why = reason_of(op.type, result)
                price = len(so_far) + bool(why)
                if price < cost.get(id(result), 1 << 30):
                    cost[id(result)] = price
                    cuts[id(result)] = (*so_far, op) if why else so_far
                    (queue.append if why else queue.appendleft)(result)
    if not best:
        return None
    return Cut(next(why for result in best[0].outputs if (why := reason_of(best[0].type, result))), best[0].type, _site(best[0]))


def _site(op: Any) -> Site:
    """The user's line on which an operation of a graph was made."""
    frames = [(frame.filename, frame.lineno) for frame in op.traceback or ()]
    return next((site for site in reversed(frames) if not own_file(site[0])), NOWHERE)
