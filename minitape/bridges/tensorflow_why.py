"""Why a gradient of TensorFlow is None, zero or NaN: from the rows of a recording, and from what its sweep gave."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from ..explain.families import CLASSES, LAYERS, MOVES, POINTS, STEPS, ZEROS
from ..explain.fixes.dialects import TENSORFLOW
from ..explain.owners import living
from ..explain.sentences import fill
from ..explain.source import attribute_site, statement_at
from ..explain.statement import last_name
from ..explain.value_texts import FUNCTIONS, TENSOR
from ..explain.why import Why
from ..explain.words import Explanation
from ..recording.rows import RowExit
from ..recording.sites import NOWHERE, Site, last_return
from ..recording.values import numbers_of
from .inquiry import Inquiry, Reasons, left_by
from .tensorflow_inside import has_tapes
from .tensorflow_model import variables_of
from .tensorflow_open import open_call, seeds_of, traced_again
from .tensorflow_ops import handle_of, is_custom, is_dataset, name_of, variable_of, why_no_gradient
from .tensorflow_tapes import numpy_call, predictions
from .tensorflow_texts import OF_KERAS, TEXT

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


class TensorFlowInquiry(Why, Inquiry):
    """One question."""

    dialect = TENSORFLOW
    recording: Any
    log: Any
    entries: list
    texts, functions = TEXT, FUNCTIONS
    zeros, classes, moves, points, cancels = ZEROS, CLASSES, MOVES, POINTS, LAYERS

    def __init__(self, recording: Any, target: Any, source: Any, named: str = "") -> None:
        self.log, self.is_left_out = recording.log, False
        variable = variable_of(source)
        if isinstance(variable, tf.Variable) and not self.log.rows_of(variable):
            self.log.adopt([variable], watched=False)  # one that no tape watched
        known = name_of(source) if isinstance(source, tf.Variable) or hasattr(source, "path") else None
        super().__init__(recording, target, source, self.log.rows_of(source), named or known or TENSOR)

    def checks(self) -> Reasons:
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
            site=made[-1] if made else self._attribute() or self._bound() or self._use(),
        )

    def _attribute(self) -> Site | None:
        """The line that gives the object which holds the source this attribute."""
        path, holder = self.path_and_holder(self.source)
        site = NOWHERE if holder is None else attribute_site(holder, path.rpartition(".")[2])
        return None if site is NOWHERE else site

    def _cut(self) -> Explanation | None:
        return super()._cut() or self._no_rule()

    def handle(self, value: Any) -> Any:
        return handle_of(value)

    def born_at(self, handle: Any) -> tuple[int, list[Site]]:
        return self.log.born_at(handle)

    def anew(self, site: Site, name: str, row: int | None = None, made: bool = False) -> Explanation:
        other = fill("a new one") if row is None else self._name_of(self.entries[row], fill("a new one"))
        return self.say("wrong_object", site, row=row, other=other)

    def _is_anew(self, row: int, when: int, other: int) -> bool:
        line = statement_at(self.born_at(handle_of(self.source))[1][-1])
        calls = () if line is None else (last_name(n.func) for n in line.walk() if isinstance(n, ast.Call))
        makes = any(name[:1].isupper() for name in calls)  # Variable(...), Dense(...)
        return makes and not self._is_named(self.entries[row].extra.asked) and not self._is_in_a_layer(self.source)

    def is_variable(self, value: Any) -> bool:
        return isinstance(variable_of(value), tf.Variable)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, tf.Tensor)

    def toward(self, row: int) -> TensorFlowInquiry:
        return TensorFlowInquiry(self.recording, row, self.source, self.name)

    def known_name(self, value: Any) -> str:
        return name_of(value) or ""

    def names(self) -> list[tuple[str, Any]]:
        return list(self._names())

    def parts(self, value: Any) -> list:
        return tf.nest.flatten(value) if isinstance(value, (tf.Variable, list, tuple, dict)) else []

    def numbers_now(self) -> np.ndarray | None:
        return numbers_of(self.log.keep(tf.convert_to_tensor(self.source)))

    def is_it(self, value: Any, sought: Any) -> bool:
        return handle_of(value) is handle_of(sought)

    def part_of(self, value: Any, sought: Any) -> str:
        return next((path for path, part in variables_of(value, "") if self.is_it(part, sought)), "")

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

    def _say_of(self, cause: str, row: int) -> Explanation:
        """A cause at an operation, in the words for its kind."""
        entry, flat = self.entries[row], cause == "nondifferentiable"
        if entry.op in PYTHON:
            return self.say("left_through_numpy", row=row, what=PYTHON[entry.op], kind="python")
        if is_dataset(entry.op):
            return self.say("left_through_numpy", self._dataset_of(row), row=row, kind="dataset")
        word = why_no_gradient(entry.extra.op) if flat and entry.kind == "operation" and not entry.extra.why else cause
        return self.say(
            word or cause,
            row=row,
            kind="inside"
            if cause == "integer_dtype"
            else "steps"
            if flat and entry.op in STEPS
            else ""
            if word
            else "none",
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
            refused = (row for row in way if why_no_gradient(self.entries[row].extra.op or "Identity"))
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
        """An operation to which an adjoint came, and that gave None: what a tape watched that recorded no operation
        before, among others.
        """
        extra = self.entries[row].extra
        if self.entries[row].watched == "explicit" and (found := self._time(row)) is not None:
            found._steps = []  # the line cannot move behind its watch
            return found
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

    def _unseen(self) -> Iterable[RowExit]:
        """NumPy reads a tensor's memory without a word to TensorFlow: the text of the program says where. No word, no
        ``how``.
        """
        sites = {} if self.used else {self.entries[row].site: row for row in sorted(self._after())}
        return (
            RowExit(row, "", read, row + 1) for site, row in sites.items() if (read := numpy_call(site)) is not None
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
        return self.say("left_through_numpy", exit.site, row=exit.row, what=left_by(exit.how))

    def flows_back(self, exit: RowExit) -> bool:
        """The same, or a loss returns it to Keras."""
        start = statement_at(exit.site)
        of_keras = start is not None and start.function in dict(predictions(start.source))
        return super().flows_back(exit) or (
            start is not None
            and of_keras
            and self._followed().of(start, None, frozenset([start.filename])).is_returned()
        )

    def _is_in_a_layer(self, variable: Any) -> bool:
        layers = sys.modules.get("keras.src.layers.layer")
        kinds = (tf.Module, *([layers.Layer] if layers else []))
        handle = handle_of(variable)
        gc.collect()  # models are in cycles
        return any(handle_of(part) is handle for owner in living(*kinds) for part in owner.variables)

    def _instead(self) -> Explanation | None:
        handle, copied = self.log.copied.get(self.source, (None, NOWHERE))
        if handle is not None and self._read_again(id(handle)):
            return self.say("wrong_object", copied, kind="copied")
        found = super()._instead()
        if found is not None:
            return found
        calls = [row for row in sorted(self.behind) if self.entries[row].extra.function is not None]
        answers = map(self._inside, calls if self.is_tensor(self.source) else ())
        inside = next((answer for answer in answers if answer is not None), None)
        branch = next((site for tensor, site in self.log.idle if tensor is handle_of(self.source)), None)
        return inside or (None if branch is None else self.say("independent", branch, kind="branch"))

    def _never_read(self) -> Explanation:
        """Nor were the variables of its layer, which an object of the program has as an attribute."""
        handle, layers = handle_of(self.source), [*living(tf.keras.layers.Layer)]
        owners = [one for one in layers if any(handle_of(v) is handle for v in one._trainable_variables)]
        if any(self.behind.intersection(self.log.rows_of(v)) for one in owners for v in one._trainable_variables):
            return super()._never_read()
        held = [(one, name) for one in layers for name, value in vars(one).items() if any(value is o for o in owners)]
        site = next((site for holder, name in held if (site := attribute_site(holder, name)) is not NOWHERE), NOWHERE)
        known = owners and site is not NOWHERE
        return self.say("unused_layer", site, what=owners[0].name) if known else super()._never_read()


PYTHON = {"EagerPyFunc": "tf.py_function", "PyFunc": "tf.numpy_function", "PyFuncStateless": "tf.numpy_function"}
