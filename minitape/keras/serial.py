"""How Keras finds an object by its name, ``"relu"`` or ``"Adam"``, and how it makes many that are alike: of tables."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ..engine.table.code import define


def lookup(kind: str, identifier: Any, table: Mapping[str, Any], instance: bool = True) -> Any:
    """The object meant by ``identifier``: itself if callable, else what ``table`` holds under that name.

    Classes are instantiated when ``instance`` is set. Raises ValueError for an unknown name.
    """
    if identifier is None:
        return None
    found = table.get(identifier) if isinstance(identifier, str) else identifier
    if not callable(found):
        raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
    return found() if instance and inspect.isclass(found) else found


def made(table: str, text: str, space: dict[str, Any]) -> dict[str, Any]:
    """What the lines of a table define in ``space``, by name: ``text`` with the columns, which the first line names.

    Of a column ``arguments``, such as ``x=1, *, y=2``, a text also finds ``first`` and ``more``, with a comma behind it or before
    it where there are any, and ``passed``, which hands them on: ``x=x, y=y``.

    >>> made("name | arguments \\n plus | y=1", "def {name}(x{more}): return dict(x=x, {passed})", {})["plus"](2)
    {'x': 2, 'y': 1}
    """
    head, *lines = table.strip().splitlines()
    found = {}
    for line in lines:
        row = dict(zip(_columns(head), _columns(line), strict=True))
        arguments = row.get("arguments", "")
        row["first"], row["more"] = (f"{arguments}, ", f", {arguments}") if arguments else ("", "")
        names = [argument.partition("=")[0] for argument in arguments.split(", ") if "=" in argument]
        row["passed"] = ", ".join(f"{name}={name}" for name in names)
        found[row["name"]] = define(text.format(**row), f"<tf.keras.{row['name']}>", space)[row["name"]]
    return found


def _columns(line: str) -> list[str]:
    return [column.strip() for column in line.split("|")]
