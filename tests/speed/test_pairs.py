"""Each fast form gives the same results as the plain form that it replaces, to the last bit."""

import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import minitape as tf
from minitape.engine.backward import gradient
from minitape.engine.backward.row_values import get_values_by_row, iter_operations_backward
from minitape.engine.record.array_spec import ArraySpec
from minitape.engine.record.kept_arrays import iter_large_arrays
from minitape.engine.record.row_parts import CALL, LEAF, Call
from minitape.engine.table.accelerator import fast
from minitape.engine.table.primitives import TABLE
from minitape.engine.table.primitives.elementwise import FIRST_CODE
from minitape.engine.tensor.rule_functions import build_recorded_functions
from minitape.functions.row_program import RowEvaluator  # noqa: F401 - its fast form is made when it is loaded
from minitape.recording.graph_nodes import find_operation_and_inputs
from minitape.speed import fast_sweeps, kernels

# Seeds are fixed, so each run tests the same examples.
quick = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)
SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (5000,), (40_000,)]
NUMBERS = [0.0, -0.0, 1.0, -2.5, 0.3, 1e30, float("inf"), float("nan")]


def read_bits(value):
    """Return the bits of a value. All NaNs are equal."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, (list, tuple)):
        return [read_bits(v) for v in value]
    if isinstance(value, ArraySpec):
        return ["outline", value.shape, str(value.dtype)]
    array = value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value)
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return [str(array.dtype), array.shape, array.tobytes()]


def run_or_catch(function, *arguments):
    """Return the result of a function, or its error."""
    try:
        return read_bits(function(*arguments))
    except Exception as error:
        return [type(error).__name__, str(error)]


@st.composite
def arrays(draw, shapes=SHAPES, dtypes=("float32", "float64")):
    """Return a strategy for arrays that contain special and ordinary numbers."""
    shape, dtype = draw(st.sampled_from(shapes)), draw(st.sampled_from(dtypes))
    seed = draw(st.integers(0, 3))
    array = np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)
    if draw(st.booleans()):
        flat = array.reshape(-1)
        flat[: len(NUMBERS)] = np.roll(NUMBERS, seed)[: flat.size]
        array = flat.reshape(shape)
    return array


def test_each_pair_has_a_test_here():
    tested_elsewhere = {"update_variables": "test_variable_updates.py"}
    assert set(fast.pairs) - set(tested_elsewhere) == {"run_sweep", "Record", "run_and_record", "RowEvaluator"}


# -- operators and apply ---------------------------------------------------------------------------

tf.Variable(1.0)  # Creating the first variable generates the operators.
build_recorded_functions()  # This generates the functions that rules call.
FUNCTIONS = {f"{primitive.name}-{k}": how for k, (primitive, *how) in enumerate(fast.functions)}


def build_operands(values, reads=False):
    """Convert arrays to new tensors, and the first array to a variable for an operator that ``reads`` it."""
    given = [tf.constant(v) if isinstance(v, np.ndarray) else v for v in values]
    return [tf.Variable(given[0]), *given[1:]] if reads else given


def run_and_list_rows(function, tensors, watched, reads=False):
    """Return the result of a function under a tape, and the rows that it writes, whatever the order of the leaves."""
    given = build_operands(tensors, reads)
    with tf.GradientTape() as tape:
        for t in given[:watched]:
            if isinstance(t, tf.Tensor):
                tape.watch(t)
        found = run_or_catch(function, *given)
        record = tape._record
        rows = []
        for row in range(len(record)):
            inputs = [record.get_value_or_spec(i) for i in find_operation_and_inputs(record, row)[1]]
            rows.append(
                read_bits(
                    [
                        record.read_integer_cells(row)[0],
                        record.get_value_or_spec(row),
                        inputs,
                        int(row in record.untracked),
                    ]
                )
            )
    return found, sorted(rows, key=repr), record.has_calls


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0], [2.0] * 5000], ids=["number", "array", "large array"])
def test_a_recording_knows_what_depends_on_nothing_watched(value):
    x, c = tf.constant(value), tf.constant(value)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = x * x
            d = c * c + 1.0  # This follows watched rows.
            y, z = tf.sin(-d) * y * (c + c), x * d
        inner.gradient(y, x)
        e = inner.gradient(z, x)
        x * tf.reduce_sum(tf.exp(e * e))
    record, found = outer._record, set()
    for row in range(len(record)):
        if row not in outer.watched and found.issuperset(find_operation_and_inputs(record, row)[1]):
            found.add(row)
    assert record.untracked == found and len(found) > 9 and max(found) < record.untracked_end


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("name", FUNCTIONS)
@settings(quick, max_examples=15)
@given(data=st.data())
def test_a_function_of_the_table(name, data):
    primitive, (plain, quick, how) = name.partition("-")[0], FUNCTIONS[name]
    x = data.draw(arrays())
    tensors = [x]
    if len(TABLE[primitive].texts) == 3:
        number = st.sampled_from([2, 0.5, -1.0, 0])
        tensors.append(data.draw(st.one_of(st.just(x), arrays(), number)))
    watched = 2 if how.get("inside") else data.draw(st.integers(0, 2))  # The operands of rules already have rows.
    with np.errstate(all="ignore"):
        reads = how.get("reads", False)
        assert run_and_list_rows(quick, tensors, watched, reads) == run_and_list_rows(plain, tensors, watched, reads)
        outside = build_operands(tensors, reads)
        assert run_or_catch(quick, *outside) == run_or_catch(plain, *outside)


CALLS = {
    "matmul": ([(2, 3), (3, 2)], {"transpose_a": False, "transpose_b": False}),
    "reduce_sum": ([(2, 3)], {"axis": (0,), "keepdims": False}), "transpose": ([(2, 3)], {"perm": (1, 0)}),
    "reshape": ([(2, 3)], {"shape": (6,)}), "multiply": ([(2, 3), (3,)], {}), "sin": ([()], {}),
    "unstack": ([(2, 3)], {"axis": 0}), "cast": ([(3,)], {"dtype": tf.float64}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtypes", [("float32",), ("float16",), ("float32", "float64"), ("int32",), ("complex64",)])
def test_apply(name, dtypes):
    shapes, attrs = CALLS[name]
    arrays = [np.full(shape, 1 + k, dtypes[k % len(dtypes)]) for k, shape in enumerate(shapes)]
    found = []
    for apply in fast.pairs["run_and_record"]:
        found.append(run_and_list_rows(lambda *t, apply=apply: apply(TABLE[name], t, attrs), arrays, 1))
        found[-1] += (
            run_or_catch(lambda *a, apply=apply: apply(TABLE[name], tuple(map(tf.constant, a)), attrs), *arrays),
        )
    assert found[0] == found[1]


# -- columns ---------------------------------------------------------------------------------------

CELLS = st.tuples(
    st.sampled_from([LEAF, CALL, FIRST_CODE, FIRST_CODE + 5]),
    st.sampled_from([np.float32(1.5), np.float64(2.0), np.ones(3, "f"), np.ones(5000), np.int32(3), np.float32("nan")]),
    st.integers(0, 9),
)


@quick
@given(rows=st.lists(CELLS, max_size=40), packs=st.sets(st.integers(0, 39)), span=st.tuples(*[st.integers(0, 40)] * 2))
def test_a_packed_recording_reads_as_the_plain_one(rows, packs, span):
    plain, packed = (form() for form in fast.pairs["Record"])
    plain.has_calls = packed.has_calls = True
    for row, (op, value, site) in enumerate(rows):
        call = Call(row, TABLE["reduce_sum"], (0,), {}, 1) if op == CALL else None
        for store in (plain, packed):
            store.kinds.add(type(value))
            store.rows += op, max(row - 1, 0), max(row - 2, 0), call, site, value
            store.next = row + 1
        if row in packs:
            packed.pack_rows()
    low, high = span
    assert len(plain) == len(packed) == len(rows) and plain.calls == packed.calls
    for row in range(len(rows)):
        assert plain.read_integer_cells(row) == packed.read_integer_cells(row) and plain.get_call(
            row
        ) is packed.get_call(row)
        assert read_bits(plain[row]) == read_bits(packed[row])
        assert read_bits(plain.get_value_or_spec(row)) == read_bits(
            packed.get_value_or_spec(row)
        ) and plain.get_shape_and_dtype(row) == packed.get_shape_and_dtype(row)
    assert dict(iter_large_arrays(plain)).keys() == dict(iter_large_arrays(packed)).keys()
    for a, b in zip(plain.read_columns(low, high), packed.read_columns(low, high), strict=True):
        assert len(a) == len(b) and all(v is w or read_bits(v) == read_bits(w) for v, w in zip(a, b, strict=True))
    if low < high <= len(rows):
        assert [*iter_operations_backward(plain, low, high - 1)] == [*iter_operations_backward(packed, low, high - 1)]
    values = get_values_by_row(packed)
    assert read_bits([values[row] for row in range(len(rows))]) == read_bits(plain.read_column(5))


@pytest.mark.parametrize(("real", "size"), [(np.float32, 20), (np.float64, 24)])
def test_a_packed_row_holds_16_bytes_and_its_number(real, size):
    x = tf.constant(1.0, real)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        tracemalloc.start()
        for _ in range(20_000):
            y = y * x
        tape._record.pack_rows()
        held = tracemalloc.get_traced_memory()[0] / len(tape._record)
        tracemalloc.stop()
    assert size <= held < size + 0.5, f"a row of {real.__name__}: got {held:.2f} bytes, expected {size}"


# -- sweeps ----------------------------------------------------------------------------------------


@tf.custom_gradient
def doubled(x):
    return x * 1.0, lambda g: 2.0 * g


ONE = [tf.sin, tf.exp, tf.tanh, tf.sqrt, tf.square, tf.nn.relu, tf.negative, tf.identity, tf.stop_gradient, doubled]
ONE += [lambda x: x * 2.0, lambda x: 1.0 / x, lambda x: x**3.0, lambda x: tf.cast(tf.cast(x, tf.float64), x.dtype)]
ONE += [
    lambda x: tf.reduce_sum(x),
    lambda x: tf.add_n(tf.unstack(tf.stack([x, x * 3.0]))),
    lambda x: tf.reshape(x, [-1]),
]
ONE += [lambda x: tf.gather(tf.reshape(x, [-1]), [0, 0]), lambda x: tf.reshape(x, [-1])[:1]]
TWO = [tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.atan2, lambda x, y: tf.where(x > y, x, y)]
STEPS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=12)


def run_steps(values, steps):
    values = list(values)
    for kind, i, j in steps:
        x, y = values[i % len(values)], values[j % len(values)]
        if kind % 2:
            values.append(ONE[kind // 2 % len(ONE)](x))
        else:
            try:
                np.broadcast_shapes(x.shape, y.shape)
            except ValueError:
                y = tf.reduce_sum(y)
            values.append(TWO[kind // 2 % len(TWO)](x, y))
    return values[-1]


def compute_gradients(given, steps, order, unconnected, long):
    sources = [tf.Variable(g) if k % 2 else tf.constant(g) for k, g in enumerate(given)]

    def derivative(order):
        if order == 0:
            y = run_steps(sources, steps)
            for _ in range(long):
                y = tf.reduce_sum(y * 0.9) + tf.reduce_sum(sources[0])
            return y
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = derivative(order - 1)
        found = tape.gradient(y, sources, unconnected_gradients=unconnected)
        all_found.append(found)
        parts = [tf.reduce_sum(tf.convert_to_tensor(g)) for g in found if g is not None]
        return tf.add_n(parts) if parts else sources[0] * 1.0

    all_found = []
    with np.errstate(all="ignore"):
        derivative(order)
    return read_bits(all_found)


@pytest.mark.parametrize("compiled", [False, True])  # A process loads the kernels after it has swept enough rows.
@settings(quick, max_examples=100)
@given(
    given=st.sampled_from(["float32", "float64"]).flatmap(
        lambda dtype: st.lists(arrays([(), (3,), (2, 3)], (dtype,)), min_size=1, max_size=3)
    ),
    steps=STEPS,
    order=st.integers(1, 3),
    unconnected=st.sampled_from(["none", "zero"]),
    long=st.sampled_from([0, 0, 0, 40]),
)
def test_run_sweep(compiled, given, steps, order, unconnected, long):
    plain, quick = fast.pairs["run_sweep"]
    assert gradient.run_sweep is quick
    with (
        patch.object(kernels, "_count_rows_and_decide_on_kernel", lambda *_: compiled),
        patch.object(fast_sweeps, "MIN_NUMBER_ROWS", 1),
    ):
        got = compute_gradients(given, steps, order, unconnected, long)
    with patch.object(gradient, "run_sweep", plain):
        assert got == compute_gradients(given, steps, order, unconnected, long)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_compiled_sweep_keeps_the_sign_of_a_zero(dtype, monkeypatch):
    monkeypatch.setattr(kernels, "_count_rows_and_decide_on_kernel", lambda *_: True)
    x = tf.Variable(np.array(1.5, dtype))
    with tf.GradientTape() as tape:
        y = x * -0.0
        for _ in range(30):
            y = y * 1.0
    assert read_bits(tape.gradient(y, x)) == read_bits(np.array(-0.0, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (3,), (70_000,)])
def test_run_sweep_over_a_long_recording(dtype, shape):
    plain, _ = fast.pairs["run_sweep"]

    def found():
        x, w = tf.Variable(np.full(shape, 0.3, dtype)), tf.Variable(np.array(1.7, dtype))
        with tf.GradientTape() as tape:
            y = x
            for k in range(3000 if shape == () else 30):
                y = tf.sin(y * w) + x / (2.0 + y * y) - float(k % 5)
            y = tf.reduce_sum(y * w)
        return read_bits(tape.gradient(y, [x, w]))

    got = found()
    with patch.object(gradient, "run_sweep", plain):
        assert got == found()
