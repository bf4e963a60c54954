"""The engine stays fast, which these tests count in rows, bytes, kernel calls, arrays and imports instead of timing
it."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import minitape as tf
from minitape.engine.backward.reachability import mark_reachable_rows
from minitape.engine.backward.targets_and_sources import find_rows_in_recording


def run_in_new_process(code):
    """Run a program in a separate process, and return what it prints."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    return done.stdout


def test_import_loads_neither_numba_nor_widgets():
    heavy = """
        numba ipywidgets anywidget IPython rich click minitape.keras minitape.nn minitape.ragged
        minitape.sparse minitape.strings minitape.picture minitape.explain.tape_answers minitape.explain.explanation
    """.split()
    out = run_in_new_process(f"import sys, minitape; print([m for m in {heavy} if m in sys.modules])")
    assert out.strip() == "[]"


def test_short_tapes_do_not_load_numba():
    out = run_in_new_process("""
        import sys
        import minitape as tf
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = tf.sin(x) * x + 2.0
        tape.gradient(y, x).numpy()
        print("numba" in sys.modules)
    """)
    assert out.strip() == "False"


def test_a_scalar_operation_is_one_row():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * 2.0
        before = len(tape._record)
        for _ in range(100):
            y = y * 2.0 + x
        assert len(tape._record) - before == 200


def test_an_operation_on_a_small_array_is_one_row():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 2.0
        before = len(tape._record), len(tape._record.calls)
        for _ in range(10):
            y = tf.sin(y * 2.0) + x
        assert (len(tape._record) - before[0], len(tape._record.calls) - before[1]) == (30, 0)


def test_an_operation_on_a_large_array_is_one_row():
    x = tf.Variable(np.ones(5000, np.float32))
    with tf.GradientTape() as tape:
        y = x * 2.0
        before = len(tape._record), len(tape._record.calls)
        for _ in range(10):
            y = y * 2.0 + x
        assert (len(tape._record) - before[0], len(tape._record.calls) - before[1]) == (20, 0)


def test_views_are_not_copies():
    x = tf.constant(np.zeros((100, 100), np.float32))
    for view in (tf.reshape(x, [10_000]), tf.transpose(x), x[10:20]):
        assert np.shares_memory(view.array, x.array)


def test_a_sweep_visits_only_rows_that_matter():
    x, unused = tf.Variable(np.ones(3)), tf.Variable(np.ones(3))
    with tf.GradientTape(persistent=True) as tape:
        y = x * 2.0
        z = unused
        for _ in range(50):
            z = tf.sin(z)
        total = tf.reduce_sum(y) + tf.reduce_sum(z)
    reachable = mark_reachable_rows(tape, set(find_rows_in_recording(tape, x)))
    assert sum(reachable) <= 5, "only what depends on x is reachable"
    assert tape.gradient(total, x).numpy().tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("module", ["decompositions", "scatter", "sorting", "activation"])
def test_rules_find_the_primitives_that_they_use(module):
    out = run_in_new_process(f"""
        import importlib, inspect, re
        module = importlib.import_module("minitape.engine.table.primitives.{module}")
        from minitape.engine.table.primitives import TABLE
        print([name for name in re.findall(r'TABLE\\["(\\w+)"\\]', inspect.getsource(module)) if name not in TABLE])
    """)
    assert out.strip() == "[]", "a process that uses nothing else lacks these"
