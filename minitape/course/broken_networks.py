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
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..common.texts import say
from .plot import Plot
from .progress import forget_tries

if TYPE_CHECKING:
    from .exercise import Answer

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
    """A program: what is changed in the healthy one (old -> new), its diseases, what a doctor says of it, and how it is
    cured.

    `cure` changes the sick program back (new -> old); where it is empty, the changes are undone. `same` are diagnoses
    that are as right: a disease that begins in one line and shows in the next.
    """

    changes: dict[str, str]
    diseases: tuple[tuple[str, int], ...]
    says: str
    cure: dict[str, str] = field(default_factory=dict)
    same: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)

    @property
    def program(self) -> str:
        """Its text."""
        return _changed(HEALTHY, self.changes)

    @property
    def cured(self) -> str:
        """The text of the program that is cured."""
        return _changed(self.program, self.cure or {new: old for old, new in self.changes.items()})


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
        "The gradients come in the order w1, b1, w2, b2. Line 5 hands them out in another one: w2 gets that of b1. "
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
        "The points are in millionths, so the numbers before tanh are in the millions. There tanh is flat, and w1 and "
        "b1 get zeros.",
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


def sayings_of(lesson: str) -> list[str]:
    """What a doctor says of each patient, whoever lies in the ward."""
    return [patient.says for patient in PATIENTS.values()] if lesson == "13" else []


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


