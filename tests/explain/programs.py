"""Programs whose gradient is None, with the expected answers of `explain`.

Files in ``cases`` are named after the kind of break. In ``inside``, the break is in a ``tf.function``, or next to an
open path. In ``nonfinite``, a gradient is not finite.

A case starts with ``#@ NAME | A; B|C | TARGET | SOURCE``, without a blank line before it. The second field lists the
causes, with one entry per flattened source. ``B|C`` accepts either cause, and ``A!`` also requires a patch. The program
follows. The program defines ``tape``, and also ``target`` and ``source`` unless the first line specifies them. If the
program computes the gradient itself, it defines ``grads``.

These marks and lines are read:

- ``#!`` marks the line to blame, and ``#?`` marks a line that is also accepted.
- A mark may apply only to one source (``#! 1``), to one cause (``#! :rebound``), or to both (``#? 1:independent``).
- ``#@ part A B`` lists the causes of blocked paths next to an open path.
- ``#@ says TEXT`` is part of the answer about a gradient that exists but is wrong. ``#! :says`` marks its lines.
- ``#@ fix N: TEXT`` replaces line N of the program, and may be repeated. With all fixes, every source has a gradient.
"""

import linecache
import re
from dataclasses import dataclass, field
from pathlib import Path

import minitape as tf

_MARK_PATTERN = re.compile(r"\s+#([!?])(?: +(\d*)(?::(\w+))?)?\s*$")
_FIX_PATTERN = re.compile(r"#@ fix (\d+): (.*)")


@dataclass
class Case:
    """A program with the expected answers.

    Attributes:
        name: The file name and the case name, joined by "/".
        causes: The accepted causes of each source.
        code: The program, without marks.
        marks: The marks as (line, "!" or "?", source number or None, cause or None).
        fixes: The replacement text of each fixed line.
        side_break_causes: The causes of blocked paths next to an open path, or None if the case does not list them.
        expected_text: A text that the answer about a wrong gradient must contain, or None.
        target_and_source: The expressions for the target and the source, if the first line names them.
        has_patch: Whether a patch is expected, for each source.
    """

    name: str
    causes: list[list[str]]
    code: str = ""
    marks: list[tuple[int, str, int | None, str | None]] = field(default_factory=list)
    fixes: dict[int, str] = field(default_factory=dict)
    side_break_causes: list[str] | None = None
    expected_text: str | None = None
    target_and_source: list[str] = field(default_factory=list)
    has_patch: list[bool] = field(default_factory=list)

    def apply_fixes(self) -> str:
        """Return the code with all fixes applied."""
        lines = self.code.splitlines()
        for number, text in self.fixes.items():
            old_line = lines[number - 1]
            lines[number - 1] = old_line[: len(old_line) - len(old_line.lstrip())] + text
        return "\n".join(lines) + "\n"

    def list_accepted_lines(self, index: int, cause: str) -> set[int | None]:
        """List the lines that an answer may name.

        Args:
            index: The number of the source.
            cause: The cause in the answer.

        Returns:
            The line numbers. None in this list means that an answer without a line is accepted.
        """
        own_marks = [
            (line, mark)
            for line, mark, source_index, mark_cause in self.marks
            if source_index in (None, index) and mark_cause in (None, cause)
        ]
        accepted: set[int | None] = {line for line, _ in own_marks}
        if cause == "connected":
            return {None}
        if cause == "independent" or not any(mark == "!" for _, mark in own_marks):
            accepted.add(None)
        return accepted


def load_cases(folder: Path) -> list[Case]:
    """Read all cases in a folder."""
    cases: list[Case] = []
    for path in sorted(folder.glob("*.cases")):
        lines: list[str] = []
        for line in path.read_text().splitlines():
            if line.startswith("#@ ") and " | " in line and not _FIX_PATTERN.match(line):
                name, causes, *target_and_source = line[3:].split(" | ")
                accepted_causes = [[cause.strip(" !") for cause in part.split("|")] for part in causes.split(";")]
                cases.append(Case(f"{path.stem}/{name}", accepted_causes, target_and_source=target_and_source))
                cases[-1].has_patch = [part.endswith("!") for part in causes.split(";")]
                lines = []
            elif line.startswith("#@ part"):
                cases[-1].side_break_causes = line[7:].split()
            elif line.startswith("#@ says "):
                cases[-1].expected_text = line[8:].strip()
            elif fix_match := _FIX_PATTERN.match(line):
                cases[-1].fixes[int(fix_match[1])] = fix_match[2]
            else:
                lines.append(_move_marks_to_case(line, len(lines) + 1, cases[-1]))
                assignments = map(" = ".join, zip(("target", "source"), cases[-1].target_and_source, strict=False))
                cases[-1].code = "\n".join(["\n".join(lines).rstrip(), *assignments]) + "\n"
    return cases


def _move_marks_to_case(text: str, number: int, case: Case) -> str:
    while True:
        mark = _MARK_PATTERN.search(text)
        if mark is None:
            return text
        text = text[: mark.start()]
        case.marks.append((number, mark[1], int(mark[2]) if mark[2] else None, mark[3] or None))


PREAMBLE = "import numpy as np\nimport math\nx = tf.Variable([0.3, 1.2])\n"


def explain_program(body: str, before: str = "", after: str = ""):
    """Run a program and explain the gradient of ``y`` with respect to ``x``.

    Args:
        body: The lines inside the tape's block.
        before: The lines before the block. They may use the existing variable ``x``.
        after: The lines after the block.

    Returns:
        The explanation.
    """
    block = "".join(f"    {line}\n" for line in body.splitlines())
    with_block = f"with tf.GradientTape(persistent=True) as tape:\n{block}"
    text = f"{PREAMBLE}{before}\n{with_block}{after}\nwhy = tape.explain(y, x)\n"
    name = f"<words {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"tf": tf}
    exec(compile(text, name, "exec"), space)
    return space["why"]
