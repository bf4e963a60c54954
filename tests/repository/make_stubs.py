"""Writes the stubs (`*.pyi`) by which editors and type checkers know the public names of minitape.

    python tests/repository/make_stubs.py

A namespace such as `minitape.math` is a line of the table in `minitape/tf/api.py` and no file. Its stub is the file of
that path: it imports the names from where they are. Functions that a module makes while it loads are written down with
their arguments. `test_stubs.py` fails where a table has changed and its stub has not.
"""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import minitape
from minitape.tf.api import NAMES, homes_of

PACKAGE = Path(str(minitape.__file__)).parent
OTHERS = {"explain": import_module("minitape.explain"), "bridges": import_module("minitape.bridges")}
TYPES = {"name": "str | None", "keepdims": "_bool"}  # of the arguments of functions that a module makes


def stubs() -> dict[Path, str]:
    """The text of each stub by its path."""
    found = {path_of(space): stub(f"tf.{space}".removesuffix("."), homes_of(space)) for space in NAMES}
    return found | {path_of(space): stub(f"tf.{space}", module.__getattr__.homes) for space, module in OTHERS.items()}


def path_of(space: str) -> Path:
    """Where the stub of a namespace is: a folder has it as `__init__.pyi`."""
    folder = not space or space in OTHERS or any(other.startswith(f"{space}.") for other in NAMES)
    path = PACKAGE.joinpath(*space.split(".")) if space else PACKAGE
    return path / "__init__.pyi" if folder else path.with_suffix(".pyi")


def stub(label: str, homes: Mapping[str, tuple[str, str]]) -> str:
    """The stub of a namespace: an import for each module that holds names of it.

    `name as name` tells a type checker that the name is for others; one that has another name here is assigned.
    """
    imports: dict[str, list[str]] = {}
    assigned, made = [], []
    for name, (home, theirs) in sorted(homes.items()):
        module = f"minitape.{home}"
        if not theirs:
            package, _, last = module.rpartition(".")
            imports.setdefault(package, []).append(f"{last} as {name}")
        elif is_made(module, theirs):
            made.append(definition(name, getattr(import_module(module), theirs)))
        elif theirs == name:
            imports.setdefault(module, []).append(f"{name} as {name}")
        else:
            imports.setdefault(module, []).append(f"{theirs} as _{name}")
            assigned.append(f"{name} = _{name}")
    if made:
        imports.setdefault("builtins", []).append("bool as _bool")
        imports.setdefault("typing", []).append("Any as _Any")
        imports.setdefault("minitape.engine.tensor.tensor", []).append("Tensor as _Tensor")
    lines = [f'"""The names of `{label}`, for editors: see `python tests/repository/make_stubs.py`."""\n']
    for home, names in sorted(imports.items()):
        lines.append("\n    ".join([f"from {home} import (", *[f"{n}," for n in sorted(names)]]) + "\n)")
    if label == "tf":
        assigned.append("__version__: str")
    return "\n".join([*lines, *assigned, *made]) + "\n"


def is_made(module: str, name: str) -> bool:
    """Whether a module makes a function while it loads, which its text does not show."""
    found = getattr(import_module(module), name)
    return isinstance(found, FunctionType) and name not in shown_in(Path(str(import_module(module).__file__)))


@cache
def shown_in(path: Path) -> set[str]:
    """The functions and classes that the text of a module defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def definition(name: str, function: Any) -> str:
    """A function as a stub has it: its arguments with their defaults, what it returns, and its first sentence."""
    arguments = [
        f"{p.name}: {TYPES.get(p.name, '_Any')}{'' if p.default is p.empty else f' = {default(p.default)}'}"
        for p in inspect.signature(function).parameters.values()
    ]
    sentence = " ".join(function.__doc__.strip().partition("\n\n")[0].split())
    lines = textwrap.wrap(f'"""{sentence}"""', 116, subsequent_indent="    ", break_on_hyphens=False)
    return f"def {name}({', '.join(arguments)}) -> _Tensor:\n    " + "\n".join(lines)


def default(value: Any) -> str:
    """A default as a stub shows it: a number, a text or None as it is, anything else as an ellipsis."""
    return repr(value) if value is None or type(value) in (bool, int, float, str) else "..."


if __name__ == "__main__":
    wanted = stubs()
    for path in {*PACKAGE.rglob("*.pyi")} - {*wanted}:
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print("wrote", path)
