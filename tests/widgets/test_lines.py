"""A tape that is longer than the pane is wide goes on in the next line, and each of its parts can be resized."""

import pytest

import minitape as tf
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import accumulation, build_chain_snapshot, nested, type_keys
from .test_labels import DRAWN, MEASURE, network, polynomial

pytestmark = pytest.mark.browser

# what is drawn: the scale, the pane and the boxes of the nodes on the screen
LOOK = """() => {
  const box = e => { const { left, right, top, bottom } = e.getBoundingClientRect(); return { left, right, top, \
bottom } };
  const current = document.querySelector(".mt-node.mt-current .mt-box");
  return {
    scale: Number(/scale\\(([\\d.]+)\\)/.exec(document.querySelector(".mt-scene > g").getAttribute("transform"))[1]),
    pane: box(document.querySelector(".mt-pane")), current: current && box(current),
    nodes: [...document.querySelectorAll(".mt-node .mt-box")].map(box),
    titles: document.querySelectorAll(".mt-node .mt-title").length,
    edges: [...document.querySelectorAll("path.mt-edge[data-edge]")].map(box),
  };
}"""


def within(box, pane):
    return (
        box["left"] >= pane["left"]
        and box["right"] <= pane["right"]
        and box["top"] >= pane["top"]
        and box["bottom"] <= pane["bottom"]
    )


