"""Keep the accounts of tensors, and measure gradients and weights for them."""

from collections.abc import Sequence
from math import isfinite
from typing import TypeAlias
from weakref import ref

import torch
from torch import Tensor
from torch.nn import Parameter

from ....engine.types import FloatList
from ...run_watch.accounts import EDITED, Account, GradientChange, ParameterFacts, RunAccounts
from ..distributed_tensors import get_local_part
from ..kept_tensors import OptionalTensor, Tensors, TorchValue, compute_fingerprint

# A leaf that has lost between one and this many gradients is compared with its state in the backward pass.
COMPARED_CLEARINGS = 4
SAMPLE_SIZE = 32  # At most this many elements of each parameter are sampled before and after a step.


class TensorAccount(Account):
    """The account of a PyTorch leaf.

    Attributes:
        tensor_ref: A weak reference to the leaf.
        grad_ref: A weak reference to the ``.grad`` found at the last check.
        grad_version: The version of ``.grad`` at the last check.
        tensor_version: The version of the leaf when the first pending contribution arrived.
        first_copy: A recording's copy of the leaf as it was at its first gradient, or None without a recording.
        first_fingerprint: The leaf's fingerprint at its first gradient, or None if it has had no gradient or if
            ``first_copy`` has the fingerprint.
        pass_fingerprint: The leaf's fingerprint when the first pending contribution arrived, or None if no fingerprint
            was taken.
        lost_gradients: The number of times a gradient was cleared before a step used it.
        is_parameter: Whether the leaf is an ``nn.Parameter``, or a module holds it like one.
    """

    __slots__ = (
        "tensor_ref grad_ref grad_version tensor_version first_copy first_fingerprint pass_fingerprint lost_gradients "
        "is_parameter _dtype"
    ).split()

    def __init__(self, tensor: Tensor):
        """Open an account for ``tensor``."""
        super().__init__(id(tensor))
        self.tensor_ref = ref(tensor)
        self.grad_ref: ref[Tensor] | None = None
        self.grad_version = self.tensor_version = 0
        self.first_copy: TorchValue | None = None
        self.first_fingerprint: OptionalTensor = None
        self.pass_fingerprint: OptionalTensor = None
        self.lost_gradients = 0
        self.is_parameter = isinstance(tensor, Parameter)
        self._dtype = str(tensor.dtype).removeprefix("torch.")

    def read_current_parameter_facts(self) -> ParameterFacts:
        """Return the facts about the leaf in its current state.

        Returns:
            The facts about the leaf.
        """
        tensor = self.tensor_ref()
        is_trainable = tensor is not None and tensor.requires_grad
        is_on_other_processes = tensor is not None and not get_local_part(tensor).numel()
        return ParameterFacts(tensor is None, is_trainable, self.is_parameter, self._dtype, is_on_other_processes)

    def is_unchanged_since_first_gradient(self) -> bool:
        """Compare the leaf's current elements with those that it had at its first gradient.

        Returns:
            Whether all elements are unchanged since the leaf got its first gradient.
        """
        tensor = self.tensor_ref()
        copy = self.first_copy
        fingerprint = self.first_fingerprint if copy is None else copy.find_fingerprint()
        return tensor is not None and has_fingerprint(tensor, fingerprint)

    def remember_weights_at_first_gradient(self, tensor: Tensor, copy: TorchValue | None) -> None:
        """Remember the state of the leaf when it gets its first gradient.

        Args:
            tensor: The leaf.
            copy: A recording's copy of the leaf, or None without a recording.
        """
        self.got_gradient = True
        if copy is None or copy.content is None:
            self.first_fingerprint = compute_fingerprint(tensor)
        else:  # Computing a fingerprint reads all elements, and most questions need no fingerprint.
            self.first_copy = copy
            copy.keeps_fingerprint = True

    def remember_gradient_to_notice_changes(self, gradient: OptionalTensor) -> None:
        """Remember the current ``.grad``, so that later changes are noticed.

        Args:
            gradient: The ``.grad``, or None if the leaf has none.
        """
        self.grad_ref = None if gradient is None else ref(gradient)
        self.grad_version = 0 if gradient is None else int(gradient._version)

    @property
    def gradient(self) -> OptionalTensor:
        """The leaf's ``.grad``, or None if there is none or the leaf no longer exists."""
        tensor = self.tensor_ref()
        return None if tensor is None else tensor.grad

    def is_gradient_remembered(self, gradient: Tensor) -> bool:
        """Return whether a ``.grad`` is the remembered object and has not changed.

        Args:
            gradient: The ``.grad`` to compare.
        """
        is_same = self.grad_ref is not None and self.grad_ref() is gradient
        return is_same and int(gradient._version) == self.grad_version

    def record_gradient_changes_by_program(self, accounts: RunAccounts) -> None:
        """Record the changes that the program itself has made to ``.grad`` since the last check.

        Args:
            accounts: The accounts of the run.
        """
        tensor = self.tensor_ref()
        if not self.pending or tensor is None:
            return
        gradient = tensor.grad
        if gradient is not None and self.is_gradient_remembered(gradient):
            return
        self.remember_gradient_to_notice_changes(gradient)
        # Some programs clear gradients by assigning zeros.
        if gradient is None or not bool(get_local_part(gradient).any()):
            accounts.record_cleared_gradient(
                self, (None, None), self.count_lost_gradient_and_check_if_leaf_changed(tensor)
            )
        else:
            accounts.record_gradient_change([self], GradientChange(EDITED))

    def remember_weights_if_gradient_was_lost_before(self, tensor: Tensor) -> None:
        """Remember the current state of the leaf if the leaf has lost a gradient before.

        A write through ``.data`` does not change the leaf's version, so only the elements reveal the change.

        Args:
            tensor: The leaf.
        """
        is_compared = 0 < self.lost_gradients <= COMPARED_CLEARINGS
        self.pass_fingerprint = compute_fingerprint(tensor) if is_compared else None

    def count_lost_gradient_and_check_if_leaf_changed(self, tensor: Tensor) -> bool:
        """Count an unused gradient as lost. Return whether the leaf has changed since the first contribution arrived.

        Args:
            tensor: The leaf.
        """
        self.lost_gradients += not self.used_by
        if tensor._version != self.tensor_version:
            return True
        return self.pass_fingerprint is not None and not has_fingerprint(tensor, self.pass_fingerprint)


