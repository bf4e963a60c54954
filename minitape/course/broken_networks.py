"""Define the ward of lesson 13: programs, called patients, some of which do not learn.

The learner's name decides which patient lies in which bed. Each program takes one training step on a network with four
variables. All programs use the same network, the same points and the same learning rate. ``lesson_13`` asks what is
wrong with each program. A patient is cured when all numbers of its network get a gradient and the network learns as
well as the healthy one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from html import escape
from typing import NamedTuple, TypeAlias

import numpy as np

from ..common.notebook import find_ipython_shell
from ..common.source_lines import register_source_lines
from ..common.translation import print_text, say
from ..engine.types import Names, NameSet, TextsByName
from .exercise import Answer, Answers, NamedValues, Program
from .plot import Plot
from .progress import forget_tries_unless_solved

STEPS, RATE = 400, 1.0
GOOD_ACCURACY = 0.94
MIN_EXAMINATIONS = 2
ORANGE, GREEN, GRAY = 1, 2, 4
Step: TypeAlias = "Callable[..., tuple[Answer, Answer, Answers]]"
DiseaseAndLine = tuple[str, int]
Diagnosis: TypeAlias = "list[DiseaseAndLine]"

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
TAPE_BLOCK = "    with tf.GradientTape() as tape:\n"
LIBRARY = """\
def layer(x, w, b):
    hidden = tf.tanh(x @ w + b)
    part = hidden.shape[1] // 2
    return tf.concat([hidden[:, :part], tf.stop_gradient(hidden[:, part:])], axis=1)
