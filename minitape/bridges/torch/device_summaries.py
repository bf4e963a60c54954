"""Summarize large tensors on their own devices, and copy each device's summaries to the host together.

Copying data from a GPU waits until the GPU has finished its work. Copying one number from each large tensor would
therefore make the program wait hundreds of times in each training step.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...common.grouping import group_values_by_key
from ...picture.shown_values import ArraySummary, compute_thumbnail_steps

if TYPE_CHECKING:
    from .kept_tensors import TorchValue

SUMMARIZED_TYPES = "float16 bfloat16 float32 float64 uint8 int8 int16 int32 int64".split()


class DeviceSummary(NamedTuple):
    """A tensor's summary that is still on the tensor's device.

    The minimum and the maximum show exactly whether all elements are zero and whether all are finite. The norm cannot
    show this, because the squares of elements may overflow or underflow.

    Attributes:
        numbers: The minimum and the maximum (NaN if any element is NaN), the Euclidean norm (0 for integers), and the
            elements of the thumbnail, in this order.
        column_count: The number of columns in the thumbnail.
        cell_ratio: The width of a thumbnail cell relative to its height.
    """

    numbers: Tensor
    column_count: int
    cell_ratio: float


def has_summarizable_layout_and_dtype(tensor: Tensor) -> bool:
    """Return whether a tensor has a layout and a dtype that a device can summarize."""
    is_strided = tensor.layout is torch.strided and not tensor.is_meta
    return is_strided and str(tensor.dtype).removeprefix("torch.") in SUMMARIZED_TYPES


def summarize_on_device(tensor: Tensor) -> DeviceSummary:
    """Return the summary of a tensor, without waiting for its device.

    Args:
        tensor: A tensor that ``has_summarizable_layout_and_dtype`` accepts.
    """
    row_step, column_step = compute_thumbnail_steps(tensor.shape)
    thumbnail = tensor.reshape(-1, tensor.shape[-1])[::row_step, ::column_step]
    # NumPy has no bfloat16, and a float32 cannot hold all integers.
    copied_type = torch.promote_types(tensor.dtype, torch.float32) if tensor.is_floating_point() else torch.int64
    norm = torch.linalg.vector_norm(tensor, dtype=copied_type) if tensor.is_floating_point() else tensor.new_zeros(())
    parts = [*torch.aminmax(tensor), norm, thumbnail]
    numbers = torch.cat([part.to(copied_type).reshape(-1) for part in parts])
    return DeviceSummary(numbers, thumbnail.shape[1], column_step / row_step)


def fetch_summaries_from_devices(values: Iterable[TorchValue]) -> None:
    """Copy the summaries of all values to the host, with one copy for each device and dtype.

    Args:
        values: The values. Values without a summary on a device are ignored.
    """
    groups = group_values_by_key(
        ((summary.numbers.device, summary.numbers.dtype), (value, summary))
        for value in values
        if (summary := value.device_summary) is not None
    )
    for group in groups.values():
        copied = torch.cat([summary.numbers for _, summary in group]).cpu().numpy()
        for value, summary in group:
            numbers, copied = np.split(copied, [len(summary.numbers)])
            low, high, norm = numbers[:3].tolist()
            facts = low == 0 == high, isfinite(low) and isfinite(high)
            lines = numbers[3:].reshape(-1, summary.column_count).astype(np.float64)
            stats = {"min": low, "max": high} | ({"norm": norm} if 0 < norm < inf else {})
            value._summary = ArraySummary(None, (lines, summary.cell_ratio), stats, facts)
            value.device_summary = None
            value._facts = facts
