"""`minitape save` and `minitape new-lesson` write the right files, and refuse bad notebooks."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from click import ClickException
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from minitape.cli import main, new_lesson
from minitape.cli.save import clean_notebook, run_and_save_notebook

from .conftest import run_minitape

WIDGET = 'from IPython.display import display\nimport ipywidgets\ndisplay(ipywidgets.IntSlider(description="s"))'


def write_code_notebook(path, *sources):
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    return path


def test_saving_twice_gives_the_same_bytes(saved_notebook, tmp_path):
    path = tmp_path / "small.ipynb"
    path.write_bytes(saved_notebook.read_bytes())
    run_and_save_notebook(path)
    assert path.read_bytes() == saved_notebook.read_bytes()
    assert [child.name for child in tmp_path.iterdir()] == ["small.ipynb"]


def test_widgets_are_not_saved(tmp_path):
    path = write_code_notebook(tmp_path / "widget.ipynb", WIDGET)
    run_and_save_notebook(path)
    notebook = nbformat.read(path, as_version=4)
    assert "widgets" not in notebook.metadata
    assert [list(output.data) for output in notebook.cells[0].outputs] == [["text/plain"]]


@pytest.mark.long(sample=5)
@pytest.mark.parametrize(("source", "message"), [
    ("1 / 0", r"cell 1 \(1 / 0\) fails\n(.|\n)*ZeroDivisionError"),
    ("import sys\nprint('w', file=sys.stderr)", r"cell 1 \(import sys\) writes to stderr:\nw$"),
    ("%nosuch", "%nosuch` not found"),
    ("!exit 3", "fails\nCalledProcessError: Command 'exit 3' returned non-zero exit status 3.$"),
    ("import os\nos._exit(1)", "Kernel died"),
])  # fmt: skip
def test_what_fails_is_not_saved(tmp_path, source, message):
    path = write_code_notebook(tmp_path / "bad.ipynb", source)
    before = path.read_bytes()
    with pytest.raises(ClickException, match=message):
        run_and_save_notebook(path)
    assert path.read_bytes() == before


@pytest.mark.long
def test_the_notebooks_after_one_that_fails_are_saved(tmp_path):
    bad, good = (
        write_code_notebook(tmp_path / "a.ipynb", "1 / 0"),
        write_code_notebook(tmp_path / "b.ipynb", "print(1)"),
    )
    done = CliRunner().invoke(main, ["save", str(tmp_path)])
    assert done.exit_code == 1
    assert done.stdout == f"saved {good}\n"
    assert f"Error: {bad} was not saved: cell 1 (1 / 0) fails" in done.stderr
    assert nbformat.read(good, as_version=4).cells[0].outputs[0].text == "1\n"


def test_where_nothing_can_be_written_the_notebook_stays(tmp_path, monkeypatch):
    path = write_code_notebook(tmp_path / "mine.ipynb", "print(1)")
    before, replace = path.read_bytes(), os.replace

    def refuse(part, target):
        if Path(target) == path:
            raise OSError(5, "Input/output error")
        replace(part, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(ClickException, match=r"cannot write .*mine\.ipynb: Input"):
        run_and_save_notebook(path)
    assert path.read_bytes() == before


@pytest.mark.long
def test_a_cell_that_takes_too_long_is_named(tmp_path):
    path = write_code_notebook(tmp_path / "slow.ipynb", "import threading", "threading.Event().wait(60)")
    with pytest.raises(ClickException, match=r"cell 2 \(threading.* takes longer than 1 seconds: .*--timeout SECONDS"):
        run_and_save_notebook(path, cell_timeout=1)


def test_cells_keep_their_ids_and_get_lasting_ones():
    notebook = new_notebook(cells=[new_markdown_cell("a"), new_markdown_cell("b"), new_code_cell("c")])
    notebook.cells[0]["id"] = notebook.cells[1]["id"] = "mine"
    notebook.cells[2].outputs = [new_output("display_data", data={"text/plain": "c"})]
    notebook.cells[2].metadata["execution"] = {"iopub.status.busy": "2026-01-01"}
    clean_notebook(notebook)
    assert [cell["id"] for cell in notebook.cells] == ["mine", "cell-002", notebook.cells[2]["id"]]
    assert "execution" not in notebook.cells[2].metadata


def test_a_cell_run_out_of_order_says_so(tmp_path):
    path = write_code_notebook(tmp_path / "order.ipynb", "import minitape.course", "print(made_above)")
    with pytest.raises(ClickException, match="run that cell first: menu Run, Run All Above Selected Cell"):
        run_and_save_notebook(path)


@pytest.mark.long
def test_a_new_lesson_passes_the_check(tmp_path):
    made = run_minitape("new-lesson", "14_my_topic", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    checked = run_minitape("check", "14_my_topic.ipynb", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert [child.name for child in tmp_path.iterdir()] == ["14_my_topic.ipynb"]
    lesson = nbformat.read(tmp_path / "14_my_topic.ipynb", as_version=4)
    assert lesson.cells[0].source.startswith("# 14. My topic\n")
    assert any("image/svg+xml" in str(output) for cell in lesson.cells for output in cell.get("outputs", ()))


@pytest.mark.parametrize(
    ("words", "title"), [("01 my topic", "1. My topic"), ("the KL term", "The KL term"), ("7", "7"), ("0", "0")]
)
def test_a_title_is_made_from_a_name(words, title):
    assert new_lesson._format_lesson_title(words) == title


def test_the_next_commands_can_be_typed_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "minitape.cli.new_lesson.write_lesson_skeleton", lambda name, title: tmp_path / "my topic.ipynb"
    )
    said = CliRunner().invoke(main, ["new-lesson", "my topic"]).output
    assert f"minitape save '{tmp_path}/my topic.ipynb' and minitape check '{tmp_path}/my topic.ipynb'" in said
    monkeypatch.setattr("minitape.cli.os", SimpleNamespace(name="nt"))
    said = CliRunner().invoke(main, ["new-lesson", "my topic"]).output
    assert f'minitape save "{tmp_path}/my topic.ipynb" and minitape check "{tmp_path}/my topic.ipynb"' in said


@pytest.mark.parametrize(("name", "message"), [
    ("here", "already exists"), ("no/where", "create it first"), ("___", "cannot be turned into a lesson name"),
    ("14_mine", "14_other.ipynb already has the number 14"),
])  # fmt: skip
def test_names_that_make_no_lesson(tmp_path, monkeypatch, name, message):
    for taken in ("here.ipynb", "14_other.ipynb"):
        (tmp_path / taken).write_text("mine")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["new-lesson", name])
    assert done.exit_code == 1
    assert message in done.stderr
    assert (tmp_path / "here.ipynb").read_text() == "mine"


def test_the_help_answers_without_loading_numpy_or_jupyter():
    done = run_minitape("--help")
    assert done.returncode == 0
    for command in ("lab", "check", "save", "new-lesson", "warmup"):
        assert f"\n  {command} " in done.stdout
    assert run_minitape("--version").stdout.startswith("minitape, version 0.")


def test_a_stream_is_saved_as_one_however_the_kernel_cut_it():
    pieces = [("stdout", "a\n"), ("stdout", "b\n"), ("stderr", "c\n"), ("stdout", "d\n")]
    notebook = new_notebook(cells=[new_code_cell("print()")])
    notebook.cells[0].outputs = [new_output("stream", name=name, text=text) for name, text in pieces]
    clean_notebook(notebook)
    saved = [(output.name, output.text) for output in notebook.cells[0].outputs]
    assert saved == [("stdout", "a\nb\n"), ("stderr", "c\n"), ("stdout", "d\n")]


@pytest.mark.long(sample=2)
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal to a group of processes here")
@pytest.mark.parametrize("command", [["save"], ["check", "--jobs=1"]], ids=["save", "check"])
def test_ctrl_c_ends_at_once_and_in_one_line(command, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    write_code_notebook(tmp_path / "a.ipynb", "open('pipe', 'w').close()\nimport time\ntime.sleep(600)")
    write_code_notebook(tmp_path / "b.ipynb", "open('more', 'w').close()")
    process = subprocess.Popen(
        [sys.executable, "-m", "minitape", *command, "a.ipynb", "b.ipynb"], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # Background jobs of a shell ignore SIGINT.
    )  # fmt: skip
    open(tmp_path / "pipe").close()  # This waits until the cell has opened the other end.
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=600)
    assert (said.strip(), process.returncode) == ("Aborted!", 1)
    assert not (tmp_path / "more").exists()
