"""What arrived, and is zero, NaN or infinite: which operation made it so. One way for a tape and for every
framework.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..recording.nodes import Break
from ..recording.sites import NOWHERE, Site, text_of
from ..recording.values import ValueSummary, numbers_of
from .caller import in_brackets
from .search import PLACE, WHOLE, Search
from .sentences import between, fill
from .statement import once
from .value_texts import TENSOR, Texts
from .words import Explanation

# Frameworks write a clip as a maximum and a minimum: where no scope has its name, the program's text is the only
# witness of it.
_CLIP = re.compile(r"\bclip\w*")
SUBTRACTS = {"sub", "Sub", "subtract", "__sub__"}
ROUNDED = 1e-5  # of a sum of float32 numbers that is zero: as much as another order of the summands may leave
CLIPS = {"max", "min", "Maximum", "Minimum"}  # of which a function clips
OPAQUE = ("resource", "variant", "string")  # types of what has no numbers itself: a dataset, a list, a text


class RowValues:
    """Why what arrived at the rows of a source is zero or not finite."""

    entries: Sequence  # by row: each a RecordedRow
    rows: list[int]  # of the source
    ends: list[int]  # of the target
    behind: set[int]  # the rows that the target was computed from
    sweep: Any  # the Sweep from the target, if one was recorded
    name: str  # of the source
    recording: Any  # what was asked about, in pictures
    texts: Texts  # cause, and a kind of it -> what happened, what fixes it
    functions: dict[str, str]  # the functions of the framework that a shared fix names
    # cause -> operations that make zeros of adjoints in this way; the first that has it counts
    zeros: dict[str, set[str]]
    classes: frozenset[str] | set[str] = frozenset()  # operations that take the logits of classes and give a loss
    # functions made of several operations whose contributions can cancel
    cancels: frozenset[str] | set[str] = frozenset()
    moves: frozenset[str] | set[str] = frozenset()  # operations that put elements together
    # operations whose derivative is zero at the values that they have, and a kind of that
    points: Mapping[str, str] = MappingProxyType({})

    def _called(self, row: int) -> str:
        """What an operation is called."""
        raise NotImplementedError

    def called_source(self) -> str:
        """What the source is called."""
        return self.name

    def say(
        self, cause: str, site: Site = NOWHERE, row: int | None = None, what: str = "", other: str = "", kind: str = ""
    ) -> Explanation:
        """An explanation; of a row its function and place."""
        if row is not None:
            site = self.entries[row].site if site is NOWHERE else site
            what = what or self._called(row)
        message, fix = self.texts[f"{cause} {kind}".strip()]
        values = self._values(cause, row) if "{values}" in message else ""
        x = self.called_source()
        fields = {"x": x, "line": in_brackets(*site), "what": what, "other": other, "values": values}
        fields["functions"] = fill(self.functions.get(f"{cause} {kind}".strip(), ""), **fields)
        fixes = fill(fix, **fields | {"x": "x" if x == fill(TENSOR) else x})
        if kind == "hidden":  # the target is finite, and its derivative is not
            cause = cause.replace("nan_forward", "nan_backward")
        answer = Explanation(cause, fill(message, **fields), fixes, *site)
        answer._tape, answer._rows, answer.name = self.recording, [] if row is None else [row], fields["x"]
        return answer

    def _values(self, cause: str, row: int | None) -> str:
        """The numbers at which an operation goes wrong, as the sentence of a cause has them."""
        arrays = [] if row is None else self._numbers(self.entries[row].inputs)
        if cause == "nan_forward":
            result = None if row is None else numbers_of(self.entries[row].value)
            if result is None or np.isfinite(result).all():
                return fill("NaN or an infinity")
            lost = np.argmin(np.isfinite(result))
            at = [np.broadcast_to(a, result.shape).flat[lost] for a in arrays if a.shape in (result.shape, ())]
            value = f"{result.flat[lost]:.4g}".replace("nan", "NaN")
            given = fill(" and ").join(f"{number:.4g}" for number in at)
            return fill("{value} at {given}", value=value, given=given) if at and len(at) == len(arrays) else value
        if len(arrays) != 1 or not arrays[0].size:
            return ""
        return fill(" ({place})", place=between(arrays[0].min(), arrays[0].max(), ".4g"))

    def _numbers(self, rows: Iterable[int]) -> list:
        """The arrays of those of these rows that have numbers."""
        return [numbers for at in rows if (numbers := numbers_of(self.entries[at].value)) is not None]

    def called_by_program(self, row: int) -> str:
        """What the program calls the value of a row, if it has a name."""
        return self.entries[row].name or ""

    # -- the graph of the rows ---------------------------------------------------------------------

    def _inputs(self, row: int) -> Sequence[int]:
        """The rows with whose values a row was computed, or a leaf was made."""
        entry = self.entries[row]
        return [*entry.inputs, *entry.came]

    def _behind(
        self, rows: Iterable[int], made: bool = True, cut: Callable[[int], bool] = lambda row: False
    ) -> set[int]:
        """These rows, and those from which they were computed, whether a gradient passes or not; of leaves also what
        they were ``made`` with.

        Of ways that are ``cut`` at a row what is behind it.
        """
        seen, stack = set(), list(rows)
        while stack:
            row = stack.pop()
            if row not in seen:
                seen.add(row)
                stack += () if cut(row) else self._inputs(row) if made else self.entries[row].inputs
        return seen

    def _after(self) -> set[int]:
        """The rows that were computed from the source."""
        return self._computed_from(self.rows)

    def _computed_from(self, rows: Iterable[int], cut: Callable[[int], bool] = lambda row: False) -> set[int]:
        """These rows, and all that were computed from them; of a path that is ``cut`` at a row, those before it."""
        found = set(rows)
        for entry in self.entries[min(found, default=0) :]:
            if any(row in found for row in self._inputs(entry.row)) and not cut(entry.row):
                found.add(entry.row)
        return found

    @once
    def _search(self) -> Search[int]:
        """The ways back from the target."""
        return Search(self.ends, self._edges, key=int, names=lambda row: (row,))

    def _edges(self, row: int) -> list[tuple[int, Break | None]]:
        """What a row was computed with, and what breaks there."""
        cause, given = self._cut_at(row), self._inputs(row)
        # a cast breaks by itself
        whole = cause and all(self.entries[one].dtype.startswith(("int", "uint", "bool")) for one in (row, *given))
        chooses = self.entries[row].dtype.startswith("int") and not any(
            self.entries[e].differentiable for e in self.ends
        )
        broken = Break(cause, None, WHOLE * bool(whole) + PLACE * chooses, row) if cause else None
        return [(one, broken) for one in given]

    def _cut_at(self, row: int) -> str:
        """The cause for which no gradient passes a row; empty where one does."""
        return "" if row in self.rows else self.entries[row].why

    def _way(self, begin: int) -> list[int]:
        """The rows from a source to the target on the path with the fewest breaks; none where no path leads there."""
        return [begin, *(row for row, _, _ in self._search().path_of(begin) or [])] if begin in self.behind else []

    # -- what arrived ------------------------------------------------------------------------------

    def _arrived(self) -> list[ValueSummary]:
        sweep = self.sweep
        return [] if sweep is None else [sweep.adjoints[row] for row in self.used if row in sweep.adjoints]

    def _nan(self) -> Explanation | None:
        """Where a NaN or infinity came up that arrived, or that the target has: in the data, in a value, in a
        derivative.
        """
        arrived, sweep = self._arrived(), self.sweep
        if sweep is None or not arrived:
            return None
        lost = next((end for end in self.ends if not self._finite(end)), None)
        if lost is not None:
            return self._origin(lost)
        if all(value is None or value.facts()[1] for value in arrived):
            return None
        after = self._after()
        for call, edges in sweep.edges.items():
            came = sweep.adjoints.get(call)
            toward = [edge for edge in edges if edge[0] in after]
            if (came is None or came.facts()[1]) and not all(edge[2].facts()[1] for edge in toward):
                kind = "grown" * self._has_grown(call, [numbers_of(came)])
                return (
                    self.say("nan_backward", row=call, kind=kind)
                    if self._finite(call)
                    else self._origin(call, "hidden")
                )
        bad = [row for row in self.behind if not self._finite(row)]
        return self._origin(min(bad), "hidden") if bad else self.say("nan_backward", row=self.used[-1])

    def _finite(self, row: int | None) -> bool:
        value = None if row is None else self.entries[row].value
        return value is None or value.facts()[1]

    def _origin(self, row: int, kind: str = "") -> Explanation:
        """The first row of those that handed a NaN or infinity on to this one, without a finite row between."""
        seen: set[int] = set()
        stack = [row]
        while stack:
            at = stack.pop()
            if at not in seen:
                seen.add(at)
                stack += [given for given in self._inputs(at) if not self._finite(given)]
        first = min(seen)
        entry = self.entries[first]
        filled = entry.kind == "operation" and entry.op in self.zeros["not_selected"]  # with a number of Python's
        if entry.kind == "operation" and not (filled or self._only_reads(first)):
            grown = self._has_grown(first, self._numbers(self._inputs(first)))
            return self.say("nan_forward", row=first, kind=kind or "grown" * grown)
        reader = first if filled else min((r for r in seen if first in self._inputs(r)), default=first)
        numbers = numbers_of(entry.value)
        put = self.entries[reader].op in self.zeros["not_selected"] or not entry.shape
        if (filled or entry.kind == "constant") and put and numbers is not None and not np.isnan(numbers).any():
            # an infinity that is put in on purpose: a mask, which leaves something over, or hides everything
            lost = [
                at for at in seen if (found := numbers_of(self.entries[at].value)) is not None and np.isnan(found).any()
            ]
            masked = numbers_of(self.entries[reader].value)
            hidden = masked is not None and not np.isfinite(masked).any()
            return self.say("nan_forward", row=reader if hidden else min(lost, default=reader), kind=kind)
        return self.say("nan_forward", row=first, kind=kind) if filled else self._leaf(first)

    def _has_grown(self, row: int, read: list) -> bool:
        """Whether what a row was computed from, or got, is so large that a product has no place in its type."""
        dtype = self.entries[row].dtype.replace("bfloat16", "float32")
        if dtype not in ("float32", "float64"):
            return False
        return any(
            np.abs(numbers).max(initial=0) > np.finfo(dtype).max ** 0.45 for numbers in read if numbers is not None
        )

    def _only_reads(self, row: int) -> bool:
        """Whether an operation was given no numbers, but what has them: a dataset, a list, a text."""
        given = self._inputs(row)
        return bool(given) and all(self.entries[at].dtype in OPAQUE for at in given)

    def _leaf(self, row: int, site: Site = NOWHERE) -> Explanation:
        """A leaf that has a NaN or infinity."""
        entry = self.entries[row]
        return self.say("nan_input", site, row, other=entry.name or "A tensor", kind="trained" * entry.differentiable)

    def _zero(self) -> Explanation | None:
        """The operation that made zeros of what came to it, where zeros arrived."""
        arrived, sweep = self._arrived(), self.sweep
        if sweep is None or not arrived or not all(value.facts()[0] for value in arrived):
            return None
        seeds = [sweep.adjoints[row] for row in sweep.target if row in sweep.adjoints]
        if seeds and all(seed.facts()[0] for seed in seeds):
            return self.say("zero_seed", sweep.site, row=self.ends[0])
        empty = next((row for row in self._way(self.used[0])[1:] if 0 in self.entries[row].shape), None)
        if empty is not None:
            return self.say("not_selected", row=empty, kind="empty")
        after = self._after()
        # what made zeros, and of what was sent and cancels the row; on another way something may come nearer to the
        # source
        last: tuple[int, ...] = ()
        alive: set[int] = set()  # rows to which something was sent that is not zero
        for call, edges in sweep.edges.items():
            came = sweep.adjoints.get(call)
            toward = [edge for edge in edges if edge[0] in after and self.entries[edge[0]].differentiable]
            if came is None or not toward:
                continue
            if came.facts()[0]:
                if call in alive:
                    return self._hooked(call)
                continue
            if all(edge[2].facts()[0] for edge in toward):
                last = (call,)
                continue
            for row, _, product, total in toward:
                (alive.discard if total.facts()[0] else alive.add)(row)
                if total.facts()[0] and not product.facts()[0]:  # what it sent is not zero, and the sum is
                    last = (call, row)
        if last:
            return self._cancelled(*last) if last[1:] else self._zero_of(*last)
        row = next(row for row in self.used if row in sweep.adjoints)
        return self._hooked(row) if row in alive else self.say("zero_sum", row=row)

    def _hooked(self, row: int) -> Explanation:
        """Something was sent to a row, and what arrived is zero: a hook of the program's own changed it."""
        return self.say("hook" if "hook" in self.texts else "zero_sum", row=row)

    def _cancelled(self, call: int, row: int) -> Explanation:
        """Contributions to a row that cancel: a function that computes with differences or shares, or the program
        itself.
        """
        meeting = self._difference(row)
        if meeting is not None:
            return self.say("zero_cancels", row=meeting, kind="difference")
        sent = [reader for reader, edges in self.sweep.edges.items() for edge in edges if edge[0] == row]
        scopes = [self.entries[reader].scope for reader in sent]
        if self.entries[call].op in self.zeros["zero_cancels"] - {"sub", "Sub"}:
            return self.say("zero_cancels", row=call)
        for depth, name in enumerate(scopes[0]):
            if re.sub(r"_\d+$", "", name) in self.cancels and all(
                scope[: depth + 1] == scopes[0][: depth + 1] for scope in scopes
            ):
                inside = [
                    entry.row
                    for entry in self.entries
                    if entry.op == "exp" and entry.scope[: depth + 1] == scopes[0][: depth + 1]
                ]
                return self.say(
                    "saturated" if any(map(self._is_one_hot, inside)) else "zero_cancels", row=call, what=name
                )
        return self.say("zero_sum", row=call, kind="elements" if len(sent) == 1 else "")

    def _difference(self, row: int) -> int | None:
        """Where two values are subtracted that were both computed from a row; those that are the same before others."""
        made, found = self._computed_from([row]), list[tuple[bool, int]]()
        for at in sorted(made & self.behind):
            entry = self.entries[at]
            if entry.op in SUBTRACTS and len(set(entry.inputs)) > 1 and made.issuperset(entry.inputs[:2]):
                one, other = (numbers_of(self.entries[given].value) for given in entry.inputs[:2])
                found.append((one is None or other is None or not np.all(one == other), at))
        return min(found)[1] if found else None

    def _zero_of(self, row: int) -> Explanation:
        """In which way an operation made zeros of what came to it."""
        entry = self.entries[row]
        if entry.op in self.points:
            # the line of the relu itself
            of = self.entries[entry.inputs[-1]].site if self.points[entry.op] == "second" else NOWHERE
            return self.say("zero_derivative", of, row=row, kind=self.points[entry.op])
        clip = _CLIP.search(" ".join([*entry.scope, text_of(entry.site)])) if entry.op in CLIPS else None
        if clip or (entry.op in CLIPS and self._is_limit(row)):
            return self.say("saturated", row=row, what=clip[0] if clip else "clip")
        if entry.op in CLIPS and self._floor_of_zeros(row):
            return self.say("dead_relu", row=row)
        cause = self._family(row)
        if cause == "dead_relu" and not self._is_off(row):
            return self.say("saturated", row=row)
        if entry.op in self.classes:
            logits = self.entries[entry.inputs[0]].shape
            alone = logits[1 if len(logits) > 1 else 0] == 1 if logits else True
            return self.say("zero_cancels", row=row, kind="one") if alone else self.say("saturated", row=row)
        if cause == "zero_cancels" and self._is_one_hot(row):
            return self.say("saturated", row=row)
        if cause == "zero_factor":
            if self._underflows(row):
                return self.say(cause, row=row, kind="underflow")
            if self._has_no_zeros(row):
                return self.say("zero_sum", row=row, kind="elements")
            if before := self._zero_before(row):
                return before
            # two masks may exclude each other: then the second
            row = next((at for at in self._way(row) if self._family(at) == cause and self._is_zero(at)), row)
        if cause:
            result = numbers_of(entry.value)
            ones = (
                cause == "zero_cancels" and entry.op.lower() == "softmax" and result is not None and np.all(result == 1)
            )
            return self.say(cause, row=row, kind="one" if ones else "")
        if self._sums_to_zero(row):
            senders = [call for call, edges in self.sweep.edges.items() if any(edge[0] == row for edge in edges)]
            if senders:  # it only hands on the sum of what came, over the elements: that is zero
                return self._cancelled(senders[-1], row)
        for later in self._way(row)[1:]:  # it hands on a part that was zero before: who took another part, or a mask?
            took = self._family(later)
            if took == "not_selected" or (took == "zero_factor" and not self._has_no_zeros(later)):
                return self.say(took, row=later)
        if entry.op in self.moves:
            return self.say("not_selected", row=row, kind="part")
        if any(map(self._is_zero, entry.inputs)):
            return self._zero_before(row) or self.say("zero_factor", row=row)
        return self.say("not_selected" if self._took_others(row) else "saturated", row=row)

    def _family(self, row: int) -> str:
        """In which way an operation makes zeros; empty where it is known for none."""
        return next((cause for cause, ops in self.zeros.items() if self.entries[row].op in ops), "")

    def _has_no_zeros(self, row: int) -> bool:
        """Whether no other factor has a zero in it: what a product gave is a sum, over what was spread out, that is
        zero.
        """
        after, came = self._after(), numbers_of(self.sweep.adjoints.get(row))
        others = [numbers_of(self.entries[given].value) for given in self.entries[row].inputs if given not in after]
        return bool(others) and came is not None and all(one is not None and np.all(one != 0) for one in others)

    def _underflows(self, row: int) -> bool:
        """Whether a product is zero because it is smaller than any number of its type, though no factor is zero."""
        after, came = self._after(), numbers_of(self.sweep.adjoints.get(row))
        factors = [self.entries[given].value for given in self.entries[row].inputs if given not in after]
        arrays = [
            array
            for value in factors
            if value is not None and (array := value.array()) is not None and array.dtype.kind == "f"
        ]
        most = 0.0 if came is None else float(np.abs(came).max(initial=0.0))
        return any(
            most > 0.0 < (factor := float(np.abs(array).max(initial=0.0)))
            and most * factor < np.finfo(array.dtype).smallest_subnormal
            for array in arrays
        )

    def _took_others(self, row: int) -> bool:
        """Whether all elements of a result are those of inputs that do not come from the source."""
        after, result = self._after(), numbers_of(self.entries[row].value)
        others = self._numbers(given for given in self.entries[row].inputs if given not in after)
        return result is not None and any(np.isin(result, numbers).all() for numbers in others)

    def _zero_before(self, row: int) -> Explanation | None:
        """Where the factor itself was computed from the source: the operation that made zeros of it."""
        after, first = self._after(), row
        while True:
            zeros = [given for given in self.entries[first].inputs if given in after and self._is_zero(given)]
            if not zeros:
                break
            first = zeros[0]
        if first == row or self.entries[first].op not in CLIPS.union(*self.zeros.values()):
            return None
        found = self._zero_of(first)
        return (
            found
            if found.cause in ("dead_relu", "not_selected", "zero_factor", "saturated", "zero_derivative")
            else None
        )

    def _is_zero(self, row: int) -> bool:
        value = self.entries[row].value
        return value is not None and value.facts()[0]

    def _sums_to_zero(self, row: int) -> bool:
        """Whether an input was spread out over a larger result, and what came to its copies cancels."""
        came, after = numbers_of(self.sweep.adjoints.get(row)), self._after()
        for given in [edge[0] for edge in self.sweep.edges.get(row, ()) if edge[0] in after]:
            shape = self.entries[given].shape
            wide = () if came is None else (1,) * (came.ndim - len(shape)) + tuple(shape)
            if (
                came is None
                or wide == came.shape
                or len(wide) != came.ndim
                or any(a not in (1, b) for a, b in zip(wide, came.shape, strict=True))
            ):
                return False
            axes = tuple(k for k, size in enumerate(wide) if size == 1)
            most = np.abs(came).sum(axes)
            if not most.any() or (np.abs(came.sum(axes)) > ROUNDED * most).any():
                return False
        return came is not None

    def _is_limit(self, row: int) -> bool:
        """Whether an operation is one of two next to each other that keep a value between two constants."""
        near = [
            self.entries[k]
            for k in (*self.entries[row].inputs, *range(row + 1, len(self.entries)))
            if k in self.entries[row].inputs or row in self.entries[k].inputs
        ]
        both = [self.entries[row], *(other for other in near if other.op in CLIPS - {self.entries[row].op})]
        return len(both) > 1 and all(
            any(self.entries[given].kind == "constant" for given in one.inputs) for one in both
        )

    def _floor_of_zeros(self, row: int) -> bool:
        """Whether an operation compares with a constant of zeros, as a relu that is written out."""
        others = [self.entries[given] for given in self.entries[row].inputs]
        return any(other.kind == "constant" and other.value is not None and other.value.facts()[0] for other in others)

    def _is_off(self, row: int) -> bool:
        """Whether a relu gives zeros where an adjoint came; a relu6, elu or hard sigmoid can be at its other limit."""
        value, came = numbers_of(self.entries[row].value), numbers_of(self.sweep.adjoints.get(row))
        if value is None or came is None or value.shape != came.shape:
            return True
        return not value[came != 0].any()

    def _is_one_hot(self, row: int) -> bool:
        """Whether a softmax over several classes gives one of them everything."""
        value = numbers_of(self.entries[row].value)
        return value is not None and bool((value == 1).any() and (value == 0).any())

    @property
    def used(self) -> list[int]:
        """Those rows of the source from which the target was computed."""
        return [row for row in self.rows if row in self.behind]
