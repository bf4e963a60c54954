"""One measurement in a process of its own: ``python -m benchmarks.measure PEER FUNCTION SIZE SECONDS`` prints JSON."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable


def pin_to_cpu() -> None:
    """Bind this process to one CPU: threads of BLAS on a shared machine measure the neighbours."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure_workload(peer: str, function: str, size: int, seconds: float) -> dict[str, object]:
    """Return median and best seconds of a call in steady state, seconds of the first call, and the numbers it returned.

    An empty dictionary where the peer has no such workload.
    """
    build = getattr(importlib.import_module(f"benchmarks.peers.{peer}"), function, None)
    if build is None:
        return {}
    run = build(size)
    start = time.perf_counter()
    result = run()
    first = time.perf_counter() - start
    times = measure_steady_calls(run, seconds)
    return {
        "median": statistics.median(times),
        "best": min(times),
        "first": first,
        "result": [float(v) for v in result],
    }


def measure_steady_calls(run: Callable[[], object], seconds: float) -> list[float]:
    """Return the seconds of a call in steady state, measured several times."""
    deadline = time.perf_counter() + seconds / 4
    run()
    while time.perf_counter() < deadline:
        run()
    start = time.perf_counter()
    run()
    one_call = max(time.perf_counter() - start, 1e-7)
    batch = max(1, int(0.002 / one_call))
    times: list[float] = []
    gc.collect()
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline or len(times) < 5:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        times.append((time.perf_counter() - start) / batch)
        if one_call > 5 and len(times) >= 3:
            break
    return times


def main() -> None:
    """Measure in a thread with a deep stack, for the peers that recurse over their graph."""
    pin_to_cpu()
    peer, function, size, seconds = sys.argv[1:5]
    answer: dict[str, object] = {}

    def run_measurement() -> None:
        try:
            answer.update(measure_workload(peer, function, int(size), float(seconds)))
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"

    if peer == "micrograd":
        threading.stack_size(512 * 2**20)
        thread = threading.Thread(target=run_measurement)
        thread.start()
        thread.join()
    else:
        run_measurement()
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
