"""Load a lesson's programs in PyTorch, TensorFlow and JAX, and what each framework recorded.

The folder ``recordings`` has for each framework the program, ``torch.txt``, and ``torch.json``: the snapshot of its
recording and the answer of ``explain``. The lesson therefore needs no framework.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..bridges.recording import Recording
from ..bridges.snapshot_recording import Replay
from ..common.read_data import read_json
from ..common.source_lines import register_source_lines
from ..common.translation import join_sentences, print_text, say
from ..engine.types import JsonObject, TextPair
from ..explain.explanation import Explanation

FOLDER = Path(__file__).parent / "recordings"
LESSON = "14"  # The lesson that shows these programs.
SENTENCE_BREAK = re.compile(r"(?<=\.) (?=[A-Z])")  # A sentence break is the blank between two sentences.
FRAMEWORK_NAMES = {
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "torch_losses": "PyTorch",
    "torch_points": "PyTorch",
    "tensorflow_classes": "TensorFlow",
    "jax_layers": "JAX",
}


@dataclass(frozen=True)
class FrameworkProgram:
    """A program in a different framework, its recording, and the reason why its gradient is None or zero."""

    text: str = field(repr=False)
    version: str
    recording: Recording
    why: Explanation


def framework_program(name: str) -> FrameworkProgram:
    """Print and return a program of the lesson as it was recorded when the lesson was written.

    Args:
        name: "torch", "tensorflow" or "jax", or the name of another program, such as "torch_losses".

    Returns:
        The recorded program.

    Raises:
        KeyError: If the program does not exist.

    >>> program = framework_program("torch")
    Recorded with PyTorch 2...
    >>> program.why.cause, program.why.line
    ('no_grad', 11)
    """
    framework = FRAMEWORK_NAMES[name]
    program = load_program(name)
    print_text(say("Recorded with {framework} {version}.", framework=framework, version=program.version))
    return program


def read_program_text(program_name: str) -> str:
    """Read the text of a program."""
    return (FOLDER / f"{program_name}.txt").read_text(encoding="utf-8")


def load_program(program_name: str) -> FrameworkProgram:
    """Load a program from the package, with the recording of one run in its framework."""
    data: JsonObject = read_json(FOLDER / f"{program_name}.json")
    text, file = read_and_register_program_source(program_name)  # The explanation quotes a line of this text.
    recording = Replay(data["snapshot"] | {"sources_text": {file: text}}, FRAMEWORK_NAMES[program_name])
    return FrameworkProgram(text, data["version"], recording, _build_explanation(data["why"], recording))


def read_and_register_program_source(program_name: str) -> TextPair:
    """Read a program in the lesson's language. Return its text and the file name by which Python finds its lines."""
    text = re.sub(
        r"# line (\d+)", lambda match: "# " + say("line {line}", line=match[1]), read_program_text(program_name)
    )
    filename = f"{program_name}_program.py"
    register_source_lines(filename, text)
    return text, filename


def _build_explanation(explanation_data: JsonObject, recording: Recording) -> Explanation:
    others = [_build_explanation(other, recording) for other in explanation_data["others"]]
    message, fix = (
        join_sentences(*(say(sentence, LESSON) for sentence in SENTENCE_BREAK.split(explanation_data[key])))
        for key in ("message", "fix")
    )
    explanation = Explanation(
        explanation_data["cause"], message, fix, explanation_data["filename"], explanation_data["line"], others
    )
    explanation._tape, explanation._rows = recording, explanation_data["rows"]  # type: ignore[assignment]  # Pictures accept it as a tape.
    return explanation
