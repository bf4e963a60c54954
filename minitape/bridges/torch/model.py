"""The parameters of a PyTorch program, by the names that it has for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch

from ...explain.reasons.names import list_parts as parts_in
from ...explain.reasons.names import search_access_path
from ...recording.sites import NOWHERE
from ...recording.values import numbers_of
from ..rows import list_program_names
from .value import array_of

DEEP = 3  # objects in objects that are looked into


def parts_of(module: torch.nn.Module) -> dict:
    """The parameters of a module, behind the name that the program has for it."""
    name = name_of(module) or type(module).__name__
    return {f"{name}.{path}": parameter for path, parameter in module.named_parameters()}


def parameters_beside(recording: Any, module: torch.nn.Module) -> dict:
    """What a module holds and the block used, and ``module.parameters()`` does not have."""
    name = name_of(module) or type(module).__name__
    own = {id(p) for p in module.parameters()}
    found = (
        pair[2:] for pair in held_parameters(module) if id(pair[3]) not in own and recording.log.leaf_rows(pair[3])
    )
    return {f"{name}.{path}": parameter for path, parameter in found}


def held_parameters(root: torch.nn.Module) -> Iterator[tuple[torch.nn.Module, str, str, torch.Tensor]]:
    """The parameters where PyTorch does not look for them: in plain lists, dictionaries and objects of a module and its
    parts; each with the part, its attribute, and the path to the parameter.
    """
    for path, owner in root.named_modules():
        for attribute, value in [*vars(owner).items()]:
            found = () if attribute.startswith("_") else islice(_within(value, attribute), 1000)
            yield from ((owner, attribute, f"{path}.{way}".lstrip("."), tensor) for way, tensor in found)


def _within(value: Any, path: str, deep: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """The leaves in a value, each with the path to it; objects are those of classes of the program's own."""
    if isinstance(value, torch.nn.Parameter):
        yield path, value
    elif isinstance(value, torch.nn.Module):
        yield from ((f"{path}.{name}", p) for name, p in value.named_parameters())
    for way, part in parts_in(value) if deep < DEEP and not isinstance(value, torch.nn.Module) else ():
        yield from _within(part, path + way, deep + 1)


def trained(recording: Any) -> dict:
    """What the modules that the block called have as parameters, what optimizers stepped over, and other leaves."""
    log, found = recording.log, dict[str, Any]()
    named = [pair for root in log.history.roots() for pair in parts_of(root).items()]
    stepped = {key for event in log.training.events for key in event.rates or ()}
    leaves = [(e, e.extra.ref()) for e in recording.entries if e.kind != "operation" and e.differentiable]
    others = [tensor for e, tensor in leaves if e.kind == "variable" or id(tensor) in stepped]
    if not (named or others):
        others = [tensor for _, tensor in leaves]
    for tensor in others:
        if tensor is not None and log.history.replaced_at(tensor) is NOWHERE:  # else the one in its place tells
            named.append((name_of(tensor) or log.history.name_of(tensor), tensor))
    first = dict[int, tuple[str, Any]]()
    for name, tensor in named:
        first.setdefault(id(tensor), (name, tensor))
    for name, tensor in first.values():
        found[name if name not in found else f"{name} ({len(found)})"] = tensor
    return found


def name_of(wanted: Any) -> str:
    """How a program reaches an object: by a name, or by an attribute or element of what a name holds."""
    return search_access_path(list_program_names(), wanted)


def weights_of(recording: Any, source: torch.Tensor) -> tuple:
    """A parameter before and after the last step of an optimizer that holds it."""
    if not recording.log.training.steps_of(source):
        return None, None
    rows = recording.log.leaf_rows(source)
    values = [numbers_of(recording.entries[row].value) for row in rows]
    if recording.log.row_now(source) is None and source.device.type == "cpu":
        values.append(np.asarray(array_of(source), np.float64))
    return tuple([None, None, *values][-2:])
