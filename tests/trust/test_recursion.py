"""After an infinite recursion, when Python has no frame left to leave a tape's block, no tape stays open."""

import sys
from operator import attrgetter

import pytest

import minitape as tf
from minitape.engine.record.interrupt_safe import InterruptSafeExit
from minitape.engine.record.row_parts import CHUNK
from minitape.engine.record.thread_state import state


@pytest.fixture(autouse=True)
def unraisable(monkeypatch):
    """Hide Python's messages about ignored errors, which these tests expect."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


@pytest.fixture
def limited():
    before = sys.getrecursionlimit()
    yield sys.setrecursionlimit
    sys.setrecursionlimit(before)


def endless(x):
    with tf.GradientTape():
        return endless(x) * 2.0


def endless_forward(x):
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)):
        return endless_forward(x) * 2.0


@pytest.mark.parametrize("function", [endless, endless_forward])
def test_a_recursion_without_end_leaves_no_tape_open(function, limited):
    x = tf.constant(2.0)
    for limit in range(300, 320):
        limited(limit)
        with pytest.raises(RecursionError):
            function(x)
        limited(1000)
        assert (state.tapes, state.record) == ([], None)


@pytest.fixture
def left(monkeypatch):
    """Yield a tape that could not be left when its block ended."""
    with monkeypatch.context() as patch:

        def no_frame(tape, *error):
            raise RecursionError

        tape, x = tf.GradientTape(), tf.Variable(2.0)
        patch.setattr(tf.GradientTape, "__exit__", InterruptSafeExit(no_frame, attrgetter("is_recording")))
        with pytest.raises(RecursionError), tape:
            y = x * x
    assert state.tapes[-1] is tape
    return tape, y, x


def test_who_enters_a_tape_next_leaves_what_was_left_open(left):
    with tf.GradientTape() as tape:
        assert state.tapes == [tape]
    assert state.record is None


def test_who_leaves_a_tape_next_leaves_what_was_left_open(monkeypatch, request):
    with tf.GradientTape():
        request.getfixturevalue("left")
    assert (state.tapes, state.record) == ([], None)


def test_who_takes_a_gradient_next_leaves_what_was_left_open(left):
    tape, y, x = left
    assert tape.gradient(y, x).numpy() == 4.0
    assert (state.tapes, state.record) == ([], None)


def test_who_records_on_and_on_leaves_what_was_left_open(left):
    tape, y, _ = left
    for _ in range(CHUNK + 10):
        y = y * 1.0
    assert (state.tapes, state.record) == ([], None)
    assert len(tape._record) <= CHUNK + 1


def test_a_tape_that_is_entered_without_a_block_stays_open():
    tape = tf.GradientTape()
    assert hasattr(tape, "__exit__")  # This only looks up the method.
    tape.__enter__()
    with tf.GradientTape():
        assert state.tapes[0] is tape
    assert state.tapes == [tape]
    tape.__exit__(None, None, None)
    assert state.tapes == []
