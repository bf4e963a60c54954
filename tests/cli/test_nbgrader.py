"""nbgrader hands out, collects and grades the lessons that `minitape export --nbgrader` writes."""

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from minitape.cli import main
from minitape.cli.nbgrader import STUB_SETTING, export_lesson, find_lesson_notebook
from minitape.cli.new_lesson import build_lesson_skeleton
from minitape.cli.notebook_rules import find_solution_code, is_exercise
from minitape.course.checker import collect_exercises

PYTHON = "MINITAPE_NBGRADER"
"""Names the Python of an environment with nbgrader, where this one has none."""
LESSON = "01_the_first_tape"
EXERCISES = len(collect_exercises("01"))


def read_notebook(path):
    return nbformat.read(path, as_version=4)


def map_grade_ids_to_cells(notebook):
    """Return nbgrader's cells in a notebook, keyed by grade_id."""
    return {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}


def test_the_given_part_is_kept_and_a_grade_stands_behind_it(tmp_path):
    path, count = export_lesson("01", tmp_path)
    assert (path, count) == (tmp_path / "source" / LESSON / f"{LESSON}.ipynb", EXERCISES)
    cells = map_grade_ids_to_cells(read_notebook(path))
    assert list(cells) == [f"{what}-01-{n}" for n in range(1, EXERCISES + 1) for what in ("exercise", "grade")]
    lesson = read_notebook(find_lesson_notebook("01")).cells
    given = [cell.source for cell in lesson if is_exercise(cell)]
    for number, text in enumerate(given, 1):
        assert cells[f"exercise-01-{number}"].source.startswith(f"{text}\n### BEGIN SOLUTION\n")
    assert 'is_right("01.2", derivative)' in cells["grade-01-2"].source
    assert not any("<summary>Solution</summary>" in cell.source for cell in read_notebook(path).cells)


def test_an_exam_hides_its_answers(tmp_path):
    nbformat.write(build_lesson_skeleton("exam", "An exam"), tmp_path / "exam.ipynb")
    path, count = export_lesson(str(tmp_path / "exam.ipynb"), tmp_path)
    cells = map_grade_ids_to_cells(read_notebook(path))
    assert count == 1
    hidden = re.fullmatch(
        r"### BEGIN HIDDEN TESTS\n(.*)\n### END HIDDEN TESTS", cells["grade-exam-1"].source, re.DOTALL
    )[1]
    assert "expect=4.0" in hidden and 'assert is_right("exam.1", answer)' in hidden
    others = [
        cell.source
        for cell in read_notebook(path).cells
        if cell is not cells["grade-exam-1"] and "grade-exam-1" not in str(cell.metadata)
    ]
    assert not any("expect=" in text or "check(" in text for text in others)


def test_what_is_there_stays_and_what_is_wrong_is_said(tmp_path):
    export_lesson("1", tmp_path)
    told = CliRunner().invoke(main, ["export", "--nbgrader", "01", "--to", str(tmp_path)])
    assert told.exit_code == 1 and "already exists; delete it to export the lesson again" in told.output
    told = CliRunner().invoke(main, ["export", "--nbgrader", "99", "--to", str(tmp_path)])
    assert told.exit_code == 2 and "neither a notebook nor the number of a lesson (01, 02," in told.output
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")]), tmp_path / "plain.ipynb")
    told = CliRunner().invoke(main, ["export", "--nbgrader", str(tmp_path / "plain.ipynb"), "--to", str(tmp_path)])
    assert told.exit_code == 1 and "has no exercises" in told.output


