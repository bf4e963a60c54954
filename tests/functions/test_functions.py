"""A ``tf.function`` runs Python once and its operations in each call, and refuses what it cannot record."""

import io
import threading

import numpy as np
import pytest

import minitape as tf


def read_number(value, dtype=None):
    return tf.constant(value, dtype)


class TestWhatRunsOnce:
    def test_python_runs_for_each_kind_of_arguments(self):
        ran = []

        @tf.function
        def f(x, scale=1.0, *more, flip=False, y=0.5):
            ran.append(1)
            total = x * scale + sum(more)
            return (y - total if flip else total), scale

        a, b, c = read_number(2.0), read_number([3.0, 4.0]), read_number(5.0, tf.float64)
        calls = [
            (lambda: f(a), 2.0), (lambda: f(b), [3.0, 4.0]), (lambda: f(a, 3.0), 6.0), (lambda: f(a, a), 4.0),
            (lambda: f(a, flip=True), -1.5), (lambda: f(a, y=a, flip=True), 0.0), (lambda: f(a, flip=True, y=a), 0.0),
            (lambda: f(y=a, flip=True, x=b), [-1.0, -2.0]), (lambda: f(a, 3.0, a, b), [11.0, 12.0]),
            (lambda: f(a, 3.0, b, a), [11.0, 12.0]), (lambda: f(c), 5.0), (lambda: f(2.0, a), 4.0),
            (lambda: f(2, a), 4.0),
        ]  # fmt: skip
        for _ in range(4):
            for call, want in calls:
                np.testing.assert_array_equal(call()[0].numpy(), want)
        assert len(ran) == f.experimental_get_tracing_count() == 11

    def test_keywords_of_one_order_are_not_those_of_another(self):
        f = tf.function(lambda **given: 10.0 * given["b"] + given["a"])
        one, two = read_number(1.0), read_number(2.0)
        for _ in range(3):
            assert f(a=one, b=two) == 21.0 and f(b=two, a=one) == 21.0 and f(b=one, a=two) == 12.0

    def test_structures_come_back_as_they_were_returned(self):
        @tf.function
        def f(x, pair):
            return {"z": x - pair["u"], "all": [x * 2.0, (pair["rest"][1], None)], "n": 3}

        for value in (1.0, 2.0):
            got = f(read_number(value), {"u": read_number(0.5), "rest": [read_number(1.0), read_number(7.0)]})
            assert got["z"] == value - 0.5 and got["all"][0] == 2 * value and got["n"] == 3
            assert type(got["all"][1]) is tuple and got["all"][1][0] == 7.0 and got["all"][1][1] is None

    def test_arrays_are_tensors_and_objects_themselves(self):
        class Model:
            def __init__(self, scale):
                self.scale = scale

            @tf.function
            def __call__(self, x):
                return x * self.scale

        double, triple = Model(2.0), Model(3.0)
        for _ in range(2):
            assert double(np.float32(1.5)) == 3.0 and triple(read_number(1.0)) == 3.0
        assert double.__call__.experimental_get_tracing_count() == 1

    def test_a_signature_is_checked(self):
        f = tf.function(lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None], tf.float32)])
        assert f([1.0, 2.0]) == 3.0 and f(read_number([1.0, 2.0, 3.0])) == 6.0
        with pytest.raises(TypeError, match="Can not cast"):
            f(read_number([[1.0]]))
        with pytest.raises(TypeError, match="missing a required argument"):
            f()

    def test_a_function_inside_is_rows_of_the_one_around_it(self):
        cube = tf.function(lambda x: x * x * x)
        f = tf.function(lambda x: cube(x) + cube(x + 1.0))
        for value in (1.0, 2.0):
            x = read_number(value)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert y == value**3 + (value + 1) ** 3
            assert tape.gradient(y, x) == 3 * value**2 + 3 * (value + 1) ** 2

    def test_eagerly_it_is_the_python_function(self):
        ran = []
        f = tf.function(lambda x: (ran.append(1), x + 1)[1])
        tf.config.run_functions_eagerly(True)
        try:
            assert f(read_number(1)) == 2 and f(read_number(1)) == 2 and len(ran) == 2
        finally:
            tf.config.run_functions_eagerly(False)


