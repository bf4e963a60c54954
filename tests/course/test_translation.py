"""A translation needs no change in code: all that predictions and checks say comes from gettext's files.

The Chinese edition is the one that is tried; what no language has is tried with texts in brackets.
"""

import ast
import dataclasses
import functools
import json
import re

import nbformat
import pytest
from test_exercise_programs import EXERCISES, SOLUTIONS, WRONG, check_program, list_other_answers

from minitape.cli.lesson_files import find_lessons_folder, get_exercise_prefix, list_notebook_files
from minitape.cli.notebook_rules import translate_verdicts_to_english
from minitape.common import translation as texts_module
from minitape.common.translation import LANGUAGE_VARIABLES, load_translations, say
from minitape.course import Exercise, add_exercise, lesson_13, predict, progress, reveal
from minitape.course.checker import collect_exercises, count_try_and_build_feedback
from minitape.course.exercise import ADDED_EXERCISES
from minitape.course.predict import RevealedAnswer
from minitape.course.progress import get_progress_path
from tests import translate
from tests.translate import (
    collect_lesson_texts,
    collect_texts_by_domain,
    format_po_file,
    synchronize_translation,
    update_catalog,
)

LESSONS = [path for path in list_notebook_files(find_lessons_folder()) if get_exercise_prefix(path)]


@pytest.fixture(scope="module")
def texts():
    """All that the course says, by the name of its file."""
    return collect_texts_by_domain(find_lessons_folder())


def list_code_cells(path):
    """The cells of code of a notebook."""
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def put_in_brackets(text):
    """Not a language, but no English: each text in brackets, with its parts in braces kept."""
    return f"<{text}>"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which one works, in another language of the course: its files of texts lie there, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINITAPE_PROGRESS", raising=False)
    monkeypatch.setattr(texts_module, "LESSON_FOLDERS", (tmp_path,))
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], "xx")
    (tmp_path / "xx" / "texts").mkdir(parents=True)
    return tmp_path


def write_texts(folder, domain, texts):
    file = folder / "xx" / "texts" / f"{domain}.po"
    catalog = update_catalog(file, {text: [] for text in texts}, "de")
    for text in texts:
        catalog[text].string = put_in_brackets(text)
    file.write_text(format_po_file(catalog), encoding="utf-8")


