"""Training scripts put together at random: one break on the way from ``u`` to the loss, and lines that only look."""

import random
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent


@dataclass
class Piece:
    """A break (with its name and causes) or a line that only looks: lines by the place where they stand."""

    name: str = ""
    causes: list[str] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)

    def at(self, place: str) -> list[str]:
        """The lines for a place."""
        return self.lines.get(place, [])


@dataclass
class Script:
    """A program that leaves ``tape``, ``target`` and ``source``, with what is to be said of it."""

    name: str
    code: str
    causes: list[str]
    blamed: set[int]


def load() -> tuple[list[Piece], list[Piece]]:
    """The breaks and the lines that only look, of ``scripts.txt``."""
    pieces: list[Piece] = []
    for line in (ROOT / "scripts.txt").read_text().splitlines():
        if line.startswith("@ "):
            kind, *rest = line[2:].split()
            pieces.append(Piece(rest[0], rest[1].split("|")) if kind == "break" else Piece())
        elif not line.startswith("#"):
            place, text = line.split(" | ", 1)
            pieces[-1].lines.setdefault(place.strip(), []).append(text)
    return [p for p in pieces if p.name], [p for p in pieces if not p.name]


BREAKS, LOOKS = load()
_STYLES = ("loop", "function", "class")
_IN_LOOP = ("rebound", "pause")  # they name the tape, or bind u anew


def script(number: int) -> Script:
    """A script; the same one for the same number."""
    rng = random.Random(number)
    broken = BREAKS[number % len(BREAKS)]
    looks = rng.sample(LOOKS, rng.randint(1, 5))
    style = "loop" if broken.name in _IN_LOOP else rng.choice(_STYLES)
    inside = [p.at("in") for p in looks]
    inside.insert(rng.randint(0, len(inside)), broken.at("in"))
    body = [line for lines in inside for line in lines]
    body.append(f"loss = tf.reduce_sum((x * w) ** 2) + {broken.at('part')[0]}")
    after = [line for p in looks for line in p.at("post")]
    lines = ["import numpy as np", "w = tf.Variable([1.0, 2.0])"]
    lines += broken.at("decl") or ["u = tf.Variable([0.5, 1.5])"]
    lines += ["x = tf.constant([1.0, 3.0])", *(line for p in (*looks, broken) for line in p.at("pre"))]
    lines += _trained(style, body, after, broken.at("post"))
    lines += ["target, source = loss, u"]
    blamed = {i for i, line in enumerate(lines, 1) if line.endswith("#!")}
    code = "\n".join(line.removesuffix("#!").rstrip() for line in lines) + "\n"
    return Script(f"{broken.name}-{style}-{number}", code, broken.causes, blamed)


def _trained(style: str, body: list[str], after: list[str], once: list[str]) -> list[str]:
    """The loop over two steps, with the loss in it, in a function, or in the method of a class."""
    lines = []
    if style == "function":
        lines = ["def loss_fn(x, w, u):", *_indented(body), "    return loss"]
        body = ["loss = loss_fn(x, w, u)"]
    elif style == "class":
        lines = ["class Model:", "    def __init__(self, w, u):", "        self.w, self.u = w, u"]
        lines += ["    def loss(self, x):"]
        lines += [*_indented(["w, u = self.w, self.u", *body, "return loss"], 8), "model = Model(w, u)"]
        body = ["loss = model.loss(x)"]
    step = ["with tf.GradientTape(persistent=True) as tape:", *_indented(body)]
    step += ["w.assign_sub(0.01 * tape.gradient(loss, w))", *after]
    if once:
        step += ["if step == 0:", *_indented(once)]
    return [*lines, "for step in range(2):", *_indented(step)]


def _indented(lines: list[str], by: int = 4) -> list[str]:
    return [" " * by + line for line in lines]
