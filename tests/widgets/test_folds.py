"""What is folded hides no parameter, and says where in it the reader is."""

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import minitape as tf
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import format_adjoint_size, format_brief, open_scope, read_position, type_keys
from .twelve_programs import TWELVE

pytestmark = [pytest.mark.browser, pytest.mark.long]
TURNS = 18
EDGES = "all => all.map(one => one.dataset.edge)"


def recurrent() -> tuple[Any, Any, Any]:
    """A recurrent network by hand: three weights, read in each turn."""
    wx, wh = (tf.Variable(np.eye(4, dtype=np.float32) * k, name=name) for k, name in ((0.5, "Wx"), (0.3, "Wh")))
    b = tf.Variable(np.zeros(4, np.float32), name="b")
    xs = tf.constant(np.random.default_rng(0).normal(size=(TURNS, 2, 4)).astype(np.float32))
    with tf.GradientTape() as tape:
        h = tf.zeros([2, 4])
        for t in range(TURNS):
            h = tf.tanh(xs[t] @ wx + h @ wh + b)
        loss = tf.reduce_sum(h * h)
    return tape, loss, [wx, wh, b]


def titles(page: Any) -> list[str]:
    return page.locator(".mt-node .mt-title").all_text_contents()


def test_a_loop_is_called_by_its_result(show):
    x = tf.Variable(100.0, name="x")
    with tf.GradientTape() as tape:
        y = x
        turns = 0
        while y > 2.0:
            y = y / 2.0 + 0.1 * tf.sin(y)
            turns += 1
    tape.gradient(y, x)
    page = show(tf.snapshot(tape))
    assert titles(page) == ["x", "y", ">"]  # the last test is beside the loop
    loop = page.locator(".mt-node.mt-group")
    type_keys(page, "ArrowLeft")
    assert loop.locator(".mt-op").first.text_content() == f"turn {turns} of {turns}"  # the last test begins no turn
    type_keys(page, "Home")
    assert loop.locator(".mt-op").first.text_content() == f"loop × {turns}"


def test_a_condition_of_several_rows_is_no_turn_and_the_loop_keeps_its_gradient(show):
    c = tf.Variable(9.0, name="c")
    turns = 0
    with tf.GradientTape() as tape:
        r = c / 2.0
        while abs(float(r * r - c)) > 1e-3:
            r = 0.5 * (r + c / r)
            turns += 1
    page = show(tf.snapshot(tape, r, c))
    type_keys(page, "End")
    loop = page.locator(".mt-node.mt-group")
    assert loop.locator(".mt-op").first.text_content() == f"loop × {turns}"
    assert loop.locator(".mt-adjoint").text_content() == "∂ 1.0"


def test_a_loop_names_its_turn_and_the_number_in_it(show):
    x, w = tf.Variable(1.0, name="x"), tf.Variable(0.8, name="w")
    with tf.GradientTape() as tape:
        h = x
        for _ in range(5):
            h = tf.tanh(h * w)
            h = h + tf.sin(h) * x
        loss = h * h
    snapshot = tf.snapshot(tape, loss, [x, w])
    page = show(snapshot)
    loop = page.locator(".mt-node.mt-group")

    def read_loop() -> tuple[str, str]:
        wait_for_frame(page)
        return loop.locator(".mt-op").first.text_content(), loop.locator(".mt-adjoint").text_content()

    type_keys(page, "Home", *["ArrowRight"] * 9)
    assert snapshot["rows"][8]["op"] == "tanh"
    assert read_loop() == ("turn 2 of 5", f"h: {format_brief(snapshot['rows'][8]['value'], snapshot['rows'][8])}")
    type_keys(page, "ArrowRight")  # within a statement
    assert read_loop()[1].startswith("sin: 0.")
    type_keys(page, *["ArrowRight"] * 18)  # past the loop
    ends = [format_brief(snapshot["rows"][row]["value"], snapshot["rows"][row]) for row in (6, 26)]
    assert read_loop()[0] == "loop × 5"
    assert loop.locator(".mt-ends").text_content() == f"h: {ends[0]} → {ends[1]}"
    type_keys(page, "ArrowRight", "ArrowRight")
    assert read_loop()[0] == "turn 5 of 5" and read_loop()[1].startswith("h: ∂ ")


