"""Where a browser is the computer (Pyodide, JupyterLite) packages that start programs or servers are not installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import nbformat
import pytest
from packaging.requirements import Requirement

from minitape.cli.lessons import IN_REPOSITORY, lesson_of, notebooks_in
from minitape.cli.rules import is_exercise, solution_of

BLOCKED = """
import linecache
import sys
from importlib.machinery import PathFinder
class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {names!r} else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Installed
sys.stdin.reconfigure(encoding="utf-8")
space = {{"__name__": "__main__", "display": print}}
for number, cell in enumerate(sys.stdin.read().split("\\x1e")):
    name = f"cell {{number}}"
    linecache.cache[name] = len(cell), None, cell.splitlines(keepends=True), name  # as Jupyter keeps the text of cells
    try:
        exec(compile(cell, name, "exec"), space)
    except Exception as error:
        if "# raises" not in cell:
            raise
"""
LESSONS = [path for path in notebooks_in(IN_REPOSITORY) if lesson_of(path)]


@pytest.fixture(scope="module")
def left_out(repository):
    """The modules of the packages that are not installed there."""
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = [Requirement(text) for text in project["dependencies"]]
    browser = {"sys_platform": "emscripten", "platform_machine": "wasm32", "os_name": "posix"}
    return [r.name for r in requirements if r.marker is not None and not r.marker.evaluate(browser)]


def test_what_starts_programs_and_servers_is_left_out_there_and_nowhere_else(left_out, repository):
    assert {"numba", "psutil", "graphviz", "nbval", "jupyterlab", "ipykernel", "jupyter_client", "pytest"} <= set(
        left_out
    )
    assert not {"numpy", "ml_dtypes", "anywidget", "ipywidgets", "traitlets"} & set(left_out)
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    here = [Requirement(text) for text in project["dependencies"]]
    assert all(
        r.marker is None or r.marker.evaluate({"sys_platform": name})
        for r in here
        for name in ("linux", "darwin", "win32")
    )


@pytest.mark.long
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_without_them(lesson, left_out, tmp_path):
    """With every solution put in, each exercise is told "correct"."""
    cells = nbformat.read(lesson, as_version=4).cells
    codes, exercises = [], 0
    for place, cell in enumerate(cells):
        if cell.cell_type == "code":
            raises = "# raises\n" if "raises-exception" in cell.metadata.get("tags", ()) else ""
            exercises += is_exercise(cell)
            codes.append(raises + (solution_of(cells, place) if is_exercise(cell) else cell.source))
    script = BLOCKED.format(names=left_out)
    done = subprocess.run(
        [sys.executable, "-c", script],
        input="\x1e".join(codes),
        cwd=tmp_path,
        text=True,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": correct.\n") >= exercises >= 4
