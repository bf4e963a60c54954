"""The lessons in another language, kept in step with the English ones.

``minitape new-language zh`` writes the folder ``notebooks/zh`` anew from ``notebooks/en``: the same notebooks with the
same cells and the same code, the texts of the translation in their places, and in ``texts`` a table for each lesson
(``common/texts.py`` says how they are used). Then it prints what is left to do: cells without a translation, cells
whose English changed since, and texts without a translation. A folder that is not there yet is made.

A translated cell knows the English text that it was made from: ``"english"`` in its metadata is `mark` of that text.
Whoever fixes the translation of a changed cell takes the mark away; the program puts the new one there. A changed text
of a table keeps its translation, and ``texts/changed.json`` has the English text that it was made from, until it is
taken out of that file.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING

from ..common.read_data import NOTEBOOK, read_json
from ..common.texts import ENGLISH, FEEDBACK, FOLDER, LABELS, PAGES
from ..common.write_beside import write
from .checker import MARKS
from .exercise import exercises_of, explanations_of
from .table_texts import texts_of_explain, texts_of_picture, texts_of_programs

if TYPE_CHECKING:
    from ..engine.types import Function, Object

# what a lesson calls with words that are seen in a picture
DRAWN = {"Plot", "Moving", "curve", "line", "points", "draw"}
CHANGED = "changed.json"  # new English text -> the old one, of which the translation in its table is
WORDS = {"name", "names", "title"}  # their arguments that are such words, beside the first one


def mark(text: str) -> str:
    """By what a translated cell knows its English text.

    >>> mark("# 1. The first tape")
    '48d7fe0ebc'
    """
    return sha1(text.encode()).hexdigest()[:10]


def translated(english: Object, translation: Object) -> tuple[Object, list[str]]:
    """A notebook as it should be, from the English one and the translation so far; and what is to be done by hand.

    Code comes from the English one; what it printed stays where the code is the same.
    """
    known = {cell["id"]: cell for cell in translation["cells"]}
    cells, left = [], []
    for cell in english["cells"]:
        other = known.get(cell["id"], cell)
        same = "".join(other["source"]) == "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            present, made_from = mark("".join(cell["source"])), other["metadata"].get("english")
            # it is English still, that of today or an older one
            if same or mark("".join(other["source"])) == made_from:
                left.append(f"{cell['id']}: no translation yet")
                other, made_from = cell, present
            elif made_from not in (None, present):
                left.append(f"{cell['id']}: the English text changed")
            # with words in its language
            drawn = other if other.get("attachments", {}).keys() == cell.get("attachments", {}).keys() else cell
            cells.append(
                {**drawn, "source": other["source"], "metadata": cell["metadata"] | {"english": made_from or present}}
            )
        elif same and other["cell_type"] == "code":
            cells.append({**other, "metadata": cell["metadata"]})
        else:
            cells.append(cell)
            left.append(f"{cell['id']}: the code changed; run the notebook once more: minitape save")
    return {**english, "cells": cells}, left


def tables(english: Path) -> dict[str, list[str]]:
    """The texts to be translated, by the table in which they are looked up."""
    notebooks = [path for path in sorted(english.glob("*.ipynb")) if "_" in path.stem]
    lessons = {path.stem.partition("_")[0]: path for path in notebooks}
    found = {lesson: [*texts_in(path), *texts_of(lesson)] for lesson, path in lessons.items()}
    labels = [text for path in notebooks for text in labels_in(path)]
    lists = {
        **found,
        LABELS: labels,
        FEEDBACK: texts_of_feedback(),
        PAGES: texts_of_pages(),
        "explain": texts_of_explain(),
        "picture": texts_of_picture(english.parent),
        "programs": texts_of_programs(english.parent),
    }
    return {lesson: list(dict.fromkeys(texts)) for lesson, texts in lists.items()}


def keep_in_step(english: Path, translation: Path) -> list[str]:
    """Write the notebooks and tables of a translation as they should be; give back what is to be done by hand."""
    (translation / FOLDER).mkdir(parents=True, exist_ok=True)
    left = []
    for path in sorted(english.glob("*.ipynb")):
        there = translation / path.name
        lesson, before = read_json(path, NOTEBOOK), read_json(there, NOTEBOOK) if there.exists() else {"cells": []}
        made, to_do = translated(lesson, before)
        left += [f"{path.name}: {words}" for words in to_do]
        if made != before:
            write(there, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    changed: dict[str, str] = {}
    changed_file, every = translation / FOLDER / CHANGED, tables(english)
    made_from = read_json(changed_file) if changed_file.exists() else {}
    for name, texts in every.items():
        there = translation / FOLDER / f"{name}.json"
        known = read_json(there) if there.exists() else {}
        made_from |= carry_over(known, texts)
        left += [f"{there.name}: no translation yet of {text!r}" for text in texts if not known.get(text)]
        changed |= {text: made_from[text] for text in texts if text in made_from}
        write(there, json.dumps({text: known.get(text, "") for text in texts}, indent=1, ensure_ascii=False) + "\n")
    left += [f"{CHANGED}: the English text was {old!r}, and is {new!r}" for new, old in changed.items()]
    if changed or changed_file.exists():
        write(changed_file, json.dumps(changed, indent=1, ensure_ascii=False) + "\n")
    return left


def carry_over(known: dict[str, str], texts: list[str]) -> dict[str, str]:
    """Give a new English text, in the table `known`, the translation of the one that it most resembles among those that
    are gone; return the new texts with the old ones.

    >>> table = {"The tape watches x.": "磁带监视 x。", "So it does.": "正是。"}
    >>> carry_over(table, ["The tape watches x, too.", "So it does."]), table["The tape watches x, too."]
    ({'The tape watches x, too.': 'The tape watches x.'}, '磁带监视 x。')
    """
    gone = {text: translation for text, translation in known.items() if translation and text not in texts}
    found = {}
    for text in texts:
        if not known.get(text) and (nearest := get_close_matches(text, gone, 1)):
            found[text], known[text] = nearest[0], gone.pop(nearest[0])
    return found


def texts_of(lesson: str) -> list[str]:
    """The texts of a lesson's answer key: what `check` may say of its exercises, and `reveal` of its predictions."""
    found = []
    for exercise in exercises_of(lesson).values():
        found += [
            *(mistake.hint for mistake in exercise.mistakes),
            *exercise.hints,
            exercise.because,
            exercise.asks,
            *_said_by(exercise.also),
        ]
        found += [text for trial in exercise.trials for text in trial.texts()]
    return [text for text in dict.fromkeys([*found, *explanations_of(lesson).values()]) if text]


