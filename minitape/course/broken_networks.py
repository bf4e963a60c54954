"""The ward of lesson 13: programs that learn, or do not. Who lies in which bed depends on the learner's name.

A program trains a network of four variables by one step. All are treated alike: the same network, the same points, the
same learning rate. ``lesson_13`` asks what is wrong with each; a patient is cured when all numbers of its network get a
gradient, and it learns as the healthy network does.
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TypeAlias

import numpy as np

from ..common.notebook import running_notebook
from ..common.texts import say
from .exercise import Answer, Named, Program
from .plot import Plot
from .progress import forget_tries

STEPS, RATE = 400, 1.0
GOOD = 0.94
EXAMINATIONS = 2
ORANGE, GREEN, GREY = 1, 2, 4
Step: TypeAlias = "Callable[..., tuple[Answer, Answer, list[Answer]]]"
Diagnosis: TypeAlias = "list[tuple[str, int]]"

HEALTHY = """\
def step(network, x, t, rate):
    w1, b1, w2, b2 = network
    with tf.GradientTape() as tape:
        hidden = tf.tanh(x @ w1 + b1)  # (1)
        z = tf.linalg.matvec(hidden, w2) + b2  # (2)
        loss = tf.reduce_mean(tf.math.softplus(z) - t * z)  # (3)
    gradients = tape.gradient(loss, network)  # (4)
    for variable, gradient in zip(network, gradients):  # (5)
        if gradient is not None:
            variable.assign_sub(rate * gradient)  # (6)
    return tape, loss, gradients
"""
BLOCK = "    with tf.GradientTape() as tape:\n"
LIBRARY = """\
def layer(x, w, b):
    hidden = tf.tanh(x @ w + b)
    part = hidden.shape[1] // 2
    return tf.concat([hidden[:, :part], tf.stop_gradient(hidden[:, part:])], axis=1)