class TestWhatPythonBranchesOn:
    def test_another_branch_is_another_recording(self):
        ways = []

        @tf.function
        def f(x):
            if x > 1.0:
                ways.append("upper")
                return x * x
            ways.append("lower")
            return 3.0 - 2.0 * x

        for value in (3.0, -2.0, 4.0, 0.0):
            x = read_number(value)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert y == (value**2 if value > 1 else 3 - 2 * value)
            assert tape.gradient(y, x) == (2 * value if value > 1 else -2)
        assert ways == ["upper", "lower"]

    def test_each_number_of_turns_is_a_recording_and_32_are_the_most(self):
        @tf.function
        def f(n):
            k = read_number(0)
            while k < n:  # here
                k = k + 1
            return k

        for n in [*range(32), 5, 31]:
            assert f(read_number(n)) == n
        line = f.python_function.__code__.co_firstlineno + 3
        with pytest.raises(RuntimeError, match=rf"32 different paths .* line {line}\. Use tf.cond, tf.while_loop"):
            f(read_number(40))

    def test_nothing_is_done_twice_where_python_runs_again(self):
        out = io.StringIO()
        v = tf.Variable(0.0)

        @tf.function
        def f(x):
            tf.print("in", x, output_stream=out)
            v.assign_add(1.0)
            u = tf.random.uniform([])
            y = tf.py_function(lambda t: (seen.append(float(t)), t)[1], [u], tf.float32)
            if x * u > 0.0:
                tf.print("up", output_stream=out)
            picked = tf.boolean_mask(tf.stack([x, -x, u]), tf.stack([x, -x, u]) > 0.5)
            return u, y, picked

        seen = []
        tf.random.set_seed(4)
        found = [f(read_number(value)) for value in (1.0, -2.0, 0.25, 3.0, -0.25)]
        tf.random.set_seed(4)
        drawn = [float(tf.random.uniform([])) for _ in range(5)]
        assert [float(u) for u, _, _ in found] == [float(y) for _, y, _ in found] == seen == drawn
        assert v == 5.0
        want = [f"in {value}" + ("\nup" if x > 0 else "") for x, value in
                [(1, 1), (-2, -2), (0.25, 0.25), (3, 3), (-0.25, -0.25)]]  # fmt: skip
        assert out.getvalue().split("\n")[:-1] == "\n".join(want).split("\n")
        for (u, _, picked), x in zip(found, (1.0, -2.0, 0.25, 3.0, -0.25), strict=True):
            assert picked.numpy().tolist() == [t for t in (x, -x, float(u)) if t > 0.5]

    def test_python_may_decide_by_what_was_drawn(self):
        @tf.function
        def f():
            u = tf.random.uniform([])
            return (u, 1) if u > 0.5 else (u, 0)

        for _ in range(20):
            u, side = f()
            assert int(side) == (float(u) > 0.5)
        assert f.experimental_get_tracing_count() == 2

    @pytest.mark.parametrize(
        "ask", [lambda x: x.numpy(), float, int, np.asarray, lambda x: f"{x}", lambda x: [1, 2][x], lambda x: range(x)]
    )
    def test_values_are_refused_in_one_sentence(self, ask):
        def asks(x):
            ask(tf.cast(x, tf.int32))
            return x

        with pytest.raises(
            TypeError, match=r"In the traced function 'asks', Python asked for the value .*tf.py_function"
        ):
            tf.function(asks)(read_number(1.0))
        v = tf.Variable(1.0)
        with pytest.raises(TypeError, match="asked for the value"):
            tf.function(lambda: v.numpy())()

    def test_sizes_that_hang_on_values(self):
        @tf.function
        def f(x, i, n):
            return [
                x[i], x[i:n], x[:n], tf.boolean_mask(x, x > 1.0), x[x > 1.0], tf.where(x > 1.0), tf.range(n),
                tf.fill(tf.stack([n, 2]), x[0]), tf.reshape(x, tf.stack([n, -1])), tf.tile(x, tf.reshape(n, [1])),
                tf.repeat(x, n), tf.one_hot(i, n), tf.unique(tf.round(x))[0], tf.zeros(tf.stack([n])), tf.gather(x, i),
            ]  # fmt: skip

        rng = np.random.default_rng(2)
        for i, n in [(0, 2), (1, 4), (1, 2), (0, 4), (1, 4)]:
            x = read_number(rng.uniform(0, 2, 4).astype(np.float32))
            got, want = f(x, read_number(i), read_number(n)), f.python_function(x, read_number(i), read_number(n))
            for a, b in zip(got, want, strict=True):
                np.testing.assert_array_equal(a.numpy(), b.numpy())

    def test_a_gradient_passes_what_looks_at_values(self):
        f = tf.function(lambda x, n: tf.reduce_sum(tf.boolean_mask(x, x > 0.0) ** 2) + x[n] + tf.reduce_sum(x[:n]))
        for values, n in [([1.0, -2.0, 3.0], 1), ([4.0, 5.0, -6.0], 1), ([1.0, -2.0, -3.0], 2)]:
            x = read_number(values)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, read_number(n))
            want = [2 * max(t, 0.0) + (k == n) + (k < n) for k, t in enumerate(values)]
            np.testing.assert_allclose(tape.gradient(y, x), want)


