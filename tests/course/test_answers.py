"""The answer keys of lessons 2 to 6, 10, 14 and the appendix are true: each program of an exercise is run, and gives
what its key expects.
"""

import sys
from collections import Counter

import pytest

import minitape as tf
from minitape.course.checker import exercises_of
from minitape.course.compare import compare


def gradients(result):
    """Numbers, or None, as the keys write them."""
    return [None if g is None else float(g) for g in result]


def outcome(function):
    """What a program gives: "works", or the name of the error it raises."""
    try:
        function()
    except Exception as error:
        return type(error).__name__
    return "works"


def shapes_of_sums():
    pairs = {"A": ([4, 5], [5]), "B": ([4, 5], [4]), "C": ([4, 1], [1, 5]), "D": ([3, 4, 5], [4, 1])}

    def shape(left, right):
        try:
            return tuple((tf.ones(left) + tf.ones(right)).shape)
        except tf.errors.InvalidArgumentError:
            return "error"

    return {name: shape(*pair) for name, pair in pairs.items()}


def changed_variable():
    t = tf.constant([1, 2])
    z = tf.Variable(t)
    z.assign_add([10, 20])
    z[1].assign(0)
    return {"t": t, "z": z}


def two_steps():
    w = tf.Variable(1.0)
    held = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = (w - 4.0) ** 2
        w.assign_sub(0.25 * tape.gradient(loss, w))
        held.append(w.numpy())
    return {"after one step": held[0], "after two steps": held[1]}


def watched_or_not():
    def program(kind, first, then):
        x = kind(3.0)
        with tf.GradientTape() as tape:
            y = first(tape, x)
        y = then(y, x)
        return tape.gradient(y, x)

    def late(tape, x):
        u = x * x
        tape.watch(x)
        return u * x

    def early(tape, x):
        tape.watch(x)
        return x + 1.0

    stays = lambda y, x: y  # noqa: E731
    return [
        program(tf.constant, early, lambda y, x: x * x),
        program(tf.Variable, lambda tape, x: x * x + 1.0, stays),
        program(tf.constant, late, stays),
    ]


def assignments():
    def item():
        tf.Variable([1.0, 2.0])[0] = 5.0

    return {
        "A": outcome(lambda: tf.Variable([1.0, 2.0]).assign([3, 4])),
        "B": outcome(lambda: tf.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0])),
        "C": outcome(item),
        "D": outcome(lambda: tf.Variable([1, 2]).assign([1.5, 2.0])),
    }


def watched_after_assign():
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(2.0, name="b", trainable=False)
    c = tf.Variable(3.0, name="c")
    d = tf.Variable(4.0, name="d")
    total = a + c
    c.assign(5.0)
    with tf.GradientTape() as tape:
        total = total + d * b
    return [variable.name for variable in tape.watched_variables()]


def rows_of_a_list():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        u = x * x
        v = u + x
        v * u
    rows = tf.snapshot(tape)["rows"]
    return {row["row"]: row["inputs"] for row in rows[1:]}


def adjoints_of_a_list():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        u = x * x
        v = u + x
        y = v * u
    return dict(zip("xuvy", gradients(tape.gradient(y, [x, u, v, y])), strict=True))


def orders_of_a_sweep():
    """A sweep in each order over u = x * x, v = x + x, y = u * v, beside the tape's gradient."""
    value = 3.0
    rows = {1: ("*", 0, 0), 2: ("+", 0, 0), 3: ("*", 1, 2)}
    values = [value, value * value, value + value, value * value * (value + value)]
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = (x * x) * (x + x)
    truth = float(tape.gradient(y, x))

    def sweep(order):
        adjoints = [0.0, 0.0, 0.0, 1.0]
        for row in order:
            operation, i, j = rows[row]
            adjoints[i] += adjoints[row] * (values[j] if operation == "*" else 1.0)
            adjoints[j] += adjoints[row] * (values[i] if operation == "*" else 1.0)
        return adjoints[0]

    orders = {"A": (3, 2, 1), "B": (3, 1, 2), "C": (2, 3, 1), "D": (1, 2, 3)}
    return {name: sweep(order) == truth for name, order in orders.items()}


def used_up_tapes():
    def program(persistent, *calls):
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
        "A": program(False, ("y", "x"), ("z", "x")),
        "B": program(True, ("y", "x"), ("z", "x")),
        "C": program(False, ("both", "x")),
        "D": program(False, ("y", "other"), ("y", "x")),
    }


def bytes_of(tape):
    return tf.snapshot(tape)["tapes"][0]["bytes"]


def held(program, x):
    with tf.GradientTape() as tape:
        program(x)
    return bytes_of(tape)


