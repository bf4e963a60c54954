"""The ward of lesson 13: who is sick there is sick, the cure that is named heals, and each learner's name makes other
beds.
"""

import re
from typing import Any

import nbformat
import numpy as np
import pytest

import minitape as tf
from minitape.cli.lesson_files import find_lessons_folder
from minitape.course import broken_networks as ward_module
from minitape.course.broken_networks import (
    HEALTHY,
    LIBRARY,
    PATIENT_PAIRS,
    PATIENTS,
    STEPS,
    PatientCase,
    Ward,
    select_patients_for_beds,
)
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.course_texts import read_lesson
from minitape.course.exercise import collect_exercises
from minitape.course.lesson_13 import DISEASES, _find_diagnosis_hint
from minitape.course.plot import COLORS
from minitape_widgets import TapeView

CELLS = nbformat.read(find_lessons_folder() / "13_capstone.ipynb", as_version=4).cells
SOURCES = {cell.id: cell.source for cell in CELLS}


@pytest.fixture(scope="module")
def ward() -> Any:
    """A ward as the lesson's cells make it."""
    names: dict[str, Any] = {"tf": tf, "np": np}
    for cell in ("capstone-04", "capstone-09"):
        exec(SOURCES[cell], names)
    yield Ward("Ada", names["new_network"], names["forward"], names["x"], names["t"])
    ward_module._current_ward = None


@pytest.fixture(scope="module")
def cases(ward) -> dict[str, PatientCase]:
    """All twelve patients."""
    return {name: ward.visit(name) for name in PATIENTS}


@pytest.fixture
def bed_of(ward, cases, monkeypatch):
    """Puts any of the twelve into bed 1 of the ward."""

    def lay_in_bed_1(name: str) -> int:
        monkeypatch.setattr(ward, "beds", (name, *ward.beds[1:]))
        monkeypatch.setattr(ward, "_cases", {1: cases[name]})
        monkeypatch.setattr(ward_module, "_current_ward", ward)
        return 1

    return lay_in_bed_1


def test_the_twelve_have_every_disease_and_a_ward_has_what_a_doctor_must_reckon_with():
    """Each disease occurs; in each ward somebody is healthy, and in some wards a patient has two diseases."""
    assert {disease for patient in PATIENTS.values() for disease, _ in patient.diseases} == set(DISEASES)
    assert sorted(name for pair in PATIENT_PAIRS for name in pair) == sorted(PATIENTS) and len(PATIENTS) == 12
    wards = [select_patients_for_beds(f"learner {number}") for number in range(40)]
    for beds in wards:
        assert len(beds) == 6 and sum(not PATIENTS[name].diseases for name in beds) == 1
        assert "order" not in dict(PATIENTS[beds[0]].diseases), "the first patient shouldn't be the hardest"
        assert PATIENTS[beds[0]].diseases, "the first patient is sick, because the first cure is tried there"
    assert {name for beds in wards for name in beds} == set(PATIENTS), "nobody is left out"
    assert any(len(PATIENTS[name].diseases) == 2 for beds in wards for name in beds)


def test_the_table_of_the_lesson_has_all_diseases_in_no_patient_s_order():
    table = re.findall(r'^\| `"(\w+)"` \|', SOURCES["ward-diseases"], re.MULTILINE)
    assert table == DISEASES
    assert HEALTHY in SOURCES["ward-how"]


@pytest.mark.parametrize("name", PATIENTS)
def test_the_line_of_a_disease_is_one_that_was_changed(name):
    patient = PATIENTS[name]
    changed = {line for line in patient.program.splitlines() if line not in HEALTHY.splitlines()}
    numbers = {int(number) for line in changed for number in re.findall(r"# \((\d)\)", line)}
    assert {line for _, line in patient.diseases} <= numbers
    assert all(HEALTHY.count(old) == 1 for old in patient.changes)


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("name", PATIENTS)
def test_who_is_sick_is_not_well_and_who_is_healthy_is(name, cases):
    assert cases[name].is_well == (not PATIENTS[name].diseases)


