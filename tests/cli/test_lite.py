"""The Python of `minitape site --lite` contains what minitape needs. tests/browser runs the lessons in it."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from hashlib import sha256

import pytest
from click import ClickException
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from minitape.cli import main
from minitape.cli.browser_python import (
    CORE_FILES,
    KERNEL_PACKAGES,
    LOADER_FILES,
    LOCK_FILE,
    write_browser_python,
    write_minitape_wheel,
)

needs_lite = pytest.mark.skipif(
    importlib.util.find_spec("jupyterlite_pyodide_kernel") is None, reason='no JupyterLite: pip install -e ".[lite]"'
)


def run_lite_command(out, *options):
    return CliRunner().invoke(main, ["site", str(out), "--lite", *map(str, options)], catch_exceptions=False)


# These packages contain compiled code, so Pyodide must provide them, in versions that minitape accepts.
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


def test_what_is_missing_or_in_the_way_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("minitape.cli.lite.REQUIRED_PACKAGES", ("no_such_package",))
    done = run_lite_command(tmp_path / "out")
    assert (
        done.exit_code == 1
        and "needs the package no_such_package, but it is not installed. Type: pip install" in done.output
    )
    done = CliRunner().invoke(main, ["site", str(tmp_path / "out"), "--offline"])
    assert done.exit_code == 2 and "work only with --lite" in done.output


@needs_lite
def test_nothing_is_written_where_python_cannot_be_had_or_other_files_are(tmp_path):
    (tmp_path / "python").mkdir()
    done = run_lite_command(tmp_path / "out", "--pyodide", tmp_path / "python")
    assert done.exit_code == 1 and "could not get Pyodide's pyodide-lock.json" in done.output
    assert "--pyodide FOLDER" in done.output and not (tmp_path / "out").exists()
    (tmp_path / "mine.txt").touch()
    done = run_lite_command(tmp_path)
    assert done.exit_code == 1 and "contains files that do not belong to a site" in done.output
    assert {path.name for path in tmp_path.iterdir()} == {"mine.txt", "python"}


@pytest.mark.long
def test_the_wheel_is_that_of_the_running_minitape_and_always_the_same(tmp_path):
    wheels = [write_minitape_wheel(folder) for folder in (tmp_path / "one", tmp_path / "two") if folder.mkdir() is None]
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    with zipfile.ZipFile(wheels[0]) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert "minitape/course/lesson_01.py" in names and "minitape_widgets/static/tapeview.js" in names
    assert not [name for name in names if name.endswith((".pyc", ".pyi"))]
    assert "minitape/course/texts/01.json" in names and not [name for name in names if "ipynb" in name]
    program = """
import minitape as tf, minitape_widgets
from minitape.course import check
print(tf.__file__)
def derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x) * x
    return tape.gradient(y, x)
check("01.2", derivative)"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(tmp_path / "site")}, cwd=tmp_path,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(str(tmp_path / "site"))
    assert "but the solution's tape ends before that." in done.stdout


def write_distribution(folder):
    """Write the files of a Pyodide distribution with NumPy and the packages of the kernel."""
    packages = {}
    for name in ("numpy", *KERNEL_PACKAGES):
        (folder / f"{name}.whl").write_text(name)
        needs = ["left_Behind"] if name == "ipython" else []
        packages[name] = {"file_name": f"{name}.whl", "depends": needs, "sha256": sha256(name.encode()).hexdigest()}
    (folder / "left.whl").write_text("left")
    packages["left-behind"] = {"file_name": "left.whl", "depends": [], "sha256": sha256(b"left").hexdigest()}
    packages["unused"] = {"file_name": "unused.whl", "depends": [], "sha256": ""}
    (folder / LOCK_FILE).write_text(json.dumps({"packages": packages}))
    for name in (*CORE_FILES, LOADER_FILES[0]):
        (folder / name).write_text(name)
    return folder


def test_python_is_in_the_site_or_named_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("minitape.cli.browser_python._download_front_end_wheels", lambda out: [])
    there = write_distribution(tmp_path)
    loaded = write_browser_python(tmp_path / "inside", there, "1.0", True, [])
    assert "minitape" in loaded and "unused" not in loaded
    names = {path.name for path in (tmp_path / "inside").iterdir()}
    assert {"left.whl", "numpy.whl", *CORE_FILES, LOADER_FILES[0]} <= names and "unused.whl" not in names
    monkeypatch.setattr("minitape.cli.browser_python.CDN_URL", there.as_uri() + "/?{version}")
    monkeypatch.setattr(
        "minitape.cli.browser_python._read_pyodide_file", lambda folder, base, name: (there / name).read_bytes()
    )
    write_browser_python(tmp_path / "elsewhere", None, "1.0", False, [])
    assert {path.suffix for path in (tmp_path / "elsewhere").iterdir()} == {".json", ".whl"}
    lock = json.loads((tmp_path / "elsewhere" / LOCK_FILE).read_text())["packages"]
    assert lock["numpy"]["file_name"] == there.as_uri() + "/?1.0numpy.whl"
    assert lock["minitape"]["file_name"].startswith("minitape-")  # It is next to the lock file.
    assert {"minitape", "minitape_widgets"} <= set(lock["minitape"]["imports"])
    (there / "numpy.whl").write_text("another file")
    with pytest.raises(ClickException, match="is not the file"):
        write_browser_python(tmp_path / "inside", there, "1.0", True, [])


def test_a_folder_that_lacks_something_is_refused_and_everything_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("minitape.cli.browser_python._download_front_end_wheels", lambda out: [])
    there = write_distribution(tmp_path)
    lock = json.loads((there / LOCK_FILE).read_text())
    lock["packages"]["numpy"]["depends"] = ["not-in-the-lock"]
    (there / LOCK_FILE).write_text(json.dumps(lock))
    for name in (CORE_FILES[1], LOADER_FILES[0], "traitlets.whl"):
        (there / name).unlink()
    with pytest.raises(ClickException) as refused:
        write_browser_python(tmp_path / "inside", there, "1.0", True, [])
    for name in ("not-in-the-lock", CORE_FILES[1], LOADER_FILES[0], "traitlets.whl"):
        assert name in refused.value.message
    assert "numpy.whl" not in refused.value.message and "unused" not in refused.value.message
