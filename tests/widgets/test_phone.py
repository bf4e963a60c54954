"""On a phone: what is pressed is large enough for a finger, and the player is always at hand."""

import re

import pytest

import minitape as tf
from minitape_widgets import TapeView
from tests.jupyterlab_page import read_box

from .conftest import accumulation, build_chain_snapshot, layers, square, type_keys
from .test_storeys import cubic
from .twelve_programs import TWELVE

pytestmark = [pytest.mark.browser, pytest.mark.long]
PHONE = {"width": 390, "height": 844}
SMALL = """() => [...document.querySelectorAll(".mt-toolbar *, .mt-stepbar *")]
  .filter(el => ["BUTTON", "SELECT", "INPUT"].includes(el.tagName) && el.type !== "range" && el.offsetParent)
  .filter(el => el.getBoundingClientRect().height < 44 || el.getBoundingClientRect().width < 44)
  .map(el => el.getAttribute("aria-label") ?? el.textContent)"""

ROOM_OF_SEARCH = """field => {  // what is left beside its word, the padding and the button that empties it
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(field).font;
  return field.clientWidth - pen.measureText(field.placeholder).width - 12 - 16;
}"""


@pytest.mark.parametrize("snapshot", [lambda: tf.snapshot(*layers()), lambda: build_chain_snapshot(200)])
def test_a_finger_hits_what_is_pressed_and_the_player_stays_at_the_bottom_beside_the_words(snapshot, show, page):
    page.set_viewport_size(PHONE)
    show(snapshot())
    type_keys(page, "End", "ArrowLeft")
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert read_box(page.locator(".mt-toolbar"))["height"] <= 108  # two lines of 44 pixels
    assert page.locator(".mt-search").evaluate(ROOM_OF_SEARCH) >= 0
    words, table = (read_box(page.locator(name)) for name in (".mt-step", ".mt-table"))
    assert words["y"] < min(table["y"], PHONE["height"])
    for scrolled in (0, 200):
        page.evaluate(f"scrollTo(0, {scrolled})")
        player = read_box(page.locator(".mt-stepbar"))
        assert player["y"] + player["height"] == pytest.approx(PHONE["height"], abs=20)
        assert player["x"] + player["width"] <= PHONE["width"]


def test_a_phone_shows_all_controls_of_a_comparison(page, tmp_path):
    page.set_viewport_size(PHONE)
    TapeView.compare(square()[0], accumulation()[0]).save(tmp_path / "both.html")
    page.set_content((tmp_path / "both.html").read_text(encoding="utf-8"))
    page.wait_for_selector(".mt-node")
    for bar in page.locator(".mt-toolbar").all():
        right = sum(read_box(bar)[side] for side in ("x", "width"))
        for control in bar.locator("button:visible, select:visible, input:visible").all():
            box = read_box(control)
            assert box["height"] >= 44 and box["x"] + box["width"] <= right
            icon = control.locator("svg")
            assert not icon.count() or read_box(icon)["height"] >= 14


def test_the_numbers_of_a_step_are_seen_without_scrolling(show, page):
    page.set_viewport_size(PHONE)
    x, w = tf.Variable(1.3, name="x"), tf.Variable(-0.4, name="w")
    with tf.GradientTape() as tape:
        loss = (tf.tanh(x * w + 0.5) - 0.3) ** 2 + 0.1 * w**2
    show(tf.snapshot(tape, loss, [x, w]))
    type_keys(page, "End", "ArrowLeft")
    page.wait_for_timeout(250)
    words, player = (read_box(page.locator(one)) for one in (".mt-product-line .mt-num >> nth=0", ".mt-stepbar"))
    assert words["y"] + words["height"] <= player["y"]


