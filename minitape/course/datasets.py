"""Real data for lessons, shipped with minitape: no network is needed. ``data/README.md`` says whose they are."""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "data"


def load_penguins() -> dict[str, np.ndarray]:
    """Load the measurements of 342 penguins in Antarctica.

    Returns:
        An array for each column: the `species`, the sizes of bills and flippers in mm, and the body mass in g.

    >>> penguins = load_penguins()
    >>> sorted(penguins)
    ['bill_depth_mm', 'bill_length_mm', 'body_mass_g', 'flipper_length_mm', 'species']
    >>> penguins["species"][0], penguins["flipper_length_mm"].dtype, len(penguins["body_mass_g"])
    (np.str_('Adelie'), dtype('float32'), 342)
    """
    with (FOLDER / "penguins.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return {name: np.array(column, dtype=str if name == "species" else np.float32) for name, column in columns.items()}
