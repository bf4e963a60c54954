"""`minitape lab` never changes a learner's work, and starts JupyterLab for this machine only."""

import asyncio
import json
import math
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
from click.testing import CliRunner
from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat.sign import MemorySignatureStore, NotebookNotary

from minitape.cli import lab as lab_command
from minitape.cli import main
from minitape.cli.contents_manager import NotebookContentsMixin
from minitape.cli.course_map import MAP_FILE, build_course_map
from minitape.cli.lesson_files import (
    copy_missing_lessons,
    find_lessons_folder,
    find_notebook_to_open,
    list_notebook_files,
)
from minitape.cli.notebook_rules import WIDGET_VIEW
from minitape.cli.server import _derive_class_with_mixin
from minitape.course import Exercise, add_exercise, predict
from minitape.course.checker import count_try_and_build_feedback

from .conftest import run_minitape

Notebooks = _derive_class_with_mixin(NotebookContentsMixin, AsyncLargeFileManager)


def list_notebook_names(folder):
    return [path.name for path in list_notebook_files(folder)]


def test_all_lessons_are_copied_once_and_only_once(tmp_path):
    first = run_minitape("lab", tmp_path / "mine", "--copy-only")
    assert first.returncode == 0, first.stderr
    assert list_notebook_names(tmp_path / "mine") == [MAP_FILE, *list_notebook_names(find_lessons_folder())]
    assert (
        first.stdout
        == f"number of files copied to {tmp_path / 'mine'}: {len(list_notebook_names(tmp_path / 'mine'))}\n"
    )
    second = run_minitape("lab", tmp_path / "mine", "--copy-only")
    assert not second.stdout.startswith("number of files copied")
    assert " left unchanged in " in second.stdout


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_map_of_the_course_leads_to_every_lesson(code):
    folder = find_lessons_folder(code)
    notebook = nbformat.from_dict(build_course_map(folder))
    nbformat.validate(notebook)
    targets = re.findall(r"^- \[.*\]\((.*)\)", notebook.cells[1].source, re.MULTILINE)
    assert sorted(targets) == list_notebook_names(folder)
    assert notebook.metadata.get("language", "en") == code
    assert notebook.cells[0].source.startswith({"en": "# Map of the course", "zh": "# 课程地图"}[code])


def test_a_learners_work_is_never_overwritten(tmp_path):
    copy_missing_lessons(tmp_path)
    mine = list_notebook_files(tmp_path)[0]
    mine.write_text("my own work")
    copied, kept = copy_missing_lessons(tmp_path)
    assert mine.read_text() == "my own work"
    assert copied == []
    assert mine.name in kept


def test_a_lesson_that_is_gone_comes_back(tmp_path):
    copy_missing_lessons(tmp_path)
    first = list_notebook_files(tmp_path)[0]
    first.unlink()
    assert copy_missing_lessons(tmp_path)[0] == [first.name]
    copy, lesson = (nbformat.read(folder / first.name, as_version=4) for folder in (tmp_path, find_lessons_folder()))
    assert [(cell.id, cell.source) for cell in copy.cells] == [(cell.id, cell.source) for cell in lesson.cells]


def test_a_copy_does_not_answer_its_own_questions(tmp_path):
    """The repository keeps the outputs for its tests and for pages, but a copy for learners has no outputs."""
    copy_missing_lessons(tmp_path)
    for path in list_notebook_files(tmp_path):
        saved, copy = (nbformat.read(folder / path.name, as_version=4) for folder in (find_lessons_folder(), tmp_path))
        nbformat.validate(copy)
        assert not any(cell.outputs or cell.execution_count for cell in copy.cells if cell.cell_type == "code")
        assert copy.metadata == saved.metadata
        assert [(cell.id, cell.metadata) for cell in copy.cells] == [(cell.id, cell.metadata) for cell in saved.cells]


