"""`minitape lab`: the learner's copies, and JupyterLab on top of them."""

from __future__ import annotations

import atexit
import http.client
import logging
import os
import queue
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

import click

from ..common.texts import ENGLISH, language, lessons_language, users_language
from .lessons import FOLDER, copy_missing, languages, lessons_folder, notebook_to_open
from .messages import failure, say
from .server import NAME as EXTENSION

FIRST_PORT = 8888
PORTS_TRIED = 100
EVERYWHERE = ("0.0.0.0", "::", "", "*")
QUIET = logging.ERROR
SETTINGS = Path(__file__).with_name("jupyterlab_settings")


def copy_and_tell(given: Path | None, asked: str | None) -> Path:
    """Copy the missing lessons into the folder that is `given`, or a usual one; say on the terminal what was copied and
    kept; give back the folder.

    The language is the one that is `asked` for, else that of the lessons there, else the system's. Two are never mixed
    in a folder. Raises click.ClickException where the folder is a file, cannot be written, or has the lessons in
    another language.
    """
    lessons_folder(asked)
    folder = given or Path(FOLDER)
    if given is None and asked and lessons_language(folder) not in (None, asked):
        folder = Path(f"{FOLDER}-{asked}")
    if folder.exists() and not folder.is_dir():
        raise failure("{folder} is a file; name a folder for your lessons, or leave the name out", folder=folder)
    there = lessons_language(folder)
    code = asked or there or users_language()
    if there not in (None, code):
        raise failure(
            "{folder} has the lessons in {there!r}, and two languages are not mixed; name another folder for those in "
            "{code!r}",
            folder=folder,
            there=there,
            code=code,
        )
    try:
        copied, kept = copy_missing(folder, language=code)
    except OSError as error:
        raise failure(
            "cannot write the lessons to {folder}: {error}. Name a folder that you may write to: minitape lab FOLDER",
            folder=folder.absolute(),
            error=error.strerror or error,
        ) from error
    if copied:
        tell("files copied to {folder}: {count}", code, count=len(copied), folder=folder)
    if kept:
        tell("files left in {folder} as you had them: {count}", code, count=len(kept), folder=folder)
    if not asked and {code, users_language()} != {ENGLISH}:
        ways = [f"{say('English', code)}: minitape lab --language {code}" for code in languages()]
        with suppress(UnicodeEncodeError):  # the terminal cannot show it
            click.echo(" · ".join(ways))
    return folder


def tell(text: str, code: str, /, **values: object) -> None:
    """Say on the terminal in a language, or in English where the terminal cannot show it."""
    try:
        click.echo(say(text, code, **values))
    except UnicodeEncodeError:
        click.echo(text.format(**values))


def start(folder: Path, ip: str, port: int | None, browser: bool | None, verbose: bool) -> NoReturn:
    """Serve `folder` with JupyterLab, which opens the lesson last worked on, until Ctrl-C; does not return."""
    notebook = notebook_to_open(folder)
    page = f"/lab/tree/{quote(notebook.name)}" if notebook else "/lab"
    port = port_to_use(ip, port)
    token = os.environ["JUPYTER_TOKEN"] = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    # The kernel must be the Python that has minitape, not one that the user registered elsewhere.
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    _have_folders()
    open_browser = has_browser() if browser is None else browser
    address = f"http://{_reachable(ip)}:{port}{page}?token={token}"
    threading.Thread(target=_tell_when_ready, args=(ip, port, address, open_browser, folder), daemon=True).start()
    arguments = _lab_arguments(folder, ip, port, page, open_browser, verbose)
    from jupyterlab.labapp import LabApp

    try:
        LabApp.launch_instance(argv=arguments)
    finally:
        _end_workers()
    sys.exit(0)


def _end_workers() -> None:
    """Release the server's threads that wait for work: on a busy machine one is left, and Python would wait for it
    for ever.
    """
    for thread in threading.enumerate():
        if thread.name == "AnyIO worker thread" and hasattr(thread, "queue"):
            with suppress(queue.Full):  # it still has work, and ends after that
                thread.queue.put_nowait(None)


def _have_folders() -> None:
    """Where the home folder cannot be written, as in a container that runs as any user: folders for Jupyter until it
    ends.
    """
    home = os.path.expanduser("~")
    if os.access(home, os.W_OK):
        return
    kept = tempfile.mkdtemp(prefix="minitape-lab-")
    atexit.register(shutil.rmtree, kept, ignore_errors=True)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        os.environ.setdefault(name, os.path.join(kept, name.lower()))
    told = "{home} cannot be written: JupyterLab's settings last until it ends. Set HOME to keep them."
    click.echo(say(told, home=home), err=True)


def _lab_arguments(folder: Path, ip: str, port: int, page: str, open_browser: bool, verbose: bool) -> list[str]:
    """The command line for JupyterLab; nothing on it lets the server call out of this machine."""
    arguments = [
        f"--ServerApp.root_dir={folder.absolute()}",
        f"--ServerApp.ip={ip}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.open_browser={open_browser}",
        "--ServerApp.answer_yes=True",
        f"--ServerApp.jpserver_extensions={EXTENSION}=True",  # also where it was switched off for other servers
        f"--LabApp.default_url={page}",
        f"--LabApp.app_settings_dir={SETTINGS}",
        "--LabApp.extension_manager=readonly",
    ]
    if _can_encrypt():
        arguments.append("--KernelManager.transport_encryption=auto")
    if not verbose:
        arguments.append(f"--Application.log_level={QUIET}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    return arguments


def _can_encrypt() -> bool:
    """Whether what passes between JupyterLab and the kernels can be encrypted with the packages installed."""
    import zmq
    from jupyter_client.manager import KernelManager

    return KernelManager.class_own_traits().get("transport_encryption") is not None and zmq.has("curve")


def port_to_use(ip: str, wanted: int | None) -> int:
    """The port to serve on: `wanted` if it is free, else the first free one from 8888 up.

    Raises click.ClickException where `wanted` is taken, or `ip` is no address of this machine.
    """
    candidates = [wanted] if wanted else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)
    for port in candidates:
        family = socket.AF_INET6 if ":" in ip else socket.AF_INET
        try:
            socket.create_server(("" if ip in EVERYWHERE else ip, port), family=family).close()
        except OSError as error:
            problem = (error.strerror or str(error)).partition(" (while")[0]
        else:
            return port
    if wanted:
        raise failure(
            "cannot listen on {ip}, port {port}: {problem}. Leave --port out to get a free one",
            ip=ip,
            port=wanted,
            problem=problem,
        )
    raise failure(
        "cannot listen on {ip}, ports {first} to {last}: {problem}",
        ip=ip,
        first=FIRST_PORT,
        last=candidates[-1],
        problem=problem,
    )


def has_browser() -> bool:
    """Whether a browser with a window can be opened from here; a browser for the terminal does not count."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def _tell_when_ready(ip: str, port: int, address: str, open_browser: bool, folder: Path) -> None:
    """Print the address once the server answers; JupyterLab itself says what went wrong if it never does."""
    pause, code = threading.Event(), language(folder)
    while not _answers(_reachable(ip), port):
        pause.wait(0.2)
    tell("JupyterLab is ready:" if open_browser else "JupyterLab is ready. Open this address in a browser:", code)
    click.echo(f"\n    {address}\n")
    tell("Your work is saved in {folder}. Ctrl-C here stops JupyterLab.", code, folder=folder.absolute())


def _answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/api")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


def _reachable(ip: str) -> str:
    host = "127.0.0.1" if ip in EVERYWHERE else ip
    return f"[{host}]" if ":" in host else host
