"""When the checks of TensorFlow programs suspect a mistake, on texts and rows that are written by hand."""

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from tests.explain.hand_built_runs import build_rows, build_run

tf = pytest.importorskip("tensorflow")

from minitape.bridges.tensorflow import checks, function_graphs, loss_checks, suspects  # noqa: E402
from minitape.explain.reasons.program_text import list_statements  # noqa: E402
from minitape.recording.sites import NOWHERE  # noqa: E402


def with_text(text):
    file = f"tensorflow decisions {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return file


# -- what the text of a program shows --------------------------------------------------------------

CLIPPED = {
    "never read": ("clipped, norm = tf.clip_by_global_norm(grads, 1.0)\noptimizer.apply(grads)\n", 1),
    "read": ("clipped, norm = tf.clip_by_global_norm(grads, 1.0)\noptimizer.apply(clipped)\n", None),
    "ignored on purpose": ("_clipped = tf.clip_by_norm(grad, 1.0)\noptimizer.apply(grads)\n", None),
    "bound to the same name": (
        "grads = [tf.clip_by_value(g, -1.0, 1.0) for g in grads]\noptimizer.apply(grads)\n",
        None,
    ),
    "without a name": ("tf.clip_by_norm(grad, 1.0)\n", None),
    "another function": ("clipped = tf.round(grad)\n", None),
}


@pytest.mark.parametrize(("text", "line"), CLIPPED.values(), ids=CLIPPED)
def test_the_result_of_clipping_is_not_read(text, line) -> None:
    answer = loss_checks.explain_unread_clipping_result(with_text(text))
    assert (answer and (answer.cause, answer.line)) == (line and ("not_clipped", line))


SUMS = """sums = [tf.Variable(tf.zeros_like(v)) for v in variables]
for step in range(9):
    for total, g in zip(sums, gradients(step)):
        total.assign_add(g)
    optimizer.apply_gradients(zip(sums, variables))
"""
ACCUMULATED = {
    "never reset": (SUMS, 2, 5),
    "reset": (SUMS + "    for total in sums:\n        total.assign(tf.zeros_like(total))\n", 2, None),
    "created in each step": ("for step in range(9):\n" + "".join(
        f"    {line}\n" for line in SUMS.replace("for step in range(9):", "if True:").splitlines()), 2, None),
    "a single step": (SUMS, 1, None),
    "applied once": (SUMS.replace("for step in range(9):", "if step:"), 2, None),
    "in a class": ("class T:\n    def __init__(self):\n        self.sums = [tf.Variable(0.0)]\n"
                   "    def step(self, g):\n        self.sums[0].assign_add(g)\n"
                   "        self.optimizer.apply(self.sums, self.variables)\n", 2, 6),
    "in a class, created elsewhere": ("class T:\n    def begin(self):\n        self.sums = [tf.Variable(0.0)]\n"
                                      "    def step(self, g):\n        self.sums[0].assign_add(g)\n"
                                      "        self.optimizer.apply(self.sums, self.variables)\n", 2, None),
    "not added": (SUMS.replace("assign_add", "assign"), 2, None),
}  # fmt: skip


@pytest.mark.parametrize(("text", "iterations", "line"), ACCUMULATED.values(), ids=ACCUMULATED)
def test_sums_of_gradients_are_never_reset(monkeypatch, text, iterations, line) -> None:
    optimizer = SimpleNamespace(iterations=iterations)
    monkeypatch.setattr(loss_checks, "iter_living_instances", lambda *classes: iter([optimizer]))
    answer = loss_checks.explain_sums_of_gradients_without_reset(with_text(text))
    assert (answer and (answer.cause, answer.line)) == (line and ("accumulated", line))


@pytest.mark.parametrize(
    ("attributes", "line"), [({"lr": 0.1, "learning_rate": 0.5}, 2), ({"learning_rate": 0.5}, None)]
)
def test_an_attribute_for_the_learning_rate_has_no_effect(monkeypatch, attributes, line) -> None:
    optimizer = SimpleNamespace(**attributes)
    monkeypatch.setattr(loss_checks, "iter_living_instances", lambda *classes: iter([optimizer]))
    answer = loss_checks.explain_lr_attribute_without_effect(with_text("x = 1\noptimizer.lr = 0.1\n"))
    assert (answer and (answer.cause, answer.line)) == (line and ("schedule", line))


