"""The bridge to JAX: what is on screen is what JAX's own backward pass computed, to the last bit."""

import json
from functools import cache

import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'minitape[jax]'")

import numpy as np  # noqa: E402 - behind the check for JAX

import minitape as tf  # noqa: E402
from minitape.bridges import jax as bridge  # noqa: E402
from minitape.picture.shown_values import to_value_fields  # noqa: E402

from .cases import compile_program  # noqa: E402
from .jax_programs import PROGRAMS  # noqa: E402

jnp = jax.numpy


@cache
def record_program(name):
    function, args, options = PROGRAMS[name]()
    return bridge.record(function, *args, **options)


def are_bits_equal(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_value_and_gradient_are_jax_s(name):
    """JAX without its compiler: compiled, several operations become one, which may round in another way."""
    function, args, options = PROGRAMS[name]()
    recording = record_program(name)
    assert recording.error is None
    with jax.disable_jit():
        wanted = jax.value_and_grad(function, **options)(*args)
    found, asked = jax.tree.flatten((recording.value, recording.gradient)), jax.tree.flatten(wanted)
    assert found[1] == asked[1]
    assert all(are_bits_equal(a, b) for a, b in zip(found[0], asked[0], strict=True))


@pytest.mark.long(sample=8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_the_program_gives_nearly_the_same(name):
    function, args, options = PROGRAMS[name]()
    recording = record_program(name)
    compiled = jax.tree.leaves(jax.jit(jax.value_and_grad(function, **options))(*args))
    for a, b in zip(jax.tree.leaves((recording.value, recording.gradient)), compiled, strict=True):
        np.testing.assert_allclose(
            np.float64(a), np.float64(b), rtol=0.1 if name == "mixed_dtypes" else 2e-4, atol=1e-5
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_adjoint_is_jax_s_own(name):
    """The reference adds a zero to every result, and asks ``jax.grad`` for the derivatives by these zeros."""
    recording = record_program(name)
    (sweep,) = recording.sweeps
    calls = recording.log.calls
    on_way = [row for call in calls for row in call.rows if recording.rows[row].tracked]
    kept = {entry.index: entry.value.content for entry in recording.rows}
    zeros = {row: jnp.zeros_like(kept[row]) for row in on_way}

    def moved(zeros):
        known = {}
        for call in calls:
            results = call.compute(*[known.get(given.row, kept.get(given.row, given.value)) for given in call.inputs])
            known |= {
                row: result + zeros[row] if row in zeros else result
                for row, result in zip(call.rows, results, strict=True)
            }
        return known[recording.target_row]

    with jax.disable_jit():
        wanted = jax.grad(moved)({row: zero for row, zero in zeros.items() if not jnp.iscomplexobj(zero)})
    assert {row for row in wanted if np.any(wanted[row])} <= sweep.adjoints.keys()
    for row, adjoint in wanted.items():
        if row in sweep.adjoints:
            assert are_bits_equal(sweep.adjoints[row].to_array(), adjoint), recording.rows[row].op
            assert sweep.adjoints[row].shown() == to_value_fields(np.asarray(adjoint)[()])
    assert len(sweep.adjoints) > len(sweep.sources)


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_lead_to_the_adjoints(name):
    recording = record_program(name)
    (sweep,) = recording.sweeps
    for call, edges in sweep.edges.items():
        assert all(recording.rows[call].inputs[port] == row for row, port, _, _ in edges)
    for row, adjoint in sweep.adjoints.items():
        edges = [edge for edges in sweep.edges.values() for edge in edges if edge[0] == row]
        if row != recording.target_row and row not in recording.unreached_rows:
            assert edges[-1][3] is adjoint
            total = sum(np.complex128(product.to_array()) for _, _, product, _ in edges)
            np.testing.assert_allclose(
                total, np.complex128(adjoint.to_array()), rtol=0.05 if name == "mixed_dtypes" else 1e-3, atol=1e-4
            )


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_are_whole(name):
    recording = record_program(name)
    snapshot = recording.snapshot()
    json.dumps(snapshot, allow_nan=False)
    rows = snapshot["rows"]
    assert [row["row"] for row in rows] == list(range(len(rows)))
    assert all(i < row["row"] for row in rows for i in row["inputs"])
    here = {PROGRAMS[name].__code__.co_filename, __file__}
    assert all(row["dtype"] and row["value"] for row in rows)
    assert all((row["file"] in here) == (row["kind"] == "operation") for row in rows if row["kind"] != "constant")
    assert all(gradient is not None for gradient in snapshot["sweep"]["gradients"])


def test_rows_have_lines_names_labels_and_scopes():
    first = test_rows_have_lines_names_labels_and_scopes.__code__.co_firstlineno

    @jax.jit
    def layer(p, x):
        return jnp.tanh(x * p["w"])

    def loss(p, xs):
        def step(h, x):
            return h + layer(p, x), None

        with jax.named_scope("loop"):
            total, _ = jax.lax.scan(step, 0.0, xs)
        return total * 2.0

    recording = bridge.record(loss, {"w": 0.5}, jnp.array([1.0, 2.0]))
    rows = [
        (r["name"] or r["label"], r["line"] and r["line"] - first, r["scope"]) for r in recording.snapshot()["rows"]
    ]
    assert rows == [
        ("w", None, []), ("xs", None, []), ("[0]", 12, ["loop", "scan[0]"]), ("×", 5, ["loop", "scan[0]", "layer"]),
        ("tanh", 5, ["loop", "scan[0]", "layer"]), ("0.0 +", 9, ["loop", "scan[0]"]), ("[1]", 12, ["loop", "scan[1]"]),
        ("×", 5, ["loop", "scan[1]", "layer"]), ("tanh", 5, ["loop", "scan[1]", "layer"]),
        ("+", 9, ["loop", "scan[1]"]), ("loss", 13, []),
    ]  # fmt: skip


@pytest.mark.parametrize(("statements", "names"), [
    ("y = w * 2.0 + 1.0", ["y"]), ("y = jnp.average(w)", ["y"]),
    ("y = jnp.dot(w, w, preferred_element_type=jnp.float32)", ["y"]),  # Its last equation converts nothing.
    ("y = w * 2.0\n    y = y + 1.0", ["y", "y"]), ("y = w * 2.0\n    z = y\n    y = z * z", ["y", "y"]),
])  # fmt: skip
def test_a_name_belongs_to_the_last_result_of_its_statement(statements, names):
    space, file = {"jnp": jnp}, f"names {abs(hash(statements))}.py"
    exec(compile_program(f"def loss(w):\n    {statements}\n    return jnp.sin(y)\n", file), space)
    rows = bridge.record(space["loss"], 3.0).rows
    assert [row.name for row in rows if row.name] == ["w", *names]
    assert rows[-2].name == "y"


PART = "def part():\n    return weights ** 2\n"
OUTSIDE = {
    "in the function itself": ("def loss(params):\n    return jnp.sum(weights ** 2)\n", "weights", 2),
    "in a lambda": ("loss = lambda params: jnp.sum(weights ** 2)\n", "the array", 1),
    "in a function that a lambda calls": (f"loss = lambda params: jnp.sum(part())\n{PART}", "weights", 3),
    "in a function that a function calls": (f"def loss(params):\n    return jnp.sum(part())\n{PART}", "weights", 4),
}  # fmt: skip


@pytest.mark.parametrize(("text", "name", "line"), OUTSIDE.values(), ids=OUTSIDE)
def test_an_argument_that_is_read_from_outside_has_the_name_and_the_line_of_the_read(text, name, line):
    weights = jnp.array([1.0, 2.0])
    space, file = {"jnp": jnp, "weights": weights}, f"outside {abs(hash(text))}.py"
    exec(compile_program(text, file), space)
    recording = bridge.record(space["loss"], weights)
    answer = recording.explain("params")
    assert (answer.cause, answer.line) == ("closure", line)
    assert name in answer.message, answer.message


def test_the_largest_value_that_logsumexp_takes_and_adds_again_is_no_cut():
    recording = bridge.record(lambda w: jnp.sum(jax.nn.logsumexp(jax.lax.stop_gradient(w), keepdims=True)), jnp.ones(3))
    answer = recording.explain("w")
    assert (answer.cause, answer.others) == ("stop_gradient", [])


def test_a_loop_that_would_have_too_many_rows_is_one(monkeypatch):
    from minitape.bridges.jax import jaxpr_run

    monkeypatch.setattr(jaxpr_run, "ROW_LIMIT", 20)
    function, args, options = PROGRAMS["rnn_with_scan"]()
    recording = bridge.record(function, *args, **options)
    assert [entry.op for entry in recording.rows].count("scan") == 2  # its two results
    assert recording.error is None and recording.gradient["h"].any()


def repeated(x, n, f=jnp.sin):
    for _ in range(n):
        x = f(x)
    return jnp.sum(x)


def branching(x):
    if (total := jnp.sum(x)) > 0 and total.item() < 10:
        return total**2
    return total


X = jnp.array([0.5, 2.0])
HEALTHY = {  # what jax.grad takes without jit
    "a_number_of_steps": (repeated, X, 3),
    "a_function_as_an_argument": (repeated, X, 2, jnp.cos),
    "a_text": (lambda x, act: jnp.sum(jnp.tanh(x) if act == "tanh" else x), X, "tanh"),
    "a_switch_in_a_dictionary": (lambda p, c: jnp.sum(p["w"]) * c["scale"] if c["on"] else 0.0, {"w": X},
        {"scale": 2, "on": True}),
    "a_condition_on_a_value": (branching, X),
    "a_condition_on_data": (lambda x, d: jnp.sum(x * d) if d[0] > 0 else jnp.sum(x), X, jnp.ones(2)),
    "a_mask_as_an_index": (lambda x: jnp.sum(x[x > 1.0] ** 2), X),
    "numpy_of_the_data": (lambda x, d: jnp.sum(x * np.mean(np.asarray(d))), X, jnp.arange(3.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_what_jax_grad_takes_is_not_refused(name):
    function, *args = HEALTHY[name]
    recording = bridge.record(function, *args)
    assert recording.error is None, recording.error
    wanted = jax.grad(function)(*args)
    assert jax.tree.all(jax.tree.map(are_bits_equal, recording.gradient, wanted)), (recording.gradient, wanted)
    assert recording.explain(recording.value, args[0]).connected


def test_under_jit_a_condition_is_refused_as_jax_refuses_it():
    compiled = jax.jit(lambda x: x**2 if jnp.sum(x) > 0 else x)
    assert bridge.record(compiled, X).explain(None, X).cause == "branch"


def test_a_snapshot_of_a_long_loop_is_bounded():
    def loss(w, x):
        return jnp.sum(jax.lax.scan(lambda h, _: (jnp.tanh(h @ w), None), x, None, length=200)[0])

    recording = bridge.record(loss, jnp.eye(40), jnp.ones((40, 40)))
    assert len(recording) > 400 and len(json.dumps(recording.snapshot())) < 10e6


def test_one_number_and_floats_or_jax_s_own_error():
    assert "scalar-output" in str(bridge.record(lambda x: x, jnp.ones(2)).error)
    assert "real- or complex-valued" in str(bridge.record(lambda x: x * 2.0, 3).error)
    with pytest.raises(ZeroDivisionError):
        bridge.record(lambda x: 1 / 0, 1.0)
    assert isinstance(bridge.record(lambda x: jnp.mean([x, x]), 1.0).error, TypeError)
    with pytest.raises(ValueError, match=r"argnums=2 does not fit 1 argument\."):
        bridge.record(lambda x: x, 1.0, argnums=2)


def test_the_number_of_an_argument_that_is_not_differentiated_is_said():
    recording = bridge.record(lambda batch, rate, w: jnp.sum(batch * w) * rate, jnp.ones(2), 0.5, jnp.ones(2))
    assert recording.explain("w").fix.startswith("Write argnums=2, or argnums=(0, 2) ")


def test_what_a_dead_relu_makes_zero_is_one_finding():
    def loss(p, x):
        return jnp.mean(jax.nn.relu(x @ p["first"] - 9.0) @ p["second"] + p["bias"])

    page = bridge.record(
        loss, {"first": jnp.eye(3), "second": jnp.ones(3), "bias": jnp.array(1.0)}, jnp.ones((2, 3))
    ).explain()
    assert {name: answer.cause for name, answer in page.items()} == {
        "p['first']": "dead_relu",
        "p['second']": "dead_relu",
        "p['bias']": "connected",
    }
    assert len(page.group_names_by_explanation_worst_first()) == 2


def test_the_pictures_take_a_recording(tmp_path):
    from minitape_widgets import TapeView

    recording = record_program("cnn")
    view = TapeView(recording)
    assert repr(view) == f"TapeView({len(recording.rows)} rows, 1 tape)"
    assert tf.draw(recording).svg.startswith("<svg")
    view.save(tmp_path / "page.html")
    view.close()


def test_memory_is_bounded_by_summaries(monkeypatch):
    from minitape.bridges import kept_values

    monkeypatch.setattr(kept_values, "BYTE_LIMIT", 10 * 40_000)

    def loss(x):
        for k in range(20):
            x = x + k
        return jnp.sum(x)

    recording = bridge.record(loss, jnp.zeros((100, 100)))
    large = [entry.value for entry in recording.rows if entry.op == "add"]
    assert sum(value.content is not None for value in large) <= 10
    assert [value.shown()["stats"]["mean"] for value in large] == [sum(range(k + 1)) for k in range(20)]


def test_markdown_lessons_are_asked_about_by_array_or_name():
    w = jnp.array([1.0, 2.0])
    recording = bridge.record(lambda p: jnp.sum(jnp.round(p["w"])), {"w": w})
    assert [recording.explain(recording.value, source).cause for source in (w, "p['w']", "w", "p")] == [
        "zero_derivative"
    ] * 4
    assert recording.explain(None, "p['w']").message.startswith("round (test_jax.py, line")
    with pytest.raises(ValueError, match=r"found no argument named 'v'. The arguments are: p\['w'\]."):
        recording.explain(recording.value, "v")
    with pytest.raises(TypeError, match="takes an array or the name of an argument"):
        recording.explain(recording.value, 3.5)


def test_numbers_and_trees_are_sources():
    rate, other = 0.25, 1.5
    recording = bridge.record(lambda a, b: a * 2.0 + jax.lax.stop_gradient(b), rate, other, argnums=(0, 1))
    assert [recording.explain(recording.value, source).cause for source in (rate, other)] == [
        "connected",
        "stop_gradient",
    ]
    p = {"w": jnp.ones(2), "b": jnp.zeros(2)}
    recording = bridge.record(lambda p: jnp.sum(p["w"] + jnp.round(p["b"])), p)
    why = recording.explain(recording.value, p)
    assert why.cause == "zero_derivative" and recording.explain(recording.value, {"w": p["w"]}).connected
    layers = [(jnp.ones((2, 3)), jnp.ones(3)), (jnp.ones((3, 1)), jnp.ones(1))]  # leaves of unequal shapes
    recording = bridge.record(
        lambda layers, x: jnp.sum((x @ layers[0][0] + layers[0][1]) @ layers[1][0]), layers, p["w"]
    )
    assert [(why.cause, str(why.numbers)) for why in recording.explain(layers)] == [
        ("connected", "norm 2.4, zeros 0 %"),  # of the six ones of the first leaf
        ("unused", "norm 0, zeros 100 %"),  # of the leaf that is not used
    ]


def test_further_breaks_are_said():
    recording = bridge.record(
        lambda w: jnp.sum(jax.lax.stop_gradient(jnp.round(w)).astype(int) * 1.0), jnp.array([0.4, 1.6])
    )
    why = recording.explain(recording.value, "w")
    assert (why.cause, why.connected, why.patch) == ("zero_derivative", True, None)
    assert [other.cause for other in why.others] == ["stop_gradient", "integer_cast"]


@pytest.mark.parametrize(("axis", "words"), [(-1, "is computed over a single value"), (0, "cancel out")])
def test_a_softmax_of_one_logit_is_told_from_one_over_the_batch(axis, words):
    def loss(w, x):
        return jax.nn.log_softmax(x @ w, axis=axis).sum() if axis else jax.nn.softmax(x @ w, axis=axis).sum()

    recording = bridge.record(loss, jax.numpy.ones((2, 1)), jax.numpy.arange(6.0).reshape(3, 2))
    why = recording.explain("w")
    assert why.cause == "zero_cancels" and words in why.message, str(why)


def test_the_largest_value_that_a_softmax_subtracts_is_no_further_break():
    def loss(w):
        chosen = jax.nn.log_softmax(w)
        kept = jax.lax.stop_gradient(chosen)
        return (kept * 2.0).sum()

    recording = bridge.record(loss, jnp.array([1.0, 2.0, 0.5]))
    why = recording.explain(recording.value, "w")
    assert (why.code, why.others) == ("kept = jax.lax.stop_gradient(chosen)", [])


def test_what_jax_refuses_otherwise_is_said_in_its_own_words():
    @jax.custom_vjp
    def f(x):
        return x

    f.defvjp(lambda x: (x, None), lambda _, g: (g, g))
    recording = bridge.record(lambda x: f(x) * 2.0, jnp.array(1.0))
    why = recording.explain(recording.value, "x")
    assert why.cause == "refused" and "bwd rule" in why.message


def test_values_have_the_names_of_the_program():
    def layer(h):
        a = jnp.sin(h)
        return a * 0.5

    def loss(w, x):
        h = jnp.tanh(x @ w * 2.0)
        for _ in range(2):
            h = layer(h + 1.0)
        p = jax.nn.softmax(h)
        slope = jax.grad(lambda v: jnp.sum(v**3))(h)
        total, _kept = jnp.sum(p * slope), h
        return total

    rows = bridge.record(loss, jnp.ones(2), jnp.ones((3, 2))).snapshot()["rows"]
    assert [(row["name"], row["op"]) for row in rows if row["kind"] == "operation" and row["name"]] == [
        ("h", "tanh"), ("a₁", "sin"), ("a₂", "sin"), ("p", "div"), ("loss", "reduce_sum"),  # by its function
    ]  # fmt: skip


def test_the_result_of_a_lambda_has_no_name():
    rows = bridge.record(lambda w: jnp.sum(jnp.tanh(w)), jnp.ones(2)).snapshot()["rows"]
    assert [(row["name"], row["op"]) for row in rows] == [("w", "leaf"), (None, "tanh"), (None, "reduce_sum")]


def test_nothing_else_holds_arrays_after_it(monkeypatch):
    """Neither the rows nor the backward pass keep more than the bound; what was summarized can be asked about."""
    from minitape.bridges import kept_values

    monkeypatch.setattr(kept_values, "BYTE_LIMIT", 10 * 40_000)

    def loss(x):
        h = x
        for _ in range(20):
            h = jnp.sin(h) * 2.0
        return jnp.sum(jax.lax.stop_gradient(h))

    before = {id(array) for array in jax.live_arrays()}
    x = jnp.ones((100, 100))
    recording = bridge.record(loss, x)
    large = [array for array in jax.live_arrays() if array.size == x.size and id(array) not in before]
    assert len(large) <= 10 + 2  # and the argument and its gradient
    assert len([row for row in recording.snapshot()["rows"] if "stats" in row["value"]]) == 42
    assert recording.explain(recording.value, x).cause == "stop_gradient"


def test_a_function_that_jax_has_traced_before_is_traced_again():
    scale = [2.0]

    def loss(x):
        return x * scale[0]

    jax.jit(loss)(3.0)
    scale[0] = 5.0
    assert bridge.record(loss, 3.0).gradient == 5.0


def test_a_mistake_of_the_bridge_s_own_is_no_error_of_jax(monkeypatch):
    from minitape.bridges.jax.backward_pass import JaxBackwardPass

    monkeypatch.setattr(JaxBackwardPass, "_compute_ports_rows_and_shares", lambda self, call: 1 / 0)
    with pytest.warns(RuntimeWarning, match="ended early: ZeroDivisionError"):
        recording = bridge.record(lambda x: x * x, 3.0)
    assert recording.error is None and isinstance(recording.internal_error, ZeroDivisionError)
    with pytest.raises(RuntimeError, match="ended early"):
        recording.explain(recording.value, "x")


def test_a_loop_with_a_condition_for_each_example_is_one_row():
    def decay(rate, steps):
        return jax.lax.fori_loop(0, steps, lambda i, y: y - 0.1 * rate * y, 1.0)

    recording = bridge.record(
        lambda rate, steps: jax.vmap(decay, (None, 0))(rate, steps).sum(), 0.7, jax.numpy.array([4, 10, 7])
    )
    assert recording.explain(recording.value, "rate").cause == "while_loop"


def test_a_rule_of_its_own_with_a_loop_keeps_its_batch_in_its_place_under_vmap():
    def cell(theta, x, z):
        return jax.numpy.tanh(theta @ z + x)

    @jax.custom_vjp
    def settled(theta, x):
        return jax.lax.fori_loop(0, 3, lambda i, z: cell(theta, x, z), jax.numpy.zeros_like(x))

    settled.defvjp(lambda theta, x: (settled(theta, x), (theta, x)), lambda kept, came: (kept[0] * 0.1, came))

    def loss(theta, xs):
        return (jax.vmap(lambda x: settled(theta, theta @ x))(xs) @ jax.numpy.arange(4.0)).sum()

    theta, xs = jax.numpy.eye(4), jax.numpy.arange(16.0).reshape(4, 4)
    recording = bridge.record(loss, theta, xs, argnums=1)
    assert np.allclose(recording.gradient, jax.grad(loss, 1)(theta, xs))


def test_a_number_that_python_read_is_blamed_before_a_branch():
    from minitape.bridges.jax.checks import JAX_CHECKS
    from minitape.recording.recorded_rows import Escape

    branch, number = Escape(0, "__bool__", ("train.py", 3), 1), Escape(1, "__float__", ("train.py", 5), 2)
    assert JAX_CHECKS.rank_escapes(None, [branch, number]) == [number, branch]


def test_an_argument_that_is_not_differentiated_is_a_constant_of_the_picture():
    def loss(w, x):
        return jnp.sum((w * x) ** 2)

    recording = bridge.record(loss, jnp.array([1.0, 2.0]), jnp.ones(2))
    rows = {row["name"]: (row["kind"], row["watched"]) for row in recording.snapshot()["rows"] if row["name"]}
    assert rows["w"] == ("source", "argument")
    assert rows["x"] == ("constant", None)


def test_the_strip_says_why_a_gradient_is_nan():
    def loss(x):
        return jnp.sum(jnp.where(x > 0, jnp.sqrt(x), 0.0))

    recording = bridge.record(loss, jnp.array([4.0, 0.0, -1.0]))
    why = recording.explain(recording.value, "x")
    (alarm,) = recording.snapshot()["alarms"]
    assert why.cause == "nan_backward" and alarm["text"] == f"{why.message} {why.fix}"
