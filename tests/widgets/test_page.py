"""The view in a browser, without a kernel: what is on the screen at each step is what the engine computed."""

import re
from typing import Any

import pytest

import minitape as tf
from minitape.bridges import Recording
from minitape.picture.readable_formulas import format_readable_formula
from tests.jupyterlab_page import read_box, wait_for_frame

from .conftest import (
    PROGRAMS,
    accumulation,
    build_chain_snapshot,
    format_adjoint_size,
    format_brief,
    format_short_value,
    nested,
    open_scope,
    read_position,
    type_keys,
)

pytestmark = pytest.mark.browser

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"\'&lt;'


def table(page: Any) -> dict[int, dict[str, str]]:
    """The lines of the table by row."""
    lines = page.locator(".mt-lines .mt-line").evaluate_all(
        "lines => lines.map(line => [Number(line.dataset.row),"
        " ...[...line.querySelectorAll('[role=cell]')].map(cell => cell.textContent)])"
    )
    names = ("row", "operation", "inputs", "value", "adjoint", "line")
    return {line[0]: dict(zip(names, line[1:], strict=True)) for line in lines}


def in_rows(rule: str, row: dict[str, Any]) -> str:
    """A rule of the engine as readers see it, with the rows that it reads: x and y are its inputs, z its result."""
    numbers = dict(zip("xy", row["inputs"], strict=False), z=row["row"])
    row_text = "conj(row {})" if row["dtype"].startswith("complex") else "row {}"

    rule = re.sub(r"^(−?)g × (.+)$", r"\1\2 × g", format_readable_formula(rule))  # as its numbers are

    def said(name: re.Match[str]) -> str:
        power, text = name[0][1:], row_text.format(numbers[name[0][0]])
        return f"({text}){power}" if power and "conj" not in text else text + power

    return re.sub(r"\b[xyz]\b[²³^]?", said, rule, flags=re.ASCII)


def on_edges(step: dict[str, Any], rows: list[dict[str, Any]], before: dict[int, str]) -> list[list[str]]:
    """The lines that stand on the edges of a step; ``before`` are the adjoints up to it."""
    found, seen = [], set(before)
    for edge in step["edges"]:
        here, there = rows[step["row"]], rows[edge["input"]]
        factors = edge["local"] and (
            not here["shape"] or (format_short_value(edge["local"], 11) and format_short_value(step["adjoint"], 11))
        )
        lines = (
            [format_brief(edge["local"], here, 11), f"× {format_brief(step['adjoint'], here, 11)}"] if factors else []
        )
        lines.append(f"{'= ' * bool(lines)}{format_adjoint_size(edge['product'], 11)}")
        if edge["input"] in seen and there["shape"]:
            lines.append(f"Σ {format_adjoint_size(edge['sum'], 11)}")
        seen.add(edge["input"])
        found.append(lines)
    if len(found) == 2 and found[0] == found[1] and step["edges"][0]["input"] == step["edges"][1]["input"]:
        return [["both", *found[0]]]  # one card for both
    return found


def test_a_tangent_stands_beside_value_and_adjoint(show):
    recording = Recording("by hand")
    x = recording.add_leaf([2.0, 3.0], name="x", shape=(2,))
    y = recording.add_operation("square", [x], [4.0, 9.0], shape=(2,))
    recording.rows[x].tangent, recording.rows[y].tangent = [1.0, 0.0], [4.0, 0.0]
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, [1.0, 1.0])
    sweep.send(y, x, 0, [4.0, 6.0], [4.0, 6.0])
    sweep.set_adjoint(x, [4.0, 6.0])
    recording.close()
    page = show(recording.snapshot())
    type_keys(page, "Home")
    for value, tangent in (("value [2.0, 3.0]", "[1.0, 0.0]"), ("(row 0)² = [4.0, 9.0]", "[4.0, 0.0]")):
        type_keys(page, "ArrowRight")
        assert f"{value}tangent {tangent}" in page.locator(".mt-step").inner_text().replace("\n", "")
    type_keys(page, "End")
    page.locator(".mt-node[data-id=r0]").click()
    chosen = page.locator(".mt-chosen", has_text="tangent")
    chosen.wait_for()
    text = chosen.inner_text()
    assert "tangent [1.0, 0.0]" in text and "adjoint [4.0, 6.0]" in text


