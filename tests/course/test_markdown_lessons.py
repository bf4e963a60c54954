"""A lesson has one source: the notebook agrees with it, and Python and the source know the same names."""

import json
import sys
from dataclasses import fields, replace
from importlib import import_module
from types import SimpleNamespace

import nbformat
import pytest
from test_exercise_programs import check_program

from minitape.cli.lesson_files import find_lessons_folder
from minitape.cli.notebook_rules import format_outputs
from minitape.course.course_texts import LessonTexts, list_built_in_lessons, read_lesson
from minitape.course.exercise import ADDED_EXERCISES, Exercise, Mistake, collect_exercises
from tests.build_lessons import build_notebook, list_missing_output_lines
from tests.lesson_source import (
    LessonSourceError,
    get_lesson_name,
    list_lesson_sources,
    parse_lesson,
    read_lesson_source,
    require_matching_texts,
)
from tests.translate import list_remaining_texts, take_translations_from_source, update_catalog

SOURCES = list_lesson_sources()
FOLDER = find_lessons_folder()
EXERCISE = """\
# Lesson

<!-- exercise -->

```python
answer = ...
check("99.1", answer)
```

<details><summary>Solution</summary>

```python
answer = {"A": 3.0, "B": [1.0]}
check("99.1", answer)
```

→ Exercise 99.1: correct. Both are slopes.

</details>

> **Hints**
>
> 1. What is a slope?

> **Wrong answer**
>
> ```python
> answer = {"A": 4.0, "B": [1.0]}
> ```
>
> → 4.0 is the value.

> **Wrong answers**
>
> - B: `[2.0]` → 2.0 is twice as much.
>
> - *much too large* → That is huge.
"""


@pytest.fixture(params=SOURCES, ids=[path.stem for path in SOURCES])
def source(request):
    return request.param


def read_notebook(source):
    return json.loads((FOLDER / f"{source.stem}.ipynb").read_text(encoding="utf-8"))


def test_a_notebook_is_built_from_its_source(source):
    """Where this fails: python -m tests.build_lessons, then minitape save."""
    saved = read_notebook(source)
    built, cells_to_run = build_notebook(parse_lesson(source.read_text(encoding="utf-8"), source.name), saved)
    assert cells_to_run == []
    assert built == saved


def test_replies_are_those_of_the_source(source):
    """Where this fails: python -m tests.build_lessons."""
    lesson = get_lesson_name(source)
    texts = read_lesson(lesson)
    assert texts == LessonTexts(**{part.name: getattr(read_lesson_source(lesson), part.name) for part in fields(texts)})


def test_each_notebook_has_a_source():
    assert [path.stem for path in sorted(FOLDER.glob("*.ipynb"))] == [path.stem for path in SOURCES]


def test_the_output_that_a_source_quotes_is_what_the_cell_prints(source):
    saved_cells = nbformat.read(FOLDER / f"{source.stem}.ipynb", as_version=4).cells
    cells = zip(read_lesson_source(get_lesson_name(source)).cells, saved_cells, strict=True)
    missing = [
        (cell.line, line)
        for cell, saved in cells
        for line in list_missing_output_lines(cell, format_outputs(saved.get("outputs", [])))
    ]
    assert missing == []


def test_a_quoted_line_that_the_output_lacks_is_noticed():
    cell = parse_lesson("```python\nprint(1, 2)\n```\n\n```text\n1 2\n...\n3\n[TapeView]\n```\n").cells[0]
    assert list_missing_output_lines(cell, "0\n1 2\n2\n3\n") == []
    assert list_missing_output_lines(cell, "3\n1 2\n") == ["3"]


def test_a_new_cell_gets_an_id_and_the_others_keep_theirs_with_their_outputs():
    text = "# Title\n\n```python\nx = 1\n```\n\nText\n\n```python\ny = 2\n```\n"
    first, cells_to_run = build_notebook(parse_lesson(text), {"cells": []})
    assert cells_to_run == ["cell-002", "cell-004"]
    for cell in first["cells"]:
        cell |= {"execution_count": 1, "outputs": [cell["id"]]} if cell["cell_type"] == "code" else {}
    second, cells_to_run = build_notebook(parse_lesson(f"<!-- id: goal -->\n\n```python\n1\n```\n\n{text}"), first)
    assert [cell["id"] for cell in second["cells"][:3]] == ["goal", "cell-001", "cell-002"]
    assert cells_to_run == ["goal"]
    assert second["cells"][2]["outputs"] == ["cell-002"]


TRANSLATED = """\
# Freezing

{zh} # 冻结

One. Two.

{zh} 二。

{zh} 一。

> **Replies to 01.p1**
>
> - *9.0*: That is y.
>
>   {zh} 那是 y。
>
> - and to everybody: First.
>
>   Second.
>
>   {zh} 全部。

> **Again 01.p1**: What is it?
>
> {zh} 是什么？
>
> - *none*
>
>   {zh} 没有
>
> - **6.0**
>
> Because.
>
> {zh} 因为。

> **Hints to 01.1**
>
> 1. Why?
>
>    {zh} 为什么？

> **Wrong answers to 01.1**
>
> - `8.0` → That is y.
>
>   {zh} 那是 y。
"""


