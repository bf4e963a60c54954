"""Tensors that are shown later, but as they were: a small one is copied, a large one is kept and copied before it
changes.

What is kept is bounded: above ``MOST_BYTES`` the oldest become what a picture shows of them (text, statistics,
thumbnail).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch

from ..kept_values import SMALL, Bound, KeptValues


class TorchValue(KeptValues):
    """A tensor as it was when it was kept."""

    __slots__ = ("version",)

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor)
        self.version = version_of(tensor)

    def current(self) -> torch.Tensor | None:
        """The tensor; None when something changed it that the recording did not see."""
        tensor: torch.Tensor | None = self.given
        return None if tensor is None or version_of(tensor) != self.version else tensor

    def copy(self) -> None:
        """Copies the tensor, because the original may change now."""
        tensor = self.current()
        self.given = None if tensor is None else tensor.clone()
        self.version = 0 if self.given is None else version_of(self.given)

    def array(self) -> np.ndarray | None:
        """Its elements; None when they are not there, or not as they were."""
        tensor = self.current()
        return None if tensor is None or tensor.is_meta else np.asarray(array_of(tensor))


class Keeper:
    """Keeps tensors for a recording."""

    def __init__(self) -> None:
        self._waiting: dict[int, list[TorchValue]] = {}  # by storage: a change of it concerns all of them
        self._bound = Bound()

    def keep(self, tensor: torch.Tensor, copy: bool = False) -> TorchValue:
        """The tensor as it is now; ``copy`` where it may change unseen."""
        plain = tensor.detach()
        small = tensor.numel() <= SMALL  # a copy costs less than to look after it
        if copy or small:
            value = TorchValue(plain.clone())
        else:
            value = TorchValue(plain)
            self._waiting.setdefault(storage_of(plain), []).append(value)
        self._bound.add(value, plain.numel(), plain.numel() * plain.element_size())
        return value

    def before_change(self, tensors: Iterable[torch.Tensor]) -> None:
        """Copies what shares memory with tensors that are about to change."""
        for tensor in tensors:
            for value in self._waiting.pop(storage_of(tensor), ()) if self._waiting else ():
                value.copy()


def version_of(tensor: torch.Tensor) -> int:
    """How often it was changed in place."""
    return 0 if tensor.is_inference() else tensor._version


def storage_of(tensor: torch.Tensor) -> int:
    """Which memory a tensor has: the same number for those that share it."""
    return (tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else 0) or id(tensor)


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """A NumPy array with a tensor's elements.

    >>> array_of(torch.tensor([1.0, 2.0], requires_grad=True))
    array([1., 2.], dtype=float32)
    """
    plain = tensor.detach()
    if plain.is_meta:
        raise ValueError("A tensor on the device 'meta' has no elements.")
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    plain = plain.cpu().resolve_conj().resolve_neg()
    if plain.dtype is torch.bfloat16 or (plain.is_floating_point() and plain.element_size() == 1):  # NumPy has none
        plain = plain.to(torch.float32)
    return plain.numpy()[()]
