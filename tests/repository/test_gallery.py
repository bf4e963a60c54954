"""Each program in the gallery runs, and its picture shows what the caption says."""

import re
import runpy
import sys
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"


def load_gallery():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(SITE), *sys.path])
        return SimpleNamespace(**runpy.run_path(str(SITE / "gallery.py")))


GALLERY = load_gallery()
PICTURES = [picture for pictures in GALLERY.read_gallery().values() for picture in pictures]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_shows_what_its_caption_says(picture):
    described = unescape(re.search("<desc>(.*?)</desc>", GALLERY.draw_program(picture.program), re.DOTALL)[1])
    assert [text for text in picture.shows if text not in described] == []
    assert picture.shows


def test_there_are_forty_pictures_in_both_languages(tmp_path):
    assert len({picture.name for picture in PICTURES}) == len(PICTURES) == 40
    chinese = GALLERY.read_gallery("zh")
    texts = [
        *chinese,
        *(text for pictures in chinese.values() for one in pictures for text in (one.title, one.caption)),
    ]
    untranslated = [text for text in texts if not re.search("[\u4e00-\u9fff]", text)]
    assert untranslated == ["softmax", "if", "tf.function"], "names of functions and statements"
    page = GALLERY.embed_gallery("<!-- gallery -->", tmp_path, "gallery", "zh")
    assert page.count("<figure>") == len(list(tmp_path.glob("*.svg"))) == 40
