"""How TensorBoard's plugins want their values: a number, a table of buckets, pictures as PNG, texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..image.png import encoded

SCALAR, TENSOR, BLOBS = 1, 2, 3  # the DataClass of a value

BUCKETS = 30


def buckets_of(values: np.ndarray, count: int | None) -> np.ndarray:
    """A table of (left, right, how many) with ``count`` rows, as TensorBoard's own `histogram` makes it."""
    count = BUCKETS if count is None else count
    flat = np.asarray(values, np.float64).reshape(-1)
    if count == 0 or not flat.size:
        return np.zeros((count, 3))
    low, high = flat.min(), flat.max()
    if low == high:
        found = np.zeros(count)
        found[-1] = flat.size
        return np.stack([np.full(count, low), np.full(count, high), found], axis=1)
    edges = np.linspace(low, high, count + 1)
    places = np.clip(np.floor((flat - low) / ((high - low) / count)).astype(np.int64), 0, count - 1)
    found = np.bincount(places, minlength=count).astype(np.float64)
    return np.stack([edges[:-1], edges[1:], found], axis=1)


def pictures_of(images: np.ndarray, most: int) -> np.ndarray:
    """Images (k, h, w, c), with numbers from 0 to 1 or of a byte each, as TensorBoard's tensor of texts."""
    if images.ndim != 4:
        raise ValueError(f"data must be a tensor of rank 4 (k, h, w, c), but it has shape {images.shape}")
    if images.dtype != np.uint8:
        wide = np.asarray(images, np.float64)
        images = np.clip(np.nan_to_num(wide) * 255.999 if np.issubdtype(images.dtype, np.floating) else wide, 0, 255).astype(np.uint8)
    shown: list[Any] = [str(images.shape[2]).encode(), str(images.shape[1]).encode()]
    return np.array(shown + [encoded(one) for one in images[:most]], object)
