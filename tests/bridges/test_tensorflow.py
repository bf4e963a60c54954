"""The bridge to TensorFlow: what is on screen is what TensorFlow's sweep computed, and the program does not notice."""

import json
import weakref

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="TensorFlow is not installed: pip install 'minitape[tensorflow]'")

import numpy as np  # noqa: E402 - behind the check for TensorFlow
from tensorflow.python.eager import backprop  # noqa: E402
from tensorflow.python.framework import op_callbacks, ops  # noqa: E402

import minitape as tf  # noqa: E402
from minitape.bridges import kept_values  # noqa: E402
from minitape.bridges import tensorflow as bridge  # noqa: E402
from minitape.picture.shown_values import to_value_fields  # noqa: E402

from .cases import SWEEP_OF_A_SQUARE  # noqa: E402
from .tensorflow_programs import PROGRAMS  # noqa: E402


def run_program(name):
    tensorflow.keras.utils.set_random_seed(7)
    return [np.asarray(value) if value is not None else None for value in PROGRAMS[name]()]


def are_bits_equal(a, b):
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_changes_for_the_program(name):
    plain = run_program(name)
    with bridge.record() as recording:
        recorded = run_program(name)
    assert recording.internal_error is None
    assert len(plain) == len(recorded) and all(are_bits_equal(a, b) for a, b in zip(plain, recorded, strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_adjoint_is_tensorflows_own(name, monkeypatch):
    """Every tape is persistent here, so that TensorFlow can be asked again, without the bridge, for one adjoint at a
    time.
    """
    made, asked = backprop.GradientTape.__init__, []

    def persistent(self, persistent=False, watch_accessed_variables=True):
        made(self, persistent=True, watch_accessed_variables=watch_accessed_variables)

    plain = backprop.GradientTape.gradient

    def gradient(self, target, sources, output_gradients=None, **options):
        asked.append((self, target, output_gradients))
        return plain(self, target, sources, output_gradients, **options)

    monkeypatch.setattr(backprop.GradientTape, "__init__", persistent)
    monkeypatch.setattr(backprop.GradientTape, "gradient", gradient)
    with bridge.record() as recording:
        run_program(name)
    assert recording.internal_error is None
    asked = [
        (tape, target, seeds)
        for tape, target, seeds in asked
        if not isinstance(tensorflow.nest.flatten(target)[0], int)
    ]
    eager = [a for a in asked if all(hasattr(t, "_numpy") for t in tensorflow.nest.flatten(a[1]))]
    assert len(eager) == len(recording.sweeps)
    compared = 0
    for (tape, target, seeds), sweep in zip(eager, recording.sweeps, strict=True):
        for row, adjoint in sweep.adjoints.items():
            tensor = recording.rows[row].find_object()
            if tensor.dtype == tensorflow.resource:
                continue
            alone = tensorflow.convert_to_tensor(plain(tape, target, tensor, seeds)).numpy()
            assert are_bits_equal(adjoint.to_array(), alone), recording.rows[row].op
            assert adjoint.shown() == to_value_fields(alone[()])
            compared += 1
        for call, edges in sweep.edges.items():
            for row, port, _, _ in edges:
                assert recording.rows[call].inputs[port] == row
    assert compared


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_are_whole(name):
    with bridge.record() as recording:
        run_program(name)
    snapshot = recording.snapshot()
    json.dumps(snapshot, allow_nan=False)
    rows = snapshot["rows"]
    assert [row["row"] for row in rows] == list(range(len(rows)))
    assert all(i < row["row"] for row in rows for i in row["inputs"])
    here = {PROGRAMS[name].__code__.co_filename, __file__}
    assert all(row["file"] in here and row["dtype"] for row in rows)
    assert any(gradient is not None for gradient in snapshot["sweep"]["gradients"])


def test_elements_have_their_index_as_label():
    x, i = tensorflow.Variable([[1.0, 2.0], [3.0, 4.0]]), tensorflow.constant(1)
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        y = x[0, 1] * x[1][-1] + x[i, 0] + tensorflow.reduce_sum(x[:, 1:]) + tensorflow.reduce_sum(x[0, None])
    tape.gradient(y, x)
    labels = [row["label"] for row in recording.snapshot()["rows"] if row["op"] == "StridedSlice"]
    assert labels == ["[0, 1]", "[1]", "[-1]", "[1, 0]", "[ ]", "[ ]"]


def test_rows_have_lines_names_and_scopes():
    w = tensorflow.Variable([1.0, 2.0], name="w")
    first = test_rows_have_lines_names_and_scopes.__code__.co_firstlineno
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape, tensorflow.name_scope("block"):
            y = w * 3.0
            loss = tensorflow.reduce_sum(y)
        tape.gradient(loss, w)
        w.assign_add([1.0, 1.0])
        z = w + 0.0
    rows = [(r["name"] or r["op"], r["line"] - first, r["scope"], r["version"]) for r in recording.snapshot()["rows"]]
    assert rows == [
        ("w", 5, [], 0), ("leaf", 5, [], 0), ("y", 5, ["block"], 0), ("loss", 6, ["block"], 0), ("w", 9, [], 1),
        ("leaf", 9, [], 0), ("z", 9, [], 0),
    ]  # fmt: skip
    assert recording.snapshot()["events"] == [{"kind": "assign", "name": "w", "line": first + 8, "from": 0}]
    assert z.shape == (2,)


def test_a_layer_with_the_name_of_its_operation_is_whole():
    keras = tensorflow.keras
    model = keras.Sequential([keras.layers.Conv2D(2, 3, activation="relu", name="conv2d"), keras.layers.Flatten()])
    images, labels = tensorflow.random.normal((2, 5, 5, 1)), tensorflow.constant([1, 2])
    model(images)
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        losses = tensorflow.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=model(images))
        loss = tensorflow.reduce_sum(losses)
    tape.gradient(loss, model.trainable_variables)
    rows = recording.snapshot()["rows"]
    scopes = {row["op"]: row["scope"][1:] for row in rows if row["kind"] == "operation"}
    assert scopes["Conv2D"] == scopes["BiasAdd"] == scopes["Relu"] == ["conv2d"]
    # The kernel's second result is a derivative, and not a second loss.
    assert [row["label"] for row in rows if row["op"].startswith("Sparse")] == ["cross-ent.", "∂ cross-ent."]


def test_a_step_has_what_each_input_is_given():
    x = tensorflow.Variable(3.0)
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
    assert tf.snapshot(recording, y)["sweep"] == SWEEP_OF_A_SQUARE


def test_a_call_of_a_function_is_one_row():
    with bridge.record() as recording:
        run_program("tf_function")
    assert [entry.label for entry in recording.rows if entry.op == "function"] == ["step", "step"]
    assert all(entry.tracked for entry in recording.rows if entry.op == "function")


def test_a_variable_that_only_a_function_reads_is_on_the_way():
    w = tensorflow.Variable([1.0, 2.0], name="w")

    @tensorflow.function
    def layer(x):
        return tensorflow.reduce_sum(tensorflow.sin(x * w))

    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            y = layer(tensorflow.constant([0.5, 1.0])) * 2.0
        gradient = tape.gradient(y, w)
    rows = {row["name"] or row["label"]: row for row in recording.snapshot()["rows"]}
    assert rows["layer"]["status"] == "recorded" and rows["w"]["watched"] == "automatic"
    assert rows["w"]["row"] in rows["layer"]["inputs"]
    assert are_bits_equal(recording.sweeps[0].adjoints[rows["w"]["row"]].to_array(), gradient.numpy())
    assert recording.explain(y, w).connected


def test_functions_open_where_it_is_asked_for():
    w = tensorflow.Variable([1.0, 2.0], name="w")

    @tensorflow.function
    def inner(x):
        return tensorflow.sin(x * w)

    @tensorflow.function
    def train():
        with tensorflow.GradientTape() as tape:
            loss = tensorflow.reduce_sum(tensorflow.stop_gradient(inner(tensorflow.constant([0.5, 1.0]))) * w)
        return loss, tape.gradient(loss, w)

    plain = train()
    with bridge.record(open_functions=True) as recording:
        opened = train()
    assert not tensorflow.config.functions_run_eagerly()
    scopes = {row["op"]: row["scope"] for row in recording.snapshot()["rows"] if row["kind"] == "operation"}
    assert scopes == {"Mul": ["train"], "Sin": ["train", "inner"], "StopGradient": ["train"], "Sum": ["train"]}
    assert len(recording.sweeps) == 1
    for a, b in zip(plain, opened, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert len(train.pretty_printed_concrete_signatures()) > 0  # it is still the compiled function


def get_only_inside_snapshot(snapshot):
    (inside,) = snapshot["insides"]
    return inside["snapshot"]


def test_a_call_of_a_function_opens():
    """The reference is the same in Python: which ways were taken, with which values, and what TensorFlow's own sweep
    gives.
    """
    w, x = tensorflow.Variable([1.0, 2.0], name="w"), tensorflow.constant([1.0, 0.5])

    @tensorflow.function
    def walk(x, n):
        for _ in tensorflow.range(n):
            if tensorflow.reduce_sum(x) > 2.0:
                x = x / 2.0
            else:
                x = tensorflow.sin(x) * w + 1.0
        return x

    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            loss = tensorflow.reduce_sum(walk(x * 2.0, 3) ** 2)
        gradient = tape.gradient(loss, w)
    found = get_only_inside_snapshot(tf.snapshot(recording))
    values, at = [], x * 2.0
    for _ in range(3):
        larger = np.sum(at) > 2.0
        at = at / 2.0 if larger else tensorflow.sin(at) * w + 1.0
        values.append(at)
    rows = [row for row in found["rows"] if row["label"] in ("÷", "+") and row["dtype"] == "float32"]
    assert [row["value"] for row in rows] == [to_value_fields(value.numpy()) for value in values]
    names = {row["name"] for row in found["rows"]}
    assert {"x", "w"} <= names and {row["line"] for row in rows} == {
        walk.python_function.__code__.co_firstlineno + k for k in (4, 6)
    }
    arrived = dict(
        zip((found["rows"][row]["name"] for row in found["sweep"]["sources"]), found["sweep"]["gradients"], strict=True)
    )
    assert np.allclose(arrived["w"]["data"], gradient)


def test_a_compiled_training_step_opens_with_its_tape():
    with bridge.record() as recording:
        run_program("tf_function_that_trains")
    inside = get_only_inside_snapshot(recording.snapshot())
    arrived = [row["name"] for row in inside["rows"] if row["row"] in inside["sweep"]["sources"]]
    assert inside["sweep"]["steps"] and arrived == [None]  # the variable has no name


def test_looking_inside_changes_nothing_and_asks_nobody():
    calls, w = [], tensorflow.Variable(2.0, name="w")

    @tensorflow.function
    def counts(x):
        w.assign_add(1.0)
        return x * w

    @tensorflow.function
    def asks(x):
        return tensorflow.py_function(lambda v: calls.append(v) or v * 2.0, [x], tensorflow.float32)

    @tensorflow.function
    def random(x):
        return x * tensorflow.random.uniform([], 1.0, 100.0)

    with bridge.record() as recording:
        for function in (counts, asks, random):
            function(tensorflow.constant(3.0))
    assert [inside["name"] for inside in tf.snapshot(recording)["insides"]] == ["counts"]
    assert w.numpy() == 3.0 and len(calls) == 1


@pytest.mark.parametrize("pfor", [True, False])
def test_a_jacobian_is_a_row_or_a_backward_pass_for_each_element(pfor):
    x = tensorflow.Variable([[1.0, 2.0, 3.0]], name="x")
    with tensorflow.GradientTape(persistent=True) as tape:
        y = x * x
    wanted = [tape.jacobian(y, x, experimental_use_pfor=pfor), tape.batch_jacobian(y, x, experimental_use_pfor=pfor)]
    with bridge.record() as recording:
        with tensorflow.GradientTape(persistent=True) as tape:
            y = x * x
        found = [tape.jacobian(y, x, experimental_use_pfor=pfor), tape.batch_jacobian(y, x, experimental_use_pfor=pfor)]
    assert recording.internal_error is None
    assert all(are_bits_equal(a.numpy(), b.numpy()) for a, b in zip(found, wanted, strict=True))
    rows = [(entry.op, entry.inputs) for entry in recording.rows]
    if pfor:
        assert (
            rows == [("leaf", []), ("Mul", [0, 0]), ("jacobian", [1, 0]), ("batch_jacobian", [1, 0])]
            and not recording.sweeps
        )
    else:
        assert [sweep.sources for sweep in recording.sweeps] == [[0]] * 6


def test_tensorflow_is_as_it_was_after_an_exception():
    before = [
        backprop.GradientTape.watch,
        backprop.GradientTape.__enter__,
        ops._EagerTensorBase.numpy,
        backprop._gradient_function,
    ]
    x = tensorflow.Variable(2.0)
    with pytest.raises(ZeroDivisionError), bridge.record(), tensorflow.GradientTape():
        x * x
        1 / 0  # noqa: B018 - the exception
    after = [
        backprop.GradientTape.watch,
        backprop.GradientTape.__enter__,
        ops._EagerTensorBase.numpy,
        backprop._gradient_function,
    ]
    assert before == after
    assert not op_callbacks.should_invoke_op_callbacks()
    with tensorflow.GradientTape() as tape:
        y = x * x
    assert float(tape.gradient(y, x)) == 4.0


def test_a_mistake_of_the_bridge_ends_the_recording_and_not_the_program(monkeypatch):
    from minitape.bridges.tensorflow import row_log

    def broken(*_):
        raise KeyError("mistake")

    monkeypatch.setattr(row_log.TensorFlowLog, "_record_operation", broken)
    x = tensorflow.Variable(2.0)
    with (
        pytest.warns(RuntimeWarning, match="The recording ended early: KeyError: 'mistake'"),
        bridge.record() as recording,
    ):
        with tensorflow.GradientTape() as tape:
            y = x * x
        slope = tape.gradient(y, x)
    assert float(slope) == 4.0
    assert isinstance(recording.internal_error, KeyError)


def test_the_pictures_take_a_recording(tmp_path):
    from minitape_widgets import TapeView

    with bridge.record() as recording:
        run_program("cnn_with_batch_norm")
    view = TapeView(recording)
    assert repr(view) == f"TapeView({len(recording.rows)} rows, 1 tape)"
    assert tf.draw(recording).svg.startswith("<svg")
    view.save(tmp_path / "page.html")
    view.close()


def test_memory_is_bounded_by_summaries(monkeypatch):
    monkeypatch.setattr(kept_values, "BYTE_LIMIT", 10 * 40_000)
    made = []
    with bridge.record() as recording:
        for k in range(40):
            made.append(weakref.ref(tensorflow.constant(np.full([100, 100], k)) + 1))
        assert sum(tensor() is not None for tensor in made) <= 10
    for op, first in (("leaf", 0), ("AddV2", 1)):  # though constants stand where others have been in memory
        large = [entry.value for entry in recording.rows if entry.op == op and entry.shape]
        assert [value.shown()["stats"]["mean"] for value in large] == list(range(first, first + 40))


@pytest.mark.parametrize("persistent", [False, True])
def test_what_became_a_summary_is_asked_for_its_adjoint_while_there_is_the_tape(persistent, monkeypatch):
    made, w = [], tensorflow.Variable(tensorflow.fill([100, 100], 0.5), name="w")

    def step():
        with tensorflow.GradientTape(persistent) as tape:
            x = w * 2.0
            for _ in range(9):
                x = -x  # whose values TensorFlow's tape does not keep
                made.append(weakref.ref(x))
            loss = tensorflow.reduce_sum(x * w)
        w.assign_sub(tape.gradient(loss, w))
        return loss

    monkeypatch.setattr(kept_values, "BYTE_LIMIT", 4 * 40_000)
    with bridge.record() as recording:
        losses = [step() for _ in range(3)]
        assert sum(tensor() is not None for tensor in made) <= 4
    for sweep in recording.sweeps:
        adjoints = [sweep.adjoints[row] for row in sweep.adjoints if recording.rows[row].op == "Neg"]
        state = recording.rows[sweep.sources[0]].value.shown()["stats"]["mean"]
        assert [adjoint.shown()["stats"]["mean"] for adjoint in adjoints] == [state, -state] * 4 + [state]
    assert [recording.explain(loss, w).cause for loss in losses] == ["connected"] * 3


def test_a_variable_is_known_after_its_value_became_a_summary(monkeypatch):
    monkeypatch.setattr(kept_values, "BYTE_LIMIT", 4 * 40_000)
    w = tensorflow.Variable(tensorflow.ones([100, 100]), name="w")
    with bridge.record() as recording:
        for factor in (2.0, 3.0):
            with tensorflow.GradientTape() as tape:
                y = tensorflow.reduce_sum(w * factor)
            tape.gradient(y, w)
            del tape
            for _ in range(9):
                tensorflow.ones([100, 100]) * factor
    assert [0 in entry.inputs for entry in recording.rows if entry.op == "Mul" and entry.tracked] == [
        True,
        True,
    ]
    assert recording.rows[0].name == "w" and recording.explain(y, w).connected


def test_a_call_that_was_given_what_is_a_summary_stays_closed(monkeypatch):
    @tensorflow.function
    def rounded(x):
        return tensorflow.round(x)

    def record_with_byte_limit(bound):
        monkeypatch.setattr(kept_values, "BYTE_LIMIT", bound)
        w = tensorflow.Variable(tensorflow.ones([100, 100]))
        with bridge.record() as recording:
            with tensorflow.GradientTape() as tape:
                y = tensorflow.reduce_sum(rounded(w * 2.0))
            tape.gradient(y, w)
            del tape
            for _ in range(9):
                w * 3.0
        return [inside["name"] for inside in recording.snapshot()["insides"]], recording.explain(y, w).cause

    assert record_with_byte_limit(100 * 40_000) == (["rounded"], "nondifferentiable")
    assert record_with_byte_limit(4 * 40_000) == ([], "nondifferentiable")


def test_an_optimizer_gives_variables_new_states_and_no_rows():
    with bridge.record() as recording:
        run_program("mlp_with_adam")
    states = {entry.version for entry in recording.rows if entry.kind == "variable"}
    assert states == {0, 1, 2}  # of two steps, and what the program returns
    assert not any(entry.op.startswith("Assign") or entry.op == "Sqrt" for entry in recording.rows)
    assert sum(event["kind"] == "assign" for event in recording.snapshot()["events"]) >= 8


def test_a_picture_shows_the_step_of_an_optimizer_in_the_block():
    v = tensorflow.Variable(3.0, name="v")
    optimizer = tensorflow.keras.optimizers.SGD(0.1)
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            loss = v * v
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    (source,) = tf.snapshot(recording)["results"][0]["sources"]
    assert source["assigned"] == 1 and source["now"]["data"] == float(v)
