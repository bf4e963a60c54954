"""What `explain` says without being asked: in warnings, and in notes on errors."""

import importlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import minitape as tf
from minitape import explain
from minitape.engine.record.thread_state import state


def build_network() -> tf.keras.Sequential:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model(tf.ones([1, 3]))
    return model


def join_notes(error: pytest.ExceptionInfo[BaseException]) -> str:
    return "\n".join(getattr(error.value, "__notes__", ()))


def test_an_optimizer_without_gradients_says_why() -> None:
    model, optimizer = build_network(), tf.keras.optimizers.Adam()

    def train_step(x, y):
        with tf.GradientTape() as tape:
            p = model(x)
        loss = tf.reduce_mean((p - y) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))

    with pytest.raises(ValueError, match="No gradients provided") as error:
        train_step(tf.ones([2, 3]), tf.ones([2, 1]))
    assert str(error.value) == "No gradients provided for any variable."
    (note,) = error.value.__notes__
    assert note.startswith("A gradient is None: outside_tape: p - y ran after the tape's with block had ended")
    assert "Move the line into the with block." in note and note.endswith("The same reason applies to 1 more.")


def test_a_function_keeps_the_note() -> None:
    model, optimizer = build_network(), tf.keras.optimizers.SGD()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.stop_gradient(model(x)))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )

    with pytest.raises(ValueError, match="No gradients provided") as error:
        step(tf.ones([2, 3]))
    assert "stop_gradient: tf.stop_gradient (" in join_notes(error)


def test_none_as_a_value_says_why() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    g = tape.gradient(y, x)
    with pytest.raises(ValueError, match="Attempt to convert a value") as error:
        tf.sign(g)
    assert "not_watched: x is a tensor that the tape does not watch" in join_notes(error)


def test_none_that_is_no_gradient_has_no_note() -> None:
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is not None
    with pytest.raises(ValueError, match="Attempt to convert a value") as error:
        tf.sign(None)
    assert join_notes(error) == ""


def test_without_a_tape_in_reach_the_note_says_how_to_ask() -> None:
    v = tf.Variable(1.0)

    def compute_gradients():
        with tf.GradientTape() as tape:
            y = tf.round(v)
        return tape.gradient(y, [v])

    with pytest.raises(ValueError, match="No gradients") as error:
        tf.keras.optimizers.SGD().apply_gradients(zip(compute_gradients(), [v], strict=True))
    assert "minitape.explain.warn()" in join_notes(error)


def test_a_warning_has_the_mend_and_is_said_once_for_one_reason() -> None:
    model = build_network()
    explain.warn(True)
    try:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.round(model(tf.ones([1, 3]))))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tape.gradient(loss, model.trainable_variables)
    finally:
        explain.warn(False)
    (said,) = (str(one.message) for one in caught)
    assert "tf.round" in said and "tf.stop_gradient" in said and said.endswith("The same reason applies to 1 more.")


@pytest.mark.parametrize(("ask", "said"), [
    (lambda tape, y, model: tape.gradient(float(y), model.trainable_variables), "A plain float is not a tensor"),
    (lambda tape, y, model: tape.gradient(y, np.ones(2)), "x = tf.constant(data), and watch x"),
    (lambda tape, y, model: tape.gradient(y, model), "Pass its variables: model.trainable_variables"),
])  # fmt: skip
def test_what_is_no_tensor_says_so(ask, said) -> None:
    model = build_network()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(tf.ones([1, 3])))
    with pytest.raises((TypeError, AttributeError)) as error:
        ask(tape, y, model)
    assert said in join_notes(error)


def test_a_target_that_is_none_says_why() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x
        slope = inner.gradient(y, x)
    with pytest.raises(TypeError, match="received None") as caught:
        outer.gradient(slope, x)
    assert "tape.watch(x)" in join_notes(caught)


@pytest.mark.parametrize("line", ["v.assign_sub(0.1 * g)", "g[0]", "g.numpy()", "g * 2.0", "a, b = g"])
def test_errors_of_pythons_own_carry_the_reason(line, tmp_path) -> None:
    (tmp_path / "train.py").write_text(
        "import minitape as tf\nv = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = tf.round(v)\n"
        f"g = tape.gradient(y, v)\n{line}\n"
    )
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "NoneType" in done.stderr
    assert "A gradient is None: nondifferentiable_op: tf.round (train.py, line 4)" in done.stderr


