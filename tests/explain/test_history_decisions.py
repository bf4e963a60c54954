"""What explain reads from the history of values on a tape, in small programs and in recordings built by hand."""

import linecache
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import minitape as tf
from minitape.engine.record.thread_state import state
from minitape.explain import gradient_warnings, tape_answers
from minitape.explain.caller import collect_asking_variables, use_asking_frame
from minitape.explain.causes.cause import parse_sentences_by_framework_and_variant
from minitape.explain.fallback_answer import explain_non_tensor_source
from minitape.explain.layer_lookup import LayerOwners
from minitape.explain.reasons.cancelled_values import check_value_added_and_subtracted
from minitape.explain.reasons.finding_sentences import get_operation_name_or_comparison_text
from minitape.explain.reasons.question import Question
from minitape.recording import value_graph
from minitape.recording.access_paths import AccessPaths, list_parts_with_suffixes
from minitape.recording.recorded_rows import BackwardPass, Escape, RecordedRow
from minitape.recording.scalar_chains import ScalarChains
from minitape.recording.sites import NOWHERE, get_site_running_in_frame, read_source_lines

from .hand_built_runs import build_rows, build_run
from .programs import explain_program

# -- programs on a tape ----------------------------------------------------------------------------

VARIABLE = "v = tf.Variable(0.0)\nu = tf.Variable(0.0)\n"
FUNCTION = VARIABLE + "@tf.function\ndef f(x):\n"
PROGRAMS = {  # The lines before the block and inside it, the cause, the blamed code, and a part of the answer.
    "an assignment in a loop": (FUNCTION + "    for i in tf.range(2):\n        v.assign(v + x[0])\n    return v * 3.0",
                                "y = f(x)", "state", "v.assign(v + x[0])", "value = v + x[0]"),
    "an assignment in a branch": (FUNCTION + "    if x[0] > 0.0:\n        v.assign(v + x[0])\n    return v * 3.0",
                                  "y = f(x)", "state", "v.assign(v + x[0])", "value = v + x[0]"),
    "an assignment in a recorded loop": (
        FUNCTION + "    def body(i):\n        v.assign(v + x[0])\n        return [i + 1]\n"
        "    tf.while_loop(lambda i: i < 2, body, [tf.constant(0)])\n    return v * 3.0",
        "y = f(x)", "state", "v.assign(v + x[0])", "value = v + x[0]"),
    "an assignment in a recorded branch of a recorded loop": (
        FUNCTION + "    def body(i):\n        tf.cond(x[0] > 0.0,\n            lambda: v.assign(v + x[0]),\n"
        "            lambda: v.assign(v))\n        return [i + 1]\n"
        "    tf.while_loop(lambda i: i < 2, body, [tf.constant(0)])\n    return v * 3.0",
        "y = f(x)", "state", "lambda: v.assign(v + x[0]),", "value = v + x[0]"),
    "an assignment in a recorded branch after the read": (
        FUNCTION + "    z = v * 3.0\n    tf.cond(x[0] > 0.0, lambda: v.assign(v + x[0]), lambda: v.assign(v))\n"
        "    return z",
        "y = f(x)", "independent", "", "not computed from x"),
    "an input without a share in the program's rule": (
        "@tf.custom_gradient\ndef g(x, z):\n    def grad(up):\n        return None, up\n    return x * 2.0, grad",
        "y = g(x, 2.0)", "custom_rule", "return None, up", "returns None for the input"),
    "another input without a share": (
        "@tf.custom_gradient\ndef g(x, z):\n    def grad(up):\n        return None, up\n    return x * 2.0, grad",
        "y = g(2.0, x)", "connected", "", "recorded how"),
    "a rule that fails behind a cut": (
        "@tf.custom_gradient\ndef g(x):\n    def grad(up):\n        raise ValueError\n    return x * 2.0, grad",
        "y = tf.stop_gradient(g(x))", "stop_gradient", "y = tf.stop_gradient(g(x))", "blocks the gradient"),
    "a cut in a loop": ("", "y = tf.while_loop(lambda i, z: i < 2,\n    lambda i, z: (i + 1, tf.stop_gradient(z)),\n"
                        "    [0, x])[1]", "stop_gradient", "lambda i, z: (i + 1, tf.stop_gradient(z)),", "blocks the"),
    "an assignment after the read": (FUNCTION + "    z = v * 3.0\n    v.assign(v + x[0])\n    return z", "y = f(x)",
                                     "independent", "", "not computed from x"),
    "an assignment in a loop after the read": (
        FUNCTION + "    z = v * 3.0\n    for i in tf.range(2):\n        v.assign(v + x[0])\n    return z", "y = f(x)",
        "independent", "", "not computed from x"),
    "an assignment to another variable": (FUNCTION + "    u.assign(u + x[0])\n    return v * 3.0", "y = f(x)",
                                          "independent", "", "not computed from x"),
    "an operation before the block": ("h = tf.sin(x)", "y = h * 2.0", "outside_tape", "h = tf.sin(x)",
                                      "tf.sin ran before the tape's with block began"),
    "a cut before the block": ("h = tf.stop_gradient(x)", "y = h * 2.0", "stop_gradient", "h = tf.stop_gradient(x)",
                               "tf.stop_gradient ("),
    "a variable that was made before the block": ("v = tf.Variable(x * 2.0)", "y = v * 2.0", "state",
                                                  "v = tf.Variable(x * 2.0)", "Or remove tf.Variable and compute"),
    "a variable that was set before the block": (VARIABLE + "v.assign(x[0])", "y = v * 2.0", "state", "v.assign(x[0])",
                                                 "or use x itself inside the with block"),
    "a variable that was set in the block": (VARIABLE, "v.assign(x[0])\ny = v * 2.0", "state", "v.assign(x[0])",
                                             "write x[0] where v is read"),
    "a variable that was increased": (VARIABLE, "v.assign_sub(x[0])\ny = v * 2.0", "state", "v.assign_sub(x[0])",
                                      "value = v - x[0]"),
    "a py_function behind the target": ("", "y = tf.nn.relu(-x)\nz = tf.py_function(lambda t: t, [x], tf.float32)",
                                        "dead_relu", "y = tf.nn.relu(-x)", "passes no gradient back"),
    "shares that cancel": ("", "y = tf.sin(x) - tf.sin(x)", "zero_sum", "y = tf.sin(x) - tf.sin(x)", "x is zero"),
    "a constant target": ("", "y = tf.constant(2.0)", "independent", "", "constant"),
    "a variable that a new tensor replaced": ("x = x - 0.1", "y = x * 2.0", "rebound", "x = x - 0.1",
                                              "bound to a new tensor"),
    "an item that a new tensor replaced": ("x = [x, x]\nx[0] = x[0] - 0.1\nx = x[0]", "y = x * 2.0", "rebound",
                                           "x[0] = x[0] - 0.1", "write x[0].assign_sub(0.1)"),
    "a variable that was rebound after its use": ("w = x\nx = x - 0.1", "y = w * 2.0", "rebound", "x = x - 0.1",
                                                  "so the target was computed with a different object. Keep the"),
    "a variable that another replaced": ("w = x\nx = tf.Variable([0.3, 1.2])", "y = w * 2.0", "rebound",
                                         "x = tf.Variable([0.3, 1.2])", "write x.assign([0.3, 1.2])"),
    "a target that was made before the block": ("c = tf.ones([2])", "y = c", "independent", "", "is a constant ("),
    "a target of a range": ("", "y = tf.range(3)", "independent", "", "The target was not computed from x"),
    "a result of a constant": ("c = tf.ones([2])", "y = c * 1.0", "independent", "", "The target was not computed"),
    "a result that is not used": (VARIABLE, "z = x * 2.0\ny = u * 2.0", "independent", "z = x * 2.0",
                                  "x was used, but the target does not depend on the result"),
    "an operation under another tape": ("with tf.GradientTape() as other:\n    h = x * 3.0", "y = h * 2.0",
                                        "outside_tape", "h = x * 3.0", "x * 3.0 (<words"),
    "a function in a function in a function": (
        "k = tf.function(lambda x:\n    tf.nn.relu(-x))\n@tf.function\ndef g(x):\n    return k(x)\n"
        "@tf.function\ndef f(x):\n    return g(x) * 2.0", "y = f(x)", "dead_relu", "tf.nn.relu(-x))", "x is zero"),
    "a function of an integer and the source": (
        "@tf.function\ndef f(n, x):\n    h = tf.nn.relu(-x)\n    return h * tf.cast(n, tf.float32)",
        "y = f(tf.constant([3, 4]), x)", "dead_relu", "h = tf.nn.relu(-x)", "passes no gradient back"),
    "a branch that cuts": ("c = tf.constant(1.0)", "y = tf.cond(c > 0.0,\n    lambda: tf.stop_gradient(x),\n"
                           "    lambda: x * 3.0)", "stop_gradient", "lambda: tf.stop_gradient(x),", "blocks the"),
    "a condition": ("", "y = tf.cond(x[0] > 0.0, lambda: tf.constant(2.0), lambda: tf.constant(3.0))",
                    "nondifferentiable_op", "y = tf.cond(x[0] > 0.0, lambda: tf.constant(2.0), lambda: "
                    "tf.constant(3.0))", "no derivative for x[0] > 0.0"),
    "integers of a py_function": ("", "y = tf.py_function(lambda n, t: t * tf.cast(n, tf.float32), [3, x], tf.float32)",
                                  "connected", "", "recorded how"),
    "two blocked paths": ("", "y = tf.stop_gradient(x) + x\ny = y + tf.stop_gradient(x)", "connected", "",
                          "2 other paths are blocked"),
    "a variable that is increased in the block": ("", "x.assign_add([1.0, 1.0])\ny = x * 2.0\nx.assign_add([1.0, 1.0])",
                                                  "connected", "", "recorded how"),
    "a target of whole numbers": ("", "y = tf.cast(x, tf.int32)", "integer_dtype", "y = tf.cast(x, tf.int32)", "int32"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "body", "cause", "code", "told"), PROGRAMS.values(), ids=PROGRAMS)
