"""Tapes can be nested, paused, re-entered, interrupted, long, or used in threads."""

import gc
import signal
import sys
import threading
import time
import tracemalloc
from importlib.util import find_spec

import numpy as np
import pytest

import minitape as tf
from minitape.engine.record.kept_arrays import iter_large_arrays
from minitape.engine.record.thread_state import state


def raise_interrupt(*args):
    raise KeyboardInterrupt


def compute_derivatives(f, x, order):
    """Return the derivatives of a scalar function up to an order, computed by nested tapes."""
    if order == 0:
        return [f(x)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        lower = compute_derivatives(f, x, order - 1)
    return [*lower, tape.gradient(lower[-1], x)]


@pytest.mark.parametrize("shape", [(), (1,)], ids=["scalar row", "array"])
def test_nested_to_the_fifth_order(shape):
    x = tf.constant(np.full(shape, 0.7))
    got = [float(np.reshape(d, ())) for d in compute_derivatives(lambda x: tf.sin(x) * x, x, 5)]
    s, c, v = np.sin(0.7), np.cos(0.7), 0.7
    want = [s * v, s + v * c, 2 * c - v * s, -3 * s - v * c, -4 * c + v * s, 5 * s + v * c]
    assert got == pytest.approx(want, rel=1e-12)


def test_tapes_opened_together_but_closed_out_of_order():
    x = tf.Variable(3.0)
    first, second = tf.GradientTape(), tf.GradientTape()
    first.__enter__()
    y = x * x
    second.__enter__()
    z = y * x
    first.__exit__()
    w = z * x
    second.__exit__()
    assert state.record is None and state.tapes == []
    assert second.gradient(w, x).numpy() == 54.0  # For the second tape, y = x * x is a constant.
    assert first.gradient(z, x).numpy() == 27.0


def test_gradient_of_an_old_persistent_tape_is_recorded_on_a_new_one():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as inner:
        inner.watch(x)
        y = x**3
    with tf.GradientTape() as outer:
        outer.watch(x)
        g = inner.gradient(y, x)
    assert g.numpy() == 27.0
    assert outer.gradient(g, x).numpy() == 18.0


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_no_tape_behind(error):
    x = tf.Variable(2.0)
    with pytest.raises(error), tf.GradientTape(), tf.GradientTape() as tape:
        y = x * x
        raise error
    assert state.tapes == [] and state.record is None
    assert tape.gradient(y, x).numpy() == 4.0
    with tf.GradientTape() as again:
        z = x * x
    assert again.gradient(z, x).numpy() == 4.0


def test_a_missing_source_or_target_is_a_type_error():
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    for sources in (None, [x, None], {"a": x, "b": None}, (v for v in [x]), {1, 2}):
        for compute in (tape.gradient, tape.jacobian):
            with pytest.raises(TypeError, match="has no attribute '_id'"):
                compute(y, sources)
    with pytest.raises(TypeError, match="'NoneType' object has no attribute '_id'"):
        tape.gradient([None, y], x)
    with pytest.raises(AttributeError, match="'float' object has no attribute '_id'"):
        tape.gradient(y, 2.0)


def test_an_exception_in_an_operation_leaves_the_tape_whole():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"):
            x + tf.ones([3])
        z = y * 3.0
    assert tape.gradient(z, x).numpy().tolist() == [6.0, 12.0]


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0]])
def test_a_leaf_stays_one_when_the_recording_that_it_comes_from_is_released(value):
    x = tf.constant(value)
    first = tf.GradientTape(persistent=True)
    with first:
        first.watch(x)
        y = x * x
    with tf.GradientTape() as second:
        second.watch(y)
        before = y * 2.0
        del first
        y.numpy()
        z = before + y * 3.0
    np.testing.assert_array_equal(second.gradient(z, y), np.full(np.shape(value), 5.0))


def test_ctrl_c_before_a_pause_ends_leaves_nothing_open():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        pause = tape.stop_recording()
        pause.__enter__()  # Nothing leaves the block, as after an interrupt in the first step of __exit__.
    assert state.record is None and not state.tapes
    del pause
    assert state.record is None and not state.tapes
    assert tape.gradient(y, x).numpy() == 6.0


def test_ctrl_c_while_an_accumulator_is_entered_leaves_nothing_open(monkeypatch):
    x = tf.constant([1.0, 2.0])
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.ones([2]))
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(tf.GradientTape, "watch", raise_interrupt)
        with accumulator:
            pass
    assert state.record is None and not state.tapes
    with accumulator:
        y = x * x
    assert accumulator.jvp(y).numpy().tolist() == [2.0, 4.0]