@pytest.mark.parametrize(("line", "said"), [
    ("slope(3.0) + 1", "If this None is a gradient, call minitape.explain.warn()"),  # its tape is gone
    ("later * 1.0", "The target was not computed from w"),
])  # fmt: skip
def test_the_reason_is_that_of_the_last_none(line, said, tmp_path) -> None:
    (tmp_path / "train.py").write_text(
        "import minitape as tf\nv, w = tf.Variable(2.0), tf.Variable(3.0)\nwith tf.GradientTape() as first:\n"
        "    y = tf.round(v)\nfirst.gradient(y, v)\nwith tf.GradientTape() as tape:\n    z = v * v\n"
        "later = tape.gradient(z, w)\ndef slope(x):\n    c = tf.constant(x)\n    with tf.GradientTape() as own:\n"
        f"        y = c * c\n    return own.gradient(y, c)\n{line}\n"
    )
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "NoneType" in done.stderr and said in done.stderr
    assert "tf.round" not in done.stderr  # the other tape has nothing to do with it


def test_another_error_of_pythons_has_no_note(tmp_path) -> None:
    (tmp_path / "train.py").write_text(
        "import minitape as tf\nv = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = tf.round(v)\n"
        "tape.gradient(y, v)\nNone.upper()\n"
    )
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "'NoneType' object has no attribute 'upper'" in done.stderr and "gradient is" not in done.stderr


# a program's last line | what is said beside the error when it is shown
SHOWN = """
y.grad | Use tape.gradient(y, x) instead.
y.backward() | Use tape.gradient(y, x) instead.
tape.backward(y) | Use tape.gradient(y, x) instead.
y.detach() | Use tf.stop_gradient(x) instead.
y.item() | Use float(x) instead.
y.requires_grad | tape.watch(x) in the block
x.data | Use x.numpy(), or x[i:j] for a batch
c.mean() | Use tf.reduce_mean(x) instead.
c.T | Use tf.transpose(x) instead.
c.exp() | Use tf.exp(x) instead.
c.assign(2.0) | with x = tf.Variable(value)
tape.draw() | tf.draw(tape)
tf.keras.optimizers.SGD().step() | optimizer.apply_gradients
tf.keras.optimizers.SGD(lr=0.1) | learning_rate
tf.reduce_sum(c, dim=0) | axis
tape.gradient(y) | tape.gradient(y, x)
tape.jacobian(y, np.ones(2)) | without .numpy()
tape.jacobian(3.0, x) | without .numpy()
tape.gradient(x, y) * 2.0 | should be passed as the target
tf.Variable(3) * 2.0 | tf.Variable(3.0)
tf.sqrt(4) | 3.0 instead of 3
tf.constant(np.ones(2)) * c | floats are float64 by default
tf.matmul(np.ones([2, 2]), tf.ones([2, 2])) | floats are float64 by default
c + [1.0, 2.0, 3.0] | equal or one of them is 1
tf.ones([2, 2]) @ c | tf.linalg.matvec
tf.concat(c, c) | tf.concat([a, b], 0)
tf.zeros(2, 3) | tf.zeros([2, 3])
tf.Tensor([1.0]) | tf.constant(value)
c[0] = 5.0 | v[0].assign(value)
f"{x:.2f}" | x.numpy()
float(c) | x[0]
bool(c > 0) | tf.where(x > 0, a, b)
round(y, 2) | round(float(x), 2)
tf.constant([x, x]) | tf.stack([x, y])
c + None | without a return statement
y[0] | no elements
len(y) | no elements
tf.float32(3) | tf.constant(3, tf.float32)
with tf.GradientTape as t: pass | parentheses after the class are missing
x ^ 2 |
x += 1 |
tf.ones([2, 2]) @ [1.0, 2.0] | into a column with tf.expand_dims(vector, 1). Both functions also accept a list.
undefined |
np.ones(2).grad |
np.ones(2) + np.ones(3) |
"""