def test_an_output_that_a_learner_has_stays(tmp_path):
    copy_missing_lessons(tmp_path)
    lesson = list_notebook_files(tmp_path)[0]
    notebook = nbformat.read(lesson, as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="run by me")]
    nbformat.write(notebook, lesson)
    copy_missing_lessons(tmp_path)
    assert nbformat.read(lesson, as_version=4) == notebook


def build_contents_manager(folder):
    """Return JupyterLab's contents manager, with signatures in memory instead of the user's database."""
    return Notebooks(root_dir=str(folder), notary=NotebookNotary(store_factory=MemorySignatureStore))


def test_jupyterlab_gets_a_notebook_with_what_the_kernel_will_say_of_its_language(tmp_path):
    """Otherwise, JupyterLab would write the language when it opens the notebook, and mark the notebook as changed."""
    copy_missing_lessons(tmp_path)
    lesson = list_notebook_files(tmp_path)[0]
    other = nbformat.v4.new_notebook(metadata={"language_info": {"name": "R"}})
    nbformat.write(other, tmp_path / "other.ipynb")
    manager = build_contents_manager(tmp_path)
    with ThreadPoolExecutor(1) as executor:  # An event loop may be running in this thread.

        def content(path, **options):
            return executor.submit(asyncio.run, manager.get(path, **options)).result()["content"]

        assert content(lesson.name)["metadata"]["language_info"] == IPythonKernel.language_info
        assert content("other.ipynb")["metadata"]["language_info"] == {"name": "R"}
        assert content(lesson.name, content=False) is None
        assert {file["name"] for file in content("")} >= {"other.ipynb", lesson.name}
    assert (
        nbformat.read(lesson, as_version=4).metadata
        == nbformat.read(find_lessons_folder() / lesson.name, as_version=4).metadata
    )


def test_a_live_widget_comes_back_only_while_the_kernel_that_made_it_runs(tmp_path, monkeypatch):
    """Otherwise, JupyterLab would show "model not found", because it starts a new kernel for the notebook."""

    def output(shown, *more):
        metadata = {WIDGET_VIEW: {"shown": shown}} if shown else {}
        data = dict.fromkeys((WIDGET_VIEW, *more), "x")
        return nbformat.v4.new_output("display_data", data=data, metadata=metadata)

    outputs = [output(100, "text/html"), output(300, "text/html"), output(None, "text/plain"), output(None)]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("minitape_widgets.TapeView(tape)", outputs=outputs)]
    )
    saved = tmp_path / "seen.ipynb"
    nbformat.write(notebook, saved)
    os.utime(saved, (400, 400))
    manager = build_contents_manager(tmp_path)
    begun = math.inf

    async def when(self, path):
        assert path == "seen.ipynb"
        return begun

    monkeypatch.setattr(Notebooks, "_find_kernel_start_time", when)
    with ThreadPoolExecutor(1) as executor:

        def live():
            model = executor.submit(asyncio.run, manager.get("seen.ipynb")).result()
            return [WIDGET_VIEW in output["data"] for output in model["content"]["cells"][0]["outputs"]]

        assert live() == [False, False, False, True]  # No kernel runs. The last output has no alternative.
        begun = 50.0
        assert live() == [True, True, True, True]  # The page is reloaded.
        begun = 200.0
        assert live() == [False, True, True, True]  # The kernel was restarted after the first cell.
        begun = 500.0
        assert live() == [False, False, False, True]  # The kernel is new.


