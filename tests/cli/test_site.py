"""The pages of `minitape site` show interactive pictures without a kernel and without a network."""

import importlib.util
import re
import runpy
import shutil
import warnings

import nbformat
import pytest
from click.testing import CliRunner

from minitape.cli import main
from minitape.cli.course_map import format_lessons_with_goals
from minitape.cli.lesson_files import find_lessons_folder
from minitape.cli.lesson_pages import build_page_translator
from minitape.cli.new_lesson import write_lesson_skeleton
from minitape.cli.run_places import RunPlaces, iter_run_links
from minitape.cli.save import run_and_save_notebook

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sphinx") is None, reason='no sphinx: pip install -e ".[docs]"'
)


MOVING = """\
from minitape.course import Moving, Plot
Moving("shift", [0.0, 1.0], lambda s: Plot(f"a line at {s}", x=(0, 1), y=(0, 2)).curve(lambda x: s if x > 0 else s))"""


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    """Return a folder with one lesson: the skeleton, a picture file, and hidden code that draws an animation."""
    folder = tmp_path_factory.mktemp("lessons") / "en"
    folder.mkdir()
    path = write_lesson_skeleton(str(folder / "01_a_topic"), None)
    (folder / "dot.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="4"/></svg>'
    )
    notebook = nbformat.read(path, as_version=4)
    notebook.cells += [
        nbformat.v4.new_markdown_cell("![a dot](dot.svg)"),
        nbformat.v4.new_code_cell(MOVING, metadata={"jupyter": {"source_hidden": True}}),
    ]
    nbformat.write(notebook, path)
    run_and_save_notebook(path, 60)
    return folder


@pytest.fixture(scope="module")
def site(lessons, tmp_path_factory):
    """Return a site with the lessons in two languages. The Chinese lesson has a different title."""
    chinese = shutil.copytree(lessons, tmp_path_factory.mktemp("chinese") / "zh")
    notebook = nbformat.read(chinese / "01_a_topic.ipynb", as_version=4)
    notebook.metadata["language"] = "zh"
    notebook.cells[
        0
    ].source = (
        "# 1. 一个题目\n\n学完这一课，你能：\n\n- 读懂[英文的一课](../en/01_a_topic.ipynb)。\n\n这一课大约 20 分钟。"
    )
    nbformat.write(notebook, chinese / "01_a_topic.ipynb")
    run_and_save_notebook(chinese / "01_a_topic.ipynb", 60)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Sphinx warns its extensions of future changes.
        patch.setattr(
            "minitape.cli.site.find_lessons_folder", lambda code, *named: {"en": lessons, "zh": chinese}[code]
        )
        out = tmp_path_factory.mktemp("out") / "site"
        own = shutil.copytree(lessons, tmp_path_factory.mktemp("own") / "mine")
        # The second site replaces the first one.
        hub = ["--hub", "https://hub.example.org"]
        for named, count in ([str(own)], 2), ([*hub, "--language", "en", "--language", "zh"], 4):
            done = CliRunner().invoke(main, ["site", str(out), *named], catch_exceptions=False)
            assert done.exit_code == 0 and f"{count} pages" in done.output, done.output
            front = (out / "index.html").read_text(encoding="utf-8")
            assert ("The minitape authors" in front) == ('class="brand">minitape' in front) == (count == 4)
            assert (out / "lessons" / "01_a_topic.html").exists() == (count == 2)
    return out


def test_each_page_says_its_language_and_links_to_its_twin(site):
    english, chinese = (
        (site / path).read_text(encoding="utf-8")
        for path in ("notebooks/en/01_a_topic.html", "zh/notebooks/zh/01_a_topic.html")
    )
    assert '<html class="no-js" lang="en"' in english and '<html class="no-js" lang="zh-CN"' in chinese
    assert '<a href="../../zh/notebooks/zh/01_a_topic.html" hreflang="zh">中文</a>' in english
    assert '<a href="../../../notebooks/en/01_a_topic.html" hreflang="en">English</a>' in chinese
    # A link in a text leads there as well.
    assert '<a href="../../../notebooks/en/01_a_topic.html" hreflang="en">英文的一课</a>' in chinese
    hub = "https://hub.example.org/hub/user-redirect/lab/tree/minitape-lessons/01_a_topic.ipynb"
    assert f'<a class="run" href="{hub}">Open in JupyterHub</a>' in english and f'href="{hub}"' in chinese
    assert (
        'data-label="Exercise: replace the ... with your answer"' in english
        and 'data-label="练习：把 ... 换成你的答案"' in chinese
    )
    assert '<a href="zh/index.html" hreflang="zh">中文</a>' in (site / "index.html").read_text(encoding="utf-8")
    index = re.sub("<[^>]*>", "", (site / "zh" / "index.html").read_text(encoding="utf-8"))
    assert "minitape lab --language zh" in index and "· 20 分钟" in index and "读懂英文的一课" in index


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site, repository):
    broken = runpy.run_path(str(repository / "docs" / "site" / "page_links.py"))["list_link_problems"]
    assert broken(site) == []
    assert '<a class="reference internal" href="notebooks/en/01_a_topic.html' in (site / "index.html").read_text()


@pytest.mark.parametrize(
    ("folder", "beside", "minutes"),
    [
        (find_lessons_folder("en"), "In addition to the lessons", " minutes\\\n  "),
        (find_lessons_folder("zh"), "课程之外", " 分钟\\\n  "),
    ],
    ids=["en", "zh"],
)
def test_the_list_says_of_each_lesson_how_long_it_takes_and_what_is_learnt(folder, beside, minutes):
    rows = format_lessons_with_goals(folder, "{name}.md").partition(f"\n\n{beside}")[0].removeprefix("- ").split("\n- ")
    assert len(rows) == 15
    assert [row for row in rows if minutes not in row] == []


