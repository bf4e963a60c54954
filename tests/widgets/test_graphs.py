"""The graph for Graphviz: its DOT text, the object of the package graphviz, and the files that ``dot`` writes."""

import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import minitape as tf
from minitape.bridges.recording import Recording
from minitape.picture import drawing
from minitape.picture.expressions import Expressions
from minitape.picture.graph import quote_text

from .conftest import accumulation, nested, square

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="the program dot of Graphviz is not installed")


def list_edges(source):
    """The edges of a DOT text, as (start, end, attributes)."""
    return re.findall(r"^(\w+) -> (\w+)(?: \[(.*)\])?$", source, re.MULTILINE)


def lay_out(source):
    """The texts of each node, each edge and each cluster, as Graphviz prints them, by its title."""
    svg = subprocess.run(["dot", "-Tsvg"], input=source.encode(), capture_output=True, check=True).stdout
    space = "{http://www.w3.org/2000/svg}"
    return {
        group.find(f"{space}title").text: " ".join(
            (text.text or "").replace("\u2060", "") for text in group.iter(f"{space}text")
        )
        for group in ElementTree.fromstring(svg).iter(f"{space}g")
        if group.get("class") in ("node", "edge", "cluster")
    }


def test_the_graph_has_each_row_each_input_and_each_share():
    tape, d, a = accumulation()
    tape.gradient(d, a)
    picture = tf.draw(tape)
    edges = list_edges(picture.source)
    assert [edge[:2] for edge in edges] == [
        (str(start), str(row["row"])) for row in picture.snapshot["rows"] for start in row["inputs"]
    ]
    shares = [(start, end) for start, end, attributes in edges if "dir=" in attributes]
    steps = picture.snapshot["sweep"]["steps"]
    assert sorted(shares) == sorted((str(edge["input"]), str(step["row"])) for step in steps for edge in step["edges"])


def test_an_edge_that_no_gradient_passes_is_dashed():
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        tf.add_n([x, tf.stop_gradient(x), x])
    styles = [("dashed" in attributes, start, end) for start, end, attributes in list_edges(tf.draw(tape).source)]
    assert styles == [(True, "0", "1"), (False, "0", "2"), (False, "1", "2"), (False, "0", "2")]


@needs_dot
@pytest.mark.parametrize("name", ["温度", 'a "quoted" name', r"back\N\slash", "a & b &lt; <b>", "line\nbreak"])
def test_graphviz_prints_every_name_as_it_is(name):
    x = tf.Variable(3.0, name=name)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    texts = lay_out(tf.draw(tape).source)
    assert name.replace("\n", " ") in texts["0"] and "3.0" in texts["0"] and "∂ 6.0" in texts["0"]
    assert "×" in texts["1"] and "9.0" in texts["1"] and "∂ 1.0" in texts["1"]
    assert texts["0->1"].split() == ["3.0"]


@pytest.mark.parametrize("turns", [100, 900])
def test_of_a_long_loop_two_turns_are_drawn_at_each_end(turns):
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        y = x
        for _ in range(turns):
            y = tf.sin(y) * x
    picture = tf.draw(tape)
    source = picture.source
    gap = re.search(r"^gap \[label=(.*)", source, re.MULTILINE)[1]
    assert f"{2 * turns - 8:,} rows are left out" in gap and f"{turns - 4} × (sin, ×)" in gap
    assert "To see them, use TapeView(tape)" in gap
    defined = {*re.findall(r"^(\w+) \[", source, re.MULTILINE)} - {"graph", "node", "edge"}
    assert defined == {"gap", "0", "1", "2", "3", "4", *(str(2 * turns - k) for k in range(4))}
    assert {end for edge in list_edges(source) for end in edge[:2]} <= defined
    assert f"{turns - 4} × (sin, ×)" in picture.svg