def test_the_lesson_that_was_last_worked_on_is_opened(tmp_path, monkeypatch):
    monkeypatch.delenv("MINITAPE_PROGRESS", raising=False)
    copy_missing_lessons(tmp_path)
    (tmp_path / "my topic.ipynb").write_text("{}")
    assert find_notebook_to_open(tmp_path).name == "01_the_first_tape.ipynb"
    assert find_notebook_to_open(tmp_path / "nowhere") is None
    monkeypatch.chdir(tmp_path)
    count_try_and_build_feedback("05.1", 0)
    assert find_notebook_to_open(tmp_path).name == "05_persistent.ipynb"
    add_exercise(Exercise("my-topic.1", expect=1.0))
    count_try_and_build_feedback("my-topic.1", 1.0)
    assert find_notebook_to_open(tmp_path).name == "my topic.ipynb"
    predict("02.p1", "?", [1, 2]).commit("1")
    assert find_notebook_to_open(tmp_path).name == "02_inside_the_tape.ipynb"
    (tmp_path / ".minitape-progress.json").write_text('{"last": ["05"]}')
    assert find_notebook_to_open(tmp_path).name == "01_the_first_tape.ipynb"


def test_a_copy_that_breaks_off_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", mock.Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        copy_missing_lessons(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "lessons").write_text("x")
    done, below = (CliRunner().invoke(main, ["lab", str(tmp_path / path)]) for path in ("lessons", "lessons/below"))
    assert done.exit_code == below.exit_code == 1
    assert f"{tmp_path / 'lessons'} is a file; give the name of a folder for your lessons" in done.stderr
    assert "cannot write the lessons to" in below.stderr
    assert "minitape lab FOLDER" in below.stderr


def test_a_folder_of_ones_own_stays_as_it_is(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("minitape.cli.lab.run_jupyterlab", lambda folder, *options: opened.append(folder))
    (tmp_path / "mine.ipynb").write_text("{}")
    assert CliRunner().invoke(main, ["lab", "--own", str(tmp_path)]).exit_code == 0
    assert opened == [tmp_path]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.ipynb"]
    missing = CliRunner().invoke(main, ["lab", "--own", str(tmp_path / "nowhere")])
    assert missing.exit_code == 2 and "does not exist" in missing.output
    both = CliRunner().invoke(main, ["lab", "--own", "--copy-only", str(tmp_path)])
    assert both.exit_code == 2 and "cannot be used together" in both.output


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["lab", str(tmp_path), "--port", str(port)])
        assert lab_command.find_free_port("127.0.0.1", None) != port
    assert done.exit_code == 1
    assert "0 is not in the range 1<=x<=65535" in CliRunner().invoke(main, ["lab", "--port", "0"]).stderr
    assert f"cannot listen on 127.0.0.1, port {port}: Address already in use. Omit --port" in done.stderr


def test_a_package_that_is_missing_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "minitape.cli.check_notebooks", None)
    with pytest.raises(ModuleNotFoundError):  # This is an error in minitape itself.
        CliRunner().invoke(main, ["check"], catch_exceptions=False)
    monkeypatch.delitem(sys.modules, "minitape.cli.check_notebooks")
    monkeypatch.delitem(sys.modules, "minitape.cli.save", raising=False)
    monkeypatch.setitem(sys.modules, "nbformat", None)
    told = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert told.exit_code == 1
    assert told.output.startswith(
        'Error: this command needs the package nbformat, but it is not installed. Type: pip install "minitape[lab]"'
    )


def test_an_address_that_is_not_this_machines(tmp_path):
    done = CliRunner().invoke(main, ["lab", str(tmp_path), "--ip", "192.0.2.1", "--port", "8899"])
    assert done.exit_code == 1
    assert "cannot listen on 192.0.2.1, port 8899" in done.stderr


@pytest.mark.parametrize("given", ["", "mine", None])
def test_the_address_has_the_token_that_the_server_takes(given, tmp_path, monkeypatch):
    """Some container files set an empty token. The server would then create a different one."""
    addresses = []
    monkeypatch.setenv("JUPYTER_TOKEN", given or "")  # Monkeypatch will undo what `start` sets.
    if given is None:
        monkeypatch.delenv("JUPYTER_TOKEN")
    monkeypatch.setattr(
        "minitape.cli.lab._print_address_when_ready", lambda ip, port, address, *rest: addresses.append(address)
    )
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", lambda argv: None)
    monkeypatch.setattr("minitape.cli.lab._release_idle_server_threads", lambda: None)
    with pytest.raises(SystemExit):
        lab_command.run_jupyterlab(tmp_path, "127.0.0.1", None, False, False)
    [token] = parse_qs(urlsplit(addresses[0]).query)["token"]
    assert token == os.environ["JUPYTER_TOKEN"] and (token == given if given else len(token) == 48)


