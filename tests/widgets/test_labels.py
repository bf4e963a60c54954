"""The products of a backward step stand on their own edges: measured on every step of every program."""

from typing import Any

import numpy as np
import pytest

import minitape as tf
from tests.jupyterlab_page import read_box

from .conftest import PROGRAMS, accumulation, square, type_keys
from .twelve_programs import TWELVE

pytestmark = [pytest.mark.browser, pytest.mark.long]

# of each label: whether its own edge is the nearest one that is drawn, and which other labels or nodes it covers
MEASURE = """() => {
  const box = e => e.getBoundingClientRect();
  const inside = (a, b) => Math.min(a.right - b.left, b.right - a.left, a.bottom - b.top, b.bottom - a.top);
  const points = new Map(), kept = globalThis.keptLines ??= new Map();
  for (const edge of document.querySelectorAll("path.mt-edge[data-edge]")) {
    const matrix = edge.getScreenCTM(), line = edge.getAttribute("d");
    if (!kept.has(line)) {
      const length = edge.getTotalLength(), found = [];
      for (let at = 0; at <= length; at += 4) found.push(edge.getPointAtLength(at));
      kept.set(line, found);
    }
    points.set(edge.dataset.edge, kept.get(line).map(point => point.matrixTransform(matrix)));
  }
  for (const chip of document.querySelectorAll(".mt-chip")) {
    const { left, right, top, bottom } = box(chip);
    points.set(chip.dataset.edge, [{ x: (left + right) / 2, y: (top + bottom) / 2 }]);
  }
  const labels = [...document.querySelectorAll(".mt-product")];
  return labels.map(label => {
    const own = box(label.querySelector("rect"));
    const [x, y] = [(own.left + own.right) / 2, (own.top + own.bottom) / 2];
    const far = id => Math.min(...points.get(id).map(p => Math.hypot(p.x - x, p.y - y)));
    const ends = id => id.split(":")[0], both = label.textContent.includes("both");  // its card lies between the two
    const mine = Math.min(...[...points.keys()].filter(
      id => id === label.dataset.edge || (both && ends(id) === ends(label.dataset.edge))).map(far));
    const nearest = Math.min(...[...points.keys()].map(far));
    const chip = document.querySelector(`.mt-chip[data-edge="${label.dataset.edge}"]`);
    const others = [...labels.filter(other => other !== label).map(other => other.querySelector("rect")),
                    ...document.querySelectorAll(".mt-node .mt-box")];
    return {
      edge: label.dataset.edge, both, away: mine,
      off: !label.querySelector(".mt-leader") && !chip && !both && !points.get(label.dataset.edge).some(
        p => p.x > own.left && p.x < own.right && p.y > own.top && p.y < own.bottom),
      foreign: !chip && mine > nearest + 4,
      covers: others.filter(other => inside(own, box(other)) > 1).length,
    };
  });
}"""

