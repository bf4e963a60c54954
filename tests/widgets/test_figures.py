"""The static picture as a figure: its layout, its type, and how it writes what a row computes."""

import itertools
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

import minitape as tf
from minitape.picture.drawing import Picture
from minitape.picture.value_display import shorten_number_text

from .conftest import PROGRAMS, accumulation, nested
from .test_draw import texts
from .twelve_programs import TWELVE

LEAST = 11.0  # pixels


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


CLASHES = """() => {
  const box = (el) => {
    const { x, y, width, height } = el.getBBox();
    return [x + 1, y + 3, x + width - 1, y + height - 3];
  };
  const texts = [...document.querySelectorAll("text")];
  const [, , most, high] = document.querySelector("svg").getAttribute("viewBox").split(" ").map(Number);
  const meet = ([a, b, c, d], [e, f, g, h]) => a < g && e < c && b < h && f < d;
  return texts.flatMap((one, k) => {
    const [left, top, right, bottom] = box(one);
    const cut = left < 0 || top < 0 || right > most || bottom > high ? [`${one.textContent} is cut`] : [];
    const below = texts.slice(0, k).filter((other) => meet(box(one), box(other)));
    return cut.concat(below.map((other) => `${one.textContent} is over ${other.textContent}`));
  });
}"""


@pytest.mark.browser
@pytest.mark.long(sample=4)
@pytest.mark.parametrize("name", TWELVE)
def test_no_text_of_a_figure_is_cut_or_over_another(name, page):
    page.set_content(Picture(TWELVE[name]()).svg)
    assert page.evaluate(CLASHES) == []


@pytest.mark.parametrize("name", [*PROGRAMS, *TWELVE])
def test_no_type_of_a_figure_is_smaller_than_eleven_pixels(name):
    picture = Picture(TWELVE[name]()) if name in TWELVE else tf.draw(*PROGRAMS[name]())
    assert min(float(size) for size in re.findall(r'font-size="([\d.]+)"', picture.svg)) >= LEAST


def boxes(root):
    """Left, top, right and bottom of the figure's nodes."""
    found = (e for e in list(root)[3:] if e.tag.endswith("rect") and float(e.get("height")) >= 20)
    return [
        (x, y, x + float(e.get("width")), y + float(e.get("height")))
        for e in found
        for x, y in [(float(e.get("x")), float(e.get("y")))]
    ]


@pytest.mark.parametrize("program", [network, loop, accumulation])
def test_nodes_are_inside_and_do_not_overlap(program):
    root = ElementTree.fromstring(tf.draw(*program()).svg)
    most, high = (float(x) for x in root.get("viewBox").split()[2:])
    nodes = sorted(set(boxes(root)))
    assert len(nodes) > 3
    assert all(left >= 0 and right <= most and bottom <= high for left, _, right, bottom in nodes)
    for a in nodes:
        inside = [b for b in nodes if b != a and a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]]
        assert all(b[0] - a[0] in (3, -3) for b in inside)  # but for the double border of a variable


def test_a_figure_says_what_an_operation_reads_and_leaves_out_numbers_of_the_program():
    x, w = tf.Variable(0.7, name="x"), tf.Variable(1.3, name="w")
    with tf.GradientTape() as tape:
        z = x * w + 0.1
        p = tf.sigmoid(z)
        loss = (p - 0.25) ** 2
    tape.gradient(loss, [x, w])
    found = texts(tf.draw(tape).svg)
    assert {"x × w", "z", "x × w + 0.1", "p", "σ(z)", "p − 0.25", "∂loss/∂x", "∂loss/∂w"} <= set(found)
    assert "const" not in found


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


def test_a_figure_says_in_words_what_it_shows():
    tape, target, sources = accumulation()
    root = ElementTree.fromstring(tf.draw(tape, target, sources).svg)
    title, desc = (root.find(f"{{http://www.w3.org/2000/svg}}{tag}").text for tag in ("title", "desc"))
    assert title == "Picture(5 rows, 1 tape)" and desc == tf.draw(tape, target, sources).alt


