"""Write placements.json, which lists where the static picture places the nodes of some graphs.

The front end's tests check that it places nodes identically (widgets/frontend/test/engine.test.ts).
"""

import json
import random
from pathlib import Path
from typing import Any

from minitape.picture.placement import Placement, PlacementItem

FILE = Path(__file__).parent / "placements.json"


def build_graphs() -> list[list[Any]]:
    """Return graphs as lists of [inputs, leaf, section] items.

    The graphs are a square, an affine map, random graphs with sections, and second derivatives. An item that a gradient
    wrote also has its level and the row below which it is drawn.
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
    # The last node belongs next to the middle leaf.
    made.append([*([[], True, 0] for _ in range(6)), [list(range(6)), False, 1], [[6], False, 1]])
    # Many squares of leaves remain in their order, and their sum is next to the middle one.
    squares = [item for leaf in range(0, 24, 2) for item in ([[], True, 0], [[leaf, leaf], False, 0])]
    made.append([*squares, [[*range(1, 24, 2)], False, 0]])
    # x * x * x and its gradient, followed by larger graphs.
    made.append(add_gradient([[[], True, 0], [[0, 0], False, 0], [[1, 0], False, 0]]))
    for size in (6, 9, 14, 20):
        leaves: list[Any] = [[[], True, 0], [[], True, 0]]
        for i in range(2, size):
            leaves.append([[choose.randrange(max(0, i - 3), i) for _ in range(choose.choice((1, 2, 2)))], False, 0])
        made.append(add_gradient(leaves))
    return made


def add_gradient(items: list[Any]) -> list[Any]:
    """Add the rows that the last item's gradient wrote, each below the row whose adjoint it adds to, and a consumer."""
    last = len(items) - 1
    made = [*items, [[], True, 1, 1, last]]
    adjoints = {last: last + 1}
    for row in range(last, -1, -1):
        inputs = items[row][0] if row in adjoints else ()
        if len(inputs) > 1 and row % 3 == 0:  # This rule has several operations. The first is below the row itself.
            made.append([[adjoints[row], row], False, 1, 1, row])
            adjoints[row] = len(made) - 1
        for port, one in enumerate(inputs):
            made.append([[adjoints[row], inputs[1 - port] if len(inputs) > 1 else row], False, 1, 1, one])
            if one in adjoints:
                made.append([[adjoints[one], len(made) - 1], False, 1, 1, one])
            adjoints[one] = len(made) - 1
    return [*made, [[len(made) - 1, last], False, 2]]


def place_items(items: list[Any]) -> dict[str, Any]:
    placement = Placement([PlacementItem(*item) for item in items])
    via = [[start, end, [*map(list, points)]] for (start, end), points in sorted(placement.passed_points.items())]
    return {"items": items, "column": placement.column, "slot": placement.slot, "via": via}


if __name__ == "__main__":
    FILE.write_text(json.dumps([place_items(items) for items in build_graphs()], separators=(",", ":")) + "\n")
