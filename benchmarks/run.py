"""Measures minitape beside its peers: ``python -m benchmarks.run``.

Each workload runs in a process of its own for each system that is installed, the systems alternating, all pinned to one
CPU. The results must agree. What is printed are medians and ratios; the JSON (``--json``) is what the table of
docs/speed.md and chart are made from. ``--quick`` uses small sizes and one round.
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


def installed(names: list[str]) -> list[str]:
    """The peers among ``names`` that can be imported here, or that have an interpreter of their own."""
    here = ("minitape", "floor", "numpy", *PYTHONS)
    return [n for n in names if n in here or importlib.util.find_spec(n) is not None]


def call(module: str, *arguments: str) -> dict[str, Any]:
    """Runs one of the measuring modules and reads its JSON."""
    python = PYTHONS.get(arguments[0], sys.executable)
    done = subprocess.run([python, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(lines[-1])


def agree(results: dict[str, list[float]], tolerance: float) -> list[str]:
    """The systems whose numbers differ from minitape's."""
    own = results.get("minitape")
    if own is None:
        return []
    return [
        peer
        for peer, other in results.items()
        if any(abs(a - b) > tolerance * max(1.0, abs(a)) for a, b in zip(own, other, strict=True))
    ]


def run_workload(w: Workload, peers: list[str], rounds: int, seconds: float, quick: bool) -> dict[str, Any]:
    """Times of each system for one workload, in alternating rounds."""
    size = str(w.small if quick and w.small else w.size)
    times: dict[str, list[float]] = {}
    first: dict[str, float] = {}
    results: dict[str, list[float]] = {}
    notes: dict[str, str] = {}
    for _ in range(rounds):
        for peer in peers:
            if peer in notes:
                continue
            found = call("benchmarks.measure", peer, w.function, size, str(seconds))
            if "median" not in found:
                notes[peer] = found.get("error", "")
                continue
            times.setdefault(peer, []).append(found["median"])
            first.setdefault(peer, found["first"])
            results[peer] = found["result"]
    medians = {p: statistics.median(t) for p, t in times.items()}
    return {
        "name": w.name,
        "label": w.label,
        "rival": w.rival,
        "size": int(size),
        "goal": w.limit / medians[w.rival] if w.limit and w.rival in medians else w.goal,
        "limit": w.limit,
        "seconds": medians,
        "first": first,
        "disagree": agree(results, w.tolerance),
        "notes": {p: n for p, n in notes.items() if n},
    }


def shown(seconds: float | None) -> str:
    """A time with a unit."""
    if seconds is None:
        return ""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.2g} ns"


def goal(row: dict[str, Any]) -> str:
    """What a line of the table asks for: a part of the rival's time, or a time."""
    return shown(row["limit"]) if row["limit"] else f"{row['goal']:.2f}"


def table_of(rows: list[dict[str, Any]], peers: list[str]) -> Table:
    """The table that is printed."""
    table = Table(title="record + gradient, median of a call")
    table.add_column("work")
    for peer in peers:
        table.add_column(peer, justify="right")
    table.add_column("of rival", justify="right")
    table.add_column("goal", justify="right")
    for row in rows:
        seconds = row["seconds"]
        own, rival = seconds.get("minitape"), seconds.get(row["rival"])
        ratio = own / rival if own and rival else None
        colour = "" if ratio is None else "green" if ratio <= row["goal"] else "red"
        table.add_row(
            row["label"],
            *[shown(seconds.get(p)) for p in peers],
            "" if ratio is None else f"[{colour}]{ratio:.2f} {row['rival']}[/]",
            goal(row),
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
    names = installed(peers.split(","))
    if quick:
        rounds, seconds = 1, 0.05
    console = Console(width=None if sys.stdout.isatty() else 150)
    chosen = [w for w in WORKLOADS if only in w.name]
    rows = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=len(chosen))
        for w in chosen:
            progress.update(task, description=w.label.strip())
            rows.append(run_workload(w, names, rounds, seconds, quick))
            progress.advance(task)
    console.print(table_of(rows, names))
    alone = (
        {} if not single or only else {name: call("benchmarks.single", name) for name in ("memory", "growth", "starts")}
    )
    for name, figures in alone.items():
        console.print(
            f"{name}: " + ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items())
        )
    wrong = [f"{r['label'].strip()}: {', '.join(r['disagree'])}" for r in rows if r["disagree"]]
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
        Path(json_file).write_text(json.dumps({"about": about, "rows": rows, "alone": alone}, indent=1) + "\n")
    if wrong:
        raise click.ClickException("results differ from minitape's: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
