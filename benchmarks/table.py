"""Prints the table of docs/speed.md from the benchmark's JSON: ``python -m benchmarks.table FIGURES.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from benchmarks.run import format_seconds


def format_markdown_table(figures: dict[str, Any]) -> str:
    """Format a table: work, minitape's time, the rival's, the ratios to it and to a plain tape; then minitape's own
    figures.
    """
    lines = ["| work | minitape | strongest peer | ratio | of a plain tape |", "|---|---:|---:|---:|---:|"]
    for row in figures["rows"]:
        own_seconds, rival = row["seconds"].get("minitape"), row["seconds"].get(row["rival"])
        if own_seconds and rival:
            floor = row["seconds"].get("floor")
            plain = f"{own_seconds / floor:.2f}" if floor else ""
            times = f"{format_seconds(own_seconds)} | {row['rival']} {format_seconds(rival)}"
            lines.append(f"| {row['label'].strip()} | {times} | {own_seconds / rival:.2f} | {plain} |")
    alone = figures["alone"]
    if alone:
        memory, growth, starts = alone["memory"], alone["growth"], alone["starts"]
        lines += [
            "",
            f"One scalar row holds {memory['bytes_per_row']:.0f} bytes; the gradient of a million rows needs "
            f"{memory['peak_over_held']:.2f} times what the tape holds. Recording and gradient cost "
            f"{growth['row_1000']:.0f} ns a row on a tape of 1,000 rows and {growth['row_1000000']:.0f} ns on one of "
            f"1,000,000; the sweep alone {growth['back_1000000']:.1f} ns. From the start of a process to its first "
            "gradient: "
            f"{starts['first_gradient'] * 1000:.0f} ms (`import numpy` alone {starts['import_numpy'] * 1000:.0f} ms). "
            "First "
            f"compiled sweep of a process: {starts['first_sweep_warm']:.2f} s from a warm cache, "
            f"{starts['first_sweep_cold']:.1f} s from a cold one.",
        ]
    return "\n".join(lines)


@click.command()
@click.argument("figures", type=click.Path(exists=True, dir_okay=False))
def main(figures: str) -> None:
    """Prints a table in Markdown from FIGURES (the JSON of ``python -m benchmarks.run --json``)."""
    click.echo(format_markdown_table(json.loads(Path(figures).read_text())))


if __name__ == "__main__":
    main()
