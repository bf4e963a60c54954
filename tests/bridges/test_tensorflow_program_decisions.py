"""What the bridge to TensorFlow finds wrong with a whole program, on both sides of each decision."""

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from minitape.bridges import tensorflow as bridge  # noqa: E402
from minitape.bridges.tensorflow import checks, loss_checks, suspects, traced_values  # noqa: E402
from minitape.bridges.tensorflow.adapter import TensorFlowAdapter  # noqa: E402
from minitape.bridges.tensorflow.model_variables import collect_sources_meant_to_be_trained  # noqa: E402
from minitape.bridges.tensorflow.operation_log import find_index_label  # noqa: E402
from minitape.bridges.tensorflow.recording import _read_loss_or_nan_if_results_nonfinite  # noqa: E402
from minitape.explain.reasons.question import Finding  # noqa: E402
from minitape.recording.sites import NOWHERE  # noqa: E402


def with_text(text):
    file = f"tensorflow program decisions {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return file


def use_living_instances(monkeypatch, *instances):
    monkeypatch.setattr(loss_checks, "iter_living_instances", lambda *classes: iter(instances))


def use_targets(monkeypatch, *sites):
    """Let the recording have a target on each of the given lines."""
    targets = [(None, SimpleNamespace(site=site)) for site in sites]
    monkeypatch.setattr(loss_checks, "iter_targets_with_recordings", lambda recording: iter(targets))


# -- datasets --------------------------------------------------------------------------------------


class Dataset:
    """Stands for a dataset that reads its elements from others."""

    def __init__(self, kind="Batch", size=4, source=None):
        self.kind, self.size, self.sources = kind, size, [source] if source else []

    def __repr__(self):
        return f"<{self.kind}Dataset>"

    def _inputs(self):
        return self.sources

    def cardinality(self):
        return self.size


FIRST = "for step in range(5):\n    x = next(iter(data))\n    loss = model(x)\n    other = model(1)\n"
BATCHES = {
    "the first batch in three steps": (FIRST, 3, Dataset(), 3, 3),
    "two steps": (FIRST, 2, Dataset(), 3, None),
    "a shuffled dataset": (FIRST, 3, Dataset("Shuffle"), 3, None),
    "batches of a shuffled dataset": (FIRST, 3, Dataset(source=Dataset("Shuffle")), 3, None),
    "batches of a generator": (FIRST, 3, Dataset(source=Dataset("Generator")), 3, None),
    "a dataset of one batch": (FIRST, 3, Dataset(size=1), 3, None),
    "a batch that no target uses": (FIRST, 3, Dataset(), 4, None),
    "an iterator that is kept": (FIRST.replace("next(iter(data))", "next(data)"), 3, Dataset(), 3, None),
    "a loop over the dataset": (FIRST.replace("next(iter(data))", "list(iter(data))"), 3, Dataset(), 3, None),
}


@pytest.mark.parametrize(("text", "steps", "dataset", "target", "count"), BATCHES.values(), ids=BATCHES)
def test_each_step_uses_the_first_batch(monkeypatch, text, steps, dataset, target, count) -> None:
    file = with_text(text)
    use_targets(monkeypatch, (file, target))
    recording = SimpleNamespace(log=SimpleNamespace(iterated_datasets=[((file, 2), dataset)] * steps))
    answer = loss_checks.explain_first_batch_in_each_step(recording)
    assert (answer and (answer.cause, answer.line)) == (count and ("same_batch", 2))


# -- losses and layers -----------------------------------------------------------------------------

TAPE = "with tf.GradientTape() as tape:\n    loss = tf.reduce_mean(model(x))\n{}\n"


