"""The cases of the oracle: how `cases/AREA.txt` is read.

A case file is plain text.  Lines before the first `==` are notes.  A case is

    == name | option | option
    code, with `tf` and `np` at hand

Every bare expression at the top level of the code is an observation: its value
(or the class of the error that it raises) is compared with TensorFlow's, and the code goes
on.  An error in any other statement ends the case, and is compared too.

Options
    tol             numbers in the printed text may differ by 1e-5 relative
    rtol=1e-3       relative tolerance of numbers (default depends on the dtype)
    for a in x y z  one case per word; `$a` in name and code is replaced.
                    `for a,b in x,1 y,2` replaces two; two `for` options multiply.
"""

import hashlib
import itertools
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ORACLE_FOLDER = Path(__file__).parent
CASES_FOLDER = ORACLE_FOLDER / "cases"
GOLDENS_FOLDER = ORACLE_FOLDER / "goldens"


@dataclass(frozen=True)
class Case:
    """One program: where it is from, its text, and how its results are compared."""

    area: str
    name: str
    code: str
    options: dict = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Short hash of the code: a golden with another one is stale."""
        return hashlib.sha256(self.code.encode()).hexdigest()[:10]


def list_areas() -> list[str]:
    """Names of all areas, sorted: a folder for what the cases are about, and in it a file for each behaviour.

    >>> "tape/persistent" in list_areas()
    True
    """
    return sorted(path.relative_to(CASES_FOLDER).with_suffix("").as_posix() for path in CASES_FOLDER.rglob("*.txt"))


def load_cases(area: str) -> list[Case]:
    """All cases of an area in file order; ValueError if two have one name."""
    text = (CASES_FOLDER / f"{area}.txt").read_text(encoding="utf-8")
    cases = []
    for block in ("\n" + text).split("\n== ")[1:]:
        header, _, code = block.partition("\n")
        cases.extend(_expand_case(area, header, code.strip("\n") + "\n"))
    names = [case.name for case in cases]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ValueError(f"{area}.txt has two cases of one name: {', '.join(duplicates)}")
    return cases


def get_goldens(area: str) -> dict:
    """What TensorFlow did, by the name of the case; empty where it has not run the area yet."""
    return read_goldens(area.partition("/")[0]).get(area, {})


@cache
def read_goldens(folder: str) -> dict[str, dict]:
    """The goldens of a folder by area: in its file each area has a line."""
    path = GOLDENS_FOLDER / f"{folder}.jsonl"
    return dict(map(json.loads, path.read_text(encoding="utf-8").splitlines())) if path.exists() else {}


def _expand_case(area: str, header: str, code: str) -> list[Case]:
    name, *words = [part.strip() for part in header.split(" | ")]
    options, loops = {}, []
    for word in words:
        if word.startswith("for "):
            loops.append(_parse_loop(word))
        else:
            key, _, value = word.partition("=")
            options[key] = value or True
    cases = []
    for choice in itertools.product(*loops):
        pairs = [pair for part in choice for pair in part]
        cases.append(Case(area, _replace_variables(name, pairs), _replace_variables(code, pairs), options))
    return cases


def _parse_loop(word: str) -> list[list[tuple[str, str]]]:
    names, _, values = word[len("for ") :].partition(" in ")
    keys = names.split(",")
    return [list(zip(keys, value.split(",", len(keys) - 1), strict=True)) for value in values.split()]


def _replace_variables(text: str, pairs: list[tuple[str, str]]) -> str:
    for key, value in sorted(pairs, key=lambda pair: -len(pair[0])):
        text = text.replace("$" + key, value)
    return text
