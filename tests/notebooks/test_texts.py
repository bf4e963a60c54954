"""What every lesson must have: predictions that come true, links that lead somewhere, exercises, summary, table."""

from __future__ import annotations

import ast
import re
from base64 import b64decode
from itertools import zip_longest
from pathlib import Path
from typing import Any

import nbformat
import pytest

from minitape.cli.lessons import lesson_of, lessons_folder, notebooks_in
from minitape.cli.rules import is_exercise, outputs_text
from minitape.course.exercise import exercises_of, explanations_of

GLOSSARY = lessons_folder() / "glossary.ipynb"
LESSONS = [path for path in notebooks_in(lessons_folder()) if lesson_of(path)]


def cells(path: Path, kind: str) -> list[Any]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def prose(path: Path) -> str:
    return "\n".join(cell.source for cell in cells(path, "markdown"))


def anchors(path: Path) -> set[str]:
    """The places of a notebook that a link of another may name.

    JupyterLab finds headings only once it has shown them, and so not in a notebook that the link opens; cells it finds. The
    pages of the lessons find headings only. So a cell that is linked to is named as its heading.
    """
    heads = ((cell.id, re.match(r"#+ (.*)", cell.source)) for cell in cells(path, "markdown"))
    return {f"cell-id={name}" for name, head in heads if head and name == re.sub(r"[^\w -]", "", head[1].lower()).replace(" ", "-")}


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def lesson(request) -> Path:
    return request.param


SCREEN = 34  # lines of a notebook that are seen together, in a window of 1400 by 900
WIDE = 140  # letters in such a line


def height(cell: Any) -> int:
    """How many lines a cell takes in a fresh copy, which has no outputs; of a folded question, as it is when it is seen, with its buttons."""
    if cell.cell_type == "code":
        if cell.source.startswith("predict("):
            return 8
        return 2 if cell.metadata.get("jupyter", {}).get("source_hidden") else cell.source.count("\n") + 3
    return sum(1 + len(block) // WIDE + block.count("\n|") + block.count("\n- ") + 1 for block in cell.source.split("\n\n"))


def on_screen(every: list[Any], question: int) -> str:
    """The prose that is seen together with a question, above it or below it."""
    seen = []
    for steps in (range(question - 1, -1, -1), range(question + 1, len(every))):
        left = SCREEN - height(every[question])
        for place in steps:
            if left <= 0:
                break
            if every[place].cell_type == "markdown" and "solution" not in every[place].metadata.get("tags", []):
                lines = every[place].source.splitlines()  # of a long cell, only the part that is near
                part = lines[-left:] if place < question else lines[:left]
                seen.append("\n".join(part))
            left -= height(every[place])
    return "\n".join(seen)


def truths(path: Path) -> list[tuple[int, str, list[str], str]]:
    """Of each prediction the place of its question, its name, its choices, and its truth: "" where no reveal follows at once."""
    every = nbformat.read(path, as_version=4).cells
    found = []
    for place, cell in enumerate(every):
        for name in re.findall(r'predict\(\s*"([^"]+)"', cell.source) if cell.cell_type == "code" else []:
            choices = re.findall(r"^  - (.*)$", outputs_text(cell.outputs), re.MULTILINE)
            after = every[place + 1]
            told = outputs_text(after.get("outputs", [])) if re.search(rf'reveal\(\s*"{name}"', after.source) else ""
            found.append((place, name, choices, "".join(re.findall(r"The answer: [*`]+(.*?)[*`]+$", told, re.MULTILINE)[:1])))
    return found


def test_what_follows_a_question_is_its_reveal_and_the_truth_was_a_choice(lesson):
    for _, name, choices, truth in truths(lesson):
        assert name.startswith(f"{lesson_of(lesson)}.p")
        assert truth in choices, (name, truth, choices)
    source = "\n".join(cell.source for cell in cells(lesson, "code"))
    assert sorted(re.findall(r'reveal\(\s*"([^"]+)"', source)) == sorted(name for _, name, _, _ in truths(lesson))


def test_each_answer_is_explained_by_its_reveal_alone(lesson):
    explained = explanations_of(lesson_of(lesson))
    assert [name for _, name, _, _ in truths(lesson) if name not in explained] == []
    assert [text for text in explained.values() if text.split(".")[0] in prose(lesson)] == []


ELSEWHERE = {  # where the words of the answer stand on the screen, and answer nothing; each was read
    "08.p1": "Sixteen of them name a cause",
    "14.p1": "# line 11",
    "14.p2": "# line 12",
    "06.p4": "one with value 3",  # the values of exercise 1
}


def told(every: list[Any], question: int, truth: str) -> list[str]:
    """The sentences on the screen of a question that hold its truth."""
    said = re.sub(r"\]\(.*?\)|(lesson|row|exercise|step)s? \d+|<summary>.*?</summary>", "]", on_screen(every, question), flags=re.IGNORECASE)
    number = re.fullmatch(r"(-?\d+)(\.\d+)?", truth)
    whole = rf"{number[1]}(?:\.0)?" if number and float(truth) == int(float(truth)) else re.escape(truth)
    return re.findall(rf"[^.]*(?<![\w.,-]){whole}(?![\w,-]|\.\d)[^.]*", said, re.IGNORECASE)


def test_no_text_on_the_screen_of_a_question_holds_its_answer(lesson):
    every = nbformat.read(lesson, as_version=4).cells
    for place, name, _, truth in truths(lesson):
        assert [text.strip() for text in told(every, place, truth) if ELSEWHERE.get(name, "?") not in text] == [], (name, truth)


def test_a_text_that_tells_the_answer_is_noticed():
    every = nbformat.read(LESSONS[0], as_version=4).cells
    place, _, _, truth = truths(LESSONS[0])[0]
    assert truth == "6.0" and told(every, place, truth) == []
    for where, words in ((place, "It will be 6."), (place + 2, "So it is `6.0`.")):
        every.insert(where, nbformat.v4.new_markdown_cell(words))
        question = place + (where == place)
        assert len(told(every, question, truth)) == 1, words
        del every[where]


def test_a_truth_is_computed(lesson):
    """A literal would be the answer, in the open below its question; and it would stay when the program is changed."""
    for cell in cells(lesson, "code"):
        for call in ast.walk(ast.parse(cell.source)):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "reveal":
                names = [node for node in ast.walk(call.args[1]) if isinstance(node, ast.Name)]
                assert names, f"the truth of {ast.unparse(call)} is a literal"


def calls_of(name: str, tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name]


def written_in(tree: ast.AST) -> tuple[list[str], list[str]]:
    """The texts in a program, and the fixed parts of those with braces."""
    nodes = list(ast.walk(tree))
    formats = {id(part) for node in nodes if isinstance(node, ast.FormattedValue) and node.format_spec for part in ast.walk(node.format_spec)}
    pieces = [part for node in nodes if isinstance(node, ast.JoinedStr) and id(node) not in formats for part in node.values]
    fixed = [part for part in pieces if isinstance(part, ast.Constant)]
    others = formats | {id(part) for part in fixed}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in others]
    return [text for text in texts if isinstance(text, str)], [str(part.value) for part in fixed]


