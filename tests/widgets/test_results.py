"""The row of results: the numbers that the program got, with every call, every state and every None."""

import re

import numpy as np
import pytest

import minitape as tf
from minitape.bridges.recording import Recording
from minitape_widgets import TapeView
from tests.jupyterlab_page import wait_for_frame

from .conftest import read_position, type_keys

pytestmark = pytest.mark.browser


def test_states_add_up_and_none_has_its_reason(show):
    v, u = tf.Variable(2.0, name="v"), tf.Variable(1.0, name="u")
    with tf.GradientTape(persistent=True) as tape:
        y = v * 3.0
        v.assign_add(1.0)
        z = y * v
    tape.gradient(y, v), tape.gradient(z, [v, u])
    page = show(tf.snapshot(tape))
    lines = [" ".join(text.split()) for text in page.locator(".mt-result").all_inner_texts()]
    assert lines[0] == "call 1 ∂y / ∂v = 3.0 show its steps"
    assert lines[1].startswith("call 2 (shown): ∂z / ∂v = 15.0 (9.0 at row 0 + 6.0 at row 3) ∂z / ∂u = None")
    message = tape.explain(z, u).message
    assert message in page.locator(".mt-alarm").inner_text() and page.locator(".mt-reason").is_hidden()  # told once
    page.locator(".mt-result .mt-link").last.click()
    page.locator(".mt-node.mt-selected[data-id=r3]").wait_for()


def test_each_state_of_a_variable_has_its_part_of_the_gradient_where_the_picture_opens(show):
    w = tf.Variable(1.0, name="w")
    with tf.GradientTape() as tape:
        y = w * 2.0
        w.assign(5.0)
        z = w * y
    assert float(tape.gradient(z, w)) == 12.0
    page = show(tf.snapshot(tape))
    assert page.locator(".mt-node.mt-variable .mt-adjoint").all_text_contents() == ["∂ 10.0", "∂ 2.0"]
    assert "12.0 (10.0 at row 0 + 2.0 at row 3)" in page.locator(".mt-result").inner_text()
    assert "= 10.0 + 2.0 = 12.0<" in tf.draw(tape).svg


