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
from minitape.engine.record import provenance

SILENT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "build_origin": lambda *given, **named: None,
    "find_user_place": lambda *given: (),
    "log_escape": lambda *given: None,
    "store_creation_stack": lambda *given: None,
    "log_use_as_size": lambda *given: None,
    "set_origin_of_range": lambda value, *given: value,
    "set_gradient_origins": lambda *given: (),
    "capture_user_stack": lambda *given, **named: (),
}
WIDTHS = (16, 64, 256)
TURNS = 120
ROWS = 100_000


class ProvenanceSwitch:
    """Finds all places that hold a function that notes evidence, and switches these functions off and on."""

    def __init__(self) -> None:
        name_by_id = {id(getattr(provenance, name)): name for name in SILENT_FUNCTIONS}
        self._real_functions = {name: getattr(provenance, name) for name in SILENT_FUNCTIONS}
        namespaces = [
            candidate
            for candidate in gc.get_objects()
            if type(candidate) is dict and candidate is not name_by_id and candidate is not self._real_functions
        ]
        self._places = [
            (namespace, key, name_by_id[id(value)])
            for namespace in namespaces
            for key, value in list(namespace.items())
            if id(value) in name_by_id
        ]

    def switch_all_functions(self, is_on: bool) -> None:
        """Put the real functions, or those that note nothing, into all places."""
        for namespace, key, name in self._places:
            namespace[key] = self._real_functions[name] if is_on else SILENT_FUNCTIONS[name]
        is_noted = tf.reduce_sum(tf.constant([1.0]))._origin is not None
        assert is_noted == is_on


def build_training_step(width: int) -> Callable[[], None]:
    """Build a step of training a net with two hidden layers."""
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


def measure_step_with_and_without(switch: ProvenanceSwitch, step: Callable[[], None]) -> tuple[float, float]:
    """Return the least seconds of a step with and without evidence; they alternate."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(5):
        step()
    for _ in range(TURNS):
        for is_on in (True, False):
            switch.switch_all_functions(is_on)
            start_time = time.perf_counter()
            for _ in range(3):
                step()
            seconds[is_on].append((time.perf_counter() - start_time) / 3)
    switch.switch_all_functions(True)
    return min(seconds[True]), min(seconds[False])


def record_long_tape(rows: int) -> tuple[Any, Any, Any]:
    """Return a tape of so many rows, its target, and a variable to which no gradient passes."""
    x, w = tf.Variable(1.0), tf.Variable(0.5)
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(rows // 2):
            y = y * 0.999 + x
        y = y + tf.stop_gradient(w)
    return tape, y, w


def measure_explain_seconds() -> float:
    """Return the seconds of one answer, about a long tape."""
    tape, y, w = record_long_tape(ROWS)
    start_time = time.perf_counter()
    explanation = tape.explain(y, w)
    seconds = time.perf_counter() - start_time
    assert explanation.cause == "stop_gradient"
    return seconds


def measure_first_explain_seconds() -> float:
    """Return the seconds of an answer about a short tape: call it first in a process."""
    tape, y, w = record_long_tape(100)
    start_time = time.perf_counter()
    assert tape.explain(y, w).cause == "stop_gradient"
    return time.perf_counter() - start_time


def main() -> None:
    """Print the figures."""
    if "--first" in sys.argv:
        print(measure_first_explain_seconds())
        return
    command = [sys.executable, "-m", "benchmarks.explain", "--first"]
    first_seconds = [
        float(subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout)
        for _ in range(3)
    ]
    steps = [(width, build_training_step(width)) for width in WIDTHS]
    for _, step in steps:
        step()
    switch = ProvenanceSwitch()
    print("a training step, two hidden layers, 32 rows: with evidence, without, ratio")
    for width, step in steps:
        seconds_on, seconds_off = measure_step_with_and_without(switch, step)
        times = f"{seconds_on * 1e6:8.0f} us   {seconds_off * 1e6:8.0f} us"
        print(f"  {width:4} wide   {times}   {seconds_on / seconds_off:.2f}")
    print(f"explain, {ROWS:,} rows: {min(measure_explain_seconds() for _ in range(3)):.2f} s")
    print(f"explain, first call of a process: {min(first_seconds):.2f} s")


if __name__ == "__main__":
    main()
