"""Why a gradient of TensorFlow is None, zero or NaN: from the rows of a recording, and from what its sweep gave."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

import numpy as np
import tensorflow as tf

from ..explain.families import CHOICES, CLASSES, LAYERS, MOVES, POINTS, STEPS, ZEROS
from ..explain.owners import living
from ..explain.sentences import fill
from ..explain.source import statement_at
from ..explain.statement import last_name, unparse
from ..explain.words import Explanation
from ..recording.rows import RowExit
from ..recording.sites import NOWHERE, Site, last_return
from ..recording.values import numbers_of
from .inquiry import left_by
from .tensorflow_inside import has_tapes
from .tensorflow_open import open_call, seeds_of, traced_again
from .tensorflow_ops import CUTS, handle_of, has_no_gradient, is_custom, is_dataset, name_of, variable_of
from .tensorflow_tapes import TapeInquiry, apart, numpy_call, predictions
from .tensorflow_texts import FUNCTIONS, OF_KERAS, PATCHES, TEXT
from .texts import TENSOR

ARRIVED = {"nan_forward", "nan_backward", "nondifferentiable", "zero_sum", *ZEROS}  # causes that an operation can be


def why_last(recording: Any, source: Any) -> Explanation:
    """The explanation of the last backward pass that was asked for the source, also in a function that was traced only,
    or of the one that was refused.
    """
    own, sweeps, traced, failed = (
        handle_of(source),
        list(enumerate(recording.sweeps, 1)),
        recording.log.traced,
        recording.log.failed,
    )
    asked = [(number, sweep) for number, sweep in sweeps if any(tensor() is own for tensor, _ in sweep.gave)]
    steps = [step for step in traced if any(handle_of(part) is own for part in tf.nest.flatten(step.sources))]
    eager, inside = (asked or sweeps)[-1:], (steps or traced)[-1:]
    inquiry = None
    if (
        inside
        and (not eager or eager[0][0] <= inside[0].before)
        and (found := traced_again(recording, inside[0])) is not None
    ):
        inner, target, copies = found
        named = TensorFlowInquiry(recording, source, source).path or name_of(source) or ""
        inquiry = TensorFlowInquiry(inner, target, copies.get(id(own), source), named)
    if inquiry is None:
        latest = (
            failed[1]
            if failed is not None and failed[0] == len(sweeps)
            else eager[0][1].target[-1]
            if eager
            else recording.last_target()
        )
        inquiry = TensorFlowInquiry(
            recording, None if latest is None else recording.entries[latest].extra.asked, source
        )
    inquiry.is_left_out = not asked and not steps and not getattr(source, "trainable", True)
    answer, variable = inquiry.answer(), variable_of(source)
    if (
        answer.cause == "connected"
        and inside
        and not eager
        and isinstance(variable, tf.Variable)
        and not np.isfinite(variable.numpy()).all()
    ):
        return inquiry.say(
            "nan_input", inside[0].step.site, other=fill(inquiry.name)
        )  # by a step whose numbers are gone
    return answer


class TensorFlowInquiry(TapeInquiry):
    """One question."""

    dialect = PATCHES
    texts, functions = TEXT, FUNCTIONS
    zeros, choices, classes, moves, points, cancels = ZEROS, CHOICES, CLASSES, MOVES, POINTS, LAYERS

    def __init__(self, recording: Any, target: Any, source: Any, named: str = "") -> None:
        self.log, self.is_left_out = recording.log, False
        variable = variable_of(source)
        if isinstance(variable, tf.Variable) and not self.log.rows_of(variable):
            self.log.adopt([variable], watched=False)  # one that no tape watched
        known = name_of(source) if isinstance(source, tf.Variable) or hasattr(source, "path") else None
        super().__init__(recording, target, source, self.log.rows_of(source), named or known or TENSOR)

    def checks(self) -> Iterable[Callable[[], Explanation | None]]:
        """What may have happened in TensorFlow."""
        if not isinstance(handle_of(self.source), tf.Tensor):
            raise TypeError(f"explain() takes a tensor or a variable as its source, but received {self.source!r}.")
        if self.target is None:
            return self._dtype, lambda: self.say("no_backward", kind="inside" if self.log.traced else "")
        return (
            self._plain_target,
            self._left_out,
            self._gradient,
            self._dtype,
            self._compiled,
            self._own,
            self._break,
            self._outside,
            self._not_used,
            self._nan,
            self._zero,
            self._no_tape,
        )

    # -- why nothing arrives -----------------------------------------------------------------------

    def _plain_target(self) -> Explanation | None:
        if isinstance(handle_of(self.target), tf.Tensor):
            return None
        return self.say("target_not_tensor", what=type(self.target).__name__)

    def _no_tape(self) -> Explanation | None:
        """Nothing was recorded for the source: no tape was there."""
        seen = (
            self.sweep is not None
            or self.log.tapes
            or self.log.traced
            or self.end is None
            or self.entries[self.end].differentiable
        )
        return None if seen else self.say("no_backward", kind="tape")

    def _left_out(self) -> Explanation | None:
        """Keras did not ask for the gradient of a variable that is not to be trained."""
        return self.say("not_trainable", self._made_with("trainable"), kind="left out") if self.is_left_out else None

    def _dtype(self) -> Explanation | None:
        if (
            self.source.dtype is None
            or tf.as_dtype(self.source.dtype).is_floating
            or tf.as_dtype(self.source.dtype).is_complex
        ):
            return None
        _, made = self.log.born_at(handle_of(self.source))
        return self.say(
            "integer_dtype",
            what=tf.as_dtype(self.source.dtype).name,
            site=made[-1] if made else self._bound() or self._use(),
        )

    def _break(self) -> Explanation | None:
        """The break of the recorded paths; before it, a value that left on an unbroken path, or was stored in a
        variable, and came back.
        """
        found = self._cut()
        if found is None:
            return None
        reached = self._reached()
        exit = next((exit for exit in self._exits() if exit.row in reached), None)
        answer = self._through_state(reached) if exit is None else self._left_by(exit)
        if answer is None:
            return found
        answer.others = [found, *found.others]
        return answer

    def _cut(self) -> Explanation | None:
        """The first break of the recorded way that has the fewest."""
        return super()._break() or self._no_rule()

    def _broken_at(self, rows: list[int]) -> Explanation:
        # a gradient that was given back, first
        return super()._broken_at(sorted(rows, key=lambda row: self.entries[row].extra.at is None))

    def is_it(self, value: Any, sought: Any) -> bool:
        return handle_of(value) is handle_of(sought)

    def part_of(self, value: Any, sought: Any) -> str:
        if not isinstance(value, (tf.Module, tf.keras.layers.Layer)):
            return ""
        parts = [*((f".layers[{at}]", layer) for at, layer in enumerate(getattr(value, "layers", ()))), ("", value)]
        for before, part in parts:
            for name in vars(part):
                public = name.lstrip("_")
                if self.is_it(getattr(part, public, None), sought):
                    return f"{before}.{public}"
        at = next((at for at, variable in enumerate(value.variables) if self.is_it(variable, sought)), None)
        return "" if at is None else f".variables[{at}]"

    def _called(self, row: int) -> str:
        if self.entries[row].kind == "variable":
            return fill("Reading {x}", x=fill(self.name))
        return "tape.gradient" if self.entries[row].extra.at is not None else super()._called(row)

    def _gradient(self) -> Explanation | None:
        """The target is a gradient that a tape gave back, and no other tape recorded how."""
        made = self.log.made.get(self.target) if self.end is None else None
        if made is None:
            return None
        return self.say(
            "computed_after_tape", made.way[-1] if made.way else NOWHERE, what="tape.gradient", kind="gradient"
        )

    def _compiled(self) -> Explanation | None:
        """The tape is inside of a tf.function: so is what happened."""
        calls = [
            row
            for row in sorted(self.behind)
            if self.entries[row].extra.function is not None and not self.entries[row].differentiable
        ]
        own = [row for row in calls if set(self.entries[row].inputs) & set(self.used) or self._results_of_call(row)]
        if not own or not (has_tapes(self.entries[own[-1]].extra.function.graph, self.log.steps) or not self.log.tapes):
            return None
        return self._inside(own[-1]) or self.say("nondifferentiable", row=own[-1], kind="function")

    def _results_of_call(self, row: int) -> list[int]:
        """The numbers of the results, of the call of a row, that are the source."""
        entries = self.entries
        return [
            entries[other].output for other in self.rows if other != row and entries[other].call == entries[row].call
        ]

    def say(self, cause: str, site: Site = NOWHERE, row: int | None = None, *words: Any, **more: Any) -> Explanation:
        """An explanation; where an operation that is a call of a tf.function is to blame, that of what happened
        inside.
        """
        if row is not None and site is NOWHERE and cause in ARRIVED and self.entries[row].extra.function is not None:
            inside = self._inside(row)
            if inside is not None and inside.cause != "connected":
                return inside
        return super().say(cause, site, row, *words, **more)

    def _inside(self, row: int) -> Explanation | None:
        """What a tf.function does inside to the way of the source."""
        entry, after = self.entries[row], {*self._after(), *self.used}
        watched = [given for given in entry.inputs if self.entries[given].differentiable]
        if not watched and not has_tapes(entry.extra.function.graph, self.log.steps):  # it was made before the block
            given = [(number, self.entries[number].extra.asked) for number in entry.inputs]
            watched = [
                number
                for number, asked in given
                if asked.dtype.is_floating
                or (asked.dtype == tf.resource and getattr(self.log.variables[id(asked)].variable, "trainable", True))
            ]
        seeds = seeds_of(self.recording, entry.call, self.sweep)
        if not any(seed is not None for seed in seeds):
            seeds[entry.output] = tf.ones(entry.shape, entry.dtype)
        found = open_call(self.recording, entry.call, watched, seeds)
        if found is None:
            return None
        inner, given, ends = found
        target = self._asked_inside(inner, ends[entry.output])
        asked = [tensor for number, tensor in zip(entry.inputs, given, strict=True) if number in after]
        asked += [ends[output] for output in self._results_of_call(row)]
        if not asked and inner.log.rows_of(self.source):  # a constant that TensorFlow wrote into the graph
            asked = [self.source]
        answers = [TensorFlowInquiry(inner, target, tensor, self.path or self.name).answer() for tensor in asked]
        if not answers:
            return None
        answer = next((answer for answer in answers if answer.cause != "connected"), answers[0])
        answer._tape, answer._rows = self.recording, [row]
        return answer

    def _asked_inside(self, inner: Any, result: Any) -> Any:
        """What a tape inside was asked for: the result itself, or what it was computed from."""
        own = inner.row_of(result)
        targets = [row for sweep in inner.sweeps for row in sweep.target]
        if own in targets:
            return result
        behind = TensorFlowInquiry(inner, result, result, self.name).behind
        near = [row for row in targets if row in behind]
        return inner.entries[near[-1]].extra.asked if near else result

    def _broken(self, row: int) -> Explanation:
        cause = self.entries[row].extra.why
        if cause in ("", "not_recorded"):
            return self._time(row) or (
                self._without_rule(row) if self.entries[row].extra.function else self._not_known(row)
            )
        return self._say_of(cause, row)

    def _not_known(self, row: int) -> Explanation:
        """A tape was there when an operation ran, and did not hear of it, or did not know its input, which was read
        before.
        """
        given = self._inputs(row)
        if any(self.entries[at].kind == "operation" and self.entries[at].differentiable for at in given):
            return self.say("recording_paused", row=row)
        early = next((at for at in given if at in self.used), row)
        other = early != row and self.entries[early].kind != "variable"
        return self.say("not_watched", row=row) if other else self.say("computed_before_tape", row=early)

    def _say_of(self, cause: str, row: int) -> Explanation:
        """A cause at an operation, in the words for its kind."""
        entry, flat = self.entries[row], cause == "nondifferentiable"
        if entry.op in PYTHON:
            return self.say("left_through_numpy", row=row, what=PYTHON[entry.op], kind="python")
        if is_dataset(entry.op):
            return self.say("left_through_numpy", self._dataset_of(row), row=row, kind="dataset")
        smooth = (
            flat
            and entry.kind == "operation"
            and not entry.extra.why
            and not has_no_gradient(entry.extra.op, refused=True)
        )
        return self.say(
            cause,
            row=row,
            kind="inside"
            if cause == "integer_dtype"
            else "steps"
            if flat and entry.op in STEPS
            else "none"
            if smooth
            else "",
        )

    def _dataset_of(self, row: int) -> Site:
        """The line that made a dataset; its row has only the line that reads its elements."""
        entry = self.entries[row]
        use = statement_at(entry.site) if entry.kind != "operation" else None
        names = [n.id for n in use.walk() if isinstance(n, ast.Name)] if use is not None else []
        made = [
            s
            for name in names
            for s in (use.source.bound_by(name, use) if use is not None else ())
            if s.calls("map", "interleave", "flat_map", "filter", "scan")
        ]
        return (made[-1].filename, made[-1].line) if made else entry.site

    def _no_rule(self) -> Explanation | None:
        """Everything is on the tape, and an operation has no derivative (None) for its input."""
        sweep = self.sweep
        if sweep is None:  # TensorFlow may have raised an error
            way = [row for begin in self.used for row in self._way(begin)]
            refused = (row for row in way if has_no_gradient(self.entries[row].extra.op or "Identity", refused=True))
            python = (
                exit
                for row in way
                if self.entries[row].op in PYTHON
                for exit in self.recording.left
                if min(self.entries[row].inputs) < exit.row < row
            )
            return next((self._without_rule(row) for row in refused), None) or next(
                (self._left_by(exit) for exit in python), None
            )
        row = None if any(row in sweep.adjoints for row in self.used) else self._stopped()
        return None if row is None else self._without_rule(row)

    def _without_rule(self, row: int) -> Explanation:
        """An operation to which an adjoint came, and that gave None."""
        extra = self.entries[row].extra
        if extra.function is not None:
            return self._inside(row) or self.say("nondifferentiable", row=row, kind="function")
        if is_custom(extra.op):
            return self._custom(row, "none")
        return self._say_of("nondifferentiable", row)

    def _zero_of(self, row: int) -> Explanation:
        if is_custom(self.entries[row].extra.op):
            return self._custom(row)
        if self.entries[row].op in PYTHON:
            return self._say_of("left_through_numpy", row)
        if self.entries[row].extra.function is not None:
            return self._inside(row) or self.say("nondifferentiable", row=row, kind="function")
        part = next((at for at in self._way(row) if not self.entries[at].dtype.startswith("complex")), row)
        if self.entries[row].op == "Complex" and part != row:  # what takes the other part of it
            return self.say("not_selected", row=part)
        return super()._zero_of(row)

    def _custom(self, row: int, kind: str = "") -> Explanation:
        """A function with a gradient of its own: the line on which that returns."""
        return self.say("custom_rule", last_return(self.log.rules.get(self.entries[row].extra.op)), row=row, kind=kind)

    def _after(self) -> set[int]:
        """The rows that were computed from the source; where nothing else leads on, through what was stored in
        variables.
        """
        found = super()._after()
        if self.used:
            return found
        for handle, stored, _, at in self.log.stores:  # in the order of time
            states = [
                e.row
                for e in self.entries[at:]
                if stored in found and e.kind == "variable" and id(e.extra.asked) == handle
            ]
            found |= self._computed_from(states)
        return found

    def _outside(self) -> Explanation | None:
        """The value left TensorFlow, or went through a variable."""
        if self.used or self.end is None:
            return None
        after = self._after()
        return self._through_state(after) or super()._outside()

    def _through_state(self, rows: set[int]) -> Explanation | None:
        """One of these rows was stored in a variable, and that was read on the path to the target."""
        for handle, stored, site, _ in self.log.stores:
            if stored in rows and self._read_again(handle):
                before = self._plain(stored) in self.rows or self._state(stored, self.tape)[0] == "before"
                if (
                    before
                    and handle in self.log.variables
                    and self.log.born_at(self.log.variables[handle].handle)[1][-1:] == [site]
                ):
                    return self.say("wrong_object", site, kind="copied")
                at = statement_at(site)
                return self.say(
                    "variable_assign",
                    site=site,
                    row=stored,
                    kind="metric" if at is not None and at.calls("update_state") else "",
                )
        return None

    def _unseen(self) -> Iterable[RowExit]:
        """NumPy reads a tensor's memory without a word to TensorFlow: the text of the program says where. No word, no
        ``how``.
        """
        sites = {} if self.used else {self.entries[row].site: row for row in sorted(self._after())}
        return (
            RowExit(row, "", read, row + 1) for site, row in sites.items() if (read := numpy_call(site)) is not None
        )

    def _exits(self) -> list[RowExit]:
        """Those first that an open way leads to, and that the text shows to come back."""
        reached, found = self._reached(), super()._exits()
        found.reverse()  # the last one is nearest to the target
        return sorted(found, key=lambda exit: (exit.row not in reached, not self.flows_back(exit), not exit.how))

    def _left_at(self, exit: RowExit) -> Explanation:
        return (
            (None if exit.how == "__bool__" else self._copied_from(exit))
            or self._cut_before(exit)
            or self._left_by(exit)
        )

    def _left_by(self, exit: RowExit) -> Explanation:
        """In the words for the function that the line calls, where it is known."""
        if exit.how == "__bool__":
            return self.say("python_branch", exit.site, row=exit.row)
        statement = statement_at(exit.site)
        calls = [node.func for node in (statement.walk() if statement else ()) if isinstance(node, ast.Call)]
        keras = next((last_name(call) for call in calls if last_name(call) in OF_KERAS), "")
        if keras:
            return self.say("left_through_numpy", exit.site, row=exit.row, what=f"{keras}()", kind=OF_KERAS[keras])
        if exit.how == "numpy_function":
            return self.say("left_through_numpy", exit.site, row=exit.row, what=left_by(exit.how), kind="python")
        what, modules = left_by(exit.how), {} if statement is None else statement.source.imported
        named = [unparse(call) for call in calls if modules.get(unparse(call).partition(".")[0]) in ("numpy", "math")]
        instead = [
            fill("{function} for {name}", function=PATCHES.function(name.partition(".")[2]), name=name)
            for name in dict.fromkeys(named)
            if PATCHES.function(name.partition(".")[2])
        ]
        kind = "function" if instead else ""
        return self.say(
            "left_through_numpy", exit.site, row=exit.row, what=what, other=fill(", ").join(instead), kind=kind
        )

    def flows_back(self, exit: RowExit) -> bool:
        """The same, or a loss returns it to Keras."""
        start = statement_at(exit.site)
        of_keras = start is not None and start.function in dict(predictions(start.source))
        return super().flows_back(exit) or (
            start is not None
            and of_keras
            and self._followed().of(start, None, frozenset([start.filename])).is_returned()
        )

    def _plain(self, row: int) -> int:
        """The row whose value another one only hands on."""
        while self.entries[row].op == "Identity":
            row = self.entries[row].inputs[0]
        return row

    def _cut_before(self, exit: RowExit) -> Explanation | None:
        """What breaks the path before the value leaves; a comparison belongs to the choice that is made by it."""
        found = (
            TensorFlowInquiry(self.recording, exit.row, self.source, self.name)._cut()
            if exit.row not in self.rows
            else None
        )
        if found is None or found.cause not in CUTS or self.entries[found._rows[0]].dtype == "bool":
            return None
        return found

    def _copied_from(self, exit: RowExit) -> Explanation | None:
        """The values were put into another variable before any tape began, and that one was used."""
        inside = any(span.word == "begins" and span.at < exit.before for span in self.log.spans)
        copies = [handle for handle, _, site, _ in self.log.stores if site == exit.site and self._read_again(handle)]
        return None if inside or not copies else self.say("wrong_object", exit.site, kind="copied")

    def _read_again(self, handle: int) -> bool:
        """Whether the target was computed from a variable's state."""
        return any(
            self.entries[row].kind == "variable" and id(self.entries[row].extra.asked) == handle for row in self.behind
        )

    def _is_in_a_layer(self) -> bool:
        """Whether a layer of Keras or a tf.Module that is alive has the source: it was not made anew, it is only not
        used.
        """
        layers = sys.modules.get("keras.src.layers.layer")
        kinds = (tf.Module, *([layers.Layer] if layers else []))
        handle = handle_of(self.source)
        gc.collect()  # models are in cycles
        return any(handle_of(variable) is handle for owner in living(*kinds) for variable in owner.variables)

    def _same_values(self, row: int) -> bool:
        """Whether the source has, or began with, the values of a row of the program's own: one is a copy of the
        other.
        """
        asked, own = self.entries[row].extra.asked, handle_of(self.source)
        mine = [numbers_of(self.entries[state].value) for state in self.rows]
        if not mine:
            mine = [np.asarray(numbers_of(self.log.keep(tf.convert_to_tensor(self.source))))]
        theirs = [numbers_of(self.entries[state].value) for state in self.log.rows_of(asked)]
        return own is not asked and any(
            a is not None and b is not None and a.size > 1 and np.ptp(a) > 0 and np.array_equal(a.ravel(), b.ravel())
            for a in theirs
            for b in mine
        )

    def _is_named(self, handle: Any) -> bool:
        """Whether the program has a name for a variable, or for a list or dictionary that it is in."""
        held = [value for _, value in self._names() if isinstance(value, (tf.Variable, list, tuple, dict))]
        return any(handle_of(part) is handle for value in held for part in tf.nest.flatten(value))

    def _made_of_it(self) -> Explanation | None:
        """The source was computed from what the target was computed from, and was then not used."""
        if not self.rows or self.entries[self.rows[0]].kind != "operation":
            return None
        before = self._behind([self.rows[-1]]) & self.behind
        named = [row for row in before if self.entries[row].kind == "variable" or self.entries[row].differentiable]
        if not named:
            return None
        entry = self.entries[self.rows[0]]
        again = any(self.entries[row].op == entry.op and self._same_values(row) for row in self.behind)
        other = self._name_of(self.entries[max(named)], fill("what it was made of"))
        site = apart(entry.extra.way, self.sweep.way) if entry.extra.way and self.sweep is not None else NOWHERE
        return self.say("wrong_object", site, row=self.rows[0], other=other, kind="again" if again else "made")

    def _replaced_variable(self) -> Explanation | None:
        """Explains a source that another variable replaced: one with equal values, or one created again."""
        # such as a slice that is made where it is asked for
        unknown = isinstance(self.source, tf.Tensor) and not self.rows
        leaves = ("variable", "source", "constant") if isinstance(self.source, tf.Tensor) else ("variable", "source")
        variables = [row for row in sorted(self.behind) if unknown or self.entries[row].kind in leaves]
        equal = next((row for row in variables if self._same_values(row)), None)
        if equal is not None and not unknown and self.entries[equal].kind == "constant":
            return self.say("wrong_object", self._used_at(equal), row=equal, kind="equal")
        if equal is not None and unknown and not any(self._same_values(exit.row) for exit in self.recording.left):
            return self.say("wrong_object", self.sweep.site if self.sweep else NOWHERE, row=equal, kind="equal")
        own, path = handle_of(self.source), name_of(self.source) or ""
        twin = (
            next(
                (
                    row
                    for row in variables
                    if "/" in path
                    and self.entries[row].name == path
                    and self.entries[row].shape == tuple(self.source.shape)
                    and self.entries[row].extra.asked is not own
                ),
                None,
            )
            if not self.rows
            else None
        )
        if equal is None and twin is not None:  # a copy of its model has the same names
            return self.say("wrong_object", self._copied_at(self.entries[twin].extra.asked), row=twin, kind="cloned")
        if equal is None and isinstance(self.source, tf.Tensor):
            return None
        if equal is None and (self.rows or self._is_in_a_layer()):
            return self._made_again(variables)
        last = path.rpartition("/")[2]
        row = (
            equal
            if equal is not None
            else next(
                (
                    row
                    for row in variables
                    if self.entries[row].shape == tuple(self.source.shape)
                    and (self.entries[row].name or "").rpartition("/")[2] == last
                    and not self._is_named(self.entries[row].extra.asked)
                ),
                None,
            )
        )
        if row is None:
            return None
        other = self._name_of(self.entries[row], fill("a variable"))
        if isinstance(self.source, tf.Tensor):
            left = next((exit.site for exit in self.recording.left if self._same_values(exit.row)), NOWHERE)
            return self.say("wrong_object", left, row=row, other=other, kind="made")
        (_, before), (_, later) = sorted(map(self.log.born_at, (own, self.entries[row].extra.asked)), key=itemgetter(0))
        parts = [site for site in later if site not in before]  # of one function that makes both, its call
        return self.say("wrong_object", (parts or later or [self._used_at(row)])[-1], row=row, other=other)

    def _used_at(self, row: int) -> Site:
        """The first line on the path to the target that used a row while the tape recorded."""
        uses = [at for at in sorted(self.behind) if row in self._inputs(at)]
        return self.entries[next((at for at in uses if not self._is_untimely(at)), row)].site

    def _made_again(self, variables: list[int]) -> Explanation | None:
        """A variable that was used, and which the line made that had made the source before: nothing has the source any
        more.
        """
        own = handle_of(self.source)
        made = self.log.born_at(own)[1][-1:]
        line = statement_at(made[0]) if made else None
        # Variable(...), Dense(...)
        if line is None or not any(isinstance(n, ast.Call) and last_name(n.func)[:1].isupper() for n in line.walk()):
            return None
        row = next(
            (
                row
                for row in variables
                if self.entries[row].extra.asked is not own
                and self.log.born_at(self.entries[row].extra.asked)[1][-1:] == made
            ),
            None,
        )
        named = [value for _, value in self._names() if type(value).__dictoffset__]
        held = any(
            part is self.source for value in named for part in object.__getattribute__(value, "__dict__").values()
        )
        if row is None or held or self._is_named(self.entries[row].extra.asked) or self._is_in_a_layer():
            return None
        return self.say("wrong_object", made[0], row=row, other=self._name_of(self.entries[row], fill("a new one")))

    def _copied_at(self, handle: Any) -> Site:
        """The line that made a copy of a model: where its variable was made, or the one call that copies."""
        _, way = self.log.born_at(handle)
        source = statement_at(self.sweep.site) if self.sweep is not None else None
        copies = (
            [s for s in source.source.statements if s.calls("clone_model", "deepcopy", "from_config", "load_model")]
            if source is not None
            else []
        )
        made = next((site for site in reversed(way) if any(s.covers(*site) for s in copies)), None)
        return made or (way[-1] if way else (copies[0].filename, copies[0].line) if len(copies) == 1 else NOWHERE)

    def _not_used(self) -> Explanation | None:
        if self.used:
            return None
        handle, copied = self.log.copied.get(self.source, (None, NOWHERE))
        if handle is not None and self._read_again(id(handle)):
            return self.say("wrong_object", copied, kind="copied")
        other = self._made_of_it() or self._replaced_variable()
        if other is not None:
            return other
        calls = (
            [row for row in sorted(self.behind) if self.entries[row].extra.function is not None]
            if isinstance(self.source, tf.Tensor)
            else []
        )
        inside = next((answer for row in calls if (answer := self._inside(row)) is not None), None)
        if inside is not None:
            return inside
        branch = next((site for tensor, site in self.log.idle if tensor is handle_of(self.source)), None)
        if branch is not None:
            return self.say("independent", branch, kind="branch")
        last = max(self._after() - set(self.rows), default=None)
        return self.say("independent") if last is None else self.say("independent", row=last, kind="dropped")


PYTHON = {"EagerPyFunc": "tf.py_function", "PyFunc": "tf.numpy_function", "PyFuncStateless": "tf.numpy_function"}
