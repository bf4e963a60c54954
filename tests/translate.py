"""Synchronize the lessons in another language with the English lessons.

    python -m tests.translate zh

``notebooks/zh/texts`` contains a gettext file for each notebook, such as ``01.po``, and one each for `check`,
`explain`, the picture and the command line. Translators edit them with Poedit, Weblate or any other ``.po`` editor. The
notebooks next to them are generated and never edited by hand.

This program adds new texts and marks translations of changed texts as *fuzzy*, together with the earlier English text.
The command then builds the notebooks and lists the remaining work. A missing folder is created. ``cell_words.py``
decides which parts of a cell are translated.
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

from minitape.cli.messages import CLICK_TEXTS
from minitape.common.atomic_write import ERROR_REASONS, write_file
from minitape.common.read_data import MAX_NOTEBOOK_SIZE, read_json
from minitape.common.translation import CHECK, ENGLISH, LANGUAGE_CODE, TEXTS_FOLDER, load_translations
from minitape.course.checker import MARKS
from minitape.course.framework_programs import FOLDER as RECORDINGS
from minitape.course.framework_programs import LESSON, SENTENCE_BREAK
from minitape.explain import error_texts
from minitape.explain.causes import CAUSE_FILES
from minitape.explain.translated_sentences import UNNAMED_ARRAY, UNNAMED_TENSOR
from tests.cell_words import get_name, iter_named_values, iter_pieces, iter_text_nodes, translate_cell
from tests.lesson_source import find_lesson_source, read_lesson_source

if TYPE_CHECKING:
    from babel.messages import Catalog

    from minitape.engine.types import Object

ROOT = Path(__file__).parents[1]
VIEW = "widgets/frontend/src"
PLAYGROUND = "widgets/frontend/playground"
WIDGETS = "widgets/minitape_widgets"
EXPLAIN_FOLDERS = tuple(f"minitape/{name}" for name in ("common", "engine", "functions", "tf", "explain", "bridges"))
"""The packages whose messages are in ``explain.po``."""
EXAMPLES = "minitape/cli/playground_page/examples"
MAX_LISTED = 10
"""The maximum number of new texts in a file that are listed one by one."""
FIRST, SECOND, THIRD = slice(1), slice(1, 2), slice(2, 3)
SAYING_FUNCTIONS = {
    **dict.fromkeys(
        ("say", "print_translated", "fill", "translate", "create_failed_action_error", "create_usage_error"), FIRST
    ),
    "OperationAdvice": THIRD,
    "_build_alarm": SECOND,
    "add_note_about_tape_event": SECOND,
    "translate_column_names": slice(None),
}
"""The functions whose arguments are texts for people, and the positions of these arguments."""
COMMAND_DECORATORS = {"command", "group"}
"""The decorators of commands."""


def synchronize_translation(english: Path, translation: Path) -> list[str]:
    """Update a translation's files and notebooks from the English notebooks.

    Args:
        english: The folder of the English notebooks.
        translation: The folder of the translation.

    Returns:
        The remaining work: the texts to translate and the notebooks to run.
    """
    (translation / TEXTS_FOLDER).mkdir(parents=True, exist_ok=True)
    remaining_work, translations = [], {}
    for domain, texts in collect_texts_by_domain(english).items():
        file = translation / TEXTS_FOLDER / f"{domain}.po"
        catalog = update_catalog(file, texts, translation.name)
        take_translations_from_source(catalog, read_lesson_source(domain).translations.get(translation.name, {}))
        _write_if_changed(file, format_po_file(catalog))
        remaining_work += [f"{file.name}: {entry}" for entry in list_remaining_texts(catalog)]
        translations[domain] = {str(text.id): str(text.string) for text in catalog if text.string and not text.fuzzy}
    for path in sorted(english.glob("*.ipynb")):
        target = translation / path.name
        old_notebook = read_json(target, MAX_NOTEBOOK_SIZE) if target.exists() else {"cells": []}
        new_notebook, cells_to_run = translate_notebook(
            read_json(path, MAX_NOTEBOOK_SIZE), old_notebook, translations[get_domain(path)], translation.name
        )
        _write_if_changed(target, json.dumps(new_notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        if cells_to_run:
            remaining_work.append(f"{path.name}: {len(cells_to_run)} cells to run: minitape save {target}")
    return remaining_work


def _write_if_changed(file: Path, text: str) -> None:
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        write_file(file, text)


def get_domain(notebook: Path) -> str:
    """Return the name of the file with a notebook's texts: the lesson's number, or the page's name."""
    return notebook.stem.partition("_")[0]


