"""A layer as one node: what is folded, what stays in sight, and that no number changes."""

import importlib.util
import re

import numpy as np
import pytest

import minitape as tf
from minitape.bridges.recording import Recording, map_layer_paths_to_descriptions
from minitape.picture.drawing import Picture
from minitape.picture.layer_folds import fold_layers
from tests.jupyterlab_page import read_box

from .conftest import accumulation
from .test_draw import texts
from .test_figures import CLASHES
from .twelve_programs import TWELVE


def two_layers():
    """A recording by hand of y = (x w + b) v, with the two products in layers of their own, and its backward pass."""
    recording = Recording("by hand")
    x = recording.add_leaf(2.0, name="x")
    w, b, v = (
        recording.add_leaf(value, name=name, kind="variable") for value, name in ((3.0, "w"), (1.0, "b"), (5.0, "v"))
    )
    p = recording.add_operation("multiply", [x, w], 6.0, label="×", scope=("Net", "first"))
    h = recording.add_operation("add", [p, b], 7.0, label="+", scope=("Net", "first"))
    y = recording.add_operation("multiply", [h, v], 35.0, label="×", scope=("Net", "second"))
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, 1.0)
    for row, edges in ((y, [(h, 5.0), (v, 7.0)]), (h, [(p, 5.0), (b, 5.0)]), (p, [(x, 15.0), (w, 10.0)])):
        for port, (input_row, share) in enumerate(edges):
            sweep.send(row, input_row, port, share, share)
            sweep.set_adjoint(input_row, share)
    recording.close()
    return recording


def test_each_layer_is_one_node_with_the_shares_that_leave_it():
    snapshot = two_layers().snapshot()
    folded = fold_layers(snapshot)
    assert [(row["row"], row["name"], row["label"], row["inputs"]) for row in folded["rows"]] == [
        (0, "x", "x", []),
        (5, "first", "×, +", [0]),
        (6, "second", "×", [5]),
    ]
    sent = {
        (step["row"], edge["input"]): edge["product"]["text"]
        for step in folded["sweep"]["steps"]
        for edge in step["edges"]
    }
    assert sent == {(6, 5): "5.0", (5, 0): "15.0"}
    assert {step["row"]: step["adjoint"]["text"] for step in folded["sweep"]["steps"]} == {6: "1.0", 5: "5.0"}
    assert len(snapshot["rows"]) == 7  # The snapshot itself is unchanged.


@pytest.mark.parametrize(
    ("path", "expression"), [("0.mlp.2", "x + mlp.2"), ("net.0.1", "x + net.0.1"), ("0.2", "x + #3"), ("a.b", "x + b")]
)
def test_a_module_that_is_named_by_a_number_is_no_number_in_an_expression(path, expression):
    recording = Recording("by hand")
    x, w = recording.add_leaf(2.0, name="x"), recording.add_leaf(3.0, name=f"{path}.weight", kind="variable")
    scope = ("Net", *path.split("."))
    p = recording.add_operation("multiply", [x, w], 6.0, label="×", scope=scope)
    h = recording.add_operation("relu", [p], 6.0, label="relu", scope=scope)
    y = recording.add_operation("add", [x, h], 8.0, label="+")
    recording.add_backward_pass([y])
    recording.close()
    assert f">{expression}<" in tf.draw(recording, fold="layers").svg


def test_a_recording_draws_its_model_from_top_to_bottom():
    pytest.importorskip("graphviz", reason="the package graphviz is not installed")
    source = two_layers().graph().source
    assert "rankdir=TB" in source and "<b>first</b>" in source and "<b>second</b>" in source
    assert re.findall(r"^\t(\d+ -> \d+)", source, re.MULTILINE) == ["0 -> 5", "5 -> 6"]


def test_a_layer_says_its_class_and_how_many_parameters_it_has():
    class Parameter:
        def numel(self):
            return 1200

    class Linear:
        def parameters(self):
            return [Parameter(), Parameter()]

        def children(self):
            return []

    class Model(Linear):
        def named_modules(self):
            return [("", self), ("first", Linear())]

        def children(self):
            return [Linear()]

    assert map_layer_paths_to_descriptions(Model()) == {"first": "Linear, 2,400 parameters"}
    assert map_layer_paths_to_descriptions(None) == {}