@pytest.mark.parametrize(("line", "is_trained", "losses", "is_missing"), [
    ("", True, [1.0], True), ("", True, [], False), ("", False, [1.0], False),
    ("loss += sum(model.losses)", True, [1.0], False), ("mse = keras.losses.MeanSquaredError()", True, [1.0], True),
    ("loss = model.compute_loss(x, y, p)", True, [1.0], False),
    ("loss = model.compiled_loss(y, p)", True, [1.0], False),
])  # fmt: skip
def test_the_losses_of_layers_are_missing_from_the_target(monkeypatch, line, is_trained, losses, is_missing) -> None:
    layers = [SimpleNamespace(trainable_variables=[7] * trained, losses=losses, name="dense")
              for trained in (False, is_trained)]  # fmt: skip
    use_living_instances(monkeypatch, *layers)
    for text, is_expected in ((TAPE.format(line), is_missing), (line + "\nloss = model(x)\n", False)):
        use_targets(monkeypatch, (with_text(text), 1), (with_text(text), 2))
        monkeypatch.setattr(loss_checks, "collect_requested_handle_ids", lambda recording: {7, 8})
        monkeypatch.setattr(loss_checks, "find_handle_id", lambda variable: variable)
        answer = loss_checks.explain_layer_losses_missing_from_target(None)
        assert (answer and (answer.cause, answer.line)) == (("in_part", 2) if is_expected else None)


def test_a_program_without_a_target_lacks_no_losses(monkeypatch) -> None:
    use_targets(monkeypatch)
    assert loss_checks.explain_layer_losses_missing_from_target(None) is None


ARGUMENTS = """model.compile(1)
model.fit(x)
model.compile(2)
loss(y)
g = tape.gradient(l, w)
optimizer.apply(g)
l = optimizer.scale_loss(l)
step()
"""


@pytest.mark.parametrize(("sites", "cause", "variant", "line"), [
    ([2], "loss_input", "swapped", 1), ([4], "loss_input", "swapped", 4), ([], "loss_input", "swapped", None),
    ([None, 4], "loss_input", "swapped", 4), ([6], "scaler", "unscaled_loss", 5), ([1], "scaler", "unscaled_loss", 5),
    ([8], "scaler", "scaled_twice", 7), ([1], "scaler", "scaled_twice", 7),
])  # fmt: skip
def test_wrong_arguments_are_blamed_on_the_line_that_passes_them(monkeypatch, sites, cause, variant, line) -> None:
    file = with_text(ARGUMENTS)
    calls = [(NOWHERE if site is None else (file, site), cause, variant) for site in sites]
    items = [SimpleNamespace(log=SimpleNamespace(misused_call=call)) for call in calls]
    monkeypatch.setattr(loss_checks, "list_recording_and_reruns", lambda recording: items)
    monkeypatch.setattr(loss_checks, "explain_cause", lambda framework, cause, site, variant: (cause, site, variant))
    answer = loss_checks.explain_wrong_loss_or_optimizer_arguments(None)
    assert answer == (line and (cause, (file, line), variant))


@pytest.mark.parametrize(("facts", "is_used", "is_found"), [
    ({}, True, True), ({}, False, False), ({"built": False}, True, False), ({"trainable": False}, True, False),
    ({"moving_mean": [0.0, 0.1]}, True, False), ({"moving_variance": [1.0, 0.9]}, True, False),
])  # fmt: skip
def test_a_normalization_uses_the_statistics_that_it_began_with(monkeypatch, facts, is_used, is_found) -> None:
    layer = SimpleNamespace(name="norm", **{"built": True, "trainable": True, "moving_mean": np.zeros(2),
                                            "moving_variance": np.ones(2), **facts})  # fmt: skip
    use_living_instances(monkeypatch, layer)
    monkeypatch.setattr(loss_checks, "find_first_use_site_on_target_path",
                        lambda recording, variable: ("train.py", 4) if is_used else NOWHERE)  # fmt: skip
    answer = loss_checks.explain_use_of_initial_batchnorm_statistics(None)
    assert (answer and (answer.cause, answer.line)) == (("layer_mode", 4) if is_found else None)


def test_only_schedules_are_asked_whether_they_ended_too_early(monkeypatch) -> None:
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    use_living_instances(
        monkeypatch, *(SimpleNamespace(_learning_rate=rate, _iterations=5) for rate in (0.1, schedule))
    )
    monkeypatch.setattr(loss_checks, "explain_schedule_decayed_too_early", lambda *arguments: arguments)
    expected = ("tensorflow", schedule, 5, ["ExponentialDecay"])
    assert list(loss_checks.explain_early_decay_of_each_schedule()) == [expected]


