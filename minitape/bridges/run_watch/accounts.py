"""Track what each backward pass in a run added to gradients, and what happened to the gradients afterwards.

Gradients are counted per route instead of per contribution, so that memory use does not grow during the run. A route
consists of the lines that contributed to the gradient, the changes made to it, and its fate.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.types import FloatList, OptionalFloat, OptionalNumber
from ...recording.sites import NOWHERE, Site
from .run_finding import RunFinding

if TYPE_CHECKING:
    from .schedules import LayerModeAccount, ScheduleAccount

# The possible fates of a gradient.
STEPPED = "stepped"  # An optimizer step used the gradient.
REUSED = "reused"  # The same optimizer used the gradient in a second step.
SKIPPED = "skipped"  # A gradient scaler skipped the step.
CLEARED = "cleared"  # No step used the gradient before it was cleared.
# No step used the gradient before it was cleared, and the gradient was not finite.
CLEARED_NONFINITE = "cleared_nonfinite"
CONSUMED = "consumed"  # The program itself changed the parameter before the gradient was cleared.
LEFT = "left"  # The gradient has not been used or cleared yet.

# The changes that may be made to a gradient between its backward pass and its step.
CLIPPED = "clipped"
UNSCALED = "unscaled"
EDITED = "edited"


@dataclass(slots=True, eq=False)
class Contribution:
    """One backward pass's contribution to gradients, shared by all parameters that the pass reached.

    Attributes:
        pass_number: The number of the backward pass, counted from 1.
        site: The line that called the backward pass.
        scale: The factor by which a gradient scaler multiplied the loss, or None if no scaler was used.
        is_finite: False once the gradient is known to contain NaN or infinity.
    """

    pass_number: int
    site: Site
    scale: OptionalFloat = None
    is_finite: bool = True


class GradientChange(NamedTuple):
    """A change made to a gradient.

    Attributes:
        kind: ``CLIPPED``, ``UNSCALED`` or ``EDITED``.
        site: The line that made the change, or NOWHERE if the line is not known.
    """

    kind: str
    site: Site = NOWHERE


class Route(NamedTuple):
    """The route of gradients that came from the same lines and had the same fate.

    Attributes:
        pass_sites: The lines of the backward passes whose contributions were added up in the gradient, oldest first.
        changes: The changes made to the gradient.
        fate: One of the fates defined above.
        site: The line that decided the fate.
        optimizer_number: The number of the optimizer whose step decided the fate, or 0 if no optimizer step did.
    """

    pass_sites: tuple[Site, ...]
    changes: tuple[GradientChange, ...]
    fate: str
    site: Site
    optimizer_number: int


class ParameterFacts(NamedTuple):
    """The known facts about a parameter.

    Attributes:
        is_gone: Whether the program has dropped the parameter.
        is_trainable: Whether the program wants a gradient for the parameter.
        is_parameter: Whether the framework treats it as a model parameter rather than as a plain tensor.
        dtype_name: The name of its dtype.
        is_on_other_processes: Whether all its elements are stored by other processes of a distributed job.
    """

    is_gone: bool
    is_trainable: bool
    is_parameter: bool
    dtype_name: str
    is_on_other_processes: bool = False


@dataclass(slots=True, eq=False)
class Account:
    """The account for one parameter.

    Each framework's subclass also refers to the parameter itself.

    Attributes:
        key: The identity of the parameter.
        pending: The contributions that are currently in the gradient. Several accounts may share one tuple.
        changes: The changes made to the gradient since it was last empty.
        used_by: The numbers of the optimizers whose steps used the pending contributions.
        route_counts: The number of times each route was taken, by route number.
        norms: The smallest, largest and last norm among the gradients that steps used. The list is empty if no step
            used a gradient.
        zero_norms: The number of consecutive measured steps in which backward passes had sent only zeros.
        moves: The number of sampled steps that changed the parameter, and the smallest and largest update divided by
            the parameter's norm.
        undone_moves: The number of consecutive steps whose update the program undid before the next step.
        optimizer_numbers: The numbers of the optimizers that hold the parameter.
        got_gradient: Whether a backward pass gave the parameter a gradient.
    """

    key: int
    pending: tuple[Contribution, ...] = ()
    changes: tuple[GradientChange, ...] = ()
    used_by: tuple[int, ...] = ()
    route_counts: Counter[int] = field(default_factory=Counter)
    norms: FloatList = field(default_factory=list)
    zero_norms: int = 0
    moves: tuple[int, float, float] = (0, inf, 0.0)
    undone_moves: int = 0
    optimizer_numbers: set[int] = field(default_factory=set)
    got_gradient: bool = False

    def read_current_parameter_facts(self) -> ParameterFacts:
        """Return the facts about the parameter in its current state.

        Returns:
            The facts about the parameter.
        """
        raise NotImplementedError

    def is_unchanged_since_first_gradient(self) -> bool:
        """Compare the parameter with its state when it got its first gradient.

        Returns:
            Whether no element has changed since the parameter got its first gradient.
        """
        raise NotImplementedError

    def record_gradient_norm(self, norm: float) -> None:
        """Record the norm of a gradient that a step uses.

        Args:
            norm: The norm.
        """
        self.norms = [min(norm, self.norms[0]), max(norm, self.norms[1]), norm] if self.norms else [norm] * 3
        self.zero_norms = 0 if norm else self.zero_norms + bool(self.pending)

    def record_update_ratio(self, ratio: float) -> None:
        """Record that a step changed the parameter.

        Args:
            ratio: The norm of the update, divided by the norm of the parameter.
        """
        count, smallest, largest = self.moves
        self.moves = count + 1, min(smallest, ratio), max(largest, ratio)

    def forget_pending_contributions(self) -> None:
        """Forget the gradient's current contributions."""
        self.pending = ()
        self.changes = ()
        self.used_by = ()