@pytest.mark.parametrize("row", SHOWN.strip().split("\n"))
def test_an_error_that_is_shown_says_what_fixes_it_without_our_frames(row: str) -> None:
    from minitape.explain import uncaught_errors

    state.memory.last_none_tape = type(None)
    line, _, said = row.partition(" |")
    x, c = tf.Variable(3.0), tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(Exception) as error:
        exec(line, {"tf": tf, "np": np, "x": x, "c": c, "y": y, "tape": tape})
    trace = uncaught_errors.add_advice_and_hide_frames(error.value, error.tb)
    files = []
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    assert files == [__file__, "<string>"], files
    assert said.strip() in join_notes(error) and bool(join_notes(error)) == bool(said.strip()), join_notes(error)


def test_the_error_behind_an_error_is_shown_without_our_frames(tmp_path) -> None:
    program = "import minitape as tf\ndef half(x):\n    return x.half()\ntf.py_function(half, [1.0], tf.float32)\n"
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    places = [line.split(", ", 1) for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert [where for _, where in places] == [
        "line 3, in half",
        "line 4, in <module>",
    ] and "UnknownError" in done.stderr


def test_a_program_shows_it_and_python_names_what_is_near(tmp_path) -> None:
    """In a terminal Python says itself what a misspelled name is near to; ``-X dev`` shows all frames."""
    (tmp_path / "train.py").write_text("import sys, minitape as tf\nexec(sys.argv[1])\n")

    def run_line(line: str, *options: str) -> str:
        command = [sys.executable, *options, "train.py", line]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stderr

    assert "Did you mean: 'shape'?" in run_line("tf.constant(1.0).shpae")
    assert "minitape has no tf.variable. Did you mean: 'Variable'?" in run_line("tf.variable(1.0)")
    mixed = "tf.Variable(3) * 2.0"
    assert "minitape" not in run_line(mixed).replace("import minitape", "") and "tf.Variable(3.0)" in run_line(mixed)
    assert "variable_operators.py" in run_line(mixed, "-X", "dev")


@pytest.mark.parametrize("extensions", [(), (KeyError,)])
def test_a_notebook_shows_the_reason_with_every_error(extensions, monkeypatch) -> None:
    """Also where lessons were imported first; the advice on names, which lessons had, has the same hook."""
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    from minitape.explain import uncaught_errors

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    shell.custom_exceptions = extensions
    try:
        uncaught_errors.install_error_hooks()
        importlib.import_module("minitape.course")
        shown: list[BaseException] = []
        shell.showtraceback = lambda error, tb_offset=None: shown.append(error[1])
        shell.run_cell(
            "import minitape as tf\nv = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = tf.round(v)\n"
            "0.1 * tape.gradient(y, v)"
        )
        shell.run_cell("tape.gradeint(y, v)")
        shell.run_cell("nowhere")
        said = ["".join(getattr(error, "__notes__", "")) for error in shown if error is not None]
    finally:
        InteractiveShell.clear_instance()
    if extensions:
        assert not any(said)  # another extension takes the errors
    else:
        assert "tf.round" in said[0] and said[1] == "Did you mean gradient?" and said[2].startswith("If a cell above")


def test_keras_warning_carries_the_reason() -> None:
    model, spare = build_network(), tf.keras.layers.Dense(1)
    spare.build((None, 3))
    variables = model.trainable_variables + spare.trainable_variables
    optimizer = tf.keras.optimizers.SGD(0.1)
    said = set()
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(tf.ones([2, 3])))
        with pytest.warns(UserWarning, match="Gradients do not exist for variables") as caught:
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        said.add(str(caught[0].message))
    (text,) = said  # asked once
    assert "unused_layer" in text and "test_unasked.py" in text and "The same reason applies to 1 more." in text