"""


@dataclass(frozen=True)
class Patient:
    """A program, described by its diseases and by its changes to the healthy program (old -> new).

    `equivalents` are diagnoses that are equally right, for a disease that begins in one line and shows in the next.
    """

    changes: TextsByName
    diseases: tuple[DiseaseAndLine, ...]
    equivalents: dict[DiseaseAndLine, DiseaseAndLine] = field(default_factory=dict)

    @property
    def program(self) -> str:
        """The text of the program."""
        return _apply_changes(HEALTHY, self.changes)

    @property
    def cured_program(self) -> str:
        """The text of the program that is cured."""
        return _apply_changes(self.program, {new: old for old, new in self.changes.items()})


PATIENTS = {
    "ash": Patient(
        {"tf.linalg.matvec(hidden, w2) + b2": "hidden @ w2[:, tf.newaxis] + b2"},
        (("broadcast", 2),),
        equivalents={("broadcast", 3): ("broadcast", 2)},
    ),
    "birch": Patient(
        {"zip(network, gradients)": "zip([w1, w2, b1, b2], gradients)"},
        (("order", 5),),
        equivalents={("order", 4): ("order", 5)},
    ),
    "cedar": Patient(
        {
            f"{TAPE_BLOCK}        hidden = tf.tanh(x @ w1 + b1)  # (1)\n": "    hidden = tf.tanh(x @ w1 + b1)  # (1)\n"
            + TAPE_BLOCK
        },
        (("late", 1),),
        equivalents={("cut", 1): ("late", 1)},
    ),
    "elm": Patient(
        {"tf.tanh(x @ w1 + b1)": "tf.stop_gradient(tf.tanh(x @ w1 + b1))", "assign_sub": "assign_add"},
        (("cut", 1), ("sign", 6)),
    ),
    "fir": Patient({"loss = ": "loss = 5.0 + "}, ()),
    "larch": Patient({"tf.tanh(x @ w1 + b1)": "layer(x, w1, b1)"}, (("cut", 1),)),
    "hazel": Patient({"- t * z": "- tf.stop_gradient(t) * z"}, ()),
    "maple": Patient(
        {"tf.reduce_mean(tf.math": "tf.reduce_sum(tf.math"}, (("rate", 3),), equivalents={("rate", 6): ("rate", 3)}
    ),
    "oak": Patient({"tf.tanh(x @ w1 + b1)": "tf.tanh(1e6 * x @ w1 + b1)"}, (("saturated", 1),)),
    "pine": Patient(
        {"tf.tanh(x @ w1 + b1)": "tf.round(tf.tanh(x @ w1 + b1))"},
        (("flat", 1),),
        equivalents={("cut", 1): ("flat", 1)},
    ),
    "rowan": Patient({"- t * z": "+ t * z"}, (("sign", 3),)),
    "willow": Patient(
        {"tape.gradient(loss, network)": "tape.gradient(loss, [w1, w2, b1, b2])"},
        (("order", 4),),
        equivalents={("order", 5): ("order", 4)},
    ),
}
"""The programs, by patient. The names reveal nothing about the diseases."""
LAST_WEEK_PATIENT = Patient({"x @ w1 + b1": "x @ w1.numpy() + b1"}, (("cut", 1),))
"""The patient that the lesson itself examines and diagnoses, which lies in no bed."""
PATIENT_PAIRS = (
    ("ash", "maple"),
    ("birch", "willow"),
    ("cedar", "pine"),
    ("elm", "rowan"),
    ("fir", "hazel"),
    ("larch", "oak"),
)
"""One patient of each pair lies in the ward. The two look alike at first sight, or are both healthy."""


def _apply_changes(text: str, changes: TextsByName) -> str:
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def select_patients_for_beds(learner_name: str) -> Names:
    """Select the patients for the six beds by the learner's name, ignoring upper and lower case.

    >>> patients = select_patients_for_beds("Ada")
    >>> len(patients), patients == select_patients_for_beds("ada "), patients == select_patients_for_beds("Emmy")
    (6, True, False)
    """
    plain_name = " ".join(learner_name.split()).casefold()

    def compute_digest(patient_name: str) -> bytes:
        return sha256(f"{plain_name}/{patient_name}".encode()).digest()

    beds = sorted((min(pair, key=compute_digest) for pair in PATIENT_PAIRS), key=compute_digest)
    hardest = ("birch", "willow")  # in the first bed, the disease that is hardest to see would discourage
    if beds[0] in hardest:
        beds.reverse()
    first = next(name for name in beds if PATIENTS[name].diseases and name not in hardest)
    return first, *(name for name in beds if name != first)


class GradientCount(NamedTuple):
    """How many of a network's weights got a gradient.

    Attributes:
        with_gradient: The number of weights whose gradient was not zero in at least one step.
        total: The number of all weights.
    """

    with_gradient: int
    total: int


class PatientCase:
    """A patient during its training, as a subject for `report`, `explain` and pictures.

    A patient in a bed of the ward refuses `explain` until the learner has handed in a first diagnosis.

    Attributes:
        name: The name of the patient.
        is_treated: Whether the program was changed as a treatment. If so, the case reports whether it is well now.
        network: The network, after its training.
        accuracies: The share of correct answers at the start, and after each of the `STEPS` steps.
        losses: The loss at the same times.
        loss: The loss of the last step, as a tensor.
        first_gradients: The gradients of the first step, as arrays or None.
        last_gradients: The gradients of the last step, as arrays or None.
        gradient_count: How many weights got a gradient in at least one step.
        examined_parts: The names of the parts that the learner has examined: "first", "tape" or "gradients".
    """

    def __init__(self, ward: Ward, name: str, step: Step, program: str = "", bed: int = 0, is_treated: bool = False):
        """Run a patient's program.

        Args:
            ward: The ward.
            name: The name of the patient.
            step: The function that takes one training step.
            program: The text of the program.
            bed: The number of the bed; 0 for none.
            is_treated: Whether the program was changed as a treatment.
        """
        self.name, self._program, self._ward, self._bed, self.is_treated = name, program, ward, bed, is_treated
        self.network = ward.new_network()
        self.accuracies = []
        self.losses = []
        history: list[Answers] = []
        self._parts: NamedValues = {}
        for _ in range(STEPS + 1):
            self.accuracies.append(ward.compute_accuracy(self.network))
            tape, self.loss, gradients = _unpack_step_result(step(self.network, ward.x, ward.t, RATE))
            self._parts = {"first": tape, **self._parts, "tape": tape}
            self.losses.append(float(self.loss))
            history.append([None if gradient is None else gradient.numpy() for gradient in gradients])
        self._parts["gradients"] = gradients
        self.first_gradients = history[0]
        self.last_gradients = history[-1]
        has_gradient = (
            np.any([array != 0 for array in step_gradients if array is not None], 0)
            for step_gradients in zip(*history, strict=True)
        )
        total = sum(array.numpy().size for array in self.network)
        self.gradient_count = GradientCount(sum(map(int, map(np.sum, has_gradient))), total)
        self.examined_parts: NameSet = set()

    @property
    def tape(self) -> Answer:
        """The tape of the last step."""
        return self._read_part_and_mark_examined("tape")

    @property
    def first(self) -> Answer:
        """The tape of the first step."""
        return self._read_part_and_mark_examined("first")

    @property
    def gradients(self) -> Answers:
        """The gradients of the last step."""
        gradients: Answers = self._read_part_and_mark_examined("gradients")
        return gradients

    def _read_part_and_mark_examined(self, part: str) -> Answer:
        """Read a part of the case, and note that this part of the patient was examined."""
        self.examined_parts.add(part)
        content = self._parts[part]
        if part != "gradients":
            content.__dict__.pop("explain", None)
            if self._bed and self._bed not in self._ward.tried_beds:
                content.explain = partial(self._refuse_explanation, part)
        return content

    def _refuse_explanation(self, part: str, *_: Answer) -> str:
        """Return why `explain` does not answer yet. A question without an answer is not an examination."""
        self.examined_parts.discard(part)
        return say("Hand in your own diagnosis first. After that, you can use explain for this bed.")

    @property
    def program(self) -> str:
        """The text of the program, once the patient has been examined in two ways."""
        if len(self.examined_parts) < MIN_EXAMINATIONS:
            return say(
                "To see the program, first use two of these three: the report; explain or a picture; the comparison."
            )
        return self._program

    @property
    def is_well(self) -> bool:
        """Whether the whole network learned as it should have."""
        return self.accuracies[-1] >= GOOD_ACCURACY and self.gradient_count.with_gradient == self.gradient_count.total

    def build_chart(self) -> Plot:
        """Build a plot of the right answers per step next to the curve of the healthy network.

        Returns:
            The plot, whose curve is green if a treatment made the patient well.
        """
        healthy = self._ward.healthy.accuracies
        texts = {"name": self.name, "end": f"{self.accuracies[-1]:.0%}", "healthy": f"{healthy[-1]:.0%}"}
        words = say("Correct answers after each step: {name} ends at {end}, the healthy network at {healthy}", **texts)
        plot = Plot(words, x=(0, STEPS), y=(0, 1.05), names=(say("step"), say("correct answers")))
        plot.line(range(STEPS + 1), healthy, name=say("healthy"), colour=GRAY, dashed=True)
        return plot.line(
            range(STEPS + 1), self.accuracies, self.name, GREEN if self.is_treated and self.is_well else ORANGE
        )

    def _format_summary(self) -> str:
        lines = []
        if self.is_treated:
            learned_count, total = self.gradient_count
            state = say("well") if self.is_well else say("not well yet")
            lines.append(say("{place}: {told}", place=self.name, told=state))
            lines.append(say("{learn} of {numbers} parameters got a gradient", learn=learned_count, numbers=total))
        steps = {"first": 0, "middle": STEPS // 2, "last": STEPS}
        losses = {name: f"{self.losses[step]:.3f}" for name, step in steps.items()}
        lines.append(say("loss: {first} at the start, {middle} halfway through, {last} at the end", **losses))
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return the report as text."""
        return f"{self._format_summary()}\n{self.build_chart()!r}"

    def _repr_mimebundle_(self, **options: Answer) -> TextsByName:
        return {
            "text/plain": repr(self),
            "text/html": f"<pre>{escape(self._format_summary())}</pre>{self.build_chart().html()}",
        }


