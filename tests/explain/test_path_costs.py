"""Which of several breaks is reported first: the one that a program is least likely to intend.

Questions are built by hand here, so that two paths differ in nothing but the causes of their breaks.
"""

import linecache
from itertools import pairwise

import pytest

from minitape.explain.fixes.dialects import TORCH
from minitape.explain.reasons import checks
from minitape.explain.reasons.adapter import Adapter
from minitape.explain.reasons.question import Question
from minitape.recording.recorded_rows import Escape, InputEdge, RecordedRow

# The kinds in the order in which they are reported; a cause of each.
CAUSES = ["no_grad", "integer_cast", "no_derivative", "unknown", "detach"]


class FewFacts(Adapter):
    """What the checks of a path ask about a framework: nothing that matters here."""

    dialect = TORCH
    zero_mechanisms = dict.fromkeys(("zero_derivative",), frozenset())


def build_question(*paths, clocks=(), block_clock=0):
    """Build a question with several paths from row 0 to the target, each a list of the causes along it.

    Each path has its own rows, which are ordinary operations unless `clocks` names the time of one of its rows.
    """
    rows = [RecordedRow(0, "leaf", "source")]
    ends = []
    for number, causes in enumerate(paths):
        previous = 0
        for cause in causes:
            row = RecordedRow(len(rows), "op", "operation", inputs=[previous], cause=cause, tracked=not cause)
            row.clock = clocks[number] if number < len(clocks) else 0
            rows.append(row)
            previous = row.index
        ends.append(previous)
    rows.append(RecordedRow(len(rows), "sum", "operation", inputs=ends))
    return Question(FewFacts(), rows, [0], [len(rows) - 1], None, block_clock=block_clock)


def list_causes_on_path(question):
    return [step.edge.cause for step in question.path if step.edge.cause]


@pytest.mark.parametrize(("likely", "unlikely"), [*pairwise(CAUSES)])
def test_the_likelier_mistake_is_reported_first(likely, unlikely) -> None:
    for paths in ([[likely], [unlikely]], [[unlikely], [likely]]):
        question = build_question(*paths)
        assert list_causes_on_path(question) == [likely]
        finding = checks.find_path_break_nearest_to_source(question)
        assert finding is not None and finding.cause == likely


def test_a_chain_of_one_cause_counts_once() -> None:
    assert (
        list_causes_on_path(build_question(["detach", "detach", "detach"], ["detach", "no_derivative"]))
        == ["detach"] * 3
    )


@pytest.mark.parametrize("cause", ["no_grad", "computed_before_tape"])
def test_each_line_outside_of_the_recording_counts(cause) -> None:
    """Three lines in a pause are less likely to be wrong together than one call that cuts."""
    assert list_causes_on_path(build_question([cause] * 3, ["detach"])) == ["detach"]


def test_of_equal_breaks_the_one_before_the_block_is_reported_last() -> None:
    assert build_question(["detach"], ["detach"], clocks=(1, 9), block_clock=5).path[0].row == 2
    assert build_question(["detach"], ["detach"], clocks=(9, 1), block_clock=5).path[0].row == 1


@pytest.mark.parametrize("target", [1, 2])
def test_of_equal_cuts_the_one_of_a_training_target_is_reported_last(target) -> None:
    text = "target = net(x).detach()\ny = net(x).detach()\n"
    linecache.cache["targets.py"] = (len(text), None, text.splitlines(True), "targets.py")
    question = build_question(["detach"], ["detach"])
    question.rows[target].site, question.rows[3 - target].site = ("targets.py", 1), ("targets.py", 2)
    assert question.path[0].row == 3 - target


@pytest.mark.parametrize("cut", [0, 1])
def test_of_two_values_of_a_variable_the_one_with_an_open_path_is_asked_about(cut) -> None:
    rows = [
        RecordedRow(0, "leaf", "source"),
        RecordedRow(1, "leaf", "source"),
        RecordedRow(2, "detach", "operation", inputs=[cut], cause="detach", tracked=False),
        RecordedRow(3, "add", "operation", inputs=[1 - cut, 2]),
    ]
    for shared_rows in (None, rows):  # A search that several questions share does not end at the source.
        question = Question(FewFacts(), rows, [0, 1], [3], None, shared_rows=shared_rows)
        assert question.cheapest_source_row == 1 - cut and list_causes_on_path(question) == []
    assert Question(FewFacts(), rows, [cut], [3], None).cheapest_source_row == cut
    assert Question(FewFacts(), rows, [3], [1], None).cheapest_source_row is None