def update_catalog(file: Path, places_by_text: dict[str, list[str]], code: str) -> Catalog:
    """Return the catalog of a file, updated with new texts.

    Args:
        file: The ``.po`` file, which may not exist yet.
        places_by_text: The places of each English text.
        code: The language.

    Returns:
        The catalog. Translations of changed texts are marked as fuzzy.
    """
    from babel.messages import Catalog
    from babel.messages.pofile import read_po

    template = Catalog(header_comment="")
    for text, file_names in places_by_text.items():
        template.add(text, locations=[(file_name, 0) for file_name in dict.fromkeys(file_names)])
    if file.exists():
        catalog = read_po(io.BytesIO(file.read_bytes()), locale=code.replace("-", "_"))
    else:
        catalog = Catalog(
            locale=code.replace("-", "_"), project="minitape", header_comment=f"# {file.stem}", fuzzy=False
        )
    earlier_texts = {entry.id: _parse_previous_text(entry.user_comments) for entry in catalog}
    catalog.update(template, update_creation_date=False)
    for text in [text for text in catalog.obsolete if text in catalog]:
        del catalog.obsolete[text]  # The text is used again. msgfmt refuses a text that a file has twice.
    for entry in catalog:
        entry.user_comments = [line for line in entry.user_comments if not line.startswith("|")]
        entry.previous_id = entry.previous_id or earlier_texts.get(entry.id, []) if entry.fuzzy else []
    return catalog


def take_translations_from_source(catalog: Catalog, translations: dict[str, str]) -> None:
    """Add the translations that follow the English paragraphs in the source of a lesson.

    Args:
        catalog: The catalog of the lesson.
        translations: The translations by their English texts.
    """
    for entry in catalog:
        if entry.id in translations:
            entry.string = translations[str(entry.id)]
            entry.flags.discard("fuzzy")
            entry.previous_id = []


def _parse_previous_text(comments: list[str]) -> list[str]:
    """Return the earlier English version of a fuzzy text, which Babel reads only as a comment.

    >>> _parse_previous_text(['| msgid "A text "', '| "of two lines"'])
    ['A text of two lines']
    """
    quoted_parts = re.findall(r'"(?:[^"\\]|\\.)*"', " ".join(line for line in comments if line.startswith("|")))
    text = "".join(map(json.loads, quoted_parts))
    return [text] if text else []


def format_po_file(catalog: Catalog) -> str:
    """Format a catalog as a ``.po`` file.

    The earlier English version of a fuzzy text is added above the text, because Babel would insert line breaks inside
    its quotes.
    """
    from babel.messages.pofile import normalize, write_po

    file = io.BytesIO()
    write_po(file, catalog)
    text = file.getvalue().decode()
    for entry in (entry for entry in catalog if entry.previous_id):
        message_id, previous_id = f"\nmsgid {normalize(str(entry.id))}", normalize(entry.previous_id[0], "#| ")
        text = text.replace(message_id, f"\n#| msgid {previous_id}{message_id}", 1)
    return text


def list_remaining_texts(catalog: Catalog) -> list[str]:
    """List a translator's remaining work on a catalog.

    Args:
        catalog: The catalog.

    Returns:
        Each changed text with its old and new English version, and each new text, or only the number of new texts if
        there are many.
    """
    new = [f"new: {text.id!r}" for text in catalog if text.id and not text.string]
    changed = [
        f"was {next(iter(text.previous_id), text.id)!r}, is {text.id!r}" for text in catalog if text.id and text.fuzzy
    ]
    return changed + (new if len(new) <= MAX_LISTED else [f"{len(new)} texts to translate"])


