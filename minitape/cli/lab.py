"""Implement `minitape lab`, which copies the lessons for a learner and opens them in JupyterLab."""

import atexit
import http.client
import logging
import os
import queue
import secrets
import socket
import sys
import threading
import webbrowser
from contextlib import suppress
from os import environ
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import NoReturn
from urllib.parse import quote

from click import echo

from ..common.translation import ENGLISH, detect_language, find_lessons_language, find_user_language
from ..engine.types import OptionalFlag, OptionalNumber, OptionalPath, OptionalText, TextList
from .course_map import MAP_FILE, write_missing_course_map
from .lesson_files import (
    LEARNER_FOLDER,
    copy_missing_lessons,
    find_lesson_folders_by_language,
    find_lessons_folder,
    find_notebook_to_open,
)
from .messages import create_failed_action_error, say
from .server import EXTENSION_NAME as EXTENSION
from .server import LAB_SETTINGS_FOLDER

FIRST_PORT = 8888
PORTS_TRIED = 100
ANY_ADDRESS = ("0.0.0.0", "::", "", "*")
QUIET_LOG_LEVEL = logging.ERROR


def _choose_folder_and_language(chosen_folder: OptionalPath, chosen_language: OptionalText) -> tuple[Path, str]:
    """Choose the learner's folder and the language of the lessons in this folder.

    Raises:
        click.ClickException: If the folder is a file or contains lessons in a different language.
    """
    folder = chosen_folder or Path(LEARNER_FOLDER)
    if chosen_folder is None and chosen_language and find_lessons_language(folder) not in (None, chosen_language):
        folder = Path(f"{LEARNER_FOLDER}-{chosen_language}")
    if folder.exists() and not folder.is_dir():
        raise create_failed_action_error(
            "{folder} is a file; give the name of a folder for your lessons, or leave the name out", folder=folder
        )
    existing_language = find_lessons_language(folder)
    code = chosen_language or existing_language or find_user_language()
    if existing_language not in (None, code):
        raise create_failed_action_error(
            "{folder} already contains the lessons in {there!r}, and languages cannot be mixed; choose a different "
            "folder for the lessons in {code!r}",
            folder=folder,
            there=existing_language,
            code=code,
        )
    return folder, code


def copy_and_report_lessons(chosen_folder: OptionalPath, chosen_language: OptionalText) -> Path:
    """Copy missing lessons to the learner's folder, and print which files were copied and which were kept.

    The chosen language takes precedence over the language of existing lessons in the folder, which takes precedence
    over the system's language. A folder never contains lessons in two languages.

    Args:
        chosen_folder: The folder that the user specified, or None.
        chosen_language: The language that the user specified, or None.

    Returns:
        The learner's folder.

    Raises:
        click.ClickException: If the folder is a file, is not writable, or contains lessons in a different language.
        click.UsageError: If there are no lessons in the chosen language.
    """
    find_lessons_folder(chosen_language)
    folder, code = _choose_folder_and_language(chosen_folder, chosen_language)
    try:
        copied_names, kept_names = copy_missing_lessons(folder, language=code, is_named_by_title=True)
        (copied_names if write_missing_course_map(folder, code) else kept_names).append(MAP_FILE)
    except OSError as error:
        raise create_failed_action_error(
            "cannot write the lessons to {folder}: {error}. Choose a folder that you can write to: minitape lab FOLDER",
            folder=folder.absolute(),
            error=error.strerror or error,
        ) from error
    if copied_names:
        print_translated("number of files copied to {folder}: {count}", code, count=len(copied_names), folder=folder)
    if kept_names:
        print_translated(
            "number of your files left unchanged in {folder}: {count}", code, count=len(kept_names), folder=folder
        )
    if not chosen_language and {code, find_user_language()} != {ENGLISH}:
        commands = [
            f"{say('English', language)}: minitape lab --language {language}"
            for language in find_lesson_folders_by_language()
        ]
        with suppress(UnicodeEncodeError):  # The terminal may not be able to display the language's name.
            echo(" · ".join(commands))
    return folder


def print_translated(text: str, language_code: str, /, **values: object) -> None:
    """Print text in the given language, or in English if the terminal cannot display it.

    Args:
        text: The English text, with the names of values in braces.
        language_code: The language.
        values: The values to insert for the names in braces.
    """
    try:
        echo(say(text, language_code, **values))
    except UnicodeEncodeError:
        echo(text.format(**values))


def run_jupyterlab(
    folder: Path, ip: str, port: OptionalNumber, opens_browser: OptionalFlag, is_verbose: bool
) -> NoReturn:
    """Serve a folder with JupyterLab until Ctrl-C is pressed. This function does not return.

    Args:
        folder: The learner's folder. JupyterLab opens the lesson with the learner's latest answer.
        ip: The address to listen on.
        port: The port to listen on, or None for any free port.
        opens_browser: Whether to open a browser. None means to open one if possible.
        is_verbose: Whether to show all of JupyterLab's messages.

    Raises:
        click.ClickException: If the port is in use, or `ip` is not an address of this machine.
    """
    notebook = find_notebook_to_open(folder)
    start_page = f"/lab/tree/{quote(notebook.name)}" if notebook else "/lab"
    port = find_free_port(ip, port)
    token = environ["JUPYTER_TOKEN"] = environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    # The kernel must use the Python in which minitape is installed, not a Python that the user registered elsewhere.
    environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    _replace_unwritable_folders()
    is_browser_opened = can_open_browser() if opens_browser is None else opens_browser
    address = f"http://{_to_reachable_host(ip)}:{port}{start_page}?token={token}"
    threading.Thread(
        target=_print_address_when_ready, args=(ip, port, address, is_browser_opened, folder), daemon=True
    ).start()
    arguments = _build_lab_arguments(folder, ip, port, start_page, is_browser_opened, is_verbose)
    from jupyterlab.labapp import LabApp

    try:
        LabApp.launch_instance(argv=arguments)
    finally:
        _release_idle_server_threads()
    sys.exit(0)


