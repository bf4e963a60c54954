"""An installed minitape adds its extension to every Jupyter server, such as a learner's server on a hub."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import nbformat
import pytest
from ipykernel.ipkernel import IPythonKernel
from nbformat.v4 import new_code_cell, new_notebook, new_output
from processes import end_processes

from minitape.cli.lab import _does_server_answer
from minitape.cli.notebook_rules import LANGUAGE, WIDGET_VIEW

from .talking import ServerClient, format_outputs_text

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
EXTENSION = "minitape.cli.server"
ADVICE = "run that cell first: menu Run, Run All Above Selected Cell."
VIEW = new_output(
    "display_data",
    data={WIDGET_VIEW: {"model_id": "gone"}, "text/plain": "TapeView()"},
    metadata={WIDGET_VIEW: {"shown": 100}},
)


class Server(ServerClient):
    """A plain `jupyter server` with separate settings."""

    def __init__(self, base: Path, repository: Path, *settings: str):
        self.root, config = base / "work", base / "config"
        self.root.mkdir(parents=True)
        switched_on = config / "jupyter_server_config.d"  # The wheel puts this folder in etc/jupyter.
        switched_on.mkdir(parents=True)
        for file in (repository / "deploy" / "jupyter_server_config.d").iterdir():
            shutil.copy(file, switched_on)
        own = {
            "JUPYTER_CONFIG_DIR": config,
            "JUPYTER_DATA_DIR": base / "data",
            "JUPYTER_RUNTIME_DIR": base / "runtime",
            "IPYTHONDIR": base / "ipython",
        }
        self.environment = {name: value for name, value in os.environ.items() if name != "PYTHONSTARTUP"}
        self.environment |= {
            "JUPYTER_TOKEN": "t",
            "JUPYTER_PREFER_ENV_PATH": "0",
            **{name: str(value) for name, value in own.items()},
        }
        self.settings = settings

    def start_jupyter(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "jupyter", *arguments]
        return subprocess.Popen(
            command, env=self.environment, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def __enter__(self) -> "Server":
        root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        self.process = self.start_jupyter(
            "server", "--no-browser", "--port=0", "--ServerApp.ip=127.0.0.1", *root, *self.settings
        )
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if found := ADDRESS.search(line):
                break
        else:
            raise AssertionError(self.said)
        super().__init__(found[0], "t")
        self.reader = threading.Thread(target=self.process.stdout.read)  # A full pipe would block the server.
        self.reader.start()
        host, port = found[0].removeprefix("http://").split(":")
        while not _does_server_answer(host, int(port)):
            assert self.process.poll() is None
            threading.Event().wait(0.05)
        return self

    def __exit__(self, *error: object) -> None:
        end_processes(self.process)
        self.reader.join()
        self.process.stdout.close()


def write_notebook(folder: Path, name: str, source: str) -> None:
    metadata = {"language_info": LANGUAGE if "minitape" in source else {**LANGUAGE, "version": "3.9"}}
    nbformat.write(new_notebook(cells=[new_code_cell(source, outputs=[VIEW])], metadata=metadata), folder / name)


@pytest.fixture(scope="module")
def on(tmp_path_factory, repository):
    """Yield a server with the extension."""
    server = Server(tmp_path_factory.mktemp("on"), repository)
    write_notebook(server.root, "ours.ipynb", "import minitape as tf\n[x](02_next.ipynb)")
    write_notebook(server.root, "other.ipynb", "import numpy")
    with server:
        yield server


@pytest.fixture(scope="module")
def off(tmp_path_factory, repository):
    """Yield a server whose extension was disabled."""
    server = Server(tmp_path_factory.mktemp("off"), repository)
    write_notebook(server.root, "ours.ipynb", "import minitape as tf")
    done = server.start_jupyter("server", "extension", "disable", "--user", EXTENSION)
    assert done.communicate() and done.returncode == 0
    with server:
        yield server


def test_the_server_says_that_it_is_on(on):
    assert f"{EXTENSION} is on" in on.said


def test_a_notebook_that_is_opened_is_not_marked_as_changed(on):
    """JupyterLab would mark a notebook whose language information differs from its kernel's."""
    assert on.fetch_notebook("ours.ipynb")["metadata"]["language_info"] == json.loads(
        json.dumps(IPythonKernel.language_info)
    )