@needs_dot
def test_graphviz_draws_a_long_program_at_once():
    x = tf.Variable(1.0, name="x")
    operations = [tf.sin, tf.tanh, tf.exp, tf.square, tf.cos]
    with tf.GradientTape() as tape:
        y = x
        for turn in range(200):  # No operation repeats in a regular way.
            y = operations[turn * turn % 7 % 5](y) * x if turn % 3 else operations[turn % 5](y)
    source = tf.draw(tape).source
    assert len(re.findall(r"^\d+ \[", source, re.MULTILINE)) == 30
    subprocess.run(["dot", "-Tsvg"], input=source.encode(), capture_output=True, check=True, timeout=60)


@needs_dot
def test_each_tape_has_a_cluster():
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x
        inner.gradient(y, x)
    texts = lay_out(tf.draw(outer).source)
    assert {"cluster_0": "tape outer", "cluster_0_0": "tape inner"}.items() <= texts.items()
    # The outer tape also recorded the 1.0 at which the inner sweep begins.
    statements = tf.draw(nested()[0]).source.partition("subgraph cluster_0 {")[2].split("}")
    assert any(line.startswith("3 [") for line in "".join(statements[:2]).splitlines())
    # The tape inside of the function has no name here.
    labels = sorted(text for title, text in lay_out(tf.draw(nested()[0]).source).items() if "cluster" in title)
    assert labels == ["tape 1", "tape 2", "tape 2.gradient"]


@needs_dot
def test_a_tape_called_tape_is_not_called_tape_tape():
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            y = x * x
        inner.gradient(y, x)
    assert lay_out(tf.draw(tape).source)["cluster_0"] == "tape"


def test_only_the_target_has_a_bold_border():
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(x) * x
    tape.gradient(y, x)
    styles = dict(re.findall(r'^(\d) \[.*style="([a-z,]+)"', tf.draw(tape).source, re.MULTILINE))
    assert [row for row, style in styles.items() if "bold" in style] == ["2"]


@needs_dot
def test_each_layer_has_a_cluster():
    recording = Recording("by hand")
    x = recording.add_leaf(3.0, name="x")
    h = recording.add_operation("sin", [x], 0.1411, scope=("model", "first"))
    recording.add_operation("square", [h], 0.0199, scope=("model", "second"))
    recording.close()
    texts = lay_out(tf.draw(recording).source)
    clusters = {title: text for title, text in texts.items() if title.startswith("cluster")}
    assert clusters == {"cluster_0": "model", "cluster_0_0": "first", "cluster_0_1": "second"}


def measure_graph(source):
    """Width and height of the graph that Graphviz lays out, in inches, and the (x, y) of each node's center."""
    plain = subprocess.run(["dot", "-Tplain"], input=source.encode(), capture_output=True, check=True).stdout.decode()
    lines = [line.split() for line in plain.splitlines()]
    size = next((float(line[2]), float(line[3])) for line in lines if line[0] == "graph")
    return size, {line[1]: (float(line[2]), float(line[3])) for line in lines if line[0] == "node"}


@needs_dot
def test_a_weight_is_beside_the_operation_that_reads_it_in_its_layer():
    recording = Recording("by hand")
    h = recording.add_leaf(3.0, name="x")
    weights = []
    for number in range(6):
        scope = ("model", f"layer_{number}")
        weights.append(recording.add_leaf(2.0, name=f"layer_{number}.weight", kind="variable"))
        h = recording.add_operation("multiply", [h, weights[-1]], 6.0, scope=scope)
        h = recording.add_operation("sin", [h], 0.5, scope=scope)
    recording.close()
    source = tf.draw(recording).source
    texts = lay_out(source)
    assert all(texts[str(weight)].split()[0] == "weight" for weight in weights)
    (width, height), centers = measure_graph(source)
    assert width < 5 < height  # inches: a column of layers is as wide as half a page
    for weight in weights:
        assert centers[str(weight)][1] == pytest.approx(centers[str(weight + 1)][1], abs=0.2)
    # The statements of a layer's cluster contain its weight.
    for number, weight in enumerate(weights):
        cluster = source.partition(f"subgraph cluster_0_{number} {{")[2].partition("}")[0]
        assert f"\n{weight} [" in cluster and f"\n{weight + 1} [" in cluster


