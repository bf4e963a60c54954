"""Read the oracle's cases from `cases/AREA.txt`.

A case file is plain text. Lines before the first `==` are notes. A case has this form:

    == name | option | option
    code, with `tf` and `np` available

Every expression statement at the top level of the code is an observation. Its value, or the class of the exception that
it raises, is compared with TensorFlow, and execution continues. An exception in any other statement ends the case and
is also compared.

The options are:
    tol             numbers in the printed text may differ by 1e-5 (relative)
    rtol=1e-3       relative tolerance of numbers (the default depends on the dtype)
    for a in x y z  creates one case per word and replaces `$a` in name and code
                    `for a,b in x,1 y,2` replaces two variables; two `for` options multiply
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
    """A program of the oracle.

    Attributes:
        area: The area, such as "tape/persistent".
        name: The name of the case within its area.
        code: The program.
        options: The options of the comparison, by name.
    """

    area: str
    name: str
    code: str
    options: dict = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A short hash of the code. A golden with a different hash is stale."""
        return hashlib.sha256(self.code.encode()).hexdigest()[:10]


def list_areas() -> list[str]:
    """Return the sorted names of all areas. Each area is a file in a folder for its subject.

    >>> "tape/persistent" in list_areas()
    True
    """
    return sorted(path.relative_to(CASES_FOLDER).with_suffix("").as_posix() for path in CASES_FOLDER.rglob("*.txt"))


def load_cases(area: str) -> list[Case]:
    """Read the cases of an area, in file order.

    Args:
        area: The area, such as "tape/persistent".

    Returns:
        The cases, with all loops expanded.

    Raises:
        ValueError: If two cases have the same name.
    """
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
    """Return TensorFlow's record of each case, by name.

    Args:
        area: The area, such as "tape/persistent".

    Returns:
        The records, or an empty dictionary if TensorFlow has not run the area yet.
    """
    return read_goldens(area.partition("/")[0]).get(area, {})


@cache
def read_goldens(folder: str) -> dict[str, dict]:
    """Return the goldens in a folder, by area and case. Their file has one line per area."""
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
