"""What the program did with modules and their parameters: where each was made, frozen, replaced or copied."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from ...recording.sites import NOWHERE, Site, here
from ..kept_values import Noted


class TorchHistory:
    """The lines on which parameters became what they are."""

    def __init__(self) -> None:
        self.modules: list[weakref.ref[torch.nn.Module]] = []  # that the program called, and no other module
        self.names: Noted[str] = Noted()  # of parameters and buffers
        # parameters that copy.deepcopy made, of which, and where
        self.copies: Noted[tuple[weakref.ref[torch.Tensor], Site]] = Noted()
        # where a module was given another parameter for it, or another layer
        self._replaced: Noted[Site] = Noted()
        self._replacements: list[tuple] = []
        self.frozen: Noted[Site] = Noted()  # where requires_grad was set to False

    def copied_at(self, tensor: torch.Tensor | None, source: torch.Tensor) -> Site:
        """Where a leaf was made, if it is a deep copy of a parameter, or of a copy of it."""
        sites = []
        while tensor is not source and (copy := self.copies.get(tensor)) is not None:
            tensor = copy[0]()
            sites.append(copy[1])
        return sites[0] if sites and tensor is source else NOWHERE

    def replaced(self, old: Any, new: Any) -> None:
        """A module has another parameter or layer where this one was."""
        for tensor in [old] if isinstance(old, torch.Tensor) else old.parameters():
            self._replaced[tensor] = here()
        self._replacements.append((weakref.ref(new), here()))

    def replaced_at(self, tensor: torch.Tensor) -> Site:
        """Where that was."""
        return self._replaced.get(tensor, NOWHERE)

    def replacement_of(self, tensor: torch.Tensor) -> Site:
        """Where a module was given a parameter, or the layer that has it, in the place of another."""
        for ref, site in self._replacements:
            new = ref()
            if new is tensor or (isinstance(new, torch.nn.Module) and any(p is tensor for p in new.parameters())):
                return site
        return NOWHERE

    def roots(self) -> list[torch.nn.Module]:
        """The modules that the block called, and that are part of no other of these."""
        modules = [module for ref in self.modules if (module := ref()) is not None]
        return [module for module in modules if not any(module is not m and module in m.modules() for m in modules)]

    def path_of(self, parameter: torch.Tensor) -> tuple[torch.nn.Module | None, str]:
        """The module among these that has a parameter, and the path to it there."""
        paths = ((root, path) for root in self.roots() for path, p in root.named_parameters() if p is parameter)
        return next(paths, (None, ""))

    def name_of(self, tensor: torch.Tensor) -> str:
        """The name that its module has for it, or "tensor"."""
        return self.names.get(tensor, "tensor")