@pytest.mark.long(sample=4)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.longest] * (place % 3 > 0))
        for place, name in enumerate(name for name, patient in PATIENTS.items() if patient.diseases)
    ],
)
def test_a_cure_heals_and_half_a_cure_does_not(name, ward, bed_of, capsys):
    bed = bed_of(name)
    treated = ward.treat(bed, ward.cure(bed))
    assert treated.is_well and treated.accuracies[-1] >= 0.94 and treated.gradient_count == (65, 65)
    assert bed in ward.cured
    assert (
        COLORS[ward_module.GREEN] in treated.build_chart().svg()
        and COLORS[ward_module.GREEN] not in ward.visit(name).build_chart().svg()
    )
    lines = [
        re.findall(r"([\d.]+),", points) for points in re.findall(r'points="([^"]+)"', treated.build_chart().svg())
    ]
    assert len(lines) >= 2 and all(steps == lines[0] == sorted(steps, key=float) for steps in lines)
    changes = list(PATIENTS[name].changes.items())
    for left, _ in changes if len(changes) > 1 else ():
        program = HEALTHY.replace(left, PATIENTS[name].changes[left])
        assert not ward.treat(bed, ward_module._compile_step(program, "half.py")).is_well


def test_one_disease_is_seen_by_the_picture_and_by_explain_alone(cases):
    """Its curve is good, and each variable has a gradient: what is missing is a part of two of them."""
    case = cases["larch"]
    assert case.accuracies[-1] >= 0.94
    assert all(gradient is not None and float(tf.reduce_max(tf.abs(gradient))) > 0 for gradient in case.gradients)
    why = case.tape.explain(case.loss, case.network[0])
    assert [other.cause for other in why.others] == ["stop_gradient"]
    assert (
        why.others[0].filename.endswith("library.py")
        and "stop_gradient" in LIBRARY.splitlines()[why.others[0].line - 1]
    )
    assert case.gradient_count.with_gradient < case.gradient_count.total


@pytest.mark.parametrize(
    ("name", "cause"), [("cedar", "outside_tape"), ("elm", "stop_gradient"), ("pine", "nondifferentiable_op")]
)
def test_explain_names_the_line_where_a_gradient_is_none(name, cause, cases):
    case = cases[name]
    why = case.tape.explain(case.loss, case.network[0])
    assert case.gradients[0] is None and why.cause == cause
    assert f"# ({PATIENTS[name].diseases[0][1]})" in case.program.splitlines()[why.line - 1]


def test_all_are_treated_alike_and_what_the_lesson_says_of_losses_is_so(cases, ward):
    assert {len(case.accuracies) for case in cases.values()} == {STEPS + 1}
    assert cases["elm"].losses[-1] > cases["elm"].losses[0]
    assert cases["cedar"].losses[-1] < cases["cedar"].losses[0] and 0.85 < cases["cedar"].accuracies[-1] < 0.94
    assert cases["fir"].losses[-1] > 5 and cases["fir"].accuracies == ward.healthy.accuracies


def test_each_name_has_beds_of_its_own_and_always_the_same():
    names = ["Ada", "Emmy", "Grace", "Sofja", "Hedy", "Maryam"]
    assert len({select_patients_for_beds(name) for name in names}) == len(names)
    assert select_patients_for_beds("ada ") == select_patients_for_beds("Ada")


def test_the_exercises_ask_about_the_beds_of_the_ward_that_was_opened(ward):
    for bed, name in enumerate(ward.beds, 1):
        said = count_try_and_build_feedback(f"13.{bed + 1}", list(PATIENTS[name].diseases))
        assert (
            said.startswith(f"Exercise 13.{bed + 1}: correct.")
            and read_lesson("13").sentences[f"patient {name}"] in said
        )
    assert list(collect_exercises("13")) == [f"13.{k}" for k in range(1, 10)]


