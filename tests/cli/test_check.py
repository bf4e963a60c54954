"""`minitape check` passes correct notebooks, and finds and reports each kind of problem."""

import random
import re
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_notebook, new_output

from minitape.cli import main, notebook_rules, terminal_report
from minitape.cli.check_notebooks import CheckResult, check_notebook, check_notebooks, resolve_notebook_paths
from minitape.cli.lesson_files import find_lessons_folder, list_notebook_files
from minitape.cli.notebook_rules import CheckFinding, find_solution_code
from minitape.cli.save import run_and_save_notebook
from tests.warm import format_result_text

from .conftest import build_small_notebook

DIGITS, EXERCISE, SOLVED, COMMAND, LAST = 1, 5, 6, 8, 9


def replace_code(place, source):
    """Return an edit that replaces a cell's code and removes its saved outputs."""

    def edit(notebook):
        notebook.cells[place].source = source
        notebook.cells[place].outputs = []

    return edit


def set_saved_stream(place, text, name="stdout"):
    """Return an edit that replaces a cell's saved outputs with one stream."""
    return lambda notebook: notebook.cells[place].__setitem__("outputs", [new_output("stream", name=name, text=text)])


def find_rules_and_cells(path, variants=("blank",)):
    result = check_notebook(path, variants)
    assert result.failure_reason is None
    return [(finding.rule, finding.cell) for finding in result.findings]


def run_check_command(*arguments):
    """Return the result of `minitape check` with these arguments, called in this process."""
    wide = {"NO_COLOR": "1", "COLUMNS": "120"}
    return CliRunner().invoke(main, ["check", *map(str, arguments)], env=wide, catch_exceptions=False)


def test_a_good_notebook_passes_blank_and_solved_and_is_not_changed(saved_notebook):
    before = saved_notebook.read_bytes()
    files = sorted(saved_notebook.parent.iterdir())
    result = check_notebook(saved_notebook)
    assert (result.findings, result.failure_reason, result.exit_code) == ([], None, 0)
    assert sorted(variant for _, variant in result.runs) == ["blank"] * 8 + ["solved"] * 8
    assert saved_notebook.read_bytes() == before
    assert sorted(saved_notebook.parent.iterdir()) == files


def test_quiet_says_only_what_was_found(saved_notebook, monkeypatch):
    good = CheckResult("good.ipynb", cell_sources=[""])
    wrong = CheckResult("wrong.ipynb", findings=[CheckFinding("error", 0, "it fails")], cell_sources=["1 / 0"])
    for results, named in (([good, wrong], ["wrong.ipynb"]), ([good], [])):
        monkeypatch.setattr("minitape.cli.terminal_report.check_notebooks", lambda *_, results=results: results)
        done = run_check_command("-q", saved_notebook)
        found = [line.split()[1] for line in done.output.splitlines() if line.startswith(("ok", "failed", "broken"))]
        assert found == named and done.exit_code == len(named), done.output
    assert run_check_command("--quiet", saved_notebook).output == ""


@pytest.mark.long
def test_one_changed_digit_is_found_and_its_cell_is_named_and_a_remedy_is_told_once(spoiled):
    path = spoiled(
        set_saved_stream(DIGITS, "[0.5, 1.6]\n"), replace_code(LAST, "1 / 0"), replace_code(COMMAND, "nothing")
    )
    done = run_check_command(path, "--variant", "blank")
    assert done.exit_code == 1
    assert (
        "cell 2 (print([0.5, 1.5])): this cell's output differs from the saved output [outputs-differ]" in done.stdout
    )
    assert "-[0.5, 1.6]" in done.stdout
    assert "+[0.5, 1.5]" in done.stdout
    assert done.stdout.count(notebook_rules.REMEDIES["error"]) == 1
    assert "how to fix it\n" in done.stdout and "    [error] fix the program" in done.stdout


