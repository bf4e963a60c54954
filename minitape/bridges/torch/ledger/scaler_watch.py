"""Keep track of what gradient scalers scale and unscale, and which steps they skip."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch._C import DisableTorchFunction
from torch.amp.grad_scaler import GradScaler

from ....engine.types import OptionalFloat
from ....recording.sites import find_user_site
from ...framework_patches import FrameworkPatches
from ...kept_values import IdentityMap
from ...run_watch.accounts import SKIPPED, UNSCALED, GradientChange, ScalerAccount

if TYPE_CHECKING:
    from ..kept_tensors import Tensors
    from .run_watch import TorchRunWatch


class ScalerWatch:
    """The hooks on ``GradScaler``.

    Attributes:
        watch: The watch that follows the run.
        is_stepping: Whether a scaler's ``step()`` is running.
    """

    def __init__(self, watch: TorchRunWatch):
        """Prepare to follow a run's scalers."""
        self.watch = watch
        self.is_stepping = False
        self._optimizer_stepped = False
        self._accounts = IdentityMap()
        self._scales = IdentityMap()  # The scale of each scaled loss.

    def install_hooks(self, patches: FrameworkPatches) -> None:
        """Wrap the methods of scalers.

        Args:
            patches: The collection of changes to PyTorch, to which these wrappers are added.
        """
        patches.wrap_functions(
            GradScaler,
            scale=self._scale_and_record_losses,
            unscale_=self._unscale_and_record_unscaling,
            step=self._step_and_record_skip,
            update=self._count_and_run_update,
        )

    def find_loss_scale(self, roots: Tensors) -> OptionalFloat:
        """Return the scale of the first scaled loss, or None if no loss was scaled.

        Args:
            roots: The losses of a backward pass.
        """
        scales = map(self._scales.get, roots)
        return next((scale for scale in scales if scale is not None), None)

    def record_that_optimizer_stepped(self) -> None:
        """Record that an optimizer takes a step, possibly inside a scaler's step."""
        self._optimizer_stepped = True

    def _find_or_open_account(self, scaler: GradScaler) -> ScalerAccount:
        account: ScalerAccount | None = self._accounts.get(scaler)
        if account is None:
            account = self._accounts[scaler] = ScalerAccount()
            self.watch.accounts.scalers.append(account)
        return account

    def _scale_and_record_losses(self, original: Callable, scaler: GradScaler, outputs: Any) -> Any:
        result = original(scaler, outputs)
        if scaler.is_enabled():
            account = self._find_or_open_account(scaler)
            account.scaled_losses += 1
            with DisableTorchFunction():
                scale = float(scaler.get_scale())
                account.scales = min(scale, account.scales[0]), max(scale, account.scales[1])
                for tensor in [result] if isinstance(result, torch.Tensor) else result:
                    self._scales[tensor] = scale
        return result

    def _unscale_and_record_unscaling(self, original: Callable, scaler: GradScaler, optimizer: Any) -> Any:
        result = original(scaler, optimizer)
        if scaler.is_enabled() and not self.watch.is_resting:
            with DisableTorchFunction():
                followed = self.watch.find_or_follow_optimizer(optimizer)
                self.watch.accounts.record_gradient_change(followed.tensor_accounts, GradientChange(UNSCALED))
                self.watch.remember_gradients(followed.tensor_accounts)
        return result

    def _step_and_record_skip(
        self, original: Callable, scaler: GradScaler, optimizer: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if not scaler.is_enabled():
            return original(scaler, optimizer, *args, **kwargs)
        account = self._find_or_open_account(scaler)
        account.site = find_user_site()
        followed = self.watch.find_or_follow_optimizer(optimizer)
        if not self.watch.is_resting:
            pending = [tensor_account.pending for tensor_account in followed.tensor_accounts]
            if any(each and each[-1].scale is None for each in pending):
                account.unscaled_passes += 1
        account.steps += 1
        self._optimizer_stepped, self.is_stepping = False, True
        try:
            result = original(scaler, optimizer, *args, **kwargs)
        finally:
            self.is_stepping = False
        if not self._optimizer_stepped:
            account.skipped += 1
            followed.account.skipped_steps += 1
            if not self.watch.is_resting:
                with DisableTorchFunction():
                    self.watch.record_use_and_list_accounts_with_gradient(followed, SKIPPED, account.site)
        return result

    def _count_and_run_update(self, original: Callable, scaler: GradScaler, *args: Any, **kwargs: Any) -> Any:
        self._find_or_open_account(scaler).updates += scaler.is_enabled()
        return original(scaler, *args, **kwargs)
