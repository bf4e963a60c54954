"""AutoGraph and control flow: each function gives in a graph what plain Python gives eagerly."""

import linecache
import sys

import numpy as np
import pytest

import minitape as tf


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def search(n):
    total = 0
    for i in tf.range(n):
        if i % 2 == 0:
            continue
        for j in tf.range(i):
            if j > 3:
                break
            total += j
        if total > 30:
            break
    return total


def sign(n):
    if n > 0:
        if n > 10:
            return 2
        return 1
    if n < 0:
        return -1
    return 0


def logic(n):
    small = (n < 5 and n > 0) or n == 20
    return 1 if small and not n == 3 else 0  # noqa: SIM201 - `not` is what is tested


def tuples(n):
    a, b = 0, 1
    for _ in tf.range(n):
        a, b = b, a + b
    return a


def chained(n):
    return 1 if 0 < n < 5 else 0


def helper(n):
    if n > 3:
        return n * 2
    return n


def calls(n):
    twice = lambda k: helper(k) + helper(k + 1)  # noqa: E731 - a lambda is what is tested
    return twice(n)


@pytest.mark.parametrize("f", [collatz, search, sign, logic, tuples, chained, calls], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 2, 3, 6, 11, 20])
def test_same_as_python(f, n):
    assert tf.function(f)(tf.constant(n)).numpy() == int(f(tf.constant(n)))


def power(x, n):
    y = tf.ones_like(x)
    for _ in tf.range(n):
        y = y * x
    return y


def squares(x, n):
    while x < 50.0:
        x = x * x
    return x


def branch(x, n):
    if x > 1.0:
        return x * x * x
    return x


def through_array(x, n):
    array = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        array = array.write(i, x ** tf.cast(i, tf.float32))
    return tf.reduce_sum(array.stack())


@pytest.mark.parametrize("f", [power, squares, branch, through_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize("value", [0.5 + 1.0, 3.0])
def test_first_and_second_gradients_are_those_of_python(f, value):
    def gradients(g):
        x = tf.constant(value)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = g(x, tf.constant(4))
            first = inner.gradient(y, x)
        return [float(v) for v in (y, first, outer.gradient(first, x))]

    np.testing.assert_allclose(gradients(tf.function(f)), gradients(f), rtol=1e-6)


def function_of(text, path, monkeypatch):
    """``f`` of a module with this text."""
    (path / "case_module.py").write_text(f"import minitape as tf\n\n\n{text}\n")
    monkeypatch.syspath_prepend(path)
    monkeypatch.delitem(sys.modules, "case_module", raising=False)
    import case_module

    return case_module.f


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
@pytest.mark.parametrize(
    "text",
    [
        "def f[T](x: T) -> T:\n    return x if x > 0 else -x",
        "def f[T: tf.Tensor](x: T):\n    made = list[T]()\n    if x > 0:\n        made.append(x)\n    return tf.abs(x)",
        "class C[T]:\n    def m[U](self, x: T, y: U = 0):\n        type X = T\n        if x < 0:\n            x = "
        "-x\n        return x\n\n\n"
        "f = C().m",
    ],
)
def test_functions_with_type_parameters(text, tmp_path, monkeypatch):
    f = tf.function(function_of(text, tmp_path, monkeypatch))
    assert [f(tf.constant(v)).numpy() for v in (-2.0, 3.0)] == [2.0, 3.0]


class OwnError(Exception):
    pass


class OwnValueError(ValueError):
    pass


class PairError(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OwnError("no"), "OwnError"),
        (ValueError("no"), "ValueError"),
        (OwnValueError("no"), "StagingError"),
        (PairError(1, 2), "StagingError"),
        (ZeroDivisionError("no"), "StagingError"),
        (KeyError("no"), "KeyError"),
    ],
)
def test_errors_keep_their_class_where_it_takes_a_text(error, seen):
    @tf.function
    def f(x):
        raise error

    with pytest.raises(Exception, match="in user code") as found:
        f(tf.constant(1.0))
    assert type(found.value).__name__ == seen


def one_branch(x):
    if x > 0:
        y = x
    return y + 1


def no_value_before(x):
    while x > 0:
        if x > 3:
            y = x
        x -= 1
    return y


def two_dtypes(x):
    def inner():
        if x > 0:
            y = x
        else:
            y = tf.constant(1)
        z = x + 1
        return y, z

    return inner()


@pytest.mark.parametrize(
    ("function", "lines"),
    [
        (one_branch, [("one_branch", "if x > 0:")]),
        (no_value_before, [("no_value_before", "while x > 0:")]),
        (two_dtypes, [("two_dtypes", "return inner()"), ("inner", "if x > 0:")]),
    ],
)
def test_a_name_that_a_statement_leaves_without_a_value_is_told_with_its_line(function, lines):
    """As in TensorFlow, and not with the line that uses the name."""
    with pytest.raises((TypeError, ValueError), match="in user code") as found:
        tf.function(function)(tf.constant(3.0))
    told = [line.strip() for line in str(found.value).split("\n")]
    assert [told[i + 1] for i, line in enumerate(told) if line.startswith("File")] == [line for _, line in lines]
    assert [line.rpartition(", in ")[2] for line in told if line.startswith("File")] == [
        f"{name}  *" for name, _ in lines
    ]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "graph"])
