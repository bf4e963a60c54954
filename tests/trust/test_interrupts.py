"""Ctrl-C at every line of Python that tapes and functions run leaves nothing open.

Tapes are stopped at each line in every run. Long scenarios and functions, whose tracing takes thousands of lines, are
stopped at some lines, or at each line with `--long`.
"""

import ast
import functools
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

import minitape as tf
from minitape.engine.record.thread_state import state
from minitape.explain import caller

ENGINE = str(Path(tf.__file__).parent)
WARNED = np.geterr()


@functools.cache
def find_unchecked_lines(file):
    """Return the lines before which Python does not check for Ctrl-C.

    Examples are a ``try`` after an index, and the beginning of a ``finally``.
    """
    found = set()
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))) if Path(file).is_file() else ():
        if isinstance(node, ast.Try) and node.finalbody:
            found.add(node.finalbody[0].lineno)
        body = getattr(node, "body", ())
        for before, after in itertools.pairwise(body if isinstance(body, list) else ()):
            if (
                isinstance(after, ast.Try)
                and isinstance(before, ast.Assign)
                and isinstance(before.value, ast.Subscript)
            ):
                found.add(after.lineno)
    return found


class Lines:
    """Count the lines that Python runs in the engine and in a scenario, and send Ctrl-C at one of them."""

    def __init__(self, scenario, stop=None):
        self.stop, self.seen, self.own = stop, [], scenario.__code__

    def __call__(self, frame, event, arg):
        code = frame.f_code
        if event == "call" and (
            (code is not self.own and not code.co_filename.startswith(ENGINE)) or is_in_finalizer(frame)
        ):
            return None
        closing = code.co_name == "<genexpr>"  # Python ignores exceptions while it closes one.
        if event == "line" and not closing and frame.f_lineno not in find_unchecked_lines(code.co_filename):
            if len(self.seen) == self.stop:
                raise KeyboardInterrupt
            self.seen.append((code, frame.f_lineno))
        return self


def is_in_finalizer(frame):
    """Return whether a frame runs in a finalizer, where GradientTape.__del__ delays an interrupt."""
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


def run_until_interrupt(scenario, subject, stop, tracer=Lines):
    """Run a scenario up to an interrupt. The error keeps all frames alive, as in a notebook after Ctrl-C."""
    found = tracer(scenario, stop)
    sys.settrace(found)
    try:
        scenario(subject)
    except KeyboardInterrupt as error:
        return found, error
    finally:
        sys.settrace(None)
    assert stop is None or len(found.seen) <= stop  # Later runs may need fewer lines.
    return found, None


def select_first_and_last(seen):
    """Return the first and the last run of each line, so that iterations of loops are not all interrupted."""
    first = {}
    last = {place: number for number, place in enumerate(seen)}
    for number, place in enumerate(seen):
        first.setdefault(place, number)
    return sorted({*first.values(), *last.values()})


def print_stop_count(stops):
    """Return the stops. ``pytest -rP`` shows their number."""
    print(len(stops), "interrupts")
    return stops


def entered_and_left(x):
    with tf.GradientTape() as tape:
        pass
    return tape


def nested(x):
    with tf.GradientTape(persistent=True) as outer, tf.GradientTape() as inner:
        inner.watch(x)
    with outer:
        pass


def paused(x):
    with tf.GradientTape(persistent=True) as tape:
        with tape.stop_recording():
            pass
        with tape.stop_recording():
            pass


def scoped(x):
    with tf.Module("inner").name_scope, tf.init_scope():
        pass


def accumulated(x):
    with tf.autodiff.ForwardAccumulator(x, x):
        pass


def asked(x):
    with caller.use_asking_frame(sys._getframe()):
        pass


def operated(x):
    tf.add(x * x, [1.0, 2.0])


def eager_gradients(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.recompute_grad(lambda t: t * t)(x)
        g = inner.gradient(y, x)
    outer.gradient(g, x)


MODEL = tf.keras.Sequential([tf.keras.layers.Dense(1)])


def layers(x):
    MODEL(tf.reshape(x, [1, 1]))


SCENARIOS = [entered_and_left, nested, paused, scoped, accumulated, asked, operated, eager_gradients, layers]


class Plain:
    """A function that is traced again for each interrupt, and its expected result."""

    want = 20.0

    def __init__(self):
        self.x, self.v = tf.constant(3.0), tf.Variable(2.0)
        self.f = tf.function(self.define())

    def define(self):
        return lambda x: self.v * x * x + self.v


class WithTapes(Plain):
    want = 29.0

    def define(self):
        def f(x):
            with tf.GradientTape() as tape:
                y = self.v * x * x + self.v
            return y + tape.gradient(y, self.v) - tf.cond(x > 0.0, lambda: 1.0, lambda: x)

        return f


def traced(subject):
    with tf.GradientTape() as tape:
        y = subject.f(subject.x)
    tape.gradient(y, subject.v)


def check_state_is_clean():
    assert state.record is None and state.fixed_site is None
    assert state.tapes == [] and state.scope == () and state.read_variables == ()
    assert caller._current.frame is None
    assert np.geterr() == WARNED
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x).numpy() == 6.0
    assert state.record is None and state.tapes == []


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_ctrl_c_at_every_line_leaves_eager_mode(scenario, long):
    x = tf.constant(3.0)
    scenario(x)
    seen = run_until_interrupt(scenario, x, None)[0].seen
    for stop in print_stop_count(
        range(len(seen)) if len(seen) < 1000 else select_first_and_last(seen)[:: 1 if long else 10]
    ):
        lines, _caught = run_until_interrupt(scenario, x, stop)
        try:
            check_state_is_clean()
        except AssertionError as error:
            raise AssertionError(f"after {lines.seen[-1:]}") from error


@pytest.mark.parametrize(("kind", "step"), [(Plain, 1), (WithTapes, 23)])
def test_ctrl_c_while_a_function_is_traced_and_called_first(kind, step, long, longest):
    traced(kind())
    step *= 1 if longest else 3 if long else 31
    for stop in print_stop_count(select_first_and_last(run_until_interrupt(traced, kind(), None)[0].seen)[::step]):
        subject = kind()
        lines, _caught = run_until_interrupt(traced, subject, stop)
        try:
            check_state_is_clean()
            assert subject.f(subject.x).numpy() == subject.want
        except Exception as error:
            raise AssertionError(f"after {lines.seen[-1:]}") from error


def test_who_looks_for_an_exit_does_not_leave():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        assert hasattr(tape, "__exit__")
        y = x * x
    assert tape.gradient(y, x).numpy() == 6.0
