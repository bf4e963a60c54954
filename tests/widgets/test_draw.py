"""The static picture: the same everywhere, well-formed, and safe whatever the names are."""

import base64
import re
import subprocess
import sys
from html import unescape
from xml.etree import ElementTree

import pytest

import minitape as tf
from minitape.picture import drawing as draw_module
from minitape.picture import svg_elements
from minitape.picture.value_display import shorten_number_text

from .conftest import accumulation, square

HOSTILE = "\"><script>alert(1)</script>&amp;'\n]]>"


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_it_shows_values_and_adjoints():
    tape, d, a = accumulation()
    gradient = tape.gradient(d, a)
    found = texts(tf.draw(tape).svg)
    assert {"a", "2.0", "b", "a × a", "4.0", "c", "b + b", "8.0", "sin(c)"} <= set(found)
    assert "∂ " + shorten_number_text(str(gradient.numpy())) in found


def test_every_program_gives_a_well_formed_picture(program):
    tape, target, sources = program
    ElementTree.fromstring(tf.draw(tape, target, sources).svg)


def test_it_is_the_same_in_another_process():
    code = (
        "import minitape as tf\nx = tf.constant(3.0)\n"
        "with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = x * x\nprint(tf.draw(tape).svg)"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in "12"
    )
    assert first == second and first.startswith("<svg")


def test_a_notebook_gets_an_image_with_words_beside_it():
    tape, _, _ = square()
    bundle = tf.draw(tape)._repr_mimebundle_()
    assert bundle["text/plain"] == "Picture(2 rows, 1 tape)"
    image = re.fullmatch(
        r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)" style="max-width:100%">', bundle["text/html"]
    )
    assert image is not None
    ElementTree.fromstring(base64.b64decode(image[1]))
    assert "of 0, 0 = 9.0" in unescape(image[2])


def test_the_words_say_what_shape_and_colour_say():
    x, k = tf.Variable(3.0, name="x"), tf.Variable(2.0, name="k", trainable=False)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x) * x
        z = k * 5.0
    assert tf.draw(tape, y, x).alt == (
        "Tape of 6 rows: 0 x = 3.0, ∂ 3.0 (watched); 1 stop of 0 = 3.0 (no gradient passes); 2 y: × of 1, 0 = 9.0, "
        "∂ 1.0; "
        "3 k = 2.0 (not watched); 4 const = 5.0; 5 z: × of 3, 4 = 10.0 (on no tape); ∂y/∂x = 3.0"
    )
    assert "(the path breaks here)" in unescape(tape.explain(tf.stop_gradient(x), x)._repr_html_())
    assert z.numpy() == 10.0


def test_a_tape_as_the_last_expression_of_a_cell_shows_its_picture():
    tape, *ends = square()
    tape.gradient(*ends)
    bundle = tape._repr_mimebundle_()
    assert bundle == {"text/plain": "GradientTape(2 rows, 1 tape)", "text/html": tf.draw(tape).html()}


def test_names_can_not_become_markup():
    v = tf.Variable(1.0, name=HOSTILE)
    with tf.GradientTape() as tape:
        y = v * 2.0
    picture = tf.draw(tape, y, v)
    tree = ElementTree.fromstring(picture.svg)
    assert {element.tag.split("}")[1] for element in tree.iter()} <= {"svg", "rect", "path", "text", "title", "desc"}
    assert "<script" not in picture.html()


def test_a_long_tape_keeps_its_ends():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * 1.5
        for k in range(500):
            y = [tf.sin, tf.cos, tf.tanh, tf.exp, tf.nn.relu][k * k % 7 % 5](y) if k % 11 else y * x
    found = texts(tf.draw(tape).svg)
    assert any(re.fullmatch(r"4\d\d rows", text) for text in found)
    assert {"0", "14", "501"} <= set(found) and "100" not in found


def test_an_empty_tape_says_so():
    assert "nothing recorded" in texts(tf.draw(tf.GradientTape()).svg)
    assert tf.draw(tf.GradientTape()).alt == "Empty tape"


def test_save_by_ending(tmp_path):
    tape, _, _ = square()
    picture = tf.draw(tape)
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg
    picture.save(tmp_path / "a.dot")
    assert (tmp_path / "a.dot").read_text(encoding="utf-8") == picture.source
    known = r"knows the endings .svg, .tex, .dot, .pdf and .png, and TapeView\(tape\).save\(\) .* received '.*a.bmp'"
    with pytest.raises(ValueError, match=known):
        picture.save(tmp_path / "a.bmp")


def test_a_figure_has_what_went_over_each_edge_and_what_the_gradient_gave():
    tape, d, a = accumulation()
    tape.gradient(d, a)
    found = texts(tf.draw(tape).svg)
    for step in tf.snapshot(tape)["sweep"]["steps"]:
        assert {shorten_number_text(edge["product"]["text"]) for edge in step["edges"]} <= set(found)
    assert {"∂d/∂a", "= -0.6986"} <= set(found)


