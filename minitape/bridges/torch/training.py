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
from .value import array_of

SAMPLE, MOST = 1024, 64  # elements of a .grad, and parameters, that are copied at each event


class TrainingEvent(NamedTuple):
    """A backward pass ended, a step of an optimizer begins, or the norm of gradients is taken."""

    kind: str  # pass, step, norm
    site: Site
    sweep: int  # the how many-th backward pass was the last before it
    samples: dict[int, torch.Tensor | None]  # of .grad, by the identity of the parameter
    optimizer: weakref.ref[Any] | None = None
    rates: dict[int, float] | None = None  # the learning rate of each parameter that the optimizer holds


class Training:
    """The events of a block."""

    def __init__(self) -> None:
        self.events: list[TrainingEvent] = []
        self._seen: list[weakref.ref[torch.Tensor]] = []  # the parameters of the last backward pass

    def note_backward(self, leaves: Iterable[torch.Tensor], sweep: int, site: Site) -> None:
        """Notes that a backward pass ended, with the leaves that got a gradient."""
        self._seen = [weakref.ref(leaf) for leaf, _ in zip(leaves, range(MOST), strict=False)]
        self._note("pass", site, sweep)

    def norm(self, sweep: int, site: Site) -> None:
        """The norm of all gradients is taken, to clip it."""
        self._note("norm", site, sweep)

    def step(self, optimizer: Any, sweep: int, site: Site) -> None:
        """An optimizer begins a step."""
        rates = {id(p): float(group.get("lr", 1.0)) for group in optimizer.param_groups for p in group["params"]}
        self._note("step", site, sweep, weakref.ref(optimizer), rates)

    def _note(self, kind: str, site: Site, sweep: int, *of_step: Any) -> None:
        seen = [leaf for ref in self._seen if (leaf := ref()) is not None]
        self.events.append(
            TrainingEvent(kind, site, sweep, {id(leaf): sample_of(leaf.grad) for leaf in seen}, *of_step)
        )

    @property
    def steps(self) -> list[TrainingEvent]:
        """The steps of optimizers."""
        return [event for event in self.events if event.kind == "step"]

    def steps_of(self, parameter: Any) -> list[TrainingEvent]:
        """The steps of optimizers that hold a parameter."""
        return [event for event in self.events if id(parameter) in (event.rates or ())]

    @property
    def passes(self) -> list[TrainingEvent]:
        """The backward passes."""
        return [event for event in self.events if event.kind == "pass"]

    def passes_of(self, parameter: Any) -> Iterator[TrainingEvent]:
        """Those that gave a parameter a gradient."""
        return (event for event in self.passes if id(parameter) in event.samples)


def sample_of(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """A copy of the first elements; None where there are none.

    >>> sample_of(torch.ones(2, 3)).shape
    torch.Size([6])
    """
    if gradient is None or gradient.layout is not torch.strided or gradient.is_meta:
        return None
    return gradient.detach().reshape(-1)[:SAMPLE].clone()


def numbers(sample: torch.Tensor | None) -> np.ndarray | None:
    """The elements of a sample."""
    return None if sample is None else np.asarray(array_of(sample), np.float64)


def equal_samples(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Whether two samples are equal up to rounding, and not zero.

    >>> ones, zeros = np.ones(3), np.zeros(3)
    >>> equal_samples(ones, ones + 1e-7), equal_samples(ones, 2 * ones), equal_samples(zeros, zeros)
    (True, False, False)
    """
    if one is None or other is None or one.shape != other.shape:
        return False
    length = float(np.linalg.norm(one))
    return 0 < length < np.inf and float(np.linalg.norm(one - other)) <= 1e-3 * length
