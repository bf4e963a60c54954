"""Keep the values that tensors had when they were recorded, so that these values can be shown later.

A small tensor is copied immediately. A large tensor is kept as it is, and is copied just before it changes. If the
large tensors exceed ``BYTE_LIMIT``, the oldest are reduced to the text, extremes and thumbnail that a picture shows.
The reduction runs on the tensor's device, and its results are copied to the host when the recording ends.
"""

from collections.abc import Iterable
from math import gcd
from typing import TypeAlias

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor

from ..kept_values import SMALL_SIZE, KeptValue, MemoryBudget
from .device_summaries import (
    DeviceSummary,
    fetch_summaries_from_devices,
    has_summarizable_layout_and_dtype,
    summarize_on_device,
)
from .distributed_tensors import get_local_part

Tensors = list[Tensor]
# None stands for a missing tensor. The type is a string, because the documentation is built without torch.
OptionalTensor: TypeAlias = "torch.Tensor | None"
FINGERPRINT_WIDTH = 512  # For a fingerprint, a tensor's elements are arranged in rows of this length.
INTEGER_DTYPES = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # The keys are sizes in bytes.
HOST_DEVICES = {"cpu"}  # NumPy reads the elements of tensors on these devices without a copy.


class TorchValue(KeptValue):
    """A tensor with the values that it had when it was kept.

    Attributes:
        tensor_version: The number of in-place changes to the tensor before it was kept.
        device_summary: The summary of a large tensor until the summary is copied to the host, or None at all other
            times.
        keeps_fingerprint: Whether to compute the fingerprint before the tensor is released.
    """

    __slots__ = "tensor_version device_summary keeps_fingerprint _fingerprint".split()
    device_summary: DeviceSummary | None
    _fingerprint: OptionalTensor

    def __init__(self, tensor: Tensor, tensor_version: int = 0):
        """Keep a tensor and its version."""
        # Calling the base classes' constructors would take up a third of the time needed to record a small tensor.
        self.content, self.tensor_version = tensor, tensor_version
        self._facts = self._summary = self.device_summary = self._fingerprint = None
        self.keeps_fingerprint = False

    def get_unchanged_tensor(self) -> OptionalTensor:
        """Return the tensor, or None if it was released or has changed unnoticed."""
        tensor: OptionalTensor = self.content
        return None if tensor is None or count_in_place_changes(tensor) != self.tensor_version else tensor

    def replace_tensor_by_copy(self) -> None:
        """Replace the tensor with a copy, because the tensor itself is about to change."""
        tensor = self.get_unchanged_tensor()
        self.content = None if tensor is None else tensor.clone()
        self.tensor_version = 0 if self.content is None else count_in_place_changes(self.content)

    def to_array(self) -> ndarray | None:
        """Return the elements as an array, or None if they do not exist, have changed, or were released."""
        tensor = self.get_unchanged_tensor()
        return None if tensor is None or tensor.is_meta else np.asarray(to_numpy(tensor))

    def find_fingerprint(self) -> OptionalTensor:
        """Return the fingerprint of the elements, or None if they were released without one or have changed."""
        tensor = self.get_unchanged_tensor()
        return self._fingerprint if tensor is None else compute_fingerprint(tensor)

    def compute_zero_and_finite_flags(self) -> tuple[bool, bool]:
        """Return whether all elements are zero, and whether all are finite."""
        if self.device_summary is not None:
            fetch_summaries_from_devices([self])
        return super().compute_zero_and_finite_flags()

    def reduce_to_summary(self) -> None:
        """Release the tensor, and keep a summary on the tensor's device."""
        if self.keeps_fingerprint:
            self._fingerprint = self.find_fingerprint()
        tensor = self.get_unchanged_tensor() if self._summary is None else None
        if tensor is None or not has_summarizable_layout_and_dtype(tensor):
            super().reduce_to_summary()
            return
        self.device_summary = summarize_on_device(tensor)
        self.content = None