def test_arrows_into_a_folded_loop_and_pictures_of_arrays_cover_nothing(show):
    """The cards behind a loop hide no arrowhead, and the picture of a sum that waits is right of its number."""
    w, x = tf.Variable(np.linspace(-1, 1, 16).reshape(4, 4).astype(np.float32), name="w"), tf.ones((2, 4))
    with tf.GradientTape() as tape:
        h = x
        for _ in range(5):
            h = tf.tanh(h @ w + x)
        loss = tf.reduce_sum(h * h)
    page = show(tf.snapshot(tape, loss, w))
    type_keys(page, "End", *["ArrowLeft"] * 8)
    left, right, text, picture = page.evaluate("""() => {
      const box = e => e.getBoundingClientRect();
      const loop = document.querySelector(".mt-node.mt-group");
      const out = document.querySelector(`path.mt-edge[data-from="${loop.dataset.index}"]`);
      const row = document.querySelector(".mt-node.mt-variable");
      const cards = [...loop.querySelectorAll(".mt-card")].map(card => box(card).right);
      return [box(out).left, Math.max(...cards), box(row.querySelector(".mt-adjoint")).right,
        box([...row.querySelectorAll("image, .mt-map")].at(-1)).left];
    }""")
    assert left >= right - 2 and picture >= text


def test_weights_stand_beside_the_loop_that_reads_them(show):
    page = show(tf.snapshot(*recurrent()))
    assert set(titles(page)) >= {"Wx", "Wh", "b", "h"}
    assert page.locator(".mt-group .mt-op").first.text_content() == f"loop × {TURNS}"
    assert page.locator(".mt-frame-group").count() == 0  # nothing is open
    type_keys(page, "End")
    for row in page.locator(".mt-node.mt-variable").all():
        assert row.locator(".mt-adjoint").text_content().startswith("∂")


def test_a_folded_loop_says_which_turn_it_is_in(show):
    snapshot = tf.snapshot(*recurrent())
    page = show(snapshot)
    ends = [row["row"] for row in snapshot["rows"] if row["op"] == "tanh"]
    loop = page.locator(".mt-node.mt-group")
    for turn in (2, 17, TURNS):
        page.get_by_label("Go to row").fill(str(ends[turn - 1]))
        page.get_by_label("Go to row").press("Enter")
        wait_for_frame(page)
        assert loop.locator(".mt-op").first.text_content() == f"turn {turn} of {TURNS}"
    steps = snapshot["sweep"]["steps"]
    at = next(k for k, step in enumerate(steps) if step["row"] == ends[16])
    page.get_by_label("Step", exact=True).fill(str(len(snapshot["rows"]) + at + 1))
    wait_for_frame(page)
    assert loop.locator(".mt-adjoint").text_content().startswith("h: ∂")


def test_shift_and_an_arrow_step_over_a_turn_of_the_loop_and_back(show):
    snapshot = tf.snapshot(*recurrent())
    page = show(snapshot)
    last = max(row["row"] for row in snapshot["rows"] if row["kind"] == "variable")
    page.get_by_label("Go to row").fill(str(last))
    page.get_by_label("Go to row").press("Enter")
    page.locator(".mt-view").focus()
    type_keys(page, "Shift+ArrowRight")
    ends = [row["row"] for row in snapshot["rows"] if row["op"] == "tanh"]
    assert read_position(page) == f"forward {ends[0] + 1} / {len(snapshot['rows'])}"
    for end in ends[1:]:
        type_keys(page, "Shift+ArrowRight")
        assert read_position(page) == f"forward {end + 1} / {len(snapshot['rows'])}"
    type_keys(page, "ArrowRight")
    for before, end in list(pairwise(ends))[:-4:-1]:
        type_keys(page, "Shift+ArrowLeft")
        assert before + 1 < int(read_position(page).split()[1]) <= end + 1


