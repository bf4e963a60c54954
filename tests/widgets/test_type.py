"""The one typographic rule: a picture shows by itself no text that is smaller than 11 pixels, and takes the height that
there is.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitape as tf
from tests.jupyterlab_page import read_box

from .conftest import PROGRAMS, type_keys
from .twelve_programs import TWELVE

pytestmark = [pytest.mark.browser, pytest.mark.long]

LEAST = 11
SMALLEST = """() => {
  const sizes = [...document.querySelectorAll(".mt-view *")].filter(el => {
    const box = el.getBoundingClientRect();
    const own = [...el.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const seen = box.width && box.height && getComputedStyle(el).visibility !== "hidden";
    return own && seen && !["title", "OPTION"].includes(el.tagName);
  }).map(el => [parseFloat(getComputedStyle(el).fontSize) * (el.ownerSVGElement ? el.getScreenCTM().a : 1), \
`${el.getAttribute("class")}: ${el.textContent.slice(0, 30)}`]);
  return sizes.sort((a, b) => a[0] - b[0])[0];
}"""

ENDS = "all => all.map(el => el.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"


def program(name: str) -> Any:
    return tf.snapshot(*PROGRAMS[name]())


SHOWN: dict[str, Callable[[], Any]] = TWELVE | {
    name: lambda name=name: program(name) for name in ("accumulation", "nested", "layers", "cut", "cases")
}


SIZES = [(1400, 900), (1000, 700), (390, 800)]


@pytest.mark.long(sample=12)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.longest] * (k % 2)) for k, name in enumerate(SHOWN)]
)
def test_no_text_is_smaller_than_eleven_pixels(name, show, page):
    """In a window that has one of the sizes when the page is opened, and is given the others."""
    first = [*SHOWN].index(name) % 3
    for size in SIZES[first:] + SIZES[:first]:
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        if size == SIZES[first]:
            show(SHOWN[name]())
        for keys in ([], ["End", "ArrowLeft"], ["Home", "ArrowRight"]):
            type_keys(page, *keys)
            page.wait_for_timeout(200)
            least, where = page.evaluate(SMALLEST)
            assert least >= LEAST, (size, where)


def test_a_page_of_its_own_fills_its_window(show, page):
    page.set_viewport_size({"width": 1400, "height": 900})
    show(program("square"))
    bottom = page.evaluate("document.querySelector('.mt-view').getBoundingClientRect().bottom")
    assert bottom == pytest.approx(884, abs=1)


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("name", TWELVE)
def test_the_table_and_the_words_are_seen_without_scrolling(name, show, page):
    page.set_viewport_size({"width": 1000, "height": 700})
    show(TWELVE[name]())
    type_keys(page, "End", "ArrowLeft")
    page.wait_for_timeout(250)
    assert page.evaluate("document.documentElement.scrollHeight") <= 700
    assert page.evaluate("(v => v.scrollHeight - v.clientHeight)(document.querySelector('.mt-view'))") <= 0
    for part in (".mt-step", ".mt-lines .mt-current"):
        assert read_box(page.locator(part))["y"] < 660


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("name", ["chain", "network", "lstm", "nan", "broadcast"])
def test_on_a_small_screen_a_graph_that_can_be_is_whole_at_each_step(name, show, page):
    page.set_viewport_size({"width": 1000, "height": 700})
    show(TWELVE[name]())
    for keys in ([], ["End", "ArrowLeft"], ["Home", "ArrowRight"]):
        type_keys(page, *keys)
        page.wait_for_timeout(250)
        pane = read_box(page.locator(".mt-pane"))
        for top, bottom in page.locator(".mt-node .mt-box").evaluate_all(ENDS):
            assert top >= pane["y"] and bottom <= pane["y"] + pane["height"]


def test_a_number_of_the_program_is_a_small_node(show):
    page = show(TWELVE["chain"]())
    height = "el => el.getBBox().height"
    number = page.locator(".mt-node.mt-constant").first
    assert number.locator(".mt-title").count() == 0
    assert (number.locator(".mt-value").text_content(), number.locator(".mt-number").text_content()) == ("3.0", "1")
    whole = page.locator(".mt-node.mt-variable .mt-box").evaluate(height)
    assert number.locator(".mt-box").evaluate(height) < whole / 2
    type_keys(page, "Home")  # before it is read it is there, too
    assert number.locator(".mt-value").text_content() == "3.0"


def test_a_name_is_large_and_its_operation_small_beside_it(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * x
    page = show(tf.snapshot(tape, y, x))
    node = page.locator(".mt-node[data-id=r1]")
    name, operation = node.locator(".mt-title"), node.locator(".mt-op")
    assert (name.text_content(), operation.text_content()) == ("y", "x × x")
    size = "el => parseFloat(getComputedStyle(el).fontSize)"
    assert name.evaluate(size) > operation.evaluate(size)


def test_a_step_says_what_adds_up_to_readers_of_the_screen(show):
    x = tf.Variable(0.7, name="x")
    with tf.GradientTape() as tape:
        u = tf.exp(x)
        y = u * x
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    heard = page.locator(".mt-said-only").inner_text()
    parts = [float(one) for one in re.findall(r"-?\d+\.\d+", heard)]
    assert re.sub(r"-?\d+\.\d+", "?", heard) == "Backward, row 1: u · exp; to x: ?, added up: ?; the sweep ends here"
    assert parts == pytest.approx([0.7 * np.exp(0.7), 1.7 * np.exp(0.7)], rel=1e-6)
    type_keys(page, "s")
    assert "change per small nudge of x" in page.locator(".mt-slopenote[role=status]").inner_text()


def test_a_tensors_step_is_said_in_few_words(show):
    page = show(TWELVE["network"]())
    type_keys(page, "End", "ArrowLeft", "ArrowLeft")
    words = page.locator(".mt-step").inner_text()
    assert len(words.splitlines()) < 26 and len(words) < 600
    assert "(32, 16), " in words and "% zeros" in words
    said = page.locator(".mt-said-only").inner_text()
    assert said.startswith("Backward, row ") and len(said) < 120
    page.locator(".mt-digits summary").first.click()
    assert len(page.locator(".mt-step").inner_text()) > len(words) + 200
