"""Figures for papers: laid out for the width that was asked for, with type that can be read there."""

import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

import minitape as tf
from minitape.picture.drawing import Picture
from minitape.picture.folds import parts_of
from minitape_widgets import TapeView

from .conftest import PROGRAMS, accumulation
from .test_draw import HOSTILE, texts
from .twelve_programs import TWELVE

LEAST = 7.0  # points


def in_millimetres(picture, path, width):
    """The root of the SVG of that width, and how many points one of its units has."""
    picture.save(path, width=width)
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return root, float(root.get("width").removesuffix("mm")) / 25.4 * 72 / float(root.get("viewBox").split()[2])


def network():
    x, t = tf.random.normal([32, 4], seed=1), tf.random.normal([32, 1], seed=2)
    weights = [tf.Variable(tf.random.normal(size, seed=3)) for size in ([4, 16], [16], [16, 1], [1])]
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ weights[0] + weights[1])
        loss = tf.reduce_mean((h @ weights[2] + weights[3] - t) ** 2)
    tape.gradient(loss, weights)
    return tape, loss, weights


def loop():
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(333):
            y = tf.sin(y) * 0.9 + 0.1
        loss = y * y
    tape.gradient(loss, x)
    return tape, loss, x


@pytest.mark.parametrize("width", [60, 85, "170mm"])
@pytest.mark.parametrize("name", [*PROGRAMS, "network", "loop"])
def test_no_type_of_a_figure_is_smaller_than_seven_points(name, width, tmp_path):
    tape, target, sources = {**PROGRAMS, "network": network, "loop": loop}[name]()
    for step in (None, 1):
        picture = tf.draw(tape, target, sources, step=step)
        root, scale = in_millimetres(picture, tmp_path / "a.svg", width)
        found = [float(e.get("font-size")) * scale for e in root.iter("{http://www.w3.org/2000/svg}text")]
        assert found and min(found) >= LEAST
        assert root.get("width") == f"{str(width).removesuffix('mm')}mm"


@pytest.mark.parametrize("name", TWELVE)
def test_the_twelve_programs_are_figures_of_a_column_with_type_of_seven_points(name, tmp_path):
    for step in (None, 1):
        root, scale = in_millimetres(Picture(TWELVE[name](), step), tmp_path / "a.svg", "85mm")
        found = [float(e.get("font-size")) * scale for e in root.iter("{http://www.w3.org/2000/svg}text")]
        assert found and min(found) >= LEAST


CLASHES = """() => {
  const box = (el) => {
    const { x, y, width, height } = el.getBBox();
    return [x + 1, y + 3, x + width - 1, y + height - 3];
  };
  const texts = [...document.querySelectorAll("text")];
  const profiles = [...document.querySelectorAll("path[stroke-width='1.4']:not([stroke-dasharray])")];
  const [, , most, high] = document.querySelector("svg").getAttribute("viewBox").split(" ").map(Number);
  const meet = ([a, b, c, d], [e, f, g, h]) => a < g && e < c && b < h && f < d;
  const words = (one) => one.textContent || "profile";
  return [...texts, ...profiles].flatMap((one, k, all) => {
    const [left, top, right, bottom] = box(one);
    const cut = left < 0 || top < 0 || right > most || bottom > high ? [`${words(one)} is cut`] : [];
    const below = all.slice(0, k).filter((other) => meet(box(one), box(other)));
    return cut.concat(below.map((other) => `${words(one)} is over ${words(other)}`));
  });
}"""


@pytest.mark.browser
@pytest.mark.long(sample=4)
@pytest.mark.parametrize("name", TWELVE)
def test_no_text_of_a_figure_is_cut_or_over_another_or_under_a_profile(name, page):
    snapshot = TWELVE[name]()
    for step in (None, 1, len(snapshot["sweep"]["steps"]) // 2):
        picture = Picture(snapshot, step)
        page.set_content(picture.drawing(85).svg(85))
        assert page.evaluate(CLASHES) == []


def test_layers_of_a_network_are_told_apart_in_a_figure():
    found = texts(Picture(TWELVE["layers"]()).drawing(85).svg(85))
    kernels = [text for text in found if text.endswith("kernel") and not re.search("[(@∂]", text)]
    assert len(set(kernels)) == 3 and all(re.fullmatch(r"(…/)?(fi|se|th)\S*/kernel", text) for text in kernels)


def boxes(root):
    """Left, top, right and bottom of the figure's nodes."""
    found = (e for e in list(root)[3:] if e.tag.endswith("rect") and float(e.get("height")) >= 20)
    return [
        (x, y, x + float(e.get("width")), y + float(e.get("height")))
        for e in found
        for x, y in [(float(e.get("x")), float(e.get("y")))]
    ]


@pytest.mark.parametrize("width", [60, 85, 170])
@pytest.mark.parametrize("program", [network, loop, accumulation])
def test_nodes_are_inside_and_do_not_overlap(program, width, tmp_path):
    tape, target, sources = program()
    root, _ = in_millimetres(tf.draw(tape, target, sources), tmp_path / "a.svg", width)
    most, high = (float(x) for x in root.get("viewBox").split()[2:])
    nodes = sorted(set(boxes(root)))
    assert len(nodes) > 3
    assert all(left >= 0 and right <= most and bottom <= high for left, _, right, bottom in nodes)
    for a in nodes:
        inside = [b for b in nodes if b != a and a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]]
        assert all(b[0] - a[0] in (3, -3) for b in inside)  # but for the double border of a variable