def test_settings_of_ones_own_are_not_changed(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    told = CliRunner().invoke(main, ["export", "--nbgrader", "01", "--to", str(tmp_path)])
    assert told.exit_code == 0 and STUB_SETTING in told.output
    assert (tmp_path / "nbgrader_config.py").read_text() == "c = get_config()\n"


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory, repository):
    """Return a function that runs a command of nbgrader in a folder."""
    program = Path(os.environ[PYTHON]).with_name("nbgrader") if os.environ.get(PYTHON) else shutil.which("nbgrader")
    if program is None:
        pytest.skip(
            f"no nbgrader on PATH: make an environment with minitape and nbgrader, and set {PYTHON} to its python"
        )
    base = tmp_path_factory.mktemp("nbgrader")
    places = {
        "JUPYTER_DATA_DIR": "data", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython", "HOME": "home",
    }  # fmt: skip
    own = {name: str(base / folder) for name, folder in places.items()}
    path = os.pathsep.join([str(Path(program).parent), os.environ["PATH"]])
    sources = os.pathsep.join([str(repository), str(repository / "widgets")])
    environment = {
        **os.environ, **own, "PATH": path, "PYTHONPATH": sources, "MINITAPE_PROGRESS": "",
        "COURSE": str(base / "exchange"),
    }  # fmt: skip
    (base / "exchange").mkdir(mode=0o777)
    (base / "exchange").chmod(0o777)

    def call(folder: Path, *arguments: str, status: int = 0) -> str:
        options = [
            f"--Exchange.root={base / 'exchange'}",
            "--CourseDirectory.course_id=course",
            "--Application.log_level=INFO",
        ]
        done = subprocess.run(
            [str(program), *arguments, *options], cwd=folder, env=environment, text=True, capture_output=True,
            timeout=600,
        )  # fmt: skip
        assert done.returncode == status, f"nbgrader {' '.join(arguments)}:\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    return call


def write_answered_copy(released: Path, target: Path, name: str, exercises: set[int]) -> None:
    """Write a learner's copy in which these exercises contain the lesson's solutions."""
    lesson = read_notebook(find_lesson_notebook("01")).cells
    places = [place for place, cell in enumerate(lesson) if is_exercise(cell)]
    shutil.copytree(released, target, dirs_exist_ok=True)
    notebook = read_notebook(target / f"{name}.ipynb")
    for number in exercises:
        map_grade_ids_to_cells(notebook)[f"exercise-01-{number}"].source = find_solution_code(
            lesson, places[number - 1]
        )
    nbformat.write(notebook, target / f"{name}.ipynb")


@pytest.mark.classroom
def test_the_round_trip_gives_the_right_points(nbgrader, tmp_path):
    course, learner = tmp_path / "course", tmp_path / "learner"
    learner.mkdir()
    done = CliRunner().invoke(main, ["export", "--nbgrader", "01", "--to", str(course)])
    assert done.exit_code == 0, done.output
    nbgrader(course, "generate_assignment", LESSON)
    released = course / "release" / LESSON
    text = (released / f"{LESSON}.ipynb").read_text()
    assert "answer = ..." in text and "12.0  # 3" not in text and "NotImplementedError" not in text
    nbgrader(course, "release_assignment", LESSON)

    nbgrader(learner, "fetch_assignment", LESSON)
    write_answered_copy(released, learner / LESSON, LESSON, set(range(1, EXERCISES + 1)))
    nbgrader(learner, "submit", LESSON)
    nbgrader(course, "collect", LESSON)
    [solved] = [path.name for path in (course / "submitted").iterdir()]
    for who, exercises in (("one-right", {2}), ("none-right", set())):
        write_answered_copy(released, course / "submitted" / who / LESSON, LESSON, exercises)
    # This notebook comes from minitape-lessons, with exercise 2 solved.
    other = course / "submitted" / "other-file" / LESSON / f"{LESSON}.ipynb"
    other.parent.mkdir(parents=True)
    notebook = read_notebook(find_lesson_notebook("01"))
    places = [place for place, cell in enumerate(notebook.cells) if is_exercise(cell)]
    notebook.cells[places[1]].source = find_solution_code(notebook.cells, places[1])
    nbformat.write(notebook, other)
    said = nbgrader(course, "autograde", LESSON)
    assert f"{LESSON} of other-file had no cells grade-01-1, grade-01-2" in said
    graded = (course / "autograded" / "other-file" / LESSON / f"{LESSON}.ipynb").read_text()
    assert graded.count('"# This grade cell was missing in what was handed in') == EXERCISES
    nbgrader(course, "export", "--to=grades.csv")
    with open(course / "grades.csv", newline="") as file:
        grades = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    assert grades == {
        solved: (EXERCISES, EXERCISES),
        "one-right": (1, EXERCISES),
        "none-right": (0, EXERCISES),
        "other-file": (1, EXERCISES),
    }


