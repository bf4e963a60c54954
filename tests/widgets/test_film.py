"""Films of a tape: what each frame shows, and the files that a film becomes."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import minitape as tf
from minitape_widgets import film
from minitape_widgets.film import FILM_BUNDLE

from .test_view import hash_of

SIZE = (480, 270)


@pytest.fixture(scope="module")
def two_way_tape():
    """A tape whose variable reaches the target on two ways, with the gradient."""
    x = tf.Variable(1.25, name="x")
    with tf.GradientTape() as tape:
        u = x * x
        y = u * tf.sin(u)
    return tape, x, u, y, tape.gradient(y, x)


def show(page, story):
    """Open a film in the page of a browser, and return the function that tells its texts at a time."""
    page.evaluate("delete globalThis.film")  # An earlier film of this page.
    page.set_content(story.build_page(SIZE, 5))
    page.wait_for_function("globalThis.film !== undefined")
    assert page.evaluate("globalThis.film.fault") == ""

    def read_texts(time):
        return page.evaluate(
            "time => { film.go(time); return [...document.querySelectorAll('.mt-film text')].map(e => e.textContent) }",
            time,
        )

    return read_texts


def test_the_bundle_is_that_of_the_sources():
    first = FILM_BUNDLE.read_text(encoding="utf-8").splitlines()[0]
    expected = f"/* minitape film, source {hash_of('evaluator', 'film', 'src')} */"
    assert first == expected, "run `npm run build` in widgets/frontend"


def test_a_storyboard_names_rows_by_number_name_or_object(two_way_tape):
    tape, x, u, *_ = two_way_tape
    assert film(tape).forward(to=u).shots == film(tape).forward(to="u").shots == film(tape).forward(to=1).shots
    assert film(tape).cut(x).drag(x, 2).shots == [{"shot": "cut", "row": 0}, {"shot": "drag", "row": 0, "to": 2.0}]
    assert repr(film(tape).forward(say="one").back()) == "Film(4 rows, 3 shots)"


def test_what_cannot_be_filmed_is_refused(two_way_tape, tmp_path):
    tape = two_way_tape[0]
    with pytest.raises(ValueError, match=r"The tape has no row for 'w'\. Its rows are: 0 \(x"):
        film(tape).back(to="w")
    with pytest.raises(ValueError, match=r"has no row 9\. Its rows are 0 to 3"):
        film(tape).forward(to=9)
    with pytest.raises(ValueError, match=r"cannot be saved as \.avi"):
        film(tape).save(tmp_path / "film.avi")
    with tf.GradientTape() as fresh:
        tf.Variable(1.0) * 2.0
    with pytest.raises(ValueError, match=r"Call tape\.gradient first"):
        film(fresh).back()
    with pytest.raises(TypeError, match=r"film\(\) takes"):
        film(3)


@pytest.mark.browser
def test_a_film_shows_values_products_and_the_gradient(page, two_way_tape):
    tape, x, _, _, gradient = two_way_tape
    story = film(tape).say("Forward").forward().say("Backward").back().drag(x, 2.0, say="What if?")
    read_texts = show(page, story)
    duration = page.evaluate("film.duration")
    before = read_texts(0)
    assert not any("1.5625" in text or "1.563" in text for text in before)
    halfway = read_texts(0.8 + 1 + 0.4)  # The second row, on whose edges the value of x travels.
    assert "1.25" in halfway and "Forward" in halfway
    swept = read_texts(0.8 + 4 + 3 * 2 - 0.01)
    assert "Backward" in swept
    assert f"∂ {float(gradient):.4g}" in swept
    end = read_texts(duration)
    # An independent derivative of x² sin(x²) at 2.
    expected = 2 * 2 * np.sin(4.0) + 4 * 4 * np.cos(4.0)
    (shown,) = [text for text in end if re.fullmatch(r"∂ -\d+\.\d+", text) and text.startswith("∂ -1")]
    assert float(shown[2:]) == pytest.approx(expected, rel=1e-3)


@pytest.mark.browser
def test_the_page_shows_the_end_of_a_film_until_it_plays(page, two_way_tape):
    show(page, film(two_way_tape[0]).forward())
    assert page.evaluate("film.time === film.duration")
    assert page.locator(".mt-film .mt-todo").count() == 0  # All nodes have their numbers.
    page.locator(".mt-film-bar button").first.click()
    page.wait_for_function("0 < film.time && film.time < film.duration / 2")  # It plays from the beginning.


@pytest.mark.browser
def test_the_button_says_pause_while_the_film_plays(page, two_way_tape):
    show(page, film(two_way_tape[0]).forward())
    button = page.locator(".mt-film-bar button").first
    assert button.get_attribute("aria-label") == "play"
    button.click()
    assert button.get_attribute("aria-label") == button.get_attribute("title") == "pause"
    button.click()
    assert button.get_attribute("aria-label") == "play"
    page.evaluate("film.go(film.duration - 0.1)")
    button.click()
    page.wait_for_function("document.querySelector('.mt-film-bar button').title === 'play'")  # the film has ended


def test_the_products_of_a_cut_have_the_numbers_of_their_marks(page, two_way_tape):
    tape, x, u, _, gradient = two_way_tape
    read_texts = show(page, film(tape).forward().back().cut(x))
    texts = read_texts(page.evaluate("film.duration") - 3)  # The last two seconds are without the cut.
    (products,) = [text for text in texts if text.startswith("①")]
    assert "②" in products and "③" not in products
    values = [float(number) for number in re.findall(r"= (-?\d+\.\d+)", products)]
    # u reaches y directly and through the sine; a nudge of x moves u by 2x.
    expected = [2 * 1.25 * np.sin(float(u)), 2 * 1.25 * float(u) * np.cos(float(u))]
    assert sorted(values) == pytest.approx(sorted(expected), rel=1e-3)
    assert f"Σ = {float(gradient):.4g} = ∂y/∂x" in texts and not any(text.endswith("…") for text in texts)


@pytest.mark.browser
def test_a_product_arrives_before_its_sum_is_shown(page, two_way_tape):
    read_texts = show(page, film(two_way_tape[0]).back())
    start = 0.8 + 4  # after the pause and four rows
    on_the_way, arrived = read_texts(start + 2 * 0.5), read_texts(start + 2 * 0.95)
    assert len([text for text in arrived if text.startswith("∂")]) > len(
        [text for text in on_the_way if text.startswith("∂")]
    )


@pytest.mark.browser
def test_a_number_that_cannot_be_dragged_is_refused(tmp_path):
    x = tf.Variable(np.eye(3, dtype=np.float32), name="x")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x @ x)
    tape.gradient(y, x)
    with pytest.raises(ValueError, match="cannot drag row 0"):
        film(tape).drag(x, 2.0).save(tmp_path / "frames", size=SIZE)


@pytest.mark.browser
@pytest.mark.long
def test_a_film_becomes_pictures_and_a_video(tmp_path, two_way_tape):
    story = film(two_way_tape[0]).forward().back()
    story.save(tmp_path / "frames", size=SIZE)
    pictures = sorted((tmp_path / "frames").iterdir())
    assert len(pictures) == 1 + 4 + 3 + 1  # a pause, the rows, the steps, a pause
    last = ElementTree.parse(pictures[-1])
    ids = {element.get("id") for element in last.iter()}
    assert {"row-0", "row-3", "edge-3-1"} <= ids
    assert not any(element.get("class") for element in last.iter())  # It looks the same without the page's styles.
    film(two_way_tape[0]).forward(to=1).save(tmp_path / "film.webm", size=SIZE, rate=4)
    assert (tmp_path / "film.webm").read_bytes()[:4] == b"\x1a\x45\xdf\xa3"  # EBML, with which WebM files begin
    film(two_way_tape[0]).forward(to=1).save(tmp_path / "film.gif", size=SIZE)
    assert (tmp_path / "film.gif").read_bytes()[:6] == b"GIF89a"


@pytest.mark.browser
def test_a_picture_of_a_cut_hides_what_the_cut_hides(tmp_path, two_way_tape):
    tape, x = two_way_tape[0], two_way_tape[1]
    film(tape).forward().back().cut(x).save(tmp_path / "frames", size=SIZE)
    hidden = []
    for picture in (tmp_path / "frames").iterdir():
        elements = [*ElementTree.parse(picture).iter()]
        if any("Σ = " in (element.text or "") for element in elements):
            hidden += [element for element in elements if element.get("display") == "none"]
    inside = "".join(text for element in hidden for text in element.itertext())
    assert "×" in inside  # the product of the last step, which lies below the marks of the cut


def test_a_page_of_a_film_is_written_without_a_browser(tmp_path, two_way_tape, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "playwright.sync_api", None)
    story = film(two_way_tape[0]).forward()
    story.save(tmp_path / "film.html")
    assert "mountFilm" in (tmp_path / "film.html").read_text(encoding="utf-8")
    with pytest.raises(ImportError, match="pip install playwright"):
        story.save(tmp_path / "film.webm")
