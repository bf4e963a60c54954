"""For a projector and for papers: large type, a presenter's remote, parts that hide, exports that are light and
whole.
"""

import re
import struct

import pytest

import minitape as tf
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import accumulation, build_chain_snapshot, layers, read_position, type_keys
from .twelve_programs import TWELVE

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_presenting_shows_the_graph_one_line_and_the_product_in_large_type(show):
    tape, d, a = accumulation()
    snapshot = tf.snapshot(tape, d, a)
    page = show(snapshot)
    type_keys(page, "End", "v")
    assert page.locator(".mt-table").is_hidden() and page.locator(".mt-toolbar").is_hidden()
    step = snapshot["sweep"]["steps"][-1]
    words = page.locator(".mt-big-words").inner_text()
    assert words.count("to a: 2.0 × (-0.1746) = -0.3493") == 2
    assert words.endswith("Σ -0.6986 = ∂d/∂a") and words.count("∂") == 2  # only the last addend completes it
    assert page.locator(".mt-count").evaluate("one => parseFloat(getComputedStyle(one).fontSize)") >= 20
    assert page.locator(".mt-big-code").inner_text() == "b = a * a"
    size = page.locator(".mt-node.mt-current .mt-value").evaluate("el => el.getBoundingClientRect().height")
    assert size > 18  # pixels, of a line that has 13 else
    assert page.locator(".mt-view").get_by_role("button", name="Leave the presentation (v)").is_visible()
    type_keys(page, "PageUp")
    steps = len(snapshot["sweep"]["steps"])
    assert read_position(page) == f"backward {steps - 1} / {steps}" and step["row"] == 1
    type_keys(page, "v", "PageUp")
    assert page.locator(".mt-table").is_visible() and read_position(page).startswith("forward")


