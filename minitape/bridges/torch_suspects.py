"""What is wrong with gradients that are there, in PyTorch: what optimizers and draws show, beside what
:mod:`suspects` finds in the rows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch

from ..explain.caller import asking_frame, in_brackets
from ..explain.owners import living
from ..explain.sentences import fill
from ..explain.source import attribute_site, statement_at
from ..explain.statement import unparse
from ..explain.suspects import OperationNames, Suspicion
from ..picture.reading import spaces
from ..recording.sites import NOWHERE, Site, text_of
from ..recording.values import numbers_of
from .suspects import Checks, SuspectChecks, steps_said
from .torch_training import SAMPLE, TrainingEvent, equal_samples, numbers

_SOFTMAX, _SIGMOID = "softmax", "sigmoid"
NAMES = OperationNames(
    compare={"sub", "sub_", "rsub"},
    losses={"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "gaussian_nll_loss"},
    sums={"sum", "mean", "nanmean", "nansum"},
    shapes=set(
        "view reshape squeeze unsqueeze getitem expand expand_as flatten contiguous to float double half view_as "
        "clone unflatten movedim transpose permute T".split()
    ),
    adds=set("add sub rsub iadd isub add_ sub_ radd".split()),
    factors={"mul", "div", "true_divide", "rmul", "imul", "mul_"},
    of_logits={
        "cross_entropy": _SOFTMAX,
        "binary_cross_entropy_with_logits": _SIGMOID,
        "multilabel_soft_margin_loss": _SIGMOID,
        "log_softmax": _SOFTMAX,
        "logsumexp": _SOFTMAX,
        "logsigmoid": _SIGMOID,
        "softplus": _SIGMOID,
    },
    activations={"softmax": _SOFTMAX, "sigmoid": _SIGMOID, "sigmoid_": _SIGMOID}
    | {name: name for name in "tanh relu gelu silu elu leaky_relu softplus hardsigmoid".split()},
    normalize={"softmax", "layer_norm", "instance_norm", "group_norm"},
    saturate={"sigmoid", "tanh", "softmax", "hardtanh"},
)


class TorchSuspectChecks(SuspectChecks):
    """The checks of one recording of PyTorch."""

    def __init__(self, recording: Any) -> None:
        super().__init__(recording, NAMES)
        self.log, self.training = recording.log, recording.log.training

    def of_framework(self) -> Checks:
        return self.scaled, self.accumulated, self.not_applied, self.not_optimized, self.sampled

    # -- optimizers --------------------------------------------------------------------------------

    @cached_property
    def with_gradient(self) -> dict[int, torch.Tensor]:
        """The live parameters that got a gradient, by id."""
        rows = {row for sweep in self.sweeps for row in sweep.adjoints if self.entries[row].kind == "variable"}
        alive = (self.entries[row].extra.ref() for row in rows)
        return {id(tensor): tensor for tensor in alive if tensor is not None and tensor.requires_grad}

    @cached_property
    def optimizers(self) -> list:
        """All that are alive."""
        return list(living(torch.optim.Optimizer))

    @cached_property
    def in_optimizers(self) -> set[int]:
        """The ids of all parameters in the groups of the optimizers."""
        return {id(p) for optimizer in self.optimizers for group in optimizer.param_groups for p in group["params"]}

    @cached_property
    def trained_keys(self) -> set[int]:
        # a step was taken, or they hold what got a gradient
        return (
            self.in_optimizers
            if self.training.steps or not self.with_gradient.keys().isdisjoint(self.in_optimizers)
            else set()
        )

    def _arrived(self, event: TrainingEvent, parameter: torch.Tensor) -> np.ndarray | None:
        """What a backward pass brought to a parameter, as far as samples go."""
        sweeps = self.recording.sweeps
        rows = self.log.leaf_rows(parameter)
        found = [
            array
            for row in rows
            if event.sweep < len(sweeps) and (array := numbers_of(sweeps[event.sweep].adjoints.get(row))) is not None
        ]
        return None if not found else np.sum(found, axis=0).reshape(-1)[:SAMPLE]

    def accumulated(self) -> Iterator[Suspicion]:
        """A step used gradients that an earlier step had used already."""
        bad: dict[Site, tuple] = {}
        for key, parameter in self.with_gradient.items():
            last, used, stale, count = None, False, False, 0
            for event in self.training.events:
                held = event.kind == "step" and key in (event.rates or ())
                if key not in event.samples and not held:
                    continue
                now = numbers(event.samples.get(key))
                if event.kind == "pass":
                    came = self._arrived(event, parameter)
                    used = used and not equal_samples(now, came)  # a new beginning
                    stale = used and last is not None and came is not None and equal_samples(now, last + came)
                    count = count + 1 if stale else 1
                elif held:
                    if stale:
                        keys, most = bad.get(event.site, (set(), 0))
                        bad[event.site] = keys | {key}, max(most, count)
                    used = True
                last = now
        for site, (keys, count) in bad.items():
            yield Suspicion("accumulated", site, {"n": count}, sources=keys)

    def not_applied(self) -> Iterator[Suspicion]:
        """No step used a gradient."""
        never, cleared, still = set[int](), dict[tuple[Site, Site], set[int]](), dict[Site, set[int]]()
        for key, parameter in self.with_gradient.items():
            steps, passes = self.training.steps_of(parameter), list(self.training.passes_of(parameter))
            if not steps and len(passes) > 1 and key in self.in_optimizers and not self._is_changed(parameter):
                never.add(key)
            lost = [step for step in steps if self._is_lost(parameter, step)]
            if lost:
                at, _ = self.log.clearings.get(parameter, (NOWHERE, 0))
                for row in self.log.rows_of(parameter.grad)[-1:]:  # it was filled with zeros
                    at = self.entries[row].site
                cleared.setdefault((at, lost[-1].site), set()).add(key)
            elif len(steps) > 2 and not any((step.rates or {})[key] for step in steps):
                still.setdefault(steps[-1].site, set()).add(key)
        if never:
            passes = self.training.passes
            yield Suspicion("not_applied", passes[-1].site, {"n": len(passes)}, sources=never)
        for (site, step), keys in cleared.items():
            yield Suspicion("not_applied", site, {"other": in_brackets(*step)}, sources=keys, kind="cleared")
        for site, keys in still.items():
            yield Suspicion("not_applied", site, {"n": len(self.training.steps)}, sources=keys, kind="rate")

    def _is_lost(self, parameter: torch.Tensor, step: TrainingEvent) -> bool:
        """Whether a backward pass came since the step before, and the step found no gradient."""
        key, events = id(parameter), self.training.events
        at = next(k for k, event in enumerate(events) if event is step)
        before = [event for event in events[:at] if event.kind == "pass" or key in (event.rates or ())]
        last = before[-1] if before else None
        if last is None or last.kind != "pass" or key not in last.samples or key not in step.samples:
            return False
        had, has = numbers(last.samples[key]), numbers(step.samples[key])
        # a gradient of infinite norm is clipped to zeros
        clipped = any(event.kind == "norm" and event.sweep == step.sweep for event in events[:at])
        return had is not None and bool(had.any()) and (has is None or not (has.any() or clipped))

    def _is_changed(self, parameter: torch.Tensor) -> bool:
        """Whether the program itself changed it."""
        return len(self.log.leaf_rows(parameter)) > 1

    def not_optimized(self) -> Iterator[Suspicion]:
        """A gradient is there, steps were taken, and no optimizer holds the parameter."""
        steps = self.training.steps
        if not steps:
            return
        taken = {key for step in steps for key in step.rates or ()}
        of_another = not any(
            taken & event.samples.keys() for event in self.training.passes
        )  # they hold nothing that is trained
        missing: dict[tuple, set[int]] = {}
        for key, parameter in self.with_gradient.items():
            beside = any(taken & event.samples.keys() for event in self.training.passes_of(parameter))
            if key not in self.in_optimizers | taken and (beside or of_another) and not self._is_changed(parameter):
                why = self._why_not_held(parameter, steps[-1])
                missing.setdefault(why if why[1] or not of_another else (NOWHERE, "another"), set()).add(key)
        for (site, kind), keys in missing.items():
            at = self._made(steps[-1]) if site is NOWHERE and kind != "model" else site
            fields = {"what": fill("an optimizer"), "steps": steps_said(len(steps))}
            yield Suspicion("not_optimized", at, fields, sources=keys, kind=kind)

    @staticmethod
    def _made(step: TrainingEvent) -> Site:
        """The line that makes the optimizer of a step, as far as the text tells."""
        at = statement_at(step.site)
        if at is None:
            return step.site
        calls = (node.func for node in at.walk() if isinstance(node, ast.Call))
        name = next((unparse(function.value) for function in calls if isinstance(function, ast.Attribute)), "")
        made = at.source.bound_by(name, at)
        return (made[-1].filename, made[-1].line) if made else step.site

    def _why_not_held(self, parameter: torch.Tensor, step: TrainingEvent) -> tuple[Site, str]:
        site = self.log.replacement_of(parameter)
        if site is not NOWHERE:
            return site, "replaced"
        roots = self.log.roots()
        paths = ((root, path) for root in roots for path, p in root.named_parameters() if p is parameter)
        root, path = next(paths, (None, ""))
        if path or not roots:
            site = _given_later(root, path, self._made(step))
            return site, "" if site is NOWHERE else "replaced"
        for owner in (inner for root in roots for inner in root.modules()):
            for name, value in vars(owner).items():
                if isinstance(value, (list, tuple, dict)) and any(p is parameter for p in _parameters_in(value)):
                    return attribute_site(owner, name), "model"
        return NOWHERE, ""

    def scaled(self) -> Iterator[Suspicion]:
        """A step used the gradient of a loss that a scaler had made larger."""
        scales = [scaler.get_scale() for scaler in living(torch.amp.GradScaler) if scaler.is_enabled()]
        found: dict[tuple, set[int]] = {}
        for key in self.with_gradient:
            came, scale, clipped = None, 1.0, NOWHERE
            for event in self.training.events:
                now = numbers(event.samples.get(key))
                if event.kind == "pass":
                    came, scale, clipped = now, self._scale(event, scales), NOWHERE
                elif event.kind == "norm" and scale > 1 and equal_samples(now, came):
                    clipped = event.site
                elif key in (event.rates or ()) and scale > 1:
                    if clipped is not NOWHERE:
                        found.setdefault((clipped, "clip", scale), set()).add(key)
                    elif equal_samples(now, came):
                        found.setdefault((event.site, "", scale), set()).add(key)
        for (site, kind, scale), keys in found.items():
            yield Suspicion("scaled", site, {"ratio": scale}, sources=keys, kind=kind)

    def _scale(self, event: TrainingEvent, scales: list[float]) -> float:
        """By how much the target of a backward pass was scaled."""
        sweeps = self.recording.sweeps
        target = sweeps[event.sweep].target if event.sweep < len(sweeps) else []
        entry = self.entries[target[-1]] if target else None
        if entry is None or entry.op not in self.names.factors or len(entry.inputs) != 2:
            return 1.0
        factor = numbers_of(self.entries[entry.inputs[1]].value)
        if factor is None or factor.size != 1 or self.entries[entry.inputs[1]].differentiable:
            return 1.0
        ratio = float(factor.reshape(-1)[0])
        return ratio if any(ratio in (scale, 2 * scale, scale / 2) for scale in scales) else 1.0

    # -- parts -------------------------------------------------------------------------------------

    def sampled(self) -> Iterator[Suspicion]:
        """A draw that passes no gradient is used in the target by more than its probability."""
        for entry in self.entries:
            if (
                entry.kind == "operation"
                and entry.extra.why == "no_grad"
                and entry.dtype.startswith(("float", "bfloat"))
                and ".sample(" in text_of(entry.site)
                and any(self.entries[given].differentiable for given in entry.inputs)
            ):
                spoken, plain = self._uses(entry.row)
                weighted = any(
                    len(row.inputs) > 1
                    and row.op in self.names.factors
                    and any(given in spoken for given in row.inputs)
                    and any(given not in spoken and self.entries[given].shape for given in row.inputs)
                    for row in map(self.entries.__getitem__, spoken)
                    if not self._speaks(row.row)
                )
                if not weighted and any(row in plain for sweep in self.sweeps for row in sweep.target):
                    sources = set().union(*(self.behind(given) for given in entry.inputs))
                    leaves = (self.entries[row].extra.ref() for row in sources if self.entries[row].kind == "variable")
                    yield Suspicion(
                        "sampled", entry.site, {}, sources={id(leaf) for leaf in leaves if leaf is not None}
                    )

    def _speaks(self, row: int) -> bool:
        """Whether a row is of a line that asks for a probability, and no function of its own that the line calls."""
        line = text_of(self.entries[row].site)
        return "log_prob(" in line and f"{self.entries[row].op}(" not in line

    def _speaks_of(self, entry: Any, draw: Iterable[int]) -> bool:
        """Whether a row is of the probability of a draw: of no distribution that was made with it, and in no module
        that the line calls.
        """
        if not self._speaks(entry.row) or any(self.entries[given].differentiable for given in draw):
            return False
        return not any(len(e.scope) < len(entry.scope) for e in self.entries if e.site == entry.site)

    def _uses(self, drawn: int) -> tuple[set, set]:
        """The rows that were computed from the probability of a draw, and those from the draw by other paths."""
        spoken, plain = set[int](), {drawn}
        for entry in self.entries[drawn + 1 :]:
            given_draw = plain.intersection(entry.inputs)
            if given_draw:
                (spoken if self._speaks_of(entry, given_draw) else plain).add(entry.row)
            if any(given in spoken for given in entry.inputs):
                spoken.add(entry.row)
        return spoken, plain

    def steps_of(self, source: Any) -> list:
        return self.training.steps_of(source)


def _parameters_in(value: Any) -> Iterator:
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, torch.nn.Module):
            yield from part.parameters()
        elif isinstance(part, torch.Tensor):
            yield part
        elif isinstance(part, (list, tuple, dict)):
            yield from _parameters_in(part)


def _given_later(root: torch.nn.Module | None, path: str, made: Site) -> Site:
    """The line below the one that made an optimizer that gives a model a parameter, or the layer that has it:
    ``model.head = ...`` for ``head.weight``.
    """
    optimizer = statement_at(made)
    if optimizer is None:
        return NOWHERE
    known = {name: value for space in reversed(spaces(asking_frame())) for name, value in list(space.items())}
    parts = path.split(".")
    attributes = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    for statement in optimizer.source.statements:
        if statement.function is optimizer.function and statement.order > optimizer.order:
            for holder, _, attribute in (bound.partition(".") for bound in statement.binds()):
                if attribute in attributes and known.get(holder, root) is root:
                    return statement.filename, statement.line
    return NOWHERE
