"""Translated lessons have the same content and code as the English lessons, with nothing left in English.

They are built from the English lessons and the files of texts.
"""

import ast
import json
import re
import shutil
from functools import cache
from html import unescape
from pathlib import Path

import nbformat
import pytest
from markdown_it import MarkdownIt

import minitape as tf
from minitape.cli.lesson_files import find_lessons_folder, list_notebook_files
from minitape.cli.notebook_rules import format_outputs
from minitape.common.translation import load_translations
from tests.cell_words import QUOTED_TAG, iter_pieces
from tests.translate import (
    collect_texts_by_domain,
    format_po_file,
    get_domain,
    list_remaining_texts,
    synchronize_translation,
    translate_notebook,
    update_catalog,
)

ENGLISH = find_lessons_folder()
LANGUAGES = [folder for folder in sorted(ENGLISH.parent.iterdir()) if folder != ENGLISH and any(folder.glob("*.ipynb"))]
PAIRS = [(path, language / path.name) for language in LANGUAGES for path in list_notebook_files(ENGLISH)]
FILES = [file for language in LANGUAGES for file in sorted((language / "texts").glob("*.po"))]


@cache
def read_cells(path):
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair[1].parent.name}-{pair[1].stem}")
def pair(request) -> tuple[Path, Path]:
    """Return a notebook and its translation."""
    return request.param


@pytest.fixture(params=FILES, ids=lambda file: f"{file.parent.parent.name}-{file.stem}")
def file(request) -> Path:
    """Return the file with the texts of a lesson, or of a part of minitape, in a language."""
    return request.param


@pytest.fixture(scope="module")
def texts() -> dict:
    """Return all texts to translate, keyed by the name of their file."""
    return collect_texts_by_domain(ENGLISH)


def test_there_is_a_chinese_edition_with_a_file_for_each_lesson(texts):
    assert "zh" in [folder.name for folder in LANGUAGES]
    assert [file.stem for file in FILES] == sorted(texts) * len(LANGUAGES)


def test_each_text_has_a_translation_made_from_the_present_english(file, texts):
    """If this fails, run python -m tests.translate zh, translate the listed texts in Poedit, and run it again."""
    catalog = update_catalog(file, texts[file.stem], file.parent.parent.name)
    assert list_remaining_texts(catalog) == []
    assert list(load_translations(file.stem, file.parent.parent.name)) == list(texts[file.stem])


def test_a_notebook_is_built_from_the_english_one_and_the_texts(pair):
    """If this fails, run python -m tests.translate zh, and then minitape save."""
    english, translation = (json.loads(path.read_text(encoding="utf-8")) for path in pair)
    language = pair[1].parent.name
    made, to_run = translate_notebook(english, translation, load_translations(get_domain(pair[0]), language), language)
    assert to_run == []
    assert made == translation


def test_a_file_has_each_text_once(file):
    """Otherwise, msgfmt refuses the file."""
    entries = re.split(r"\n\n+", file.read_text(encoding="utf-8"))
    texts = [re.sub(r'"\n(?:#~ )?"', "", found[1]) for entry in entries if (found := TEXT_OF_ENTRY.search(entry))]
    assert len(texts) > 20 and [text for text in texts if texts.count(text) > 1] == []


TEXT_OF_ENTRY = re.compile(r'^(?:#~ )?msgid ((?:(?:\n?(?:#~ )?)"(?:[^"\\]|\\.)*")+)', re.MULTILINE)


def list_code_in_sentence(text: str) -> set[str]:
    """Return the code in a sentence: text in backticks, except words of the picture, and arguments with stars."""
    stars = re.findall(r"[(,] ?\*+\w+(?=[,)])|\(\*+\[", text)  # An example is *things in f(name, *things).
    return {code for code in [*re.findall(r"`[^`\n]+`", text), *stars] if not re.search("[a-z]{2} ", code)}


def test_code_in_a_sentence_is_that_of_the_english_sentence(file):
    texts = load_translations(file.stem, file.parent.parent.name)
    different = [
        (text, translation)
        for text, translation in texts.items()
        if not list_code_in_sentence(text) <= list_code_in_sentence(translation)
    ]
    assert different == []
    assert list_code_in_sentence("`a` def apply(self, name, *things): f(*[1]) `g * row 0`") == {
        "(*[",
        ", *things",
        "`a`",
    }