@dataclass
class OptimizerAccount:
    """The account of an optimizer.

    Attributes:
        number: The number of the optimizer, counted from 1.
        kind: The name of the optimizer's class.
        site: The line of its last step.
        creation_site: The line that created the optimizer, or NOWHERE if the optimizer is older than the watch.
        clearing_site: The line of its last ``zero_grad()``.
        steps: The number of its steps.
        empty_steps: The number of examined steps that found no new gradient.
        skipped_steps: The number of steps that a gradient scaler skipped.
        zero_rate_steps: The number of consecutive steps in which the learning rate was 0.
        tiny_rate_steps: The number of steps in which the learning rate had fallen to a tiny fraction of its largest
            value.
        chosen_rate: The learning rate with which the program created the optimizer.
        half_epsilon: The epsilon that guards the optimizer's divisions against zero, or 1.0 if no parameter is float16.
        norms: The norm of the whole gradient in each measured step.
        followed_steps: The number of steps in which the gradients were examined.
        rates: The smallest and largest learning rates.
        peak_step: The first step with the largest learning rate.
        scheduled_rates: The learning rates right after a schedule last changed them.
        rate_schedule: The schedule that last changed the learning rates, or None if no schedule has done so.
        accounts: The accounts of its parameters.
    """

    number: int
    kind: str
    site: Site = NOWHERE
    creation_site: Site = NOWHERE
    clearing_site: Site = NOWHERE
    steps: int = 0
    empty_steps: int = 0
    skipped_steps: int = 0
    zero_rate_steps: int = 0
    tiny_rate_steps: int = 0
    chosen_rate: float = inf
    half_epsilon: float = 1.0
    norms: FloatList = field(default_factory=list)
    followed_steps: int = 0
    rates: tuple[float, float] = (inf, 0.0)
    peak_step: int = 0
    scheduled_rates: Sequence[Any] = ()  # A learning rate may be a tensor.
    rate_schedule: ScheduleAccount | None = None
    accounts: list[Account] = field(default_factory=list)


@dataclass
class ClipCalls:
    """The gradient-clipping calls on one line.

    Attributes:
        calls: The number of calls.
        without_parameters: The number of calls that received no parameters at all.
        without_gradients: The number of calls that found no gradient.
        after_step: The number of calls that found only gradients that a step had already used.
        before_unscaling: The number of calls that found gradients that were still scaled.
        scale: The scale of the gradients in the last call that found scaled gradients.
    """

    calls: int = 0
    without_parameters: int = 0
    without_gradients: int = 0
    after_step: int = 0
    before_unscaling: int = 0
    scale: float = 1.0


