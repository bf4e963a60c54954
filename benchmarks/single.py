"""Measurements of minitape alone: ``python -m benchmarks.single NAME`` prints JSON.

Bytes per row, the time from the start of a process to its first gradient, the first sweep in a kernel, the memory at
the peak of a gradient, and how the cost of a row grows with the length of the tape.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc

from benchmarks.measure import pin_to_cpu

FIRST_GRADIENT = """
import minitape as tf
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x + 2.0 * x
tape.gradient(y, x).numpy()
"""
FIRST_SWEEP = """
import time
import minitape as tf
x = tf.Variable(0.9)
with tf.GradientTape() as tape:
    y = x
    for _ in range(5000):
        y = y * x + 0.1
start = time.perf_counter()
tape.gradient(y, x).numpy()
print(time.perf_counter() - start)
"""


def measure_memory_per_row(rows: int = 1_000_000) -> dict[str, float]:
    """Return the bytes held per recorded scalar row, and the peak of its gradient as a part of what the tape holds."""
    import minitape as tf

    x, c = tf.constant(0.9), tf.constant(0.1)
    with tf.GradientTape() as warm:
        warm.watch(x)
        y = x
        for _ in range(1000):
            y = y * x + c
    warm.gradient(y, x)
    tracemalloc.start()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(rows // 2):
            y = y * x + c
    held_bytes = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.reset_peak()
    base_bytes = tracemalloc.get_traced_memory()[0]
    tape.gradient(y, x)
    peak_bytes = tracemalloc.get_traced_memory()[1] - base_bytes
    return {"bytes_per_row": held_bytes / rows, "peak_over_held": (held_bytes + peak_bytes) / held_bytes}


def measure_time_per_row() -> dict[str, float]:
    """Return nanoseconds per row, of recording and gradient and of the sweep alone, for tapes of 1k to 1M rows."""
    import minitape as tf

    x, c = tf.constant(0.9), tf.constant(0.1)
    figures: dict[str, float] = {}
    for rows in (1_000, 10_000, 100_000, 1_000_000):
        total_times, sweep_times = [], []
        for _ in range(max(3, 200_000 // rows)):
            start = time.perf_counter()
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = x
                for _ in range(rows // 2):
                    y = y * x + c
            tape.gradient(y, x)
            total_times.append(time.perf_counter() - start)
            start = time.perf_counter()
            tape.gradient(y, x)
            sweep_times.append(time.perf_counter() - start)
        figures[f"row_{rows}"] = min(total_times) / rows * 1e9
        figures[f"back_{rows}"] = min(sweep_times) / rows * 1e9
    return figures


def _time_process(code: str, **environment: str) -> tuple[float, str]:
    start = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, check=True, capture_output=True, text=True
    )
    return time.perf_counter() - start, process.stdout


def measure_start_times() -> dict[str, float]:
    """Return seconds from process start to the first gradient, and of the first sweep, with a warm and a cold cache."""
    _time_process(FIRST_GRADIENT, PYTHONDONTWRITEBYTECODE="")  # a warm cache is also one of bytecode
    first = min(_time_process(FIRST_GRADIENT)[0] for _ in range(7))
    numpy = min(_time_process("import numpy")[0] for _ in range(7))
    with tempfile.TemporaryDirectory() as cache:
        cold = float(_time_process(FIRST_SWEEP, MINITAPE_CACHE=cache, NUMBA_CACHE_DIR="")[1])
        warm = min(float(_time_process(FIRST_SWEEP, MINITAPE_CACHE=cache, NUMBA_CACHE_DIR="")[1]) for _ in range(3))
    return {"first_gradient": first, "import_numpy": numpy, "first_sweep_warm": warm, "first_sweep_cold": cold}


if __name__ == "__main__":
    pin_to_cpu()
    print(
        json.dumps(
            {"memory": measure_memory_per_row, "growth": measure_time_per_row, "starts": measure_start_times}[
                sys.argv[1]
            ]()
        )
    )
