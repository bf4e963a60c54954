"""The texts of a lesson, for whoever translates it.

``python -m minitape.course.translation 01_the_first_tape.ipynb`` prints what ``texts/01.json`` maps (``texts.py`` says how it is
used), with empty translations; without a notebook, it prints what ``texts/feedback.json`` maps.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.read_data import NOTEBOOK, read_json
from .exercise import exercises_of, explanations_of

if TYPE_CHECKING:
    from ..engine.typed import Function


def texts_of(lesson: str) -> list[str]:
    """The texts of a lesson's answer key: what `check` may say of its exercises, and `reveal` of its predictions."""
    found = []
    for exercise in exercises_of(lesson).values():
        found += [*(mistake.hint for mistake in exercise.mistakes), *exercise.hints, exercise.because, exercise.asks, *_said_by(exercise.also)]
        found += [text for trial in exercise.trials for text in trial.texts()]
    return [text for text in dict.fromkeys([*found, *explanations_of(lesson).values()]) if text]


def texts_in(notebook: Path) -> list[str]:
    """The texts of a notebook's predictions: each question, and the choices that are words."""
    cells = read_json(notebook, NOTEBOOK)["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    calls = [call for source in code if "predict(" in source for call in _calls(source, "predict")]
    texts = [text for call in calls for text in _texts(call) if not _is_number(text)]
    return list(dict.fromkeys(texts))


def texts_of_feedback() -> list[str]:
    """What all lessons say: the texts that this package gives to `say`."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    calls = [call for source in sources for call in _calls(source, "say") if len(call.args) == 1]
    texts = [node.value for call in calls for node in ast.walk(call.args[0]) if isinstance(node, ast.Constant)]
    return list(dict.fromkeys(text for text in texts if isinstance(text, str)))


def _said_by(look: Function | None) -> list[str]:
    """The texts that a further look at a learner's function may give."""
    if look is None:
        return []
    constants = [*look.__code__.co_consts, *(c for part in look.__code__.co_consts if hasattr(part, "co_consts") for c in part.co_consts)]
    return [text for text in constants if isinstance(text, str) and " " in text and text != look.__doc__]


def _calls(source: str, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def _texts(call: ast.Call) -> Iterator[str]:
    """The texts of a call of `predict`, without the name of the prediction."""
    for argument in call.args[1:]:
        for node in ast.walk(argument):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def main(names: list[str]) -> None:
    """Print a file to be filled in, for each notebook; for none, the one of the feedback."""
    for path in map(Path, names):
        texts = [*texts_in(path), *texts_of(path.stem.partition("_")[0])]
        print(json.dumps(dict.fromkeys(texts, ""), indent=1, ensure_ascii=False))
    if not names:
        print(json.dumps(dict.fromkeys(texts_of_feedback(), ""), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
