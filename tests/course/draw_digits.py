"""Draw the digits of lesson 14, and train the network that it shows while its exercises are blank.

``python -m tests.course.draw_digits`` rewrites ``minitape/course/data/digits.npz``. A digit has several forms, each of
which is a list of strokes in a square whose y grows downwards. The pen turns, slants, squeezes and bends the form, and
it is not always equally thick.
"""

import io

import numpy as np

from minitape.common.atomic_write import write_file
from minitape.course.digits import DIGITS_PATH, INK_LEVELS, PARAMETER_NAMES, Stroke, rasterize_strokes

SIZES = {"training": 1500, "held_out": 500, "exam": 500}
POINTS = 16  # of each stroke


def draw_arc(
    x: float, y: float, x_radius: float, y_radius: float, start: float, end: float
) -> list[tuple[float, float]]:
    """Return points of an ellipse from one angle to another, in degrees; 90 is up."""
    angles = np.radians(np.linspace(start, end, 18))
    return [(x + x_radius * np.cos(angle), y - y_radius * np.sin(angle)) for angle in angles]


FORMS: tuple[list[list[Stroke]], ...] = (
    [[draw_arc(0.5, 0.5, 0.5, 0.5, 90, 450)], [draw_arc(0.5, 0.5, 0.5, 0.5, 60, 410)]],
    [
        [[(0.5, 0), (0.5, 1)]],
        [[(0.2, 0.25), (0.5, 0), (0.5, 1)]],
        [[(0.1, 0.3), (0.5, 0), (0.5, 1)]],
        [[(0.2, 0.25), (0.5, 0), (0.5, 1)], [(0.2, 1), (0.8, 1)]],
    ],
    [
        [[*draw_arc(0.5, 0.28, 0.45, 0.28, 170, -30), (0.05, 1), (1, 1)]],
        [[*draw_arc(0.5, 0.28, 0.45, 0.28, 170, -40), *draw_arc(0.2, 0.88, 0.15, 0.1, 60, 300), (1, 1)]],
        [[(0.05, 0.12), *draw_arc(0.45, 0.28, 0.45, 0.28, 120, -30), (0.1, 1), (0.95, 0.95)]],
    ],
    [
        [[*draw_arc(0.4, 0.26, 0.5, 0.26, 150, -90), *draw_arc(0.4, 0.74, 0.55, 0.26, 90, -150)]],
        [[(0.05, 0), (0.9, 0), (0.45, 0.4), *draw_arc(0.4, 0.7, 0.55, 0.3, 80, -150)]],
        [[*draw_arc(0.4, 0.25, 0.45, 0.25, 140, -60), (0.4, 0.48), *draw_arc(0.42, 0.73, 0.5, 0.27, 70, -160)]],
    ],
    [
        [[(0.75, 1), (0.75, 0), (0, 0.68), (1, 0.68)]],
        [[(0.2, 0), (0.1, 0.55), (0.95, 0.55)], [(0.8, 0.1), (0.75, 1)]],
        [[(0.55, 0), (0, 0.62), (1, 0.62)], [(0.7, 0.3), (0.65, 1)]],
    ],
    [
        [[(0.9, 0), (0.15, 0), (0.1, 0.42), *draw_arc(0.42, 0.68, 0.5, 0.32, 120, -150)]],
        [[(0.15, 0), (0.1, 0.42), *draw_arc(0.42, 0.68, 0.5, 0.32, 120, -150)], [(0.15, 0), (0.9, 0)]],
        [[(0.95, 0.02), (0.2, 0.05), (0.2, 0.45), *draw_arc(0.45, 0.7, 0.45, 0.3, 100, -160)]],
    ],
    [
        [[(0.75, 0), *draw_arc(0.75, 0.72, 0.75, 0.6, 120, 180), *draw_arc(0.5, 0.72, 0.48, 0.28, 180, 540)]],
        [[(0.6, 0), *draw_arc(0.7, 0.7, 0.68, 0.65, 130, 200), *draw_arc(0.5, 0.72, 0.42, 0.28, 200, 530)]],
    ],
    [
        [[(0, 0), (1, 0), (0.35, 1)]],
        [[(0, 0), (1, 0), (0.4, 1)], [(0.25, 0.5), (0.85, 0.5)]],
        [[(0, 0.15), (0, 0), (1, 0), (0.5, 0.5), (0.4, 1)]],
        [[(0, 0.05), (1, 0), (0.55, 1)], [(0.2, 0.5), (0.95, 0.45)]],
    ],
    [
        [[*draw_arc(0.5, 0.25, 0.4, 0.25, -90, 270), *draw_arc(0.5, 0.75, 0.5, 0.25, 90, -270)]],
        [[*draw_arc(0.5, 0.25, 0.4, 0.25, 30, 270), *draw_arc(0.5, 0.75, 0.5, 0.25, 90, -270), (0.85, 0.15)]],
        [
            [
                (0.9, 0.12),
                *draw_arc(0.5, 0.24, 0.38, 0.22, 60, 200),
                *draw_arc(0.52, 0.75, 0.4, 0.25, 60, -240),
                (0.9, 0.12),
            ]
        ],
    ],
    [
        [[*draw_arc(0.5, 0.28, 0.48, 0.28, 10, 370), (0.9, 1)]],
        [[*draw_arc(0.45, 0.28, 0.43, 0.28, 0, 360), *draw_arc(0.25, 0.35, 0.65, 0.65, 10, -95)]],
        [[*draw_arc(0.5, 0.28, 0.45, 0.28, 30, 330), (0.95, 0.05), *draw_arc(0.45, 0.72, 0.48, 0.28, 0, -140)]],
        [[*draw_arc(0.45, 0.3, 0.42, 0.28, 20, 345), (0.9, 0.05), (0.8, 1)]],
    ],
)


