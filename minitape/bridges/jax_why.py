"""Why a gradient of JAX is zero or NaN, or refused: from the rows of a recording, and from what JAX sent back."""

from __future__ import annotations

import ast
import re
import traceback
from typing import Any

import jax
import numpy as np

from ..engine.recording.frames import own_file
from ..explain.fixes.dialects import JAX
from ..explain.sentences import fill
from ..explain.source import source_of, statement_at
from ..explain.statement import last_name, unparse
from ..explain.values import CLIPS
from ..explain.words import Explanation
from ..recording.rows import RowExit
from ..recording.sites import NOWHERE, Site
from .checkup import Checkup
from .inquiry import Inquiry, Reasons
from .jax_log import SHARES, STAIRS, places
from .jax_origin import JaxLeaf, JaxOrigin, returned
from .jax_texts import BENT, FUNCTIONS, TEXT, ZEROS
from ..why.suspects import is_alike
from .texts import ARRAY

TRACED = ("Tracer", "traced", "concrete")  # what errors say that come of a number that is not there
BENDS = {"relu", "leaky_relu", "relu6", "max", "abs", "select_n"}  # that consist of straight lines
# written without a call
_SIGNS = set("add sub mul div pow integer_pow neg dot_general rem gt ge lt le eq ne".split())
_WHOLE = {"softmax", "log_softmax", "logsumexp"}  # functions of shares, whose steps no question is about
NUMBERS = "int float round item tolist range".split()  # calls that make Python's numbers of an array
GROWS = set("exp exp2 expm1 cosh sinh pow integer_pow".split())  # operations that overflow
_ASKED = re.compile(r"problem arose with the `(\w+)` function")


def why(recording: Any, target: Any, source: Any) -> Explanation:
    """The explanation of one gradient; see ``Recording.explain``. Of a tree, that of its worst leaf."""
    rows = recording.rows_of(source)
    if rows[1:]:
        page = Checkup(recording, target).page(recording.named(rows))
        return next(iter(page.problems or page.values()))
    from ..why.jax import ask

    return ask(recording, target, source, rows)