DEFECTS = {
    "unknown line magic": ("%nosuch", "unknown-magic"),
    "unknown cell magic": ("%%nosuch\nx", "unknown-magic"),
    "failing command": ("!exit 3", "failing-command"),
    "failing command, assigned": ("x = !ls /nosuch/folder", "failing-command"),
    "failing command, for its lines": ("!!exit 3", "failing-command"),
    "stderr, even when it is saved": ("import sys\nprint('oops', file=sys.stderr)", "stderr"),
    "an error that is not meant": ("nothing", "error"),
    "a meant error that does not come": ("pass", "outputs-differ"),
}
SAVED = {
    "stderr, even when it is saved": [new_output("stream", name="stderr", text="oops\n")],
    "a meant error that does not come": [
        new_output("error", ename="ZeroDivisionError", evalue="division by zero", traceback=[])
    ],
}


@pytest.fixture(scope="module")
def shown_by_running(saved_notebook, tmp_path_factory):
    """Return the findings of each cell of a notebook that ends with all the defects, from a single run."""
    notebook = nbformat.read(saved_notebook, as_version=4)
    for count, (name, (source, _)) in enumerate(DEFECTS.items(), 9):
        cell = new_code_cell(
            source,
            execution_count=count,
            metadata={"defect": name, "tags": ["raises-exception"] * ("meant error that" in name)},
            outputs=SAVED.get(name, []),
        )
        notebook.cells.append(cell)
    path = tmp_path_factory.mktemp("defects") / "defects.ipynb"
    nbformat.write(notebook, path)
    notebook_rules = {name: [] for name in DEFECTS}
    for finding in check_notebook(path, ["blank"]).findings:
        notebook_rules[notebook.cells[finding.cell].metadata["defect"]].append(finding.rule)
    return notebook_rules


@pytest.mark.parametrize("name", DEFECTS)
def test_what_nbval_lets_pass_is_found(shown_by_running, name):
    assert DEFECTS[name][1] in shown_by_running[name]


@pytest.mark.long
@pytest.mark.parametrize(("edit", "expected"), [
    pytest.param(replace_code(LAST, "import os\nos._exit(1)"), ("not-runnable", LAST), id="the kernel dies"),
    pytest.param(replace_code(EXERCISE, "answer = 6.0\ncheck('t.1', answer)"), ("exercise", EXERCISE), id="answered"),
])  # fmt: skip
def test_what_running_shows(spoiled, edit, expected):
    assert expected in find_rules_and_cells(spoiled(edit))


def test_what_is_saved_is_looked_at(spoiled):
    def not_run(notebook):
        notebook.cells[LAST].execution_count = None
        notebook.cells[LAST].outputs = []

    def out_of_order(notebook):
        notebook.cells[DIGITS].execution_count = 7

    def widget_state(notebook):
        notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {}}}

    def widget_view(notebook):
        data = {"text/plain": "view", "application/vnd.jupyter.widget-view+json": {"model_id": "1"}}
        notebook.cells[COMMAND].outputs.append(new_output("display_data", data=data))

    def no_solution(notebook):
        notebook.cells[SOLVED].source = "No code."

    path = spoiled(not_run, out_of_order, widget_state, widget_view, no_solution)
    assert {
        ("not-run", LAST), ("run-order", DIGITS), ("widget-state", None), ("widget-view", COMMAND),
        ("exercise", EXERCISE),
    } == set(find_rules_and_cells(path, ()))  # fmt: skip


def test_an_exercise_without_its_tag_is_found(spoiled):
    def untagged(notebook):
        notebook.cells[EXERCISE].metadata["tags"] = []

    assert find_rules_and_cells(spoiled(untagged), ()) == [("exercise", EXERCISE)]


@pytest.mark.long
def test_a_wrong_solution_is_found_in_the_solved_run_only(spoiled):
    def wrong(notebook):
        notebook.cells[SOLVED].source = notebook.cells[SOLVED].source.replace("6.0", "7.0")

    result = check_notebook(spoiled(wrong))
    assert sorted(variant for _, variant in result.runs) == ["blank"] * 8 + ["solved"] * 8
    [finding] = result.findings
    assert (finding.rule, finding.cell, finding.variant) == ("exercise", EXERCISE, "solved")
    assert "7.0" in finding.new