def resample_stroke(stroke: Stroke) -> np.ndarray:
    """Return points of a stroke at equal distances."""
    points = np.asarray(stroke, np.float64)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    places = np.linspace(0.0, way[-1], POINTS)
    return np.stack([np.interp(places, way, points[:, axis]) for axis in (0, 1)], axis=1)


def draw_digit(digit: int, random: np.random.Generator) -> list[np.ndarray]:
    """Draw one digit, and return its strokes."""
    form = FORMS[digit][random.integers(len(FORMS[digit]))]
    turn, slant, width = random.normal(0.0, 0.13), random.normal(0.1, 0.18), random.uniform(0.45, 1.0)
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    transform = turned @ np.array([[1.0, -slant], [0.0, 1.0]]) @ np.diag([width, 1.0])
    bend, phase = random.normal(0.0, 0.05, (2, 2)), random.uniform(0.0, 2.0 * np.pi, (2, 2))
    strokes = []
    for stroke in map(resample_stroke, form):
        moved = stroke - 0.5 + random.normal(0.0, 0.03, (1, 2))
        waves = np.sin(4.0 * moved[:, :, np.newaxis] + phase)  # for each point and axis
        strokes.append((moved + np.einsum("pab,ab->pb", waves, bend)) @ transform.T)
    return strokes


def draw_digits(count: int, seed: int) -> np.ndarray:
    """Draw digits 0 to 9 in turn, and return their pixels with ink from 0 to INK_LEVELS."""
    random = np.random.default_rng(seed)
    images = [
        rasterize_strokes(draw_digit(number % 10, random), pen_radius=random.uniform(0.3, 0.9))
        for number in range(count)
    ]
    return np.round(np.stack(images) * INK_LEVELS).astype(np.uint8)


def train_network(images: np.ndarray, steps: int = 100, rate: float = 1.0, hidden: int = 24) -> list[np.ndarray]:
    """Train a network as the solution of the lesson does, with NumPy alone."""
    random = np.random.default_rng(0)
    w1, b1 = random.normal(0.0, 0.1, (images.shape[1], hidden)), np.zeros(hidden)
    w2, b2 = random.normal(0.0, 0.3, (hidden, 10)), np.zeros(10)
    wanted = np.eye(10)[np.arange(len(images)) % 10]
    for _ in range(steps):
        features = np.tanh(images @ w1 + b1)
        scores = features @ w2 + b2
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        at_scores = (chances / chances.sum(axis=1, keepdims=True) - wanted) / len(images)
        at_features = at_scores @ w2.T * (1.0 - features**2)
        w1, b1 = w1 - rate * images.T @ at_features, b1 - rate * at_features.sum(axis=0)
        w2, b2 = w2 - rate * features.T @ at_scores, b2 - rate * at_scores.sum(axis=0)
    return [w1, b1, w2, b2]


def main() -> None:
    """Write the file of the digits."""
    parts = {name: draw_digits(count, seed) for seed, (name, count) in enumerate(SIZES.items(), 1)}
    trained = [part.astype(np.float32) for part in train_network(parts["training"] / INK_LEVELS)]
    packed = io.BytesIO()
    np.savez_compressed(packed, **parts, **dict(zip(PARAMETER_NAMES, trained, strict=True)))
    write_file(DIGITS_PATH, packed.getvalue())


if __name__ == "__main__":
    main()