def test_the_line_that_broke_the_history_of_a_value_is_blamed(before, body, cause, code, told) -> None:
    why = explain_program(body, before)
    assert (why.cause, why.code.strip()) == (cause, code) and told in f"{why.message} {why.fix}", str(why)


def test_a_single_source_has_an_answer_and_a_list_of_one_has_a_list() -> None:
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * 3.0
    assert tape.explain(y, x).cause == "connected"
    assert [why.cause for why in tape.explain(y, [x])] == ["connected"]
    assert [why.cause for why in tape.explain(y, [x, x])] == ["connected"] * 2


def test_if_the_tape_cannot_be_read_each_source_has_a_guess(monkeypatch) -> None:
    def fail(*arguments):
        raise ValueError("no rows")

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * 3.0
    monkeypatch.setattr(tape_answers, "build_tape_adapter", fail)
    for why in tape.explain(y, [x, x]):
        assert why.cause == "independent" and "only a guess, because explain failed with ValueError" in why.message


@pytest.mark.parametrize(("own_name", "name"), [("kernel", "kernel"), (5, "the source"), ("", "the source")])
def test_an_object_that_is_no_tensor_is_named_by_its_own_name_if_that_is_a_text(own_name, name) -> None:
    answer = explain_non_tensor_source(SimpleNamespace(name=own_name), None)
    assert answer.name == name and answer.cause == "wrong_object" and "SimpleNamespace" in answer.message


