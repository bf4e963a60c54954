"""The images of ``mnist``, ``fashion_mnist``, ``cifar10`` and ``cifar100``: all made up."""

from __future__ import annotations

from .madeup import Part, images


def mnist(path: str = "mnist.npz") -> tuple[Part, Part]:
    """60,000 images of 28 x 28 bytes with labels from 0 to 9, and 10,000 to test with. They are made up. ``path`` has no effect.

    >>> import minitape as tf
    >>> (x, y), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
    >>> x.shape, x.dtype.name, y.shape, y.dtype.name, len(x_test)
    ((60000, 28, 28), 'uint8', (60000,), 'uint8', 10000)
    """
    (x, y), (x_test, y_test) = images("mnist", (28, 28), 10, (60_000, 10_000))
    return (x, y.astype("uint8")), (x_test, y_test.astype("uint8"))


def fashion_mnist() -> tuple[Part, Part]:
    """60,000 images of 28 x 28 bytes with labels from 0 to 9, and 10,000 to test with. They are made up.

    >>> import minitape as tf
    >>> (x, y), (x_test, y_test) = tf.keras.datasets.fashion_mnist.load_data()
    >>> x.shape, x.dtype.name, y.shape, y.dtype.name, len(x_test)
    ((60000, 28, 28), 'uint8', (60000,), 'uint8', 10000)
    """
    (x, y), (x_test, y_test) = images("fashion_mnist", (28, 28), 10, (60_000, 10_000))
    return (x, y.astype("uint8")), (x_test, y_test.astype("uint8"))


def cifar10() -> tuple[Part, Part]:
    """50,000 images of 32 x 32 pixels in colour with labels from 0 to 9, and 10,000 to test with. They are made up.

    >>> import minitape as tf
    >>> (x, y), (x_test, y_test) = tf.keras.datasets.cifar10.load_data()
    >>> x.shape, x.dtype.name, y.shape, y.dtype.name, len(x_test)
    ((50000, 32, 32, 3), 'uint8', (50000, 1), 'uint8', 10000)
    """
    (x, y), (x_test, y_test) = images("cifar10", (32, 32, 3), 10, (50_000, 10_000))
    return (x, y.astype("uint8")[:, None]), (x_test, y_test.astype("uint8")[:, None])


def cifar100(label_mode: str = "fine") -> tuple[Part, Part]:
    """50,000 images of 32 x 32 pixels in colour with 100 labels ("coarse": 20), and 10,000 to test with. They are made up.

    Raises ValueError for another ``label_mode``.

    >>> import minitape as tf
    >>> (x, y), (x_test, y_test) = tf.keras.datasets.cifar100.load_data()
    >>> x.shape, x.dtype.name, y.shape, y.dtype.name, int(y.max())
    ((50000, 32, 32, 3), 'uint8', (50000, 1), 'int64', 99)
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError(f'`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode={label_mode}.')
    (x, y), (x_test, y_test) = images("cifar100", (32, 32, 3), 100 if label_mode == "fine" else 20, (50_000, 10_000))
    return (x, y[:, None]), (x_test, y_test[:, None])
