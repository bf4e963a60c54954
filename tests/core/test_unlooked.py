"""Values that nobody looks at are not computed, and small recordings wait for somebody to look. None of it may show."""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import minitape as tf
from minitape import evaluation, plan
from minitape.state import state

MET = 30  # so often that the sweep is written out


def loss_of(x, power=2):
    return tf.reduce_sum(100.0 * (x[1:] - x[:-1] * x[:-1]) ** power + (1.0 - x[:-1]) ** power)


def reference(x, power=2):
    """The same and its gradient, in double precision by hand."""
    x = np.float64(x)
    a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    gradient = np.zeros_like(x)
    gradient[1:] += 100 * power * a ** (power - 1)
    gradient[:-1] += -200 * power * x[:-1] * a ** (power - 1) - power * b ** (power - 1)
    return (100 * a**power + b**power).sum(), gradient


def step(values, power=2):
    x = tf.constant(np.float32(values))
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = loss_of(x, power)
    return tape, x, loss


def met(count=MET):
    for k in range(count):
        tape, x, loss = step([0.1 * k, 0.5, 0.2])
        tape.gradient(loss, x)


VALUES = np.float32([0.3, -0.7, 1.1])


def before(tape, x, loss):
    seen = loss.numpy()
    return tape.gradient(loss, x), seen


def after(tape, x, loss):
    return tape.gradient(loss, x), loss.numpy()


def once_the_tape_is_gone(tape, x, loss):
    found = tape.gradient(loss, x)
    del tape
    gc.collect()
    return found, loss.numpy()


def many_tapes_later(tape, x, loss):
    found = tape.gradient(loss, x)
    del tape
    met(12)
    return found, loss.numpy()


def in_another_thread(tape, x, loss):
    found, seen = tape.gradient(loss, x), []
    del tape
    thread = threading.Thread(target=lambda: seen.append(loss.numpy()))
    thread.start()
    thread.join()
    return found, seen[0]


def under_the_next_tape(tape, x, loss):
    found = tape.gradient(loss, x)
    del tape
    with tf.GradientTape() as other:
        other.watch(loss)
        y = loss * 1.0
    assert other.gradient(y, loss).numpy() == 1.0
    return found, y.numpy()


@pytest.mark.parametrize("look", [before, after, once_the_tape_is_gone, many_tapes_later, in_another_thread, under_the_next_tape])
@pytest.mark.parametrize("count", [0, MET], ids=["first", "often"])
def test_a_loss_has_its_value_whenever_somebody_looks(look, count):
    met(count)
    want, slope = reference(VALUES)
    for _ in range(3):  # somebody who looked once may look again
        tape, x, loss = step(VALUES)
        held = [tape]
        del tape
        found, seen = look(held.pop(), x, loss)
        np.testing.assert_allclose(seen, want, rtol=1e-5)
        np.testing.assert_allclose(found.numpy(), slope, rtol=1e-4)


def test_a_loss_that_nobody_looks_at_is_not_computed(monkeypatch):
    met()
    runs = []
    monkeypatch.setattr(evaluation, "pending", lambda record, n, run=evaluation.pending: (runs.append(n), run(record, n)))
    tape, x, loss = step(VALUES)
    tape.gradient(loss, x)
    del tape, loss, x
    met()
    assert runs == []
    tape, x, loss = step(VALUES)
    tape.gradient(loss, x)
    loss.numpy()
    assert len(runs) == 1
    tape, x, loss = step(VALUES)  # it is looked at: the sweep computes it as well
    tape.gradient(loss, x)
    loss.numpy()
    assert len(runs) == 1


def test_exponents_may_change():
    plan._plans.clear()
    for k in range(3 * MET):
        power = 2 if k < 2 * MET else 2 + k % 3
        tape, x, loss = step(VALUES, power)
        found = tape.gradient(loss, x)
        want, slope = reference(VALUES, power)
        np.testing.assert_allclose(found.numpy(), slope, rtol=1e-4)
        np.testing.assert_allclose(loss.numpy(), want, rtol=1e-4)