class TestVariablesAndCaptures:
    def test_variables_are_read_and_assigned_in_each_call(self):
        v, w = tf.Variable(2.0), tf.Variable([1.0, 2.0])

        @tf.function
        def f(x):
            before = v * 1.0
            v.assign(v * x)
            v.assign_add(1.0)
            w[0].assign(v)
            return before, v * 10.0

        for _ in range(3):
            was = float(v)
            before, after = f(read_number(3.0))
            assert before == was and v == 3 * was + 1 and after == 10 * v and w[0] == v

    def test_a_variable_that_is_kept_is_made_once(self):
        class Counter(tf.Module):
            count = None

            @tf.function
            def __call__(self):
                if self.count is None:
                    self.count = tf.Variable(0)
                return self.count.assign_add(1)

        counter = Counter()
        assert [int(counter()) for _ in range(3)] == [1, 2, 3]

    @pytest.mark.parametrize("kept", [True, False])
    def test_a_variable_made_at_each_call_is_refused(self, kept):
        made = []

        @tf.function
        def f():
            v = tf.Variable(1.0)
            if kept:
                made.append(v)
            return v * 2.0

        with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on the first call"):
            f()

    def test_nothing_is_assigned_where_the_first_run_raises(self):
        v = tf.Variable(1.0)

        @tf.function
        def f(x):
            v.assign(5.0)
            return tf.gather(x, 7)

        with pytest.raises(tf.errors.InvalidArgumentError):
            f(read_number([1.0]))
        assert v == 1.0

    def test_a_tensor_from_outside_gets_a_gradient(self):
        c = read_number([2.0, 3.0])
        f = tf.function(lambda x: x * c * c)
        for _ in range(3):
            with tf.GradientTape() as tape:
                tape.watch(c)
                y = f(read_number(5.0))
            np.testing.assert_allclose(tape.gradient(y, c), [20.0, 30.0])

    def test_a_python_number_is_frozen(self):
        factor = 2.0
        f = tf.function(lambda x: x * factor)
        assert f(read_number(3.0)) == 6.0
        factor = 5.0
        assert f(read_number(3.0)) == 6.0 and f(read_number([3.0])) == [15.0]


