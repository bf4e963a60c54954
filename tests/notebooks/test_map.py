"""The maps of minitape's files in lesson 12 are traces of one call: they hold what ran, and the lesson names nothing
else.
"""

import re
import sys

import nbformat
import pytest

import minitape as tf
from minitape.cli.lessons import lessons_folder
from minitape.cli.rules import outputs_text
from minitape.course.call_map import map_calls
from minitape.course.rule_table import rules_of

CELLS = nbformat.read(lessons_folder() / "12_build_your_own_tape.ipynb", as_version=4).cells


def product():
    """The ways forwards and back of a product of two variables, as the lesson follows them."""
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    for _ in range(2):  # at the first time more is called
        with tf.GradientTape() as tape:
            forwards = map_calls(lambda: a * b, tape)
        back = map_calls(lambda: tape.gradient(forwards.value, [a, b]))  # noqa: B023  it is called at once
    return forwards, back


def test_each_step_of_a_map_stands_where_it_says(repository):
    forwards, back = product()
    for step in (*forwards.steps, *back.steps):
        if step.file.startswith("<"):
            continue
        line = (repository / "minitape" / step.file).read_text(encoding="utf-8").splitlines()[step.line - 1]
        assert (
            step.name.rpartition(".")[2] in line
            or line.lstrip().startswith("@")
            or "lambda" in line
            or "<" in step.name
        ), (step, line)


def test_a_map_has_the_rows_that_were_written_and_the_rules_that_were_asked():
    forwards, back = product()
    assert [step.rows for step in forwards.writers()] == [1, 2, 3]
    assert [gradient.numpy() for gradient in back.value] == [3.0, 2.0]
    assert back.rule("g * y").caller is back.rule("g * x").caller is not None
    assert all(step.depth == step.caller.depth + 1 for step in back.steps if step.caller)
    assert [part.strip() for part in rules_of("multiply")[0].split("|")[-2:]] == ["g * y", "g * x"]


def test_what_does_not_run_is_on_no_map():
    y = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = y + y
    assert "g * y" not in {step.formula for step in map_calls(lambda: tape.gradient(z, y)).steps}


def test_following_leaves_no_trace_and_lets_errors_through():
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        map_calls(lambda: 1 / 0)
    assert sys.getprofile() is before


def test_the_maps_that_are_saved_are_of_files_that_are_there(repository):
    """Where this fails, the engine was moved: minitape save notebooks/en/12_build_your_own_tape.ipynb"""
    shown = "\n".join(outputs_text(cell.outputs) for cell in CELLS if cell.id in ("own-tape-45a", "own-tape-48"))
    steps = re.findall(r"([\w.<>]+) +(engine/\S+\.py):\d+", shown)
    assert len(steps) > 20
    for name, file in steps:
        assert (
            name.rpartition(".")[2].strip("<>") in (repository / "minitape" / file).read_text(encoding="utf-8")
            or "<" in name
        ), (name, file)


def test_the_lesson_s_text_names_no_file_or_function_of_the_engine():
    """They move; the maps move with them."""
    prose = "\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")
    assert re.findall(r"`minitape/(?!speed/`)[\w/]*`|`\w+\.py`|`(?:Sweep|Record)\.\w+`", prose) == []