def test_the_pane_grows_when_something_is_unfolded(show):
    page = show(tf.snapshot(*recurrent()))
    before = read_box(page.locator(".mt-pane"))["height"]
    page.locator(".mt-node.mt-group").dblclick()
    page.wait_for_function(f"document.querySelector('.mt-pane').getBoundingClientRect().height > {before + 20}")


def model() -> tuple[Any, Any, Any]:
    tf.random.set_seed(1)
    net = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(5, activation="tanh", name="first"),
            tf.keras.layers.Dense(3, activation="relu", name="second"),
            tf.keras.layers.Dense(1, name="third"),
        ],
        name="net",
    )
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32))
    net(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - 1.0))
    return tape, loss, net.trainable_variables


def test_layers_are_a_level(show):
    snapshot = tf.snapshot(*model())
    page = show(snapshot)
    page.get_by_label("Folding").select_option("layers")
    wait_for_frame(page)
    page.locator(".mt-view").focus()
    groups = page.locator(".mt-node.mt-group")
    assert groups.locator(".mt-title").all_text_contents() == ["first", "second", "third"]
    assert page.locator(".mt-frame-group text").all_text_contents()[0].endswith("net")  # around them
    assert page.locator(".mt-node.mt-variable").count() == 6
    type_keys(page, "End")
    outputs = {row["scope"][-1]: row for row in snapshot["rows"] if row["scope"]}  # the last row of each layer
    adjoints = {step["row"]: step["adjoint"] for step in snapshot["sweep"]["steps"]}
    assert groups.filter(has_text="first").locator(".mt-value").text_content() == "@"  # where the sweep has ended
    for name, text in (("second", "(4, 3)"), ("third", "(4, 1)")):
        node = groups.filter(has_text=name)
        assert outputs[name]["row"] in adjoints and node.locator(".mt-value").text_content() == text
        assert (
            node.locator(".mt-adjoint").text_content() == f"∂ {format_adjoint_size(adjoints[outputs[name]['row']], 13)}"
        )
        assert node.locator(".mt-map").count() == 2


def test_layers_are_stepped_over_and_into(show):
    snapshot = tf.snapshot(*model())
    rows = snapshot["rows"]
    page = show(snapshot)
    page.get_by_label("Folding").select_option("layers")
    page.locator(".mt-view").focus()
    ends = [max(row["row"] for row in rows if row["scope"] == ["net", name]) for name in ("first", "second")]
    first = min(row["row"] for row in rows if row["scope"] == ["net", "first"])
    type_keys(page, "Home", *["ArrowRight"] * first, "Shift+ArrowRight")
    assert read_position(page) == f"forward {ends[0] + 1} / {len(rows)}"
    type_keys(page, "Enter")
    page.wait_for_function("document.querySelectorAll('.mt-node.mt-group').length === 2")
    assert {"@", "+", "tanh"} <= set(titles(page))
    type_keys(page, "ArrowLeft")
    assert read_position(page) == f"forward {ends[0]} / {len(rows)}"


def built_inside() -> tuple[Any, Any, Any]:
    """A model that makes its weights at its first call, under the tape."""
    tf.random.set_seed(3)
    model = tf.keras.Sequential([tf.keras.layers.Dense(5, activation="tanh"), tf.keras.layers.Dense(3)])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones([2, 4])) ** 2)
    return tape, loss, model.trainable_variables


def test_a_layer_that_makes_its_weights_is_one_node(show):
    """As in TensorFlow no tape sees how the weights are made."""
    snapshot = tf.snapshot(*built_inside())
    assert [row["row"] for row in snapshot["rows"] if row["status"] == "ghost"] == []
    names = {row["scope"][-1] for row in snapshot["rows"] if row["scope"] and row["status"] == "recorded"}
    page = show(snapshot)
    page.get_by_label("Folding").select_option("layers")
    page.locator(".mt-node.mt-group").first.wait_for()
    assert sorted(page.locator(".mt-node.mt-group .mt-title").all_text_contents()) == sorted(names)


