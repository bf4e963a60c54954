"""The snapshot says what the engine computed: values, adjoints, gradients, and why a row is on a tape or not."""

import json

import numpy as np
import pytest

import minitape as tf
from minitape.engine.record.kept_arrays import iter_large_arrays
from minitape.engine.table.primitives.reduce import unbroadcast
from minitape.picture.shown_values import to_value_fields
from minitape.picture.stepper import build_tape_stepper
from minitape_widgets import TapeView

from .conftest import PROGRAMS, broadcasting, custom, custom_pair, gathering, nested, open_scope, square, states


@pytest.mark.parametrize("name", ["softplus", "div_no_nan"])
def test_operations_beyond_the_textbook_have_local_derivatives(name):
    x = tf.Variable([0.5 + 1.0j, 0.0] if name == "div_no_nan" else [1.0, 7.0, -0.7])
    with tf.GradientTape() as tape:
        y = tf.nn.softplus(x) if name == "softplus" else tf.math.divide_no_nan(tf.ones_like(x), x)
    (row,) = rows_of(tf.snapshot(tape, y, x), op=name)
    steps = tf.snapshot(tape, y, x)["sweep"]["steps"]
    step = next(step for step in steps if step["row"] == row["row"])
    edge = step["edges"][-1]
    assert number(edge["local"]) * number(step["adjoint"]) == pytest.approx(number(edge["product"]))
    assert np.any(number(edge["product"]))


def rows_of(snapshot, **wanted):
    return [row for row in snapshot["rows"] if all(row[name] == value for name, value in wanted.items())]


def number(value):
    data = np.array(value["data"])
    return data.astype(np.complex128 if data.dtype.kind == "U" and "j" in str(data) else np.float64)


def test_rows_are_in_order_and_json(program):
    tape, target, sources = program
    snapshot = tf.snapshot(tape, target, sources)
    assert json.loads(json.dumps(snapshot, allow_nan=False))["rows"] == snapshot["rows"]
    assert [row["row"] for row in snapshot["rows"]] == list(range(len(snapshot["rows"])))
    assert all(i < row["row"] for row in snapshot["rows"] for i in row["inputs"])


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "gathering"])
def test_the_sweep_ends_in_the_engines_gradients(name):
    tape, target, sources = PROGRAMS[name]()
    shown = tf.snapshot(tape, target, sources)["sweep"]
    gradients = tape.gradient(target, sources)
    flat = gradients if isinstance(gradients, list) else [gradients]
    for value, gradient in zip(shown["gradients"], flat, strict=True):
        np.testing.assert_allclose(number(value), gradient.numpy(), rtol=1e-6)


def test_a_gather_adds_its_slices_up():
    tape, y, table = gathering()
    shown = tf.snapshot(tape, y, table)["sweep"]
    np.testing.assert_allclose(number(shown["gradients"][0]), [[2, 4], [0, 0], [20, 24]])


def test_each_step_adds_up(program):
    """On every step the sums of an input are the products that arrived so far."""
    tape, target, sources = program
    snapshot = tf.snapshot(tape, target, sources)
    sums = {}
    for step in snapshot["sweep"]["steps"]:
        if step["row"] in sums:
            np.testing.assert_allclose(number(step["adjoint"]), sums[step["row"]], rtol=1e-5)
        for edge in step["edges"]:
            sums[edge["input"]] = sums.get(edge["input"], 0) + number(edge["product"])
            np.testing.assert_allclose(number(edge["sum"]), sums[edge["input"]], rtol=1e-5)
            if edge["local"] is not None:
                expected = number(edge["local"]) * number(step["adjoint"])
                product = number(edge["product"])
                np.testing.assert_allclose(unbroadcast(expected, product.shape), product, rtol=1e-5)


def test_the_rule_of_each_edge_gives_its_product(program):
    """The formula that stands beside an edge, computed with NumPy on the values that are shown, is its product."""
    tape, target, sources = program
    snapshot = tf.snapshot(tape, target, sources)
    rows = snapshot["rows"]
    functions = {name: getattr(np, name) for name in ("sin", "cos", "tanh", "where", "conj")}
    for step in snapshot["sweep"]["steps"]:
        row = rows[step["row"]]
        for edge in step["edges"]:
            assert row["inputs"][edge["port"]] == edge["input"]
            rule = row["rule"][edge["port"]] if edge["port"] < len(row["rule"]) else ""
            if not rule or row["dtype"] == "complex64":
                continue
            values = dict(zip("xy", (number(rows[i]["value"]) for i in row["inputs"]), strict=False))
            values |= {"g": number(step["adjoint"]), "z": number(row["value"])}
            product = number(edge["product"])
            try:
                found = eval(rule, {"__builtins__": {}}, functions | values)
            except NameError:
                continue
            np.testing.assert_allclose(unbroadcast(found + 0 * values["z"], product.shape), product, rtol=1e-5)