@pytest.mark.long
def test_a_problem_that_both_runs_show_is_told_once(spoiled):
    assert find_rules_and_cells(spoiled(replace_code(LAST, "nothing")), ("blank", "solved")) == [("error", LAST)]


@pytest.mark.long
def test_what_a_cell_writes_to_stderr_is_one_finding_also_where_it_names_the_process(spoiled):
    source = "import os, warnings\nprint('last')\nwarnings.warn(f'careful, {os.getpid()}')"
    path = spoiled(lambda notebook: notebook.cells[LAST].__setitem__("source", source))
    assert find_rules_and_cells(path, ("blank", "solved")) == [("stderr", LAST)]
    assert find_rules_and_cells(spoiled(replace_code(LAST, source))) == [("stderr", LAST), ("outputs-differ", LAST)]


@pytest.mark.long
def test_an_exercise_without_a_solution_is_told_once(spoiled):
    told = find_rules_and_cells(spoiled(lambda notebook: notebook.cells.pop(SOLVED)), ("blank", "solved"))
    assert told == [("exercise", EXERCISE)]


@pytest.mark.long
def test_an_output_of_chance_is_told_from_one_that_is_wrong_and_one_that_depends_on_answers(spoiled):
    path = spoiled(
        replace_code(DIGITS, "print([0.5, 1.6])"),
        replace_code(COMMAND, "import os\nprint(os.urandom(8).hex())"),
        replace_code(LAST, "print(answer is ...)"),
        set_saved_stream(LAST, "True\n"),
    )
    result = check_notebook(path)
    assert {(finding.rule, finding.cell) for finding in result.findings} == {
        ("outputs-differ", DIGITS),
        ("not-repeatable", COMMAND),
        ("depends-on-answers", LAST),
    }
    told = format_result_text(result)
    assert "--- one run" in told and "+++ another" in told


def test_every_rule_has_a_remedy():
    source = Path(notebook_rules.__file__).read_text()
    assert set(re.findall(r'CheckFinding\(\s*"([\w-]+)"', source)) | {"timeout", "not-runnable"} <= set(
        notebook_rules.REMEDIES
    )


@pytest.mark.long
def test_outputs_that_are_not_compared_are_told(spoiled):
    def uncompared(notebook):
        notebook.cells[LAST].metadata["tags"] = ["nbval-ignore-output"]

    path = spoiled(set_saved_stream(LAST, "another"), uncompared)
    result = check_notebook(path, ["blank"])
    assert result.exit_code == 0
    assert (f"cells that were not compared (marked nbval-ignore-output or similar): {LAST + 1}") in format_result_text(
        result
    )


def write_code_notebook(path, *cells):
    """Write a notebook of code cells, given as (source, saved text, tags). A cell with text None has not been run."""
    notebook = new_notebook()
    for number, (source, text, *tags) in enumerate(cells, 1):
        outputs = [] if text is None else [new_output("stream", name="stdout", text=text)]
        run = None if text is None else number
        notebook.cells.append(new_code_cell(source, outputs=outputs, execution_count=run, metadata={"tags": tags}))
    nbformat.write(notebook, path)
    return path


@pytest.mark.long
def test_a_result_before_a_semicolon_is_neither_saved_nor_expected(tmp_path):
    """nbval itself would show the result, and would find no earlier results in the history."""
    path = tmp_path / "quiet.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(code) for code in ("2 + 3;", "2 + 4", "_, len(In)")]), path)
    run_and_save_notebook(path)
    assert find_rules_and_cells(path) == []
    saved = nbformat.read(path, as_version=4)
    assert [output.data["text/plain"] for cell in saved.cells for output in cell.outputs] == ["6", "(6, 4)"]
    saved.cells[0].outputs = [new_output("execute_result", {"text/plain": "5"}, execution_count=1)]
    nbformat.write(saved, path)
    assert find_rules_and_cells(path) == [("outputs-differ", 0)]


