"""The answers of lesson 13: a network, a ward of sick ones, and penguins. What is right for a bed depends on who lies
in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from numbers import Real

import numpy as np

from ..common.translation import join_sentences, say
from .broken_networks import PATIENTS, Patient, PatientCase, find_current_ward, select_patients_for_beds
from .exercise import Answer, Exercise, Mistake, raise_error

LESSON = "13"
DISEASES = ("flat", "cut", "broadcast", "sign", "order", "saturated", "late", "rate")
FIRST = 2  # the exercise of bed 1
HEALTHY = "healthy"


def _format_disease(disease: str, line: Answer) -> str:
    return say("{disease} in line {line}", disease=disease, line=line)


def _parse_diagnosis(diagnosis: Answer, patient: Patient | None = None) -> set[tuple[str, Answer]]:
    """Parse a diagnosis into pairs of a disease and a line; where another pair is as right, it is the patient's own."""
    if str(diagnosis).strip().casefold() == HEALTHY:
        return set()
    if isinstance(diagnosis, tuple) and diagnosis and isinstance(diagnosis[0], str):
        diagnosis = [diagnosis]
    equivalents = patient.equivalents if patient else {}
    try:
        pairs = {(disease.strip().casefold(), line) for disease, line in diagnosis}
        equivalent_pairs = {equivalents.get(pair, pair) for pair in pairs}
        return equivalent_pairs if len(equivalent_pairs) == len(pairs) else pairs  # of one disease, one pair is enough
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            say("a diagnosis is a list of pairs, disease and line: [('flat', 2)]; for a healthy patient it is []")
        ) from None


def _format_diagnosis(pairs: Iterable[tuple[str, Answer]]) -> str:
    """Format a diagnosis as text, in the order of the lines.

    >>> _format_diagnosis([("sign", 6), ("cut", 1)]), _format_diagnosis([])
    ('cut in line 1, sign in line 6', 'healthy')
    """
    return ", ".join(
        _format_disease(disease, line) for disease, line in sorted(pairs, key=lambda pair: str(pair[1]))
    ) or say(HEALTHY)


def _note_and_format_diagnosis(diagnosis: Answer, bed: int, patient: Patient) -> str:
    """Note a diagnosis, and return it as text. From now on explain answers; where it is right, the ward knows it."""
    pairs, ward = _parse_diagnosis(diagnosis, patient), find_current_ward()
    if ward is not None:
        ward.tried_beds.add(bed)
        ward.diagnosed_beds |= {bed} if pairs == set(patient.diseases) else set()
    return _format_diagnosis(
        pairs if pairs == set(patient.diseases) else _parse_diagnosis(diagnosis)
    )  # else in the learner's words


def _find_diagnosis_hint(diagnosis: Answer, bed: int, patient: Patient) -> str:
    """Say what is right of a wrong diagnosis, and what the examination says against the rest."""
    ward, claimed_pairs, right_pairs = find_current_ward(), _parse_diagnosis(diagnosis, patient), set(patient.diseases)
    if ward is None:
        return ""
    case = ward.find_or_admit_case(bed)
    good_pairs = [pair for pair in _parse_diagnosis(diagnosis) if patient.equivalents.get(pair, pair) in right_pairs]
    if len(good_pairs) > len(right_pairs):
        return say(
            "{pairs}: that is one disease, told twice. Hand in one of them.", pairs=_format_diagnosis(good_pairs)
        )
    sentences = [say("{disease} is right.", disease=_format_disease(*pair)) for pair in sorted(good_pairs)]
    if not claimed_pairs and patient is PATIENTS["larch"]:
        template = (
            "The curve is nearly that of the healthy network. But {learn} of {numbers} numbers got a gradient. "
            "Look at the picture of its tape: is every path whole?"
        )
        sentences.append(say(template, learn=case.gradient_count.with_gradient, numbers=case.gradient_count.total))
    elif not claimed_pairs:
        accuracies = {
            "end": f"{case.accuracies[-1]:.0%}",
            "healthy": f"{ward.healthy.accuracies[-1]:.0%}" if ward.healthy else "",
        }
        sentences.append(say("Its curve ends at {end}, that of the healthy network at {healthy}.", **accuracies))
    elif claimed_pairs < right_pairs:
        sentences.append(say("It is not all. Compare the other lines with the healthy ones, too."))
    for disease, line in sorted(claimed_pairs - right_pairs, key=str)[:1]:
        bracket_number = _find_bracket_number(line, patient.program)
        if disease in dict(good_pairs):
            sentences.append(say("{part} does not belong in the list.", part=_format_disease(disease, line)))
        elif disease not in DISEASES:
            sentences.append(
                say(
                    "{word} is none of the eight diseases in the table. A healthy network has the list [].",
                    word=repr(disease),
                )
            )
        elif (patient.equivalents.get((disease, bracket_number), (disease, bracket_number))) in right_pairs:
            template = (
                "The disease is right, and ({line}) is not its line. A line goes by its number in brackets: if you "
                "counted all lines, as explain does, line {line} is ({number})."
            )
            sentences.append(say(template, line=line, number=bracket_number))
        elif disease in {other_disease for other_disease, _ in [*right_pairs, *patient.equivalents]}:
            sentences.append(say("The disease is right. In which line does it first show? Write its number alone."))
        else:
            sentences += [say("The line is right.")] if line in {right_line for _, right_line in right_pairs} else []
            sentences.append(_describe_counterevidence(disease, case))
    return join_sentences(*sentences)


