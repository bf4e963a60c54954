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

from benchmarks.measure import pin, steady

TABLE = Path(__file__).with_name("operations.txt")
SYSTEMS = ("minitape", "tensorflow")


def lines() -> list[tuple[str, str, str]]:
    """(name, inputs, expression) of each operation."""
    rows = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return [tuple(part.strip() for part in row.split("|", 2)) for row in rows]  # type: ignore[misc]


def arrays(inputs: str) -> dict[str, Any]:
    """The operands, the same for both systems: small normal numbers in float32, integers below a bound."""
    import numpy as np  # not before `pin`: its BLAS reads once how many threads it may have

    rng, found = np.random.default_rng(0), {}
    for part in inputs.split(","):
        name, _, shape = part.strip().partition(":")
        sizes, _, bound = shape.partition("<")
        size = tuple(map(int, sizes.split()))
        found[name] = (
            rng.integers(0, int(bound), size) if bound else (0.5 * rng.standard_normal(size)).astype("float32")
        )
    return found


def measure(system: str, only: str, seconds: float) -> dict[str, Any]:
    """Best seconds of value and gradient, and a sum over each gradient, by operation."""
    tf = importlib.import_module(system)
    if system == "tensorflow":
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    found = {}
    for name, inputs, expression in lines():
        if only in name:
            given = {k: tf.Variable(v) if v.dtype.kind == "f" else tf.constant(v) for k, v in arrays(inputs).items()}
            found[name] = timed(tf, eval(f"lambda tf, {', '.join(given)}: {expression}"), given, seconds)
    return found


def timed(tf: Any, function: Any, given: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The figures of one operation."""
    sources = [v for v in given.values() if v.dtype == tf.float32]

    def run() -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(function(tf, **given))
        return tape.gradient(y, sources)

    sums = [float(tf.reduce_sum(tf.abs(tf.convert_to_tensor(g)))) for g in run()]
    return {"seconds": min(steady(run, seconds)), "sums": sums}


def main() -> None:
    """The command line, or with ``SYSTEM ONLY SECONDS`` one system's figures as JSON."""
    if sys.argv[1:2] and sys.argv[1] in SYSTEMS:
        pin()
        os.environ["TF_CPP_MIN_LOG_LEVEL"], os.environ["CUDA_VISIBLE_DEVICES"] = "3", "-1"
        system, only, seconds = sys.argv[1:4]
        print(json.dumps(measure(system, only, float(seconds))))
        return
    import click

    @click.command()
    @click.option("--only", default="", help="Only operations whose name contains this.")
    @click.option("--python", default=sys.executable, help="Interpreter of an environment with TensorFlow.")
    @click.option("--seconds", default=0.2, show_default=True, help="Measuring time of each operation.")
    def command(only: str, python: str, seconds: float) -> None:
        """Operations beside TensorFlow, the slowest in comparison first."""
        compare(only, python, seconds)

    command()


def compare(only: str, python: str, seconds: float) -> None:
    """Prints the table; fails where gradients differ."""
    import click
    from rich.console import Console
    from rich.table import Table

    from benchmarks.run import PYTHONS, call

    PYTHONS["tensorflow"] = python
    figures = {system: call("benchmarks.operations", system, only, str(seconds)) for system in SYSTEMS}
    for system, found in figures.items():
        if "error" in found:
            raise click.ClickException(f"{system}: {found['error']}")
    own, other = figures["minitape"], figures["tensorflow"]
    table = Table("operation", "minitape, us", "TensorFlow, us", "ratio", title="value and gradient, best time")
    for name in sorted(own, key=lambda n: -own[n]["seconds"] / other[n]["seconds"]):
        a, b = own[name]["seconds"], other[name]["seconds"]
        table.add_row(name, f"{a * 1e6:.0f}", f"{b * 1e6:.0f}", f"{a / b:.2f}")
    Console().print(table)
    wrong = [
        n
        for n in own
        if any(abs(a - b) > 1e-3 * abs(b) + 1e-3 for a, b in zip(own[n]["sums"], other[n]["sums"], strict=True))
    ]
    if wrong:
        raise click.ClickException(f"gradients differ: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
