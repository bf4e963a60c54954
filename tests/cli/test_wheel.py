"""The built wheel works in a separate environment, away from the repository."""

import ast
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import nbformat
import psutil
import pytest

from minitape.cli.course_map import MAP_FILE
from minitape.cli.lesson_files import find_lessons_folder, list_notebook_files

from .talking import ServerClient, format_outputs_text

pytestmark = pytest.mark.long
SWITCHES = "etc/jupyter/jupyter_server_config.d"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, repository: Path) -> Path:
    """Return the path of the wheel, which is built without downloads."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(repository)]
    subprocess.run(build, check=True, timeout=300)
    [built] = folder.glob("minitape-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """Return the `minitape` script of an environment with the wheel and this environment's other packages.

    A line in a .pth file adds those packages. The .pth files of this environment, such as one for an editable minitape,
    have no effect there.
    """
    folder = wheel.parent
    venv.create(folder / "env", with_pip=False)
    python = next((folder / "env").glob("[Bb]*/python*"))
    site = next(Path(path) for path in _list_library_folders(python))
    site.mkdir(parents=True, exist_ok=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [*PIP, "--python", str(python), "install", "--ignore-installed", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, timeout=300)
    return python.parent / "minitape"


def _list_library_folders(python: Path) -> list[str]:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run([python, "-c", code], check=True, text=True, capture_output=True).stdout.split()


def run_script(script: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["COLUMNS"] = "120"
    command = [str(script), *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, text=True, capture_output=True, timeout=600, check=False)


def test_the_lessons_travel_in_the_wheel(installed, tmp_path):
    done = run_script(installed, "lab", "lessons", "--copy-only", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lessons = list_notebook_files(tmp_path / "lessons")
    names = [path.name for path in list_notebook_files(find_lessons_folder())]
    assert [path.name for path in lessons] == [MAP_FILE, *names]


def test_the_wheel_holds_what_the_repository_holds(wheel, repository):
    """The files are equal byte for byte, so the results of all other tests apply to the wheel as well."""
    places = {
        "minitape": "minitape",
        "minitape_widgets": "widgets/minitape_widgets",
        "minitape/lessons": "notebooks",
        "minitape/cause_pages": "docs/causes",
        SWITCHES: "deploy/jupyter_server_config.d",
        "share/jupyter/lab/settings/overrides.d": "minitape/cli/jupyterlab_settings/overrides.d",
    }
    there = {
        f"{place}/{path.relative_to(repository / source).as_posix()}": path.read_bytes()
        for place, source in places.items()
        for path in (repository / source).rglob("*")
        if path.is_file()
        and not any(part[0] == "." or part == "__pycache__" for part in path.relative_to(repository).parts)
    }
    there["minitape_command.py"] = (repository / "widgets" / "minitape_command.py").read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        names = {name: re.sub(r"^minitape-[^/]*\.data/data/", "", name) for name in archive.namelist()}
        held = {names[name]: archive.read(name) for name in names if ".dist-info/" not in name}
    assert sorted(held) == sorted(there)
    assert [name for name in held if held[name] != there[name]] == []


def test_installing_switches_the_servers_extension_on(installed):
    """The environment has a file that names the extension, and the extension can be imported there."""
    code = "from jupyter_core.paths import ENV_CONFIG_PATH as p; print(*p, sep='\\n')"
    python = next(installed.parent.glob("python*"))
    folders = subprocess.run([python, "-c", code], check=True, text=True, capture_output=True).stdout.splitlines()
    [file] = [path for folder in folders for path in Path(folder, *Path(SWITCHES).parts[2:]).glob("*.json")]
    for name, enabled in json.loads(file.read_text())["ServerApp"]["jpserver_extensions"].items():
        done = subprocess.run(
            [python, "-c", f"import {name} as m; print(m._jupyter_server_extension_points())"],
            text=True,
            capture_output=True,
        )
        assert enabled and done.stdout == f"[{{'module': '{name}'}}]\n", done.stderr


def test_what_lessons_import_is_there(installed, tmp_path):
    """The modules are found without the repository's folders, from which other tests could import them by mistake."""
    cells = [
        cell for path in list_notebook_files(find_lessons_folder()) for cell in nbformat.read(path, as_version=4).cells
    ]
    trees = [ast.parse(cell.source) for cell in cells if cell.cell_type == "code"]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {"minitape", "minitape_widgets", "numba"} <= names
    done = run_script(installed.with_name("python"), "-c", f"import {', '.join(sorted(names))}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_lessons_pass_from_an_empty_folder(installed, tmp_path):
    """One lesson has live pictures, and one has explanations that name lines. tests/notebooks runs all lessons."""
    [lessons] = installed.parents[1].rglob("minitape/lessons/en")
    chosen = [lessons / name for name in ("02_inside_the_tape.ipynb", "08_when_the_gradient_is_none.ipynb")]
    before = [path.read_bytes() for path in chosen]
    done = run_script(installed, "check", *map(str, chosen), "--variant", "blank", "--timeout", "60", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(str(path) in done.stdout for path in chosen)
    assert "all well" in done.stdout
    assert list(tmp_path.iterdir()) == []
    assert [path.read_bytes() for path in chosen] == before


ANSWER = "from minitape.course import check\ncheck('01.1', {})"


def run_lab(script: Path, home: Path) -> tuple[subprocess.Popen[str], ServerClient]:
    """Start `minitape lab` as a learner does, and return its process and a browser on its page."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MINITAPE_PROGRESS")}
    process = subprocess.Popen(
        [script, "lab", "--no-browser"], cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip
    for line in process.stdout:
        if found := re.search(r"(http://\S+?)/lab\S*token=(\w+)", line):
            return process, ServerClient(found[1], found[2])
    raise AssertionError("minitape lab ended without an address")


def kill_lab(process: subprocess.Popen[str]) -> None:
    """End the server and its kernels as a power failure does."""
    for child in psutil.Process(process.pid).children(recursive=True):
        child.kill()
    process.kill()
    process.communicate()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed as POSIX does")
def test_a_learner_opens_answers_saves_is_killed_goes_on_and_hands_in(installed, tmp_path):
    """Answers that were saved are still there after the server is killed, and the teacher sees them."""
    ann = tmp_path / "home" / "ann"
    ann.mkdir(parents=True)
    first_lesson = "01_the_first_tape.ipynb"
    process, browser = run_lab(installed, ann)
    try:
        session = browser.start_session(first_lesson)
        outputs = browser.run_codes(session["kernel"]["id"], [ANSWER.format(8.0), ANSWER.format(12.0)])
        assert ["not yet." in format_outputs_text(output) for output in outputs] == [True, False]
        notebook = browser.fetch_notebook(first_lesson)
        notebook["cells"][-1]["source"] = "my own words"
        browser.fetch_json(f"api/contents/{first_lesson}", {"type": "notebook", "content": notebook}, "PUT")
        browser.run_codes(session["kernel"]["id"], [ANSWER.replace("01.1", "01.3").format([None, 6.0, 9.0])])
    finally:
        kill_lab(process)
    process, browser = run_lab(installed, ann)
    try:
        assert browser.fetch_notebook(first_lesson)["cells"][-1]["source"] == "my own words"
        session = browser.start_session(first_lesson)
        told = browser.run_codes(session["kernel"]["id"], ["from minitape.course import progress\nprogress(1)"])
        assert "2 of" in format_outputs_text(told[0])
    finally:
        kill_lab(process)
    assert not [path.name for path in (ann / "minitape-lessons").rglob("*") if path.name.endswith(".part")]
    (tmp_path / "class").mkdir()
    shutil.copytree(ann / "minitape-lessons", tmp_path / "class" / "ann")
    done = run_script(installed, "class", "class", "--csv", "class.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {
        row["exercise"]: row
        for row in csv.DictReader((tmp_path / "class.csv").read_text(encoding="utf-8").splitlines())
    }
    assert (rows["01.1"]["learner"], rows["01.1"]["tries"], rows["01.1"]["right_at"]) == ("ann", "2", "2")
    assert rows["01.3"]["solved"] and rows["01.3"]["tries"] == "1"
