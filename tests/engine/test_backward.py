"""A backward sweep keeps slices as slices, runs the user's functions, and releases arrays early."""

import minitape as tf
from minitape.engine.backward.reachability import mark_rows_on_tape
from minitape.engine.backward.sweep import Sweep
from minitape.engine.table.primitives import Primitive


def test_a_custom_gradient_runs_also_where_only_a_later_source_is_asked_for():
    seen = []

    @tf.custom_gradient
    def double(x):
        return x * 2.0, lambda dy: seen.append(dy.numpy()) or dy * 2.0

    a, b = tf.constant(1.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        c = double(a)
        tape.watch(b)
        y = c * b
    assert tape.gradient(y, b).numpy() == 2.0 and seen == [3.0]


def test_an_operation_without_a_gradient_gives_none_and_the_others_theirs():
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = Primitive("halves", lambda v: v / 2, None)(x) + y
    none, ones = tape.gradient(z, [x, y])
    assert none is None and ones.numpy().tolist() == [1.0, 1.0]


def test_only_the_adjoints_of_sources_are_left_after_a_sweep():
    """Otherwise, the gradient of a long tape of large arrays would need twice the memory."""
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, second = tf.split(tf.sin(x), 2)
        y = first * tf.exp(second)
    [source] = tape.watched
    sweep = Sweep(tape._record, {len(tape._record) - 1: y.numpy()}, {source})
    sweep.run_to_end()
    assert sweep.adjoints.keys() == {source}


def test_what_an_inner_tape_watches_of_an_outer_one_is_on_it_and_what_it_comes_from_is_not():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        y = x * x
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(y)
            z = y * y
    [at] = inner.watched
    assert [*mark_rows_on_tape(inner)] == [row >= at for row in range(len(inner._record))]
    assert inner.gradient(z, x) is None and inner.gradient(z, y).numpy() == 18.0
    assert outer.gradient(z, x).numpy() == 108.0


def test_an_integer_variable_does_not_put_what_is_computed_from_it_on_a_tape():
    """These are the answers of TensorFlow 2.21."""
    count, w = tf.Variable(3), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        x = tf.cast(count, tf.float32)
        y = x * x * w
    assert tape.gradient(y, [count, x]) == [None, None] and tape.gradient(y, w).numpy() == 9.0
