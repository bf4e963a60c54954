"""Learners of a class on a real JupyterHub, with the settings that `deploy/jupyterhub` gives to teachers.

``pytest tests/cli/test_hub.py -n 0 -s --learners 20`` prints the time and memory that a class of that size needs.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import pytest
from ipykernel.ipkernel import IPythonKernel
from playwright.sync_api import expect

from minitape.course.checker import collect_exercises
from minitape.course.progress import FILE_NAME

from .talking import ServerClient, format_outputs_text
from .test_lesson_in_browser import find_code_cell, run_lesson, wait_for_kernel

PYTHON = "MINITAPE_HUB"
"""Names the Python of an environment with minitape, jupyterhub and nbgitpuller, where this one lacks them."""
NAME = "01_the_first_tape.ipynb"
LESSON = f"lessons/{NAME}"
ADVICE = "run that cell first: menu Run, Run All Above Selected Cell."
EXERCISES = len(collect_exercises("01"))
SETTINGS = """
from jupyterhub.spawner import SimpleLocalProcessSpawner
load_subconfig({given!r})
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub_port}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.JupyterHub.authenticator_class = "dummy"  # learners have no accounts on this machine
c.JupyterHub.spawner_class = SimpleLocalProcessSpawner
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.Spawner.args += {root!r}
c.Spawner.env_keep = [*c.Spawner.env_keep, "PYTHONPATH"] if isinstance(c.Spawner.env_keep, list) else ["PATH", \
"LANG", "PYTHONPATH"]
c.JupyterHub.services = [{{"name": "tests", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{"name": "tests", "services": ["tests"], "scopes": ["admin:users", "admin:servers", \
"tokens", "list:users"]}}]
"""
TOKEN = "a" * 32
pytestmark = [pytest.mark.classroom, pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")]


class Hub(ServerClient):
    """A JupyterHub on this machine, and its learners' servers."""

    def __init__(self, base: Path, repository: Path, python: str, proxy: str):
        ports = [_find_free_port() for _ in range(3)]
        super().__init__(f"http://127.0.0.1:{ports[0]}/hub", TOKEN)
        self.base, self.homes, self.origin = base, base / "homes", f"http://127.0.0.1:{ports[0]}"
        self.homes.mkdir()
        settings = SETTINGS.format(
            given=str(repository / "deploy" / "jupyterhub" / "jupyterhub_config.py"), homes=str(self.homes),
            token=TOKEN, port=ports[0], hub_port=ports[1], proxy_port=ports[2],
            root=["--allow-root"] if os.geteuid() == 0 else [],
        )  # fmt: skip
        (base / "config.py").write_text(settings)
        path = os.pathsep.join([str(Path(python).parent), str(Path(proxy).parent), os.environ["PATH"]])
        sources = os.pathsep.join([str(repository), str(repository / "widgets")])
        dropped = ("MINITAPE_PROGRESS", "PYTHONSTARTUP", "JUPYTER_TOKEN")
        self.environment = {name: value for name, value in os.environ.items() if name not in dropped}
        self.environment |= {"PATH": path, "PYTHONPATH": sources, "CONFIGPROXY_AUTH_TOKEN": "b" * 32}
        self.command = [
            python, "-m", "jupyterhub", "-f", str(base / "config.py"),
            f"--JupyterHub.cookie_secret_file={base / 'cookies'}",
        ]  # fmt: skip

    def start(self) -> None:
        with open(self.base / "hub.log", "ab") as log:
            self.process = subprocess.Popen(self.command, cwd=self.base, env=self.environment, stdout=log, stderr=log)
        self.wait_until(lambda: self.fetch_json("api/")["version"], 120)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=600)

    def end_all_processes(self) -> None:
        """End all processes: the learners' servers, the hub and its proxy."""
        if self.process.poll() is None:
            names = [user["name"] for user in self.fetch_json("api/users") if user["server"]]
            with ThreadPoolExecutor(len(names) or 1) as pool:
                list(pool.map(lambda name: self.fetch_text(f"api/users/{name}/server", method="DELETE"), names))
            self.wait_until(
                lambda: not any(user["server"] or user["pending"] for user in self.fetch_json("api/users")), 60
            )
            self.stop()
        pid = self.base / "jupyterhub-proxy.pid"
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGTERM)

    def wait_until(self, condition, seconds: float):
        """Return the result of ``condition`` as soon as it is true."""
        pause, end = threading.Event(), time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := condition():
                    return found
            except (OSError, urllib.error.HTTPError):
                assert self.process.poll() is None, (self.base / "hub.log").read_text()
            pause.wait(0.25)
        raise AssertionError(f"not within {seconds} s:\n{(self.base / 'hub.log').read_text()[-4000:]}")

    def sign_in_learner(self, name: str) -> "Learner":
        """Sign a learner in, and wait for the learner's server."""
        began = time.monotonic()
        self.fetch_text(f"api/users/{name}", {}, "POST")
        self.fetch_text(f"api/users/{name}/server", {}, "POST")
        user = self.wait_until(lambda: (user := self.fetch_json(f"api/users/{name}"))["server"] and user, 400)
        token = self.fetch_json(f"api/users/{name}/tokens", {}, "POST")["token"]
        return Learner(
            name, ServerClient(self.origin + user["server"], token), self.homes / name, time.monotonic() - began
        )


