"""What the bridge to JAX finds in a program's text, trees and steps, on both sides of each decision."""

import linecache
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from minitape.bridges.jax import optax_checks, program_origin, repeated_statistics, static_fields, transforms  # noqa: E402
from tests.explain.hand_built_runs import build_rows, build_run  # noqa: E402


def with_text(text):
    file = f"jax program decisions {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return file


# -- rows of Jacobians and examples of vmap --------------------------------------------------------

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(("jacobian", "source", "row"), [
    (np.ones((3, 2)), np.ones(2), 0), (np.array([[1.0, 2.0], [NAN, 1.0]]), np.ones(2), 1),
    (np.array([[1.0, INF], [NAN, 1.0]]), np.ones(2), 0), (np.array([1.0, 1.0, NAN]), np.float64(1.0), 2),
    ([np.ones((2, 2)), np.array([[1.0, 1.0], [1.0, NAN]])], np.ones(2), 3),
    ([np.ones((2, 3)), np.array([[1.0], [NAN]])], [np.ones(3), np.ones(1)], 1),
    ([np.ones((2, 3)), np.ones((2, 1)), np.array([[1.0] * 3, [NAN] * 3]), np.ones((2, 1))],
     [np.ones(3), np.ones(1)], 3),
])  # fmt: skip
def test_the_first_row_of_a_jacobian_that_is_not_finite_is_shown(jacobian, source, row) -> None:
    assert transforms.find_first_nonfinite_or_first_row(jacobian, source) == row


@pytest.mark.parametrize(("results", "out_axes", "example"), [
    (np.ones((3, 2)), 0, 0), (np.array([[1.0], [1.0], [NAN]]), 0, 2), (np.array([[1.0, INF, NAN]]), 1, 1),
    ({"a": np.array([1.0, 1.0, NAN]), "b": np.array([1.0, NAN, 1.0])}, 0, 1),
    ((np.array([1.0, NAN]), np.array([NAN, 1.0])), (0, None), 1), ((np.array([1, 2]), np.array([1.0, NAN])), 0, 1),
])  # fmt: skip
def test_the_first_example_that_is_not_finite_is_shown(results, out_axes, example) -> None:
    assert transforms.find_nonfinite_or_first_example(results, out_axes) == example


@pytest.mark.parametrize(("axes", "expected"), [
    (0, ({"a": 0, "b": 0}, 0)), ((1, None), ({"a": 1, "b": 1}, None)), ([1, 0], ({"a": 1, "b": 1}, 0)),
    (({"a": 1, "b": None}, 0), ({"a": 1, "b": None}, 0)),
])  # fmt: skip
def test_an_axis_applies_to_the_tree_at_its_position(axes, expected) -> None:
    tree = ({"a": 2.0, "b": 3.0}, 4.0)
    assert transforms.map_along_axes(lambda axis, leaf: (axis, leaf), axes, tree) == jax.tree_util.tree_map(
        lambda leaf, axis: (axis, leaf), tree, expected
    )


# -- static fields ---------------------------------------------------------------------------------


@dataclass
class Scale:
    """A module with a static field, which may be any object."""

    factor: object = field(default=1.0, metadata={"static": True})
    bias: object = 0.0


@dataclass
class Offset:
    """A module whose field is static for Flax."""

    value: object = field(default=1.0, metadata={"pytree_node": False})


FLOATS = np.ones(2)


def nest(value, depth):
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(("value", "names"), [
    (Scale(FLOATS), ["Scale.factor"]), (Scale(2.0), []), (Scale(np.ones(2, int)), []), (Scale(1.0, FLOATS), []),
    (Offset(FLOATS), ["Offset.value"]), (Scale(1.0, Offset(FLOATS)), ["Offset.value"]), (Scale, []), (FLOATS, []),
    ([1.0, {"a": (Scale(FLOATS), Offset(FLOATS))}], ["Scale.factor", "Offset.value"]), (Scale(Offset(FLOATS)), []),
    (nest(Offset(FLOATS), 8), ["Offset.value"]), (nest(Offset(FLOATS), 9), []),
])  # fmt: skip
def test_an_array_in_a_static_field_gets_no_gradient(value, names) -> None:
    found = static_fields._iter_classes_and_names_of_static_arrays(value)
    assert [f"{owner.__name__}.{name}" for owner, name in found] == names


def test_the_line_that_declares_the_static_field_is_blamed() -> None:
    calls = [SimpleNamespace(args=(value,)) for value in (Scale(FLOATS), Offset(FLOATS), Scale())]
    answers = [static_fields.explain_array_in_static_field(SimpleNamespace(recorded_call=call)) for call in calls]
    assert [answer and answer.code.partition(":")[0] for answer in answers] == ["factor", "value", None]


# -- keys and statistics that every step begins with -----------------------------------------------