def read_painted(svg):
    """The shapes of a figure in the order in which they are painted: ("text", box, string), or (tag, points, fill)."""
    painted = []
    for element in list(ElementTree.fromstring(svg))[3:]:
        tag, get = element.tag.rpartition("}")[2], element.get
        if tag == "path":
            for piece in re.findall(r"M[^Mm]*", get("d")):
                numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", piece)]
                if "C" in piece:
                    painted.append((tag, sample_bezier(numbers), get("fill")))
        elif tag == "rect":
            x, y, width, height = (float(get(name)) for name in ("x", "y", "width", "height"))
            painted.append((tag, [(x, y), (x + width, y + height)], get("fill")))
        elif tag == "text":
            size, x, y = (float(get(name)) for name in ("font-size", "x", "y"))
            width = 0.6 * size * len(element.text)
            left = x - width * {"middle": 0.5, "end": 1.0}.get(get("text-anchor"), 0.0)
            painted.append((tag, [(left, y - 0.75 * size), (left + width, y)], element.text))
    return painted


def sample_bezier(numbers):
    """Points on the cubic curves that a path draws from its first point."""
    points, found = [*zip(numbers[::2], numbers[1::2], strict=True)], []
    for start in range(0, len(points) - 3, 3):
        for t in (k / 30 for k in range(31)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            piece = points[start : start + 4]
            found.append(
                tuple(sum(w * point[axis] for w, point in zip(weights, piece, strict=True)) for axis in (0, 1))
            )
    return found


NARROW = ["diamond", "attention", "lstm", "none", "broadcast"]


@pytest.mark.long(sample=3)
@pytest.mark.parametrize(
    ("name", "width"), [*((name, None) for name in [*PROGRAMS, *TWELVE, "diamond"]), *((name, 85) for name in NARROW)]
)
def test_every_digit_of_a_share_can_be_read(name, width):
    """Nothing is painted over a share after it, and every line below it ends at a white plate."""
    snapshot = diamond() if name == "diamond" else TWELVE[name]() if name in TWELVE else tf.snapshot(*PROGRAMS[name]())
    painted = read_painted(Picture(snapshot, width).svg)
    plates = [(index, box) for index, (tag, box, fill) in enumerate(painted) if tag == "rect" and fill != "none"]
    for index, (tag, box, _) in enumerate(painted):
        if tag != "text":
            continue
        assert [
            shape for shape, points, _ in painted[index + 1 :] if shape != "text" and covers(shape, points, box)
        ] == []
        lines = [below for below in range(index) if painted[below][0] == "path" and covers(*painted[below][:2], box)]
        for below in lines:
            assert any(below < plate and contains(plate_box, box) for plate, plate_box in plates), painted[index]


def covers(shape, points, box):
    """Whether a line or a box is over the inside of a text's box; the small images beside a text may touch it."""
    (left, top), (right, bottom) = box
    if shape == "path":
        return any(left < x < right and top < y < bottom for x, y in points)
    (x0, y0), (x1, y1) = points
    return y1 - y0 > 12.5 and x0 < right and left < x1 and y0 < bottom and top < y1


def contains(outer, inner):
    (left, top), (right, bottom) = outer
    (x0, y0), (x1, y1) = inner
    return left <= x0 and top <= y0 and x1 <= right and y1 <= bottom


def diamond():
    x = tf.Variable(1.2, name="x")
    with tf.GradientTape() as tape:
        u = tf.sin(x)
        p, q = u * 2.0, tf.exp(u)
        y = p * q * x
    return tf.snapshot(tape, y, x)


def test_a_figure_lists_every_gradient_call_of_a_persistent_tape():
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = y * x
    tape.gradient(y, x)
    tape.gradient(z, x)
    picture = tf.draw(tape)
    for derivative, number in (("∂y/∂x", "= 4.0"), ("∂z/∂x", "= 12.0")):
        assert f">{derivative}<" in picture.svg and f">{number}<" in picture.svg
        assert f"{derivative} {number}" in picture.alt and f"{derivative} {number}" in picture.source


def test_no_node_hides_the_curve_of_an_assignment():
    v, x = tf.Variable(2.0, name="v"), tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = v * x
        v.assign_add(1.0)
        z = v * y
    svg = tf.draw(tape, z, x).svg
    (path,) = re.findall(r'<path d="(M[^m]*)m[^"]*" fill="none" stroke="#00805c"[^>]* stroke-dasharray="4 4"', svg)
    curve = sample_bezier([float(number) for number in re.findall(r"-?[\d.]+", path)])
    nodes = boxes(ElementTree.fromstring(svg))
    assert not [(x, y) for x, y in curve[1:-1] for a, b, c, d in nodes if a + 4 < x < c - 4 and b + 4 < y < d - 4]


def test_each_share_stands_on_its_own_edge():
    snapshot = diamond()
    painted = read_painted(Picture(snapshot).svg)
    edges = [points for tag, points, _ in painted if tag == "path" and points]
    steps = snapshot["sweep"]["steps"]
    shares = {shorten_number_text(edge["product"]["text"]) for step in steps for edge in step["edges"]}
    texts_by_box = [(text, *box) for tag, box, text in painted if tag == "text" and text in shares]
    centers = {text: ((left + right) / 2, (top + bottom) / 2) for text, (left, top), (right, bottom) in texts_by_box}
    assert centers.keys() == shares and len(edges) == len(shares)
    nearest = {
        text: min(range(len(edges)), key=lambda index: min((x - a) ** 2 + (y - b) ** 2 for a, b in edges[index]))
        for text, (x, y) in centers.items()
    }
    assert len({*nearest.values()}) == len(shares)


@pytest.mark.parametrize("name", ["accumulation", "diamond", "layers", "broadcasting", "states"])
def test_in_a_column_of_a_paper_no_share_touches_a_node(name):
    snapshot = diamond() if name == "diamond" else tf.snapshot(*PROGRAMS[name]())
    svg = Picture(snapshot, 85).svg
    nodes = boxes(ElementTree.fromstring(svg))
    shares = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" [^>]*text-anchor="middle" fill="#b34700">([^<]*)<', svg)
    assert shares
    for x, y, text in shares:
        half = 0.6 * 11 * len(text) / 2
        left, top, right, bottom = float(x) - half, float(y) - 8, float(x) + half, float(y)
        for node in nodes:
            apart = max(node[0] - right, left - node[2], node[1] - bottom, top - node[3])
            assert apart >= 1, text


@pytest.mark.parametrize("width", [None, 85])
@pytest.mark.parametrize("name", ["nested", "newton"])
def test_frames_of_nested_tapes_are_inside_each_other_and_cross_no_name(name, width):
    snapshot = tf.snapshot(*nested()) if name == "nested" else TWELVE[name]()
    svg = Picture(snapshot, width).svg
    frames = [
        (float(x), float(y), float(x) + float(w), float(y) + float(h))
        for x, y, w, h in re.findall(r'<path d="M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-', svg)
    ]
    names = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" font-size="11" font-weight="600" [^>]*>([^<]*)<', svg)
    inner, outer = ("tape 2", "tape 1") if name == "nested" else ("inner", "outer")
    assert [name for *_, name in names] == [f"{inner}.gradient", inner, outer]
    for name_x, name_y, name in names:
        left, top, bottom = float(name_x), float(name_y) - 8, float(name_y)
        right = left + 6 * len(name)
        for frame in frames:
            for line in (frame[1], frame[3]):
                assert not (top < line < bottom and frame[0] < right and left < frame[2]), name
            for line in (frame[0], frame[2]):
                assert not (left < line < right and frame[1] < bottom and top < frame[3]), name
    for one in frames:
        for other in frames:
            across = min(one[2], other[2]) - max(one[0], other[0])
            down = min(one[3], other[3]) - max(one[1], other[1])
            if across > 0 and down > 0:  # then one of them is inside of the other
                inner, outer = sorted((one, other), key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))
                assert outer[0] <= inner[0] and outer[1] <= inner[1]
                assert inner[2] <= outer[2] and inner[3] <= outer[3]
    columns = {left for left, *_ in boxes(ElementTree.fromstring(svg))}
    assert len(columns) > 1  # also where only two have room