class TestGradients:
    def test_a_step_with_its_tape_inside(self):
        v = tf.Variable(8.0)

        @tf.function
        def learn():
            with tf.GradientTape() as tape:
                loss = (v - 3.0) ** 2
            v.assign_sub(0.25 * tape.gradient(loss, v))
            return loss

        assert [float(learn()) for _ in range(3)] == [25.0, 6.25, 1.5625] and v == 3.625

    def test_any_order(self):
        f = tf.function(lambda x: tf.sin(x) * x**3)
        x = read_number(0.7, tf.float64)
        for _ in range(2):
            with tf.GradientTape() as a:
                a.watch(x)
                with tf.GradientTape() as b:
                    b.watch(x)
                    with tf.GradientTape() as c:
                        c.watch(x)
                        y = f(x)
                    first = c.gradient(y, x)
                second = b.gradient(first, x)
            s, k, t = np.sin(0.7), np.cos(0.7), 0.7
            np.testing.assert_allclose(first, k * t**3 + 3 * s * t**2)
            np.testing.assert_allclose(second, -s * t**3 + 6 * k * t**2 + 6 * s * t)
            np.testing.assert_allclose(a.gradient(second, x), -k * t**3 - 9 * s * t**2 + 18 * k * t + 6 * s)

    def test_a_gradient_of_ones_own(self):
        called = []

        @tf.custom_gradient
        def clipped(x):
            def grad(g):
                called.append(1)
                return g * tf.cast(x < 1.0, tf.float32) * 10.0

            return x * 2.0, grad

        f = tf.function(lambda x: clipped(x) * 3.0)
        for value, want in [(0.5, 30.0), (2.0, 0.0), (0.1, 30.0)]:
            x = read_number(value)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert y == np.float32(value) * 6 and tape.gradient(y, x) == want
        assert len(called) == 1

    def test_jacobians_and_forward_mode(self):
        f = tf.function(lambda x: x * x * tf.reduce_sum(x))
        x = read_number([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_allclose(tape.jacobian(y, x), [[7.0, 1.0], [4.0, 16.0]])
        with tf.autodiff.ForwardAccumulator(x, read_number([1.0, 0.0])) as accumulator:
            y = f(x)
        np.testing.assert_allclose(accumulator.jvp(y), [7.0, 4.0])

    @pytest.mark.parametrize("name", ["jacobian", "batch_jacobian"])
    def test_a_jacobian_inside_is_that_of_each_call(self, name):
        @tf.function
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x * x
            return getattr(tape, name)(y, x)

        for value in ([[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]):
            x = tf.constant(value)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            np.testing.assert_allclose(y.numpy().reshape(2, 2), np.diag(3 * np.square(value[0])))
            np.testing.assert_allclose(tape.gradient(y, x), 6 * np.array(value))

    def test_a_jacobian_inside_an_own_gradient(self):
        v = tf.Variable(2.0)

        @tf.custom_gradient
        def doubled(x):
            def grad(dy, variables):
                with tf.GradientTape() as tape:
                    y = v * x
                return None, [2.0 * tf.reduce_sum(dy * tape.jacobian(y, v)) for v in variables]

            return v * x, grad

        f = tf.function(doubled)
        for value in ([1.0, 2.0], [3.0, 5.0]):
            with tf.GradientTape() as tape:
                y = f(tf.constant(value))
            assert tape.gradient(y, v) == 2 * sum(value)

    @pytest.mark.parametrize(
        "f",
        [
            tf.linalg.det,
            tf.linalg.inv,
            lambda x: tf.linalg.solve(x, 2.0 * x[:, :1]),
            lambda x: tf.stack([x]),
            lambda x: tf.unstack(x[:1])[0],
            lambda x: tf.split(x, 1)[0],
        ],
        ids="det inv solve stack unstack split".split(),
    )
    def test_matrices_that_a_function_makes(self, f):
        """The recording of a gradient contains only the shapes of inner values, and a list with one result stays a
        list."""
        for value in ([[2.0, 1.0], [1.0, 3.0]], [[4.0, 1.0], [2.0, 5.0]]):
            found = []
            for run in (lambda x: f(x * x), tf.function(lambda x: f(x * x))):
                x = tf.constant(value)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = run(x)
                found.append((y.numpy(), tape.gradient(y, x).numpy()))
            np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-5)
            np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-5, atol=1e-7)

    def test_none_where_nothing_connects(self):
        f = tf.function(lambda x, y: (x * 2.0, tf.round(y)))
        x, y = read_number(1.0), read_number(2.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            a, b = f(x, y)
        assert tape.gradient(a, x) == 2.0 and tape.gradient([a, b], y) is None


class TestLeaks:
    @pytest.mark.parametrize(
        "use",
        [
            lambda t: t + 1.0, lambda t: 1.0 + t, lambda t: read_number(1.0) * t, tf.sin, lambda t: tf.stack([t, t]),
            lambda t: t.numpy(), float, np.asarray, bool, lambda t: tf.function(lambda: t * 2.0)(), tf.print,
            lambda t: tf.Variable(1.0).assign(t), tf.Variable, lambda t: tf.cond(t > 0.0, lambda: 1, lambda: 2),
            lambda t: tf.function(lambda x: x)(t), lambda t: [*tf.stack([t])],
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("which", range(3))
    def test_a_tensor_of_the_first_run_is_refused_wherever_it_is_used(self, use, which):
        leaked = []

        @tf.function
        def f(x):
            leaked.extend([x, x * 2.0, tf.constant(2.0) * 3.0])
            return x * 1.0

        assert f(read_number(1.0)) == 1.0
        with pytest.raises((TypeError, ValueError), match=r"is out of scope.* function 'f'"):
            use(leaked[which])
        assert f(read_number(2.0)) == 2.0

    def test_so_is_one_of_a_branch_and_one_in_an_init_scope(self):
        leaked = []

        @tf.function
        def f(x):
            tf.cond(x > 0.0, lambda: (leaked.append(x * 2.0), x)[1], lambda: -x)
            return leaked[0] + 1.0

        with pytest.raises(TypeError, match="is out of scope"):
            f(read_number(1.0))

        @tf.function
        def g(x):
            with tf.init_scope():
                return x + 1.0

        with pytest.raises(TypeError, match="is out of scope"):
            g(read_number(1.0))

    def test_what_the_function_took_from_outside_stays_what_it_is(self):
        c = read_number([1.0, 2.0])
        f = tf.function(lambda x: x + c)
        f(read_number(1.0))
        assert (c + 1.0).numpy().tolist() == [2.0, 3.0]


class TestPythonInside:
    def test_py_function_runs_in_each_call_once(self):
        seen = []
        f = tf.function(lambda x: tf.py_function(lambda t: (seen.append(float(t)), t * t)[1], [x], tf.float32) * 2.0)
        for value in (1.0, 3.0, 4.0):
            x = read_number(value)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert y == 2 * value**2 and tape.gradient(y, x) == 4 * value
        assert seen == [1.0, 3.0, 4.0]

    def test_it_sees_what_was_assigned_so_far(self):
        v, seen = tf.Variable(0.0), []

        @tf.function
        def f():
            v.assign_add(1.0)
            return tf.py_function(lambda: seen.append(float(v)), [], [])

        f(), f()
        assert seen == [1.0, 2.0]

    def test_numpy_function(self):
        f = tf.function(lambda x: tf.numpy_function(np.sinh, [x], tf.float32) + 1.0)
        for value in (0.0, 1.0):
            np.testing.assert_allclose(f(read_number(value)), np.sinh(value) + 1.0, 1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError):  # The declared dtype is different.
            tf.function(lambda x: tf.numpy_function(np.float64, [x], tf.float32))(read_number(1.0))


def test_six_threads():
    v = [tf.Variable(0.0) for _ in range(6)]

    @tf.function
    def f(variable, x):
        for _ in range(3):
            variable.assign_add(x)
        if x > 2.5:
            return variable * 1.0
        return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y + x), [0, variable * 0.0])[1]

    found = {}

    def work(k):
        x = read_number(float(k))
        total = []
        for _ in range(20):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(v[k], x)
            total.append((float(y), tape.gradient(y, x)))
        found[k] = total

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(6):
        assert v[k] == 60.0 * k
        for turn, (y, g) in enumerate(found[k]):
            assert y == (3.0 * k * (turn + 1) if k > 2.5 else 5.0 * k)
            assert (g is None) == (k > 2.5) and (g is None or g == 5.0)


def test_memory_of_the_first_run():
    """Only the arrays of a long chain that a later row can read stay alive."""
    import tracemalloc

    def f(x):
        for _ in range(50):
            x = tf.sin(x) + 1.0
        return tf.reduce_sum(x)

    x = tf.constant(np.ones(100_000, np.float32))
    f(x)
    tracemalloc.start()
    traced = tf.function(f)
    traced(x)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 400_000 and held < 400_000  # 50 arrays would be 20 MB


def test_effects_of_an_error_in_a_first_run():
    """A call that raises an error leaves nothing behind, so the next call works."""

    @tf.function
    def f(x):
        if x < 0.0:
            raise ValueError("below")
        return x

    with pytest.raises(ValueError, match="below"):
        f(read_number(-1.0))
    assert f(read_number(2.0)) == 2.0
    with pytest.raises(ValueError, match="below"):
        f(read_number(-1.0))
    with tf.GradientTape() as tape:
        x = tf.Variable(3.0)
        y = f(x * x)
    assert tape.gradient(y, x) == 6.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x,
        lambda x: tf.sin(x) * tf.exp(x),
        lambda x: tf.cond(x > 1.0, lambda: x * x * x, lambda: x),
        lambda x: tf.stack([x, x * x])[1],
    ],
    ids=["product", "two factors", "cond", "stack"],
)
def test_a_function_asks_a_tape_of_its_caller_for_the_gradient_of_another_function(function):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.function(function)(x)
    slope = tape.gradient(y, x)
    scale = tf.function(lambda seed: tape.gradient(y, x, output_gradients=seed * seed))
    for seed in (1.0, 2.0, -3.0):  # The second call and all later ones repeat the rows of the first.
        np.testing.assert_allclose(scale(tf.constant(seed)), seed * seed * slope, rtol=1e-6)
    seed = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(seed)
        scaled = scale(seed)
    np.testing.assert_allclose(outer.gradient(scaled, seed), 4.0 * slope, rtol=1e-6)


@pytest.mark.parametrize(
    "compute", [tf.range, lambda x: tf.one_hot([0], 2, x, 0.0), lambda x: tf.one_hot([0], 2, 1.0, x)]
)
def test_no_gradient_flows_through_ranges_and_one_hot_vectors(compute):
    x = tf.Variable(3.0)
    f = tf.function(compute)
    for _ in range(2):  # The second call repeats the rows of the first.
        with tf.GradientTape(persistent=True) as tape:
            y = f(x)
            z = tf.reduce_sum(y) * x
        assert tape.gradient(y, x) is None and tape.gradient(z, x) == tf.reduce_sum(y)