def test_a_gradient_of_ones_own_is_what_the_function_gives():
    tape, y, x = custom()
    rows, sweep = (tf.snapshot(tape, y, x)[name] for name in ("rows", "sweep"))
    (own,) = (row for row in rows if row["op"] == "custom_gradient")
    (step,) = (step for step in sweep["steps"] if step["row"] == own["row"])
    assert own["label"] == "clipped" and step["adjoint"]["text"] == "5.0"
    (edge,) = step["edges"]
    assert (edge["local"], edge["product"]["text"], edge["sum"]["text"]) == (None, "1.0", "2.0")


def test_all_outputs_of_a_call_hand_their_adjoints_on_at_once():
    tape, y, sources = custom_pair()
    rows, sweep = (tf.snapshot(tape, y, sources)[name] for name in ("rows", "sweep"))
    first, second = (row["row"] for row in rows if row["op"] == "custom_gradient")
    (step,) = (step for step in sweep["steps"] if step["row"] == first)
    assert number(step["adjoint"]).tolist() == [0.0, 0.0]  # the target does not depend on it
    assert [(other["row"], number(other["adjoint"]).tolist()) for other in step["others"]] == [(second, [2.0, -1.0])]
    assert second not in [step["row"] for step in sweep["steps"]]


def test_after_gradient_the_tapes_own_sweep_is_shown():
    tape, y, x = square()
    assert tf.snapshot(tape)["sweep"] is None
    tape.gradient(y, x, output_gradients=tf.constant(10.0))
    shown = tf.snapshot(tape)["sweep"]
    assert shown["steps"][0]["adjoint"]["text"] == "10.0"
    assert shown["gradients"][0]["text"] == "60.0"


