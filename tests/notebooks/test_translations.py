"""Lessons in another language say what the English ones say: same cells, same code, texts made from the present
English, nothing left in English.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from html import unescape
from pathlib import Path
from string import Formatter

import nbformat
import pytest

from minitape.cli.lessons import lessons_folder, notebooks_in
from minitape.cli.rules import outputs_text
from minitape.common.texts import table
from minitape.course.translation import keep_in_step, mark, tables, translated

ENGLISH = lessons_folder()
LANGUAGES = [folder for folder in sorted(ENGLISH.parent.iterdir()) if folder != ENGLISH and any(folder.glob("*.ipynb"))]
PAIRS = [(path, language / path.name) for language in LANGUAGES for path in notebooks_in(ENGLISH)]


@cache
def cells(path):
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair[1].parent.name}-{pair[1].stem}")
def pair(request) -> tuple[Path, Path]:
    """A notebook and its translation."""
    return request.param


def test_there_is_a_chinese_edition():
    assert "zh" in [folder.name for folder in LANGUAGES]


def test_a_translation_is_in_step(pair):
    """Where this fails: python -m minitape.course.translation notebooks/en notebooks/zh says what is to be done."""
    english, translation = (json.loads(path.read_text(encoding="utf-8")) for path in pair)
    made, left = translated(english, translation)
    assert left == []
    assert made == translation


STARRED = re.compile(r"[(,] ?\*+\w+(?=[,)])|\(\*+\[")  # arguments such as *things in f(name, *things)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda path: path.name)
def test_a_translated_hint_has_the_stars_of_its_code(language):
    different = [
        (text, translation)
        for name, texts in tables(ENGLISH).items()
        for text, translation in ((text, table(name, language)[text]) for text in texts)
        if STARRED.findall(text) != STARRED.findall(translation)
    ]
    assert different == []
    assert STARRED.findall("def apply(self, name, *things): f(*[1])") == [", *things", "(*["]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda path: path.name)
def test_each_text_has_a_translation_with_the_same_values(language):
    def values(text):
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

    for name, texts in tables(ENGLISH).items():
        known = table(name, language)
        assert list(known) == texts, name
        assert [text for text in texts if not known[text]] == []
        if name in ("feedback", "labels"):  # the other files hold finished texts, in which braces are those of programs
            assert [text for text in texts if values(text) != values(known[text])] == []


def test_what_is_out_of_step_is_listed(tmp_path):
    english, zh = tmp_path / "en", tmp_path / "zh"
    for folder, source in ((english, ENGLISH), (zh, LANGUAGES[0])):
        folder.mkdir()
        shutil.copy(source / "01_the_first_tape.ipynb", folder)
    shutil.copytree(LANGUAGES[0] / "texts", zh / "texts")
    path = english / "01_the_first_tape.ipynb"
    left = keep_in_step(english, zh)
    assert not any(words.startswith(path.name) for words in left)
    assert keep_in_step(english, zh) == left, "a second time changes nothing"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source += "\nOne more line."
    notebook.cells[1].source += "\nimport math"
    notebook.cells.append(nbformat.v4.new_markdown_cell("A new cell.", id="new"))
    nbformat.write(notebook, path)
    assert [words for words in keep_in_step(english, zh) if words.startswith(path.name)] == [
        f"{path.name}: first-tape-01: the English text changed",
        f"{path.name}: first-tape-02: the code changed; run the notebook once more: minitape save",
        f"{path.name}: new: no translation yet",
    ]
    cells.cache_clear()
    found = cells(zh / path.name)
    assert found["first-tape-02"].source.endswith("import math")
    assert found["first-tape-01"].metadata["english"] == mark(cells(ENGLISH / path.name)["first-tape-01"].source)


def test_a_changed_english_text_keeps_its_translation_and_says_so(tmp_path):
    """Also a second time, until its entry is taken out."""
    zh, file = tmp_path / "zh", tmp_path / "zh" / "texts" / "feedback.json"
    shutil.copytree(LANGUAGES[0] / "texts", file.parent)
    texts = json.loads(file.read_text(encoding="utf-8"))
    now = "not answered yet"
    text = next(text for text in texts if now in text)
    texts = {("not answered, " + key if key == text else key): value for key, value in texts.items()}
    file.write_text(json.dumps(texts), encoding="utf-8")  # as if the English text had lost two words since
    english = tmp_path / "en"
    english.mkdir()
    for _ in range(2):
        left = keep_in_step(english, zh)
        assert f"changed.json: the English text was {'not answered, ' + text!r}, and is {text!r}" in left
        assert json.loads(file.read_text(encoding="utf-8"))[text] == texts["not answered, " + text]
    (file.parent / "changed.json").write_text("{}")
    assert not any(words.startswith("changed.json") for words in keep_in_step(english, zh))


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda path: path.name)
def test_no_translation_is_of_an_older_text(language):
    file = language / "texts" / "changed.json"
    assert not file.exists() or json.loads(file.read_text(encoding="utf-8")) == {}


def programs(text):
    """The programs of a text, without their comments and without blanks."""
    found = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return ["".join(re.sub("#.*", "", program).split()) for program in found]


def test_links_and_programs_are_those_of_the_english_text(pair):
    ours, theirs = map(cells, pair)
    for name, cell in ours.items():
        if cell.cell_type == "markdown":
            links = [set(re.findall(r"\]\((.*?)\)", text)) for text in (cell.source, theirs[name].source)]
            # its index goes by cells, since headings are in two languages
            assert links[0] == links[1] or name == "glossary", name
            assert programs(cell.source) == programs(theirs[name].source), name
            assert cell.source.count("```") == theirs[name].source.count("```"), name
            assert list(cell.get("attachments", ())) == list(theirs[name].get("attachments", ())), name


SENTENCE = re.compile(r"[A-Za-z]{2,},? (?:[a-z]+,? ){2,}[a-z]{2,}")  # four words in a row
OF_PROGRAMS = re.compile(
    r"```.*?```|`[^`]*`|<!--.*?-->|<(?!img)[^>]*>|\$[^$]*\$|\[[^]]*\]\(https?:.*?\)|\]\(.*?\)|（[^）]*）|“[^”]*”|(?:src|style|class|href)=\"[^\"]*\"|https?://\S+",
    re.DOTALL,
)
"""Of a text: code, formulas, tags, where links lead, titles of what is linked on the web, and what stands in brackets
or in quotes.
"""
MESSAGES = re.compile(r"^\s*(?:\[[x ]\] |\w+(?:Error|Warning)\b).*", re.MULTILINE)
"""Of an output: programs that were tried, and errors of Python and TensorFlow."""


def english_in(text: str) -> list[str]:
    """The English sentences of a text."""
    return [found[0] for found in SENTENCE.finditer(OF_PROGRAMS.sub("", unescape(text)))]


def test_no_english_sentence_is_left_in_the_texts(pair):
    for name, cell in cells(pair[1]).items():
        if cell.cell_type == "markdown":
            assert english_in(cell.source) == [], name


def test_no_english_sentence_is_left_in_what_a_lesson_shows(pair):
    """What a program prints stays; what is shown in another way, and what `check` and `progress` say, is in the
    lesson's language.
    """
    for name, cell in cells(pair[1]).items():
        shown = [
            output
            for output in cell.get("outputs", ())
            if output.output_type != "stream" or re.search(r"^(?:check|progress)\(", cell.source, re.MULTILINE)
        ]
        assert english_in(MESSAGES.sub("", outputs_text(shown))) == [], name


def test_a_sentence_that_is_left_is_noticed():
    assert english_in("下面的程序 follows the path of x 到最后。") == ["follows the path of"]
    assert (
        english_in("伴随值（the adjoint of a row）：`for x in y` 和 [A title on the web](https://tensorflow.org)。")
        == []
    )