@pytest.mark.parametrize(("name", "given", "words"), [
    ("ash", [("broadcast", 3)], "correct"),
    ("ash", [("broadcast", 1)], "broadcast is right, but line 1 isn't its line."),
    ("ash", [("broadcast", 6)], "line 6 is (3)"),
    ("ash", [("sign", 2)], "Line 2 is right. sign: then the loss would end above its start, or below 0"),
    ("ash", [("saturated", 1)], "saturated: w1's gradient is "),
    ("ash", [("late", 1)], "late: then w1's gradient would be None. But it's "),
    ("ash", [("cut", 1)], "cut: each of the 65 parameters got a gradient"),
    ("ash", [("rate", 6)], "Here no step raises the loss by even 0.001"),
    ("ash", [("Cut", 1)], "each of the 65 parameters got a gradient"),
    ("ash", [("rhythm", 6)], "'rhythm' isn't one of the eight diseases"),
    ("ash", [], "Its curve ends at 43.5%, and the healthy network's ends at 98.5%"),
    ("ash", ("broadcast", 2), "correct"),
    ("ash", [("broadcast", 2), ("broadcast", 3)], "broadcast in line 3: that's the same disease twice."),
    ("pine", [("flat", 1), ("cut", 1)], "that's the same disease twice. Keep only one of the pairs."),
    ("birch", [("saturated", 1)], "saturated: w1's gradient is about 2.5e-05, not 0"),
    ("birch", [("broadcast", 2)], "200 rows and 16 columns"),
    ("elm", [("sign", 6), ("cut", 1)], "correct"),
    ("elm", [("cut", 1)], "cut in line 1 is right. That isn't all"),
    ("elm", [("sign", 6), ("late", 1)], "sign in line 6 is right. Line 1 is right. late: w1's gradient is None, but"),
    ("elm", [("flat", 2)], "no line has an operation that jumps in steps"),
    ("elm", [("rate", 1)], "Line 1 is right. rate: steps that are too long make the loss jump up and down"),
    ("elm", [("saturated", 2)], "a flat tanh sends back zeros"),
    ("cedar", [("cut", 1), ("sign", 2)], "cut in line 1 is right"),
    ("larch", [], "41 of 65 parameters got a gradient"),
    ("larch", "healthy", "is every path whole?"),
    ("fir", [], "correct"),
    ("fir", (), "correct"),
    ("fir", "healthy", "correct"),
    ("fir", [("sign", 3)], "which a cross-entropy never does. But it begins at 5.937 and ends at 5.053"),
    ("fir", [("order", 5)], "w2 moved by its own gradient, by about 0.406 at most"),
    ("oak", [("flat", 1)], "flat: w1's gradient is 0.0, but no line has an operation that jumps in steps"),
    ("hazel", [("flat", 1)], "flat: then w1's gradient would be None or 0. But it's about 0.0035"),
    ("hazel", [("cut", 3)], "cut: each of the 65 parameters got a gradient"),
    ("maple", [("saturated", 1)], "that's true at the end. But in the first step, w1's gradient is about 18.2, not 0"),
    ("maple", [("rate", 6)], "correct"),
    ("maple", [("sign", 3)], "Line 3 is right. sign: the first gradients point the same way as the healthy"),
    ("oak", [("cut", 2)], "It's 0, not None"),
    ("pine", [("cut", 1)], "correct"),
    ("pine", [("late", 1)], "but line 1 is inside the tape's block"),
    ("willow", [("order", 5)], "correct"),
    ("cedar", [("cut", 2)], "cut is right, but line 2 isn't its line."),
    ("cedar", {"cut": 1}, "a diagnosis is a list of pairs"),
    ("cedar", [("cut", 1, 2)], "a diagnosis is a list of pairs"),
    ("cedar", [(..., 1)], "not answered yet"),
])  # fmt: skip
def test_a_diagnosis_hears_what_it_should(name, given, words, bed_of):
    said = count_try_and_build_feedback(f"13.{bed_of(name) + 1}", given)
    assert words in said, said
    assert "a list of length 2" not in said and "a string" not in said  # how many diseases there are is not told


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("name", PATIENTS)
def test_what_is_said_against_a_disease_is_so(name, cases, ward, bed_of):
    """Each sentence of evidence, measured on each patient of whom it is said."""
    case, patient, bed = cases[name], PATIENTS[name], bed_of(name)
    first, last = case.first_gradients, case.last_gradients
    has = {word for word, _ in [*patient.diseases, *patient.equivalents]}
    said = {word: _find_diagnosis_hint([(word, 9)], bed, patient) for word in DISEASES if word not in has}
    for word, sentence in said.items():
        assert sentence.startswith(f"{word}: "), sentence
        if word == "saturated" and "not 0." in sentence:
            assert float(np.abs((first if "first step" in sentence else last)[0]).max()) > 0
        if "w2 moved by its own gradient" in sentence:
            network = ward.new_network()
            before = network[2].numpy()
            gradients = ward_module._compile_step(patient.program, f"{name}_again.py")(network, ward.x, ward.t, 1.0)[2]
            np.testing.assert_allclose(np.abs(network[2].numpy() - before), np.abs(gradients[2].numpy()), atol=1e-5)
        if "which a cross-entropy never does" in sentence:
            assert 0.0 < case.losses[-1] < case.losses[0] and min(case.losses) > 0.0
        if "each of the 65" in sentence:
            assert case.gradient_count == (65, 65)
        if "16 columns" in sentence:
            sizes = [int(np.prod(row["shape"])) for row in tf.snapshot(case.tape)["rows"]]
            assert max(sizes) == 3200
        if "raises the loss by more" in sentence:
            assert max(np.diff(case.losses)) <= float(re.findall(r"than ([\d.e-]+)\.", sentence)[0]) + 0.005
        if "rises with every step" in sentence:
            assert min(np.diff(case.losses)) > 0
        if "point the same way" in sentence:
            assert float(np.sum(first[2] * ward.healthy.first_gradients[2])) > 0
        if "inside the tape's block" in sentence:
            lines = patient.program.splitlines()
            assert lines.index("    with tf.GradientTape() as tape:") < next(
                k for k, x in enumerate(lines) if "(1)" in x
            )
        if word in ("flat", "late", "saturated"):
            assert (last[0] is None) == ("gradient is None" in sentence)
        if word == "flat":
            assert ("jumps in steps" in sentence) == (last[0] is None or not np.any(last[0]))


