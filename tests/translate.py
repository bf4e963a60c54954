"""The lessons in another language: gettext's files, and notebooks that are built from the English ones and from them.

    python -m tests.translate zh

``notebooks/zh/texts`` has a file for each notebook, ``01.po``, and one each for `check`, `explain`, the picture and the
command line. They are edited with Poedit, Weblate or any editor, as all the world's ``.po`` files are; the notebooks
beside them are never edited by hand. This program brings both in step with the English texts: it takes up new texts,
marks the translation of a changed one *fuzzy* with the English that it was made from, builds the notebooks, and says
what is left to do. A folder that does not exist is begun. What of a cell is translated, ``cell_words.py`` says.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from minitape.common.read_data import NOTEBOOK, read_json
from minitape.common.texts import CHECK, CODE, ENGLISH, FOLDER, table
from minitape.common.write_beside import write
from minitape.course.broken_networks import PATIENTS
from minitape.course.checker import MARKS
from minitape.course.exercise import anew_of, beliefs_of, exercises_of, explanations_of
from minitape.course.programs import FOLDER as RECORDINGS
from minitape.course.programs import LESSON, SENTENCES
from minitape.explain import error_texts, texts, value_texts
from tests.cell_words import name_of, names_in, pieces_of, texts_in, translated

if TYPE_CHECKING:
    from babel.messages import Catalog

    from minitape.engine.types import Function, Object

ROOT = Path(__file__).parents[1]
VIEW = "widgets/frontend/src"
PLAYGROUND = "widgets/frontend/playground"
EXAMPLES = "minitape/cli/playground_page/examples"
MOST = 10  # new texts of a file that are listed
# what this package calls with a text for people, and which of the arguments it is
FIRST, SECOND, THIRD = slice(1), slice(1, 2), slice(2, 3)
SAYS = {
    **dict.fromkeys(("say", "tell", "fill", "word", "failure", "misuse"), FIRST),
    "to_try": SECOND,
    "OperationFix": THIRD,
    "column_names": slice(None),
}
COMMANDS = {"command", "group"}  # what makes a function one of them


def keep_in_step(english: Path, translation: Path) -> list[str]:
    """Bring the files and notebooks of a translation in step with the English ones; give back what is left to do."""
    (translation / FOLDER).mkdir(parents=True, exist_ok=True)
    left, known = [], {}
    for domain, found in texts_of_all(english).items():
        file = translation / FOLDER / f"{domain}.po"
        catalog = updated(file, found, translation.name)
        _write(file, as_po(catalog))
        left += [f"{file.name}: {words}" for words in untranslated(catalog)]
        known[domain] = {str(text.id): str(text.string) for text in catalog if text.string and not text.fuzzy}
    for path in sorted(english.glob("*.ipynb")):
        there = translation / path.name
        before = read_json(there, NOTEBOOK) if there.exists() else {"cells": []}
        made, to_run = built(read_json(path, NOTEBOOK), before, known[domain_of(path)], translation.name)
        _write(there, json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        left += [f"{path.name}: {len(to_run)} cells to run: minitape save {there}"] if to_run else []
    return left


def _write(file: Path, text: str) -> None:
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        write(file, text)


def domain_of(notebook: Path) -> str:
    """The name of the file with the texts of a notebook: the lesson's number, or the page's name."""
    return notebook.stem.partition("_")[0]


def updated(file: Path, found: dict[str, list[str]], code: str) -> Catalog:
    """The catalog of a file with these texts, each with the places where it is found, in a language."""
    from babel.messages import Catalog
    from babel.messages.pofile import read_po

    template = Catalog(header_comment="")
    for text, places in found.items():
        template.add(text, locations=[(place, 0) for place in dict.fromkeys(places)])
    if file.exists():
        catalog = read_po(io.BytesIO(file.read_bytes()), locale=code.replace("-", "_"))
    else:
        catalog = Catalog(
            locale=code.replace("-", "_"), project="minitape", header_comment=f"# {file.stem}", fuzzy=False
        )
    was = {entry.id: _previous(entry.user_comments) for entry in catalog}
    catalog.update(template, update_creation_date=False)
    for entry in catalog:
        entry.user_comments = [line for line in entry.user_comments if not line.startswith("|")]
        entry.previous_id = entry.previous_id or was.get(entry.id, []) if entry.fuzzy else []
    return catalog


def _previous(comments: list[str]) -> list[str]:
    """What a fuzzy text was before, which Babel reads as comments only.

    >>> _previous(['| msgid "A text "', '| "of two lines"'])
    ['A text of two lines']
    """
    quoted = re.findall(r'"(?:[^"\\]|\\.)*"', " ".join(line for line in comments if line.startswith("|")))
    text = "".join(map(json.loads, quoted))
    return [text] if text else []


def as_po(catalog: Catalog) -> str:
    """A catalog as a file has it: what a fuzzy text was is above it, which Babel would break within its quotes."""
    from babel.messages.pofile import normalize, write_po

    file = io.BytesIO()
    write_po(file, catalog)
    text = file.getvalue().decode()
    for entry in (entry for entry in catalog if entry.previous_id):
        now, was = f"\nmsgid {normalize(str(entry.id))}", normalize(entry.previous_id[0], "#| ")
        text = text.replace(now, f"\n#| msgid {was}{now}", 1)
    return text


def untranslated(catalog: Catalog) -> list[str]:
    """What a translator has to do in a catalog: the texts that are new, or how many, and those that changed, with the
    English then and now.
    """
    new = [f"new: {text.id!r}" for text in catalog if text.id and not text.string]
    changed = [f"was {[*text.previous_id, text.id][0]!r}, is {text.id!r}" for text in catalog if text.id and text.fuzzy]
    return changed + (new if len(new) <= MOST else [f"{len(new)} texts to translate"])


def built(english: Object, before: Object, known: dict[str, str], code: str) -> tuple[Object, list[str]]:
    """A notebook in another language, and the cells that are to be run. Outputs and attached pictures are those that it
    had `before`.
    """
    there = {cell["id"]: cell for cell in before["cells"]}
    cells, to_run = [], []
    for cell in english["cells"]:
        source = translated(cell, known)
        made, other = {**cell, "source": source.splitlines(keepends=True)}, there.get(cell["id"], {"source": ""})
        if other.get("attachments", {}).keys() == cell.get("attachments", {}).keys():
            made |= {name: part for name, part in other.items() if name == "attachments"}
        if cell["cell_type"] == "code":
            ran = other if "".join(other["source"]) == source else {"outputs": [], "execution_count": None}
            made |= {name: ran[name] for name in ("outputs", "execution_count")}
            to_run += [cell["id"]] if ran["execution_count"] is None else []
        cells.append(made)
    return {**english, "cells": cells, "metadata": english["metadata"] | {"language": code}}, to_run


def texts_of_all(english: Path) -> dict[str, dict[str, list[str]]]:
    """The texts to translate, by file; each with the places where it is found."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(english.glob("*.ipynb")):
        domain = domain_of(path)
        places = found.setdefault(domain, {})
        for cell in read_json(path, NOTEBOOK)["cells"]:
            for text, words in pieces_of(cell):
                if words:
                    places.setdefault(text, []).append(f"{path.name}:{cell['id']}")
        for text in texts_of(domain):
            places.setdefault(text, []).append(f"minitape/course/lesson_{domain}.py")
    lists = {
        CHECK: [(text, "minitape/course/checker.py") for text in MARKS] + said_in("minitape/course"),
        "explain": said_in("minitape/common", "minitape/explain", "minitape/bridges") + _of_answers() + _of_bridges(),
        # the words of the view in the browser are those of the Chinese file
        "picture": said_in("minitape/picture", "widgets/minitape_widgets")
        + [(text, VIEW) for text in table("picture", "zh")],
        "cli": said_in("minitape/cli"),
        "playground": _of_playground(),
    }
    for domain, pairs in lists.items():
        for text, place in pairs:
            found.setdefault(domain, {}).setdefault(text, []).append(place)
    return found


