"""The project of lesson 14: digits that a program drew, a pad on which a learner draws, and a page to share."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import minitape_widgets
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.digits import (
    INK_LEVELS,
    load_digits,
    load_drawings,
    load_trained_network,
    rasterize_strokes,
    read_digits,
)
from minitape.course.own_tape import build_solution_tape
from minitape_widgets.digit_pad import DigitPad, build_pad_fields, build_pad_page
from tests.course.draw_digits import draw_digits

PROGRAM = Path(minitape_widgets.__file__).with_name("digit_pad.js")


@pytest.fixture
def pad():
    made = DigitPad(load_trained_network())
    made.keep_drawings(load_drawings())
    return made


def test_the_stored_digits_are_those_that_the_program_draws():
    drawn = draw_digits(30, seed=1)
    assert np.abs(load_digits()[0][:30] * INK_LEVELS - drawn).max() <= 1.0  # cos may differ in the last bit


def test_no_digit_is_both_trained_on_and_held_out():
    parts = [{image.tobytes() for image in load_digits(part)[0]} for part in ("training", "held_out", "exam")]
    assert [len(part) for part in parts] == [1500, 500, 500]
    assert len(set.union(*parts)) == 2500


def test_a_drawing_is_read_as_it_is_wherever_and_however_large_it_was_drawn():
    for strokes in load_drawings():
        elsewhere = [[(300.0 + 3.0 * x, 3.0 * y - 50.0) for x, y in stroke] for stroke in strokes]
        np.testing.assert_allclose(rasterize_strokes(elsewhere), rasterize_strokes(strokes), atol=1e-9)
    assert rasterize_strokes([[(7.0, 7.0)]]).max() == rasterize_strokes([[(7.0, 7.0)]]).reshape(12, 12)[5, 5] > 0.0


def test_the_browser_reads_what_python_reads(pad, tmp_path):
    node = shutil.which("node") or pytest.skip("needs Node.js")
    fields = build_pad_fields(pad, pad.drawings)
    (tmp_path / "pad.mjs").write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "fields.json").write_text(json.dumps(fields), encoding="utf-8")
    (tmp_path / "main.mjs").write_text(
        """import pad from "./pad.mjs";
import { readFileSync } from "node:fs";
const { drawings, grid, parameters } = JSON.parse(readFileSync("fields.json"));
const images = drawings.map((strokes) => pad.rasterize(strokes, grid));
console.log(JSON.stringify([images, images.map((image) => pad.readPixels(image, parameters))]));
""",
        encoding="utf-8",
    )
    run = subprocess.run([node, "main.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    images, chances = json.loads(run.stdout)
    np.testing.assert_allclose(images, pad.images, atol=1e-9)
    assert np.argmax(chances, axis=1).tolist() == read_digits(pad.parameters, pad.images).tolist()
    np.testing.assert_allclose(np.sum(chances, axis=1), 1.0)


def test_a_page_shows_hostile_texts_as_texts(pad, tmp_path):
    name = "</script><img src=x onerror=alert(1)>{name}"
    _, tape = build_solution_tape()
    text = build_pad_page(pad, name, tape)
    assert "<img" not in text and text.count("</script>") == 1
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;{name}" in text
    pad.save(tmp_path / "my_digits.html", name, tape)
    assert [path.name for path in tmp_path.iterdir()] == ["my_digits.html"]
    assert (tmp_path / "my_digits.html").read_text(encoding="utf-8") == text
    assert not re.search(r'(?:src|href)="http', text)  # it needs no network


@pytest.mark.browser
def test_a_page_reads_what_its_visitor_draws(pad, page):
    page.set_content(build_pad_page(pad, "Ada"))
    canvas = page.locator(".pad canvas").bounding_box()
    (first_x, first_y), *others = [(60, 50), (180, 50), (150, 110), (110, 200)]
    page.mouse.move(canvas["x"] + first_x, canvas["y"] + first_y)
    page.mouse.down()
    for x, y in others:
        page.mouse.move(canvas["x"] + x, canvas["y"] + y, steps=5)
    page.mouse.up()
    assert page.locator(".answer").inner_text().startswith("The network reads this as 7")
    assert page.locator(".kept figure").count() == 10


@pytest.mark.parametrize(
    "drawings", [5, [5], [[[1.0, 2.0]]], [[[("x", 1)]]], [[]], [[[(float("nan"), 1.0)]]], [[[(0.0, 1.0)] * 20_001]]]
)
def test_what_is_no_drawing_is_refused(pad, drawings):
    with pytest.raises(ValueError, match="a drawing must be a list of strokes"):
        pad.keep_drawings(drawings)


def train(images, steps, hidden=24, rate=1.0, random=0):
    start = np.random.default_rng(random)
    w1, b1 = start.normal(0.0, 0.1, (144, hidden)), np.zeros(hidden)
    w2, b2 = start.normal(0.0, 0.3, (hidden, 10)), np.zeros(10)
    wanted = np.eye(10)[np.arange(len(images)) % 10]
    for _ in range(steps):
        features = np.tanh(images @ w1 + b1)
        powers = np.exp(features @ w2 + b2)
        at_scores = (powers / powers.sum(axis=1, keepdims=True) - wanted) / len(images)
        at_features = at_scores @ w2.T * (1.0 - features**2)
        w1, b1 = w1 - rate * images.T @ at_features, b1 - rate * at_features.sum(axis=0)
        w2, b2 = w2 - rate * features.T @ at_scores, b2 - rate * at_scores.sum(axis=0)
    return [w1, b1, w2, b2]


def test_a_training_hears_what_its_network_does():
    images, _ = load_digits()
    overflowed = [np.full((144, 2), np.nan), np.zeros(2), np.zeros((2, 10)), np.zeros(10)]
    said = {
        "guesses": count_try_and_build_feedback("14.12", train(images, steps=0)),
        "unfinished": count_try_and_build_feedback("14.12", train(images, steps=12)),
        "overflowed": count_try_and_build_feedback("14.12", overflowed),
        "shapes": count_try_and_build_feedback("14.12", [1.0, 2.0]),
        "right": count_try_and_build_feedback("14.12", load_trained_network()),
    }
    assert "as if no step had changed it" in said["guesses"]
    assert "if the loss still falls, give it more steps" in said["unfinished"]
    assert "the parameters contain NaN" in said["overflowed"]
    assert "(144, n), (n,), (n, 10) and (10,)" in said["shapes"]
    assert said["right"].startswith("Exercise 14.12: correct.")
    _, Tape = build_solution_tape()  # noqa: N806, a class
    numbers = [Tape().watch(part) for part in load_trained_network()]
    assert "use their plain arrays" in count_try_and_build_feedback("14.12", numbers)


def test_a_pad_is_handed_in_with_ten_digits(pad):
    assert count_try_and_build_feedback("14.13", pad).startswith("Exercise 14.13: correct.")
    assert pad.count_right() == 9  # as the lesson says
    pad.keep_drawings(load_drawings()[:4])
    assert "4 of ten digits so far" in count_try_and_build_feedback("14.13", pad)
    assert "use the pad itself" in count_try_and_build_feedback("14.13", load_drawings())
    pad.keep_drawings(load_drawings()[::-1])
    assert "in another order" in count_try_and_build_feedback("14.13", pad)
    pad.keep_drawings(load_drawings()[:1] * 10)
    assert "stroke for stroke" in count_try_and_build_feedback("14.13", pad)