def test_a_narrow_figure_says_what_an_operation_reads_and_leaves_out_numbers_of_the_program(tmp_path):
    x, w = tf.Variable(0.7, name="x"), tf.Variable(1.3, name="w")
    with tf.GradientTape() as tape:
        z = x * w + 0.1
        p = tf.sigmoid(z)
        loss = (p - 0.25) ** 2
    tape.gradient(loss, [x, w])
    picture = tf.draw(tape)
    picture.save(tmp_path / "a.svg", width="85mm")
    found = texts((tmp_path / "a.svg").read_text(encoding="utf-8"))
    assert {"x × w", "z", "x × w + 0.1", "p", "σ(z)", "p − 0.25", "∂loss/∂x", "∂loss/∂w"} <= set(found)
    assert "const" not in found and "const" not in texts(picture.svg)


def test_a_number_of_a_row_is_no_number_of_the_program():
    """What a row reads has its name, its own expression where nothing else reads it, or its number in a circle."""
    x = tf.Variable(0.7, name="x")
    with tf.GradientTape() as tape:
        s = x * 3.0
        y = (tf.sin(s) - 1.0) ** 2 + s / (s - x)
    tape.gradient(y, x)
    found = set(texts(Picture(tf.snapshot(tape, y, x)).svg))
    assert {"x × 3.0", "sin(s)"} <= found
    assert not any(re.search(r"\(\d+\)", text) for text in found)


def test_type_is_eleven_pixels_where_a_column_is_85_millimetres(tmp_path):
    for name in TWELVE:
        svg = Picture(TWELVE[name](), 1).drawing(85).svg(85)
        assert min(float(size) for size in re.findall(r'font-size="([\d.]+)"', svg)) >= 11.0


def test_a_figure_says_in_words_what_it_shows():
    tape, target, sources = accumulation()
    root = ElementTree.fromstring(tf.draw(tape, target, sources).svg)
    title, desc = (root.find(f"{{http://www.w3.org/2000/svg}}{tag}").text for tag in ("title", "desc"))
    assert title == "Picture(5 rows, 1 tape)" and desc == tf.draw(tape, target, sources).alt


def test_a_sum_has_both_addends_and_an_adjoint_that_waits_says_so():
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * tf.sin(x)
    tape.gradient(y, x)
    assert "∂ 0.1411 + …" in texts(tf.draw(tape, step=1).svg)
    found = texts(tf.draw(tape, step=2).svg)
    assert {"0.1411 + (-2.97) = -2.829", "∂ -2.829", "0.1411", "3.0"} <= set(found)


def test_the_products_of_a_step_are_on_their_edges(tmp_path):
    x, w = tf.Variable(3.0, name="x"), tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        y = tf.sin(x * w) * x
    tape.gradient(y, [x, w])
    tf.draw(tape, step=1).save(tmp_path / "a.svg", width=70)
    found = texts((tmp_path / "a.svg").read_text(encoding="utf-8"))
    assert {"3.0 × 1.0", "= 3.0", "-0.2794 × 1.0", "= -0.2794"} <= set(found)


@pytest.mark.parametrize(
    "fold, title", [("none", r"9\d\d rows"), ("layers", r"9\d\d rows"), ("all", "loop × 333"), ("auto", "loop × 333")]
)
def test_a_figure_folds_as_it_is_told(fold, title):
    tape, _, _ = loop()
    assert any(re.fullmatch(title, text) for text in texts(tf.draw(tape, fold=fold).svg))


def test_a_figure_refuses_what_is_not_there():
    tape, d, a = accumulation()
    tape.gradient(d, a)
    with pytest.raises(ValueError, match=r"fold= is one of 'auto', 'layers', 'all' and 'none', but received 'some'"):
        tf.draw(tape, fold="some")
    with pytest.raises(ValueError, match=r"rows= are numbers of rows .*from 0 to 4, but received \[99\]"):
        tf.draw(tape, rows=[99])
    for width in (0, "wide", 12, float("inf")):
        with pytest.raises(ValueError, match="number of millimetres, 40 or more, such as 85, but received"):
            tf.draw(tape).save("a.svg", width=width)