@pytest.mark.parametrize(("code", "locale"), [("en", None), ("zh", "zh_CN")])
def test_jupyterlab_has_the_language_of_the_lessons_and_asks_nothing(tmp_path, monkeypatch, code, locale):
    """By default, JupyterLab uses the system's language. Without the language pack, JupyterLab stays in English.

    With these settings, it also does not ask a newcomer for permission to fetch news.
    """
    copy_missing_lessons(tmp_path, language=code)
    arguments = lab_command._build_lab_arguments(tmp_path, "127.0.0.1", 8888, "/lab", False, False)
    [folder] = [argument.partition("=")[2] for argument in arguments if "app_settings_dir" in argument]
    settings = json.loads((Path(folder) / "overrides.json").read_text(encoding="utf-8"))
    assert settings.get("@jupyterlab/translation-extension:plugin", {}).get("locale") == locale
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_a_browser_needs_a_screen(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert lab_command.can_open_browser() is False


def test_the_server_answers_here_and_asks_for_the_token(lab):
    address = urlsplit(lab)
    assert address.hostname == "127.0.0.1"
    assert address.path == f"/lab/tree/{MAP_FILE}"
    [token] = parse_qs(address.query)["token"]
    contents = f"http://{address.netloc}/api/contents"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(contents, timeout=600)
    with refused.value as error:
        assert error.code == 403
    with urllib.request.urlopen(f"{contents}?token={token}", timeout=600) as answer:
        assert b"01_the_first_tape.ipynb" in answer.read()
    with urllib.request.urlopen(lab, timeout=600) as answer:
        assert answer.status == 200


def test_the_folder_with_the_work_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("minitape.cli.lab._does_server_answer", lambda host, port: True)
    tell = lab_command._print_address_when_ready
    tell("127.0.0.1", 8888, "http://127.0.0.1:8888/lab?token=t", False, tmp_path)
    said = capsys.readouterr().out
    assert "JupyterLab is ready. Open this address in a browser:\n\n    http://127.0.0.1:8888/lab?token=t\n" in said
    assert f"Your work is saved in {tmp_path}. Ctrl-C here stops JupyterLab." in said


def test_a_home_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    """This happens in a container that runs as an arbitrary user."""
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    for name in names:
        monkeypatch.setenv(name, "before")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    lab_command._replace_unwritable_folders()
    assert not any(name in os.environ for name in names) and capsys.readouterr().err == ""
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "mine"))
    lab_command._replace_unwritable_folders()
    assert os.environ["IPYTHONDIR"] == str(tmp_path / "mine")
    assert os.access(os.path.dirname(os.environ["JUPYTER_DATA_DIR"]), os.W_OK)
    assert "nowhere is not writable, so JupyterLab's settings are lost when it stops." in capsys.readouterr().err


LEFT = """import asyncio, anyio.to_thread
from minitape.cli.lab import _release_idle_server_threads
async def serve():
    await anyio.to_thread.run_sync(str)
    loop.stop()
    await asyncio.sleep(9)
loop = asyncio.new_event_loop()
serving = loop.create_task(serve())
loop.run_forever()
_release_idle_server_threads()
"""


def test_a_worker_of_the_server_that_waits_for_work_does_not_keep_minitape_lab_from_ending():
    """The server stops its loop while a task is running. After that, nothing ends the thread of the task."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", LEFT], check=True, capture_output=True, timeout=600)