@pytest.fixture
def chinese(tmp_path, monkeypatch):
    """A folder in which one works in Chinese."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINITAPE_PROGRESS", raising=False)
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], "zh")


ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")  # so many words in a row are a sentence
# a test, which may have several lines, what is quoted, Python's messages, answers, code
OF_THE_PROGRAM = re.compile(
    r"\[[x ]\] .*(?:\n {6}\S.*)*|'.*?'|\w+Error: .*|应当是：.*|这一行：.*|from \S+ import \w+|for \w+ in \w+\("
)


CELL = r"<cell \d+>"  # each program has a file of its own


def check_in_both_languages(name, check, monkeypatch):
    """What `check` says of an answer in English and in Chinese: the same verdict, and the same hint. Gives back the
    Chinese.
    """
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], "zh")
    theirs = re.sub(CELL, "<cell>", check())
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], "en")
    ours = re.sub(CELL, "<cell>", check())
    read = translate_verdicts_to_english(theirs)
    assert read.partition("\n")[0] == ours.partition("\n")[0]
    hint, theirs_hint = ours.partition("\nHint: ")[2], read.partition("\nHint: ")[2]
    files = [load_translations(domain, "zh") for domain in (name.rpartition(".")[0], "check", "explain")]
    translations = [texts.get(hint, hint) for texts in files]
    assert theirs_hint in translations or theirs_hint != hint  # put together, by explain or with values
    assert not ENGLISH.search(OF_THE_PROGRAM.sub("", theirs)), theirs
    return theirs


@pytest.mark.long(sample=5)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_hints_and_reasons_come_from_the_lessons_file(path, chinese, monkeypatch):
    lesson = get_exercise_prefix(path)
    texts = load_translations(lesson, "zh")
    monkeypatch.setattr(
        lesson_13, "_build_exercises", functools.cache(lesson_13._build_exercises)
    )  # else made for each answer
    for exercise in collect_exercises(lesson).values():
        if exercise.trials:
            continue
        monkeypatch.setitem(
            ADDED_EXERCISES, exercise.name, dataclasses.replace(exercise, view=None, order=0, also=None, from_tape="")
        )
        assert count_try_and_build_feedback(exercise.name, exercise.expect).endswith(f"\n{texts[exercise.because]}")
        for mistake in exercise.mistakes:
            if not (mistake.where or mistake.error):
                assert f"\n提示：{texts[mistake.hint]}" in count_try_and_build_feedback(exercise.name, mistake.answer)


@pytest.mark.long(sample=12)
@pytest.mark.parametrize(
    ("name", "program"),
    [
        pytest.param(name, program, marks=[pytest.mark.longest] * (place % 16 > 0))
        for place, (name, program, _) in enumerate(WRONG)
        if place % 2 == 0
    ],
)
def test_a_wrong_program_hears_the_same_in_chinese(name, program, chinese, monkeypatch):
    assert check_in_both_languages(name, lambda: check_program(name, program), monkeypatch).startswith(
        f"练习 {name}：还不对。\n"
    )


@pytest.mark.longest  # the test of the lessons' files says the same sentences
@pytest.mark.parametrize("name", [exercise.name for exercise in EXERCISES if exercise.cases or exercise.trials])
def test_a_right_program_is_right_in_chinese(name, chinese):
    assert check_program(name, SOLUTIONS[name]).startswith(f"练习 {name}：正确。\n")


@pytest.mark.parametrize(
    "exercise", [exercise for exercise in EXERCISES if not exercise.cases], ids=lambda exercise: exercise.name
)
def test_a_wrong_answer_hears_the_same_in_chinese(exercise, chinese, monkeypatch, request):
    monkeypatch.setitem(
        ADDED_EXERCISES, exercise.name, dataclasses.replace(exercise, view=None, order=0, also=None, from_tape="")
    )
    for wrong in list_other_answers(exercise.expect)[: None if request.config.getoption("--long") else 1]:
        check_in_both_languages(
            exercise.name, lambda wrong=wrong: count_try_and_build_feedback(exercise.name, wrong), monkeypatch
        )


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_questions_and_choices_are_found_for_the_translator(path, texts):
    tree = ast.parse("\n".join(cell.source for cell in list_code_cells(path)))
    asked = [
        call for call in ast.walk(tree) if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "predict"
    ]
    questions = {ast.literal_eval(call.args[1]) for call in asked}
    assert questions and questions <= set(texts[get_exercise_prefix(path)]), "every lesson has predictions"


def test_all_that_the_lessons_say_is_found_for_the_translator(tmp_path, texts, monkeypatch):
    monkeypatch.setattr(translate, "collect_texts_by_domain", lambda lessons: texts)
    left = synchronize_translation(find_lessons_folder(), tmp_path / "de")
    for path in LESSONS:
        lesson = get_exercise_prefix(path)
        assert set(texts[lesson]) >= set(collect_lesson_texts(lesson))
        assert f"{lesson}.po: {len(texts[lesson])} texts to translate" in left
    assert "To choose, run this cell." in texts["check"]
    assert len(left) == len(texts) + len(LESSONS)


def test_what_a_further_look_may_say_is_found_for_the_translator():
    told = collect_lesson_texts("04") + collect_lesson_texts("03")
    assert any("your tape watched a" in text for text in told)
    assert "The number is right, but no variable was changed." in told
    assert any(text.startswith("`W` and `b` aren't trainable") for text in told), "an explanation"


def test_a_prediction_is_compared_with_the_truth_in_the_language(folder, capsys, texts):
    write_texts(folder, "t", ["an error", "Because."])
    write_texts(folder, "check", texts["check"])
    question = predict("t.p1", "Was ist y?", ["<an error>", 6.0])
    assert repr(question) == "<Predict: Was ist y?>\n  - <an error>\n  - 6.0\n<To choose, run this cell.>"
    assert question.commit("<an error>") == "<You say <an error>. Let's find out: press Shift+Enter twice.>"
    assert json.loads(get_progress_path().read_text())["predictions"] == {"t.p1": "<an error>"}
    assert question._build_widget().chosen == "<an error>"
    assert (
        predict("t.p1", "Was ist y?", ["<an error>", 6.0]).describe_previous_choice()
        == "<Last time, you predicted: <an error>. What do you predict today?>"
    )
    reveal("t.p1", "an error")
    assert capsys.readouterr().out == "<You said <an error>, and that's right.>\n"
    reveal("t.p1", 6.0, "Because.")
    assert capsys.readouterr().out == "<You predicted <an error>.> <The answer: 6.0>\n\n<Because.>\n"
    assert RevealedAnswer("t.p1", 6.0, "Because.").to_text().endswith("\n\n<Because.>")


def test_the_feedback_is_translated_and_its_marks_are_read_in_each_language(folder, capsys, texts):
    write_texts(folder, "check", texts["check"])
    add_exercise(Exercise("said.1", expect=6.0))
    assert (
        count_try_and_build_feedback("said.1")
        == "<Exercise said.1: not answered yet.>\n<Replace the ... with your answer and run the cell again.>"
    )
    assert count_try_and_build_feedback("said.1", 9.0) == (
        "<Exercise said.1: not yet.>\n  <given:    9.0>\n  <expected: <<a number> (the answer is shown after 2 more "
        "tries)>>\n"
        "  <The number is too large.>"
    )
    assert "<your answer is <a string>, not <a number>>" in count_try_and_build_feedback("said.1", "x")
    progress("said")
    assert capsys.readouterr().out == "<<Lesson said>: . 0 of 1 solved><   left: said.1>\n"


def test_what_check_said_is_read_in_english():
    assert (
        translate_verdicts_to_english("练习 said.1：还不对。\n  你的答案：9.0")
        == "Exercise said.1: not yet.\n  given:    9.0"
    )


def test_no_sentence_of_the_package_is_said_without_say():
    """Each text with a blank in it that a function of these files gives back or prints goes through `say`."""
    for name in ("checker", "predict", "answer_comparison"):
        tree = ast.parse(
            (find_lessons_folder().parents[1] / "minitape" / "course" / f"{name}.py").read_text(encoding="utf-8")
        )
        inside = {
            id(node)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "say"
            for node in ast.walk(call)
        }
        returned = [node for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None]
        texts = [
            node.value
            for one in returned
            for node in ast.walk(one)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside
        ]
        said = [text for text in texts if re.search(r"[a-z]{3,} [a-z]{2,}", text)]
        assert [text for text in said if not text.startswith((": not yet", "The exercise", "This lesson has"))] == []


def test_what_is_marked_as_fuzzy_stays_english(folder):
    write_texts(folder, "01", ["an error", "a number"])
    file = folder / "xx" / "texts" / "01.po"
    assert say("an error", "01") == "<an error>"
    text = file.read_text(encoding="utf-8").replace(
        'msgid "an error"', '#, fuzzy\n#| msgid "the error"\nmsgid "an error"'
    )
    file.write_text(text, encoding="utf-8", newline="\r\n")
    assert (say("an error", "01"), say("a number", "01")) == ("an error", "<a number>")
    assert say("an error", "02") == "an error"


def test_a_long_text_is_read_as_gettext_writes_it(folder):
    long = (
        'A text of several lines,\n\twith "quotes" and a \\, which is so long that it is broken ' + "and broken " * 20
    )
    write_texts(folder, "01", [long])
    assert say(long, "01") == f"<{long}>"


def test_what_is_said_of_a_class_comes_from_the_lessons_file(folder):
    write_texts(folder, "12", collect_lesson_texts("12"))

    class Tape:
        rows = None

    trial = collect_exercises("12")["12.1"].trials[0]
    assert count_try_and_build_feedback("12.1", Tape).endswith(
        "Hint: <The rows of a new tape are None. A list that's empty is written as self.rows = [].>"
    )
    Tape.rows = (1,)
    assert [count_try_and_build_feedback("12.1", Tape).rpartition("Hint: ")[2] for _ in range(3)] == [
        f"<{hint}>" for hint in (*trial.hints[1:], trial.hints[-1])
    ]