"""


@dataclass(frozen=True)
class Patient:
    """A program: what is changed in the healthy one (old -> new), its diseases, and what a doctor says of it.

    `same` are diagnoses that are as right: a disease that begins in one line and shows in the next.
    """

    changes: dict[str, str]
    diseases: tuple[tuple[str, int], ...]
    says: str
    same: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)

    @property
    def program(self) -> str:
        """Its text."""
        return _changed(HEALTHY, self.changes)

    @property
    def cured(self) -> str:
        """The text of the program that is cured."""
        return _changed(self.program, {new: old for old, new in self.changes.items()})


PATIENTS = {
    "ash": Patient(
        {"tf.linalg.matvec(hidden, w2) + b2": "hidden @ w2[:, tf.newaxis] + b2"},
        (("broadcast", 2),),
        "z has the shape (200, 1), and t has (200,). Together they become (200, 200): each answer is compared with "
        "every label. The mean of the "
        "labels is 0.5, so the network learns to answer z = 0 everywhere: it takes no side.",
        same={("broadcast", 3): ("broadcast", 2)},
    ),
    "birch": Patient(
        {"zip(network, gradients)": "zip([w1, w2, b1, b2], gradients)"},
        (("order", 5),),
        "Line 4 asks for the gradients in the order w1, b1, w2, b2, line 5 hands them out in another: w2 gets b1's. "
        "Both have the shape (16,), so nothing complains.",
        same={("order", 4): ("order", 5)},
    ),
    "cedar": Patient(
        {
            f"{BLOCK}        hidden = tf.tanh(x @ w1 + b1)  # (1)\n": "    hidden = tf.tanh(x @ w1 + b1)  # (1)\n"
            + BLOCK
        },
        (("late", 1),),
        "w1 and b1 get None: line 1 runs before the tape begins. The second layer learns, so the loss falls, but the "
        "first stays as random as it was.",
        same={("cut", 1): ("late", 1)},
    ),
    "elm": Patient(
        {"tf.tanh(x @ w1 + b1)": "tf.stop_gradient(tf.tanh(x @ w1 + b1))", "assign_sub": "assign_add"},
        (("cut", 1), ("sign", 6)),
        "w1 and b1 get None, since tf.stop_gradient is around the whole first layer. And the loss rises: "
        "assign_add goes up.",
    ),
    "fir": Patient(
        {"loss = ": "loss = 5.0 + "},
        (),
        "Its loss looks bad, and its curve is that of the healthy network. A constant in a loss changes no gradient.",
    ),
    "larch": Patient(
        {"tf.tanh(x @ w1 + b1)": "layer(x, w1, b1)"},
        (("cut", 1),),
        "It nearly learns as the healthy one does, and report finds nothing. The picture has a cross inside the "
        "layer, and explain says that another path is blocked: "
        "half of the first layer never learns.",
    ),
    "hazel": Patient(
        {"- t * z": "- tf.stop_gradient(t) * z"},
        (),
        "tf.stop_gradient is around the labels, and no variable lies behind those. It cuts nothing.",
    ),
    "maple": Patient(
        {"tf.reduce_mean(tf.math": "tf.reduce_sum(tf.math"},
        (("rate", 3),),
        "The loss is the sum over 200 points, not their mean. So the gradient is 200 times as large, and so is each "
        "step. The numbers are driven so far that tanh is flat there.",
        same={("rate", 6): ("rate", 3)},
    ),
    "oak": Patient(
        {"tf.tanh(x @ w1 + b1)": "tf.tanh(1e6 * x @ w1 + b1)"},
        (("saturated", 1),),
        "The points are multiplied by a million, so the numbers before tanh are in the millions. There tanh is flat, "
        "and w1 and b1 get zeros.",
    ),
    "pine": Patient(
        {"tf.tanh(x @ w1 + b1)": "tf.round(tf.tanh(x @ w1 + b1))"},
        (("flat", 1),),
        "tf.round has steps, and no gradient passes a step. w1 and b1 get None, and the second layer learns alone.",
        same={("cut", 1): ("flat", 1)},
    ),
    "rowan": Patient(
        {"- t * z": "+ t * z"},
        (("sign", 3),),
        "A plus in the loss pays for wrong answers: the loss falls far below zero, which no cross entropy does, and "
        "the network says 0 to every point.",
    ),
    "willow": Patient(
        {"tape.gradient(loss, network)": "tape.gradient(loss, [w1, w2, b1, b2])"},
        (("order", 4),),
        "Line 4 asks for the gradients in another order than line 5 hands them out: w2 gets that of b1. Both have the "
        "shape (16,), so nothing complains.",
        same={("order", 5): ("order", 4)},
    ),
}
"""Their names say nothing."""
LAST_WEEK = Patient({"tf.tanh(x @ w1 + b1)": "tf.tanh((x @ w1 + b1).numpy())"}, (("cut", 1),), "")
"""It lies in no bed: the lesson examines and diagnoses it before a learner's eyes."""
PAIRS = ("ash", "maple"), ("birch", "willow"), ("cedar", "pine"), ("elm", "rowan"), ("fir", "hazel"), ("larch", "oak")
"""Of each pair one lies in the ward. Those of one pair look alike from afar, or are healthy."""