def _find_bracket_number(line: Answer, program: str) -> int:
    """Find the number in brackets of a line of a program, counted from 1; 0 where it has none."""
    lines = program.splitlines()
    numbers = re.findall(r"# \((\d)\)", lines[line - 1]) if line in range(1, len(lines) + 1) else []
    return int(numbers[0]) if numbers else 0


def _describe_counterevidence(disease: str, case: PatientCase) -> str:
    """Say what the examination of a patient tells against a disease that it has not."""
    w1, w1_at_first, w2 = (
        None if gradient is None else float(f"{np.abs(gradient).max():.2g}")
        for gradient in (case.last_gradients[0], case.first_gradients[0], case.first_gradients[2])
    )
    first_loss, *_, last_loss = case.losses
    largest_rise = round(float(np.max(np.diff(case.losses))), 3)
    if disease == "flat":
        if w1:
            return say("flat: then w1's gradient would be None or 0. It is {w1}.", w1=w1)
        return say("flat: w1's gradient is {w1}, but no line has an operation with steps.", w1=w1)
    if disease == "late":
        if w1 is not None:
            return say("late: then w1's gradient would be None. It is {w1}.", w1=w1)
        return say("late: w1's gradient is None, but line 1 is inside of the tape's block.")
    if disease == "cut":
        if not w1:
            return say("cut: a gradient does arrive at w1. It is 0, and not None: what multiplies it by 0?")
        return say("cut: each of the 65 numbers got a gradient.")
    if disease == "saturated":
        if w1 is None:
            return say("saturated: w1's gradient is None. A flat tanh hands on zeros, and not None.")
        if w1:
            return say("saturated: w1's gradient is {w1}, not 0.", w1=w1)
        return say(
            "saturated: so it is in the end. But in the first step w1's gradient is {first}, not 0. What drove the "
            "numbers so far?",
            first=w1_at_first,
        )
    if disease == "sign":
        if last_loss < first_loss:
            return say(
                "sign: then the loss would rise, or fall below 0, which no cross entropy does. It falls from {first} "
                "to {last}.",
                first=f"{first_loss:.3f}",
                last=f"{last_loss:.3f}",
            )
        return say("sign: the first gradients point as those of the healthy network do, and line 6 subtracts them.")
    if disease == "rate":
        if largest_rise <= 0.0:
            return say("rate: steps that are too long make the loss jump. Here it falls, step by step.")
        if largest_rise < 1.0:
            return say(
                "rate: steps that are too long make the loss jump. Here no step raises it by more than {rise}.",
                rise=largest_rise,
            )
        return say("rate: steps that are too long make the loss jump up and down. Here it rises with every step.")
    if disease == "broadcast":
        return say("broadcast: the largest table on the tape has 200 rows and 16 columns, as in the healthy network.")
    return say("order: in the first step w2 moved by its own gradient, by {w2} at most.", w2=w2)


