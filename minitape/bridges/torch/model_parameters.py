"""Find a PyTorch program's parameters and their names in the program."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch import Tensor
from torch.nn import Module, Parameter

from ...common.shared_results import get_or_build_shared_result
from ...explain.caller import find_asking_or_innermost_user_frame
from ...explain.reasons.object_names import find_first_access_path
from ...recording.access_paths import AccessPaths, list_parts_with_suffixes
from ...recording.recorded_rows import OptionalArray
from ...recording.value_summary import to_float_array
from ..framework_adapter import list_all_named_program_objects
from ..model_page import store_under_unused_name
from ..recording import SourcesByName
from .kept_tensors import to_numpy

if TYPE_CHECKING:
    from .recording import TorchRecording

MAX_DEPTH = 3  # The search for parameters descends this many levels into nested objects.
MAX_PARTS = 2000  # A longer list may be a data set, so only this many of its items are searched.


def collect_parameters_by_model_name_and_path(module: Module) -> SourcesByName:
    """Return the parameters of a module, keyed by path.

    The path begins with the program's name for the module, or with its class name.
    """
    name = find_access_path_in_program(module) or type(module).__name__
    return {f"{name}.{path}": parameter for path, parameter in module.named_parameters()}


def collect_used_unregistered_parameters(recording: TorchRecording, module: Module) -> SourcesByName:
    """Return the module's parameters that were used in the block but are not listed by ``module.parameters()``.

    Args:
        recording: The recording of the block.
        module: The module.

    Returns:
        The parameters, keyed by path.
    """
    name = find_access_path_in_program(module) or type(module).__name__
    registered_keys = {id(parameter) for parameter in module.parameters()}
    unregistered = (
        each_parameter
        for each_parameter in iter_parameters_in_plain_attributes(module)
        if id(each_parameter.parameter) not in registered_keys
        and recording.log.list_leaf_rows(each_parameter.parameter)
    )
    return {f"{name}.{each_parameter.path}": each_parameter.parameter for each_parameter in unregistered}


class UnregisteredParameter(NamedTuple):
    """A parameter that PyTorch does not find because it is in a plain list, dictionary or object.

    Attributes:
        owner: The module that holds the parameter.
        attribute: The owner's attribute that contains the parameter.
        path: The path to the parameter from the root module.
        parameter: The parameter.
    """

    owner: Module
    attribute: str
    path: str
    parameter: Tensor


def iter_parameters_in_plain_attributes(root_module: Module) -> Iterator[UnregisteredParameter]:
    """Yield the parameters in the plain lists, dictionaries and objects of a module and its submodules.

    PyTorch does not look for parameters in such objects. Parameters that are registered elsewhere are also included.
    """
    for path, owner in root_module.named_modules():
        for attribute, value in [*vars(owner).items()]:
            if attribute.startswith("_"):
                continue
            for parameter_path, tensor in islice(_iter_parameters_with_paths(value, attribute), 1000):
                yield UnregisteredParameter(owner, attribute, f"{path}.{parameter_path}".lstrip("."), tensor)


def _iter_parameters_with_paths(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Tensor]]:
    """Yield the parameters in a value, each with its path.

    The search covers only containers, and objects whose classes the program defines.
    """
    if isinstance(value, Parameter):
        yield path, value
    elif isinstance(value, Module):
        yield from ((f"{path}.{name}", parameter) for name, parameter in value.named_parameters())
        return
    if depth >= MAX_DEPTH:
        return
    for part_path, part in list_parts_with_suffixes(value, MAX_PARTS):
        yield from _iter_parameters_with_paths(part, path + part_path, depth + 1)


def _list_parameter_or_optimized_else_all_leaves(recording: TorchRecording, only_parameters: bool) -> list[Any]:
    """Return the leaves that are parameters or that an optimizer holds, or all leaves if there are no such leaves.

    Args:
        recording: The recording.
        only_parameters: Whether to leave out all leaves that are not parameters, even if none remain.
    """
    leaves = [
        (recorded_row.kind, recorded_row.find_object())
        for recorded_row in recording.rows
        if recorded_row.kind != "operation" and recorded_row.tracked
    ]
    optimized_keys = recording.log.run_watch.accounts.collect_optimized_keys()
    parameters = [tensor for kind, tensor in leaves if kind == "variable" or id(tensor) in optimized_keys]
    gathered_keys = {id(tensor) for tensor in recording.log.map_sharded_ids_to_gathered_parameters().values()}
    parameters = [tensor for tensor in parameters if id(tensor) not in gathered_keys]
    return parameters if parameters or only_parameters else [tensor for _, tensor in leaves]


def collect_sources_meant_to_be_trained(recording: TorchRecording) -> SourcesByName:
    """Return the parameters that were trained in the block, keyed by name.

    These are the parameters of called modules, and the used leaves that are parameters or that an optimizer holds. If
    none of them requires a gradient, the other leaves that do are also returned.
    """
    log = recording.log
    sources = dict[str, Any]()
    named_tensors = [
        named_parameter
        for root in log.history.list_called_root_modules()
        for named_parameter in collect_parameters_by_model_name_and_path(root).items()
    ]
    is_any_trained = any(tensor.requires_grad for _, tensor in named_tensors)
    for tensor in _list_parameter_or_optimized_else_all_leaves(recording, only_parameters=is_any_trained):
        # Skip a tensor that was replaced in its module, because the explanation of its replacement covers the tensor.
        if tensor is not None and log.history.removal_sites.get(tensor) is None:
            named_tensors.append((find_access_path_in_program(tensor) or log.history.find_tensor_name(tensor), tensor))
    first_names = dict[int, tuple[str, Any]]()
    for name, tensor in named_tensors:
        first_names.setdefault(id(tensor), (name, tensor))
    for name, tensor in first_names.values():
        store_under_unused_name(sources, name, tensor)
    return sources


def find_access_path_in_program(searched_object: Any) -> str:
    """Return the expression by which the program accesses an object, or "" if none exists.

    The expression is a variable name, or an attribute or element of a variable's object, such as "net.layers[0]".
    """
    all_access_paths = get_or_build_shared_result(
        ("program", find_asking_or_innermost_user_frame()), lambda: [AccessPaths(list_all_named_program_objects())]
    )
    return find_first_access_path(all_access_paths, searched_object)


def read_weights_around_last_step(recording: TorchRecording, source: Tensor) -> tuple[OptionalArray, OptionalArray]:
    """Return a parameter's elements before and after the last step of an optimizer that holds it.

    Args:
        recording: The recording of the program.
        source: The parameter.

    Returns:
        Two float64 arrays, with None in place of an unknown array.
    """
    if not recording.log.run_watch.list_optimizer_account_of_each_step(source):
        return None, None
    rows = recording.log.list_leaf_rows(source)
    values = [to_float_array(recording.rows[row].value) for row in rows]
    if recording.log.find_current_row(source) is None and source.device.type == "cpu":
        values.append(np.asarray(to_numpy(source), np.float64))
    return (values[-2] if len(values) > 1 else None), (values[-1] if values else None)