def test_a_translation_names_the_same_values(file):
    def values(text):
        return set(re.findall(r"\{[^{}]*\}", text))

    texts = {
        text: t for text, t in load_translations(file.stem, file.parent.parent.name).items() if "$" not in t
    }  # Texts with formulas are skipped.
    assert [text for text, translation in texts.items() if values(text) != values(translation)] == []


def test_code_is_the_same_but_for_words_to_people(pair):
    ours, theirs = map(read_cells, pair)
    for name, cell in ours.items():
        if cell.cell_type == "code":
            code = [piece for piece, words in iter_pieces(cell) if not words]
            rest = theirs[name].source
            for piece in code:
                assert piece in rest, name
                rest = rest[rest.index(piece) + len(piece) :]
            ast.parse(theirs[name].source)
            assert QUOTED_TAG not in cell.metadata.get("tags", ()) or cell.source == theirs[name].source


@pytest.mark.parametrize("path", [p for p in list_notebook_files(ENGLISH) if p.stem != "credits"], ids=lambda p: p.stem)
def test_an_english_lesson_has_no_chinese_paragraph(path):
    """A second paragraph of a translation needs its own {zh}, or it becomes part of the English lesson."""
    assert [cell.id for cell in read_cells(path).values() if re.search("[\u4e00-\u9fff]", cell.source)] == []


@pytest.fixture
def editions(tmp_path):
    """Return copies of the first lesson in English and in Chinese."""
    english, zh = tmp_path / "en", tmp_path / "zh"
    for folder, source in ((english, ENGLISH), (zh, ENGLISH.parent / "zh")):
        folder.mkdir()
        shutil.copy(source / "01_the_first_tape.ipynb", folder)
    shutil.copytree(ENGLISH.parent / "zh" / "texts", zh / "texts")
    assert synchronize_translation(english, zh) == []
    return english / "01_the_first_tape.ipynb", zh


@pytest.mark.long
def test_a_changed_text_keeps_its_translation_and_says_what_it_was(editions):
    path, zh = editions
    notebook = nbformat.read(path, as_version=4)
    first = notebook.cells[0].source
    notebook.cells[0].source = first.replace("After this lesson you can", "After this lesson, you can")
    notebook.cells[1].source += "\nimport math  # new words"
    notebook.cells.append(nbformat.v4.new_markdown_cell("A new cell.", id="new"))
    nbformat.write(notebook, path)
    left = [
        "01.po: was 'After this lesson you can', is 'After this lesson, you can'",
        "01.po: new: 'new words'",
        "01.po: new: 'A new cell.'",
        f"{path.name}: 1 cells to run: minitape save {zh / path.name}",
    ]
    assert synchronize_translation(path.parent, zh) == left
    assert synchronize_translation(path.parent, zh) == left, "and once more"
    read_cells.cache_clear()
    found = read_cells(zh / path.name)
    assert found["first-tape-01"].source.startswith("# 1. 第一条磁带\n") and "you can" in found["first-tape-01"].source
    file = zh / "texts" / "01.po"
    text = file.read_text(encoding="utf-8")
    was, now = 'msgid "After this lesson you can"', 'msgid "After this lesson, you can"'
    entry = f'#, fuzzy\n#| {was}\n{now}\nmsgstr "学完这一课，你能："\n'
    assert entry in text
    file.write_text(
        text.replace("#, fuzzy\n", "").replace('msgid "A new cell."\nmsgstr ""', 'msgid "A new cell."\nmsgstr "新的"')
    )
    assert synchronize_translation(path.parent, zh) == left[1:2] + left[3:]
    read_cells.cache_clear()
    found = read_cells(zh / path.name)
    assert found["new"].source == "新的" and "学完这一课，你能" in found["first-tape-01"].source