# -- numbers that a tf.function counts -------------------------------------------------------------

COUNTER = "def step(x):\n    global n\n    n += 1\n    {}\n    return x\n"


@pytest.mark.parametrize(("line", "is_used"), [
    ("x = x / n", True), ("x = n * x", True), ("x = x if n % 4 else -x", True), ("x = x if 3 <= n else -x", True),
    ("x = x if n == 2 else -x", True), ("print(f'{n}')", False), ("x = x + 1", False), ("x = token + x", False),
    ("x = self.n + x", False), ("x = x + number", False), ("x = x ** n", True),
])  # fmt: skip
def test_a_function_computes_with_a_number_that_it_increments(line, is_used) -> None:
    text = COUNTER.format(line)
    file, space = with_text(text), {}
    exec(compile(text, file, "exec"), space)
    found = traced_values.find_statement_incrementing_used_number(space["step"], "n")
    assert (found and found.site) == ((file, 3) if is_used else None)


def test_a_number_that_the_function_does_not_increment_is_not_counted() -> None:
    text = COUNTER.format("x = x / n").replace("n += 1", "n = 1")
    space = {}
    exec(compile(text, with_text(text), "exec"), space)
    assert traced_values.find_statement_incrementing_used_number(space["step"], "n") is None


ONE_ARRAY = np.ones(2)


@pytest.mark.parametrize(("old", "new", "is_unchanged"), [
    (1.5, 1.5, True), (1.5, 2.5, False), ("sum", "mean", False), (ONE_ARRAY, ONE_ARRAY, True),
    (ONE_ARRAY, np.ones(2), False), ({1: True, 2: True}, {1: False, 2: False}, True), ({1: False}, {1: True}, False),
    ({1: True, 2: False}, {1: True, 2: True}, False), ({1: False}, {}, True),
])  # fmt: skip
def test_a_trace_stays_valid_if_its_values_stay_or_variables_are_frozen(old, new, is_unchanged) -> None:
    assert traced_values._is_unchanged_or_only_frozen(old, new) is is_unchanged


# -- tapes and sources -----------------------------------------------------------------------------


def test_a_block_begins_at_the_first_change_of_its_tape_whose_lines_are_known() -> None:
    changes = [("other", ["a"]), ("tape", []), ("tape", ["b", "c"]), ("tape", ["d"])]
    spans = [SimpleNamespace(tape=tape, call_stack=stack) for tape, stack in changes]
    log = SimpleNamespace(tape_history=SimpleNamespace(state_changes=spans))
    found = [
        TensorFlowAdapter.find_block_begin_call_stack(SimpleNamespace(tape=tape, log=log)) for tape in ("tape", "x")
    ]
    assert found == [["b", "c"], [NOWHERE]]


ROWS = {  # The kind of the row, whether a gradient can pass, and other facts.
    "a variable": ("variable", True, {}, True),
    "a variable that isn't trainable": ("variable", True, {"trainable": False}, False),
    "a variable of a tape that watches only what it is told": ("variable", True, {"watches": False}, False),
    "a variable that is watched": ("variable", True, {"watches": False, "watched": True}, True),
    "a variable that another tape watches": ("variable", True, {"watches": False, "watched": False}, False),
    "a result": ("operation", True, {}, True),
    "a result while the tape pauses": ("operation", True, {"state": "paused"}, False),
    "a result without a gradient": ("operation", False, {}, False),
    "a constant": ("constant", True, {}, False),
    "no tape": ("variable", True, {"no_tape": True}, False),
}


@pytest.mark.parametrize(("kind", "tracked", "facts", "is_recorded"), ROWS.values(), ids=ROWS)
def test_the_tape_of_a_question_recorded_the_source(kind, tracked, facts, is_recorded) -> None:
    tape = SimpleNamespace(_watch_accessed_variables=facts.get("watches", True))
    adapter = SimpleNamespace(tape=None if "no_tape" in facts else tape,
                              find_tape_state_at_row=lambda row: (facts.get("state", "records"), ""))  # fmt: skip
    question = SimpleNamespace(adapter=adapter, source=SimpleNamespace(trainable=facts.get("trainable", True)))
    watchers = [tape if facts["watched"] else object()] if "watched" in facts else []
    row = SimpleNamespace(kind=kind, tracked=tracked, index=0)
    assert checks._did_question_tape_record_source_row(question, row, watchers) is is_recorded


