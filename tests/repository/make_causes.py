"""Write the page about causes from the causes' records and the tests' programs.

python tests/repository/make_causes.py    writes docs/causes.md
"""

from __future__ import annotations

import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from minitape.explain.causes import CAUSES  # noqa: E402
from minitape.explain.causes.cause import CAUSES_PAGE, FRAMEWORKS, KINDS, Cause, CauseText  # noqa: E402
from tests.explain.cause_programs import CauseProgram, map_causes_to_programs  # noqa: E402

PAGE = REPOSITORY / "docs" / CAUSES_PAGE
TITLES = {"tape": "minitape's tape", "torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX"}
FIELD_NAMES = {"x": "x", "line": "", "values": "", "functions": "", "used": "", "watched": ""}
HEAD = """\
# The causes

<!-- Written by tests/repository/make_causes.py from minitape/explain/causes; do not edit. -->

This page lists every cause that [`explain`](explain.md) can report: what it says happened, what it says to change, and
a program in which the cause occurs. x is the source of the gradient, and words in italics depend on the program. The
answer to a particular program may be more exact.
"""


class Placeholder(str):
    """A word in place of the value of a field. The format of the field is ignored."""

    def __format__(self, format_spec: str) -> str:
        """Return the word itself."""
        return str(self)


class PlaceholdersByField(dict[str, str]):
    """Maps each field of a sentence to a word in italics, unless the field has its own name."""

    def __missing__(self, field: str) -> str:
        """Return the name of a field in italics."""
        return Placeholder("*" + {"what": "operation", "from_": "number", "to": "number"}.get(field, field) + "*")


def format_text(template: str, text: CauseText) -> str:
    """Return a sentence with each field replaced with a word."""
    return template.format_map(PlaceholdersByField(FIELD_NAMES | {"functions": Placeholder(text.functions)}))


def choose_program(cause: Cause, programs: dict[str, dict[str, list[CauseProgram]]]) -> tuple[str, CauseProgram] | None:
    """Return the shortest program with a cause, and the program's framework, or None without a program."""
    candidates = [
        (len(program.code.splitlines()), FRAMEWORKS.index(framework), framework, program)
        for framework in cause.frameworks
        for program in programs[framework].get(cause.name, [])
    ]
    return min(candidates, key=lambda candidate: candidate[:2])[2:] if candidates else None


def format_section(cause: Cause, programs: dict[str, dict[str, list[CauseProgram]]]) -> str:
    """Return the section about a cause."""
    frameworks_by_text: dict[CauseText, list[str]] = {}
    for framework in cause.frameworks:
        text = cause.text_by_variant.get((framework, "")) or next(
            text for (own, _), text in cause.text_by_variant.items() if own == framework
        )
        frameworks_by_text.setdefault(text, []).append(framework)
    parts = [f"### {cause.name}"]
    for text, frameworks in frameworks_by_text.items():
        titles = ", ".join(TITLES[framework] for framework in frameworks)
        lines = [f"**{titles}:** {format_text(text.message, text)}"]
        if text.fix:
            lines.append(f"*Fix:* {format_text(text.fix, text)}")
        parts.append("  \n".join(lines))
    chosen = choose_program(cause, programs)
    if chosen is not None and cause.kind != "connected":
        framework, program = chosen
        lines = program.code.rstrip().splitlines()
        for number in program.blamed_lines:
            lines[number - 1] = f"{lines[number - 1].rstrip()}  # the line to blame"
        code = "\n".join(line for line in lines if line.strip())
        parts.append(f"A program for {TITLES[framework]}:\n\n```python\n{code}\n```")
    return "\n\n".join(parts)


def build_page() -> str:
    """Return the text of the page."""
    programs = {framework: map_causes_to_programs(framework) for framework in FRAMEWORKS}
    parts = [HEAD.rstrip()]
    for kind, properties in KINDS.items():
        parts.append(f"## {properties.meaning} (`{kind}`)")
        parts += [format_section(cause, programs) for cause in CAUSES.values() if cause.kind == kind]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(build_page(), encoding="utf-8")