def test_second_derivatives_whose_exponents_change():
    plan._plans.clear()
    x = tf.constant([0.5, 2.0])
    for k in range(3 * MET):
        power = 2 if k < 2 * MET else k % 4
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**power
            g = inner.gradient(y, x)
        h = outer.gradient(g, x)
        at = np.float64(x.numpy())
        np.testing.assert_allclose(g.numpy(), power * at ** (power - 1), rtol=1e-5)
        np.testing.assert_allclose(h.numpy(), power * (power - 1) * at ** (power - 2), rtol=1e-5)


def test_the_tensors_of_a_dead_tape_die():
    met()
    tape, x, loss = step(VALUES)
    found = tape.gradient(loss, x)
    known = [weakref.ref(t) for t in (x, loss, found)]
    del tape, x, loss, found
    gc.collect()
    assert [r() for r in known] == [None, None, None]


def test_recordings_die_without_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        tape, x, loss = step(VALUES)
        tape.gradient(loss, x)
        known = weakref.ref(tape._record)
        del tape, x, loss
        met(12)
        assert known() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("look", [True, False])
def test_losses_that_are_held_hold_no_recordings(look):
    x = tf.constant(np.ones(1000, np.float32))

    def train(losses, steps):
        for k in range(steps):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in range(10):
                    y = tf.sin(y * 1.1)
                loss = tf.reduce_mean(y) + float(k)
            tape.gradient(loss, x)
            losses.append(loss)
            if look:
                loss.numpy()

    train([], 40)
    tracemalloc.start()
    try:
        losses = []
        train(losses, 300)
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert used < 3_000_000, f"{used:,} bytes are held; 300 recordings have 24,000,000 bytes of arrays"
    assert [float(v) for v in losses] == pytest.approx([float(losses[0]) + k for k in range(300)], rel=1e-5)


def test_large_given_arrays_go_with_their_tape():
    x = tf.constant(np.ones((1000, 100), np.float32))
    m = tf.Variable(np.ones((100, 1), np.float32))
    for _ in range(MET):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(x, m) ** 2)
        tape.gradient(loss, m)
    known = weakref.ref(x)
    gone = weakref.ref(x.numpy())
    array = weakref.ref(x.array)
    assert gone() is None and array() is not None
    del tape, x
    gc.collect()
    assert known() is None and array() is None
    assert loss.numpy() == 10_000.0


def test_the_picture_shows_values_that_nobody_looked_at():
    met()
    tape, x, loss = step(VALUES)
    tape.gradient(loss, x)
    text = tf.draw(tape).source
    want, _ = reference(VALUES)
    assert f"{want:.4g}"[:4] in text, text


def test_numbers_in_the_rows_of_a_sweep_stay_when_it_left_others():
    """A second gradient of another tape on the same recording finds what it needs."""
    for _ in range(MET):
        x = tf.constant(VALUES)
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            outer.watch(x)
            inner.watch(x)
            y = loss_of(x)
            z = tf.reduce_sum(x * y)
        first = inner.gradient(y, x)
        second = outer.gradient(z, x)
        want, slope = reference(VALUES)
        np.testing.assert_allclose(first.numpy(), slope, rtol=1e-4)
        np.testing.assert_allclose(second.numpy(), want + VALUES.sum() * slope, rtol=1e-4)
        assert state.record is None


def test_a_used_tape_that_is_entered_again_finds_the_arrays_that_it_needs():
    """The other tape counted as the last one to ask; what this one records afterwards is its own."""
    x = tf.constant(np.full((80, 80), 0.5, np.float32))
    for _ in range(MET):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                z = tf.reduce_sum(tf.sin(x))
            first = inner.gradient(z, x)
            loss = tf.reduce_sum(first * first)
            with inner:
                inner.watch(x)
                w = tf.reduce_sum(x * x * first)
        second = outer.gradient(loss, x)
        third = inner.gradient(w, x)
        np.testing.assert_allclose(second.numpy(), -np.sin(2 * 0.5), rtol=1e-5)
        np.testing.assert_allclose(third.numpy(), np.cos(0.5), rtol=1e-5)
