"""The rows of ``boston_housing`` and ``california_housing``: all made up."""

from __future__ import annotations

from .madeup import Part, rows


def boston_housing(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> tuple[Part, Part]:
    """506 rows of 13 numbers with a price each, shuffled by ``seed``; ``test_split`` of them to test with. They are made up.

    ``path`` has no effect. Raises ValueError for a ``test_split`` that is no share.

    >>> import minitape as tf
    >>> (x, y), (x_test, y_test) = tf.keras.datasets.boston_housing.load_data()
    >>> x.shape, x.dtype.name, y.shape, len(x_test)
    ((404, 13), 'float64', (404,), 102)
    """
    return rows("boston_housing", 13, 506, test_split, seed, "float64")


def california_housing(version: str = "large", path: str = "california_housing.npz", test_split: float = 0.2, seed: int = 113) -> tuple[Part, Part]:
    """20,640 rows of 8 numbers with a price each, shuffled by ``seed``; ``test_split`` of them to test with. They are made up.

    ``path`` has no effect. ``version`` "small" gives 600 rows. Raises ValueError for a ``test_split`` that is no share, and for another `version`.

    >>> import minitape as tf
    >>> (x, y), (x_test, y_test) = tf.keras.datasets.california_housing.load_data()
    >>> x.shape, x.dtype.name, y.shape, len(x_test)
    ((16512, 8), 'float32', (16512,), 4128)
    """
    if version not in ("large", "small"):
        raise ValueError(f'`version` must be "large" or "small". Received: version={version}')
    return rows("california_housing", 8, 20_640 if version == "large" else 600, test_split, seed, "float32")