def test_what_leaves_a_folded_layer_stands_on_its_edges(show):
    """The reference is the sweep: what the layer's rows hand on to rows outside."""
    snapshot = tf.snapshot(*built_inside())
    page = show(snapshot)
    page.get_by_label("Folding").select_option("layers")
    page.locator(".mt-node.mt-group").first.wait_for()
    steps = snapshot["sweep"]["steps"]
    inside = {row["row"]: tuple(row["scope"]) for row in snapshot["rows"] if row["scope"]}
    scope = inside[steps[-1]["row"]]  # of the first layer, which the sweep meets last
    type_keys(page, "End")
    page.locator(".mt-view").focus()
    at = max(k for k, step in enumerate(steps) if inside.get(step["row"]) == scope)
    assert at == len(steps) - 1
    sent = {
        edge["input"]
        for step in steps
        if inside.get(step["row"]) == scope
        for edge in step["edges"]
        if edge["input"] not in inside
    }
    labels = page.locator(".mt-product")
    assert labels.count() == len(sent) == 2  # its kernel and its bias
    sums = {edge["input"]: edge["sum"] for step in steps for edge in step["edges"]}
    whole = {format_adjoint_size(sums[row], 11) for row in sent}  # A narrow gap leaves room for fewer digits.
    assert all(any(text.startswith(label) for text in whole) for label in labels.locator("text").all_text_contents())
    assert labels.locator(".mt-map").count() == 2


def test_the_sums_on_the_edges_of_a_folded_loop(show):
    snapshot = tf.snapshot(*recurrent())
    page = show(snapshot)
    type_keys(page, "End")
    texts = page.locator(".mt-product text").all_text_contents()
    assert (
        texts
        and all(text.startswith(("Σ", "=")) for text in texts)
        and sum(text.startswith("Σ") for text in texts) == 3
    )
    assert page.locator(".mt-edge.mt-sent").count() >= 4  # to the three weights, and into the loop
    cards, shares = (page.locator(f"{one}[data-edge]").evaluate_all(EDGES) for one in (".mt-product", ".mt-share"))
    assert len(cards) == 3 and shares and not {*cards} & {*shares}  # no edge has its number twice


def test_a_loop_that_is_opened_shows_the_present_turn(show):
    page = show(tf.snapshot(*recurrent()))
    type_keys(page, "End", *["ArrowLeft"] * 40, "u")
    current = page.locator(".mt-node.mt-current")
    wait_for_frame(page)
    assert current.locator(".mt-title").text_content().startswith("turn ")
    node, pane = read_box(current), read_box(page.locator(".mt-pane"))
    assert pane["y"] <= node["y"] and node["y"] + node["height"] <= pane["y"] + pane["height"]


def test_the_edge_of_a_folded_loop_shows_what_the_loop_sent_whatever_else_its_input_adds_up(show):
    w = tf.Variable(0.9, name="w")
    m = tf.Variable(np.array([0.9, 0.8], np.float32), name="m")
    with tf.GradientTape() as tape:
        h = tf.constant([1.0, 1.0])
        for _ in range(15):
            h = tf.tanh(w * h * m)
        loss = tf.reduce_sum(h * h) + 5.0 * w + tf.reduce_sum(m * 3.0)
    snapshot = tf.snapshot(tape, loss, [w, m])
    sources = dict(zip(snapshot["sweep"]["sources"], snapshot["sweep"]["gradients"], strict=True))
    loop = range(next(row["row"] for row in snapshot["rows"] if row["op"] == "reduce_sum"))
    edges = [edge for step in snapshot["sweep"]["steps"] if step["row"] in loop for edge in step["edges"]]
    sent = [sum(np.asarray(edge["product"]["data"]) for edge in edges if edge["input"] == row) for row in sources]
    for adjoint, part in zip(sources.values(), sent, strict=True):
        assert np.all(np.asarray(adjoint["data"]) - part > 2)
    page = show(snapshot)
    type_keys(page, "End")
    texts = page.locator(".mt-product text").all_text_contents()
    found = [max(map(float, re.findall(r"\d+\.\d*", text))) for text in texts if text.startswith("Σ")]
    assert sorted(found) == pytest.approx(sorted(float(part.max()) for part in sent), rel=0.02)