class Learner:
    """A learner who waited ``waited`` seconds for a server."""

    def __init__(self, name: str, talk: ServerClient, home: Path, waited: float):
        self.name, self.talk, self.home, self.waited = name, talk, home, waited
        self.took = 0.0

    def pull_lessons(self, source: Path) -> None:
        """Follow a link of nbgitpuller to the repository ``source``."""
        asked = urllib.parse.urlencode({"repo": str(source), "branch": "main", "targetpath": "lessons"})
        assert '"phase": "finished"' in self.talk.fetch_text(f"git-pull/api?{asked}")

    def run_lesson(self) -> list[str]:
        """Open lesson 1 as JupyterLab does, run all of its cells, and return the text of each output."""
        began = time.monotonic()
        notebook = self.talk.fetch_notebook(LESSON)
        assert notebook["metadata"]["language_info"] == json.loads(json.dumps(IPythonKernel.language_info))
        codes = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
        session = self.talk.start_session(LESSON)
        self.kernel = session["kernel"]["id"]
        said = self.talk.run_codes(self.kernel, codes)
        self.took = time.monotonic() - began
        return [format_outputs_text(outputs) for outputs in said]

    def run_code(self, code: str) -> str:
        return format_outputs_text(self.talk.run_codes(self.kernel, [code])[0])

    def measure_memory(self) -> list[float]:
        """Return the megabytes of the server and of each kernel, with shared pages divided among them (PSS)."""
        return sorted((_measure_pss(pid) for pid in _find_processes(self.home)), reverse=True)


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def _find_processes(home: Path) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}\0".encode() in (place / "environ").read_bytes() + b"\0":
                found.append(int(place.name))
        except OSError:
            continue
    return found