@pytest.mark.parametrize(("sites", "new_class", "expected"), [
    ([5, 5, 5], "Adam", 2), ([5, 5], "Adam", None), ([5, 6, 5], "Adam", None), ([5, 5, 5], "", None),
    ([4, 5, 5, 5], "Adam", 2), ([5, 5, 5], "SGD", 5),
])  # fmt: skip
def test_each_step_creates_an_optimizer(sites, new_class, expected) -> None:
    file = with_text(
        "for step in range(9):\n    optimizer = tf.keras.optimizers.Adam()\n    g = 1\n    h = 2\n    go()\n"
    )
    steps = [SimpleNamespace(site=(file, line), new_class=new_class) for line in sites]
    recording = SimpleNamespace(log=SimpleNamespace(optimizer_steps=steps))
    answer = loss_checks.explain_optimizer_remade_each_step(recording)
    assert (answer and (answer.cause, answer.line)) == (expected and ("optimizer_remade", expected))


@pytest.mark.parametrize(("text", "line"), [
    ("w = tf.Variable(1.0, trainable=True)\n", 1), ("w = tf.Variable(1.0)\n", None),
    ("w = tf.Variable(1.0, trainable=True)\nw.assign(2.0)\n", None), ("v = tf.Variable(1.0, trainable=True)\n", None),
])  # fmt: skip
def test_a_variable_that_is_made_trainable_is_meant_to_be_trained(text, line) -> None:
    site = suspects._find_trainable_true_site_unless_assigned(list_statements(with_text(text)), "w")
    assert site[1] == line


FITTING = {  # The lines that were running when the source was created, outermost first, and the line that is found.
    "the line that created it": ("make()\nfreeze(v)\nfreeze(u)\n", [1, 3], 3),
    "the innermost of two": ("freeze(v)\nfreeze(u)\n", [1, 2], 2),
    "an outer line": ("freeze(make())\nmake()\n", [1, 2], 1),
    "another line": ("make()\nfreeze(v)\n", [1], 2),
    "the first of two other lines": ("make()\nfreeze(v)\nfreeze(u)\n", [1], 2),
    "the only line, of an unknown source": ("make()\nfreeze(v)\n", [], 2),
    "one of two, of an unknown source": ("freeze(v)\nfreeze(u)\n", [], None),
    "none": ("make()\nmake()\n", [1], None),
}


@pytest.mark.parametrize(("text", "stack", "line"), FITTING.values(), ids=FITTING)
def test_a_line_that_may_have_frozen_a_source_is_blamed_unless_several_may_have(text, stack, line) -> None:
    file = with_text(text)
    asked = SimpleNamespace(
        source_call_stack=[(file, number) for number in stack],
        list_target_ancestors_reading_source=lambda: [SimpleNamespace(index=0, site=(file, 1))],
        adapter=SimpleNamespace(find_tape_state_at_row=lambda row: ("records", "")),
    )
    found = checks.find_creating_or_first_line_that_fits(asked, lambda statement: statement.find_call("freeze"))
    assert found == (line and (file, line))


@pytest.mark.parametrize("depth", range(4))
def test_a_graph_knows_which_variables_it_changes_however_deep_the_change_is(depth) -> None:
    changed, read = tf.Variable(1.0), tf.Variable(2.0)

    def step(level):
        if not level:
            return changed.assign_add(read)
        return tf.cond(read > 0.0, lambda: step(level - 1), lambda: tf.constant(0.0))

    graph = tf.function(lambda: step(depth)).get_concrete_function().graph
    inputs = {id(inner): outer for outer, inner in graph.captures}
    places = function_graphs.find_indices_of_changed_handles(graph)
    assert [inputs[id(graph.inputs[place])] is changed.handle for place in places] == [True]
    assert function_graphs.find_indices_of_changed_handles(graph) is places


