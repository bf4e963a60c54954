"""Write the last line of the page about a run. This line states how much of the run was observed.

The line begins with "Healthy:" only if no problem was observed. Otherwise, the line begins with "Observed:".
"""

from collections.abc import Callable, Collection

from ...common.grouping import group_values_by_key
from ...explain.reasons.suspects import format_step_count
from ...explain.translated_sentences import fill, format_range
from ..model_page import join_parameter_names
from .accounts import Account, RunAccounts

ROUNDING_NORM = 1e-7  # A gradient that changes no weight and has a smaller norm than this is a rounding error.
ABSURD_NORM = 1e8  # A run with a gradient norm above this limit is never called healthy.
MAX_NAMES = 3  # The maximum number of parameters to name in each group.


def summarize_run(
    run: RunAccounts, find_name: Callable[[int], str], keys_with_findings: Collection[int], is_problem_free: bool
) -> str:
    """Return the summary of a run.

    Args:
        run: The accounts of the run.
        find_name: Returns the program's name for the parameter with a given key.
        keys_with_findings: The keys of the parameters that have findings.
        is_problem_free: Whether there are no findings and the program ended without an error.
    """
    if not run.passes:
        return fill("Nothing was observed, because the program ran no backward pass.")
    groups = _group_trained_accounts_by_what_is_missing(run, keys_with_findings)
    well = groups.pop("", [])
    count = sum(map(len, groups.values())) + len(well) + len(keys_with_findings)
    sentences = [_describe_pass_and_step_counts(run), _describe_healthy_accounts(well, count)]
    for lack, accounts in groups.items():
        names = join_parameter_names([find_name(account.key) or "?" for account in accounts][:MAX_NAMES])
        more = fill(" and {n} more", n=len(accounts) - MAX_NAMES) if len(accounts) > MAX_NAMES else ""
        sentences.append(f"{names}{more}: {lack}")
    if run.nonfinite_losses:
        sentences.append(fill("{n} losses were NaN or infinite", n=run.nonfinite_losses))
    if run.watch_error:
        sentences.append(fill("an error in minitape ended the watch ({error})", error=run.watch_error))
    text = fill("; ").join(sentences)
    is_finite = not run.nonfinite_losses and run.anomaly is None
    is_finite = is_finite and max([account.norms[1] for account in well], default=0.0) < ABSURD_NORM
    is_healthy = is_problem_free and well and is_finite and not run.watch_error
    return fill("Healthy: {what}.", what=text) if is_healthy else fill("Observed: {what}.", what=text)


def _group_trained_accounts_by_what_is_missing(
    run: RunAccounts, keys_with_findings: Collection[int]
) -> dict[str, list[Account]]:
    """Return the accounts of trained parameters that have no findings, grouped by the gradient or update they lack."""
    return group_values_by_key(
        (_describe_missing_gradient_or_update(account), account)
        for account in run.accounts.values()
        if _is_meant_to_be_trained(account) and account.key not in keys_with_findings
    )


def _is_meant_to_be_trained(account: Account) -> bool:
    """Return whether the program trains a leaf, rather than only differentiating with respect to it."""
    facts = account.read_current_parameter_facts()
    is_input = not facts.is_parameter and account.is_unchanged_since_first_gradient()
    has_gradient = account.got_gradient and not is_input
    return not facts.is_on_other_processes and bool(account.optimizer_numbers or has_gradient)


def _describe_pass_and_step_counts(run: RunAccounts) -> str:
    """Describe how many backward passes ran, and how many optimizer steps were taken, followed and skipped."""
    taken, skipped = run.taken_step_count, run.skipped_step_count
    passes = fill("1 backward pass") if run.passes == 1 else fill("{n} backward passes", n=run.passes)
    if not taken:
        text = fill("{passes} and no optimizer step", passes=passes)
    else:
        text = fill("{passes} and {steps}", passes=passes, steps=format_step_count(taken))
    followed = sum(optimizer.followed_steps for optimizer in run.optimizers)
    if followed < taken:
        text += fill(" ({n} of them followed in full)", n=followed)
    if skipped:
        text += fill(", {n} skipped by GradScaler", n=skipped)
    return text


def _describe_healthy_accounts(accounts: list[Account], total_count: int) -> str:
    """Return the number of changed parameters with finite gradients, and the ranges of their norms and updates."""
    if not accounts:
        return fill("no parameter is known to be healthy ({all} in all)", all=total_count)
    text = fill(
        "{n} of {all} parameters got a finite gradient and changed (norm {norm}",
        n=len(accounts),
        all=total_count,
        norm=format_range(
            min(account.norms[0] for account in accounts), max(account.norms[1] for account in accounts), ".2g"
        ),
    )
    moves = [account.moves for account in accounts if account.moves[0]]
    if moves:
        ratio = format_range(min(move[1] for move in moves), max(move[2] for move in moves), ".2g")
        text += fill(", update/weight {ratio}", ratio=ratio)
    return text + fill(")")


def _describe_missing_gradient_or_update(account: Account) -> str:
    """Describe the missing gradient or update of a parameter, or return "" if nothing is missing.

    Args:
        account: The account of the parameter.
    """
    facts = account.read_current_parameter_facts()
    if facts.is_gone:
        return fill("no longer used by the program")
    if not facts.is_trainable:
        return fill("no gradient is requested")
    if not account.got_gradient:
        return fill("got no gradient")
    if not account.norms:
        return fill("no optimizer step used the gradient")
    if account.norms[1] == 0:
        return fill("the gradient is zero")
    if account.moves[0]:
        return ""
    if account.norms[1] < ROUNDING_NORM:
        return fill("the gradient is only rounding error, with a norm of at most {norm:.1g}", norm=account.norms[1])
    return fill("did not change") if account.is_unchanged_since_first_gradient() else ""
