"""What `explain` answers to every case, of a tape and of the frameworks that are installed, in a file: after a change
of the reasoning the differences can be counted, and read one by one.

    python -m tests.explain.answers before.json            writes the file
    python -m tests.explain.answers before.json --compare  prints what has changed since
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
    """Collect the parts of each answer, by the name of a program and the number of its source."""
    return {name: _to_answer_parts(answer) for name, answer in _iter_named_answers()}


def _iter_named_answers() -> Iterator[tuple[str, Any]]:
    for case in CASES:
        yield from (
            (f"tape {case.name} {number}", answer)
            for number, answer in enumerate(run_and_explain(case, early=False)[1])
        )
    for framework in FRAMEWORKS:
        for name, (_, text) in framework.cases.items() if framework.is_installed else ():
            yield (
                f"{framework.name} {name}",
                framework.record_and_explain_program(strip_fix_comments(text), f"<{name}>")[2],
            )


def _to_answer_parts(answer: Any) -> dict[str, Any]:
    others = [[other.cause, other.line] for other in answer.others]
    return {part: getattr(answer, part) for part in ANSWER_PARTS[:-1]} | {"others": others}


def list_differences(earlier: AnswerTable, current: AnswerTable) -> list[tuple[str, str, Any, Any]]:
    """List the program, the part of its answer, and what that was and is, of the programs that both have."""
    return [
        (name, part, earlier[name][part], current[name][part])
        for name in earlier
        if name in current
        for part in ANSWER_PARTS
        if earlier[name][part] != current[name][part]
    ]


def main() -> None:
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
