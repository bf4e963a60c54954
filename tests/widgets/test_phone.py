"""On a phone: what is pressed is large enough for a finger, and the player is always at hand."""

import pytest

import minitape as tf

from .conftest import chain, layers, press
from .twelve_programs import TWELVE

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}
SMALL = """() => [...document.querySelectorAll(".mt-toolbar *, .mt-stepbar *")]
  .filter(el => ["BUTTON", "SELECT", "INPUT"].includes(el.tagName) && el.type !== "range" && el.offsetParent)
  .filter(el => el.getBoundingClientRect().height < 44 || el.getBoundingClientRect().width < 44)
  .map(el => el.getAttribute("aria-label") ?? el.textContent)"""


@pytest.mark.parametrize("snapshot", [lambda: tf.snapshot(*layers()), lambda: chain(200)])
def test_a_finger_hits_what_is_pressed_and_the_player_stays_at_the_bottom_beside_the_words(snapshot, show, page):
    page.set_viewport_size(PHONE)
    show(snapshot())
    press(page, "End", "ArrowLeft")
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator(".mt-toolbar").bounding_box()["height"] <= 60
    words, table = (page.locator(name).bounding_box() for name in (".mt-step", ".mt-table"))
    assert words["y"] < min(table["y"], PHONE["height"])
    for scrolled in (0, 200):
        page.evaluate(f"scrollTo(0, {scrolled})")
        player = page.locator(".mt-stepbar").bounding_box()
        assert player["y"] + player["height"] == pytest.approx(PHONE["height"], abs=20)
        assert player["x"] + player["width"] <= PHONE["width"]


TURNED = """() => {
  const box = (el) => el.getBoundingClientRect(), all = (name) => [...document.querySelectorAll(name)];
  const pane = box(document.querySelector(".mt-pane"));
  const nodes = new Map(all(".mt-node").map((el) => [el.dataset.index, box(el.querySelector(".mt-box"))]));
  const edges = all("path.mt-edge[data-edge]").map((el) => el.dataset.edge.split(/[>:]/).map((key) => nodes.get(key)));
  const cards = all(".mt-product rect").map(box), parts = [...nodes.values(), ...cards];
  return { cut: cards.filter(({ top, bottom }) => top < pane.top || bottom > pane.bottom).length,
    controls: box(all(".mt-toolbar select")[0]).right,
    up: edges.filter(([from, to]) => from && to && from.bottom > to.top).length, drawn: edges.length,
    outside: parts.filter(({ left, right }) => left < pane.left || right > pane.right).length };
}"""


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("name", TWELVE)
def test_a_graph_is_turned_by_ninety_degrees_and_as_wide_as_the_screen(name, show, page):
    page.set_viewport_size(PHONE)
    show(TWELVE[name]())
    for keys in ([], ["End", "ArrowLeft"], ["ArrowLeft", "ArrowLeft"]):
        press(page, *keys)
        page.wait_for_timeout(250)
        found = page.evaluate(TURNED)
        assert found["drawn"] and (found["up"], found["outside"], found["cut"]) == (0, 0, 0)
        assert found["controls"] < PHONE["width"] - 16


UNDER_THE_MAP = """() => {
  const map = document.querySelector(".mt-minimap").getBoundingClientRect();
  return [...document.querySelectorAll("path.mt-edge[data-edge]")].filter(path => {
    for (let at = 0, m = path.getScreenCTM(); at < path.getTotalLength(); at += 4) {
      const { x, y } = path.getPointAtLength(at).matrixTransform(m);
      if (x > map.left && x < map.right && y > map.top && y < map.bottom) return true;
    }
  }).length;
}"""

NODES_UNDER_THE_MAP = """() => {
  const map = document.querySelector(".mt-minimap").getBoundingClientRect();
  return [...document.querySelectorAll(".mt-node .mt-box")].map(box => box.getBoundingClientRect()).filter(box =>
    box.left < map.right && map.left < box.right && box.top < map.bottom && map.top < box.bottom).length;
}"""


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("name", ["attention", "newton", "layers"])
def test_the_small_map_is_over_no_edge(name, show, page):
    page.set_viewport_size({"width": 1000, "height": 700})
    show(TWELVE[name]())
    seen = 0
    for keys in ([], ["End", "ArrowLeft"], ["Home", "ArrowRight"]):
        press(page, *keys)
        page.wait_for_timeout(250)
        if page.locator(".mt-minimap").is_visible():
            seen += 1
            assert page.evaluate(UNDER_THE_MAP) == 0
    assert seen


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("size", [(390, 844), (1000, 700), (1400, 900)])
def test_the_small_map_is_over_no_node(size, show, page):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(chain(40), "none")
    for keys in ([], ["Home"], ["ArrowRight"] * 9, ["End"], ["ArrowLeft"] * 20):
        press(page, *keys)
        page.wait_for_timeout(250)
        if page.locator(".mt-minimap").is_visible():
            assert page.evaluate(NODES_UNDER_THE_MAP) == 0