def in_table(text):
    """What the table has of a node's text: an array is its shape there, also where it is the same everywhere."""
    return text.partition(" each ")[0]


def count_letters_in_table(page: Any, column: str) -> int:
    """The characters that fit into the column of adjoints or of values, and 30 at most."""
    width = page.locator(f".mt-head .mt-c-{column}").evaluate("head => head.clientWidth")
    return min(30, int((width - 6) / 7.25))


@pytest.mark.long(sample=8)
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_every_step_shows_the_engines_numbers(name, show):
    tape, target, sources = PROGRAMS[name]()
    snapshot = tf.snapshot(tape, target, sources)
    rows, steps = snapshot["rows"], snapshot["sweep"]["steps"]
    page = show(snapshot, fold="none")
    type_keys(page, "Home")
    assert {line["value"] for line in table(page).values()} == {""}
    room = count_letters_in_table(page, "value")
    for row in rows:
        type_keys(page, "ArrowRight")
        shown = table(page)[row["row"]]
        assert shown["value"] == in_table(format_brief(row["value"], row, room))
        assert shown["inputs"] == " ".join(map(str, row["inputs"]))
        assert page.locator(".mt-lines .mt-current").get_attribute("data-row") == str(row["row"])
    adjoints: dict[int, str] = {}
    room = count_letters_in_table(page, "adjoint")
    for k, step in enumerate(steps, 1):
        type_keys(page, "ArrowRight")
        assert read_position(page) == f"backward {k} / {len(steps)}"
        adjoints[step["row"]] = format_adjoint_size(step["adjoint"], room)
        for other in step.get("others", ()):
            adjoints[other["row"]] = format_adjoint_size(other["adjoint"], room)
        words = page.locator(".mt-step").text_content()
        for one in (step, *step.get("others", ())):
            assert one["adjoint"]["text"].split("\n")[0] in words
        rules = [
            [in_rows(r, row) for r in row["rule"][edge["port"] :][:1]]
            for edge in step["edges"]
            for row in [rows[step["row"]]]
        ]
        own = page.locator(".mt-step .mt-eq:not(.mt-product-line)").evaluate_all(
            "all => all.map(eq => eq.querySelector('.mt-rule')?.textContent ?? '')"
        )
        own = own[-len(rules) :]  # before them stand the adjoints of several lines
        assert [shown for shown, rule in zip(own, rules, strict=True) if any(rule)] == [
            r for (r,) in filter(any, rules)
        ]
        labels = page.locator(".mt-product").evaluate_all(
            "all => all.map(e => [...e.querySelectorAll('text')].map(t => t.textContent))"
        )
        wanted = on_edges(step, rows, adjoints)
        assert sorted(map(sorted, labels)) == sorted(map(sorted, wanted))
        for edge in step["edges"]:
            more = any(later["input"] == edge["input"] for s in steps[k:] for later in s["edges"])
            adjoints[edge["input"]] = format_adjoint_size(edge["sum"], room) + " + …" * more
            assert edge["product"]["text"].split("\n")[0] in words
            assert edge["local"] is None or edge["local"]["text"].split("\n")[0] in words
        sent = {row: line["adjoint"] for row, line in table(page).items() if line["adjoint"]}
        assert sent == {row: in_table(text) for row, text in adjoints.items()}
    type_keys(page, "ArrowRight")
    assert read_position(page) == f"backward {len(steps)} / {len(steps)}"