def test_a_value_that_leaves_into_a_dataset_is_blamed_on_the_line_that_maps_it() -> None:
    file = with_text("data = data.map(double)\nfor x in data:\n    print(x)\n")
    finding = Finding("left_tensorflow", (file, 2), detail="numpy()")
    checks._change_to_dataset_escape(SimpleNamespace(site=(file, 2)), finding)
    assert (finding.cause, finding.detail, finding.variant, finding.site) == (
        "left_through_numpy", "", "dataset", (file, 1)
    )  # fmt: skip


def test_a_variable_that_no_name_of_the_program_reaches_is_meant_to_be_trained_too() -> None:
    holder = SimpleNamespace(scale=tf.Variable(2.0, name="scale"), frozen=tf.Variable(1.0, trainable=False))
    with bridge.record() as recording, tf.GradientTape() as tape:
        target = holder.scale * holder.frozen
        tape.gradient(target, [holder.scale])
    found = collect_sources_meant_to_be_trained(recording)
    assert list(found) == ["scale"] and found["scale"] is holder.scale


@pytest.mark.parametrize(("target", "source", "result", "loss"), [
    (2.0, 1.0, 3.0, 2.0), (2.0, np.nan, 3.0, 2.0), (2.0, 1.0, np.nan, np.nan), (np.inf, 1.0, 3.0, np.nan),
    (2, 1.0, 3.0, 3.0), (2, 1.0, 3, None), ([2.0, 5.0], 1.0, [[4.0]], 4.0), (2.0, 1.0, None, 2.0),
])  # fmt: skip
def test_a_step_reports_its_loss_or_that_a_result_is_not_finite(target, source, result, loss) -> None:
    tensors = [None if value is None else tf.constant(value) for value in (target, source, result)]
    found = _read_loss_or_nan_if_results_nonfinite(None, (None, *tensors[:2]), tensors[2])
    assert found == loss or (found is not None and np.isnan(found) and np.isnan(loss))


def test_a_row_computed_from_a_gradient_knows_the_sweep_that_returned_it() -> None:
    w = tf.Variable(3.0)
    with bridge.record() as recording:
        with tf.GradientTape() as tape:
            y = w * w
        gradient = tape.gradient(y, w)
        step = gradient * 0.1
    run = suspects.build_checked_run(recording)
    (leaf,) = [row for row in recording.rows if row.extra.row_count is not None]
    (row,) = [row for row in recording.rows if leaf.index in row.inputs]
    assert suspects.collect_rows_computed_from_gradients(run) == {leaf.index, row.index}
    assert leaf.extra.row_count == recording.sweeps[0].row_count and leaf.site in leaf.extra.call_stack
    assert row.site[1] == leaf.site[1] + 1 and float(step) == pytest.approx(0.6)


@pytest.mark.parametrize(("op", "begin", "rank", "label"), [
    ("StridedSlice", [0], 2, "[0]"), ("StridedSlice", [1, 2], 1, "[1, 2]"), ("StridedSlice", [0], 3, ""),
    ("StridedSlice", [1, 2], 2, ""), ("Slice", [0], 2, ""),
])  # fmt: skip
def test_a_selection_is_labeled_with_its_integers_if_each_removes_an_axis(op, begin, rank, label) -> None:
    assert find_index_label(op, [tf.zeros([4, 4, 4]), tf.constant(begin)], [tf.zeros([4] * rank)]) == label


def test_a_value_that_leaves_into_an_unmapped_dataset_keeps_its_line() -> None:
    file = with_text("data = list(numbers)\nfor x in data:\n    print(x)\n")
    finding = Finding("left_tensorflow", (file, 3))
    checks._change_to_dataset_escape(SimpleNamespace(site=(file, 2)), finding)
    assert finding.site == (file, 3)
