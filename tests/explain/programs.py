"""Programs with a gradient that is None, and what `explain` must say: the files in ``cases``, each named by what breaks
the path.

In ``inside`` it happens in a ``tf.function`` or on another path than an open one, in ``nonfinite`` a gradient is not
finite.
A case starts with ``#@ NAME | A; B|C | TARGET | SOURCE``, no blank line before it: the causes, one entry for each
flattened source (``B|C``: both are right; ``A!``: and a line to write is proposed), and what is asked about. Its code
follows, as a user would write it; it defines ``tape``, and ``target`` and ``source`` where the first line does not say
them (``grads``, where it has taken the gradient itself).
``#!`` marks the line to blame, ``#?`` one that is accepted as well; a mark may be bound to the number of a source
(``#! 1``), to a cause (``#! :rebound``), or both (``#? 1:independent``).
``#@ part A B`` are the causes of paths that are blocked next to an open one.
``#@ says TEXT`` is what must be said of a gradient that is there and wrong; the lines for it are marked ``#! :says``.
``#@ fix N: TEXT`` fixes the program: with TEXT as its line N (there may be several) every source has a gradient.
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
    """One program: ``causes[i]`` are the accepted causes of source i, ``list_accepted_lines(i, cause)`` the accepted
    lines.
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
        """The code with the lines of ``fixes`` in place of its own."""
        lines = self.code.splitlines()
        for number, text in self.fixes.items():
            old_line = lines[number - 1]
            lines[number - 1] = old_line[: len(old_line) - len(old_line.lstrip())] + text
        return "\n".join(lines) + "\n"

    def list_accepted_lines(self, index: int, cause: str) -> set[int | None]:
        """The lines that may be named for a source and a cause; None where no single line is to blame."""
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
    """All cases of a folder."""
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
    """The answer for ``y`` and ``x`` of a program with ``body`` in its block."""
    block = "".join(f"    {line}\n" for line in body.splitlines())
    with_block = f"with tf.GradientTape(persistent=True) as tape:\n{block}"
    text = f"{PREAMBLE}{before}\n{with_block}{after}\nwhy = tape.explain(y, x)\n"
    name = f"<words {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"tf": tf}
    exec(compile(text, name, "exec"), space)
    return space["why"]
