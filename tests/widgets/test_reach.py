"""What is easily missed is pointed at: rows that are not finite, what a pointer lights, hands on a screen."""

import pytest

import minitape as tf
from tests.jupyterlab_page import wait_for_frame

from .conftest import build_chain_snapshot, type_keys

pytestmark = pytest.mark.browser


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
    heights = [page.locator(part).bounding_box()["height"] for part in (".mt-view", ".mt-pane", ".mt-below")]
    assert heights[0] == page.viewport_size["height"] and heights[1] > heights[2] > 200
    type_keys(page, "f")
    page.wait_for_function("document.fullscreenElement === null")


def test_links_to_rows_can_be_touched(show):
    page = show(build_chain_snapshot(3))
    type_keys(page, "End")
    for box in [link.bounding_box() for link in page.locator(".mt-step .mt-link").all()]:
        assert box["height"] >= 24


def test_screen_readers_hear_the_adjoint(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * x
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    assert page.locator(".mt-node[data-id=r0]").get_attribute("aria-label").endswith("adjoint 6.0")


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
    assert (value, shown) == ("3", "3") and "No kernel answers" in said
