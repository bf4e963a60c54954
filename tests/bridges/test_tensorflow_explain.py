"""``recording.explain`` for TensorFlow: what is asked of it alone; ``test_explain`` has the rest."""

import numpy as np
import pytest

tensorflow = pytest.importorskip("tensorflow", reason="TensorFlow is not installed: pip install 'minitape[tensorflow]'")

from minitape.bridges import tensorflow as bridge  # noqa: E402 - behind the check for TensorFlow


def find_line_number(text):
    """On which line of this file a statement stands."""
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if line.strip() == text)


def test_several_targets():
    a, b = tensorflow.Variable(2.0), tensorflow.Variable(3.0)
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            targets = [tensorflow.stop_gradient(a * 2.0), a * b, b + 1.0]
        tape.gradient(targets, [a, b])
    assert recording.explain(targets, a).connected
    assert [other.cause for other in recording.explain(targets, a).others] == ["stop_gradient"]
    assert recording.explain(targets[::2], a).cause == "stop_gradient"
    assert recording.explain([], a).cause == "target_not_tensor"


def test_a_pass_from_a_scaled_loss_answers_for_the_loss():
    w, u = tensorflow.Variable([1.0, 2.0]), tensorflow.Variable([1.0, 2.0])
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            loss = tensorflow.reduce_sum(w * w + u * tensorflow.zeros(2))
            scaled = loss / 4.0
        tape.gradient(scaled, [w, u])
    assert [recording.explain(loss, each).cause for each in (w, u)] == ["connected", "zero_factor"]


def test_variables_of_one_number_are_both_used():
    a, b = tensorflow.Variable(0.0), tensorflow.Variable(0.0)
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            y = tensorflow.cos(b) * tensorflow.sin(a) + b
        tape.gradient(y, [a, b])
    assert recording.explain(y, a).connected and recording.explain(y, b).connected


def test_other_answers():
    w = tensorflow.Variable(2.0, name="w")
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            y = tensorflow.stop_gradient(w * 2.0) * 1.0
        number = y.numpy()
        slope = tape.gradient(y, w)
    assert slope is None
    assert recording.explain(number, w).cause == "target_not_tensor"
    assert [why.cause for why in recording.explain(y, [w])] == ["stop_gradient"]
    assert str(recording.explain(y, [w])).startswith("No gradient for w (1 of 1).\nstop_gradient: ")
    with pytest.raises(TypeError, match="takes a tensor or a variable as its source"):
        recording.explain(y, 3.0)


class Fit:
    def __init__(self):
        self.start = tensorflow.constant([1.0, 2.0])


def test_a_target_that_is_a_number_is_not_the_variable_that_has_this_number():
    w = tensorflow.Variable(1.0)  # TensorFlow keeps one memory for equal numbers
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            loss = tensorflow.constant(1.0) if w > 0.0 else w
        slope = tape.gradient(loss, w)
    assert slope is None
    assert recording.explain(w).cause == recording.explain(loss, w).cause == "python_branch"


def test_a_gradient_that_is_the_target_is_a_plain_value():
    x = tensorflow.Variable(2.0)
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            y = x * x * x
        slope = tape.gradient(y, x)  # No later operation reads the gradient.
    with tensorflow.GradientTape() as tape:
        pass
    assert tape.gradient(slope, x) is None
    explanation = recording.explain(slope, x)
    line = find_line_number("slope = tape.gradient(y, x)  # No later operation reads the gradient.")
    assert (explanation.cause, explanation.line) == ("computed_after_tape", line)


def test_a_place_in_a_list_is_the_last_of_names():
    weights = {"hidden": tensorflow.Variable([1.0])}
    listed, only = list(weights.values()), [tensorflow.Variable([2.0])]
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        loss = tensorflow.reduce_sum(listed[0] * only[0])
    tape.gradient(loss, [*listed, *only])
    assert list(recording.explain()) == ["weights['hidden']", "only[0]"]


def test_what_was_made_before_the_block_has_its_name_and_line():
    power, fit = tensorflow.Variable(2), Fit()
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        y = tensorflow.reduce_sum(fit.start ** tensorflow.cast(power, tensorflow.float32))
        tape.gradient(y, [power, fit.start])
    why = recording.explain(y, power)
    assert (why.cause, why.line) == ("integer_dtype", find_line_number("power, fit = tensorflow.Variable(2), Fit()"))
    why = recording.explain(y, fit.start)
    assert why.cause == "not_watched" and "tape.watch(fit.start)" in why.fix


