"""What `explain` costs: its evidence in a training step, and its answers.

    python -m benchmarks.explain

The evidence is switched off by putting functions that note nothing in the place of those that do, everywhere, and on
again: steps with it and without alternate in one process, and the least time of each counts.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import minitape as tf
from minitape.engine.recording import evidence

NOTES: dict[str, Callable[..., Any]] = {
    "origin_of_new": lambda *given, **named: None,
    "place_of": lambda *given: (),
    "note_exit": lambda *given: None,
    "note_creation": lambda *given: None,
    "note_used_as_size": lambda *given: None,
    "with_influences": lambda value, *given: value,
    "note_gradients": lambda *given: (),
    "stack": lambda *given, **named: (),
}
WIDTHS = (16, 64, 256)
TURNS = 120
ROWS = 100_000


class Evidence:
    """All places that hold one of the functions that note evidence."""

    def __init__(self) -> None:
        kept = {id(getattr(evidence, name)): name for name in NOTES}
        self._real = {name: getattr(evidence, name) for name in NOTES}
        spaces = [one for one in gc.get_objects() if type(one) is dict and one is not kept and one is not self._real]
        self._places = [
            (space, key, kept[id(value)]) for space in spaces for key, value in list(space.items()) if id(value) in kept
        ]

    def switch(self, on: bool) -> None:
        """Puts the real functions, or those that note nothing, into all places."""
        for space, key, name in self._places:
            space[key] = self._real[name] if on else NOTES[name]
        noted = tf.reduce_sum(tf.constant([1.0]))._origin is not None
        assert noted == on


def training(width: int) -> Callable[[], None]:
    """A step of training a net with two hidden layers."""
    rng = np.random.default_rng(0)
    x, y = (tf.constant(rng.normal(size=(32, n)).astype(np.float32)) for n in (8, 1))
    layers = [tf.keras.layers.Dense(width, activation="tanh") for _ in range(2)]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
    model(x)  # the first call makes the weights
    optimizer = tf.keras.optimizers.SGD(0.01)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    return step


def least(evidence: Evidence, step: Callable[[], None]) -> tuple[float, float]:
    """The least seconds of a step with and without evidence; they alternate."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(5):
        step()
    for _ in range(TURNS):
        for on in (True, False):
            evidence.switch(on)
            begin = time.perf_counter()
            for _ in range(3):
                step()
            found[on].append((time.perf_counter() - begin) / 3)
    evidence.switch(True)
    return min(found[True]), min(found[False])


def long_tape(rows: int) -> tuple[Any, Any, Any]:
    """A tape of so many rows, its target, and a variable that the target does not reach."""
    x, w = tf.Variable(1.0), tf.Variable(0.5)
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(rows // 2):
            y = y * 0.999 + x
        y = y + tf.stop_gradient(w)
    return tape, y, w


def answer() -> float:
    """Seconds of one answer."""
    tape, y, w = long_tape(ROWS)
    begin = time.perf_counter()
    why = tape.explain(y, w)
    took = time.perf_counter() - begin
    assert why.cause == "stop_gradient"
    return took


def first_answer() -> float:
    """Seconds of the first answer of a process."""
    tape, y, w = long_tape(100)
    begin = time.perf_counter()
    assert tape.explain(y, w).cause == "stop_gradient"
    return time.perf_counter() - begin


def main() -> None:
    """Prints the figures."""
    if "--first" in sys.argv:
        print(first_answer())
        return
    run = [sys.executable, "-m", "benchmarks.explain", "--first"]
    firsts = [
        float(subprocess.run(run, capture_output=True, text=True, check=True, env=os.environ).stdout) for _ in range(3)
    ]
    steps = [(width, training(width)) for width in WIDTHS]
    for _, step in steps:
        step()
    notes = Evidence()
    print("a training step, two hidden layers, 32 rows: with evidence, without, ratio")
    for width, step in steps:
        on, off = least(notes, step)
        print(f"  {width:4} wide   {on * 1e6:8.0f} us   {off * 1e6:8.0f} us   {on / off:.2f}")
    print(f"explain, {ROWS:,} rows: {min(answer() for _ in range(3)):.2f} s")
    print(f"explain, first call of a process: {min(firsts):.2f} s")


if __name__ == "__main__":
    main()