def test_the_turns_of_nested_loops_are_those_of_the_program(show):
    xs = [tf.Variable(0.1 * k, name=f"x{k}") for k in range(10)]
    w = tf.Variable(0.5, name="w")
    with tf.GradientTape(persistent=True) as tape:
        total = tf.constant(0.0)
        for r in range(15):
            for k, x in enumerate(xs):
                y = tf.sin(x) * (r + 1.0)
                if k % 2:
                    y = tf.exp(-y * y)
                total = total + y
    page = show(tf.snapshot(tape, total, xs[:3]), "all")
    assert titles(page)[:3] == ["x0", "x1", "x2"]  # the sources that were asked for
    loop = page.locator(".mt-node.mt-group")
    assert loop.count() == 1 and loop.locator(".mt-op").first.text_content() == "turn 15/15"
    loop.dblclick()
    page.locator(".mt-node.mt-group").nth(3).wait_for()
    type_keys(page, "Home")
    assert {text for text in titles(page) if "×" in text} == {"loop × 10"}

    with tf.GradientTape() as tape:
        s = tf.constant(0.0)
        for _ in range(8):
            h = tf.constant(1.0)
            for _ in range(10):
                h = tf.tanh(w * h)
            s = s + h
    page = show(tf.snapshot(tape, s, w))
    loop = page.locator(".mt-node.mt-group")
    assert loop.count() == 1 and loop.locator(".mt-op").first.text_content() == "turn 8 of 8"


def newton() -> tuple[Any, Any, Any]:
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**4 - 3.0 * x**2 + x
        g = inner.gradient(y, x)
    return outer, g, x


WHOLE = """() => { const box = (e) => e.getBoundingClientRect(), pane = box(document.querySelector(".mt-pane"));
  return [...document.querySelectorAll(".mt-node .mt-box")].every((e) => box(e).left >= pane.left && box(e).right <= \
pane.right && box(e).top >= pane.top && box(e).bottom <= pane.bottom); }"""


@pytest.mark.parametrize(
    ("program", "names"),
    [
        (recurrent, {"Wx", "Wh", "b", "h"}),
        (model, {"first", "second", "third"}),
        (newton, {"x", "inner.gradient"}),
    ],
    ids=["recurrent", "model", "newton"],
)
def test_a_program_opens_as_a_poster(program, names, show, page):
    """Nothing is pressed: all of it is in the pane, in one line, with what a gradient is asked for."""
    page.set_viewport_size({"width": 1366, "height": 768})
    tape, target, sources = program()
    snapshot = tf.snapshot(tape, target, sources)
    for own in snapshot["tapes"]:
        own["name"] = own["name"].replace("tape 2", "inner")  # as a notebook has it
    shown = show(snapshot)
    assert names <= set(titles(shown))
    assert shown.evaluate(WHOLE) and shown.locator(".mt-node").count() <= 16
    assert shown.locator(".mt-node.mt-constant").count() >= (program is model)  # what the network is given


def several_states() -> tuple[Any, Any, Any]:
    v, u = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="u")
    with tf.GradientTape() as tape:
        y = v * 3.0 * u
        v.assign_add(u * 2.0)
        z = y * v + tf.sin(v)
        v.assign(z * 0.5)
        q = z * v * tf.cos(u)
    return tape, q, [u, v]


