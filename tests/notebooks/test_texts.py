"""Every lesson has correct predictions, working links, exercises, a summary and a table, in each language.

Rules about code are checked only in the English lessons, because `test_translations` checks that the other lessons
have the same code.
"""

import ast
import re
from base64 import b64decode
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from minitape.cli.lesson_files import find_lessons_folder, get_exercise_prefix, list_notebook_files
from minitape.cli.lesson_pages import map_cells_to_heading_anchors
from minitape.cli.notebook_rules import format_outputs, is_exercise
from minitape.common.translation import load_translations, say
from minitape.course.course_texts import read_lesson
from minitape.course.exercise import collect_exercises

FOLDERS = [find_lessons_folder(), find_lessons_folder().parent / "zh"]
LESSONS = [path for path in list_notebook_files(find_lessons_folder()) if get_exercise_prefix(path)]
EVERYWHERE = [path for folder in FOLDERS for path in list_notebook_files(folder) if get_exercise_prefix(path)]
WORDS = {  # For each language: required headings and phrases, and the form of links to lessons.
    "en": {"parts": ("After this lesson you can", "minutes", "## Summary", "TensorFlow, PyTorch, JAX"),
        "read on": "### Where to read on\n\n", "unlinked": r"(?<!\[)[Ll]essons? (\d+)",
        "linked": r"\[(?:[Ll]esson )?(\d+)\]\((.*?)\)", "first": "- [Lesson {number}]({file})",
        "step": "step (backwards )?through (the|its) picture"},
    "zh": {"parts": ("学完这一课，你能", "分钟", "## 小结", "TensorFlow、PyTorch、JAX"), "read on": "### 接着读\n\n",
        "unlinked": r"(?<!\[)第 (\d+) 课", "linked": r"\[(?:第 )?(\d+)(?: 课)?\]\((.*?)\)",
        "first": "- [第 {number} 课]({file})"},
}  # fmt: skip


@cache
def read_cells(path: Path) -> tuple[Any, ...]:
    return tuple(nbformat.read(path, as_version=4).cells)


def list_cells(path: Path, kind: str) -> list[Any]:
    return [cell for cell in read_cells(path) if cell.cell_type == kind]


def read_prose(path: Path) -> str:
    return "\n".join(cell.source for cell in list_cells(path, "markdown"))


def list_anchors(path: Path) -> set[str]:
    """Return the anchors of a notebook that links in other notebooks may name.

    JupyterLab finds a heading only after it has shown the heading, so a link that opens a notebook must name a cell.
    The pages of the lessons have only headings. Therefore, a linked cell must begin with a heading.
    """
    return {f"cell-id={name}" for name in map_cells_to_heading_anchors(list_cells(path, "markdown"))}


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def lesson(request) -> Path:
    return request.param