def test_a_figure_of_some_rows_has_them_and_what_they_read():
    tape, d, a = accumulation()  # a, a * a, b + b, sin(c), sin(c) * b
    tape.gradient(d, a)
    found = texts(tf.draw(tape, rows=range(2, 4)).svg)
    assert {"1", "2", "① + ①", "3", "sin(① + ①)"} <= set(found) and not {"a", "4"} & set(found)


def test_the_adjoints_of_a_folded_loop_are_a_line():
    tape, _, _ = loop()
    (line,) = re.findall(r'<path d="(M[^"]*)" fill="none" stroke="#b34700" stroke-width="1.4"', tf.draw(tape).svg)
    heights = [float(point.split()[1]) for point in line[1:].split("L")]
    assert len(heights) == 333 and heights[0] > heights[-1]  # what came to the first turn is the smallest


def test_numbers_that_a_figure_leaves_out_move_no_line():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x
        for k in range(20):
            y = y + k / 100
        for _ in range(10):
            y = tf.sin(y) * 0.5
    tape.gradient(y, x)
    svg = tf.draw(tape, fold="all").drawing(85).svg()
    *_, line = re.findall(r'<path d="(M[^"]*)" fill="none" stroke="#b34700" stroke-width="1.4"', svg)
    heights = [float(point.split()[1]) for point in line[1:].split("L")]
    assert len(heights) == 10 and heights == sorted(heights, reverse=True) and heights[0] > heights[-1]


@pytest.mark.parametrize("step", [1, 700])
def test_a_step_of_a_tape_of_which_only_the_ends_are_read(step):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(1200):
            y = tf.sin(y) * 0.5
    tape.gradient(y, x)
    assert any(text.endswith("= 0.5") for text in texts(tf.draw(tape, step=step).svg)) == (step == 1)


def test_patterns_that_repeat_are_found_whatever_is_around_them():
    def row(k, op, scope=()):
        kind = "constant" if op == "c" else "operation"
        return {"row": k, "op": op, "label": op, "kind": kind, "inputs": [k - 1], "line": 1, "scope": list(scope)}

    ops = ["a", "c", *["s", "m"] * 3, "s", "z"]
    found = parts_of([row(k, op) for k, op in enumerate(ops)], "all", 60)
    assert [(part.first, part.end, part.title) for part in found] == [
        (0, 1, ""), (1, 2, ""), (2, 8, "loop × 3"), (8, 9, ""), (9, 10, ""),
    ]  # fmt: skip
    layers = [row(k, "m", [f"block_{k // 2}"]) for k in range(8)]
    assert [part.title for part in parts_of(layers, "layers", 60)] == ["block_0", "block_1", "block_2", "block_3"]
    assert [part.title for part in parts_of(layers, "all", 60)] == ["block × 4"]


def test_a_picture_for_latex_has_the_type_and_the_lines_of_the_figure(tmp_path):
    v = tf.Variable(2.0, name=HOSTILE + "_%$")
    with tf.GradientTape() as tape:
        y = v**4 * 3.0
    tape.gradient(y, v)
    TapeView(tape).save(tmp_path / "a.tex", width=85, step=1)
    text = (tmp_path / "a.tex").read_text(encoding="utf-8")
    assert "$^4$" in text and "⁴" not in text
    sizes = [float(size) for size in re.findall(r"\\fontsize\{([\d.]+)\}", text)]
    assert sizes and min(sizes) >= LEAST
    assert text.count("\\begin{scope}") == text.count("\\end{scope}") and text.rstrip().endswith("\\end{tikzpicture}")
    assert not re.search(
        r"(?<!\\)[&#$](?!\\partial|\\times|-\$|\^|\$)", "".join(re.findall(r"selectfont.*", text)).replace("$", "")
    )


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="LaTeX is not installed here")
@pytest.mark.parametrize("name", ["accumulation", "broadcasting", "cut", "states"])
def test_latex_reads_it(name, tmp_path):
    tape, target, sources = PROGRAMS[name]()
    tf.draw(tape, target, sources).save(tmp_path / "figure.tex", width=85)
    page = (
        r"\documentclass{article}\usepackage{tikz}\usetikzlibrary{svg.path}\begin{document}\input{figure}\end{document}"
    )
    (tmp_path / "page.tex").write_text(page)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-800:]


def test_a_long_name_keeps_what_it_is_a_gradient_of(tmp_path):
    snapshot = TWELVE["layers"]()
    picture = Picture(snapshot)
    picture.save(tmp_path / "a.svg", width="85mm")
    found = texts((tmp_path / "a.svg").read_text(encoding="utf-8"))
    assert any(re.fullmatch(r"∂loss/∂….*kernel", text) for text in found)


def test_a_whole_power_is_written_above(tmp_path):
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        y = x**4 - x**2.5
    tape.gradient(y, x)
    tf.draw(tape).save(tmp_path / "a.svg", width=70)
    assert {"x⁴", "x^2.5"} <= set(texts((tmp_path / "a.svg").read_text(encoding="utf-8")))
