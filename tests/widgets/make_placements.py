"""Writes placements.json: where the static picture's rule puts the nodes of some graphs.

The front end's tests check that its rule gives the same (widgets/frontend/test/engine.test.ts).
"""

import json
import random
from pathlib import Path
from typing import Any

from minitape.picture.lines import extents, lanes
from minitape.picture.placement import FAR, Placement

FILE = Path(__file__).parent / "placements.json"
PER = (2, 5)  # columns in a line


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
