"""A recording that is written by hand: what pictures make of it, without any framework."""

import contextlib
import gc
import importlib
import io
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import minitape as tf
from minitape.bridges import Recording
from minitape.common.translation import LANGUAGE_VARIABLES
from minitape.picture import shown_values
from minitape.picture.shown_values import text_options
from minitape_widgets import TapeView
from minitape_widgets.live_updates import flush_view
from minitape_widgets.saved_page import build_html_page

from .cases import compile_program

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("bridges.md", "write_a_bridge.md"))
ASKED = [
    (code, *case)
    for code, end in (("en", ".md"), ("zh", ".zh.md"))
    for page in ("explain", "explain_loop", "explain_model")
    for case in re.findall(
        r"```python\n(.*?)```\n\n```text\n(.*?)```", (DOCS / f"{page}{end}").read_text(encoding="utf-8"), re.DOTALL
    )
]


def build_recording_by_hand():
    recording = Recording("by hand")
    x = recording.add_leaf(3.0, name="x", site=("<program>", 1))
    c = recording.add_leaf(2.0, kind="constant", tracked=False)
    y = recording.add_operation("mul", [x, c], 6.0, label="×", site=("<program>", 2), scope=("net",))
    recording.add_operation("floor", [y], 6.0, tracked=False, cut="nondifferentiable")
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, 1.0)
    sweep.send(y, x, 0, 2.0, 2.0)
    sweep.set_adjoint(x, 2.0)
    return recording


def test_a_result_has_the_name_that_a_call_of_several_lines_assigns(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("half = divide(\n    add(x, 1.0),\n    2.0,\n)\n", encoding="utf-8")
    recording = Recording("by hand")
    x = recording.add_leaf(3.0, name="x")
    total = recording.add_operation("add", [x], 4.0, site=(str(program), 2))
    recording.add_operation("divide", [total], 2.0, site=(str(program), 1))
    recording.close()
    assert [row["name"] for row in tf.snapshot(recording)["rows"]] == ["x", None, "half"]


def test_a_snapshot_is_what_the_format_says():
    recording = build_recording_by_hand()
    recording.close()
    tape_x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(tape_x)
        tape_y = tape_x * 2.0
    like, snapshot = tf.snapshot(tape, tape_y, tape_x), tf.snapshot(recording)
    assert snapshot.keys() == like.keys()
    assert snapshot["rows"][2].keys() == like["rows"][-1].keys()
    assert snapshot["tapes"][0].keys() == like["tapes"][0].keys()
    assert snapshot["sweep"].keys() == like["sweep"].keys()
    assert snapshot["sweep"]["steps"][0].keys() == like["sweep"]["steps"][0].keys()
    assert snapshot["sweep"]["steps"][0]["edges"][0].keys() == like["sweep"]["steps"][0]["edges"][0].keys()
    assert [row["status"] for row in snapshot["rows"]] == ["recorded", "recorded", "recorded", "ghost"]


def test_a_view_shows_a_recording_when_it_is_complete():
    recording = build_recording_by_hand()
    view = TapeView(recording)
    assert repr(view) == "TapeView(0 rows, 1 tape)"
    recording.close()
    flush_view(view)
    assert repr(view) == "TapeView(4 rows, 1 tape)"
    assert view._build_snapshot()["sweep"].items() >= recording.snapshot()["sweep"].items()
    view.close()


def test_a_picture_of_many_rows_reads_the_ends():
    recording = Recording("long")
    row = recording.add_leaf(0.0, name="x")
    for k in range(3000):
        row = recording.add_operation("add", [row], float(k))
    recording.close()
    rows = tf.draw(recording).snapshot["rows"]
    assert (len(rows), rows[0]["row"], rows[-1]["row"]) == (2000, 0, 3000)


def test_a_long_recording_leaves_out_the_elements_in_the_texts_of_its_arrays(monkeypatch):
    values = [np.float32(0.1), np.array([0.5, -1.25]), np.arange(300.0), np.array([0.5, np.nan])]

    def read_shown_values():
        recording = Recording("long")
        for value in values:
            recording.add_leaf(value, name="x")
        recording.close()
        shown, in_view = recording.snapshot()["rows"], TapeView(recording).read_snapshot()["rows"]
        assert [row["value"] for row in shown] == [row["value"] for row in in_view]
        return [row["value"] for row in shown]

    whole = read_shown_values()
    assert [value["text"] for value in whole[:2]] == [str(value) for value in values[:2]]
    assert whole[2]["text"] == "[  0.   1. ... 298. 299.]"
    monkeypatch.setattr(shown_values, "MAX_ROWS_WITH_TEXTS", 2)
    brief = read_shown_values()
    assert [value["text"] for value in brief] == ["0.1", "", "[0.0 … 299.0]", "[0.5 nan]"]
    assert [value | {"text": ""} for value in brief] == [value | {"text": ""} for value in whole]
    assert whole[3]["data"] == [0.5, "nan"] and not text_options.are_brief


def test_garbage_is_not_collected_while_a_snapshot_or_page_is_built(monkeypatch):
    seen = []
    recording = Recording("by hand")
    recording.add_leaf(1.0, name="x")
    recording.close()
    monkeypatch.setattr(recording, "build_inside_fields_of_calls", lambda target: seen.append(gc.isenabled()) or [])
    assert gc.isenabled()
    recording.snapshot()
    assert (seen, gc.isenabled()) == ([False], True)
    with pytest.raises(TypeError):
        build_html_page(None)
    assert gc.isenabled()
    gc.disable()  # as a program may have done
    try:
        build_html_page(recording.snapshot())
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("element, kind", [(np.inf, "infinite"), (-np.inf, "infinite"), (np.nan, "NaN"), (7.0, None)])
def test_an_element_of_a_large_share_raises_an_alarm(element, kind):
    share = np.zeros((16, 8))
    share[3, 5] = element
    recording = Recording("by hand")
    x = recording.add_leaf(np.ones((16, 8)), name="x")
    y = recording.add_operation("sum", [x], np.float64(128.0))
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, np.float64(1.0))
    sweep.send(y, x, 0, share, share)
    sweep.set_adjoint(x, share)
    recording.close()
    titles = [alarm["title"] for alarm in recording.snapshot()["alarms"]]
    assert [title for title in titles if "becomes" in title] == (
        [f"The gradient becomes {kind} at row 1"] if kind else []
    )


