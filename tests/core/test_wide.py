"""Operations on large arrays are put off, too: nobody may notice but by the clock and the memory."""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import minitape as tf
from minitape import late, plan, wide
from minitape.primitives import TABLE

SIZE = 100_000  # beyond the block size, so that programs work in blocks
NEVER = 10**9


@pytest.fixture(params=[0, NEVER], ids=["written", "walked"], autouse=True)
def often(request, monkeypatch):
    monkeypatch.setattr(plan, "OFTEN", request.param)


@pytest.fixture
def x():
    return tf.constant(np.random.default_rng(1).uniform(0.2, 0.9, SIZE).astype(np.float32))


def chain(x, steps=10):
    for _ in range(steps):
        x = tf.tanh(tf.sin(x) * 1.1 + 0.1)
    return x


def slope(x, steps=10):
    """The derivative of ``chain``, in NumPy."""
    total = np.ones_like(x)
    for _ in range(steps):
        total = total * np.cos(x) * np.float32(1.1)
        x = np.tanh(np.sin(x) * np.float32(1.1) + np.float32(0.1))
        total = total * (1 - x * x)
    return total


@pytest.fixture
def ran(monkeypatch):
    """The names of the functions that were computed."""
    gc.collect()  # tapes of other tests that wait for the collector would compute their rows among those of this one
    with tf.GradientTape():
        pass
    names = []
    for name in ("tanh", "matmul", "reduce_sum"):
        forward = TABLE[name].forward
        monkeypatch.setattr(TABLE[name], "forward", lambda *a, f=forward, n=name, **k: names.append(n) or f(*a, **k))
    return names


def test_nothing_is_computed_before_somebody_looks(x, ran):
    m = tf.reshape(x, [400, 250])
    with tf.GradientTape() as tape:
        tape.watch(m)
        y = tf.tanh(m) * 2.0
        z = tf.matmul(y, y, transpose_b=True)
        s = tf.reduce_sum(z)
        assert [(t.shape.as_list(), t.dtype.name) for t in (y, z, s)] == [
            ([400, 250], "float32"), ([400, 400], "float32"), ([], "float32")]  # fmt: skip
        assert ran == []
    np.testing.assert_array_equal(y.numpy(), np.tanh(m.numpy()) * np.float32(2))
    assert ran.count("tanh") == 1
    assert s.numpy() == np.sum(y.numpy() @ y.numpy().T)


def test_gradients_are_those_of_numpy(x):
    for _ in range(4):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = chain(x)
            s = tf.reduce_sum(y)
        np.testing.assert_allclose(tape.gradient(s, x).numpy(), slope(x.numpy()), rtol=2e-5, atol=1e-7)
        assert np.isclose(s.numpy(), y.numpy().sum())


def test_tensors_that_are_held_have_their_values_whoever_else_is_gone(x):
    want = chain(x, 3).numpy()
    for looked in (False, True, False, True):
        with tf.GradientTape() as tape:
            tape.watch(x)
            held = chain(x, 3)
            after = held * 2.0
            s = tf.reduce_sum(chain(held))
            left_over = tf.reduce_mean(held)
        if looked:
            np.testing.assert_array_equal(held.numpy(), want)
        g = tape.gradient(s, x)
        del tape, s
        np.testing.assert_array_equal(held.numpy(), want)
        np.testing.assert_array_equal(after.numpy(), want * np.float32(2))
        assert left_over.numpy() == want.mean()
        np.testing.assert_allclose(g.numpy(), slope(x.numpy(), 13), rtol=2e-5, atol=1e-7)


def test_what_was_computed_may_be_used_again(x):
    for _ in range(4):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x + 1.0  # no rule reads it: the recording does not keep it
            y.numpy()
            z = tf.sin(y) * y
            z.numpy()
            s = tf.reduce_sum(z * y)
        x1 = x.numpy() + 1
        for _ in range(2):
            np.testing.assert_allclose(tape.gradient(s, x).numpy(), 2 * x1 * np.sin(x1) + x1 * x1 * np.cos(x1), rtol=1e-5)
            np.testing.assert_allclose(tape.gradient(z, x).numpy(), np.sin(x1) + x1 * np.cos(x1), rtol=1e-5)


def test_nested_tapes(x):
    for _ in range(4):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sin(x) * x)
            g = inner.gradient(y, x)
        want = 2 * np.cos(x.numpy()) - x.numpy() * np.sin(x.numpy())
        np.testing.assert_allclose(outer.gradient(g, x).numpy(), want, rtol=1e-5, atol=1e-6)


