"""Several threads create recordings, exchange them and release them, as JupyterLab's subshells do."""

import gc
import queue
import sys
import threading
from pathlib import Path

import pytest

import minitape as tf
from minitape.common.shared_results import get_or_build_shared_result
from minitape.explain.reasons.object_names import share_searches_between_questions

ENGINE = str(Path(tf.__file__).parent)
THREADS, TURNS = 8, 200


@pytest.fixture
def hasty():
    """Make Python switch threads and collect garbage as often as possible."""
    before = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    yield
    sys.setswitchinterval(before[0])
    gc.set_threshold(*before[1])


@pytest.mark.long
def test_tapes_are_let_go_of_by_other_threads(hasty):
    handed, failed, shared = queue.Queue(), [], tf.Variable(2.0)

    def work():
        try:
            for turn in range(TURNS):
                with tf.GradientTape(persistent=True) as tape:
                    y = shared * float(turn) + tf.cast(tf.constant(turn), tf.float32)
                handed.put((tape, y, turn))
                other, z, number = handed.get(timeout=600)  # Usually, it comes from another thread.
                assert other.gradient(z, shared).numpy() == number
                if turn % 20 == 0:
                    assert other.explain(z, shared).connected
                other = z = tape = y = None
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_questions_in_two_threads_leave_no_shared_results():
    entered, left = threading.Event(), threading.Event()
    first, kept = share_searches_between_questions(), []

    def work():
        with share_searches_between_questions():
            entered.set()
            left.wait()
            kept.append(get_or_build_shared_result("row", lambda: "of the second thread"))

    second = threading.Thread(target=work)
    with first:
        second.start()
        entered.wait()
        get_or_build_shared_result("row", lambda: "of the first thread")
    left.set()
    second.join()
    assert kept == ["of the second thread"]
    assert get_or_build_shared_result("row", lambda: "new") == "new", "a question that ended left its results"


class Meanwhile:
    """A tracer that runs a whole thread before one line of the engine."""

    def __init__(self, work, stop):
        self.work, self.stop, self.seen = work, stop, 0

    def __call__(self, frame, event, arg):
        if event == "call" and not frame.f_code.co_filename.startswith((ENGINE, "<formula")):
            return None
        if event == "line":
            if self.seen == self.stop:
                other = threading.Thread(target=self.work)
                other.start()
                other.join()
            self.seen += 1
        return self


@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
@pytest.mark.parametrize("make", [tf.Variable, tf.constant])
def test_another_thread_uses_a_tensor_at_any_line_of_this_one(make, known):
    """Each thread writes the tensor into its own recording, and both gradients are right.

    The tensor moves to one of the two recordings.
    """

    def use(x, factor, made):
        with tf.GradientTape(persistent=True) as tape:
            if make is not tf.Variable:
                tape.watch(x)
            y = x * factor
        made[factor] = float(tape.gradient(y, x)._value)

    def run(stop):
        x, made = make(2.0), {}
        if known:  # A tape that still exists has watched x.
            with tf.GradientTape(persistent=True) as before:
                before.watch(x)
                y = x * 7.0
        tracer = Meanwhile(lambda: use(x, 5.0, made), stop)
        sys.settrace(tracer)
        try:
            use(x, 3.0, made)
        finally:
            sys.settrace(None)
        if known:
            made[7.0] = float(before.gradient(y, x)._value)
        return tracer.seen, made

    run(None)
    lines, _ = run(None)
    for stop in range(lines):
        _, made = run(stop)
        assert made == {f: f for f in made} and len(made) == 2 + known, f"at line {stop}: {made}"
    assert lines > 50