def test_on_a_phone_a_presentation_has_room_for_its_words_and_controls(show, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page = show(tf.snapshot(*accumulation()))
    type_keys(page, "End", "v")
    words, bar = (read_box(page.locator(one)) for one in (".mt-big-words", ".mt-stepbar"))
    assert words["y"] + words["height"] <= bar["y"] and bar["y"] + bar["height"] <= 844
    buttons = [read_box(one)["y"] for one in page.locator(".mt-stepbar button:visible").all()]
    assert max(buttons) - min(buttons) < 1


def test_a_presentation_ends_at_its_button_and_calls_values_by_their_names(show):
    x = tf.Variable(0.7, name="x")
    with tf.GradientTape() as tape:
        u = x * x
        y = tf.sin(u)
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End", "ArrowLeft", "v")
    assert page.locator(".mt-big-words").inner_text().startswith("to u: ")
    page.get_by_role("button", name="Leave the presentation (v)").click()
    wait_for_frame(page)
    assert page.locator(".mt-table").is_visible() and page.locator(".mt-presented").is_hidden()


def test_escape_ends_a_presentation_whose_button_is_beside_the_alarm(show):
    w, g = tf.Variable(2.0, name="w"), tf.Variable(3.0, name="g")
    with tf.GradientTape() as tape:
        loss = (tf.stop_gradient(w * g) - 4.0 * g) ** 2
    page = show(tf.snapshot(tape, loss, [w, g]))
    type_keys(page, "v")
    alarm, leave = (read_box(page.locator(one)) for one in (".mt-alarm", ".mt-presented > .mt-button"))
    assert alarm["x"] + alarm["width"] <= leave["x"]
    type_keys(page, "Escape")
    assert page.locator(".mt-table").is_visible() and page.locator(".mt-presented").is_hidden()


def test_a_notebook_s_style_for_code_does_not_shrink_the_line(show):
    page = show(build_chain_snapshot(3))
    page.add_style_tag(
        content=".jp-RenderedHTMLCommon code, .jp-OutputArea-output code, body code, body pre, body kbd "
        "{ font-size: 13px; line-height: 1; padding: 1px 5px; background: pink; color: red }"
    )
    page.locator("body").evaluate("body => body.classList.add('jp-RenderedHTMLCommon')")
    type_keys(page, "End", "v")
    code, words = (
        page.locator(part).evaluate("el => { const s = getComputedStyle(el); return [s.fontSize, s.color] }")
        for part in (".mt-big-code", ".mt-big-words")
    )
    assert code == words and float(code[0].removesuffix("px")) >= 26


def test_an_array_is_said_with_its_range_and_not_as_a_product_of_shapes(show):
    page = show(TWELVE["network"]())
    type_keys(page, "End", "ArrowLeft", "v")
    words = page.locator(".mt-big-words").inner_text()
    assert " to " in words and "×" not in words and "(16,), " in words
    type_keys(page, "End")
    words = page.locator(".mt-big-words").inner_text()
    assert words.startswith("to w: xᵀ @ g = (4, 16), ") and words.endswith(" = ∂loss/∂w")


def test_parts_of_the_view_hide(show):
    page = show(build_chain_snapshot(10))
    for key, part in (("t", ".mt-table"), ("c", ".mt-side > .mt-source")):
        type_keys(page, key)
        assert page.locator(part).is_hidden()
        type_keys(page, key)
        assert page.locator(part).is_visible()


def test_the_way_back_begins_at_a_button_in_words(show):
    page = show(build_chain_snapshot(3))
    button = page.get_by_role("button", name="▶ go backward")
    button.click()
    page.wait_for_function("document.querySelector('.mt-count').textContent.startsWith('backward')")
    assert button.is_hidden()
    type_keys(page, "Home")
    assert button.is_hidden()  # who went knows the way


def test_a_picture_saved_from_a_dark_page_is_light_and_a_film_is_whole(show, page):
    page.emulate_media(color_scheme="dark")
    tape, y, weights = layers()
    shown = show(tf.snapshot(tape, y, weights))
    assert shown.locator(".mt-view.mt-dark").count() == 1
    files = {}
    for kind in ("svg", "gif"):
        with shown.expect_download() as download:
            shown.get_by_label("Export").select_option(kind)
        with open(download.value.path(), "rb") as file:
            files[kind] = file.read()
    svg = files["svg"].decode()
    assert re.search(r'<rect width="[\d.]+" height="[\d.]+" fill="rgb\(255, 255, 255\)"', svg)
    scene = float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])
    width, _ = struct.unpack("<HH", files["gif"][6:10])
    assert width >= 0.6 * min(scene, 1400 / 0.6) - 1


@pytest.mark.parametrize("name", ["network", "newton", "attention"])
def test_digits_and_icons_are_large_enough_for_a_room(name, show, page):
    page.set_viewport_size({"width": 1920, "height": 1080})
    page = show(TWELVE[name]())
    type_keys(page, "End", "v")
    page.wait_for_function("document.querySelector('.mt-pane').clientWidth > 1900")
    page.wait_for_timeout(250)  # the graph glides
    sizes = page.locator(".mt-node .mt-value, .mt-node .mt-adjoint").evaluate_all(
        "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
    )
    assert sizes and min(sizes) >= 18.5  # pixels
    for icon in page.locator(".mt-stepbar .mt-icon:visible, .mt-presented .mt-icon").all():
        assert read_box(icon)["height"] >= 28


