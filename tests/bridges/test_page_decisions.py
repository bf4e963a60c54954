"""What the page about a model calls a problem, in which order, and what it takes for intended; no framework is used."""

from types import SimpleNamespace

import numpy as np
import pytest

from minitape.bridges.checkup import Checkup
from minitape.bridges.model_page import (
    GradientStatistics,
    ModelPage,
    format_statistics_ranges,
    is_problem,
    rank_worst_first,
)
from minitape.explain.explanation import Explanation
from minitape.explain.fixes.dialects import TORCH
from minitape.explain.reasons.suspects import Suspicion
from minitape.recording.recorded_rows import BackwardPass, RecordedRow
from minitape.recording.value_summary import ValueSummary

HEALTHY, MISSING, FROZEN = "connected", "detach", "requires_grad"


def build(cause=HEALTHY, line=None, intended=None, connected=None, numbers=None):
    """Build an explanation."""
    explanation = Explanation(cause, f"{cause} happened.", "Mend it.", line and "train.py", line, connected=connected)
    explanation.intended = explanation.intended if intended is None else intended
    explanation.numbers = numbers
    return explanation


# -- problems and their order ----------------------------------------------------------------------

BY_RANK = [build(MISSING), build("nan_forward"), build("broadcast"), build("dead_relu"),
           build(FROZEN), build(HEALTHY)]  # fmt: skip


def test_a_missing_gradient_comes_first_and_what_is_intended_or_healthy_last() -> None:
    ranks = [rank_worst_first(explanation) for explanation in BY_RANK]
    assert ranks == sorted(set(ranks))
    assert [is_problem(explanation) for explanation in BY_RANK] == [True] * 4 + [False] * 2
    page = ModelPage({f"w{number}": explanation for number, explanation in enumerate(reversed(BY_RANK))})
    assert page.problems == BY_RANK[:4]
    assert page.group_names_by_explanation_worst_first() == [["w5"], ["w4"], ["w3"], ["w2"], ["w1"], ["w0"]]


def test_sources_with_the_same_reason_or_without_a_problem_share_a_group() -> None:
    page = ModelPage({"a": build(MISSING, 3), "b": build(), "c": build(MISSING, 3), "d": build(MISSING, 4),
                      "e": build(), "f": build(intended=True)})  # fmt: skip
    assert page.group_names_by_explanation_worst_first() == [["a", "c"], ["d"], ["b", "e"], ["f"]]


HEADINGS = {
    "missing": ({"a": build(MISSING, 3), "b": build()}, "No gradient for a (1 of 2).", "problem"),
    "zero": ({"a": build("dead_relu", 3), "b": build()}, "Gradient found for a (1 of 2).", "problem"),
    "healthy": ({"a": build(), "b": build()}, "Healthy: a, b (2 of 2).", "healthy"),
    "frozen": ({"a": build(FROZEN, 3), "b": build()}, None, None),
    "all frozen": ({"a": build(FROZEN, 3), "b": build(FROZEN, 3)}, "All parameters are frozen: a, b (2 of 2).",
                   "problem"),
    "cut on purpose": ({"a": build("stop_gradient", intended=True)}, "All parameters are frozen: a (1 of 1).",
                       "problem"),
    "not used": ({"a": build("unused", intended=True)}, "Not used in the recorded steps: a (1 of 1).", "untrained"),
    "not requested": ({"a": build(intended=True)}, "Not trained, because the program does not request a gradient: a "
                                                  "(1 of 1).", "untrained"),
    "a zero that is meant": ({"a": build("zero_cancels", intended=True)}, "Healthy: a (1 of 1).", "healthy"),
}  # fmt: skip