def _build_bed_exercise(bed: int, patient_name: str) -> Exercise:
    """Build the exercise of a bed: what is wrong with the patient who lies there."""
    patient = PATIENTS[patient_name]
    sick_hints = (
        "Does the report show what is missing, or does the loss tell you which way it goes?",
        "Compare the numbered lines with those of the healthy network, one by one. explain answers now: ask it about "
        "each variable.",
    )
    healthy_hints = (
        "Which gradient is not what it should be? And is its curve worse than that of the healthy network?",
        "What is unusual need not be sick. Does it lie on the path from a variable to the loss, and does it change a "
        "gradient?",
    )
    return Exercise(
        f"{LESSON}.{FIRST - 1 + bed}",
        expect=_format_diagnosis(list(patient.diseases)),
        asks="a list of pairs of a disease and the number of a line; an empty list for a healthy patient",
        view=partial(_note_and_format_diagnosis, bed=bed, patient=patient),
        of_wrong=partial(_find_diagnosis_hint, bed=bed, patient=patient),
        hint=(*(sick_hints if patient.diseases else healthy_hints), f"ward.diagnosis({bed})"),
        because=patient.description,
    )


def _verify_and_count_cured_beds(beds: Answer) -> str:
    """Say how many patients were handed in; raise ValueError unless the ward saw each of them become well.

    It is text: who is left is for the learner to find, and the list would tell.
    """
    ward = find_current_ward()
    if ward is None:
        raise ValueError(say("there is no ward yet: run the cell that makes it"))
    beds = sorted({*beds} if isinstance(beds, Iterable) else {beds})
    if not all(isinstance(bed, Real) for bed in beds):
        raise ValueError(say("the beds are numbers, as in [1, 2]"))
    for bed in beds:
        if not ward.get_patient_in_bed(bed).diseases:
            raise ValueError(say("the patient in bed {bed} was not sick", bed=bed))
        if bed not in ward.cured:
            raise ValueError(say("the patient in bed {bed} is not well yet: its curve has not become green", bed=bed))
        if bed not in ward.diagnosed_beds:
            raise ValueError(say("the patient in bed {bed} has no diagnosis yet: hand it in first", bed=bed))
    return say("patients who are well: {n}", n=len(beds))


def _scale_measures(seen: np.ndarray, measures: np.ndarray) -> np.ndarray:
    return (measures - seen.mean(axis=0)) / seen.std(axis=0)


_random = np.random.default_rng(13)
SEEN_BIRDS = (_random.normal(0.0, 1.0, (7, 2)) * [5.0, 800.0] + [44.0, 4200.0]).astype(np.float32)
OTHER_BIRDS = (_random.normal(0.0, 1.0, (3, 2)) * [4.0, 500.0] + [49.0, 3700.0]).astype(np.float32)

