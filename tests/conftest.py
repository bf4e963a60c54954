"""Define fixtures for several test folders, such as a browser and a running `minitape lab`."""

import functools
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import end_processes

# These scripts contain no tests.
collect_ignore_glob = ["repository/make_*.py", "oracle/make_*.py"]
if importlib.util.find_spec("minitape.speed") is None:  # All other tests also pass without the accelerators.
    collect_ignore_glob += ["speed/*", "repository/test_layers.py", "cli/test_warmup.py"]

PATIENCE = 300_000
"""Milliseconds to wait for a page, long enough for a busy machine."""
REPOSITORY = Path(__file__).parents[1]
# Start the longest files first. Only short files are then left at the end, so all workers finish together.
LONGEST_FILES = """
widgets/test_modes.py widgets/test_jupyterlab.py notebooks/test_lessons.py cli/test_check.py oracle/test_oracle.py
cli/test_lesson_in_browser.py course/test_translation.py widgets/test_page.py cli/test_wheel.py
widgets/test_type.py course/test_unlisted_answers.py course/test_sentences.py
course/test_report.py cli/test_save.py course/test_exercise_programs.py widgets/test_contrast.py
speed/test_compiled_cache.py widgets/test_phone.py explain/test_programs.py
widgets/test_long.py speed/test_kernels.py benchmarks/test_benchmarks.py
""".split()
REQUIRE_PREFIX = "MINITAPE_REQUIRE_"
"""The prefix of the environment variables that promise the requirements of a marker."""
PROMISE_VARIABLES = {
    "browser": f"{REQUIRE_PREFIX}BROWSER",
    "classroom": f"{REQUIRE_PREFIX}CLASS",
    "lite": f"{REQUIRE_PREFIX}LITE",
}
# Prefer the headless shell, because it needs only two thirds of the time.
CHROMIUM_NAMES = "chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable chrome".split()
ADDRESS = re.compile(r"http://\S+token=\S+")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option that sets the number of learners in tests/cli/test_hub.py."""
    parser.addoption("--learners", type=int, default=2, help="learners on the hub of tests/cli/test_hub.py (2 or more)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the longest files to the front, without changing the order of all other tests."""
    position_by_file = {Path(__file__).parent / name: position for position, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: position_by_file.get(item.path, len(LONGEST_FILES)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Turn a skipped test into a failure if the environment promises its requirements (as `.ci/run` and CI do)."""
    report = yield
    needed_variables = [variable for marker, variable in PROMISE_VARIABLES.items() if item.get_closest_marker(marker)]
    if report.skipped and needed_variables and all(map(os.environ.get, needed_variables)):
        report.outcome = "failed"
        report.longrepr = f"skipped, though {' and '.join(needed_variables)} promised what it needs: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the folder that contains pyproject.toml."""
    return REPOSITORY


@pytest.fixture
def nothing_has_left_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the escapes of earlier programs, because explanations search the escaped values."""
    _clear_escapes(monkeypatch)


@pytest.fixture(scope="module", autouse=True)
def _nothing_left_in_other_files() -> Iterator[None]:
    """Forget the escapes of other test files, because workers run the files in any order."""
    with pytest.MonkeyPatch.context() as patch:
        _clear_escapes(patch)
        yield


def _clear_escapes(patch: pytest.MonkeyPatch) -> None:
    from minitape.engine.record import provenance
    from minitape.engine.record.thread_state import state

    fresh = provenance.EscapeLog()
    patch.setattr(state.memory, "escapes", fresh)
    patch.setattr(provenance, "THREAD_ESCAPE_LOGS", deque([fresh], maxlen=16))


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of the system's Chromium, or skip the test if Chromium is not installed."""
    for name in CHROMIUM_NAMES:
        if path := shutil.which(name):
            return path
    pytest.skip(f"no Chromium on PATH (looked for {', '.join(CHROMIUM_NAMES)}); on Debian: apt-get install chromium")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator:
    """Yield the system's Chromium, controlled by Playwright."""
    from playwright.sync_api import Page, expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    # A single process renders all pages, so scripts are compiled only once.
    arguments = ["--renderer-process-limit=1"]
    arguments += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments += ["--no-sandbox"]
    # Poll conditions at intervals. Polling before each frame would make the browser draw frames.
    wait_for_function = functools.partialmethod(Page.wait_for_function, polling=50)
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Page, "wait_for_function", wait_for_function)
        instance = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield instance
        instance.close()


def open_guarded_context(browser, bypass_csp=True, served=True):
    """Open a browser context that can reach only this machine.

    A page's content security policy would block the code that tests evaluate in the page, so the policy is disabled by
    default.

    Args:
        browser: The browser.
        bypass_csp: Whether to ignore the content security policy of pages.
        served: Whether a server sends the pages. The browser caches their files for the next page. Pages without a
            server cannot read files.

    Returns:
        The context, and a list that collects the URLs of forbidden requests.
    """
    size = {"width": 1400, "height": 900}
    # With animations, nodes could leave the pane while a test reads them.
    context = browser.new_context(viewport=size, bypass_csp=bypass_csp, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    blocked_urls: list[str] = []

    def note_request(request):
        is_allowed = re.match(
            r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|data:|blob:|about:|attachment:", request.url
        )
        if not is_allowed:
            blocked_urls.append(request.url)
        return not is_allowed

    if served:  # Resolver rules block other machines. A route would also disable the browser's cache.
        context.on("request", note_request)
    else:
        context.route("**/*", lambda route: route.abort() if note_request(route.request) else route.continue_())
    return context, blocked_urls


@pytest.fixture(scope="session")
def _served(browser):
    """Yield the context for all pages from servers, so that JupyterLab is loaded and compiled only once."""
    yield from _yield_context(browser)


@pytest.fixture(scope="session")
def _without_server(browser):
    """Yield the context for all pages without a server.

    These pages store nothing that other pages could see, and creating a new context would take longer.
    """
    yield from _yield_context(browser, served=False)


def _yield_context(browser, **options):
    context, blocked_urls = open_guarded_context(browser, **options)
    context.new_page()  # This page keeps the context open.
    yield context, blocked_urls
    context.close()


@pytest.fixture
def page(browser, request) -> Iterator:
    """Yield a fresh page that can reach only this machine. Any other request fails the test.

    Cookies and storage belong to a server's address, so a test that needs empty storage must start its own server.
    """
    yield from yield_fresh_page(request)


def yield_fresh_page(request) -> Iterator:
    """Yield the page of the fixture `page`, so that another fixture can override `page`."""
    name = "_served" if "start_lab" in request.fixturenames else "_without_server"
    context, blocked_urls = request.getfixturevalue(name)
    new = context.new_page()
    yield new
    new.close()
    escaped_urls, blocked_urls[:] = blocked_urls[:], []
    assert not escaped_urls, f"requests left the machine: {escaped_urls}"


@pytest.fixture
def page_with_policy(browser) -> Iterator:
    """Yield a fresh page whose content security policy is enforced."""
    context, blocked_urls = open_guarded_context(browser, bypass_csp=False, served=False)
    yield context.new_page()
    context.close()
    assert not blocked_urls, f"requests left the machine: {blocked_urls}"


@pytest.fixture(scope="module")
def new_page(_served) -> Iterator[Callable]:
    """Yield a function that opens a page for several tests in a file.

    A server sends the page. The tests must leave no traces that other tests could see.
    """
    context, blocked_urls = _served
    pages: list = []
    yield lambda: pages.append(context.new_page()) or pages[-1]
    for opened in pages:
        opened.close()
    escaped_urls, blocked_urls[:] = blocked_urls[:], []
    assert not escaped_urls, f"requests left the machine: {escaped_urls}"


@pytest.fixture(scope="module")
def start_lab() -> Iterator[Callable[..., str]]:
    """Yield a function that starts `minitape lab FOLDER` and returns the address that it prints.

    All servers and their kernels are terminated after the last test in the file.
    """
    servers: list[subprocess.Popen[str]] = []
    readers: list[threading.Thread] = []

    def start_server(folder: Path, *options: str) -> str:
        # Another process can take the free port before the server listens on it, so several ports are tried.
        for _ in range(5):
            with socket.create_server(("127.0.0.1", 0)) as probe:
                port = probe.getsockname()[1]
            address, output = start_server_on(port, folder, *options)
            if address or "in use" not in output:
                break
        assert address, f"minitape lab printed no address:\n{output}"
        return address

    def start_server_on(port: int, folder: Path, *options: str) -> tuple[str | None, str]:
        command = [sys.executable, "-m", "minitape", "lab", str(folder), "--no-browser", f"--port={port}", *options]
        workspaces = tempfile.mkdtemp()  # A fresh workspace does not reopen notebooks from other sessions.
        environment = {**os.environ, "COLUMNS": "500", "NO_COLOR": "1", "JUPYTERLAB_WORKSPACES_DIR": workspaces}
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        servers.append(server)
        assert server.stdout is not None
        lines = []
        for line in server.stdout:
            lines.append(line)
            if address := ADDRESS.search(line):
                # Read the output to the end, because a full pipe would block the server.
                readers.append(threading.Thread(target=server.stdout.read))
                readers[-1].start()
                return address.group(), "".join(lines)
        return None, "".join(lines)

    yield start_server
    end_processes(*servers)
    for reader in readers:
        reader.join()
    for server in servers:
        server.stdout.close()


@pytest.fixture(scope="module")
def lab(start_lab, tmp_path_factory) -> str:
    """Return the URL, including the token, of a `minitape lab` server in a fresh folder with all lessons."""
    return start_lab(tmp_path_factory.mktemp("lessons"))
