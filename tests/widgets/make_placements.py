"""Writes placements.json: where the static picture's rule puts the nodes of some graphs.

The front end's tests check that its rule gives the same (widgets/frontend/test/engine.test.ts).
"""

import json
import random
from pathlib import Path
from typing import Any

from minitape.picture.lines import extents, lanes
from minitape.picture.placement import Item
from minitape.picture.placement import place as placed_items

FILE = Path(__file__).parent / "placements.json"
PER = (2, 5)  # columns in a line


def graphs() -> list[list[Any]]:
    """Items as [inputs, leaf, section], and what a gradient wrote also with its storey and what it is below: a square,
    an affine map, random graphs with sections, and a second derivative.
    """
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
    # x * x * x and its gradient, of which each row is below the one whose adjoint it adds to
    made.append([
        [[], True, 0], [[0, 0], False, 0], [[1, 0], False, 0], [[], True, 1, 1, 2],
        *([inputs, False, 1, 1, below] for inputs, below in (([3, 0], 1), ([3, 1], 0), ([4, 0], 0), ([5, 6], 0))),
        [[7, 4], False, 2],
    ])  # fmt: skip
    return made


def place(items: list[Any]) -> dict[str, Any]:
    placement = placed_items([Item(*item) for item in items])
    column, slot = placement.column, placement.slot
    passed = sorted({point for points in placement.via.values() for point in points})
    near = sorted(
        {
            (i, k)
            for k, item in enumerate(items)
            for i in item[0]
            if not placement.is_far(i, k) and not placement.is_down(i, k)
        }
    )
    lines = [
        {"per": per, "extents": extents(column, slot, passed, per), "lanes": lanes(near, column, slot, per)}
        for per in PER
    ]
    return {"items": items, "column": column, "slot": slot, "lines": lines}


if __name__ == "__main__":
    FILE.write_text(json.dumps([place(items) for items in graphs()], separators=(",", ":")) + "\n")
