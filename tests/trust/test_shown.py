"""Pictures and texts of a tape contain no characters that an editor or a page would execute."""

import gc

import ipywidgets
import pytest

import minitape as tf
from minitape_widgets import TapeView
from minitape_widgets.saved_page import build_html_page as page_text

NAME = "v\x01\x1b[31m\x7f\x9f\u202e\u2028<script>"


def record_named_tape():
    v, whole = tf.Variable(1.0, name=NAME), tf.Variable(2, name=NAME)
    with tf.GradientTape() as tape:
        y = v * 2.0 + tf.cast(whole, tf.float32)
    return tape, y, v, whole


def find_unprintable_characters(text):
    return sorted({character for character in text if not character.isprintable() and character not in "\n\t"})


@pytest.mark.parametrize("form", ["svg", "html", "alt", "repr"])
def test_pictures(form):
    tape, y, v, _ = record_named_tape()
    picture = tf.draw(tape, y, v)
    text = {"html": picture.html, "repr": picture.__repr__}.get(form, lambda: getattr(picture, form))()
    assert find_unprintable_characters(text) == [] and "<script>" not in (text if form in ("svg", "html") else "")


def test_explanations():
    tape, y, _, whole = record_named_tape()
    explanation = tape.explain(y, whole)
    for text in (explanation._repr_html_(), str(explanation)):
        assert find_unprintable_characters(text) == []


def test_pages(tmp_path):
    tape, y, v, _ = record_named_tape()
    view = TapeView(tape, y, v)
    view.save(tmp_path / "page.html")
    view.close()
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert find_unprintable_characters(text) == [] and r"\u202e" in text


def test_a_closed_view_leaves_no_widget():
    def shown():
        tape, y, v, _ = record_named_tape()
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


RUN = "<script>window.hacked=1</script>"
HOSTILE = [
    RUN, f"</script>{RUN}", f"</title>{RUN}", f"</style>{RUN}", f"</textarea>{RUN}", f"]]>{RUN}", f"<!--{RUN}",
    f"\"'>{RUN}", f"<math><mtext></p>{RUN}", "<img src=x onerror=window.hacked=1>", '"><svg onload=window.hacked=1>',
    "' onmouseover=window.hacked=1 '", "<a href=javascript:window.hacked=1>x</a>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>", "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "\\u003cscript>window.hacked=1\\u003c/script>", "<meta http-equiv=refresh content='0;url=http://example.com'>",
    "<link rel=stylesheet href=http://example.com/a.css>", "\u2028window.hacked=1//", "${window.hacked=1}",
]  # fmt: skip
HOVER = """() => { for (const e of document.querySelectorAll("*"))
  ["mouseover", "focus", "error"].forEach(name => e.dispatchEvent(new Event(name))) }"""
MARKS = """() => [...document.querySelectorAll("*")].flatMap(e => [...e.attributes])
    .filter(a => (a.name.startsWith("on") || /^(javascript:|http:..example)/.test(a.value)) && \
/hacked|example/.test(a.value)).map(a => a.name + "=" + a.value)"""


def open_named_scope(text):
    """Open a block whose rows have this name as their scope, like the rows of a layer."""
    module = tf.Module()
    module._open_name_scope = (text,)
    return module.name_scope


def iter_pages(text):
    """Yield everything that minitape creates for a browser, with a stranger's text in each place for a text."""
    v, whole, texts = tf.Variable(1.0, name=text), tf.Variable(2, name=text), tf.constant([text])
    with tf.GradientTape() as tape, open_named_scope(text):
        y = v * 2.0
        tape.watch(texts)
        tf.identity(texts)
    yield "names", page_text(snapshot := tf.snapshot(tape, y, v))
    row = snapshot["rows"][-1]
    snapshot["sources_text"] = {row["file"]: f"{text}\n" * 500}
    row |= {"label": text, "formula": text, "rule": [text, text], "scope": [text]}
    yield "a snapshot", page_text(snapshot)
    yield "a picture", tf.draw(tape, y, v).html()
    yield "a drawing", tf.draw(tape, y, v).svg
    yield "a reason", tape.explain(y, whole)._repr_html_()


@pytest.mark.browser
@pytest.mark.long(sample=20)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_strangers_text_runs_nothing_in_a_browser(text, page):
    for what, content in iter_pages(text):
        page.set_content(content)
        page.evaluate(HOVER)
        page.wait_for_timeout(50)  # Code might run with a delay.
        assert page.evaluate("window.hacked") is None and page.evaluate(MARKS) == [], what


def replace_texts(part, text):
    """Return a structure with each text replaced by a stranger's text."""
    if isinstance(part, list):
        return [replace_texts(one, text) for one in part]
    if isinstance(part, dict):
        return {key: replace_texts(one, text) for key, one in part.items()}
    return text if isinstance(part, str) else part


@pytest.mark.browser
@pytest.mark.parametrize("text", [RUN, "<img src=x onerror=window.hacked=1>"])
def test_a_snapshot_of_strangers_texts_alone_is_refused_in_words(text, page):
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.sin(v) * v
    page.set_content(page_text(replace_texts(tf.snapshot(tape, y, v), text)))
    page.get_by_text("This picture cannot be drawn: TypeError").wait_for()
    assert page.evaluate("window.hacked") is None and page.evaluate(MARKS) == []


LOADS = """async () => {
    const refused = [];
    document.addEventListener("securitypolicyviolation", event => refused.push(event.effectiveDirective));
    for (const [name, attribute] of [["img", "src"], ["iframe", "src"], ["script", "src"]]) {
        const made = document.createElement(name);
        made[attribute] = "http://127.0.0.1:9/x";
        document.body.append(made);
    }
    await fetch("http://127.0.0.1:9/x").catch(() => 0);
    await new Promise(done => setTimeout(done, 100));
    return refused.sort();
}"""


@pytest.mark.browser
def test_a_saved_page_draws_its_picture_and_can_load_nothing(page_with_policy, tmp_path):
    tape, y, v, _ = record_named_tape()
    view = TapeView(tape, y, v)
    view.save(tmp_path / "page.html")
    view.close()
    refused = []
    page_with_policy.on(
        "console", lambda message: refused.append(message.text) if "Content Security" in message.text else None
    )
    page_with_policy.set_content((tmp_path / "page.html").read_text(encoding="utf-8"))
    page_with_policy.locator(".mt-node").first.wait_for()
    assert refused == []
    assert page_with_policy.evaluate(LOADS) == ["connect-src", "frame-src", "img-src", "script-src-elem"]