def _release_idle_server_threads() -> None:
    """Release the server threads that are waiting for work.

    On a busy machine, such a thread may survive, and Python would wait for it forever.
    """
    for thread in threading.enumerate():
        if thread.name == "AnyIO worker thread" and hasattr(thread, "queue"):
            with suppress(queue.Full):  # The thread still has work to finish; it exits afterwards.
                thread.queue.put_nowait(None)


def _replace_unwritable_folders() -> None:
    """Set temporary folders for Jupyter if the home folder is not writable, as in some containers."""
    home = os.path.expanduser("~")
    if os.access(home, os.W_OK):
        return
    temporary_folder = mkdtemp(prefix="minitape-lab-")
    atexit.register(rmtree, temporary_folder, ignore_errors=True)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        environ.setdefault(name, os.path.join(temporary_folder, name.lower()))
    message = (
        "{home} is not writable, so JupyterLab's settings are lost when it stops. To keep the settings, set HOME to "
        "a writable folder."
    )
    echo(say(message, home=home), err=True)


def _build_lab_arguments(
    folder: Path, ip: str, port: int, start_page: str, is_browser_opened: bool, is_verbose: bool
) -> TextList:
    """Build the command line for JupyterLab. With these settings, the server opens no connections to other machines."""
    arguments = [
        f"--ServerApp.root_dir={folder.absolute()}",
        f"--ServerApp.ip={ip}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.open_browser={is_browser_opened}",
        "--ServerApp.answer_yes=True",
        # The user may have disabled the extension for other servers.
        f"--ServerApp.jpserver_extensions={EXTENSION}=True",
        f"--LabApp.default_url={start_page}",
        # The Chinese settings select JupyterLab's language pack, which has no effect if it is not installed.
        f"--LabApp.app_settings_dir={LAB_SETTINGS_FOLDER / detect_language(folder)}",
        "--LabApp.extension_manager=readonly",
    ]
    if _can_encrypt_kernel_messages():
        arguments.append("--KernelManager.transport_encryption=auto")
    if not is_verbose:
        arguments.append(f"--Application.log_level={QUIET_LOG_LEVEL}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    return arguments


def _can_encrypt_kernel_messages() -> bool:
    """Return whether the installed packages can encrypt messages between JupyterLab and its kernels."""
    import zmq
    from jupyter_client.manager import KernelManager

    return KernelManager.class_own_traits().get("transport_encryption") is not None and zmq.has("curve")


def find_free_port(ip: str, chosen_port: OptionalNumber) -> int:
    """Find the port to listen on.

    Args:
        ip: The address to listen on.
        chosen_port: The port that the user chose, or None for the first free port from 8888 upward.

    Returns:
        The port.

    Raises:
        click.ClickException: If `chosen_port` is in use, all ports are in use, or `ip` is not an address of this
            machine.
    """
    candidates = [chosen_port] if chosen_port else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)
    for port in candidates:
        family = socket.AF_INET6 if ":" in ip else socket.AF_INET
        try:
            socket.create_server(("" if ip in ANY_ADDRESS else ip, port), family=family).close()
        except OSError as error:
            problem = (error.strerror or str(error)).partition(" (while")[0]
        else:
            return port
    if chosen_port:
        raise create_failed_action_error(
            "cannot listen on {ip}, port {port}: {problem}. Omit --port to use a free port",
            ip=ip,
            port=chosen_port,
            problem=problem,
        )
    raise create_failed_action_error(
        "cannot listen on {ip} on any port from {first} to {last}: {problem}",
        ip=ip,
        first=FIRST_PORT,
        last=candidates[-1],
        problem=problem,
    )


def can_open_browser() -> bool:
    """Return whether a graphical browser can be opened. Text browsers are ignored."""
    if sys.platform.startswith("linux") and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def _print_address_when_ready(ip: str, port: int, address: str, is_browser_opened: bool, folder: Path) -> None:
    """Print the address once the server responds. If the server fails to start, JupyterLab prints the reason."""
    timer = threading.Event()
    code = detect_language(folder)
    while not _does_server_answer(_to_reachable_host(ip), port):
        timer.wait(0.2)
    print_translated(
        "JupyterLab is ready:" if is_browser_opened else "JupyterLab is ready. Open this address in a browser:", code
    )
    echo(f"\n    {address}\n")
    print_translated("Your work is saved in {folder}. Ctrl-C here stops JupyterLab.", code, folder=folder.absolute())


def _does_server_answer(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/api")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


def _to_reachable_host(ip: str) -> str:
    """Return the host name that a browser on this machine can use to reach a server listening on a given address."""
    host = "127.0.0.1" if ip in ANY_ADDRESS else ip
    return f"[{host}]" if ":" in host else host