class KeptTensors:
    """Keeps tensors for a recording, within a memory budget."""

    def __init__(self) -> None:
        """Start without any tensors."""
        # A change to one tensor affects all values in the same storage.
        self._values_by_storage: dict[int, list[TorchValue]] = {}
        self._memory_budget = MemoryBudget()
        self._large_values: list[TorchValue] = []

    def keep_value(self, tensor: Tensor, must_copy: bool = False) -> TorchValue:
        """Keep a tensor with its current values.

        Args:
            tensor: The tensor.
            must_copy: Whether to copy even a large tensor, because its changes may go unnoticed.
        """
        detached = tensor.detach()
        element_count = detached.numel()
        if element_count <= SMALL_SIZE:  # Copying a small tensor is cheaper than tracking its changes.
            return TorchValue(detached.clone())
        if must_copy:
            value = TorchValue(detached.clone())
        else:
            value = TorchValue(detached, count_in_place_changes(detached))
            self._values_by_storage.setdefault(get_storage_id(detached), []).append(value)
        self._large_values.append(value)
        self._memory_budget.add_value_and_enforce_limit(value, element_count, element_count * detached.element_size())
        return value

    def copy_kept_values_before_change(self, changing_tensors: Iterable[Tensor]) -> None:
        """Copy the kept values that share memory with tensors that are about to change."""
        for tensor in changing_tensors:
            if not self._values_by_storage:
                continue
            for value in self._values_by_storage.pop(get_storage_id(tensor), ()):
                value.replace_tensor_by_copy()

    def copy_summaries_of_large_tensors_to_host(self) -> None:
        """Copy the summaries of all large tensors to the host together, at the end of a recording."""
        for value in self._large_values:
            tensor = value.get_unchanged_tensor()
            if (
                tensor is not None
                and tensor.device.type not in HOST_DEVICES
                and has_summarizable_layout_and_dtype(tensor)
            ):
                value.device_summary = summarize_on_device(tensor)
        fetch_summaries_from_devices(self._large_values)


def count_in_place_changes(tensor: Tensor) -> int:
    """Return the number of in-place changes to a tensor. An inference tensor has no counter, so the result is 0."""
    return 0 if tensor.is_inference() else tensor._version


def get_storage_id(tensor: Tensor) -> int:
    """Return a number that identifies a tensor's memory. Tensors that share memory have the same number."""
    has_storage = tensor.layout is torch.strided and not hasattr(tensor, "to_local")
    return (tensor.untyped_storage().data_ptr() if has_storage else 0) or id(tensor)


def to_numpy(tensor: Tensor) -> ndarray:
    """Return a tensor's elements as a NumPy array of the same shape. For a distributed tensor, return its local shard.

    bfloat16 and 8-bit floats are converted to float32, because NumPy has no such dtypes.

    Raises:
        ValueError: If the tensor is on the "meta" device and therefore has no elements.

    >>> to_numpy(torch.tensor([1.0, 2.0], requires_grad=True))
    array([1., 2.], dtype=float32)
    """
    detached = get_local_part(tensor.detach())
    if detached.is_meta:
        raise ValueError("A tensor on the device 'meta' has no elements.")
    if detached.layout is not torch.strided:
        detached = detached.to_dense()
    detached = detached.cpu().resolve_conj().resolve_neg()
    # NumPy has no bfloat16 and no 8-bit floats.
    if detached.dtype is torch.bfloat16 or (detached.is_floating_point() and detached.element_size() == 1):
        detached = detached.to(torch.float32)
    return detached.numpy()[()]


def compute_fingerprint(tensor: Tensor) -> Tensor:
    """Return integers that, barring coincidence, change whenever an element of the tensor changes.

    The integers are the sums of the bit patterns in each row of ``FINGERPRINT_WIDTH`` numbers, followed by the bit
    patterns of the remaining numbers. All of these integers are exact and stay on the tensor's device. The elements'
    bytes are read as the widest integers that divide them evenly, because PyTorch sums 64-bit integers without
    converting them.

    Args:
        tensor: The tensor.

    >>> ones = torch.ones(3)
    >>> torch.equal(compute_fingerprint(ones + torch.tensor([1.0, -1.0, 0.0])), compute_fingerprint(ones))
    False
    """
    flat = get_local_part(tensor.detach()).contiguous().view(-1)
    size = gcd(8, flat.element_size() * flat.numel())
    if flat.element_size() * flat.storage_offset() % size:  # PyTorch cannot read wide integers at this offset.
        flat = flat.clone()
    bits = flat.view(INTEGER_DTYPES[size])
    end_of_rows = len(bits) - len(bits) % FINGERPRINT_WIDTH
    if not end_of_rows:
        return bits.clone()
    return torch.cat([bits[:end_of_rows].view(-1, FINGERPRINT_WIDTH).sum(1), bits[end_of_rows:].long()])