def test_a_tape_with_many_rows_has_no_picture_in_its_answer() -> None:
    x = tf.Variable(2.0)
    for count in (197, 198):
        with tf.GradientTape(persistent=True) as tape:
            y = x * 1.0
            for _ in range(count):
                y = y + x
        html = tape.explain(y, x)._repr_html_()
        assert ("<img" in html) is (len(tape.record) <= 200)


def test_the_rows_of_a_break_are_those_of_the_tape() -> None:
    x, dead = tf.Variable([1.0, 2.0]), tf.function(lambda x: tf.nn.relu(-x) * 2.0)
    with tf.GradientTape(persistent=True) as tape:
        cut = tf.stop_gradient(x * 1.0) * 3.0
        zero = dead(x)
    find_row = tape._record.find_row
    (row,) = tape.explain(cut, x)._rows
    assert row < find_row(cut) and tape.explain(zero, x)._rows == [find_row(zero)]


LISTED = """
def make():
    ws = [tf.Variable(1.0), tf.Variable(2.0)]
    return ws

ws = [tf.Variable(1.0), tf.Variable(2.0)]
kept, ws = ws, [3.0, 4.0]
unknown = [make()[1]]
with tf.GradientTape(True) as tape:
    y = tf.stop_gradient(kept[1] + unknown[0])
answers = tape.explain(y, [kept[1], unknown[0]])
"""


