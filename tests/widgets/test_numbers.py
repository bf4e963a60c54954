"""Every number that a folded picture shows at every step is the engine's: in nodes, on edges, in the table, in the
results.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitape as tf
from tests.jupyterlab_page import wait_for_frame

from .conftest import open_scope

pytestmark = pytest.mark.browser

Program = Callable[[], tuple[Any, Any, Any]]
FOLDED: dict[str, Program] = {}


def folded(function: Program) -> Program:
    FOLDED[function.__name__] = function
    return function


def loop(turns: int, start: float, body: Callable[[Any, Any, int], Any], rate: float = 0.9) -> tuple[Any, Any, Any]:
    """A state that goes through ``body`` with one variable."""
    r = tf.Variable(rate, name="r")
    with tf.GradientTape() as tape:
        s = r * start
        for k in range(turns):
            s = body(r, s, k)
        y = s * 2.0
    return tape, y, r


for turns in (4, 60):
    FOLDED[f"sines_{turns}"] = lambda turns=turns: loop(turns, 1.0, lambda r, s, _: tf.sin(r * s))
FOLDED["squares"] = lambda: loop(5, 1.1, lambda r, s, _: r * s * s)
FOLDED["read_twice"] = lambda: loop(6, 1.0, lambda r, s, _: s * r + r)
FOLDED["constants"] = lambda: loop(7, 1.0, lambda r, s, k: s * 0.5 + r * float(k))
FOLDED["horner"] = lambda: loop(12, 1.0, lambda r, s, k: s * r + 0.25)
FOLDED["branches"] = lambda: loop(9, 1.0, lambda r, s, _: tf.where(s > 0.5, s * r, s + r))
FOLDED["long_chain"] = lambda: loop(45, 1.0, lambda r, s, _: tf.tanh(s) + r)


@folded
def two_states() -> tuple[Any, Any, Any]:
    x, v = tf.Variable(1.0, name="x"), tf.Variable(0.3, name="v")
    with tf.GradientTape() as tape:
        a, b = x * 1.0, v * 1.0
        for _ in range(8):
            a, b = a + 0.1 * b, b - 0.1 * a
        y = a * b
    return tape, y, [x, v]


@folded
def loop_in_loop() -> tuple[Any, Any, Any]:
    r = tf.Variable(0.8, name="r")
    with tf.GradientTape() as tape:
        s = r * 1.0
        for _ in range(4):
            for _ in range(3):
                s = tf.sin(s * r)
            s = tf.exp(-s)
    return tape, s, r


@folded
def recurrent() -> tuple[Any, Any, Any]:
    wx, wh = (tf.Variable(np.eye(2, dtype=np.float32) * k, name=name) for k, name in ((0.5, "Wx"), (0.3, "Wh")))
    b = tf.Variable([0.1, -0.1], name="b")
    xs = tf.constant(np.random.default_rng(0).normal(size=(8, 1, 2)).astype(np.float32))
    with tf.GradientTape() as tape:
        h = tf.zeros([1, 2])
        for t in range(8):
            h = tf.tanh(xs[t] @ wx + h @ wh + b)
        loss = tf.reduce_sum(h * h)
    return tape, loss, [wx, wh, b]


@folded
def gates() -> tuple[Any, Any, Any]:
    """Calls of several results."""
    w = tf.Variable(np.linspace(-1, 1, 24).reshape(3, 8).astype(np.float32), name="w")
    with tf.GradientTape() as tape:
        h, c = tf.ones([1, 3]), tf.zeros([1, 2])
        for _ in range(6):
            i, f, g, o = tf.split(h @ w, 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.concat([tf.sigmoid(o) * tf.tanh(c), tf.ones([1, 1])], 1)
        y = tf.reduce_sum(h)
    return tape, y, w


@folded
def descent() -> tuple[Any, Any, Any]:
    """States of a variable: none of the later ones is read for the first."""
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        y = w * 0.0
        for _ in range(6):
            y = y + w * w
            w.assign_sub(0.1)
    return tape, y, w


@folded
def layers() -> tuple[Any, Any, Any]:
    tf.random.set_seed(1)
    net = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="tanh") for _ in range(4)])
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32))
    net(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - 1.0))
    return tape, loss, net.trainable_variables


@folded
def scopes() -> tuple[Any, Any, Any]:
    x = tf.Variable(0.5, name="x")
    with tf.GradientTape() as tape:
        y = x * 1.0
        for k in range(4):
            with open_scope(f"part_{k}"):
                y = tf.sin(y) * x + y
    return tape, y, x


@folded
def own_gradients() -> tuple[Any, Any, Any]:
    @tf.custom_gradient
    def halved(a: Any) -> Any:
        return a * 3.0, lambda g: g * 0.5

    return loop(6, 1.0, lambda r, s, _: halved(s) * r)


@folded
def second_order() -> tuple[Any, Any, Any]:
    x = tf.Variable(1.1, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * 1.0
            for _ in range(4):
                y = y * x + x
        g = inner.gradient(y, x)
    return outer, g, x


WALK = """() => {
  const slider = document.querySelector("input[aria-label=Step]"), seen = [];
  const text = (el, name) => el.querySelector(name)?.textContent ?? "";
  for (let k = 0; k <= Number(slider.max); k++) {
    slider.value = k;
    slider.dispatchEvent(new Event("input"));
    const nodes = [...document.querySelectorAll(".mt-node")].map((el) => ({
      index: el.dataset.index, id: el.dataset.id, words: el.getAttribute("aria-label"), current: \
el.classList.contains("mt-current"), value: text(el, ".mt-value"), adjoint: text(el, ".mt-adjoint"), titles: \
[text(el, ".mt-title"), text(el, ".mt-op")],
    }));
    const labels = [...document.querySelectorAll(".mt-product")].map((el) => ({ edge: el.dataset.edge, texts: \
[...el.querySelectorAll("text")].map((t) => t.textContent) }));
    seen.push({ nodes, labels });
  }
  return seen;
}"""


class Engine:
    """What the sweep of a snapshot has done after some steps: the reference, which adds up by itself."""

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self.steps = steps
        self.adjoints: dict[int, Any] = {}
        self.arrived: dict[int, Any] = {}  # by adding up products
        self.sent: list[tuple[int, int, Any]] = []  # (from row, to row, product), in order

    def advance(self, step: dict[str, Any]) -> None:
        self.adjoints[step["row"]] = array(step["adjoint"])
        for other in step.get("others", ()):
            self.adjoints[other["row"]] = array(other["adjoint"])
        for edge in step["edges"]:
            product = array(edge["product"])
            self.sent.append((step["row"], edge["input"], product))
            known = self.arrived.get(edge["input"])
            self.arrived[edge["input"]] = self.adjoints[edge["input"]] = product if known is None else known + product


def array(value: dict[str, Any]) -> Any:
    return np.array(value["data"], np.float64)


def agrees(text: str, number: Any) -> bool:
    """Whether a text shows this number or array: four digits of it, as many as fit beside its name in a loop, fewer of
    an array, or its shape.
    """
    beside = re.match(r"[^:]+: (?:∂ )?[-±]?\d+\.?(\d*)(?:e(-?\d+))?$", text)
    last = 10.0 ** (int(beside[2] or 0) - len(beside[1])) if beside else 0.0  # the unit of the last digit shown
    text = re.sub(r"^([^:]+: )?([∂=Σ×] )?", "", text)
    text = text.removesuffix(" + …")
    if most := re.fullmatch(r"±(\S+)", text):
        return np.allclose(np.abs(number).max(), float(most[1]), rtol=6e-3, atol=0.51 * last)
    if each := re.fullmatch(r"(?:\(.*\) )?each (\S+)", text):
        return np.allclose(number, float(each[1]), rtol=6e-4)
    if text.startswith("("):
        return text == str(np.shape(number)) or "…" in text
    text = text.replace("True", "1").replace("False", "0")
    shown = np.array([float(part) for part in re.findall(r"-?(?:\d[\d.]*(?:e-?\d+)?|inf|nan)", text)])
    return shown.shape == np.ravel(number).shape and np.allclose(
        shown, np.ravel(number), rtol=6e-4 if np.ndim(number) == 0 else 6e-2, atol=max(1e-12, 0.51 * last)
    )


def is_name(name: str, row: dict[str, Any], sources: dict[str, str]) -> bool:
    """Whether a row of a loop is called this: by the variable that its line assigns, or by its operation."""
    line = sources[row["file"]].split("\n")[row["line"] - 1]
    pattern = ".*".join(re.escape(part) for part in name.split("…"))
    # The number of the turn is left out.
    labels = [re.sub(":0$|[₀-₉]+$", "", row["name"] or ""), re.sub("^-$", "−", row["label"] or row["op"])]
    return bool(re.match(rf"\s*{pattern}\s*=[^=]", line)) or any(re.fullmatch(pattern, label) for label in labels)


def extent(node: dict[str, Any]) -> range:
    """The rows that a node stands for."""
    found = (
        re.search(r"rows (\d+) to (\d+)", node["words"])
        if not node["id"].startswith("r") or ":" in node["id"]
        else None
    )
    if found:
        return range(int(found[1]), int(found[2]) + 1)
    return range(row := int(node["id"][1:].split("@")[0]), row + 1)


def find_lies(node: dict[str, Any], current: int, own: range, snapshot: dict[str, Any]) -> list[str]:
    """What a folded part says wrongly of the row where the reader is: its name, or its turn."""
    lies = []
    name, colon, _ = node["adjoint"].partition(": ")
    if colon and not is_name(name, snapshot["rows"][current], snapshot["sources_text"]):
        lies.append(f"{name} for row {current}")
    said = re.search(r"(\d+)(?: of |/)(\d+)", " ".join(node["titles"]))
    if said and len(own) % int(said[2]) == 0:  # turns of equal length
        turn = (current - own[0]) // (len(own) // int(said[2])) + 1
        lies += [f"{said[0]}, not turn {turn}"] * (int(said[1]) != turn)
    return lies


# of each kind one
MARKS = {"sines_4": (), "branches": (), "two_states": (), "second_order": ()}


def compute_results(snapshot: dict[str, Any]) -> dict[int, Any]:
    """Compute the adjoint of each source, or of each of its states, at the end of a sweep that reaches it."""
    engine = Engine(snapshot["sweep"]["steps"])
    for step in engine.steps:
        engine.advance(step)
    states = [row for call in snapshot["results"] for source in call["sources"] for row in source["rows"]]
    sources = (*snapshot["sweep"]["sources"], *states)
    return {row: engine.adjoints[row] for row in sources if row in engine.adjoints}


@pytest.mark.parametrize(("name", "fold"), [
    *(pytest.param(name, "all", marks=MARKS.get(name, pytest.mark.long)) for name in FOLDED),
    pytest.param("sines_60", "auto", marks=pytest.mark.long),
    pytest.param("recurrent", "auto", marks=pytest.mark.long),
    ("layers", "layers"),
])  # fmt: skip
def test_each_number_of_each_step(name: str, fold: str, show: Any) -> None:
    snapshot = tf.snapshot(*FOLDED[name]())
    page = show(snapshot)
    page.set_viewport_size({"width": 4000, "height": 1600})
    page.get_by_label("Folding").select_option(fold)
    page.wait_for_timeout(100)
    page.get_by_role("button", name="Fit (0)").click()
    wait_for_frame(page)
    engine = Engine(snapshot["sweep"]["steps"])
    results = compute_results(snapshot)
    rows, forward = snapshot["rows"], len(snapshot["rows"])  # there a source shows what the gradient gave
    seen = page.evaluate(WALK)
    assert len(seen) == forward + len(engine.steps) + 1
    wrong, checked = [], 0
    places = {node["index"]: extent(node) for there in seen for node in there["nodes"]}
    for position, there in enumerate(seen):
        step = engine.steps[position - forward - 1] if position > forward else None
        if step:
            engine.advance(step)
        current = step["row"] if step else position - 1
        for node in there["nodes"]:
            own = places[node["index"]]
            # of a folded part its result, or the row where the reader is
            here = current if node["current"] else own[-1]
            folds = node["words"].startswith("folded")
            claims = [(node["value"], rows[own[0]]["value"])] if not folds and node["value"] else []
            if folds and node["current"]:
                wrong += [f"{position}: {node['id']} says {lie}" for lie in find_lies(node, current, own, snapshot)]
            if folds and node["current"] and not step:
                claims.append((node["adjoint"], rows[current]["value"]))
            elif node["adjoint"]:  # of a loop behind its turn
                known = results if position == forward else engine.adjoints
                claims.append((node["adjoint"], known.get(here)))
            elif here in engine.adjoints and rows[here]["kind"] != "constant":
                wrong.append(f"{position}: {node['id']} shows no adjoint")
            for text, number in claims:
                number = array(number) if isinstance(number, dict) else number
                checked += 1
                if number is None or not agrees(text, number):
                    wrong.append(f"{position}: {node['id']} says {text!r}, the engine {number}")
        for label in there["labels"]:
            source, reader = label["edge"].split(":")[0].split(">")
            if not {source, reader} <= places.keys():  # far outside of the pane
                continue
            sent = [(to, product) for at, to, product in engine.sent if at in places[reader] and to in places[source]]
            last = label["texts"][-1]
            parts = len(label["texts"]) if len(places[reader]) > 1 and last.startswith("=") else 1
            if last.startswith("Σ"):
                number = sum(product for to, product in sent if to == sent[-1][0])  # whatever else arrived
            elif len(places[reader]) == 1:
                number = sent[int(label["edge"].split(":")[1]) if len(sent) > 1 else 0][1]
            else:
                # One number for each row that it went to.
                assert len(sent) == parts, (position, label)
                number = sent[-1][1]
            checked += 1
            if not agrees(last, number):
                wrong.append(f"{position}: the edge {label['edge']} says {last!r}, the engine {number}")
    assert not wrong, wrong[:8]
    assert checked > len(seen)