def test_what_a_long_text_was_is_kept_until_it_is_translated_again(tmp_path):
    file, was = tmp_path / "01.po", 'A text that is so long that a file has it "in several lines", each in quotes. ' * 3
    now = was.replace("so long", "as long")
    catalog = update_catalog(file, {was: []}, "de")
    catalog[was].string = "Ein Text"
    file.write_text(format_po_file(catalog))
    for _ in range(3):
        catalog = update_catalog(file, {now: []}, "de")
        file.write_text(format_po_file(catalog))
        assert list_remaining_texts(catalog) == [f"was {was!r}, is {now!r}"] and catalog[now].string == "Ein Text"
    lines = [line for line in file.read_text().splitlines() if line.startswith("#|")]
    assert len(lines) > 3 and all(re.fullmatch(r'#\| (msgid )?"(\\"|[^"])*"', line) for line in lines)


def list_programs(text):
    """Return the programs in a text, without comments, quoted words and spaces."""
    found = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    quoted = re.compile(r'"([^"\n]*)"')
    code = [
        quoted.sub(lambda text: "" if re.search(r"[ \u4e00-\u9fff]", text[1]) else text[0], re.sub("#.*", "", program))
        for program in found
    ]
    return ["".join(program.split()) for program in code]


def test_links_and_programs_are_those_of_the_english_text(pair):
    ours, theirs = map(read_cells, pair)
    for name, cell in ours.items():
        if cell.cell_type == "markdown":
            links = [
                set(re.findall(r"\]\((.*?)(?:\?hl=[\w-]+)?\)", text)) for text in (cell.source, theirs[name].source)
            ]
            # The index of the glossary refers to cells, because the headings are in two languages.
            assert links[0] == links[1] or name == "glossary", name
            assert list_programs(cell.source) == list_programs(theirs[name].source), name
            assert cell.source.count("```") == theirs[name].source.count("```"), name
            assert list(cell.get("attachments", ())) == list(theirs[name].get("attachments", ())), name


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.]*\w)")


def collect_printed_numbers(cell) -> set[str]:
    """Return the numbers that a cell printed, except times, which nbval does not compare either."""
    if cell.cell_type != "code" or "nbval-ignore-output" in cell.metadata.get("tags", ()):
        return set()
    return set(NUMBER.findall("".join(output.text for output in cell.outputs if output.output_type == "stream")))


def test_translated_programs_print_the_same_numbers(pair):
    english, translated = map(read_cells, pair)
    different = {
        name: (numbers, others)
        for name, cell in english.items()
        if (numbers := collect_printed_numbers(cell)) != (others := collect_printed_numbers(translated[name]))
    }
    assert different == {}


ONE_WORD = {
    "反向传递": "回扫|后向传递",
    "前向传播": "前向传递",
    "伴随值": "传到的量|到达的量|传来的量",
    "就地": "原地(?=修|改|操|更)",
    "跟踪": "追踪",
    "with 代码块": "with 块",
    "右方向键": "[左右]箭头",
    "附录": "appendix 课",
    "断开处": "断点|断口",
    "答案的磁带": "解答的磁带",
}
"""Chinese terms, and what else these things were called in earlier editions."""


def read_chinese_pages() -> dict[str, str]:
    """Return the Chinese texts and pages, keyed by file."""
    texts = {
        file.stem: "\n".join(load_translations(file.stem, "zh").values())
        for file in (ENGLISH.parent / "zh/texts").glob("*.po")
    }
    root = ENGLISH.parent.parent
    pages = [
        root / "README.zh.md",
        *(path for folder in ("docs", "deploy") for path in (root / folder).rglob("*.zh.md")),
    ]
    return texts | {page.name: page.read_text(encoding="utf-8") for page in pages}


@pytest.mark.parametrize("term", ONE_WORD)
def test_a_thing_has_one_word_in_chinese(term):
    pages = read_chinese_pages()
    assert any(term in page for page in pages.values())
    assert {
        name: re.findall(ONE_WORD[term], page) for name, page in pages.items() if re.search(ONE_WORD[term], page)
    } == {}


def test_backpropagation_and_a_sweep_over_a_tape_have_two_words():
    """反向传播 is the method and what a framework runs. 反向传递 is one sweep over the rows of a tape."""
    of_frameworks = re.compile(r"README|explain|causes|questions|model_map")
    root = ENGLISH.parent.parent
    pages = [root / "README.zh.md", *(root / "docs").rglob("*.zh.md"), ENGLISH.parent / "zh/texts/explain.po"]
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in pages
        if of_frameworks.search(path.relative_to(root).as_posix())
    }
    assert any("反向传播" in text for text in texts.values())
    assert [name for name, text in texts.items() if "反向传递" in text] == []


