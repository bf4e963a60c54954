"""The parameters of a PyTorch program, by the names that it has for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ...explain.reasons.object_names import list_parts_with_suffixes, search_access_path
from ...explain.reasons.question import OptionalArray
from ...recording.sites import NOWHERE
from ...recording.value_summary import to_float_array
from ..framework_adapter import list_named_program_objects
from .kept_tensors import to_numpy
from .row_log import get_extra

if TYPE_CHECKING:
    from .recording import TorchRecording

MAX_DEPTH = 3  # objects in objects that are looked into


def collect_model_parameters(module: torch.nn.Module) -> dict[str, Any]:
    """Return the parameters of a module by path, which begins with the name that the program has for the module."""
    name = find_access_path_in_program(module) or type(module).__name__
    return {f"{name}.{path}": parameter for path, parameter in module.named_parameters()}


def collect_unregistered_parameters(recording: TorchRecording, module: torch.nn.Module) -> dict[str, Any]:
    """Return the parameters that a module holds and the block used, and ``module.parameters()`` does not have."""
    name = find_access_path_in_program(module) or type(module).__name__
    registered_keys = {id(parameter) for parameter in module.parameters()}
    unregistered = (
        each_parameter
        for each_parameter in iter_unregistered_parameters(module)
        if id(each_parameter.parameter) not in registered_keys
        and recording.log.list_leaf_rows(each_parameter.parameter)
    )
    return {f"{name}.{each_parameter.path}": each_parameter.parameter for each_parameter in unregistered}


class UnregisteredParameter(NamedTuple):
    """A parameter where PyTorch does not look for it: the part that holds it, its attribute, and the path to it."""

    owner: torch.nn.Module
    attribute: str
    path: str
    parameter: torch.Tensor


def iter_unregistered_parameters(root_module: torch.nn.Module) -> Iterator[UnregisteredParameter]:
    """Yield the parameters where PyTorch does not look for them: in plain lists, dictionaries and objects of a module
    and its parts.
    """
    for path, owner in root_module.named_modules():
        for attribute, value in [*vars(owner).items()]:
            paths_and_tensors = (
                () if attribute.startswith("_") else islice(_iter_parameters_with_paths(value, attribute), 1000)
            )
            for parameter_path, tensor in paths_and_tensors:
                yield UnregisteredParameter(owner, attribute, f"{path}.{parameter_path}".lstrip("."), tensor)


def _iter_parameters_with_paths(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the parameters in a value, each with the path to it; of objects, in those of the program's own classes."""
    if isinstance(value, torch.nn.Parameter):
        yield path, value
    elif isinstance(value, torch.nn.Module):
        yield from ((f"{path}.{name}", parameter) for name, parameter in value.named_parameters())
    for part_path, part in (
        list_parts_with_suffixes(value) if depth < MAX_DEPTH and not isinstance(value, torch.nn.Module) else ()
    ):
        yield from _iter_parameters_with_paths(part, path + part_path, depth + 1)


def collect_trained_sources(recording: TorchRecording) -> dict[str, Any]:
    """Return the parameters of modules that the block called and of optimizers that took a step, by name.

    If there are none, returns the other leaves that need a gradient.
    """
    log, sources = recording.log, dict[str, Any]()
    named_tensors = [
        named_parameter
        for root in log.history.list_called_root_modules()
        for named_parameter in collect_model_parameters(root).items()
    ]
    optimized_keys = {key for event in log.training.events for key in event.learning_rates or ()}
    leaves = [
        (entry, get_extra(entry).tensor_ref())
        for entry in recording.entries
        if entry.kind != "operation" and entry.tracked
    ]
    other_tensors = [tensor for entry, tensor in leaves if entry.kind == "variable" or id(tensor) in optimized_keys]
    if not (named_tensors or other_tensors):
        other_tensors = [tensor for _, tensor in leaves]
    for tensor in other_tensors:
        if tensor is not None and log.history.find_removal_site(tensor) is NOWHERE:  # else the one in its place tells
            named_tensors.append((find_access_path_in_program(tensor) or log.history.find_tensor_name(tensor), tensor))
    first_names = dict[int, tuple[str, Any]]()
    for name, tensor in named_tensors:
        first_names.setdefault(id(tensor), (name, tensor))
    for name, tensor in first_names.values():
        sources[name if name not in sources else f"{name} ({len(sources)})"] = tensor
    return sources


def find_access_path_in_program(searched_object: Any) -> str:
    """Return how a program reaches an object: by a name, or by an attribute or element of what a name holds."""
    return search_access_path(list_named_program_objects(), searched_object)


def read_weights_around_last_step(
    recording: TorchRecording, source: torch.Tensor
) -> tuple[OptionalArray, OptionalArray]:
    """Return a parameter before and after the last step of an optimizer that holds it; None where it is not known."""
    if not recording.log.training.list_steps_of_parameter(source):
        return None, None
    rows = recording.log.list_leaf_rows(source)
    values = [to_float_array(recording.entries[row].value) for row in rows]
    if recording.log.find_current_row(source) is None and source.device.type == "cpu":
        values.append(np.asarray(to_numpy(source), np.float64))
    before, after = [None, None, *values][-2:]
    return before, after