# -- what the rows of a recording show -------------------------------------------------------------


def build_gradient_rows(*descriptions):
    """Build rows in which each row with the operation "gradient" is the result of a sweep."""
    rows = build_rows(*descriptions)
    for row in rows:
        row.extra = SimpleNamespace(row_count=3 if row.op == "gradient" else None, find_object=lambda: None)
    return rows


GRADIENT, LEAF = ("gradient", []), ("leaf", [])


def test_rows_computed_from_gradients_are_found() -> None:
    run = build_run(build_gradient_rows(LEAF, GRADIENT, ("Mul", [1, 0]), ("Sin", [0]), ("Sub", [0, 2])))
    assert suspects.collect_rows_computed_from_gradients(run) == {1, 2, 4}


@pytest.mark.parametrize(("descriptions", "stored", "is_summed"), [
    ([LEAF, GRADIENT, GRADIENT, ("AddV2", [1, 2])], set(), False),
    ([LEAF, GRADIENT, GRADIENT, ("AddV2", [0, 1]), ("AddV2", [3, 2])], set(), True),
    ([LEAF, GRADIENT, GRADIENT, ("Mul", [0, 1]), ("Mul", [3, 2])], set(), False),
    ([LEAF, GRADIENT], {7}, True), ([LEAF, GRADIENT], {8}, False),
])  # fmt: skip
def test_gradients_are_summed_or_stored_for_a_later_step(descriptions, stored, is_summed) -> None:
    log = SimpleNamespace(assignments=[], handles_with_stored_gradients=stored)
    run = build_run(
        build_gradient_rows(*descriptions), recording=SimpleNamespace(log=log), sources_with_gradient={8: "w"}
    )
    assert suspects._are_gradients_summed_or_stored(run) is is_summed


def build_trained_run(weights, step_count=3, sweeps=1, optimized=(7,)):
    """Build a run with a variable of key 7, whose weights before and after the last step are given."""
    run = build_run(build_gradient_rows(LEAF, ("Sin", [0])))
    steps = [SimpleNamespace(site=("train.py", 9), handle_ids=set(optimized)) for _ in range(step_count)]
    run.recording = SimpleNamespace(
        log=SimpleNamespace(
            optimizer_steps=steps, assignments=[], handles_with_stored_gradients=set(), misused_call=(NOWHERE, "", "")
        ),
        is_rerun=False,
        read_weights_around_last_step=lambda variable: tuple(None if it is None else np.array(it) for it in weights),
    )
    run.sweeps = run.sweeps * sweeps
    run.sources_with_gradient = {7: "w"}
    run.find_source_rows = lambda source: [0]
    run.find_optimizer_steps = lambda source: steps
    return run


@pytest.mark.parametrize(("weights", "step_count", "variants"), [
    (([1.0], [1.0]), 3, ["rate"]), (([1.0], [1.0]), 2, []), (([1.0], [2.0]), 3, []), ((None, [1.0]), 3, []),
    ((None, None), 3, []),
])  # fmt: skip
def test_steps_that_change_nothing_have_a_learning_rate_of_zero(weights, step_count, variants) -> None:
    found = list(suspects.check_gradients_that_change_no_parameter(build_trained_run(weights, step_count)))
    assert [(it.variant, it.site[1], it.source_keys) for it in found] == [(it, 9, {7}) for it in variants]


@pytest.mark.parametrize(("sweeps", "step_count", "has_optimizer", "is_found"), [
    (2, 0, True, True), (1, 0, True, False), (2, 0, False, False), (2, 1, True, False),
])  # fmt: skip
def test_gradients_are_computed_again_and_again_without_a_step(
    monkeypatch, sweeps, step_count, has_optimizer, is_found
) -> None:
    monkeypatch.setattr(suspects, "iter_living_instances", lambda *classes: iter([object()] * has_optimizer))
    run = build_trained_run((None, None), step_count, sweeps)
    found = list(suspects.check_gradients_that_change_no_parameter(run))
    assert [(it.cause, it.variant, it.fields["n"]) for it in found] == ([("not_applied", "", 2)] if is_found else [])


