"""The answers of lesson 13: a network, a ward of sick ones, and penguins.

The right answer for a bed depends on the patient who lies in it.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import starmap
from numbers import Real

import numpy as np
from numpy import ndarray

from ..common.translation import join_sentences, say
from ..engine.types import Names
from .broken_networks import PATIENTS, Patient, PatientCase, find_current_ward, select_patients_for_beds
from .call_log import ObservedRuns
from .course_texts import read_lesson
from .exercise import Answer, Exercise, Mistake, Program, say_from_lesson

LESSON = "13"
DISEASES = "flat cut broadcast sign order saturated late rate".split()
FIRST = 2  # The number of the exercise about bed 1.
_say_from_this_lesson = partial(say_from_lesson, LESSON)
HEALTHY = "healthy"


def _format_disease(disease: str, line: Answer) -> str:
    return _say_from_this_lesson("disease in a line", disease=disease, line=line)


def _parse_diagnosis(diagnosis: Answer, patient: Patient | None = None) -> set[tuple[str, Answer]]:
    """Parse a diagnosis into pairs of a disease and a line. The patient's own pairs replace equivalent pairs."""
    if str(diagnosis).strip().casefold() == HEALTHY:
        return set()
    if isinstance(diagnosis, tuple) and diagnosis and isinstance(diagnosis[0], str):
        diagnosis = [diagnosis]
    equivalents = patient.equivalents if patient else {}
    try:
        pairs = {(disease.strip().casefold(), line) for disease, line in diagnosis}
        equivalent_pairs = {equivalents.get(pair, pair) for pair in pairs}
        # Two pairs of the learner that mean the same disease stay as they are, because one of them would be enough.
        return equivalent_pairs if len(equivalent_pairs) == len(pairs) else pairs
    except (AttributeError, TypeError, ValueError):
        raise ValueError(_say_from_this_lesson("form of a diagnosis")) from None


def _format_diagnosis(pairs: Iterable[tuple[str, Answer]]) -> str:
    """Format a diagnosis as text, in the order of the lines.

    >>> _format_diagnosis([("sign", 6), ("cut", 1)]), _format_diagnosis([])
    ('cut in line 1, sign in line 6', 'healthy')
    """
    return ", ".join(
        _format_disease(disease, line) for disease, line in sorted(pairs, key=lambda pair: str(pair[1]))
    ) or say(HEALTHY)


def _note_and_format_diagnosis(diagnosis: Answer, bed: int, patient: Patient) -> str:
    """Note a diagnosis, and return it as text. From now on, explain answers. The ward notes a right diagnosis."""
    pairs = _parse_diagnosis(diagnosis, patient)
    ward = find_current_ward()
    if ward is not None:
        ward.tried_beds.add(bed)
        ward.diagnosed_beds |= {bed} if pairs == set(patient.diseases) else set()
    # A wrong diagnosis is shown with the learner's own pairs.
    return _format_diagnosis(pairs if pairs == set(patient.diseases) else _parse_diagnosis(diagnosis))


def _find_diagnosis_hint(diagnosis: Answer, bed: int, patient: Patient) -> str:
    """Say which parts of a wrong diagnosis are right, and what the examination says against the rest."""
    ward = find_current_ward()
    claimed_pairs = _parse_diagnosis(diagnosis, patient)
    right_pairs = set(patient.diseases)
    if ward is None:
        return ""
    case = ward.find_or_admit_case(bed)
    good_pairs = [pair for pair in _parse_diagnosis(diagnosis) if patient.equivalents.get(pair, pair) in right_pairs]
    if len(good_pairs) > len(right_pairs):
        return _say_from_this_lesson("one disease twice", pairs=_format_diagnosis(good_pairs))
    sentences = [
        _say_from_this_lesson("disease is right", disease=_format_disease(*pair)) for pair in sorted(good_pairs)
    ]
    if not claimed_pairs and patient is PATIENTS["larch"]:
        counts = case.gradient_count
        sentences.append(_say_from_this_lesson("nearly well", learn=counts.with_gradient, numbers=counts.total))
    elif not claimed_pairs:
        accuracies = {
            "end": f"{case.accuracies[-1]:.1%}",
            "healthy": f"{ward.healthy.accuracies[-1]:.1%}",
        }
        sentences.append(_say_from_this_lesson("worse curve", **accuracies))
    elif claimed_pairs < right_pairs:
        sentences.append(_say_from_this_lesson("more diseases"))
    for disease, line in sorted(claimed_pairs - right_pairs, key=str)[:2]:
        bracket_number = _find_bracket_number(line, patient.program)
        if disease in dict(good_pairs):
            sentence = _say_from_this_lesson("disease too many", part=_format_disease(disease, line))
        elif disease not in DISEASES:
            sentence = _say_from_this_lesson("unknown disease", word=repr(disease))
        elif (patient.equivalents.get((disease, bracket_number), (disease, bracket_number))) in right_pairs:
            sentence = _say_from_this_lesson("number in brackets", disease=disease, line=line, number=bracket_number)
        elif disease in {other_disease for other_disease, _ in [*right_pairs, *patient.equivalents]}:
            name = "other line" if isinstance(line, Real) else "line without number"
            sentence = _say_from_this_lesson(name, disease=disease, line=line)
        else:
            sentence = _describe_counterevidence(disease, case)
            if line in {right_line for _, right_line in right_pairs - claimed_pairs}:
                sentence = join_sentences(_say_from_this_lesson("line is right", line=line), sentence)
        sentences.append(sentence)
    return join_sentences(*sentences)


