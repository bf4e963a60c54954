"""Programs in PyTorch, TensorFlow and JAX for a lesson, and what each framework recorded of its own.

The folder ``recordings`` has for each framework the program, ``torch.txt``, and ``torch.json``: the snapshot of its
recording and the answer of ``explain``. So the lesson needs no framework.
"""

from __future__ import annotations

import json
import linecache
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ..bridges.recording import Recording
from ..bridges.replay import Replay
from ..common.texts import paragraph, say
from ..explain.words import Explanation

FOLDER = Path(__file__).parent / "recordings"
LESSON = "14"  # whose programs they are
SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")  # the blank between two of them
Data: TypeAlias = dict[str, Any]  # what JSON holds
CALLED = {
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "torch_losses": "PyTorch",
    "torch_shapes": "PyTorch",
    "tensorflow_classes": "TensorFlow",
    "jax_layers": "JAX",
}


@dataclass(frozen=True)
class FrameworkProgram:
    """A program of another framework: its text, its recording, and why its gradient is None or zero."""

    text: str = field(repr=False)
    version: str
    recording: Recording
    why: Explanation


def framework_program(name: str) -> FrameworkProgram:
    """The lesson's program for "torch", "tensorflow" or "jax", or another one for a framework, such as "torch_losses",
    as it was recorded when the lesson was written.

    Raises KeyError for another name.

    >>> program = framework_program("torch")
    A recording of PyTorch 2...
    >>> program.why.cause, program.why.line
    ('no_grad', 11)
    """
    called, found = CALLED[name], saved_program(name)
    print(say("A recording of {framework} {version}.", framework=called, version=found.version))
    return found


def text_of(name: str) -> str:
    """The text of a program."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def saved_program(name: str) -> FrameworkProgram:
    """Loads a program and the recording of one run of it in its framework from the package."""
    data: Data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    text, file = lines_known(name)  # of which the explanation shows one
    recording = Replay(data["snapshot"] | {"sources_text": {file: text}}, CALLED[name])
    said = data["why"]
    others = [_explanation(other, recording) for other in said["others"]]
    return FrameworkProgram(text, data["version"], recording, _explanation(said, recording, others))


def lines_known(name: str) -> tuple[str, str]:
    """The text of a program and its file name, by which Python finds its lines from now on."""
    text, file = _numbered(text_of(name)), f"{name}_program.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return text, file


def _numbered(text: str) -> str:
    """A program with the comments that number its lines in the lesson's language."""
    return re.sub(r"# line (\d+)", lambda found: "# " + say("line {line}", line=found[1]), text)


def _explanation(said: Data, recording: Recording, others: list[Explanation] | None = None) -> Explanation:
    message, fix = (
        paragraph(*(say(sentence, LESSON) for sentence in SENTENCES.split(said[part]))) for part in ("message", "fix")
    )
    why = Explanation(said["cause"], message, fix, said["filename"], said["line"], others)
    why._tape, why._rows = recording, said["rows"]  # type: ignore[assignment]  # a picture takes it for a tape
    return why