@pytest.mark.parametrize(("explanations", "heading", "role"), HEADINGS.values(), ids=HEADINGS)
def test_the_heading_says_whether_a_group_has_gradients(explanations, heading, role) -> None:
    page = ModelPage(explanations)
    groups = [(group.heading, group.role) for group in page.list_groups()]
    if heading is None:
        assert groups == [("Frozen: a (1 of 2), train.py, line 3.", "untrained"), ("Healthy: b (1 of 2).", "healthy")]
        assert page.problems == []
        return
    assert groups[0] == (heading, role)
    text = str(page)
    assert ("happened" in text) is (role == "problem") and heading in text
    assert page.problems == ([it for it in explanations.values() if it.cause != HEALTHY] if role == "problem" else [])


def test_a_page_without_parameters_says_so() -> None:
    assert "The block used no parameters." in str(ModelPage())


def test_the_numbers_of_a_group_are_ranges_and_a_page_is_data_too() -> None:
    page = ModelPage({"a": build(numbers=GradientStatistics(1.0, 0.0, None)),
                      "b": build(numbers=GradientStatistics(4.0, 0.25, 0.5)), "c": build()})  # fmt: skip
    expected = "Healthy: a, b, c (3 of 3): norm 1 to 4, zeros 0 to 25 %, update/weight 0.5."
    assert [group.heading for group in page.list_groups()] == [expected]
    assert [group.heading for group in page.list_groups(has_numbers=False)] == ["Healthy: a, b, c (3 of 3)."]
    assert [(row["name"], row["norm"], row["update"]) for row in page.as_json()] == [
        ("a", 1.0, None), ("b", 4.0, 0.5), ("c", None, None)]  # fmt: skip
    assert format_statistics_ranges([]) == ""


@pytest.mark.parametrize(("before", "after", "update"), [
    ([3.0, 4.0], [3.0, 9.0], 1.0), ([3.0, 4.0], [3.0], None), ([0.0, 0.0], [1.0, 0.0], None), (None, [1.0], None),
    ([1.0], None, None),
])  # fmt: skip
def test_an_update_is_measured_relative_to_the_weight(before, after, update) -> None:
    arrays = (None if values is None else np.array(values) for values in (before, after))
    numbers = GradientStatistics.measure_gradient_and_update(np.array([0.0, 2.0, 0.0, 0.0]), *arrays)
    assert numbers == (2.0, 0.75, update)
    assert GradientStatistics.measure_gradient_and_update(np.zeros(0), None, None) == (None, None, None)


# -- what is intended ------------------------------------------------------------------------------


class HandRecording:
    """What a checkup asks about a recording: a source is its name, with the row of the same number."""

    def __init__(self, explanations, adjoints=(), sweeps=None, failed=(), suspicions=(), trained=(), has_names=False):
        """Keep the answers, and give each source one adjoint per sweep."""
        self.answers = explanations
        self.names = list(explanations)
        self.rows = [RecordedRow(index, "leaf", "variable") for index in range(len(self.names))]
        self.rows.append(RecordedRow(len(self.rows), "Sin", "operation", inputs=[0]))
        self.rows.append(RecordedRow(len(self.rows), "Acos", "operation", inputs=[len(self.rows) - 1]))
        self.sweeps = [BackwardPass([len(self.rows) - 1]) for _ in (adjoints or [()])]
        for sweep, values in zip(self.sweeps, adjoints, strict=False):
            for row, value in values.items():
                sweep.set_adjoint(row, ValueSummary(np.array(value)))
        self.failed_target_rows = list(failed)
        self.asked_targets = []
        self.run = SimpleNamespace(
            trained_keys=trained,
            find_source_key=lambda source: source,
            has_named_sources=has_names,
            list_suspicions_of_source=lambda source: list(suspicions),
            question_without_source_and_target=SimpleNamespace(adapter=SimpleNamespace(framework="torch")),
        )

    def build_checked_run(self):
        """Return the run."""
        return self.run

    def list_rows(self, source):
        """Return the row of a source."""
        return [self.names.index(source)]

    def choose_sweeps_of_source_or_all_if_trainable(self, source, sweeps):
        """Return all sweeps."""
        return sweeps

    def explain_source(self, target, source):
        """Return the explanation that was given."""
        self.asked_targets.append(target)
        return self.answers[source]

    def find_target_row_unless_found_from_source(self, sweep):
        """Return a word for the target of a sweep."""
        return f"target of {self.sweeps.index(sweep)}"

    def read_weights_around_last_step(self, source):
        """Return that no step was seen."""
        return None, None

    def find_compiled_step_recording(self, source):
        """Return that no step was compiled."""


