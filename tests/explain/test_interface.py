"""What `explain` promises besides cause and line: when it may be asked, what it holds, how it shows itself."""

import gc
import inspect
import linecache
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape import explain
from minitape.engine.record.provenance import get_thread_escape_log
from minitape.recording.value_origins import find_origin, to_value_origin


def record_stop_gradient() -> tuple[tf.GradientTape, tf.Tensor, tf.Variable]:
    x = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.stop_gradient(x * x) * 2.0)
    return tape, y, x


def test_structure_of_sources_is_kept() -> None:
    tape, y, x = record_stop_gradient()
    other = tf.Variable(1.0)
    answer = tape.explain(y, {"a": x, "b": [other]})
    assert answer["a"].cause == "stop_gradient" and answer["b"][0].cause == "independent"
    assert not answer["a"].connected
    assert isinstance(tape.explain(y, x), explain.Explanation)


def test_same_answer_inside_before_and_after_on_a_used_tape() -> None:
    x = tf.Variable(np.ones(200, np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.stop_gradient(x * x) * 2.0)
        answers = [tape.explain(y, x)]
    answers.append(tape.explain(y, x))
    assert tape.gradient(y, x) is None
    answers.append(tape.explain(y, x))
    assert len({(a.cause, a.line, a.message) for a in answers}) == 1


def test_an_unwatched_source_that_is_a_target_and_read_is_not_watched() -> None:
    v, c = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = v * c
    before = tape.explain([c, y], c)
    assert tape.gradient([c, y], c) is None
    assert not before.connected and before.cause == tape.explain([c, y], c).cause == "not_watched"


def test_a_variable_that_is_read_before_its_watch_is_watched_late() -> None:
    x, w = tf.Variable(3.0, trainable=False), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = w * x
        tape.watch(x)
    assert tape.gradient(y, x) is None
    assert tape.explain(y, x).cause == "watched_late"


def test_further_breaks_are_listed() -> None:
    x = tf.Variable(1.5)
    with tf.GradientTape() as tape:
        y = tf.floor(tf.stop_gradient(x) * 2.0)
    answer = tape.explain(y, x)
    assert answer.cause == "stop_gradient"
    assert [o.cause for o in answer.others] == ["nondifferentiable_op"]
    assert "Also" in str(answer)


def test_only_a_break_that_alone_blocks_another_path_is_mentioned():
    x = tf.Variable(2.3)
    with tf.GradientTape(persistent=True) as tape:
        through_a_cut = x * 3.0 + float(tf.stop_gradient(x * 2.0))
        through_two_steps = x * 3.0 + tf.round(tf.floor(x * 2.0) + 0.4)
        through_a_step = x * 3.0 + tf.round(x * 2.0)
    others = [len(tape.explain(y, x).others) for y in (through_a_cut, through_two_steps, through_a_step)]
    assert others == [0, 0, 1]


def test_text_and_card() -> None:
    tape, y, x = record_stop_gradient()
    answer = tape.explain(y, x)
    assert "stop_gradient" in str(answer) and f"line {answer.line}" in str(answer)
    assert "tf.stop_gradient(x * x)" in answer.code
    card = answer._repr_html_()
    assert "<code" in card and "<script" not in card and "data:image/svg+xml" in card
    assert repr(answer).startswith("<Explanation stop_gradient")


@pytest.mark.parametrize("function", [tf.nn.relu, tf.stop_gradient])
def test_the_card_marks_the_row_to_blame_also_behind_rows_that_do_not_count(function: Any) -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tf.exp(x * 3.0 + 1.0)  # not on the path to the target
        y = function(x - 5.0)
        z = tf.reduce_sum(y)
    assert tape.explain(z, x)._rows == [tape._record.find_row(y)]


def test_the_card_marks_the_row_of_a_suspicion_also_behind_rows_that_do_not_count() -> None:
    w, column = tf.Variable([1.0, 2.0, 3.0], name="w"), tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tf.exp(w) * 2.0
        difference = w * 2.0 - column
        loss = tf.reduce_mean(difference**2)
    answer = tape.explain(loss, w)
    assert (answer.cause, answer._rows) == ("broadcast", [tape._record.find_row(difference)])


def test_card_is_escaped() -> None:
    answer = explain.Explanation("independent", "<b>&", "<i>", None, None)
    assert "&lt;b&gt;&amp;" in answer._repr_html_()


@pytest.mark.parametrize("method", ["explain", "gradient", "jacobian", "batch_jacobian"])
def test_an_error_of_its_arguments_names_the_tape(method: str) -> None:
    with pytest.raises(TypeError, match=rf"GradientTape\.{method}\(\) missing 2"):
        getattr(tf.GradientTape(), method)()


def test_a_session_may_warn() -> None:
    x, v = tf.constant(3.0), tf.Variable(1.0)
    explain.warn(True)
    try:
        with tf.GradientTape() as tape:
            y = x * v
        with pytest.warns(RuntimeWarning, match="does not watch") as caught:
            tape.gradient(y, [x, v])
        assert caught[0].filename == __file__
    finally:
        explain.warn(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tf.GradientTape() as tape:
            y = x * v
        tape.gradient(y, [x, v])


def test_signature_is_tensorflows() -> None:
    assert list(inspect.signature(tf.GradientTape).parameters) == ["persistent", "watch_accessed_variables"]


def test_errors_say_which_line_came_first() -> None:
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="non-persistent GradientTape") as error:
        tape.gradient(y, x)
    assert "computed its gradient in" in error.value.__notes__[0] and "test_interface.py" in error.value.__notes__[0]
    assert "persistent=True" in error.value.__notes__[0]
    tape = tf.GradientTape()
    with tape, pytest.raises(ValueError, match="still recording") as error:
        tape.__enter__()
    assert "first entered in" in error.value.__notes__[0]


@pytest.mark.parametrize(("function", "cause", "word"), [
    (lambda x: tf.sign(x) * 3.0, "zero_derivative", "is a step function"),
    (lambda x: tf.maximum(x, 0.0) * 2.0, "dead_relu", "passes no gradient"),
    (lambda x: 0.0 * x, "zero_factor", "multiplies by zeros"),
    (lambda x: x - x, "zero_sum", "add up to zero"),
    (lambda x: (x * 3.0 - x * 3.0) * 2.0, "zero_sum", "add up to zero"),
    (lambda x: tf.abs(x - x + 0.0 * x), "zero_derivative", "is zero at its input values"),
    (tf.function(lambda x: 0.0 * x), "zero_factor", "multiplies by zeros"),
    (lambda x: x * x, "connected", ""),
])  # fmt: skip
def test_zero_for_a_structural_reason(function, cause, word) -> None:
    x = tf.Variable(-2.0)
    with tf.GradientTape() as tape:
        y = function(x)
    answer = tape.explain(y, x)
    assert answer.connected and (answer.cause, answer.kind, answer.line is None) == (
        cause,
        "zero" if word else "connected",
        not word,
    )
    assert ("The gradient of x is zero. " in answer.message) == bool(word) and word in answer.message


def test_a_function_that_is_flat_at_its_input_is_blamed_on_its_own_line() -> None:
    for function in (tf.abs, tf.cos, tf.cosh):
        x = tf.Variable(0.0)
        with tf.GradientTape() as tape:
            y = function(x) * 3.0
        answer = tape.explain(y, x)
        assert answer.cause == "zero_derivative" and "multiplies" not in answer.message
        assert (
            answer.line
            == test_a_function_that_is_flat_at_its_input_is_blamed_on_its_own_line.__code__.co_firstlineno + 4
        )


def test_a_gradient_that_is_not_finite_has_a_remedy() -> None:
    x, y = tf.Variable([0.0, 1.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = tf.reduce_sum(tf.sqrt(x)) * y
    said = tape.explain(z, [x, y])
    assert [why.connected for why in said] == [True, True]
    assert "not finite" in said[0].message and "derivative of `tf.sqrt(x)` is not finite" in said[0].fix
    assert said[1].fix == "" and "though" not in said[1].message


def test_evidence_keeps_nothing_alive() -> None:
    x = tf.constant(np.ones(1000, np.float32))
    y = x * 2.0
    array = y.numpy()
    refs = [weakref.ref(x), weakref.ref(y), weakref.ref(array)]
    z = tf.constant(array) + 1.0
    del x, y, array
    gc.collect()
    assert [r() for r in refs] == [None] * 3
    assert z._origin is not None


def test_chains_of_origins_are_cut() -> None:
    w = tf.constant(1.0)
    for _ in range(500):
        w = w * 1.01
    depth, origin = 0, find_origin(w)
    while origin is not None and origin.inputs:
        depth, origin = depth + 1, to_value_origin(origin.inputs[0].origin)
    assert 0 < depth < 100


def test_what_explain_reads_did_not_leave() -> None:
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.sin(w)
        loss = tf.constant(float(y)) * 2.0
    known = [*get_thread_escape_log().escapes]
    assert tape.explain(loss, w).cause == "left_through_numpy" and get_thread_escape_log().escapes == known


def test_exits_are_bounded() -> None:
    x = tf.constant(1.0)
    for _ in range(1000):
        x.numpy()
    for i in range(2000):
        exec(compile(f"x.numpy(){' ' * (i % 7)}", f"<cell {i}>", "exec"), {"x": x})
    assert (
        len(get_thread_escape_log().escapes) <= 2 * 256 + 512
        and len(get_thread_escape_log().escapes_by_result_id) <= 6 * 256
    )


def test_lines_in_a_notebook_name_the_cell() -> None:
    interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactiveshell.InteractiveShell.instance()
    try:
        done = shell.run_cell(
            "import minitape as tf\nx = tf.constant(1.0)\nwith tf.GradientTape() as tape:\n    y = x * x\n"
            "answer = tape.explain(y, x)",
            store_history=True,
        )
        assert done.success
        answer = shell.user_ns["answer"]
        assert answer.line == 4 and answer.code == "y = x * x"
        assert "(line 4)" in answer.message  # of the cell that asks
        done = shell.run_cell("answer = tape.explain(y, x)", store_history=True)
        assert done.success
        assert "(cell [1], line 4)" in shell.user_ns["answer"].message
    finally:
        interactiveshell.InteractiveShell.clear_instance()


def test_no_source_text_still_gives_a_cause() -> None:
    space = {"tf": tf}
    text = "x = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n    y = tf.constant(float(x)) * 2.0"
    exec(compile(text, "<gone>", "exec"), space)
    assert "<gone>" not in linecache.cache
    answer = space["tape"].explain(space["y"], space["x"])
    assert answer.cause == "left_through_numpy" and answer.line == 3 and answer.code == ""


def test_a_statement_that_was_typed_at_the_prompt_has_its_text() -> None:
    space = {"tf": tf}
    text = "x = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n    y = tf.constant(float(x)) * 2.0"
    code = compile(text, "<python-input-7>", "exec")
    if not hasattr(linecache, "_register_code"):
        pytest.skip("the prompt of this Python keeps no text")
    linecache._register_code(
        code if hasattr(linecache, "_interactive_cache") else code.co_filename, text, code.co_filename
    )
    exec(code, space)
    assert space["tape"].explain(space["y"], space["x"]).code == "y = tf.constant(float(x)) * 2.0"


def test_what_python_warns_of_in_the_source_is_not_said_again() -> None:
    text = (
        "pattern = '\\d'\nx = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n    y = tf.stop_gradient(x * 2.0) "
        "* 2.0"
    )
    space = {"tf": tf}
    linecache.cache["<warned>"] = (len(text), None, text.splitlines(True), "<warned>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "<warned>", "exec"), space)
    answer = space["tape"].explain(space["y"], space["x"])
    assert answer.cause == "stop_gradient" and "to x" in answer.message


def test_what_is_no_tensor() -> None:
    tape, y, x = record_stop_gradient()
    assert tape.explain(3.0, x).cause == "left_through_numpy"
    assert tape.explain(y, 3.0).cause == "wrong_object"
    assert not tf.GradientTape().explain(y, x).connected


def test_a_mistake_of_its_own_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    from minitape.explain.reasons import tape_checks as question

    def broken(q: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(question, "explain_missing_gradient", broken)
    tape, y, x = record_stop_gradient()
    answer = tape.explain(y, x)
    assert not answer.connected and "explain failed with KeyError" in answer.message


def test_a_mistake_of_its_own_leaves_it_true_whether_there_is_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(adapter: object, source: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("minitape.explain.tape_answers.explain_gradient", broken)
    x, unused = tf.Variable(3.0), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    for source in (x, unused):
        answer = tape.explain(y, source)
        assert "explain failed with KeyError" in answer.message
        assert answer.connected is (tape.gradient(y, source) is not None)


def test_a_long_tape() -> None:
    x, c, other = tf.Variable(1.0), tf.constant(1.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(20_000):
            y = y * 1.0001 + 0.0001
        h = y * c
        for _ in range(100):
            h = h * 1.0001
        z = tf.stop_gradient(h) * 2.0
    answers = tape.explain(z, [x, y, h, c, other])
    assert [a.cause for a in answers] == ["stop_gradient"] * 3 + ["not_watched", "independent"]
    assert answers[3].code == "h = y * c"
    assert all(a.connected for a in tape.explain(h, [x, y, h]))
    assert tape.explain(h, c).cause == "not_watched"


def test_a_source_that_is_made_in_the_call_is_called_by_its_expression() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 2.0
    why = tape.explain(y, x[0])
    assert why.cause == "wrong_object" and "x[0]" in why.message and "why" not in why.message


def test_after_a_jacobian_the_answer_is_that_of_the_jacobian() -> None:
    x, z = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, [z]) == [None]
    assert tape.jacobian(y, [x])[0].shape == (2, 2)
    assert [tape.explain(y, source).cause for source in (x, z)] == ["connected", "independent"]


def test_many_sources_are_swept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sweep tells of all connected sources where their gradients became zero or infinite."""
    from minitape.explain.reasons import tape_adapter as question

    sweeps = []
    swept = question.replay_sweep
    monkeypatch.setattr(question, "replay_sweep", lambda *args: sweeps.append(args) or swept(*args))
    vs = [tf.Variable(float(i + 1)) for i in range(40)]
    with tf.GradientTape() as tape:
        y = tf.add_n([v * v for v in vs[:-4]]) + tf.sign(vs[-4] * 2.0) + tf.nn.relu(-vs[-3]) * 3.0
        y += (vs[-2] - vs[-2]) * 5.0 + tf.sqrt(vs[-1] - 40.0) * 2.0
    said = tape.explain(y, vs)
    assert all(why.connected for why in said)
    assert [why.cause for why in said] == ["connected"] * 36 + [
        "zero_derivative", "dead_relu", "zero_sum", "nan_backward",
    ]  # fmt: skip
    assert "passes no gradient" in said[37].message and "add up to zero" in said[38].message
    assert "is infinite or NaN at its input (0)" in said[39].message
    assert len(sweeps) == 1


def test_the_owners_of_many_variables() -> None:
    """Whether few or many are asked for, each belongs to the layer that holds it."""
    layers = [tf.keras.layers.Dense(1, use_bias=False) for _ in range(35)]
    for layer in layers:
        layer.build((None, 2))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layers[0](tf.ones([1, 2])))
    said = tape.explain(y, [layer.kernel for layer in layers])
    assert [why.cause for why in said] == ["connected"] + ["unused_layer"] * 34
    assert all(layer.name in why.message for layer, why in zip(layers[1:], said[1:], strict=True))


def test_a_python_function_keeps_its_gradient() -> None:
    """To be explained uses nothing up, also inside a tf.function."""
    f = tf.function(lambda v: tf.reduce_sum(tf.py_function(lambda t: t**2, [v], tf.float32)))
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = f(x)
    assert tape.explain(y, x).connected
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]


def test_a_loss_that_is_noted_after_each_step_cuts_no_way():
    """What leaves a target cannot come back on the way to it."""
    w = tf.Variable([[0.5], [0.25]], name="w")
    x, labels = tf.constant([[0.0, 1.0], [1.0, 1.0]]), tf.constant([0.0, 1.0])
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - labels) ** 2)
        gradient = tape.gradient(loss, w)
        losses.append(float(loss))
        w.assign_sub(0.1 * gradient)
    assert losses and tape.explain(loss, w).others == []


def test_an_array_is_no_target() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = np.sin(x.numpy()) * 2.0
    why = tape.explain(y, x)
    assert why.cause == "left_through_numpy" and "a plain ndarray" in why.message, why
