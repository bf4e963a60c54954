"""What optimizers, steps and draws show in PyTorch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch

from ..bridges.suspects import steps_said
from ..bridges.torch_suspects import NAMES
from ..bridges.torch_training import SAMPLE, TrainingEvent, equal_samples, numbers
from ..explain.caller import in_brackets
from ..explain.owners import living
from ..explain.suspects import Suspicion
from ..recording.sites import NOWHERE, Site, text_of
from ..recording.values import numbers_of
from . import suspects, text, words
from .suspects import Run, alike
from .torch import TorchAdapter, read


class Training(TorchAdapter):
    """What is known of a training loop; a page asks it."""

    asks = False

    def __init__(self, recording: Any) -> None:
        super().__init__(recording)
        self.training = self.log.training
        q = read(recording, None, torch.zeros(0))
        self.run = Run(q.rows, [sweep for sweep in recording.sweeps if sweep.adjoints], list(q.exits), NAMES, self)

    @cached_property
    def found(self) -> list[Suspicion]:
        """What is suspect, the surest first."""
        return suspects.all_of(self.run, (scaled, accumulated, not_applied, not_optimized, sampled))

    def of(self, source: Any, rows: Iterable[int]) -> Suspicion | None:
        """What is suspect about the gradient of a source."""
        own = set(rows)
        reached = (
            one
            for one in self.found
            if id(source) in one.sources
            or (one.row is not None and not own.isdisjoint(one.alone or self.run.behind(one.row)))
        )
        return next(reached, None)

    def with_gradient(self, run: Run) -> dict[int, Any]:
        """The live parameters that got a gradient, by id."""
        rows = {row for sweep in run.sweeps for row in sweep.adjoints if run.rows[row].kind == "variable"}
        return {id(one): one for row in rows if (one := run.rows[row].thing()) is not None and one.requires_grad}

    def rows_of(self, source: Any) -> list[int]:
        """All rows of a parameter."""
        return self.log.rows_of(source)

    def steps_of(self, source: Any) -> list:
        """The steps that changed it."""
        return self.training.steps_of(source)

    def out(self, how: str) -> str:
        """How a value left, in words."""
        return words.left_by(how)

    def key(self, source: Any) -> int:
        """What a source is known by."""
        return id(source)

    @cached_property
    def held(self) -> set[int]:
        """What optimizers that are alive hold."""
        return {id(p) for one in living(torch.optim.Optimizer) for group in one.param_groups for p in group["params"]}

    @property
    def trained_keys(self) -> set[int]:
        """What the program trains, as far as it says so."""
        return (
            self.held if self.training.steps or not self.with_gradient(self.run).keys().isdisjoint(self.held) else set()
        )

    def copies(self, sources: list) -> set:
        """Those of some (key, source) that have nearly the values of one that gets a gradient."""
        leaves = [
            self.run.rows[row].array
            for s in self.run.sweeps
            for row, one in s.adjoints.items()
            if self.run.rows[row].kind != "operation" and not one.facts()[0]
        ]
        return {
            key
            for key, source in sources
            for row in self.rows_of(source)
            if any(alike(self.run.rows[row].array, leaf) for leaf in leaves)
        }

    def behind(self, row: int) -> set[int]:
        """The rows behind one."""
        return self.run.behind(row)

    def samples(self, key: int, parameter: Any) -> Iterator[tuple[TrainingEvent, bool, Any, Any]]:
        """The events of a parameter: each, whether it is a step of its own, ``.grad`` then, and what had arrived."""
        sweeps, rows = self.run.sweeps and self.recording.sweeps, self.log.leaf_rows(parameter)
        for event in self.training.events:
            held = event.kind == "step" and key in (event.rates or ())
            if key in event.samples or held:
                came = [
                    array
                    for row in rows
                    if event.sweep < len(sweeps)
                    and (array := numbers_of(sweeps[event.sweep].adjoints.get(row))) is not None
                ]
                yield (
                    event,
                    held,
                    numbers(event.samples.get(key)),
                    np.sum(came, axis=0).reshape(-1)[:SAMPLE] if came else None,
                )


def accumulated(run: Run) -> Iterator[Suspicion]:
    """A step used gradients that an earlier step had used already."""
    bad: dict[Site, tuple[set, int]] = {}
    for key, parameter in run.adapter.with_gradient(run).items():
        last, used, stale, count = None, False, False, 0
        for event, held, now, came in run.adapter.samples(key, parameter):
            if event.kind == "pass":
                used = used and not equal_samples(now, came)
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


def not_applied(run: Run) -> Iterator[Suspicion]:
    """No step used a gradient: none was taken, it was cleared before, or the rate is 0."""
    adapter, passes = run.adapter, run.adapter.training.passes
    found: dict[tuple, set[int]] = {}
    for key, parameter in adapter.with_gradient(run).items():
        steps, changed = adapter.steps_of(parameter), len(adapter.log.leaf_rows(parameter)) > 1
        if not steps and len(list(adapter.training.passes_of(parameter))) > 1 and key in adapter.held and not changed:
            found.setdefault((passes[-1].site, "", NOWHERE), set()).add(key)
        before, clipped, lost = None, False, None
        for event, held, now, _ in adapter.samples(key, parameter):
            if event.kind == "pass":
                before, clipped = now, False
            clipped |= event.kind == "norm"
            if held:
                if (
                    before is not None
                    and before.any()
                    and (now is None or not (now.any() or clipped))
                    and key in event.samples
                ):
                    lost = event
                before = None
        if lost is not None:
            rows = adapter.rows_of(parameter.grad)[-1:] if parameter.grad is not None else []
            site = run.rows[rows[0]].site if rows else adapter.log.clearings.get(parameter, (NOWHERE, 0))[0]
            found.setdefault((site, "cleared", lost.site), set()).add(key)
        elif len(steps) > 2 and not any((step.rates or {})[key] for step in steps):
            found.setdefault((steps[-1].site, "rate", NOWHERE), set()).add(key)
    for (site, kind, step), keys in found.items():
        yield Suspicion("not_applied", site, {"n": len(passes), "other": in_brackets(*step)}, sources=keys, kind=kind)


def not_optimized(run: Run) -> Iterator[Suspicion]:
    """A gradient is there, steps were taken, and no optimizer holds the parameter."""
    adapter, steps = run.adapter, run.adapter.training.steps
    taken = {key for step in steps for key in step.rates or ()}
    another = not any(taken & event.samples.keys() for event in adapter.training.passes)
    missing: dict[tuple, set[int]] = {}
    for key, parameter in adapter.with_gradient(run).items() if steps else ():
        beside = another or any(taken & event.samples.keys() for event in adapter.training.passes_of(parameter))
        if key not in adapter.held | taken and beside and len(adapter.log.leaf_rows(parameter)) < 2:
            missing.setdefault(_why(run, parameter, steps[-1], another), set()).add(key)
    for (site, kind), keys in missing.items():
        steps_ = steps_said(len(steps))
        yield Suspicion("not_optimized", site, {"what": "an optimizer", "steps": steps_}, sources=keys, kind=kind)


def _why(run: Run, parameter: Any, step: TrainingEvent, another: bool) -> tuple[Site, str]:
    """The line that left a parameter out."""
    log, at = run.adapter.log, text.at(step.site)
    calls = [] if at is None else [call.func for call in at.calls if isinstance(call.func, ast.Attribute)]
    made = [s for call in calls for s in text.bound_by(ast.unparse(call.value), at)]
    site = log.replacement_of(parameter)
    if site is not NOWHERE:
        return site, "replaced"
    path = next((path for root in log.roots() for path, p in root.named_parameters() if p is parameter), "")
    for s in text.statements(made[-1].file) if made and path else ():
        later = s.function == made[-1].function and s.order > made[-1].order
        if later and any(path.startswith(name.partition(".")[2]) and "." in name for name in s.binds):
            return s.site, "replaced"
    for owner in (inner for root in log.roots() for inner in root.modules() if not path):
        for name, value in vars(owner).items():
            if isinstance(value, (list, tuple, dict)) and any(p is parameter for p in _parameters_in(value)):
                bound = [
                    s
                    for file in {row.site[0] for row in run.rows}
                    for s in text.statements(file)
                    if f"self.{name}" in s.binds and s.in_class == type(owner).__name__
                ]
                return (bound[0].site if bound else NOWHERE), "model"
    return (made[-1].site if made else step.site), "another" if another else ""


def _parameters_in(value: Any) -> Iterator:
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, torch.nn.Module):
            yield from part.parameters()
        elif isinstance(part, (list, tuple, dict)):
            yield from _parameters_in(part)
        else:
            yield part


def scaled(run: Run) -> Iterator[Suspicion]:
    """A step, or the clipping before it, used the gradient of a loss that a scaler had made larger."""
    scales = [scaler.get_scale() for scaler in living(torch.amp.GradScaler) if scaler.is_enabled()]
    found: dict[tuple, set[int]] = {}
    for key, parameter in run.adapter.with_gradient(run).items() if scales else ():
        before, scale, clipped = None, 1.0, NOWHERE
        for event, held, now, _ in run.adapter.samples(key, parameter):
            if event.kind == "pass":
                before, scale, clipped = now, _scale(run, event, scales), NOWHERE
            elif event.kind == "norm" and scale > 1 and equal_samples(now, before):
                clipped = event.site
            elif held and scale > 1 and (clipped is not NOWHERE or equal_samples(now, before)):
                found.setdefault(
                    (event.site if clipped is NOWHERE else clipped, "clip" * (clipped is not NOWHERE), scale), set()
                ).add(key)
    for (site, kind, scale), keys in found.items():
        yield Suspicion("scaled", site, {"ratio": scale}, sources=keys, kind=kind)


def _scale(run: Run, event: TrainingEvent, scales: list[float]) -> float:
    """By how much the target of a backward pass was scaled."""
    sweeps = run.adapter.recording.sweeps
    row = run.rows[sweeps[event.sweep].target[-1]] if event.sweep < len(sweeps) and sweeps[event.sweep].target else None
    factor = (
        run.rows[row.inputs[1]].array if row is not None and row.op in NAMES.factors and len(row.inputs) == 2 else None
    )
    ratio = float(factor.reshape(-1)[0]) if factor is not None and factor.size == 1 else 1.0
    return ratio if any(ratio in (scale, 2 * scale, scale / 2) for scale in scales) else 1.0


def sampled(run: Run) -> Iterator[Suspicion]:
    """A draw that passes no gradient is used in the target by more than its probability."""
    targets = {row for sweep in run.sweeps for row in sweep.target}
    for row in run.rows:
        drawn = (
            any(one.why == "no_grad" for one in row.given)
            and ".sample(" in text_of(row.site)
            and row.dtype.startswith(("float", "bfloat"))
        )
        if row.kind != "operation" or not drawn or not any(run.rows[one].tracked for one in row.inputs):
            continue
        spoken, plain = set[int](), {row.row}
        for later in run.rows[row.row + 1 :]:
            given = plain.intersection(later.inputs)
            if given:
                speaks = _speaks(later) and not any(run.rows[one].tracked for one in given)
                inside = any(len(other.scope) < len(later.scope) for other in run.rows if other.site == later.site)
                (spoken if speaks and not inside else plain).add(later.row)
            if any(one in spoken for one in later.inputs):
                spoken.add(later.row)
        weighted = any(
            run.rows[at].op in NAMES.factors
            and not _speaks(run.rows[at])
            and any(one not in spoken and run.rows[one].shape for one in run.rows[at].inputs)
            and any(one in spoken for one in run.rows[at].inputs)
            for at in spoken
        )
        if not weighted and not plain.isdisjoint(targets):
            behind = set().union(*(run.behind(one) for one in row.inputs))
            leaves = [run.rows[at].thing() for at in behind if run.rows[at].kind == "variable"]
            yield Suspicion("sampled", row.site, {}, sources={id(leaf) for leaf in leaves if leaf is not None})


def _speaks(row: Any) -> bool:
    line = text_of(row.site)
    return "log_prob(" in line and f"{row.op}(" not in line