@pytest.fixture(params=EVERYWHERE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def text(request) -> Path:
    """Return a lesson in one of the languages."""
    return request.param


def get_words(path: Path) -> dict[str, Any]:
    return WORDS[path.parent.name]


def translate_sentence(text: str, path: Path) -> str:
    """Translate a sentence of minitape into the language of a lesson."""
    return say(text, "check", path.parent.name)


SCREEN = 34  # A window of 1400 by 900 shows this many lines of a notebook.
WIDE = 140  # The number of letters in such a line.


def count_lines_on_screen(cell: Any) -> int:
    """Return the number of lines that a cell occupies in a fresh copy, which has no outputs.

    For a hidden question, the lines of its buttons are counted.
    """
    if cell.cell_type == "code":
        if cell.source.startswith("predict("):
            return 8
        return 2 if cell.metadata.get("jupyter", {}).get("source_hidden") else cell.source.count("\n") + 3
    return sum(
        1 + len(block) // WIDE + block.count("\n|") + block.count("\n- ") + 1 for block in cell.source.split("\n\n")
    )


def collect_prose_on_screen(every: Sequence[Any], question: int) -> str:
    """Return the prose that is visible together with a question, above or below it."""
    seen = []
    for steps in (range(question - 1, -1, -1), range(question + 1, len(every))):
        left = SCREEN - count_lines_on_screen(every[question])
        for place in steps:
            if left <= 0:
                break
            if every[place].cell_type == "markdown" and "solution" not in every[place].metadata.get("tags", []):
                lines = every[place].source.splitlines()  # Of a long cell, only the near part is visible.
                part = lines[-left:] if place < question else lines[:left]
                seen.append("\n".join(part))
            left -= count_lines_on_screen(every[place])
    return "\n".join(seen)


def list_prediction_truths(path: Path) -> list[tuple[int, str, list[str], str]]:
    """Return (cell, name, choices, truth) for each prediction.

    The truth is "" if no reveal follows at once.
    """
    every = read_cells(path)
    found, answer = [], translate_sentence("The answer: {truth}", path).partition("{")[0]
    for place, cell in enumerate(every):
        for name in re.findall(r'predict\(\s*"([^"]+)"', cell.source) if cell.cell_type == "code" else []:
            choices = re.findall(r"^  - (.*)$", format_outputs(cell.outputs), re.MULTILINE)
            after = every[place + 1]
            told = format_outputs(after.get("outputs", [])) if re.search(rf'reveal\(\s*"{name}"', after.source) else ""
            found.append(
                (place, name, choices, "".join(re.findall(rf"{answer}[*`]+(.*?)[*`]+$", told, re.MULTILINE)[:1]))
            )
    return found


def test_what_follows_a_question_is_its_reveal_and_the_truth_was_a_choice(text):
    for _, name, choices, truth in list_prediction_truths(text):
        assert name.startswith(f"{get_exercise_prefix(text)}.p")
        assert truth in choices, (name, truth, choices)
    source = "\n".join(cell.source for cell in list_cells(text, "code"))
    assert sorted(re.findall(r'reveal\(\s*"([^"]+)"', source)) == sorted(
        name for _, name, _, _ in list_prediction_truths(text)
    )


def test_each_answer_is_explained_by_its_reveal_alone(text):
    explained = {
        name: say(why, get_exercise_prefix(text), text.parent.name)
        for name, why in read_lesson(get_exercise_prefix(text)).explanations.items()
    }
    assert [name for _, name, _, _ in list_prediction_truths(text) if name not in explained] == []
    assert [why for why in explained.values() if re.split(r"\.\s|。", why)[0] in read_prose(text)] == []


ANSWERED = ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "appendix"]
"""The lessons whose wrong choices all are answered."""


@pytest.mark.parametrize("number", ANSWERED)
def test_each_wrong_choice_has_a_sentence_of_its_own(number):
    for path in (path for path in EVERYWHERE if get_exercise_prefix(path) == number):
        language, beliefs = path.parent.name, dict(read_lesson(number).replies)
        for _, name, choices, truth in list_prediction_truths(path):
            told = {say(one, number, language): say(why, number, language) for one, why in beliefs.pop(name).items()}
            assert sorted(told) == sorted(choice for choice in choices if choice != truth), name
            assert all(told.values()) and len(set(told.values())) == len(told), name
            wrong = [why for why in told.values() if re.search(r"[.?。？]$", why) is None]
            assert wrong == []
        assert beliefs == {}, "of a question that is not asked"


# In these sentences, the words of the answer are visible but do not give it away. Somebody has read each of them.
ELSEWHERE = {
    **{key: ["| word |", "| 词 |"] for key in ("08.p1", "08.p4", "08.p6", "08.p7", "08.p8", "08.p10")},
    "02.p5": ["y = q * p"],  # the list by hand
}


def list_sentences_with_truth(every: Sequence[Any], question: int, truth: str) -> list[str]:
    """Return the sentences visible with a question that contain its truth."""
    counted = r"\]\(.*?\)|(lesson|row|exercise|step|练习)s? \d+|第 \d+ [行课步]|<summary>.*?</summary>"
    said = re.sub(counted, "]", collect_prose_on_screen(every, question), flags=re.IGNORECASE)
    number = re.fullmatch(r"(-?\d+)(\.\d+)?", truth)
    whole = rf"{number[1]}(?:\.0)?" if number and float(truth) == int(float(truth)) else re.escape(truth)
    return re.findall(rf"[^.。]*(?<![\w.,-]){whole}(?![\w,-]|\.\d)[^.。]*", said, re.IGNORECASE)


def test_no_text_on_the_screen_of_a_question_holds_its_answer(text):
    every = read_cells(text)
    for place, name, _, truth in list_prediction_truths(text):
        found = [sentence.strip() for sentence in list_sentences_with_truth(every, place, truth)]
        asked = ELSEWHERE.get(name, ["?", "？"])  # The sentence may also be a question.
        assert [sentence for sentence in found if not any(part in sentence for part in asked)] == [], (name, truth)