def _changed(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def order_for(name: str) -> tuple[str, ...]:
    """The six patients in their beds, for a learner of this name; upper and lower case are the same.

    >>> len(order_for("Ada")), order_for("Ada") == order_for("ada "), order_for("Ada") == order_for("Emmy")
    (6, True, False)
    """
    plain = " ".join(name.split()).casefold()

    def digest(patient: str) -> bytes:
        return hashlib.sha256(f"{plain}/{patient}".encode()).digest()

    return tuple(sorted((min(pair, key=digest) for pair in PAIRS), key=digest))


class Case:
    """A patient during its training: what `report`, `explain` and a picture can be asked about.

    `right` and `losses` are the part of right answers and the loss after each step; `tape`, `loss` and `gradients`
    those of the last, and `first` the tape of the first. `learning`: how many numbers of the network got a gradient in
    some step, and how many there are. `examined`: which of these parts were read by now. Of a `bed` of the ward,
    `explain` answers when a first diagnosis was handed in. Of whom was `treated`, it is told whether it is well now.
    """

    def __init__(self, ward: Ward, name: str, step: Step, program: str = "", bed: int = 0, treated: bool = False):
        self.name, self._program, self._ward, self._bed, self.treated = name, program, ward, bed, treated
        self.network, self.right, self.losses = ward.new_network(), [], []
        history: list[list[Answer]] = []
        for _ in range(STEPS + 1):
            self.right.append(ward.accuracy(self.network))
            tape, self.loss, gradients = _three(step(self.network, ward.x, ward.t, RATE))
            self._parts = {"first": getattr(self, "_parts", {"first": tape})["first"], "tape": tape}
            self.losses.append(float(self.loss))
            history.append([None if gradient is None else gradient.numpy() for gradient in gradients])
        self._parts["gradients"] = gradients
        self.at_first, self.at_last = history[0], history[-1]
        reached = (np.any([one != 0 for one in found if one is not None], 0) for found in zip(*history, strict=True))
        self.learning = sum(map(int, map(np.sum, reached))), sum(one.numpy().size for one in self.network)
        self.examined: set[str] = set()

    @property
    def tape(self) -> Answer:
        """The tape of the last step."""
        return self._examine("tape")

    @property
    def first(self) -> Answer:
        """The tape of the first step."""
        return self._examine("first")

    @property
    def gradients(self) -> list[Answer]:
        """The gradients of the last step."""
        found: list[Answer] = self._examine("gradients")
        return found

    def _examine(self, part: str) -> Answer:
        """A part of the case: whoever reads it has examined the patient."""
        self.examined.add(part)
        found = self._parts[part]
        if part != "gradients":
            vars(found).pop("explain", None)
            if self._bed and self._bed not in self._ward.tried:
                words = say("First hand in a diagnosis of your own. Then explain answers for this bed.")
                found.explain = lambda *asked: words
        return found

    @property
    def program(self) -> str:
        """Its text, once it was examined in two ways."""
        if len(self.examined) < EXAMINATIONS:
            return say("The program is shown after two examinations: the report, explain or a picture, the comparison.")
        return self._program

    @property
    def well(self) -> bool:
        """Whether it learned as it should, all of it."""
        learn, numbers = self.learning
        return self.right[-1] >= GOOD and learn == numbers

    def chart(self) -> Plot:
        """Its right answers per step beside those of the healthy network; in green, if a treatment made it well."""
        healthy = self._ward.healthy.right if self._ward.healthy else self.right
        ends = {"name": self.name, "end": f"{self.right[-1]:.0%}", "healthy": f"{healthy[-1]:.0%}"}
        words = say("Right answers per step: {name} ends at {end}, the healthy network at {healthy}", **ends)
        plot = Plot(words, x=(0, STEPS), y=(0, 1.05), names=(say("step"), say("right answers")))
        plot.line(range(STEPS + 1), healthy, name=say("healthy"), colour=GREY, dashed=True)
        return plot.line(range(STEPS + 1), self.right, self.name, GREEN if self.treated and self.well else ORANGE)

    def _summary(self) -> str:
        lines = []
        if self.treated:
            told, (learn, numbers) = say("well") if self.well else say("not well yet"), self.learning
            lines.append(say("{place}: {told}", place=self.name, told=told))
            lines.append(say("{learn} of {numbers} numbers got a gradient", learn=learn, numbers=numbers))
        words = "loss: {first} at first, {middle} after half of the steps, {last} at the end"
        steps = {"first": 0, "middle": STEPS // 2, "last": STEPS}
        lines.append(say(words, **{name: f"{self.losses[step]:.3f}" for name, step in steps.items()}))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"{self._summary()}\n{self.chart()!r}"

    def _repr_mimebundle_(self, **options: Answer) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": f"<pre>{escape(self._summary())}</pre>{self.chart().html()}"}


class Ward:
    """The beds, for a learner of this name.

    `new_network()` makes a network, `answer(network, x)` gives its answers, above 0 for the label 1.
    """

    def __init__(self, name: str, new_network: Callable[[], list[Answer]], answer: Program, x: Answer, t: Answer):
        global _here
        self.beds = order_for(name)
        self.new_network, self.answer, self.x, self.t = new_network, answer, x, t
        before = _here if _here and _here.beds == self.beds else None  # the cell may run twice
        self.cured: list[int] = before.cured if before else []
        self.diagnosed: set[int] = before.diagnosed if before else set()
        self.tried: set[int] = before.tried if before else set()
        self._cases: dict[int, Case] = {}
        if _here and not before:
            forget_tries(*(f"13.{number}" for number in range(2, len(self.beds) + 3)))
        self.healthy: Case | None = None
        self.healthy = Case(self, say("healthy"), _step(HEALTHY, "healthy.py"))
        _here = self

    def admit(self, bed: int) -> Case:
        """The patient in a bed: its program runs, and its loss and its curve are shown; `program` is its text."""
        program = self.patient(bed).program
        self._cases[bed] = Case(self, _bed(bed), _step(program, f"bed_{bed}.py"), program, bed)
        return self._cases[bed]

    def case(self, bed: int) -> Case:
        """The patient in a bed, as it was admitted last."""
        return self._cases.get(bed) or self.admit(bed)

    def visit(self, name: str) -> Case:
        """A patient by name, who need not lie in a bed; "yew" is the one that the lesson itself examines."""
        program = {**PATIENTS, "yew": LAST_WEEK}[name].program
        return Case(self, say("a patient of last week"), _step(program, f"{name}.py"), program)

    def edit(self, bed: int) -> None:
        """Put the program of a patient into a new cell below, to be changed; where that cannot be, print it. First its
        diagnosis must be known.
        """
        shell = running_notebook()
        text = f"{self.patient(bed).program}\n\nward.treat({bed}, step)"
        if bed not in self.diagnosed:
            print(say("Bed {bed} has no diagnosis yet: hand it in first, and then cure.", bed=bed))
        elif shell is None:
            print(text)
        else:
            shell.set_next_input(text)

    def treat(self, bed: int, step: Step) -> Case:
        """Train anew with a changed program. Whoever was sick and is well now counts as cured."""
        case = Case(self, _bed(bed), step, treated=True)
        if case.well and self.patient(bed).diseases:
            self.cured = sorted({*self.cured, bed})
        return case

    def diagnosis(self, bed: int) -> Diagnosis:
        """The right diagnosis, for who gives up."""
        return list(self.patient(bed).diseases)

    def cure(self, bed: int) -> Step:
        """The program of a patient, cured; the lines that were changed are printed."""
        patient = self.patient(bed)
        print(*(line.strip() for line in patient.cured.splitlines() if line not in patient.program), sep="\n")
        return _step(patient.cured, f"bed_{bed}_cured.py")

    def sick(self) -> list[int]:
        """The beds of those who are sick."""
        return [bed for bed in range(1, len(self.beds) + 1) if self.patient(bed).diseases]

    def patient(self, bed: int) -> Patient:
        """Who lies in a bed; the first is 1.

        Raises ValueError for a bed that is not there.
        """
        if bed not in range(1, len(self.beds) + 1):
            raise ValueError(
                say("there is no bed {bed!r}: they are numbered from 1 to {last}", bed=bed, last=len(self.beds))
            )
        return PATIENTS[self.beds[bed - 1]]

    def accuracy(self, network: Sequence[Answer]) -> float:
        """The part of the points that the network answers correctly."""
        return float(np.mean((self.answer(network, self.x).numpy() > 0) == (self.t.numpy() > 0.5)))


_here: Ward | None = None


def the_ward() -> Ward | None:
    """The ward that was opened last."""
    return _here


def _bed(bed: int) -> str:
    return say("bed {bed}", bed=bed)


def _step(program: str, file: str) -> Step:
    """The function `step` of a program, whose lines Python finds by this file name."""
    import minitape as tf

    names: Named = {"tf": tf, "np": np}
    for text, place in ((LIBRARY, "library.py"), (program, file)):
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        exec(compile(text, place, "exec"), names)
    step: Step = names["step"]
    return step


def _three(given: Answer) -> tuple[Answer, Answer, list[Answer]]:
    if not isinstance(given, tuple) or len(given) != 3:
        raise ValueError(say("step must end with: return tape, loss, gradients"))
    return given
