"""Measures minitape beside its peers: ``python -m benchmarks.run``.

Each workload runs in a process of its own for each system that is installed, the systems alternating, all pinned to one
CPU. The results must agree. What is printed are medians and ratios; the JSON (``--json``) is what the table of
docs/speed.md and its chart are made from. ``--quick`` uses small sizes and one round.
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.workloads import WORKLOADS, Workload

PEERS = ["minitape", "floor", "micrograd", "torch", "autograd", "numpy", "jax", "tensorflow"]
ROOT = Path(__file__).resolve().parent.parent
PYTHONS: dict[str, str] = {}  # interpreters of peers that live in another environment


def list_installed_peers(names: list[str]) -> list[str]:
    """List the peers among ``names`` that can be imported here, or that have an interpreter of their own."""
    always_there = ("minitape", "floor", "numpy", *PYTHONS)
    return [n for n in names if n in always_there or importlib.util.find_spec(n) is not None]


def run_measuring_module(module: str, *arguments: str) -> dict[str, Any]:
    """Run one of the measuring modules and read its JSON."""
    python = PYTHONS.get(arguments[0], sys.executable)
    process = subprocess.run([python, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True)
    lines = process.stdout.strip().splitlines()
    if process.returncode or not lines:
        return {"error": (process.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(lines[-1])


def find_disagreeing_peers(results: dict[str, list[float]], tolerance: float) -> list[str]:
    """Find the systems whose numbers differ from minitape's."""
    own_numbers = results.get("minitape")
    if own_numbers is None:
        return []
    return [
        peer
        for peer, other_numbers in results.items()
        if any(abs(a - b) > tolerance * max(1.0, abs(a)) for a, b in zip(own_numbers, other_numbers, strict=True))
    ]


def measure_workload_of_peers(
    workload: Workload, peers: list[str], rounds: int, seconds: float, quick: bool
) -> dict[str, Any]:
    """Measure each system with one workload, in alternating rounds."""
    size = str(workload.small if quick and workload.small else workload.size)
    times: dict[str, list[float]] = {}
    first: dict[str, float] = {}
    results: dict[str, list[float]] = {}
    notes: dict[str, str] = {}
    for _ in range(rounds):
        for peer in peers:
            if peer in notes:
                continue
            figures = run_measuring_module("benchmarks.measure", peer, workload.function, size, str(seconds))
            if "median" not in figures:
                notes[peer] = figures.get("error", "")
                continue
            times.setdefault(peer, []).append(figures["median"])
            first.setdefault(peer, figures["first"])
            results[peer] = figures["result"]
    medians = {p: statistics.median(t) for p, t in times.items()}
    return {
        "name": workload.name,
        "label": workload.label,
        "rival": workload.rival,
        "size": int(size),
        "goal": workload.limit / medians[workload.rival]
        if workload.limit and workload.rival in medians
        else workload.goal,
        "limit": workload.limit,
        "seconds": medians,
        "first": first,
        "disagree": find_disagreeing_peers(results, workload.tolerance),
        "notes": {p: n for p, n in notes.items() if n},
    }


def format_seconds(seconds: float | None) -> str:
    """Format a time with a unit."""
    if seconds is None:
        return ""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.2g} ns"


def format_goal_of_row(row: dict[str, Any]) -> str:
    """Format what a line of the table asks for: a part of the rival's time, or a time."""
    return format_seconds(row["limit"]) if row["limit"] else f"{row['goal']:.2f}"


def build_ratio_table(rows: list[dict[str, Any]], peers: list[str]) -> Table:
    """Build the table that is printed."""
    table = Table(title="record + gradient, median of a call")
    table.add_column("work")
    for peer in peers:
        table.add_column(peer, justify="right")
    table.add_column("of rival", justify="right")
    table.add_column("goal", justify="right")
    for row in rows:
        seconds = row["seconds"]
        own_seconds, rival = seconds.get("minitape"), seconds.get(row["rival"])
        ratio = own_seconds / rival if own_seconds and rival else None
        colour = "" if ratio is None else "green" if ratio <= row["goal"] else "red"
        table.add_row(
            row["label"],
            *[format_seconds(seconds.get(p)) for p in peers],
            "" if ratio is None else f"[{colour}]{ratio:.2f} {row['rival']}[/]",
            format_goal_of_row(row),
        )
    return table


@click.command()
@click.option("--only", default="", help="Only workloads whose name contains this.")
@click.option("--peers", default=",".join(PEERS), show_default=True, help="Systems to measure, as far as installed.")
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="PEER=INTERPRETER",
    help="Measure a peer in another environment, such as tensorflow=/path/to/bin/python.",
)
@click.option("--rounds", default=3, show_default=True, help="Alternating rounds.")
@click.option("--seconds", default=0.5, show_default=True, help="Measuring time of each process.")
@click.option("--quick", is_flag=True, help="Small sizes, one short round: does everything still run and agree?")
@click.option("--json", "json_file", type=click.Path(dir_okay=False), help="Write the figures to this file.")
@click.option("--single/--no-single", default=True, help="Also measure memory, growth and start-up of minitape alone.")
def main(
    only: str,
    peers: str,
    pythons: tuple[str, ...],
    rounds: int,
    seconds: float,
    quick: bool,
    json_file: str | None,
    single: bool,
) -> None:
    """Measures minitape beside its peers and prints medians and ratios."""
    PYTHONS.update(p.split("=", 1) for p in pythons)  # type: ignore[misc]
    names = list_installed_peers(peers.split(","))
    if quick:
        rounds, seconds = 1, 0.05
    console = Console(width=None if sys.stdout.isatty() else 150)
    chosen = [workload for workload in WORKLOADS if only in workload.name]
    rows = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=len(chosen))
        for workload in chosen:
            progress.update(task, description=workload.label.strip())
            rows.append(measure_workload_of_peers(workload, names, rounds, seconds, quick))
            progress.advance(task)
    console.print(build_ratio_table(rows, names))
    single_figures = (
        {}
        if not single or only
        else {name: run_measuring_module("benchmarks.single", name) for name in ("memory", "growth", "starts")}
    )
    for name, figures in single_figures.items():
        console.print(
            f"{name}: " + ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items())
        )
    disagreements = [f"{r['label'].strip()}: {', '.join(r['disagree'])}" for r in rows if r["disagree"]]
    for row in rows:
        for peer, note in row["notes"].items():
            console.print(f"[yellow]{row['name']} {peer}: {note}")
    if json_file:
        about = {
            "date": datetime.date.today().isoformat(),
            "python": platform.python_version(),
            "machine": platform.processor() or platform.machine(),
            "peers": names,
        }
        Path(json_file).write_text(json.dumps({"about": about, "rows": rows, "alone": single_figures}, indent=1) + "\n")
    if disagreements:
        raise click.ClickException("results differ from minitape's: " + "; ".join(disagreements))


if __name__ == "__main__":
    main()