def _find_bracket_number(line: Answer, program: str) -> int:
    """Return the number in brackets on a line of a program, or 0 if the line has none. Line numbers start at 1."""
    lines = program.splitlines()
    numbers = re.findall(r"# \((\d)\)", lines[line - 1]) if line in range(1, len(lines) + 1) else []
    return int(numbers[0]) if numbers else 0


def _describe_counterevidence(disease: str, case: PatientCase) -> str:
    """Say how a patient's examination rules out a disease that the patient does not have."""
    w1, w1_at_first, w2 = (
        None if gradient is None else float(f"{np.abs(gradient).max():.3g}")
        for gradient in (case.last_gradients[0], case.first_gradients[0], case.first_gradients[2])
    )
    first_loss, *_, last_loss = case.losses
    largest_rise = round(float(np.max(np.diff(case.losses))), 3)
    sentence_names = {
        "flat": "flat, but a gradient" if w1 else "flat, but no steps",
        "late": "late, but in the block" if w1 is None else "late, but a gradient",
        "cut": "cut, but all gradients" if w1 else "cut, but zeros",
        "saturated": {None: "saturated, but None", 0.0: "saturated only later"}.get(w1, "saturated, but a gradient"),
        "sign": "sign, but falling" if last_loss < first_loss else "sign, but right signs",
        "rate": "rate, but always rising",
        "broadcast": "broadcast, but no large table",
        "order": "order, but own gradient",
    }
    if largest_rise < 1.0:
        sentence_names["rate"] = "rate, but small rises" if largest_rise > 0.0 else "rate, but falling"
    first = w1_at_first if disease == "saturated" else f"{first_loss:.3f}"
    return _say_from_this_lesson(
        sentence_names[disease], w1=w1, w2=w2, first=first, last=f"{last_loss:.3f}", rise=largest_rise
    )


def _build_bed_exercise(bed: int, patient_name: str) -> Exercise:
    """Build the exercise that asks what is wrong with the patient in a bed."""
    patient = PATIENTS[patient_name]
    sentences = read_lesson(LESSON).sentences
    group = "sick" if patient.diseases else "healthy"
    hints = (sentences[f"hint for the {group} {number}"] for number in (1, 2))
    return Exercise(
        f"{LESSON}.{FIRST - 1 + bed}",
        expect=_format_diagnosis(list(patient.diseases)),
        view=partial(_note_and_format_diagnosis, bed=bed, patient=patient),
        of_wrong=partial(_find_diagnosis_hint, bed=bed, patient=patient),
        asks=sentences["kind of a diagnosis"],
        hint=(*hints, f"ward.diagnosis({bed})"),
        because=sentences[f"patient {patient_name}"],
    )


def _require_and_count_cured_beds(beds: Answer) -> str:
    """Say how many patients were handed in, or raise ValueError unless the ward saw each of them become well.

    The result is a text, because a list would reveal which patients the learner still has to find.
    """
    ward = find_current_ward()
    if ward is None:
        raise ValueError(_say_from_this_lesson("no ward"))
    beds = sorted({*beds} if isinstance(beds, Iterable) else {beds})
    if not all(isinstance(bed, Real) for bed in beds):
        raise ValueError(_say_from_this_lesson("form of beds"))
    for bed in beds:
        if not ward.get_patient_in_bed(bed).diseases:
            raise ValueError(_say_from_this_lesson("patient not sick", bed=bed))
        if bed not in ward.cured:
            raise ValueError(_say_from_this_lesson("patient not well", bed=bed))
        if bed not in ward.diagnosed_beds:
            raise ValueError(_say_from_this_lesson("patient without diagnosis", bed=bed))
    return _say_from_this_lesson("patients who are well", n=len(beds))


def _learn(numbers: ndarray, labels: ndarray) -> Callable[[ndarray], ndarray]:
    """Train a small network by gradient descent, and return the function that computes its scores.

    The scores are small, so that only 0 divides them.
    """
    if not np.isin(labels, (0, 1)).all():
        raise ValueError(_say_from_this_lesson("labels changed"))
    numbers = np.asarray(numbers)
    random = np.random.default_rng(1)
    w1, w2 = random.normal(0.0, 1.0, (2, 16)), random.normal(0.0, 0.25, 16)
    for _ in range(300):
        hidden = np.tanh(numbers @ w1)
        gradient = (1.0 / (1.0 + np.exp(-hidden @ w2)) - labels) / len(labels)
        w1, w2 = w1 - numbers.T @ (np.outer(gradient, w2) * (1.0 - hidden**2)), w2 - hidden.T @ gradient

    def compute_scores(birds: ndarray) -> ndarray:
        scores = np.tanh(birds @ w1) @ w2 / 400.0
        _tables[len(birds)] = numbers, np.asarray(birds), scores
        return scores

    return compute_scores


