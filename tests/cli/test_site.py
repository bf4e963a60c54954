"""`minitape site`: pages that step without a kernel and without a network."""

from __future__ import annotations

import importlib.util
import warnings

import nbformat
import pytest
from click.testing import CliRunner

from minitape.cli import main
from minitape.cli.page_links import broken
from minitape.cli.skeleton import write_skeleton

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sphinx") is None, reason='no sphinx: pip install -e ".[docs]"'
)


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    """A folder with one lesson."""
    folder = tmp_path_factory.mktemp("lessons")
    write_skeleton(str(folder / "01_a_topic"), None)
    return folder


@pytest.fixture(scope="module")
def site(lessons, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Sphinx warns its extensions of what comes
        patch.setattr("minitape.cli.site.lessons_folder", lambda: lessons)
        out = tmp_path_factory.mktemp("out") / "site"
        for said in ("2 pages", "2 pages"):  # the second one takes the place of the first
            done = CliRunner().invoke(main, ["site", str(out)], catch_exceptions=False)
            assert done.exit_code == 0 and said in done.output, done.output
    return out


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    assert broken(site) == []
    assert '<a class="reference internal" href="notebooks/en/01_a_topic.html' in (site / "index.html").read_text()


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    done = CliRunner().invoke(main, ["site", str(tmp_path)])
    assert done.exit_code == 1 and "holds files that are no site" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_lesson_that_fails_is_named(lessons, tmp_path, monkeypatch):
    cells = [nbformat.v4.new_code_cell("1 / 0")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "bad.ipynb")
    monkeypatch.setattr("minitape.cli.site.lessons_folder", lambda: tmp_path)
    done = CliRunner().invoke(main, ["site", str(tmp_path / "out")])
    assert done.exit_code == 1 and f"{tmp_path / 'bad.ipynb'} could not be run" in done.output


@pytest.mark.browser
def test_a_picture_steps_in_the_page(site, page):
    page.route(
        "**/*",
        lambda route: route.continue_() if route.request.url.startswith(("file:", "data:", "blob:")) else route.abort(),
    )
    page.goto((site / "notebooks" / "en" / "01_a_topic.html").as_uri())
    page.locator("iframe.tapeview").first.scroll_into_view_if_needed()  # it is loaded when it comes into sight
    view = page.frame_locator("iframe.tapeview").first
    view.locator(".mt-node").first.wait_for(timeout=30_000)
    view.locator(".mt-view").click()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    view.locator(".mt-node.mt-current").wait_for()