def _of_playground() -> list[tuple[str, str]]:
    """What the page of the playground says, and the words of its examples."""
    script = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / PLAYGROUND).glob("*.ts")))
    found = [(text, PLAYGROUND) for text in re.findall(r'\bt\("((?:[^"\\]|\\.)*)"', script)]
    for path in sorted((ROOT / EXAMPLES).glob("*.txt")):
        cell = {"cell_type": "code", "source": path.read_text(encoding="utf-8")}
        found += [(text, f"{EXAMPLES}/{path.name}") for text, words in pieces_of(cell) if words]
    return found


def texts_of(lesson: str) -> list[str]:
    """The texts of a lesson's answer key: what `check` may say of its exercises, and `reveal` of its predictions."""
    found = []
    for exercise in exercises_of(lesson).values():
        found += [
            *(mistake.hint for mistake in exercise.mistakes), *exercise.hints, exercise.because, exercise.asks,
            *exercise.changes.values(), *exercise.reasons.values(), exercise.from_tape, *_said_by(exercise.also),
        ]  # fmt: skip
        found += [text for trial in exercise.trials for text in (*trial.hints, *(hint for _, hint in trial.slips))]
    for text, choices, _, reason in anew_of(lesson).values():
        found += [text, reason, *(choice for choice in choices if re.search("[a-z]{2}", choice))]
    found += [belief for beliefs in beliefs_of(lesson).values() for belief in beliefs.values()]
    found += explanations_of(lesson).values()
    found += [patient.says for patient in PATIENTS.values()] if lesson == "13" else []
    kept = [read_json(path)["why"] for path in sorted(RECORDINGS.glob("*.json"))] if lesson == LESSON else []
    whys = [why for said in kept for why in (said, *said["others"])]
    found += [sentence for why in whys for part in ("message", "fix") for sentence in SENTENCES.split(why[part])]
    return list(filter(None, found))