def test_gradients_of_several_gradients(x):
    """Of a sweep that is recorded, and met often, large arrays are held for the sweeps that come after it."""
    y, found = tf.constant(x.numpy()[::-1].copy()), []
    for _ in range(4):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch([x, y])
            with tf.GradientTape(persistent=True) as inner:
                inner.watch([x, y])
                z = tf.math.reduce_variance(x * y)
            gradients = inner.gradient(z, [x, y])
        found.append([h.numpy() for g in gradients for h in outer.gradient(g, [x, y])])
    for again in found[1:]:
        for one, other in zip(found[0], again, strict=True):
            np.testing.assert_array_equal(one, other)


def test_what_no_tape_watches_is_computed_at_once(x, ran):
    with tf.GradientTape() as tape:
        tf.tanh(x)
        assert ran == ["tanh"]
        tape.watch(x)
        with tape.stop_recording():
            tf.tanh(x)
        assert ran == ["tanh"] * 2


def peak(function):
    function()
    tracemalloc.start()
    function()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_arrays_that_nobody_needs_are_not_held(x):
    """Of each step the sweep reads two arrays of the four that are made."""

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(chain(x))
        return tape.gradient(y, x)

    step()
    assert peak(step) < (26 if plan.OFTEN else 6) * 4 * SIZE  # in blocks the others are never made as a whole


def test_a_long_chain_that_is_only_looked_at_needs_few_arrays(x):
    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(400):  # far more rows than a short recording has
                y = y * 1.001 + 0.1
        return y.numpy()

    assert peak(step) < 8 * 4 * SIZE


def test_arrays_that_only_wait_are_computed_when_they_are_many(x, monkeypatch):
    monkeypatch.setattr(late, "HELD", 10 * 4 * SIZE)

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = 0.0
            for k in range(100):
                total += tf.reduce_mean(tf.roll(x, k, 0) + 1.0)  # roll runs at once, and nothing reads its result later
        return tape.gradient(total, x)

    assert peak(step) < 30 * 4 * SIZE


def test_the_recording_holds_no_tensor(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
        alive = weakref.ref(y)
        z = y * 2.0
        del y
        assert alive() is None
    np.testing.assert_allclose(tape.gradient(z, x).numpy(), 2 * np.cos(x.numpy()), rtol=1e-6)


def test_interrupted_computing_goes_on_where_it_was(x, monkeypatch):
    forward, calls = TABLE["tanh"].forward, []

    def interrupted(*arrays):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return forward(*arrays)

    monkeypatch.setattr(TABLE["tanh"], "forward", interrupted)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = chain(x, 3)
        s = tf.reduce_sum(y)
    with pytest.raises(KeyboardInterrupt):
        y.numpy()
    monkeypatch.setattr(TABLE["tanh"], "forward", forward)
    np.testing.assert_array_equal(y.numpy(), chain(x, 3).numpy())
    np.testing.assert_allclose(tape.gradient(s, x).numpy(), slope(x.numpy(), 3), rtol=2e-5)


def test_another_thread_may_look_while_rows_are_written(x):
    seen, stop, want = [], threading.Event(), x.numpy()

    def read():
        while not stop.is_set() or not seen:
            seen.append(float(latest[0].numpy()[0]))

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 1.0
        latest = [y]
        thread = threading.Thread(target=read)
        thread.start()
        for _ in range(300):
            y = y * 1.0
            latest = [y]
        stop.set()
        thread.join()
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), np.ones(SIZE, np.float32))
    assert set(seen) == {float(want[0])}


def test_a_new_value_of_a_variable_does_not_change_what_was_put_off():
    v = tf.Variable(np.ones(SIZE, np.float32))
    for _ in range(4):
        v.assign(np.ones(SIZE, np.float32))
        with tf.GradientTape() as tape:
            y = v * v
            v.assign_add(np.ones(SIZE, np.float32))
            s = tf.reduce_sum(y)
        assert (s.numpy(), y.numpy()[0], v.numpy()[0]) == (SIZE, 1.0, 2.0)
        assert tape.gradient(s, v).numpy()[0] == 2.0


