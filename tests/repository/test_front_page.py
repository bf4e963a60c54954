"""README has the form that the front page of the documentation needs, which is generated from it."""

import pytest


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_front_page_has_a_live_picture_instead_of_the_film(build, language, tmp_path):
    readme = build.read_page("README.md", language)
    assert build.FRONT_PICTURE.search(readme)
    front_page = build.build_front_page(readme, "", tmp_path)
    assert '<div class="cards">' in front_page
    assert "<picture>" not in front_page
