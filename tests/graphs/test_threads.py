"""Functions that several threads call, trace and differentiate at once."""

import threading

import minitape as tf


def at_once(count, function):
    """What ``function(number)`` gives in so many threads that start together, or the error that it raises."""
    found = [None] * count
    barrier = threading.Barrier(count)

    def run(number):
        barrier.wait()
        try:
            found[number] = function(number)
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


class Scaled:
    """Makes its variable when it is called first."""

    def __init__(self):
        self.v, self.made, self.inside = None, 0, threading.Event()

    @tf.function
    def __call__(self, x):
        if self.v is None:
            self.inside.wait(0.05)  # long enough for the others to come here, too
            self.made += 1
            self.v = tf.Variable(2.0)
        return x * self.v


def test_one_thread_traces():
    scaled = Scaled()
    assert [float(y) for y in at_once(6, lambda n: scaled(tf.constant(float(n))))] == [2.0 * n for n in range(6)]
    assert scaled.made == 1
    assert Scaled.__call__.__get__(scaled).experimental_get_tracing_count() == 2  # once without variables to make


@tf.custom_gradient
def squared(x):
    return x * x, lambda g: 2.0 * x * g


def test_the_gradient_is_traced_once():
    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = squared(x) + tf.sin(x)
        return x

    def gradient(number):
        x = tf.constant(0.1 * number)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, tf.constant(3))
            g = tape.gradient(y, x)
        return float(y), float(g), float(outer.gradient(g, x))

    together = at_once(6, gradient)
    assert together == [gradient(number) for number in range(6)]


def test_gradients_do_not_make_the_graph_longer():
    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = squared(x)
        return x

    x, sizes = tf.constant(1.1), []
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(2))
        tape.gradient(y, x)
        graph = f.get_concrete_function(x, tf.constant(2)).graph
        (loop,) = [c for c in graph.calls if c.primitive.name == "while"]
        sizes.append(len(loop.attrs["body"].graph))
    assert sizes[1] == sizes[2]
