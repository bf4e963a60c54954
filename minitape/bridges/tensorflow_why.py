"""Why a gradient of TensorFlow is None, zero or NaN: from the rows of a recording, and from what its sweep gave."""

from __future__ import annotations

import dis
import gc
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

import numpy as np
import tensorflow as tf

from ..engine.frames import lines_of
from ..explain.source import source_of
from ..explain.words import Explanation
from .inquiry import Inquiry, numbers_of
from .site import NOWHERE, Site
from .tensorflow_inside import has_tapes
from .tensorflow_log import CUTS, Left, handle_of, has_no_gradient, is_custom, name_of
from .tensorflow_open import opened, seeds_of
from .tensorflow_texts import CHOICES, CLASSES, PATCHES, STEPS, TEXT, ZEROS

ARRIVED = {"nan_forward", "nan_backward", "nondifferentiable", "zero_sum", *ZEROS}  # causes that an operation can be

_NUMPY = re.compile(r"\bnp\.|numpy")


def why(recording: Any, target: Any, source: Any) -> Explanation:
    """The explanation of one gradient; see ``TensorFlowRecording.explain``."""
    return TensorFlowInquiry(recording, target, source).answer()


class TensorFlowInquiry(Inquiry):
    """One question."""

    dialect = PATCHES
    texts, zeros, choices, classes = TEXT, ZEROS, CHOICES, CLASSES

    def __init__(self, recording: Any, target: Any, source: Any, named: str = "") -> None:
        self.log = recording.log
        if isinstance(source, tf.Variable) and not self.log.rows_of(source):
            self.log.adopt([source], watched=False)  # one that no tape watched
        known = name_of(source) if isinstance(source, tf.Variable) or hasattr(source, "path") else None
        super().__init__(recording, target, source, self.log.rows_of(source), named or known or "the tensor")

    def checks(self) -> Iterable[Callable[[], Explanation | None]]:
        """What may have happened in TensorFlow."""
        if not isinstance(handle_of(self.source), tf.Tensor):
            raise TypeError(f"explain() takes a tensor or a variable as its source, but received {self.source!r}.")
        return (self._plain_target, self._gradient, self._dtype, self._compiled, self._own, self._break, self._outside, self._not_used, self._nan, self._zero)

    # -- why nothing arrives ----------------------------------------------------------------------------------------------

    def _plain_target(self) -> Explanation | None:
        if isinstance(handle_of(self.target), tf.Tensor):
            return None
        return self.say("target_not_tensor", what=type(self.target).__name__)

    def _dtype(self) -> Explanation | None:
        if self.source.dtype is None or tf.as_dtype(self.source.dtype).is_floating or tf.as_dtype(self.source.dtype).is_complex:
            return None
        return self.say("integer_dtype", what=tf.as_dtype(self.source.dtype).name, site=self._use())

    def _use(self) -> Site:
        """The first line that used the source on the way to the target."""
        used = set(self.used)
        reader = next((row for row in sorted(self.behind) if used.intersection(self._inputs(row))), None)
        return NOWHERE if reader is None else self.entries[reader].site

    def _own(self) -> Explanation | None:
        """No tape watches the source."""
        leaf = next((row for row in self.used if self.entries[row].kind != "operation"), None)
        late = next((row for row in self.used if self.entries[row].extra.late), None)
        if (other := self._other_tape()) is not None:
            return other
        if late is not None and not self._reaches(late):
            return self.say("watched_late", site=self._use(), row=late)
        if not self.used or any(self.entries[row].differentiable for row in self.used) or not self.log.tapes:
            return None
        if leaf is None:  # the result of an operation, which a tape does not watch by itself
            return self._rebound() or self.say("not_watched", site=self._use(), row=self.used[0])
        if self.entries[leaf].extra.late:
            return self.say("watched_late", site=self._use(), row=leaf)
        if self.entries[leaf].kind != "variable":
            return self._when(leaf) or self.say("not_watched", site=self._use(), row=leaf)
        if not getattr(self.source, "trainable", True):
            return self.say("not_trainable", site=self._use(), row=leaf)
        when = self._when(leaf)
        if when is not None or all(tape._watch_accessed_variables for tape in self.log.tapes):
            return when or self._time(leaf)  # the value that was read counts
        return self.say("not_accessed_watched", site=self._use(), row=leaf)

    def _watchers(self) -> list[tuple[Any, Site]]:
        """The tapes that were told to watch the source, and on which line."""
        return [(tape, site) for value, tape, site in self.log.watches if value is handle_of(self.source)]

    def _other_tape(self) -> Explanation | None:
        """Of several tapes one watches the source, and not the one that was asked."""
        sweep, watchers = self.sweep, self._watchers()
        if sweep is None or not watchers or any(tape is sweep.tape for tape, _ in watchers) or self._arrived():
            return None
        if any(self.entries[row].kind == "variable" for row in self.used) and getattr(self.source, "trainable", True):
            return None  # tapes watch it by themselves
        return self.say("not_watched", watchers[-1][1], kind="other")

    def _rebound(self) -> Explanation | None:
        """The source is no variable any more: its name was bound to what was computed from one, as in ``w = w - rate * gradient``."""
        row = self.rows[0]
        text, line = self.entries[row].site
        source = source_of(text) if text else None
        statement = source.at(text, line) if source is not None and text and line else None
        if statement is None or not statement.reads_itself():
            return None
        before = TensorFlowInquiry(self.recording, self.source, self.source, self.name).behind
        variable = any(self.entries[given].kind == "variable" for given in before)
        return self.say("wrong_object", row=row, kind="rebound") if variable else None

    def _reaches(self, row: int) -> bool:
        """Whether a way of recorded operations leads from a row to the target."""
        return all(self.entries[at].differentiable for at in self._way(row)[1:])

    def _when(self, leaf: int) -> Explanation | None:
        """The source's first use ran before the tape began, or after it had ended."""
        readers = [row for row in sorted(self.behind) if leaf in self._inputs(row)]
        watched = bool(self._watchers()) or self.entries[leaf].kind == "variable"
        if not readers or not watched:
            return None
        return self._time(readers[0])

    def _time(self, row: int) -> Explanation | None:
        """What the tapes were doing when an operation ran: nothing, where they recorded."""
        depth, paused, begun = 0, False, False
        when = self.entries[row].extra.at
        for word, at, site in self.log.spans:
            if at > (row if when is None else when):
                break
            if word == "resets" and depth > 0 and any(given < at for given in self._inputs(row)):
                return self.say("computed_before_tape", site, kind="reset")
            begun = begun or word == "begins"
            depth += {"begins": 1, "ends": -1}.get(word, 0)
            paused = word == "pauses" or (paused and word != "goes on")
        if depth > 0:
            return self.say("recording_paused", row=row) if paused else None
        return self.say("computed_after_tape" if begun else "computed_before_tape", row=row)

    def _break(self) -> Explanation | None:
        ways = [self._way(row) for row in self.used]
        breaks = [[row for row in way if self.entries[row].extra.why and row not in self.rows] for way in ways if way]
        if not breaks or min(map(len, breaks)) == 0:
            return self._no_rule(ways)
        first, *others = min(breaks, key=len)
        answer = self._broken(first)
        answer.others = [self._broken(row) for row in others]
        return answer

    def _called(self, row: int) -> str:
        if self.entries[row].kind == "variable":
            return f"Reading {self.name}"
        return "tape.gradient" if self.entries[row].extra.at is not None else super()._called(row)

    def _gradient(self) -> Explanation | None:
        """The target is a gradient that a tape gave back, and no other tape recorded how."""
        made = self.log.made_by_a_sweep(self.target) if self.end is None else None
        if made is None:
            return None
        kind = "gradient"
        return self.say("computed_after_tape", made.site, what="tape.gradient", kind=kind)

    def _compiled(self) -> Explanation | None:
        """The tape is inside of a tf.function: so is what happened."""
        calls = [row for row in sorted(self.behind) if self.entries[row].extra.function is not None and not self.entries[row].differentiable]
        own = [row for row in calls if set(self.entries[row].inputs) & set(self.used) or self._beside(row)]
        if not own or not (has_tapes(self.entries[own[-1]].extra.function.graph, self.log.steps) or not self.log.tapes):
            return None
        return self._inside(own[-1]) or self.say("nondifferentiable", row=own[-1], kind="function")

    def _beside(self, row: int) -> list[int]:
        """Which results of the call of a row the source is."""
        entries = self.entries
        return [entries[other].output for other in self.rows if other != row and entries[other].call == entries[row].call]

    def say(self, cause: str, site: Site = NOWHERE, row: int | None = None, *words: Any, **more: Any) -> Explanation:
        """An explanation; where an operation that is a call of a tf.function is to blame, that of what happened inside."""
        if row is not None and site is NOWHERE and cause in ARRIVED and self.entries[row].extra.function is not None:
            inside = self._inside(row)
            if inside is not None and not inside.connected:
                return inside
        return super().say(cause, site, row, *words, **more)

    def _inside(self, row: int) -> Explanation | None:
        """What a tf.function does inside to the way of the source."""
        entry, after = self.entries[row], {*self._after(), *self.used}
        watched = [given for given in entry.inputs if self.entries[given].differentiable]
        if not watched and not has_tapes(entry.extra.function.graph, self.log.steps):  # it was made before the block
            watched = [given for given in entry.inputs if self._can_be_watched(given)]
        seeds = seeds_of(self.recording, entry.call, self.sweep)
        if not any(seed is not None for seed in seeds):
            seeds[entry.output] = tf.ones_like(entry.extra.asked)
        found = opened(self.recording, entry.call, watched, seeds)
        if found is None:
            return None
        inner, given, ends = found
        target = self._asked_inside(inner, ends[entry.output])
        asked = [tensor for number, tensor in zip(entry.inputs, given, strict=True) if number in after]
        asked += [ends[output] for output in self._beside(row)]
        if not asked and inner.log.rows_of(self.source):  # a constant that TensorFlow wrote into the graph
            asked = [self.source]
        answers = [TensorFlowInquiry(inner, target, tensor, self.name).answer() for tensor in asked]
        if not answers:
            return None
        answer = next((answer for answer in answers if not answer.connected), answers[0])
        answer._tape, answer._rows = self.recording, [row]
        return answer

    def _can_be_watched(self, row: int) -> bool:
        asked = self.entries[row].extra.asked
        return bool(asked.dtype.is_floating) or (asked.dtype == tf.resource and getattr(self.log.variables[id(asked)].variable, "trainable", True))

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
        if cause == "not_recorded":
            return self._time(row) or (self._without_rule(row) if self.entries[row].extra.function else self._not_known(row))
        return self._say_of(cause, row)

    def _not_known(self, row: int) -> Explanation:
        """A tape was there when an operation ran, and did not know its input: it was read before, or is watched by another tape."""
        early = next((given for given in self._inputs(row) if given in self.used), row)
        other = early != row and self.entries[early].kind != "variable"
        return self.say("not_watched", row=row) if other else self.say("computed_before_tape", row=early)

    def _say_of(self, cause: str, row: int, site: Site = NOWHERE, op: str = "") -> Explanation:
        """A cause at an operation, in the words for its kind."""
        steps = cause == "nondifferentiable" and (op or self.entries[row].op) in STEPS
        kind = "inside" if cause == "integer_dtype" else "steps" if steps else ""
        return self.say(cause, site, row=row, what=op, kind=kind)

    def _no_rule(self, ways: list[list[int]]) -> Explanation | None:
        """Everything is on the tape, and an operation has no derivative (None) for its input."""
        sweep = self.sweep
        if sweep is None:  # TensorFlow may have raised an error
            refused = (row for way in ways for row in way if has_no_gradient(self.entries[row].extra.op or "Identity", refused=True))
            return next((self._without_rule(row) for row in refused), None)
        if any(row in sweep.adjoints for row in self.used):
            return None
        for way in ways:
            for row in reversed(way):
                if row in sweep.adjoints and self.entries[row].call not in sweep.edges and self.entries[row].inputs:
                    return self._without_rule(row)
            for row, given in zip(reversed(way), reversed(way[:-1]), strict=False):
                sent = [edge[0] for edge in sweep.edges.get(self.entries[row].call, ())]
                if row in sweep.adjoints and given not in sent and self.entries[given].differentiable:
                    return self._without_rule(row)
        return None

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
        if self.entries[row].op == "EagerPyFunc":
            return self.say("left_through_numpy", row=row, what="tf.py_function")
        return super()._zero_of(row)

    def _custom(self, row: int, kind: str = "") -> Explanation:
        """A function with a gradient of its own: the line on which that returns."""
        code = getattr(inspect.unwrap(self.log.rules.get(self.entries[row].extra.op)), "__code__", None)
        ends = [at for at in dis.get_instructions(code) if at.opname.startswith("RETURN")] if code is not None else []
        line = ends[-1].positions.lineno if ends and ends[-1].positions is not None else None
        return self.say("custom_rule", NOWHERE if code is None or line is None else (code.co_filename, line), row=row, kind=kind)

    def _outside(self) -> Explanation | None:
        """The value left TensorFlow, or went through a variable."""
        if self.used or self.end is None:
            return None
        after = self._after()
        for _handle, stored, site in self.log.stores:
            if stored in after and self._read_again(_handle):
                return self.say("variable_assign", site=site, row=stored)
        left = [exit for exit in self.log.left if exit.row in after and exit.how != "__bool__"]
        left = [exit for exit in left if exit.before <= max(self.behind) and not self.is_looked_at(exit)]
        if left:
            return self._copied_from(left[0]) or self._cut_before(left[0]) or self.say("left_through_numpy", left[0].site, row=left[0].row, what=NAMES.get(left[0].how, f".{left[0].how}()"))
        branch = next((exit for exit in self.log.left if exit.row in after and exit.how == "__bool__"), None)
        if branch is None:
            return self._read_by_numpy(after)
        return self._cut_before(branch) or self.say("python_branch", branch.site, row=branch.row)

    def _cut_before(self, exit: Left) -> Explanation | None:
        """What cuts the way before the value leaves; a comparison belongs to the choice that is made by it."""
        asked = self.entries[exit.row].extra.asked
        found = TensorFlowInquiry(self.recording, asked, self.source, self.name)._break() if exit.row not in self.rows else None
        if found is None or found.cause not in CUTS or self.entries[found._rows[0]].dtype == "bool":
            return None
        return found

    def _copied_from(self, exit: Left) -> Explanation | None:
        """The values were put into another variable before any tape began, and that one was used."""
        inside = any(word == "begins" and at < exit.before for word, at, _ in self.log.spans)
        copies = [handle for handle, _, site in self.log.stores if site == exit.site and self._read_again(handle)]
        return None if inside or not copies else self.say("wrong_object", exit.site, kind="copied")

    def _read_by_numpy(self, after: set[int]) -> Explanation | None:
        """NumPy reads a tensor's memory without a word to TensorFlow: the text of the program says where."""
        last = max(after, default=-1)
        file, first = self.entries[last].site if after else NOWHERE
        came = [e for e in self.entries[last + 1 :] if e.row in self.behind and e.kind == "constant" and e.site[0] == file]
        for entry in came:
            for line in range(first or 0, (entry.site[1] or 0) + 1):
                if _NUMPY.search("".join(lines_of(file or "")[line - 1 : line])):
                    return self.say("left_through_numpy", (file, line), row=last, what="a NumPy function")
        return None

    def _read_again(self, handle: int) -> bool:
        """Whether the target was computed from a variable's state."""
        return any(self.entries[row].kind == "variable" and id(self.entries[row].extra.asked) == handle for row in self.behind)

    def _is_in_a_layer(self) -> bool:
        """Whether a layer of Keras or a tf.Module that is alive has the source: it was not made anew, it is only not used."""
        layers = sys.modules.get("keras.src.layers.layer")
        kinds = (tf.Module, *([layers.Layer] if layers else []))
        handle = handle_of(self.source)
        gc.collect()  # models are in cycles
        owners = (owner for owner in gc.get_objects() if issubclass(type(owner), kinds))
        return any(handle_of(variable) is handle for owner in owners for variable in owner.variables)

    def _same_values(self, row: int) -> bool:
        """Whether the source has, or began with, the values of a row of the program's own: one is a copy of the other."""
        asked, own = self.entries[row].extra.asked, handle_of(self.source)
        mine = [numbers_of(self.entries[state].value) for state in self.rows]
        if not mine:
            mine = [np.asarray(numbers_of(self.log.keep(tf.convert_to_tensor(self.source))))]
        theirs = [numbers_of(self.entries[state].value) for state in self.log.rows_of(asked)]
        return own is not asked and any(a is not None and b is not None and a.size > 1 and np.ptp(a) > 0 and np.array_equal(a.ravel(), b.ravel())
                                        for a in theirs for b in mine)  # fmt: skip

    def _is_named(self, handle: Any) -> bool:
        """Whether the program has a name for a variable, or for a list or dictionary that it is in."""
        values = [value for space in self._spaces() for name, value in list(space.items()) if not name.startswith("_")]
        held = [value for value in values if isinstance(value, (tf.Variable, list, tuple, dict))]
        return any(handle_of(part) is handle for value in held for part in tf.nest.flatten(value))

    def _made_of_it(self) -> Explanation | None:
        """The source was computed from what the target was computed from, and was then not used."""
        if not self.rows or self.entries[self.rows[0]].kind != "operation":
            return None
        before = TensorFlowInquiry(self.recording, self.source, self.source, self.name).behind & self.behind
        named = [row for row in before if self.entries[row].kind == "variable" or self.entries[row].differentiable]
        if not named:
            return None
        other = self._name_of(self.entries[max(named)], "what it was made of")
        return self.say("wrong_object", row=self.rows[0], other=other, kind="made")

    def _name_of(self, entry: Any, otherwise: str) -> str:
        names = (name for space in self._spaces() for name, value in list(space.items()) if handle_of(value) is entry.extra.asked)
        return next(names, entry.name or otherwise)

    def _alike(self) -> Explanation | None:
        """Another variable took the place of the source: one with its values, or one that the program made anew."""
        variables = [row for row in sorted(self.behind) if self.entries[row].kind in ("variable", "source")]
        equal = next((row for row in variables if self._same_values(row)), None)
        if equal is None and (isinstance(self.source, tf.Tensor) or self.rows or self._is_in_a_layer()):
            return None
        own = handle_of(self.source)
        last = (name_of(self.source) or "").rpartition("/")[2]
        row = equal if equal is not None else next(
            (row for row in variables if self.entries[row].shape == tuple(self.source.shape) and (self.entries[row].name or "").rpartition("/")[2] == last
             and not self._is_named(self.entries[row].extra.asked)), None)  # fmt: skip
        if row is None:
            return None
        other = self._name_of(self.entries[row], "a variable")
        if isinstance(self.source, tf.Tensor):
            left = next((exit.site for exit in self.log.left if self._same_values(exit.row)), NOWHERE)
            return self.say("wrong_object", left, row=row, other=other, kind="made")
        (_, before), (_, later) = sorted(map(self.log.born_at, (own, self.entries[row].extra.asked)), key=itemgetter(0))
        parts = [site for site in later if site not in before]  # of one function that makes both, its call
        return self.say("wrong_object", (parts or later or [NOWHERE])[-1], row=row, other=other)

    def _not_used(self) -> Explanation | None:
        if self.used:
            return None
        copied = self.log.copied.get(id(self.source))
        if copied is not None and copied[0] is self.source and self._read_again(id(copied[1])):
            return self.say("wrong_object", copied[2], kind="copied")
        other = self._made_of_it() or self._alike()
        if other is not None:
            return other
        calls = [row for row in sorted(self.behind) if self.entries[row].extra.function is not None] if isinstance(self.source, tf.Tensor) else []
        inside = next((answer for row in calls if (answer := self._inside(row)) is not None), None)
        if inside is not None:
            return inside
        branch = next((site for tensor, site in self.log.idle if tensor is handle_of(self.source)), None)
        return self.say("independent", self.sweep.site if self.sweep else NOWHERE) if branch is None else self.say("independent", branch, kind="branch")


NAMES = {"__float__": "float()", "__int__": "int()", "__array__": "a NumPy function", "__index__": "an index",
         "__complex__": "complex()"}  # fmt: skip
