"""What a view shows before anybody scrolls, zooms or folds."""

import pytest

import minitape as tf
from minitape.bridges.recording import Recording
from tests.jupyterlab_page import read_box

from .conftest import read_position, type_keys

pytestmark = [pytest.mark.browser, pytest.mark.long]

VISIBLE = """query => {
  const pane = document.querySelector(".mt-pane").getBoundingClientRect();
  return [...document.querySelectorAll(query)].map(part => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return left >= pane.left - 1 && right <= pane.right + 1 && top >= pane.top - 1 && bottom <= pane.bottom + 1;
  });
}"""


def test_a_cell_shows_the_sum_below_a_node_of_a_small_tape(page):
    """README's example in a cell of a notebook: the pane grows with the graph, which is larger than natural size."""
    from minitape_widgets.saved_page import build_html_page

    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * tf.sin(x)
    page.set_viewport_size({"width": 1440, "height": 900})
    text = build_html_page(tf.snapshot(tape, y, x))
    page.set_content(text.replace('<main id="view" data-fill', '<main id="view" style="width: 1030px"'))
    page.wait_for_selector(".mt-node")
    page.locator(".mt-view").focus()
    page.keyboard.press("End")
    page.wait_for_selector(".mt-addends")
    assert page.locator(".mt-addends").text_content().split() == ["0.1411", "+", "(-2.97)", "=", "-2.829"]
    assert page.evaluate(VISIBLE, ".mt-addends, .mt-product, .mt-node") == [True] * 5


def test_a_cell_has_no_hole_between_two_lines(page):
    """The pane of ten rows in a cell of JupyterLab leaves room for the buttons, the results and the table."""
    from minitape_widgets.saved_page import build_html_page

    x, y = tf.Variable(0.7, name="x"), tf.Variable(-1.2, name="y")
    with tf.GradientTape() as tape:
        s = x * y
        z = tf.exp(s) + x / (1.0 + y**2)
    page.set_viewport_size({"width": 1280, "height": 800})
    text = build_html_page(tf.snapshot(tape, z, [x, y]))
    page.set_content(text.replace('<main id="view" data-fill', '<main id="view" style="width: 845px"'))
    page.wait_for_selector(".mt-node")
    assert page.evaluate(VISIBLE, ".mt-node") == [True] * 10
    assert page.locator(".mt-pane").evaluate("pane => pane.clientHeight") <= 480


def test_the_whole_graph_is_in_view_if_a_lower_table_makes_room(show, page):
    page.set_viewport_size({"width": 1440, "height": 840})
    weights = [tf.Variable(float(k), name=f"w{k}") for k in range(7)]
    with tf.GradientTape() as tape:
        y = tf.add_n(weights)
    page = show(tf.snapshot(tape, y, weights))
    assert page.evaluate(VISIBLE, ".mt-node") == [True] * 8
    assert page.locator(".mt-below").evaluate("part => part.clientHeight") >= 160


@pytest.mark.parametrize("width", [1280, 760, 390])
def test_a_tape_that_is_higher_than_its_pane_opens_at_the_present_row(show, page, width):
    page.set_viewport_size({"width": width, "height": 800})
    x, b = tf.Variable(0.5, name="x"), tf.Variable(0.2, name="b")
    with tf.GradientTape() as tape:
        y = x + b
        for operation in (tf.sin, tf.exp, tf.tanh, tf.square, tf.math.log, tf.abs, tf.sqrt, tf.cos, tf.sigmoid) * 2:
            y = operation(y) + b * x
    page = show(tf.snapshot(tape, y, [x, b]), "none")
    assert page.evaluate(VISIBLE, ".mt-node.mt-current") == [True]
    assert not all(page.evaluate(VISIBLE, ".mt-node"))
    type_keys(page, "ArrowRight")  # the first step back is seen
    assert page.evaluate(VISIBLE, ".mt-node.mt-current") == [True]


def record_two_calls():
    v, m = tf.Variable(0.3, name="v"), tf.Variable(1.0, name="m")

    def evaluate_bell(mean):
        d = v - mean
        return tf.exp(-d * d / 2.0)

    with tf.GradientTape() as tape:
        y = -tf.math.log(evaluate_bell(m) + evaluate_bell(-m))
    return tf.snapshot(tape, y, [v, m])