@pytest.mark.long(sample=5)
@pytest.mark.parametrize("turns, width", [(15, 1100), (60, 1100), (145, 1100), (30, 400), (30, 2000)])
def test_a_program_of_30_to_300_rows_is_read_at_nearly_natural_size(turns, width, show, page):
    page.set_viewport_size({"width": width, "height": 900})
    shown = show(build_chain_snapshot(turns))
    shown.get_by_label("Folding").select_option("none")
    wait_for_frame(shown)
    shown.locator(".mt-view").focus()
    type_keys(shown, "Home")
    for _ in range(8):
        type_keys(shown, *["PageDown"] * (turns // 15), "ArrowRight")
        shown.evaluate(DRAWN)
        seen = shown.evaluate(LOOK)
        assert seen["scale"] >= (0.75 if width > 500 else 0.6) and within(seen["current"], seen["pane"])
        # everything in its line is on the screen, too
        assert all(
            seen["pane"]["left"] <= box["left"] and box["right"] <= seen["pane"]["right"]
            for box in seen["nodes"] + seen["edges"]
        )
        assert seen["titles"] == len(seen["nodes"]) >= (6 if width > 500 else 5)
        for one in seen["nodes"]:
            for other in seen["nodes"]:
                apart = max(
                    one["left"] - other["right"],
                    other["left"] - one["right"],
                    one["top"] - other["bottom"],
                    other["top"] - one["bottom"],
                )
                assert one == other or apart > 0


def test_lines_are_equally_long_and_seen_whole(show, page):
    """Nine columns in the pane that JupyterLab has on a small screen: three lines of three, at full size."""
    x = tf.ones([4, 3])
    w, b, v, c = (tf.Variable(tf.ones(shape)) for shape in ([3, 5], [5], [5, 1], [1]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.tanh(x @ w + b) @ v + c - tf.zeros([4, 1])))
    page.set_viewport_size({"width": 966, "height": 768})
    shown = show(tf.snapshot(tape, loss, [w, b, v, c]))
    shown.evaluate(DRAWN)  # The pane gets its height one frame after the page opens.
    seen = shown.evaluate(LOOK)
    assert len({round(box["left"]) for box in seen["nodes"]}) == 3 and seen["scale"] >= 0.92
    assert [box for box in seen["nodes"] if not within(box, seen["pane"])] == [], seen["pane"]
    page.set_viewport_size({"width": 1100, "height": 900})  # what fits into one line stays in one
    shown = show(tf.snapshot(*accumulation()))
    shown.evaluate(DRAWN)
    boxes = shown.evaluate(LOOK)["nodes"]
    assert max(box["bottom"] for box in boxes) - min(box["top"] for box in boxes) < 160


@pytest.mark.long
@pytest.mark.parametrize("program", [network, polynomial])
def test_products_stand_on_their_own_edges_across_lines(program, show, page):
    page.set_viewport_size({"width": 640, "height": 1500})
    tape, target, sources = program()
    snapshot = tf.snapshot(tape, target, sources)
    shown = show(snapshot, fold="none")
    type_keys(shown, "End")
    for step in reversed(snapshot["sweep"]["steps"]):
        shown.evaluate(DRAWN)
        labels = shown.evaluate(MEASURE)
        assert len(labels) == len(step["edges"])
        assert [label for label in labels if label["foreign"] or label["covers"]] == [], step["row"]
        type_keys(shown, "ArrowLeft")


def test_a_frame_goes_on_in_the_next_line_around_its_own_rows(show, page):
    page.set_viewport_size({"width": 700, "height": 900})
    snapshot = tf.snapshot(*nested())
    shown = show(snapshot)
    type_keys(shown, "0")
    shown.evaluate(DRAWN)
    held = shown.evaluate("""() => {
      const box = e => e.getBoundingClientRect();
      return [...document.querySelectorAll(".mt-frame-sweep rect")].map(frame => \
[...document.querySelectorAll(".mt-node")].filter(node => {
        const [a, b] = [box(frame), box(node.querySelector(".mt-box"))];
        return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      }).map(node => Number(node.dataset.id.slice(1))))
    }""")
    assert len(held) > 1
    assert sorted(row for part in held for row in part) == [
        row["row"] for row in snapshot["rows"] if row["by"] is not None
    ]


def test_a_narrower_page_holds_fewer_columns_and_keeps_the_current_row(show, page):
    page.set_viewport_size({"width": 1400, "height": 900})
    shown = show(build_chain_snapshot(30), "none")
    type_keys(shown, "Home", *["ArrowRight"] * 20)
    columns = (
        "() => new Set([...document.querySelectorAll('.mt-node .mt-box')].map(e => "
        "Math.round(e.getBoundingClientRect().left))).size"
    )
    shown.evaluate(DRAWN)
    wide = shown.evaluate(columns)
    page.set_viewport_size({"width": 620, "height": 900})
    page.wait_for_function(f"({columns})() < {wide}")
    shown.evaluate(DRAWN)
    seen = shown.evaluate(LOOK)
    assert within(seen["current"], seen["pane"])


def test_a_graph_larger_than_its_pane_opens_at_the_present_row_and_follows_who_steps(show, page):
    page.set_viewport_size({"width": 900, "height": 500})
    shown = show(build_chain_snapshot(60), "none")
    shown.evaluate(DRAWN)
    opened = shown.evaluate(LOOK)
    assert within(opened["current"], opened["pane"])
    type_keys(shown, "End")
    shown.evaluate(DRAWN)
    page.wait_for_function(
        f"() => {{ const seen = ({LOOK})(); return seen.current && seen.current.bottom <= seen.pane.bottom && "
        f"seen.current.top >= seen.pane.top; }}"
    )


def test_the_wheel_scrolls_the_graph_for_its_reader_and_else_the_page(show, page):
    page.set_viewport_size({"width": 900, "height": 500})
    shown = show(build_chain_snapshot(40), "none")
    type_keys(shown, "Home")
    shown.evaluate(DRAWN)
    top = "document.querySelector('.mt-scene > g').getCTM().f"
    before = shown.evaluate(top)
    shown.locator(".mt-pane").hover(position={"x": 5, "y": 5})
    page.mouse.wheel(0, 100)
    page.wait_for_function(f"Math.abs({top} - {before} + 100) < 2")
    page.evaluate("document.activeElement.blur()")
    page.mouse.wheel(0, 60)
    page.wait_for_function("window.scrollY > 0")
    assert abs(shown.evaluate(top) - before + 100) < 2


def test_dividers_resize_the_graph_and_the_table(show, page):
    page.set_viewport_size({"width": 1000, "height": 900})
    shown = show(build_chain_snapshot(20))
    for name, part, side, key in (
        ("the graph's height", ".mt-pane", "height", "ArrowUp"),
        ("the table's width", ".mt-table", "width", "ArrowLeft"),
    ):
        divider = shown.get_by_role("separator", name=name)
        before = read_box(shown.locator(part))[side]
        at = read_box(divider)
        x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 60, y - 60, steps=3)
        page.mouse.up()
        assert read_box(shown.locator(part))[side] == pytest.approx(before - 60, abs=2)
        divider.press(key)
        assert read_box(shown.locator(part))[side] == pytest.approx(before - 84, abs=3)


def test_the_graph_can_be_given_more_of_the_whole_screen(show):
    shown = show(build_chain_snapshot(20))
    type_keys(shown, "f")
    shown.wait_for_function("document.fullscreenElement?.classList.contains('mt-view')")
    before = read_box(shown.locator(".mt-pane"))["height"]
    divider = shown.get_by_role("separator", name="the graph's height")
    for _ in range(4):
        divider.press("ArrowDown")
    assert read_box(shown.locator(".mt-pane"))["height"] > before + 60
    assert read_box(shown.locator(".mt-view"))["height"] == shown.viewport_size["height"]


def test_a_number_of_a_loop_is_repeated_in_each_line_and_no_wire_runs_to_it(show, page):
    page.set_viewport_size({"width": 700, "height": 900})
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        y = x
        for _ in range(3):
            y = tf.sin(y) * 1.2
    page = show(tf.snapshot(tape, y, x), "none")
    numbers = page.locator(".mt-node", has_text="1.2").locator(".mt-number").count()
    chips = page.locator(".mt-chip").all_text_contents()
    assert numbers >= 1 and chips and set(chips) == {"1.2"}
    constant = page.locator(".mt-node.mt-constant").first.get_attribute("data-index")
    wires = page.locator(f"path.mt-edge[data-edge^='{constant}>']")
    heights = wires.evaluate_all("all => all.map(one => one.getBBox().height)")
    assert len(heights) + len(chips) == 3 and max(heights) < 60


def test_the_way_to_a_state_in_the_next_line_runs_between_the_lines(show, page):
    page.set_viewport_size({"width": 1280, "height": 850})
    w, c = tf.Variable(2.0, name="w"), tf.Variable(1.0, name="c")
    with tf.GradientTape() as tape:
        a = w * w
        w.assign(a + 1.0)
        b = w * c
        c.assign_add(b)
        d = b * c + a
    page = show(tf.snapshot(tape, d, [w, c]), "none")
    ways = page.evaluate(WAYS)
    (start, *_, end), node = ways["c"], ways["node"]
    assert end["y"] <= node["top"] + 1 and node["left"] < end["x"] < node["right"]  # it comes from above
    level = sum(abs(p["y"] - q["y"]) < 0.5 for p, q in zip(ways["c"], ways["c"][1:], strict=False))
    assert level > len(ways["c"]) / 2 and start["y"] < end["y"]  # and is level between the lines


WAYS = """() => {
  const at = index => [...document.querySelectorAll(".mt-node")].find(one => one.dataset.id === `r${index}`);
  const node = at(7).querySelector(".mt-box").getBoundingClientRect();
  const points = path => {
    const matrix = path.getScreenCTM(), length = path.getTotalLength() - 10;  // without the arrowhead
    return Array.from({ length: 100 }, (_, k) => path.getPointAtLength((k * length) / 99).matrixTransform(matrix))
      .map(({ x, y }) => ({ x, y }));
  };
  const ways = [...document.querySelectorAll(".mt-assign")].map(points);
  const { left, right, top } = node;
  const c = ways.find(way => Math.abs(way[0].y - at(5).querySelector(".mt-box").getBoundingClientRect().bottom) < 3);
  return { c: c ?? ways.at(-1), node: { left, right, top } };
}"""
