"""Draws the chart of docs/speed.md from the benchmark's JSON: ``python -m benchmarks.chart FIGURES.json CHART.svg``.

One line for each workload: minitape's time as a part of its rival's, on a logarithmic axis.
"""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path

import click

WIDTH, LEFT, RIGHT, ROW, TOP = 910, 380, 110, 24, 64
INK, FAINT, GOOD, SLOW = "#1f2328", "#8c959f", "#0072b2", "#d55e00"  # of the palette of Okabe and Ito


def draw_chart(figures: dict) -> str:
    """Draw the chart as SVG text."""
    rows = [r for r in figures["rows"] if r["seconds"].get("minitape") and r["seconds"].get(r["rival"])]
    ratios = [r["seconds"]["minitape"] / r["seconds"][r["rival"]] for r in rows]
    low = 10 ** math.floor(math.log10(min([*ratios, 0.1])))
    high = 10 ** math.ceil(math.log10(max([*ratios, 10.0])))
    height = TOP + ROW * len(rows) + 40

    def scale_ratio_to_x(ratio: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(ratio / low) / math.log(high / low)

    about = figures["about"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="{INK}" role="img" '
        f'aria-label="Time of minitape as a part of the time of the strongest peer">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="16" y="24" font-size="15" font-weight="bold">minitape beside its strongest peer</text>',
        f'<text x="16" y="43" fill="{FAINT}">time of record and gradient, the peer takes 1; bars to the left, '
        f"in blue, are faster; {escape(about['date'])}</text>",
    ]
    tick = low
    while tick <= high * 1.001:
        tick_x = f"{scale_ratio_to_x(tick):.1f}"
        parts.append(
            f'<line x1="{tick_x}" x2="{tick_x}" y1="{TOP - 6}" y2="{height - 30}" '
            f'stroke="{INK if tick == 1 else "#d8dee4"}" stroke-width="1"/>'
        )
        parts.append(f'<text x="{tick_x}" y="{height - 12}" text-anchor="middle" fill="{FAINT}">{tick:g}</text>')
        tick *= 10
    for i, (row, ratio) in enumerate(zip(rows, ratios, strict=True)):
        y = TOP + ROW * i
        start, end = sorted((scale_ratio_to_x(1), scale_ratio_to_x(ratio)))
        colour = GOOD if ratio <= 1 else SLOW
        parts.append(f'<text x="{LEFT - 12}" y="{y + 13}" text-anchor="end">{escape(row["label"].strip())}</text>')
        parts.append(
            f'<rect x="{start:.1f}" y="{y + 3}" width="{max(end - start, 1):.1f}" height="13" fill="{colour}"/>'
        )
        parts.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y + 13}">{ratio:.2f} {escape(row["rival"])}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


@click.command()
@click.argument("figures", type=click.Path(exists=True, dir_okay=False))
@click.argument("chart", type=click.Path(dir_okay=False))
def main(figures: str, chart: str) -> None:
    """Draws CHART (SVG) from FIGURES (the JSON of ``python -m benchmarks.run --json``)."""
    Path(chart).write_text(draw_chart(json.loads(Path(figures).read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
