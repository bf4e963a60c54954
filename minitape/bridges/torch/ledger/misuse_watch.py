"""Find settings that have no effect, and frozen parameters that change."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.nn import Module

from ....engine.types import OptionalText
from ....explain.layer_lookup import iter_living_instances
from ....explain.reasons.program_text import list_binding_sites
from ....recording.sites import NOWHERE, Site, find_user_site
from ...run_watch.accounts import RunAccounts
from .tensor_accounts import TensorAccount

if TYPE_CHECKING:
    from .run_watch import FollowedOptimizer

# Attributes that programs set to freeze parameters. A program may read such an attribute itself, so it counts as a
# mistake only if the parameters are trained anyway.
FREEZING_NAMES = set(
    "requires_grad require_grad requires_gradient require_gradient required_grad require_grads requires_grads "
    "requires_grad_ require_grad_ trainable".split()
)
SETTINGS_STEP = 3  # By this step, every trained parameter has changed.


def mark_unoptimized_module_tensors_as_parameters(accounts: Collection[TensorAccount]) -> None:
    """Treat a module's plain tensors and buffers as parameters if nothing uses or clears their gradients.

    If no tensor of any optimizer got a gradient, an optimizer may hold a copy of a tensor instead of the tensor itself.
    Therefore, all other plain tensors also count as parameters.

    Args:
        accounts: The accounts of the leaves.
    """
    optimized = {each.got_gradient for each in accounts if each.optimizer_numbers}
    plain = [each for each in accounts if not (each.is_parameter or each.optimizer_numbers or each.route_counts)]
    owners = iter_living_instances(Module) if plain else ()
    held_keys = {id(value) for owner in owners for value in (*vars(owner).values(), *owner._buffers.values())}
    for account in plain:
        gradient = account.gradient
        is_held = account.key in held_keys or optimized == {False}
        account.is_parameter = is_held and gradient is not None and bool(gradient.any())


def record_update_if_parameter_is_frozen(
    accounts: RunAccounts, account: TensorAccount, followed: FollowedOptimizer
) -> None:
    """Record that a step changed a parameter although the parameter no longer requires a gradient.

    Args:
        accounts: The accounts of the run.
        account: The account of the parameter that has changed.
        followed: The watch's record of the optimizer.
    """
    tensor = account.tensor_ref()
    is_frozen = account.got_gradient and tensor is not None and not tensor.requires_grad
    # The parameter may have been frozen between the backward pass and the step.
    if is_frozen and account.used_by.count(followed.account.number) != 1:
        accounts.record_finding("frozen_moved", "", followed.account.creation_site, [account.key])


def record_if_closure_computed_no_gradient(accounts: RunAccounts, optimizer: Any, followed: FollowedOptimizer) -> None:
    """Record an LBFGS step whose closure computed no gradient, although a pass before the step had computed one.

    Args:
        accounts: The accounts of the run.
        optimizer: The optimizer that has stepped.
        followed: The watch's record of the optimizer.
    """
    # A closure that writes to .grad may compute the gradient itself.
    is_unedited = all(account.pending and not account.changes for account in followed.tensor_accounts)
    if optimizer.defaults.get("max_iter", 1) > 1 and is_unedited:
        accounts.record_finding("stale_value", "closure", followed.account.site)


def record_attributes_that_torch_never_reads(
    accounts: RunAccounts, optimizer: Any, followed: FollowedOptimizer
) -> None:
    """Record attributes that the program has set but that PyTorch does not read.

    Args:
        accounts: The accounts of the run.
        optimizer: An optimizer that is about to step.
        followed: The watch's record of that optimizer.
    """
    file, held = followed.account.creation_site[0], followed.tensor_accounts
    rate, used = vars(optimizer).get("lr"), optimizer.param_groups[0].get("lr")
    # An optimizer that the program itself defines may read the attribute.
    if rate not in (None, used) and type(optimizer).__module__.startswith("torch."):
        site = _find_assignment_site("lr", file)
        accounts.record_finding("no_effect", "optimizer", site, name="lr", one=used, two=rate)
    if followed.account.steps != SETTINGS_STEP:
        return
    trained = {
        account.key for account in held if account.moves[0] and account.read_current_parameter_facts().is_trainable
    }
    for owner in (*iter_living_instances(Module), *(account.tensor_ref() for account in held)):
        for name in FREEZING_NAMES & vars(owner).keys():
            parameters = owner.parameters() if isinstance(owner, Module) else [owner]
            keys = trained.intersection(map(id, parameters))
            if keys and vars(owner)[name] is False:
                accounts.record_finding("no_effect", "", _find_assignment_site(name, file), keys, name=name)


def _find_assignment_site(name: str, file: OptionalText) -> Site:
    """Return the first line in a file that assigns a value to an attribute."""
    return next(iter(list_binding_sites(file, f".{name}")), NOWHERE)


def load_state_and_record_if_from_same_module(
    accounts: RunAccounts, original: Callable, module: Module, state: Any, *args: Any, **kwargs: Any
) -> Any:
    """Load a state into a module, and record the call if the state consists of the module's own parameters.

    Args:
        accounts: The accounts of the run.
        original: The original function, ``load_state_dict``.
        module: The module.
        state: The state.
        *args: Further arguments for ``load_state_dict``.
        **kwargs: Keyword arguments for ``load_state_dict``.
    """
    parameters = dict(module.named_parameters())
    is_trained = any(id(each) in accounts.accounts for each in parameters.values()) and accounts.taken_step_count
    if is_trained and all(has_same_memory(parameters[name], state.get(name)) for name in parameters):
        accounts.record_finding("no_effect", "loaded", find_user_site(), what=type(module).__name__)
    return original(module, state, *args, **kwargs)


def has_same_memory(parameter: Tensor, other: Any) -> bool:
    """Return whether a parameter shares its memory with another tensor. A tensor without memory shares none."""
    return isinstance(other, Tensor) and parameter.data_ptr() == other.data_ptr() != 0
