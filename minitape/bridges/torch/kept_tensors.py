"""Tensors that are shown later, but as they were: a small one is copied, a large one is kept and copied before it
changes.

What is kept is bounded: above ``BYTE_LIMIT`` the oldest become what a picture shows of them (text, statistics,
thumbnail).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch

from ..kept_values import SMALL_SIZE, KeptValue, MemoryBudget


class TorchValue(KeptValue):
    """A tensor as it was when it was kept."""

    __slots__ = ("tensor_version",)

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor)
        self.tensor_version = count_in_place_changes(tensor)

    def get_unchanged_tensor(self) -> torch.Tensor | None:
        """Return the tensor; None when something changed it that the recording did not see."""
        tensor: torch.Tensor | None = self.content
        return None if tensor is None or count_in_place_changes(tensor) != self.tensor_version else tensor

    def replace_tensor_by_copy(self) -> None:
        """Replace the tensor by a copy, because the original may change now."""
        tensor = self.get_unchanged_tensor()
        self.content = None if tensor is None else tensor.clone()
        self.tensor_version = 0 if self.content is None else count_in_place_changes(self.content)

    def to_array(self) -> np.ndarray | None:
        """Return its elements; None when they are not there, or not as they were."""
        tensor = self.get_unchanged_tensor()
        return None if tensor is None or tensor.is_meta else np.asarray(to_numpy(tensor))


class KeptTensors:
    """Keeps tensors for a recording."""

    def __init__(self) -> None:
        self._values_by_storage: dict[int, list[TorchValue]] = {}  # by storage: a change of it concerns all of them
        self._memory_budget = MemoryBudget()

    def keep_value(self, tensor: torch.Tensor, must_copy: bool = False) -> TorchValue:
        """Keep a tensor as it is now; ``must_copy`` where it may change unseen."""
        detached = tensor.detach()
        is_small = tensor.numel() <= SMALL_SIZE  # a copy costs less than to look after it
        if must_copy or is_small:
            value = TorchValue(detached.clone())
        else:
            value = TorchValue(detached)
            self._values_by_storage.setdefault(get_storage_id(detached), []).append(value)
        self._memory_budget.add_value_and_enforce_limit(
            value, detached.numel(), detached.numel() * detached.element_size()
        )
        return value

    def copy_before_change(self, changing_tensors: Iterable[torch.Tensor]) -> None:
        """Copy what shares memory with tensors that are about to change."""
        for tensor in changing_tensors:
            for value in self._values_by_storage.pop(get_storage_id(tensor), ()) if self._values_by_storage else ():
                value.replace_tensor_by_copy()


def count_in_place_changes(tensor: torch.Tensor) -> int:
    """Return how often a tensor was changed in place."""
    return 0 if tensor.is_inference() else tensor._version


def get_storage_id(tensor: torch.Tensor) -> int:
    """Return a number for the memory of a tensor: the same for those that share it."""
    return (tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else 0) or id(tensor)


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """Return a NumPy array with a tensor's elements.

    >>> to_numpy(torch.tensor([1.0, 2.0], requires_grad=True))
    array([1., 2.], dtype=float32)
    """
    detached = tensor.detach()
    if detached.is_meta:
        raise ValueError("A tensor on the device 'meta' has no elements.")
    if detached.layout is not torch.strided:
        detached = detached.to_dense()
    detached = detached.cpu().resolve_conj().resolve_neg()
    # NumPy has no such dtypes
    if detached.dtype is torch.bfloat16 or (detached.is_floating_point() and detached.element_size() == 1):
        detached = detached.to(torch.float32)
    return detached.numpy()[()]
