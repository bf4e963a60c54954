"""What is wrong with gradients that are there, in TensorFlow: what :mod:`suspects` finds in the rows, and the steps of
Keras' optimizers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf

from ..explain.families import OPERATIONS
from ..explain.owners import living
from ..explain.sentences import fill
from ..explain.source import statement_at
from ..explain.statement import unparse
from ..explain.suspects import Suspicion
from ..recording.rows import BackwardPass
from .suspects import Checks, SuspectChecks, steps_said
from .tensorflow_model import asked_for
from .tensorflow_ops import handle_of, name_of


class TensorFlowSuspectChecks(SuspectChecks):
    """The checks of one recording of TensorFlow."""

    asks = True

    def __init__(self, recording: Any) -> None:
        super().__init__(recording, OPERATIONS)
        self.log = recording.log

    def of_framework(self) -> Checks:
        return self.not_applied, self.not_optimized

    def key(self, source: Any) -> int:
        return id(handle_of(source))

    @cached_property
    def with_gradient(self) -> dict:
        variables = {key: known.variable for key, known in self.log.variables.items() if known.variable is not None}
        given = self._given(self.sweeps)
        return {key: variables[key] for key in variables if key in given}

    def _given(self, sweeps: Iterable[BackwardPass]) -> set[int]:
        """The handles of the variables to which these sweeps gave a gradient."""
        return {id(handle) for sweep in sweeps for one, there in sweep.gave if there and (handle := one()) is not None}

    @cached_property
    def trained_keys(self) -> set[int]:
        return asked_for(self.recording).union(*(step.handles for step in self.log.optimizer_steps))

    def steps_of(self, source: Any) -> list:
        return [step for step in self.log.optimizer_steps if self.key(source) in step.handles]

    @cached_property
    def _optimizers(self) -> list:
        return list(living(tf.keras.optimizers.Optimizer))

    def not_applied(self) -> Iterator[Suspicion]:
        """Gradients were computed several times, and no optimizer used one, or none changed anything with them."""
        gave = [sweep for sweep in self.sweeps if any(there for _, there in sweep.gave)]
        steps = self.log.optimizer_steps
        still = {key for key, variable in self.with_gradient.items() if self._is_unchanged(variable)}
        if still and not any(step.handles & (self.with_gradient.keys() - still) for step in steps):
            yield Suspicion("not_applied", steps[-1].site, {"n": len(steps)}, sources=still, kind="rate")
        if len(gave) < 2 or steps or not self._optimizers or self.recording.is_rerun:
            return
        still = {key for key, variable in self.with_gradient.items() if len(self._states(variable)) < 2}
        if still:
            yield Suspicion("not_applied", gave[-1].site, {"n": len(gave)}, sources=still)

    def not_optimized(self) -> Iterator[Suspicion]:
        """A gradient was there when a step was taken, and no optimizer has the variable."""
        steps = self.log.optimizer_steps
        in_time = self._given(sweep for sweep in self.sweeps if steps and sweep.at <= steps[-1].at)
        taken = set().union(*(step.handles for step in steps))
        held = {id(handle_of(v)) for one in self._optimizers for v in getattr(one, "_trainable_variables", [])}
        missing = {
            key
            for key, variable in self.with_gradient.items()
            if key in in_time - taken - held and len(self._states(variable)) < 2
        }
        if missing:
            fields = {"what": fill("an optimizer"), "steps": steps_said(len(steps))}
            yield Suspicion("not_optimized", steps[-1].site, fields, sources=missing)
        yield from self._sought_by_name(taken | held | self._given(self.sweeps)) if steps else ()

    def _sought_by_name(self, held: set[int]) -> Iterator[Suspicion]:
        """The program chose its variables by names of layers, which Keras has in the path of a variable only."""
        at = statement_at(self.log.optimizer_steps[-1].site)
        reached = {row for sweep in self.sweeps for row in sweep.adjoints}
        others = {
            key: (name_of(known.variable) or "").rpartition("/")
            for key, known in self.log.variables.items()
            if getattr(known.variable, "trainable", False) and reached.intersection(self.log.rows_of(known.variable))
        }
        for statement in [] if at is None else at.source.statements:
            for node in statement.walk():
                if isinstance(node, (ast.Compare, ast.Call)) and ".name" in unparse(getattr(node, "func", node)):
                    what, site = unparse(node), (statement.filename, statement.line)
                    words = re.findall(r"'([^']+)'", what)
                    found = {
                        key
                        for key, (layer, _, own) in others.items()
                        if any(w in layer and w not in own for w in words)
                    }
                    if found - held:
                        yield Suspicion("not_optimized", site, {"what": what}, sources=found - held, kind="name")

    def _is_unchanged(self, variable: Any) -> bool:
        """Whether the steps did not change a variable."""
        before, after = self.recording.weights_of(variable)
        return len(self.steps_of(variable)) > 2 and before is not None and np.array_equal(before, after)

    def _states(self, variable: Any) -> list[int]:
        """The rows of the values that a variable had."""
        return [row for row in self.log.rows_of(variable) if self.entries[row].kind != "operation"]
