"""Draws the packages and their layers from the import contracts in `pyproject.toml`.

The docs site shows the picture; `python docs/packages.py` writes it to `docs/packages.svg`.

A package rests on those that it may import. Its purpose is the first sentence of its `__init__.py`, and its size is
counted: so the picture is drawn when the site is built, and not kept.
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
PICTURE = REPOSITORY / "docs" / "packages.svg"
WIDTH, LEFT, LAYER, TOWER, GAP, EDGE = 980, 40, 56, 178, 8, 16
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .name { font-weight: 600; font-size: 15px }
  .size { fill: #59636e; text-anchor: end }
  .package { fill: #f6f8fa; stroke: #818b98 }
  .aside { stroke-dasharray: 5 4 }
  .arrow { stroke: #818b98; fill: none; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .size { fill: #9198a1 } .package { fill: #161b22; stroke: #6e7681 }
    .arrow { stroke: #6e7681 }
  }
"""


def contracts(kind: str) -> list[dict[str, Any]]:
    """The import contracts of one kind."""
    tool = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return [contract for contract in tool["importlinter"]["contracts"] if contract["type"] == kind]


def layers() -> list[list[str]]:
    """The packages, those of one layer together, the highest layer first."""
    (down,) = contracts("layers")
    return [[name.strip() for name in layer.split("|")] for layer in down["layers"]]


def closed_to(package: str) -> set[str]:
    """The packages below this one that it may not import."""
    return {name for c in contracts("forbidden") if package in c["source_modules"] for name in c["forbidden_modules"]}


def folder_of(package: str) -> Path:
    """The folder of a package's files."""
    parts = package.split(".")
    return REPOSITORY.joinpath("widgets", *parts) if parts[0] == "minitape_widgets" else REPOSITORY.joinpath(*parts)


def purpose(package: str) -> str:
    """The first sentence about a package."""
    text = ast.get_docstring(ast.parse((folder_of(package) / "__init__.py").read_text(encoding="utf-8"))) or ""
    first = re.split(r"(?<=[.:])\s", " ".join(text.split("\n\n")[0].split()))
    return re.sub(r"``?|:mod:", "", " ".join(first[:2]) if len(first[0]) < 30 else first[0]).rstrip(".:")


def size(package: str) -> str:
    """How many files and lines a package has, the lines to two digits."""
    files = [path for path in folder_of(package).rglob("*.py") if "__pycache__" not in path.parts]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    digits = 10 ** max(len(str(lines)) - 2, 0)
    return f"{len(files)} files, {round(lines / digits) * digits:,} lines"


def box(package: str, x: float, y: float, width: float, height: float, text_to: float = 0, dashed: bool = False) -> str:
    """A package, with its name, its purpose and its size; ``text_to`` leaves space for another one in it."""
    inner = text_to or width
    middle = y + height / 2
    lines = textwrap.wrap(purpose(package), int((inner - 2 * EDGE) / 6.6))
    counted = size(package) if inner > 250 else ""  # narrow ones say it below
    lines += [] if counted else ["", *size(package).split(", ")]
    top = middle - 8 * len(lines) + 3
    words = "".join(
        f'<text x="{x + EDGE}" y="{top + 17 * (at + 1)}">{html.escape(line)}</text>' for at, line in enumerate(lines)
    )
    return (
        f'<rect class="package{" aside" if dashed else ""}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text class="name" x="{x + EDGE}" y="{top}">{package.removeprefix("minitape.")}/</text>{words}'
        f'<text class="size" x="{x + inner - EDGE}" y="{top}">{counted}</text>'
    )


def drawn() -> str:
    """The picture as SVG.

    A package reaches down to those on which it rests. One that may import the two lowest layers alone is drawn as a
    tower. The accelerators, which the lowest layer may not import, are drawn inside it: the engine asks for them at
    run time.
    """
    stack = layers()
    [first], [lowest] = stack[-2:]
    accelerators = sorted(closed_to(lowest))
    towers = [
        package
        for packages in stack
        if len(packages) > 1
        for package in packages
        if packages_below(stack, package) - closed_to(package) == {first, lowest}
    ]
    parts, y, right, begun = [], EDGE, WIDTH - EDGE, 0
    for packages in stack[:-2]:
        packages = [package for package in packages if package not in accelerators]
        if not packages:
            continue
        if any(package in towers for package in packages):
            begun = begun or y
            right = WIDTH - EDGE - (TOWER + GAP) * len(towers)
        plain = [package for package in packages if package not in towers]
        parts += [box(package, LEFT, y, right - LEFT, LAYER) for package in plain]
        y += LAYER + GAP
    parts += [
        box(package, right + GAP + at * (TOWER + GAP), begun, TOWER, y - GAP - begun)
        for at, package in enumerate(towers)
    ]
    parts += [box(first, LEFT, y, WIDTH - EDGE - LEFT, LAYER)]
    y += LAYER + GAP
    parts += [box(lowest, LEFT, y, WIDTH - EDGE - LEFT, 1.7 * LAYER, right - LEFT)]
    wide = (WIDTH - EDGE - right - GAP * (len(accelerators) + 1)) / max(len(accelerators), 1)
    parts += [
        box(package, right + GAP + at * (wide + GAP), y + GAP, wide, 1.7 * LAYER - 2 * GAP, dashed=True)
        for at, package in enumerate(accelerators)
    ]
    height = round(y + 1.7 * LAYER + EDGE)
    arrow = f'<path class="arrow" d="M20 {EDGE + 4} V{height - EDGE - 6} m-5 -8 l5 8 l5 -8"/>'
    title = "<title>The packages of minitape: each may import from those below it, and from no other</title>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img">'
        f"{title}<style>{STYLE}</style>{arrow}{chr(10).join(['', *parts])}\n</svg>\n"
    )


def packages_below(stack: list[list[str]], package: str) -> set[str]:
    """The packages on the layers below that of a package."""
    at = next(i for i, packages in enumerate(stack) if package in packages)
    return {name for packages in stack[at + 1 :] for name in packages}


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    print("wrote", PICTURE)
