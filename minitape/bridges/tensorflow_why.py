"""Why a gradient of TensorFlow is None, zero or NaN: from the rows of a recording, and from what its sweep gave."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from ..engine.frames import lines_of
from ..explain.words import Explanation
from .inquiry import Inquiry
from .site import NOWHERE, Site
from .tensorflow_log import handle_of, name_of
from .tensorflow_texts import CHOICES, STEPS, TEXT, ZEROS

_NUMPY = re.compile(r"\bnp\.|numpy")


def why(recording: Any, target: Any, source: Any) -> Explanation:
    """The explanation of one gradient; see ``TensorFlowRecording.explain``."""
    return TensorFlowInquiry(recording, target, source).answer()


class TensorFlowInquiry(Inquiry):
    """One question."""

    texts, zeros, choices = TEXT, ZEROS, CHOICES

    def __init__(self, recording: Any, target: Any, source: Any) -> None:
        self.log = recording.log
        if isinstance(source, tf.Variable) and not self.log.rows_of(source):
            self.log.adopt([source])  # one that no tape watched
        known = name_of(source) if isinstance(source, tf.Variable) or hasattr(source, "path") else None
        super().__init__(recording, target, source, self.log.rows_of(source), known or "the tensor")

    def checks(self) -> Iterable[Callable[[], Explanation | None]]:
        """What may have happened in TensorFlow."""
        if not isinstance(handle_of(self.source), tf.Tensor):
            raise TypeError(f"explain() takes a tensor or a variable as its source, but received {self.source!r}.")
        return (self._plain_target, self._dtype, self._own, self._break, self._outside, self._not_used, self._nan, self._zero)

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
        if leaf is None or any(self.entries[row].differentiable for row in self.used) or not self.log.tapes:
            return None
        if self.entries[leaf].extra.late:
            return self.say("watched_late", site=self._use(), row=leaf)
        if self.entries[leaf].kind != "variable":
            return self._when(leaf) or self.say("not_watched", site=self._use(), row=leaf)
        if not getattr(self.source, "trainable", True):
            return self.say("not_trainable", site=self._use(), row=leaf)
        return self._when(leaf) or self.say("not_accessed_watched", site=self._use(), row=leaf)

    def _when(self, leaf: int) -> Explanation | None:
        """The source's first use ran before the tape began, or after it had ended."""
        readers = [row for row in sorted(self.behind) if leaf in self._inputs(row)]
        watched = any(value is handle_of(self.source) for value, *_ in self.log.watches) or self.entries[leaf].kind == "variable"
        if not readers or not watched:
            return None
        return self._time(readers[0])

    def _time(self, row: int) -> Explanation | None:
        """What the tapes were doing when an operation ran: nothing, where they recorded."""
        depth, paused, begun = 0, False, False
        for word, at, _ in self.log.spans:
            if at > row:
                break
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

    def _broken(self, row: int) -> Explanation:
        cause = self.entries[row].extra.why
        if cause == "not_recorded":
            return self._time(row) or self.say("computed_before_tape", row=row)
        if self.entries[row].op in STEPS:
            cause = "zero_derivative"
        return self.say(cause, row=row, kind="inside" if cause == "integer_dtype" else "")

    def _no_rule(self, ways: list[list[int]]) -> Explanation | None:
        """Everything is on the tape, and an operation has no derivative (None) for its input."""
        sweep = self.sweep
        if sweep is None or any(row in sweep.adjoints for row in self.used):
            return None
        for way in ways:
            for row in reversed(way):
                if row in sweep.adjoints and self.entries[row].call not in sweep.edges and self.entries[row].inputs:
                    return self.say("zero_derivative" if self.entries[row].op in STEPS else "nondifferentiable", row=row)
        return None

    def _outside(self) -> Explanation | None:
        """The value left TensorFlow, or went through a variable."""
        if self.used or self.end is None:
            return None
        after = self._after()
        for _handle, stored, site in self.log.stores:
            if stored in after and self._read_again(_handle):
                return self.say("variable_assign", site=site, row=stored)
        left = [exit for exit in self.log.left if exit.row in after and exit.how != "__bool__"]
        left = [exit for exit in left if exit.before <= max(self.behind) and not self.is_looked_at(exit.site)]
        if left:
            return self.say("left_through_numpy", left[0].site, row=left[0].row, what=NAMES.get(left[0].how, f".{left[0].how}()"))
        branch = next((exit for exit in self.log.left if exit.row in after and exit.how == "__bool__"), None)
        return self._read_by_numpy(after) if branch is None else self.say("python_branch", branch.site, row=branch.row)

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

    def _not_used(self) -> Explanation | None:
        if self.used:
            return None
        shape = tuple(self.source.shape)
        alike = [row for row in sorted(self.behind) if self.entries[row].kind == "variable" and self.entries[row].shape == shape]
        if alike and not self.rows and self.entries[alike[0]].kind == "variable" and not isinstance(self.source, tf.Tensor):
            return self.say("wrong_object", row=alike[0], other=self.entries[alike[0]].name or "a variable")
        return self.say("independent")


NAMES = {"__float__": "float()", "__int__": "int()", "__array__": "a NumPy function", "__index__": "an index",
         "__complex__": "complex()"}  # fmt: skip