def test_a_recording_without_a_backward_pass_has_no_sweep():
    recording = Recording("forward")
    recording.add_leaf(1.0, name="x")
    recording.close()
    assert recording.snapshot()["sweep"] is None and recording.last_gradient_call is None
    assert not hasattr(recording, "explain")  # which needs to know the framework


def run_page_program(program):
    """What a program of a page prints, with its warnings."""
    for name in ("torch", "tensorflow", "jax"):
        if re.search(rf"import {name}\b", program):
            pytest.importorskip(name, reason=f"{name} is not installed: pip install 'minitape[{name}]'")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RuntimeWarning)
        exec(compile_program(program, "train.py"), {"__name__": "page"})
    return printed.getvalue() + "".join(
        f"RuntimeWarning: {warning.message}\n" for warning in told if warning.category is RuntimeWarning
    )


@pytest.mark.parametrize("program", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_the_programs_of_the_page_run(program):
    said = next(
        word
        for part, word in {"lax.stop_gradient": "stop_gradient: ", "Replay": "1 row,", "sweep": "24.0"}.items()
        if part in program
    )
    assert said in run_page_program(program)


@pytest.mark.parametrize(("code", "program", "said"), [case for case in ASKED if "bridge" in case[1]])
def test_the_programs_of_explain_print_what_the_page_says(code, program, said, monkeypatch):
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], code)
    printed = run_page_program(program)
    for line in said.splitlines():
        assert line in printed, printed


@pytest.mark.parametrize(("name", "called"), [("torch", "PyTorch"), ("tensorflow", "TensorFlow"), ("jax", "JAX")])
def test_a_framework_that_is_not_installed_is_named(name, called, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"minitape.bridges.{name}", raising=False)
    with pytest.raises(ImportError, match=rf"minitape.bridges.{name} needs {called}: pip install 'minitape\[{name}\]'"):
        importlib.import_module(f"minitape.bridges.{name}")


def test_a_bridge_is_there_when_it_is_asked_for(repository):
    """``minitape.bridges`` needs no import of its own, and imports no framework."""
    program = (
        "import sys, minitape; print(minitape.bridges.Recording.__name__, 'torch' in dir(minitape.bridges), "
        "{'torch', 'tensorflow', 'jax'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=repository)
    assert run.stdout.split("\n")[0] == "Recording True set()"


def test_the_last_of_several_passes_from_a_target_is_explained():
    recording = Recording("by hand")
    x = recording.add_leaf(3.0)
    y = recording.add_operation("square", [x], 9.0)
    loss = recording.add_operation("neg", [y], -9.0)
    first, last = recording.add_backward_pass([loss]), recording.add_backward_pass([loss])
    for sweep in (first, last):
        sweep.send(loss, y, 0, -1.0, -1.0)
        sweep.send(y, x, 0, -6.0, -6.0)
    assert recording.list_sweeps_from_or_else_through(loss) == [last, first]
    assert recording.find_last_sweep_from_or_else_through(y) is last  # No pass begins there, and both lead through it.