def test_a_step_by_the_player_leaves_room_for_its_words(show, page):
    page.set_viewport_size(PHONE)
    x = tf.Variable(0.7, name="x")
    with tf.GradientTape() as tape:
        u = tf.exp(x)
        s, c = tf.sin(u), tf.cos(u)
        y = s * c + u / s
    show(tf.snapshot(tape, y, x))
    page.locator(".mt-stepbar").get_by_role("button", name="Last (End)").click()
    page.locator(".mt-stepbar").get_by_role("button", name="Previous (left arrow)").click()
    page.wait_for_timeout(250)
    words, player = (read_box(page.locator(one)) for one in (".mt-product-line .mt-num >> nth=0", ".mt-stepbar"))
    assert words["y"] + words["height"] <= player["y"]
    assert read_box(page.locator(".mt-pane"))["y"] >= -1  # the graph is still there


def test_edges_end_above_a_pile_of_cards(show, page):
    page.set_viewport_size(PHONE)
    w = tf.Variable(0.9, name="w")
    with tf.GradientTape() as tape:
        h = tf.constant(1.0)
        for _ in range(12):
            h = tf.tanh(w * h + 0.1)
        loss = h * h
    show(tf.snapshot(tape, loss, w))
    pile = page.locator(".mt-node", has=page.locator(".mt-card")).first
    index, top = pile.get_attribute("data-index"), pile.locator(".mt-card").first.evaluate("one => one.getBBox().y")
    ends = page.locator(f"path.mt-edge[data-edge*='>{index}:']").evaluate_all(
        "all => all.map(path => path.getPointAtLength(path.getTotalLength()).y)"
    )
    at = float(re.search(r"translate\([-\d.]+[ ,]([-\d.]+)", pile.get_attribute("transform"))[1])
    assert ends and max(ends) <= at + top


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
        type_keys(page, *keys)
        page.wait_for_timeout(250)
        found = page.evaluate(TURNED)
        assert found["drawn"] and (found["up"], found["outside"], found["cut"]) == (0, 0, 0)
        assert found["controls"] < PHONE["width"] - 16


SUMS = """() => [...document.querySelectorAll(".mt-addends")].map(one => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return [one.textContent, left, right, top - document.querySelector(".mt-pane").getBoundingClientRect().top, bottom];
})"""


def test_two_sums_beside_each_other_both_can_be_read(show, page):
    page.set_viewport_size(PHONE)
    x, z = tf.Variable(2.0, name="x"), tf.Variable(1.0, name="z")
    with tf.GradientTape() as tape:
        u = x * z + x
        v = tf.exp(z) * u
    show(tf.snapshot(tape, v, [x, z]))
    type_keys(page, "End")
    (one, _, to, top, _), (other, begin, _, above, _) = page.evaluate(SUMS)
    assert (one, other) == ("2.718 + 2.718 = 5.437", "10.87 + 5.437 = 16.31")  # e + e, and 4 e + 2 e
    assert (to <= begin or abs(top - above) >= 15) and min(top, above) >= 0


def test_a_button_has_its_word_where_there_is_room_and_a_name_everywhere(show, page):
    page = show(build_chain_snapshot(10))
    words = page.locator(".mt-word")
    every, most_used = "nearby paths predict cut slopes cell present".split(), ["paths", "predict", "slopes"]
    for width, expected in ((1500, every), (1280, every), (1100, most_used), (900, []), (PHONE["width"], every[:-1])):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_timeout(100)
        seen = [word for word in words.all() if word.is_visible()]
        assert [word.text_content() for word in seen] == expected  # on a phone nobody presents
        for word in seen:
            box = read_box(word)
            assert box["x"] >= 0 and box["x"] + box["width"] <= width  # without scrolling
        if width > 640:
            assert read_box(page.locator(".mt-toolbar"))["height"] < 48  # one line
        assert (
            page.locator("button:not([aria-label]):has(svg.mt-icon), button:not([title]):has(svg.mt-icon)").count() == 0
        )
    for word in words.all():
        assert word.text_content() in word.locator("..").get_attribute("aria-label").lower()


