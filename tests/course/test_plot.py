"""The pictures of lessons: what is drawn where, in words for who cannot see it, and the same in every run."""

import re
import xml.etree.ElementTree as xml  # noqa: N813
from base64 import b64decode

import numpy as np
import pytest

import minitape as tf
from minitape.course import Moving, Plot, checker
from minitape.course.plot import _compute_ticks
from minitape.course.predict import WIDGET_VIEW

SVG = "{http://www.w3.org/2000/svg}"


def find_elements(plot: Plot, name: str) -> list[xml.Element]:
    return list(xml.fromstring(plot.svg()).iter(SVG + name))


def test_points_lie_where_the_axes_say():
    plot = Plot("corners", x=(0, 10), y=(0, 5)).points([0, 10, 5], [0, 5, 2.5])
    places = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in find_elements(plot, "circle")]
    (left, bottom), (right, top), middle = places
    assert left < right and top < bottom  # upwards is less in a picture
    assert middle == ((left + right) / 2, (top + bottom) / 2)


def test_a_tensor_is_drawn_as_its_numbers():
    x = tf.constant([0.0, 1.0, 2.0])
    by_tensor = Plot("a line", x=(0, 2), y=(0, 4)).line(x, x * x).curve(tf.square)
    by_array = Plot("a line", x=(0, 2), y=(0, 4)).line([0, 1, 2], [0, 1, 4]).curve(np.square)
    assert by_tensor.svg() == by_array.svg()


def read_map_colors(plot: Plot) -> np.ndarray:
    """The colours of a map's cells, from top to bottom."""
    [image] = find_elements(plot, "image")
    bitmap = b64decode(image.get("href").partition("base64,")[2])
    start, across, up = (int.from_bytes(bitmap[at : at + 4], "little") for at in (10, 18, 22))  # of a BMP's head
    return np.frombuffer(bitmap[start:], np.uint8).reshape(up, across, 3)[::-1, :, ::-1]


def test_each_shade_of_a_map_covers_about_the_same_area():
    plot = Plot("a slope", x=(0, 1), y=(0, 1)).heights(lambda x, y: np.exp(9 * x) + 0 * y)
    shades, areas = np.unique(read_map_colors(plot).reshape(-1, 3), axis=0, return_counts=True)
    assert len(shades) == 14
    assert max(areas) < 1.2 * min(areas)


def test_a_region_is_where_a_function_is_above_zero():
    plot = Plot("a quarter", x=(-1, 1), y=(-1, 1)).regions(lambda x, y: np.minimum(x, y), colours=(0, 1))
    seen = read_map_colors(plot)
    above = (seen == seen[0, -1]).all(axis=2)  # at the top, on the right
    height, width = above.shape
    assert above[: height // 2, width // 2 :].all() and above.sum() == height * width / 4


def test_what_is_far_outside_or_no_number_spoils_nothing():
    plot = Plot("wild", x=(0, 1), y=(0, 1)).line([0, 0.5, 1], [float("nan"), 1e30, float("-inf")])
    [pairs] = {line.get("points") for line in find_elements(plot, "polyline")}
    assert all(abs(float(number)) < 5000 for number in re.findall(r"[-\d.]+", pairs))


@pytest.mark.parametrize("ends", [(0, 1), (-3.2, 3.2), (0, 400), (-0.6, 2.0), (1e-3, 5e-3), (0, 24)])
def test_ticks_are_round_and_neither_few_nor_many(ends):
    ticks = _compute_ticks(*ends)
    assert 4 <= len(ticks) <= 9
    assert ends[0] <= ticks[0] and ticks[-1] <= ends[1]
    assert all(len(f"{tick:g}") <= 6 for tick in ticks)


def test_words_stand_in_for_the_picture():
    plot = Plot('y < "x" & more', x=(0, 1), y=(0, 1), names=("a & b", "y")).curve(lambda x: x, name="<b>")
    bundle = plot._repr_mimebundle_()
    assert bundle["text/plain"] == 'Picture: y < "x" & more'
    [image] = xml.fromstring(f"<p>{bundle['text/html'].replace('>', '/>', 1)}</p>")
    assert image.get("alt") == 'y < "x" & more'
    assert "a & b" in {text.text for text in find_elements(plot, "text")}
    assert "━ <b>" in {text.text.strip() for text in find_elements(plot, "tspan")}


def test_a_plot_is_read_on_a_light_page_and_on_a_dark_one():
    """It has no ground of its own, and each of its colours is 4 to 1 or better on white and on JupyterLab's dark
    grey.
    """
    svg = Plot("two lines", x=(0, 1), y=(0, 1)).curve(lambda x: x, name="up").points([0.5], [0.2], name="here").svg()
    assert "white" not in svg

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        return sum(
            w * (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4)
            for w, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
        )

    for colour in set(re.findall(r"#[0-9a-f]{6}", svg)):
        light = luminance(colour) + 0.05
        assert 1.05 / light > 4 and light / (luminance("#111111") + 0.05) > 4, colour


def test_the_legend_is_above_what_is_drawn_with_the_sign_of_each():
    plot = Plot("a line that falls", x=(0, 1), y=(0, 1)).curve(lambda x: 1 - x, name="falls")
    plot.points([0.5], [0.5], name="half").line([0, 1], [1, 1], name="top", dashed=True)
    [legend] = [text for text in find_elements(plot, "text") if len(text)]
    assert [name.text.strip() for name in legend] == ["━ falls", "● half", "╌╌ top"]
    [ground] = find_elements(plot, "rect")
    assert float(legend.get("y")) < float(ground.get("y")) and legend.get("text-anchor") == "end"


def test_a_moving_picture_can_be_seen_without_moving():
    moving = Moving(
        "k", [1, 2, 3], lambda k: Plot(f"a line at {k:g}", x=(0, 1), y=(0, 4)).curve(lambda x: x + k), start=1
    )
    bundle, metadata = moving._repr_mimebundle_()
    assert bundle["text/html"] == moving.pictures[1].html()
    assert bundle["text/plain"].startswith("Picture: a line at 2\n")
    assert WIDGET_VIEW in bundle and metadata[WIDGET_VIEW]["shown"] > 0
    assert len({picture.source() for picture in moving.pictures}) == 3


def test_a_right_answer_has_a_green_mark_in_a_notebook_only(monkeypatch):
    class ZMQInteractiveShell:
        pass

    right, wrong, blank = (
        "Exercise 1: correct.\nBecause.",
        "Exercise 1: not yet.\n  given",
        "Exercise 1: not answered yet.",
    )
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    assert [checker._highlight_verdict_line(text, "1") for text in (right, wrong, blank)] == [right, wrong, blank]
    monkeypatch.setattr("IPython.get_ipython", ZMQInteractiveShell)
    assert (
        checker._highlight_verdict_line(right, "1") == "\x1b[1mExercise 1: correct.\x1b[0m \x1b[32m✔\x1b[0m\nBecause."
    )
    assert checker._highlight_verdict_line(wrong, "1") == "\x1b[1mExercise 1: not yet.\x1b[0m\n  given"
    assert checker._highlight_verdict_line(blank, "1") == blank