def test_what_blocks_a_gradient_is_not_folded():
    recording = Recording("by hand")
    x = recording.add_leaf(2.0, name="x", kind="variable")
    a = recording.add_operation("sin", [x], 0.9, scope=("Net", "first"))
    d = recording.add_operation("detach", [a], 0.9, cut="stop_gradient", scope=("Net", "first"))
    recording.add_operation("cos", [d], 0.6, scope=("Net", "first"))
    recording.close()
    assert [row["op"] for row in fold_layers(recording.snapshot())["rows"]].count("detach") == 1


def test_a_block_with_an_unrecorded_mask_is_one_node():
    """The mask's own constant is inside, and what ran before the block with no gradient is not."""
    recording = Recording("by hand")
    x = recording.add_leaf([1.0, 2.0], name="x")
    h = recording.add_operation("sin", [x], [0.8, 0.9], tracked=False, scope=("Net", "block"))
    for block in ("block", "other"):
        scope = ("Net", block)
        first = recording.add_operation("sin", [x], [0.8, 0.9], scope=scope)
        ones = recording.add_leaf([1.0, 1.0], kind="constant", tracked=False)
        mask = recording.add_operation("tril", [ones], [1.0, 0.0], tracked=False, scope=scope)
        h = recording.add_operation("multiply", [first, mask], [0.8, 0.0], scope=scope)
    recording.close()
    folded = fold_layers(recording.snapshot())["rows"]
    assert [(row["name"], row["inputs"]) for row in folded] == [
        ("x", []), (None, [0]), ("block", [0]), ("other", [0])
    ]  # fmt: skip
    assert h == folded[-1]["row"]


def test_operations_between_the_layers_of_a_module_stay_in_its_frame():
    recording = Recording("by hand")
    h = recording.add_leaf([1.0, 2.0], name="x")
    for layer in ("first", "second"):
        for _ in range(2):
            h = recording.add_operation("sin", [h], [0.8, 0.9], label="sin", scope=("Net", layer))
            h = recording.add_operation("cos", [h], [0.7, 0.6], label="cos", scope=("Net", layer))
        h = recording.add_operation("tanh", [h], [0.6, 0.5], label="tanh", scope=("Net",))
        h = recording.add_operation("add", [h, h], [1.2, 1.0], label="+", scope=("Net",))
    recording.close()
    folded = fold_layers(recording.snapshot())["rows"]
    assert [(row["name"], row["label"], row["scope"]) for row in folded[1:]] == [
        ("first", "4 rows", ["Net"]), (None, "tanh, +", ["Net"]),
        ("second", "4 rows", ["Net"]), (None, "tanh, +", ["Net"]),
    ]  # fmt: skip


def test_a_program_without_layers_is_drawn_as_it_is():
    tape, target, sources = accumulation()
    assert texts(tf.draw(tape, target, sources, fold="layers").svg) == texts(tf.draw(tape, target, sources).svg)
    with pytest.raises(ValueError, match="fold=\"layers\" or fold=None, but received fold='blocks'"):
        tf.draw(tape, fold="blocks")


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("name", TWELVE)
@pytest.mark.parametrize("width", [85, 178])
def test_a_figure_of_a_given_width_has_type_of_seven_points_or_more(name, width):
    svg = Picture(TWELVE[name](), width).svg
    printed, pixels = re.search(r'^<svg [^>]*width="([\d.]+)mm"[^>]* viewBox="[-\d.]+ 0 ([\d.]+)', svg).groups()
    assert float(printed) == width
    points_per_pixel = width / 25.4 * 72 / float(pixels)
    sizes = [float(size) * points_per_pixel for size in re.findall(r'font-size="([\d.]+)"', svg)]
    assert min(sizes) >= 7.0 and max(sizes) <= 12.0


def test_a_width_for_less_than_one_node_is_refused():
    with pytest.raises(ValueError, match="a width of at least 65 mm"):
        tf.draw(accumulation()[0], width=20)


def build_blocks(count: int) -> Picture:
    """The picture of a recording by hand of blocks that add something to their input, each with three layers."""
    recording = Recording("by hand")
    h = recording.add_leaf([1.0, 2.0], name="x")
    for block in range(count):
        scope = ("Net", f"blocks.{block}")
        parts = []
        for layer in ("norm", "embedding", "mlp"):
            part = recording.add_operation("sin", [h], [0.8, 0.9], label="sin", scope=(*scope, layer))
            parts.append(recording.add_operation("cos", [part], [0.7, 0.6], label="cos", scope=(*scope, layer)))
        h = recording.add_operation("add_n", [h, *parts], [1.0, 2.0], label="add", scope=scope)
    recording.close()
    return Picture(recording.snapshot(), 85, True)