def test_an_assigned_value_has_a_crossed_way_to_the_new_state():
    w, u = tf.Variable(2.0, name="w"), tf.Variable(1.5, name="u")
    with tf.GradientTape() as tape:
        y = w * u
        w.assign_add(u * 2.0)
        z = y * w + tf.sin(w)
        w.assign(z * 0.5)
        q = z * w * tf.cos(u)
    picture = tf.draw(tape, q, w)
    assert picture.svg.count('stroke-dasharray="4 4"') == 3  # The second line begins with the name of the state before.
    assert picture.svg.count(f'stroke="{svg_elements.CUT_COLOR}" stroke-width="2.2"') == 2


def test_a_figure_has_what_the_optimizer_assigned():
    w, k = tf.Variable(2.0, name="w"), tf.Variable([[1.0] * 4] * 3, name="k")
    with tf.GradientTape() as tape:
        y = w * w + tf.reduce_sum(k)
    gradients = tape.gradient(y, [w, k])
    assert not any("→" in text for text in [tf.draw(tape).alt, *texts(tf.draw(tape).svg)])
    tf.keras.optimizers.SGD(0.125).apply_gradients(zip(gradients, [w, k], strict=True))
    found = texts(tf.draw(tape).svg)
    assert {"2.0 → 1.5", "∂ 4.0", "→ ±0.875", "∂y/∂w", "= 4.0", "= each 1  (3, 4)"} <= set(found)
    assert "0 w = 2.0 → 1.5, ∂ 4.0 (watched)" in tf.draw(tape).alt


def test_arrays_are_pictures_in_figures_too():
    w = tf.Variable([[0.5 * i - j for j in range(6)] for i in range(4)], name="w")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * w)
    tape.gradient(y, w)
    svg = tf.draw(tape).svg
    assert {"(4, 6)", "∂ ±10", "= ±10  (4, 6)"} <= set(texts(svg))
    assert svg.count('stroke="#b3bac2" stroke-width="0.6"') == 4  # values and adjoints of both


def test_something_else_is_refused():
    with pytest.raises(TypeError, match=r"draw\(\) takes a tf.GradientTape, but received 'x'"):
        tf.draw("x")


def test_a_very_long_tape_is_drawn_at_once():
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(12000):
            y = y * x
    picture = tf.draw(tape)
    assert repr(picture) == "Picture(12,003 rows, 1 tape)"
    assert len(picture.snapshot["rows"]) == draw_module.MAX_FIGURE_ROWS
    last = picture.snapshot["rows"][-1]
    assert (last["row"], last["value"]["text"], last["tapes"]) == (12002, str(y.numpy()), [0])
    assert "11,996 rows" in texts(picture.svg)  # Two turns remain at each end.


def test_a_variable_that_nobody_watches_is_grey_inside():
    x, w = tf.Variable(2.0, name="x"), tf.Variable(5.0, name="w", trainable=False)
    with tf.GradientTape() as tape:
        x * w
    picture = tf.draw(tape)
    fills = re.findall(r'<rect [^>]*fill="(#\w+)" stroke="#00805c" stroke-width="4.6"', picture.svg)
    assert fills == ["#e2f4ee", "#f2f3f5"]


def test_a_gradient_that_is_not_a_number_is_marked_where_it_went():
    x, zero = tf.Variable(2.0, name="x"), tf.Variable(0.0, name="zero")
    with tf.GradientTape() as tape:
        y = x + tf.where(zero > 0.0, tf.math.log(zero), 0.0)
    svg = tf.draw(tape, y, [x, zero]).svg
    marked = re.findall(rf'fill="{svg_elements.CUT_COLOR}"[^>]*>([^<]+)<', svg)
    assert {"nan", "∂ nan"} <= {*marked} <= {
        "nan",
        "∂ nan",
        "False",
    } and f'fill="{svg_elements.ADJOINT_COLOR}">1.0<' in svg


def test_operations_have_their_python_names_and_numbers_are_rounded_to_what_fits():
    x = tf.Variable(1.0 / 3.0, dtype=tf.float64, name="x")
    with tf.GradientTape() as tape:
        slope = x * x
    svg = tf.draw(tape, slope, x).svg
    assert {"slope", "x × x"} <= set(texts(svg))
    assert "0.1111<" in svg and "0.6667<" in svg and "…" not in svg  # 1/9 and 2/3


def test_an_array_that_is_written_out_has_no_picture_beside_it():
    x = tf.Variable([1.0, 0.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x)
    tape.gradient(y, x)
    svg = tf.draw(tape).svg
    assert {"[1. 0. 2.]", "∂ [1. 1. 1.]"} <= set(texts(svg)) and 'stroke-width="0.6"' not in svg