def test_no_step_is_missing_if_the_optimizer_received_nothing_to_apply(monkeypatch) -> None:
    monkeypatch.setattr(suspects, "iter_living_instances", lambda *classes: iter([object()]))
    run = build_trained_run((None, None), step_count=0, sweeps=2)
    run.recording.log.misused_call = ("train.py", 9), "not_applied", "empty"
    assert not list(suspects.check_gradients_that_change_no_parameter(run))


@pytest.mark.parametrize(("states", "is_lost"), [([0], True), ([0, 1], False)])
def test_a_new_value_that_nothing_reads_is_lost_unless_the_variable_also_changed(monkeypatch, states, is_lost) -> None:
    run = build_trained_run((None, None), step_count=0, sweeps=2)
    run.find_source_rows = lambda source: states
    monkeypatch.setattr(
        suspects, "_map_handle_ids_to_unapplied_update_rows", lambda run: {7: run.rows[1], 8: run.rows[0]}
    )
    monkeypatch.setattr(suspects, "iter_living_instances", lambda *classes: iter([]))
    found = list(suspects.check_gradients_that_change_no_parameter(run))
    assert [(it.variant, it.site[1], it.source_keys) for it in found] == ([("lost", 2, {7})] if is_lost else [])


class Handle:
    """Stands for the handle of a variable."""


def build_optimized_run(
    monkeypatch, source_rows=(0,), step_rows=5, row_count=3, has_gradient=True, held=(), stepped=()
):
    """Build a run with a variable that got a gradient, an optimizer that holds variables, and a step."""
    handle = Handle()
    run = build_run(build_gradient_rows(LEAF, ("Sin", [0])))
    run.sources_with_gradient = {id(handle): "w"}
    run.find_source_rows = lambda source: list(source_rows)
    (sweep,) = run.sweeps
    sweep.source_results, sweep.row_count = [(lambda: handle, has_gradient), (lambda: None, True)], row_count
    handles = {"w": id(handle), "v": -1}
    steps = [] if step_rows is None else [
        SimpleNamespace(site=("train.py", 9), row_count=step_rows, handle_ids={handles[it] for it in stepped})
    ]  # fmt: skip
    run.recording = SimpleNamespace(log=SimpleNamespace(optimizer_steps=steps))
    optimizer = SimpleNamespace(_trainable_variables=list(held))
    monkeypatch.setattr(suspects, "iter_living_instances", lambda *classes: iter([optimizer, SimpleNamespace()]))
    monkeypatch.setattr(suspects, "find_handle_id", handles.get)
    return run, id(handle)


@pytest.mark.parametrize(("facts", "is_missing"), [
    ({}, True), ({"held": ["v"], "stepped": ["v"]}, True), ({"held": ["w"]}, False), ({"stepped": ["w"]}, False),
    ({"step_rows": None}, False), ({"has_gradient": False}, False), ({"source_rows": (0, 1)}, False),
    ({"step_rows": 2}, False), ({"step_rows": 3}, True),
])  # fmt: skip
def test_no_optimizer_manages_a_variable_that_got_a_gradient(monkeypatch, facts, is_missing) -> None:
    run, key = build_optimized_run(monkeypatch, **facts)
    found = list(suspects.check_unoptimized_sources(run))
    assert [(it.cause, it.site[1], it.source_keys) for it in found] == ([("not_optimized", 9, {key})] * is_missing)
    assert all(it.fields.keys() == {"what", "steps"} for it in found)


def build_run_of_targets(groups, call_stack=(("train.py", 2), ("train.py", 4))):
    """Build a run in which each target reads variables of its own, which are given by their rows."""
    count = 1 + max(row for rows in groups for row in rows)
    run = build_run(build_rows(*[LEAF] * count, *[("AddN", list(rows)) for rows in groups]))
    run.sweeps = [SimpleNamespace(target=[count + number]) for number in range(len(groups))]
    run.find_source_rows = lambda variable: [variable]
    creation = SimpleNamespace(call_stack=list(call_stack))
    run.recording = SimpleNamespace(log=SimpleNamespace(find_variable_creation=lambda handle: creation))
    return run, [(100 + row, row) for row in range(count)]


