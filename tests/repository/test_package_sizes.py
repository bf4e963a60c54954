"""How large each package is, in nodes of its syntax trees, which longer lines do not lower. It only goes down."""

import ast
from functools import cache
from pathlib import Path

import pytest

import minitape

PACKAGE = Path(minitape.__file__).parent
FILE = Path(__file__).with_name("sizes.txt")
MOST = {name: int(count) for name, count in map(str.split, FILE.read_text(encoding="utf-8").splitlines())}
SLACK = 1.02  # of a package that became smaller, until its new size is written down


@cache
def nodes(package: str) -> int:
    """The nodes of a package; those of the files beside the packages for "minitape"."""
    files = PACKAGE.glob("*.py") if package == "minitape" else (PACKAGE / package).rglob("*.py")
    return sum(len([*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]) for path in files)


def test_each_package_has_its_size():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders | {"minitape"} == MOST.keys()


@pytest.mark.parametrize("package", MOST)
def test_a_package_does_not_grow(package):
    """Where a change has a reason to make one larger, it writes the new size into sizes.txt and says why."""
    assert nodes(package) <= MOST[package]


@pytest.mark.parametrize("package", MOST)
def test_a_package_that_became_smaller_has_its_new_size(package):
    assert MOST[package] <= nodes(package) * SLACK
