"""The parameters of a PyTorch program, by the names that it has for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch

from ...explain.caller import asking_frame
from ...explain.reasons.names import reach
from ...picture.reading import spaces
from ...recording.sites import NOWHERE
from ...recording.values import numbers_of
from .value import array_of


def parts_of(module: torch.nn.Module) -> dict:
    """The parameters of a module, behind the name that the program has for it."""
    name = name_of(module) or type(module).__name__
    return {f"{name}.{path}": parameter for path, parameter in module.named_parameters()}


def in_lists(recording: Any, module: torch.nn.Module) -> dict:
    """The parameters in plain lists of a module, which ``module.parameters()`` does not have, with a gradient."""
    name = name_of(module) or type(module).__name__
    own, reached = {id(p) for p in module.parameters()}, {row for sweep in recording.sweeps for row in sweep.adjoints}
    return {
        f"{name}.{path}": parameter
        for _, _, path, parameter in listed(module)
        if id(parameter) not in own and not reached.isdisjoint(recording.log.leaf_rows(parameter))
    }


def listed(root: torch.nn.Module) -> Iterator[tuple[torch.nn.Module, str, str, torch.Tensor]]:
    """The parameters in plain lists and dictionaries of a module and its parts: each with the part that has the list,
    its attribute, and the path to the parameter.
    """
    for path, owner in root.named_modules():
        kept = {name: value for name, value in vars(owner).items() if isinstance(value, (list, tuple, dict))}
        for attribute, value in kept.items():
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            for key, part in () if attribute.startswith("_") else islice(pairs, 1000):
                at = f"{path}.{attribute}[{key!r}]".lstrip(".")
                if isinstance(part, torch.nn.Module):
                    yield from ((owner, attribute, f"{at}.{name}", p) for name, p in part.named_parameters())
                elif isinstance(part, torch.nn.Parameter):
                    yield owner, attribute, at, part


def trained(recording: Any) -> dict:
    """What the modules that the block called have as parameters, what optimizers stepped over, and other leaves."""
    log, found = recording.log, dict[str, Any]()
    named = [pair for root in log.history.roots() for pair in parts_of(root).items()]
    stepping = [optimizer for step in log.training.steps if (optimizer := step.optimizer()) is not None]
    others = [p for optimizer in stepping for group in optimizer.param_groups for p in group["params"]]
    others += [e.extra.ref() for e in recording.entries if e.kind == "variable"]
    if not (named or others):
        others = [e.extra.ref() for e in recording.entries if e.kind == "source" and e.differentiable]
    for tensor in others:
        if tensor is not None and log.history.replaced_at(tensor) is NOWHERE:  # else the one in its place tells
            named.append((name_of(tensor) or log.history.name_of(tensor), tensor))
    first = dict[int, tuple[str, Any]]()
    for name, tensor in named:
        first.setdefault(id(tensor), (name, tensor))
    for name, tensor in first.values():
        found[name if name not in found else f"{name} ({len(found)})"] = tensor
    return found


def names() -> list[tuple[str, Any]]:
    """The names of the program where it asks, and what they hold."""
    return [pair for space in spaces(asking_frame()) for pair in list(space.items())]


def name_of(wanted: Any) -> str:
    """How a program reaches an object: by a name, or by an attribute or element of what a name holds."""
    return reach(names(), wanted)


def weights_of(recording: Any, source: torch.Tensor) -> tuple[np.ndarray | None, np.ndarray | None]:
    """A parameter before and after the last step of an optimizer that holds it."""
    if not recording.log.training.steps_of(source):
        return None, None
    rows = recording.log.leaf_rows(source)
    values = [numbers_of(recording.entries[row].value) for row in rows]
    if recording.log.row_now(source) is None and source.device.type == "cpu":
        values.append(np.asarray(array_of(source), np.float64))
    return (values[-2], values[-1]) if len(values) > 1 else (None, None)
