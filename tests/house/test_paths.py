"""No public path is lost: what could be imported, or reached as an attribute, before the modules moved can be today."""

import functools
import importlib
from pathlib import Path

import pytest

LINES = Path(__file__).with_name("paths.txt").read_text(encoding="utf-8").splitlines()
ATTRIBUTE = " (by attribute)"  # the path is no module: tf.math.special is reached through tf.math


@pytest.mark.parametrize("line", LINES, ids=[line.partition(":")[0].removesuffix(ATTRIBUTE) for line in LINES])
def test_a_public_path_gives_its_names(line):
    path, _, names = line.partition(": ")
    root, *inner = path.removesuffix(ATTRIBUTE).split(".")
    reached = functools.reduce(getattr, inner, importlib.import_module(root)) if path.endswith(ATTRIBUTE) else None
    space = reached or importlib.import_module(path)
    assert [name for name in names.split() if not hasattr(space, name)] == []


@pytest.mark.parametrize("path", [line.partition(":")[0] for line in LINES if ATTRIBUTE not in line and line.count(".")])
def test_a_module_is_the_same_by_import_and_by_attribute(path):
    module = importlib.import_module(path)
    assert functools.reduce(getattr, path.split(".")[1:], importlib.import_module("minitape")) is module
