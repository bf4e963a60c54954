"""`minitape site --lite`: JupyterLite with the lessons, and what its Pyodide has. That they run in a browser needs a
network, and is not tested.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import tarfile
import tomllib
import zipfile

import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from minitape.cli import main
from minitape.cli.lessons import lessons_folder, notebooks_in

WHEEL = "minitape-0.1.0-py3-none-any.whl"
needs_lite = pytest.mark.skipif(
    importlib.util.find_spec("jupyterlite_pyodide_kernel") is None, reason='no JupyterLite: pip install -e ".[lite]"'
)


def lite(out, wheel):
    return CliRunner().invoke(main, ["site", str(out), "--lite", str(wheel)], catch_exceptions=False)


@pytest.fixture
def wheel(tmp_path):
    """A file with the name of a wheel: JupyterLite reads its metadata."""
    info = "minitape-0.1.0.dist-info"
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as file:
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.4\nName: minitape\nVersion: 0.1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return tmp_path / WHEEL


@needs_lite
@pytest.mark.long
def test_the_lessons_are_there_without_outputs_and_install_minitape_first(tmp_path, wheel):
    done = lite(tmp_path / "out", wheel)
    assert done.exit_code == 0 and "notebooks that run in the browser" in done.output
    files = tmp_path / "out" / "files"
    assert [path.name for path in notebooks_in(files)] == [path.name for path in notebooks_in(lessons_folder())]
    code = [c for c in json.loads((files / "01_the_first_tape.ipynb").read_text())["cells"] if c["cell_type"] == "code"]
    assert code[0]["source"] == "%pip install -q minitape anywidget" and not any(cell["outputs"] for cell in code)
    assert any(WHEEL in index.read_text() for index in (tmp_path / "out").rglob("all.json"))
    assert (tmp_path / "out" / "extensions" / "@jupyterlite").is_dir()  # the kernel


# What minitape needs there and what is no Python alone: Pyodide must have it, in a version that minitape takes.
COMPILED = {"numpy", "ml-dtypes"}


@needs_lite
@pytest.mark.long
def test_the_pyodide_that_jupyterlite_loads_has_what_must_be_compiled_for_it(repository, tmp_path):
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    if shutil.which("npm") is None:
        pytest.skip("no npm, from which Pyodide's list of packages comes")
    done = subprocess.run(["npm", "pack", f"pyodide@{PYODIDE_VERSION}"], cwd=tmp_path, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"npm has no Pyodide {PYODIDE_VERSION}: {done.stderr[-300:]}")
    with tarfile.open(tmp_path / f"pyodide-{PYODIDE_VERSION}.tgz") as archive:
        lock = json.load(archive.extractfile("package/pyodide-lock.json"))
    brought = {name: package["version"] for name, package in lock["packages"].items()}
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [Requirement(text) for text in project["dependencies"]]
    needed = {
        r.name.replace("_", "-"): r
        for r in needed
        if r.marker is None or r.marker.evaluate({"sys_platform": "emscripten"})
    }
    assert set(brought) >= COMPILED <= set(needed)
    wrong = {name: brought[name] for name, r in needed.items() if name in brought and brought[name] not in r.specifier}
    assert not wrong
    assert lock["info"]["python"] in SpecifierSet(project["requires-python"])


def test_what_is_missing_or_is_no_wheel_is_said(tmp_path, wheel, monkeypatch):
    monkeypatch.setattr("minitape.cli.lite.NEEDS", ("no_such_package",))
    done = lite(tmp_path / "out", wheel)
    assert (
        done.exit_code == 1
        and "needs the package no_such_package, which is not installed. Type: pip install" in done.output
    )
    monkeypatch.setattr("minitape.cli.lite.NEEDS", ())
    other = tmp_path / "other-1.0-py3-none-any.whl"
    other.touch()
    done = lite(tmp_path / "out", other)
    assert done.exit_code == 1 and "pip wheel --no-deps ." in done.output
    done = lite(tmp_path, wheel)
    assert done.exit_code == 1 and "holds files that are no site" in done.output and wheel.exists()