def test_of_a_long_sum_at_the_left_the_result_is_below_and_the_card_stays_at_its_edge(show):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        # lines that record nothing: the one that is current
        # has to come into view when the words below it
        # get more
        y = x * tf.sin(x)
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    assert page.evaluate(LINE_IN_VIEW)
    assert page.locator(".mt-addends tspan").all_text_contents() == ["0.1411 + (-2.97)", " = -2.829"]
    card, edge = (read_box(page.locator(one)) for one in (".mt-product rect", "path.mt-edge.mt-active"))
    assert card["y"] < edge["y"] + edge["height"] and edge["y"] < card["y"] + card["height"]


def test_products_and_sums_stand_on_the_edges(show):
    tape, d, a = accumulation()
    snapshot = tf.snapshot(tape, d, a)
    page = show(snapshot)
    type_keys(page, "End", "ArrowLeft")  # the step at which b = a * a has both its readers' shares
    texts = page.locator(".mt-product text").all_text_contents()
    step = snapshot["sweep"]["steps"][-2]
    assert sorted(texts) == ["1.0", "= -0.582", "both", "× -0.582"] and len(step["edges"]) == 2
    assert page.locator(".mt-addends").text_content() == "0.9894 + (-0.582) + (-0.582) = -0.1746"
    # numbers of eleven characters leave the nodes free
    nodes = [read_box(page.locator(f".mt-node[data-id=r{k}] .mt-box")) for k in (1, 2)]
    left, right = nodes[0]["x"] + nodes[0]["width"], nodes[1]["x"]
    for card in page.locator(".mt-product rect").all():
        box = read_box(card)
        assert left < box["x"] and box["x"] + box["width"] < right
    type_keys(page, "Home")
    assert page.locator(".mt-product").count() == 0


LINE_IN_VIEW = """() => {
  const box = one => document.querySelector(one)?.getBoundingClientRect();
  const [line, pane] = [box(".mt-codeline.mt-current"), box(".mt-code")];
  return !line || (line.top >= pane.top - 1 && line.bottom <= pane.bottom + 1);
}"""


def test_keys_move_through_rows_and_sweep_and_the_source_line_follows(show):
    page = show(tf.snapshot(*accumulation()))
    seen = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowLeft", "PageUp", "Home"):
        type_keys(page, key)
        seen.append(read_position(page))
        assert page.evaluate(LINE_IN_VIEW)
    forward = [f"forward {k} / 5" for k in (0, 1, 2, 1)]
    assert seen == [*forward, "backward 4 / 4", "backward 3 / 4", "forward 0 / 5", "forward 0 / 5"]
    type_keys(page, "ArrowDown", "ArrowDown", "b")
    assert read_position(page) == "backward 4 / 4"
    type_keys(page, "Enter")
    assert read_position(page) == "forward 2 / 5"
    type_keys(page, "ArrowRight")
    assert "c = b + b" in page.locator(".mt-codeline.mt-current").inner_text()


def test_the_picture_is_where_the_last_of_quick_steps_is(show, page):
    page.set_viewport_size({"width": 760, "height": 860})
    show(tf.snapshot(*nested()))
    type_keys(page, "End", "ArrowLeft")  # the second while the picture still glides to where the first step is
    page.wait_for_function(
        """() => {
            const pane = document.querySelector(".mt-pane").getBoundingClientRect();
            const node = document.querySelector(".mt-node.mt-current")?.getBoundingClientRect();
            window.still = node && node.left === window.left ? (window.still ?? 0) + 1 : 0;
            window.left = node?.left;
            return window.still > 9 && node.left >= pane.left && node.right <= pane.right;
        }""",
        timeout=300_000,
    )


