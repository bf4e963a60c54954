"""Random programs about tapes do the same in minitape as in TensorFlow 2.21.

The programs vary when values are watched, read and assigned, and when tapes are paused, reset, nested and used.
`tape_programs.py` writes and runs them. CI runs this file in the environment of TensorFlow's bridge, which has
hypothesis as well.
"""

from collections import Counter

import pytest

pytest.importorskip("hypothesis", reason="needs hypothesis")
pytest.importorskip("tensorflow", reason="needs TensorFlow: pip install tensorflow-cpu==2.21.0")

import tape_programs
from tape_programs import Comparison, compare_programs, find_difference


def check_comparison(comparison: Comparison, states: int) -> None:
    print(
        comparison.count, "programs,", len(comparison.states), "states,", comparison.known.total(), "known differences"
    )
    assert not comparison.disagreement, comparison.disagreement
    assert len(comparison.states) >= states


def test_random_programs_about_tapes_do_the_same():
    check_comparison(compare_programs(700, seed_number=0), states=1000)


@pytest.mark.longest
@pytest.mark.parametrize("seed", range(1, 101))
def test_many_random_programs_about_tapes_do_the_same(seed):
    check_comparison(compare_programs(2000, seed), states=1400)


def test_a_difference_is_found_and_shown_in_a_short_program(monkeypatch):
    def observe(text, library):
        return [1.0] if library.__name__ == "minitape" and ".watch(u0)" in text else []

    monkeypatch.setattr(tape_programs, "run_program", observe)
    disagreement = compare_programs(700, seed_number=0).disagreement
    assert ".watch(u0)" in disagreement and "minitape [1.0], TensorFlow []" in disagreement
    assert len(disagreement.splitlines()) < 30


def test_only_the_last_digits_may_differ():
    number = ("float64", 1.0)
    for ours, theirs, place in (
        (number, ("float64", 1.0 + 1e-9), None),
        (number, ("float64", 1.001), 0),
        (number, ("float32", 1.0), 0),
        (number, None, 0),
        (("float64", float("inf")), ("float64", float("nan")), None),
        ("ValueError", "TypeError", 0),
    ):
        assert find_difference("", [ours], [theirs], Counter()) == place, (ours, theirs)
