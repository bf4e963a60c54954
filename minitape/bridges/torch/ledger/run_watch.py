"""Follow the backward passes and optimizer steps of a run, and track its gradients.

The watch checks ``.grad`` before and after each event, and never intercepts an operation. A contribution is recognized
by the identity and version of ``.grad``, so parameters need no hooks and compiled code stays compiled.

To save time in a long run, the watch rests after ``FIRST_STEPS`` steps without a new route. A resting watch reads only
the losses, except in the few steps that it follows at intervals.
"""

import math
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._C import DisableTorchFunction
from torch.nn import Module, Parameter
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from ....common.translation import format_error
from ....engine.record.user_frames import find_user_frame
from ....engine.types import LIST_OR_TUPLE, OptionalFloat, OptionalFrame, Sizes
from ....recording.sites import (
    NOWHERE,
    CallStack,
    Site,
    find_user_call_stack,
    find_user_site,
    get_site_running_in_frame,
)
from ...framework_patches import FrameworkPatches
from ...kept_values import IdentityMap
from ...run_watch.accounts import (
    CLIPPED,
    REUSED,
    SKIPPED,
    STEPPED,
    ClipCalls,
    Contribution,
    GradientChange,
    OptimizerAccount,
    ParameterRegistration,
    RunAccounts,
)
from ...run_watch.schedules import TINY_RATE
from ..distributed_tensors import get_local_part
from ..global_hooks import add_global_hook
from ..kept_tensors import OptionalTensor, Tensors
from ..parameter_history import list_optimized_parameters
from .leaf_search import LeafSearch
from .misuse_watch import (
    load_state_and_record_if_from_same_module,
    mark_unoptimized_module_tensors_as_parameters,
    record_attributes_that_torch_never_reads,
    record_if_closure_computed_no_gradient,
    record_update_if_parameter_is_frozen,
)
from .scaler_watch import ScalerWatch
from .schedule_watch import ScheduleWatch
from .tensor_accounts import TensorAccount, TensorAccountList, WeightSample, measure_norms

if TYPE_CHECKING:
    from ..row_log import TorchLog

FIRST_STEPS = 64  # The watch rests after this many consecutive steps without a new route.
# Afterwards, the watch repeatedly follows the first number of steps and rests for the second number.
FOLLOWED_STEPS, RESTING_STEPS = 8, 56
FIRST_MEASURED_STEPS, MEASURED_EACH = 32, 8  # Norms are measured in the first steps, and then in every eighth step.
# Elements of the weights are sampled in the first steps, and then at this interval.
FIRST_SAMPLED_STEPS, SAMPLED_EACH = 8, 16
LATE_LOSSES = 8  # On devices other than the CPU, losses are read in groups, so that no pass waits for the device.


@dataclass(eq=False)
class FollowedOptimizer:
    """An optimizer that the watch follows.

    Attributes:
        account: The optimizer's account.
        tensor_accounts: The accounts of the optimizer's parameters.
    """

    account: OptimizerAccount
    tensor_accounts: TensorAccountList = field(default_factory=list)
    group_sizes: Sizes = ()
    passes_before: int = 0  # For a step with a closure, the number of backward passes before it.
    sample: WeightSample | None = None
    before: OptionalTensor = None  # The sampled elements before the current step.
    last_move: tuple[Tensor, Tensor] | None = None  # The sampled elements before and after the last step.


@dataclass(eq=False)
class WatchErrorGuard:
    """A context manager for the watch's own code. An error in that code ends the watch, but not the program.

    Attributes:
        accounts: The accounts that store the error.
    """

    accounts: RunAccounts

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, error_class: object, error: object, traceback: object) -> bool:
        """Store and suppress an error, but let Ctrl-C through."""
        if isinstance(error, Exception):
            self.accounts.watch_error = self.accounts.watch_error or format_error(error)
        return isinstance(error, Exception)