def pitfall() -> tuple[Any, Any, Any]:
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        y = w * 3.0
        w.assign_add(w * 2.0)
        z = w * y
    return tape, z, w


AROUND = """() => [...document.querySelectorAll(".mt-assign")].map(way => {
  const matrix = way.getScreenCTM(), whole = way.getTotalLength(), points = [];
  for (let at = 12; at < whole - 16; at += 3) points.push(way.getPointAtLength(at).matrixTransform(matrix));
  const pane = document.querySelector(".mt-pane").getBoundingClientRect();
  return [...document.querySelectorAll(".mt-node .mt-box")].filter(node => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    return points.some(p => p.x > left && p.x < right && p.y > top && p.y < bottom);
  }).length + points.filter(p => p.y < pane.top || p.y > pane.bottom).length;
})"""


@pytest.mark.parametrize(("program", "ways"), [(several_states, 4), (pitfall, 2)], ids=["several_states", "pitfall"])
def test_ways_between_the_states_of_a_variable_go_around_the_nodes(program, ways, show, page):
    page.set_viewport_size({"width": 1900, "height": 900})
    page = show(tf.snapshot(*program()))
    assert page.evaluate(AROUND) == [0] * ways
    crosses = page.locator(".mt-assigned .mt-cross").evaluate_all(
        "els => els.map(e => { const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })"
    )
    edges = page.locator("path.mt-edge[data-edge]").evaluate_all(
        "els => els.map(e => { const m = e.getScreenCTM(), found = []; for (let at = 0; at < e.getTotalLength(); at "
        "+= 3) { const p = e.getPointAtLength(at).matrixTransform(m); found.push([p.x, p.y]); } return found })"
    )
    for x, y in crosses:  # a cross is not taken for one of the edge that passes there
        assert min(abs(x - a) + abs(y - b) for points in edges for a, b in points) > 6


def test_an_assigned_value_has_a_crossed_edge_to_the_new_state(show):
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        w.assign_add(w * 2.0)
        y = w * 3.0
    snapshot = tf.snapshot(tape, y, w)
    (event,) = (event for event in snapshot["events"] if event["kind"] == "assign")
    assert snapshot["rows"][event["row"]]["op"] == "multiply" and snapshot["rows"][event["to"]]["version"] == 1
    page = show(snapshot)
    edge = page.locator(".mt-assigned")
    assert edge.locator(".mt-cross").count() == 1
    assert edge.locator("title").text_content() == (
        "assigned to w: the gradient does not flow back through an assignment"
    )


def test_a_layer_of_many_weights_is_one_node_with_its_weights_and_numbers_inside(show):
    weights = [[tf.Variable(0.1 * (k + i + 1), name=f"w{k}{i}") for i in range(6)] for k in range(3)]
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x
        for k, layer in enumerate(weights):
            with open_scope(f"layer_{k}"):
                for w in layer:
                    y = tf.sin(y * w) + 0.5
    page = show(tf.snapshot(tape, y, weights[0][0]), "layers")
    names = page.locator(".mt-node .mt-title").all_text_contents()
    assert sorted(names) == ["layer_0", "layer_1", "layer_2", "x"]


def test_a_stack_of_equal_layers_has_its_input_beside_it_and_its_adjoints_by_layer(show):
    page = show(TWELVE["transformer"]())
    stack = page.locator(".mt-node.mt-group")
    assert stack.locator(".mt-title").text_content() == "block × 3"
    assert stack.locator(".mt-profile path").get_attribute("d").count("L") == 2
    given = page.locator(f"path.mt-edge[data-edge$='>{stack.get_attribute('data-index')}:0']")
    node = page.locator(f".mt-node[data-index='{given.get_attribute('data-from')}']")
    assert node.locator(".mt-value").text_content() == "(6, 8)"
    type_keys(page, "End", "ArrowLeft")
    assert stack.locator(".mt-title").text_content() == "block 1/3"
    assert re.search(r"@: ∂ ±0\.\d+", stack.text_content())


