"""What is easily missed is pointed at: rows that are not finite, what a pointer lights, hands on a screen."""

import re

import pytest

import minitape as tf
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import build_chain_snapshot, read_position, type_keys

pytestmark = [pytest.mark.browser, pytest.mark.long]

FOCUS_IS_IN_VIEW = """() => {
  const tree = document.querySelector(".mt-view") ? document : document.body.lastElementChild.shadowRoot;
  const view = tree.querySelector(".mt-view");
  return view.contains(view.getRootNode().activeElement);
}"""
PINCH = """pane => {
  const touch = (type, id, x) => pane.dispatchEvent(new PointerEvent(type, {
    pointerId: id, pointerType: "touch", clientX: x, clientY: 60, button: type === "pointermove" ? -1 : 0, bubbles: \
true }));
  pane.setPointerCapture = () => {};
  const scale = () => Number(/scale\\(([\\d.]+)\\)/.exec(document.querySelector(".mt-scene > \
g").getAttribute("transform"))[1]);
  const before = scale();
  touch("pointerdown", 1, 300), touch("pointerdown", 2, 340);
  touch("pointermove", 2, 380), touch("pointerup", 1, 300), touch("pointerup", 2, 380);
  return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(scale() / before))));
}"""


def test_two_fingers_zoom(show):
    page = show(build_chain_snapshot(10))
    assert page.locator(".mt-pane").evaluate(PINCH) == pytest.approx(2.0)


def test_the_view_fills_the_screen(show):
    page = show(build_chain_snapshot(10))
    type_keys(page, "f")
    page.wait_for_function("document.fullscreenElement?.classList.contains('mt-view')")
    heights = [read_box(page.locator(part))["height"] for part in (".mt-view", ".mt-pane", ".mt-below")]
    assert heights[0] == page.viewport_size["height"] and heights[1] > heights[2] > 200
    type_keys(page, "f")
    page.wait_for_function("document.fullscreenElement === null")


def test_links_to_rows_can_be_touched(show):
    page = show(build_chain_snapshot(3))
    type_keys(page, "End")
    for box in [read_box(link) for link in page.locator(".mt-step .mt-link").all()]:
        assert box["height"] >= 24