TERMS = ("标量", "训练集", "验证集", "测试集", "梯度检验", "梯度下降", "反向传播", "交叉熵", "过拟合", "雅可比矩阵")
"""Terms of Chinese textbooks, which a reader must meet, and not only everyday words for them."""


def test_the_lessons_name_the_terms_of_chinese_textbooks():
    lessons = "".join(
        cell.source for _, path in PAIRS for cell in read_cells(path).values() if cell.cell_type == "markdown"
    )
    assert [term for term in TERMS if term not in lessons] == []


def remove_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def is_code_line_named(english: str, chinese: str) -> bool:
    """Return whether a translation says 代码 for a numbered line, and not for a numbered row."""
    lines, rows = (
        re.search(rf"\b{word}s? (?:\d|\{{\d|\{{line)", remove_code(english)) for word in ("[Ll]ine", "[Rr]ow")
    )
    named = "代码" in chinese or (lines is not None and not re.search(r"第[^，。]*行", chinese))
    return named if lines else not (rows and re.search(r"代码第", chinese))


def test_a_line_of_code_and_a_row_of_a_tape_have_two_words(file):
    texts = load_translations(file.stem, file.parent.parent.name)
    assert [pair for pair in texts.items() if not is_code_line_named(*pair)] == []
    assert is_code_line_named("See line 3.", "见代码第 3 行。") and not is_code_line_named("See line 3.", "见第 3 行。")
    assert is_code_line_named("Row 3 is y.", "第 3 行是 y。") and not is_code_line_named("Row 3.", "代码第 3 行。")


def test_bold_words_are_shown_bold(pair):
    """After a full stop, ``**`` does not end bold text if a letter follows, so readers would see the asterisks."""
    inline = [
        token
        for cell in read_cells(pair[1]).values()
        if cell.cell_type == "markdown"
        for token in MarkdownIt().parse(cell.source)
        if token.type == "inline"
    ]
    parts = [part for token in inline for part in token.children or () if part.type == "text"]
    assert parts and [part.content for part in parts if "**" in part.content] == []


HAN = r"[\u4e00-\u9fff]"
LISTS = re.compile(r"\s*(?:#|\||[-*] |\d+\. |!\[|<)")
"""How a heading, a table, a list, a picture or a tag begins."""


