"""What is shown of a tape holds no character that an editor or a page would act upon, and nothing stays behind."""

from __future__ import annotations

import gc

import ipywidgets
import pytest

import minitape as tf
from minitape_widgets import TapeView

NAME = "v\x01\x1b[31m\x7f\x9f\u202e\u2028<script>"


def recorded():
    v, whole = tf.Variable(1.0, name=NAME), tf.Variable(2, name=NAME)
    with tf.GradientTape() as tape:
        y = v * 2.0 + tf.cast(whole, tf.float32)
    return tape, y, v, whole


def unfit(text):
    return sorted({character for character in text if not character.isprintable() and character not in "\n\t"})


@pytest.mark.parametrize("form", ["svg", "html", "alt", "source", "repr"])
def test_pictures(form):
    tape, y, v, _ = recorded()
    picture = tf.draw(tape, y, v)
    text = {"html": picture.html, "repr": picture.__repr__}.get(form, lambda: getattr(picture, form))()
    assert unfit(text) == [] and "<script>" not in (text if form in ("svg", "html") else "")


def test_explanations():
    tape, y, _, whole = recorded()
    explanation = tape.explain(y, whole)
    for text in (explanation._repr_html_(), str(explanation)):
        assert unfit(text) == []


def test_pages(tmp_path):
    tape, y, v, _ = recorded()
    view = TapeView(tape, y, v)
    view.save(tmp_path / "page.html")
    view.close()
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert unfit(text) == [] and r"\u202e" in text


def test_a_closed_view_leaves_no_widget():
    def shown():
        tape, y, v, _ = recorded()
        view = TapeView(tape, y, v)
        view.close()
        view.close()

    shown()
    before = set(ipywidgets.widgets.widget._instances)
    shown()
    gc.collect()
    assert set(ipywidgets.widgets.widget._instances) == before


def test_what_is_no_tape_is_told_in_one_sentence():
    with pytest.raises(TypeError, match=r"TapeView takes a tf\.GradientTape"):
        TapeView(3)
