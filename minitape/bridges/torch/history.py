"""What the program did with modules and their parameters: where each was made, frozen, replaced or copied."""

from __future__ import annotations

import weakref
from itertools import count
from typing import Any

import torch

from ...recording.sites import NOWHERE, Site, here, way_here
from ..kept_values import Noted


class TorchHistory:
    """The lines on which parameters became what they are."""

    def __init__(self) -> None:
        self.modules: list[weakref.ref[torch.nn.Module]] = []  # that the program called, and no other module
        self.names: Noted[str] = Noted()  # of parameters and buffers
        self.alone: list[weakref.ref[torch.Tensor]] = []  # parameters that no module was made with
        # the how many-th parameter one is, with all statements that ran then
        self.births: Noted[tuple] = Noted()
        self._count = count()
        self.copies: Noted[weakref.ref[torch.Tensor]] = Noted()  # parameters that copy.deepcopy made, and of which
        # where a module was given another parameter for it, or another layer
        self._replaced: Noted[tuple[Site, Any]] = Noted()
        self._replacements: list[tuple] = []
        self.required: Noted[Site] = Noted()  # where requires_grad was set to True
        self.frozen: Noted[Site] = Noted()  # where requires_grad was set to False

    def parameter(self, tensor: torch.Tensor, for_module: bool) -> None:
        """A parameter was made, for a module or alone."""
        if not for_module:
            self.alone.append(weakref.ref(tensor))
        self.births[tensor] = next(self._count), way_here()

    def frozen_at(self, tensor: torch.Tensor) -> Site:
        """Where requires_grad was set to False, or where the program made the parameter."""
        made = NOWHERE if tensor.requires_grad else self.born_at(tensor)[1][-1]
        return self.frozen.get(tensor, made)

    def born_at(self, tensor: torch.Tensor | None) -> tuple[int, list[Site]]:
        """The how many-th parameter a tensor is, and the statements that ran when it was made."""
        return self.births.get(tensor, (-1, [NOWHERE]))

    def copied_at(self, tensor: torch.Tensor | None, source: torch.Tensor) -> Site:
        """Where a leaf was made, if it is a deep copy of a parameter."""
        copied = self.copies.get(tensor)
        return self.born_at(tensor)[1][-1] if copied is not None and copied() is source else NOWHERE

    def replaced(self, old: Any, new: Any) -> None:
        """A module has another parameter or layer where this one was."""
        for tensor in [old] if isinstance(old, torch.Tensor) else old.parameters():
            self._replaced[tensor] = here(), new
        self._replacements.append((weakref.ref(new), here()))

    def replaced_at(self, tensor: torch.Tensor) -> tuple[Site, Any]:
        """Where that was, and by what."""
        return self._replaced.get(tensor, (NOWHERE, None))

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
