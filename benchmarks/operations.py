"""One operation after the other, its value and its gradient, beside TensorFlow: ``python -m benchmarks.operations``.

The lines of ``operations.txt`` run in minitape and in TensorFlow, in a process of its own each, pinned to one CPU, and
must give the same gradients. What is printed are the best times, the slowest of ours in comparison first: this is where
to look for work. ``--python`` names the interpreter of an environment that has TensorFlow.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import measure_steady_calls, pin_to_cpu

TABLE = Path(__file__).with_name("operations.txt")
SYSTEMS = ("minitape", "tensorflow")


def read_operations() -> list[tuple[str, str, str]]:
    """Read (name, inputs, expression) of each operation."""
    rows = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return [tuple(part.strip() for part in row.split("|", 2)) for row in rows]  # type: ignore[misc]


def build_operands(inputs: str) -> dict[str, Any]:
    """Build the operands, the same for both systems: small normal numbers in float32, integers below a bound."""
    import numpy as np  # not before `pin_to_cpu`: its BLAS reads once how many threads it may have

    rng, operands = np.random.default_rng(0), {}
    for part in inputs.split(","):
        name, _, shape = part.strip().partition(":")
        sizes, _, bound = shape.partition("<")
        size = tuple(map(int, sizes.split()))
        operands[name] = (
            rng.integers(0, int(bound), size) if bound else (0.5 * rng.standard_normal(size)).astype("float32")
        )
    return operands


def measure_operations_of_system(system: str, name_part: str, seconds: float) -> dict[str, Any]:
    """Return the best seconds of value and gradient, and a sum over each gradient, by operation."""
    tf = importlib.import_module(system)
    if system == "tensorflow":
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    figures = {}
    for name, inputs, expression in read_operations():
        if name_part in name:
            operands = {
                k: tf.Variable(v) if v.dtype.kind == "f" else tf.constant(v) for k, v in build_operands(inputs).items()
            }
            figures[name] = measure_operation(
                tf, eval(f"lambda tf, {', '.join(operands)}: {expression}"), operands, seconds
            )
    return figures


def measure_operation(tf: Any, function: Any, operands: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return the figures of one operation."""
    sources = [v for v in operands.values() if v.dtype == tf.float32]

    def run_once() -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(function(tf, **operands))
        return tape.gradient(y, sources)

    sums = [float(tf.reduce_sum(tf.abs(tf.convert_to_tensor(g)))) for g in run_once()]
    return {"seconds": min(measure_steady_calls(run_once, seconds)), "sums": sums}


def main() -> None:
    """Run the command line, or with ``SYSTEM ONLY SECONDS`` print one system's figures as JSON."""
    if sys.argv[1:2] and sys.argv[1] in SYSTEMS:
        pin_to_cpu()
        os.environ["TF_CPP_MIN_LOG_LEVEL"], os.environ["CUDA_VISIBLE_DEVICES"] = "3", "-1"
        system, only, seconds = sys.argv[1:4]
        print(json.dumps(measure_operations_of_system(system, only, float(seconds))))
        return
    import click

    @click.command()
    @click.option("--only", default="", help="Only operations whose name contains this.")
    @click.option("--python", default=sys.executable, help="Interpreter of an environment with TensorFlow.")
    @click.option("--seconds", default=0.2, show_default=True, help="Measuring time of each operation.")
    def command(only: str, python: str, seconds: float) -> None:
        """Operations beside TensorFlow, the slowest in comparison first."""
        print_system_comparison(only, python, seconds)

    command()


def print_system_comparison(only: str, python: str, seconds: float) -> None:
    """Measure both systems and print the table; fail where gradients differ."""
    import click
    from rich.console import Console
    from rich.table import Table

    from benchmarks.run import PYTHONS, run_measuring_module

    PYTHONS["tensorflow"] = python
    figures = {system: run_measuring_module("benchmarks.operations", system, only, str(seconds)) for system in SYSTEMS}
    for system, result in figures.items():
        if "error" in result:
            raise click.ClickException(f"{system}: {result['error']}")
    own_figures, other_figures = figures["minitape"], figures["tensorflow"]
    table = Table("operation", "minitape, us", "TensorFlow, us", "ratio", title="value and gradient, best time")
    for name in sorted(own_figures, key=lambda n: -own_figures[n]["seconds"] / other_figures[n]["seconds"]):
        a, b = own_figures[name]["seconds"], other_figures[name]["seconds"]
        table.add_row(name, f"{a * 1e6:.0f}", f"{b * 1e6:.0f}", f"{a / b:.2f}")
    Console().print(table)
    disagreeing = [
        n
        for n in own_figures
        if any(
            abs(a - b) > 1e-3 * abs(b) + 1e-3
            for a, b in zip(own_figures[n]["sums"], other_figures[n]["sums"], strict=True)
        )
    ]
    if disagreeing:
        raise click.ClickException(f"gradients differ: {', '.join(disagreeing)}")


if __name__ == "__main__":
    main()
