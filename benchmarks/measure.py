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


def pin() -> None:
    """Binds this process to one CPU: threads of BLAS on a shared machine measure the neighbours."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure(peer: str, function: str, size: int, seconds: float) -> dict[str, object]:
    """Median and best seconds of a call in steady state, seconds of the first call, and the numbers it returned.

    Nothing where the peer has no such workload.
    """
    make = getattr(importlib.import_module(f"benchmarks.peers.{peer}"), function, None)
    if make is None:
        return {}
    run = make(size)
    start = time.perf_counter()
    result = run()
    first = time.perf_counter() - start
    times = steady(run, seconds)
    return {
        "median": statistics.median(times),
        "best": min(times),
        "first": first,
        "result": [float(v) for v in result],
    }


def steady(run: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of a call in steady state, measured several times."""
    end = time.perf_counter() + seconds / 4
    run()
    while time.perf_counter() < end:
        run()
    start = time.perf_counter()
    run()
    once = max(time.perf_counter() - start, 1e-7)
    batch = max(1, int(0.002 / once))
    times: list[float] = []
    gc.collect()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        times.append((time.perf_counter() - start) / batch)
        if once > 5 and len(times) >= 3:
            break
    return times


def main() -> None:
    """Measures in a thread with a deep stack, for the peers that recurse over their graph."""
    pin()
    peer, function, size, seconds = sys.argv[1:5]
    answer: dict[str, object] = {}

    def work() -> None:
        try:
            answer.update(measure(peer, function, int(size), float(seconds)))
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"

    if peer == "micrograd":
        threading.stack_size(512 * 2**20)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
