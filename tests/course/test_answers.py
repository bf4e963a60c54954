"""The answer keys of lessons 2 to 6, 10, 14 and the appendix are true: each program of an exercise is run, and gives
what its key expects.
"""

import sys
from collections import Counter

import numpy as np
import pytest

import minitape as tf
from minitape.course.answer_comparison import compare_answers
from minitape.course.checker import collect_exercises


def convert_to_floats_or_none(result):
    """Numbers, or None, as the keys write them."""
    return [None if g is None else float(g) for g in result]


def compute_shapes_of_sums():
    pairs = {"A": ([4, 5], [5]), "B": ([4, 5], [4]), "C": ([4, 1], [1, 5]), "D": ([3, 4, 5], [4, 1])}

    def compute_shape_of_sum(left, right):
        try:
            return tuple((tf.ones(left) + tf.ones(right)).shape)
        except tf.errors.InvalidArgumentError:
            return "error"

    return {name: compute_shape_of_sum(*pair) for name, pair in pairs.items()}


def count_stored_numbers():
    """Count what minitape's tensors store for four nests."""
    nests = [[2.0], [3.0], [1.0], [4.0, 2.0, 5.0, 1.0, 3.0]]
    ragged = tf.ragged.constant(nests)
    table = np.array([nest + [0.0] * (5 - len(nest)) for nest in nests], np.float32)
    sparse = tf.SparseTensor(np.argwhere(table), table[table != 0.0], table.shape)
    return {
        "A": table.size,
        "B": ragged.values.numpy().size + ragged.row_lengths().numpy().size,
        "C": sparse.values.numpy().size + sparse.indices.numpy().size,
        "D": int(tf.size(tf.constant([" ".join(map(str, nest)) for nest in nests]))),
    }


def run_two_steps():
    w = tf.Variable(1.0)
    held = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = (w - 4.0) ** 2
        w.assign_sub(0.25 * tape.gradient(loss, w))
        held.append(w.numpy())
    return {"after one step": held[0], "after two steps": held[1]}


def compute_gradients_by_watch_time():
    def run_program(kind, first, then):
        x = kind(3.0)
        with tf.GradientTape() as tape:
            y = first(tape, x)
        y = then(y, x)
        return tape.gradient(y, x)

    def watch_late(tape, x):
        u = x * x
        tape.watch(x)
        return u * x

    def watch_early(tape, x):
        tape.watch(x)
        return x + 1.0

    stays = lambda y, x: y  # noqa: E731
    return [
        run_program(tf.constant, watch_early, lambda y, x: x * x),
        run_program(tf.Variable, lambda tape, x: x * x + 1.0, stays),
        run_program(tf.constant, watch_late, stays),
    ]


def compute_gradient_of_weighted_picks():
    x = tf.Variable([10.0, 20.0, 30.0, 40.0, 50.0])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.gather(x, [4, 0, 0]) * [1.0, 2.0, 3.0])
    return tf.convert_to_tensor(tape.gradient(total, x))


def list_watched_after_assign():
    soft = tf.Variable(2.0, name="soft")
    stiff = tf.Variable(1.0, name="stiff")
    trust = tf.Variable(0.5, name="trust", trainable=False)
    best = tf.Variable(soft, name="best")
    stiff = stiff + 0.0
    with tf.GradientTape() as tape:
        (soft - 1.9) ** 2 + trust * (stiff - 1.1) ** 2
        best.assign(soft)
    return [variable.name for variable in tape.watched_variables()]


def map_rows_to_inputs():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        u = x * x
        v = u + x
        v * u
    rows = tf.snapshot(tape)["rows"]
    return {row["row"]: row["inputs"] for row in rows[1:]}


def compute_adjoints():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        u = x * x
        v = u + x
        y = v * u
    return dict(zip("xuvy", convert_to_floats_or_none(tape.gradient(y, [x, u, v, y])), strict=True))


def compare_sweep_orders():
    """A sweep in each order over u = x * x, v = x + x, y = u * v, beside the tape's gradient."""
    value = 3.0
    rows = {1: ("*", 0, 0), 2: ("+", 0, 0), 3: ("*", 1, 2)}
    values = [value, value * value, value + value, value * value * (value + value)]
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = (x * x) * (x + x)
    truth = float(tape.gradient(y, x))

    def sweep_in_order(order):
        adjoints = [0.0, 0.0, 0.0, 1.0]
        for row in order:
            operation, i, j = rows[row]
            adjoints[i] += adjoints[row] * (values[j] if operation == "*" else 1.0)
            adjoints[j] += adjoints[row] * (values[i] if operation == "*" else 1.0)
        return adjoints[0]

    orders = {"A": (3, 2, 1), "B": (3, 1, 2), "C": (2, 3, 1), "D": (1, 2, 3)}
    return {name: sweep_in_order(order) == truth for name, order in orders.items()}


