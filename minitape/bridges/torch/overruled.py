"""Remove problems that were found in the recorded steps but disproved by the whole run."""

from collections.abc import Collection, Mapping

from ...explain.causes import get_kind_or_error_kind
from ..run_watch.accounts import SKIPPED, Account, RunAccounts
from ..run_watch.report import ProblemGroup, ProblemGroupList


def remove_problems_disproved_by_whole_run(
    groups: ProblemGroupList,
    accounts: RunAccounts,
    keys_by_name: Mapping[str, int],
    keys_with_early_gradients: Collection[int],
) -> ProblemGroupList:
    """Return the problems that still stand after the whole run.

    A non-finite or cleared gradient is not a problem if a gradient scaler skipped its step. A parameter that got no
    gradient in the first steps is not a problem if a later step used its gradient, because its training may begin late.
    A parameter whose copy was used is not a problem in this case either, because a program may assign the copy's
    gradients to the parameter. A program that calls ``autograd.grad`` does not need to call ``backward()``.

    Args:
        groups: The problems found in the recorded steps.
        accounts: The accounts of the whole run.
        keys_by_name: For each parameter name used in the problems, the key of the parameter.
        keys_with_early_gradients: The keys of the parameters that got a gradient in the recorded steps.
    """
    kept = []
    for group in groups:
        if group.cause == "no_backward" and accounts.gradient_calls:
            continue
        names = []
        for name in group.names:
            account = accounts.accounts.get(keys_by_name.get(name, 0))
            if account is None or not _is_disproved_by_run(
                group, account, accounts, account.key in keys_with_early_gradients
            ):
                names.append(name)
        if names or not group.names:
            kept.append(group._replace(names=names))
    return kept


def _is_disproved_by_run(
    group: ProblemGroup, account: Account, accounts: RunAccounts, had_early_gradient: bool
) -> bool:
    """Return whether the run's accounts show that a parameter does not have the problem after all."""
    if group.kind == "nonfinite":
        return accounts.skipped_step_count > 0 and accounts.nonfinite_losses == 0
    if group.cause == "grad_cleared":
        return accounts.count_gradients_with_fates(account, SKIPPED) > 0
    was_only_late = not had_early_gradient and not get_kind_or_error_kind(group.cause).has_gradient
    can_be_overruled = was_only_late or group.kind == "unused" or group.cause == "rebound"
    return can_be_overruled and max(account.norms, default=0) > 0
