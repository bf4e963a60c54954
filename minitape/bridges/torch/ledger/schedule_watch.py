"""Follow learning-rate schedules, and the modes of layers that behave differently during evaluation."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from traceback import walk_stack
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._C import DisableTorchFunction
from torch.nn import Module
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim.lr_scheduler import LRScheduler

from ....engine.record.user_frames import find_user_frame
from ....recording.sites import Site, find_user_site, get_site_running_in_frame
from ...framework_patches import FrameworkPatches
from ...kept_values import IdentityMap
from ...run_watch.schedules import LayerModeAccount, ScheduleAccount
from ..global_hooks import show_warning_at_program_line

if TYPE_CHECKING:
    from .run_watch import TorchRunWatch

LAYER_CLASSES = (_BatchNorm, nn.Dropout)
MODULE_CALL = Module.__call__


class ScheduleWatch:
    """The hooks on schedules, and on normalization and dropout layers.

    Attributes:
        watch: The watch that follows the run.
    """

    def __init__(self, watch: TorchRunWatch):
        """Prepare to follow a run's schedules and layers."""
        self.watch = watch
        self._layer_patches = FrameworkPatches()
        self._schedules = IdentityMap()
        self._modes = IdentityMap()

    def install_hooks(self, patches: FrameworkPatches) -> None:
        """Wrap the methods of schedules and layers.

        Args:
            patches: The collection of changes to PyTorch, to which these wrappers are added.
        """
        patches.wrap_function(LRScheduler, "step", self._step_and_record_schedule)
        patches.wrap_function(warnings, "showwarning", show_warning_at_program_line)
        patches.wrap_function(Module, "train", self._record_and_switch_mode)
        patches.wrap_function(torch, "compile", self._stop_following_layers_and_compile)
        patches.add_undo_action(self._layer_patches.undo_all)
        self._layer_patches.activate_in_this_thread()
        for layer_class in LAYER_CLASSES:
            self._layer_patches.wrap_function(layer_class, "__call__", self._count_and_run_layer_call)

    def _stop_following_layers_and_compile(self, original: Callable, *args: Any, **kwargs: Any) -> Any:
        """Stop following layers, because the compiler would compile the wrappers as well."""
        self._layer_patches.undo_all()
        return original(*args, **kwargs)

    def _step_and_record_schedule(self, original: Callable, schedule: LRScheduler, *args: Any, **kwargs: Any) -> None:
        rates = [group["lr"] for group in schedule.optimizer.param_groups]
        original(schedule, *args, **kwargs)
        site = find_user_site()
        account = self._schedules.get(schedule)
        if account is None:  # A schedule calls its own step once when it is created.
            period = int(getattr(schedule, "total_steps", 0) or getattr(schedule, "T_max", 0))
            with DisableTorchFunction():
                optimizer = self.watch.find_or_follow_optimizer(schedule.optimizer).account
            account = self._schedules[schedule] = ScheduleAccount(
                optimizer, type(schedule).__name__, site, period, site
            )
            self.watch.accounts.schedules.append(account)
        else:
            account.calls += 1
            account.site = site
        new_rates = [group["lr"] for group in schedule.optimizer.param_groups]
        with DisableTorchFunction():
            # A schedule may call another schedule, which has then already set the rates.
            if new_rates not in (rates, account.optimizer.scheduled_rates):
                account.optimizer.scheduled_rates, account.optimizer.rate_schedule = new_rates, account

    def _find_or_open_layer_mode_account(self, layer: Module) -> LayerModeAccount:
        mode = self._modes.get(layer)
        if mode is None:
            mode = self._modes[layer] = LayerModeAccount(type(layer).__name__)
            self.watch.accounts.layer_modes.append(mode)
        return mode

    def _record_and_switch_mode(self, original: Callable, module: Module, *args: Any, **kwargs: Any) -> Any:
        if isinstance(module, LAYER_CLASSES):
            self._find_or_open_layer_mode_account(module).switching_site = find_user_site()
        return original(module, *args, **kwargs)

    def _count_and_run_layer_call(self, original: Callable, layer: Any, *args: Any, **kwargs: Any) -> Any:
        if Module.__call__ is not MODULE_CALL:
            return Module.__call__(layer, *args, **kwargs)  # torch.fx replaces this method while it traces a model.
        if layer.p > 0 if isinstance(layer, nn.Dropout) else layer.affine and layer.weight.requires_grad:
            mode = self._find_or_open_layer_mode_account(layer)
            if not layer.training:
                mode.fixed_calls += torch.is_grad_enabled() and not _is_called_by_module_in_training_mode()
            elif torch.is_grad_enabled():
                mode.trained_calls += 1
                mode.fixed_calls = 0
            else:
                mode.unrecorded_calls += 1
                mode.site = _find_line_outside_forward_methods()
        elif layer.training and not isinstance(layer, nn.Dropout) and layer.affine and layer.track_running_stats:
            mode = self._find_or_open_layer_mode_account(layer)
            mode.frozen_calls += 1
            mode.site = _find_line_outside_forward_methods()
        return original(layer, *args, **kwargs)


def _is_called_by_module_in_training_mode() -> bool:
    """Return whether a layer is called by a module in training mode.

    If the layer itself is in evaluation mode, the program must have chosen this mode for the layer alone.
    """
    return any(
        frame.f_code.co_name == "forward" and getattr(frame.f_locals.get("self"), "training", False)
        for frame, _ in walk_stack(sys._getframe())
    )


def _find_line_outside_forward_methods() -> Site:
    """Return the line now running in the program's innermost function that is not a module's ``forward``."""
    frame = find_user_frame(sys._getframe(1))
    while frame is not None and frame.f_code.co_name == "forward":
        frame = find_user_frame(frame.f_back)
    return get_site_running_in_frame(frame)