def test_control_flow_functions(wrap):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = wrap(lambda t: tf.cond(t > 0.0, lambda: t * t, lambda: -t))(x)
        b = wrap(lambda t: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * t), (tf.constant(0), t))[1])(x)
        c = wrap(lambda t: tf.switch_case(tf.constant(1), [lambda: t, lambda: 5.0 * t]))(x)
        d = wrap(lambda t: tf.reduce_sum(tf.map_fn(lambda u: u * t, tf.constant([1.0, 2.0]))))(x)
        e = wrap(lambda t: tf.foldl(lambda s, u: s * u, tf.stack([t, 2.0 * t])))(x)
        f = wrap(lambda t: tf.reduce_sum(tf.scan(lambda s, u: s * u, tf.stack([t, t, t]))))(x)
    values = [(9.0, 6.0), (81.0, 108.0), (15.0, 5.0), (9.0, 3.0), (18.0, 12.0), (39.0, 34.0)]
    for y, (value, gradient) in zip((a, b, c, d, e, f), values, strict=True):
        assert float(y) == value
        assert float(tape.gradient(y, x)) == gradient


def test_tensor_array_reads_once():
    array = tf.TensorArray(tf.int32, size=2).write(0, 10)
    assert array.read(0).numpy() == 10
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
        array.read(0)
    with pytest.raises(tf.errors.OutOfRangeError, match="not resizeable"):
        array.write(2, 1)


def test_elements_of_a_tensor_array_have_one_shape_in_a_graph():
    def second(x):
        return tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x[:1]).write(1, x).read(1)

    x = tf.constant([1.0, 2.0, 3.0])
    assert second(x).numpy().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="holds elements of one shape: it has \\(1,\\), got \\(3,\\)"
    ):
        tf.function(second)(x)


def test_ragged_and_sparse_arguments_of_a_function_are_refused():
    f = tf.function(lambda x: x)
    for value in (tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.sparse.from_dense([[0.0, 1.0]])):
        with pytest.raises(TypeError, match=f"a tf.function takes no {type(value).__name__}"):
            f(value)


def with_cases(x):
    match x:
        case 1 if x > 0:
            return x
    if x > 0:
        return -x
    return x


def test_statements_that_are_left_as_they_are():
    assert tf.function(with_cases)(1).numpy() == 1
    with pytest.raises(TypeError, match="may be using an unsupported feature"):
        tf.function(with_cases)(tf.constant(2))


def test_a_function_without_source_does_not_stand_for_one_that_reads_the_same(monkeypatch):
    source = "def f(x):\n    if x > 0:\n        return x\n    return -x\n"
    hidden, cell = {}, {}
    exec(compile(source, "<no source>", "exec"), hidden)
    with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
        tf.function(hidden["f"])(tf.constant(-1.0))
    monkeypatch.setitem(linecache.cache, "<a cell>", (len(source), None, source.splitlines(True), "<a cell>"))
    exec(compile(source, "<a cell>", "exec"), cell)
    assert hidden["f"].__code__ == cell["f"].__code__  # Python does not look at the file
    assert tf.function(cell["f"])(tf.constant(-1.0)).numpy() == 1.0


@pytest.mark.parametrize(
    "wrong", [lambda p: tf.equal(p, tf.constant(1)), lambda p: tf.equal(tf.reshape(p, [-1, 2]), tf.reshape(p, [-1, 3]))]
)
def test_a_loop_that_would_not_end_on_stand_ins_is_given_up(wrong):
    """What does not fit is tried on zeros, which never reach nine; the loop itself ends for what it is given."""

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(p):
        while tf.reduce_max(p) < 9.0:
            p = p * 2.0
        return wrong(p)

    with pytest.raises((TypeError, ValueError)):
        f(tf.constant([1.0, 2.0]))


def count_of(graph, op):
    """How many operations of a kind are in a graph and in the bodies of its loops and branches."""
    found = 0
    for call in graph.calls:
        bodies = [call.attrs.get("test"), call.attrs.get("body"), *call.attrs.get("bodies", ())]
        found += (call.primitive.op == op) + sum(count_of(b.graph, op) for b in bodies if hasattr(b, "feeds"))
    return found


def test_a_condition_that_could_fail_runs_only_where_python_runs_it():
    @tf.function
    def f(x, i):
        while i < tf.size(x) and 10 // x[i] > 1:
            i += 1
        return i

    assert int(f(tf.constant([1, 2, 3]), tf.constant(0))) == 3
    assert int(f(tf.constant([1, 9, 3]), tf.constant(0))) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        f(tf.constant([1, 0]), tf.constant(0))


@pytest.mark.parametrize(
    "name",
    [
        "values",
        "names",
        "item",
        "get",
        "put",
        "test",
        "body",
        "then",
        "_ag_values_1",
        "_ag_item_2",
        "_ag_body_1",
        "_ag_get_3",
        "_ag_set_4",
    ],
)
def test_no_name_of_the_users_clashes_with_ours(name, tmp_path):
    program = f"""
import minitape as tf

@tf.function
def f(x, {name}):
    for k in tf.range(3):
        if x > 0.0:
            {name} = {name} + x
        else:
            {name} = {name} - x
    while {name} < 10.0:
        {name} = {name} * 2.0
    return {name}
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    space = {}
    exec(compile(program, str(path), "exec"), space)
    assert float(space["f"](tf.constant(2.0), tf.constant(1.0))) == 14.0
    assert float(space["f"](tf.constant(-2.0), tf.constant(-1.0))) == 10.0