def list_intended(explanations, **facts):
    recording = HandRecording(explanations, **facts)
    page = Checkup(recording).build_page_of_source_explanations({name: name for name in explanations})
    return [(explanation.cause, explanation.intended) for explanation in page.values()]


def with_rows(explanation, *rows):
    explanation._rows = list(rows)
    return explanation


INTENDED = {
    "frozen": ({"a": build(FROZEN)}, {}, [(FROZEN, True)]),
    "cut": ({"a": build(MISSING)}, {}, [(MISSING, False)]),
    "cut, and not trained": ({"a": build(MISSING)}, {"trained": ["b"]}, [(MISSING, True)]),
    "cut, and trained": ({"a": build(MISSING)}, {"trained": ["a"]}, [(MISSING, False)]),
    "not used, and not trained": ({"a": build("unused")}, {"trained": ["b"]}, [(HEALTHY, True)]),
    "not used, and trained": ({"a": build("unused")}, {"trained": ["a"]}, [("unused", False)]),
    "connected, but never requested": ({"a": build()}, {"trained": ["b"], "has_names": True}, [(HEALTHY, True)]),
    "connected, and not trained": ({"a": build()}, {"trained": ["b"]}, [(HEALTHY, False)]),
    "an error": ({"a": build("in_place")}, {"trained": ["b"]}, [("in_place", False)]),
    "a bias before a normalization": ({"net.weight": build(), "net.bias": build("zero_cancels")}, {},
                                      [(HEALTHY, False), ("zero_cancels", True)]),
    "a bias of another layer": ({"net.weight": build(), "head.bias": build("zero_cancels")}, {},
                                [(HEALTHY, False), ("zero_cancels", False)]),
    "another zero of a layer that learns": ({"net.weight": build(), "net.bias": build("dead_relu")}, {},
                                            [(HEALTHY, False), ("dead_relu", False)]),
    "a clip before an arc cosine": ({"a": with_rows(build("saturated"), 1)}, {}, [("saturated", True)]),
    "a clip before nothing": ({"a": with_rows(build("saturated"), 2)}, {}, [("saturated", False)]),
    "the source itself is stopped": ({"a": with_rows(build("stop_gradient"), 1)}, {}, [("stop_gradient", True)]),
    "a value of the source is stopped": ({"a": with_rows(build("stop_gradient"), 2)}, {}, [("stop_gradient", False)]),
    "the source itself is detached": ({"a": with_rows(build("detach"), 1)}, {}, [("detach", False)]),
}  # fmt: skip


@pytest.mark.parametrize(("explanations", "facts", "expected"), INTENDED.values(), ids=INTENDED)
def test_what_the_program_leaves_untrained_on_purpose(explanations, facts, expected) -> None:
    assert list_intended(explanations, **facts) == expected


# -- which sources are explained -------------------------------------------------------------------

EXPLAINED = {
    "healthy": ([{0: [1.0, 2.0]}], (), []),
    "never reached": ([], (), [None]),
    "zero": ([{0: [0.0, 0.0]}], (), ["target of 0"]),
    "zero in one of two passes": ([{0: [0.0, 0.0]}, {0: [1.0, 0.0]}], (), []),
    "nonfinite in one of two passes": ([{0: [np.nan, 0.0]}, {0: [1.0, 0.0]}], (), ["target of 1"]),
    "in a pass that failed": ([{0: [1.0, 2.0]}], (1,), [None]),
    "in another pass that failed": ([{0: [1.0, 2.0]}], (0,), [None]),
}


