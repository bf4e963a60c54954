"""Generate random training scripts with one break on the path from ``u`` to the loss, and with unrelated lines."""

import random
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass
class Piece:
    """A part of a script: a break, or lines that only inspect values.

    Attributes:
        name: The name of the break, or "" for lines that only inspect values.
        causes: The accepted causes of the break.
        lines: The lines, by place in the script.
    """

    name: str = ""
    causes: list[str] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)

    def get_lines(self, place: str) -> list[str]:
        """Return the lines for a place."""
        return self.lines.get(place, [])


@dataclass
class Script:
    """A program that defines ``tape``, ``target`` and ``source``, with the expected answer.

    Attributes:
        name: The name of the break, the style and the number of the script.
        code: The program.
        causes: The accepted causes.
        blamed_lines: The numbers of the lines that the answer may name.
    """

    name: str
    code: str
    causes: list[str]
    blamed_lines: set[int]


def load_break_and_look_pieces() -> tuple[list[Piece], list[Piece]]:
    """Read the breaks and the inspecting lines from ``scripts.txt``."""
    pieces: list[Piece] = []
    for line in (FOLDER / "scripts.txt").read_text().splitlines():
        if line.startswith("@ "):
            kind, *words = line[2:].split()
            pieces.append(Piece(words[0], words[1].split("|")) if kind == "break" else Piece())
        elif not line.startswith("#"):
            place, text = line.split(" | ", 1)
            pieces[-1].lines.setdefault(place.strip(), []).append(text)
    return [piece for piece in pieces if piece.name], [piece for piece in pieces if not piece.name]


BREAK_PIECES, LOOK_PIECES = load_break_and_look_pieces()
_SCRIPT_STYLES = ("loop", "function", "class")
_LOOP_ONLY_BREAKS = ("rebound", "pause")
"""Breaks that use the tape's name or rebind u, which only works in the loop itself."""


def build_script(number: int) -> Script:
    """Build a random script. The same number always gives the same script."""
    rng = random.Random(number)
    break_piece = BREAK_PIECES[number % len(BREAK_PIECES)]
    look_pieces = rng.sample(LOOK_PIECES, rng.randint(1, 5))
    style = "loop" if break_piece.name in _LOOP_ONLY_BREAKS else rng.choice(_SCRIPT_STYLES)
    block_lines = [piece.get_lines("in") for piece in look_pieces]
    block_lines.insert(rng.randint(0, len(block_lines)), break_piece.get_lines("in"))
    body = [line for lines in block_lines for line in lines]
    body.append(f"loss = tf.reduce_sum((x * w) ** 2) + {break_piece.get_lines('part')[0]}")
    look_lines = [line for piece in look_pieces for line in piece.get_lines("post")]
    lines = ["import numpy as np", "w = tf.Variable([1.0, 2.0])"]
    lines += break_piece.get_lines("decl") or ["u = tf.Variable([0.5, 1.5])"]
    lines += [
        "x = tf.constant([1.0, 3.0])",
        *(line for piece in (*look_pieces, break_piece) for line in piece.get_lines("pre")),
    ]
    lines += _build_training_loop(style, body, look_lines, break_piece.get_lines("post"))
    lines += ["target, source = loss, u"]
    blamed_lines = {i for i, line in enumerate(lines, 1) if line.endswith("#!")}
    code = "\n".join(line.removesuffix("#!").rstrip() for line in lines) + "\n"
    return Script(f"{break_piece.name}-{style}-{number}", code, break_piece.causes, blamed_lines)


def _build_training_loop(style: str, body: list[str], look_lines: list[str], first_step_lines: list[str]) -> list[str]:
    """Build the training loop with two steps. The loss is computed in the loop, in a function, or in a method."""
    lines = []
    if style == "function":
        lines = ["def loss_fn(x, w, u):", *_indent_lines(body), "    return loss"]
        body = ["loss = loss_fn(x, w, u)"]
    elif style == "class":
        lines = ["class Model:", "    def __init__(self, w, u):", "        self.w, self.u = w, u"]
        lines += ["    def loss(self, x):"]
        lines += [*_indent_lines(["w, u = self.w, self.u", *body, "return loss"], 8), "model = Model(w, u)"]
        body = ["loss = model.loss(x)"]
    step = ["with tf.GradientTape(persistent=True) as tape:", *_indent_lines(body)]
    step += ["w.assign_sub(0.01 * tape.gradient(loss, w))", *look_lines]
    if first_step_lines:
        step += ["if step == 0:", *_indent_lines(first_step_lines)]
    return [*lines, "for step in range(2):", *_indent_lines(step)]


def _indent_lines(lines: list[str], width: int = 4) -> list[str]:
    return [" " * width + line for line in lines]
