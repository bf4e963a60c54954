"""The static picture in a column of a paper: what each edge carries, and how much room the picture takes."""

import re

import pytest

import minitape as tf
from minitape.picture.drawing import Picture
from minitape.picture.value_display import format_magnitude

from .test_figures import contains, loop, network, read_painted

SHARE_COLOR = "#b34700"


def read_twice():
    """Values that are read again on a later line, as u and x are."""
    x = tf.Variable(1.2, name="x")
    with tf.GradientTape() as tape:
        u = x * x
        y = u * tf.sin(u) + tf.exp(x) * x
    tape.gradient(y, x)
    return tape, y, x


def neuron():
    w, b, x, t = tf.Variable(0.5, name="w"), tf.Variable(-0.2, name="b"), tf.constant(1.5), tf.constant(1.0)
    with tf.GradientTape() as tape:
        loss = (tf.sigmoid(w * x + b) - t) ** 2
    tape.gradient(loss, [w, b])
    return tape, loss, [w, b]


def inner_and_outer():
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.sin(a) * a * a
        slope = inner.gradient(y, a)
    outer.gradient(slope, a)
    return outer, slope, a


PROGRAMS = [read_twice, neuron, inner_and_outer, network]


def read_numbers(text):
    """The number of a share: its value, or the magnitude of an array."""
    return abs(float(re.sub(r"each |[±\[\]]", "", text)))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_narrow_figure_has_the_share_of_every_edge(program):
    """Also of the edges that are drawn as a name, because their input is on another line."""
    snapshot = tf.snapshot(*program())
    svg = Picture(snapshot, 85).svg
    found = re.findall(rf'<text [^>]*text-anchor="middle" fill="{SHARE_COLOR}">([^<]*)<', svg)
    edges = [edge for step in snapshot["sweep"]["steps"] for edge in step["edges"]]
    exact = sorted(read_numbers(format_magnitude(edge["product"], 15)) for edge in edges)
    assert sorted(map(read_numbers, found)) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_number_of_a_narrow_figure_hides_its_edge(program):
    painted = read_painted(Picture(tf.snapshot(*program()), 85).svg)
    plates = [box for tag, box, fill in painted if tag == "rect" and fill == "#ffffff"][1:]
    edges = [points for tag, points, _ in painted if tag == "path" and points]
    assert edges
    for points in edges:
        seen = [point for point in points if not any(contains(plate, [point, point]) for plate in plates)]
        width = max(x for x, _ in points) - min(x for x, _ in points)
        assert len(seen) / len(points) * width >= 15 or width < 15  # The edge at a name is only an arrow.


def test_a_crossed_name_stays_inside_of_a_narrow_figure():
    states = [tf.Variable(float(k), name=f"state_{k}") for k in range(3)]
    with tf.GradientTape() as tape:
        first = states[0] * states[1]
        second = tf.sin(first) * states[2]
        y = tf.stop_gradient(first) * tf.stop_gradient(states[0]) + tf.stop_gradient(second) * states[1]
    tape.gradient(y, states)
    svg = tf.draw(tape, width=85).svg
    names = [float(x) for x in re.findall(r'<rect x="(-?[\d.]+)"[^>]*height="16" rx="8"', svg)]
    assert names and min(names) >= 4
    assert "#a8447f" in svg  # There are crosses.


@pytest.mark.parametrize(("program", "width"), [(loop, 85), (loop, 120), (loop, 170), (network, 85)])
def test_a_narrow_figure_fits_on_a_page(program, width):
    svg = tf.draw(*program(), width=width).svg
    height = float(re.search(r'height="([\d.]+)mm"', svg)[1])
    assert height < 240
    assert "rows</text>" in svg or program is network
