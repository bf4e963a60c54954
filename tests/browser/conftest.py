"""The site that the tests of this folder open, and a browser that reaches nothing else."""

import functools
import importlib.util
import shutil
import subprocess
import sys
import threading
from fnmatch import fnmatch
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from .make_pyodide import build_pyodide


class _Server(SimpleHTTPRequestHandler):
    """Serves the site; files that are ``missing`` are ``refused``, ``gone`` or ``late``, that is, not before the event.

    A route of the browser's would not see what workers ask for through the page's service worker.
    """

    missing, failure_mode, late = (), "", threading.Event()

    def send_head(self):
        name = self.path.rpartition("/")[2].partition("?")[0]
        if not any(fnmatch(name, pattern) for pattern in self.missing):
            return super().send_head()
        if self.failure_mode == "gone":
            return self.send_error(404)
        if self.failure_mode == "late":
            self.late.wait()
        self.close_connection = True  # without a word
        return None

    def log_message(self, *_):
        """Nothing is said of requests."""


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The address of a site that was made for this run."""
    if importlib.util.find_spec("jupyterlite_pyodide_kernel") is None:
        pytest.skip('no JupyterLite: pip install -e ".[lite]"')
    if shutil.which("npm") is None:
        pytest.skip("no npm, from which the browser's NumPy comes")
    scratch = tmp_path_factory.mktemp("lite")
    try:
        pyodide = build_pyodide(scratch)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"npm or PyPI cannot be reached: {error.stderr[-300:]!r}")
    command = [sys.executable, "-m", "minitape", "site", str(scratch / "site"), "--lite", "--offline"]
    command += ["--pyodide", str(pyodide), "--language", "en", "--language", "zh"]
    subprocess.run(command, check=True, timeout=300)
    handler = functools.partial(_Server, directory=str(scratch / "site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def missing():
    """Takes files from the site, in one of three ways; ``missing()`` gives them back."""

    def remove_files(*names, way=""):
        _Server.missing, _Server.failure_mode = names, way
        _Server.late.set() if way != "late" else _Server.late.clear()

    yield remove_files
    remove_files()


def _yield_window_bound_to_site(browser, site):
    """A browser's window with a storage of its own; nothing may leave the site."""
    context_window, escaped_urls = browser.new_context(viewport={"width": 1400, "height": 900}), []
    context_window.set_default_timeout(300_000)  # milliseconds, on a busy machine

    def block_foreign_request(route):
        if route.request.url.startswith((site, "data:", "blob:")):
            route.continue_()
        else:
            escaped_urls.append(route.request.url)
            route.abort()

    context_window.route("**/*", block_foreign_request)
    yield context_window
    context_window.close()
    assert not escaped_urls, escaped_urls


@pytest.fixture(scope="module")
def context(browser, site):
    """The same window for all tests of a file."""
    yield from _yield_window_bound_to_site(browser, site)


@pytest.fixture
def fresh(browser, site):
    """A window for one test: JupyterLab opens what was open in the one before."""
    yield from _yield_window_bound_to_site(browser, site)
