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

from tests.bridges.cases import broken
from tests.bridges.frameworks import FRAMEWORKS

from .test_programs import CASES, run

PARTS = ("kind", "cause", "line", "message", "fix", "patch", "others")
Answers = dict[str, dict[str, Any]]


def answers() -> Answers:
    """By the name of a program and the number of its source."""
    return {name: _parts(answer) for name, answer in _asked()}


def _asked() -> Iterator[tuple[str, Any]]:
    for case in CASES:
        yield from ((f"tape {case.name} {number}", answer) for number, answer in enumerate(run(case, early=False)[1]))
    for framework in FRAMEWORKS:
        for name, (_, text) in framework.cases.items() if framework.installed else ():
            yield f"{framework.name} {name}", framework.recorded(broken(text), f"<{name}>")[2]


def _parts(answer: Any) -> dict[str, Any]:
    others = [[other.cause, other.line] for other in answer.others]
    return {part: getattr(answer, part) for part in PARTS[:-1]} | {"others": others}


def differences(before: Answers, now: Answers) -> list[tuple[str, str, Any, Any]]:
    """The program, the part of its answer, and what that was and is, of the programs that both have."""
    return [
        (name, part, before[name][part], now[name][part])
        for name in before
        if name in now
        for part in PARTS
        if before[name][part] != now[name][part]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    now = answers()
    if not options.compare:
        options.file.write_text(json.dumps(now, indent=1, ensure_ascii=False), encoding="utf-8")
        return
    before = json.loads(options.file.read_text(encoding="utf-8"))
    changed = differences(before, now)
    for name, part, old, new in changed:
        print(f"{name}, {part}:\n  - {old}\n  + {new}")
    print(f"{len(before.keys() & now.keys())} answers,", dict(Counter(part for _, part, *_ in changed)))


if __name__ == "__main__":
    main()