def test_results_are_shown_at_every_step_and_a_source_has_its_gradient_at_the_opening_and_the_end(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(x) * x
    page = show(tf.snapshot(tape, y, x))
    gradient = f"{np.cos(3.0) * 3.0 + np.sin(3.0):.4g}"
    seen = []
    for key in ("Shift", "ArrowLeft", "ArrowRight", "ArrowRight", "End"):
        type_keys(page, key)
        assert f"∂y / ∂x = {gradient}" in page.locator(".mt-result").inner_text()
        seen.append(gradient in page.locator(".mt-node[data-id=r0]").text_content())
    assert seen == [True, False, True, False, True]  # at the opening as often as the reader is there


def test_compared_tapes_show_their_results_where_they_differ(show):
    x = tf.Variable(0.8, name="x")
    tapes = []
    for function in (tf.sigmoid, tf.tanh):
        with tf.GradientTape() as tape:
            y = function(x * 2.0)
        tape.gradient(y, x)
        tapes.append(tape)
    squared = 1 - np.tanh(1.6) ** 2
    by_hand = [2 * np.exp(1.6) / (1 + np.exp(1.6)) ** 2, 2 * squared]
    for view, number in zip(TapeView.compare(*tapes).views, by_hand, strict=True):
        page = show(view._build_snapshot())
        assert page.locator(".mt-count").inner_text().startswith("forward")
        assert float(page.locator(".mt-result b").inner_text()) == pytest.approx(number, rel=1e-3)


@pytest.mark.parametrize("watches", ["variable", "watched constant", "two targets", "seeded"])
def test_a_source_that_is_the_target_has_the_gradient_that_the_call_returned(watches, show):
    x = tf.constant([2.0, 3.0]) if watches == "watched constant" else tf.Variable([2.0, 3.0], name="x")
    with tf.GradientTape() as tape:
        if watches == "watched constant":
            tape.watch(x)
        y = x
    seed = tf.constant([5.0, 7.0]) if watches == "seeded" else None
    gradient = tape.gradient([y, y] if watches == "two targets" else y, x, output_gradients=seed)
    view = TapeView(tape)
    for snapshot in (view.read_snapshot(), tf.snapshot(tape)):
        assert snapshot["results"][0]["sources"][0]["gradient"]["data"] == gradient.numpy().tolist()
    page = show(tf.snapshot(tape))
    line = page.locator(".mt-result").inner_text()
    assert "None" not in line and str(gradient.numpy()).replace(".", "") in line.replace(".", "")
    assert page.locator(".mt-hint").is_hidden() or "recorded no operation" in page.locator(".mt-hint").inner_text()


def test_an_open_tape_records_nothing_of_a_picture_of_a_source_that_is_the_target():
    x, z = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x
    tape.gradient([y, y], x)
    with tf.GradientTape() as other:
        z * z
        rows = len(other.record)
        assert tf.snapshot(tape)["results"][0]["sources"][0]["gradient"]["data"] == 2.0
        assert len(other.record) == rows


@pytest.mark.long(sample=2)
@pytest.mark.parametrize("row_count", [200, 2500])
def test_none_keeps_its_reason_on_a_long_tape(row_count, show):
    x, u, count = tf.Variable(1.0, name="x"), tf.Variable(2.0, name="u"), tf.Variable(3, name="count")
    with tf.GradientTape() as tape:
        y = x + tf.stop_gradient(u * 2.0) + tf.cast(count, tf.float32)
        for _ in range(row_count):
            y = y * 0.999
    assert tape.gradient(y, [x, u, count])[1:] == [None, None]
    snapshot = tf.snapshot(tape)
    sources = snapshot["results"][0]["sources"]
    assert [source["none"] for source in sources] == [False, True, True]
    assert "stop_gradient" in sources[1]["reason"] and "int32" in sources[2]["reason"]
    assert [alarm["kind"] for alarm in snapshot["alarms"]] == ["none", "none"]
    page = show(snapshot)
    page.locator(".mt-result-source").nth(2).wait_for()
    lines = [" ".join(text.split()) for text in page.locator(".mt-result-source").all_inner_texts()]
    assert all(" = None" in line and "not computed" not in line for line in lines[1:]) and "None" not in lines[0]
    assert page.locator(".mt-alarm").count() == 2 and page.locator(".mt-reason").count() == 2


def test_reasons_that_the_strip_cuts_off_are_read_at_their_sources(show):
    names = [f"v{k}" for k in range(4)]
    vs = [tf.Variable(float(k), name=name) for k, name in enumerate(names)]
    with tf.GradientTape() as tape:
        y = vs[0] + tf.stop_gradient(vs[1])
        y = y + tf.stop_gradient(vs[2])
        y = y + tf.stop_gradient(vs[3])
    tape.gradient(y, vs)
    page = show(tf.snapshot(tape))
    reasons = page.locator(".mt-reason")
    assert reasons.count() == 3 and page.locator(".mt-strip > *").count() == 3
    reasons.last.locator("summary").click()
    assert "stop_gradient" in reasons.last.inner_text()


def test_a_reason_names_variables_as_the_program_does(tmp_path, monkeypatch):
    program = tmp_path / "two_variables.py"
    program.write_text(
        "import minitape as tf\nx = tf.Variable(2.0)\ny = tf.Variable(3.0)\n"
        "with tf.GradientTape() as tape:\n    z = tf.stop_gradient(x) * y\ntape.gradient(z, [x, y])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    names = vars(__import__("two_variables"))
    view = TapeView(names["tape"], _namespaces=[names])
    (reason,) = [source["reason"] for source in view.read_snapshot()["results"][0]["sources"] if source["reason"]]
    assert "from the target to x." in reason


def test_what_another_tape_of_the_block_gave_is_a_result_with_its_own_steps(show):
    g, d = tf.Variable(1.0, name="g"), tf.Variable(2.0, name="d")
    with tf.GradientTape() as tape, tf.GradientTape() as other:
        fake = g * 2.0
        d_loss = fake * d
        g_loss = -d_loss
    view = TapeView(tape)
    tape.gradient(d_loss, d)
    assert len(view.read_snapshot()["results"]) == 1
    assert other.gradient(g_loss, g).numpy() == -4.0
    live, snapshot = view.read_snapshot(), tf.snapshot(tape)
    for results in (live["results"], snapshot["results"]):
        assert [(one["sources"][0]["gradient"]["text"], one["shown"]) for one in results] == [
            ("-4.0", False),
            ("2.0", True),
        ]
    page = show(snapshot)
    assert "∂d_loss / ∂d" in page.locator(".mt-result.mt-shown").inner_text()
    page.get_by_role("button", name="show its steps").click()
    type_keys(page, "End")
    page.locator(".mt-node[data-id=r0] .mt-adjoint", has_text="∂ -4.0").wait_for(timeout=10_000)


@pytest.mark.parametrize("how", ["keras", "assign_sub"])
def test_the_last_step_is_the_optimizers(how, show):
    w, b = tf.Variable([2.0, 4.0], name="w"), tf.Variable(-1.0, name="b")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w) * b
    gradients = tape.gradient(loss, [w, b])
    assert [source["now"] for source in tf.snapshot(tape)["results"][0]["sources"]] == [None, None]
    if how == "keras":
        tf.keras.optimizers.SGD(0.25).apply_gradients(zip(gradients, [w, b], strict=True))
    else:
        for variable, gradient in zip([w, b], gradients, strict=True):
            variable.assign_sub(0.25 * gradient)
    snapshot = tf.snapshot(tape)
    assert (
        [source["now"]["data"] for source in snapshot["results"][0]["sources"]]
        == [w.numpy().tolist(), b.numpy()]
        == [[3.0, 6.0], -6.0]
    )
    page = show(snapshot)
    type_keys(page, "End")
    assert read_position(page) == "update"
    assert page.locator(".mt-node[data-id=r0] .mt-value").text_content() == "→ [3. 6.]"
    assert page.locator(".mt-node.mt-variable .mt-value").all_text_contents()[1] == "-1.0 → -6.0"
    words = " ".join(page.locator(".mt-step").inner_text().split())
    assert "(w) [2. 4.] − 0.25 × [-4. -8.] = [3. 6.]" in words and "(b) -1.0 − 0.25 × 20.0 = -6.0" in words
    type_keys(page, "ArrowLeft")
    assert (
        read_position(page).startswith("backward")
        and page.locator(".mt-node[data-id=r0] .mt-value").text_content() == "[2. 4.]"
    )


def test_another_rule_of_update_is_shown_without_a_rate(show):
    w = tf.Variable([2.0, 4.0], name="w")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    gradient = tape.gradient(loss, w)
    for factor in (0.5, 0.25):
        w.assign(w * tf.constant([factor, 1.0]) - gradient)
    page = show(tf.snapshot(tape))
    type_keys(page, "End")
    words = " ".join(page.locator(".mt-step").inner_text().split())
    assert "(w), assigned 2 times value [2. 4.], gradient [4. 8.], new value [ -4.75 -12. ]" in words


def test_many_sources_are_shown_when_somebody_asks(show):
    x = [tf.Variable(float(k), name=f"x{k}") for k in range(12)]
    with tf.GradientTape() as tape:
        y = tf.add_n(x)
    tape.gradient(y, x)
    page = show(tf.snapshot(tape))
    assert page.locator(".mt-result-source").count() == 8
    page.get_by_role("button", name="4 more").click()
    wait_for_frame(page)
    assert page.locator(".mt-result-source").count() == 12
    type_keys(page, "End")
    page.get_by_role("button", name="fewer").click()
    wait_for_frame(page)
    assert page.locator(".mt-result-source").count() == 8


def test_an_earlier_call_shows_its_own_sweep(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = tf.sin(y) * x
    tape.gradient(y, x)
    second = tape.gradient(z, x)
    snapshot = tf.snapshot(tape)
    page = show(snapshot)
    type_keys(page, "End")
    at_x = page.locator(".mt-node[data-id=r0] .mt-adjoint")
    steps = len(snapshot["sweep"]["steps"])
    assert read_position(page) == f"backward {steps} / {steps}"
    assert float(at_x.text_content()[2:]) == pytest.approx(float(second), rel=5e-4)
    page.get_by_role("button", name="show its steps").click()
    type_keys(page, "End")
    assert read_position(page) == "backward 1 / 1" and at_x.text_content() == "∂ 6.0"
    assert page.locator(".mt-result.mt-shown").inner_text().endswith("= 6.0")
    page.get_by_role("button", name="show its steps").click()
    page.locator(".mt-view").focus()
    type_keys(page, "End")
    assert float(at_x.text_content()[2:]) == pytest.approx(float(second), rel=5e-4)


def test_zeros_that_a_call_returned_in_place_of_none_are_its_result():
    a, b = tf.Variable(2.0, name="a"), tf.Variable([1.0, 2.0], name="b")
    with tf.GradientTape() as tape:
        y = a**3
    returned = tape.gradient(y, [a, b], unconnected_gradients="zero")
    snapshot = tf.snapshot(tape)
    shown = [(source["gradient"]["text"], source["none"]) for source in snapshot["results"][-1]["sources"]]
    assert shown == [(str(gradient.numpy()), False) for gradient in returned]
    assert [alarm["title"] for alarm in snapshot["alarms"]] == ["The gradient for b is zero"]
    assert "None" not in re.sub(r"<desc>.*?</desc>", "", tf.draw(tape).svg)


def list_target_names(snapshot):
    return [result["target"][0]["name"] for result in snapshot["results"]]


def test_the_calls_of_each_tape_are_in_their_order():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            y = x * x
            z = y * x
        slope = inner.gradient(z, x)
        inner.gradient(y, x)
    _ = [outer.gradient(target, x) for target in (slope, z, y)]

    assert list_target_names(tf.snapshot(outer)) == ["z", "y", "slope", "z", "y"]
    assert list_target_names(tf.snapshot(inner)) == ["z", "slope", "z", "y", "y"]  # The last one is the tape's own.
    with tf.GradientTape(persistent=True) as tape:
        p = x * 2.0
        q = p * x
        r = q + p
    _ = [tape.gradient(target, x) for target in (r, p, q)]
    assert list_target_names(tf.snapshot(tape)) == ["r", "p", "q"]


def test_a_long_earlier_sweep_is_not_kept():
    x = tf.Variable(1.01)
    with tf.GradientTape(persistent=True) as tape:
        y = middle = x * 1.0
        for k in range(900):
            y = y * x
            middle = y if k == 300 else middle
    tape.gradient(y, x)
    tape.gradient(middle, x)
    tape.gradient(y, x)
    kept = ["sweep" in result for result in tf.snapshot(tape)["results"]]
    assert kept == [False, True, False]  # in the order of the calls; the last one is the snapshot's own


@pytest.mark.parametrize("how", ["jacobian", "batch_jacobian"])
def test_a_jacobian_is_what_was_returned(show, how):
    a = tf.Variable([[1.0, 2.0], [3.0, 5.0]], name="a")
    with tf.GradientTape(persistent=True) as tape:
        y = a * a
        z = tf.reduce_sum(y, 1) if how == "jacobian" else y
    tape.gradient(y, a)
    returned = getattr(tape, how)(z, a)
    snapshot = tf.snapshot(tape)
    first, second = snapshot["results"]
    assert first["call"] == "gradient" and second["call"] == how and second["shown"]
    assert second["sources"][0]["gradient"]["data"] == returned.numpy().tolist()
    page = show(snapshot)
    line = page.locator(".mt-result.mt-shown")
    assert how.replace("_", " ") in line.inner_text()
    swept = np.array(snapshot["sweep"]["gradients"][0]["data"])
    assert second["element"] == [0] and np.array_equal(
        swept, returned.numpy()[0] if how == "jacobian" else returned.numpy()[:, 0]
    )
    assert line.locator("b").get_attribute("title") == str(returned.numpy())
    assert line.locator(".mt-shape").inner_text() == str(tuple(returned.shape))


def test_the_last_backward_pass_of_another_framework_is_the_result(show):
    recording = Recording("by hand")
    x = recording.add_leaf(3.0, name="x")
    y = recording.add_operation("square", [x], 9.0, label="x²")
    for adjoint in (1.0, 2.0):
        sweep = recording.add_backward_pass([y])
        sweep.function_name = "backward"
        sweep.set_adjoint(y, adjoint)
        sweep.send(y, x, 0, 6.0 * adjoint, 6.0 * adjoint)
        sweep.set_adjoint(x, 6.0 * adjoint)
    recording.close()
    page = show(recording.snapshot())
    lines = [" ".join(text.split()) for text in page.locator(".mt-result").all_inner_texts()]
    assert lines == ["backward ∂(2.0 × (row 1)) / ∂x = 12.0"]
    assert [one["shown"] for one in TapeView(recording)._build_snapshot()["results"]] == [True]


def test_a_sweep_that_began_with_another_number_than_one_says_what_it_derived(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x, output_gradients=tf.constant(2.5))
    page = show(tf.snapshot(tape))
    assert "∂(2.5 × y) / ∂x = 15.0" in page.locator(".mt-result").inner_text()


def test_a_variable_in_a_list_that_left_the_tape_is_named_above_the_graph(show):
    weights = [tf.Variable(float(number)) for number in range(1, 4)]
    with tf.GradientTape() as tape:
        total = weights[0] * 1.0
        for number in range(1, 3):
            total = total + tf.constant(weights[number].numpy())
    tape.gradient(total, weights)
    titles = [alarm["title"] for alarm in tf.snapshot(tape)["alarms"]]
    assert [re.sub(":.*", "", title) for title in titles] == [
        "The gradient for weights[1], weights[2] is None",
    ]


def test_an_assignment_at_which_a_gradient_ends_goes_by_the_name_in_the_graph(show):
    w, c = tf.Variable(2.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        a = w * w
        w.assign(a + 1.0)
        b = w * c
    snapshot = tf.snapshot(tape, b, [w, c])
    (title,) = [alarm["title"] for alarm in snapshot["alarms"] if alarm["kind"] == "state"]
    assert title.startswith("The gradient ends at the assignment to w v1:")
    assert "w v1" in show(snapshot).locator(".mt-node .mt-title").all_text_contents()