def test_an_item_is_named_by_the_list_that_holds_it_now() -> None:
    linecache.cache["listed.py"] = (len(LISTED), None, LISTED.splitlines(True), "listed.py")
    space = {"tf": tf}
    exec(compile(LISTED, "listed.py", "exec"), space)
    assert [answer.name for answer in space["answers"]] == ["kept[1]", "unknown[0]"]


@pytest.mark.parametrize("hold", [lambda v: [v], lambda v: (v,), lambda v: {"k": [v]}, lambda v: v])
def test_a_variable_belongs_to_the_object_that_holds_it(hold) -> None:
    variable = tf.Variable(1.0)
    owner = Net(hold(variable))
    assert LayerOwners().find_owner(variable) is owner
    assert LayerOwners().find_owner(tf.Variable(1.0)) is None


class Net:
    """A callable object of the program."""

    def __init__(self, parts):
        """Keep the parts."""
        self.parts = parts

    def __call__(self):
        """Do nothing."""


def test_a_local_name_hides_a_global_one_where_explain_is_asked() -> None:
    text = "name, other = 1, 2\ndef ask():\n    name = 3\n    return collect()\n"
    space = {"collect": lambda: collect_in_frame(sys._getframe(1))}

    def collect_in_frame(frame):
        with use_asking_frame(frame):
            return collect_asking_variables()

    exec(compile(text, "asking.py", "exec"), space)
    found = space["ask"]()
    assert (found["name"], found["other"]) == (3, 2)


@pytest.mark.parametrize("limit", [10, 1000])
def test_a_value_inside_a_chain_of_a_long_recording_is_found_and_so_is_a_cut_there(limit, monkeypatch) -> None:
    monkeypatch.setattr(value_graph, "LONG_RECORD", limit)
    x, w = tf.Variable(1.0), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        value, middle = x * w, None
        for count in range(30):
            value = value * w
            if count == 10:
                middle = value
            if count == 20:
                before = value
                value = tf.stop_gradient(value)
        copied = middle * float(before)
    answers = tape.explain(value, [x, middle, w])
    assert [why.cause for why in answers] == ["stop_gradient", "stop_gradient", "connected"]
    assert [why.cause for why in tape.explain(before, [x, middle, w])] == ["connected"] * 3
    why = tape.explain(copied, x)
    assert why.cause == "connected" and [other.cause for other in why.others] == ["left_through_numpy"]


# -- errors about None -----------------------------------------------------------------------------


def make_none(count=1):
    """Return a tape whose gradient is None, with its sources and result."""
    sources = [tf.Variable(float(number)) for number in range(count)]
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(tf.add_n([source * 1.0 for source in sources]))
    return tape, sources, tape.gradient(y, sources)


def test_the_reason_for_a_none_is_told_only_if_the_tape_exists() -> None:
    known, gone, unrelated = (TypeError("NoneType") for _ in range(3))
    tape, _, _ = make_none()
    gradient_warnings.add_notes_why_none_from_frames(known, [sys._getframe()])
    assert "A gradient is None" in known.__notes__[0]
    gradient_warnings.add_notes_why_none_from_frames(gone, [])
    assert len(gone.__notes__) == 1 and "explain" in gone.__notes__[0] and "A gradient is" not in gone.__notes__[0]
    assert tape is not None
    state.memory.last_none_tape = type(None)
    gradient_warnings.add_notes_why_none_from_frames(unrelated, [])
    assert not hasattr(unrelated, "__notes__")


def test_the_reasons_of_at_most_twenty_sources_are_searched() -> None:
    tape, sources, _ = make_none(30)
    text = gradient_warnings.format_reasons_of_none_or_how_to_ask(sources)
    assert tape is not None and "The same reason applies to 19 more." in text
    assert "explain" in gradient_warnings.format_reasons_of_none_or_how_to_ask([tf.Variable(1.0)])


# -- parts of a recording --------------------------------------------------------------------------


