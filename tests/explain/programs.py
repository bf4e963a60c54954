"""Programs with a gradient that is None, and what `explain` must say: the files in ``cases``, each named by what cuts
the way.

In ``inside`` it happens in a ``tf.function`` or beside a way that holds, in ``nonfinite`` a gradient is not finite.
A case starts with ``#@ NAME | A; B|C | TARGET | SOURCE``, no blank line before it: the causes, one entry for each
flattened source (``B|C``: both are right; ``A!``: and a line to write is proposed), and what is asked about. Its code
follows, as a user would write it; it defines ``tape``, and ``target`` and ``source`` where the first line does not say
them (``grads``, where it has taken the gradient itself).
``#!`` marks the line to blame, ``#?`` one that is accepted as well; a mark may be bound to the number of a source
(``#! 1``), to a cause (``#! :rebound``), or both (``#? 1:independent``).
``#@ part A B`` are the causes of ways that are cut beside one that holds.
``#@ says TEXT`` is what must be said of a gradient that is there and wrong; the lines for it are marked ``#! :says``.
``#@ fix N: TEXT`` fixes the program: with TEXT as its line N (there may be several) every source has a gradient.
"""

import linecache
import re
from dataclasses import dataclass, field
from pathlib import Path

import minitape as tf

_MARK = re.compile(r"\s+#([!?])(?: +(\d*)(?::(\w+))?)?\s*$")
_FIX = re.compile(r"#@ fix (\d+): (.*)")


@dataclass
class Case:
    """One program: ``causes[i]`` are the accepted causes of source i, ``lines(i, cause)`` the accepted lines."""

    name: str
    causes: list[list[str]]
    code: str = ""
    marks: list[tuple[int, str, int | None, str | None]] = field(default_factory=list)
    fixes: dict[int, str] = field(default_factory=dict)
    parts: list[str] | None = None
    says: str | None = None
    ends: list[str] = field(default_factory=list)
    patched: list[bool] = field(default_factory=list)

    def fixed(self) -> str:
        """The code with the lines of ``fixes`` in place of its own."""
        lines = self.code.splitlines()
        for number, text in self.fixes.items():
            old = lines[number - 1]
            lines[number - 1] = old[: len(old) - len(old.lstrip())] + text
        return "\n".join(lines) + "\n"

    def lines(self, index: int, cause: str) -> set[int | None]:
        """The lines that may be named for a source and a cause; None where no single line is to blame."""
        mine = [(line, mark) for line, mark, i, c in self.marks if i in (None, index) and c in (None, cause)]
        found: set[int | None] = {line for line, _ in mine}
        if cause == "connected":
            return {None}
        if cause == "independent" or not any(mark == "!" for _, mark in mine):
            found.add(None)
        return found


def load(folder: Path) -> list[Case]:
    """All cases of a folder."""
    cases: list[Case] = []
    for path in sorted(folder.glob("*.cases")):
        lines: list[str] = []
        for raw in path.read_text().splitlines():
            if raw.startswith("#@ ") and " | " in raw and not _FIX.match(raw):
                name, causes, *ends = raw[3:].split(" | ")
                accepted = [[c.strip(" !") for c in part.split("|")] for part in causes.split(";")]
                cases.append(Case(f"{path.stem}/{name}", accepted, ends=ends))
                cases[-1].patched = [part.endswith("!") for part in causes.split(";")]
                lines = []
            elif raw.startswith("#@ part"):
                cases[-1].parts = raw[7:].split()
            elif raw.startswith("#@ says "):
                cases[-1].says = raw[8:].strip()
            elif fix := _FIX.match(raw):
                cases[-1].fixes[int(fix[1])] = fix[2]
            else:
                lines.append(_unmarked(raw, len(lines) + 1, cases[-1]))
                asked = map(" = ".join, zip(("target", "source"), cases[-1].ends, strict=False))
                cases[-1].code = "\n".join(["\n".join(lines).rstrip(), *asked]) + "\n"
    return cases


def _unmarked(text: str, number: int, case: Case) -> str:
    while True:
        found = _MARK.search(text)
        if found is None:
            return text
        text = text[: found.start()]
        case.marks.append((number, found[1], int(found[2]) if found[2] else None, found[3] or None))


BEGIN = "import numpy as np\nimport math\nx = tf.Variable([0.3, 1.2])\n"


def explained(body: str, before: str = "", after: str = ""):
    """The answer for ``y`` and ``x`` of a program with ``body`` in its block."""
    inside = "".join(f"    {line}\n" for line in body.splitlines())
    text = (
        f"{BEGIN}{before}\nwith tf.GradientTape(persistent=True) as tape:\n{inside}{after}\nwhy = tape.explain(y, x)\n"
    )
    name = f"<words {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"tf": tf}
    exec(compile(text, name, "exec"), space)
    return space["why"]
