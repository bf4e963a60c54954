"""What learners handed in, for `minitape class`: progress files and returned notebooks, found and read.

Strangers wrote these files. They are read as JSON and nothing in them is run, imported or opened.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from minitape.course.checker import CORRECT, NOT_ANSWERED, NOT_YET
from minitape.course.progress import FILE_NAME, MOST_WRONG, is_progress

from ..common.read_data import read_json
from .lessons import FOLDER, lessons_folder, notebooks_in
from .messages import say
from .rules import in_english, plain

if TYPE_CHECKING:
    from ..course.progress import Progress
    from .rules import Notebook

PAUSE = 15 * 60
"""Seconds without an answer after which a learner counts as away."""
MOST_EXERCISES = 1000
"""In one file."""
LONGEST = 200
LONGEST_PATH = 4096
LONGEST_SAID = 10_000
"""Characters of what `check` said of one answer."""
_BEGIN = re.compile(r"^Exercise ", re.MULTILINE)
_SAID = re.compile(rf"Exercise (\S{{1,{LONGEST}}}): ({CORRECT}|{NOT_YET}|{NOT_ANSWERED})\.")
_GIVEN = re.compile(r"^[ \t]*given: +(.*)$", re.MULTILINE)
_HINT = re.compile(r"^Hint: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Work:
    """What a learner did with one exercise; None where the files do not say it.

    `wrong` maps each wrong answer, as text, to the hint that it got.
    """

    solved: bool
    tries: int | None = None
    right_at: int | None = None
    seconds: int | None = None
    wrong: dict[str, str] = field(default_factory=dict)

    def with_other(self, other: Work) -> Work:
        """This work and that of another file about the same exercise of the same learner."""
        one, two = sorted((self, other), key=lambda work: work.tries or 0)
        right_at = two.right_at if two.solved or two.tries else one.right_at
        seconds = two.seconds if two.seconds is not None else one.seconds
        return Work(one.solved or two.solved, two.tries, right_at, seconds, {**one.wrong, **two.wrong})


@dataclass
class HandIn:
    """All that one learner handed in: the work on each exercise by its name, those left blank, and the files that could
    not be read.
    """

    learner: str
    work: dict[str, Work] = field(default_factory=dict)
    blank: set[str] = field(default_factory=set)
    problems: list[tuple[str, str]] = field(default_factory=list)


def find(folders: Sequence[Path]) -> dict[str, list[Path]]:
    """The files of each learner, by the learner's name.

    A folder with a progress file in it, or with a lesson under its own name, is one learner's. In any other each folder
    is a learner's, and each file that lies there directly: `jane.json`, or `jane_01_the_first_tape.ipynb`.
    """
    lessons = [path.stem for path in notebooks_in(lessons_folder())]
    found: dict[str, list[Path]] = {}
    own = []
    for folder in folders:
        if _strange_link(folder):  # it cannot be read, and that is said
            own.append((folder, [folder]))
            continue
        files = list(_files(folder))
        if any(path.parent == folder and (path.name == FILE_NAME or path.stem in lessons) for path in files):
            own.append((folder, files))
            continue
        for path in files:
            first, *below = path.relative_to(folder).parts
            found.setdefault(first if below else _learner(path, [*lessons, "minitape-progress"]), []).append(path)
    for name, (_, files) in zip(_names([folder for folder, _ in own]), own, strict=True):
        found.setdefault(name, []).extend(files)
    return {printable(name): found[name] for name in sorted(found, key=str.casefold)}


def _strange_link(folder: Path) -> bool:
    """Whether a folder is a link that another user made: it may lead to the work of a third one."""
    me = getattr(os, "geteuid", lambda: None)()
    return me is not None and folder.is_symlink() and folder.lstat().st_uid != me


def _files(folder: Path) -> Iterator[Path]:
    """The hand-ins below a folder, without JupyterLab's copies and without links, which may lead anywhere."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(names):
            path = Path(place, name)
            handed_in = path.suffix == ".ipynb" and not name.startswith(".")
            progress = name.endswith("progress.json") or (path.suffix == ".json" and path.parent == folder)
            if (handed_in or progress) and not path.is_symlink() and path.is_file():
                yield path


def _learner(path: Path, lessons: Iterable[str]) -> str:
    """The learner's part of a file's name: what comes before the lesson's.

    >>> _learner(Path("doe_jane_4711_01_the_first_tape-2.ipynb"), ["01_the_first_tape"])
    'doe_jane_4711'
    """
    cut = next((path.stem.index(name) for name in lessons if name in path.stem), None)
    return path.stem[:cut].rstrip("_- .") or path.stem


def _names(folders: Sequence[Path]) -> list[str]:
    """A name for each folder: the part of the path in which it differs from the others.

    >>> _names([Path("/home/ann/minitape-lessons"), Path("/home/bob/minitape-lessons")])
    ['ann', 'bob']
    >>> _names([Path("/groups/1/2/hand-in"), Path("/groups/2/1/hand-in")])
    ['1/2', '2/1']
    """
    paths = [folder.absolute().parts for folder in folders]
    if len(paths) < 2:
        return [next(part for part in reversed(parts) if part != FOLDER) for parts in paths]
    first, last = _in_common(paths), _in_common([parts[::-1] for parts in paths])
    return ["/".join(parts[first : len(parts) - last]) or parts[-1] for parts in paths]


