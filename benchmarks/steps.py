"""Steps of Python's interpreter, and functions called, that a workload takes: `python -m benchmarks.steps [NAME ...]`.

They do not depend on the machine, so they show a change that a clock does not. Beside minitape stands the plain tape,
where it has the workload.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from benchmarks.peers import floor, minitape
from benchmarks.workloads import WORKLOADS

USUAL_WORKLOADS = ("scalar_1", "scalar_5", "rosenbrock_10", "mlp_64", "logistic", "hvp", "derivative_2", "derivative_4")
WARMUP_RUNS = 30  # runs before the one that is counted


def count_instructions_and_calls(run: Callable[[], Any]) -> tuple[int, int]:
    """Return how many bytecode instructions ran, in how many calls of functions."""
    counts = {"opcode": 0, "call": 0}

    def trace(frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event in counts:
            counts[event] += 1
        return trace

    for _ in range(WARMUP_RUNS):
        run()
    gc.collect()
    gc.disable()
    try:
        sys.settrace(trace)
        run()
    finally:
        sys.settrace(None)
        gc.enable()
    return counts["opcode"], counts["call"]


if __name__ == "__main__":
    print("| work | minitape | plain tape | ratio | functions called |\n|---|---:|---:|---:|---:|")
    for work in WORKLOADS:
        if work.name not in (sys.argv[1:] or USUAL_WORKLOADS):
            continue
        ours, called = count_instructions_and_calls(getattr(minitape, work.function)(work.size))
        plain = getattr(floor, work.function, None)
        others, functions = count_instructions_and_calls(plain(work.size)) if plain else (0, 0)
        beside = f"{others:,} | {ours / others:.1f} | {called:,}, {functions:,}" if others else f" | | {called:,}"
        print(f"| {work.label} | {ours:,} | {beside} |")