def test_a_tape_whose_arrays_were_released_says_why_it_has_no_steps_backwards(show):
    x = tf.Variable(tf.zeros([3000, 2000]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sigmoid(x))
    tape.gradient(y, x)
    page = show(tf.snapshot(tape))
    type_keys(page, "End")
    assert "released this tape's large arrays" in page.locator(".mt-step").inner_text()
    assert page.locator(".mt-node[data-id=r1] .mt-value").text_content() == "(3000, 2000)"
    assert "not computed here" in page.locator(".mt-results").inner_text()
    type_keys(page, "Home", "ArrowRight")
    assert "let go of" not in page.locator(".mt-step").inner_text()


def test_buttons_slider_and_row_number_do_the_same_and_hovering_lights_up_node_and_row(show):
    page = show(tf.snapshot(*accumulation()))
    page.get_by_role("button", name="First (Home)").click()
    page.get_by_role("button", name="Next (right arrow)").click()
    assert read_position(page) == "forward 1 / 5"
    page.get_by_label("Go to row").fill("3")
    page.get_by_label("Go to row").press("Enter")
    assert read_position(page) == "forward 4 / 5"
    page.get_by_label("Step", exact=True).fill("7")
    assert read_position(page) == "backward 2 / 4"
    page.get_by_role("button", name="Last (End)").click()
    assert read_position(page) == "backward 4 / 4"
    page.locator(".mt-lines [data-row='2']").hover()
    wait_for_frame(page)
    assert "mt-hover" in page.locator(".mt-node[data-id=r2]").get_attribute("class")
    page.locator(".mt-node[data-id=r3]").hover()
    wait_for_frame(page)
    assert "mt-hover" in page.locator(".mt-lines [data-row='3']").get_attribute("class")


def test_playing_goes_to_the_end_and_stops(show):
    tape, y, x = PROGRAMS["square"]()
    page = show(tf.snapshot(tape, y, x))
    page.get_by_label("Playing speed").select_option("30")
    type_keys(page, "Home")
    page.locator(".mt-view").focus()
    type_keys(page, " ")
    page.wait_for_function("document.querySelector('.mt-count').textContent === 'backward 1 / 1'")
    page.get_by_role("button", name="Play (space)").wait_for()


def test_a_variable_that_nobody_watches_looks_it(show):
    x, w = tf.Variable(2.0, name="x"), tf.Variable(5.0, name="w", trainable=False)
    with tf.GradientTape() as tape:
        y = x * w
    page = show(tf.snapshot(tape, y, x))
    fills = [page.locator(f".mt-node[data-id=r{k}] .mt-box").evaluate("e => getComputedStyle(e).fill") for k in (0, 1)]
    assert fills[0] != fills[1]
    assert "mt-unwatched" not in page.locator(".mt-node[data-id=r0]").get_attribute("class")


def test_names_from_the_program_stay_text(show):
    v = tf.Variable([1.0, 2.0], name=HOSTILE)
    with tf.GradientTape() as tape:
        y = v * 2.0
    snapshot = tf.snapshot(tape, y, v)
    snapshot["tapes"][0]["name"] = snapshot["rows"][-1]["label"] = snapshot["rows"][-1]["formula"] = HOSTILE
    snapshot["rows"][-1]["rule"] = [HOSTILE, HOSTILE]
    snapshot["rows"][-1]["scope"] = [HOSTILE]
    snapshot["sources_text"] = {
        snapshot["rows"][-1]["file"]: f"x = 1 # {HOSTILE}\n</script><script>window.hacked=1</script>"
    }
    page = show(snapshot)
    type_keys(page, "Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "p", "ArrowDown")
    page.locator(".mt-node").first.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator(".mt-view img, .mt-view script").count() == 0
    assert HOSTILE in page.locator(".mt-view").inner_text()


def test_a_row_that_no_tape_recorded_has_no_tapes_stripe(show):
    x = tf.constant(3.0)
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        y = (x + x) * w
    page = show(tf.snapshot(tape, y, w))
    stripes = page.locator(".mt-lines .mt-line").evaluate_all(
        "lines => lines.map(line => [line.querySelector('.mt-c-operation').textContent, "
        "!!line.querySelector('.mt-in')])"
    )
    assert stripes == [["x", False], ["+", False], ["w", True], ["y · ×", True]]


def test_from_afar_the_names_of_scopes_can_be_read_and_cover_no_node(show):
    y = x = tf.Variable(0.5, name="x")
    with tf.GradientTape() as tape:
        for name in ("first", "second", "third"):
            with open_scope(name), open_scope("inner"):
                for _ in range(8):
                    y = tf.sin(y) * x
    page = show(tf.snapshot(tape, y, x), "none")
    type_keys(page, "0")
    while not page.locator(".mt-scene.mt-plain").count():
        type_keys(page, "-")
    boxes = """what => [...document.querySelectorAll(what)].filter(e => getComputedStyle(e).visibility == \
"visible").map(e => {
        const box = e.getBoundingClientRect();
        return [e.textContent.slice(2), box.left, box.top, box.right, box.bottom]; })"""
    captions, nodes = page.evaluate(boxes, ".mt-frame text"), page.evaluate(boxes, ".mt-node .mt-box")
    assert sorted(caption[0].removeprefix("… ") for caption in captions) == ["first", "second", "third"]
    for _, left, top, right, bottom in captions:
        assert 9 < bottom - top < 20
        for _, west, north, east, south in nodes:
            assert right <= west or left >= east or bottom <= north or top >= south


def test_the_heads_of_the_columns_stand_above_them_also_beside_a_scroll_bar(show):
    page = show(build_chain_snapshot(40))
    left = """name => [".mt-head", ".mt-lines"].map(
        part => document.querySelector(`${part} .mt-c-${name}`).getBoundingClientRect().left)"""
    assert page.evaluate(
        "document.querySelector('.mt-scroll').scrollHeight > document.querySelector('.mt-scroll').clientHeight"
    )
    for name in ("inputs", "value", "line"):
        head, line = page.evaluate(left, name)
        assert abs(head - line) < 1


def test_parts_longer_than_their_room_scroll_with_the_keys(show, page):
    page = show(tf.snapshot(*accumulation()))
    type_keys(page, "ArrowUp", "p")
    inspector = page.get_by_label("Description of the step and the selection")
    inspector.evaluate("el => { el.style.height = '40px'; el.scrollTop = 0 }")
    before = read_position(page), page.locator(".mt-node.mt-selected .mt-number").text_content()
    inspector.focus()
    type_keys(page, "ArrowDown")
    page.wait_for_function("document.querySelector('.mt-inspector').scrollTop > 0")
    type_keys(page, "PageDown")
    assert (read_position(page), page.locator(".mt-node.mt-selected .mt-number").text_content()) == before
    type_keys(page, "ArrowLeft")
    assert read_position(page) != before[0]


def test_a_product_grows_along_a_path_and_ends_in_the_gradient(show, page):
    page.emulate_media(reduced_motion="no-preference")
    tape, d, a = accumulation()
    snapshot = tf.snapshot(tape, d, a)
    page = show(snapshot)
    type_keys(page, "p")
    page.locator(".mt-path").last.click()
    wait_for_frame(page)
    chain = page.locator(".mt-chain")
    assert chain.inner_text().startswith("∂d / ∂sin (row 3) along this path = 4")  # the first factor
    page.get_by_text("Σ of all 6 paths").wait_for()
    assert page.locator(".mt-factor").all_inner_texts() == ["4.0", "(-0.1455)", "1.0", "2.0"]
    gradient = float(tape.gradient(d, a).numpy())
    assert "= (-1.164)" not in chain.inner_text() and "= -1.164" in chain.inner_text()
    assert f"{gradient:.7g}, the value that tape.gradient returned" in chain.inner_text()


def test_the_bar_of_two_tapes_keeps_its_buttons_in_one_line(show, page):
    page.set_viewport_size({"width": 860, "height": 800})
    outer, g, x = nested()
    shown = show(tf.snapshot(outer, g, x))
    tops = shown.locator(".mt-toolbar button:visible, .mt-toolbar select").evaluate_all(
        "all => all.map(e => Math.round(e.getBoundingClientRect().top + e.getBoundingClientRect().height / 2))"
    )
    assert max(tops) - min(tops) <= 2


def test_search_focus_and_paths_with_their_sum_before_them(show):
    tape, d, a = accumulation()
    page = show(tf.snapshot(tape, d, a))
    page.get_by_label("Search rows").fill("sin")
    wait_for_frame(page)
    assert page.locator(".mt-found-count").inner_text() == "1 found"
    page.get_by_label("Search rows").press("Enter")
    page.locator(".mt-node.mt-selected[data-id=r3]").wait_for()
    page.locator(".mt-view").focus()
    type_keys(page, "Escape", "p")
    texts = page.locator(".mt-pathtext p").all_text_contents()
    assert texts == [
        "Sum over 6 paths: -0.6985681, the value that tape.gradient returned",
        "a → b → d: products 1.978716 + 1.978716 (b reads a twice)",
        "a → b → c → sin (row 3) → d: products (-1.164) + (-1.164) + (-1.164) + (-1.164) "
        "(b reads a twice, c reads b twice)",
    ]
    words = page.locator(".mt-pathtext").inner_text()
    gradient = float(tape.gradient(d, a))
    assert float(re.search(r"Sum over 6 paths: ([-.\d]+)", words)[1]) == pytest.approx(gradient, rel=1e-5)
    type_keys(page, "p")
    assert page.locator(".mt-pathtext").is_hidden()


def test_escape_ends_the_search_and_closes_the_keys_and_a_click_shows_that_keys_go_to_the_picture(show):
    page = show(tf.snapshot(*accumulation()))
    page.get_by_label("Search rows").fill("sin")
    page.locator(".mt-node.mt-found").wait_for()
    page.get_by_label("Search rows").press("Escape")
    page.wait_for_function("!document.querySelector('.mt-node.mt-found')")
    assert page.locator(".mt-found-count").inner_text() == "" == page.get_by_label("Search rows").input_value()
    type_keys(page, "?")
    assert page.locator(".mt-help").is_visible()
    type_keys(page, "Escape")
    assert page.locator(".mt-help").is_hidden()
    page.locator(".mt-view").evaluate("view => view.blur()")
    ring = "getComputedStyle(document.querySelector('.mt-view'), '::after').borderTopWidth"
    assert page.evaluate(ring) != "2px"
    page.locator(".mt-pane").click(position={"x": 5, "y": 5})
    assert page.evaluate(ring) == "2px"


def test_backwards_only_the_edges_that_hand_something_on_are_lit(show):
    w = tf.Variable(5.0, name="w")
    with tf.GradientTape() as tape:
        y = w * tf.constant(3.0) + 1.0
    page = show(tf.snapshot(tape, y, w))
    type_keys(page, "End")
    (lit,) = page.locator(".mt-edge.mt-active").all()
    (fed,) = [row["row"] for row in tf.snapshot(tape)["rows"] if row["name"] == "w:0"]
    assert lit.get_attribute("data-from") == str(fed)
    type_keys(page, "ArrowLeft", "ArrowLeft")
    assert page.locator(".mt-edge.mt-active").count() == 2  # forwards both inputs are read


def test_paths_say_where_a_gradient_breaks(show):
    tape, y, x = PROGRAMS["cut"]()
    snapshot = tf.snapshot(tape, y, x)
    page = show(snapshot)
    (stop,) = (row["row"] for row in snapshot["rows"] if row["cut"])
    page.locator(f".mt-node[data-id=r{stop}]").click()
    page.get_by_role("button", name="path to here").click()
    wait_for_frame(page)
    assert (
        f"The path breaks at row {stop} (stop): stop_gradient cuts the path."
        in page.locator(".mt-pathtext").inner_text()
    )


def test_tapes_are_lanes_and_frames(show):
    outer, g, x = nested()
    page = show(tf.snapshot(outer, g, x))
    frames = page.locator(".mt-frame-sweep text").all_text_contents()
    assert sum("− … " not in text for text in frames) == 1  # in the next line it goes on
    frames = page.locator(".mt-frame-tape text").all_text_contents()
    assert sum(not text.startswith("… ") for text in frames) == 2
    assert page.locator(".mt-written").count() > 0
    assert page.locator(".mt-lines .mt-line").first.locator(".mt-lanes i").count() == 2


EXPORTS = {"svg": b"<svg", "png": b"\x89PNG", "gif": b"GIF89a", "html": b"<!doc"}


def test_exports(show, tmp_path):
    page = show(tf.snapshot(*accumulation()))
    type_keys(page, "End")
    for kind, start in EXPORTS.items():
        with page.expect_download() as download:
            page.get_by_label("Export").select_option(kind)
        download.value.save_as(file := tmp_path / f"out.{kind}")
        assert download.value.suggested_filename == f"tape.{kind}"
        assert file.read_bytes().startswith(start)
    svg = (tmp_path / "out.svg").read_text(encoding="utf-8")
    assert "<title>backward 4 of 4: " in svg
    # the halo of a sum is behind its digits
    assert (
        re.search(r'<text[^>]*paint-order="stroke"[^>]*>(<tspan[^>]*>[^<]*</tspan>)*', svg)[0].count("= -0.6986") == 1
    )
    # one frame for each position, 0 to 9
    assert (tmp_path / "out.gif").read_bytes().count(b"\x21\xf9\x04") == 10
    page.set_content(file.read_text(encoding="utf-8"))
    page.wait_for_selector(".mt-node")
    page.locator(".mt-view").focus()
    type_keys(page, "End")
    assert read_position(page) == "backward 4 / 4"


def test_everything_has_a_role_and_a_name(show):
    page = show(tf.snapshot(*accumulation()))
    nameless = page.locator(".mt-view button, .mt-view select, .mt-view input").evaluate_all(
        "all => all.filter(e => !e.getAttribute('aria-label') && !e.textContent.trim()).map(e => e.outerHTML)"
    )
    assert nameless == []
    assert page.get_by_role("table", name="Rows of the tape").get_attribute("aria-rowcount") == "6"
    assert page.get_by_role("listitem", name=re.compile("row 3: sin, of row 2, float32 scalar")).count() == 1
    type_keys(page, "Home", "ArrowRight")
    assert "Forward, row 0" in page.get_by_role("status").filter(has_text="Forward").inner_text()


def test_the_toolbar_is_one_tab_stop_in_which_the_arrow_keys_move(show):
    page = show(tf.snapshot(*accumulation()))
    focused = "() => document.activeElement.getAttribute('aria-label')"
    within = "() => !!document.activeElement.closest('.mt-toolbar')"
    page.locator(".mt-view").focus()
    type_keys(page, "Tab")
    assert page.evaluate(focused) == "Search rows"
    position = read_position(page)
    type_keys(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert page.evaluate(focused) == "Show only the selected row and nearby rows (n)"
    assert read_position(page) == position
    type_keys(page, "Shift+Tab")
    assert not page.evaluate(within)
    type_keys(page, "Tab", "a", "ArrowLeft", "ArrowRight")  # in a text the caret moves
    assert page.evaluate(focused) == "Search rows"
    type_keys(page, "ArrowRight")
    assert page.evaluate(focused) == "Folding"
    type_keys(page, "Tab")
    assert not page.evaluate(within)
    page.get_by_role("button", name="Zoom in (+)").click()  # after a click the arrow keys step
    type_keys(page, "ArrowLeft")
    assert read_position(page) != position


def test_the_end_of_the_sweep_is_said(show):
    page = show(tf.snapshot(*accumulation()))
    said = page.locator(".mt-said-only")
    type_keys(page, "End")
    assert said.inner_text().startswith("Backward, row 1") and said.inner_text().endswith("; the sweep ends here")
    type_keys(page, "ArrowLeft")
    assert "ends" not in said.inner_text()


EMPTY = """() => [...document.querySelectorAll('button, summary, select, a')].filter((one) => {
    if (!one.getClientRects().length) return false;  // it is hidden
    const drawn = [...one.querySelectorAll('svg *')].some((part) => part.getBBox().width + part.getBBox().height > 0);
    return !drawn && !one.innerText.trim() && !one.selectedOptions?.[0]?.text;
}).map((one) => one.getAttribute('aria-label') ?? one.outerHTML)"""


def test_every_button_shows_something(show):
    page = show(tf.snapshot(*PROGRAMS["accumulation"]()))
    assert page.locator("button").count() > 15
    assert page.evaluate(EMPTY) == []
    type_keys(page, "p", "?", "End", "ArrowDown")
    assert page.evaluate(EMPTY) == []


@pytest.mark.long
def test_who_steps_back_sees_each_step_where_it_was(show, page):
    page.set_viewport_size({"width": 900, "height": 640})
    page.emulate_media(reduced_motion="reduce")  # nothing glides
    x, w = tf.Variable(0.7, name="x"), tf.Variable(1.3, name="w")
    with tf.GradientTape() as tape:
        a = tf.sin(x * w)
        b = a * x + tf.tanh(x)
        y = (b - a) ** 2 + b * tf.stop_gradient(x)
    show(tf.snapshot(tape, y, [x, w]))
    read_places = """() => [
        document.querySelector(".mt-scene [transform^=scale]").getAttribute("transform"),
        ...[".mt-pane", ".mt-results", ".mt-table", ".mt-source", ".mt-inspector"].map(
            (part) => JSON.stringify(document.querySelector(part)?.getBoundingClientRect())),
    ]"""
    type_keys(page, "Home")
    places = []
    for key in [*["ArrowRight"] * 20, *["ArrowLeft"] * 20]:
        type_keys(page, key)
        wait_for_frame(page)
        places.append(page.evaluate(read_places))
    assert len({graph for graph, *_ in places}) > 3  # the graph is larger than its pane
    assert places[:19] == places[38:19:-1]
    assert len({tuple(parts) for _, *parts in places}) == 1


def test_a_program_without_a_file_has_no_empty_pane(show):
    names: dict[str, Any] = {"tf": tf}
    code = "x = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = x * x\n"
    exec(compile(code, "<string>", "exec"), names)
    page = show(tf.snapshot(names["tape"], names["y"], names["x"]))
    assert page.locator(".mt-side > .mt-source").is_hidden()
    assert page.locator(".mt-inspector").is_visible()


def test_names_in_the_table_are_whole_beside_short_numbers(show, page):
    page.set_viewport_size({"width": 760, "height": 900})
    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        logits = x + 1.0
        loss = tf.reduce_mean(logits)
    page = show(tf.snapshot(tape, loss, x))
    names = [line["operation"] for line in table(page).values()]
    assert "logits · +" in names and "loss · mean" in names


@pytest.mark.parametrize("width", [1440, 760])
def test_a_long_line_of_the_program_is_whole_beside_an_explanation(width, show, page):
    page.set_viewport_size({"width": width, "height": 760})
    x = tf.Variable(0.5, name="x")
    with tf.GradientTape() as tape:
        # fmt: off
        y = tf.sin(x) + tf.cos(x) + tf.sin(x) * tf.cos(x) + tf.sin(x) * tf.cos(x) * tf.tanh(x) + tf.sin(x) + tf.cos(x)
        # fmt: on
    page = show(tf.snapshot(tape, y, x))
    line, code = (read_box(page.locator(selector)) for selector in (".mt-codeline.mt-current", ".mt-code"))
    assert line["height"] > 18 or width > 760
    assert code["y"] <= line["y"] and line["y"] + line["height"] <= code["y"] + code["height"] + 1