def count_characters_by_sentence(text: str) -> list[int]:
    """Return the number of Chinese characters of each sentence of a text, without code, links and lists."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    paragraphs = [
        re.sub(r"\]\([^)]*\)|<[^>]*>", "", part)
        for part in re.split(r"\n\s*\n", text)
        if part.strip() and not LISTS.match(part)
    ]
    counts = [len(re.findall(HAN, sentence)) for part in paragraphs for sentence in re.split("[。？！]", part)]
    return [count for count in counts if count]


@pytest.mark.parametrize("lesson", [path for _, path in PAIRS if path.name[:2].isdigit()], ids=lambda path: path.stem)
def test_a_chinese_lesson_has_the_rhythm_of_chinese_prose(lesson):
    """Sentences that copy the English structure are too short for Chinese.

    Sentences in Chinese textbooks have 24 to 29 characters.
    """
    cells = [cell.source for cell in read_cells(lesson).values() if cell.cell_type == "markdown"]
    counts = [count for source in cells for count in count_characters_by_sentence(source)]
    assert 21.5 < sum(counts) / len(counts) < 27
    assert sum(count < 12 for count in counts) <= 0.15 * len(counts)


def test_sentences_are_counted_without_code_and_lists():
    assert count_characters_by_sentence(
        "## 标题\n\n- 一项\n\n它有`代码`，[两句](a.md)。\n第二句？\n\n```\n三\n```\n"
    ) == [6, 3]


TITLES = re.compile(r"《[^》]*》|\([^()]*\)|<!--.*?-->|<[^>]*>", re.DOTALL)
"""In a text: titles as they were published, shapes such as (行数, 1), and tags."""
SLIPS = {
    "half-width punctuation": rf"{HAN} ?[,;!?](?!\w)|{HAN}:(?=\s|{HAN})",
    "no space before a Latin word": rf"{HAN}[A-Za-z0-9]",
    "no space after a Latin word": rf"(?<!\\)[A-Za-z0-9]{HAN}",
    "grouped digits": r"\d,\d{3}(?!\d)",
}
"""What a Chinese editor would mend, by its name."""


def list_slips(text: str) -> list[str]:
    text = TITLES.sub("", remove_code(text))
    return [found[0] for slip in SLIPS.values() for found in re.finditer(rf".{{0,6}}(?:{slip}).{{0,6}}", text)]


def test_chinese_texts_have_the_punctuation_and_spaces_of_chinese_texts():
    assert list_slips("你给的是None, 不是 1,700 个") != [] and list_slips("第 3 行，(行数, 1)，`a, b`") == []
    slips = {name: list_slips(text) for name, text in read_chinese_pages().items()}
    assert {name: found for name, found in slips.items() if found} == {}


SPLIT_LINES = re.compile(rf"{HAN}[，。；：！？、]?\n(?:{HAN}|\[)|[，。；：！？、]\n[`\w\[]")
"""Lines of one paragraph: a browser shows a blank between them, which Chinese does not have."""


def test_a_chinese_paragraph_is_one_line():
    assert SPLIT_LINES.search("一行，\n`y` 又一行") and not SPLIT_LINES.search("一段。\n\n又一段")
    pages = {name: remove_code(text) for name, text in read_chinese_pages().items() if name.endswith(".md")}
    assert {name: found[0] for name, text in pages.items() if (found := SPLIT_LINES.search(text))} == {}


SENTENCE = re.compile(r"[A-Za-z]{2,},? (?:[a-z]+,? ){2,}[a-z]{2,}")  # Four words in a row are a sentence.
OF_PROGRAMS = re.compile(
    r"```.*?```|`[^`]*`|<!--.*?-->|<(?!img)[^>]*>|\$[^$]*\$|\[[^]]*\]\(https?:.*?\)|\]\(.*?\)|（[^）]*）|“[^”]*”|(?:src|style|class|href)=\"[^\"]*\"|https?://\S+",
    re.DOTALL,
)
"""Of a text: code, formulas, tags, where links lead, titles of what is linked on the web, and what stands in brackets
or in quotes.
"""
MESSAGES = re.compile(r"^\s*(?:\[[x ]\] .*(?:\n {6}\S.*)*|\w+(?:Error|Warning)\b.*)", re.MULTILINE)
"""Of an output: programs that were tried, with all their lines, and errors of Python and TensorFlow."""


def list_english_sentences(text: str) -> list[str]:
    """Return the English sentences in a text."""
    return [found[0] for found in SENTENCE.finditer(OF_PROGRAMS.sub("", unescape(text)))]


def test_no_english_sentence_is_left_in_the_texts(pair):
    for name, cell in read_cells(pair[1]).items():
        if cell.cell_type == "markdown":
            assert list_english_sentences(cell.source) == [], name


def test_no_english_sentence_is_left_in_what_a_lesson_shows(pair):
    """The output of programs stays in English, but all other output is in the lesson's language.

    This includes the output of `check` and `progress`.
    """
    for name, cell in read_cells(pair[1]).items():
        shown = [
            output
            for output in cell.get("outputs", ())
            if output.output_type != "stream" or re.search(r"^(?:check|progress)\(", cell.source, re.MULTILINE)
        ]
        assert list_english_sentences(MESSAGES.sub("", format_outputs(shown))) == [], name


def test_a_sentence_that_is_left_is_noticed():
    assert list_english_sentences("下面的程序 follows the path of x 到最后。") == ["follows the path of"]
    assert (
        list_english_sentences(
            "伴随值（the adjoint of a row）：`for x in y` 和 [A title on the web](https://tensorflow.org)。"
        )
        == []
    )


def test_notes_of_errors_are_in_the_users_language(monkeypatch):
    monkeypatch.setenv("MINITAPE_LANGUAGE", "zh")
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError) as second_call:
        tape.gradient(y, x)
    with pytest.raises(AttributeError) as never_entered:
        tf.GradientTape().watch(x)
    with pytest.raises(AttributeError) as missing:
        tf.linalg.svd  # noqa: B018
    texts = [*second_call.value.__notes__, *never_entered.value.__notes__, str(missing.value)]
    assert [list_english_sentences(text) for text in texts] == [[], [], []], texts