def test_a_translation_stands_below_its_english_paragraph():
    lesson = parse_lesson(TRANSLATED)
    assert [cell.source for cell in lesson.cells] == ["# Freezing\n\nOne. Two."]
    assert lesson.translations == {
        "zh": {
            "# Freezing": "# 冻结",
            "One. Two.": "二。\n\n一。",
            "That is y.": "那是 y。",
            "First.\n\nSecond.": "全部。",
            "What is it?": "是什么？",
            "none": "没有",
            "Because.": "因为。",
            "Why?": "为什么？",
        }
    }
    assert lesson.replies == {"01.p1": {"9.0": "That is y."}}
    assert lesson.exercises["01.1"].hints == ["Why?"]
    assert lesson.retry_questions["01.p1"].choices == ["none", "6.0"]


def test_the_catalog_takes_the_translation_from_the_source(tmp_path):
    (tmp_path / "99.po").write_text('#, fuzzy\nmsgid "One."\nmsgstr "old"\n', encoding="utf-8")
    catalog = update_catalog(tmp_path / "99.po", {"One.": ["99.md"], "Two.": ["99.md"]}, "zh")
    take_translations_from_source(catalog, {"One.": "一。"})
    assert list_remaining_texts(catalog) == ["new: 'Two.'"]
    assert catalog["One."].string == "一。"


@pytest.fixture
def lesson(monkeypatch):
    monkeypatch.setattr("minitape.course.exercise.read_lesson", lambda name: parse_lesson(EXERCISE))
    monkeypatch.setattr("minitape.course.exercise.list_built_in_lessons", lambda: ["99"])


def test_an_exercise_gets_its_texts_from_the_source(lesson, monkeypatch):
    huge = Mistake({"A": 1e9}, named="much too large")
    module = SimpleNamespace(EXERCISES=(Exercise("99.1", expect={"A": 3.0, "B": [1.0]}, mistakes=[huge]),))
    monkeypatch.setitem(sys.modules, "minitape.course.lesson_99", module)
    exercise = collect_exercises("99")["99.1"]
    assert exercise.hint == ("What is a slope?",)
    assert exercise.because == "Both are slopes."
    assert [(mistake.answer, mistake.hint) for mistake in exercise.mistakes] == [
        ({"A": 4.0, "B": [1.0]}, "4.0 is the value."),
        ({"A": 3.0, "B": [2.0]}, "2.0 is twice as much."),
        ({"A": 1e9, "B": [1.0]}, "That is huge."),
    ]


@pytest.mark.parametrize(
    ("exercises", "problem"),
    [
        ([Exercise("99.1", expect={"A": 3.0, "B": [1.0]})], "much too large"),
        ([], "99.1"),
        ([Exercise("99.2", expect=3.0)], "99.1"),
        (
            [
                Exercise(
                    "99.1",
                    expect={"A": 3.0},
                    mistakes=[Mistake({"A": 1.0}, named="n o"), Mistake({"A": 1.0}, named="much too large")],
                )
            ],
            "n o",
        ),
    ],
)
def test_a_text_without_use_and_a_name_without_text_are_errors(exercises, problem):
    with pytest.raises(LessonSourceError, match=problem):
        require_matching_texts(parse_lesson(EXERCISE), exercises)


@pytest.mark.parametrize("number", sorted(list_built_in_lessons()))
def test_python_and_the_source_of_a_lesson_name_the_same(number):
    exercises = import_module(f"minitape.course.lesson_{number}").EXERCISES
    # Lesson 13 writes the hints of some exercises when it builds them.
    require_matching_texts(read_lesson(number), [exercise for exercise in exercises if not exercise.hint])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```python\nx = 1", "line 1: this fence has no end"),
        ("\n<!-- exercise -->\n\n```python\nx = ...\n```", "no call of check"),
        ("> **Hints**\n>\n> 1. Why?", "no exercise comes before"),
        ("> **Replies to 01.p1**\n>\n> - 9.0: no", "names no choice"),
        ("> **Sentences**\n>\n> - no name", "not a wrong answer"),
    ],
)
def test_a_line_that_does_not_fit_the_form_is_named(text, problem):
    with pytest.raises(LessonSourceError, match=problem):
        parse_lesson(text)


def test_a_whole_wrong_program_is_known_by_what_it_does(monkeypatch, tmp_path):
    monkeypatch.setenv("MINITAPE_PROGRESS", str(tmp_path / "progress.json"))
    wrong = "def derivative(f, value):\n    x = tf.Variable(value)\n    return 7.0 * f(x)"
    exercise = replace(collect_exercises("01")["01.2"], changes={wrong: "Seven times the value."})
    monkeypatch.setitem(ADDED_EXERCISES, "01.2", exercise)
    other = "def slope(function, point):\n    return function(tf.constant(7.0 * point - 6.0 * point)) * 7.0"
    assert "Hint: Seven times the value." in check_program("01.2", other)
