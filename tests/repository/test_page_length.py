"""Each page has one job: it is short, and shows an example before a reader has to scroll."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("docs", "docs/questions", "deploy", "deploy/jupyterhub")
    for path in (ROOT / folder).glob("*.md")
)
MOST_WORDS = 1200
FIRST_SCREEN = 120  # The number of words.
# Lists in which readers look something up, and the source of the pages about causes.
LISTS = {"docs/causes.md", "docs/snapshot.md", "docs/vocabulary.md", "docs/cause_texts.md"}
CODE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^(?: *```|\||!\[|<|- |\d\. )", re.MULTILINE)
CHINESE_CHARACTER = re.compile(r"([\u4e00-\u9fff])")


def count_words(text):
    """Return the number of words. Two Chinese characters count as one word."""
    return len(CHINESE_CHARACTER.sub(" ", text).split()) + len(CHINESE_CHARACTER.findall(text)) // 2


@pytest.mark.parametrize("page", [page for page in PAGES if page.replace(".zh.md", ".md") not in LISTS])
def test_a_page_is_short(page):
    assert count_words(CODE.sub("", (ROOT / page).read_text(encoding="utf-8"))) <= MOST_WORDS


@pytest.mark.parametrize("page", [page for page in PAGES if page != "docs/cause_texts.md"])
def test_the_first_screen_has_an_example(page):
    """The example is a program, a table, a picture or a list."""
    body = (ROOT / page).read_text(encoding="utf-8").partition("\n")[2]
    example = EXAMPLE.search(body)
    assert example, page
    assert count_words(body[: example.start()]) <= FIRST_SCREEN
