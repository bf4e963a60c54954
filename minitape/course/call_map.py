"""The calls that a program makes inside minitape: lesson 12 draws its maps from them.

>>> import minitape as tf
>>> a, b = tf.Variable(2.0), tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     forwards = map_calls(lambda: a * b, tape)
>>> [step.rows for step in forwards.writers()], float(forwards.value)
([1, 2, 3], 6.0)
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from ..common.texts import say

if TYPE_CHECKING:
    from ..engine.types import Object

HERE = Path(__file__).parent
PACKAGE = HERE.parent
FORMULA = "<formula "


@dataclass
class CallStep:
    """A call of one function of minitape: `depth` says how many other calls it is in.

    `caller` is the step that called it. `rows` is how many rows the tape had after it, if it wrote one, else 0.
    """

    name: str
    file: str
    line: int
    depth: int
    caller: CallStep | None = field(repr=False)
    code: CodeType = field(repr=False)
    rows: int = 0

    @property
    def formula(self) -> str:
        """The formula that the function was made from; "" where it is in a file."""
        return self.file.removeprefix(FORMULA).removesuffix(">") if self.file.startswith(FORMULA) else ""

    def source(self) -> str:
        """The text of the function, as it is installed here. Raises OSError for one that was made from a text."""
        return textwrap.dedent(inspect.getsource(self.code))


@dataclass
class CallMap:
    """The calls that a program made inside minitape, in their order, and what the program gave."""

    value: Object
    steps: list[CallStep]

    def writers(self) -> list[CallStep]:
        """The innermost functions that wrote a row, in the order of the rows."""
        return sorted((step for step in self.steps if step.rows), key=lambda step: step.rows)

    def rule(self, formula: str) -> CallStep:
        """The first step that was made from this formula, or from several of which it is one.

        Raises LookupError where there is none.
        """
        found = [step for step in self.steps if formula in (step.formula, *step.formula.strip("()").split(", "))]
        if not found:
            raise LookupError(f"no step was made from the formula {formula!r}")
        return found[0]

    def __repr__(self) -> str:
        return "\n".join(f"{number:3}  {_line(step)}" for number, step in enumerate(self.steps, 1))


def map_calls(work: Callable[[], Object], tape: Object = None) -> CallMap:
    """Call `work`, and note each function of minitape that is called meanwhile; of a `tape`, who wrote its rows.

    Generators' turns are calls, too. The compiled loop for long tapes is one call: what is inside is no Python.
    """
    steps: list[CallStep] = []
    inside: list[CallStep | None] = []
    rows = _rows(tape)

    def see(frame: FrameType, event: str, _: Object) -> None:
        nonlocal rows
        if event == "call":
            caller = next((step for step in reversed(inside) if step), None)
            step = _step(frame.f_code, caller)
            inside.append(step)
            steps.extend([step] if step else [])
        elif event == "return" and inside:
            step, now = inside.pop(), _rows(tape)
            if step and now > rows:
                step.rows = rows = now

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        value = work()
    finally:
        sys.setprofile(before)
    return CallMap(value, steps)


def _rows(tape: Object) -> int:
    from .. import snapshot

    return 0 if tape is None else len(snapshot(tape)["rows"])


def _step(code: CodeType, caller: CallStep | None) -> CallStep | None:
    """The step of a call; None for what is no code of minitape."""
    file = code.co_filename
    if not file.startswith(FORMULA):
        path = Path(file)
        if not path.is_relative_to(PACKAGE) or path.is_relative_to(HERE):
            return None
        file = path.relative_to(PACKAGE).as_posix()
    name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
    return CallStep(name, file, code.co_firstlineno, caller.depth + 1 if caller else 0, caller, code)


def _line(step: CallStep) -> str:
    place = f"{step.file}:{step.line}"
    if step.formula:
        place = (
            say("made from a text")
            if step.formula.isidentifier()
            else say("the formula {formula}", formula=step.formula)
        )
    wrote = say("   writes row {row}", row=step.rows - 1) if step.rows else ""
    return f"{'  ' * step.depth + step.name:<44} {place}{wrote}"