COVERED = """() => {
  const box = one => one.getBoundingClientRect();
  const meets = (a, b) => Math.min(a.right - b.left, b.right - a.left, a.bottom - b.top, b.bottom - a.top) > 1;
  const cards = [...document.querySelectorAll(".mt-product > rect")].map(box);
  const captions = [...document.querySelectorAll(".mt-frame > text")].map(box);
  return [cards.length, captions.filter(one => cards.some(card => meets(card, one))).length];
}"""


def test_no_card_lies_over_the_caption_of_a_frame(show, page):
    page.set_viewport_size(PHONE)
    show(cubic())
    type_keys(page, "End")
    seen = [page.evaluate(COVERED)]
    for _ in range(6):
        type_keys(page, "ArrowLeft")
        seen.append(page.evaluate(COVERED))
    assert sum(cards for cards, _ in seen) > 6 and sum(covered for _, covered in seen) == 0


def test_a_sum_leaves_the_arrowheads_above_a_node_free_and_a_card_lies_between_two_nodes(show, page):
    page.set_viewport_size(PHONE)
    x = tf.Variable(0.7, name="x")
    with tf.GradientTape() as tape:
        u = x * x
        p = tf.sin(u)
        q = u * p
        y = (q + u) * q
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End", "ArrowLeft")
    page.wait_for_timeout(250)
    above, below = (read_box(page.locator(f".mt-node[data-id=r{row}] .mt-box")) for row in (1, 2))
    total, card = (read_box(page.locator(name)) for name in (".mt-addends tspan", ".mt-product rect"))
    scale = above["width"] / 132
    assert total["y"] + total["height"] < above["y"] - 7 * scale  # the height of an arrowhead
    assert card["y"] + card["height"] <= below["y"] + 2


def test_warnings_and_matrices_are_whole_and_help_says_what_buttons_do(show, page):
    """A phone has no pointer that rests on a cut sentence or on a button without words."""
    page.set_viewport_size(PHONE)
    x, k = tf.Variable(2.0, name="x"), tf.Variable(3, name="k")
    with tf.GradientTape() as tape:
        loss = tf.stop_gradient(x * 3.0) * tf.cast(k, tf.float32)
    page.evaluate(
        "matchMedia = (matched => query => query === '(hover: none)' ? { matches: true } : matched(query))"
        "(matchMedia.bind(window))"
    )
    show(tf.snapshot(tape, loss, [x, k]))
    hidden = page.locator(".mt-alarm").evaluate_all("all => all.map(one => one.scrollHeight - one.clientHeight)")
    assert len(hidden) == 2 and max(hidden) <= 1
    assert page.locator("[data-does=present]").is_visible()
    page.locator("[data-does=help]").click()
    lines = page.locator(".mt-help > span").all_inner_texts()
    assert [line.split()[0] for line in lines] == "two double nearby paths predict cut slopes cell".split()
    assert "Paths from a source to a target" in lines[3] and "(p)" not in lines[3]
    show(tf.snapshot(*layers()))
    type_keys(page, "End", "w")
    assert page.locator(".mt-cells").evaluate("one => one.scrollHeight - one.clientHeight") <= 1


def test_the_dashed_way_of_a_value_stays_on_the_screen_and_goes_round_nodes(show, page):
    page.set_viewport_size(PHONE)
    x, m = tf.Variable(2.0, name="x"), tf.Variable(4.0, name="m")
    k, f = tf.Variable(3, name="k"), tf.Variable(5.0, trainable=False, name="f")
    with tf.GradientTape() as tape:
        a = tf.stop_gradient(x * 3.0)
        b = tf.cast(k, tf.float32) * a
        c = tf.constant(m.numpy() * 2.0)
        loss = b + c + f
    page = show(tf.snapshot(tape, loss, [x, k, f, m]))
    pane = read_box(page.locator(".mt-pane"))
    way = read_box(page.locator(".mt-torn .mt-assign").first)
    assert way["height"] > 100 and pane["x"] <= way["x"] and way["x"] + way["width"] <= pane["x"] + pane["width"]
