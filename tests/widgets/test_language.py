"""The picture in the language of the lessons: beside a Chinese notebook, no English word is left in it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import minitape as tf
from minitape.common.translation import load_translations
from minitape.picture.truncation import elide_text, measure_width, shorten_name
from minitape_widgets import TapeView
from minitape_widgets.wire_format import decode_snapshot
from tests.jupyterlab_page import wait_for_frame
from tests.translate import collect_said_texts

from .conftest import states, type_keys

ROOT = Path(__file__).parents[2]
CHINESE = ROOT / "notebooks" / "zh"
FRONTEND = ROOT / "widgets" / "frontend"
SOURCES = [
    path
    for folder in ("src", "evaluator", "element", "film", "map")
    for path in sorted((FRONTEND / folder).glob("*.ts"))
]
ENGLISH = re.compile(r"[A-Za-z]{3,}(?: [a-z]+)+|\b[a-z]{4,}\b")
NAMES = re.compile(
    r"unconnected_gradients=\"zero\"|t(?:f|ape)\.\w+(\.\w+)*|const|tape|float32|None|Enter|Esc|Home|End|Space|Shift\+[←→]|dtype|kernel|weight|total|unused|sqrt|loss|"
    r"watch\(\)|Python|TapeView[.\w(=), ]*|squeeze|SVG|PNG|GIF|HTML"
)
MADE = {f"fold: {how}" for how in ("auto", "layers", "all", "none")}
FIELDS = re.compile(r"\{\w+\}")


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHINESE)


def broken() -> Any:
    """A tape with a gradient that is infinite, one that is None, and a name that is Chinese."""
    weight, unused, bias = (
        tf.Variable([0.0, 0.2], name="weight"),
        tf.Variable(1.0, name="unused"),
        tf.Variable(0.25, name="隐藏层的偏置和它的长名字"),
    )
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(tf.sqrt(weight)) * bias
    tape.gradient(loss, [weight, bias, unused])
    return tape


@pytest.fixture
def shown(chinese: None, page: Any, tmp_path: Path) -> Any:
    """A saved page of that tape."""
    TapeView(broken()).save(tmp_path / "a.html")
    page.set_viewport_size({"width": 700, "height": 1000})
    page.set_content((tmp_path / "a.html").read_text(encoding="utf-8"))
    page.wait_for_selector(".mt-node")
    page.locator(".mt-view").focus()
    return page


def said_by_the_view() -> Iterator[str]:
    """The texts that the view's sources give to ``t``, to buttons, and to attributes that people read."""
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        for call in re.finditer(r"\bt\(", source):
            text = re.sub(r'[=!]== "\w+"', "", _first_argument(source, call.end()))
            yield from (
                found
                for found in re.findall(r'"((?:[^"\\]|\\.)*)"', text)
                if re.search("[a-z]", found) and path.name != "words.ts"
            )
        yield from re.findall(r'(?:title|placeholder|"aria-label"):\s*"([^"]+)"|(?!)', source)
        yield from re.findall(r'\b(?:act|button|worded)\(\s*(?:"\w+",\s*)?"([^"]+)"', source)
        yield from re.findall(r'\bworded\(\s*"(\w+)"', source)


def _first_argument(source: str, begin: int) -> str:
    depth, at, quoted = 0, begin, False
    while quoted or depth or source[at] not in ",)":
        quoted ^= source[at] == '"' and source[at - 1] != "\\"
        depth += 0 if quoted else (source[at] in "([{") - (source[at] in ")]}")
        at += 1
    return source[begin:at]


def seen(page: Any) -> list[str]:
    """All texts of a page that people see or hear, but for the program's own lines."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".mt-view *")].filter(el => !el.closest(".mt-codeline, \
kbd")).flatMap(el => [
            ...["title", "aria-label", "placeholder", "aria-roledescription"].map(name => el.getAttribute(name)),
            ...[...el.childNodes].filter(node => node.nodeType === 3).map(node => node.data)]).filter(text => text && \
text.trim())"""
    )


def test_every_word_has_a_translation_with_its_values() -> None:
    translated = load_translations("picture", "zh")
    by_python = {text for text, _ in collect_said_texts("minitape/picture")}
    # The texts of lessons' widgets, which call `say`, are in another file.
    by_python |= {text for text, _ in collect_said_texts("widgets/minitape_widgets", saying="translate")}
    wanted = [*by_python, *said_by_the_view()]
    assert len(wanted) > 250 and [text for text in wanted if not translated.get(text)] == []
    assert [
        text for text in translated if sorted(FIELDS.findall(text)) != sorted(FIELDS.findall(translated[text]))
    ] == []
    literals = {
        text for path in SOURCES for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text(encoding="utf-8"))
    }
    assert set(translated) - literals - set(by_python) - MADE == set(), "these are said no more"