@dataclass
class ScalerAccount:
    """The account of a gradient scaler.

    Attributes:
        site: The line of its last step.
        scaled_losses: The number of losses that it scaled.
        steps: The number of its steps.
        skipped: The number of steps that it skipped because a gradient was not finite.
        updates: The number of calls to its ``update()`` method.
        unscaled_passes: The number of steps that used the gradient of an unscaled loss.
        scales: The smallest and largest scales.
    """

    site: Site = NOWHERE
    scaled_losses: int = 0
    steps: int = 0
    skipped: int = 0
    updates: int = 0
    unscaled_passes: int = 0
    scales: tuple[float, float] = (inf, 0.0)


ANOMALY_KINDS = ("loss", "gradient", "weight")  # In the order in which a training step computes them.


class Anomaly(NamedTuple):
    """The first non-finite value in the run.

    Attributes:
        kind: One of ``ANOMALY_KINDS``.
        pass_number: The number of the backward pass in which the value was seen.
        first_pass: The first backward pass that may have caused the value. The results of all earlier passes are known
            to be finite.
        site: The line at which the value was seen.
    """

    kind: str
    pass_number: int
    first_pass: int
    site: Site


class ParameterRegistration(NamedTuple):
    """The registration of a parameter in a module.

    Attributes:
        site: The line that registered the parameter.
        name: The module's class and the parameter's name in the module, such as "Linear.weight".
        late_site: The line that led to the registration, inside the function that had created the last optimizer, or
            NOWHERE if no optimizer existed yet.
    """

    site: Site
    name: str
    late_site: Site = NOWHERE