# of each number and card: which other labels it meets, over which edges it lies that do not join the same two nodes,
# and whose arrowheads it hides
CROWDED = """() => {
  const rect = part => {
    const [x, y, w, h] = ["x", "y", "width", "height"].map(name => Number(part.getAttribute(name)));
    return { left: x, right: x + w, top: y, bottom: y + h };
  };
  const sum = part => {
    const { x, y, width, height } = part.getBBox();
    return { left: x, right: x + width, top: y, bottom: y + height };
  };
  const all = query => [...document.querySelectorAll(query)];
  const ends = part => (part.dataset.edge ?? "").split(":")[0];
  const kept = globalThis.keptWays ??= new Map();
  const ways = all("path.mt-edge[data-edge]").map(edge => {
    const line = edge.getAttribute("d");
    if (!kept.has(line)) {
      const length = edge.getTotalLength(), points = [];
      for (let at = 0; at <= length; at += 3) points.push(edge.getPointAtLength(at));
      kept.set(line, points);
    }
    return [ends(edge), kept.get(line)];
  });
  const heads = all("path.mt-edge[data-edge]").flatMap(edge => {  // a gradient's arrowhead is drawn first
    const head = /^M([^ ]+) ([^l]+)l([^ ]+) ([^l]+)l([^ ]+) ([^M]+)M/.exec(edge.getAttribute("d"));
    if (!head) return [];
    const [x, y, dx, dy, ex, ey] = head.slice(1).map(Number);
    const [across, down] = [[x, x + dx, x + dx + ex], [y, y + dy, y + dy + ey]];
    return [{ left: Math.min(...across), right: Math.max(...across), top: Math.min(...down),
      bottom: Math.max(...down) }];
  });
  const written = all(".mt-share:not([visibility=hidden]), .mt-product");
  const labels = written.map(part => [ends(part), rect(part.querySelector("rect"))]);
  const sums = all(".mt-addends").map(part => ["", sum(part)]);
  const meets = (a, b) => Math.min(a.right - b.left, b.right - a.left, a.bottom - b.top, b.bottom - a.top) > 1;
  const on = ({ left, right, top, bottom }, { x, y }) => x > left + 2 && x < right - 2 && y > top + 2 && y < bottom - 2;
  return labels.map(([edge, label]) => ({
    edge, at: [label.left, label.top].map(Math.round).join(),
    meets: [...labels, ...sums].filter(([, other]) => other !== label && meets(label, other)).length,
    over: ways.filter(([other, points]) => other !== edge && points.some(point => on(label, point))).length,
    hides: heads.filter(head => meets(label, head)).length, heads: heads.length,
  }));
}"""

DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
TALL = f"async pane => {{ pane.style.height = '800px'; await ({DRAWN})() }}"


def network() -> tuple[Any, Any, Any]:
    """Two layers and a loss, with weights that are read from afar."""
    x, y = tf.constant(np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32)), tf.constant([[1.0], [0.0]])
    v = tf.Variable(np.full((3, 4), 0.3, np.float32), name="v")
    b, c = tf.Variable(tf.zeros([4]), name="b"), tf.Variable([0.1], name="c")
    w = tf.Variable(np.full((4, 1), 0.2, np.float32), name="w")
    with tf.GradientTape() as tape:
        out = tf.sigmoid(tf.tanh(x @ v + b) @ w + c)
        loss = tf.reduce_mean((out - y) ** 2) + 0.01 * (tf.reduce_sum(v * v) + tf.reduce_sum(w * w))
    return tape, loss, [v, b, w, c]


def many_inputs() -> tuple[Any, Any, Any]:
    """Operations of three to seven inputs."""
    x = [tf.Variable(float(k + 1), name=f"x{k}") for k in range(7)]
    with tf.GradientTape() as tape:
        total = tf.add_n(x) * tf.add_n(x[:4])
        y = tf.reduce_sum(tf.stack([total, x[0] * x[6], tf.sin(x[2]), x[1]]))
    return tape, y, x


def polynomial() -> tuple[Any, Any, Any]:
    """Horner's rule: one row is read by all the others."""
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        y = x * 2.0 - 1.0
        for k in range(5):
            y = y * x + float(k)
    return tape, y, x