LOOP = """def noise(x, key):
    return jax.random.normal(key, x.shape)
def features(x):
    key = jax.random.key(0)
    return jax.random.normal(key, (3,))
def loss(w, key):
    return w * noise(w, key)
key = jax.random.key(1)
for step in range(9):
    g = jax.grad(loss)(w, key)
    h = jax.grad(loss)(w, jax.random.key(2))
def like(x):
    key = jax.random.key(0)
    return jax.random.normal(key, x.shape)
"""
STACKS = {  # The lines that led to the random function, the number of them up to the gradient, and the lines to blame.
    "a key that is created before the loop": ([10, 7, 2], 1, [10]),
    "a key that is created in the loop": ([11, 7, 2], 1, [11]),
    "a function that creates its own key": ([10, 5], 1, []),
    "a function that creates its own key for noise like its input": ([10, 14], 1, [13]),
    "no loop": ([8, 2], 1, [8]),
}


@pytest.mark.parametrize(("lines", "depth", "blamed"), STACKS.values(), ids=STACKS)
def test_the_line_that_repeats_a_key_is_blamed(lines, depth, blamed) -> None:
    file = with_text(LOOP)
    found = repeated_statistics._list_lines_repeating_key([(file, line) for line in lines], depth)
    assert [site[1] for site in found] == blamed


@pytest.mark.parametrize(("steps", "count"), [
    ([["a", "b"], ["a", "b"], ["a"]], 3), ([["a"], ["a"]], None), ([["a"], ["b"], ["a"]], None),
    ([["a"], [], ["a"]], None), ([["a"]] * 4, 4),
])  # fmt: skip
def test_statistics_that_three_steps_begin_with_are_repeated(steps, count) -> None:
    statistics = repeated_statistics.RepeatedStatisticsAndKeys()
    for values in steps:
        statistics.used = {("statistics", (("train.py", 4), ("train.py", 7)), value) for value in values}
        with statistics.watch_step_and_keep_repeated_values("loss"):
            pass
        with statistics.watch_step_and_keep_repeated_values(f"another loss {len(values)}"):
            statistics.used = set()
    expected = {} if count is None else {(("train.py", 7), "statistics"): count}
    assert statistics.map_lines_and_variants_to_step_counts() == expected


def test_a_repeated_key_is_blamed_on_the_lines_of_each_step() -> None:
    file = with_text(LOOP)
    statistics = repeated_statistics.RepeatedStatisticsAndKeys()
    for stack in ([10, 7, 2], [10, 5]):
        statistics.used.add(("key", tuple((file, line) for line in stack), str(stack)))
    statistics._steps["loss"] = 3, statistics.used, [(file, 10)]
    assert statistics.map_lines_and_variants_to_step_counts() == {((file, 10), "key"): 3}


def test_a_key_is_recorded_with_what_it_draws_unless_it_is_traced_or_many_were() -> None:
    statistics = repeated_statistics.RepeatedStatisticsAndKeys()
    key = jax.random.key(0)
    assert statistics.record_key_and_draw(lambda key, shape: shape, key, shape=(2,)) == (2,)
    ((kind, _, value),) = statistics.used
    assert kind == "key" and value == repr(jax.random.key_data(key))
    statistics.used = {("key", (), str(number)) for number in range(99)}
    for number in range(1, 4):
        statistics.record_key_and_draw(lambda key: None, jax.random.key(number))
    assert len(statistics.used) == 100


# -- losses of optax -------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "op", "is_swapped"), [
    ("l = optax.softmax_cross_entropy(labels, logits)\n", "sum", True),
    ("l = optax.sigmoid_binary_cross_entropy(labels, logits)\n", "sum", True),
    ("l = optax.softmax_cross_entropy(logits, labels)\n", "exp", False),
    ("l = optax.softmax_cross_entropy(logits, labels)\n", "log_softmax", False),
    ("l = optax.l2_loss(labels, logits)\n", "sum", False),
])  # fmt: skip
def test_a_loss_of_optax_gets_the_labels_in_place_of_the_logits(text, op, is_swapped) -> None:
    here = {"site": (with_text(text), 1)}
    run = build_run(build_rows(("leaf", []), ("constant", []), ("exp", [0]), (op, [1], here), ("mul", [2, 3], here)))
    found = list(optax_checks.check_labels_passed_as_logits(run))
    assert [(it.cause, it.variant, it.row) for it in found] == ([("loss_input", "swapped", 4)] if is_swapped else [])


# -- the lines of a function's gradient ------------------------------------------------------------

TRAINED = """def loss(w, x):
    y = w * x
    if x is None:
        return y
    return (y ** 2).sum()
def other(w):
    return w
w = jnp.ones(2)
w, x = jnp.ones(2), jnp.zeros(2)
for step in range(3):
    w = w - jax.grad(loss)(w, x)
g = jax.value_and_grad(other)(w)
v = minitape.record(loss, w, x)
"""