def test_a_saved_page_has_no_english_words(shown: Any) -> None:
    page = shown
    texts = seen(page)
    for keys in (
        "?",
        "End",
        "p",
        "ArrowUp",
        "q Home ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight",
    ):
        for key in keys.split():
            page.keyboard.press(key)
        page.wait_for_timeout(60)
        texts += seen(page)
    assert [page.locator(of).get_attribute("lang") for of in ("html", ".mt-view")] == [
        "zh-CN",
        "zh-CN",
    ] and page.title() == "磁带"
    left = {text for text in texts if ENGLISH.search(NAMES.sub("", text))}
    assert left == set()


def test_a_chinese_label_stays_in_its_card_and_beside_its_picture(chinese: None, page: Any, tmp_path: Path) -> None:
    weight, bias = tf.Variable(tf.ones((3, 4)) * 0.5, name="w"), tf.Variable(tf.ones(4) * 0.5, name="b")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(tf.ones((2, 3)) @ weight + bias))
    tape.gradient(loss, [weight, bias])
    TapeView(tape).save(tmp_path / "a.html")
    page.set_content((tmp_path / "a.html").read_text(encoding="utf-8"))
    page.wait_for_selector(".mt-node")
    page.locator(".mt-view").focus()
    type_keys(page, "End", "ArrowLeft")
    widths = """cards => cards.map(card => {
      const text = [...card.querySelectorAll("text")].map(one => one.textContent).join(" ");
      const letters = [...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? 14.5 : 7.25), 0);
      return card.querySelector("rect").width.baseVal.value - letters;
    })"""
    assert min(page.locator(".mt-product").evaluate_all(widths)) >= 6


def test_what_is_wrong_leads_to_its_row(shown: Any) -> None:
    alarm = shown.locator(".mt-alarm").first
    assert re.fullmatch(r"梯度从第 1 行（代码第 \d+ 行）起变成无穷大", alarm.locator("b").inner_text().strip())
    assert re.fullmatch(r"第 1 行（代码第 \d+ 行）", alarm.locator("u").inner_text())


def test_words_stay_in_their_boxes(shown: Any) -> None:
    """Chinese letters are twice as wide: nothing is wider than its box, and no button is cut off."""
    shown.keyboard.press("End")
    wait_for_frame(shown)
    over = shown.evaluate(
        """() => [...document.querySelectorAll(".mt-node")].flatMap(node => {
            const box = node.querySelector(".mt-box").getBoundingClientRect();
            return [...node.querySelectorAll("text")].filter(text => text.getBoundingClientRect().right > box.right + \
1).map(text => text.textContent) })"""
    )
    cut = shown.evaluate(
        "() => [...document.querySelectorAll('.mt-button, .mt-head span, .mt-count')].filter(el => el.scrollWidth > "
        "el.clientWidth + 1).map(el => el.textContent)"
    )
    assert over == [] and cut == []


@pytest.mark.usefixtures("chinese")
def test_a_live_view_is_sent_the_words_once() -> None:
    view = TapeView(broken())
    first = decode_snapshot(view._wire)
    assert first["texts"]["▶ go backward"] == "▶ 往回走"
    assert "texts" not in view._build_message_part(view._rows, 0, [])


def test_in_english_no_words_travel() -> None:
    assert "texts" not in decode_snapshot(TapeView(broken())._wire)


@pytest.mark.usefixtures("chinese")
def test_the_static_picture_is_told_in_chinese() -> None:
    picture = tf.draw(states()[0])
    assert re.fullmatch(
        r"磁带，5 行：0 v = 1.0（受监视）；1 常量 = 3.0；2 y: ×，输入 0，1 = 3.0；3 v v1 = 2.0（受监视）；4 .*",
        picture.alt,
    )
    assert not ENGLISH.search(NAMES.sub("", picture.alt))


@pytest.mark.usefixtures("chinese")
def test_a_comparison_says_where_the_tapes_differ() -> None:
    def record(f: Any) -> Any:
        x = tf.Variable(2.0, name="x")
        with tf.GradientTape() as tape:
            _ = f(x) * x
        return tape

    assert repr(TapeView.compare(record(tf.sin), record(tf.cos))).startswith("从第 1 行开始不同。这边：sin(x) = 0.909")
    assert repr(TapeView.compare(record(tf.sin), record(tf.sin))) == "两条磁带每一行都一样。"


@pytest.mark.parametrize(
    ("name", "room", "short"),
    [("偏置", 12, "偏置"), ("隐藏层的偏置和它的名字", 12, "隐藏层的偏…"), ("模型/隐藏层/核", 9, "模型/隐…")],
)
def test_wide_letters_take_the_room_of_two(name: str, room: int, short: str) -> None:
    assert shorten_name(name, room) == elide_text(name, room) == short and measure_width(short) <= room


def test_a_figure_holds_chinese_letters(tmp_path: Path) -> None:
    TapeView(broken()).save(tmp_path / "a.svg")
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "隐藏" in "".join(ElementTree.fromstring(svg).itertext())