def test_no_band_of_a_figure_is_empty():
    x = tf.Variable(1.2, name="x")
    with tf.GradientTape() as tape:
        y = tf.while_loop(lambda i, y: i < 6, lambda i, y: (i + 1, y * x + tf.sin(y)), [tf.constant(0), x * 1.0])[1]
    nodes = boxes(ElementTree.fromstring(tf.draw(tape, y, x).svg))
    tops = sorted({top for _, top, *_ in nodes})
    assert max(below - above for above, below in itertools.pairwise(tops)) <= 52 + 40  # a node, and what is between two


def test_a_whole_power_is_written_above():
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as tape:
        y = x**4 - x**2.5
    tape.gradient(y, x)
    assert {"x⁴", "x^2.5"} <= set(texts(tf.draw(tape).svg))


NUMBER = r"-?[\d.]+(?:e-?\d+)?"
PIECES = (  # what a TikZ picture consists of, line by line
    r"\\node at \((?P<x>N),(?P<y>N)\) \{\{(?:\\(?:sf|tt|rm)family|\\color\[HTML\]\{\w{6}\}|\\fontsize\{N\}\{N\}"
    r"|\\bfseries|\\boldmath|\\itshape|\\let\\lap\\[lc]+ap)*"
    r"\\lap\{\\selectfont (?P<text>.*)\}\}\};",
    r"\\path\[rounded corners=Npt\] \(N,N\) rectangle \+\(N,N\) \[(?:(?:inside|ink)=\w{6},|OPTION)*\];",
    r'\\path svg "[MmLlHhVvCcZz\d.e -]*" \[(?:(?:inside|ink)=\w{6},|OPTION)*\];',
)
OPTION = "line width=Npt,|dash pattern=on Npt off Npt,"
FORMS = [re.compile(form.replace("OPTION", OPTION).replace("N", NUMBER)) for form in PIECES]
TEX = dict(pair.split() for pair in (  # in formulas, and names
    r"\times ×|\partial ∂|\Sigma Σ|\to →|\div ÷|\pm ±|\sigma σ|\surd √|- −|\langle ⟨|\rangle ⟩|^{T} ᵀ|^{x} ˣ|^{y} ʸ|"
    r"^2 ²|^4 ⁴|_0 ₀|_1 ₁|_2 ₂|_3 ₃|_4 ₄|_5 ₅|_6 ₆|_7 ₇|_8 ₈|_9 ₉|\geq ≥|"
    r"textbackslash \|textasciitilde ~|textasciicircum ^|textless <|textgreater >|ldots …"
).split("|"))  # fmt: skip