def deep(layers: int):
    """A snapshot of so many dense layers in one tf.keras.Sequential, and one more."""
    model = tf.keras.Sequential(
        [*(tf.keras.layers.Dense(3, activation="tanh") for _ in range(layers)), tf.keras.layers.Dense(1)], name="deep"
    )
    x = tf.constant([[0.5, -1.0]])
    model(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    return tf.snapshot(tape, loss, model.trainable_variables)


def test_a_deep_sequential_opens_with_its_layers_and_a_layer_is_a_node_where_these_are_asked_for(show, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    show(deep(45))
    titles = page.locator(".mt-node .mt-title").all_text_contents()
    assert "dense × 45" in titles and "deep" not in titles
    assert page.locator(".mt-frame-group text").all_text_contents() == ["− deep"]
    page.locator("select").first.select_option("layers")
    type_keys(page, "0")
    page.locator(".mt-plain .mt-group").nth(45).wait_for()  # a node for each
    assert page.locator(".mt-group").count() == 46


def test_the_fitted_map_lies_in_its_pane_whatever_the_scale_was_and_has_a_legend(show, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    show(deep(45))
    legend, scale = page.locator(".mt-powers"), page.locator(".mt-scalebar").first
    assert scale.is_visible() and not legend.is_visible()
    page.locator("select").first.select_option("layers")
    type_keys(page, "+", "+", "0")
    page.locator(".mt-plain .mt-group").nth(45).wait_for()
    pane = page.locator(".mt-pane").bounding_box()
    boxes = page.locator(".mt-node .mt-box, .mt-frame-group text").evaluate_all(
        "all => all.filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) > 45
    for box in boxes:
        assert pane["x"] <= box["left"] and box["right"] <= pane["x"] + pane["width"]
        assert pane["y"] <= box["top"] and box["bottom"] <= pane["y"] + pane["height"]
    assert legend.is_visible() and not scale.is_visible() and legend.inner_text().split() == ["∂", "1e-8", "1"]


def test_an_edge_out_of_a_folded_gradient_is_not_drawn_as_zeros_if_it_went_to_several_rows(show):
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as third:
        with tf.GradientTape() as second:
            with tf.GradientTape() as first:
                y = tf.sin(x) * x
            dy = first.gradient(y, x)
        ddy = second.gradient(dy, x)
    page = show(tf.snapshot(third, ddy, x))
    type_keys(page, "End")
    widths = page.locator(".mt-edge.mt-sent").evaluate_all(
        "edges => edges.map(edge => parseFloat(getComputedStyle(edge).strokeWidth))"
    )
    assert len(widths) >= 3 and min(widths) > 2
    assert page.locator(".mt-zero").count() == 0


@pytest.mark.parametrize(
    ("body", "turns"),
    [
        ("h = tf.tanh(tf.tanh(h))", 9),
        ("h = h - rate * 2.0 * (h - 3.0)", 7),
        ("h = tf.sin(h)\n        if k % 3 == 0:\n            h = h * rate", 12),
        ("h = tf.sin(h)\n        if k in (2, 3, 7):\n            h = h * rate\n        h = h + 1.0", 11),
    ],
)
def test_a_loop_has_as_many_turns_as_it_ran(show, body, turns, tmp_path):
    text = f"with tape:\n    h = x + rate\n    for k in range({turns}):\n        {body}\n    y = h * x\n"
    file = tmp_path / "loop.py"
    file.write_text(text)
    x, rate, tape = tf.Variable(0.5, name="x"), tf.Variable(0.1, name="rate"), tf.GradientTape()
    names = {"tf": tf, "x": x, "rate": rate, "tape": tape}
    exec(compile(text, file, "exec"), names)
    page = show(tf.snapshot(tape, names["y"], [x, rate]), fold="all")
    assert page.locator(".mt-node.mt-group .mt-op").first.text_content() == f"loop × {turns}"