def test_after_a_jacobian_the_sweep_of_the_first_element_is_shown():
    """Never a sum that no call returned."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x)
    returned = tape.jacobian(y, x).numpy()
    shown = tf.snapshot(tape)
    assert shown["results"][0]["element"] == [0]
    assert np.array_equal(number(shown["sweep"]["gradients"][0]), returned[0])


def test_looking_does_not_use_the_tape_up():
    tape, y, x = square()
    tf.snapshot(tape, y, x)
    assert tape.gradient(y, x).numpy() == 6.0


def test_the_weights_of_a_layer_are_sources_as_they_are_of_a_gradient():
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    layer.build((1, 3))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(layer(tf.ones([1, 3])) ** 2)
    shown = tf.snapshot(tape, y, layer.trainable_variables)["sweep"]["gradients"]
    for text, gradient in zip(shown, tape.gradient(y, layer.trainable_variables), strict=True):
        np.testing.assert_array_equal(number(text), gradient)
    with pytest.raises(AttributeError, match="'float' object has no attribute '_id'"):
        tf.snapshot(tape, y, 3.0)


def test_why_a_row_is_watched():
    v, c = tf.Variable(1.0, name="v"), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = v * c * 4.0
    snapshot = tf.snapshot(tape, y, v)
    assert [row["watched"] for row in rows_of(snapshot, kind="variable")] == ["automatic"]
    assert [row["watched"] for row in rows_of(snapshot, kind="source")] == ["explicit"]
    assert [row["watched"] for row in rows_of(snapshot, kind="constant")] == [None]
    assert [row["name"] for row in rows_of(snapshot, kind="variable")] == ["v:0"]


def test_an_operation_that_is_on_no_tape_is_a_ghost():
    x, k = tf.Variable(1.0), tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        unused = k * k
        y = x * 2.0
    snapshot = tf.snapshot(tape, y, x)
    ghosts = rows_of(snapshot, status="ghost")
    assert [row["op"] for row in ghosts] == ["multiply"]
    assert ghosts[0]["shape"] == [2] and unused.shape == (2,)


def test_an_operation_before_a_late_watch_is_on_no_tape():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = y + x
    for snapshot in (tf.snapshot(tape), tf.snapshot(tape, z, x)):
        rows = [(row["op"], row["tapes"], row["status"]) for row in snapshot["rows"]]
        assert rows == [("leaf", [0], "recorded"), ("multiply", [], "ghost"), ("add", [0], "recorded")]
    assert float(tape.gradient(z, x)) == 1.0  # as in TensorFlow, the tape has only the addition


def test_a_watch_of_the_outer_tape_alone_is_late_for_the_outer_tape_alone():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        inner.watch(x)
        y = x * x
        outer.watch(x)
        z = y * x
    assert [row["tapes"] for row in rows_of(tf.snapshot(outer), op="multiply")] == [[1], [0, 1]]
    assert (float(inner.gradient(z, x)), float(outer.gradient(z, x))) == (12.0, 4.0)


def test_what_stops_a_gradient():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x) + tf.floor(x)
    cuts = {row["op"]: row["cut"] for row in tf.snapshot(tape, y, x)["rows"] if row["kind"] == "operation"}
    assert cuts == {"stop_gradient": "stop_gradient", "floor": "nondifferentiable", "add": None}


def test_a_whole_number_that_becomes_a_fraction_stops_a_gradient():
    n, x = tf.Variable(4), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x
        for value in (n, tf.cast(x, tf.float64)):
            y = y * tf.cast(value, tf.float32)  # one line of the program, two dtypes
        y = y * tf.cast(tf.constant(2), tf.float32)
    rows = rows_of(tf.snapshot(tape, y, x), op="cast")
    assert [row["cut"] for row in rows] == [None, "integer", None, None]  # the last is a ghost: no tape recorded it


def test_each_state_of_a_variable_is_a_row():
    tape, z, v = states()
    snapshot = tf.snapshot(tape, z, v)
    rows = rows_of(snapshot, kind="variable")
    assert [(row["name"], row["version"], row["value"]["text"]) for row in rows] == [
        ("v:0", 0, "1.0"),
        ("v:0", 1, "2.0"),
    ]
    assigns = [event for event in snapshot["events"] if event["kind"] == "assign"]
    assert [(event["from"], event["to"]) for event in assigns] == [(rows[0]["row"], rows[1]["row"])]


def test_states_are_counted_from_the_first_one_of_the_recording():
    v = tf.Variable(1.0, name="v")
    for _ in range(5):
        v.assign_add(1.0)
    with tf.GradientTape() as tape:
        y = v * 2.0
        v.assign_add(1.0)
        z = y * v
    assert [row["version"] for row in rows_of(tf.snapshot(tape, z, v), kind="variable")] == [0, 1]


def test_a_state_that_was_assigned_before_it_is_read_is_the_next_one():
    v = tf.Variable(1.0, name="v")
    v.assign(2.0)
    with tf.GradientTape() as tape:
        v.assign(3.0)
        y = v * 2.0
    assert [row["version"] for row in rows_of(tf.snapshot(tape, y, v), kind="variable")] == [1]


def test_a_variable_without_a_name_goes_by_its_python_name():
    weight = tf.Variable(2.0)
    others = [tf.Variable(1.0, name="given"), tf.Variable(3.0)]
    with tf.GradientTape() as tape:
        y = weight * others[0] * others[1]
    rows = rows_of(tf.snapshot(tape, y, weight), kind="variable")
    assert [(row["name"], row["label"]) for row in rows] == [
        ("weight", "Variable:0"),
        ("given:0", "given:0"),
        ("others[1]", "Variable:0"),
    ]


def test_rows_know_their_name_scope():
    x = tf.Variable(2.0)
    with open_scope("outer"), tf.GradientTape() as tape:
        y = x * 2.0
        with open_scope("inner"):
            z = tf.sin(y) + tf.reduce_sum([y, y])
        z = z * 3.0
    rows = rows_of(tf.snapshot(tape, z, x), kind="operation")
    found = {row["op"]: row["scope"] for row in rows if row["op"] != "multiply"}
    assert found == {key: ["outer", "inner"] for key in found} and "sin" in found and "reduce_sum" in found
    assert [row["scope"] for row in rows if row["op"] == "multiply"] == [["outer"], ["outer"]]


def test_rows_of_a_tape_that_is_gone_stay_its_rows():
    x = tf.constant(3.0)

    def slope(t):
        with tf.GradientTape() as inner:
            inner.watch(t)
            y = t * t
        return inner.gradient(y, t)

    with tf.GradientTape(persistent=True) as tape:
        g = slope(x)
    snapshot = tf.snapshot(tape)
    assert g.numpy() == 6.0
    assert next(row["tapes"] for row in rows_of(snapshot, op="multiply")) == [1]
    assert [tape["state"] for tape in snapshot["tapes"]] == ["closed", "released"]


def test_rows_that_an_inner_gradient_wrote_are_its_work():
    outer, g, x = nested()
    snapshot = tf.snapshot(outer, g, x)
    written = [row["row"] for row in snapshot["rows"] if row["by"] is not None]
    assert written and min(written) > max(row["row"] for row in snapshot["rows"] if row["by"] is None)


def test_source_lines_are_those_of_the_program():
    tape, target, sources = broadcasting()
    snapshot = tf.snapshot(tape, target, sources)
    (row,) = rows_of(snapshot, op="tanh")
    text = snapshot["sources_text"][row["file"]].splitlines()[row["line"] - 1]
    assert "tf.tanh" in text


def test_a_long_recording_of_small_arrays_is_read():
    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(8200):  # more rows than the recording keeps unpacked
            y = tf.sin(y) * x
    last = tf.snapshot(tape)["rows"][-1]
    assert (last["op"], last["value"]["data"]) == ("multiply", y.numpy().tolist())


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
def test_the_statistics_of_a_large_array_have_its_infinities(odd):
    values = np.arange(1.0, 101.0)
    values[40] = odd
    stats = to_value_fields(values)["stats"]
    finite = np.delete(values, 40)
    expected = {"min": np.nanmin(values), "max": np.nanmax(values), "mean": finite.mean(), "std": finite.std()}
    assert {name: float(stats[name]) for name in expected} == pytest.approx(expected)
    assert stats["nans"] == np.isnan(odd)


def test_large_arrays_travel_as_statistics():
    w = tf.Variable(np.arange(3000, dtype=np.float32).reshape(60, 50))
    with tf.GradientTape() as tape:
        y = w * 2.0
    row = tf.snapshot(tape, y, w)["rows"][0]
    assert row["value"]["stats"] == {
        "min": 0, "max": 2999, "mean": 1499.5, "std": pytest.approx(866, abs=1), "zeros": 1, "nans": 0,
    }  # fmt: skip
    assert len(row["value"]["thumb"]) <= 32 and len(row["value"]["thumb"][0]) <= 32


def test_numbers_that_json_does_not_know():
    x = tf.Variable([1.0, 0.0])
    with tf.GradientTape() as tape:
        y = tf.math.log(x - 1.0)
    value = tf.snapshot(tape, y, x)["rows"][-1]["value"]
    assert value["data"] == ["-inf", "nan"]


def test_since_leaves_earlier_rows_out():
    tape, y, x = square()
    snapshot = tf.snapshot(tape, y, x, since=1)
    assert snapshot["first"] == 1 and [row["row"] for row in snapshot["rows"]] == [1]


def test_a_tape_that_recorded_nothing():
    snapshot = tf.snapshot(tf.GradientTape())
    assert snapshot["rows"] == [] and snapshot["sweep"] is None


def test_something_else_is_refused():
    with pytest.raises(TypeError, match=r"snapshot\(\) takes a tf.GradientTape, but received 3 of type 'int'"):
        tf.snapshot(3)


@pytest.mark.parametrize("rows", [10, 17_000])
def test_arrays_that_somebody_kept_serve_the_sweep_of_a_tape_that_let_go_of_them(rows):
    """A live picture keeps them; more rows than a block holds are packed."""
    x = tf.Variable(np.linspace(0.0, 1.0, 5000, dtype=np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.exp(x) * tf.exp(x))
        for _ in range(rows):
            y = y * 1.0
    held = dict(iter_large_arrays(tape._record))
    gradient = tape.gradient(y, x)
    assert build_tape_stepper(tape) is None
    stepper = build_tape_stepper(tape, kept_arrays=held, show=lambda value: value)
    assert stepper.take_steps() is not None
    np.testing.assert_allclose(stepper.list_source_gradients()[0], gradient.numpy(), rtol=1e-6)


def test_a_function_goes_by_its_own_name():
    @tf.function
    def parabola(x):
        return x * x

    @tf.function
    def wave(x):
        return tf.sin(x)

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = [f(x) for f in (parabola, wave)]
    labels = [row["label"] for row in tf.snapshot(tape, y, x)["rows"] if row["kind"] == "operation"]
    assert labels == ["parabola", "wave"]


def test_forward_mode_has_a_tangent_for_each_row():
    """The reference: what ``jvp`` gives for each tensor."""
    x, w = tf.Variable([1.0, 2.0], name="x"), tf.Variable(3.0, name="w")
    with tf.autodiff.ForwardAccumulator([x, w], [tf.constant([1.0, 0.0]), tf.constant(0.5)]) as acc:
        a = x * w
        b = tf.sin(a)
        y = tf.reduce_sum(b * x) + tf.stop_gradient(w)
    snapshot = tf.snapshot(acc)
    assert [tape["persistent"] for tape in snapshot["tapes"]] == [False]  # an accumulator has no such thing
    rows = {row["name"]: row for row in snapshot["rows"]}
    for name, tensor in {"a": a, "b": b, "y": y}.items():
        np.testing.assert_allclose(rows[name]["tangent"]["data"], acc.jvp(tensor).numpy(), rtol=1e-6)
    assert rows["x:0"]["tangent"]["data"] == [1.0, 0.0] and rows["w:0"]["tangent"]["data"] == 0.5
    assert "TapeView" in repr(TapeView(acc))


def test_powers_and_negations_have_labels_of_their_own():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = -(x**2.0) - x
    labels = [row["label"] for row in tf.snapshot(tape, y, x)["rows"] if row["kind"] == "operation"]
    assert labels == ["xʸ", "neg", "-"]
