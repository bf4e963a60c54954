"""The programs of lesson 14, and what is kept of their recordings: both are what the lesson shows and asks."""

import re
import sys

import nbformat
import pytest

import minitape as tf
from minitape.cli.lesson_files import find_lessons_folder
from minitape.common.translation import load_translations
from minitape.course.checker import collect_exercises, count_try_and_build_feedback
from minitape.course.framework_programs import FRAMEWORK_NAMES, framework_program, load_program, read_program_text

LESSON = nbformat.read(find_lessons_folder() / "14_your_own_program.ipynb", as_version=4)
SHOWN = re.findall(
    r"```python\n(.*?)```", "\n".join(c.source for c in LESSON.cells if c.cell_type == "markdown"), re.DOTALL
)


@pytest.mark.parametrize("name", FRAMEWORK_NAMES)
def test_the_lesson_shows_the_program_that_was_recorded(name):
    text = read_program_text(name)
    assert text in SHOWN
    [recorded] = load_program(name).recording.snapshot()["sources_text"].values()
    assert recorded.strip() == text.strip()


@pytest.mark.parametrize("name", FRAMEWORK_NAMES)
def test_a_line_that_has_a_number_has_the_right_one(name):
    lines = read_program_text(name).splitlines()
    numbered = {k: int(found[1]) for k, line in enumerate(lines, 1) if (found := re.search(r"# line (\d+)$", line))}
    assert len(numbered) == 4 and all(k == number for k, number in numbered.items())
    assert load_program(name).why.line in numbered


def test_the_answers_are_what_the_recordings_have():
    snapshot = load_program("torch").recording.snapshot()
    arrived = {edge["input"] for step in snapshot["sweep"]["steps"] for edge in step["edges"]}
    named = sorted(row["name"] for row in snapshot["rows"] if row["row"] in arrived and row["name"])
    assert named == collect_exercises("14")["14.1"].expect
    asked = {"14.3": "jax", "14.6": "torch_points", "14.7": "tensorflow_classes", "14.8": "jax_layers"}
    for exercise, program in asked.items():
        why = load_program(program).why
        assert {"cause": why.cause, "line": why.line} == collect_exercises("14")[exercise].expect


def test_an_explanation_of_ones_own_program_is_taken_alone_or_in_a_list():
    w = tf.Variable([0.2, 2.7], name="w")
    with tf.GradientTape(persistent=True) as tape:
        share = tf.reduce_mean(tf.cast(w > 1.0, tf.float32))
    for why in (tape.explain(share, w), tape.explain(share, [w]), {"w": tape.explain(share, w)}):
        assert "correct" in count_try_and_build_feedback("14.9", why)


@pytest.mark.parametrize(("name", "given", "words"), [
    ("14.1", [...], "not answered yet"),
    ("14.1", ("z", "w2"), "correct"),
    ("14.1", ["w2", "w1"], "The only path from z to w1 goes through line 11"),
    ("14.1", ["z"], "Which of the two inputs of z"),
    ("14.1", "w2", "write it in square brackets"),
    ("14.2", ["D", "B"], "correct"),
    ("14.2", {"B"}, "as steep as you like"),
    ("14.2", ["C", "D", "B"], "C: where sends gradients"),
    ("14.3", {"cause": "dead relu", "line": 6}, "correct"),
    ("14.3", {"cause": "dead_relu", "line": 5}, "The word is right"),
    ("14.3", {"cause": "stop_gradient", "line": 6}, "a cross in the picture"),
    ("14.3", {"cause": ..., "line": 6}, "not answered yet"),
    ("14.4", ..., "not answered yet"),
    ("14.5", "CE", "correct"),
    ("14.5", ["A", "C", "E"], "A: item returns a plain number"),
    ("14.5", ["E", "C", "B"], "torch.tensor copies only the numbers"),
    ("14.6", {"cause": "broadcast", "line": 9}, "In which line does this shape meet another one?"),
    ("14.6", {"cause": "saturated", "line": 10}, "a gradient does reach w"),
    ("14.7", {"cause": "activation_twice", "line": 11}, "correct"),
    ("14.7", {"cause": "activation_twice", "line": 10}, "Line 10 computes z"),
    ("14.8", {"cause": "stop_gradient", "line": 7}, "another path would be left"),
    ("14.8", {"cause": "left", "line": 8}, "both lines with a cross"),
    ("14.9", "no_grad", "use the result of explain itself"),
    ("14.9", None, "which is also what print returns"),
    ("14.9", load_program("torch").why, "as the files of this lesson's programs do"),
])  # fmt: skip
def test_answers_hear_what_they_should(name, given, words):
    assert words in count_try_and_build_feedback(name, given)