class JaxInquiry(Inquiry):
    """One question."""

    dialect = JAX
    texts, functions, zeros, cancels, unused = TEXT, FUNCTIONS, ZEROS, SHARES, "unused"

    def __init__(self, recording: Any, target: Any, source: Any, rows: list[int]) -> None:
        known = recording.entries[rows[0]].name if rows else None
        end = recording.target if target is None or target is recording.value else target
        self.origin = JaxOrigin(*recording.asked)
        super().__init__(recording, end, source, rows, known or ARRAY)

    def _called(self, row: int) -> str:
        """An operation by the name of the function that the line calls, where that does nothing else: ``sqrt in
        norm(...)``.
        """
        entry, called, statement = self.entries[row], super()._called(row), statement_at(self.entries[row].site)
        calls = {last_name(n.func) for n in ([] if statement is None else statement.walk()) if isinstance(n, ast.Call)}
        written = next(
            (name for name in entry.scope if name in calls),
            calls.pop() if len(calls) == 1 and entry.op not in _SIGNS else called,
        )
        around = entry.scope[: entry.scope.index(written) + 1] if written in entry.scope else ()
        alone = sum(other.scope[: len(around)] == around and other.site == entry.site for other in self.entries) == 1
        return (
            written
            if alone or written in _WHOLE or written in called or called in written
            else fill("{operation} in {function}(...)", operation=called, function=written)
        )

    def _name(self, known: str) -> str:
        return known if known != ARRAY else super()._name(known)

    def checks(self) -> Reasons:
        """What may have happened in JAX."""
        if isinstance(self.source, str) and not self.rows and self.recording.ran:
            names = ", ".join(entry.name for entry in self.entries if entry.name and entry.kind == "source")
            raise ValueError(f"explain() knows no argument {self.source!r}. There are: {names}.")
        if (
            not self.rows
            and not isinstance(self.source, str)
            and not hasattr(self.source, "shape")
            and self._read_outside() is None
        ):
            raise TypeError(
                f"explain() takes an array or the name of an argument as its source, but received {self.source!r}."
            )
        return (
            self._traced,
            self._dtype,
            self._result,
            self._own,
            self._break,
            self._outside,
            self._not_used,
            self._refused,
            self._zero_rule,
            self._nan,
            self._zero,
        )

    # -- what JAX refuses --------------------------------------------------------------------------

    def _traced(self) -> Explanation | None:
        """The function could not be traced."""
        error = self.recording.error
        if error is None or self.recording.ran:
            return None
        site, called = site_of_error(error)
        site = site if self.recording.stopped is NOWHERE else self.recording.stopped
        if isinstance(error, jax.errors.UnexpectedTracerError):
            return self.say("leaked_tracer", site)
        if isinstance(error, jax.errors.TracerBoolConversionError):
            return self.say("branch", site)
        if isinstance(error, jax.errors.NonConcreteBooleanIndexError):
            return self.say("boolean_index", site)
        if "size argument" in str(error):
            return self.say("boolean_index", site, kind="size", what=self._asked(error, called))
        if not any(word in f"{error} {error.__cause__} {error.__context__}" for word in TRACED):
            return self._forbidden(error, site)
        use = statement_at(site)
        math = [
            unparse(n.func)
            for n in ([] if use is None else use.walk())
            if isinstance(n, ast.Call) and unparse(n.func).startswith("math.")
        ]
        return self.say("left_jax", site, what=f"{math[0]}()" if math else self._asked(error, called))

    def _forbidden(self, error: Exception, site: Site) -> Explanation:
        """What JAX does not allow, also in a gradient that the function itself asks for."""
        said = str(error)
        for word, cause in (("while_loop", "while_loop"), ("callback", "callback"), ("scalar-output", "not_scalar")):
            if word in said:
                return self.say(
                    cause, site, what=said.rpartition("shape: ")[2].rstrip(".") if cause == "not_scalar" else word
                )
        kinds = {"item assignment": "in_place", "forward-mode": "forward", "got <class 'list'>": "list"}
        return self.say(
            "refused",
            site,
            kind=next((kind for word, kind in kinds.items() if word in said), ""),
            what=said.partition("\n")[0],
        )

    def _asked(self, error: Exception, called: str) -> str:
        """What wanted a number: JAX says it, or the error came up in a function of its own."""
        if isinstance(error, jax.errors.TracerArrayConversionError):
            return fill("A NumPy function")
        if isinstance(error, jax.errors.TracerIntegerConversionError):
            return fill("range() or an index")
        found = _ASKED.search(str(error))
        return f"{found[1] if found else called}()" if found or called else fill("This line")

    def _dtype(self) -> Explanation | None:
        """An argument that is differentiated is no float."""
        asked = self.recording.chosen if self.recording.error is not None else self.rows
        for row in asked:
            entry = self.entries[row]
            if row in self.recording.chosen and not entry.differentiable:
                return self.say(
                    "integer_dtype", self._made(row), what=entry.dtype, other=entry.name or fill("An argument")
                )
        return None

    def _result(self) -> Explanation | None:
        """The result is not one number."""
        if self.recording.error is None or self.recording.sweeps:
            return None
        value = self.recording.value
        site = self.origin.result(NOWHERE if self.end is None else self.entries[self.end].site)
        if isinstance(self.recording.error, TypeError) and not hasattr(value, "shape"):
            return self.say("not_scalar", site, kind="none") if value is None else self.say("has_aux", site)
        if isinstance(self.recording.error, TypeError) and "aux" in str(self.recording.error):
            return self.say("has_aux", site, kind="none")
        if isinstance(self.recording.error, TypeError) and value.shape != ():
            return self.say("not_scalar", site, what=str(value.shape))
        if isinstance(self.recording.error, TypeError) and np.iscomplexobj(value):
            return self.say("refused", site, kind="complex")
        return None

    def _refused(self) -> Explanation | None:
        """JAX's way back ended in an error."""
        error = self.recording.error
        if error is None:
            return None
        for word, cause in (("while", "while_loop"), ("callback", "callback")):
            row = next(
                (
                    row
                    for row in sorted(self.behind)
                    if word in self.entries[row].op and self.entries[row].differentiable
                ),
                None,
            )
            if row is not None:
                return self.say(cause, row=row)
        said = str(error).partition("\n")[0]
        rules = [
            row for row in sorted(self.behind) if self.entries[row].extra.custom and self.entries[row].differentiable
        ]
        return (
            self._rule(rules[0], "refused", said)
            if rules and "bwd rule" in said
            else self.say("refused", site_of_error(error)[0], what=said)
        )

    # -- why nothing arrives -----------------------------------------------------------------------

    def _own(self) -> Explanation | None:
        if not self.rows or self.rows[0] in self.recording.chosen:
            return self._closure()
        if self.entries[self.rows[0]].kind == "source":
            return self.say("argnums", self.origin.gradient_line)
        return None

    def _made(self, row: int) -> Site:
        """The line that made an argument."""
        leaf = next((leaf for leaf in self.recording.given if leaf.row == row), None)
        return NOWHERE if leaf is None else self.origin.leaf_line(leaf)

    def _origin(self, row: int, kind: str = "") -> Explanation:
        answer = super()._origin(row, kind)
        behind = self._behind(self._inputs(answer._rows[0]))
        large = [
            at
            for at in behind
            if self.entries[at].op in GROWS and not self._finite(at) and all(map(self._finite, self.entries[at].inputs))
        ]
        if large and answer.cause == "nan_forward":  # an infinity that a division has hidden before
            return self.say("nan_forward", row=min(large), kind=kind)
        entry = self.entries[answer._rows[0]]
        if entry.extra.bad is NOWHERE or not all(map(self._finite, entry.inputs)):
            return answer
        return self.say("nan_forward", entry.extra.bad, kind=kind, what=fill("An operation"))

    def _leaf(self, row: int, site: Site = NOWHERE) -> Explanation:
        entry = self.entries[row]
        if entry.extra.bad is not NOWHERE:
            return self.say("nan_forward", entry.extra.bad, row=row, what=fill("An operation"))
        return super()._leaf(row, self._made(row) if entry.kind == "source" else NOWHERE)

    def _read_outside(self) -> Site | None:
        """Where the function reads, by a name, a number that is no argument."""
        return (
            None
            if self.name == ARRAY
            else self.origin.reads(lambda name, value: name == self.name and value is self.source)
        )

    def _closure(self) -> Explanation | None:
        """The array was used from outside of the function."""
        if self.rows:
            return None
        for row in sorted(self.behind):
            if any(root is self.source for root in self.entries[row].extra.roots):
                return self.say("closure", self._reader_of(row), row=row)
        root, read = self.recording.log.outside.get(id(self.source), (None, NOWHERE))
        site = read if root is self.source and root is not None else self._read_outside()
        return None if site is None else self.say("closure", site)

    def _reader_of(self, row: int) -> Site:
        """The first line that reads a row on the path to the result."""
        return next((self.entries[at].site for at in sorted(self.behind) if row in self.entries[at].inputs), NOWHERE)

    def _taken_instead(self, leaf: JaxLeaf) -> Explanation | None:
        """What was used in the place of an argument that was not: an array from outside of the function that has its
        values, or nearly, or what a line reads by its key.
        """
        value, key = np.asarray(leaf.value), [repr(one) for one in leaf.path]
        for row in sorted(self.behind):
            entry = self.entries[row]
            roots = [np.asarray(root) for root in entry.extra.roots]
            at = statement_at(entry.site) if key[:1] and not key[1:] and entry.kind == "operation" else None
            if any(unparse(getattr(n, "slice", n)) in key for n in (() if at is None else at.reads())):
                return self.say("closure", entry.site, row=row, kind="held")
            if (
                any(root.shape == value.shape and is_alike(root, value) for root in roots)
                and (site := self._reader_of(row)) is not NOWHERE
            ):
                return self.say("closure", site, row=row, kind="held")
        return None

    def _broken(self, row: int) -> Explanation:
        why = self.entries[row].extra.why
        return self._stairs(row) if why == "no_derivative" and self._in_stairs(row) else self.say(why, row=row)

    def _in_stairs(self, row: int) -> str:
        """The function of jax.numpy that is constant in steps, and that an operation is a part of."""
        return next((name for name in self.entries[row].scope if name in STAIRS), "")

    def _stairs(self, row: int) -> Explanation:
        return self.say("zero_derivative", row=row, what=self._in_stairs(row))

    def _instead(self) -> Explanation | None:
        after = self._after()
        for fork in self.recording.log.forks:
            if after.intersection(fork.rows):
                return self.say("other_branch", fork.site, what=str(fork.taken))
        leaf = next((leaf for leaf in self.recording.given if leaf.row in self.rows), None)
        read = None if leaf is None else self.origin.read(leaf)
        if read is not None:
            return self.say("closure", read)
        held = None if leaf is None else self._taken_instead(leaf)
        if held is not None:
            return held
        bent = [row for row in sorted(after) if self.entries[row].op in BENDS]
        # of a derivative that the function takes
        if bent and any("transpose(" in scope for row in after for scope in self.entries[row].scope):
            return self.say("zero_derivative", row=bent[0], kind="second")
        return None

    def _left_by(self, exit: RowExit) -> Explanation:
        """A value that Python asked for while the function was traced."""
        if exit.how == "__bool__":
            return self.say("other_branch", exit.site, kind="python")
        use = statement_at(exit.site)
        number = next((name for name in NUMBERS if use is not None and use.calls(name)), "")
        return self.say("left_jax", exit.site, what=f"{number}()", kind="number" if number else "values")

    def may_return(self, exit: RowExit) -> bool:  # what is computed from it alone has no rows
        return True

    def _never_read(self) -> Explanation:
        return self.say("unused", self.origin.head)

    def _dropped_at(self, row: int) -> Site:
        """The statement that has the value of a row, and does not return it to a caller."""
        eqns = [
            part for call in self.recording.log.calls if row in call.rows for part in getattr(call.compute, "args", ())
        ]
        for file, line in places(eqns[0]) if eqns and hasattr(eqns[0], "source_info") else ():
            source = source_of(file or "")
            statement = None if source is None else source.at(file or "", line or 0)
            end = (
                statement is not None
                and self.origin.definition is not None
                and statement.function is self.origin.definition.node
            )
            if statement is not None and (end or not isinstance(statement.node, ast.Return)):
                return file, statement.line
        return self.entries[row].site

    def _zero_rule(self) -> Explanation | None:
        """A custom rule or a loop that passed no gradient on: JAX returns zeros there without an error."""
        sweep = self.sweep
        if sweep is None or not self.used or self.used[0] not in self.recording.unreached:
            return None
        way = self._way(self.used[0])[1:]
        for row in way:
            if self.entries[row].extra.custom:
                return self._rule(row)
            if "while" in self.entries[row].op:  # only conditions of the loop depend on it
                return self.say("while_loop", row=row)
        return None

    def _zero_of(self, row: int) -> Explanation:
        entry = self.entries[row]
        step = self._step() if entry.op in CLIPS else None
        if step is not None:
            return self._broken(step)
        if self._in_stairs(row):
            return self._stairs(row)
        curve = next((name for name in entry.scope if name in BENT), "")
        if curve and entry.op == "select_n":
            return self.say("saturated", row=row, what=curve)
        if entry.op == "select_n" and self._is_written_relu(row):
            return self.say("dead_relu", row=row, what="where")
        if entry.extra.custom and not self._family(row):
            return self._rule(row)
        return super()._zero_of(row)

    def _rule(self, row: int, cause: str = "custom_rule", what: str = "") -> Explanation:
        """A rule of the program's own: the line on which it returns."""
        return self.say(cause, returned(self.entries[row].extra.custom), row=row, what=what)

    def _floor_of_zeros(self, row: int) -> bool:
        return self.entries[row].label in ("max 0.0", "0.0 max") or super()._floor_of_zeros(row)

    def _is_written_relu(self, row: int) -> bool:
        """Whether a choice is ``where(x > 0, x, 0.0)``, and all that matters was negative."""
        inputs = self.entries[row].inputs
        asked = [given for given in inputs if self.entries[given].op in ("gt", "ge", "lt", "le")]
        return bool(asked) and bool(set(self.entries[asked[0]].inputs) & set(inputs)) and self._is_off(row)

    def _step(self) -> int | None:
        """A step function that alone is on another path of the source: its gradient would be zero there for any
        value.
        """
        for row in sorted(self._after() & self.behind):
            if self.entries[row].extra.why == "zero_derivative" or self._in_stairs(row):
                passed = [at for at in self._way(row)[1:] if self.entries[at].extra.why]
                if not passed:
                    return row
        return None


def site_of_error(error: Exception) -> tuple[Site, str]:
    """The user's innermost line on which an error was raised, and the function of a library in which."""
    called = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not own_file(frame.filename):
            return (frame.filename, frame.lineno), called
        called = frame.name.strip("_") if frame.name not in ("meth", "op") else called
    return NOWHERE, ""
