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


@pytest.mark.long(sample=6)
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