def test_a_graph_that_nearly_fits_is_whole_and_what_is_wrong_is_large(show, page):
    page.set_viewport_size({"width": 1920, "height": 1080})
    page = show(TWELVE["newton"]())
    type_keys(page, "End", "v")
    pane = read_box(page.locator(".mt-pane"))
    for node in page.locator(".mt-node .mt-box").all():
        box = read_box(node)
        assert pane["x"] <= box["x"] and box["x"] + box["width"] <= pane["x"] + pane["width"]
    page = show(TWELVE["none"]())
    type_keys(page, "v")
    assert float(page.locator(".mt-alarm").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")) >= 20


IS_WHOLE = """() => {
    const pane = document.querySelector(".mt-pane").getBoundingClientRect();
    const boxes = [...document.querySelectorAll(".mt-node .mt-box")].map(box => box.getBoundingClientRect());
    return boxes.length === 7 && boxes.every(box => pane.top <= box.top && box.bottom <= pane.bottom);
}"""


def test_a_graph_of_seven_nodes_is_whole_at_each_step(show, page):
    page.set_viewport_size({"width": 1920, "height": 1080})
    x = tf.Variable(0.7, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(x) * tf.exp(x * 0.5) + x
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "Home", "v")
    page.wait_for_function("document.querySelector('.mt-pane').clientWidth > 1900")
    for key in ("Home", "End"):
        type_keys(page, key)
        page.wait_for_function(IS_WHOLE)  # the graph glides there


def test_few_columns_are_in_one_line(show, page):
    page.set_viewport_size({"width": 1920, "height": 1080})
    x = tf.Variable(0.7, name="x")
    with tf.GradientTape() as tape:
        u = tf.exp(x)
        s, c = tf.sin(u), tf.cos(u)
        y = s * c + u / s
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End", "v")
    page.wait_for_function("document.querySelector('.mt-pane').clientWidth > 1900")
    page.wait_for_timeout(250)
    lefts = [read_box(page.locator(f".mt-node[data-id=r{row}]"))["x"] for row in (0, 1, 2, 4, 6)]
    assert lefts == sorted(lefts)  # one column after the other


def test_frames_keep_their_titles_and_rows_without_a_name_go_by_what_made_them(show, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    a = tf.Variable(1.2, name="a")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = a**3
        dy = inner.gradient(y, a)
    page = show(tf.snapshot(outer, dy, a))
    type_keys(page, "End", "v")
    page.wait_for_timeout(400)
    pane = read_box(page.locator(".mt-pane"))
    titles = page.locator(".mt-frame-label, .mt-frame text").all()
    assert titles
    for title in titles:
        assert read_box(title)["y"] >= pane["y"]
    w, h = tf.Variable(0.9, name="w"), tf.Variable(0.5, name="h")
    with tf.GradientTape() as tape:
        y = tf.tanh(w * h)
    page = show(tf.snapshot(tape, y, [w, h]))
    type_keys(page, "End", "ArrowLeft", "v")
    assert page.locator(".mt-big-words").inner_text().startswith("to w × h: ")


def test_an_update_of_many_variables_says_how_many_more_there_are(show):
    variables = [tf.Variable(0.5 + k, name=f"v{k}") for k in range(6)]
    with tf.GradientTape() as tape:
        y = tf.add_n([one * one for one in variables])
    gradients = tape.gradient(y, variables)
    for one, gradient in zip(variables, gradients, strict=True):
        one.assign_sub(0.1 * gradient)
    page = show(tf.snapshot(tape, y, variables))
    type_keys(page, "End", "v")
    lines = page.locator(".mt-big-words").inner_text().split("\n")
    assert [line.split(":")[0] for line in lines if line] == ["v0", "v1", "v2", "v3", "and 2 more"]


def test_a_long_line_of_the_program_is_presented_whole(show, page):
    page.set_viewport_size({"width": 1000, "height": 800})
    p = tf.Variable(0.7, name="p")
    with tf.GradientTape() as tape:
        loss = -(tf.constant(0.25) * tf.math.log(p) + (1 - tf.constant(0.25)) * tf.math.log(1 - p))
    page = show(tf.snapshot(tape, loss, p))
    type_keys(page, "v")
    code = page.locator(".mt-big-code")
    assert code.evaluate("line => [line.scrollWidth - line.clientWidth, line.scrollHeight - line.clientHeight]") == [
        0,
        0,
    ]
    assert code.inner_text().endswith("tf.math.log(1 - p))")


def test_a_graph_that_goes_on_below_fades_out_and_code_breaks_behind_a_bracket(show, page):
    page.set_viewport_size({"width": 1280, "height": 850})
    x = tf.Variable(0.7, name="a_name_that_is_so_long_that_it_takes_a_line")
    with tf.GradientTape() as tape:
        y = x
        for operation in (tf.sin, tf.exp, tf.tanh, tf.square, tf.sqrt, tf.cos, tf.sigmoid) * 3:
            y = operation(y)
        y = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.constant(1.0), logits=tf.multiply(y, 2.0)))
    page = show(tf.snapshot(tape, y, x), "none")
    fades = "['::before', '::after'].map(end => getComputedStyle(document.querySelector('.mt-pane'), end).opacity)"
    type_keys(page, "v")
    page.wait_for_function(f"String({fades}) === '1,0'", timeout=10_000)  # the end is seen, the beginning is above it
    lines = page.locator(".mt-big-code").evaluate("""code => {
      const words = [...code.childNodes].filter(one => one.data), found = [];
      for (const word of words) for (const { top } of [word].map(one => {
        const range = document.createRange(); range.selectNodeContents(one); return range.getClientRects()[0]; }))
        if (found.at(-1)?.top === top) found.at(-1).text += word.data; else found.push({ top, text: word.data });
      return found.map(({ text }) => text);
    }""")
    assert len(lines) > 1 and all(line.endswith(("(", ",")) for line in lines[:-1])
    type_keys(page, "Home", "ArrowRight")
    page.wait_for_function(f"String({fades}).endsWith('1')", timeout=10_000)


