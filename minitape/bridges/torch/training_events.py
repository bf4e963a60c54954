"""Record the backward passes and optimizer steps of a PyTorch training loop, in order.

Each event keeps samples of ``.grad``. The samples are compared only when an explanation is requested, so that no event
waits for a device.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from ...recording.sites import Site
from .kept_tensors import to_numpy

SAMPLE_SIZE = 1024  # The maximum number of elements copied from each .grad at an event.
PARAMETER_LIMIT = 64  # The maximum number of sampled parameters.


class TrainingEvent(NamedTuple):
    """The end of a backward pass, the beginning of an optimizer step, or the clipping of a gradient norm.

    Attributes:
        kind: "pass", "step" or "norm".
        site: The program's line.
        sweep_index: The index, in the recording's sweeps, of the last backward pass before the event.
        grad_samples: The first elements of each ``.grad``, keyed by the parameter's id. None for a parameter with no
            gradient.
        optimizer: For a step, a weak reference to the optimizer.
        learning_rates: For a step, the learning rate for each of the optimizer's parameters, keyed by id.
    """

    kind: str
    site: Site
    sweep_index: int
    grad_samples: dict[int, torch.Tensor | None]
    optimizer: weakref.ref[Any] | None = None
    learning_rates: dict[int, float] | None = None


class TrainingLog:
    """The training events of a block.

    Attributes:
        events: The events, oldest first.
    """

    def __init__(self) -> None:
        """Start without events."""
        self.events: list[TrainingEvent] = []
        self._parameter_refs: list[weakref.ref[torch.Tensor]] = []  # The parameters that got the last gradients.

    def note_backward_pass(self, leaves: Iterable[torch.Tensor], sweep_index: int, site: Site) -> None:
        """Record the end of a backward pass.

        Args:
            leaves: The leaves that got a gradient.
            sweep_index: The index of the pass in the recording's sweeps.
            site: The line that called the backward pass.
        """
        self._parameter_refs = [weakref.ref(leaf) for leaf, _ in zip(leaves, range(PARAMETER_LIMIT), strict=False)]
        self._add_event("pass", site, sweep_index)

    def note_gradient_norm(self, sweep_index: int, site: Site) -> None:
        """Record that the program computes the norm of all gradients to clip them.

        Args:
            sweep_index: The index of the last backward pass.
            site: The line that clips the gradients.
        """
        self._add_event("norm", site, sweep_index)

    def note_optimizer_step(self, optimizer: Any, sweep_index: int, site: Site) -> None:
        """Record the start of an optimizer step.

        Args:
            optimizer: The optimizer.
            sweep_index: The index of the last backward pass.
            site: The line that calls the step.
        """
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
        """The optimizer steps, oldest first."""
        return [event for event in self.events if event.kind == "step"]

    def list_steps_of_parameter(self, parameter: Any) -> list[TrainingEvent]:
        """Return the steps of the optimizers that hold a parameter."""
        return [event for event in self.events if id(parameter) in (event.learning_rates or ())]

    @property
    def passes(self) -> list[TrainingEvent]:
        """The backward passes, oldest first."""
        return [event for event in self.events if event.kind == "pass"]

    def iter_passes_reaching_parameter(self, parameter: Any) -> Iterator[TrainingEvent]:
        """Yield the backward passes that gave a parameter a gradient."""
        return (event for event in self.passes if id(parameter) in event.grad_samples)


def copy_first_elements(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """Return a copy of the first ``SAMPLE_SIZE`` elements of a gradient, as a vector.

    Returns None for a gradient that is None, sparse, or on the "meta" device.

    >>> copy_first_elements(torch.ones(2, 3)).shape
    torch.Size([6])
    """
    if gradient is None or gradient.layout is not torch.strided or gradient.is_meta:
        return None
    return gradient.detach().reshape(-1)[:SAMPLE_SIZE].clone()


def convert_sample_to_numpy(sample: torch.Tensor | None) -> np.ndarray | None:
    """Return a sample as a float64 array, or None if the sample is None."""
    return None if sample is None else np.asarray(to_numpy(sample), np.float64)


def are_samples_equal_and_nonzero(first: np.ndarray | None, second: np.ndarray | None) -> bool:
    """Return whether two samples are equal up to rounding, and not zero.

    Samples are not equal if they have different shapes or if one of them is None.

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