def read(latex):
    """What LaTeX prints of a text."""
    text = re.sub(r"\$(.*?)\$", lambda found: TEX[found[1]], latex)
    text = re.sub(r"\\row\{(\d+)\}", lambda found: chr(0x245F + int(found[1])), text)
    text = re.sub(r"\\([a-z]+)\{\}", lambda found: TEX[found[1]], text)
    return re.sub(r"\\([{}#$%&_])", r"\1", text)


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("name", TWELVE)
def test_a_tikz_picture_has_each_piece_of_the_svg(name, tmp_path):
    picture = Picture(TWELVE[name]())
    picture.save(tmp_path / "figure.tex")
    head, body = (tmp_path / "figure.tex").read_text(encoding="utf-8").split("\\let\\lap\\rlap\n")
    lines = body.splitlines()
    assert lines.pop() == "\\end{tikzpicture}" and "\\begin{tikzpicture}" in head
    found = [next(filter(None, (form.fullmatch(line) for form in FORMS)), line) for line in lines]
    assert [line for line in found if isinstance(line, str)] == []
    drawn = [e for e in ElementTree.fromstring(picture.svg) if e.tag[28:] in ("rect", "path", "text")]
    assert len(found) == len(drawn)
    for piece, element in zip(found, drawn, strict=True):
        if element.tag.endswith("text"):
            assert (piece["x"], piece["y"]) == (element.get("x"), element.get("y"))
            assert read(piece["text"]) == element.text.replace('"', "''")


def special():
    """Names that mean something to LaTeX."""
    x, y = tf.Variable(0.7, name="x_1 & 50%"), tf.Variable([[1.5, -2.0]], name=r"\\input{a}#$^~")
    with tf.GradientTape() as tape:
        λ = tf.exp(x) * tf.reduce_sum(y)
    tape.gradient(λ, [x, y])
    return tf.snapshot(tape, λ, [x, y])


@pytest.mark.long
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_latex_reads_each_figure(tmp_path):
    figures = {"special": special, **TWELVE}
    for name, program in figures.items():
        Picture(program()).save(tmp_path / f"{name}.tex")
    pages = "".join(rf"\setbox0\hbox{{\input{{{name}}}}}\typeout{{{name} \the\wd0}}\shipout\box0 " for name in figures)
    (tmp_path / "all.tex").write_text(
        r"\documentclass{article}\usepackage{tikz}\usetikzlibrary{svg.path}\begin{document}" + pages + r"\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120).stdout
    assert f"({len(figures)} pages" in said, said[-2000:]
    assert "Missing character" not in (tmp_path / "all.log").read_text(errors="replace")
    for name in TWELVE:  # all of a picture, and nothing beside it
        width = float(re.search(rf"^{name} ([\d.]+)pt", said, re.M)[1])
        assert width == pytest.approx(Picture(TWELVE[name]()).figure.width, abs=30)