@pytest.mark.long
def test_each_mark_of_nbvals_is_told(tmp_path):
    """The marks are comments or tags, some of them with nbval's former name."""
    comments = ["NBVAL_SKIP", "NBVAL_IGNORE_OUTPUT", "PYTEST_VALIDATE_IGNORE_OUTPUT"]
    tags = ["nbval-skip", "nbval-ignore-output", "pytest-validate-ignore-output"]
    cells = [(f"# {comment}\nprint(1)", "0\n") for comment in comments] + [("print(1)", "0\n", tag) for tag in tags]
    both = ("# NBVAL_CHECK_OUTPUT\nprint(1)", "1\n", "nbval-ignore-output")  # The comment takes precedence.
    result = check_notebook(write_code_notebook(tmp_path / "marked.ipynb", *cells, both), ["blank"])
    assert (result.findings, result.uncompared_cells) == ([], [*range(len(cells))])


@pytest.mark.long
def test_a_cell_that_takes_too_long_is_stopped(tmp_path):
    """The cell waits forever, so it times out on any machine. On a slow machine, other cells might time out as well."""
    path = write_code_notebook(tmp_path / "long.ipynb", ("import threading\nthreading.Event().wait()", ""))
    [finding] = check_notebook(path, ["blank"], cell_timeout=1).findings
    assert (finding.rule, finding.cell) == ("timeout", 0)


def change_output(output, chance):
    """Change an output, and return a description of the change, or None if nothing in the output is compared.

    The change affects a digit or letter in one of the output's texts, or the type of the output.
    """
    if output.output_type == "error":
        output.ename += "s"
        return "the error's class"
    place, key = (
        (output, "text")
        if output.output_type == "stream"
        else (output.data, chance.choice(sorted(COMPARED & {*output.data}) or [None]))
    )
    positions = [match.start() for match in re.finditer(r"[0-9a-zA-Z]", place[key])] if key else []
    if not positions:
        return None
    positions, text = chance.choice(positions), place[key]
    other = (
        str((int(text[positions]) + 1) % 10) if text[positions].isdigit() else "q" if text[positions] != "q" else "p"
    )
    place[key] = text[:positions] + other + text[positions + 1 :]
    return f"{key}: {text[positions]!r} at {positions}"


COMPARED = {"text/plain", "text/html", "image/svg+xml"}


@pytest.mark.long
@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.longest] * (place % 8 != 1))
        for place, path in enumerate(list_notebook_files(find_lessons_folder()))
    ],
)
def test_each_changed_output_of_a_lesson_is_found(lesson, tmp_path):
    notebook, chance, told = nbformat.read(lesson, as_version=4), random.Random(7), {}
    for at, cell in enumerate(notebook.cells):
        outputs = cell.outputs if cell.cell_type == "code" and notebook_rules.is_output_compared(cell) else []
        if outputs and (what := change_output(chance.choice(outputs), chance)):
            told[at] = what
    nbformat.write(notebook, tmp_path / lesson.name)
    found = {finding.cell for finding in check_notebook(tmp_path / lesson.name, ["blank"]).findings}
    print(len(told), "changed outputs")
    assert {at: what for at, what in told.items() if at not in found} == {}


def test_the_solution_belongs_to_the_exercise_right_before_it():
    cells = build_small_notebook().cells
    assert find_solution_code(cells, EXERCISE) == 'answer = 6.0\ncheck("t.1", answer)'
    cells.insert(EXERCISE + 1, cells[EXERCISE])
    assert find_solution_code(cells, EXERCISE) is None


@pytest.mark.long
def test_no_grammars_of_addresses_are_compiled_before_a_notebook_is_run():
    """Compiling them would take a second in `minitape check`, and again in each process that runs a notebook."""
    modules = "minitape.cli.nbval_recorder, minitape.cli.check_notebooks, minitape.cli.save"
    code = f"import sys, {modules}; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.long
def test_several_notebooks_come_back_in_order(saved_notebook, spoiled):
    bad = spoiled(set_saved_stream(DIGITS, "[0.5, 1.6]\n"))
    seen = []
    results = check_notebooks([bad, saved_notebook], ["blank"], on_checked=lambda: seen.append(1))
    assert [result.exit_code for result in results] == [1, 0], "\n".join(map(format_result_text, results))
    assert seen == [1, 1]