@pytest.mark.parametrize(("groups", "found_keys"), [
    ([[0], [1], [2]], {102}), ([[0], [1]], None), ([[0], [1], [0]], None), ([[0, 1], [2], [3, 4]], {103, 104}),
    ([[0], [0], [0]], None), ([[0, 1], [1, 2], [3]], None),
])  # fmt: skip
def test_a_line_that_creates_a_variable_again_for_each_target_is_found(monkeypatch, groups, found_keys) -> None:
    monkeypatch.setattr(suspects, "to_handle_or_value", lambda variable: variable)
    found = list(suspects._check_variables_remade_for_each_target(*build_run_of_targets(groups)))
    expected = ("remade", ("train.py", 4), {"n": len(groups)}, found_keys)
    assert [(it.variant, it.site, it.fields, it.source_keys) for it in found] == ([expected] if found_keys else [])


class Table(tf.keras.layers.Layer):
    """A layer whose tuple, list or attribute holds a variable."""

    def __init__(self, **attributes):
        super().__init__()
        for name, value in attributes.items():
            object.__setattr__(self, name, value)


def find_untracked(monkeypatch, layer, variables, text="", trained=(1,), creation=(("model.py", 3),)):
    file = with_text(text)
    monkeypatch.setattr(suspects, "iter_living_instances", lambda *classes: iter([layer]))
    monkeypatch.setattr(suspects, "iter_targets_with_recordings", lambda recording: iter([]))
    monkeypatch.setattr(suspects, "_check_variables_remade_for_each_target", lambda run, candidates: [])
    monkeypatch.setattr(suspects.inspect, "getsourcefile", lambda owner: file)
    run = build_run(build_rows(LEAF, ("Sin", [0])), trained_keys=set(trained))
    log = SimpleNamespace(
        tensor_rows=SimpleNamespace(variables_by_handle=dict(enumerate(variables, 7))),
        find_variable_creation=lambda handle: SimpleNamespace(call_stack=list(creation)),
    )
    run.recording = SimpleNamespace(log=log, read_source_lines=lambda file: text.splitlines(True))
    found = suspects.check_trainable_variables_left_untrained(run)
    return [(it.variant, it.site[1], it.fields["what"], it.source_keys) for it in found]


def test_a_variable_that_a_layer_holds_untracked_is_never_trained(monkeypatch) -> None:
    scale, offset = tf.Variable(1.0), tf.Variable(2.0)
    layer = Table(scale=scale, parts=[tf.Variable(0.0), offset])
    found = find_untracked(monkeypatch, layer, [scale, offset])
    assert found == [("untracked", 3, "Table.scale", {7}), ("untracked", 3, "Table.parts", {8})]
    text = "class Table:\n    def __init__(self):\n        self.scale = tf.Variable(1.0)\n"
    assert find_untracked(monkeypatch, layer, [scale], text, creation=())[0][1] == 3
    assert find_untracked(monkeypatch, layer, [scale], creation=())[0][1] is None


@pytest.mark.parametrize(("variable", "facts"), [
    ({"trainable": False}, {}), ({"dtype": tf.int32}, {}), ({}, {"trained": ()}), ({}, {"trained": (1, 7)}),
    ({}, {"text": "self.scale.assign(2.0)\n"}),
])  # fmt: skip
def test_a_variable_that_is_not_meant_to_be_trained_may_stay_untracked(monkeypatch, variable, facts) -> None:
    scale = tf.Variable(1, **{"dtype": tf.float32, **variable})
    assert find_untracked(monkeypatch, Table(scale=scale), [scale], **facts) == []


def test_a_variable_that_a_layer_tracks_or_that_no_layer_holds_is_not_untracked(monkeypatch) -> None:
    scale = tf.Variable(1.0)
    layer = SimpleNamespace(scale=scale, variables=[scale])
    assert find_untracked(monkeypatch, layer, [scale, tf.Variable(1.0)]) == []