def test_a_graph_of_eight_columns_is_whole_before_its_numbers_are_large(show, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    a, b, c = (tf.Variable(value, name=name) for name, value in (("a", 1.0), ("b", -3.0), ("c", 2.0)))
    with tf.GradientTape() as tape:
        disc = b * b - 4.0 * a * c
        root = (-b + tf.sqrt(disc)) / (2.0 * a)
    page = show(tf.snapshot(tape, root, [a, b, c]))
    type_keys(page, "End", "v")
    page.wait_for_function("document.querySelector('.mt-pane').clientWidth > 1400")
    page.wait_for_timeout(250)
    pane = read_box(page.locator(".mt-pane"))
    boxes = [read_box(one) for one in page.locator(".mt-node .mt-box").all()]
    assert len(boxes) == 14
    assert all(pane["y"] <= box["y"] and box["y"] + box["height"] <= pane["y"] + pane["height"] for box in boxes)


def test_a_presented_warning_ends_with_the_fix_and_words_are_large(show, page):
    page.set_viewport_size({"width": 1440, "height": 900})
    a, b, i = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b"), tf.Variable(3, name="i")
    with tf.GradientTape() as tape:
        y = a * tf.constant(float(b.numpy())) + tf.cast(i, tf.float32)
    page = show(tf.snapshot(tape, y, [a, b, i]))
    type_keys(page, "v")
    alarms = page.locator(".mt-alarm")
    assert alarms.count() == 2
    assert alarms.evaluate_all("all => all.every(one => one.scrollHeight <= one.clientHeight + 1)")
    sizes = page.locator(".mt-go, .mt-big-words").evaluate_all("all => all.map(el => getComputedStyle(el).fontSize)")
    assert all(24 <= float(size.removesuffix("px")) <= 30 for size in sizes)


def test_no_line_of_the_words_begins_with_a_comma(show, page):
    page.set_viewport_size({"width": 390, "height": 844})
    t = tf.Variable(1.5, name="t")
    with tf.GradientTape() as tape:
        a = t * t
        y = tf.sin(a) * tf.exp(-a) + a
    tape.gradient(y, t)
    view = show(tf.snapshot(tape))
    type_keys(view, "End", "v")
    words = view.locator(".mt-big-words p").last
    assert re.search(r"= [-.0-9]+, Σ [-.0-9]+ = ∂", words.inner_text())
    lines = words.evaluate(
        """el => {
          const range = document.createRange(), places = [];
          const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
          while (walk.nextNode())
            for (let k = 0; k < walk.currentNode.length; k++) {
              range.setStart(walk.currentNode, k);
              range.setEnd(walk.currentNode, k + 1);
              const { bottom, width } = range.getBoundingClientRect();
              if (width) places.push([range.toString(), bottom]);
            }
          return places.filter(([, y], k) => !k || y > places[k - 1][1] + 5).map(([letter]) => letter);
        }"""
    )
    assert len(lines) > 1 and "," not in lines
