"""`minitape site --lite`: JupyterLite with the lessons. That they run in a browser needs a network, and is not tested."""

from __future__ import annotations

import importlib.util
import json
import zipfile

import pytest
from click.testing import CliRunner

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
    assert code[0]["source"] == "%pip install -q minitape" and not any(cell["outputs"] for cell in code)
    assert any(WHEEL in index.read_text() for index in (tmp_path / "out").rglob("all.json"))
    assert (tmp_path / "out" / "extensions" / "@jupyterlite").is_dir()  # the kernel


def test_what_is_missing_or_is_no_wheel_is_said(tmp_path, wheel, monkeypatch):
    monkeypatch.setattr("minitape.cli.lite.NEEDS", ("no_such_package",))
    done = lite(tmp_path / "out", wheel)
    assert done.exit_code == 1 and 'no_such_package is missing: pip install "minitape[lite]"' in done.output
    monkeypatch.setattr("minitape.cli.lite.NEEDS", ())
    other = tmp_path / "other-1.0-py3-none-any.whl"
    other.touch()
    done = lite(tmp_path / "out", other)
    assert done.exit_code == 1 and "pip wheel --no-deps ." in done.output
    done = lite(tmp_path, wheel)
    assert done.exit_code == 1 and "holds files that are no JupyterLite" in done.output and wheel.exists()