def test_with_too_many_layers_each_block_is_one_node():
    few, many = build_blocks(3), build_blocks(12)
    assert "blocks.0.norm" in {row["name"] for row in few.figure.snapshot["rows"]}
    assert [row["name"] for row in many.figure.snapshot["rows"]] == ["x", *(f"blocks.{k}" for k in range(12))]
    assert all(node.row for node in few.figure.nodes)
    # Two blocks remain at each end.
    assert ">8 × (7 rows)</text>" in many.svg and ">56 rows</text>" in many.svg


def test_a_block_counts_its_weights_as_the_rows_between_the_ends_do():
    recording = Recording("by hand")
    h = recording.add_leaf([1.0, 2.0], name="x")
    for block in range(12):
        for layer in ("in", "mid", "more", "out"):
            name = f"blocks.{block}.{layer}"
            weight = recording.add_leaf([1.0, 1.0], name=f"{name}.weight", kind="variable")
            scope = ("Net", f"blocks.{block}", name)
            h = recording.add_operation("multiply", [h, weight], [1.0, 2.0], label="×", scope=scope)
            h = recording.add_operation("sin", [h], [0.8, 0.9], label="sin", scope=scope)
    recording.close()
    picture = Picture(recording.snapshot(), 85, True)
    assert {row["label"] for row in picture.figure.snapshot["rows"][1:]} == {"12 rows"}
    assert ">96 rows</text>" in picture.svg and ">8 × (12 rows)</text>" in picture.svg
    assert picture.figure.is_turned and "…" not in picture.svg  # No name is cut.
    if importlib.util.find_spec("graphviz"):
        source = recording.graph().source
        assert source.count("<b>blocks.") == 12


@pytest.mark.browser
@pytest.mark.parametrize("count", [3, 12])
def test_in_a_column_of_a_paper_names_of_inputs_and_operations_cover_nothing(count, page):
    page.set_content(build_blocks(count).svg)
    assert page.evaluate(CLASHES) == []


def test_a_narrow_figure_shortens_the_source_of_a_gradient_and_not_the_derivative():
    model = tf.keras.Sequential([tf.keras.layers.Dense(5, activation="tanh"), tf.keras.layers.Dense(1)])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.ones([4, 3])) ** 2)
    tape.gradient(loss, model.trainable_variables)
    lines = [text for text in texts(tf.draw(tape, width=85, fold="layers").svg) if text.startswith("∂loss")]
    assert len(lines) == 4 and all(re.search(r"^∂loss/∂.*dense(_\d+)?/(kernel|bias)$", line) for line in lines)


@pytest.mark.browser
def test_the_whole_of_a_deep_model_is_in_view_at_first(show, page):
    recording = Recording("by hand")
    numbers = np.linspace(-1, 1, 8).tolist()

    def add_layer(inputs, *scope):
        weight = recording.add_leaf(numbers, name=".".join((*scope, "weight")), kind="variable")
        return recording.add_operation("multiply", [*inputs, weight], numbers, label="×", scope=("GPT", *scope))

    tokens = add_layer([recording.add_leaf(numbers, name="tokens")], "tok")
    places = add_layer([recording.add_leaf(numbers, name="places")], "pos")
    h = recording.add_operation("add", [tokens, places], numbers, label="+", scope=("GPT",))
    for block in range(18):
        for layer in ("norm", "qkv", "attention", "projection", "norm2", "up", "gelu", "down", "drop", "scale", "out"):
            h = add_layer([h], f"blocks.{block}", layer)
    for layer in ("norm", "head"):
        h = add_layer([h], layer)
    for name in ("flatten", "log_softmax", "loss"):
        h = recording.add_operation(name, [h], numbers, label=name)
    recording.close()
    page.set_viewport_size({"width": 1280, "height": 720})
    show(recording.snapshot())
    pane = read_box(page.locator(".mt-pane"))
    boxes = [read_box(box) for box in page.locator(".mt-node .mt-box").all()]
    assert len(boxes) == 11 and "head.weight" in page.locator(".mt-held").all_text_contents()
    for box in boxes:
        assert pane["x"] <= box["x"] and box["x"] + box["width"] <= pane["x"] + pane["width"]
        assert pane["y"] <= box["y"] and box["y"] + box["height"] <= pane["y"] + pane["height"]
