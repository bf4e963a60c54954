"""Programs in PyTorch, TensorFlow and JAX for a lesson, and what each framework recorded of its own.

The folder ``recordings`` has for each framework the program, ``torch.txt``, and ``torch.json``: the snapshot of its
recording and the answer of ``explain``. So the lesson needs no framework. ``python -m minitape.course.programs torch``
writes the second file anew, where PyTorch is installed.
"""

from __future__ import annotations

import importlib
import json
import linecache
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ..bridges.recording import Recording
from ..bridges.replay import Replay
from ..bridges.require import framework_module
from ..common.texts import paragraph, say
from ..common.write_beside import write
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


def framework_program(name: str, live: bool = False) -> FrameworkProgram:
    """The lesson's program for "torch", "tensorflow" or "jax", or another one for a framework, such as "torch_losses",
    as it was recorded when the lesson was written.

    With `live` it runs here and now, where the framework is installed. Raises KeyError for another name.

    >>> program = framework_program("torch")
    A recording of PyTorch 2...
    >>> program.why.cause, program.why.line
    ('no_grad', 11)
    """
    called = CALLED[name]
    if live:
        try:
            return _program(name, run(name))
        except ImportError as error:
            print(say("{framework} cannot run here: {error}", framework=called, error=error))
    found = saved_program(name)
    print(say("A recording of {framework} {version}.", framework=called, version=found.version))
    return found


def text_of(name: str) -> str:
    """The text of a program."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def saved_program(name: str) -> FrameworkProgram:
    """Loads a program and the recording of one run of it in its framework from the package."""
    return _program(name, json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def run(name: str) -> Data:
    """Runs a program: the framework's version, what `explain` said, and the snapshot of the recording.

    Raises ImportError where the framework is not installed, or too old.
    """
    module = name.partition("_")[0]
    framework = framework_module(module, CALLED[name], (0, 0))
    importlib.import_module(f"minitape.bridges.{module}")
    text, file = _lines_known(name)
    names: Data = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), names)
    snapshot = eval("recording.snapshot()", names)  # there, where the names of the tensors are
    why = _said(names["why"]) | {"others": [_said(other) for other in names["why"].others]}
    return {"version": framework.__version__.partition("+")[0], "why": why, "snapshot": snapshot | {"record": name}}


def keep(name: str) -> Path:
    """Runs a program, and writes what the framework recorded of it."""
    file = FOLDER / f"{name}.json"
    write(file, json.dumps(run(name), ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")
    return file


def _lines_known(name: str) -> tuple[str, str]:
    """The text of a program and its file name, by which Python finds its lines from now on."""
    text, file = _numbered(text_of(name)), f"{name}_program.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return text, file


def _numbered(text: str) -> str:
    """A program with the comments that number its lines in the lesson's language."""
    return re.sub(r"# line (\d+)", lambda found: "# " + say("line {line}", line=found[1]), text)


def _program(name: str, data: Data) -> FrameworkProgram:
    text, file = _lines_known(name)  # of which the explanation shows one
    recording = Replay(data["snapshot"] | {"sources_text": {file: text}}, CALLED[name])
    said = data["why"]
    others = [_explanation(other, recording) for other in said["others"]]
    return FrameworkProgram(text, data["version"], recording, _explanation(said, recording, others))


def _said(why: Explanation) -> Data:
    parts = {"cause": why.cause, "message": why.message, "fix": why.fix, "filename": why.filename, "line": why.line}
    return parts | {"rows": why._rows, "others": []}


def _explanation(said: Data, recording: Recording, others: list[Explanation] | None = None) -> Explanation:
    message, fix = (
        paragraph(*(say(sentence, LESSON) for sentence in SENTENCES.split(said[part]))) for part in ("message", "fix")
    )
    why = Explanation(said["cause"], message, fix, said["filename"], said["line"], others)
    why._tape, why._rows = recording, said["rows"]  # type: ignore[assignment]  # a picture takes it for a tape
    return why


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        print(keep(asked))
