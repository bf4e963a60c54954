"""Keep accounts of a run: what each backward pass added to a gradient, and what happened to the gradient then.

Counts are kept for each route, and not for each contribution, so that memory does not grow with the run. A route says
which lines gave the contributions, what was done to the gradient, and how it ended.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...recording.sites import NOWHERE, Site

# The fates of a gradient.
STEPPED = "stepped"  # An optimizer step used it.
REUSED = "reused"  # A step of the same optimizer used it again.
SKIPPED = "skipped"  # A gradient scaler skipped the step.
CLEARED = "cleared"  # It was cleared, and no step had used it.
CLEARED_NONFINITE = "cleared_nonfinite"  # The same, and it was not finite.
CONSUMED = "consumed"  # The program changed the parameter itself before the gradient was cleared.
LEFT = "left"  # It was there when the run ended.

# What may be done to a gradient between its backward pass and its step.
CLIPPED, UNSCALED, EDITED = "clipped", "unscaled", "edited"


class Contribution:
    """What one backward pass added to gradients. All parameters that the pass reached share it.

    Attributes:
        pass_number: The number of the backward pass, counted from 1.
        site: The line that called the backward pass.
        scale: The factor by which a gradient scaler multiplied the loss; None without a scaler.
        is_finite: False once the gradient is known to contain NaN or infinity.
    """

    __slots__ = ("pass_number", "site", "scale", "is_finite")

    def __init__(self, pass_number: int, site: Site, scale: float | None = None) -> None:
        """Create the contribution of a backward pass."""
        self.pass_number, self.site, self.scale, self.is_finite = pass_number, site, scale, True


class Act(NamedTuple):
    """Something that was done to a gradient.

    Attributes:
        kind: ``CLIPPED``, ``UNSCALED`` or ``EDITED``.
        site: The line that did it; NOWHERE if it is not known.
    """

    kind: str
    site: Site = NOWHERE


class Route(NamedTuple):
    """The way of gradients that came from the same lines and had the same fate.

    Attributes:
        pass_sites: The lines of the backward passes that are summed in the gradient, in the order of time.
        acts: What was done to the gradient.
        fate: One of the fates above.
        site: The line at which the fate was decided.
        optimizer_number: The number of the optimizer whose step it was; 0 for other fates.
    """

    pass_sites: tuple[Site, ...]
    acts: tuple[Act, ...]
    fate: str
    site: Site
    optimizer_number: int


@dataclass(slots=True)
class Occurrences:
    """How often something happened, and in which backward pass it happened first and last."""

    count: int
    first_pass: int
    last_pass: int


class ParameterFacts(NamedTuple):
    """What is known of a parameter.

    Attributes:
        is_gone: Whether the program has dropped it.
        is_trainable: Whether the program wants a gradient for it.
        is_parameter: Whether the framework counts it as a parameter of a model, and not as a plain tensor.
        dtype_name: The name of its dtype.
    """

    is_gone: bool
    is_trainable: bool
    is_parameter: bool
    dtype_name: str


class Account:
    """The account of one parameter.

    A framework's subclass also knows the parameter itself.

    Attributes:
        key: The identity of the parameter.
        pending: The contributions that are in the gradient now. Accounts share these tuples.
        acts: What was done to the gradient since it was last empty.
        used_by: The numbers of the optimizers whose steps used the pending contributions.
        occurrences: How often each route was taken, by the number of the route.
        norms: The smallest, the largest and the last norm of the gradients that steps used; empty without one.
        moves: In how many sampled steps the parameter changed, and the smallest and the largest update divided by the
            norm of the parameter.
        undone_moves: How often in a row a step's update was gone before the next step.
        optimizer_numbers: The numbers of the optimizers that hold the parameter.
        got_gradient: Whether a backward pass gave the parameter a gradient.
    """

    __slots__ = (
        "key",
        "pending",
        "acts",
        "used_by",
        "occurrences",
        "norms",
        "moves",
        "undone_moves",
        "optimizer_numbers",
        "got_gradient",
    )

    def __init__(self, key: int) -> None:
        """Open the account of a parameter."""
        self.key = key
        self.pending: tuple[Contribution, ...] = ()
        self.acts: tuple[Act, ...] = ()
        self.used_by: tuple[int, ...] = ()
        self.occurrences: dict[int, Occurrences] = {}
        self.norms: list[float] = []
        self.moves: tuple[int, float, float] = (0, 0.0, 0.0)
        self.undone_moves = 0
        self.optimizer_numbers: set[int] = set()
        self.got_gradient = False

    def read_facts(self) -> ParameterFacts:
        """Return what is known of the parameter now.

        Returns:
            The facts about the parameter.
        """
        raise NotImplementedError

    def is_unchanged(self) -> bool:
        """Compare the parameter with its first state.

        Returns:
            Whether every element is as it was when the parameter got its first gradient.
        """
        raise NotImplementedError

    def note_norm(self, norm: float) -> None:
        """Note the norm of a gradient that a step uses.

        Args:
            norm: The norm.
        """
        self.norms = [min(norm, self.norms[0]), max(norm, self.norms[1]), norm] if self.norms else [norm] * 3

    def note_move(self, ratio: float) -> None:
        """Note that a step changed the parameter.

        Args:
            ratio: The norm of the update, divided by the norm of the parameter.
        """
        count, smallest, largest = self.moves
        self.moves = count + 1, min(smallest, ratio) if count else ratio, max(largest, ratio)

    def forget_pending(self) -> None:
        """Forget what is in the gradient now."""
        self.pending, self.acts, self.used_by = (), (), ()


@dataclass
class OptimizerAccount:
    """What an optimizer did.

    Attributes:
        number: The number of the optimizer, counted from 1.
        kind: The name of its class.
        site: The line of its last step.
        made_at: The line that created it; NOWHERE if it was created before the watch.
        cleared_at: The line of its last ``zero_grad()``.
        steps: The number of its steps.
        empty_steps: The number of followed steps that found no new gradient.
        skipped_steps: The number of steps that a gradient scaler skipped.
        zero_rate_steps: The number of steps in a row whose learning rate was 0.
        followed_steps: The number of steps whose gradients were looked at.
        rates: The smallest and the largest learning rate.
        accounts: The accounts of its parameters.
    """

    number: int
    kind: str
    site: Site = NOWHERE
    made_at: Site = NOWHERE
    cleared_at: Site = NOWHERE
    steps: int = 0
    empty_steps: int = 0
    skipped_steps: int = 0
    zero_rate_steps: int = 0
    followed_steps: int = 0
    rates: tuple[float, float] = (math.inf, 0.0)
    accounts: list[Account] = field(default_factory=list)


@dataclass
class ClipCalls:
    """The calls of one line that clips gradients.

    Attributes:
        calls: The number of calls.
        without_parameters: How many of them were given no parameters at all.
        without_gradients: How many found no gradient.
        before_unscaling: How many found gradients that were still multiplied by a scale.
        scale: The last such scale.
    """

    calls: int = 0
    without_parameters: int = 0
    without_gradients: int = 0
    before_unscaling: int = 0
    scale: float = 1.0


@dataclass
class ScalerAccount:
    """What a gradient scaler did.

    Attributes:
        site: The line of its last step.
        scaled_losses: The number of losses that it scaled.
        steps: The number of its steps.
        skipped: How many of them it skipped, because a gradient was not finite.
        updates: The number of calls of its ``update()``.
        unscaled_passes: The number of its steps that used a backward pass whose loss it had not scaled.
        scales: The smallest and the largest scale.
    """

    site: Site = NOWHERE
    scaled_losses: int = 0
    steps: int = 0
    skipped: int = 0
    updates: int = 0
    unscaled_passes: int = 0
    scales: tuple[float, float] = (math.inf, 0.0)


class Anomaly(NamedTuple):
    """The first number of the run that is not finite.

    Attributes:
        kind: "loss", "gradient" or "weight".
        pass_number: The backward pass at which it was seen.
        first_pass: The first backward pass that may have caused it. All earlier ones are known to be finite.
        site: The line at which it was seen.
        keys: The keys of the parameters that are concerned.
    """

    kind: str
    pass_number: int
    first_pass: int
    site: Site
    keys: tuple[int, ...] = ()


class Birth(NamedTuple):
    """Where a parameter became a part of a module.

    Attributes:
        site: The line.
        name: The class of the module and the name in it, such as "Linear.weight".
        optimizers_before: How many optimizers had been created before.
    """

    site: Site
    name: str
    optimizers_before: int


class RunAccounts:
    """The accounts of a whole run.

    Attributes:
        accounts: The accounts of the parameters, by key.
        optimizers: The accounts of the optimizers, in the order in which they were first seen.
        scalers: The accounts of the gradient scalers.
        clips: The calls that clip gradients, by line.
        passes: The number of backward passes so far.
        losses: The value at which each backward pass began.
        nonfinite_losses: How many of them were NaN or infinite, apart from those that a scaler scaled.
        sent_by_another: (older line, newer line, key) -> how often a pass was added to what another loss had left in a
            gradient, after an optimizer without this parameter had stepped on the older pass.
        births: Where parameters became parts of modules, by key.
        lost_births: (line, name) -> how many parameters that were made on a line got a gradient that no step used, and
            are gone.
        optimizer_sites: The lines that created optimizers, in the order of time.
        anomaly: The first number that is not finite; None if all were.
        paused_at: The line that switched gradients off for good; NOWHERE if they are on.
        last_finite_pass: The last backward pass at which all gradients are known to be finite.
        route_numbers: The number of each route that a gradient has taken.
    """

    def __init__(self, accounts: Mapping[int, Account]) -> None:
        """Open the accounts of a run.

        Args:
            accounts: The accounts of the parameters, by key. The framework's watch adds them.
        """
        self.accounts = accounts
        self.optimizers: list[OptimizerAccount] = []
        self.scalers: list[ScalerAccount] = []
        self.clips: dict[Site, ClipCalls] = {}
        self.passes = 0
        self.losses = array("d")
        self.nonfinite_losses = 0
        self.sent_by_another: dict[tuple[Site, Site, int], int] = {}
        self.births: dict[int, Birth] = {}
        self.lost_births: dict[tuple[Site, str], int] = {}
        self.optimizer_sites: list[Site] = []
        self.anomaly: Anomaly | None = None
        self.paused_at: Site = NOWHERE
        self.last_finite_pass = 0
        self.route_numbers: dict[Route, int] = {}

    # -- routes ------------------------------------------------------------------------------------

    def find_route_number(self, account: Account, fate: str, site: Site, optimizer_number: int = 0) -> int:
        """Return the number of the route that the gradient of an account takes.

        Args:
            account: The account.
            fate: What becomes of the gradient.
            site: The line at which that is decided.
            optimizer_number: The number of the optimizer that decides it, if one does.
        """
        pass_sites = tuple([contribution.site for contribution in account.pending])
        route = Route(pass_sites, account.acts, fate, site, optimizer_number)
        return self.route_numbers.setdefault(route, len(self.route_numbers))

    def count_route(self, account: Account, route_number: int) -> None:
        """Count that the gradient of an account took a route.

        Args:
            account: The account.
            route_number: The number of the route.
        """
        occurrences = account.occurrences.get(route_number)
        if occurrences is None:
            account.occurrences[route_number] = Occurrences(1, self.passes, self.passes)
        else:
            occurrences.count += 1
            occurrences.last_pass = self.passes

    def iter_routes(self, account: Account) -> Iterator[tuple[Route, Occurrences]]:
        """Yield the routes that gradients of an account took, and how often.

        Args:
            account: The account.
        """
        routes = list(self.route_numbers)
        return ((routes[number], occurrences) for number, occurrences in account.occurrences.items())

    def clear_gradient(self, account: Account, site: Site, was_consumed: bool = False) -> None:
        """Note that the gradient of an account was cleared.

        Args:
            account: The account.
            site: The line that cleared it; NOWHERE if it is not known.
            was_consumed: Whether the program has changed the parameter itself since the gradient came.
        """
        if account.pending and not account.used_by:
            fate = CLEARED
            if was_consumed:
                fate = CONSUMED
            elif not all(contribution.is_finite for contribution in account.pending):
                fate = CLEARED_NONFINITE
            self.count_route(account, self.find_route_number(account, fate, site))
        account.forget_pending()

    def note_act(self, accounts: Iterable[Account], act: Act) -> None:
        """Note that something was done to the gradients of accounts.

        Args:
            accounts: The accounts.
            act: What was done.
        """
        extended: dict[int, tuple[Act, ...]] = {}  # Accounts share their tuples.
        for account in accounts:
            if account.pending and act not in account.acts:
                key = id(account.acts)
                if key not in extended:
                    extended[key] = (*account.acts, act)
                account.acts = extended[key]

    def count_remaining_gradients(self) -> None:
        """Count the gradients that are left at the end of the run."""
        for account in self.accounts.values():
            if account.pending and not account.used_by:
                self.count_route(account, self.find_route_number(account, LEFT, NOWHERE))

    def note_anomaly(self, kind: str, site: Site, first_pass: int | None = None, keys: Iterable[int] = ()) -> None:
        """Note a number that is not finite, unless there was one before.

        Args:
            kind: "loss", "gradient" or "weight".
            site: The line at which it was seen.
            first_pass: The first backward pass that may have caused it; None for the current one.
            keys: The keys of the parameters that are concerned.
        """
        if self.anomaly is None:
            first = self.passes if first_pass is None else first_pass
            self.anomaly = Anomaly(kind, self.passes, max(1, first), site, tuple(keys))

    # -- reading -----------------------------------------------------------------------------------

    def list_optimizers_of(self, account: Account) -> list[OptimizerAccount]:
        """Return the optimizers that hold the parameter of an account.

        Args:
            account: The account.
        """
        return [self.optimizers[number - 1] for number in sorted(account.optimizer_numbers)]

    def count_fates(self, account: Account, *fates: str) -> int:
        """Return how often the gradient of an account had one of some fates.

        Args:
            account: The account.
            *fates: The fates to count.
        """
        return sum(occurrences.count for route, occurrences in self.iter_routes(account) if route.fate in fates)

    def count_steps(self) -> tuple[int, int]:
        """Count the steps of all optimizers.

        Returns:
            The number of steps that were taken, and the number of those that gradient scalers skipped.
        """
        taken = sum(optimizer.steps for optimizer in self.optimizers)
        return taken, sum(optimizer.skipped_steps for optimizer in self.optimizers)
