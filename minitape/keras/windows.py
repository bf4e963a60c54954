"""``timeseries_dataset_from_array``: windows of a series as a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.convert import convert_to_tensor
from ..tf.data.dataset import Dataset
from ..tf.data.elements import tensor_spec


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
) -> Any:
    """Batches of windows of ``sequence_length`` rows, with the target of each window's first row, if there are targets.

    Windows begin ``sequence_stride`` rows apart and take every row, or one of ``sampling_rate``; only the rows between the
    two indices are used. Without ``batch_size`` the windows come one by one. ValueError for numbers out of range.

    >>> import minitape as tf
    >>> windows = tf.keras.utils.timeseries_dataset_from_array([1, 2, 3, 4, 5], [30, 40, 50], 3, batch_size=2)
    >>> [(w.numpy().tolist(), t.numpy().tolist()) for w, t in windows]
    [([[1, 2, 3], [2, 3, 4]], [30, 40]), ([[3, 4, 5]], [50])]
    """
    data, size = np.asarray(data), len(data)
    _check(size, sequence_stride, sampling_rate, start_index, end_index)
    used = slice(start_index or 0, size if end_index is None else end_index)
    rows, labels = data[used], None if targets is None else np.asarray(targets)[used]
    count = len(rows) - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    places = np.arange(0, max(count, 0), sequence_stride)
    if shuffle:
        seed = np.random.randint(1000000) if seed is None else seed
        np.random.RandomState(seed).shuffle(places)
    steps = np.arange(sequence_length) * sampling_rate

    def window(place: Any) -> Any:
        at = int(place)
        found = convert_to_tensor(rows[at + steps])
        return found if labels is None else (found, convert_to_tensor(labels[at]))

    windows = Dataset.from_tensor_slices(places).map(window)
    spec = tensor_spec((None, *rows.shape[1:]), rows.dtype)
    windows._spec = spec if labels is None else (spec, tensor_spec(labels.shape[1:], labels.dtype))
    windows = windows.prefetch(-1)
    if batch_size is None:
        return windows.shuffle(1024, seed) if shuffle else windows
    return (windows.shuffle(batch_size * 8, seed) if shuffle else windows).batch(batch_size)


def _check(size: int, stride: int, rate: int, start: int | None, end: int | None) -> None:
    whole = f"for data of length {size}"
    if start is not None:
        if start < 0:
            raise ValueError(f"`start_index` must be 0 or greater. Received: start_index={start}")
        if start >= size:
            raise ValueError(f"`start_index` must be lower than the length of the data. Received: start_index={start}, {whole}")
    if end is not None:
        if start is not None and end <= start:
            raise ValueError(
                f"`end_index` must be higher than `start_index`. Received: start_index={start}, and end_index={end} "
            )
        if end >= size + 1:
            raise ValueError(f"`end_index` must be lower than the length of the data. Received: end_index={end}, {whole}")
    for name, number in (("sampling_rate", rate), ("sequence_stride", stride)):
        if number <= 0:
            raise ValueError(f"`{name}` must be higher than 0. Received: {name}={number}")
        if number >= size:
            raise ValueError(f"`{name}` must be lower than the length of the data. Received: {name}={number}, {whole}")
