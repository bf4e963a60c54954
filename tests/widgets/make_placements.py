"""Writes placements.json: where the static picture's rule puts the nodes of some graphs.

The front end's tests check that its rule gives the same (widgets/frontend/test/engine.test.ts).
"""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from minitape.picture.placement import FAR, Placement

FILE = Path(__file__).parent / "placements.json"
PER = (2, 5)  # columns in a line


def extents(column: Sequence[int], slot: Sequence[int], passed: Iterable[tuple[int, int]], per: int) -> list[list[int]]:
    """Of each line of ``per`` columns the first half-slot, and the first one below it; ``passed`` are points of edges.

    >>> extents([0, 1, 2], [0, 1, -1], [(1, 4)], per=2)
    [[0, 5], [-1, 1]]
    """
    found: list[list[int]] = []
    taken = [*((c, s, s + 2) for c, s in zip(column, slot, strict=True)), *((c, s, s + 1) for c, s in passed)]
    for at, low, high in sorted(taken):
        if at // per == len(found):
            found.append([low, high])
        line = found[at // per]
        line[:] = min(line[0], low), max(line[1], high)
    return found


def lanes(edges: Iterable[tuple[int, int]], column: Sequence[int], slot: Sequence[int], per: int) -> list[list[int]]:
    """Below each line the nodes whose edges go on in the next one, in the order of their lanes: the lowest has the
    first.

    >>> lanes([(0, 2), (1, 2)], [0, 1, 2], [0, 1, -1], per=2)
    [[1, 0]]
    """
    found: dict[int, set[int]] = {}
    for start, end in edges:
        for line in range(column[start] // per, column[end] // per):
            found.setdefault(line, set()).add(start)
    return [sorted(found.get(line, ()), key=lambda i: (-slot[i], i)) for line in range(max(found, default=-1) + 1)]


def graphs() -> list[list[Any]]:
    """Items as [inputs, leaf, section]: a square, an affine map, and random graphs with sections."""
    made: list[list[Any]] = [
        [[[], True, 0], [[0, 0], False, 0]],
        [[[], True, 0], [[], True, 0], [[0, 1], False, 0], [[], True, 0], [[2, 3], False, 0], [[], True, 1]],
    ]
    choose = random.Random(3)
    for size in (20, 60, 200):
        items: list[Any] = []
        for i in range(size):
            leaf = i == 0 or choose.random() < 0.2
            near = [choose.randrange(max(0, i - 15), i) for _ in range(choose.choice((1, 2, 2, 3)))] if not leaf else []
            items.append([near, leaf, i // 40])
        made.append(items)
    made.append([[[], True, 0]] + [[[0], False, 0] for _ in range(80)])
    # beside the middle one of its leaves
    made.append([*([[], True, 0] for _ in range(6)), [list(range(6)), False, 1], [[6], False, 1]])
    return made


def place(items: list[Any]) -> dict[str, Any]:
    placement = Placement()
    for inputs, leaf, section in items:
        placement.add(inputs, leaf=leaf, section=section)
    placement.settle()
    column, slot = placement.column, placement.slot
    passed = sorted({point for points in placement.via.values() for point in points})
    near = sorted({(i, k) for k, item in enumerate(items) for i in item[0] if column[k] - column[i] <= FAR})
    lines = [
        {"per": per, "extents": extents(column, slot, passed, per), "lanes": lanes(near, column, slot, per)}
        for per in PER
    ]
    return {"items": items, "column": column, "slot": slot, "lines": lines}


if __name__ == "__main__":
    FILE.write_text(json.dumps([place(items) for items in graphs()], separators=(",", ":")) + "\n")
