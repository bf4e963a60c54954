"""What a notebook keeps: a page that steps without a kernel, and the picture where scripts do not run."""

import base64
import json
import re
import subprocess
import sys
import zlib

import pytest

import minitape as tf
from minitape_widgets import TapeView, kept_view
from minitape_widgets.saved_page import build_html_page as page_text
from minitape_widgets.saved_page import build_playground_field
from minitape_widgets.wire_format import decode_snapshot

from .conftest import accumulation


def shown() -> TapeView:
    tape, d, a = accumulation()
    return TapeView(tape, d, a)


def test_it_has_the_picture_and_is_the_same_each_time():
    bundle = shown().kept()._repr_mimebundle_()
    assert bundle["text/plain"] == "KeptView(5 rows, 1 tape)"
    assert '<img src="data:image/svg+xml;base64,' in bundle["text/html"]
    assert bundle["text/html"].count("<script") == 1 and len(bundle["text/html"]) < 152_700


def test_a_page_that_is_too_large_is_not_kept_and_that_is_said(monkeypatch):
    monkeypatch.setattr(kept_view, "MAX_LETTERS", 1000)
    html = shown().kept().html()
    assert "<script" not in html and "<img" in html and re.search(r"would add 0\.1 MB to the notebook", html)


def test_with_a_switch_each_view_of_a_notebook_is_kept(monkeypatch):
    view = shown()
    assert "<script" not in view.build_mime_bundle()[0]["text/html"]
    monkeypatch.setattr(TapeView, "keep_pages", True)
    assert view.build_mime_bundle()[0]["text/html"] == view.kept().html()


def test_a_closed_view_keeps_nothing():
    view = shown()
    view.close()
    with pytest.raises(RuntimeError, match="This view is closed"):
        view.kept()


@pytest.mark.long
@pytest.mark.browser
def test_it_steps_in_a_converted_notebook(tmp_path, page):
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    cell = {
        "cell_type": "code",
        "id": "c0",
        "execution_count": 1,
        "metadata": {},
        "source": "view.kept()",
        "outputs": [
            {
                "output_type": "execute_result",
                "execution_count": 1,
                "metadata": {},
                "data": shown().kept()._repr_mimebundle_(),
            }
        ],
    }
    notebook = {"cells": [cell, cell | {"id": "c1"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    pytest.importorskip("nbconvert")
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", "--template", "basic", "a.ipynb"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    page.set_content((tmp_path / "a.html").read_text(encoding="utf-8"))
    page.locator("iframe").nth(1).wait_for()
    assert page.locator("iframe").count() == 2 and page.locator("img").count() == 0
    frame = page.frame_locator("iframe").nth(1)
    frame.locator(".mt-node").first.wait_for()
    frame.locator(".mt-view").focus()
    page.keyboard.press("End")
    frame.locator(".mt-count", has_text="backward 4 / 4").wait_for()
    assert not errors


@pytest.mark.browser
def test_a_saved_page_takes_the_keys_before_it_is_clicked(page, tmp_path):
    shown().save(tmp_path / "tape.html")
    page.set_content((tmp_path / "tape.html").read_text(encoding="utf-8"))
    page.locator(".mt-node").first.wait_for()
    page.keyboard.press("End")
    page.locator(".mt-count", has_text="backward 4 / 4").wait_for()


@pytest.mark.browser
def test_where_scripts_do_not_run_it_is_the_picture(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(shown().kept().html())
    assert page.locator("img").is_visible() and page.locator("iframe").count() == 0
    context.close()


@pytest.mark.long
def test_a_tape_of_many_rows_is_kept():
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        y = x
        for _ in range(2000):
            y = tf.sin(y) + 0.1
    tape.gradient(y, x)
    html = TapeView(tape).kept().html()
    assert "<script" in html and len(html) < kept_view.MAX_LETTERS * 1.1


@pytest.mark.browser
def test_a_view_leads_to_the_playground_of_the_site_that_is_named(tmp_path, page, monkeypatch):
    assert "playground/index.html" not in page_text(tf.snapshot(*accumulation()))
    monkeypatch.setenv("MINITAPE_SITE", "https://example.org/run/")
    tape, d, a = accumulation()
    view = TapeView(tape, d, a)
    assert decode_snapshot(view._wire)["playground"].startswith("https://example.org/run/playground/index.html#p=")
    view.save(tmp_path / "a.html")
    page.set_content((tmp_path / "a.html").read_text(encoding="utf-8"))
    link = page.get_by_role("link", name="open in the playground")
    letters = link.get_attribute("href").partition("#p=")[2]
    program = zlib.decompress(base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4)), wbits=-zlib.MAX_WBITS)
    assert "    d = tf.sin(c) * b\n" in program.decode()


def test_cells_become_one_program_in_the_playground_and_files_that_import_each_other_do_not(monkeypatch):
    monkeypatch.setenv("MINITAPE_SITE", "https://example.org/run")
    cells = {"/tmp/ipykernel_1/2.py": "import minitape as tf\n", "/tmp/ipykernel_1/3.py": "x = tf.Variable(1.0)\n"}
    letters = build_playground_field(cells)["playground"].partition("#p=")[2]
    program = zlib.decompress(base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4)), wbits=-zlib.MAX_WBITS)
    assert program.decode() == "import minitape as tf\n\nx = tf.Variable(1.0)"
    assert build_playground_field({__file__: "import minitape"}) != {}
    assert build_playground_field({__file__: "from model import loss", kept_view.__file__: "def loss(): ..."}) == {}


@pytest.mark.browser
def test_an_address_that_is_no_page_is_no_link(page):
    page.set_content(page_text(tf.snapshot(*accumulation()) | {"playground": "javascript:document.title='taken'"}))
    page.locator(".mt-node").first.wait_for()
    assert not page.get_by_role("link").count()


def test_only_pages_and_snapshots_hold_the_whole_program_as_the_docs_say(tmp_path):
    holds_program = {}
    for ending in ("html", "json", "svg", "tex", "dot"):
        shown().save(path := tmp_path / f"tape.{ending}")
        holds_program[ending] = "def type_keys" in path.read_text(encoding="utf-8")  # It is in the file of the tape.
    assert holds_program == {"html": True, "json": True, "svg": False, "tex": False, "dot": False}