class TorchRunWatch:
    """Keeps a PyTorch program's accounts while the program runs.

    Attributes:
        tensor_accounts: The accounts of the leaves, by key.
        accounts: The accounts of the run.
        errors: The context manager for the watch's own code.
        patches: The changes to PyTorch.
        leaf_search: The object that searches for leaves and their names.
        follows_all: Whether every step is followed and measured.
        measures: Whether gradients and updates are measured. Measuring makes a step wait for the device, so nothing is
            measured during a recording.
        on_pass: A function that is called with the pass's number after each backward pass.
        failure: The last error raised by a backward pass or ``autograd.grad``, or None if there was none.
        norms_by_pass: For each pass in ``measured_passes``, the norms of the gradients that the pass reached, by key.
        measured_passes: The numbers of the passes whose gradients are measured as soon as the pass ends.
    """

    def __init__(
        self,
        follows_all: bool = False,
        on_pass: Callable[[int], object] | None = None,
        log: "TorchLog | None" = None,
    ):
        """Prepare to watch a run.

        Args:
            follows_all: Whether to follow and measure every step.
            on_pass: A function to call after each backward pass with the pass's number.
            log: The log of the recording that the watch belongs to, or None for a watch without a recording.
        """
        self.tensor_accounts: dict[int, TensorAccount] = {}
        self.accounts = RunAccounts(self.tensor_accounts)
        self.errors = WatchErrorGuard(self.accounts)
        self.patches = FrameworkPatches()
        self.leaf_search = LeafSearch()
        self.follows_all, self.on_pass, self.measures = follows_all, on_pass, log is None
        self._log = log
        self.failure: Exception | None = None
        self.norms_by_pass: dict[int, dict[int, float]] = {}
        self.measured_passes: frozenset[int] = frozenset()
        self._scaler_watch = ScalerWatch(weakref.proxy(self))
        self._optimizers = IdentityMap()
        self._stepped_on: dict[int, set[int]] = {}  # For each pass, the optimizers whose steps used its gradients.
        self._backward_depth = self._closure_depth = 0
        self._resting_passes, self._has_rested = 0, False
        self._rest_ending_stacks = set[tuple[Site, ...]]()
        self._steps_without_new_route = self._known_route_count = 0
        self._input_keys = set[int]()  # The keys of the inputs whose derivatives the program requests.
        self._late_losses: list[tuple[Tensor, OptionalFloat, Site, int]] = []
        self._last_pause = NOWHERE
        self._optimizer_stack: CallStack = []  # The lines that were running when the last optimizer was created.

    # -- the block ---------------------------------------------------------------------------------

    def start_watching(self) -> None:
        """Start following the program."""
        patches = self.patches
        patches.activate_in_this_thread()
        run_backward, clip = self._run_backward_and_record_pass, self._record_and_clip_gradients
        clear = self._record_and_clear_gradients
        patches.wrap_functions(Tensor, backward=run_backward)
        patches.wrap_functions(torch.autograd, backward=run_backward, grad=self._count_and_run_gradient_call)
        patches.wrap_functions(torch.optim.Optimizer, __init__=self._create_and_follow_optimizer, zero_grad=clear)
        for owner in (nn.utils, nn.utils.clip_grad):
            patches.wrap_functions(owner, clip_grad_norm_=clip, clip_grad_value_=clip)
        patches.wrap_functions(torch.set_grad_enabled, __init__=self._record_pause_and_switch_grad_mode)
        load_state = partial(load_state_and_record_if_from_same_module, self.accounts)
        patches.wrap_functions(Module, zero_grad=clear, load_state_dict=load_state)
        self._scaler_watch.install_hooks(patches)
        ScheduleWatch(self).install_hooks(patches)
        for registry, hook in (
            (optimizers._global_optimizer_pre_hooks, self._record_coming_step_and_sample_weights),
            (optimizers._global_optimizer_post_hooks, self._record_updates_and_rest_if_no_route_is_new),
            (modules._global_parameter_registration_hooks, self._record_parameter_registration),
        ):
            add_global_hook(patches, hook, registry)

    def stop_watching(self) -> None:
        """Stop following the program, and complete the accounts."""
        self.patches.undo_all()
        with DisableTorchFunction(), self.errors:
            self._record_waiting_losses_and_first_nonfinite()
            accounts = self._close_gone_accounts_and_list_others()
            for account in accounts:
                account.record_gradient_changes_by_program(self.accounts)
            mark_unoptimized_module_tensors_as_parameters(
                [account for account in accounts if account.key not in self._input_keys]
            )

    @property
    def is_resting(self) -> bool:
        """Whether the watch follows no steps, because it is resting or because an error ended it."""
        return self._resting_passes > 0 or bool(self.accounts.watch_error)

    def list_optimizer_account_of_each_step(self, tensor: Tensor) -> list[OptimizerAccount]:
        """Return the accounts of the optimizers that hold a tensor, listing each account once per optimizer step.

        Args:
            tensor: The tensor.
        """
        optimizers = self.accounts.list_optimizers_of(self.find_or_open_account(tensor))
        return [optimizer for optimizer in optimizers for _ in range(optimizer.steps)]

    def find_name(self, key: int) -> str:
        """Return the program's name for a parameter, or "" if no name is known.

        Args:
            key: The key of the parameter.
        """
        registration = self.accounts.registrations.get(key)
        return self.leaf_search.names.get(key) or ("" if registration is None else registration.name)

    # -- accounts ----------------------------------------------------------------------------------

    def find_or_open_account(self, tensor: Tensor) -> TensorAccount:
        """Return a leaf's account, opening one if necessary.

        Args:
            tensor: The leaf.
        """
        account = self.tensor_accounts.get(id(tensor))
        if account is None or account.tensor_ref() is not tensor:
            account = self.tensor_accounts[id(tensor)] = TensorAccount(tensor)
        return account

    def _list_known_accounts(self, tensors: Iterable[Tensor]) -> TensorAccountList:
        """Return the accounts of the given leaves, skipping any leaf without an account."""
        accounts = (self.tensor_accounts.get(id(tensor)) for tensor in tensors)
        return [account for account in accounts if account is not None]

    def _close_gone_accounts_and_list_others(self) -> TensorAccountList:
        """Return the accounts of all leaves that still exist, and close the accounts of the others."""
        gone = [account for account in self.tensor_accounts.values() if account.tensor_ref() is None]
        for account in gone:
            if account.optimizer_numbers:
                continue
            registration = self.accounts.registrations.pop(account.key, None)
            if registration is not None and account.pending:
                place = registration.site, registration.name
                self.accounts.lost_registrations[place] += 1
            del self.tensor_accounts[account.key]
        return [account for account in self.tensor_accounts.values() if account.tensor_ref() is not None]

    def remember_gradients(self, accounts: Iterable[TensorAccount]) -> None:
        """Remember the current gradients of the given accounts.

        Args:
            accounts: The accounts.
        """
        for account in accounts:
            gradient = account.gradient
            if gradient is not None:
                account.remember_gradient_to_notice_changes(gradient)

    def _forget_all_contributions(self) -> None:
        """Forget the current contributions to the gradients, because the watch did not follow their history."""
        for account in self._close_gone_accounts_and_list_others():
            account.forget_pending_contributions()
            account.remember_gradient_to_notice_changes(account.gradient)

    # -- backward passes ---------------------------------------------------------------------------

    def _run_backward_and_record_pass(self, original: Callable, *args: Any, **kwargs: Any) -> Any:
        if self._backward_depth or torch.compiler.is_dynamo_compiling():
            return original(*args, **kwargs)
        given = args[0] if args else kwargs.get("tensors")
        roots = [given] if isinstance(given, Tensor) else list(given or ())
        frame = None if self.is_resting else find_user_frame(sys._getframe(2))
        site = get_site_running_in_frame(frame)
        if not self.is_resting:
            with DisableTorchFunction(), self.errors:
                self._open_accounts_and_record_gradient_changes(roots, site, frame)
        self.accounts.passes += 1
        self.accounts.paused_at = NOWHERE if torch.is_grad_enabled() else self._last_pause
        self._backward_depth += 1
        try:
            result = original(*args, **kwargs)
        except Exception as error:
            self.failure = error
            raise
        finally:
            self._backward_depth -= 1
        with DisableTorchFunction(), self.errors:
            scale = self._scaler_watch.find_loss_scale(roots)
            if not self.is_resting:
                self._add_contribution_where_gradient_changed(Contribution(self.accounts.passes, site, scale))
            self._store_loss_and_record_waiting_losses_if_due(roots, scale, site)
            if self.is_resting:
                self._resting_passes -= 1
                if not self.is_resting:
                    self._steps_without_new_route = 0
                    self.leaf_search.allow_one_more_search_of_each_line()
                    self._forget_all_contributions()
        if self.on_pass is not None:
            self.on_pass(self.accounts.passes)
        return result

    def _count_and_run_gradient_call(
        self, original: Callable, outputs: Any, inputs: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if not self._backward_depth:
            self.accounts.gradient_calls += 1
        self._input_keys.update(map(id, inputs if isinstance(inputs, LIST_OR_TUPLE) else [inputs]))
        try:
            return original(outputs, inputs, *args, **kwargs)
        except Exception as error:
            self.failure = error
            raise

    def _open_accounts_and_record_gradient_changes(self, roots: Tensors, site: Site, frame: OptionalFrame) -> None:
        """Open accounts for the leaves that the pass will reach, and inspect all gradients before the pass.

        Args:
            roots: The tensors at which the pass begins.
            site: The line that starts the pass.
            frame: The program's frame.
        """
        if not self.measures:
            frame = None  # The recording already finds the names of its leaves.
        for leaf in self.leaf_search.list_leaves_reached_by_pass_if_due(
            roots, site, frame, self.tensor_accounts.__contains__
        ):
            self.find_or_open_account(leaf)
        for account in self._close_gone_accounts_and_list_others():
            account.record_gradient_changes_by_program(self.accounts)

    def _add_contribution_where_gradient_changed(self, contribution: Contribution) -> None:
        """Add a contribution to the accounts of all leaves whose ``.grad`` was changed by the pass.

        Args:
            contribution: The pass's contribution.
        """
        alone = (contribution,)
        # Accounts with the same contributions share one tuple.
        extended: dict[int, tuple[tuple[Contribution, ...], ...]] = {}
        for account in self.tensor_accounts.values():
            tensor = account.tensor_ref()
            gradient = account.gradient
            if tensor is None or gradient is None or account.is_gradient_remembered(gradient):
                continue
            account.remember_gradient_to_notice_changes(gradient)
            pending = account.pending
            if not pending:
                account.pending, account.tensor_version = alone, tensor._version
                account.remember_weights_if_gradient_was_lost_before(tensor)
                if not account.got_gradient:
                    copy = None if self._log is None else self._log.find_value(tensor)
                    account.remember_weights_at_first_gradient(tensor, copy)
                continue
            self._record_leftover_if_only_other_optimizers_stepped(account, pending[-1], contribution)
            if id(pending) not in extended:
                extended[id(pending)] = pending, (*pending, contribution)
            account.pending = extended[id(pending)][1]
        if contribution.pass_number in self.measured_passes:
            self._store_norms_of_gradients_reached_by(contribution)
        if contribution.pass_number > 3 and not self._optimizers:
            self._record_norms_and_compute_finite_total_norm(
                self._list_accounts_reached_by(contribution), contribution.site
            )

    def _list_accounts_reached_by(self, contribution: Contribution) -> TensorAccountList:
        return [
            account for account in self._close_gone_accounts_and_list_others() if contribution in account.pending[-1:]
        ]

    def _store_norms_of_gradients_reached_by(self, contribution: Contribution) -> None:
        """Store the norms of the gradients that a pass reached.

        Args:
            contribution: The pass's contribution.
        """
        self.norms_by_pass[contribution.pass_number] = {
            account.key: float(gradient.double().norm())
            for account in self._list_accounts_reached_by(contribution)
            if (gradient := account.gradient) is not None
        }

    def _record_leftover_if_only_other_optimizers_stepped(
        self, account: TensorAccount, old_contribution: Contribution, new_contribution: Contribution
    ) -> None:
        """Record a pass that adds to a leftover gradient if the earlier loss's optimizer does not hold the parameter.

        Args:
            account: The account.
            old_contribution: The last contribution that the gradient already contained.
            new_contribution: The contribution of the pass.
        """
        if old_contribution.site == new_contribution.site or account.used_by:
            return
        if not account.optimizer_numbers.issuperset(self._stepped_on.get(old_contribution.pass_number, ())):
            key = old_contribution.site, new_contribution.site, account.key
            self.accounts.sent_by_another[key] = None

    def _store_loss_and_record_waiting_losses_if_due(self, roots: Tensors, scale: OptionalFloat, site: Site) -> None:
        if not roots:
            return
        root = roots[0].detach()
        value = root if root.numel() == 1 else root.sum()
        self._late_losses.append((value, scale, site, self.accounts.passes))
        if value.device.type == "cpu" or len(self._late_losses) >= LATE_LOSSES:
            self._record_waiting_losses_and_first_nonfinite()

    def _record_waiting_losses_and_first_nonfinite(self) -> None:
        late_losses, self._late_losses = self._late_losses, []
        for tensor, scale, site, pass_number in late_losses:
            value = float(tensor.real) if tensor.is_complex() else float(tensor)
            self.accounts.losses.append(value)
            # A scaled loss may overflow, and the scaler detects this itself.
            if math.isnan(value) or (math.isinf(value) and scale is None):
                self.accounts.nonfinite_losses += 1
                first_pass = min(self.accounts.last_finite_pass + 1, pass_number)
                self.accounts.record_nonfinite_if_first_in_run("loss", site, first_pass)

    # -- between backward pass and step ------------------------------------------------------------

    def _create_and_follow_optimizer(self, original: Callable, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        original(optimizer, *args, **kwargs)
        site = find_user_site()
        self._optimizer_stack = find_user_call_stack()
        self._end_rest_if_lines_are_new(self._optimizer_stack)
        self.accounts.optimizer_sites.append(site)
        with DisableTorchFunction():
            self.find_or_follow_optimizer(optimizer).account.creation_site = site

    def _record_parameter_registration(self, module: Any, name: str, parameter: Any) -> None:
        if type(parameter) is not Parameter:
            return
        stack = find_user_call_stack() or [NOWHERE]
        registration = ParameterRegistration(
            stack[-1], f"{type(module).__name__}.{name}", self._find_line_in_optimizer_creator(stack)
        )
        self.accounts.registrations[id(parameter)] = registration
        self.leaf_search.pass_counts.clear()  # The next passes may reach the new parameter.
        self._end_rest_if_lines_are_new(stack)

    def _end_rest_if_lines_are_new(self, stack: CallStack) -> None:
        """End the watch's rest after the next pass, unless the same lines have ended a rest before.

        A program may create a layer or an optimizer in each step. If each of them ended the rest, the watch would
        follow every step.

        Args:
            stack: The lines that are running, outermost first.
        """
        lines = tuple(stack)
        if self._resting_passes and lines not in self._rest_ending_stacks:
            self._rest_ending_stacks.add(lines)
            self._resting_passes = 1

    def _find_line_in_optimizer_creator(self, stack: CallStack) -> Site:
        """Return the line now running in the function that created the last optimizer, or NOWHERE if there is none.

        If a module's ``forward`` is running, return the innermost line, because the module itself creates parameters.

        Args:
            stack: The lines that are running, outermost first.
        """
        if not self._optimizer_stack:
            return NOWHERE
        frame: OptionalFrame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_name == "forward":
                return stack[-1]
            frame = frame.f_back
        pairs = zip(stack, self._optimizer_stack, strict=False)
        return next((site for site, optimizer_site in pairs if site != optimizer_site), stack[-1])

    def _record_pause_and_switch_grad_mode(self, original: Callable, switch: Any, mode: bool) -> None:
        if not mode and torch.is_grad_enabled():
            self._last_pause = find_user_site()
        original(switch, mode)

    def _record_and_clear_gradients(self, original: Callable, owner: Any, *args: Any, **kwargs: Any) -> Any:
        """Record that an optimizer or a module clears its gradients."""
        if self.is_resting or torch.compiler.is_dynamo_compiling():
            return original(owner, *args, **kwargs)
        site = find_user_site()
        accounts: Sequence[TensorAccount] = ()
        with DisableTorchFunction(), self.errors:
            if isinstance(owner, Module):
                accounts = self._list_known_accounts(owner.parameters())
            else:
                followed = self.find_or_follow_optimizer(owner)
                followed.account.clearing_site = site
                accounts = followed.tensor_accounts
            for account in accounts:
                tensor = account.tensor_ref()
                if account.pending and tensor is not None:
                    account.record_gradient_changes_by_program(self.accounts)
                    if self._closure_depth:  # The step has already read the gradients that its closure clears.
                        account.forget_pending_contributions()
                    self.accounts.record_cleared_gradient(
                        account, site, account.count_lost_gradient_and_check_if_leaf_changed(tensor)
                    )
        result = original(owner, *args, **kwargs)
        with DisableTorchFunction():
            self.remember_gradients(accounts)
        return result

    def _record_and_clip_gradients(
        self, original: Callable, parameters: Any, limit: float, *args: Any, **kwargs: Any
    ) -> Any:
        if self.is_resting or torch.compiler.is_dynamo_compiling():
            return original(parameters, limit, *args, **kwargs)
        site = find_user_site()
        given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
        clipped = list[TensorAccount]()
        with DisableTorchFunction(), self.errors:
            clipped = self._record_clip_and_list_accounts_with_gradient(given, site, limit)
        result = original(given, limit, *args, **kwargs)
        with DisableTorchFunction():
            self.accounts.record_gradient_change(clipped, GradientChange(CLIPPED, site))
            self.remember_gradients(clipped)
        return result

    def _record_clip_and_list_accounts_with_gradient(
        self, parameters: Tensors, site: Site, limit: float
    ) -> TensorAccountList:
        """Record a gradient-clipping call, and return the accounts of the clipped gradients.

        Args:
            parameters: The parameters that the call received.
            site: The line of the call.
            limit: The largest norm or value that the call allows.
        """
        calls = self.accounts.clips.setdefault(site, ClipCalls())
        calls.calls += 1
        calls.without_parameters += not parameters
        calls.without_gradients += bool(parameters) and all(parameter.grad is None for parameter in parameters)
        clipped = [account for account in self._list_known_accounts(parameters) if account.pending]
        for account in clipped:
            account.record_gradient_changes_by_program(self.accounts)
        # If the limit is infinite, the program only measures the norm.
        are_used = [bool(account.used_by) for account in clipped]
        calls.after_step += limit < inf and any(are_used) and all(are_used)
        scales = [
            account.pending[-1].scale
            for account in clipped
            if account.pending and not any(change.kind == "unscaled" for change in account.changes)
        ]
        scale = next((scale for scale in scales if scale is not None), None)
        if scale is not None and scale != 1.0:
            calls.before_unscaling += 1
            calls.scale = scale
        return clipped

    # -- steps -------------------------------------------------------------------------------------

    def find_or_follow_optimizer(self, optimizer: Any) -> FollowedOptimizer:
        """Return the record kept for an optimizer, and start following the optimizer if it is new.

        Args:
            optimizer: The optimizer.
        """
        followed: FollowedOptimizer | None = self._optimizers.get(optimizer)
        if followed is None:
            account = OptimizerAccount(len(self.accounts.optimizers) + 1, type(optimizer).__name__)
            account.chosen_rate = float(optimizer.defaults.get("lr") or inf)
            self.accounts.optimizers.append(account)
            followed = self._optimizers[optimizer] = FollowedOptimizer(account)
        group_sizes = tuple([len(group["params"]) for group in optimizer.param_groups])
        if group_sizes != followed.group_sizes:
            followed.group_sizes, followed.sample = group_sizes, None
            tensors = list_optimized_parameters(optimizer)
            epsilon = optimizer.defaults.get("eps")
            if isinstance(epsilon, float) and any(tensor.dtype is torch.float16 for tensor in tensors):
                followed.account.half_epsilon = epsilon
            followed.tensor_accounts = [self.find_or_open_account(tensor) for tensor in tensors]
            followed.account.accounts = [*followed.tensor_accounts]
            for tensor_account in followed.tensor_accounts:
                tensor_account.optimizer_numbers.add(followed.account.number)
        return followed

    def _record_coming_step_and_sample_weights(self, optimizer: Any, args: tuple, kwargs: dict) -> None:
        self._scaler_watch.record_that_optimizer_stepped()
        followed: FollowedOptimizer | None = self._optimizers.get(optimizer)
        if self.is_resting:
            if followed is not None:
                followed.account.steps += 1
                with DisableTorchFunction():
                    self._record_learning_rates(followed.account, optimizer)
                return
            self._resting_passes = 0  # A new optimizer leads to new routes, so the watch must not rest yet.
            with DisableTorchFunction(), self.errors:
                self._forget_all_contributions()
        with DisableTorchFunction(), self.errors:
            followed = self.find_or_follow_optimizer(optimizer)
            followed.account.site = find_user_site()
            if _has_closure(args, kwargs):
                self._closure_depth += 1
                followed.passes_before = self.accounts.passes
            else:
                self._record_step(followed, optimizer)
            is_sampled = self.follows_all or _is_measurement_due(
                followed.account.steps, FIRST_SAMPLED_STEPS, SAMPLED_EACH
            )
            if is_sampled and self.measures:
                self._sample_before_step_and_count_undone_moves(followed)
                record_attributes_that_torch_never_reads(self.accounts, optimizer, followed)

    def _record_updates_and_rest_if_no_route_is_new(self, optimizer: Any, args: tuple, kwargs: dict) -> None:
        if self.is_resting:
            return
        with DisableTorchFunction(), self.errors:
            followed = self.find_or_follow_optimizer(optimizer)
            if _has_closure(args, kwargs):
                self._closure_depth = 0
                self._record_step(followed, optimizer)
                if followed.passes_before == self.accounts.passes:
                    record_if_closure_computed_no_gradient(self.accounts, optimizer, followed)
            self._record_update_ratios_after_step(followed)
            self._start_rest_if_no_route_is_new()

    def _record_step(self, followed: FollowedOptimizer, optimizer: Any) -> None:
        account = followed.account
        self._record_learning_rates(account, optimizer)
        account.steps += 1
        account.followed_steps += 1
        used = self.record_use_and_list_accounts_with_gradient(followed, STEPPED, account.site)
        is_due = self.follows_all or _is_measurement_due(account.steps, FIRST_MEASURED_STEPS, MEASURED_EACH)
        # If the optimizer is fused, the scaler calls it even after finding an infinite gradient.
        is_checked_by_scaler = self._scaler_watch.is_stepping and hasattr(optimizer, "_step_supports_amp_scaling")
        if is_due and not is_checked_by_scaler:
            account.norms.append(self._record_norms_and_compute_finite_total_norm(used, account.site))

    def _record_learning_rates(self, account: OptimizerAccount, optimizer: Any) -> None:
        rates = [group.get("lr", 1.0) for group in optimizer.param_groups]
        if self.is_resting and not all(isinstance(rate, float) for rate in rates):
            return  # Reading a tensor would make the step wait for the device.
        rates = [float(rate) for rate in rates]
        if max(rates) > account.rates[1]:
            account.peak_step = account.steps
        account.rates = min(account.rates[0], *rates), max(account.rates[1], *rates)
        account.zero_rate_steps = 0 if any(rates) else account.zero_rate_steps + 1
        account.tiny_rate_steps += max(rates) < TINY_RATE * account.rates[1]

    def record_use_and_list_accounts_with_gradient(
        self, followed: FollowedOptimizer, fate: str, site: Site
    ) -> TensorAccountList:
        """Record that a step uses or skips the gradients of an optimizer's parameters.

        Args:
            followed: The optimizer.
            fate: ``STEPPED`` or ``SKIPPED``.
            site: The line of the step.

        Returns:
            The accounts of the parameters that have a gradient.
        """
        number, has_new_gradient, used = followed.account.number, False, list[TensorAccount]()
        # Gradients take the same route if their accounts share the tuples of contributions and changes.
        route_numbers = {}
        for account in followed.tensor_accounts:
            gradient = account.gradient
            account.record_gradient_changes_by_program(self.accounts)
            if gradient is None:
                continue
            if account.pending:
                has_new_gradient = True
                is_reused = number in account.used_by
                key = id(account.pending), id(account.changes), is_reused
                if key not in route_numbers:
                    actual_fate = REUSED if is_reused and fate == STEPPED else fate
                    route_numbers[key] = self.accounts.find_or_add_route_number(account, actual_fate, site, number)
                    for contribution in account.pending:
                        contribution.is_finite &= fate != SKIPPED
                        self._stepped_on.setdefault(contribution.pass_number, set()).add(number)
                account.route_counts[route_numbers[key]] += 1
                account.used_by = (*account.used_by, number)
            if gradient.layout is torch.strided and get_local_part(gradient).numel():
                used.append(account)
        followed.account.empty_steps += fate == STEPPED and not has_new_gradient
        for pass_number in list(self._stepped_on)[:-256]:
            del self._stepped_on[pass_number]
        return used

    def _record_norms_and_compute_finite_total_norm(self, accounts: TensorAccountList, site: Site) -> float:
        """Measure the gradients of the given accounts, and record the first non-finite gradient.

        Args:
            accounts: The accounts.
            site: The line that uses the gradients.

        Returns:
            The total norm of all finite gradients.
        """
        measured = [(account, gradient) for account in accounts if (gradient := account.gradient) is not None]
        if not (measured and self.measures):
            return 0.0
        nonfinite_accounts = list[TensorAccount]()
        norms = measure_norms([gradient for _, gradient in measured])
        for (account, _), norm in zip(measured, norms, strict=True):
            if isfinite(norm):
                account.record_gradient_norm(norm)
            else:
                nonfinite_accounts.append(account)
        total = math.hypot(*filter(isfinite, norms))
        if not nonfinite_accounts:
            self.accounts.last_finite_pass = self.accounts.passes
            return total
        for contribution in nonfinite_accounts[0].pending:
            contribution.is_finite = False
        passes = [contribution.pass_number for account in nonfinite_accounts for contribution in account.pending]
        first_pass = min([*passes, self.accounts.passes, self.accounts.last_finite_pass + 1])
        self.accounts.record_nonfinite_if_first_in_run("gradient", site, first_pass)
        return total

    def _sample_before_step_and_count_undone_moves(self, followed: FollowedOptimizer) -> None:
        if followed.sample is None or not followed.sample.shares_memory_with_parameters:
            followed.sample, followed.last_move = WeightSample(followed.tensor_accounts), None
        followed.before = followed.sample.read_elements()
        if followed.before is None or followed.last_move is None:
            return
        parts = map(followed.sample.split_elements, (followed.before, *followed.last_move))
        for account, now, old, moved in zip(followed.sample.accounts, *parts, strict=True):
            was_undone = torch.equal(now, old) and not torch.equal(old, moved)
            account.undone_moves = account.undone_moves + 1 if was_undone else 0

    def _record_update_ratios_after_step(self, followed: FollowedOptimizer) -> None:
        """Compare the sampled weight elements with their values before the step."""
        before, sample = followed.before, followed.sample
        followed.before = followed.last_move = None
        after = None if before is None or sample is None else sample.read_elements()
        if before is None or sample is None or after is None or before.shape != after.shape:
            return
        if followed.account.steps < FIRST_SAMPLED_STEPS:
            followed.last_move = before, after
        if not isfinite(float(after.sum())):
            self._record_first_nonfinite_weight(followed)
            return
        updates = measure_norms(sample.split_elements(after - before))
        weights = measure_norms(sample.split_elements(before))
        for account, update, weight in zip(sample.accounts, updates, weights, strict=True):
            if update > 0:
                account.record_update_ratio(update / weight if weight else 0.0)
                record_update_if_parameter_is_frozen(self.accounts, account, followed)

    def _record_first_nonfinite_weight(self, followed: FollowedOptimizer) -> None:
        tensors = (account.tensor_ref() for account in followed.tensor_accounts)
        if not all(tensor is None or bool(torch.isfinite(tensor).all()) for tensor in tensors):
            self.accounts.record_nonfinite_if_first_in_run("weight", followed.account.site)

    def _start_rest_if_no_route_is_new(self) -> None:
        """Let the watch rest for the next passes if no new route has appeared in enough consecutive steps."""
        self._steps_without_new_route += 1
        if len(self.accounts.route_numbers) != self._known_route_count:
            self._known_route_count, self._steps_without_new_route = len(self.accounts.route_numbers), 0
        enough = FOLLOWED_STEPS if self._has_rested else FIRST_STEPS
        if self._steps_without_new_route >= enough and not self.follows_all and self.accounts.anomaly is None:
            passes_per_step = max(1, round(self.accounts.passes / max(1, self.accounts.taken_step_count)))
            self._resting_passes, self._has_rested = RESTING_STEPS * passes_per_step, True


def _has_closure(args: tuple, kwargs: dict) -> bool:
    return (args[1] if len(args) > 1 else kwargs.get("closure")) is not None


def _is_measurement_due(steps: int, first_steps: int, interval: int) -> bool:
    return steps <= first_steps or steps % interval == 0