def _said_by(look: Function | None) -> list[str]:
    """The texts that a further look at a learner's function may give."""
    if look is None:
        return []
    constants = [
        *look.__code__.co_consts,
        *(c for part in look.__code__.co_consts if hasattr(part, "co_consts") for c in part.co_consts),
    ]
    return [text for text in constants if isinstance(text, str) and " " in text and text != look.__doc__]


def said_in(*folders: str) -> list[tuple[str, str]]:
    """The texts that the files of some folders give to the functions that say them, and the file of each: in the call
    or by a name that stands for them.
    """
    found = []
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))):
        tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix()
        bound = [(name, text) for name, value in names_in(tree) if name for text in texts_in(value)]
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            # a method of the same name says something else
            for words in call.args[SAYS.get(getattr(call.func, "id", ""), slice(0))]:
                names = {name_of(node) for node in ast.walk(words)}
                named = [text for name, text in bound if name in names and " " in ast.unparse(text)]
                texts = [text.value for text in [*texts_in(words), *named] if isinstance(text, ast.Constant)]
                found += [(str(text), place) for text in texts if text]
        found += [(text, place) for text in _helps(tree)]
    return found


def _helps(tree: ast.AST) -> Iterator[str]:
    """What ``--help`` says of the commands of a file, and of their options."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef)
            and {name_of(getattr(d, "func", d)) for d in node.decorator_list} & COMMANDS
        ):
            yield ast.get_docstring(node) or ""
        elif isinstance(node, ast.keyword) and node.arg == "help":
            yield from (str(text.value) for text in texts_in(node.value) if isinstance(text, ast.Constant))


def _of_answers() -> list[tuple[str, str]]:
    """The sentences that `explain` may say of a tape, from its tables."""
    tables = texts.TEXT, value_texts.ARRIVED, value_texts.OF_TENSORFLOW, value_texts.OF_TAPE, error_texts.ADVICE
    found = [text for table in tables for pair in table.values() for text in pair]
    found += [*value_texts.FUNCTIONS.values(), value_texts.TENSOR]
    return [(text, "minitape/explain/texts.py") for text in found if text]


def _of_bridges() -> list[tuple[str, str]]:
    """The same of the bridges' tables, which are read as text: no framework need be installed."""
    found = []
    for path in sorted([*ROOT.glob("minitape/[be]*/*texts.py"), *ROOT.glob("minitape/bridges/*/words.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            values = node.values if isinstance(node, ast.Dict) else [node.value] if isinstance(node, ast.Assign) else []
            for part in (part for value in values for part in getattr(value, "elts", [value])):
                if isinstance(part, ast.Constant) and " " in str(part.value):
                    found.append((str(part.value), path.relative_to(ROOT).as_posix()))
    return found


def main() -> None:
    """Bring the language that is named in step; or say that it is none."""
    code = "".join(sys.argv[1:])
    if code == ENGLISH or not CODE.fullmatch(code):
        sys.exit(f"{code!r} names no language to translate into; give its code, such as de or pt-BR")
    folder = ROOT / "notebooks" / code
    print("\n".join([f"wrote {folder}", *keep_in_step(ROOT / "notebooks" / ENGLISH, folder)]))


if __name__ == "__main__":
    main()
