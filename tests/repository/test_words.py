"""Names: each class has one of its own, and a function or class says what it returns or does."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import minitape

PACKAGE = Path(minitape.__file__).parent
REPOSITORY = PACKAGE.parent
CODE = [*PACKAGE.rglob("*.py"), *(REPOSITORY / "widgets" / "minitape_widgets").rglob("*.py")]
TENSORFLOWS = {"Variable", "name_scope"}  # TensorFlow itself has two of each: `tf` and `tf.keras`, `tf` and Keras' own

# functions and classes had these names, which say neither what they return nor what they do
DEFINITIONS = re.compile(
    r"_?(alike|beside|born|closed|comes_back|drawn|fits|goes_on|held|holds|moved|more|need|opened|passed|passes_by|quiet"
    r"|spoken|stands|stayed|stays|takes|together|told|turned)"
)


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """The nodes of a file of code."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def test_a_class_has_a_name_of_its_own():
    found = defaultdict(list)
    for path in CODE:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.name)
    assert len(found) > 300
    assert {name: files for name, files in found.items() if len(files) > 1 and name not in TENSORFLOWS} == {}


def test_a_definition_is_named_by_what_it_returns_or_does():
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = {
        f"{path.name}:{node.lineno}: {node.name}"
        for path in CODE
        for node in nodes_of(path)
        if isinstance(node, kinds) and DEFINITIONS.fullmatch(node.name)
    }
    assert sorted(found) == []


def test_such_a_name_is_seen():
    assert DEFINITIONS.fullmatch("goes_on") and not DEFINITIONS.fullmatch("held_variable")
