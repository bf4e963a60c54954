"""The core works without optional packages, and a browser runs lessons without programs and servers."""

import subprocess
import sys
import tomllib

import nbformat
import pytest
from packaging.requirements import Requirement

from minitape.cli.lesson_files import find_lessons_folder, get_exercise_prefix, list_notebook_files
from minitape.cli.notebook_rules import find_solution_code, is_exercise

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
LESSONS = [path for path in list_notebook_files(find_lessons_folder()) if get_exercise_prefix(path)]


@pytest.fixture(scope="module")
def left_out(repository):
    """Return the modules of the packages that are not installed in a browser."""
    browser = {"sys_platform": "emscripten", "platform_machine": "wasm32", "os_name": "posix"}
    return [
        r.name for r in list_requirements(repository, "lab") if r.marker is not None and not r.marker.evaluate(browser)
    ]


def list_requirements(repository, *extras):
    """Return the packages that are installed with the core, and with its extras."""
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [*project["dependencies"], *(text for extra in extras for text in project["optional-dependencies"][extra])]
    return [Requirement(text) for text in texts]


CORE = """
import pathlib
import minitape as tf
from minitape.course import Moving, Plot, predict
from minitape_widgets import TapeView
x, w = tf.Variable(3.0), tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = x * tf.sin(x)
print(float(tape.gradient(y, x)))
print(tape.explain(y, w).cause)
tf.draw(tape).save("tape.svg")
view = TapeView(tape)
view.save("tape.html")
print(len(pathlib.Path("tape.html").read_text()) > 100_000)
moving = Moving("shift", [0.0, 1.0], lambda s: Plot(f"a line at {s}", x=(0, 1), y=(0, 2)).curve(lambda x: x + s))
data = [shown._repr_mimebundle_()[0] for shown in (view, predict("a.p1", "What?", [1, 2]), moving)]
print(sum('pip install "minitape[lab]"' in "".join(kinds.values()).replace("&quot;", '"') for kinds in data))
print("<img" in data[0]["text/html"], "Predict: What?" in data[1]["text/plain"])
view.close()
print(tf.draw(tape).svg[:4])
long = tf.constant(1.0)
with tf.GradientTape() as tape:
    tape.watch(long)
    y = long
    for _ in range(2000):
        y = y * 1.0
print(float(tape.gradient(y, long)))
"""
SAID = """-2.828857421875
independent
True
3
True True
<svg
1.0
"""
COMMANDS = """
from click.testing import CliRunner
from minitape.cli import main
for line in ("--version", "lab lessons --copy-only", "lab other", "check", "save a.ipynb", "new-lesson a", "class .", \
"export --nbgrader 01", "site out", "warmup"):
    done = CliRunner().invoke(main, line.split())
    print(line, "|", done.exit_code, "|", done.output.splitlines()[-1])
"""


@pytest.fixture(scope="module")
def core(repository, tmp_path_factory):
    """Return a function that runs a program with the standard library, minitape and the core's requirements only."""
    known = ["minitape", "minitape_widgets", *(r.name for r in list_requirements(repository))]
    blocked = BLOCKED.replace(
        'name.partition(".")[0] in {names!r}',
        "'site-packages' in str(getattr(found := super().find_spec(name, path, target), 'origin', '')) and "
        "name.partition('.')[0] not in {names!r}",
    )
    folder = tmp_path_factory.mktemp("core")
    return lambda program: subprocess.run(
        [sys.executable, "-c", blocked.format(names=known)], input=program, cwd=folder, text=True, capture_output=True,
        timeout=600,
    )  # fmt: skip


def test_the_core_has_the_tape_explanations_pictures_and_saved_pages_and_says_what_is_missing(core):
    done = core(CORE)
    assert done.returncode == 0, done.stderr
    assert done.stdout == SAID


def test_each_command_of_the_course_says_the_line_to_type(core):
    done = core(COMMANDS)
    assert done.returncode == 0, done.stderr
    said = {line: (int(code), text) for line, code, text in (row.split(" | ") for row in done.stdout.splitlines())}
    assert len(said) == 10
    assert [said.pop(line)[0] for line in ("--version", "lab lessons --copy-only")] == [0, 0]
    for line, (code, text) in said.items():
        extra = "docs" if line.startswith("site") else "lab"
        assert code == 1 and text.endswith(f'Type: pip install "minitape[{extra}]"'), (line, text)


def test_what_starts_programs_and_servers_is_left_out_there_and_nowhere_else(left_out, repository):
    assert {"numba", "psutil", "nbval", "jupyterlab", "ipykernel", "jupyter_client", "pytest"} <= set(left_out)
    assert not {"numpy", "ml_dtypes", "anywidget", "ipywidgets", "traitlets"} & set(left_out)
    here = list_requirements(repository, "lab")
    assert all(
        r.marker is None or r.marker.evaluate({"sys_platform": name})
        for r in here
        for name in ("linux", "darwin", "win32")
    )


@pytest.mark.long
@pytest.mark.parametrize("lesson", LESSONS[1::6], ids=lambda path: path.stem)
def test_a_lesson_runs_without_them(lesson, left_out, tmp_path):
    """If every exercise contains its solution, every verdict is "correct"."""
    cells = nbformat.read(lesson, as_version=4).cells
    codes, exercises = [], 0
    for place, cell in enumerate(cells):
        if cell.cell_type == "code":
            raises = "# raises\n" if "raises-exception" in cell.metadata.get("tags", ()) else ""
            exercises += is_exercise(cell)
            codes.append(raises + (find_solution_code(cells, place) if is_exercise(cell) else cell.source))
    script = BLOCKED.format(names=left_out)
    done = subprocess.run(
        [sys.executable, "-c", script], input="\x1e".join(codes), cwd=tmp_path, text=True, capture_output=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": correct.\n") >= exercises >= 4
