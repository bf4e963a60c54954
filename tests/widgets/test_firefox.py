"""`<mini-tape>` in Firefox, at the width of a desktop and of a phone."""

import json
import shutil

import pytest

from tests.explorable_programs import list_differences, run_in_minitape, write_programs

from .test_explorable import SCRIPT, SNAPSHOTS

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
pytestmark = pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed")

ARTICLE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<p>An article. The slope is <mini-tape-value for="a" of="dy/dx"></mini-tape-value>.</p>
<mini-tape id="a" step="back:2" at="x=3">y = x * sin(x)</mini-tape>
<script src="minitape.js"></script>"""
SHOWN = """new Promise(requestAnimationFrame).then(() => {
    const one = document.querySelector("mini-tape"), nodes = [...one.shadowRoot.querySelectorAll(".mt-node .mt-box")];
    const frame = one.getBoundingClientRect(), boxes = nodes.map((node) => node.getBoundingClientRect());
    return { slope: one.number("dy/dx"), said: document.querySelector("mini-tape-value").textContent,
        nodes: nodes.length, scrolls: document.documentElement.scrollWidth > innerWidth,
        outside: boxes.filter(({ left, right }) => left < frame.left || right > frame.right).length };
})"""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    """A running Firefox."""
    from .firefox import Firefox

    browser = Firefox(FIREFOX, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def article(tmp_path_factory):
    """The file of an article with a program."""
    folder = tmp_path_factory.mktemp("article")
    shutil.copy(SCRIPT, folder / "minitape.js")
    (folder / "article.html").write_text(ARTICLE, encoding="utf-8")
    return folder / "article.html"


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_an_article_shows_the_program_and_follows_what_one_types(firefox, article, width, height):
    firefox.open_page(article, width, height)
    expected = {"slope": "-2.8288574", "said": "-2.829", "nodes": 3, "scrolls": False, "outside": 0}
    assert firefox.evaluate(SHOWN) == expected
    firefox.evaluate("document.querySelector('mini-tape').shadowRoot.querySelector('textarea').focus() ?? 0")
    firefox.type_text("\ue010 + x ** 2")  # End, and what follows
    typed = firefox.evaluate(SHOWN)
    assert (typed["slope"], typed["nodes"], typed["scrolls"], typed["outside"]) == ("3.1711426", 6, False, 0)


def test_random_programs_give_the_numbers_of_minitape(firefox, article, request):
    firefox.open_page(article, 1280, 900)
    programs = [(program, {}) for program in write_programs(11, 500 if request.config.getoption("--long") else 40)]
    found = firefox.evaluate(f"({SNAPSHOTS})({json.dumps(programs)})")
    differences = [
        list_differences(snapshot, run_in_minitape(program, at))
        for (program, at), snapshot in zip(programs, found, strict=True)
    ]
    assert [one for one in differences if one] == []