def test_a_chain_of_scalars_lists_each_value_from_outside_at_its_first_reader() -> None:
    x, w, u = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(5.0)
    with tf.GradientTape(persistent=True) as tape:
        a = x * w
        b = tf.sin(a)
        c = a + b
        z = w * u
        d = z + c
        y = d * x
    record, row_of = tape._record, tape._record.find_row
    x_row, w_row, u_row = (variable._find_rows_in_recording(tape)[-1] for variable in (x, w, u))
    spans = [(0, len(record))]
    chains = ScalarChains(record, spans, set())
    assert chains.map_first_consumers_to_outside_inputs(row_of(y)) == {row_of(a): [x_row, w_row], row_of(z): [u_row]}
    chains = ScalarChains(record, spans, {row_of(b)})
    expected = {row_of(a): [x_row, w_row], row_of(c): [row_of(b)]}
    assert chains.map_first_consumers_to_outside_inputs(row_of(c)) == expected
    assert ScalarChains(record, spans, {row_of(a)}).map_first_consumers_to_outside_inputs(row_of(b)) == {
        row_of(b): [row_of(a)]
    }


class Layer:
    """A class of the program with a property for one of its private attributes."""

    def __init__(self):
        """Set attributes of several kinds."""
        self.scale, self._weight, self._hidden, self.__secret = object(), object(), object(), object()

    @property
    def weight(self):
        """The weight."""
        return self._weight


def test_a_private_attribute_is_reached_only_through_its_property() -> None:
    layer = Layer()
    assert list_parts_with_suffixes(layer) == [(".scale", layer.scale), (".weight", layer.weight)]
    assert AccessPaths([("_layer", layer), ("layer 2", layer)]).find_path(layer.scale) == ""
    assert AccessPaths([("_layer", layer), ("net", layer)]).find_path(layer.weight) == "net.weight"


def test_the_site_of_a_frame_is_its_running_line() -> None:
    frame = sys._getframe()
    line = frame.f_lineno + 1
    assert get_site_running_in_frame(frame) == (__file__, line)
    assert get_site_running_in_frame(None) == NOWHERE


def test_the_lines_of_a_typed_statement_are_those_of_its_own_entry(monkeypatch) -> None:
    entries = {1: (1, None, ["a = 1\n"], "<python-input-1>"), 2: (1, None, ["b = 2\n"], "<python-input-2>")}
    monkeypatch.setattr(linecache, "_interactive_cache", entries, raising=False)
    assert [read_source_lines(f"<python-input-{number}>") for number in (1, 2, 3)] == [["a = 1\n"], ["b = 2\n"], []]


def test_a_row_without_details_has_no_facts_and_one_that_is_tracked_has_no_cut() -> None:
    row = RecordedRow(1, "detach", "operation", inputs=[0], cause="detach", tracked=False)
    assert (row.name, row.value, row.site, row.call_id) == (None, None, NOWHERE, 1)
    assert RecordedRow(1, "op", "operation", call_id=7).call_id == 7
    row.cut = object()
    row.mark_as_tracked()
    assert (row.tracked, row.cut, row.cause) == (True, None, "")


@pytest.mark.parametrize(("method", "is_condition"), [("bool", True), ("__bool__", True), ("item", False)])
def test_a_truth_value_that_left_is_a_condition(method, is_condition) -> None:
    assert Escape(0, method, NOWHERE, 1).is_condition is is_condition


def test_the_last_share_of_each_row_completes_its_adjoint() -> None:
    sweep = BackwardPass([3])
    assert sweep.row_count == 0
    for row, adjoint in ((1, "all of 1"), (2, "all of 2")):
        sweep.set_adjoint(row, adjoint)
    for call, row in ((3, 1), (3, 2), (2, 1)):
        sweep.send(call, row, 0, "share", f"so far from {call}")
    sweep.replace_last_totals_by_adjoints()
    assert [share.total for share in sweep.edges[3]] == ["so far from 3", "all of 2"]
    assert [share.total for share in sweep.edges[2]] == ["all of 1"]


# -- sentences -------------------------------------------------------------------------------------