def rosenbrock() -> tuple[Any, Any, Any]:
    x, y = tf.Variable(-1.2, name="x"), tf.Variable(1.0, name="y")
    with tf.GradientTape() as tape:
        f = (1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2
    return tape, f, [x, y]


MORE = {f.__name__: f for f in (network, many_inputs, polynomial, rosenbrock)}


@pytest.mark.long(sample=7)
@pytest.mark.parametrize("name", [*PROGRAMS, *MORE])
def test_every_product_stands_on_its_own_edge(name, show, page):
    page.set_viewport_size({"width": 1366, "height": 900})
    tape, target, sources = {**PROGRAMS, **MORE}[name]()
    snapshot = tf.snapshot(tape, target, sources)
    page = show(snapshot, fold="none")
    type_keys(page, "End")
    page.locator(".mt-pane").evaluate(TALL)
    type_keys(page, "0")
    page.evaluate(DRAWN)
    seen, foreign = 0, []
    for step in reversed(snapshot["sweep"]["steps"]):
        labels = page.evaluate(MEASURE)
        assert len(labels) + sum(label["both"] for label in labels) == len(step["edges"])
        assert [label for label in labels if label["covers"] or label["off"]] == [], step["row"]
        foreign += [label for label in labels if label["foreign"]]
        seen += len(labels)
        type_keys(page, "ArrowLeft")
        page.evaluate(DRAWN)
    assert seen and foreign == []


# Few of the numbers and cards lie over a second edge, because a card does not leave its own edge for that, and a short
# edge that another one crosses has no place without it. Their share depends on the fonts.
FEW = 0.08
HIDING = 0.02  # lie over an arrowhead: cards that would lie over a second edge otherwise
STEPS = 12  # the last ones of a program


def test_no_number_meets_another_label_and_few_lie_over_a_second_edge_or_an_arrowhead(show):
    """Of the programs by which pictures are judged, at their first size, at each step back; what stays counts once."""
    made: dict[str, Any] = {**TWELVE}
    for name, program in {**PROGRAMS, "rosenbrock": rosenbrock, "polynomial": polynomial}.items():
        made[f"{name}, all rows"] = lambda program=program: tf.snapshot(*program())
    labels: dict[tuple[str, ...], Any] = {}
    for name, program in made.items():
        snapshot = program()
        page = show(snapshot)
        type_keys(page, "End")
        for _ in range(min(STEPS, len((snapshot["sweep"] or {"steps": ()})["steps"]))):
            page.evaluate(DRAWN)
            labels |= {(name, label["edge"], label["at"]): label for label in page.evaluate(CROWDED)}
            type_keys(page, "ArrowLeft")
    assert len(labels) > 150
    assert [key for key, label in labels.items() if label["meets"]] == []
    assert all(label["heads"] for label in labels.values())
    assert len([key for key, label in labels.items() if label["over"]]) <= FEW * len(labels)
    assert len([key for key, label in labels.items() if label["hides"]]) <= HIDING * len(labels)


def diamond() -> tuple[Any, Any, Any]:
    x, w = tf.Variable(1.3, name="x"), tf.Variable(-0.4, name="w")
    with tf.GradientTape() as tape:
        u = tf.sin(x)
        v = u * w
        y = v * tf.exp(u)
    return tape, y, [x, w]


@pytest.mark.long(sample=5)
@pytest.mark.parametrize("program", [diamond, square, accumulation, rosenbrock, polynomial])
def test_on_a_phone_no_sum_meets_a_card(program, show, page):
    page.set_viewport_size({"width": 390, "height": 844})
    snapshot = tf.snapshot(*program())
    page = show(snapshot)
    type_keys(page, "End")
    for _ in snapshot["sweep"]["steps"]:
        page.evaluate(DRAWN)
        assert [label for label in page.evaluate(CROWDED) if label["meets"]] == []
        type_keys(page, "ArrowLeft")


def test_weights_of_layers_are_told_apart_in_their_nodes(show):
    nodes = show(TWELVE["layers"](), "layers").locator(".mt-node.mt-variable").all()
    names = [(node.locator(".mt-title").text_content(), node.locator(".mt-op").text_content()) for node in nodes]
    assert len({*names}) == 6 and {name for name, _ in names} == {"kernel", "bias"}
    assert {layer for _, layer in names} == {"first", "second", "third"}


BETWEEN = """() => [...document.querySelectorAll(".mt-share:not([visibility=hidden])")].map((number) => {
  const box = number.querySelector("rect").getBBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const pair = number.dataset.edge.split(":")[0];
  const far = [...document.querySelectorAll(`path.mt-edge[data-edge^="${pair}:"]`)].map((edge) => {
    const length = edge.getTotalLength();
    const points = Array.from({ length: 201 }, (_, k) => edge.getPointAtLength((k * length) / 200));
    return Math.min(...points.map((point) => Math.hypot(point.x - x, point.y - y)));
  });
  return [number.textContent, ...far.map(Math.round)];
})"""


@pytest.mark.parametrize("width", [1400, 390])
def test_two_edges_that_carry_the_same_have_one_number_between_them(width, show, page):
    page.set_viewport_size({"width": width, "height": 900})
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        h = x * x
        k = h * h
        y = k * k
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    between = page.evaluate(BETWEEN)
    # ∂y/∂k = k + k, and ∂y/∂h = 2k (h + h)
    assert [text for text, *_ in between] == ["both 22.78", "both 5.0625"]
    assert all(abs(one - other) <= 1 for _, one, other in between)


def test_two_edges_that_carry_different_numbers_show_each(show):
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        h = x * 2.0
        k = h - h
        y = k * 3.0
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    shares = page.locator(".mt-share:not([visibility=hidden])").all_text_contents()
    assert "both" not in "".join(shares) and {"3.0", "-3.0"} <= {*shares}


def shared_square():
    """A value with three readers, two of them beside each other: its shortest edge is crossed by another one."""
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as tape:
        s = tf.square(a)
        left = tf.exp(-s)
        right = tf.math.log(s + 1.0)
        out = left * right + s
    return tape, out, a


def test_a_short_edge_that_another_one_crosses_has_its_number(show, page):
    page.set_viewport_size({"width": 1280, "height": 850})
    page = show(tf.snapshot(*shared_square()))
    type_keys(page, "End")
    sent = page.locator("path.mt-edge.mt-sent:not(.mt-active)").evaluate_all("all => all.map(one => one.dataset.edge)")
    numbers = page.locator(".mt-share").evaluate_all("all => all.map(one => one.dataset.edge)")
    assert len(sent) == 8 and sorted(numbers) == sorted(sent)


def test_a_number_that_two_edges_share_touches_no_node(show, page):
    page.set_viewport_size({"width": 1280, "height": 850})
    theta, rate = tf.Variable(0.5, name="theta"), tf.Variable(0.1, name="rate")
    with tf.GradientTape() as tape:
        z = theta * 1.0
        for _ in range(60):
            z = z - rate * (tf.cos(z) * z + tf.sin(z))
        loss = z * z
    page = show(tf.snapshot(tape, loss, [theta, rate]))
    type_keys(page, "End")
    number = read_box(page.locator(".mt-share", has_text="both"))
    for node in page.locator(".mt-node .mt-box").all():
        box = read_box(node)
        assert number["x"] >= box["x"] + box["width"] or number["x"] + number["width"] <= box["x"]


def test_an_edge_shows_a_short_array_and_no_sign_of_zero(show):
    x = tf.Variable([4.0, 1.0, 9.0], name="x")
    with tf.GradientTape() as tape:
        s = tf.sqrt(x)
        loss = tf.reduce_sum(tf.where([True, False, False], s, s * 0.0))
    page = show(tf.snapshot(tape, loss, x))
    type_keys(page, "End")
    assert "[1 0 0]" in page.locator(".mt-share").all_text_contents()
    w = tf.Variable(0.0, name="w")
    with tf.GradientTape() as tape:
        y = tf.negative(w * 2.0)
    page = show(tf.snapshot(tape, y, w))
    assert np.signbit(y.numpy()) and page.locator(".mt-node.mt-target .mt-value").text_content() == "0.0"


def test_an_edge_says_that_infinity_times_zero_is_zero_by_convention(show):
    x = tf.Variable(0.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sqrt(x) * x
    page = show(tf.snapshot(tape, y, x))
    type_keys(page, "End")
    assert page.locator(".mt-product text").all_text_contents() == ["× 0.0", "inf", "= 0.0", "by convention"]
    assert tape.gradient(y, x).numpy() == 0.0
    with tf.GradientTape() as tape:
        y = tf.sqrt(x) + x
    page = show(tf.snapshot(tape, y, x))  # here the product is infinite, as the two factors say
    type_keys(page, "End")
    assert page.locator(".mt-product text").all_text_contents() == ["× 1.0", "inf", "= inf"]


def quadratic_root():
    a, b, c = (tf.Variable(value, name=name) for value, name in [(1.0, "a"), (-3.0, "b"), (2.0, "c")])
    with tf.GradientTape() as tape:
        disc = b * b - 4.0 * a * c
        root = (-b + tf.sqrt(disc)) / (2.0 * a)
    return tape, root, [a, b, c]


# of each sum at a source: how many points of edges lie in it
STRUCK = """() => {
  const points = [...document.querySelectorAll("path.mt-edge[data-edge]")].flatMap(edge => {
    const matrix = edge.getScreenCTM(), length = edge.getTotalLength(), found = [];
    for (let at = 0; at <= length; at += 3) found.push(edge.getPointAtLength(at).matrixTransform(matrix));
    return found;
  });
  return [...document.querySelectorAll(".mt-addends")].map(sum => [...sum.children].map(line => {
    const { left, right, top, bottom } = line.getBoundingClientRect();
    return points.filter(({ x, y }) => x > left && x < right && y > top + 2 && y < bottom - 2).length;
  }));
}"""


@pytest.mark.parametrize("width", [1440, 760])
def test_no_edge_strikes_the_sum_at_a_source_through(width, show, page):
    page.set_viewport_size({"width": width, "height": 900})
    page = show(tf.snapshot(*quadratic_root()))
    type_keys(page, "End")
    assert page.locator(".mt-addends").text_content() == "-0.5 + (-0.75) + (-0.75) = -2.0"
    assert not any(map(any, page.evaluate(STRUCK)))


def test_faded_paths_have_no_numbers(show):
    page = show(tf.snapshot(*quadratic_root()))
    type_keys(page, "End")
    numbers = page.locator(".mt-share").count()
    assert page.locator(".mt-product").count() == page.locator(".mt-addends").count() == 1
    type_keys(page, "p")  # the paths from a, while the sweep is at b
    assert page.locator(":is(.mt-product, .mt-addends)").count() == 0
    shown = page.locator(".mt-share").evaluate_all("all => all.map(one => one.dataset.edge)")
    lit = page.locator(".mt-edge.mt-on").evaluate_all("all => all.map(one => one.dataset.edge)")
    assert shown and len(shown) < numbers and set(shown) <= set(lit)
    opacity = page.locator(".mt-edge.mt-off").evaluate_all("all => all.map(one => +getComputedStyle(one).opacity)")
    assert max(opacity) < 0.2  # also of the edges of this step
    type_keys(page, "p")
    assert page.locator(".mt-share").count() == numbers


@pytest.mark.parametrize("width", [1280, 390])
def test_a_card_leaves_the_words_of_an_unrecorded_operation_free(width, show, page):
    page.set_viewport_size({"width": width, "height": 844})
    x = tf.constant(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        late = x * 2.0
        tape.watch(x)
        y = x * late
    tape.gradient(y, x)
    view = show(tf.snapshot(tape))
    type_keys(view, "End")
    card, words = (read_box(view.locator(name).first) for name in (".mt-product rect", ".mt-held"))
    assert view.locator(".mt-held").first.text_content() == "not recorded"
    assert (
        card["x"] + card["width"] <= words["x"] + 1
        or words["x"] + words["width"] <= card["x"] + 1
        or card["y"] + card["height"] <= words["y"] + 1
        or words["y"] + words["height"] <= card["y"] + 1
    )


def test_the_arrowhead_of_a_wide_edge_is_wider_than_the_edge(show):
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(x * 1e8) * 3.0
    tape.gradient(y, x)
    view = show(tf.snapshot(tape))
    type_keys(view, "End")
    found = view.locator("path.mt-edge.mt-sent").evaluate_all(
        """all => all.map(el => {
          const [, , , side] = el.getAttribute("d").match(/-?[0-9.]+/g).map((one) => Math.abs(one));
          return [parseFloat(el.style.strokeWidth), 2 * side];
        })"""
    )
    assert max(width for width, _ in found) > 6
    assert all(head > 1.5 * width for width, head in found)
