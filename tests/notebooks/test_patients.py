"""The patients of lesson 13 are sick, and the cure that each solution names heals them: they learn as the healthy network does."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from minitape.cli.lessons import lessons_folder

SOURCES = {c.id: c.source for c in nbformat.read(lessons_folder() / "13_capstone.ipynb", as_version=4).cells}
BEFORE = ("capstone-02", "capstone-04", "capstone-09")
CURES = {  # the sick line, and the cured one; in C it is the exercise
    "a": ("tf.round(tf.sigmoid(z))", "tf.sigmoid(z)"),
    "b": ("np.tanh(", "tf.tanh("),
    "d": ("+ t * z", "- t * z"),
    "e": ("zip([across, b1, up, w2, b2], gradients)", "zip(network, gradients)"),
}


def treated(patient: str, source: str) -> Any:
    """A patient after its training, as the lesson's cells treat it."""
    names: dict[str, Any] = {}
    for cell in BEFORE:
        exec(SOURCES[cell], names)
    exec(SOURCES["treat"].partition("\n\n\ndef chart")[0], names)
    program = source.partition(f"\n\n\ncase_{patient} =")[0]
    exec(program, names)
    return names["patient_e"]() if patient == "e" else names["treat"](names[f"patient_{patient}"], names["t"])


@pytest.mark.parametrize("patient", CURES)
def test_a_cure_heals(patient, capsys):
    sick, cured = CURES[patient]
    source = SOURCES[f"patient-{patient}-runs"]
    assert source.count(sick) == 1
    assert treated(patient, source).right[-1] < 0.91
    assert treated(patient, source.replace(sick, cured)).right[-1] >= 0.94
    named = SOURCES[f"patient-{patient}-solution"].partition("# Cured: ")[2]
    assert cured.strip("(") in named