@pytest.mark.classroom
def test_an_exams_answers_come_back_to_grade_it(nbgrader, tmp_path):
    nbformat.write(build_lesson_skeleton("exam", "An exam"), tmp_path / "exam.ipynb")
    course = tmp_path / "course"
    assert (
        CliRunner().invoke(main, ["export", "--nbgrader", str(tmp_path / "exam.ipynb"), "--to", str(course)]).exit_code
        == 0
    )
    nbgrader(course, "generate_assignment", "exam")
    assert "expect=" not in (course / "release" / "exam" / "exam.ipynb").read_text()
    for who, answer in (("right", "4.0"), ("wrong", "8.0")):
        target = course / "submitted" / who / "exam"
        shutil.copytree(course / "release" / "exam", target)
        text = (target / "exam.ipynb").read_text()
        (target / "exam.ipynb").write_text(text.replace("answer = ...", f"answer = {answer}"))
    nbgrader(course, "autograde", "exam")
    nbgrader(course, "export", "--to=grades.csv")
    with open(course / "grades.csv", newline="") as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == {"right": 1, "wrong": 0}


def apply_cheat(notebook, who):
    """Change a notebook as a learner might who wants to gain unearned points, or to remove the points of others."""
    grades = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    answer = map_grade_ids_to_cells(notebook)["exercise-01-1"]
    if who == "deletes-grade-cells":
        notebook.cells = [cell for cell in notebook.cells if cell not in grades]
    elif who == "writes-own-grade-cells":
        for cell in grades:
            cell.metadata.nbgrader.points, cell.source = 100, "pass"
    elif who == "ends-the-kernel":
        answer.source = "import os\nos._exit(0)"
    elif who == "deletes-notebooks":
        answer.source = "import pathlib\nfor path in pathlib.Path('..').rglob('*.ipynb'):\n    path.unlink()"
    else:  # As the docs say, the answer and its grade share a kernel.
        answer.source = "import minitape.course\nminitape.course.is_right = lambda *_: True\nanswer = 0.0"
    return notebook


@pytest.mark.classroom
def test_a_changed_notebook_earns_no_points_unless_its_code_replaces_the_check(nbgrader, tmp_path):
    course = tmp_path / "course"
    assert CliRunner().invoke(main, ["export", "--nbgrader", "01", "--to", str(course)]).exit_code == 0
    nbgrader(course, "generate_assignment", LESSON)
    released, submitted = course / "release" / LESSON, course / "submitted"
    hostile = (
        "deletes-grade-cells", "writes-own-grade-cells", "ends-the-kernel", "deletes-notebooks", "replaces-check",
    )  # fmt: skip
    for who in hostile:
        write_answered_copy(released, submitted / who / LESSON, LESSON, set())
        path = submitted / who / LESSON / f"{LESSON}.ipynb"
        nbformat.write(apply_cheat(read_notebook(path), who), path)
    write_answered_copy(released, submitted / "zoe" / LESSON, LESSON, set(range(1, EXERCISES + 1)))
    said = nbgrader(course, "autograde", LESSON, status=1)
    assert "There was an error processing assignment '01_the_first_tape' for student 'ends-the-kernel'" in said
    nbgrader(course, "export", "--to=grades.csv")
    with open(course / "grades.csv", newline="") as file:
        grades = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert grades == {**dict.fromkeys(hostile, 0), "replaces-check": EXERCISES, "zoe": EXERCISES}
