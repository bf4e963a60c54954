"""The answers of lesson 13: a network, a ward of sick ones, and penguins. What is right for a bed depends on who lies
in it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..common.texts import say
from .broken_networks import PATIENTS, order_for, the_ward
from .exercise import Exercise, Mistake

if TYPE_CHECKING:
    from .broken_networks import Patient
    from .exercise import Answer

LESSON = "13"
DISEASES = ("flat", "cut", "broadcast", "sign", "order", "saturated", "late", "rate")
LINES = range(1, 7)
FIRST = 2  # the exercise of bed 1
HEALTHY = "healthy"


def _named(disease: str, line: Answer) -> str:
    return say("{disease} in line {line}", disease=disease, line=line)


def _in_words(diagnosis: Answer, patient: Patient | None = None) -> str:
    """A diagnosis as text, in the order of the lines.

    >>> _in_words([("sign", 6), ("cut", 1)]), _in_words([])
    ('cut in line 1, sign in line 6', 'healthy')
    """
    if diagnosis is None or (isinstance(diagnosis, str) and diagnosis.strip().casefold() == HEALTHY):
        return say(HEALTHY)
    if isinstance(diagnosis, (set, frozenset)):
        diagnosis = list(diagnosis)
    if isinstance(diagnosis, tuple) and len(diagnosis) == 2 and isinstance(diagnosis[0], str):
        diagnosis = [diagnosis]
    if not isinstance(diagnosis, (list, tuple)) or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in diagnosis
    ):
        raise ValueError(say("a diagnosis is a list of pairs, such as [('flat', 2)]; for a healthy patient it is []"))
    same = patient.same if patient else {}
    pairs = {same.get((str(word), line), (str(word), line)) for word, line in diagnosis}
    return ", ".join(_named(word, line) for word, line in sorted(pairs, key=lambda pair: str(pair[1]))) or say(HEALTHY)


def _examined(diagnosis: Answer, bed: int, patient: Patient) -> str:
    """A diagnosis as text; where it is right, the ward knows it from now on."""
    words, ward = _in_words(diagnosis, patient), the_ward()
    if ward is not None and words == _in_words(list(patient.diseases)):
        ward.diagnosed.add(bed)
    return words


def _mistakes(patient: Patient) -> list[Mistake]:
    """What to say of diagnoses that are nearly right."""
    found: dict[str, str] = {}  # a diagnosis -> what is said of it; of two that fit, the first
    for disease, line in patient.diseases:
        if len(patient.diseases) > 1:
            found[_named(disease, line)] = (
                "That is one of its diseases. Compare the other lines of its program with the healthy ones, too."
            )
        for word in DISEASES:
            found.setdefault(_named(word, line), "The line is right. What is wrong with it?")
        for other in LINES:
            found.setdefault(_named(disease, other), "The disease is right. In which line does it first show?")
    if patient is PATIENTS["larch"]:
        found[say(HEALTHY)] = (
            "The curve is nearly that of the healthy network. Look at the picture of its tape, or ask explain: is "
            "every path whole?"
        )
    elif patient.diseases:
        found[say(HEALTHY)] = "Its curve is not that of the healthy network."
    for word in DISEASES if patient.diseases else ():
        for line in LINES:
            found.setdefault(_named(word, line), "Neither the disease nor the line is that of this patient.")
    for word in () if patient.diseases else DISEASES:
        for line in LINES:
            found[_named(word, line)] = (
                "Compare that line with the healthy one. Does it change the gradient of a variable, and does the curve "
                "suffer?"
            )
    found.pop(_in_words(list(patient.diseases)), None)
    return [Mistake(diagnosis, hint) for diagnosis, hint in found.items()]


def _bed(bed: int, name: str) -> Exercise:
    """The exercise of a bed: what is wrong with the patient who lies there."""
    patient = PATIENTS[name]
    sick = (
        "Does the report show what is missing, or does the loss tell you which way it goes?",
        "Compare the numbered lines with those of the healthy network, one by one, and ask explain about each "
        "variable.",
        f"ward.diagnosis({bed})",
    )
    healthy = (
        "Which gradient is not what it should be? And is its curve worse than that of the healthy network?",
        "What is unusual need not be sick. Does it lie on the path from a variable to the loss, and does it change a "
        "gradient?",
        f"ward.diagnosis({bed})",
    )
    return Exercise(
        f"{LESSON}.{FIRST - 1 + bed}",
        expect=_in_words(list(patient.diseases)),
        asks="a list of pairs of a disease and the number of a line; an empty list for a healthy patient",
        view=partial(_examined, bed=bed, patient=patient),
        mistakes=_mistakes(patient),
        hint=sick if patient.diseases else healthy,
        because=patient.says,
    )


def _cured(beds: Answer) -> str:
    """How many patients were handed in, if the ward saw each of them become well.

    It is text: who is left is for the learner to find, and the list would tell.
    """
    ward = the_ward()
    if ward is None:
        raise ValueError(say("there is no ward yet: run the cell that makes it"))
    beds = sorted(set(beds))
    for bed in beds:
        if bed not in ward.sick():
            raise ValueError(say("the patient in bed {bed} was not sick", bed=bed))
        if bed not in ward.cured:
            raise ValueError(say("the patient in bed {bed} is not well yet: its curve has not become green", bed=bed))
        if bed not in ward.diagnosed:
            raise ValueError(say("the patient in bed {bed} has no diagnosis yet: hand it in first", bed=bed))
    return say("{n} patients are well", n=len(beds))


def _standardized(
    seen: np.ndarray, measures: np.ndarray, *, axis: int | None = 0, own: bool = False, spread: bool = True
) -> np.ndarray:
    """The measures minus the mean of those that were seen, divided by their spread; with slips, as learners make
    them.
    """
    known = measures if own else seen
    return (measures - known.mean(axis=axis)) / (known.std(axis=axis) if spread else 1.0)


_random = np.random.default_rng(13)
SEEN = (_random.normal(0.0, 1.0, (7, 2)) * [5.0, 800.0] + [44.0, 4200.0]).astype(np.float32)
OTHERS = (_random.normal(0.0, 1.0, (3, 2)) * [4.0, 500.0] + [49.0, 3700.0]).astype(np.float32)

NUMBERS = Exercise(
    "13.1",
    expect=65,
    slips={
        32: "Those are the entries of w1 alone. b1, w2 and b2 are learned, too.",
        80: "w2 gives one number for each hidden one: it has 16 entries.",
        34: "b1 and w2 have 16 entries each, one for each hidden number.",
        512: "The entries of a shape are multiplied; those of the four variables are added.",
        81: "One of the vectors is counted twice: b1 has 16 entries, and w2 has 16.",
        13_000: "The number of points does not count: all points go through the same network.",
        48: "Those are the two tables. b1 and b2 are learned, too.",
        4: "There are four variables. How many numbers does each of them hold?",
        64: "Almost. b2 is a number, too.",
        49: "b1 has 16 entries, one for each hidden number.",
    },
    hint=(
        "How many entries does each of the four variables have?",
        "Multiply within a shape, then add: (2, 16), (16,), (16,) and ().",
        "2 * 16 + 16 + 16 + 1",
    ),
    because="32 + 16 + 16 + 1.",
)
STANDARDIZE = Exercise(
    "13.9",
    expect=_standardized,
    cases=[(SEEN, OTHERS), (SEEN, SEEN), (OTHERS, SEEN)],
    mistakes=[
        Mistake(
            partial(_standardized, axis=None),
            "That is one mean for millimetres and grams together. Each column has its own: axis=0.",
        ),
        Mistake(
            partial(_standardized, axis=1),
            "That is a mean for each bird. Each column needs its own: axis=0.",
            error="broadcast",
        ),
        Mistake(
            partial(_standardized, own=True),
            "The new birds were measured by their own mean. Use that of the birds that were seen, or the same bird "
            "gets other numbers in other company.",
        ),
        Mistake(
            lambda seen, measures: (measures - seen.mean(axis=0)) / seen.var(axis=0),
            "You divide by the variance, which is the square of the standard deviation.",
        ),
        Mistake(
            lambda seen, measures: (measures - seen.mean(axis=0)) / seen.std(axis=0, ddof=1),
            "You divide by the spread with n - 1. array.std(axis=0) divides by n.",
        ),
        Mistake(
            lambda seen, measures: (measures - seen.min(axis=0)) / (seen.max(axis=0) - seen.min(axis=0)),
            "That brings each column between 0 and 1. Here the mean becomes 0, and the standard deviation 1.",
        ),
        Mistake(
            lambda seen, measures: measures - seen.mean(axis=0) / seen.std(axis=0),
            "The division comes first in Python. Put the difference in brackets.",
        ),
        Mistake(
            lambda seen, measures: measures / seen.std(axis=0),
            "The spread is right. Subtract the mean first: around which number do the values lie?",
        ),
        Mistake(
            partial(_standardized, spread=False),
            "The mean is gone. Divide by the spread, too: grams are still in the hundreds.",
        ),
    ],
    hint=(
        "Which two numbers of each column tell where its values lie, and how far apart?",
        "Subtract the mean of seen, then divide by its standard deviation, column by column.",
        "return (measures - seen.mean(axis=0)) / seen.std(axis=0)",
    ),
    because="Now lengths and masses are of the same size.",
    rtol=1e-4,
    atol=1e-4,
)


def _exercises(beds: tuple[str, ...]) -> tuple[Exercise, ...]:
    cure = Exercise(
        f"{LESSON}.{FIRST + len(beds)}",
        expect=say("{n} patients are well", n=sum(bool(PATIENTS[name].diseases) for name in beds)),
        asks="the numbers of the beds of all who were sick",
        view=_cured,
        hint=(
            "Who is left? A patient with a good curve may be sick, too.",
            "ward.edit(bed) puts a program into a new cell. Change what you diagnosed, and run ward.treat(bed, step): "
            "is the curve green?",
            "ward.treat(bed, ward.cure(bed)) shows how it is done.",
        ),
        because="All of them learn as the healthy network does, and with all of their numbers.",
    )
    return NUMBERS, *(_bed(bed, name) for bed, name in enumerate(beds, 1)), cure, STANDARDIZE


EXPLAINED = {
    "13.p1": "A row holds all 200 points at once: x @ w1 is one row, with 200 times 16 numbers. The number of points "
    "does not change the number of rows.",
    "13.p2": "The network knows nothing about moons. It went down the slope of one number, again and again, and that "
    "was enough.",
    "13.p3": "4000 grams times a weight near 1 is thousands, and there tanh is flat: in float32 exactly 1 or -1, with "
    "the derivative 0. The path is whole, "
    "and it carries zeros. Only w2 and b2 learn, from hidden numbers that say next to nothing.",
}
BELIEFS = {
    "13.p1": {
        "4, one for each variable": "The four variables have a row each. So have the points, the constants, "
        "and every operation.",
        "about 200, one for each point": "A row holds a whole array: x @ w1 is one row for all 200 points.",
    },
    "13.p2": {
        "about half": "Half is what guessing gives. Going down the slope gives more.",
        "80 to 90 percent": "That is as good as a straight cut can be. tanh bends the cut.",
    },
    "13.p3": {
        "None": "None means that a path is broken. The tape recorded every line from w1 to the loss.",
        "very large": "The inputs are large. But what comes back is multiplied by the slope of tanh, which is 0 there.",
    },
}


def __getattr__(name: str) -> tuple[Exercise, ...]:
    """`EXERCISES` are those of the ward that was opened last."""
    if name != "EXERCISES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    ward = the_ward()
    return _exercises(ward.beds if ward else order_for(""))