ANSWERS = ("expect=", "Mistake(8.0", "answer = 4.0", "then put x = 2 in")


def test_no_file_of_the_site_holds_an_answer(site, lessons):
    notebook = (lessons / "01_a_topic.ipynb").read_text()
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".js", ".txt", ".md", ".ipynb"}]
    for answer in ANSWERS:
        assert answer in notebook
        assert [path for path in files if answer in path.read_text(encoding="utf-8")] == []


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    done = CliRunner().invoke(main, ["site", str(tmp_path)])
    assert done.exit_code == 1 and "contains files that do not belong to a site" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_lesson_that_fails_is_named(lessons, tmp_path, monkeypatch):
    cells = [nbformat.v4.new_code_cell("1 / 0")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "bad.ipynb")
    monkeypatch.setattr("minitape.cli.site.find_lessons_folder", lambda *arguments: tmp_path)
    done = CliRunner().invoke(main, ["site", str(tmp_path / "out")])
    assert (
        done.exit_code == 1
        and f"{tmp_path / 'bad.ipynb'} could not be run: cell" in done.output
        and "ZeroDivisionError" in done.output
    )


def allow_only_files(page):
    """Block all requests except for files."""
    page.route(
        "**/*",
        lambda route: route.continue_() if route.request.url.startswith(("file:", "data:", "blob:")) else route.abort(),
    )


def open_lesson(page, site):
    allow_only_files(page)
    page.goto((site / "notebooks" / "en" / "01_a_topic.html").as_uri())


@pytest.mark.browser
def test_a_search_finds_a_page_that_lacks_a_word_of_the_question(site, page):
    allow_only_files(page)
    for folder, question in (("", "predict topic xylophone"), ("zh", "怎么做一个题目的木琴")):
        page.goto(f"{(site / folder / 'search.html').as_uri()}?q={question}")
        found = page.locator("#search-results li > a").first
        assert "01_a_topic.html" in found.get_attribute("href")


@pytest.mark.browser
def test_pictures_step_and_move_in_the_page_and_folded_code_stays_folded(site, page):
    open_lesson(page, site)
    page.locator("iframe.tapeview").first.scroll_into_view_if_needed()  # Frames are loaded when they become visible.
    view = page.frame_locator("iframe.tapeview").first
    view.locator(".mt-node").first.wait_for(timeout=300_000)
    view.locator(".mt-view").click()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    view.locator(".mt-node.mt-current").wait_for()
    page.locator("iframe.tapeview").last.scroll_into_view_if_needed()
    moving = page.frame_locator("iframe.tapeview").last
    moving.get_by_role("slider", name="shift").fill("1")
    assert moving.get_by_role("img").get_attribute("alt") == "a line at 1.0"
    assert page.get_by_role("img", name="a dot").evaluate("image => image.naturalWidth") == 9
    folded = page.locator("details.code .highlight")
    assert not folded.is_visible()
    page.get_by_text("···").click()
    assert folded.is_visible()


@pytest.mark.browser
def test_a_prediction_is_made_on_the_page_and_the_theme_is_switched(site, page):
    open_lesson(page, site)
    question = page.locator(".predict")
    asked = "Predict: The tape records y = x * x at x = 2. What is the gradient of y?"
    assert question.locator("p").inner_text() == asked
    printed, reason = page.locator("pre.output", has_text="tf.Tensor(4.0"), page.locator(".output details p").last
    assert not printed.is_visible() and not reason.is_visible()
    question.get_by_role("button", name="8.0").click()
    assert question.locator("[aria-pressed=true]").inner_text() == "8.0"
    printed.wait_for()
    reason.wait_for()
    beliefs = page.locator(".output details li").locator("visible=true")
    assert beliefs.all_inner_texts() == ["8.0: 8.0 is x * x * x."]
    page.locator("iframe.tapeview").first.scroll_into_view_if_needed()
    view = page.frame_locator("iframe.tapeview").first
    view.locator("html[data-theme=light]").wait_for(state="attached", timeout=300_000)
    page.evaluate("document.body.dataset.theme = 'dark'")  # The theme switch does the same.
    view.locator("html[data-theme=dark] .mt-view.mt-dark").wait_for()
    page.locator(".theme-toggle").locator("visible=true").first.wait_for()


@pytest.mark.parametrize(
    ("places", "addresses"),
    [
        (RunPlaces(), []),
        (
            RunPlaces(python_url="../run", is_in_lite=True),
            ["../run/lab/index.html?path=zh/01_the_first_tape.ipynb"],
        ),
        (
            RunPlaces(hub_url="https://hub.example.org/a/?b=\"><script>", hub_folder="my lessons"),
            ["https://hub.example.org/a/?b=&quot;&gt;&lt;script&gt;/hub/user-redirect/lab/tree/my%20lessons/01_the_first_tape.ipynb"],
        ),
        (
            RunPlaces(repository_url="https://github.com/someone/minitape.git"),
            ["https://colab.research.google.com/github/someone/minitape/blob/main/notebooks/zh/01_the_first_tape.ipynb"],
        ),
        (RunPlaces(repository_url="https://codeberg.org/someone/minitape"), []),
    ],
    ids=["nowhere", "lite", "hub", "colab", "not on GitHub"],
)  # fmt: skip
def test_a_page_links_to_each_place_that_has_an_address(places, addresses):
    lesson = find_lessons_folder("zh") / "01_the_first_tape.ipynb"
    text = "\n\n".join(iter_run_links(lesson, places, build_page_translator(lesson.parent)))
    assert re.findall(r'href="([^"]*)"', text) == addresses
    assert bool(text) == (bool(addresses))