def texts_in(notebook: Path) -> list[str]:
    """The texts of a notebook's predictions: each question, and the choices that are words."""
    calls = [call for tree in _code(notebook) for call in _calls(tree, {"predict"})]
    texts = [text for call in calls for argument in call.args[1:] for text in _texts(argument)]
    return [text for text in dict.fromkeys(texts) if not _is_number(text)]


def labels_in(notebook: Path) -> list[str]:
    """The words that a notebook's pictures show: titles, names of curves and axes; also where they have a name of their
    own first.
    """
    found: list[str] = []
    for tree in _code(notebook):
        named = dict(_named(tree))
        for call in _calls(tree, DRAWN):
            for words in [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in WORDS)]:
                names = [name.id for name in ast.walk(words) if isinstance(name, ast.Name)]
                found += [
                    text for node in [words, *(named[name] for name in names if name in named)] for text in _texts(node)
                ]
    return [text for text in dict.fromkeys(found) if re.search("[a-z]{2}", text)]


def _named(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The names of a program, and what they stand for: by assignment, in a loop, or as the default of an argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from (
                (name.id, node.value)
                for target in node.targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            )
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield from ((name.id, node.iter) for name in ast.walk(node.target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.arguments):
            yield from (
                (arg.arg, value) for arg, value in zip(reversed(node.args), reversed(node.defaults), strict=False)
            )


def texts_of_feedback() -> list[str]:
    """What all lessons say: the texts that this package gives to `say`."""
    return list(dict.fromkeys([*MARKS, *_said_in(Path(__file__).parent, 1), ENGLISH]))


def texts_of_pages() -> list[str]:
    """What the command line says, and pages around their lessons: the texts that it gives to `say` and `tell`."""
    return list(dict.fromkeys(_said_in(Path(__file__).parents[1] / "cli", 3)))


def _said_in(package: Path, most: int) -> Iterator[str]:
    """The texts that a package gives to `say` or `tell`, in calls with so many arguments at most: one more names a
    lesson's own table.
    """
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.glob("*.py"))]
    for call in (call for tree in trees for call in _calls(tree, {"say", "tell"})):
        if len(call.args) <= most:
            yield from _texts(call.args[0])


def _said_by(look: Function | None) -> list[str]:
    """The texts that a further look at a learner's function may give."""
    if look is None:
        return []
    constants = [
        *look.__code__.co_consts,
        *(c for part in look.__code__.co_consts if hasattr(part, "co_consts") for c in part.co_consts),
    ]
    return [text for text in constants if isinstance(text, str) and " " in text and text != look.__doc__]


def _code(notebook: Path) -> list[ast.Module]:
    cells = read_json(notebook, NOTEBOOK)["cells"]
    return [ast.parse("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]


def _calls(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in names:
            yield node


def _texts(words: ast.AST) -> Iterator[str]:
    """The texts in an expression; of one that is made with values, the text with the values in braces."""
    if isinstance(words, ast.JoinedStr):
        yield ast.unparse(words)[2:-1]
    elif isinstance(words, ast.Constant) and isinstance(words.value, str):
        yield words.value
    elif not (
        isinstance(words, (ast.Subscript, ast.Lambda)) or isinstance(getattr(words, "func", None), ast.Attribute)
    ):
        for part in ast.iter_child_nodes(words):
            yield from _texts(part)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def main(names: list[str]) -> None:
    """Bring the second folder in step with the first, and say what is left."""
    english, translation = map(Path, names)
    for words in keep_in_step(english, translation):
        print(words)


if __name__ == "__main__":
    main(sys.argv[1:])