class Ward:
    """The beds for a learner's name.

    `new_network()` creates a network. `answer(network, x)` returns its answers, which are above 0 for the label 1.
    """

    def __init__(self, name: str, new_network: Callable[[], Answers], answer: Program, x: Answer, t: Answer):
        """Open a ward for a learner.

        Args:
            name: The learner's name, which selects the patients.
            new_network: The function that creates the variables of a network.
            answer: The function that computes a network's answers.
            x: The points.
            t: Their labels.
        """
        global _current_ward
        self.beds = select_patients_for_beds(name)
        self.new_network = new_network
        self.answer = answer
        self.x = x
        self.t = t
        # If the cell runs again, the new ward takes over the results of the earlier one.
        earlier_ward = _current_ward if _current_ward and _current_ward.beds == self.beds else None
        self.cured: list[int] = earlier_ward.cured if earlier_ward else []
        self.diagnosed_beds: set[int] = earlier_ward.diagnosed_beds if earlier_ward else set()
        self.tried_beds: set[int] = earlier_ward.tried_beds if earlier_ward else set()
        self._cases: dict[int, PatientCase] = {}
        if _current_ward and not earlier_ward:
            forget_tries_unless_solved(*(f"13.{number}" for number in range(2, len(self.beds) + 3)))
        self.healthy = PatientCase(self, say("healthy"), _compile_step(HEALTHY, "healthy.py"))
        _current_ward = self

    def admit(self, bed: int) -> PatientCase:
        """Run the program of the patient in a bed.

        Args:
            bed: The number of the bed.

        Returns:
            The case, which shows the loss and the curve; `program` is the text.
        """
        program = self.get_patient_in_bed(bed).program
        self._cases[bed] = PatientCase(self, _format_bed(bed), _compile_step(program, f"bed_{bed}.py"), program, bed)
        return self._cases[bed]

    def find_or_admit_case(self, bed: int) -> PatientCase:
        """Return the case from the last admission of the patient in a bed. If there is none, admit the patient now."""
        return self._cases.get(bed) or self.admit(bed)

    def visit(self, patient_name: str) -> PatientCase:
        """Run the program of any patient, even one that lies in no bed.

        Args:
            patient_name: The name; "yew" is the patient that the lesson examines.

        Returns:
            The case.
        """
        program = {**PATIENTS, "yew": LAST_WEEK_PATIENT}[patient_name].program
        return PatientCase(self, say("last week's patient"), _compile_step(program, f"{patient_name}.py"), program)

    def edit(self, bed: int) -> None:
        """Put the program of a patient into a new cell below, or print it if that is not possible.

        Args:
            bed: The number of the bed. The diagnosis must be known.
        """
        shell = find_ipython_shell()
        text = f"{self.get_patient_in_bed(bed).program}\n\nward.treat({bed}, step)"
        if bed not in self.diagnosed_beds:
            print_text(
                say("Bed {bed} has no diagnosis yet. Hand in a diagnosis before you treat the patient.", bed=bed)
            )
        elif not self.get_patient_in_bed(bed).diseases:
            print_text(say("The patient in bed {bed} is well, so there is nothing to cure.", bed=bed))
        elif shell is None:
            print_text(text)
        else:
            shell.set_next_input(text)

    def treat(self, bed: int, step: Step) -> PatientCase:
        """Train a patient again with a changed program. A patient that was sick and is now well counts as cured."""
        case = PatientCase(self, _format_bed(bed), step, is_treated=True)
        if case.is_well and self.get_patient_in_bed(bed).diseases:
            self.cured = sorted({*self.cured, bed})
        return case

    def diagnosis(self, bed: int) -> Diagnosis:
        """Return the right diagnosis, for a learner who gives up."""
        return list(self.get_patient_in_bed(bed).diseases)

    def cure(self, bed: int) -> Step:
        """Return a patient's program in its cured form, and print the lines that were changed."""
        patient = self.get_patient_in_bed(bed)
        changed_lines = (line.strip() for line in patient.cured_program.splitlines() if line not in patient.program)
        print_text("\n".join(changed_lines))
        return _compile_step(patient.cured_program, f"bed_{bed}_cured.py")

    def sick(self) -> list[int]:
        """Return the beds of the patients who are sick."""
        return [bed for bed in range(1, len(self.beds) + 1) if self.get_patient_in_bed(bed).diseases]

    def get_patient_in_bed(self, bed: int) -> Patient:
        """Return the patient who lies in a bed. The beds are numbered from 1.

        Raises ValueError for a bed that is not there.
        """
        if bed not in range(1, len(self.beds) + 1):
            raise ValueError(
                say("bed {bed!r} does not exist; the beds are numbered from 1 to {last}", bed=bed, last=len(self.beds))
            )
        return PATIENTS[self.beds[bed - 1]]

    def compute_accuracy(self, network: Sequence[Answer]) -> float:
        """Return the fraction of the points that the network classifies correctly."""
        return float(np.mean((self.answer(network, self.x).numpy() > 0) == (self.t.numpy() > 0.5)))


_current_ward: Ward | None = None


def find_current_ward() -> Ward | None:
    """Return the ward that was opened last."""
    return _current_ward


def _format_bed(bed: int) -> str:
    return say("bed {bed}", bed=bed)


def _compile_step(program: str, filename: str) -> Step:
    """Compile a program, whose lines Python finds by this file name, and return its function `step`."""
    import minitape as tf

    names: NamedValues = {"tf": tf, "np": np}
    for text, source_name in ((LIBRARY, "library.py"), (program, filename)):
        register_source_lines(source_name, text)
        exec(compile(text, source_name, "exec"), names)
    step: Step = names["step"]
    return step


def _unpack_step_result(result: Answer) -> tuple[Answer, Answer, Answers]:
    if not isinstance(result, tuple) or len(result) != 3:
        raise ValueError(say("the function step must end with: return tape, loss, gradients"))
    return result
