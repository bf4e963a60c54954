"""A translation needs no change in code: all that predictions and checks say comes from one file per lesson.

The Chinese edition is the one that is tried; what no language has is tried with texts in brackets.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import shutil

import pytest
from test_exercise_programs import EXERCISES, SOLUTIONS, WRONG, answer, other_answers

from minitape.cli.lessons import lesson_of, lessons_folder, notebooks_in
from minitape.cli.rules import in_english
from minitape.common.texts import look_up, say, table
from minitape.course import Exercise, add_exercise, predict, progress, reveal
from minitape.course.checker import exercises_of, feedback
from minitape.course.exercise import ADDED
from minitape.course.predict import Revealed
from minitape.course.progress import progress_file
from minitape.course.translation import keep_in_step, labels_in, texts_in, texts_of, texts_of_feedback

CHINESE = lessons_folder().parent / "zh"
LESSONS = [path for path in notebooks_in(lessons_folder()) if lesson_of(path)]


def translated(text):
    """Not a language, but no English: each text in brackets, with its parts in braces kept."""
    return f"<{text}>"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of lessons in another language, in which one works."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINITAPE_PROGRESS", raising=False)
    (tmp_path / "texts").mkdir()
    return tmp_path


def write(folder, lesson, texts):
    texts = {text: translated(text) for text in texts}
    (folder / "texts" / f"{lesson}.json").write_text(json.dumps(texts), encoding="utf-8")


@pytest.fixture
def chinese(folder):
    """A folder of Chinese lessons, in which one works."""
    shutil.rmtree(folder / "texts")
    shutil.copytree(CHINESE / "texts", folder / "texts")
    return folder


ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")  # so many words in a row are a sentence
# what is quoted, Python's messages, answers, code
OF_THE_PROGRAM = re.compile(r"\[[x ]\] .*|'.*?'|\w+Error: .*|应当是：.*|from \S+ import \w+")


CELL = r"<cell \d+>"  # each program has a file of its own


def said_in_both(name, check, folder, monkeypatch):
    """What `check` says of an answer in English and in Chinese: the same verdict, and the same hint. Gives back the
    Chinese.
    """
    monkeypatch.chdir(folder)
    theirs = re.sub(CELL, "<cell>", check())
    monkeypatch.chdir(folder / "texts")  # where no language is
    ours = re.sub(CELL, "<cell>", check())
    read = in_english(theirs)
    assert read.partition("\n")[0] == ours.partition("\n")[0]
    hint, theirs_hint = ours.partition("\nHint: ")[2], read.partition("\nHint: ")[2]
    translations = [look_up(hint, table(lesson, folder)) for lesson in (name.rpartition(".")[0], "feedback", "explain")]
    assert theirs_hint in translations or ("<cell>" in hint and hint != theirs_hint)  # explain puts its own together
    assert not ENGLISH.search(OF_THE_PROGRAM.sub("", theirs)), theirs
    return theirs


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_hints_and_reasons_come_from_the_lessons_file(path, chinese, monkeypatch):
    lesson = lesson_of(path)
    texts = table(lesson, CHINESE)
    for exercise in exercises_of(lesson).values():
        if exercise.trials:
            continue
        monkeypatch.setitem(ADDED, exercise.name, dataclasses.replace(exercise, view=None, order=0, also=None))
        assert feedback(exercise.name, exercise.expect).endswith(f"\n{texts[exercise.because]}")
        for mistake in exercise.mistakes:
            if not (mistake.where or mistake.error):
                assert f"\n提示：{texts[mistake.hint]}" in feedback(exercise.name, mistake.answer)


@pytest.mark.parametrize(
    ("name", "program"),
    [
        pytest.param(name, program, marks=[] if n % 8 == 0 else pytest.mark.long)
        for n, (name, program, _) in enumerate(WRONG)
    ],
)
def test_a_wrong_program_hears_the_same_in_chinese(name, program, chinese, monkeypatch):
    assert said_in_both(name, lambda: answer(name, program), chinese, monkeypatch).startswith(
        f"练习 {name}：还不对。\n"
    )


@pytest.mark.long
@pytest.mark.parametrize("name", [exercise.name for exercise in EXERCISES if exercise.cases or exercise.trials])
def test_a_right_program_is_right_in_chinese(name, chinese):
    assert answer(name, SOLUTIONS[name]).startswith(f"练习 {name}：正确。\n")


@pytest.mark.parametrize(
    "exercise", [exercise for exercise in EXERCISES if not exercise.cases], ids=lambda exercise: exercise.name
)
def test_a_wrong_answer_hears_the_same_in_chinese(exercise, chinese, monkeypatch, request):
    monkeypatch.setitem(ADDED, exercise.name, dataclasses.replace(exercise, view=None, order=0, also=None))
    for wrong in other_answers(exercise.expect)[: None if request.config.getoption("--long") else 1]:
        said_in_both(exercise.name, lambda wrong=wrong: feedback(exercise.name, wrong), chinese, monkeypatch)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_questions_and_choices_come_from_the_lessons_file(path, folder):
    lesson = lesson_of(path)
    texts = texts_in(path)
    assert texts, "every lesson has predictions"
    write(folder, lesson, texts)
    for text in texts:
        shown = predict(f"{lesson}.p1", text, [text, 1.0])
        assert (shown.text, shown.choices) == (f"<{text}>", (f"<{text}>", "1.0"))


def test_all_that_the_lessons_say_is_found_for_the_translator(tmp_path):
    left = keep_in_step(lessons_folder(), tmp_path / "de")
    for path in LESSONS:
        texts = json.loads((tmp_path / "de" / "texts" / f"{lesson_of(path)}.json").read_text(encoding="utf-8"))
        assert list(texts) == list(dict.fromkeys([*texts_in(path), *texts_of(lesson_of(path))]))
        assert set(texts.values()) == {""}
        assert f"{lesson_of(path)}.json: no translation yet of {next(iter(texts))!r}" in left
        assert table("labels", tmp_path / "de").keys() >= set(labels_in(path))
    assert "To choose, run this cell." in table("feedback", tmp_path / "de")


def test_what_a_further_look_may_say_is_found_for_the_translator():
    told = texts_of("04") + texts_of("03")
    assert any("so the None is not what it says" in text for text in told)
    assert "The number is right, but no variable was changed." in told
    assert any(text.startswith("`y` is not trainable") for text in told), "an explanation"


def test_a_prediction_is_kept_in_english_and_shown_in_the_language(folder, capsys):
    write(folder, "t", ["What is y?", "an error"])
    write(folder, "feedback", texts_of_feedback())
    question = predict("t.p1", "What is y?", ["an error", 6.0])
    assert repr(question) == "<Predict: <What is y?>>\n  - <an error>\n  - 6.0\n<To choose, run this cell.>"
    assert question.commit("<an error>") == "<You predict: <an error>. Now run the next cell.>"
    assert json.loads(progress_file().read_text())["predictions"] == {"t.p1": "an error"}
    assert question._widget().chosen == "<an error>"
    assert (
        predict("t.p1", "What is y?", ["an error", 6.0]).before()
        == "<Last time you predicted: <an error>. What do you say today?>"
    )
    reveal("t.p1", "an error")
    assert capsys.readouterr().out == "<You predicted <an error>, and so it is.>\n"
    reveal("t.p1", 6.0, "What is y?")
    assert capsys.readouterr().out.startswith("<You predicted <an error>.> <The answer: 6.0>\n\n<Stop here")
    assert Revealed("t.p1", 6.0, "What is y?").text().endswith("\n\n<What is y?>")


def test_the_feedback_is_translated_and_its_marks_are_read_in_each_language(folder, capsys):
    write(folder, "feedback", texts_of_feedback())
    add_exercise(Exercise("said.1", expect=6.0))
    assert (
        feedback("said.1")
        == "<Exercise said.1: not answered yet.>\n<Replace the ... with your answer, and run the cell again.>"
    )
    assert feedback("said.1", 9.0) == (
        "<Exercise said.1: not yet.>\n  <given:    9.0>\n  <expected: <<a number> (shown after 2 more tries)>>\n"
        "  <That is too large.>"
    )
    for said in ("<Exercise said.1: not yet.>\n  <given:    9.0>", "练习 said.1：还不对。\n  你给的：9.0"):
        assert in_english(said) == "Exercise said.1: not yet.\n  given:    9.0"
    assert "<expected <a number>, got <a text>>" in feedback("said.1", "x")
    progress("said")
    assert capsys.readouterr().out == "<Lesson said: . 0 of 1 solved><   left: said.1>\n"


def test_no_sentence_of_the_package_is_said_without_say():
    """Each text with a blank in it that a function of these files gives back or prints goes through `say`."""
    for name in ("checker", "predict", "compare"):
        tree = ast.parse(
            (lessons_folder().parents[1] / "minitape" / "course" / f"{name}.py").read_text(encoding="utf-8")
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
        assert [
            text for text in said if not text.startswith((": not yet", "There is no exercise", "This lesson has"))
        ] == []


def test_a_file_that_cannot_be_read_is_warned_of_and_the_texts_stay_english(folder):
    (folder / "texts" / "01.json").write_text("{", encoding="utf-8")
    with pytest.warns(UserWarning, match="01.json cannot be read, so its texts stay English"):
        assert say("an error", "01") == "an error"
    assert say("an error", "02") == "an error"


def test_a_name_reads_no_file_of_another_folder(folder):
    (folder / "secret.json").write_text('{"said": "secret"}')
    assert say("said", "../secret") == say("said", str(folder / "secret")) == "said"


def test_what_is_said_of_a_class_comes_from_the_lessons_file(folder):
    write(folder, "12", texts_of("12"))

    class Tape:
        rows = None

    trial = exercises_of("12")["12.1"].trials[0]
    assert feedback("12.1", Tape).endswith("Hint: It gives nothing back. Is there a return?")
    Tape.rows = (1,)
    assert [feedback("12.1", Tape).rpartition("Hint: ")[2] for _ in range(3)] == [
        f"<{hint}>" for hint in (*trial.hints[1:], trial.hints[-1])
    ]
