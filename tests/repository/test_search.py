"""The search of the documentation finds the page that answers a question, in the words that people type.

The site's own search runs in a browser, on the pages that `docs/build.py` gives it. Sphinx's part is a list of the
words of each page, which is made here from the same texts, because building the whole site takes minutes.
"""

import json
import re
from pathlib import Path

import pytest

from minitape.cli.site import Edition, build_html_pages, get_extra_folder

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS_FILE = Path(__file__).with_name("search_questions.txt")
RANK_PAGES = """([question]) => {
  window.readQuery = () => question;
  const scored = findPages(new Set(), new Set()).map((result) => [result[0], Scorer.score(result)]);
  return scored.sort((one, other) => other[1] - one[1]).slice(0, 5).map(([page]) => page);
}"""
SET_PAGES = """([pages, fields]) => {
  const terms = Object.create(null);
  const docnames = Object.keys(pages);
  docnames.forEach((name, file) => {
    for (const stem of new Set(listStems(pages[name], HAN.test(pages[name])))) (terms[stem] ??= []).push(file);
  });
  const titles = docnames.map((name) => fields[name]?.title ?? "");
  window.searchFields = fields;
  Search._index = { docnames, filenames: docnames, titles, terms, titleterms: {} };
}"""


@pytest.fixture(scope="module")
def search_site(tmp_path_factory, build):
    """Return a site with one page in each language, which has the page of the search."""
    scratch = tmp_path_factory.mktemp("search")
    editions = [
        Edition(ROOT / "notebooks" / code, {"index.md": "# minitape\n"}, root)
        for code, root in (("en", ""), ("zh", "zh/"))
    ]
    for edition in editions:
        get_extra_folder(scratch, edition).mkdir(parents=True)
    assert build_html_pages(editions, scratch, scratch / "html")
    return scratch / "html"


@pytest.fixture
def ask(build, search_site, page):
    """Return a function that opens the search in a language and returns a function for asking."""
    page.route("file:///**", lambda route: route.continue_())

    def open_search(language):
        fields = build.find_fields_by_page(language)
        suffix = ".md" if language == "en" else f".{language}.md"
        pages = {
            "index" if page == "README.md" else page.removesuffix(".md"): build.read_page(page, language)
            for page in [*build.PAGES, *build.QUESTION_PAGES, *build.CAUSE_PAGES]
            if (ROOT / page).with_suffix(suffix).exists()
        }
        folder = search_site if language == "en" else search_site / language
        page.goto((folder / "search.html").as_uri())
        page.wait_for_function("Search.hasIndex()")
        page.evaluate(SET_PAGES, [pages, fields])
        return lambda question: page.evaluate(RANK_PAGES, [question])

    return open_search


def read_questions(language):
    """Return (question, right pages) for each question in a language."""
    rows = [line.split(" | ") for line in QUESTIONS_FILE.read_text(encoding="utf-8").splitlines() if " | " in line]
    return [(question, right.split()) for code, question, right in rows if code == language]


@pytest.mark.long(sample=2)
@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nine_of_ten_questions_find_the_page_that_answers_them(ask, language):
    find = ask(language)
    questions = read_questions(language)
    lost = [
        (question, found[:2])
        for question, right in questions
        if (found := find(question))[0].removeprefix("../") not in right
    ]
    assert len(questions) >= 250
    assert 10 * len(lost) <= len(questions), "\n".join(map(str, lost))


@pytest.mark.browser
@pytest.mark.parametrize(
    ("language", "questions"),
    [
        ("en", ["install", "how to install", "pip install minitape", "download"]),
        ("zh", ["安装", "怎么安装", "pip install minitape", "下载"]),
    ],
)
def test_the_front_page_says_how_to_install(ask, language, questions):
    find = ask(language)
    assert {question: find(question)[0] for question in questions} == dict.fromkeys(questions, "index")


@pytest.mark.browser
def test_the_chinese_search_finds_a_page_that_exists_in_english_only(ask):
    assert ask("zh")("怎么把图嵌到自己的博客网页里")[0] == "../docs/explorables"


@pytest.mark.long(sample=2)
@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_text_of_an_error_finds_a_page_that_lists_it(ask, language):
    find = ask(language)
    causes_by_error = json.loads((ROOT / "docs" / "causes" / "errors.json").read_text(encoding="utf-8"))
    lost = {}
    for error, causes in causes_by_error.items():
        right = {f"docs/causes/{cause}" for cause in causes}
        found = find(error)
        text = (ROOT / f"{found[0]}.md").read_text(encoding="utf-8")
        if found[0] not in right and error.lower() not in text.lower():
            lost[error] = found[0]
    assert lost == {}


@pytest.mark.long(sample=2)
@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_question_finds_its_own_page_even_with_a_typo(ask, build, language):
    find = ask(language)
    for name in build.QUESTION_PAGES:
        title = build.search_fields.find_fields(build.read_page(name, language))["title"]
        assert find(title)[0] == name.removesuffix(".md"), title
        long_words = re.findall("[a-z]{7,}", title)
        if not long_words:
            continue
        word = max(long_words, key=len)
        misspelled = title.replace(word, f"{word[:3]}{word[4]}{word[3]}{word[5:]}")
        assert name.removesuffix(".md") in find(misspelled)[:2], misspelled