def test_what_is_live_is_told_to_the_program(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
        z = tf.cos(y)
    assert set(wide.live(tape._record)) == {y._row, z._row}
    del y
    assert wide.live(tape._record) == (z._row,)


def test_a_tape_that_was_used_up_holds_no_large_array():
    v, w = tf.Variable(np.ones((40, 3), np.float32)), tf.Variable(np.ones((3, 50), np.float32))
    for _ in range(4):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.tanh(tf.matmul(v, w)))  # of small arrays 2,000 numbers
        tape.gradient(y, v)
        assert {a.size for a in tape._record.arrays.values()} == {120, 150}


def test_recordings_go_without_the_garbage_collector(x):
    found = []
    gc.disable()
    try:
        for _ in range(20):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.sin(x))
            tape.gradient(y, x)
            found.append(weakref.ref(tape._record))
    finally:
        gc.enable()
    assert sum(record() is not None for record in found) < 10  # of the last few the skeleton stays
    assert y.numpy() > 0


def test_an_array_that_is_held_for_one_recording_stays_the_tensor_of_another(x):
    with tf.GradientTape(persistent=True) as first:
        first.watch(x)
        y = tf.exp(x)
    other = tf.constant(x.numpy())
    with tf.GradientTape(persistent=True) as second:
        second.watch(other)
        z = other * other
    with first, second:  # the rows of the second move to the recording of the first: z has another number there
        q = z * y
    expected = np.exp(x.numpy())
    for _ in range(3):
        np.testing.assert_array_equal(second.gradient(q, z).numpy(), expected)


@pytest.mark.parametrize("size", [3, SIZE])
def test_two_tapes_that_go_on_together_know_what_each_has_recorded(x, size):
    x = x[:size]
    with tf.GradientTape(persistent=True) as first:
        first.watch(x)
        y = tf.exp(x)
    with tf.GradientTape(persistent=True) as second:
        second.watch([x, y])
        z = x * x * 2.0 + y
    second.gradient(z, x)
    with first, second:
        q = z * y
    at, exp = x.numpy(), np.exp(x.numpy())
    for tape, target, source, slope in (
        (first, y, x, exp),
        (first, q, x, (2 * at * at + exp) * exp),  # it did not see how z was computed
        (second, z, x, 4 * at),  # ... nor that one how y was
        (second, q, x, 4 * at * exp),
        (second, q, y, 2 * at * at + 2 * exp),
        (second, q, z, exp),
    ):
        np.testing.assert_allclose(tape.gradient(target, source).numpy(), slope, rtol=1e-5)


def test_a_recording_that_moves_is_not_computed_anew(x):
    with tf.GradientTape(persistent=True) as first:
        first.watch(x)
        y = x * 3.0
    with tf.GradientTape(persistent=True) as second:
        second.watch(x)
        z = tf.tanh(tf.reverse(x, [0]) + 2.0) * 4.0  # nobody keeps what is reversed
    z.numpy()
    with first, second:
        q = z * y
    values = x.numpy()
    np.testing.assert_allclose(q.numpy(), 12.0 * np.tanh(values[::-1] + 2.0) * values, rtol=1e-5)
    np.testing.assert_allclose(second.gradient(z, x).numpy(), 4.0 * (1 - np.tanh(values + 2.0) ** 2), rtol=1e-3)


def test_small_arrays_of_a_recording_that_moves_are_no_numbers_in_the_kernel():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as first:
        s = tf.constant(1.0)
        first.watch(s)
        t = s * 1.0
    with tf.GradientTape(persistent=True) as second:
        second.watch(x)
        y = x
        for _ in range(1200):
            y = y * 1.0
    with first, second:
        for _ in range(20_000):
            t = t * 1.0
        z = y * t
    np.testing.assert_array_equal(second.gradient(z, x).numpy(), [1.0, 1.0])
    np.testing.assert_array_equal(first.gradient(z, s).numpy(), 3.0)


def test_a_program_keeps_for_others_what_is_read_beside_a_variable_but_not_beside_a_number(x):
    v = tf.Variable(2.0)
    for factor in (2.0, 2.0, v, v, 2.0, v):
        tape = tf.GradientTape(persistent=True, watch_accessed_variables=False)
        with tf.GradientTape(persistent=True) as other, tape:
            tape.watch(x)
            y = (tf.exp(x) + 1.0) * factor
        exp = np.exp(x.numpy())
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), 2.0 * exp, rtol=1e-5)
        if factor is v:
            np.testing.assert_allclose(other.gradient(y, v).numpy(), np.sum(exp + 1.0), rtol=1e-4)
