"""What the program did with modules and their parameters: where each was made, frozen, replaced or copied."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch

from ...recording.sites import NOWHERE, Site, find_user_site
from ..kept_values import IdentityMap


class ParameterCopy(NamedTuple):
    """A deep copy of a parameter: of which, and where it was made."""

    original: weakref.ref[torch.Tensor]
    site: Site


class ParameterHistory:
    """The lines on which parameters became what they are."""

    def __init__(self) -> None:
        self.called_modules: list[weakref.ref[torch.nn.Module]] = []  # that the program called, and no other module
        self.tensor_names: IdentityMap[str] = IdentityMap()  # of parameters and buffers
        # parameters that copy.deepcopy made, of which, and where
        self.parameter_copies: IdentityMap[ParameterCopy] = IdentityMap()
        # where a module was given another parameter for it, or another layer
        self._removal_sites: IdentityMap[Site] = IdentityMap()
        self._insertions: list[tuple[weakref.ref, Site]] = []
        self.freezing_sites: IdentityMap[Site] = IdentityMap()  # where requires_grad was set to False

    def find_deep_copy_site(self, tensor: torch.Tensor | None, original: torch.Tensor) -> Site:
        """Return where a leaf was made, if it is a deep copy of a parameter, or of a copy of it."""
        sites = []
        while tensor is not original and (parameter_copy := self.parameter_copies.get(tensor)) is not None:
            tensor = parameter_copy.original()
            sites.append(parameter_copy.site)
        return sites[0] if sites and tensor is original else NOWHERE

    def note_replacement_in_module(self, old_part: Any, new_part: Any) -> None:
        """Note that a module has a new parameter or layer where an old one was."""
        for tensor in [old_part] if isinstance(old_part, torch.Tensor) else old_part.parameters():
            self._removal_sites[tensor] = find_user_site()
        self._insertions.append((weakref.ref(new_part), find_user_site()))

    def find_removal_site(self, tensor: torch.Tensor) -> Site:
        """Return where a module was given another parameter, or another layer, in the place of this one."""
        return self._removal_sites.get(tensor, NOWHERE)

    def find_insertion_site(self, tensor: torch.Tensor) -> Site:
        """Return where a module was given this parameter, or the layer that has it, in the place of another."""
        for ref, site in self._insertions:
            new = ref()
            if new is tensor or (
                isinstance(new, torch.nn.Module) and any(parameter is tensor for parameter in new.parameters())
            ):
                return site
        return NOWHERE

    def list_called_root_modules(self) -> list[torch.nn.Module]:
        """Return the modules that the block called, and that are part of no other of these."""
        modules = [module for ref in self.called_modules if (module := ref()) is not None]
        return [
            module
            for module in modules
            if not any(module is not other and module in other.modules() for other in modules)
        ]

    def find_root_module_and_path(self, parameter: torch.Tensor) -> tuple[torch.nn.Module | None, str]:
        """Return the called root module that has a parameter, and the path to it there; (None, "") if none has it."""
        paths = (
            (root, path)
            for root in self.list_called_root_modules()
            for path, candidate in root.named_parameters()
            if candidate is parameter
        )
        return next(paths, (None, ""))

    def find_tensor_name(self, tensor: torch.Tensor) -> str:
        """Return the name that its module has for a tensor, or "tensor"."""
        return self.tensor_names.get(tensor, "tensor")
