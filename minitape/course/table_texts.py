"""The texts of `explain` and of the picture, for whoever translates them: what ``explain.json``, ``picture.json`` and
``programs.json`` map.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ..common.read_data import read_json
from ..common.texts import FOLDER
from ..explain import texts, value_texts

ROOMS = Path(__file__).parent.parent


def texts_of_explain() -> list[str]:
    """The sentences that `explain` may say, and the parts that are put into them.

    >>> "Fix: {fix}" in texts_of_explain()
    True
    """
    tables = [*texts.TEXT.values(), *value_texts.OF_ZERO.values(), value_texts.CURES.values()]
    alone = [value_texts.SMOOTH, value_texts.OVERFLOW, value_texts.VALUE, value_texts.WHERE, value_texts.RELEASED]
    found = [text for table in tables for text in table] + alone
    return [text for text in dict.fromkeys([*found, *given_to("fill", ROOMS / "explain")]) if text]


def texts_of_picture(lessons: Path) -> list[str]:
    """The words of the picture: those that Python says, and those of the view, which the Chinese table has; in
    ``lessons`` are the languages.
    """
    return list(dict.fromkeys([*given_to("word", ROOMS / "picture"), *_in_chinese(lessons, "picture")]))


def texts_of_programs(lessons: Path) -> list[str]:
    """What the kept answers of lesson 14 say: the keys of the Chinese table."""
    return _in_chinese(lessons, "programs")


def _in_chinese(lessons: Path, name: str) -> list[str]:
    file = lessons / "zh" / FOLDER / f"{name}.json"
    return list(read_json(file)) if file.exists() else []


def given_to(function: str, folder: Path) -> Iterator[str]:
    """The texts that the files of a folder give to a function: in the call, or by a name that stands for them."""
    called = {function, "say"}  # what a caller chose, as `asking` calls it
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in called
        ]
        for call in calls:
            given = call.args[0]
            if isinstance(given, ast.JoinedStr):
                raise ValueError(
                    f"{path.name}, line {call.lineno}: {function}() takes a text with names in braces, and their "
                    "values apart from it"
                )
            yield from _constants(given)
            names = {_name(node) for node in ast.walk(given)} - {""}
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign):
                    for target, value in _bound(node):
                        if _name(target) in names:
                            yield from (text for text in _constants(value) if " " in text)


def _bound(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _constants(node: ast.AST) -> Iterator[str]:
    """The texts in an expression, but for those by which something is looked up or compared."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _constants(node.body)
        yield from _constants(node.orelse)
    elif not isinstance(node, (ast.Subscript, ast.Compare, ast.Call, ast.JoinedStr)):
        for part in ast.iter_child_nodes(node):
            yield from _constants(part)
