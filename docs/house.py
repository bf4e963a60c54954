"""Draws the house from the import contracts in `pyproject.toml`: the docs site shows it; `python docs/house.py` writes
`docs/house.svg`.

A room stands on those that it may import. What a room is for is the first sentence of its `__init__.py`; its size is
counted. The picture is drawn when the site is built, and not kept, because it counts.
"""

from __future__ import annotations

import ast
import html
import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
PICTURE = REPOSITORY / "docs" / "house.svg"
WIDTH, LEFT, FLOOR, TOWER, GAP, EDGE = 980, 40, 56, 178, 8, 16
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .name { font-weight: 600; font-size: 15px }
  .size { fill: #59636e; text-anchor: end }
  .room { fill: #f6f8fa; stroke: #818b98 }
  .aside { stroke-dasharray: 5 4 }
  .way { stroke: #818b98; fill: none; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .size { fill: #9198a1 } .room { fill: #161b22; stroke: #6e7681 } .way { stroke: #6e7681 }
  }
"""


def contracts(kind: str) -> list[dict[str, Any]]:
    """The import contracts of one kind."""
    tool = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return [contract for contract in tool["importlinter"]["contracts"] if contract["type"] == kind]


def floors() -> list[list[str]]:
    """The rooms, those of one floor together, the highest floor first."""
    (doors,) = contracts("layers")
    return [[name.strip() for name in layer.split("|")] for layer in doors["layers"]]


def closed_to(room: str) -> set[str]:
    """The rooms below this one that it may not import."""
    return {name for c in contracts("forbidden") if room in c["source_modules"] for name in c["forbidden_modules"]}


def folder_of(room: str) -> Path:
    """Where the files of a room are."""
    parts = room.split(".")
    return REPOSITORY.joinpath("widgets", *parts) if parts[0] == "minitape_widgets" else REPOSITORY.joinpath(*parts)


def purpose(room: str) -> str:
    """The first sentence about a room."""
    text = ast.get_docstring(ast.parse((folder_of(room) / "__init__.py").read_text(encoding="utf-8"))) or ""
    first = re.split(r"(?<=[.:])\s", " ".join(text.split("\n\n")[0].split()))
    return re.sub(r"``?|:mod:", "", " ".join(first[:2]) if len(first[0]) < 30 else first[0]).rstrip(".:")


def size(room: str) -> str:
    """How many files and lines a room has, the lines to two digits."""
    files = [path for path in folder_of(room).rglob("*.py") if "__pycache__" not in path.parts]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    digits = 10 ** max(len(str(lines)) - 2, 0)
    return f"{len(files)} files, {round(lines / digits) * digits:,} lines"


def box(room: str, x: float, y: float, width: float, height: float, words_to: float = 0, dashed: bool = False) -> str:
    """A room, with its name, its purpose and its size; ``words_to`` leaves space for another one in it."""
    inner = words_to or width
    middle = y + height / 2
    lines = textwrap.wrap(purpose(room), int((inner - 2 * EDGE) / 6.6))
    counted = size(room) if inner > 250 else ""  # narrow ones say it below
    lines += [] if counted else ["", *size(room).split(", ")]
    top = middle - 8 * len(lines) + 3
    words = "".join(
        f'<text x="{x + EDGE}" y="{top + 17 * (at + 1)}">{html.escape(line)}</text>' for at, line in enumerate(lines)
    )
    return (
        f'<rect class="room{" aside" if dashed else ""}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text class="name" x="{x + EDGE}" y="{top}">{room.removeprefix("minitape.")}/</text>{words}'
        f'<text class="size" x="{x + inner - EDGE}" y="{top}">{counted}</text>'
    )


def drawn() -> str:
    """The picture as SVG.

    A room reaches down to those on which it stands. One that may import the two lowest floors alone is drawn as a
    tower, and one that the ground floor may not import, the accelerators, is drawn inside it: the engine asks for it
    through a door.
    """
    stack = floors()
    [first], [ground] = stack[-2:]
    asides = sorted(closed_to(ground))
    towers = [
        room
        for rooms in stack
        if len(rooms) > 1
        for room in rooms
        if rooms_below(stack, room) - closed_to(room) == {first, ground}
    ]
    parts, y, right, begun = [], EDGE, WIDTH - EDGE, 0
    for rooms in stack[:-2]:
        rooms = [room for room in rooms if room not in asides]
        if not rooms:
            continue
        if any(room in towers for room in rooms):
            begun = begun or y
            right = WIDTH - EDGE - (TOWER + GAP) * len(towers)
        plain = [room for room in rooms if room not in towers]
        parts += [box(room, LEFT, y, right - LEFT, FLOOR) for room in plain]
        y += FLOOR + GAP
    parts += [
        box(room, right + GAP + at * (TOWER + GAP), begun, TOWER, y - GAP - begun) for at, room in enumerate(towers)
    ]
    parts += [box(first, LEFT, y, WIDTH - EDGE - LEFT, FLOOR)]
    y += FLOOR + GAP
    parts += [box(ground, LEFT, y, WIDTH - EDGE - LEFT, 1.7 * FLOOR, right - LEFT)]
    wide = (WIDTH - EDGE - right - GAP * (len(asides) + 1)) / max(len(asides), 1)
    parts += [
        box(room, right + GAP + at * (wide + GAP), y + GAP, wide, 1.7 * FLOOR - 2 * GAP, dashed=True)
        for at, room in enumerate(asides)
    ]
    height = round(y + 1.7 * FLOOR + EDGE)
    arrow = f'<path class="way" d="M20 {EDGE + 4} V{height - EDGE - 6} m-5 -8 l5 8 l5 -8"/>'
    title = "<title>The rooms of minitape: each may import from those on which it stands, and from no other</title>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img">'
        f"{title}<style>{STYLE}</style>{arrow}{chr(10).join(['', *parts])}\n</svg>\n"
    )


def rooms_below(stack: list[list[str]], room: str) -> set[str]:
    """The rooms on the floors below that of a room."""
    at = next(i for i, rooms in enumerate(stack) if room in rooms)
    return {name for rooms in stack[at + 1 :] for name in rooms}


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    print("wrote", PICTURE)
