"""The history of modules and their parameters: where each was created, frozen, replaced or copied."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch

from ...recording.sites import NOWHERE, Site, find_user_site
from ..kept_values import IdentityMap


class ParameterCopy(NamedTuple):
    """A deep copy of a parameter.

    Attributes:
        original: A weak reference to the parameter that was copied.
        site: The line of the program that copied it.
    """

    original: weakref.ref[torch.Tensor]
    site: Site


class ParameterHistory:
    """The lines on which parameters were named, copied, replaced or frozen.

    Attributes:
        called_modules: The modules that the program called directly, not from another module.
        tensor_names: The name of each parameter and buffer in its module.
        parameter_copies: The original and the site of each parameter that ``copy.deepcopy`` created.
        freezing_sites: Where ``requires_grad`` of a tensor was set to False.
    """

    def __init__(self) -> None:
        """Start with an empty history."""
        self.called_modules: list[weakref.ref[torch.nn.Module]] = []
        self.tensor_names: IdentityMap[str] = IdentityMap()
        self.parameter_copies: IdentityMap[ParameterCopy] = IdentityMap()
        self._removal_sites: IdentityMap[Site] = IdentityMap()
        self._insertions: list[tuple[weakref.ref, Site]] = []
        self.freezing_sites: IdentityMap[Site] = IdentityMap()

    def find_deep_copy_site(self, tensor: torch.Tensor | None, original: torch.Tensor) -> Site:
        """Return where a leaf was copied, if it is a deep copy of ``original``, or a copy of such a copy.

        Args:
            tensor: The leaf that may be a copy; None is never a copy.
            original: The parameter that may have been copied.

        Returns:
            The site of the last copy in the chain; NOWHERE if the leaf is not a copy.
        """
        sites = []
        while tensor is not original and (parameter_copy := self.parameter_copies.get(tensor)) is not None:
            tensor = parameter_copy.original()
            sites.append(parameter_copy.site)
        return sites[0] if sites and tensor is original else NOWHERE

    def note_replacement_in_module(self, old_part: Any, new_part: Any) -> None:
        """Note that a module has a new parameter or layer in place of an old one.

        Args:
            old_part: The parameter or layer that was replaced.
            new_part: The parameter or layer that replaced it.
        """
        for tensor in [old_part] if isinstance(old_part, torch.Tensor) else old_part.parameters():
            self._removal_sites[tensor] = find_user_site()
        self._insertions.append((weakref.ref(new_part), find_user_site()))

    def find_removal_site(self, tensor: torch.Tensor) -> Site:
        """Return where a parameter, or the layer that has it, was replaced in its module; NOWHERE if it was not."""
        return self._removal_sites.get(tensor, NOWHERE)

    def find_insertion_site(self, tensor: torch.Tensor) -> Site:
        """Return where a parameter, or the layer that has it, replaced another in a module; NOWHERE if it did not."""
        for ref, site in self._insertions:
            new = ref()
            if new is tensor or (
                isinstance(new, torch.nn.Module) and any(parameter is tensor for parameter in new.parameters())
            ):
                return site
        return NOWHERE

    def list_called_root_modules(self) -> list[torch.nn.Module]:
        """Return the modules that the block called and that are not part of another such module."""
        modules = [module for ref in self.called_modules if (module := ref()) is not None]
        return [
            module
            for module in modules
            if not any(module is not other and module in other.modules() for other in modules)
        ]

    def find_root_module_and_path(self, parameter: torch.Tensor) -> tuple[torch.nn.Module | None, str]:
        """Return the called root module that has a parameter, and the path of the parameter in it.

        Returns:
            The module and the dotted path; (None, "") if no called module has the parameter.
        """
        paths = (
            (root, path)
            for root in self.list_called_root_modules()
            for path, candidate in root.named_parameters()
            if candidate is parameter
        )
        return next(paths, (None, ""))

    def find_tensor_name(self, tensor: torch.Tensor) -> str:
        """Return the name of a tensor in its module, or "tensor"."""
        return self.tensor_names.get(tensor, "tensor")
