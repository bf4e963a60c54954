"""Writes placements.json: where the static picture's rule puts the nodes of some graphs.

The front end's tests check that its rule gives the same (widgets/frontend/test/engine.test.ts).
"""

import json
import random
from pathlib import Path
from typing import Any

from minitape.picture.placement import Item, Placement

FILE = Path(__file__).parent / "placements.json"


def graphs() -> list[list[Any]]:
    """Items as [inputs, leaf, section]: a square, an affine map, random graphs with sections."""
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
    placement = Placement(Item(*item) for item in items)
    via = [[start, end, [*map(list, points)]] for (start, end), points in sorted(placement.via.items())]
    return {"items": items, "column": placement.column, "slot": placement.slot, "via": via}


if __name__ == "__main__":
    FILE.write_text(json.dumps([place(items) for items in graphs()], separators=(",", ":")) + "\n")