def translate_notebook(
    english: Object, old_notebook: Object, translations: dict[str, str], code: str
) -> tuple[Object, list[str]]:
    """Translate a notebook.

    Args:
        english: The English notebook.
        old_notebook: The existing translated notebook, which provides the outputs and attached pictures.
        translations: The translation of each piece.
        code: The language.

    Returns:
        The translated notebook, and the IDs of the cells that must be run.
    """
    old_cells = {cell["id"]: cell for cell in old_notebook["cells"]}
    cells, cells_to_run = [], []
    for cell in english["cells"]:
        source = translate_cell(cell, translations)
        new_cell = {**cell, "source": source.splitlines(keepends=True)}
        old_cell = old_cells.get(cell["id"], {"source": ""})
        if old_cell.get("attachments", {}).keys() == cell.get("attachments", {}).keys():
            new_cell |= {name: part for name, part in old_cell.items() if name == "attachments"}
        if cell["cell_type"] == "code":
            output_cell = (
                old_cell if "".join(old_cell["source"]) == source else {"outputs": [], "execution_count": None}
            )
            new_cell |= {name: output_cell[name] for name in ("outputs", "execution_count")}
            cells_to_run += [cell["id"]] if output_cell["execution_count"] is None else []
        cells.append(new_cell)
    return {**english, "cells": cells, "metadata": english["metadata"] | {"language": code}}, cells_to_run


def collect_texts_by_domain(english: Path) -> dict[str, dict[str, list[str]]]:
    """Collect the texts to translate.

    Args:
        english: The folder of the English notebooks.

    Returns:
        The places of each text, by file and by text.
    """
    texts_by_domain: dict[str, dict[str, list[str]]] = {}
    for path in sorted(english.glob("*.ipynb")):
        domain = get_domain(path)
        places = texts_by_domain.setdefault(domain, {})
        for cell in read_json(path, MAX_NOTEBOOK_SIZE)["cells"]:
            for text, is_words in iter_pieces(cell):
                if is_words:
                    places.setdefault(text, []).append(f"{path.name}:{cell['id']}")
        source = find_lesson_source(domain) or path
        for text in collect_lesson_texts(domain):
            places.setdefault(text, []).append(f"minitape/course/lessons/{source.name}")
    pairs_by_domain = {
        CHECK: [(text, "minitape/course/checker.py") for text in MARKS]
        + [(text, "minitape/common/atomic_write.py") for text in ERROR_REASONS.values()]
        + collect_said_texts("minitape/course")
        + collect_said_texts(WIDGETS, saying="say"),  # The widgets of lessons, such as the pad for digits.
        "explain": collect_said_texts(*EXPLAIN_FOLDERS) + _collect_explain_texts(),
        # The Chinese file lists the texts of the view in the browser.
        "picture": collect_said_texts("minitape/picture")
        + collect_said_texts(WIDGETS, saying="translate")
        + [(text, VIEW) for text in load_translations("picture", "zh")],
        "cli": collect_said_texts("minitape/cli") + [(text, "minitape/cli/messages.py") for text in CLICK_TEXTS],
        "playground": _collect_playground_texts(),
    }
    for domain, pairs in pairs_by_domain.items():
        for text, place in pairs:
            texts_by_domain.setdefault(domain, {}).setdefault(text, []).append(place)
    return texts_by_domain


def _collect_playground_texts() -> list[tuple[str, str]]:
    """Collect the texts of the playground page and its examples."""
    script = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / PLAYGROUND).glob("*.ts")))
    texts = [(text, PLAYGROUND) for text in re.findall(r'\bt\(\s*"((?:[^"\\]|\\.)*)"', script)]
    for path in sorted((ROOT / EXAMPLES).glob("*.txt")):
        cell = {"cell_type": "code", "source": path.read_text(encoding="utf-8")}
        texts += [(text, f"{EXAMPLES}/{path.name}") for text, is_words in iter_pieces(cell) if is_words]
    return texts


