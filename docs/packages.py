"""Draw the packages and their layers from the import contracts in `pyproject.toml`.

The docs site shows the picture. `python docs/packages.py` writes it to `docs/packages.svg`. A package rests on the
packages that it may import. Its purpose is the first sentence of its `__init__.py`, and its size is counted. The
picture is therefore drawn when the site is built, and is not in the repository.
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


def read_import_contracts(contract_type: str) -> list[dict[str, Any]]:
    """Read the import contracts of one type from pyproject.toml."""
    tool = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return [contract for contract in tool["importlinter"]["contracts"] if contract["type"] == contract_type]


def list_layers() -> list[list[str]]:
    """List the packages of each layer, starting with the highest layer."""
    (layers_contract,) = read_import_contracts("layers")
    return [[name.strip() for name in layer.split("|")] for layer in layers_contract["layers"]]


def find_packages_forbidden_to(package: str) -> set[str]:
    """Find the packages below this one that it may not import."""
    return {
        name
        for contract in read_import_contracts("forbidden")
        if package in contract["source_modules"]
        for name in contract["forbidden_modules"]
    }


def get_package_folder(package: str) -> Path:
    """Return the folder that contains a package's files."""
    parts = package.split(".")
    return REPOSITORY.joinpath("widgets", *parts) if parts[0] == "minitape_widgets" else REPOSITORY.joinpath(*parts)


def read_package_purpose(package: str) -> str:
    """Read the first sentence about a package, in its docstring."""
    text = ast.get_docstring(ast.parse((get_package_folder(package) / "__init__.py").read_text(encoding="utf-8"))) or ""
    sentences = re.split(r"(?<=[.:])\s", " ".join(text.split("\n\n")[0].split()))
    return re.sub(r"``?|:mod:", "", " ".join(sentences[:2]) if len(sentences[0]) < 30 else sentences[0]).rstrip(".:")


def describe_package_size(package: str) -> str:
    """Describe the number of a package's files and lines, with the lines rounded to two digits."""
    files = [path for path in get_package_folder(package).rglob("*.py") if "__pycache__" not in path.parts]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    digits = 10 ** max(len(str(lines)) - 2, 0)
    return f"{len(files)} files, {round(lines / digits) * digits:,} lines"


def draw_package_box(
    package: str, x: float, y: float, width: float, height: float, text_width: float = 0, is_dashed: bool = False
) -> str:
    """Draw a package with its name, purpose and size. ``text_width`` leaves space for another package inside it."""
    inner_width = text_width or width
    middle = y + height / 2
    lines = textwrap.wrap(read_package_purpose(package), int((inner_width - 2 * EDGE) / 6.6))
    # Narrow boxes show the size below the purpose.
    size_text = describe_package_size(package) if inner_width > 250 else ""
    lines += [] if size_text else ["", *describe_package_size(package).split(", ")]
    top = middle - 8 * len(lines) + 3
    text_lines = "".join(
        f'<text x="{x + EDGE}" y="{top + 17 * (line_number + 1)}">{html.escape(line)}</text>'
        for line_number, line in enumerate(lines)
    )
    classes = "package aside" if is_dashed else "package"
    return (
        f'<rect class="{classes}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text class="name" x="{x + EDGE}" y="{top}">{package.removeprefix("minitape.")}/</text>{text_lines}'
        f'<text class="size" x="{x + inner_width - EDGE}" y="{top}">{size_text}</text>'
    )


def draw_packages() -> str:
    """Draw the picture as SVG.

    A package reaches down to those on which it rests. One that may import the two lowest layers alone is drawn as a
    tower. The accelerators, which the lowest layer may not import, are drawn inside it: the engine asks for them at
    run time.
    """
    layer_list = list_layers()
    [upper_layer], [lowest_layer] = layer_list[-2:]
    accelerators = sorted(find_packages_forbidden_to(lowest_layer))
    towers = [
        package
        for packages in layer_list
        if len(packages) > 1
        for package in packages
        if list_packages_below(layer_list, package) - find_packages_forbidden_to(package) == {upper_layer, lowest_layer}
    ]
    parts, y, right, towers_top = [], EDGE, WIDTH - EDGE, 0
    for packages in layer_list[:-2]:
        packages = [package for package in packages if package not in accelerators]
        if not packages:
            continue
        if any(package in towers for package in packages):
            towers_top = towers_top or y
            right = WIDTH - EDGE - (TOWER + GAP) * len(towers)
        wide_packages = [package for package in packages if package not in towers]
        parts += [draw_package_box(package, LEFT, y, right - LEFT, LAYER) for package in wide_packages]
        y += LAYER + GAP
    parts += [
        draw_package_box(package, right + GAP + position * (TOWER + GAP), towers_top, TOWER, y - GAP - towers_top)
        for position, package in enumerate(towers)
    ]
    parts += [draw_package_box(upper_layer, LEFT, y, WIDTH - EDGE - LEFT, LAYER)]
    y += LAYER + GAP
    parts += [draw_package_box(lowest_layer, LEFT, y, WIDTH - EDGE - LEFT, 1.7 * LAYER, right - LEFT)]
    inner_width = (WIDTH - EDGE - right - GAP * (len(accelerators) + 1)) / max(len(accelerators), 1)
    parts += [
        draw_package_box(
            package,
            right + GAP + position * (inner_width + GAP),
            y + GAP,
            inner_width,
            1.7 * LAYER - 2 * GAP,
            is_dashed=True,
        )
        for position, package in enumerate(accelerators)
    ]
    height = round(y + 1.7 * LAYER + EDGE)
    arrow = f'<path class="arrow" d="M20 {EDGE + 4} V{height - EDGE - 6} m-5 -8 l5 8 l5 -8"/>'
    title = "<title>The packages of minitape: each may import from those below it, and from no other</title>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img">'
        f"{title}<style>{STYLE}</style>{arrow}{chr(10).join(['', *parts])}\n</svg>\n"
    )


def list_packages_below(layer_list: list[list[str]], package: str) -> set[str]:
    """List the packages on the layers below that of a package."""
    layer_index = next(i for i, packages in enumerate(layer_list) if package in packages)
    return {name for packages in layer_list[layer_index + 1 :] for name in packages}


if __name__ == "__main__":
    PICTURE.write_text(draw_packages(), encoding="utf-8")
    print("wrote", PICTURE)