def ask_tapes_twice():
    def run_program(persistent, *calls):
        x, other = tf.Variable(2.0), tf.Variable(1.0)
        with tf.GradientTape(persistent=persistent) as tape:
            y = x * x
            z = x * x * x
        try:
            for target, source in calls:
                last = tape.gradient({"y": y, "z": z, "both": [y, z]}[target], {"x": x, "other": other}[source])
        except RuntimeError:
            return "error"
        return float(last)

    return {
        "A": run_program(False, ("y", "x"), ("z", "x")),
        "B": run_program(True, ("y", "x"), ("z", "x")),
        "C": run_program(False, ("both", "x")),
        "D": run_program(False, ("y", "other"), ("y", "x")),
    }


def count_tape_bytes(tape):
    return tf.snapshot(tape)["tapes"][0]["bytes"]


def count_bytes_held_by_tape(program, x):
    with tf.GradientTape() as tape:
        program(x)
    return count_tape_bytes(tape)


def count_tensors_held_by_tapes():
    x = tf.Variable(tf.zeros([100, 100]))
    programs = {
        "A": lambda x: tf.reduce_sum(5.0 * x),
        "B": lambda x: tf.reduce_sum(x * x),
        "C": lambda x: tf.reduce_sum(tf.sin(tf.sin(x))),
        "D": lambda x: tf.reduce_sum(tf.exp(tf.exp(x))),
    }
    return {name: count_bytes_held_by_tape(program, x) // 40_000 for name, program in programs.items()}


def list_watched_by_a_comparison():
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(2.0, name="b", trainable=False)
    c = tf.Variable(3.0, name="c")
    d = tf.Variable(4.0, name="d")
    copy = c * 1.0
    with tf.GradientTape(persistent=True) as tape:
        y = a * b + copy
        if d > 0.0:
            y = y * 2.0
    assert tape.gradient(y, d) is None, "as the lesson says"
    return [variable.name for variable in tape.watched_variables()]


def compute_gradients_in_three_ways():
    def run_program(on_its_own, by_hand):
        v, k, c = tf.Variable(2.0), tf.Variable(3.0, trainable=False), tf.constant(4.0)
        with tf.GradientTape(watch_accessed_variables=on_its_own) as tape:
            tape.watch([k] if by_hand == "k" else [])
            h = k * c
            tape.watch([h] if by_hand == "h" else [])
            y = v * h
        return convert_to_floats_or_none(tape.gradient(y, [v, h, k]))

    return {"A": run_program(True, ""), "B": run_program(True, "k"), "C": run_program(False, "h")}


def compute_gradients_of_stopped_paths():
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        product = x * tf.stop_gradient(y)
        third = x * x * tf.stop_gradient(x)
        last = tf.stop_gradient(x * y) + x
    wanted = {"A": (product, x), "B": (product, y), "C": (third, x), "D": (last, x)}
    return {name: tape.gradient(*pair) for name, pair in wanted.items()}


def compute_gradients_in_nested_tapes():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        with inner.stop_recording():
            s = x * x
        u = s * x
    found = {"A inner": inner.gradient(u, x), "A outer": outer.gradient(u, x)}
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        s = tf.stop_gradient(x * x)
        u = s * x
    return found | {"B inner": inner.gradient(u, x), "B outer": outer.gradient(u, x)}


def compute_gradients_of_branches():
    def compute_gradient(program, value):
        x = tf.Variable(value)
        with tf.GradientTape() as tape:
            y = program(x)
        return tape.gradient(y, x)

    def repeat_doubling(x):
        y = x
        while y < 10.0:
            y = 2.0 * y
        return y

    return [
        compute_gradient(lambda x: x * x if x > 2.0 else 5.0 * x, 1.0),
        compute_gradient(repeat_doubling, 1.0),
        compute_gradient(lambda x: tf.constant(7.0) if x > 0.0 else x, 1.0),
        compute_gradient(lambda x: tf.where(x > 0.0, x * x, 0.0), -1.0),
    ]


def count_printed_lines(capfd):
    @tf.function
    def f(x):
        print("A")
        tf.print("B", output_stream=sys.stdout)
        for _ in range(3):
            print("C")

        def body(k):
            print("D")
            return [k + 1]

        tf.while_loop(lambda k: k < 3, body, [0])
        return x

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    return Counter(capfd.readouterr().out.split())


def compute_gradients_through_python():
    x, w = tf.Variable(2.0), tf.Variable(3.0)
    programs = {
        "A": lambda: tf.py_function(lambda x, w: x * w, [x, w], tf.float32),
        "B": lambda: tf.py_function(lambda x, w: x * x, [x, w], tf.float32),
        "C": lambda: tf.py_function(lambda x: x * w, [x], tf.float32),
        "D": lambda: w * tf.py_function(lambda w: tf.constant(w.numpy()), [w], tf.float32),
    }
    gradients = {}
    for letter, program in programs.items():
        with tf.GradientTape() as tape:
            y = program()
        gradients[letter] = tape.gradient(y, w)
    return gradients


def count_traces():
    def call_and_count_traces(*given):
        f = tf.function(lambda x: x * x)
        for one in given:
            f(one)
        return f.experimental_get_tracing_count()

    return {
        "A": call_and_count_traces(*map(tf.constant, (1.0, 2.0, 1.0))),
        "B": call_and_count_traces(1.0, 2.0, 1.0),
        "C": call_and_count_traces(*map(tf.constant, ([1.0, 2.0], [1.0], [1, 2]))),
        "D": call_and_count_traces(*map(tf.constant, range(5)), 5),
    }


def list_smooth_lines():
    """The letters of the lines through which a gradient comes."""
    lines = {
        "A": tf.round,
        "B": lambda p: p,
        "C": lambda p: tf.where(p > 0.5, 1.0, 0.0),
        "D": lambda p: tf.sigmoid(20.0 * (p - 0.5)),
    }

    def has_gradient(line):
        w = tf.Variable([0.5, -0.25])
        with tf.GradientTape() as tape:
            p = tf.sigmoid(tf.linalg.matvec([[1.0, 2.0], [3.0, -1.0], [-1.0, 0.5]], w))
            loss = tf.reduce_mean((line(p) - [1.0, 0.0, 1.0]) ** 2)
        return tape.gradient(loss, w) is not None

    return [letter for letter, line in lines.items() if has_gradient(line)]


def compute_gradients_by_example():
    """Answer the four questions about JAX with tapes."""

    def loss(w, x):
        return (w * x - 1.0) ** 2

    w, xs, starts = tf.constant(2.0), tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([w, starts])
        losses, shared = loss(w, xs), loss(starts, 1.0)
        slope = tape.gradient(loss(w, xs[1]), w)
    first, second = ([0.0, 1.0, 0.0], [1.0, -1.0, 0.0])
    return {
        "A": tape.gradient(losses, w, output_gradients=tf.constant(first)),
        "B": tape.gradient(losses, w, output_gradients=tf.constant(second)),
        "C": tape.gradient(shared, starts),
        "D": tape.gradient(slope, w),
    }


PROGRAMS = {
    "appendix.9": compute_gradients_by_example,
    "14.2": list_smooth_lines,
    "10.1": compute_gradients_of_branches,
    "10.5": count_traces,
    "11.1": compute_gradients_through_python,
    "01.3": compute_gradients_by_watch_time,
    "appendix.1": compute_shapes_of_sums,
    "appendix.5": count_stored_numbers,
    "appendix.4": compute_gradient_of_weighted_picks,
    "03.1": run_two_steps,
    "03.5": list_watched_after_assign,
    "02.1": map_rows_to_inputs,
    "02.2": compute_adjoints,
    "02.4": compare_sweep_orders,
    "05.2": ask_tapes_twice,
    "05.1": count_tensors_held_by_tapes,
    "04.1": list_watched_by_a_comparison,
    "04.2": compute_gradients_in_three_ways,
    "06.1": compute_gradients_of_stopped_paths,
    "06.2": compute_gradients_in_nested_tapes,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_of_the_exercise_gives_its_answer(name):
    expected = collect_exercises(name.partition(".")[0])[name].expect
    given = PROGRAMS[name]()
    assert compare_answers(given, expected, rtol=1e-6, atol=0.0).is_right, given


def test_the_lines_that_a_traced_program_prints(capfd):
    assert dict(count_printed_lines(capfd)) == collect_exercises("10")["10.3"].expect