def test_the_words_know_what_a_layer_looks_up():
    w, look_up = tensorflow.Variable([[0.2, 0.7]]), tensorflow.keras.layers.Embedding(2, 3)
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        y = tensorflow.reduce_sum(look_up(tensorflow.argmax(w, axis=-1)))
        tape.gradient(y, w)
    assert "Weight all the candidates" in recording.explain(y, w).fix


def in_python(value):
    return np.float32(value.numpy().sum())


def test_a_backward_pass_that_raised_is_the_last_one():
    w = tensorflow.Variable([[1.0], [2.0]])
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        y = tensorflow.py_function(in_python, [tensorflow.ones((3, 2)) @ w], tensorflow.float32)
        with pytest.raises(tensorflow.errors.InvalidArgumentError):
            tape.gradient(y, w)
    why = recording.explain(w)
    assert (why.cause, why.line) == ("left_through_numpy", find_line_number("return np.float32(value.numpy().sum())"))


def test_one_break_is_said_once_where_a_result_is_kept():
    w, kept = tensorflow.Variable([1.0, 2.0]), []
    with bridge.record() as recording:
        for _ in range(2):
            with tensorflow.GradientTape() as tape:
                kept.append(w * 3.0)
                y = tensorflow.reduce_sum(tensorflow.concat([kept[0], [1.0]], 0))
            tape.gradient(y, w)
    why = recording.explain(y, w)
    assert (why.cause, why.line, why.others) == ("computed_before_tape", find_line_number("kept.append(w * 3.0)"), [])


def halved(value):
    return tensorflow.round(value) / 2.0


def test_a_line_that_autograph_runs_from_a_file_of_its_own():
    w = tensorflow.Variable([1.2, 2.7])
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        y = tensorflow.reduce_sum(tensorflow.map_fn(halved, w * 1.0))
        tape.gradient(y, w)
    why = recording.explain(y, w)
    assert (why.cause, why.line, why.filename) == (
        "nondifferentiable",
        find_line_number("return tensorflow.round(value) / 2.0"),
        __file__,
    )


def test_the_newer_of_two_equal_variables_is_blamed_though_the_other_is_older_than_the_block():
    w = tensorflow.Variable([1.0, 2.0])
    with bridge.record() as recording:
        twin = tensorflow.Variable([1.0, 2.0])
        with tensorflow.GradientTape() as tape:
            y = tensorflow.reduce_sum(twin * twin)
        tape.gradient(y, w)
    why = recording.explain(y, w)
    assert (why.cause, why.code) == ("wrong_object", "twin = tensorflow.Variable([1.0, 2.0])")


def test_watched_late_and_recorded_all_the_same():
    """An operation that a variable is an input of is recorded with all of its inputs: a watch that comes later is
    enough.
    """
    w, x = tensorflow.Variable([2.0, 3.0]), tensorflow.constant([0.5, 1.5])
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        h = x * w
        tape.watch(x)
        y = tensorflow.reduce_sum(h)
        slope = tape.gradient(y, x)
    assert slope.numpy().tolist() == [2.0, 3.0]
    assert recording.explain(y, x).connected


def test_a_watch_during_a_pause_is_no_other_tape():
    x = tensorflow.constant(3.0)

    def begin(tape):
        tape.watch(x)

    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        with tape.stop_recording():  # the pause
            begin(tape)
        y = x * x
    assert tape.gradient(y, x) is None
    why = recording.explain(y, x)
    assert (why.cause, why.line) == ("recording_paused", find_line_number("with tape.stop_recording():  # the pause"))
    assert "has no effect" in why.message and "Call tape.watch(x) outside" in why.fix