def _measure_pss(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


@pytest.fixture(scope="module")
def hub(tmp_path_factory, repository):
    python = os.environ.get(PYTHON, sys.executable)
    known = subprocess.run([python, "-c", "import jupyterhub, nbgitpuller"], capture_output=True, check=False)
    proxy = shutil.which("configurable-http-proxy")
    if known.returncode:
        pytest.skip(
            f"no jupyterhub or nbgitpuller in {python}: make an environment with minitape and both, and set {PYTHON} "
            "to its python"
        )
    if proxy is None:
        pytest.skip("no configurable-http-proxy on PATH: npm install --global configurable-http-proxy")
    started = Hub(tmp_path_factory.mktemp("hub"), repository, python, proxy)
    started.start()
    yield started
    started.end_all_processes()


@pytest.fixture(scope="module")
def teachers(tmp_path_factory, repository):
    """Return the repository of lessons that learners pull."""
    folder = tmp_path_factory.mktemp("teacher") / "lessons"
    folder.mkdir()
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    shutil.copy(repository / "notebooks" / "en" / NAME, folder)
    commit_all(folder)
    return folder


def run_git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=teacher", "-c", "user.email=teacher@localhost"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True)


def commit_all(folder: Path) -> None:
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message=lessons")


@pytest.fixture(scope="module")
def learners(hub, teachers, pytestconfig):
    """Return learners who all begin at the same time."""
    names = [f"learner-{number:03d}" for number in range(pytestconfig.getoption("--learners"))]
    with ThreadPoolExecutor(len(names)) as pool:
        began = list(pool.map(hub.sign_in_learner, names))
        list(pool.map(lambda who: who.pull_lessons(teachers), began))
    return began


def test_all_learners_run_lesson_1_at_once(hub, learners):
    with ThreadPoolExecutor(len(learners)) as pool:
        for said in pool.map(Learner.run_lesson, learners):
            assert "Traceback" not in "".join(said)
            assert any(f"0 of {EXERCISES} solved" in text for text in said)
    assert all((who.home / "minitape-lessons" / NAME).is_file() for who in learners)  # The hub copies this.
    waited, took = [who.waited for who in learners], [who.took for who in learners]
    parts = [who.measure_memory() for who in learners]
    print(
        f"\n{len(learners)} learners at once: server after {median(waited):.0f} s (last {max(waited):.0f}), lesson "
        "1 in "
        f"{median(took):.0f} s (last {max(took):.0f}), memory a learner {median(map(sum, parts)):.0f} MB "
        f"(largest parts {', '.join(f'{mb:.0f}' for mb in parts[0][:3])})"
    )


def test_the_progress_of_each_is_their_own(learners):
    first, second = learners[:2]
    assert "correct" in first.run_code('check("01.1", 12.0)')
    assert "not yet" in second.run_code('check("01.1", 8.0)')
    kept = [json.loads((who.home / "lessons" / FILE_NAME).read_text())["exercises"]["01.1"] for who in (first, second)]
    assert [entry["solved"] for entry in kept] == [True, False]
    assert (first.home / "lessons" / FILE_NAME).stat().st_mode & 0o077 == 0


def test_a_kernel_that_is_killed_comes_back_with_advice(hub, learners):
    victim, other = learners[:2]
    other.run_code("kept = 'still here'")
    pid = int(victim.run_code("import os; print(os.getpid())"))
    os.kill(pid, signal.SIGKILL)

    def back():
        kernel = victim.talk.fetch_json(f"api/kernels/{victim.kernel}")
        return kernel["execution_state"] in ("idle", "starting") and victim.run_code(
            "import os; print(os.getpid())"
        ) not in ("", f"{pid}\n")

    hub.wait_until(back, 60)
    assert ADVICE in victim.run_code("TapeView(tape)")
    assert f"1 of {EXERCISES} solved" in victim.run_code('from minitape.course import progress; progress("01")')
    assert other.run_code("print(kept)") == "still here\n"


def test_a_restart_of_the_hub_loses_nothing(hub, learners):
    before = [who.run_code("import os; kept = 7; print(os.getpid())") for who in learners]
    hub.stop()
    assert learners[0].run_code("print(kept)") == "7\n"  # Lessons continue while the hub is down.
    hub.start()
    for who, pid in zip(learners, before, strict=True):
        assert hub.wait_until(lambda who=who: hub.fetch_json(f"api/users/{who.name}")["server"], 60)
        assert who.run_code("print(os.getpid(), kept)") == f"{pid.strip()} 7\n"
        assert any("check(" in cell["source"] for cell in who.talk.fetch_notebook(LESSON)["cells"])


def test_a_mended_lesson_merges_with_a_learners_work(learners, teachers):
    who, lesson = learners[0], teachers / NAME
    own = who.talk.fetch_notebook(LESSON)
    cell = next(cell for cell in own["cells"] if 'check("01.1"' in cell["source"])
    cell["source"] = "my = 12.0\n" + cell["source"]
    who.talk.fetch_text(f"api/contents/{LESSON}", {"type": "notebook", "format": "json", "content": own}, "PUT")
    text = lesson.read_text(encoding="utf-8")
    title = json.loads(text)["cells"][0]["source"][0].rstrip()
    lesson.write_text(text.replace(title, f"{title}, fixed", 1), encoding="utf-8")
    shutil.copy(lesson, teachers / "99_new.ipynb")
    commit_all(teachers)
    who.pull_lessons(teachers)
    cells = who.talk.fetch_notebook(LESSON)["cells"]
    assert cells[0]["source"].startswith(f"{title}, fixed")
    assert any(cell["source"].startswith("my = 12.0\n") for cell in cells)
    assert who.talk.fetch_notebook("lessons/99_new.ipynb")["cells"]


@pytest.mark.browser
def test_a_browser_shows_a_lesson_on_the_hub_as_minitape_lab_does(hub, new_page):
    """A hub without minitape's extension fails this test.

    Lessons are not marked as changed, there is no news, a new kernel gives advice, and pictures survive a reload.
    """
    page = new_page()
    page.goto(f"{hub.origin}/hub/")
    page.fill("#username_input", "learner-in-browser")
    page.fill("#password_input", "any")
    page.click("#login_submit")
    wait_for_kernel(page)
    page.locator(".jp-DebuggerBugButton").wait_for(timeout=300_000)  # The kernel has reported its language.
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    expect(page.get_by_text("official Jupyter news")).to_have_count(0)

    picture = find_code_cell(page, "TapeView(g)")
    picture.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(picture).to_contain_text(ADVICE, timeout=300_000)

    run_lesson(page)
    page.keyboard.press("ControlOrMeta+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    page.get_by_role("menuitem", name="Kernel").click()
    page.get_by_text("Restart Kernel…").click()
    with page.expect_response(re.compile("/api/kernels/.*/restart")):
        page.get_by_role("button", name="Confirm Kernel Restart").click()
    page.reload()
    find_code_cell(page, "TapeView(g)").locator("img[src^='data:image/svg']").wait_for(timeout=300_000)
    expect(page.locator(".jp-Notebook")).not_to_contain_text("model not found")
