"""The image of `deploy/jupyterhub` can be built, and started for a user whom it does not know."""

import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

from minitape.course.checker import collect_exercises

from .talking import ServerClient, format_outputs_text
from .test_hub import _find_free_port

BUILDERS = ("docker", "podman", "buildah")
TAG = "minitape-hub-test"
LESSON = "minitape-lessons/01_the_first_tape.ipynb"
pytestmark = [pytest.mark.classroom, pytest.mark.long]


def does_command_succeed(*command: str) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0


def can_run_base_image(builder: str, base: str) -> bool:
    """Return whether a builder is installed, and can download and run the base image."""
    if shutil.which(builder) is None:
        return False
    if builder == "buildah":
        return does_command_succeed(builder, "inspect", base) or does_command_succeed(builder, "pull", base)
    return does_command_succeed(builder, "run", "--rm", base, "true")


@pytest.fixture(scope="module")
def start(repository):
    """Yield the command that starts the image as an unknown user, who cannot write to the home folder."""
    folder = repository / "deploy" / "jupyterhub"
    base = next(line.split()[1] for line in (folder / "Dockerfile").read_text().splitlines() if line.startswith("FROM"))
    builder = next((name for name in BUILDERS if can_run_base_image(name, f"docker.io/library/{base}")), None)
    if builder is None:
        pytest.skip(f"none of {', '.join(BUILDERS)} can run {base} here")
    build = [builder, "build", "--tag", TAG, "--file", str(folder / "Dockerfile"), str(repository)]
    done = subprocess.run(build, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1800)
    assert done.returncode == 0, done.stdout[-4000:]
    stranger = ["--user", "54321:54321"]
    if builder == "buildah":  # buildah ignores the image's entry point.
        made = subprocess.run([builder, "from", TAG], text=True, capture_output=True, check=True).stdout.strip()
        yield [builder, "run", *stranger, made, "--", "tini", "-s", "--", "start"]
        subprocess.run([builder, "rm", made], check=True, capture_output=True)
    else:
        yield [builder, "run", "--rm", "--network=host", *stranger, TAG]


def test_a_stranger_runs_lesson_1(start):
    port = _find_free_port()
    server = [
        *start, "jupyter", "lab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=t",
    ]  # fmt: skip
    talk = ServerClient(f"http://127.0.0.1:{port}", "t")
    with subprocess.Popen(
        server, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.extend(process.stdout))
        reader.start()
        try:
            end = time.monotonic() + 120
            while not does_server_answer(talk):
                assert process.poll() is None and time.monotonic() < end, "".join(said)
                reader.join(0.25)
            codes = [cell["source"] for cell in talk.fetch_notebook(LESSON)["cells"] if cell["cell_type"] == "code"]
            outputs = [
                format_outputs_text(found)
                for found in talk.run_codes(talk.start_session(LESSON)["kernel"]["id"], codes)
            ]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            reader.join(60)
    told = "".join(said)
    assert "/home/jovyan cannot be written: work lasts until this server ends" in told
    assert "minitape.cli.server is on" in told
    assert "Traceback" not in told + "".join(outputs)
    assert any(f"0 of {len(collect_exercises('01'))} solved" in text for text in outputs)


def does_server_answer(talk: ServerClient) -> bool:
    try:
        return bool(talk.fetch_json("api")["version"])
    except OSError:
        return False