def test_a_cell_that_reveals_gives_no_choice_away(lesson):
    """Read before it is run, it has none of the choices in words, or two at least; and no number beside the braces of a text."""
    choices: dict[str, list[str]] = {}
    for cell in cells(lesson, "code"):
        tree = ast.parse(cell.source)
        for question in calls_of("predict", tree):
            choices[ast.literal_eval(question.args[0])] = [str(choice) for choice in ast.literal_eval(question.args[2])]
        for call in calls_of("reveal", tree):
            texts, parts = written_in(tree)
            begun = [part for part in parts if len(part.split()) > 2]
            named = [c for c in choices[ast.literal_eval(call.args[0])] if c in texts or any(c.startswith(part) for part in begun)]
            assert len(named) != 1, f"{ast.unparse(call)} names {named[0]!r} alone"
            assert not [part for part in written_in(call)[1] if re.search(r"\d", part)], ast.unparse(call)


def test_the_code_that_is_shown_fits_into_the_window_of_a_laptop(lesson):
    for cell in cells(lesson, "code"):
        folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        for line in cell.source.splitlines()[: 1 if folded else None]:
            assert len(line) <= 108, line


def test_an_exercise_speaks_of_the_dots_where_there_are_some(lesson):
    for cell in cells(lesson, "code"):
        if is_exercise(cell):
            said = outputs_text(cell.outputs)
            assert ("Replace the ..." in said) == ("..." in cell.source), cell.source
            assert ("Change the program" in said) == ("..." not in cell.source), cell.source


def test_a_picture_that_is_to_be_stepped_through_has_a_way_back(lesson):
    before = None
    for cell in nbformat.read(lesson, as_version=4).cells:
        if cell.cell_type == "code":
            before = cell
        elif before and re.search("step (backwards )?through (the|its) picture", cell.source, re.IGNORECASE):
            [picture] = re.findall("base64,([A-Za-z0-9+/=]+)", outputs_text(before.outputs))
            assert "∂" in b64decode(picture).decode()