def test_screen_readers_hear_the_adjoint(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * x
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    assert page.locator(".mt-node[data-id=r0]").get_attribute("aria-label").endswith("adjoint 6.0")


def test_screen_readers_hear_the_selected_row_and_that_a_gradient_is_none(show):
    w, g = tf.Variable(2.0, name="w"), tf.Variable(3.0, name="g")
    with tf.GradientTape() as tape:
        loss = tf.stop_gradient(w * g) - 4.0 * g
    page = show(tf.snapshot(tape, loss, [w, g]))
    type_keys(page, "Home", "ArrowDown", "ArrowDown")
    said = page.locator(".mt-said-only")
    assert said.inner_text().startswith("row 1: g, variable")
    assert page.locator(".mt-node[data-id=r1]").get_attribute("aria-current") == "true"
    assert page.locator(".mt-line[data-row='1']").get_attribute("aria-current") == "true"
    type_keys(page, "ArrowRight")
    assert said.inner_text() == "Forward, row 0: w = 2.0"
    assert page.locator(".mt-node[data-id=r0]").get_attribute("aria-current") == "step"
    type_keys(page, "End")
    assert said.inner_text().endswith("to g: -4.0; w: None; the sweep ends here")
    assert page.locator(".mt-node[data-id=r0]").get_attribute("aria-label").endswith("adjoint None")


def test_a_source_under_the_pointer_lights_its_ways(show):
    a, b = tf.Variable(2.0, name="a"), tf.Variable(5.0, name="b")
    with tf.GradientTape() as tape:
        p = a * b
        _ = a + 1.0  # leads nowhere
        y = tf.sin(p) * b
    snapshot = tf.snapshot(tape, y, [a, b])
    page = show(snapshot)
    rows = {
        row["name"].removesuffix(":0"): row["row"]
        for row in snapshot["rows"]
        if row["name"] and row["kind"] == "variable"
    }
    lit = (
        "() => [...document.querySelectorAll('.mt-edge.mt-lit[data-edge], .mt-chip.mt-lit')].map(e => "
        "e.dataset.edge).sort()"
    )
    page.locator(f".mt-node[data-id=r{rows['a']}]").hover()
    wait_for_frame(page)
    of_a = page.evaluate(lit)
    page.locator(f".mt-node[data-id=r{rows['b']}]").hover()
    wait_for_frame(page)
    of_b = page.evaluate(lit)
    assert len(of_a) == 3 and len(of_b) == 4  # a by p and sin; b by both
    assert (
        all(edge.split(":")[0].startswith(f"{rows['b']}>") for edge in set(of_b) - set(of_a))
        and len(set(of_b) - set(of_a)) == 2
    )
    page.mouse.move(5, 5)
    wait_for_frame(page)
    assert page.evaluate(lit) == []


WITHOUT_A_KERNEL = """async () => {
  const text = JSON.parse(document.getElementById("bundle").textContent);
  const { listen, show } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  const knobs = JSON.stringify([{ name: "x", value: 3, low: -5, high: 5, step: 0.5 }]);
  const model = { get: name => ({ _wire: null, _knobs: knobs })[name], on() {}, off() {}, send() { throw new \
Error("no kernel") } };
  const el = document.body.appendChild(document.createElement("div"));
  await show(listen(model), el, async () => text);
  const slider = el.querySelector(".mt-knobs input");
  slider.value = "-2";
  slider.dispatchEvent(new Event("input"));
  return [slider.value, el.querySelector(".mt-knobs output").textContent, el.querySelector(".mt-knobs \
[role=alert]").textContent];
}"""


def test_a_slider_without_a_kernel_says_so_and_keeps_its_number(show):
    page = show(build_chain_snapshot(3))
    value, shown, said = page.evaluate(WITHOUT_A_KERNEL)
    assert (value, shown) == ("3", "3") and "No kernel is answering" in said


@pytest.mark.parametrize("place", ["page", pytest.param("shadow tree", marks=pytest.mark.long)])
def test_keys_reach_the_view_after_a_click_on_any_button(show, place):
    v, u = tf.Variable([2.0, 4.0], name="v"), tf.Variable(3, name="u")
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.tanh(v) * v) + tf.cast(u, tf.float32)
    tape.gradient(y, v), tape.gradient(y, [v, u])
    page = show(tf.snapshot(tape))
    if place == "shadow tree":
        page.evaluate("""() => {
          const host = document.createElement("div"), root = host.attachShadow({ mode: "open" });
          document.body.append(host);
          root.append(...document.head.querySelectorAll("style[data-minitape]"), document.querySelector(".mt-view"));
        }""")
    names = page.locator(".mt-view button").evaluate_all(
        "all => all.filter((el) => el.checkVisibility()).map((el) => el.getAttribute('aria-label') || el.innerText)"
    )
    assert "▶ go backward" in names and len(names) > 15
    for name in names:
        if re.search("screen|Save|SVG|PNG|GIF|Present", name):
            continue
        button = page.locator(".mt-view").get_by_role("button", name=name, exact=True).first
        if button.count() and button.is_visible() and button.is_enabled():
            button.click()
            wait_for_frame(page)
            assert page.evaluate(FOCUS_IS_IN_VIEW), name
            page.locator(".mt-view").first.focus()
            type_keys(page, "Escape")


def test_the_button_that_begins_the_way_back_leaves_the_keys_to_the_view(show):
    page = show(build_chain_snapshot(3))
    page.get_by_role("button", name="▶ go backward").click()
    type_keys(page, " ", "End")
    last = read_position(page)
    type_keys(page, "ArrowLeft")
    assert page.evaluate(FOCUS_IS_IN_VIEW) and read_position(page) != last


def test_the_view_does_not_take_the_focus_of_another_part_of_the_page(show):
    page = show(build_chain_snapshot(3))
    page.get_by_role("button", name="▶ go backward").focus()
    page.evaluate("document.body.append(Object.assign(document.createElement('input'), { id: 'other' }))")
    page.locator("#other").focus()
    page.evaluate("document.querySelector('.mt-go').hidden = true")
    wait_for_frame(page)
    assert page.evaluate("document.activeElement.id") == "other"


def test_what_is_nearby_follows_the_steps_unless_a_row_is_selected(show):
    x = tf.Variable(0.5, name="x")
    with tf.GradientTape() as tape:
        y = x
        for function in (tf.sin, tf.exp, tf.tanh, tf.square, tf.cos, tf.sqrt, tf.abs, tf.sigmoid):
            y = function(y)
    tape.gradient(y, x)
    page = show(tf.snapshot(tape))
    current = page.locator(".mt-node.mt-current")
    type_keys(page, "Home", "ArrowRight", "ArrowRight", "n")
    wait_for_frame(page)
    assert page.locator(".mt-node.mt-off").count() > 0
    for _ in range(6):
        type_keys(page, "ArrowRight")
        wait_for_frame(page)
        assert current.count() == 1 and "mt-off" not in current.get_attribute("class")
    page.locator(".mt-node[data-id=r2]").click()
    wait_for_frame(page)
    type_keys(page, "ArrowRight")
    wait_for_frame(page)
    assert "mt-off" not in page.locator(".mt-node[data-id=r2]").get_attribute("class")  # it was asked for
    assert "mt-off" in current.get_attribute("class")
