"""Without JupyterLab: the view in ipywidgets' own manager for HTML pages, on which VS Code, Colab and others stand."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ipywidgets.embed import embed_data

import minitape as tf
from minitape_widgets import TapeView

from .conftest import type_keys

PACKAGES = {"@jupyter-widgets/html-manager@1.0.14": "dist/embed-amd.js", "requirejs@2.3.7": "require.js"}
PAGE = """<!doctype html>
<body>
<script src="{loader}"></script>
<script>require.config({{ paths: {{ anywidget: "{anywidget}" }} }})</script>
<script src="{manager}"></script>
<script type="application/vnd.jupyter.widget-state+json">{state}</script>
<script type="application/vnd.jupyter.widget-view+json">{view}</script>
</body>
"""


@pytest.fixture(scope="module")
def manager(tmp_path_factory):
    """The addresses of the manager's program, and of the one that loads its parts."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm, which has ipywidgets' manager for HTML pages")
    files = []
    for package, file in PACKAGES.items():
        folder = tmp_path_factory.mktemp("npm")
        if subprocess.run([npm, "pack", "--silent", package], cwd=folder, capture_output=True, timeout=600).returncode:
            pytest.skip(f"npm cannot fetch {package}")
        [archive] = folder.glob("*.tgz")
        shutil.unpack_archive(archive, folder)
        files.append((folder / "package" / file).as_uri())
    return files


@pytest.mark.long
@pytest.mark.browser
def test_a_view_steps_in_ipywidgets_own_manager(manager, page, tmp_path):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * tf.sin(x)
    tape.gradient(y, x)
    data = embed_data(views=[TapeView(tape)], drop_defaults=False)
    state, view = (json.dumps(part).replace("<", "\\u003c") for part in (data["manager_state"], data["view_specs"][0]))
    anywidget = Path(sys.prefix, "share", "jupyter", "nbextensions", "anywidget", "index").as_uri()
    (tmp_path / "page.html").write_text(
        PAGE.format(manager=manager[0], loader=manager[1], anywidget=anywidget, state=state, view=view)
    )
    page.route("file:**", lambda route: route.continue_())
    page.goto((tmp_path / "page.html").as_uri())
    page.locator(".mt-node").first.wait_for(timeout=300_000)
    page.locator(".mt-view").focus()
    type_keys(page, "End")
    assert page.locator(".mt-node").count() == 3
    assert "-2.8288574" in page.locator(".mt-node").first.text_content()