def test_an_operation_without_a_gradient_says_where_it_is() -> None:
    x = tf.Variable([1.0, 2.0, 1.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.unique(x)[0])
    with pytest.raises(LookupError, match="gradient registry has no entry for: Unique") as error:
        tape.gradient(y, x)
    assert "The gradient is missing: no_gradient_registered" in join_notes(error) and "test_unasked.py" in join_notes(
        error
    )


def test_a_lookup_error_of_the_users_is_left_alone() -> None:
    @tf.custom_gradient
    def f(x):
        return x * 1.0, lambda g: {}["missing"]

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = f(x)
    with pytest.raises(KeyError) as error:
        tape.gradient(y, x)
    assert join_notes(error) == ""


def test_a_page_has_a_paragraph_for_each_reason() -> None:
    model, spare, w = build_network(), tf.keras.layers.Dense(1), tf.Variable(1.0)
    spare.build((None, 3))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.ones([2, 3]))) * tf.stop_gradient(w)
    why = tape.explain(loss, [*model.trainable_variables, *spare.trainable_variables, w])
    assert [one.name for one in why] == [
        "model.layers[0].kernel", "model.layers[0].bias", "spare.kernel", "spare.bias", "w",
    ]  # fmt: skip
    assert isinstance(why, list) and [one.cause for one in why[:1]] == ["connected"]
    page = str(why)
    paragraphs = page.split("\n\n")
    assert len(paragraphs) == 3 and paragraphs[0].startswith("No gradient for ") and "(2 of 5)." in paragraphs[0]
    assert "No gradient for w (1 of 5).\nstop_gradient: " in page and paragraphs[-1].startswith("Gradient found for ")
    assert why._repr_html_().count("<b>") == 3
    named = tape.explain(loss, {"w": w})
    assert named["w"].cause == "stop_gradient" and str(named).startswith("No gradient for w (1 of 1).")
    assert str(tape.explain(loss, [])).startswith("There are no sources, because the list of variables is empty.")


def test_a_column_and_a_row_are_told() -> None:
    p, labels = tf.Variable(tf.ones([4, 1])), tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        wrong = tf.reduce_mean((p - labels) ** 2)
    why = tape.explain(wrong, p)
    assert why.connected and "broadcast to (4, 4)" in why.message and "tf.squeeze" in why.fix
    with tf.GradientTape() as tape:
        right = tf.reduce_mean((tf.squeeze(p, -1) - labels) ** 2)
    assert "broadcast" not in tape.explain(right, p).message

    def compute_distance(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        column = tf.reshape(a, (-1, 1))
        return tf.reduce_mean(tf.abs(column - b))

    w = tf.Variable([0.5, 2.5, 7.0, 3.5])
    with tf.GradientTape() as tape:
        energy = 2.0 * compute_distance(drawn := w * 1.0, labels) - compute_distance(drawn, drawn)
    assert tape.explain(energy, w).cause == "connected"


def test_nan_in_an_array_that_a_model_is_given() -> None:
    data = np.array([[1.0, np.nan, 0.0]], np.float32)
    model = build_network()
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean(model(data) ** 2)
    why = tape.explain(loss, model.trainable_variables[0])
    assert (why.cause, why.code) == ("nan_input", "loss = tf.reduce_mean(model(data) ** 2)")
    assert "leave out the affected rows" in why.fix


def build_layer() -> tf.keras.layers.Dense:
    layer = tf.keras.layers.Dense(2)
    layer.build([2, 3])
    return layer


@pytest.mark.parametrize(("mistake", "kind", "says"), [
    (lambda x, y, tape: tape.gradient(y, 3.0), AttributeError, "A plain float is not a tensor"),
    (lambda x, y, tape: tape.gradient(y.numpy(), x), AttributeError, "without .numpy()"),
    (lambda x, y, tape: tape.gradient("y", x), TypeError, "'y' is neither a tensor nor a variable"),
    (lambda x, y, tape: tape.watch(build_layer().variables), ValueError,
     "kernel is a Keras variable that wraps a tf.Variable"),
    (lambda x, y, tape: tape.watch(3.0), ValueError, "x = tf.constant(data), and watch x"),
    (lambda x, y, tape: tf.GradientTape().gradient(y, x), RuntimeError, "never entered, so it recorded nothing"),
    (lambda x, y, tape: tf.GradientTape(persistent=True).jacobian(y, x), RuntimeError,
     "with tf.GradientTape() as tape"),
    (lambda x, y, tape: tf.GradientTape().watch(y), AttributeError, "never entered"),
])  # fmt: skip
def test_what_learners_pass_to_a_tape_by_mistake(mistake, kind, says) -> None:
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    with pytest.raises(kind) as caught:
        mistake(x, y, tape)
    assert says in join_notes(caught)


def test_target_and_source_that_are_swapped() -> None:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.sin(x)
        z = y * y
    answer = tape.explain(y, [z, x])[0]
    assert (
        answer.cause == "independent"
        and "z was computed from the target" in answer.message
        and "tape.gradient(z, ...)" in answer.fix
    )
    assert answer.line is None and tape.gradient(y, z) is None
