"""Learners can step into generated code, because debuggers, tracebacks and ``inspect`` can show its text."""

import gc
import inspect
import io
import linecache
import pdb
import subprocess
import sys
import textwrap
import traceback

import pytest

import minitape as tf
from minitape.engine.record.user_frames import OWN_FILES, find_user_frame
from minitape.engine.table.generated_code import compile_expression, execute_definitions
from minitape.engine.table.primitives import TABLE
from minitape.engine.table.primitives.elementwise import ARRAY_FORMS
from minitape.explain.uncaught_errors import add_advice_and_hide_frames


def test_inspect_shows_the_source_of_an_operator():
    source = inspect.getsource(type(tf.constant(1.0)).__mul__)
    compile(textwrap.dedent(source), "source", "exec")
    assert source.lstrip().startswith("def ")


def test_inspect_shows_the_formula_of_a_rule():
    rule = compile_expression("g * cos(x)", {"cos": float})
    assert inspect.getsource(rule) == "lambda g, z, x, y=None: g * cos(x)\n"
    rule = ARRAY_FORMS[TABLE["multiply"].code].rules[0]
    assert inspect.getsource(rule) == "lambda g, z, x, y=None: g * y\n"


def test_texts_with_equal_labels_have_different_file_names():
    first = execute_definitions("def f():\n    return 1\n", "<formula f>", {})["f"]
    second = execute_definitions("def f():\n    return 2\n", "<formula f>", {})["f"]
    assert first.__code__.co_filename != second.__code__.co_filename
    assert inspect.getsource(first) == "def f():\n    return 1\n"
    assert inspect.getsource(second) == "def f():\n    return 2\n"


def test_a_source_is_kept_as_long_as_its_function():
    function = execute_definitions("def f():\n    return 1\n", "<formula f>", {})["f"]
    label = function.__code__.co_filename
    linecache.checkcache()  # ``traceback`` calls this before it prints a line.
    assert linecache.getlines(label) == ["def f():\n", "    return 1\n"]
    del function
    gc.collect()
    assert label not in linecache.cache


def test_the_lines_of_a_real_file_are_read_by_python(tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text("def f():\n    return 1\n", encoding="utf-8")
    function = execute_definitions(file.read_text(encoding="utf-8"), str(file), {})["f"]
    assert str(file) not in linecache.cache
    assert inspect.getsource(function) == "def f():\n    return 1\n"


@pytest.mark.parametrize("label", ["<formula f>", "<minitape_kernels_f>"])
def test_generated_code_is_never_a_statement_of_the_user(label):
    text = "def f(find, get_frame):\n    return find(get_frame())\n"
    function = execute_definitions(text, label, {})["f"]
    assert OWN_FILES[function.__code__.co_filename]
    assert function(find_user_frame, sys._getframe).f_code.co_filename == __file__


def test_python_shows_the_generated_line_but_minitape_hides_its_frame():
    divide = compile_expression("x / y", {}, "x, y")
    with pytest.raises(ZeroDivisionError) as raised:
        divide(1, 0)
    assert "lambda x, y: x / y" in "".join(traceback.format_exception(raised.value))
    shown = add_advice_and_hide_frames(raised.value, raised.value.__traceback__)
    assert [frame.filename for frame in traceback.extract_tb(shown)] == [__file__]


def test_an_uncaught_error_of_an_operator_shows_only_the_program(tmp_path):
    program = tmp_path / "train.py"
    program.write_text("import minitape as tf\nx = tf.constant([1.0, 2.0])\nx * tf.constant([1.0, 2.0, 3.0])\n")
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    files = [line.split('"')[1] for line in run.stderr.splitlines() if line.startswith("  File ")]
    assert files == [str(program)], run.stderr


def test_pdb_steps_into_an_operator_and_lists_its_lines():
    output = io.StringIO()
    commands = io.StringIO("step\nstep\nlonglist\ncontinue\n")
    debugger = pdb.Pdb(stdin=commands, stdout=output, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    x = tf.constant(3.0)
    trace = sys.gettrace()
    try:
        debugger.runeval("x * x", {}, {"x": x})
    finally:
        sys.settrace(trace)
    assert f"def {type(x).__mul__.__code__.co_name}(" in output.getvalue(), output.getvalue()