def test_a_text_that_tells_the_answer_is_noticed():
    every = list(read_cells(LESSONS[0]))
    place, _, _, truth = list_prediction_truths(LESSONS[0])[0]
    assert truth == "6.0" and list_sentences_with_truth(every, place, truth) == []
    for where, words in ((place, "It will be 6."), (place + 2, "So it is `6.0`.")):
        every.insert(where, nbformat.v4.new_markdown_cell(words))
        question = place + (where == place)
        assert len(list_sentences_with_truth(every, question, truth)) == 1, words
        del every[where]


def test_a_truth_is_computed(lesson):
    """A literal would show the answer below its question, and would become wrong if the program changed."""
    for cell in list_cells(lesson, "code"):
        for call in ast.walk(ast.parse(cell.source)):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "reveal":
                names = [node for node in ast.walk(call.args[1]) if isinstance(node, ast.Name)]
                assert names, f"the truth of {ast.unparse(call)} is a literal"


def list_calls(name: str, tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name]


def list_texts_in_program(tree: ast.AST) -> tuple[list[str], list[str]]:
    """Return the texts in a program, and the fixed parts of f-strings."""
    nodes = list(ast.walk(tree))
    formats = {
        id(part)
        for node in nodes
        if isinstance(node, ast.FormattedValue) and node.format_spec
        for part in ast.walk(node.format_spec)
    }
    pieces = [
        part for node in nodes if isinstance(node, ast.JoinedStr) and id(node) not in formats for part in node.values
    ]
    fixed = [part for part in pieces if isinstance(part, ast.Constant)]
    others = formats | {id(part) for part in fixed}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in others]
    return [text for text in texts if isinstance(text, str)], [str(part.value) for part in fixed]


def test_a_cell_that_reveals_gives_no_choice_away(lesson):
    """Before it is run, the cell contains either none or at least two of the choices.

    There is also no number next to the braces of an f-string.
    """
    choices: dict[str, list[str]] = {}
    for cell in list_cells(lesson, "code"):
        tree = ast.parse(cell.source)
        for question in list_calls("predict", tree):
            choices[ast.literal_eval(question.args[0])] = [str(choice) for choice in ast.literal_eval(question.args[2])]
        for call in list_calls("reveal", tree):
            texts, parts = list_texts_in_program(tree)
            begun = [part for part in parts if len(part.split()) > 2]
            named = [
                c
                for c in choices[ast.literal_eval(call.args[0])]
                if c in texts or any(c.startswith(part) for part in begun)
            ]
            assert len(named) != 1, f"{ast.unparse(call)} names {named[0]!r} alone"
            assert not [part for part in list_texts_in_program(call)[1] if re.search(r"\d", part)], ast.unparse(call)


def test_the_code_that_is_shown_fits_into_the_window_of_a_laptop(lesson):
    for cell in list_cells(lesson, "code"):
        folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        for line in cell.source.splitlines()[: 1 if folded else None]:
            assert len(line) <= 108, line


def test_an_exercise_speaks_of_the_dots_where_there_are_some(text):
    dots = translate_sentence("Replace the ... with your answer and run the cell again.", text)
    change = translate_sentence("Change the program and run the cell again.", text)
    for cell in list_cells(text, "code"):
        if is_exercise(cell):
            shown = format_outputs(cell.outputs)
            assert (dots in shown) == ("..." in cell.source), cell.source
            assert (change in shown) == ("..." not in cell.source), cell.source


def test_a_picture_that_is_to_be_stepped_through_has_a_way_back(lesson):
    before = None
    for cell in read_cells(lesson):
        if cell.cell_type == "code":
            before = cell
        elif before and re.search(get_words(lesson)["step"], cell.source, re.IGNORECASE):
            [picture] = re.findall("base64,([A-Za-z0-9+/=]+)", format_outputs(before.outputs))
            assert "∂" in b64decode(picture).decode()


def test_links_lead_somewhere(text):
    told = "\n".join(
        [
            read_prose(text),
            *read_lesson(get_exercise_prefix(text)).explanations.values(),
            *load_translations(get_exercise_prefix(text), text.parent.name).values(),
        ]
    )
    for file, anchor in re.findall(r"\]\(([\w.]+\.ipynb)(?:#([^)]*))?\)", told):
        assert (text.parent / file).is_file(), file
        assert not anchor or anchor in list_anchors(text.parent / file), anchor


