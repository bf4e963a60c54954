"""The built wheel, installed in an environment of its own, away from the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from minitape.cli.lessons import IN_REPOSITORY, notebooks_in

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory, repository: Path) -> Path:
    """The `minitape` script of an environment that holds the wheel, and sees this one's other packages.

    Those come through one line in a .pth file; .pth files of this environment, such as an editable minitape's, do not
    count there.
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(repository)]
    subprocess.run(build, check=True, timeout=300)
    [wheel] = folder.glob("minitape-*.whl")
    venv.create(folder / "env", with_pip=False)
    python = next((folder / "env").glob("[Bb]*/python*"))
    site = next(Path(path) for path in _paths(python))
    site.mkdir(parents=True, exist_ok=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [*PIP, "--python", str(python), "install", "--ignore-installed", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, timeout=300)
    return python.parent / "minitape"


def _paths(python: Path) -> list[str]:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run([python, "-c", code], check=True, text=True, capture_output=True).stdout.split()


def run(script: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["COLUMNS"] = "120"
    command = [str(script), *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, text=True, capture_output=True, timeout=600, check=False)


def test_the_lessons_travel_in_the_wheel(installed, tmp_path):
    done = run(installed, "lab", "lessons", "--copy-only", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lessons = notebooks_in(tmp_path / "lessons")
    assert [path.name for path in lessons] == [path.name for path in notebooks_in(IN_REPOSITORY)]


def test_the_lessons_pass_from_an_empty_folder(installed, tmp_path):
    done = run(installed, "check", "--variant", "blank", "--timeout", "60", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(installed.parents[1]) in done.stdout
    assert "all well" in done.stdout
    assert list(tmp_path.iterdir()) == []