def tensors_held():
    x = tf.Variable(tf.zeros([100, 100]))
    programs = {
        "A": lambda x: tf.reduce_sum(5.0 * x),
        "B": lambda x: tf.reduce_sum(x * x),
        "C": lambda x: tf.reduce_sum(tf.sin(tf.sin(x))),
        "D": lambda x: tf.reduce_sum(tf.exp(tf.exp(x))),
    }
    return {name: held(program, x) // 40_000 for name, program in programs.items()}


def watched_by_hand():
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(2.0, name="b", trainable=False)
    c = tf.Variable(3.0, name="c")
    d = tf.Variable(4.0, name="d", trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(d)
        y = a * b * 5.0
    y * c
    return [variable.name for variable in tape.watched_variables()]


def three_ways_to_watch():
    def program(on_its_own, by_hand):
        values = {"v": tf.Variable(2.0), "k": tf.Variable(3.0, trainable=False), "c": tf.constant(4.0)}
        with tf.GradientTape(watch_accessed_variables=on_its_own) as tape:
            tape.watch([values[name] for name in by_hand])
            y = values["v"] * values["k"] * values["c"]
        return gradients(tape.gradient(y, list(values.values())))

    return {"A": program(True, ""), "B": program(True, "k"), "C": program(False, "c")}


def stopped_paths():
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        product = x * tf.stop_gradient(y)
        third = x * x * tf.stop_gradient(x)
        last = tf.stop_gradient(x * y) + x
    wanted = {"A": (product, x), "B": (product, y), "C": (third, x), "D": (last, x)}
    return {name: tape.gradient(*pair) for name, pair in wanted.items()}


def stopped_in_nested_tapes():
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


def ways_that_ran():
    def way(program, value):
        x = tf.Variable(value)
        with tf.GradientTape() as tape:
            y = program(x)
        return tape.gradient(y, x)

    def doubled(x):
        y = x
        while y < 10.0:
            y = 2.0 * y
        return y

    return [
        way(lambda x: x * x if x > 2.0 else 5.0 * x, 1.0),
        way(doubled, 1.0),
        way(lambda x: tf.constant(7.0) if x > 0.0 else x, 1.0),
        way(lambda x: tf.where(x > 0.0, x * x, 0.0), -1.0),
    ]


def lines_printed(capfd):
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


def times_traced():
    def traced(*given):
        f = tf.function(lambda x: x * x)
        for one in given:
            f(one)
        return f.experimental_get_tracing_count()

    return {
        "A": traced(*map(tf.constant, (1.0, 2.0, 1.0))),
        "B": traced(1.0, 2.0, 1.0),
        "C": traced(*map(tf.constant, ([1.0, 2.0], [1.0], [1, 2]))),
        "D": traced(*map(tf.constant, range(5)), 5),
    }


def smooth_answers():
    """The letters of the lines through which a gradient comes."""
    lines = {
        "A": tf.round,
        "B": lambda p: p,
        "C": lambda p: tf.where(p > 0.5, 1.0, 0.0),
        "D": lambda p: tf.sigmoid(20.0 * (p - 0.5)),
    }

    def arrives(line):
        w = tf.Variable([0.5, -0.25])
        with tf.GradientTape() as tape:
            p = tf.sigmoid(tf.linalg.matvec([[1.0, 2.0], [3.0, -1.0], [-1.0, 0.5]], w))
            loss = tf.reduce_mean((line(p) - [1.0, 0.0, 1.0]) ** 2)
        return tape.gradient(loss, w) is not None

    return [letter for letter, line in lines.items() if arrives(line)]


PROGRAMS = {
    "14.2": smooth_answers, "10.1": ways_that_ran, "10.5": times_traced, "01.3": watched_or_not,
    "appendix.1": shapes_of_sums, "appendix.4": lambda: tf.gather(tf.constant([10, 20, 30, 40, 50]), [4, 0, 0]),
    "03.1": two_steps, "03.3": changed_variable, "appendix.6": assignments, "03.5": watched_after_assign,
    "02.1": rows_of_a_list, "02.2": adjoints_of_a_list, "02.4": orders_of_a_sweep, "05.1": used_up_tapes,
    "05.3": tensors_held, "04.1": watched_by_hand, "04.2": three_ways_to_watch,
    "06.1": stopped_paths, "06.2": stopped_in_nested_tapes,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_of_the_exercise_gives_its_answer(name):
    expected = exercises_of(name.partition(".")[0])[name].expect
    given = PROGRAMS[name]()
    assert compare(given, expected, rtol=1e-6, atol=0.0).right, given


def test_the_lines_that_a_traced_program_prints(capfd):
    assert dict(lines_printed(capfd)) == exercises_of("10")["10.3"].expect
