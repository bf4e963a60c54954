"""A second run is refused only if the program affected something outside of its process and of its caches."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from minitape.bridges.run_watch.side_effects import SideEffects


def find_first_effect(change: Callable[[Path], None], folder: Path) -> str:
    """Return the first side effect that is noticed while a function changes a folder."""
    watch = SideEffects()
    watch.start_noticing()
    try:
        change(folder)
    finally:
        watch.stop_noticing()
    return watch.first


def compile_file(folder: Path) -> None:
    (folder / "a.pyc.123").write_bytes(b"")
    os.rename(folder / "a.pyc.123", folder / "a.pyc")
    os.remove(folder / "a.pyc")


def test_the_files_that_python_compiles_are_no_side_effects(tmp_path):
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    assert find_first_effect(compile_file, cache) == ""


def write_file(folder: Path) -> None:
    (folder / "log.txt").write_text("1", encoding="utf-8")


def rename_file(folder: Path) -> None:
    os.rename(folder / "old.txt", folder / "new.txt")


@pytest.mark.parametrize(
    ("change", "effect"), [(write_file, "open"), (rename_file, "os.rename")], ids=["write", "rename"]
)
def test_a_change_of_the_users_files_is_a_side_effect(tmp_path, change, effect):
    (tmp_path / "old.txt").write_text("", encoding="utf-8")
    assert find_first_effect(change, tmp_path).startswith(f"{effect}(")