NUMBERS = Exercise(
    "13.1",
    expect=65,
    slips={
        32: "w1 alone has 32 entries. b1, w2 and b2 are learned, too.",
        80: "80 is 15 too many: w2 has 16 entries, one for each hidden number, and b2 is one number.",
        34: "b1 and w2 have 16 entries each, one for each hidden number.",
        81: "81 is 16 too many: b1 has 16 entries, and w2 has 16.",
        48: "48 is 32 + 16: w1, and one of b1 and w2. All four are learned.",
        4: "There are four variables. How many numbers does each of them hold?",
        64: "64 is 32 + 16 + 16. b2 is a number, too.",
        33: "33 is 32 + 1. b1 and w2 have 16 entries each.",
        17: "17 is 16 + 1. w1 has an entry for each pair of an input and a hidden number.",
        200: "200 is the number of points, which are not learned.",
        49: "49 is 16 too few: w1 has 2 * 16 entries, and b1 and w2 have 16 each.",
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
    expect=_scale_measures,
    cases=[(SEEN_BIRDS, OTHER_BIRDS), (SEEN_BIRDS, SEEN_BIRDS), (OTHER_BIRDS, SEEN_BIRDS)],
    changes={
        "mean(axis=0)) / seen.std(axis=0) => mean()) / seen.std()": (
            "That is one mean for millimetres and grams together. Each column has its own: axis=0."
        ),
        "(measures - seen.mean(axis=0)) / seen. => (measures - measures.mean(axis=0)) / measures.": (
            "The new birds have got a mean and a spread of their own. Use those of the birds that were seen, or the "
            "same bird gets other numbers in other company."
        ),
        " / seen.std(axis=0) => ": (
            "The mean is subtracted. Divide by the spread, too: grams are still in the hundreds."
        ),
        "(measures - => (seen -": "Those are the birds that were seen. Standardize the measures that are handed in.",
        ".std( => .var(": "That is divided by the variance, which is the square of the standard deviation.",
        "std(axis=0) => std(axis=0, ddof=1)": "Your spread divides by n - 1. array.std(axis=0) divides by n.",
        "mean(axis=0)) / seen.std(axis=0) => min(axis=0)) / (seen.max(axis=0) - seen.min(axis=0))": (
            "That brings the birds that were seen between 0 and 1. Let their mean become 0, their standard deviation 1."
        ),
        "(measures - seen.mean(axis=0)) => measures - seen.mean(axis=0)": (
            "That is measures - mean / spread: Python divides first. Put the difference in brackets."
        ),
        "(measures - seen.mean(axis=0)) => measures": (
            "The spread is right. Subtract the mean first: around which number do the values lie?"
        ),
    },
    mistakes=[
        Mistake(
            raise_error,
            "The shapes do not fit. Take one mean and one spread for each column: axis=0.",
            error="broadcast",
        )
    ],
    hint=(
        "Which two numbers of each column tell where its values lie, and how far apart?",
        "Subtract the mean of seen, then divide by its standard deviation, column by column.",
        "return (measures - seen.mean(axis=0)) / seen.std(axis=0)",
    ),
    because="Now lengths and masses are of the same size.",
    rtol=1e-4,
)


def _build_exercises(patient_names: tuple[str, ...]) -> tuple[Exercise, ...]:
    cure = Exercise(
        f"{LESSON}.{FIRST + len(patient_names)}",
        expect=say("patients who are well: {n}", n=sum(bool(PATIENTS[name].diseases) for name in patient_names)),
        asks="the numbers of the beds of all who were sick",
        view=_verify_and_count_cured_beds,
        hint=(
            "Who was sick, and is well now? All of them belong in the list. One with a good curve may be sick, too.",
            "ward.edit(bed) puts a program into a new cell. Change what you diagnosed, and run ward.treat(bed, step): "
            "is the curve green?",
            "ward.treat(bed, ward.cure(bed)) shows how it is done.",
        ),
        because="All of them learn as the healthy network does, and with all of their numbers.",
    )
    return NUMBERS, *(_build_bed_exercise(bed, name) for bed, name in enumerate(patient_names, 1)), cure, STANDARDIZE


EXPLANATIONS = {
    "13.p1": "A row holds all 200 points at once: x @ w1 is one row, with 200 times 16 numbers. The number of points "
    "does not change the number of rows.",
    "13.p2": "The network knows nothing about moons. It went down the slope of one number, again and again, and that "
    "was enough.",
    "13.p3": "4000 grams times a weight near 1 is thousands, and there tanh is flat: in float32 exactly 1 or -1, with "
    "the derivative 0. The path is whole, "
    "and it carries zeros. Only w2 and b2 learn, from hidden numbers that say next to nothing.",
    "13.p4": "On its way back, what arrives is multiplied in each layer: by weights, and by the slope of a sigmoid, "
    "which is 1/4 at most. A product of 30 numbers below 1 vanishes, a product of 30 numbers above 1 explodes.",
    "13.p5": "At first the network learns where most Chinstraps are, which helps with all birds. Then it bends around "
    "each of the twelve, and is surer than the measures of other birds allow.",
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
    "13.p4": {
        "about as large": "That needs a factor near 1 in each layer. The slope of a sigmoid is 1/4 at most.",
        "about a thirtieth of it": "A thirtieth is what is left if 30 equal parts are taken away one by one. But each "
        "layer multiplies what is left.",
    },
    "13.p5": {
        "it falls, too, to the end": "So it does as long as the network learns what holds for all birds. Then "
        "it learns what holds for the twelve alone.",
        "it stays where it was": "Twelve birds do tell something of the others: most Chinstraps have long bills.",
    },
}
RETRY_QUESTIONS = {
    "13.p4": (
        "On its way back, each of 21 layers multiplies what arrives by 3. How large is the gradient of the first "
        "layer, beside that of the last?",
        ["about as large", "about 60 times as large", "more than a billion times as large"],
        "more than a billion times as large",
        "20 factors of 3 lie between the two, and they are multiplied: about 3.5 billion.",
    ),
}


def __getattr__(name: str) -> tuple[Exercise, ...]:
    """Build `EXERCISES`, those of the ward that was opened last."""
    if name != "EXERCISES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    ward = find_current_ward()
    return _build_exercises(ward.beds if ward else select_patients_for_beds(""))
