"""What the checks of a missing gradient find, on questions that are built by hand."""

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from minitape.explain.fixes.dialects import TAPE
from minitape.explain.reasons import checks, question
from minitape.explain.reasons.adapter import Adapter
from minitape.explain.reasons.check_order import FrameworkChecks, find_path_break
from minitape.explain.reasons.program_text import find_statement
from minitape.explain.reasons.question import Creation, Finding, Question
from minitape.recording.recorded_rows import (
    OTHER_RECORDING,
    Escape,
    InputEdge,
    RecordedRow,
    collect_rows_and_ancestors,
    collect_rows_and_connected_ancestors,
)
from minitape.recording.sites import NOWHERE
from minitape.recording.value_summary import ValueSummary, to_float_array

from .hand_built_runs import build_rows


class Facts(Adapter):
    """The facts about a framework that the checks ask for, with one source and hand-made leaves."""

    dialect = TAPE
    zero_mechanisms = dict.fromkeys(("zero_derivative",), frozenset({"Round"}))
    unused_cause, escape_cause = "independent", "left_through_numpy"

    def __init__(self, array=None, is_variable=True, clocks=None, watched=(), literals=()):
        """Keep the facts; the source was created at clock 5 on line 50."""
        self.array, self.source_is_variable, self.clocks = array, is_variable, clocks or {}
        self.watched, self.literals = watched, literals

    def is_variable(self, obj):
        """Return whether the source is a variable."""
        return self.source_is_variable

    def find_array(self, obj):
        """Return the elements of the source."""
        return self.array

    def find_creation(self, obj):
        """Return when and where the source was created."""
        return Creation(5, [("train.py", 50)])

    def find_leaf_creation(self, row):
        """Return when a leaf was created."""
        return Creation(self.clocks.get(row.index, 1), [row.site])

    def is_from_number_literal(self, row):
        """Return whether the leaf is a literal."""
        return row.index in self.literals

    def was_watched_by_program(self, row):
        """Return whether the program watches the row."""
        return row.index in self.watched


def build_question(descriptions, source_rows=(0,), adapter=None, targets=None, **facts):
    rows = build_rows(*descriptions)
    source = SimpleNamespace(dtype="float32")
    return Question(adapter or Facts(), rows, list(source_rows), targets or [len(rows) - 1], source, **facts)