def collect_lesson_texts(lesson: str) -> list[str]:
    """Collect the texts of a lesson outside its cells: hints and replies of exercises and of predictions.

    Args:
        lesson: The number of the lesson, such as "01".
    """
    source = read_lesson_source(lesson)
    texts = []
    for exercise in source.exercises.values():
        texts += [wrong_answer.reply for wrong_answer in exercise.wrong_answers]
        texts += [*exercise.hints, exercise.because, exercise.asks, exercise.not_from_tape]
        for trial in exercise.trials.values():
            texts += [*trial.hints, *(wrong_answer.reply for wrong_answer in trial.wrong_answers)]
    for question in source.retry_questions.values():
        choices = [choice for choice in question.choices if re.search("[a-z]{2}", choice)]
        texts += [question.text, question.reason, *choices]
    texts += [reply for replies in source.replies.values() for reply in replies.values()]
    texts += [*source.explanations.values(), *source.sentences.values()]
    explanations = [read_json(path)["why"] for path in sorted(RECORDINGS.glob("*.json"))] if lesson == LESSON else []
    all_explanations = [
        explanation_parts for explanation in explanations for explanation_parts in (explanation, *explanation["others"])
    ]
    texts += [
        sentence
        for explanation_parts in all_explanations
        for part in ("message", "fix")
        for sentence in SENTENCE_BREAK.split(explanation_parts[part])
    ]
    return list(filter(None, texts))


def collect_said_texts(*folders: str, saying: str = "") -> list[tuple[str, str]]:
    """Collect the texts that files pass to translation functions, directly or through a variable.

    Args:
        folders: The folders that contain the files, relative to the repository.
        saying: The translation function whose texts are collected. By default, the texts of all of them are.

    Returns:
        Pairs of a text and its file.
    """
    texts = []
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))):
        tree, file_name = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix()
        named_texts = [
            (name, text) for name, value in iter_named_values(tree) if name for text in iter_text_nodes(value)
        ]
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            # Methods with the same names do something else, so only calls by plain name count.
            name = getattr(call.func, "id", "")
            if saying not in ("", name):
                continue
            for argument in call.args[SAYING_FUNCTIONS.get(name, slice(0))]:
                names = {get_name(node) for node in ast.walk(argument)}
                texts_of_names = [text for name, text in named_texts if name in names and " " in ast.unparse(text)]
                literals = [
                    text.value
                    for text in [*iter_text_nodes(argument), *texts_of_names]
                    if isinstance(text, ast.Constant)
                ]
                texts += [(str(text), file_name) for text in literals if text]
        texts += [(text, file_name) for text in _iter_help_texts(tree)]
    return texts


def _iter_help_texts(tree: ast.AST) -> Iterator[str]:
    """Yield the ``--help`` texts of a file's commands and their options."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorators = {get_name(getattr(decorator, "func", decorator)) for decorator in node.decorator_list}
            if decorators & COMMAND_DECORATORS:
                yield ast.get_docstring(node) or ""
        elif isinstance(node, ast.keyword) and node.arg == "help":
            yield from (str(text.value) for text in iter_text_nodes(node.value) if isinstance(text, ast.Constant))


def _collect_explain_texts() -> list[tuple[str, str]]:
    """Collect the sentences about causes and the advice on errors."""
    texts = [
        (text, f"minitape/explain/causes/{file.__name__.rpartition('.')[2]}.py")
        for file in CAUSE_FILES
        for cause in file.CAUSES
        for sentences in cause.text_by_variant.values()
        for text in sentences
    ]
    texts += [(text, "minitape/explain/error_texts.py") for text in error_texts.ADVICE.values()]
    texts += [(text, "minitape/explain/translated_sentences.py") for text in (UNNAMED_TENSOR, UNNAMED_ARRAY)]
    return [pair for pair in texts if pair[0]]


def main() -> None:
    """Update the language given on the command line, or exit with an error if the language is missing."""
    code = "".join(sys.argv[1:])
    if code == ENGLISH or not LANGUAGE_CODE.fullmatch(code):
        sys.exit(f"{code!r} names no language to translate into; give its code, such as de or pt-BR")
    folder = ROOT / "notebooks" / code
    print("\n".join([f"wrote {folder}", *synchronize_translation(ROOT / "notebooks" / ENGLISH, folder)]))


if __name__ == "__main__":
    main()
