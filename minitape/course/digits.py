"""Load digits to learn from. A program drew them, so nobody's handwriting had to be collected.

`tests/course/draw_digits.py` draws them with a pen that wobbles. `data/digits.npz` has them as images of 12 by 12
pixels. Some are for training, some are for comparing networks, and some are read only by the checker of lesson 14.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy import float64, ndarray

from ..common.read_data import read_json
from ..common.translation import say

SIDE = 12  # The width and height of an image, in pixels.
MARGIN = 1  # The width of the empty margin around the ink, in pixels.
PEN_RADIUS = 0.6  # The radius of the pen, in pixels.
Stroke = Sequence[Sequence[float]]  # The points (x, y) of a stroke. y grows downwards.
Drawings = list[list[Stroke]]
NetworkParameters = Sequence[ndarray]  # The weights and biases: w1, b1, w2 and b2.
DATA_FOLDER = Path(__file__).parent / "data"
DIGITS_PATH = DATA_FOLDER / "digits.npz"
DRAWINGS_PATH = DATA_FOLDER / "typed_drawings.json"  # The strokes of each digit, in pixels of the pad.
INK_LEVELS = 15  # Each pixel takes four bits in the file.
PARTS = ("training", "held_out", "exam")
PARAMETER_NAMES = ("w1", "b1", "w2", "b2")


def load_digits(part: str = "training") -> tuple[ndarray, ndarray]:
    """Load digits that a program drew.

    Args:
        part: "training", "held_out" for the digits that measure a network, or "exam" for the checker's digits.

    Returns:
        The images, one per row, with ink from 0.0 to 1.0 for each of 12 * 12 pixels; and which digit each of them is.

    Raises:
        ValueError: If the part does not exist.

    >>> images, digits = load_digits("held_out")
    >>> images.shape, digits[:10].tolist()
    ((500, 144), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    if part not in PARTS:
        raise ValueError(f"{part!r} is not one of {PARTS}")
    images = _read_digit_file()[part] / INK_LEVELS
    return images, np.arange(len(images)) % 10


def load_trained_network() -> list[ndarray]:
    """Load the parameters of a network that was trained in the same way as in the solution of lesson 14."""
    return [_read_digit_file()[name].astype(float64) for name in PARAMETER_NAMES]


def load_drawings() -> Drawings:
    """Load ten digits that were typed as strokes by hand, for learners who cannot draw."""
    drawings: Drawings = read_json(DRAWINGS_PATH)
    return drawings


@cache
def _read_digit_file() -> dict[str, ndarray]:
    with np.load(DIGITS_PATH, allow_pickle=False) as stored:
        return dict(stored)


def rasterize_strokes(strokes: Sequence[Stroke], pen_radius: float = PEN_RADIUS) -> ndarray:
    """Turn pen strokes into an image that is centered and as large as fits, whatever their size on the pad.

    Args:
        strokes: The strokes. Each has at least one point.
        pen_radius: Half the width of the pen in pixels.

    Returns:
        The ink of each pixel, from 0.0 to 1.0, row by row.
    """
    lines = [np.asarray(stroke, float64).reshape(-1, 2) for stroke in strokes]
    points = np.concatenate(lines)
    low = points.min(axis=0)
    high = points.max(axis=0)
    scale = (SIDE - 1 - 2 * MARGIN) / max(float((high - low).max()), 1e-9)
    # A stroke of a single point is a segment without a length.
    starts = np.concatenate([line[:-1] if len(line) > 1 else line for line in lines])
    ends = np.concatenate([line[1:] if len(line) > 1 else line for line in lines])
    starts, ends = ((place - (low + high) / 2.0) * scale + (SIDE - 1) / 2.0 for place in (starts, ends))
    pixels = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), axis=-1).reshape(-1, 1, 2)
    direction = ends - starts
    length_squared = np.maximum(np.sum(direction**2, axis=1), 1e-12)
    nearest = np.clip(np.sum((pixels - starts) * direction, axis=2) / length_squared, 0.0, 1.0)
    distances = np.linalg.norm(pixels - starts - nearest[..., np.newaxis] * direction, axis=2).min(axis=1)
    return np.clip(pen_radius + 0.5 - distances, 0.0, 1.0)


def read_digits(parameters: NetworkParameters, images: ndarray) -> ndarray:
    """Return the digit that a network with one hidden layer reads in each image.

    Args:
        parameters: The weights and biases of the hidden layer, then of the ten scores.
        images: The images, one per row.
    """
    w1, b1, w2, b2 = parameters
    return np.argmax(np.tanh(images @ w1 + b1) @ w2 + b2, axis=1)


def convert_and_check_parameters(parameters: NetworkParameters) -> list[ndarray]:
    """Return the parameters of a network as four arrays.

    Args:
        parameters: The parameters that a learner passes.

    Raises:
        ValueError: If they are not four arrays of finite numbers whose shapes fit together.
    """
    try:
        arrays = [np.asarray(one, float64) for one in parameters]
    except (TypeError, ValueError):
        arrays = []
    hidden = arrays[1].size if len(arrays) == 4 else 0
    shapes = [(SIDE * SIDE, hidden), (hidden,), (hidden, 10), (10,)]
    if not hidden or [array.shape for array in arrays] != shapes:
        raise ValueError(say("the parameters must be four arrays with the shapes (144, n), (n,), (n, 10) and (10,)"))
    if not all(np.all(np.isfinite(array)) for array in arrays):
        raise ValueError(say("the parameters contain NaN or infinity, as after training steps that are too large"))
    return arrays