def test_links_lead_somewhere(lesson):
    told = "\n".join([prose(lesson), *explanations_of(lesson_of(lesson)).values()])
    for file, anchor in re.findall(r"\]\(([\w.]+\.ipynb)(?:#([^)]*))?\)", told):
        assert (lesson.parent / file).is_file(), file
        assert not anchor or anchor in anchors(lesson.parent / file), anchor


def test_each_lesson_that_is_named_is_linked_and_the_next_one_comes_first_to_read_on(lesson):
    files = {int(lesson_of(path)): path.name for path in LESSONS if lesson_of(path).isdigit()}
    number = next((number for number, name in files.items() if name == lesson.name), None)
    assert [int(n) for n in re.findall(r"(?<!\[)[Ll]essons? (\d+)", prose(lesson)) if int(n) != number] == []
    for named, file in re.findall(r"\[(?:[Ll]esson )?(\d+)\]\((.*?)\)", prose(lesson)):
        assert files[int(named)] == file
    read_on = prose(lesson).split("### Where to read on\n\n")[1]
    if number is not None and number + 1 in files:
        first = read_on[read_on.index("- ") :]
        assert first.startswith(f"- [Lesson {number + 1}]({files[number + 1]})")


def test_everything_to_read_on_is_a_link(lesson):
    items = re.findall(r"^- (?:.+\n)(?:  .+\n)*", prose(lesson).split("### Where to read on\n\n")[1], re.MULTILINE)
    assert len(items) >= 2
    assert [item for item in items if not re.search(r"\[[^]]+\]\(|\]\(", item)] == []


def test_the_glossary_is_in_alphabetical_order_and_says_each_word_once():
    words = [cell.source.splitlines()[0].removeprefix("## ") for cell in cells(GLOSSARY, "markdown")[1:]]
    assert words == sorted(words, key=str.lower)
    assert len(set(words)) == len(words)
    assert [cell.id for cell in cells(GLOSSARY, "markdown")[1:]] == [word.lower().replace(" ", "-") for word in words]
    index = re.findall(r"\[(.*?)\]\(#(.*?)\)", cells(GLOSSARY, "markdown")[0].source)
    assert index == [(word, word.replace(" ", "-")) for word in words]


def test_each_word_of_the_glossary_has_an_example_or_a_picture():
    for cell in cells(GLOSSARY, "markdown")[1:]:
        assert re.search(r"^Example: .|^!\[.+\]\(attachment:", cell.source, re.MULTILINE), cell.source


def code_that_differs(lesson: Path, translation: Path) -> list[str]:
    """The code cells of a lesson that its translation does not have, or has otherwise, and those it adds."""
    ours, theirs = ([cell.source for cell in cells(path, "code")] for path in (lesson, translation))
    return [one or other for one, other in zip_longest(ours, theirs, fillvalue="") if one != other]


def test_translations_keep_the_code(tmp_path):
    for folder in lessons_folder().parent.iterdir():
        for path in notebooks_in(folder) if folder != lessons_folder() else []:
            assert code_that_differs(lessons_folder() / path.name, path) == [], path
    translated = nbformat.read(LESSONS[0], as_version=4)
    translated.cells[0].source = "# 1. Das erste Band"
    nbformat.write(translated, tmp_path / "one.ipynb")
    assert code_that_differs(LESSONS[0], tmp_path / "one.ipynb") == []
    translated.cells[1].source += "\nimport math"
    translated.cells.append(nbformat.v4.new_code_cell("print()"))
    nbformat.write(translated, tmp_path / "two.ipynb")
    assert code_that_differs(LESSONS[0], tmp_path / "two.ipynb") == [cells(LESSONS[0], "code")[0].source, "print()"]


def test_a_lesson_has_all_its_parts(lesson):
    text = prose(lesson)
    for part in ("After this lesson you can", "minutes", "## Summary", "TensorFlow, PyTorch, JAX", "Where to read on"):
        assert part in text, part
    asked = re.findall(r'check\(\s*"([^"]+)"', "\n".join(c.source for c in cells(lesson, "code") if is_exercise(c)))
    assert asked == list(exercises_of(lesson_of(lesson)))
    assert len(asked) >= 4
    assert sum("TapeView" in cell.source for cell in cells(lesson, "code")) >= 2  # its import, and a picture
