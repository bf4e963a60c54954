"""Write all answers of `explain` to a file, to show the effects of a change.

The file contains the answers for tapes and for all installed frameworks.

    python -m tests.explain.answers before.json            writes the file
    python -m tests.explain.answers before.json --compare  prints the changes since then
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bridges.cases import strip_fix_comments
from tests.bridges.frameworks import FRAMEWORKS

from .test_programs import CASES, run_and_explain

ANSWER_PARTS = ("kind", "cause", "line", "message", "fix", "patch", "others")
AnswerTable = dict[str, dict[str, Any]]


def collect_answers_by_program() -> AnswerTable:
    """Collect the parts of each answer, by program name and source number."""
    return {name: _to_answer_parts(answer) for name, answer in _iter_named_answers()}


def _iter_named_answers() -> Iterator[tuple[str, Any]]:
    for case in CASES:
        for number, answer in enumerate(run_and_explain(case, early=False)[1]):
            yield f"tape {case.name} {number}", answer
    for framework in FRAMEWORKS:
        if not framework.is_installed:
            continue
        for name, (_, text) in framework.cases.items():
            _, _, answer = framework.record_and_explain_program(strip_fix_comments(text), f"<{name}>")
            yield f"{framework.name} {name}", answer


def _to_answer_parts(answer: Any) -> dict[str, Any]:
    others = [[other.cause, other.line] for other in answer.others]
    return {part: getattr(answer, part) for part in ANSWER_PARTS[:-1]} | {"others": others}


def list_differences(earlier: AnswerTable, current: AnswerTable) -> list[tuple[str, str, Any, Any]]:
    """List the parts of answers that changed, in programs that both tables contain.

    Args:
        earlier: The earlier answers by program.
        current: The current answers by program.

    Returns:
        The program, the part of the answer, and the old and the new value.
    """
    return [
        (name, part, earlier[name][part], current[name][part])
        for name in earlier
        if name in current
        for part in ANSWER_PARTS
        if earlier[name][part] != current[name][part]
    ]


def main() -> None:
    """Write or compare the answers, depending on the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    current = collect_answers_by_program()
    if not options.compare:
        options.file.write_text(json.dumps(current, indent=1, ensure_ascii=False), encoding="utf-8")
        return
    earlier = json.loads(options.file.read_text(encoding="utf-8"))
    changes = list_differences(earlier, current)
    for name, part, old_value, new_value in changes:
        print(f"{name}, {part}:\n  - {old_value}\n  + {new_value}")
    print(f"{len(earlier.keys() & current.keys())} answers,", dict(Counter(part for _, part, *_ in changes)))


if __name__ == "__main__":
    main()