def test_a_recording_needs_no_framework():
    before = set(sys.modules)
    for name in FRAMEWORK_NAMES:
        framework_program(name)
    assert not {"torch", "tensorflow", "jax"} & (set(sys.modules) - before)
    with pytest.raises(KeyError):
        framework_program("theano")


def test_the_program_in_minitape_has_the_loss_of_the_program_in_pytorch():
    """Both divide by N: the lesson prints both numbers beside each other, and its exercise keeps the loss."""
    [cell] = [cell for cell in LESSON.cells if cell.id == "own-25b"]
    loss_line = cell.outputs[0].text.splitlines()[0]
    ours, theirs = re.findall(r"(\d\.\d+)", loss_line)
    assert ours == theirs
    assert "correction=0" in read_program_text("torch")


def test_the_answer_of_explain_comes_with_the_picture_of_its_recording():
    html = load_program("torch").why._repr_html_()
    assert "no_grad" in html and "<img" in html


def build_pattern(text: str) -> re.Pattern[str]:
    """What an English text of `explain` is when its values are put in."""
    place, seen = r"(?: \([^()]*, line \d+\)|\d+)?", set()

    def replace_field(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>{place if name in ('line', 'other') else '.+?'})"

    return re.compile(re.sub(r"\\\{(\w+)[^{}]*\\\}", replace_field, re.escape(text)))


def translate_by_explain(text: str, patterns: dict[str, re.Pattern[str]]) -> set[str]:
    """The Chinese that `explain` itself has for a text, each sentence or several by one of its own texts."""
    said = {""} if not text else set()
    for english, pattern in patterns.items():
        chinese = load_translations("explain", "zh")[english]
        for end in [i for i, c in enumerate(text, 1) if c in ".?" and text[i : i + 1] in ("", " ")]:
            if found := pattern.fullmatch(text[:end]):
                values = {name: translate_value(value) for name, value in found.groupdict().items()}
                first = re.sub(r"\{(\w+)[^{}]*\}", lambda one: values[one[1]], chinese)  # noqa: B023
                said |= {first + rest for rest in translate_by_explain(text[end:].lstrip(), patterns)}
    return said


def translate_value(value: str) -> str:
    """A place of a program, or another value of an explanation, which is the same in each language."""
    value = re.sub(r"^ \((.*), line (\d+)\)$", r"（\1，代码第 \2 行）", value)
    return re.sub(r"\bline (\d+)$|^[Ll]ine (\d+)$", lambda one: f"代码第 {one[1] or one[2]} 行", value)


@pytest.mark.parametrize("name", FRAMEWORK_NAMES)
def test_a_recorded_explanation_has_the_chinese_words_of_explain(name, monkeypatch):
    """They are translated for the lesson, sentence by sentence, and once for `explain`."""
    monkeypatch.setenv("MINITAPE_LANGUAGE", "en")
    english = load_program(name).why
    monkeypatch.setenv("MINITAPE_LANGUAGE", "zh")
    lesson = load_program(name).why
    patterns = {
        text: build_pattern(text)
        for text in load_translations("explain", "zh")
        if text.endswith(".") and len(text) > 20
    }
    for one, other in zip([english, *english.others], [lesson, *lesson.others], strict=True):
        for text, chinese in ((one.message, other.message), (one.fix, other.fix)):
            assert chinese in {said.replace("） ", "）") for said in translate_by_explain(text, patterns)}
