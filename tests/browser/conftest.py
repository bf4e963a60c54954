"""Define fixtures for a site, and for a browser that can reach only this site."""

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
    """Serves the site. Files that match ``missing`` fail as ``failure_mode`` specifies.

    A file can be missing ("gone"), delayed until the event ``late`` is set ("late"), or cut off by a closed connection
    (""). Playwright's routes cannot simulate this, because they do not intercept requests that workers send through the
    service worker.
    """

    missing, failure_mode, late = (), "", threading.Event()

    def send_head(self):
        """Send the headers of a file, unless the file is missing."""
        name = self.path.rpartition("/")[2].partition("?")[0]
        if not any(fnmatch(name, pattern) for pattern in self.missing):
            return super().send_head()
        if self.failure_mode == "gone":
            return self.send_error(404)
        if self.failure_mode == "late":
            self.late.wait()
        self.close_connection = True  # Close the connection without a response.
        return None

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Yield the URL of a site that is built for this test run."""
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
    """Yield a function that makes files of the site fail in one of three ways. ``missing()`` restores them."""

    def remove_files(*names, way=""):
        _Server.missing, _Server.failure_mode = names, way
        if way == "late":
            _Server.late.clear()
        else:
            _Server.late.set()

    yield remove_files
    remove_files()


def _yield_window_bound_to_site(browser, site):
    """Yield a browser window with its own storage. A request to another site fails the test."""
    context_window, escaped_urls = browser.new_context(viewport={"width": 1400, "height": 900}), []
    context_window.set_default_timeout(300_000)  # milliseconds

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
    """Yield one window for all tests of a file."""
    yield from _yield_window_bound_to_site(browser, site)


@pytest.fixture
def fresh(browser, site):
    """Yield a window for a single test, because JupyterLab reopens the notebooks of the last session."""
    yield from _yield_window_bound_to_site(browser, site)
