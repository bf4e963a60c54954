"""What the reader's system asks of the view: less motion, its own colours, a light theme or a dark one."""

import re

import pytest

import minitape as tf

from .conftest import PROGRAMS, build_chain_snapshot, type_keys

pytestmark = pytest.mark.browser

PLACES_IN_TWENTY_FRAMES = """async (view) => {
  const scene = view.querySelector(".mt-scene > g"), places = new Set();
  view.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  for (let k = 0; k < 20; k++) {
    await new Promise(requestAnimationFrame);
    places.add(scene.getAttribute("transform"));
  }
  return places.size;
}"""


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_reduced_motion_is_honoured(motion, show, page):
    """The picture glides to a step that is out of sight, or is there at once."""
    page.emulate_media(reduced_motion=motion)
    shown = show(build_chain_snapshot(30))
    type_keys(shown, "Home", *"+++++")
    assert (shown.locator(".mt-view").evaluate(PLACES_IN_TWENTY_FRAMES) == 1) == (motion == "reduce")


def test_with_the_systems_own_colours_the_current_row_stands_out_in_them(show, page):
    page.emulate_media(forced_colors="active", color_scheme="dark")
    shown = show(tf.snapshot(*PROGRAMS["square"]()))
    line = ".mt-lines .mt-line"
    style = "lines => lines.map(line => getComputedStyle(line).outlineStyle)"
    assert shown.locator(line).evaluate_all(style) == ["none", "solid"]
    pane = shown.locator(".mt-pane").evaluate("pane => getComputedStyle(pane).backgroundColor")
    assert pane == "rgb(0, 0, 0)"  # the system's black, not that of the dark theme


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes(scheme, show, page):
    page.emulate_media(color_scheme=scheme)
    shown = show(tf.snapshot(*PROGRAMS["square"]()))
    assert ("mt-dark" in shown.locator(".mt-view").get_attribute("class")) == (scheme == "dark")
    colours = shown.locator(".mt-view").evaluate(
        "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
    )
    numbers = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]
    assert (numbers[0] < numbers[1]) == (scheme == "dark")