def test_ctrl_c_while_a_tape_is_let_go_of_is_not_lost():
    """Python ignores exceptions in ``__del__``."""
    tape = tf.GradientTape()
    with tape:
        pass
    seen = []

    def interrupt_in_del(frame, event, arg):
        if frame.f_code.co_name == "__del__" or seen:
            seen.append(frame.f_code)
            if len(seen) > 1:  # A function that the method calls has started.
                sys.settrace(None)
                raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # A background job of a shell ignores SIGINT.
    try:
        with pytest.raises(KeyboardInterrupt):
            sys.settrace(interrupt_in_del)
            del tape
            _run_for(20)
    finally:
        sys.settrace(None)
        signal.signal(signal.SIGINT, before)
    assert len(seen) == 2


def _run_for(seconds):
    """Run a loop for some seconds.

    The loop is in a separate function, because a ``with`` block does not handle an interrupt at the jump of its own
    loop in Python 3.13.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_other_threads_are_not_recorded():
    x = tf.constant(3.0)
    results = {}

    def compute_in_thread():
        results["outside"] = x * x
        with tf.GradientTape() as own:
            own.watch(x)
            y = x * x * x
        results["own"] = own.gradient(y, x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        thread = threading.Thread(target=compute_in_thread)
        thread.start()
        thread.join()
        z = y + results["outside"]
    assert tape.gradient(z, x).numpy() == 6.0
    assert results["own"].numpy() == 27.0


def test_many_threads_with_a_tape_each():
    x = tf.constant(1.5)
    got = {}

    def compute_in_thread(n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(200):
                y = y * 1.001 + float(n)
        got[n] = tape.gradient(y, x).numpy()

    threads = [threading.Thread(target=compute_in_thread, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(map(float, got.values()))) == 1 and len(got) == 6


def test_a_million_rows(longest):
    """Only `--longest` records a million rows. A tenth of them is enough to measure the memory per row."""
    rows = 1_000_000 if longest else 100_000
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:  # The first long tape loads what all long tapes need.
        tape.watch(x)
        y = x
        for _ in range(10_000):
            y = y * 0.999999 + 0.000001
    tape.gradient(y, x)
    tracemalloc.start()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(rows // 2):
            y = y * 0.999999 + 0.000001
        held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.reset_peak()
    base = tracemalloc.get_traced_memory()[0]
    gradient = tape.gradient(y, x)
    peak = tracemalloc.get_traced_memory()[1] - base
    tracemalloc.stop()
    assert gradient.numpy() == pytest.approx(np.exp(-0.5e-6 * rows), rel=1e-2)
    most = 64 if find_spec("minitape.speed") else 150  # Rows are packed, or in a list.
    assert held / rows < most, f"{held / rows:.1f} bytes held per row"
    assert peak < 2 * held + 1_000_000, (
        f"{peak / rows:.1f} bytes per row for the gradient of a tape that holds {held / rows:.1f}"
    )


def test_a_used_tape_lets_go_of_large_arrays():
    x = tf.Variable(np.zeros(200_000, np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sin(tf.exp(x)))
    record = tape._record
    assert dict(iter_large_arrays(record)).keys() - record.leaves.keys()
    tape.gradient(y, x)
    assert [row for row, _ in iter_large_arrays(record) if row not in record.leaves] == []


def test_tapes_in_a_loop_do_not_pile_up():
    w = tf.Variable(np.ones(10_000, np.float32))
    losses = []

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        losses.append(loss)

    for _ in range(20):
        step()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(100):
        step()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100 * 12_000, f"{grown / 100:.0f} bytes stay after each step"


def test_a_training_loop_does_not_fill_the_garbage_collector():
    """The origins of old variable states stay short. Otherwise, the garbage collector would run all the time."""

    def train():
        w, counts = tf.Variable([1.0, 2.0]), []
        for _ in range(60):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w * w)
            w.assign_sub(0.01 * tape.gradient(loss, w))
            counts.append(len(gc.get_objects()))
        return counts

    train()  # The first call compiles everything.
    gc.collect()
    before = len(gc.get_objects())
    gc.disable()
    try:
        kept = [count - before for count in train()]
    finally:
        gc.enable()
    assert max(kept) < 500, f"objects more after each step: {kept}"


def test_float32_arithmetic_is_rounded_at_each_step():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(2).astype(np.float32)
    want = np.float32(1.0)
    x = tf.constant(a)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.constant(1.0)
        for _ in range(700):
            y = y * x + tf.constant(b)
    for _ in range(700):
        want = np.float32(np.float32(want * a) + b)
    assert y.numpy() == want
    assert isinstance(tape.gradient(y, x).numpy(), np.float32)


def test_kernels_and_python_give_the_same_numbers(monkeypatch):
    from minitape.engine.backward import gradient, sweep

    def compute_gradients():
        x, w = tf.Variable(0.3), tf.Variable(1.7)
        with tf.GradientTape() as tape:
            y = x
            for i in range(300):
                y = tf.sin(y * w) + tf.exp(-y * y) / (1.0 + y * y) - tf.sqrt(tf.abs(y) + float(i % 3))
        return [v.numpy() for v in (y, *tape.gradient(y, [x, w]))]

    with_kernels = compute_gradients()
    monkeypatch.setattr(gradient, "run_sweep", sweep.run_sweep)
    assert compute_gradients() == with_kernels


def test_values_may_be_read_by_another_thread_while_rows_are_written():
    x = tf.constant([1.0, 2.0])
    seen, stop = [], threading.Event()

    def read():
        while not stop.is_set() or not seen:
            seen.append((float(latest[0]), latest[1].numpy().tolist()))

    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = tf.reduce_sum(x) * 0.0, x * 1.0
        latest = [a, b]
        thread = threading.Thread(target=read)
        thread.start()
        for _ in range(40_000):
            a = a + 1.0
            b = b * 1.0
            latest = [a, b]
        stop.set()
        thread.join()
    assert a.numpy() == 40_000.0 and tape.gradient(b, x).numpy().tolist() == [1.0, 1.0]
    assert all(n == int(n) and values == [1.0, 2.0] for n, values in seen)


def test_a_watched_result_of_an_operation_outside_the_tape_is_a_source_of_its_own():
    x = tf.constant(10.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        y = x * 1.0
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            z = x * 2.0 + y * 3.0
        gx, gy = inner.gradient(z, [x, y])
    assert (gx.numpy(), gy.numpy()) == (2.0, 3.0)
    assert outer.gradient(z, x).numpy() == 5.0


def test_a_result_watched_after_an_operation_that_was_not_recorded():
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = x * 2.0
        tape.watch(y)
        tape.watch(x)
        z = tf.reduce_sum(x * y)
    assert tape.gradient(z, x).numpy().tolist() == [6.0, 8.0]


def test_a_tape_says_how_it_is():
    x, tape = tf.Variable(3.0), tf.GradientTape()
    assert repr(tape) == "<GradientTape: 0 rows, 0 watched>"
    with tape:
        y = tf.sin(x)
        assert repr(tape) == "<GradientTape: 2 rows, 1 watched>"
        with tape.stop_recording():
            tf.sin(x)
    tape.gradient(y, x)
    assert repr(tape) == "<GradientTape: 2 rows, 1 watched>"
    assert repr(tf.GradientTape(persistent=True)) == "<GradientTape: 0 rows, 0 watched>"


@pytest.mark.parametrize(
    "function", [tf.square, tf.identity, tf.exp, lambda x: x * 2.0, lambda x: tf.reshape(x, [3, 1])]
)
@pytest.mark.parametrize("shape", [[2], [3, 2], [2, 3, 1], [3, 3]])
def test_output_gradients_that_make_their_target_larger_are_refused(function, shape):
    """If their columns were added up, the gradient would have the right shape but wrong numbers."""
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = function(x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, x, output_gradients=tf.ones(shape))
    assert tape.gradient(y, x).shape == [3]


@pytest.mark.parametrize("shape", [[2], [1, 3], [3, 1], [2, 3]])
def test_a_tangent_that_does_not_fit_its_primal_is_refused_in_words(shape):
    x = tf.constant([1.0, 2.0, 3.0])
    with (
        pytest.raises(ValueError, match=r"must broadcast to the shape \(3,\) of its primal"),
        tf.autodiff.ForwardAccumulator(x, tf.ones(shape)) as forward,
    ):
        forward.jvp(x * x)


def test_a_text_has_no_gradient_even_of_itself():
    text, x = tf.constant("a"), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([text, x])
        y = x * x
    assert tape.gradient([y, x, text], [x, text]) == [7.0, None]


def test_dir_lists_the_methods_of_a_tape_and_nothing_else():
    tape = tf.GradientTape()
    members = {name: getattr(tf.GradientTape, name) for name in type.__dir__(tf.GradientTape)}
    methods = {name for name, value in members.items() if name[0] != "_" and callable(value)}
    assert set(dir(tape)) == methods > {"watch", "gradient"}