COMPARISONS = {
    "a comparison": ("m = x > 0.5", "gt", "x > 0.5"),
    "an operation of another kind": ("m = x > 0.5", "mul", "mul"),
    "two comparisons": ("m = (x > 0.5) * (x < 2)", "gt", "gt"),
    "sixty letters": (f"m = x > {'b' * 56}", "gt", f"x > {'b' * 56}"),
    "sixty-one letters": (f"m = x > {'b' * 57}", "gt", "gt"),
    "no comparison": ("m = torch.gt(x, 0.5)", "gt", "gt"),
}


@pytest.mark.parametrize(("line", "op", "name"), COMPARISONS.values(), ids=COMPARISONS)
def test_a_comparison_is_told_by_its_text(line, op, name) -> None:
    file = f"comparison {abs(hash(line))}.py"
    linecache.cache[file] = (len(line), None, [line + "\n"], file)
    rows = build_rows(("leaf", []), (op, [0], {"site": (file, 1)}))
    assert get_operation_name_or_comparison_text(Question(None, rows, [0], [1], None), 1) == name


def test_a_variant_without_a_message_takes_the_ordinary_one_of_its_framework() -> None:
    texts = parse_sentences_by_framework_and_variant(
        "[torch]\nIt was cut.\nFix: Mend it.\n\n[torch: late]\nFix: Begin earlier.\n\n"
        "[torch: new]\nIt is new.\nFix: Go.\n\n[jax]\nFix: Wait."
    )
    told = {key: (text.message, text.fix) for key, text in texts.items()}
    assert told == {
        ("torch", ""): ("It was cut.", "Mend it."),
        ("torch", "late"): ("It was cut.", "Begin earlier."),
        ("torch", "new"): ("It is new.", "Go."),
        ("jax", ""): ("", "Wait."),
    }


PAIR = {"shape": (2,)}
LEAF, ONES, MINUS = ("leaf", [], PAIR), np.ones(2), -np.ones(2)
DIFFERENCE, SUM = ("Sub", [1, 0], PAIR), ("AddV2", [0, 2], PAIR)
CANCELLED = {
    "z + (q - z), of the source itself": (
        [LEAF, LEAF, DIFFERENCE, SUM], [(3, 0, ONES), (3, 2, ONES), (2, 1, ONES), (2, 0, MINUS)], []),
    "z + (q - z / 2)": ([LEAF, LEAF, DIFFERENCE, SUM],
                        [(3, 0, ONES), (3, 2, ONES), (2, 1, ONES), (2, 0, MINUS / 2)], []),
    "zeros": ([LEAF, LEAF, DIFFERENCE, SUM], [(3, 0, ONES * 0), (3, 2, ONES), (2, 1, ONES), (2, 0, ONES * 0)], []),
    "z + q": ([LEAF, LEAF, ("AddV2", [0, 1], PAIR)], [(2, 0, ONES), (2, 1, ONES)], []),
    "z + z": ([LEAF, ("AddV2", [0, 0], PAIR)], [(1, 0, ONES), (1, 0, ONES)], []),
    "a scalar": ([("leaf", []), ("leaf", []), ("Sub", [1, 0]), ("AddV2", [0, 2])],
                 [(3, 0, 1.0), (3, 2, 1.0), (2, 1, 1.0), (2, 0, -1.0)], []),
    "h + (q - h), of a value h": ([LEAF, LEAF, ("Sin", [0], PAIR), ("Sub", [1, 2], PAIR), ("AddV2", [2, 3], PAIR)],
                                  [(4, 2, ONES), (4, 3, ONES), (3, 1, ONES), (3, 2, MINUS), (2, 0, ONES)], [{0}]),
    "h + (q - h), of a source with another path": (
        [LEAF, ("Sin", [0], PAIR), ("Sub", [0, 1], PAIR), ("AddV2", [1, 2], PAIR)],
        [(3, 1, ONES), (3, 2, ONES), (2, 0, ONES), (2, 1, MINUS), (1, 0, ONES * 0)], []),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "shares", "affected"), CANCELLED.values(), ids=CANCELLED)
def test_a_value_that_a_sum_adds_and_subtracts_is_cancelled(descriptions, shares, affected) -> None:
    run = build_run(build_rows(*descriptions), shares=shares)
    suspicions = list(check_value_added_and_subtracted(run))
    assert [(it.cause, it.only_rows) for it in suspicions] == [("cancelled", rows) for rows in affected]