@pytest.mark.parametrize(("name", "text", "message"), [
    ("missing.ipynb", None, "no such notebook: "),
    ("notes.txt", "x", "expected a name that ends in .ipynb"),
    ("folder", "", "no notebooks in the folder"),
])  # fmt: skip
def test_what_can_not_be_checked_ends_with_2(tmp_path, name, text, message):
    path = tmp_path / name
    if text:
        path.write_text(text)
    elif text is not None:
        path.mkdir()
    done = run_check_command(path)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.long
def test_a_broken_file_is_told_beside_the_others(tmp_path, saved_notebook):
    (tmp_path / "broken.ipynb").write_text("{")
    done = run_check_command(tmp_path / "broken.ipynb", saved_notebook, "--variant", "blank")
    assert done.exit_code == 2
    assert "not a readable notebook" in done.stdout
    assert f"ok     {saved_notebook}" in done.stdout


def test_folders_and_repeated_names_are_resolved(saved_notebook):
    assert resolve_notebook_paths([saved_notebook.parent, saved_notebook]) == [saved_notebook]
    assert resolve_notebook_paths([], "zh") == list_notebook_files(find_lessons_folder("zh"))


def test_a_long_line_is_cut_and_stays_recognisable():
    one, two = "x" * 1000, "x" * 999 + "y"
    assert len(terminal_report.shorten_line_with_checksum(one)) < 220
    assert terminal_report.shorten_line_with_checksum(one) != terminal_report.shorten_line_with_checksum(two)


def build_picture_tags(*colours):
    svgs = (f'<svg><rect id="a"/><rect fill="{colour}"/></svg>' for colour in colours)
    return [f'<img src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}" alt="Tape">' for svg in svgs]


def test_pictures_that_differ_are_told_by_their_words_and_without_their_letters():
    green, grey = build_picture_tags("green" * 20, "grey" * 20)
    finding = CheckFinding("outputs-differ", 0, "differs", saved=f"6.0\n{green}", new=f"6.0\n{grey}")
    result = CheckResult("a.ipynb", findings=[finding], cell_sources=["TapeView(tape)"])
    told = [line for line in format_result_text(result).splitlines() if "<img" in line]
    assert len({*told}) == 2 and all(len(line) < 100 and 'alt="Tape"' in line for line in told)


def test_a_notebook_that_was_never_saved_is_told_so_first():
    saved, new = build_picture_tags("red", "blue")
    differs = CheckFinding("outputs-differ", 0, "text/html differs", saved, new)
    text = format_result_text(CheckResult("a.ipynb", findings=[differs], cell_sources=["", ""]))
    assert "not saved yet" not in text
    unsaved = CheckResult(
        "a.ipynb", findings=[differs, CheckFinding("run-order", 1, "run out of order")], cell_sources=["", ""]
    )
    second, *others = format_result_text(unsaved).splitlines()[1:]
    assert second.strip() == "not saved yet: type minitape save a.ipynb first. Problems found so far:"
    assert "run out of order" in "".join(others)


def test_who_names_no_notebook_is_told_what_runs(monkeypatch):
    monkeypatch.setattr("minitape.cli.terminal_report.check_notebooks", lambda *_: [CheckResult("01.ipynb")])
    assert "lessons takes several minutes" in run_check_command().stderr


ENDS_ONCE = """\
import os
from pathlib import Path

tried = Path("tried")
if not tried.exists() or {always}:
    tried.touch()
    os._exit(1)
print(2)"""


@pytest.mark.long
@pytest.mark.parametrize(("always", "expected"), [(False, []), (True, [("not-runnable", 0)])])
def test_a_kernel_that_ends_is_tried_again_once_and_named_once(always, expected, tmp_path):
    cells = [
        new_code_cell(ENDS_ONCE.format(always=always), outputs=[new_output("stream", text="2\n")], execution_count=1),
        new_code_cell("print(3)", outputs=[new_output("stream", text="3\n")], execution_count=2),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    assert find_rules_and_cells(tmp_path / "a.ipynb") == expected