# The accounts of several leaves.
TensorAccountList: TypeAlias = list[TensorAccount]


def has_fingerprint(tensor: Tensor, fingerprint: OptionalTensor) -> bool:
    """Return whether a tensor has a given fingerprint. A tensor without values has no fingerprint.

    Args:
        tensor: The tensor.
        fingerprint: The fingerprint, or None.
    """
    return fingerprint is not None and not tensor.is_meta and torch.equal(compute_fingerprint(tensor), fingerprint)


def measure_norms(tensors: Sequence[Tensor]) -> FloatList:
    """Return the norms of the given tensors.

    Args:
        tensors: The tensors.

    >>> measure_norms([torch.ones(4), torch.zeros(2)])
    [2.0, 0.0]
    """
    tensors = [get_local_part(tensor.detach()) for tensor in tensors]
    try:
        norms: FloatList = torch.stack(torch._foreach_norm(tensors)).tolist()
    except (RuntimeError, TypeError):  # The tensors are on different devices or have different types.
        norms = [float(tensor.norm()) for tensor in tensors]
    return [
        # The squares of the elements may overflow the tensor's dtype.
        norm if isfinite(norm) else float(tensor.abs().double().norm())
        for norm, tensor in zip(norms, tensors, strict=True)
    ]


class WeightSample:
    """A few evenly spaced elements from each of an optimizer's parameters.

    Attributes:
        accounts: The accounts of the parameters.
        sizes: The number of sampled elements for each parameter.
    """

    def __init__(self, accounts: Sequence[TensorAccount]):
        """Choose the elements, and keep views of them, which reflect later changes to the parameters."""
        self.accounts = [account for account in accounts if _can_be_sampled(account.tensor_ref())]
        tensors = [tensor for account in self.accounts if (tensor := account.tensor_ref()) is not None]
        self._views = [_view_evenly_spaced_elements(tensor) for tensor in tensors]
        self.sizes = [view.numel() for view in self._views]

    @property
    def shares_memory_with_parameters(self) -> bool:
        """Whether the parameters still share memory with the views."""
        pairs = zip(self.accounts[:2], self._views[:2], strict=True)
        tensors = ((account.tensor_ref(), view) for account, view in pairs)
        return all(tensor is not None and tensor.data_ptr() == view.data_ptr() for tensor, view in tensors)

    def read_elements(self) -> OptionalTensor:
        """Return the current elements as one vector.

        Returns:
            The vector, or None if no parameter can be sampled or the parameters are on different devices.
        """
        if not self._views:
            return None
        try:
            return torch.cat([view.float() for view in self._views])
        except RuntimeError:
            return None

    def split_elements(self, vector: Tensor) -> Tensors:
        """Split a vector of elements into one part for each parameter.

        Args:
            vector: The elements of all parameters.
        """
        return list(vector.split(self.sizes))


def _can_be_sampled(tensor: OptionalTensor) -> bool:
    return (
        tensor is not None
        and tensor.layout is torch.strided
        and tensor.is_floating_point()
        and tensor.numel() > 0
        and type(tensor) in (Tensor, Parameter)
    )


def _view_evenly_spaced_elements(tensor: Tensor) -> Tensor:
    size = min(SAMPLE_SIZE, tensor.numel())
    flat = tensor.detach()
    flat = flat.view(-1) if flat.is_contiguous() else flat.as_strided((tensor.numel(),), (1,), flat.storage_offset())
    return flat[:: max(1, tensor.numel() // size)][:size]