class ExaminedPart:
    """A part of a case: whoever reads it has examined the patient."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, case: Case, owner: type) -> Answer:
        case.examined.add(self.name)
        found = vars(case)[self.name]
        if self.name != "gradients" and not case.explained():
            words = say("First hand in a diagnosis of your own. Then explain answers for this bed.")
            found.explain = lambda *asked: words
        elif "explain" in getattr(found, "__dict__", ()):
            del found.explain
        return found

    def __set__(self, case: Case, value: Answer) -> None:
        vars(case)[self.name] = value


class Case:
    """A patient during its training: what `report`, `explain` and a picture can be asked about.

    `right` and `losses` are the part of right answers and the loss after each step; `tape`, `loss` and `gradients`
    those of the last, and `first` the tape of the first. `learning`: how many numbers of the network got a gradient in
    some step, and how many there are. `examined`: which of these parts were read by now. Of a `bed` of the ward,
    `explain` answers when a first diagnosis was handed in.
    """

    tape, gradients, first = ExaminedPart(), ExaminedPart(), ExaminedPart()

    def __init__(self, ward: Ward, name: str, step: Step, program: str = "", bed: int = 0):
        self.name, self._program, self._ward, self._bed, self.examined = name, program, ward, bed, set[str]()
        self.network, self.right, self.losses = ward.new_network(), [], []
        first: Answer = None
        self.at_first: list[Answer] = []
        reached = [np.zeros(np.shape(variable.numpy()), bool) for variable in self.network]
        for _ in range(STEPS + 1):
            self.right.append(ward.accuracy(self.network))
            self.tape, self.loss, self.gradients = _three(step(self.network, ward.x, ward.t, RATE))
            self.losses.append(float(self.loss))
            if first is None:
                first, self.at_first = self.tape, self.gradients
            for found, gradient in zip(reached, self.gradients, strict=True):
                found |= False if gradient is None else gradient.numpy() != 0
        self.first = first
        self.learning = sum(int(found.sum()) for found in reached), sum(found.size for found in reached)
        self.examined.clear()

    def explained(self) -> bool:
        """Whether `explain` answers."""
        return not self._bed or self._bed in self._ward.tried

    def findings(self) -> tuple[list[Answer], list[Answer]]:
        """The gradients of the first step and of the last, as `check` reads them, which is no examination."""
        return self.at_first, vars(self)["gradients"]

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

    def chart(self, colour: int = ORANGE) -> Plot:
        """Its right answers per step beside those of the healthy network."""
        healthy = self._ward.healthy.right if self._ward.healthy else self.right
        ends = {"name": self.name, "end": f"{self.right[-1]:.0%}", "healthy": f"{healthy[-1]:.0%}"}
        words = say("Right answers per step: {name} ends at {end}, the healthy network at {healthy}", **ends)
        plot = Plot(words, x=(0, STEPS), y=(0, 1.05), names=(say("step"), say("right answers")))
        plot.line(range(STEPS + 1), healthy, name=say("healthy"), colour=GREY, dashed=True)
        return plot.line(range(STEPS + 1), self.right, name=self.name, colour=colour)

    def _summary(self) -> str:
        first, middle, last = (f"{self.losses[k]:.3f}" for k in (0, STEPS // 2, STEPS))
        return say(
            "loss: {first} at first, {middle} after half of the steps, {last} at the end",
            first=first,
            middle=middle,
            last=last,
        )

    def __repr__(self) -> str:
        return f"{self._summary()}\n{self.chart()!r}"

    def _repr_mimebundle_(self, **options: Answer) -> dict[str, str]:
        from html import escape

        return {"text/plain": repr(self), "text/html": f"<pre>{escape(self._summary())}</pre>{self.chart().html()}"}


class Treated(Case):
    """A patient after a treatment. Its curve is green if it is well."""

    def chart(self, colour: int = ORANGE) -> Plot:
        """As that of a case, in green if it is well."""
        return super().chart(GREEN if self.well else colour)

    def _summary(self) -> str:
        learn, numbers = self.learning
        counted = say("{learn} of {numbers} numbers got a gradient", learn=learn, numbers=numbers)
        verdict = say("well") if self.well else say("not well yet")
        other = (
            say("All of its numbers learn, but its answers are counted with lines 1 and 2 of the healthy network.")
            if learn == numbers and not self.well
            else ""
        )
        return "\n".join(
            filter(None, [say("{place}: {told}", place=self.name, told=verdict), counted, other, super()._summary()])
        )


class Ward:
    """The beds, for a learner of this name.

    `new_network()` makes a network, `answer(network, x)` gives its answers, above 0 for the label 1.
    """

    def __init__(
        self, name: str, new_network: Callable[[], list[Answer]], answer: Callable[..., Answer], x: Answer, t: Answer
    ):
        global _here
        self.beds = order_for(name)
        self.new_network, self.answer, self.x, self.t = new_network, answer, x, t
        same = _here is not None and _here.beds == self.beds  # the cell may run twice
        self.cured: list[int] = _here.cured if _here and same else []
        self.diagnosed: set[int] = _here.diagnosed if _here and same else set()
        self.tried: set[int] = _here.tried if _here and same else set()
        self._cases: dict[int, Case] = {}
        if _here and not same:
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
        import sys

        if bed not in self.diagnosed:
            print(say("Bed {bed} has no diagnosis yet: hand it in first, and then cure.", bed=bed))
            return
        text = f"{self.patient(bed).program}\n\nward.treat({bed}, step)"
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        if shell is None:
            print(text)
        else:
            shell.set_next_input(text)

    def treat(self, bed: int, step: Step) -> Treated:
        """Train anew with a changed program. Whoever was sick and is well now counts as cured."""
        treated = Treated(self, _bed(bed), step)
        if treated.well and self.patient(bed).diseases:
            self.cured = sorted({*self.cured, bed})
        return treated

    def diagnosis(self, bed: int) -> Diagnosis:
        """The right diagnosis, for who gives up."""
        return list(self.patient(bed).diseases)

    def cure(self, bed: int) -> Step:
        """The program of a patient, cured; the lines that were changed are printed."""
        sick, cured = self.patient(bed).program.splitlines(), self.patient(bed).cured.splitlines()
        print(*(line.strip() for line in cured if line not in sick), sep="\n")
        return _step(self.patient(bed).cured, f"bed_{bed}_cured.py")

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

    names: dict[str, Answer] = {"tf": tf, "np": np}
    for text, place in ((LIBRARY, "library.py"), (program, file)):
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        exec(compile(text, place, "exec"), names)
    step: Step = names["step"]
    return step


def _three(given: Answer) -> tuple[Answer, Answer, list[Answer]]:
    if not isinstance(given, tuple) or len(given) != 3:
        raise ValueError(say("step must end with: return tape, loss, gradients"))
    return given