@needs_dot
def test_a_gradient_inside_another_tape_has_one_cluster_beside_its_tape():
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**4 - 3.0 * x**2 + x
        slope = inner.gradient(y, x)
    outer.gradient(slope, x)
    source = tf.draw(outer).source
    clusters = {title: text for title, text in lay_out(source).items() if title.startswith("cluster")}
    assert sorted(clusters.values()) == ["inner.gradient", "tape inner", "tape outer"]
    (width, _), _ = measure_graph(source)
    assert width < 10  # inches: a page on its side


def test_a_digraph_has_the_same_statements():
    pytest.importorskip("graphviz", reason="the package graphviz is not installed")
    tape, d, a = accumulation()
    tape.gradient(d, a)
    picture = tf.draw(tape)
    digraph = picture.graph()
    assert type(digraph).__name__ == "Digraph"
    assert [line.strip() for line in digraph.source.splitlines()[4:-1]] == picture.source.splitlines()[4:-1]
    digraph.attr(rankdir="TB")
    assert "rankdir=TB" in digraph.source


@needs_dot
def test_pdf_and_png_are_written_by_graphviz(tmp_path):
    pytest.importorskip("graphviz", reason="the package graphviz is not installed")
    picture = tf.draw(square()[0])
    picture.save(tmp_path / "a.pdf")
    picture.save(tmp_path / "a.PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    coarse, fine = picture.graph().pipe("png"), (tmp_path / "a.PNG").read_bytes()
    assert fine.startswith(b"\x89PNG")
    # Graphviz draws 96 pixels per inch by itself.
    assert int.from_bytes(fine[16:20], "big") == pytest.approx(2 * int.from_bytes(coarse[16:20], "big"), abs=2)


def test_without_the_package_one_sentence_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    picture = tf.draw(square()[0])
    with pytest.raises(ImportError, match=r'Type: pip install "minitape\[graphviz\]"'):
        picture.graph()
    with pytest.raises(ImportError, match="needs the package graphviz"):
        picture.save(tmp_path / "a.pdf")
    assert picture.source.startswith("digraph tape {") and not [*tmp_path.iterdir()]


def test_without_dot_one_sentence_says_where_it_comes_from(tmp_path, monkeypatch):
    pytest.importorskip("graphviz", reason="the package graphviz is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"A \.pdf file needs the program dot from Graphviz, but it was not found"):
        tf.draw(square()[0]).save(tmp_path / "a.pdf")
    assert not [*tmp_path.iterdir()]


def test_save_makes_only_the_format_that_is_asked_for(tmp_path, monkeypatch):
    def fail(*_):
        raise AssertionError("another format was made")

    for name in ("build_dot_text", "convert_to_tikz", "render_digraph"):
        monkeypatch.setattr(drawing, name, fail)
    tf.draw(square()[0]).save(tmp_path / "a.svg")
    monkeypatch.undo()
    monkeypatch.setattr(drawing.Figure, "build_svg", fail)
    tf.draw(square()[0]).save(tmp_path / "a.dot")
    assert {path.name for path in tmp_path.iterdir()} == {"a.svg", "a.dot"}


def test_a_text_for_graphviz_is_one_line_in_quotation_marks():
    assert quote_text('a"b\\n\n&amp;') == '"a\\"b\\\\n &amp;amp;"'


def test_the_graph_has_the_edges_that_no_gradient_passes():
    w, x = tf.Variable(2.0, name="w"), tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        u = w * 3.0
        w.assign(w - 0.5)
        y = w * u + float(x * x)
    source = tf.draw(tape, y, [w, x]).source
    dashed = [edge for edge in list_edges(source) if "dashed" in edge[2]]
    rows = tf.snapshot(tape, y, [w, x])["rows"]
    (state,) = (str(row["row"]) for row in rows if row["version"])
    old = next(str(row["row"]) for row in rows if row["name"] == "w:0")
    value = next(str(row["row"]) for row in rows if row["label"] in "-−")
    assert {(start, end) for start, end, _ in dashed if end == state} == {(old, state), (value, state)}
    assert [start for start, _, attributes in dashed if "✕" in attributes and "float" not in attributes] == [value]
    assert [attributes for *_, attributes in dashed if "float" in attributes and "✕" in attributes]


def test_what_a_box_of_omitted_rows_reads_has_an_edge_to_it():
    w = tf.Variable(0.9, name="w")
    with tf.GradientTape() as tape:
        h = tf.constant(1.0)
        for _ in range(40):
            h = tf.tanh(w * h)
    edges = [(start, end) for start, end, _ in list_edges(tf.draw(tape, h, w).source)]
    assert ("0", "gap") in edges and [end for start, end in edges if start == "gap"] == ["78"]
    assert {start for start, end in edges if end == "gap"} == {"0", "5"}


def test_integers_have_a_largest_number_and_no_sign():
    recording = Recording("by hand")
    tokens = recording.add_leaf([[3, 30, 7]] * 4, name="tokens", kind="constant", dtype="int64", shape=(4, 3))
    recording.add_operation("embedding", [tokens], [[0.5] * 3] * 4, dtype="float32", shape=(4, 3))
    recording.close()
    assert "≤ 30" in recording.graph().source and "±30" not in recording.graph().source


def test_operations_are_written_as_in_a_formula():
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        dy = inner.gradient(y, x)
    source = tf.draw(outer).source
    assert "x^(3.0 − 1.0)" in source
    expressions = Expressions(tf.snapshot(outer)["rows"])
    assert "x^#6" in expressions.list_texts_longest_first(expressions.rows_by_number[7])  # A row number is no exponent.
    with tf.GradientTape() as tape:
        a = tf.math.log1p(tf.exp(x))
        c = tf.cast(x >= 1.0, tf.float32)
        variance = tf.nn.moments(tf.stack([a, x]), [0])[1]
        loss = variance * c * tf.math.reciprocal(x) - dy
    source = tf.draw(tape, loss, x).source
    assert all(text in source for text in ("log(1+exp(x))", "x ≥ 1.0", "1/x"))
    assert re.search("\\(.+−.+\\)²", source)


def test_a_constant_exponent_is_written_as_one():
    """TensorFlow records the 2.0 in x**2 as a constant of its own."""
    recording = Recording("tensorflow")
    x, two = recording.add_leaf(3.0, name="x"), recording.add_leaf(2.0, kind="constant", tracked=False)
    recording.add_operation("Pow", [x, two], 9.0, label="xʸ", name="y")
    recording.close()
    assert "<b>y</b> x²<" in tf.draw(recording).source


def test_the_edge_of_a_value_that_came_back_as_a_number_ends_at_a_node():
    x, b = tf.Variable(2.0, name="x"), tf.Variable(1.0, name="b")
    with tf.GradientTape() as tape:
        loss = b * float(x * 3.0)
    tape.gradient(loss, [x, b])
    source = tf.draw(tape).source
    nodes = re.findall(r"^(\d+) \[", source, re.MULTILINE)
    edges = list_edges(source)
    assert len(edges) == 3 and {end for edge in edges for end in edge[:2]} <= {*nodes}
    assert any("✕ float(), line" in attributes for _, _, attributes in edges)


def test_a_derivative_with_respect_to_a_call_needs_no_brackets():
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.sin(x) * x
        dy = inner.gradient(y, x)
    assert "<b>∂y/∂sin(x)</b>" in tf.draw(outer, dy, x).source
