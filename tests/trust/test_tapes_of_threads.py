"""Recordings that several threads make, hand to each other and let go of, as JupyterLab's subshells and training loops
do.
"""

import gc
import queue
import sys
import threading

import pytest

import minitape as tf
from minitape.engine.recording.record import Record

THREADS, TURNS = 8, 200


@pytest.fixture
def hasty():
    """Python changes threads, and collects garbage, as often as it can."""
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
                other, z, number = handed.get(timeout=600)  # mostly one of another thread
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


@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
@pytest.mark.parametrize("make", [tf.Variable, tf.constant])
def test_threads_that_begin_to_use_a_tensor_at_once(make, known, monkeypatch):
    """While one thread writes a tensor into its recording, another one writes it into its own."""
    x, write_leaf, made = make(2.0), Record.write_leaf, {}

    def use(factor):
        with tf.GradientTape(persistent=True) as tape:
            if make is tf.constant:
                tape.watch(x)
            made[factor] = tape, x * factor

    def interrupted(*given):
        monkeypatch.undo()
        other = threading.Thread(target=use, args=(5.0,))
        other.start()
        other.join()
        return write_leaf(*given)

    if known:  # a tape that is still there
        use(7.0)
    monkeypatch.setattr(Record, "write_leaf", interrupted)
    use(3.0)
    assert {factor: tape.gradient(y, x).numpy() for factor, (tape, y) in made.items()} == {f: f for f in made}
    assert len(made) == 2 + known
