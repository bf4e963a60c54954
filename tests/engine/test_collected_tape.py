"""A tape in a reference cycle is deleted by the garbage collector, where nothing may be computed."""

import gc
import subprocess
import sys

import minitape as tf


def test_recording_of_a_collected_tape_is_released():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    record = tape._record
    cycle = [tape]
    cycle.append(cycle)
    del tape, cycle
    gc.collect()
    assert not record.leaf_rows and not record.numbers and y.numpy() == 4.0


def test_recording_that_keeps_a_scalar_of_an_earlier_one_is_released(monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    k, x = tf.constant(1.5), tf.constant([1.0, 2.0])
    with tf.GradientTape() as earlier:
        earlier.watch(k)
        scalar = k * 2.0
    with tf.GradientTape() as tape:
        tape.watch([x, scalar])
        tf.function(lambda q: q * q)(scalar)
        y = x * 3.0
    del tape
    assert not raised and y.numpy().tolist() == [3.0, 6.0]


def test_a_tape_that_dies_with_the_process_says_nothing():
    program = """
import builtins
import minitape as tf
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x
    for _ in range(1000):
        y = tf.sin(y) * x
builtins.kept = tape, y
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