def record_hessian():
    x, y = tf.Variable(1.0, name="x"), tf.Variable(2.0, name="y")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            f = (1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2
        g, _ = inner.gradient(f, [x, y])
    return tf.snapshot(outer, g, x)


@pytest.mark.parametrize("record", [record_two_calls, record_hessian])
def test_columns_are_near_where_that_saves_a_line(show, page, record):
    page.set_viewport_size({"width": 1440, "height": 900})
    page = show(record())
    assert all(page.evaluate(VISIBLE, ".mt-node"))
    sizes = page.locator(".mt-node text").evaluate_all(
        "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
    )
    assert min(sizes) >= 11


def test_a_picture_opens_at_the_target_also_if_the_program_went_on(show):
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        y = x * x
        large = y > 1.0
    page = show(tf.snapshot(tape, y, x))
    assert read_position(page) == "forward 4 / 4" and large.numpy()
    current = page.locator(".mt-lines .mt-current")
    assert current.get_attribute("data-row") == "1"
    assert "Forward, row 1" in page.locator(".mt-step").inner_text()
    type_keys(page, "ArrowLeft", "ArrowRight")
    assert read_position(page) == "forward 4 / 4"
    assert current.get_attribute("data-row") == "3"


def test_a_persistent_tape_opens_with_all_rows_computed(show):
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape(persistent=True) as tape:
        y = tf.square(x)
        z = tf.exp(y) * 2.0
    tape.gradient(z, x)
    tape.gradient(y, x)
    page = show(tf.snapshot(tape))
    assert read_position(page) == "forward 5 / 5"
    assert "109.2" in page.locator(".mt-node", has_text="z").text_content()


@pytest.mark.parametrize("width", [1280, 760])
def test_an_opened_loop_is_seen_whole_and_the_step_stays(show, page, width):
    page.set_viewport_size({"width": width, "height": 900})
    w, h = tf.Variable(0.9, name="w"), tf.constant(0.0)
    with tf.GradientTape() as tape:
        for t in range(30):
            h = tf.tanh(w * h + 0.1 * t)
    page = show(tf.snapshot(tape, h, w))
    before = read_position(page)
    profile = page.locator(".mt-group .mt-profile rect")
    profile.dblclick(position={"x": 40, "y": 5}, force=True)  # the curve lies over it
    page.locator(".mt-node.mt-group").nth(2).wait_for()
    assert all(page.evaluate(VISIBLE, ".mt-node"))
    assert read_position(page) == before


def test_the_words_of_a_step_have_the_room_that_a_small_graph_leaves(show, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * tf.sin(x)
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    page.locator(".mt-inspector summary").first.click()
    assert page.locator(".mt-inspector").evaluate("one => one.scrollHeight - one.clientHeight") <= 0


def test_an_opened_loop_of_loops_begins_in_view_and_can_be_read(show, page):
    page.set_viewport_size({"width": 1280, "height": 850})
    weights = [tf.Variable(0.1 * k + 0.5, name=f"W{k}") for k in range(3)]
    with tf.GradientTape() as tape:
        h, total = tf.constant(1.0), tf.constant(0.0)
        for _ in range(20):
            for w in weights:
                for _ in range(8):
                    h = tf.tanh(h * w) + 0.1 * h
            total = total + h * h
    page = show(tf.snapshot(tape, total, weights))
    page.locator(".mt-node.mt-group .mt-title").first.dblclick()
    page.locator(".mt-node.mt-group").nth(5).wait_for()
    assert page.evaluate(VISIBLE, ".mt-node.mt-group")[:2] == [True, True]
    texts = page.locator(".mt-scene text").evaluate_all(
        "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
    )
    assert min(texts) >= 11


def test_the_current_row_stays_in_view_when_the_table_becomes_lower(show, page):
    page.set_viewport_size({"width": 1280, "height": 850})
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = x * 3.0
        for _ in range(12):
            y = tf.sin(y) * x
    page = show(tf.snapshot(tape, y, x), "none")
    is_seen = """() => {
      const [line, lines] = [".mt-line.mt-current", ".mt-scroll"].map(one =>
        document.querySelector(one).getBoundingClientRect());
      return line.bottom <= lines.bottom + 1 && line.top >= lines.top - 1;
    }"""
    page.wait_for_function(is_seen, timeout=10_000)
    page.locator(".mt-table").evaluate("one => (one.closest('.mt-below').style.maxHeight = '170px')")
    page.wait_for_function(is_seen, timeout=10_000)


def record_layers(count):
    """Return a snapshot of layers that have a weight and a bias each, with an operation behind each layer."""
    recording = Recording("by hand")
    numbers = [0.5, -0.25, 1.0, 2.0]
    h = recording.add_leaf(numbers, name="x")
    for layer in range(count):
        w, b = (recording.add_leaf(numbers, name=f"fc{layer}.{kind}", kind="variable") for kind in ("weight", "bias"))
        h = recording.add_operation("linear", [h, w, b], numbers, label="linear", scope=("Net", f"fc{layer}"))
        h = recording.add_operation(f"act{layer}", [h], numbers, label=f"act{layer}", scope=("Net",))
    recording.add_backward_pass([h])
    recording.close()
    return recording.snapshot()


def test_layers_hold_their_weights_where_the_graph_would_be_cut(show, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    show(record_layers(1))
    names = page.locator(".mt-node .mt-title").all_text_contents()
    assert {"fc0.weight", "fc0.bias"} <= set(names)  # There is room for them.
    show(record_layers(4))
    assert page.evaluate(VISIBLE, ".mt-node") == [True] * 9
    assert page.locator(".mt-held").all_text_contents() == ["weight, bias"] * 4
    layer = page.locator(".mt-node", has_text="fc2")
    assert "fc2 (weight, bias)" in layer.get_attribute("aria-label")
    page.locator('.mt-lines [data-row="10"]').click()
    assert layer.evaluate("el => el.classList.contains('mt-selected')")
    assert page.locator(".mt-chosen .mt-what").first.text_content() == "Selected: row 10 · fc2.bias"
    page.locator(".mt-chosen button", has_text="unfold").click()
    page.wait_for_function("document.querySelectorAll('.mt-node').length === 11")
    assert "fc2.bias" in page.locator(".mt-node .mt-title").all_text_contents()


def test_a_name_that_the_table_cuts_is_its_lines_title(show):
    long = "regularization_strength_of_the_second_hidden_layer"
    x, y = tf.Variable(2.0, name=long), tf.Variable(3.0, name="y")
    with tf.GradientTape() as tape:
        z = x * y
    lines = show(tf.snapshot(tape, z, [x, y])).locator(".mt-lines [data-row]")
    lines.first.wait_for()
    assert "…" in lines.first.text_content()
    assert [line.get_attribute("title") for line in lines.all()] == [long, "", ""]


def test_no_pile_of_cards_covers_the_weights_that_the_layer_above_it_holds(show, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    recording = Recording("by hand")
    numbers = [0.5, -0.25, 1.0, 2.0]
    x = recording.add_leaf(numbers, name="x", kind="constant")

    def add_layer(name, inputs):
        w, b = (recording.add_leaf(numbers, name=f"{name}.{kind}", kind="variable") for kind in ("weight", "bias"))
        return recording.add_operation("linear", [inputs, w, b], numbers, label="linear", scope=("Net", name))

    heads = [add_layer(name, x) for name in ("query", "key", "value")]
    h = recording.add_operation("add_n", heads, numbers, label="Σ", scope=("Net",))
    for name in ("out", "up", "down"):
        h = add_layer(name, h)
    recording.add_backward_pass([h])
    recording.close()
    show(recording.snapshot())
    held, cards = ([read_box(one) for one in page.locator(query).all()] for query in (".mt-held", ".mt-node .mt-card"))
    assert len(held) == 6
    for text in held:
        for card in cards:
            is_below = card["y"] > text["y"] and card["x"] < text["x"] + text["width"] and text["x"] < card["x"] + 132
            # The box of a text has four pixels below the line that its letters stand on.
            assert not is_below or text["y"] + text["height"] <= card["y"] + 4
