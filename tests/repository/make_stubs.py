"""Writes the stubs (`*.pyi`) by which editors and type checkers know the names that minitape loads late.

    python tests/repository/make_stubs.py

A namespace is a table of names and of the modules that hold them (see `minitape.tf.namespace`). Its stub says the
same in the words of Python's imports; functions that a module makes while it loads, and that its text does not show,
are written down with their arguments. `test_stubs.py` fails where a table has changed and its stub has not.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import minitape
from minitape.tf.api import NAMESPACES

PACKAGE = Path(str(minitape.__file__)).parent
ALIASES = PACKAGE / "tf" / "stubs"
HEAD = '"""The names of `{name}`, for editors: see `python tests/repository/make_stubs.py`."""\n'


def stubs() -> dict[Path, str]:
    """The text of each stub by its path."""
    return {path_of(module): stub(module) for module in namespaces(minitape, set())} | dict(aliases())


def aliases() -> Iterator[tuple[Path, str]]:
    """Stubs of public paths such as `minitape.nn`, which is `minitape.tf.nn` at run time.

    In the wheel they are a package of stubs, `minitape-stubs`, which type checkers add to `minitape`
    (https://typing.python.org/en/latest/spec/distributing.html#partial-stub-packages).
    """
    names = [*NAMESPACES, "python.framework", "python.framework.ops"]
    for name in names:
        parts = name.split(".")
        folder = any(other.startswith(f"{name}.") for other in names)
        path = ALIASES.joinpath(*parts, "__init__.pyi") if folder else ALIASES.joinpath(*parts).with_suffix(".pyi")
        yield (
            path,
            f'"""`tf.{name}`: see `python tests/repository/make_stubs.py`."""\n\nfrom minitape.tf.{name} import *\n',
        )


def namespaces(module: ModuleType, seen: set[str]) -> Iterator[ModuleType]:
    """The modules below this one, and itself, that are tables and hold nothing else."""
    seen.add(module.__name__)
    if named(module) >= set(dir(module)):
        yield module
    for name in dir(module):
        inner = getattr(module, name)
        if isinstance(inner, ModuleType) and inner.__name__ not in seen and inner.__name__.startswith("minitape."):
            yield from namespaces(inner, seen)


def named(module: ModuleType) -> set[str]:
    """The public names that a module's table holds."""
    return set(getattr(getattr(module, "__getattr__", None), "homes", {}))


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
        package, _, last = (
            f"minitape.{home}".rpartition(".") if home and not theirs else (f"minitape.{home}", "", theirs)
        )
        made = made_function(package, last) if home else None
        if home is None:
            assigned.append(f"{name}: _Any")
        elif made is not None:
            assigned.append(definition(name, made))
        elif home == "":
            lines.append(f"import minitape as _{name}")
            assigned.append(f"{name} = _{name}")
        elif last == name:
            imports.setdefault(package, []).append(f"{name} as {name}")
        else:
            imports.setdefault(package, []).append(f"{last} as _{name}")
            assigned.append(f"{name} = _{name}")
    if any("_Any" in text for text in assigned):
        lines.append("from typing import Any as _Any")
    if any("-> _Tensor" in text for text in assigned):
        imports["minitape.engine.tensor.tensor"] = [
            "Tensor as _Tensor",
            *imports.get("minitape.engine.tensor.tensor", []),
        ]
    for home, names in sorted(imports.items()):
        lines.append("\n    ".join([f"from {home} import (", *[f"{n}," for n in names]]) + "\n)")
    if module is minitape:
        assigned.append("__version__: str")
    return "\n".join([HEAD.format(name=f"tf{module.__name__.removeprefix('minitape')}"), *lines, *assigned]) + "\n"


def made_function(home: str, name: str) -> Any:
    """The function of this name that a module makes while it loads; None for what its text, or its own stub, shows."""
    module = import_module(home)
    found = getattr(module, name)
    shown = name in shown_in(Path(str(module.__file__))) or path_of(module).exists()
    return found if isinstance(found, FunctionType) and not shown else None


@cache
def shown_in(path: Path) -> set[str]:
    """The functions and classes that the text of a module defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def definition(name: str, function: Any) -> str:
    """A function as a stub has it: its arguments with their defaults, what it returns, and its first sentence."""
    arguments = [
        p.replace(annotation="_Any", default=p.empty if p.default is p.empty else Default(p.default))
        for p in inspect.signature(function).parameters.values()
    ]
    result = getattr(inspect.unwrap(function), "__annotations__", {}).get("return")
    returns = {"Tensor": "_Tensor", "None": "None", None: "_Any"}.get(result, "_Any")
    text = str(inspect.Signature(arguments)).replace("'_Any'", "_Any")
    sentence = (function.__doc__ or "").strip().partition("\n")[0]
    return (
        f"def {name}{text} -> {returns}:\n    {_docstring(sentence)}\n"
        if sentence
        else f"def {name}{text} -> {returns}: ...\n"
    )


def _docstring(sentence: str) -> str:
    """A docstring of this sentence, in lines of at most 120 characters."""
    lines = textwrap.wrap(f'"""{sentence}"""', 116, subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)


class Default:
    """A default as a stub shows it: a number, a text or None as it is, anything else as an ellipsis."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value) if self.value is None or type(self.value) in (bool, int, float, str) else "..."


if __name__ == "__main__":
    for path, text in stubs().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print("wrote", path)