def with_text(text, name="decisions.py"):
    """Make the text of a program known, and return the name of its file."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return name


X, OTHER = ("variable", []), ("variable", [])


# -- the source ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "detail"), [
    ("float32", None), ("int32", "int32"), ("torch.int64", "int64"), ("uint8", "uint8"), ("bool", "bool"),
    ("string", "string"), ("bfloat16", None), ("torch.float64", None),
])  # fmt: skip
def test_a_source_of_whole_numbers_has_no_gradient(dtype, detail) -> None:
    for source_rows, row in (([0], 0), ([], None)):
        asked = build_question([X, ("Sin", [0])], source_rows)
        asked.source.dtype = dtype
        finding = checks.find_non_float_source(asked)
        assert (finding is None) is (detail is None)
        if finding is not None:
            expected = ("integer_dtype", detail, row, "source", ("train.py", 50))
            assert (finding.cause, finding.detail, finding.row, finding.variant, finding.site) == expected


# -- breaks ----------------------------------------------------------------------------------------


def with_breaks(*breaks):
    """Describe a chain in which each operation has the given (cause, line, detail) on the edge to its input."""
    rows = build_rows(X, *(("op", [index]) for index in range(len(breaks))))
    for row, (cause, line, *detail) in zip(rows[1:], breaks, strict=True):
        row.edges = [InputEdge(row.index - 1, cause, ("train.py", line) if line else NOWHERE, *detail)]
        row.tracked = not cause
    return Question(Facts(), rows, [0], [len(rows) - 1], SimpleNamespace(dtype="float32"))


BREAKS = {
    "none": ([("", 0), ("", 0)], []),
    "one": ([("", 0), ("stop_gradient", 7)], [("stop_gradient", 7)]),
    "the line of its row": ([("", 0), ("stop_gradient", 0)], [("stop_gradient", 3)]),
    "two": ([("stop_gradient", 7), ("nondifferentiable", 8)], [("stop_gradient", 7), ("nondifferentiable", 8)]),
    "the same cause twice": ([("stop_gradient", 7), ("stop_gradient", 8)], [("stop_gradient", 7)]),
    "a gradient of another tape": ([("outside_tape", 7), ("outside_tape", 8, "gradient")],
                                   [("outside_tape", 8)]),
    "an integer of a step": ([("nondifferentiable", 7), ("integer_dtype", 8)], [("nondifferentiable", 7)]),
    "a gradient of another tape behind another cause": ([("stop_gradient", 7), ("outside_tape", 8, "gradient")],
                                                        [("stop_gradient", 7), ("outside_tape", 8)]),
    "the same cause again behind an open step": ([("stop_gradient", 7), ("", 0), ("stop_gradient", 8)],
                                                 [("stop_gradient", 7), ("stop_gradient", 8)]),
    "what wasn't recorded": ([("computed_before_tape", 7), ("not_recorded", 8)], [("computed_before_tape", 7)]),
    "prepared and stored on one line": ([("outside_tape", 7), ("state", 7)], [("state", 7)]),
    "prepared and stored on two lines": ([("outside_tape", 7), ("state", 8)], [("outside_tape", 7), ("state", 8)]),
    "cut and stored on one line": ([("stop_gradient", 7), ("state", 7)], [("stop_gradient", 7), ("state", 7)]),
}  # fmt: skip


@pytest.mark.parametrize(("breaks", "expected"), BREAKS.values(), ids=BREAKS)
def test_each_reason_on_a_path_is_told_once_the_nearest_to_the_source_first(breaks, expected) -> None:
    finding = checks.find_path_break_nearest_to_source(with_breaks(*breaks))
    found = [] if finding is None else [finding, *finding.more]
    assert [(it.cause, it.site[1]) for it in found if not it.is_side_break] == expected


def test_a_framework_specializes_every_break_and_may_name_a_cause_behind_the_first() -> None:
    asked, specialized, missing = with_breaks(("stop_gradient", 7), ("state", 8)), [], Finding("none", row=2)
    framework = FrameworkChecks(
        find_missing_derivative=lambda question: missing,
        specialize_break=lambda question, finding, row: specialized.append((finding.cause, row.index)),
        find_cause_behind_break=lambda question, finding, row: (finding.cause, row.index),
    )
    assert find_path_break(asked, framework) == ("stop_gradient", 1)
    assert specialized == [("stop_gradient", 1), ("state", 2)]
    assert find_path_break(with_breaks(("", 0), ("", 0)), framework) == ("none", 2)
    assert specialized[2:] == [("none", 2)]
    missing = None
    assert find_path_break(with_breaks(("", 0), ("", 0)), framework) is None and len(specialized) == 3


def with_side_path(*side):
    """Describe an open path and a side path of (operation, cause), which are added."""
    rows = [X, ("Sin", [0])]
    previous = 0
    for op, cause in side:
        rows.append((op, [previous], {"cause": cause, "tracked": not cause}))
        previous = len(rows) - 1
    return build_question([*rows, ("AddV2", [1, previous])])


@pytest.mark.parametrize(("side", "causes"), [
    ([("StopGradient", "stop_gradient")], ["stop_gradient"]),
    ([("Round", "nondifferentiable")], ["nondifferentiable"]),
    ([("Greater", "nondifferentiable")], []),  # A truth value is meant to decide.
    ([("ArgMax", "integer_dtype")], []),
    ([("Max", ""), ("StopGradient", "stop_gradient")], []),  # A maximum that is subtracted cancels.
    ([("Sum", ""), ("StopGradient", "stop_gradient")], ["stop_gradient"]),
    ([("Sin", "")], []),
])  # fmt: skip
def test_a_break_beside_an_open_path_is_told_unless_it_seems_meant(side, causes) -> None:
    assert [finding.cause for finding in checks.find_side_breaks(with_side_path(*side), [])] == causes


def test_a_side_break_that_is_known_already_is_not_told_again() -> None:
    asked = with_side_path(("StopGradient", "stop_gradient"))
    (finding,) = checks.find_side_breaks(asked, [])
    assert finding.is_side_break and finding.row == 2
    assert checks.find_side_breaks(asked, [finding]) == []


# -- values that left ------------------------------------------------------------------------------


@pytest.mark.parametrize(("cause", "is_told"), [
    ("stop_gradient", True), ("no_grad", True), ("integer_cast", True), ("outside_tape", False), ("", False),
])  # fmt: skip
def test_a_cut_before_a_value_left_is_the_first_thing_to_mend(cause, is_told) -> None:
    asked = build_question([X, ("op", [0], {"cause": cause, "tracked": not cause}), ("Sin", [0])])
    finding = checks.find_break_before_escape(asked, Escape(1, "numpy", ("train.py", 9), 2))
    assert (finding is not None) is is_told
    assert finding is None or (finding.cause, finding.row, finding.site) == (cause, 1, ("train.py", 2))


ESCAPES = {
    "added as a number": ("s = float(h)\ny = x + s\n", "float", True),
    "used for a branch": ("s = float(h)\nif s > 1:\n    y = x * 2\n", "float", False),
    "compared": ("s = float(h) > 1\ny = x + s\n", "float", False),
    "a truth value": ("s = bool(h)\ny = x + s\n", "bool", False),
    "printed": ("print(float(h))\ny = x + x\n", "float", False),
    "overwritten": ("s = float(h)\ns = 2.0\ny = x + s\n", "float", False),
}


@pytest.mark.parametrize(("text", "method", "is_told"), ESCAPES.values(), ids=ESCAPES)
def test_a_value_that_left_beside_an_open_path_matters_if_it_comes_back(text, method, is_told) -> None:
    file = with_text(text)
    last = len(text.splitlines())
    asked = build_question([X, ("Sin", [0]), ("AddV2", [0, 0], {"site": (file, last)})],
                           escapes=[Escape(1, method, (file, 1), 2)])  # fmt: skip
    found = checks.find_escapes_beside_open_path(asked, [])
    assert [(it.cause, it.row, it.detail, it.is_side_break) for it in found] == (
        [("left_through_numpy", 1, method, True)] if is_told else []
    )
    assert checks.find_escapes_beside_open_path(asked, found) == []
    asked.escapes *= 2  # A line is reported once, however often a value leaves there.
    assert len(checks.find_escapes_beside_open_path(asked, [])) == len(found)


def test_a_value_that_left_matters_if_the_text_is_unknown_or_a_later_row_uses_it() -> None:
    file = with_text("s = float(h)\ny = x + s\n")
    rows = [X, ("Sin", [0]), ("AddV2", [0, 0], {"site": (file, 2)})]
    for site, row_count, reaches in (((file, 1), 2, True), ((file, 1), 3, False), (("unknown.py", 1), 3, True)):
        assert checks.does_escape_reach_target(build_question(rows), Escape(1, "float", site, row_count)) is reaches


REACHED = {
    "a result on the line itself": ("y = x + float(h)\n", {"site": 1}, (), True),
    "a result on the line of a bare expression": ("all.append((float(h), x + x))\n", {"site": 1}, (), False),
    "a call on a line that uses the value": ("s = float(h)\ny = run(s)\n", {"calls": [2]}, (), True),
    "a call on another line": ("s = float(h)\ny = run(x)\n", {"calls": [2]}, (), False),
    "a leaf on a line that uses the value": ("s = float(h)\ny = run(s)\n", {"site": 2}, (), True),
    "a number literal there": ("s = float(h)\ny = run(s, 2.0)\n", {"site": 2}, (2,), False),
}


@pytest.mark.parametrize(("text", "place", "literals", "reaches"), REACHED.values(), ids=REACHED)
def test_a_value_that_left_reaches_a_row_by_the_lines_that_made_the_row(text, place, literals, reaches) -> None:
    file = with_text(text)
    leaf = {"site": (file, place["site"]) if "site" in place else ("elsewhere.py", 1)}
    rows = [X, ("Sin", [0]), ("constant", [], leaf), ("AddV2", [0, 2], {"site": ("elsewhere.py", 2)})]
    asked = build_question(rows, adapter=Facts(literals=literals))
    if "calls" in place:
        asked.rows[2].call_stack = [(file, line) for line in place["calls"]]
    assert checks.does_escape_reach_target(asked, Escape(1, "float", (file, 1), 2)) is reaches


def test_the_source_itself_is_not_reached() -> None:
    file = with_text("s = float(h)\ny = run(s)\n")
    for row_count in (0, 2):  # A row of the source may be newer than the value that left.
        asked = build_question([("variable", [], {"site": (file, 2)}), ("Sin", [0], {"site": ("elsewhere.py", 2)})])
        assert not checks.does_escape_reach_target(asked, Escape(1, "float", (file, 1), row_count))


# -- other objects ---------------------------------------------------------------------------------

PAIR = np.array([1.0, 2.0])
LEAF, SINGLE = ("variable", [], {"value": PAIR}), ("variable", [], {"value": [3.0, 3.0]})
CONSTANT = ("constant", [], {"value": PAIR})
EQUALS = {
    "an equal leaf": (LEAF, Facts(PAIR), True),
    "a leaf of another shape": (("variable", [], {"value": PAIR[:, None]}), Facts(PAIR), True),
    "another leaf": (("variable", [], {"value": [1.0, 3.0]}), Facts(PAIR), False),
    "an unknown leaf": (("variable", []), Facts(PAIR), False),
    "an unknown source": (LEAF, Facts(None), False),
    "equal elements by chance": (SINGLE, Facts(np.array([3.0, 3.0])), False),
    "a literal": (LEAF, Facts(PAIR, literals=[1]), False),
    "equal elements that a tape watches": (SINGLE, Facts(np.array([3.0, 3.0]), is_variable=False, watched=[1]), True),
    "equal elements, and a watched source": (SINGLE, Facts(np.array([3.0, 3.0]), is_variable=False, watched=[0]), True),
    "equal elements of a variable": (SINGLE, Facts(np.array([3.0, 3.0]), watched=[0, 1]), False),
    "a constant": (CONSTANT, Facts(PAIR), True),
}  # fmt: skip


@pytest.mark.parametrize(("leaf", "adapter", "is_equal"), EQUALS.values(), ids=EQUALS)
def test_a_leaf_with_the_values_of_the_source_took_its_place(leaf, adapter, is_equal) -> None:
    asked = build_question([("variable", []), leaf, ("Sin", [1])], adapter=adapter)
    finding = checks.find_leaf_equal_to_source(asked)
    assert (finding is not None) is is_equal
    assert finding is None or (finding.cause, finding.row, finding.site) == ("wrong_object", 1, ("train.py", 50))


def test_one_watched_row_of_a_source_is_enough() -> None:
    same = Facts(np.array([3.0, 3.0]), is_variable=False, watched=[2])
    rows = [("variable", []), SINGLE, ("variable", []), ("Sin", [1])]
    assert checks.find_leaf_equal_to_source(build_question(rows, [0, 2], adapter=same)).row == 1


def test_of_two_equal_objects_the_newer_one_is_blamed() -> None:
    asked = build_question([("variable", []), LEAF, ("Sin", [1])], adapter=Facts(PAIR, clocks={1: 9}))
    assert checks.find_leaf_equal_to_source(asked).site == ("train.py", 2)


SHARED = {
    "a copy": ([X, ("Identity", [0]), ("Sin", [0])], [1], True),
    "nothing in common": ([X, OTHER, ("Identity", [1]), ("Sin", [0])], [2], False),
    "a constant in common": ([("constant", []), ("Identity", [0]), ("Sin", [0])], [1], False),
    "the target came first": ([X, ("Sin", [0]), ("Identity", [1])], [2], False),
    "a source without rows": ([X, ("Sin", [0])], [], False),
}


@pytest.mark.parametrize(("descriptions", "source_rows", "is_copy"), SHARED.values(), ids=SHARED)
def test_a_copy_that_is_not_used_is_the_wrong_object(descriptions, source_rows, is_copy) -> None:
    targets = [1] if source_rows == [2] and descriptions[2][1] == [1] and len(descriptions) == 3 else None
    finding = checks.find_unused_source_sharing_ancestor(build_question(descriptions, source_rows, targets=targets))
    assert (finding is not None) is is_copy
    assert finding is None or (finding.cause, finding.row) == ("wrong_object", source_rows[0])


DROPPED = {
    "a result before the target": ([X, ("Sin", [0]), OTHER, ("Cos", [2])], [3], 1),
    "the last of two": ([X, ("Sin", [0]), ("Sin", [1]), OTHER, ("Cos", [3])], [4], 2),
    "a result after the target": ([X, OTHER, ("Cos", [1]), ("Sin", [0])], [2], None),
    "no result": ([X, OTHER, ("Cos", [1])], [2], None),
}


@pytest.mark.parametrize(("descriptions", "targets", "row"), DROPPED.values(), ids=DROPPED)
def test_a_result_of_the_source_is_dropped_before_the_target(descriptions, targets, row) -> None:
    finding = checks.find_result_unused_by_target(build_question(descriptions, targets=targets))
    assert (None if finding is None else (finding.cause, finding.row, finding.variant)) == (
        None if row is None else ("independent", row, "dropped")
    )


def test_without_a_target_any_result_of_the_source_is_dropped() -> None:
    rows = build_rows(X, ("Sin", [0]))
    finding = checks.find_result_unused_by_target(Question(Facts(), rows, [0], [], None))
    assert (finding.cause, finding.row, finding.variant) == ("independent", 1, "dropped")


STACKS = {
    "at the first difference": ([2, 3], [2, 4], 3),
    "no other calls": ([2, 3], [], 3),
    "the same calls, and more": ([2, 3], [2], 3),
    "the same calls": ([2, 3], [2, 3], 3),
    "fewer calls": ([2], [2, 3], 2),
    "a deeper line that stores its result": ([2, 3, 1, 4], [2, 4], 1),
    "a line above that stores its result": ([1, 3], [1, 4], 3),
    "the deepest of two that store": ([2, 1, 5, 3], [3], 5),
    "nothing ran": ([], [2], None),
}


@pytest.mark.parametrize(("stack", "other", "line"), STACKS.values(), ids=STACKS)
def test_the_statement_at_which_two_call_stacks_part(stack, other, line) -> None:
    file = with_text("self.w = make()\nw = f()\nu = g()\nh()\nws[0] = make()\n", "stacks.py")
    call_stack, other_stack = ([(file, number) for number in numbers] for numbers in (stack, other))
    found = checks.find_divergence_site_or_deeper_storing_site(call_stack, other_stack)
    assert found == (NOWHERE if line is None else (file, line))


def test_a_site_moves_to_the_first_line_of_its_statement() -> None:
    file = with_text("w = f(\n    1\n)\n", "moved.py")
    assert checks.move_site_to_statement_start(find_statement((file, 2)), (file, 2)) == (file, 1)


def test_a_source_without_a_row_has_no_statement_that_rebound_it() -> None:
    assert checks.find_rebound_name(build_question([X, ("Sin", [0])], [])) is None


# -- paths and rows --------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "is_target"), [
    ("target = tf.stop_gradient(net(x))", True), ("y = tf.stop_gradient(labels)", True),
    ("y = returns.detach()", True), ("y = tf.stop_gradient(net(x))", False), ("target = net(x)", False),
    ("advantage = (returns - values).detach()", False), ("h = retargeted.detach()", False),
    ("next_value = critic(state).detach()", True),
])  # fmt: skip
def test_a_target_is_detached_on_purpose(text, is_target) -> None:
    file = with_text(text + "\n", f"{abs(hash(text))}.py")
    assert question.is_training_target_detached((file, 1)) is is_target


def test_rows_computed_from_others_are_found_along_open_edges_or_along_all() -> None:
    rows = build_rows(
        X, ("Sin", [0]), ("StopGradient", [1], {"cause": "stop_gradient", "tracked": False}), ("Cos", [2])
    )
    asked = Question(Facts(), rows, [0], [3], None)
    assert asked.find_rows_and_descendants([0]) == {0, 1, 2, 3}
    assert asked.find_rows_and_descendants([0], open_only=True) == {0, 1}
    assert asked.find_rows_and_ancestors([3]) == {0, 1, 2, 3}
    assert asked.find_rows_and_ancestors([3], open_only=True) == {2, 3}
    assert asked.find_rows_and_ancestors([3], open_only=True, repaired_rows={2}) == {0, 1, 2, 3}
    assert collect_rows_and_ancestors(rows, [3], lambda row, edge: edge.input_row > 0) == {1, 2, 3}
    assert collect_rows_and_connected_ancestors(rows, [3]) == {3}
    assert collect_rows_and_connected_ancestors(rows, [1]) == {0, 1}
    assert collect_rows_and_connected_ancestors(rows, [1], stop_rows={1}) == {1}
    assert [asked.is_computed_from_source(row) for row in range(4)] == [True] * 4
    assert not Question(Facts(), rows, [2], [3], None).is_computed_from_source(1)


def test_the_nearest_tracked_consumers_are_found_through_untracked_rows() -> None:
    rows = build_rows(X, ("op", [0], {"tracked": False}), ("Sin", [1]), ("op", [1], {"tracked": False}), ("Cos", [3]),
                      ("Sin", [2]))  # fmt: skip
    assert question.find_nearest_tracked_consumers(rows, question.map_rows_to_consumers(rows), 1) == {2, 4}


@pytest.mark.parametrize(("clock", "is_after"), [(0, True), (8, True), (7, False), (6, False)])
def test_a_row_of_another_recording_is_ordered_by_its_clock(clock, is_after) -> None:
    row = RecordedRow(3, "Sin", "operation", position=OTHER_RECORDING, clock=clock)
    assert row.was_created_after(Escape(0, "numpy", NOWHERE, 9, clock=7)) is is_after


@pytest.mark.parametrize(("content", "flags", "has_floats"), [
    ([0.0, 0.0], (True, True), True), ([0.0, 1.0], (False, True), True), ([0.0, np.nan], (False, False), True),
    ([], (False, True), True), (None, (False, True), False), ([0j, 0j], (True, True), False),
    ([1j * np.inf], (False, False), False), ([False, False], (True, True), True), (["a"], (False, True), False),
    (0, (True, True), True),
])  # fmt: skip
def test_a_value_is_zero_or_finite_as_far_as_its_elements_are_known(content, flags, has_floats) -> None:
    summary = ValueSummary(None if content is None else np.array(content))
    assert (summary.is_all_zero, summary.is_all_finite) == flags
    assert (to_float_array(summary) is not None) is has_floats


def test_the_results_of_a_call_are_zero_or_finite_together() -> None:
    zero, one, infinite = np.zeros(2), np.ones(2), np.full(2, np.inf)
    summaries = [ValueSummary(pair) for pair in ([zero, zero], [zero, one], (zero, infinite), [None, zero])]
    assert [summary.is_all_zero for summary in summaries] == [True, False, False, False]
    assert [summary.is_all_finite for summary in summaries] == [True, True, False, True]
    assert all(to_float_array(summary) is None for summary in summaries)