def test_a_live_view_without_its_kernel_comes_as_what_is_saved_beside_it(on):
    [output] = on.fetch_notebook("ours.ipynb")["cells"][0]["outputs"]
    assert output["data"] == {"text/plain": "TapeView()"}


def test_other_notebooks_come_as_they_are_saved(on):
    other = on.fetch_notebook("other.ipynb")
    assert other["metadata"]["language_info"] == {**LANGUAGE, "version": "3.9"}
    assert WIDGET_VIEW in other["cells"][0]["outputs"][0]["data"]


def test_a_notebook_that_is_saved_takes_the_place_of_the_old_one(on):
    content = on.fetch_notebook("other.ipynb")
    before = (on.root / "other.ipynb").stat().st_ino
    on.fetch_json("api/contents/other.ipynb", {"type": "notebook", "content": content}, "PUT")
    assert on.fetch_notebook("other.ipynb") == content and (on.root / "other.ipynb").stat().st_ino != before
    assert not list(on.root.glob(".~*"))


@pytest.mark.long
def test_who_goes_on_the_next_day_is_told_which_cells_to_run(on):
    with on.open_kernel("ours.ipynb") as run:
        assert ADVICE in format_outputs_text(run("TapeView(tape)"))
    with on.open_kernel("other.ipynb") as run:
        told = format_outputs_text(run("TapeView(tape)"))
        assert "not defined" in told and ADVICE not in told
        assert format_outputs_text(run("import sys; print('minitape' in sys.modules)")) == "False\n"


def test_a_file_beside_a_notebook_does_not_run_when_the_notebook_is_opened(on):
    folder = on.root / "from a stranger"
    folder.mkdir()
    write_notebook(folder, "lesson.ipynb", "import minitape as tf")
    for module in ("minitape", "numpy", "ml_dtypes", "html", "click"):
        (folder / f"{module}.py").write_text("open('it ran', 'w').close()")
    with on.open_kernel("from a stranger/lesson.ipynb") as run:
        assert ADVICE in format_outputs_text(run("TapeView(tape)"))  # minitape itself was loaded.
        assert not (folder / "it ran").exists()
        told = format_outputs_text(run("import sys; print('' in sys.path, '_load_course' in dir())"))
        assert told == "True False\n"  # Cells find files next to the notebook.


def test_jupyterlab_asks_nobody_for_news(on):
    page = on.fetch_text("lab")
    settings = json.loads(
        page.partition('id="jupyter-config-data" type="application/json">')[2].partition("</script>")[0]
    )
    assert settings["news"] == {"disabled": True}


@pytest.mark.long
def test_one_line_switches_it_off(off):
    assert f"{EXTENSION} is on" not in off.said
    assert off.fetch_notebook("ours.ipynb")["metadata"]["language_info"] == LANGUAGE
    assert WIDGET_VIEW in off.fetch_notebook("ours.ipynb")["cells"][0]["outputs"][0]["data"]
    assert '"news": {"disabled": false}' in off.fetch_text("lab")
    with off.open_kernel("ours.ipynb") as run:
        told = format_outputs_text(run("TapeView(tape)"))
        assert "not defined" in told and ADVICE not in told


@pytest.mark.long
def test_the_servers_own_settings_come_first(tmp_path, repository):
    """A contents manager that is not asynchronous is kept, with a warning, and news can be enabled."""
    manager = "--ServerApp.contents_manager_class=jupyter_server.services.contents.largefilemanager.LargeFileManager"
    server = Server(tmp_path, repository, manager, "--LabApp.news_url=http://127.0.0.1:9/feed")
    write_notebook(server.root, "ours.ipynb", "import minitape as tf")
    with server:
        assert "LargeFileManager is not asynchronous; lessons are handed out as they are saved" in server.said
        assert server.fetch_notebook("ours.ipynb")["metadata"]["language_info"] == LANGUAGE
        assert '"news": {"disabled": false}' in server.fetch_text("lab")