def build_origin(name="loss", args=(1.0, 2.0), line=13):
    file = with_text(TRAINED)
    space = {}
    exec(compile(TRAINED.partition("w = jnp")[0], file, "exec"), space)
    return program_origin.JaxOrigin(space[name], args, (file, line))


@pytest.mark.parametrize(("name", "definition", "gradient", "result", "returned"), [
    ("loss", 1, 11, None, 5), ("loss", 1, 11, 2, 5), ("loss", 1, 11, 4, 4), ("other", 6, 12, None, 7),
])  # fmt: skip
def test_the_lines_that_define_differentiate_and_end_a_function_are_found(
    name, definition, gradient, result, returned
) -> None:
    origin = build_origin(name, line=13 if name == "loss" else 12)
    file = origin.call_site[0]
    assert origin.function_definition_or_call_site == (file, definition)
    assert origin.gradient_or_call_site == (file, gradient)
    assert origin.find_return_or_last_statement_site((file, result)) == (file, returned)


@pytest.mark.parametrize(("index", "line"), [(0, 9), (1, 9)])
def test_the_line_that_created_an_argument_is_found_behind_the_lines_that_update_it(index, line) -> None:
    origin = build_origin()
    leaf = program_origin.JaxLeaf(1.0, 0, index)
    assert origin.find_leaf_creation_or_call_site(leaf)[1] == line
    assert [it.line for it in origin.list_statements_updating_argument(leaf)] == [[11], []][index]


STARTED = """def loss(w, x):
    return w * x
start = jnp.ones(2)
zeros = jnp.zeros(2)
w, x = start, zeros
pair = w, x
v = minitape.record(loss, {})
"""


@pytest.mark.parametrize(("passed", "index", "line"), [
    ("w, x", 0, 3), ("w, x", 1, 4), ("w * 2.0, x * 2.0", 1, 7), ("*pair", 0, 3), ("*pair", 1, 7),
])  # fmt: skip
def test_an_argument_is_followed_to_the_line_that_created_its_value(passed, index, line) -> None:
    file = with_text(STARTED.format(passed))
    space = {"w": object()}
    exec(compile(STARTED.partition("start")[0], file, "exec"), space)
    origin = program_origin.JaxOrigin(space["loss"], (space["w"], 2.0), (file, 7))
    assert origin.find_leaf_creation_or_call_site(program_origin.JaxLeaf(1.0, 0, index)) == (file, line)


def test_arguments_are_read_from_calls_with_as_many_arguments() -> None:
    origin = build_origin(args=(1.0,))
    assert origin.list_argument_expressions(program_origin.JaxLeaf(1.0, 0, 0)) == []


DROPPED = """def step(state, x):
    y, state = apply(state, x)
    return y
for x in data:
    state, y = step(state, x)
    z = y
    print(z)
result = step(0, x)
"""


@pytest.mark.parametrize(
    ("lines", "line"), [([5, 2], 2), ([5], 5), ([6], 6), ([8], 8), ([5, 6], 6), ([8, 6], 8), ([8, 5], 8)]
)
def test_the_innermost_line_that_drops_a_part_of_its_result_is_blamed(lines, line) -> None:
    file = with_text(DROPPED)
    found = program_origin.find_site_with_unread_name_or_innermost([(file, number) for number in lines])
    assert found == (file, line)


COMPILED = {
    "a compiled function": ("@jax.jit\ndef loss(w, x):\n    return w\nv = record(loss, w, x)\n", "itself"),
    "a call that compiles it": ("def loss(w, x):\n    return w\nv = record(jax.jit(loss), w, x)\n", "itself"),
    "static arguments": ("def loss(w, x):\n    return w\nf = jax.jit(loss, static_argnums=1)\nv = record(loss, w, x)\n",
                         "part"),
    "a compiled function that calls it": (
        "def loss(w, x):\n    return w\n@jax.jit\ndef step(w):\n    return loss(w, 1)\nrecord(loss, w, x)\n", "part"),
    "another compiled function": (
        "def loss(w, x):\n    return w\n@jax.jit\ndef step(w):\n    return w\nv = record(loss, w, x)\n", ""),
    "no compiled function": ("def loss(w, x):\n    return w\nv = record(loss, w, x)\n", ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), COMPILED.values(), ids=COMPILED)
def test_a_program_compiles_the_function_itself_or_a_part(text, expected) -> None:
    file = with_text(text)
    space = {}
    exec(
        compile("\n" * text[: text.index("def loss")].count("\n") + "def loss(w, x):\n    return w\n", file, "exec"),
        space,
    )
    origin = program_origin.JaxOrigin(space["loss"], (1.0, 2.0), (file, text.count("\n")))
    assert origin.compiled_as == expected