@pytest.mark.parametrize("name", [name for name, patient in PATIENTS.items() if "sign" in dict(patient.diseases)])
def test_a_wrong_sign_shows_as_the_refutations_say(name, cases):
    """The loss rises, or falls below 0."""
    losses = cases[name].losses
    assert losses[-1] > losses[0] or losses[-1] < 0.0


def test_an_operation_with_steps_hands_on_none_or_zeros():
    for step in (tf.round, tf.sign, tf.floor):
        x = tf.Variable([0.3, -1.2])
        with tf.GradientTape() as tape:
            y = step(x)
        slope = tape.gradient(y, x)
        assert slope is None or not np.any(slope.numpy())


def test_the_patient_of_last_week_is_cut_in_line_1_and_lies_in_no_bed(ward):
    case = ward.visit("yew")
    assert [gradient is None for gradient in case.gradients] == [True, False, False, False]
    assert case.losses[-1] < case.losses[0] and 0.9 < case.accuracies[-1] < 0.94
    assert case.tape is not None and "x @ w1.numpy() + b1)  # (1)" in case.program, (
        "once you have used two of these three"
    )


def test_nobody_in_a_bed_has_the_chart_of_the_patient_of_last_week(ward, cases):
    last_week = ward.visit("yew")
    assert not [name for name, case in cases.items() if np.allclose(case.losses, last_week.losses, rtol=1e-3)]


def test_a_cure_that_was_only_said_is_none(ward):
    fresh = Ward("Grace", ward.new_network, ward.answer, ward.x, ward.t)
    sick = fresh.sick()
    assert "hasn't turned green" in count_try_and_build_feedback("13.8", sick)
    well = next(bed for bed in range(1, 7) if bed not in sick)
    assert f"bed {well} wasn't sick" in count_try_and_build_feedback("13.8", [well])
    assert "bed 7 does not exist; the beds are numbered from 1 to 6" in count_try_and_build_feedback("13.8", [7])
    fresh.cured = sick[1:]
    assert "has no diagnosis yet" in count_try_and_build_feedback(
        "13.8", sick[1:]
    )  # the healthy program, pasted into each bed
    for bed in sick:
        assert "correct" in count_try_and_build_feedback(f"13.{bed + 1}", fresh.diagnosis(bed))
    assert Ward("Grace", ward.new_network, ward.answer, ward.x, ward.t).cured == sick[1:]  # the cell was run again
    said = count_try_and_build_feedback("13.8", sick[1:])
    assert f"patients who are well: {len(sick) - 1}" in said and "there was another sick patient in your ward" in said
    assert "Write the beds of all your sick patients as a list" in count_try_and_build_feedback("13.8", sick[1])
    ward_module._current_ward.cured = sick
    assert "correct" in count_try_and_build_feedback("13.8", [*sick, sick[0]])