def _in_common(paths: Sequence[tuple[str, ...]]) -> int:
    """How many parts the paths share at the beginning."""
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False)))


def read(found: dict[str, list[Path]], done: Callable[[str], object] = lambda learner: None) -> list[HandIn]:
    """Read the files of each learner; `done` is called after each learner."""
    hand_ins = []
    for learner, paths in found.items():
        hand_in = HandIn(learner)
        for path in paths:
            try:
                works = _works(path)
            except (OSError, ValueError, RecursionError) as error:
                hand_in.problems.append((printable(str(path), LONGEST_PATH), _why(error)))
                continue
            for name, work in works.items():
                if work is None:
                    hand_in.blank.add(name)
                    continue
                known = hand_in.work.get(name)
                hand_in.work[name] = work if known is None else known.with_other(work)
        hand_ins.append(hand_in)
        done(learner)
    return hand_ins


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return say("is not whole: it ends or breaks off in the middle")
    return printable(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def _works(path: Path) -> Mapping[str, Work | None]:
    """Exercise -> the work that one file shows, None for an exercise that was left blank.

    Raises OSError and ValueError where it cannot be read.
    """
    if _strange_link(path):
        raise ValueError(say("is a link of the learner's own, which may lead to the work of another"))
    content = read_json(path)
    if path.suffix != ".ipynb" and not is_progress(content):
        raise ValueError(say("is not a progress file"))
    works = _of_notebook(content) if path.suffix == ".ipynb" else _of_progress(content)
    if len(works) > MOST_EXERCISES:
        raise ValueError(say("has more than {most} exercises", most=MOST_EXERCISES))
    return works


def _of_progress(kept: Progress) -> dict[str, Work]:
    """The work that a progress file shows.

    >>> wrong = {"8.0": {"times": 1, "hint": "That is y."}}
    >>> exercises = {"01.1": {"tries": 2, "solved": True, "right_at": 2, "wrong": wrong}}
    >>> times = {"01.p1": [100], "01.1": [160, 200]}
    >>> _of_progress({"exercises": exercises, "predictions": {}, "times": times})["01.1"]
    Work(solved=True, tries=2, right_at=2, seconds=100, wrong={'8.0': 'That is y.'})
    """
    seconds = _seconds(kept.get("times", {}))
    works = {}
    for name, entry in kept["exercises"].items():
        only = 1 if entry["solved"] and entry["tries"] == 1 else None
        answers = islice(entry.get("wrong", {}).items(), MOST_WRONG)
        wrong = {printable(text): printable(note["hint"]) for text, note in answers}
        right_at = entry.get("right_at", only)
        works[printable(name)] = Work(entry["solved"], entry["tries"], right_at, seconds.get(name), wrong)
    return works


def _seconds(times: dict[str, list[int]]) -> dict[str, int]:
    """How long each exercise took: the times from one answer to the next, without pauses."""
    answers = sorted((at, name) for name, all_of_it in times.items() for at in all_of_it)
    taken: dict[str, int] = {}
    for (before, _), (at, name) in pairwise(answers):
        if at - before <= PAUSE:
            taken[name] = taken.get(name, 0) + at - before
    return taken


def _of_notebook(notebook: Notebook) -> dict[str, Work | None]:
    """The work that the saved outputs of a notebook show: the last answer of each exercise, None without one.

    >>> said = "Exercise 01.1: not yet.\\n  given:    8.0\\n  expected: a number\\nHint: That is y."
    >>> cell = {"cell_type": "code", "outputs": [{"output_type": "stream", "text": said}]}
    >>> _of_notebook({"cells": [cell]})
    {'01.1': Work(solved=False, tries=None, right_at=None, seconds=None, wrong={'8.0': 'That is y.'})}
    """
    try:
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
        texts = ["".join(output.get("text", "")) for output in outputs]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(say("is not a notebook")) from error
    works: dict[str, Work | None] = {}
    for name, state, rest in (said for text in texts for said in _said(in_english(plain(text)))):
        before = works.setdefault(name, None)
        if state == NOT_ANSWERED:
            continue
        given, hint = _GIVEN.search(rest), _HINT.search(rest)
        answer = given[1] if given else rest.strip().partition("\n")[0]
        wrong = {printable(answer): printable(hint[1]) if hint else ""} if state == NOT_YET and answer else {}
        work = Work(state == CORRECT, wrong=wrong)
        works[name] = replace(work, solved=work.solved or (before is not None and before.solved))
    return {printable(name): work for name, work in works.items()}


def _said(text: str) -> Iterator[tuple[str, str, str]]:
    """What `check` said in an output: exercise, whether it is solved, and the lines below. Its time grows with the text
    only.

    >>> list(_said("Exercise 01.1: not yet.\\n  given: 8.0\\nExercise 01.2: correct."))
    [('01.1', 'not yet', '\\n  given: 8.0\\n'), ('01.2', 'correct', '')]
    """
    begins = [found.start() for found in _BEGIN.finditer(text)]
    for begin, end in pairwise([*begins, len(text)]):
        if said := _SAID.match(text, begin, end):
            yield said[1], said[2], text[said.end() : min(end, said.end() + LONGEST_SAID)]


def printable(text: str, longest: int = LONGEST) -> str:
    """A stranger's text in one line, without characters that would steer a terminal; not longer than anyone reads."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text)[:longest])
