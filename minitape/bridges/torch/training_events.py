"""What a training loop of PyTorch did with its gradients: the backward passes and steps in their order, with samples of
``.grad`` that are compared when the question is asked; nothing waits for a device meanwhile.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from ...recording.sites import Site
from .kept_tensors import to_numpy

SAMPLE_SIZE, PARAMETER_LIMIT = 1024, 64  # elements of a .grad, and parameters, that are copied at each event


class TrainingEvent(NamedTuple):
    """A backward pass ended, a step of an optimizer begins, or the norm of gradients is taken."""

    kind: str  # pass, step, norm
    site: Site
    sweep_index: int  # the index of the last backward pass before it
    grad_samples: dict[int, torch.Tensor | None]  # of .grad, by the identity of the parameter
    optimizer: weakref.ref[Any] | None = None
    learning_rates: dict[int, float] | None = None  # the learning rate of each parameter that the optimizer holds


class TrainingLog:
    """The events of a block."""

    def __init__(self) -> None:
        self.events: list[TrainingEvent] = []
        self._parameter_refs: list[weakref.ref[torch.Tensor]] = []  # the parameters of the last backward pass

    def note_backward_pass(self, leaves: Iterable[torch.Tensor], sweep_index: int, site: Site) -> None:
        """Note that a backward pass ended, with the leaves that got a gradient."""
        self._parameter_refs = [weakref.ref(leaf) for leaf, _ in zip(leaves, range(PARAMETER_LIMIT), strict=False)]
        self._add_event("pass", site, sweep_index)

    def note_gradient_norm(self, sweep_index: int, site: Site) -> None:
        """Note that the norm of all gradients is taken, to clip it."""
        self._add_event("norm", site, sweep_index)

    def note_optimizer_step(self, optimizer: Any, sweep_index: int, site: Site) -> None:
        """Note that an optimizer begins a step."""
        learning_rates = {
            id(parameter): float(group.get("lr", 1.0))
            for group in optimizer.param_groups
            for parameter in group["params"]
        }
        self._add_event("step", site, sweep_index, weakref.ref(optimizer), learning_rates)

    def _add_event(
        self,
        kind: str,
        site: Site,
        sweep_index: int,
        optimizer: weakref.ref[Any] | None = None,
        learning_rates: dict[int, float] | None = None,
    ) -> None:
        parameters = [parameter for ref in self._parameter_refs if (parameter := ref()) is not None]
        samples = {id(parameter): copy_first_elements(parameter.grad) for parameter in parameters}
        self.events.append(TrainingEvent(kind, site, sweep_index, samples, optimizer, learning_rates))

    @property
    def steps(self) -> list[TrainingEvent]:
        """The steps of optimizers."""
        return [event for event in self.events if event.kind == "step"]

    def list_steps_of_parameter(self, parameter: Any) -> list[TrainingEvent]:
        """Return the steps of optimizers that hold a parameter."""
        return [event for event in self.events if id(parameter) in (event.learning_rates or ())]

    @property
    def passes(self) -> list[TrainingEvent]:
        """The backward passes."""
        return [event for event in self.events if event.kind == "pass"]

    def iter_passes_reaching_parameter(self, parameter: Any) -> Iterator[TrainingEvent]:
        """Yield the backward passes that gave a parameter a gradient."""
        return (event for event in self.passes if id(parameter) in event.grad_samples)


def copy_first_elements(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """Return a copy of the first elements of a gradient; None where there are none.

    >>> copy_first_elements(torch.ones(2, 3)).shape
    torch.Size([6])
    """
    if gradient is None or gradient.layout is not torch.strided or gradient.is_meta:
        return None
    return gradient.detach().reshape(-1)[:SAMPLE_SIZE].clone()


def convert_sample_to_numpy(sample: torch.Tensor | None) -> np.ndarray | None:
    """Return the elements of a sample as a NumPy array."""
    return None if sample is None else np.asarray(to_numpy(sample), np.float64)


def are_samples_equal_and_nonzero(first: np.ndarray | None, second: np.ndarray | None) -> bool:
    """Return whether two samples are equal up to rounding, and not zero.

    >>> ones, zeros = np.ones(3), np.zeros(3)
    >>> are_samples_equal_and_nonzero(ones, ones + 1e-7), are_samples_equal_and_nonzero(ones, 2 * ones)
    (True, False)
    >>> are_samples_equal_and_nonzero(zeros, zeros)
    False
    """
    if first is None or second is None or first.shape != second.shape:
        return False
    length = float(np.linalg.norm(first))
    return 0 < length < np.inf and float(np.linalg.norm(first - second)) <= 1e-3 * length