def test_a_program_is_shown_after_two_examinations_and_changed_after_the_diagnosis(ward, capsys):
    fresh = Ward("Emmy", ward.new_network, ward.answer, ward.x, ward.t)
    case = fresh.admit(1)
    assert "def step" not in case.program
    assert len(case.gradients) == 4 and "def step" not in case.program
    refused = case.tape.explain(case.loss, case.network[0])
    assert "Hand in your own diagnosis first" in refused
    assert "def step" not in case.program, "a question without an answer is no examination"
    assert case.tape is not None
    assert "def step" in case.program
    assert fresh.healthy.tape.explain(fresh.healthy.loss, fresh.healthy.network[0]).cause == "connected"
    fresh.edit(1)
    assert "no diagnosis yet" in capsys.readouterr().out
    assert "not yet" in count_try_and_build_feedback("13.2", [("rate", 1)])
    assert case.tape.explain(case.loss, case.network[0]).message, "after a diagnosis of one's own"
    assert "correct" in count_try_and_build_feedback("13.2", fresh.diagnosis(1))
    fresh.edit(1)
    assert "ward.treat(1, step)" in capsys.readouterr().out
    well = next(bed for bed in range(1, 7) if bed not in fresh.sick())
    assert "correct" in count_try_and_build_feedback(f"13.{well + 1}", [])
    fresh.edit(well)
    assert f"The patient in bed {well} is well" in capsys.readouterr().out
    ward_module._current_ward = ward


@pytest.mark.long(sample=8)
@pytest.mark.parametrize("name", ["", "Ada", "Ben", "Carla"])
def test_pictures_of_each_patient_work_and_count_before_a_diagnosis(ward, name, monkeypatch):
    """The lesson recommends both pictures for every bed, and promises the program after two examinations."""
    monkeypatch.setattr(ward_module, "_current_ward", None)  # no diagnoses of an earlier ward
    fresh = Ward(name, ward.new_network, ward.answer, ward.x, ward.t)
    for bed in range(1, 7):
        case = fresh.admit(bed)
        TapeView(case.tape)
        assert "def step" not in case.program
        TapeView.compare(fresh.healthy.first, case.first)
        assert "def step" in case.program, f"bed {bed}"
        assert "Hand in your own diagnosis first" in case.tape.explain(case.loss, case.network[0])
        sources = [source for result in tf.snapshot(case.tape)["results"] for source in result["sources"]]
        assert sources and not any(source["reason"] for source in sources), (
            "a picture does not tell what explain refuses"
        )


def test_a_new_ward_counts_tries_anew(ward):
    """Else its first answer would be told at the first try."""
    for name in ("Grace", "Ada"):
        Ward(name, ward.new_network, ward.answer, ward.x, ward.t)
        wrong = [("rhythm", 1)]  # a disease that nobody has
        assert "2 more tries" in count_try_and_build_feedback(
            "13.2", wrong
        ) and "1 more try" in count_try_and_build_feedback("13.2", wrong)
    ward_module._current_ward = ward


def test_a_cheat_does_not_make_a_patient_well(ward):
    """Hidden parts stay hidden: what is stopped gets no gradient, and a step that gives back too little is told so."""
    bed = 1
    program = HEALTHY.replace("+ b2  # (2)", "+ b2\n        z = tf.stop_gradient(z)")
    assert not ward.treat(bed, ward_module._compile_step(program, "stopped.py")).is_well
    with pytest.raises(ValueError, match="return tape, loss, gradients"):
        ward.treat(bed, lambda network, x, t, rate: None)
    with pytest.raises(ValueError, match="bed 7 does not exist; the beds are numbered from 1 to 6"):
        ward.admit(7)