@pytest.mark.parametrize("term", [1, 2])
def test_of_two_cuts_the_one_that_removes_a_whole_term_is_reported_first(term) -> None:
    """``loss + penalty.detach()`` is rarely meant, and a factor that is detached often is."""
    factor = 3 - term
    rows = [
        RecordedRow(0, "leaf", "source"),
        RecordedRow(1, "detach", "operation", inputs=[0], cause="detach", tracked=False),
        RecordedRow(2, "detach", "operation", inputs=[0], cause="detach", tracked=False),
        RecordedRow(3, "mul", "operation", inputs=[factor]),
        RecordedRow(4, "add", "operation", inputs=[term, 3]),
    ]
    assert Question(FewFacts(), rows, [0], [4], None).path[0].row == term


@pytest.mark.parametrize(("target_is_tracked", "cause"), [(False, "detach"), (True, "integer_cast")])
def test_an_index_is_blamed_last_if_no_gradient_can_begin_at_the_target(target_is_tracked, cause) -> None:
    rows = [
        RecordedRow(0, "leaf", "source"),
        RecordedRow(1, "to", "operation", inputs=[0], cause="integer_cast", tracked=False, dtype="int64"),
        RecordedRow(2, "detach", "operation", inputs=[0], cause="detach", tracked=False),
        RecordedRow(3, "getitem", "operation", inputs=[1, 2], tracked=target_is_tracked),
    ]
    assert list_causes_on_path(Question(FewFacts(), rows, [0], [3], None)) == [cause]


@pytest.mark.parametrize(("row_count", "comes_after"), [(3, True), (4, False)])
def test_a_row_comes_after_the_values_that_left_before_it(row_count, comes_after) -> None:
    """A value leaves after as many rows as its count: the row with that number is the first after it."""
    escape = Escape(0, "item", (None, None), row_count)
    assert RecordedRow(3, "op", "operation").was_created_after(escape) is comes_after


def test_a_break_of_an_edge_moves_with_a_copy() -> None:
    row = RecordedRow(2, "op", "operation", inputs=[0, 1], cause="detach")
    copied = row.copy_with_edges([InputEdge(0)])
    copied.add_edge(InputEdge(1, "variable_assign"))
    assert [edge.cause for edge in row.edges] == ["detach", "detach"]
    assert copied.inputs == [0, 1] and [edge.cause for edge in copied.edges] == ["", "variable_assign"]
    row.mark_as_tracked()
    assert [edge.cause for edge in row.edges] == ["", ""]


def build_estimator(last_op):
    """Build a question about ``w + (round(w) - w).detach()``, with another last operation than the sum if asked."""
    rows = [
        RecordedRow(0, "leaf", "source"),
        RecordedRow(1, "round", "operation", inputs=[0]),
        RecordedRow(2, "sub", "operation", inputs=[1, 0]),
        RecordedRow(3, "detach", "operation", inputs=[2], cause="detach", tracked=False),
        RecordedRow(4, last_op, "operation", inputs=[0, 3]),
    ]
    return Question(FewFacts(), rows, [0], [4], None)


@pytest.mark.parametrize(("last_op", "causes"), [("add", []), ("mul", ["detach"])])
def test_a_straight_through_estimator_is_no_break(last_op, causes) -> None:
    findings = checks.find_side_breaks(build_estimator(last_op), [])
    assert [finding.cause for finding in findings] == causes


def test_a_value_that_decides_what_runs_is_blamed_after_a_value_that_comes_back() -> None:
    question = build_question([""], ["detach"])
    decides, comes_back = Escape(1, "bool", (None, 1), 2), Escape(2, "item", (None, 2), 3)
    assert checks.rank_escapes_by_likely_cause(question, [decides, comes_back]) == [comes_back, decides]
    before, behind = Escape(1, "item", (None, 1), 2), comes_back
    assert checks.rank_escapes_by_likely_cause(question, [behind, before]) == [before, behind]
