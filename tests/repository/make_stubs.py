"""Write the stubs (`*.pyi`) from which editors and type checkers read minitape's public names.

    python tests/repository/make_stubs.py

A namespace such as `minitape.math` is not a file but an entry in the table of `minitape/tf/api.py`. Its stub has the
path that such a file would have, and imports the names from their modules. Functions that a module creates at import
time are written out with their arguments. `test_stubs.py` fails if a table has changed and its stub has not.
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
from minitape.tf.api import NAMES, map_names_to_defining_modules

PACKAGE = Path(str(minitape.__file__)).parent
EXTRA_MODULES = {"explain": import_module("minitape.explain"), "bridges": import_module("minitape.bridges")}
ARGUMENT_TYPES = {"name": "str | None", "keepdims": "_bool"}
"""The types of arguments of functions that a module creates at import. All other arguments are Any."""


def build_stubs() -> dict[Path, str]:
    """Build the content of all stubs, by path."""
    text_by_path = {
        get_stub_path(namespace): build_stub(
            f"tf.{namespace}".removesuffix("."), map_names_to_defining_modules(namespace)
        )
        for namespace in NAMES
    }
    return text_by_path | {
        get_stub_path(namespace): build_stub(f"tf.{namespace}", module.__getattr__.homes)
        for namespace, module in EXTRA_MODULES.items()
    }


def get_stub_path(namespace: str) -> Path:
    """Return the path of a namespace's stub. For a folder, this is `__init__.pyi`."""
    is_folder = not namespace or namespace in EXTRA_MODULES or any(other.startswith(f"{namespace}.") for other in NAMES)
    path = PACKAGE.joinpath(*namespace.split(".")) if namespace else PACKAGE
    return path / "__init__.pyi" if is_folder else path.with_suffix(".pyi")


def build_stub(label: str, homes: Mapping[str, tuple[str, str]]) -> str:
    """Build the stub of a namespace, with an import statement for each module that defines some of the names.

    `name as name` marks a name as public for type checkers. A name that differs from the original name is assigned.

    Args:
        label: The namespace as a user writes it, such as "tf.math".
        homes: The module and the original name of each name. The original name of a module is "".
    """
    imports: dict[str, list[str]] = {}
    assignments, definitions = [], []
    for name, (home, original_name) in sorted(homes.items()):
        module = f"minitape.{home}"
        if not original_name:
            package, _, module_name = module.rpartition(".")
            imports.setdefault(package, []).append(f"{module_name} as {name}")
        elif is_created_at_import(module, original_name):
            definitions.append(format_definition(name, getattr(import_module(module), original_name)))
        elif original_name == name:
            imports.setdefault(module, []).append(f"{name} as {name}")
        else:
            imports.setdefault(module, []).append(f"{original_name} as _{name}")
            assignments.append(f"{name} = _{name}")
    if definitions:
        imports.setdefault("builtins", []).append("bool as _bool")
        imports.setdefault("typing", []).append("Any as _Any")
        imports.setdefault("minitape.engine.tensor.tensor", []).append("Tensor as _Tensor")
    lines = [f'"""The names of `{label}`, for editors: see `python tests/repository/make_stubs.py`."""\n']
    for home, names in sorted(imports.items()):
        lines.append("\n    ".join([f"from {home} import (", *[f"{n}," for n in sorted(names)]]) + "\n)")
    if label == "tf":
        assignments.append("__version__: str")
    return "\n".join([*lines, *assignments, *definitions]) + "\n"


def is_created_at_import(module: str, name: str) -> bool:
    """Return whether a module creates a function at import time, so that its source contains no definition."""
    function = getattr(import_module(module), name)
    return isinstance(function, FunctionType) and name not in list_defined_names(
        Path(str(import_module(module).__file__))
    )


@cache
def list_defined_names(path: Path) -> set[str]:
    """Return the names of functions and classes that a module's source defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def format_definition(name: str, function: Any) -> str:
    """Format a function for a stub, with its parameters and defaults, its return type and its first sentence."""
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        default = "" if parameter.default is parameter.empty else f" = {format_default_value(parameter.default)}"
        annotation = ARGUMENT_TYPES.get(parameter.name, "_Any")
        arguments.append(f"{parameter.name}: {annotation}{default}")
    sentence = " ".join(function.__doc__.strip().partition("\n\n")[0].split())
    lines = textwrap.wrap(f'"""{sentence}"""', 116, subsequent_indent="    ", break_on_hyphens=False)
    return f"def {name}({', '.join(arguments)}) -> _Tensor:\n    " + "\n".join(lines)


def format_default_value(value: Any) -> str:
    """Format a default value: numbers, strings and None unchanged, and everything else as an ellipsis."""
    return repr(value) if value is None or type(value) in (bool, int, float, str) else "..."


if __name__ == "__main__":
    wanted = build_stubs()
    for path in {*PACKAGE.rglob("*.pyi")} - {*wanted}:
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print("wrote", path)
