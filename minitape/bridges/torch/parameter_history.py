"""Keep the history of modules and parameters: their names, and the lines that froze, replaced or copied them."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from torch import Tensor
from torch.nn import Module

from ...common.shared_results import get_or_build_shared_result
from ...explain.caller import collect_asking_variables
from ...recording.sites import NOWHERE, Site, find_user_site
from ..kept_values import IdentityMap
from ..model_page import store_under_unused_name
from .kept_tensors import OptionalTensor, Tensors


class ParameterCopy(NamedTuple):
    """A deep copy of a parameter.

    Attributes:
        original: A weak reference to the parameter that was copied.
        site: The program line that copied the parameter.
    """

    original: weakref.ref[Tensor]
    site: Site


class ParameterHistory:
    """The names of parameters, and the lines that copied, replaced or froze them.

    Attributes:
        called_modules: The modules that the program called directly rather than from another module, keyed by name.
        tensor_names: Each parameter's and buffer's name in its module.
        parameter_copies: For each parameter created by ``copy.deepcopy``, its original and the line that copied it.
        removal_sites: For each parameter that was replaced, alone or with its layer, the line that replaced it.
        freezing_sites: For each tensor, the last line that set its ``requires_grad`` to False.
        constant_fill_sites: For each tensor, the last line that set all its elements to the same value in place.
        conversion_sites: For each parameter, the last line that converted it to a different dtype.
    """

    def __init__(self) -> None:
        """Start with an empty history."""
        self.called_modules: dict[str, weakref.ref[Module]] = {}
        self.tensor_names = IdentityMap()
        self.parameter_copies = IdentityMap()
        self.removal_sites = IdentityMap()
        self._insertions: list[tuple[weakref.ref, Site]] = []
        self.freezing_sites = IdentityMap()
        self.constant_fill_sites = IdentityMap()
        self.conversion_sites = IdentityMap()

    def find_last_deep_copy_site(self, tensor: OptionalTensor, original: Tensor) -> Site:
        """Return the line of the last copy in the chain of copies from ``original`` to a leaf.

        Args:
            tensor: The possible copy. None is never a copy.
            original: The possible original.

        Returns:
            The site of the last copy in the chain, or NOWHERE if the leaf is not a copy.
        """
        sites = []
        while tensor is not original and (parameter_copy := self.parameter_copies.get(tensor)) is not None:
            tensor = parameter_copy.original()
            sites.append(parameter_copy.site)
        return sites[0] if sites and tensor is original else NOWHERE

    def record_replacement_in_module(self, old_part: Any, new_part: Any) -> None:
        """Record that a new parameter or layer replaced an old one in a module.

        Args:
            old_part: The parameter or layer that was replaced.
            new_part: The parameter or layer that replaced it.
        """
        for tensor in [old_part] if isinstance(old_part, Tensor) else old_part.parameters():
            self.removal_sites[tensor] = find_user_site()
        self._insertions.append((weakref.ref(new_part), find_user_site()))

    def find_site_of_insertion_as_replacement(self, tensor: Tensor) -> Site:
        """Return the line that inserted a parameter or its layer in place of another, or NOWHERE if no line did."""
        for ref, site in self._insertions:
            new = ref()
            if new is tensor or (
                isinstance(new, Module) and any(parameter is tensor for parameter in new.parameters())
            ):
                return site
        return NOWHERE

    def find_or_add_called_module(self, module: Module) -> str:
        """Return the name of a module that the program calls directly, and add the module if it is new.

        The name is the module's variable name in the calling function, or else the module's class name. A number
        distinguishes modules with the same name.

        Args:
            module: The module.
        """
        for name, ref in self.called_modules.items():
            if ref() is module:
                return name
        # A search of the whole program would find more names, but it may take half a second in each recorded step.
        variables = collect_asking_variables()
        name = next((name for name, value in variables.items() if value is module), type(module).__name__)
        return store_under_unused_name(self.called_modules, name, weakref.ref(module))

    def list_called_root_modules(self) -> list[Module]:
        """Return the called modules that are not part of another called module."""
        modules = [module for ref in self.called_modules.values() if (module := ref()) is not None]
        parts = {part for module in modules for part in module.modules() if part is not module}
        return [module for module in modules if module not in parts]

    def find_called_root_module_and_path(self, parameter: Tensor) -> tuple[Module | None, str]:
        """Return the called root module that contains a parameter, and the parameter's path in that module.

        Returns:
            The module and the dotted path, or (None, "") if no called module contains the parameter.
        """
        locations = get_or_build_shared_result(
            ("locations of parameters", id(self)),
            lambda: {
                candidate: (root, path)
                # If several root modules contain a parameter, the first one counts.
                for root in reversed(self.list_called_root_modules())
                for path, candidate in root.named_parameters()
            },
        )
        return locations.get(parameter, (None, ""))

    def find_tensor_name(self, tensor: Tensor) -> str:
        """Return the name of a tensor in its module, or "tensor" if the name is not known."""
        return self.tensor_names.get(tensor, "tensor")


def list_optimized_parameters(optimizer: Any) -> Tensors:
    """Return the parameters that an optimizer updates.

    Args:
        optimizer: The optimizer.
    """
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]