_learn.__name__ = "learn"
_tables: dict[int, tuple[ndarray, ...]] = {}
"""What the network last learned from, what it was asked about and its scores, for each number of birds."""
_random = np.random.default_rng(13)


def _build_birds(signs: ndarray) -> ndarray:
    """Build birds with two measures. The first alone decides: it is far above 0 or far below, as the signs say.

    In one case, the two are swapped, so a program must hear both columns.
    """
    return np.stack([signs * _random.uniform(0.5, 1.5, len(signs)), _random.uniform(-1.5, 1.5, len(signs))], axis=1)


SIGNS = np.resize([1.0, -1.0], 40)
ASKED_SIGNS = {len(signs): signs for signs in map(np.array, ([1.0, -1.0] * 6, [1.0] * 6 + [-1.0], [1.0]))}
UNITS = ([5.0, 800.0], [44.0, 4200.0]), ([0.2, 28.0], [1.7, 148.0]), ([5.0, 800.0], [44.0, 4200.0])
NUMBERS = Exercise("13.1", expect=65)
EACH_BIRD = r"(mean|std|var|ptp|min|max|sum|norm)\([^()]*axis *= *-?1"
"""A call that computes a number for each bird instead of one for each column."""


def _build_table_mistake(name: str, is_made: Program, where: str = r"learn\(") -> Mistake:
    """Build a mistake that shows in what the network learned from and was asked about, or in the program's text."""

    def find_answers(learn: Program, seen: ndarray, labels: ndarray, birds: ndarray) -> ndarray | None:
        numbers, asked, scores = _tables[len(birds)]
        return scores > 0.0 if is_made(seen, numbers, birds, asked) else None

    return Mistake(find_answers, named=name, where=where, error="^NoneType")


def _find_uneven_change_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    """Say that the seen birds get other numbers as the birds in question, or that the network gives no answer."""
    learn, seen, labels, _ = STANDARDIZE.cases[0]
    _tables.clear()
    answer(learn, seen.copy(), labels, seen.copy())
    if not _tables:
        return "network not asked"
    numbers, asked, *_ = _tables.get(len(seen), [0.0] * 2)
    return "" if np.allclose(numbers, asked) else "birds changed unevenly"


STANDARDIZE = Exercise(
    "13.9",
    expect=lambda learn, seen, labels, birds: ASKED_SIGNS[len(birds)] > 0.0,
    cases=[
        (
            _learn,
            _build_birds(SIGNS)[:, ::order] * scale + middle,
            SIGNS > 0.0,
            _build_birds(signs)[:, ::order] * scale + middle,
        )
        for (scale, middle), signs, order in zip(UNITS, ASKED_SIGNS.values(), (1, -1, 1), strict=True)
    ],
    order=0,
    mistakes=[
        _build_table_mistake("each bird by itself", lambda *tables: True, EACH_BIRD),
        _build_table_mistake("all numbers positive", lambda seen, numbers, birds, asked: np.min(numbers) > 0.0),
        _build_table_mistake(
            "birds keep raw numbers", lambda seen, numbers, birds, asked: np.array_equal(birds, asked)
        ),
        _build_table_mistake(
            "birds changed otherwise",
            lambda seen, numbers, birds, asked: (
                not np.allclose(asked, numbers[0] + (birds - seen[0]) * (numbers[1] - numbers[0]) / (seen[1] - seen[0]))
            ),
        ),
        _build_table_mistake("numbers too large", lambda seen, numbers, birds, asked: np.max(abs(numbers)) > 10.0),
        _build_table_mistake(
            "column hardly heard",
            lambda seen, numbers, birds, asked: np.min(np.ptp(numbers, axis=0)) < 0.1 * np.max(np.ptp(numbers, axis=0)),
        ),
        Mistake(named="one number for each bird", where=EACH_BIRD, error="broadcast"),
        Mistake(named="other labels", error="^ValueError.*(labels|标签)"),
    ],
    also=_find_uneven_change_hint,
    start="""
def classify(learn, seen, labels, birds):
    answer = learn(seen, labels)
    return answer(birds) > 0
""",
)


def _build_exercises(patient_names: Names) -> tuple[Exercise, ...]:
    cure = Exercise(
        f"{LESSON}.{FIRST + len(patient_names)}",
        expect=_say_from_this_lesson(
            "patients who are well", n=sum(bool(PATIENTS[name].diseases) for name in patient_names)
        ),
        view=_require_and_count_cured_beds,
        of_wrong=lambda beds: _say_from_this_lesson("beds missing" if isinstance(beds, Iterable) else "number of beds"),
    )
    return NUMBERS, *starmap(_build_bed_exercise, enumerate(patient_names, 1)), cure, STANDARDIZE


def __getattr__(name: str) -> tuple[Exercise, ...]:
    """Build `EXERCISES`, the exercises of the ward that was opened last."""
    if name != "EXERCISES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    ward = find_current_ward()
    return _build_exercises(ward.beds if ward else select_patients_for_beds(""))
