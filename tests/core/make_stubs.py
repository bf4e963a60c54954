"""Writes the stubs (`*.pyi`) by which editors and type checkers know the names that minitape loads late.

    python tests/core/make_stubs.py

A namespace is a table of names and of the modules that hold them (see `minitape.namespace`). Its stub says the same in
the words of Python's imports. `test_stubs.py` fails where a table has changed and its stub has not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import minitape
from minitape.namespace import Namespace

PACKAGE = Path(str(minitape.__file__)).parent
HEAD = '"""The names of `{name}`, for editors and type checkers: see `python tests/core/make_stubs.py`."""\n'


def stubs() -> dict[Path, str]:
    """The text of each stub by its path."""
    return {path_of(module): stub(module) for module in namespaces(minitape, set())}


def namespaces(module: ModuleType, seen: set[str]) -> Iterator[ModuleType]:
    """The modules below this one, and itself, that are tables and hold nothing else."""
    seen.add(module.__name__)
    if nested_or_named(module) >= set(dir(module)):
        yield module
    for name in dir(module):
        inner = getattr(module, name)
        if isinstance(inner, ModuleType) and inner.__name__ not in seen and inner.__name__.startswith("minitape."):
            yield from namespaces(inner, seen)


def nested_or_named(module: ModuleType) -> set[str]:
    """The public names that a module's table holds, and its namespaces that are no modules."""
    homes = getattr(getattr(module, "__getattr__", None), "homes", {})
    return {*homes, *(n for n in dir(module) if isinstance(getattr(module, n), Namespace))}


def path_of(module: ModuleType) -> Path:
    """Where the stub of a module is."""
    return Path(str(module.__file__)).with_suffix(".pyi")


def stub(module: ModuleType) -> str:
    """The stub of a namespace: an import for each module that holds names of it.

    `name as name` tells a type checker that the name is for others; one that has another name here is assigned.
    """
    imports: dict[str, list[str]] = {}
    lines, assigned = [], []
    for name in dir(module):
        home, theirs = module.__getattr__.homes.get(name, (None, ""))
        package, _, last = f"minitape.{home}".rpartition(".") if home and not theirs else (f"minitape.{home}", "", theirs)
        if home is None:
            assigned.append(f"{name}: _Any")
        elif home == "":
            lines.append(f"import minitape as _{name}")
            assigned.append(f"{name} = _{name}")
        elif last == name:
            imports.setdefault(package, []).append(f"{name} as {name}")
        else:
            imports.setdefault(package, []).append(f"{last} as _{name}")
            assigned.append(f"{name} = _{name}")
    if any(line.endswith("_Any") for line in assigned):
        lines.append("from typing import Any as _Any")
    for home, names in sorted(imports.items()):
        lines.append("\n    ".join([f"from {home} import (", *[f"{n}," for n in names]]) + "\n)")
    if module is minitape:
        assigned.append("__version__: str")
    return "\n".join([HEAD.format(name=f"tf{module.__name__.removeprefix('minitape')}"), *lines, *assigned]) + "\n"


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
        print(path)
