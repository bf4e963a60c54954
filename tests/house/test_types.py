"""`Any` in the rooms that mypy checks strictly: only where a comment on the line says why."""

import ast
import tomllib
from pathlib import Path

import pytest

import minitape

PACKAGE = Path(minitape.__file__).parent
SETTINGS = PACKAGE.parent / "pyproject.toml"


def strict_rooms():
    """The rooms for which pyproject.toml takes none of mypy's questions away."""
    if not SETTINGS.exists():
        return []
    overrides = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
    modules = next(part["module"] for part in overrides if part.get("disable_error_code") == [])
    return [module.split(".")[1] for module in modules]


@pytest.mark.parametrize("room", strict_rooms())
def test_any_is_written_with_its_reason_only(room):
    found = []
    for path in sorted((PACKAGE / room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name) and node.id == "Any" and "  # " not in lines[node.lineno - 1]:
                found.append(f"{path.name}:{node.lineno}: {lines[node.lineno - 1].strip()}")
    assert found == []


def test_the_rooms_are_found():
    assert not SETTINGS.exists() or {"engine", "explain", "picture"} <= set(strict_rooms())
