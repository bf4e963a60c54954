"""A recording keeps few large arrays, stores the lines of programs, and does not repeat warnings."""

import ast
import logging
import warnings

import numpy as np
import pytest

import minitape as tf
from minitape.engine.record import log_warnings
from minitape.engine.record.interrupt_safe import leave_ended_tapes
from minitape.engine.record.kept_arrays import iter_large_arrays
from minitape.recording import sites


@pytest.mark.parametrize("scale", [lambda z: z * 3.0, lambda z: 3.0 * z, lambda z: z / 3.0])
def test_what_a_python_number_scales_is_not_held(scale):
    """The gradient reads only the number. Otherwise, each such line would keep 40 MB of activations in memory."""
    x = tf.constant(np.ones(100_000, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scale(tf.identity(x))
    [leaf] = tape.watched
    assert set(dict(iter_large_arrays(tape._record))) <= {leaf}
    assert tape.gradient(y, x).shape == x.shape


def test_a_warning_is_logged_five_times_as_in_tensorflow(caplog, monkeypatch):
    monkeypatch.setattr(log_warnings, "_log_counts", {})
    with caplog.at_level(logging.WARNING, "tensorflow"), tf.GradientTape() as tape:
        for _ in range(7):
            tape.watch(tf.constant(1))
    assert len(caplog.records) == 5


def test_a_long_session_keeps_the_lines_of_few_programs(monkeypatch):
    monkeypatch.setattr(sites, "_MAX_CACHED_CODES", 3)
    monkeypatch.setattr(sites, "_line_tables", {})
    for number in range(8):
        code = compile(f"\n\nx = {number}", f"<cell {number}>", "exec")
        assert sites.find_site_of_bytecode(code, 2) == (f"<cell {number}>", 3)
        assert len(sites._line_tables) <= 3


def test_what_python_has_to_say_of_a_text_it_says_once():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sites.suppress_syntax_warnings():
            ast.parse('pattern = "\\d"')


def test_who_watches_a_tape_hears_of_its_rows_and_gradients():
    told, x = [], tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape._record.add_and_notify_listeners(lambda: told.append(len(tape._record)))
        y = x * x
        y = y * x
    assert told
    assert tape.gradient(y, x).numpy() == 27.0


def test_to_look_for_exit_ends_no_tape_that_is_entered_by_hand():
    x, tape = tf.constant(3.0), tf.GradientTape()
    assert hasattr(tape, "__exit__")
    tape.__enter__()
    leave_ended_tapes()
    tape.watch(x)
    y = x * x
    tape.__exit__(None, None, None)
    assert tape.gradient(y, x).numpy() == 6.0