class RunAccounts:
    """The accounts of a whole run.

    Attributes:
        accounts: The accounts of the parameters, by key.
        optimizers: The accounts of the optimizers, in the order in which they were first seen.
        scalers: The accounts of the gradient scalers.
        schedules: The accounts of the learning-rate schedules.
        layer_modes: The modes of normalization and dropout layers.
        clips: The calls that clip gradients, keyed by line.
        passes: The number of backward passes so far.
        losses: The value of the loss in each backward pass.
        nonfinite_losses: The number of NaN or infinite losses, excluding losses scaled by a gradient scaler.
        sent_by_another: The cases in which a backward pass added to a gradient that was left over from another loss,
            because the optimizer that stepped after that loss does not hold the parameter. The keys are (older line,
            newer line, key) triples, and the values are None.
        registrations: The registrations of parameters in modules, by key.
        lost_registrations: For each (line, name), the number of parameters that were created there, got a gradient that
            no step used, and no longer exist.
        optimizer_sites: The lines that created optimizers, oldest first.
        anomaly: The first non-finite value, or None if all values were finite.
        paused_at: The line that permanently switched gradients off, or NOWHERE if they are on.
        last_finite_pass: The last backward pass whose gradients are all known to be finite.
        route_numbers: The number that identifies each route that a gradient has taken.
        gradient_calls: The number of calls that returned gradients instead of storing them, such as ``autograd.grad``.
        watch_error: The error in minitape that ended the watch, or "" if there was none.
        noted: The mistakes that the watch saw the program make, keyed by variant, line and parameter keys.
    """

    def __init__(self, accounts: Mapping[int, Account]):
        """Create the accounts of a run that is about to start.

        Args:
            accounts: The accounts of the parameters, by key. The framework's watch adds entries to this dictionary.
        """
        self.accounts = accounts
        self.optimizers: list[OptimizerAccount] = []
        self.scalers: list[ScalerAccount] = []
        self.schedules: list[ScheduleAccount] = []
        self.layer_modes: list[LayerModeAccount] = []
        self.clips: dict[Site, ClipCalls] = {}
        self.passes = 0
        self.losses = array("d")
        self.nonfinite_losses = 0
        self.sent_by_another: dict[tuple[Site, Site, int], None] = {}
        self.registrations: dict[int, ParameterRegistration] = {}
        self.lost_registrations: Counter[tuple[Site, str]] = Counter()
        self.optimizer_sites: list[Site] = []
        self.anomaly: Anomaly | None = None
        self.paused_at = NOWHERE
        self.last_finite_pass = 0
        self.route_numbers: dict[Route, int] = {}
        self.gradient_calls = 0
        self.watch_error = ""
        self.noted: dict[tuple, RunFinding] = {}

    # -- routes ------------------------------------------------------------------------------------

    def find_or_add_route_number(self, account: Account, fate: str, site: Site, optimizer_number: int = 0) -> int:
        """Return the number of the route that an account's gradient took.

        Args:
            account: The account.
            fate: The fate of the gradient.
            site: The line that decides the fate.
            optimizer_number: The number of the optimizer that decides the fate, if there is one.
        """
        pass_sites = tuple([contribution.site for contribution in account.pending])
        route = Route(pass_sites, account.changes, fate, site, optimizer_number)
        return self.route_numbers.setdefault(route, len(self.route_numbers))

    def iter_routes_and_counts(self, account: Account) -> Iterator[tuple[Route, int]]:
        """Yield each route that an account's gradients took, and how often they took it.

        A gradient that nothing has used or cleared yet counts as a separate route.

        Args:
            account: The account.
        """
        routes = list(self.route_numbers)
        for number, count in account.route_counts.items():
            yield routes[number], count
        if account.pending and not account.used_by:
            pass_sites = tuple(contribution.site for contribution in account.pending)
            yield Route(pass_sites, account.changes, LEFT, NOWHERE, 0), 1

    def record_cleared_gradient(self, account: Account, site: Site, has_program_changed_parameter: bool) -> None:
        """Record that an account's gradient was cleared.

        Args:
            account: The account.
            site: The line that cleared the gradient, or NOWHERE if the line is not known.
            has_program_changed_parameter: Whether the program itself has changed the parameter since the gradient
                arrived.
        """
        if account.pending and not account.used_by:
            fate = CLEARED
            if has_program_changed_parameter:
                fate = CONSUMED
            elif not all(contribution.is_finite for contribution in account.pending):
                fate = CLEARED_NONFINITE
            account.route_counts[self.find_or_add_route_number(account, fate, site)] += 1
        account.forget_pending_contributions()

    def record_gradient_change(self, accounts: Iterable[Account], change: GradientChange) -> None:
        """Record a change to the gradients of the given accounts.

        Args:
            accounts: The accounts.
            change: The change.
        """
        # Many accounts may share one tuple of changes, so extend each tuple only once.
        extended = {}
        for account in accounts:
            if account.pending and change not in account.changes:
                key = id(account.changes)
                if key not in extended:
                    extended[key] = (*account.changes, change)
                account.changes = extended[key]

    def record_nonfinite_if_first_in_run(self, kind: str, site: Site, first_pass: OptionalNumber = None) -> None:
        """Record the run's first non-finite value, and ignore later ones.

        Args:
            kind: "loss", "gradient" or "weight".
            site: The line at which the value was seen.
            first_pass: The first backward pass that may have caused the value, or None for the current pass.
        """
        if self.anomaly is None:
            first = self.passes if first_pass is None else first_pass
            self.anomaly = Anomaly(kind, self.passes, max(1, first), site)

    def record_finding(
        self, cause: str, variant: str, site: Site, keys: Iterable[int] = (), is_remark: bool = False, **fields: Any
    ) -> None:  # The types of the fields depend on the sentence.
        """Record a mistake as soon as the program makes it, replacing any earlier record of the same mistake.

        Args:
            cause: The cause.
            variant: The variant of the cause's sentences.
            site: The line to blame.
            keys: The keys of the affected parameters.
            is_remark: Whether the program may do this on purpose.
            **fields: The values of the sentence's fields.
        """
        finding = RunFinding(cause, variant, site, fields, frozenset(keys), is_remark)
        self.noted[variant, site, finding.keys] = finding

    # -- reading -----------------------------------------------------------------------------------

    def list_optimizers_of(self, account: Account) -> list[OptimizerAccount]:
        """Return the optimizers that hold an account's parameter.

        Args:
            account: The account.
        """
        return [self.optimizers[number - 1] for number in sorted(account.optimizer_numbers)]

    def count_gradients_with_fates(self, account: Account, *fates: str) -> int:
        """Return the number of times that an account's gradient had one of the given fates.

        Args:
            account: The account.
            *fates: The fates to count.
        """
        return sum(count for route, count in self.iter_routes_and_counts(account) if route.fate in fates)

    def collect_optimized_keys(self) -> set[int]:
        """Return the keys of the parameters that optimizers hold."""
        return {account.key for optimizer in self.optimizers for account in optimizer.accounts}

    @property
    def taken_step_count(self) -> int:
        """The number of steps that the optimizers took."""
        return sum(optimizer.steps for optimizer in self.optimizers)

    @property
    def skipped_step_count(self) -> int:
        """The number of steps that gradient scalers skipped."""
        return sum(optimizer.skipped_steps for optimizer in self.optimizers)
