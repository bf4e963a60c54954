"""mypy checks the whole package, and each `Any` in a fully typed package has a comment that gives the reason."""

import ast
import tomllib
from pathlib import Path

import pytest

import minitape

PACKAGE = Path(minitape.__file__).parent
SETTINGS = PACKAGE.parent / "pyproject.toml"


# These packages contain no code for other frameworks, and their values have types (minitape/engine/types.py).
PACKAGES = ("cli", "course", "engine", "explain", "picture")
EVERY = {"fixes", "reasons"}  # These parts of explain read the recordings of all frameworks.


@pytest.mark.parametrize("package", PACKAGES)
def test_any_is_written_with_its_reason_only(package):
    found = []
    for path in sorted((PACKAGE / package).rglob("*.py")):
        if EVERY.intersection(path.parts):
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        tree = ast.parse(text)
        statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == "Any":
                around = max((s for s in statements if s.lineno <= node.lineno <= s.end_lineno), key=lambda s: s.lineno)
                last = around.body[0].lineno - 1 if isinstance(around, ast.FunctionDef) else around.end_lineno
                above = lines[around.lineno - 2].lstrip().startswith("#")
                if not above and not any("  # " in line for line in lines[around.lineno - 1 : last]):
                    found.append(f"{path.name}:{node.lineno}: {lines[node.lineno - 1].strip()}")
    assert found == []


def test_mypy_is_asked_everything_everywhere():
    if SETTINGS.exists():
        settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["tool"]["mypy"]
        assert settings["disallow_untyped_defs"] and settings["check_untyped_defs"]
        assert not any("disable_error_code" in part for part in (settings, *settings["overrides"]))