@pytest.mark.parametrize(("adjoints", "failed", "targets"), EXPLAINED.values(), ids=EXPLAINED)
def test_a_source_is_explained_if_any_of_its_gradients_is_missing_zero_or_nonfinite(adjoints, failed, targets) -> None:
    recording = HandRecording({"a": build(MISSING)}, adjoints=adjoints, failed=failed)
    answer = Checkup(recording).explain_source("net.a", "a")
    assert recording.asked_targets == targets and answer.name == "net.a"
    assert answer.cause == (MISSING if targets else HEALTHY)
    assert (answer.numbers is None) is (not adjoints)


def test_the_message_uses_the_name_on_the_page() -> None:
    answer = build(MISSING)
    answer.name, answer.message = "w", "w reads net.w and w."
    assert (
        Checkup(HandRecording({"a": answer})).explain_source("net.0.w", "a").message
        == "net.0.w reads net.w and net.0.w."
    )


def suspect(cause, line):
    return SimpleNamespace(cause=cause, to_explanation=lambda name, question: build(cause, line))


REPLACED = {
    "a healthy source": (HEALTHY, ["broadcast", "in_part"], "broadcast"),
    "nothing suspected": (HEALTHY, [], HEALTHY),
    "no derivative, because of a sample": ("no_derivative", ["sampled"], "sampled"),
    "no derivative": ("no_derivative", ["broadcast"], "no_derivative"),
    "not used, because of a sample": ("unused", ["sampled"], "sampled"),
    "a cut": (MISSING, ["sampled"], MISSING),
    "a zero": ("dead_relu", ["broadcast"], "dead_relu"),
}


@pytest.mark.parametrize(("cause", "suspected", "expected"), REPLACED.values(), ids=REPLACED)
def test_a_suspicion_takes_the_place_of_an_explanation_that_it_is_more_certain_than(cause, suspected, expected) -> None:
    recording = HandRecording({"a": build()}, suspicions=[suspect(it, line) for line, it in enumerate(suspected, 3)])
    given = build(cause, numbers=GradientStatistics(1.0, 0.0, None))
    answer = Checkup(recording).replace_by_suspicion_if_any(given, "a")
    assert (answer.cause, answer.numbers, answer.connected) == (expected, given.numbers, given.connected)
    others = suspected[1:] if expected in suspected else []
    assert [(other.cause, other.beside) for other in answer.others] == [(other, True) for other in others]


def test_a_gradient_that_is_returned_counts_only_if_the_program_stores_none() -> None:
    recording = HandRecording({"a": build()}, adjoints=[{0: [1.0]}, {0: [0.0]}])
    recording.sweeps[1].function_name = "grad"
    assert Checkup(recording).explain_source("a", "a").cause == HEALTHY
    assert Checkup(recording)._find_last_sweep_reaching("a") is recording.sweeps[0]
    recording.sweeps[0].function_name = "grad"
    assert Checkup(recording)._find_last_sweep_reaching("a") is recording.sweeps[1]


# -- the other breaks of an explanation ------------------------------------------------------------


def test_each_line_is_listed_once_and_of_a_pause_only_the_first() -> None:
    answer = build(MISSING, 3).add_side_breaks(
        [build(MISSING, 3), build("data", 4), build("data", 4), build("data", 5)]
    )
    assert [other.line for other in answer.others] == [4, 5] and all(other.beside for other in answer.others)
    paused = build("no_grad", 3).add_side_breaks([build("no_grad", 4), build("data", 5)])
    assert [other.line for other in paused.others] == [5]
    many = build(MISSING, 3).add_side_breaks([build("data", line) for line in range(4, 20)])
    assert len(many.others) == 5


def test_a_suspicion_of_a_row_is_an_explanation_of_its_line() -> None:
    question = SimpleNamespace(adapter=SimpleNamespace(framework="torch", dialect=TORCH), rows=[None] * 5)
    for row, rows in ((None, []), (4, [4])):
        suspicion = Suspicion("in_part", ("train.py", 3), {"what": "detach", "n": 3}, row, variant="steps")
        answer = suspicion.to_explanation("w", question)
        assert (answer.name, answer.line, answer._rows) == ("w", 3, rows)