def test_the_tape_of_minitape_is_asked_beside_tensorflow():
    """Who holds a variable is looked for among all objects that live; Python's collector crashed on some of
    TensorFlow's.
    """
    import minitape as tf

    kept = [
        tensorflow.keras.Sequential([tensorflow.keras.layers.Dense(2)])(tensorflow.ones([1, 3])),
        tensorflow.function(halved),
    ]
    used, unused = tf.keras.layers.Dense(1), tf.keras.layers.Dense(1)
    unused.build((None, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(used(tf.ones([1, 2])))
    whys = tape.explain(loss, [used.kernel, unused.kernel])
    assert [why.cause for why in whys] == ["connected", "unused_layer"]
    assert len(kept) == 2


def test_a_dataset_that_was_made_before_the_block_reads_a_variable():
    w = tensorflow.Variable([1.0, 2.0], name="w")
    data = tensorflow.data.Dataset.from_tensor_slices([1.0, 2.0]).map(lambda x: x * w)
    made = test_a_dataset_that_was_made_before_the_block_reads_a_variable.__code__.co_firstlineno + 2
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            loss = tensorflow.constant(0.0)
            for row in data:
                loss += tensorflow.reduce_sum(row)
        assert tape.gradient(loss, w) is None
    why = recording.explain(loss, w)
    assert (why.cause, why.line) == ("left_through_numpy", made), str(why)


def test_a_variable_of_whole_numbers_is_explained_with_its_model_if_its_gradient_was_asked_for():
    net = tensorflow.Module()
    net.table, net.order = tensorflow.Variable([1.0, 2.0]), tensorflow.Variable([1, 0])
    for sources, causes in (
        ([net.table], {"net.table": "connected"}),
        ([net.table, net.order], {"net.table": "connected", "net.order": "integer_dtype"}),
    ):
        with bridge.record() as recording:
            with tensorflow.GradientTape() as tape:
                loss = tensorflow.reduce_sum(tensorflow.gather(net.table, net.order) ** 2)
            tape.gradient(loss, sources)
        assert {name: why.cause for name, why in recording.explain(loss, net).items()} == causes


# -- a step that is compiled as a whole ------------------------------------------------------------


def build_compiled_step(squeezes):
    import keras

    model = keras.Sequential([keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.01)

    @tensorflow.function
    def step(x, y):
        with tensorflow.GradientTape() as tape:
            predicted = model(x)
            if squeezes:
                predicted = predicted[:, 0]
            loss = tensorflow.reduce_mean((predicted - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    x, y = tensorflow.random.stateless_normal((8, 4), (1, 2)), tensorflow.random.stateless_normal((8,), (3, 4))
    return model, lambda: step(x, y)


@pytest.mark.parametrize("before", [False, True], ids=["traced in the block", "traced before"])
@pytest.mark.parametrize(("squeezes", "causes"), [(True, {"connected"}), (False, {"broadcast"})])
def test_a_compiled_step_is_looked_into(squeezes, causes, before):
    model, step = build_compiled_step(squeezes)
    for _ in range(before):
        step()
    with bridge.record() as recording:
        step()
    page = recording.explain(model)
    assert {answer.cause for answer in page.values()} == causes
    assert all(answer.numbers.norm > 0 for answer in page.values())
    alone = recording.explain(model.layers[0].kernel)
    assert {alone.cause} == causes
    with bridge.record() as again:  # what was noted when it was traced is there for later blocks
        step()
    assert {answer.cause for answer in again.explain(model).values()} == causes


def test_an_answer_about_a_compiled_step_changes_nothing(capsys):
    def run_and_read_state(asks):
        tensorflow.keras.utils.set_random_seed(5)
        model, step = build_compiled_step(True)
        w = tensorflow.Variable(1.0)

        @tensorflow.function
        def noisy():
            print("traced")
            tensorflow.print("run", output_stream="file:///dev/null")
            with tensorflow.GradientTape() as tape:
                loss = tensorflow.round(w * tensorflow.random.normal([]))
            return loss, tape.gradient(loss, w), w.assign_add(1.0)

        with bridge.record() as recording:
            step()
            noisy()
        said = capsys.readouterr().out
        if asks:
            assert {answer.cause for answer in recording.explain(model).values()} == {"connected"}
            assert recording.explain(w).cause == "nondifferentiable"
        assert said.count("traced") and not capsys.readouterr().out
        noise = tensorflow.random.normal([3])
        return [value.numpy().tolist() for value in (*model.variables, w, noise)]

    assert run_and_read_state(asks=False) == run_and_read_state(asks=True)


def test_compiled_steps_are_counted():
    model, step = build_compiled_step(False)
    with bridge.record(every=4) as steps:
        for _ in range(10):
            step()
    assert steps.steps == 10
    assert len(steps.latest) < 60  # of one step
    assert {answer.cause for answer in steps.explain(model).values()} == {"broadcast"}


def test_a_layer_whose_gradient_is_not_asked_for_is_not_called_healthy():
    first, second = tensorflow.keras.layers.Dense(2), tensorflow.keras.layers.Dense(1)
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        loss = tensorflow.reduce_sum(second(first(tensorflow.ones((3, 2)))))
        tape.gradient(loss, second.trainable_variables)
    layers = {"first": first, "second": second}
    page = recording.explain({f"{name}.{v.name}": v for name, one in layers.items() for v in one.variables})
    assert not page.problems
    assert "Not trained, because the program does not request a gradient: first.kernel, bias (2 of 4)." in str(
        page
    ) and "Healthy: second.kernel, bias" in str(page)


def test_layers_with_private_names_are_parts_of_a_model():
    keras = tensorflow.keras
    given = keras.Input((5, 4))
    model = keras.Model(given, keras.layers.Dense(1)(keras.layers.MultiHeadAttention(2, 3)(given, given)))
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        loss = tensorflow.reduce_sum(model(tensorflow.random.normal((2, 5, 4))) ** 2)
        tape.gradient(loss, model.trainable_variables)
    answers = recording.explain(model)
    assert len(answers) == len(model.trainable_variables) == 10
    assert "model.layers[1].query.kernel" in answers


def test_what_keras_predicts_left_by_predict():
    first, second = (tensorflow.keras.Sequential([tensorflow.keras.layers.Dense(2)]) for _ in range(2))
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        loss = tensorflow.reduce_sum(second.predict(first(tensorflow.ones((2, 3))), verbose=0))
        tape.gradient(loss, first.trainable_variables)
    answer = recording.explain(first.trainable_variables[0])
    assert answer.cause == "left_through_numpy"
    assert "left TensorFlow through predict()" in answer.message and "dataset" not in answer.message


def test_a_norm_of_zeros_is_written_as_a_root_and_a_root_of_zeros_as_it_is():
    w, n = tensorflow.Variable([1.0, 2.0]), tensorflow.constant([[0.0], [2.0]])
    with bridge.record() as recording:
        with tensorflow.GradientTape(persistent=True) as tape:
            norm = tensorflow.reduce_sum(tensorflow.norm(n * w, axis=1))
            root = tensorflow.reduce_sum(tensorflow.sqrt(n * w))
        tape.gradient(norm, w), tape.gradient(root, w)
    norm, root = recording.explain(norm, w), recording.explain(root, w)
    assert "(for a norm, to the sum of squares)" in norm.fix and norm.patch is None
    assert "Add a small number such as 1e-12" in root.fix


def test_a_tensor_whose_gradient_is_none_is_on_the_page():
    x, model = tensorflow.constant([[1.0, 2.0]]), tensorflow.keras.layers.Dense(1)
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            score = model(x)
        gradient = tape.gradient(score, x)
    assert gradient is None and [(one.name, one.cause) for one in recording.problems] == [("x", "not_watched")]


def test_what_alone_is_asked_for_is_not_frozen_on_purpose():
    w, scale = tensorflow.Variable(2.0), tensorflow.Variable(3.0, trainable=False)
    with bridge.record() as recording:
        with tensorflow.GradientTape(persistent=True) as tape:
            y = w * scale
        both, alone = tape.gradient(y, [w, scale]), tape.gradient(y, scale)
    assert both[1] is None and alone is None
    assert [problem.cause for problem in recording.problems] == ["not_trainable"]
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            y = w * scale
        tape.gradient(y, [w, scale])
    assert not recording.problems


def test_a_step_that_makes_a_tensor_of_a_variable_is_no_derivative_in_the_target():
    w = tensorflow.Variable(1.0)
    with bridge.record() as recording:
        for _ in range(2):
            with tensorflow.GradientTape() as tape:
                loss = (w - 5.0) ** 2
            gradient = tape.gradient(loss, w)
            w = w - 0.1 * (gradient if gradient is not None else 0.0)
    assert gradient is None and [problem.cause for problem in recording.problems] == ["rebound"]


def test_of_two_cuts_the_one_that_is_no_target_is_to_blame():
    w = tensorflow.Variable(1.0)
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            target = tensorflow.stop_gradient(3.0 * w)
            value = tensorflow.stop_gradient(2.0 * w)
            loss = (value - target) ** 2
        tape.gradient(loss, w)
    why = recording.explain(loss, w)
    assert (why.cause, why.code, why.others) == ("stop_gradient", "value = tensorflow.stop_gradient(2.0 * w)", [])
    assert why.patch == "value = 2.0 * w"


def test_a_variable_that_nothing_used_and_whose_gradient_is_none_is_on_the_page():
    w, spare = tensorflow.Variable(2.0), tensorflow.Variable(3.0)
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            y = w * w
        assert tape.gradient(y, [w, spare])[1] is None
    assert [(one.name, one.cause) for one in recording.problems] == [("spare", "independent")]