def test_each_lesson_that_is_named_is_linked_and_the_next_one_comes_first_to_read_on(text):
    files = {int(get_exercise_prefix(path)): path.name for path in LESSONS if get_exercise_prefix(path).isdigit()}
    number = next((number for number, name in files.items() if name == text.name), None)
    assert [int(n) for n in re.findall(get_words(text)["unlinked"], read_prose(text)) if int(n) != number] == []
    for named, file in re.findall(get_words(text)["linked"], read_prose(text)):
        assert files[int(named)] == file
    read_on = read_prose(text).split(get_words(text)["read on"])[1]
    if number is not None and number + 1 in files:
        first = read_on[read_on.index("- ") :]
        assert first.startswith(get_words(text)["first"].format(number=number + 1, file=files[number + 1]))


def test_everything_to_read_on_is_a_link(text):
    items = re.findall(r"^- (?:.+\n)(?:  .+\n)*", read_prose(text).split(get_words(text)["read on"])[1], re.MULTILINE)
    assert len(items) >= 2
    assert [item for item in items if not re.search(r"\[[^]]+\]\(|\]\(", item)] == []


def test_the_glossary_is_in_alphabetical_order_and_says_each_word_once():
    first, *explained = list_cells(find_lessons_folder() / "glossary.ipynb", "markdown")
    names = [cell.source.splitlines()[0].removeprefix("## ") for cell in explained]
    assert names == sorted(names, key=str.lower)
    assert len(set(names)) == len(names)
    assert [cell.id for cell in explained] == [name.lower().replace(" ", "-") for name in names]
    assert re.findall(r"\[(.*?)\]\(#(.*?)\)", first.source) == [(name, name.replace(" ", "-")) for name in names]


def test_the_chinese_glossary_is_by_both_words():
    english, (first, *explained) = (list_cells(folder / "glossary.ipynb", "markdown") for folder in FOLDERS)
    names = [cell.source.splitlines()[0].removeprefix("## ") for cell in english[1:]]
    heads = [re.fullmatch(r"## (.+?)（(.+)）", cell.source.splitlines()[0]).groups() for cell in explained]
    assert [word for _, word in heads] == names
    index = re.findall(r"\[(.*?)\]\(glossary\.ipynb#cell-id=(.*?)\)", first.source)
    words = [(word, chinese, cell.id) for (chinese, word), cell in zip(heads, explained, strict=True)]
    by_english = [(f"{word} {chinese}", name) for word, chinese, name in words]
    # In this encoding, common characters are ordered by their pinyin. Two have a different pronunciation in these
    # words.
    by_pinyin = sorted(
        ((chinese, name) for _, chinese, name in words),
        key=lambda pair: pair[0].replace("行", "航").replace("重", "虫").encode("gb18030"),
    )
    assert index == by_english + by_pinyin


def test_the_chinese_glossary_lists_the_notebooks_by_their_titles():
    """The files have English names."""
    titles = {
        path.name: read_prose(path).partition("\n")[0].removeprefix("# ") for path in list_notebook_files(FOLDERS[1])
    }
    first, *_ = list_cells(FOLDERS[1] / "glossary.ipynb", "markdown")
    listed = {file: title for title, file in re.findall(r"\[(.*?)\]\((\w+\.ipynb)\)", first.source)}
    assert listed | {"glossary.ipynb": titles["glossary.ipynb"]} == titles


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_word_of_the_glossary_has_an_example_or_a_picture(folder):
    for cell in list_cells(folder / "glossary.ipynb", "markdown")[1:]:
        assert re.search(r"^(?:Example: |例：).|^!\[.+\]\(attachment:", cell.source, re.MULTILINE), cell.source


def test_a_lesson_has_all_its_parts(text):
    for part in (*get_words(text)["parts"], get_words(text)["read on"]):
        assert part in read_prose(text), part


def test_a_lesson_asks_for_all_its_exercises(lesson):
    asked = re.findall(
        r'check\(\s*"([^"]+)"', "\n".join(c.source for c in list_cells(lesson, "code") if is_exercise(c))
    )
    assert sorted(asked) == sorted(collect_exercises(get_exercise_prefix(lesson)))
    assert len(asked) >= 3
    assert sum("TapeView" in cell.source for cell in list_cells(lesson, "code")) >= 2  # An import and a picture.
